"""WalkPlan: path, gait and terrain of a walk."""

from dataclasses import dataclass, field
from enum import StrEnum
from itertools import permutations
from math import radians, tan
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kinetarium.legs.mechanism.machine import Machine
from kinetarium.legs.mechanism.pantograph import LegsError, checked
from kinetarium.legs.walk.height_map import HeightMap
from kinetarium.spatial.arrays import Array
from kinetarium.storage.serialization import from_builtins, read_toml

if TYPE_CHECKING:
    from kinetarium.spatial.arrays import Array


@dataclass(frozen=True, slots=True)
class Step:
    """A block on the ground.

    Attributes:
        x0: Where it begins along x [unit].
        x1: Where it ends [unit].
        y0: Where it begins along y [unit].
        y1: Where it ends [unit].
        height: How high it is [unit].
    """

    x0: float
    x1: float
    y0: float
    y1: float
    height: float


@dataclass(frozen=True, slots=True)
class Terrain:
    """The ground z = 0, a slope along x, steps and a height map; the highest counts.

    Attributes:
        slope_deg: Angle of the slope [deg]: it rises from `slope_from` on, or, if negative,
            descends to there.
        slope_from: Where the slope meets the ground along x [unit].
        steps: The blocks; one that is higher than the lift of a foot is an obstacle, which
            feet avoid.
        clearance: Least distance of a foothold from the edge of a block [unit].
        map: Heights on a grid; None for none.
    """

    slope_deg: float = 0.0
    slope_from: float = 0.0
    steps: tuple[Step, ...] = ()
    clearance: float = 2.0
    map: HeightMap | None = None

    def __post_init__(self) -> None:
        """Check all values.

        Raises:
            LegsError: If a value is invalid.
        """
        checked("slope_deg of the terrain", self.slope_deg, low=-45.0, high=45.0)
        checked("slope_from of the terrain", self.slope_from, low=-1e6, high=1e6)
        checked("clearance of the terrain", self.clearance, low=0.0, high=1e6)
        for step in self.steps:
            if not (step.x0 < step.x1 and step.y0 < step.y1 and 0 < step.height <= 1e6):
                raise LegsError(f"length, width and height of a step must be positive: {step}")

    @property
    def level(self) -> bool:
        """Whether there is nothing but level ground."""
        return self.slope_deg == 0 and not self.steps and self.map is None

    def height(self, x: "Array", y: "Array") -> "Array":
        """Return the height of the ground at points [unit], shape (...)."""
        return ground_height(self, x, y)


def ground_height(terrain: Terrain, x: Array, y: Array) -> Array:
    """Return the height of the ground at points [unit], shape (...)."""
    z = np.maximum(0.0, (x - terrain.slope_from) * tan(radians(terrain.slope_deg)))
    for step in terrain.steps:
        on = (step.x0 <= x) & (x <= step.x1) & (step.y0 <= y) & (y <= step.y1)
        z = np.where(on, np.maximum(z, step.height), z)
    return np.asarray(z if terrain.map is None else np.maximum(z, terrain.map.height(x, y)))


def footholds(terrain: Terrain, points: Array, *, highest: float) -> Array:
    """Return the footholds on the terrain for points on level ground [unit], shape (..., 3).

    A foothold keeps clear of the edges of blocks, on the nearer side, and off blocks that are
    too high; on a height map it is where the ground is flat enough.

    Args:
        points: The footholds on level ground, shape (..., 2).
        highest: The highest block that a foot may step on [unit].
    """
    x, y = points[..., 0].copy(), points[..., 1].copy()
    if terrain.map is not None:
        x, y = terrain.map.flatter(x, y)
    for step in terrain.steps:
        free = min(terrain.clearance, (step.x1 - step.x0) / 2, (step.y1 - step.y0) / 2)
        if step.height > highest:
            _leave(x, y, step, free=free)
            continue
        for value, other, (low, high), (start, end) in (
            (x, y, (step.x0, step.x1), (step.y0, step.y1)),
            (y, x, (step.y0, step.y1), (step.x0, step.x1)),
        ):
            beside = (start - free < other) & (other < end + free)
            for edge in (low, high):
                near = beside & (np.abs(value - edge) < free)
                value[near] = np.where(value < edge, edge - free, edge + free)[near]
    return np.stack([x, y, ground_height(terrain, x, y)], axis=-1)


def _leave(x: Array, y: Array, step: Step, *, free: float) -> None:
    """Move points off a block, the shortest way."""
    x0, x1, y0, y1 = step.x0 - free, step.x1 + free, step.y0 - free, step.y1 + free
    on: NDArray[np.bool_] = (x0 < x) & (x < x1) & (y0 < y) & (y < y1)
    along = np.minimum(x - x0, x1 - x) <= np.minimum(y - y0, y1 - y)
    out_x = np.where(x - x0 < x1 - x, x0, x1)
    out_y = np.where(y - y0 < y1 - y, y0, y1)
    x[on & along], y[on & ~along] = out_x[on & along], out_y[on & ~along]


