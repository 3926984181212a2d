"""What the walking study is asked, and one case of it."""

from dataclasses import dataclass
from enum import StrEnum

from kinetarium.legs.course import Curve, Heading
from kinetarium.legs.gait import Timing
from kinetarium.legs.leg_kind import LegKind
from kinetarium.legs.machine import Machine
from kinetarium.legs.terrain import Terrain

NO_ENGINE = "none"
"""The engine of a walk that is only planned."""


class Ground(StrEnum):
    """What the robot walks on."""

    LEVEL = "level"
    SLOPE = "slope"
    """Rises along x, a little after the start."""
    STEPS = "steps"
    """Low steps across the way, up and down again."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """A robot on four pantograph legs that walks.

    Attributes:
        type: How the legs are driven: ttt1, ttt2, ttr.
        path: straight, curve, side, spin, or files of way-points (CSV or JSON) [unit].
        stride: Way of the body in one cycle of four legs [unit].
        timing: When the body moves: paper, two-phase.
        order: Leg order: auto for the best of all 24, or rows 1 to 8 of the paper's Table 1.
        sway: Margin that the body's sway gives each swing [unit]; 0 for no sway.
        engine: Engines that walk the robot in physics; none for a walk that is only planned.
        heading: Whether the body turns along a path from a file, keeps its heading, or spins.
        curve: What is drawn through the way-points of a file.
        lift: How high a foot is lifted [unit].
        ground: What it walks on.
        slope_deg: Angle of the slope [deg].
        step_height: Height of a low step [unit].
        spin_deg: How far a spin turns, positive to the left [deg].
        foot_offset: How far outward of its hip a foot stands [unit].
        machine: File of a saved machine to take instead of the paper's; its type is --type.
        step_time: Duration of one leg step [s].
        frames: Frames of one leg step in a recording without an engine.
        unit_m: Length of the machine's unit [m].
        mass: Mass of the robot [kg].
    """

    type: tuple[LegKind, ...] = (LegKind.TTT1, LegKind.TTT2, LegKind.TTR)
    path: tuple[str, ...] = ("straight",)
    stride: tuple[float, ...] = (16.0,)
    timing: tuple[Timing, ...] = (Timing.TWO_PHASE,)
    order: tuple[str, ...] = ("auto",)
    sway: tuple[float, ...] = (0.0,)
    engine: tuple[str, ...] = (NO_ENGINE,)
    heading: Heading = Heading.TURN
    curve: Curve = Curve.SPLINE
    lift: float = 5.0
    ground: tuple[Ground, ...] = (Ground.LEVEL,)
    slope_deg: float = 6.0
    step_height: float = 2.0
    spin_deg: float = 90.0
    foot_offset: float = 0.0
    machine: str = ""
    step_time: float = 2.0
    frames: int = 12
    unit_m: float = 0.01
    mass: float = 6.08


@dataclass(frozen=True, kw_only=True)
class Case:
    """One walk.

    Attributes:
        engine: The engine; "none" for a walk that is only planned.
        type: How the legs are driven.
        path: Name of the path.
        ground: What it walks on.
        timing: When the body moves.
        leg_order: "auto", or a row of Table 1.
        stride: Way of the body in one cycle [unit].
        sway: Margin that the sway gives [unit].
        lift: How high a foot is lifted [unit].
        waypoints: Points that lead the body [unit].
        curve: What is drawn through them.
        heading: What the heading does.
        spin_deg: How far a spin turns [deg].
        machine: The robot.
        terrain: The ground.
        step_time: Duration of one leg step [s].
        frames: Frames of one leg step.
        unit_m: Length of the machine's unit [m].
        mass: Mass of the robot [kg].
    """

    engine: str
    type: LegKind
    path: str
    ground: Ground
    timing: Timing
    leg_order: str
    stride: float
    sway: float
    lift: float
    waypoints: tuple[tuple[float, float], ...]
    curve: Curve
    heading: Heading
    spin_deg: float
    machine: Machine
    terrain: Terrain
    step_time: float
    frames: int
    unit_m: float
    mass: float
