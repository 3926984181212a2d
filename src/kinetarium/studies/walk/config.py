"""Config and cases of the walking study, and their plans."""

import csv
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product
from math import cos, radians, sin
from pathlib import Path
from typing import Annotated, Any

from kinetarium.batch.study import ConfigError, case_of, refuse_empty
from kinetarium.errors import one_line
from kinetarium.legs.linkage import LINKAGES, Linkage, read_linkage
from kinetarium.legs.mechanism.machine import Machine, load_machine
from kinetarium.legs.mechanism.pantograph import LegKind
from kinetarium.legs.walk.plan import (
    TABLE_1,
    TROT,
    Curve,
    Gait,
    GaitTiming,
    Heading,
    Step,
    Terrain,
    WalkPlan,
    read_gait,
)
from kinetarium.ranges import Range, check_ranges
from kinetarium.storage.regular_file import read_regular, reason
from kinetarium.storage.strict_json import parse_json

NO_ENGINE = "none"
"""The engine of a planned walk without physics."""
SETTLE = 0.5
"""Time to come to rest before a walk in physics begins [s]."""
HOLD = 0.5
"""Time to stand still after its end [s]."""
PANTOGRAPH = "pantograph"
"""The legs of the paper."""
CRAWL = "crawl"
"""The gait of one leg at a time."""
STRIDE = Range(1e-3, 1e6, unit="unit")
LENGTH = Range(0.0, 1e6, unit="unit")
"""The unit of length is the machine's own, so that lengths may have any magnitude."""
PUSH = Range(0.0, 1e6, unit="N s")
Spin = Annotated[float, Range(-1e4, 1e4, unit="deg")]
"""About thirty turns to each side."""
StepTime = Annotated[float, Range(1e-3, 1e3, unit="s")]
"""From one physics time step on."""
Tilt = Annotated[float, Range(0.0, 1.0, unit="-")]
Frames = Annotated[int, Range(3, 10_000, unit="-")]
"""At least lift, swing and touchdown."""
Unit = Annotated[float, Range(1e-4, 10.0, unit="m")]
Mass = Annotated[float, Range(0.1, 1e5, unit="kg")]
"""From a toy to a walking excavator."""


class Ground(StrEnum):
    """The ground that the robot walks on."""

    LEVEL = "level"
    SLOPE = "slope"
    """Rises along x, a little after the start."""
    STEPS = "steps"
    """Low steps across the path, up and down again."""