class Curve(StrEnum):
    """The curve through the waypoints."""

    SPLINE = "spline"
    """A spline of cubic Bezier curves through all points."""
    BEZIER = "bezier"
    """One Bezier curve from the first point to the last, with all points as control points."""


class Heading(StrEnum):
    """The heading of the body along the path."""

    TURN = "turn"
    """It follows the path."""
    CRAB = "crab"
    """It is constant, whatever the direction of travel."""
    SPIN = "spin"
    """The body turns on the spot."""


Order = tuple[int, int, int, int]
"""Legs in the order in which they swing."""

TABLE_1: dict[int, Order] = {
    1: (1, 2, 3, 4),
    2: (3, 4, 1, 2),
    3: (1, 4, 3, 2),
    4: (3, 2, 1, 4),
    5: (2, 1, 4, 3),
    6: (4, 3, 2, 1),
    7: (4, 1, 2, 3),
    8: (2, 3, 4, 1),
}
"""Leg orders of the paper by row; the body may move before the first and the third leg."""

ALL_ORDERS: tuple[Order, ...] = tuple((a, b, c, d) for a, b, c, d in permutations((1, 2, 3, 4)))
"""All 24 orders."""


class GaitTiming(StrEnum):
    """When the body moves within a cycle of four legs."""

    PAPER = "paper"
    """Once, by the whole stride, between the second and the third leg; feet start at rest."""
    TWO_PHASE = "two-phase"
    """By half a stride before the first and the third leg; each leg's stance is centred."""


def table1_row(order: Order) -> int:
    """Return the row of Table 1 with an order, 0 if there is none."""
    return next((row for row, legs in TABLE_1.items() if legs == order), 0)


def region_row(forward: float, left: float, turn: float) -> int:
    """Return the row of Table 1 for a direction of travel.

    The rows are those that a search of all orders finds for no foot inward, then the best margin
    (the report's "Table 1 derived"): forward right 1, forward left 2, back right 5, back left 6,
    turning left 3, right 4.

    Args:
        forward: Travel along the body's x axis [unit].
        left: Travel along its y axis [unit].
        turn: Travel of the outermost foot by turning, positive to the left [unit].
    """
    if abs(turn) > max(abs(forward), abs(left)):
        return 3 if turn > 0 else 4
    # A travel straight to a side is a region's edge, as is one straight ahead.
    ahead = forward >= -1e-9 * abs(left)
    right = left <= 1e-9 * abs(forward)
    return (1 if right else 2) if ahead else (5 if right else 6)


@dataclass(frozen=True)
class Gait:
    """A periodic gait: the body moves steadily while the legs swing in their phases.

    Statics does not hold a robot on two feet; in physics it needs feedback.

    Attributes:
        name: What it is called.
        offsets: When each of the legs 1 to 4 lifts, as a fraction of the cycle [-].
        duty: Fraction of the cycle that a foot is on the ground [-].
        cycle_time: Duration of a cycle [s].
        lift: Height by which a foot is lifted [unit].
    """

    name: str = "trot"
    offsets: tuple[float, float, float, float] = (0.0, 0.5, 0.5, 0.0)
    duty: float = 0.6
    cycle_time: float = 0.5
    lift: float = 2.0

    def __post_init__(self) -> None:
        """Check all values.

        Raises:
            LegsError: If a value is invalid.
        """
        if len(self.offsets) != 4:
            raise LegsError(f"a gait needs four offsets, not {len(self.offsets)}")
        for value in self.offsets:
            checked("an offset of a gait", value, low=0.0, high=1.0)
        checked("duty of a gait", self.duty, low=0.05, high=0.95)
        checked("cycle_time of a gait", self.cycle_time, low=1e-2, high=1e3)
        checked("lift of a gait", self.lift, low=0.0, high=1e6)

    @property
    def order(self) -> tuple[int, int, int, int]:
        """The legs in the order in which they lift."""
        a, b, c, d = sorted((1, 2, 3, 4), key=lambda leg: (self.offsets[leg - 1] % 1.0, leg))
        return a, b, c, d


TROT = Gait()
"""Legs 1 and 4 together, then 2 and 3."""


