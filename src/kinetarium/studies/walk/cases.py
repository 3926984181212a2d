"""From a config to its cases: a walk for each choice."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TypeVar

from kinetarium.batch.study import ConfigError
from kinetarium.engines.capability import Capability, CapabilityError
from kinetarium.engines.registry import open_engine
from kinetarium.legs import TABLE_1, Machine, load_machine
from kinetarium.legs.route import lay_route
from kinetarium.ranges import check_ranges
from kinetarium.studies.walk.config import NO_ENGINE, Case, Config
from kinetarium.studies.walk.paths import find_path, terrain_of
from kinetarium.studies.walk.request import walk_plan

T = TypeVar("T")

_ORDERS = ("auto", *map(str, TABLE_1))
_LONGEST = 2000.0
"""Most time of a walk in physics [s]: two million steps, and what is recorded fits into memory."""


def cases(config: Config) -> tuple[Case, ...]:
    """Give a case for each engine, path, ground, timing, order, stride, sway and type.

    Raises:
        KinetariumError: If a value makes no sense, or an engine cannot close loops.
    """
    check_ranges(config)
    _check(config)
    machine = load_machine(Path(config.machine)) if config.machine else Machine()
    if config.foot_offset:
        machine = replace(machine, foot_offset=config.foot_offset)
    chosen = []
    for engine, path, ground, timing, order, stride, sway, kind in product(
        _once(config.engine) or (NO_ENGINE,),
        _once(config.path),
        _once(config.ground),
        _once(config.timing),
        _once(config.order),
        _once(config.stride),
        _once(config.sway),
        _once(config.type),
    ):
        way = find_path(path, stride=stride, heading=config.heading)
        chosen.append(
            Case(
                engine=engine,
                type=kind,
                path=path,
                ground=ground,
                timing=timing,
                leg_order=order,
                stride=stride,
                sway=sway,
                lift=config.lift,
                waypoints=way.waypoints,
                curve=config.curve,
                heading=way.heading,
                spin_deg=config.spin_deg,
                machine=replace(machine, kind=kind),
                terrain=terrain_of(
                    ground, slope_deg=config.slope_deg, step_height=config.step_height
                ),
                step_time=config.step_time,
                frames=config.frames,
                unit_m=config.unit_m,
                mass=config.mass,
            )
        )
    for case in chosen:
        _refuse_long(case)
    return tuple(chosen)


def _check(config: Config) -> None:
    for name in ("type", "path", "stride", "timing", "order", "sway", "ground"):
        if not getattr(config, name):
            raise ConfigError(f"--{name} needs at least one value")
    for order in config.order:
        if order not in _ORDERS:
            raise ConfigError(f"--order must be auto or a row from 1 to 8, not '{order}'")
    for name in config.engine:
        if name != NO_ENGINE and Capability.CLOSED_LOOPS not in open_engine(name).info.capabilities:
            raise CapabilityError(name, Capability.CLOSED_LOOPS, reason="a pantograph")


def _refuse_long(case: Case) -> None:
    """Lay the route, which refuses what makes no sense, and refuse what no engine would end."""
    time = 4 * lay_route(walk_plan(case)).cycles * case.step_time
    if case.engine != NO_ENGINE and time > _LONGEST:
        raise ConfigError(
            f"a walk that takes {time:g} s with a --step-time of {case.step_time:g} s is too long"
            f" for an engine; it may take {_LONGEST:g} s"
        )


def _once(values: Sequence[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(values))