class Drives(StrEnum):
    """The drives of the legs in physics."""

    IDEAL = "ideal"
    """Servos of unlimited force."""
    MOTOR = "motor"
    """Brushless motors on ball screws, with their limits, inertia and losses."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """Walks of a robot on four pantograph legs.

    Attributes:
        type: Leg actuation: ttt1, ttt2 or ttr.
        legs: pantograph, klann, jansen, or a TOML file of a planar linkage; linkages walk straight
            on level ground.
        path: straight, curve, side, spin, random:N for the random path number N, or files of
            waypoints (CSV or JSON) [unit].
        stride: Distance that the body moves in one cycle of four legs [unit].
        gait: crawl, trot, or a TOML file of a periodic gait (offsets, duty, cycle_time, lift),
            whose cycle and lift replace step time and lift.
        timing: When the body moves within a cycle.
        order: Leg order: auto for the best of all 24, or rows 1 to 8 of the paper's Table 1.
        sway: Stability margin to reach in each swing by swaying the body [unit]; 0 for no sway.
        tilt: Share of the slope under its feet by which the body tilts in a crawl [-]: 0 keeps it
            level, 1 parallel to the ground.
        stable: Choose sway and step time: the fastest walk that keeps the margin.
        margin: Dynamic margin that a stable walk keeps: distance of the zero-moment point from the
            edge of the support [unit].
        engine: Engines that simulate the walk; none for a planned walk without physics.
        drives: Drives of the legs in physics: ideal servos, or motors with their limits.
        push: Impulses on the body half way, one a case [N s]; 0 for none.
        push_deg: Direction of the push, from forward to the left [deg].
        heading: Whether the body turns along a path from a file, keeps its heading, or spins.
        curve: Interpolation of the waypoints of a file.
        lift: Height of a foot during its swing [unit].
        ground: Ground to walk on.
        terrain: level, slope, steps, or files of heights (PNG in grey, or .npy [unit]), instead
            of --ground.
        cell: Distance between two points of a file of heights [unit].
        rise: Height of white in a PNG [unit].
        slope_deg: Angle of the slope [deg]; negative downhill.
        step_height: Height of the steps [unit].
        spin_deg: Angle of a spin, positive to the left [deg].
        foot_offset: Distance of each foot outward from its hip [unit].
        machine: File of a machine, instead of the paper's; --type still applies.
            kinetarium convert ttt2 --to machine --out FILE writes one to edit.
        step_time: Duration of one leg step [s].
        frames: Frames per leg step in a recording without physics.
        unit_m: Length of the machine's unit [m].
        mass: Mass of the robot [kg].
    """

    type: tuple[LegKind, ...] = (LegKind.TTT1, LegKind.TTT2, LegKind.TTR)
    legs: str = PANTOGRAPH
    path: tuple[str, ...] = ("straight",)
    stride: Annotated[tuple[float, ...], STRIDE] = (16.0,)
    gait: str = CRAWL
    timing: tuple[GaitTiming, ...] = (GaitTiming.TWO_PHASE,)
    order: tuple[str, ...] = ("auto",)
    sway: Annotated[tuple[float, ...], LENGTH] = (0.0,)
    tilt: Tilt = 0.0
    stable: bool = False
    margin: Annotated[float, LENGTH] = 2.0
    engine: tuple[str, ...] = (NO_ENGINE,)
    drives: Drives = Drives.IDEAL
    push: Annotated[tuple[float, ...], PUSH] = (0.0,)
    push_deg: Annotated[float, Range(-360.0, 360.0, unit="deg")] = 90.0
    heading: Heading = Heading.TURN
    curve: Curve = Curve.SPLINE
    lift: Annotated[float, LENGTH] = 5.0
    ground: tuple[Ground, ...] = (Ground.LEVEL,)
    terrain: tuple[str, ...] = ()
    cell: Annotated[float, Range(1e-3, 1e6, unit="unit")] = 10.0
    rise: Annotated[float, LENGTH] = 3.0
    slope_deg: Annotated[float, Range(-45.0, 45.0, unit="deg")] = 6.0
    step_height: Annotated[float, Range(1e-3, 1e5, unit="unit")] = 2.0
    spin_deg: Spin = 90.0
    foot_offset: Annotated[float, LENGTH] = 0.0
    machine: str = ""
    step_time: StepTime = 2.0
    frames: Frames = 12
    unit_m: Unit = 0.01
    mass: Mass = 6.08


@dataclass(frozen=True, kw_only=True)
class Case:
    """One walk; other values are those of the config.

    Attributes:
        leg_order: "auto", or a row of Table 1.
        waypoints: Points that the body follows [unit].
        heading: What the heading does.
        machine: The robot.
        terrain: Shape of the ground.
        gait: The periodic gait; None for a crawl.
        linkage: The linkage that the robot walks on; None for pantograph legs.
    """

    engine: str
    type: LegKind
    path: str
    ground: str
    timing: GaitTiming
    leg_order: str
    stride: Annotated[float, STRIDE]
    sway: Annotated[float, LENGTH]
    lift: Annotated[float, LENGTH]
    waypoints: tuple[tuple[float, float], ...]
    curve: Curve
    heading: Heading
    spin_deg: Spin
    machine: Machine
    terrain: Terrain
    step_time: StepTime
    frames: Frames
    unit_m: Unit
    mass: Mass
    tilt: Tilt = 0.0
    stable: bool = False
    margin: Annotated[float, LENGTH] = 2.0
    drives: Drives = Drives.IDEAL
    push: Annotated[float, PUSH] = 0.0
    push_deg: Annotated[float, Range(-360.0, 360.0, unit="deg")] = 90.0
    gait: Gait | None = None
    linkage: Linkage | None = None

    @property
    def rests(self) -> bool:
        """Whether it crawls on pantograph legs, which has a dynamic margin."""
        return self.gait is None and self.linkage is None


Waypoints = tuple[tuple[float, float], ...]

PAPER_STRIDE = 31.87
"""Motion of the body in the paper's Fig. 12 [unit]."""
_STRAIGHT = 4 * PAPER_STRIDE
_SIDE = 64.0
_CURVE: Waypoints = ((0.0, 0.0), (135.0, 20.0), (265.0, 80.0), (360.0, 180.0))
_RANDOM = re.compile(r"random:(\d{1,9})", re.ASCII)
_RANDOM_LEGS = (30.0, 60.0)
_MOST_BEND = 100.0
_MOST_BYTES = 1_000_000
_MOST_WAYPOINTS = 10_000
_FARTHEST = 1e6
"""Maximum distance of a waypoint from the origin [unit]."""
_LONGEST_NUMBER = 400
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_SLOPE_FROM = 30.0
_SLOPE_TO = 98.0
"""Where a slope downhill ends [unit]: as long before the end of a straight walk."""
_STEP_EDGES = ((35.0, 120.0), (65.0, 95.0))
_WIDE = 1000.0


