"""Config and case of the walking study."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from kinetarium.legs.mechanism.machine import Machine
from kinetarium.legs.mechanism.pantograph import LegKind
from kinetarium.legs.walk.plan import Curve, GaitTiming, Heading, Terrain
from kinetarium.ranges import Range

NO_ENGINE = "none"
"""The engine of a planned walk without physics."""
STRIDE = Range(1e-3, 1e6, unit="unit")
LENGTH = Range(0.0, 1e6, unit="unit")
"""The unit of length is the machine's own, so that lengths may have any magnitude."""
Spin = Annotated[float, Range(-1e4, 1e4, unit="deg")]
"""About thirty turns to each side."""
StepTime = Annotated[float, Range(1e-3, 1e3, unit="s")]
"""From one physics time step on."""
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


@dataclass(frozen=True, kw_only=True)
class Config:
    """Walks of a robot on four pantograph legs.

    Attributes:
        type: Leg actuation: ttt1, ttt2 or ttr.
        path: straight, curve, side, spin, or files of waypoints (CSV or JSON) [unit].
        stride: Distance that the body moves in one cycle of four legs [unit].
        timing: When the body moves within a cycle.
        order: Leg order: auto for the best of all 24, or rows 1 to 8 of the paper's Table 1.
        sway: Stability margin to reach in each swing by swaying the body [unit]; 0 for no sway.
        engine: Engines that simulate the walk; none for a planned walk without physics.
        heading: Whether the body turns along a path from a file, keeps its heading, or spins.
        curve: Interpolation of the waypoints of a file.
        lift: Height of a foot during its swing [unit].
        ground: Ground to walk on.
        slope_deg: Angle of the slope [deg].
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
    path: tuple[str, ...] = ("straight",)
    stride: Annotated[tuple[float, ...], STRIDE] = (16.0,)
    timing: tuple[GaitTiming, ...] = (GaitTiming.TWO_PHASE,)
    order: tuple[str, ...] = ("auto",)
    sway: Annotated[tuple[float, ...], LENGTH] = (0.0,)
    engine: tuple[str, ...] = (NO_ENGINE,)
    heading: Heading = Heading.TURN
    curve: Curve = Curve.SPLINE
    lift: Annotated[float, LENGTH] = 5.0
    ground: tuple[Ground, ...] = (Ground.LEVEL,)
    slope_deg: Annotated[float, Range(0.0, 45.0, unit="deg")] = 6.0
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
    """

    engine: str
    type: LegKind
    path: str
    ground: Ground
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