def read_gait(path: Path) -> Gait:
    """Read a gait from a TOML file with the fields of `Gait`.

    Raises:
        SerializationError: If the file cannot be read or does not match.
        LegsError: If a value is invalid.
    """
    return from_builtins(Gait, read_toml(path), where=f"gait {str(path)!r}")


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A further part of a path, which begins where the one before ends.

    Attributes:
        heading: TURN along its waypoints (the body first turns on the spot where they lead
            elsewhere), CRAB with the heading that the body has, or SPIN on the spot.
        waypoints: Points (x, y) after the one at which it begins [unit]; none for a spin.
        curve: The curve through them.
        spin_deg: Angle of a spin, positive to the left [deg].
    """

    heading: Heading = Heading.TURN
    waypoints: tuple[tuple[float, float], ...] = ()
    curve: Curve = Curve.SPLINE
    spin_deg: float = 90.0

    def __post_init__(self) -> None:
        """Check all values.

        Raises:
            LegsError: If a value is invalid.
        """
        checked("spin_deg of a segment", abs(self.spin_deg), low=1e-3, high=1e6)
        if self.heading is not Heading.SPIN and not self.waypoints:
            raise LegsError("a segment that does not spin needs a waypoint")


@dataclass(frozen=True, kw_only=True)
class WalkPlan:
    """The request for a walk.

    Every field has a default and consists of built-in types and dataclasses, so that a plan
    can be read from and written to JSON (`storage.serialization`).

    Attributes:
        machine: The robot.
        waypoints: Points (x, y) on the ground for the path of the body's centre [unit]: on the
            path of a SPLINE, control points of a BEZIER; a spin takes place at the first.
        curve: The curve through the waypoints.
        heading: Whether the body turns with the path, keeps its heading, or spins on the spot.
        heading_deg: Heading of a CRAB, and initial heading of a SPIN, from x to the left [deg].
        spin_deg: Angle of a SPIN, positive to the left [deg].
        segments: Further parts of the path, each of its own kind.
        stride: Greatest travel of the body in one cycle of four legs [unit]; it is reduced so
            that whole cycles fit the path, and in bends so that no foot travels farther.
        lift: Height by which a foot is lifted [unit].
        sway: Static margin that the body's sway shall provide [unit]; 0 for no sway.
        tilt: Share of the slope under its feet by which the body tilts [-]: 0 keeps it level, 1
            parallel to the ground. A body that tilts keeps its centre over its feet.
        timing: When the body moves within a cycle.
        order: The order in which the legs swing, such as (1, 2, 3, 4); empty for the best of
            all 24. The rows of the paper's Table 1 are `TABLE_1[1]` to `TABLE_1[8]`.
        by_region: Whether each cycle has the order of Table 1 for the direction in which the body
            moves in it (`region_row`), instead of one order for all.
        frames_per_step: Frames of one leg step, body moves included; at least 3.
        step_time: Duration of one leg step, body moves included [s].
        terrain: The ground.
        gait: A periodic gait; None for a crawl. Its cycle, of four leg steps, replaces
            `step_time`, and its lift `lift`; timing, order, sway and tilt are not used.
    """

    machine: Machine = field(default_factory=Machine)
    waypoints: tuple[tuple[float, float], ...] = ((0.0, 0.0), (128.0, 0.0))
    curve: Curve = Curve.SPLINE
    heading: Heading = Heading.TURN
    heading_deg: float = 0.0
    spin_deg: float = 90.0
    segments: tuple[Segment, ...] = ()
    stride: float = 16.0
    lift: float = 5.0
    sway: float = 0.0
    tilt: float = 0.0
    timing: GaitTiming = GaitTiming.TWO_PHASE
    order: tuple[int, ...] = ()
    by_region: bool = False
    frames_per_step: int = 12
    step_time: float = 1.0
    terrain: Terrain = field(default_factory=Terrain)
    gait: Gait | None = None

    def __post_init__(self) -> None:
        """Check all values.

        Raises:
            LegsError: If a value is invalid.
        """
        checked("stride", self.stride, low=1e-3, high=1e6)
        checked("lift", self.lift, low=0.0, high=1e6)
        checked("sway", self.sway, low=0.0, high=1e6)
        checked("tilt", self.tilt, low=0.0, high=1.0)
        checked("heading_deg", self.heading_deg, low=-1e6, high=1e6)
        checked("spin_deg", abs(self.spin_deg), low=1e-3, high=1e6)
        checked("frames_per_step", self.frames_per_step, low=3, high=10_000)
        checked("step_time", self.step_time, low=1e-3, high=1e6)
        if self.gait is not None:
            object.__setattr__(self, "step_time", self.gait.cycle_time / 4)
            object.__setattr__(self, "lift", self.gait.lift)
        if self.order and self.order not in ALL_ORDERS:
            raise LegsError(f"an order must name each of the legs 1 to 4 once, not {self.order}")
        if not self.waypoints:
            raise LegsError("a walk needs a waypoint")