@dataclass(frozen=True, slots=True)
class NamedPath:
    """Waypoints, and what the heading does along them.

    Attributes:
        waypoints: The points [unit].
        heading: What the heading does.
    """

    waypoints: Waypoints
    heading: Heading


def find_path(name: str, *, stride: float, heading: Heading) -> NamedPath:
    """Return a path by its name, or from a file.

    Straight and side walks are a whole number of strides long, near 1.27 m and 0.64 m at 1 cm.

    Args:
        name: "straight", "curve", "side", "spin", "random:N" or a file.
        stride: Distance that the body moves in one cycle [unit].
        heading: What the heading does on a path from a file.

    Raises:
        ConfigError: If there is no such path.
    """
    if name == "straight":
        return NamedPath(((0.0, 0.0), (_whole(_STRAIGHT, stride), 0.0)), Heading.TURN)
    if name == "side":
        return NamedPath(((0.0, 0.0), (0.0, _whole(_SIDE, stride))), Heading.CRAB)
    if name == "curve":
        return NamedPath(_CURVE, Heading.TURN)
    if name == "spin":
        return NamedPath(((0.0, 0.0),), Heading.SPIN)
    if number := _RANDOM.fullmatch(name):
        return NamedPath(random_waypoints(int(number[1])), heading)
    return NamedPath(read_waypoints(Path(name)), heading)


def random_waypoints(seed: int) -> Waypoints:
    """Draw four waypoints: three legs of 30 to 60 units, with bends of up to 100 degrees.

    Args:
        seed: Seed of the random numbers.
    """
    from random import Random

    draw = Random(seed)
    x, y, heading = 0.0, 0.0, 0.0
    points = [(x, y)]
    for bend in (0.0, _MOST_BEND, _MOST_BEND):
        heading += radians(draw.uniform(-bend, bend))
        length = draw.uniform(*_RANDOM_LEGS)
        x, y = x + length * cos(heading), y + length * sin(heading)
        points.append((round(x, 3), round(y, 3)))
    return tuple(points)


def find_gait(config: Config) -> Gait | None:
    """Return the periodic gait of a config; None for a crawl.

    Raises:
        KinetariumError: If it is invalid, or contradicts other values.
    """
    if config.gait == CRAWL:
        return None
    if config.gait != TROT.name and not Path(config.gait).is_file():
        raise ConfigError(f"--gait must be crawl, trot or a TOML file, not '{config.gait}'")
    gait = TROT if config.gait == TROT.name else read_gait(Path(config.gait))
    if config.stable or config.sway != Config.sway or config.step_time != Config.step_time:
        raise ConfigError(
            "a periodic --gait has its own cycle time and no sway; leave out --stable, --sway and"
            " --step-time"
        )
    if config.tilt:
        raise ConfigError("a periodic --gait keeps the body level; leave out --tilt")
    if LegKind.TTR in config.type and set(config.engine) - {NO_ENGINE}:
        raise ConfigError("feedback of a periodic --gait needs legs that slide: --type ttt1 ttt2")
    return gait


_OF_PANTOGRAPHS = (
    "stride",
    "gait",
    "timing",
    "order",
    "sway",
    "tilt",
    "stable",
    "push",
    "heading",
    "lift",
    "foot_offset",
    "machine",
)
"""What a linkage does not leave open: its bars, its crank and a steady wave gait decide it."""


def find_linkage(config: Config) -> Linkage | None:
    """Return the linkage of a config; None for pantograph legs.

    Raises:
        KinetariumError: If it is invalid, or contradicts other values.
    """
    if config.legs == PANTOGRAPH:
        return None
    if config.legs not in LINKAGES and not Path(config.legs).is_file():
        known = ", ".join((PANTOGRAPH, *LINKAGES))
        raise ConfigError(f"--legs must be {known} or a TOML file, not '{config.legs}'")
    linkage = LINKAGES.get(config.legs) or read_linkage(Path(config.legs))
    level = (Ground.LEVEL,)
    if config.path != Config.path or config.terrain or config.ground != level:
        raise ConfigError("linkages walk on level ground, along --path straight")
    unused = [name for name in _OF_PANTOGRAPHS if getattr(config, name) != getattr(Config, name)]
    if unused:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in unused)
        raise ConfigError(f"linkages crawl straight ahead by their foot curves: leave out {flags}")
    if config.drives is not Drives.IDEAL:
        raise ConfigError("--drives motor is for pantograph legs")
    return linkage


def terrain_of(ground: str, config: Config) -> Terrain:
    """Return the terrain of a name, or of a file of heights.

    Raises:
        KinetariumError: If there is no such ground, or the file is invalid.
    """
    if ground == Ground.SLOPE:
        start = _SLOPE_FROM if config.slope_deg >= 0 else _SLOPE_TO
        return Terrain(slope_deg=config.slope_deg, slope_from=start)
    if ground == Ground.STEPS:
        return Terrain(
            steps=tuple(
                Step(x0, x1, -_WIDE, _WIDE, (i + 1) * config.step_height)
                for i, (x0, x1) in enumerate(_STEP_EDGES)
            )
        )
    if ground == Ground.LEVEL:
        return Terrain()
    from kinetarium.legs.walk.height_map import read_height_map

    if not Path(ground).is_file():
        raise ConfigError(
            f"--terrain must be {', '.join(Ground)} or a file of heights, not {ground!r}"
        )
    heights = read_height_map(Path(ground), cell=config.cell, rise=config.rise, start=_SLOPE_FROM)
    return Terrain(map=heights)


def read_waypoints(path: Path) -> Waypoints:
    """Read waypoints: CSV lines "x,y", or JSON, a list of pairs or {"waypoints": [...]}.

    Raises:
        ConfigError: If the file cannot be read or is invalid.
    """
    try:
        text = read_regular(path, most=_MOST_BYTES).decode()
    except UnicodeDecodeError:
        raise ConfigError(f"{str(path)!r} is not UTF-8 text") from None
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"--path {str(path)!r} is neither straight, curve, side, spin or random:N nor a"
            f" readable file: {reason(error)}"
        ) from None
    try:
        rows = _json_rows(text) if text.lstrip()[:1] in ("[", "{") else _csv_rows(text)
    except (ValueError, RecursionError, csv.Error) as error:
        raise ConfigError(f"{str(path)!r} has no waypoints: {one_line(str(error))}") from None
    if len(rows) > _MOST_WAYPOINTS:
        raise ConfigError(f"{str(path)!r} has more than {_MOST_WAYPOINTS} waypoints")
    if not rows or not all(_is_point(row) for row in rows):
        raise ConfigError(f"{str(path)!r}: each waypoint must be two numbers, up to {_FARTHEST:g}")
    return tuple((float(x), float(y)) for x, y in rows)


def _is_point(row: Any) -> bool:
    return (
        isinstance(row, list)
        and len(row) == 2
        and all(type(part) in (int, float) and abs(part) <= _FARTHEST for part in row)
    )


def _json_rows(text: str) -> list[Any]:
    data = parse_json(text)
    rows = data.get("waypoints") if isinstance(data, dict) else data
    return rows if isinstance(rows, list) else []


def _csv_rows(text: str) -> list[Any]:
    rows = [row for row in csv.reader(text.splitlines()) if row]
    named = rows and not any(character.isdigit() for character in "".join(rows[0]))
    return [[_number(cell.strip()) for cell in row] for row in (rows[1:] if named else rows)]


def _number(cell: str) -> float:
    if len(cell) > _LONGEST_NUMBER or not _NUMBER.fullmatch(cell):
        raise ValueError(f"{one_line(repr(cell))} is not a number")
    return float(cell)


def _whole(length: float, stride: float) -> float:
    return max(1, round(length / stride)) * stride


_ORDERS = ("auto", *map(str, TABLE_1))
_LONGEST = 2000.0
"""Maximum time of a walk in physics [s]: two million steps; the recording fits into memory."""


def cases(config: Config) -> tuple[Case, ...]:
    """Return a case for each engine, path, ground, timing, order, stride, sway, push and type.

    A walk without an engine is planned once, for it has neither pushes nor motors.

    Raises:
        KinetariumError: If a value is invalid, or an engine does not support closed loops.
    """
    check_ranges(config)
    _check(config)
    machine = load_machine(Path(config.machine)) if config.machine else Machine()
    if config.foot_offset:
        machine = replace(machine, foot_offset=config.foot_offset)
    gait, linkage = find_gait(config), find_linkage(config)
    grounds = config.terrain or tuple(map(str, config.ground))
    terrains = {ground: terrain_of(ground, config) for ground in grounds}
    chosen = []
    for engine, path, ground, timing, order, stride, sway, push, kind in product(
        dict.fromkeys(config.engine) or (NO_ENGINE,),
        dict.fromkeys(config.path),
        terrains,
        dict.fromkeys(config.timing),
        dict.fromkeys(config.order),
        dict.fromkeys(config.stride),
        dict.fromkeys(config.sway),
        dict.fromkeys(config.push),
        dict.fromkeys(config.type if linkage is None else config.type[:1]),
    ):
        way = find_path(path, stride=stride, heading=config.heading)
        chosen.append(
            case_of(
                config,
                Case,
                engine=engine,
                type=kind,
                path=path,
                ground=ground,
                timing=timing,
                leg_order=order,
                stride=stride,
                sway=sway,
                push=push if engine != NO_ENGINE else 0.0,
                drives=config.drives if engine != NO_ENGINE else Drives.IDEAL,
                gait=gait,
                linkage=linkage,
                waypoints=way.waypoints,
                heading=way.heading,
                machine=replace(machine, kind=kind),
                terrain=terrains[ground],
            )
        )
    walks = tuple(dict.fromkeys(chosen))
    for case in walks:
        refuse_long(case)
    return walks


def _check(config: Config) -> None:
    from kinetarium.engines.protocol import Capability, CapabilityError
    from kinetarium.engines.registry import open_engine

    refuse_empty(config, "type", "path", "stride", "timing", "order", "sway", "ground", "push")
    if config.stable and (config.sway != Config.sway or config.step_time != Config.step_time):
        raise ConfigError("--stable chooses sway and step time; leave out --sway and --step-time")
    if set(config.engine) <= {NO_ENGINE} and (any(config.push) or config.drives is Drives.MOTOR):
        raise ConfigError("--push and --drives motor need an --engine")
    if config.terrain and config.ground != Config.ground:
        raise ConfigError("--terrain is instead of --ground; leave out one of them")
    for order in config.order:
        if order not in _ORDERS:
            raise ConfigError(f"--order must be auto or a row from 1 to 8, not '{order}'")
    for name in config.engine:
        if name != NO_ENGINE and Capability.CLOSED_LOOPS not in open_engine(name).info.capabilities:
            raise CapabilityError(name, Capability.CLOSED_LOOPS, reason="a pantograph")


def refuse_long(case: Case) -> None:
    """Plan the route, which checks the values, and refuse walks that take too long."""
    from kinetarium.legs.walk.route import lay_route

    plan = walk_plan(case)
    time = 4 * lay_route(plan).cycles * plan.step_time
    if case.engine != NO_ENGINE and time > _LONGEST:
        raise ConfigError(
            f"a walk of {time:g} s with a --step-time of {plan.step_time:g} s is too long for an"
            f" engine; the maximum is {_LONGEST:g} s"
        )


_FRAMES_IN_PHYSICS = 48
"""Frames of a leg step, between which commands are interpolated linearly."""


def walk_plan(case: Case) -> WalkPlan:
    """Return the plan of a case, with the sway and the step time of the config.

    In physics the feet are placed about the true centre of mass, which is behind the centre
    of the hips, since all knees point backwards.

    Raises:
        KinetariumError: If a value is invalid.
    """
    if case.engine != NO_ENGINE:
        return physical_plan(case)
    return _plan(case, case.machine, frames=case.frames)


def physical_plan(case: Case) -> WalkPlan:
    """Return the plan of a case as it is walked in physics, with an engine or without."""
    return _plan(case, true_machine(case), frames=_FRAMES_IN_PHYSICS)


def _plan(case: Case, machine: Machine, *, frames: int) -> WalkPlan:
    return WalkPlan(
        machine=machine,
        waypoints=case.waypoints,
        curve=case.curve,
        heading=case.heading,
        spin_deg=case.spin_deg,
        stride=case.stride,
        lift=case.lift,
        sway=case.sway,
        tilt=case.tilt,
        timing=case.timing,
        order=() if case.leg_order == "auto" else TABLE_1[int(case.leg_order)],
        frames_per_step=frames,
        step_time=case.step_time,
        terrain=case.terrain,
        gait=case.gait,
    )


def true_machine(case: Case) -> Machine:
    """Return a machine with its true centre of mass, its feet about it."""
    from kinetarium.legs.quadruped import mass_center

    x, y = mass_center(case.machine, unit_m=case.unit_m, mass=case.mass)
    return replace(case.machine, com=(x, y), foot_forward=case.machine.foot_forward + x)
