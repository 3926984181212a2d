"""WalkRoute: a plan divided into gait cycles, with poses of the body and footholds for each."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import ceil, radians

import numpy as np

from kinetarium.legs.mechanism.pantograph import LegsError
from kinetarium.legs.walk.plan import Curve, GaitTiming, Heading, WalkPlan, footholds
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.paths import Bezier, BezierSpline, Path, PathError

_SAMPLES_PER_STRIDE = 8
_FEWEST_SAMPLES = 256
_MOST_SAMPLES = 20_000
_OUTLINE = 257


@dataclass(frozen=True, eq=False)
class BodyPath(ABC):
    """Body poses (x, y, heading) by the distance w that the outermost foot travels.

    When the body turns, its feet travel farther than its centre: by ds (1 + r |curvature|) at
    most, r being the distance of the feet. Equal steps of w therefore limit the travel of every
    foot, and are short where the path bends.

    Attributes:
        length: The whole distance w [unit].
    """

    length: float

    @abstractmethod
    def poses(self, w: Array) -> Array:
        """Return x, y [unit], heading [rad] at distances w [unit], shape (n, 3); extrapolates."""

    def outline(self) -> Array:
        """Return points of the path for drawing [unit], shape (m, 2)."""
        return self.poses(np.linspace(0.0, self.length, _OUTLINE))[:, :2]


@dataclass(frozen=True, eq=False)
class _CurvePath(BodyPath):
    """A curve interpolated by cubic Hermite splines: exact at the samples, smooth between."""

    ways: Array
    arcs: Array
    points: Array
    tangents: Array
    headings: Array

    def poses(self, w: Array) -> Array:
        """Return poses on the curve, and on its tangents beyond the ends."""
        s = np.interp(w, self.ways, self.arcs)
        i = np.clip(np.searchsorted(self.arcs, s, side="right") - 1, 0, len(self.arcs) - 2)
        h = self.arcs[i + 1] - self.arcs[i]
        t = (s - self.arcs[i]) / h
        t1, t2, t3 = t[:, np.newaxis], t[:, np.newaxis] ** 2, t[:, np.newaxis] ** 3
        leave, arrive = h[:, np.newaxis] * self.tangents[i], h[:, np.newaxis] * self.tangents[i + 1]
        points = (
            (2 * t3 - 3 * t2 + 1) * self.points[i]
            + (t3 - 2 * t2 + t1) * leave
            + (3 * t2 - 2 * t3) * self.points[i + 1]
            + (t3 - t2) * arrive
        )
        beyond = (w - np.clip(w, 0.0, self.length))[:, np.newaxis]
        points += beyond * np.where(beyond > 0, self.tangents[-1], self.tangents[0])
        return np.column_stack([points, (1 - t) * self.headings[i] + t * self.headings[i + 1]])


@dataclass(frozen=True, eq=False)
class _Spin(BodyPath):
    center: tuple[float, float]
    heading: float
    rate: float

    def poses(self, w: Array) -> Array:
        """Return poses on the spot."""
        place = np.broadcast_to(self.center, (len(w), 2))
        return np.column_stack([place, self.heading + self.rate * w])


def curve_path(
    waypoints: tuple[tuple[float, float], ...],
    *,
    curve: Curve,
    turning: bool,
    heading_deg: float,
    radius: float,
    stride: float,
) -> BodyPath:
    """Lay a path through waypoints.

    Args:
        waypoints: Points on the ground [unit].
        turning: Whether the heading follows the path.
        heading_deg: The heading if it does not [deg].
        radius: Distance of the feet from the centre [unit].
        stride: Travel of the body in one cycle, which sets the sampling [unit].
    """
    if any(len(point) != 2 for point in waypoints):
        raise PathError("waypoints are on the ground: each needs two coordinates")
    drawn: Path = BezierSpline(waypoints) if curve is Curve.SPLINE else Bezier(waypoints)
    wanted = _SAMPLES_PER_STRIDE * drawn.length / stride
    arcs = np.linspace(0.0, drawn.length, int(np.clip(wanted, _FEWEST_SAMPLES, _MOST_SAMPLES)) + 1)
    # On a closed path the arc length wraps at the end, so samples stay just below it.
    inside = np.minimum(arcs, np.nextafter(drawn.length, 0.0))
    tangents, points = drawn.tangent(inside), drawn.position(inside)
    headings = np.full(len(arcs), radians(heading_deg))
    ways = arcs.copy()
    if turning:
        headings = np.unwrap(np.arctan2(tangents[:, 1], tangents[:, 0]))
        ways[1:] += radius * np.cumsum(np.abs(np.diff(headings)))
    return _CurvePath(float(ways[-1]), ways, arcs, points, tangents, headings)


def spin_path(
    center: tuple[float, float], *, heading_deg: float, spin_deg: float, radius: float
) -> BodyPath:
    """Turn on the spot.

    Args:
        center: Centre of the turn [unit].
        heading_deg: Initial heading [deg].
        spin_deg: Angle, positive to the left [deg].
        radius: Distance of the feet from the centre [unit].
    """
    length = radius * abs(radians(spin_deg))
    return _Spin(length, center, radians(heading_deg), radians(spin_deg) / length)


MOST_FRAMES = 100_000
"""Frames of the longest walk; with the poses of all links more would not fit into memory."""
_WHOLE = 1e-9
"""Fraction of a stride by which a path may exceed whole strides [-]."""


@dataclass(frozen=True, slots=True, eq=False)
class WalkRoute:
    """The body's path divided into cycles, with a foothold for every leg and stop.

    Attributes:
        path: The body's path.
        cycles: Number of cycles.
        two_phase: Whether the body moves twice in a cycle.
        ways: Distances along the path at which the body stops, and one beyond, shape (m,).
        poses: x, y and heading of the body there, shape (m, 3).
        holds: The neutral foothold of each leg there, shape (m, 4, 3).
    """

    path: BodyPath
    cycles: int
    two_phase: bool
    ways: Array
    poses: Array
    holds: Array

    @property
    def stride(self) -> float:
        """Travel of the outermost foot in one cycle [unit]."""
        return self.path.length / self.cycles


def lay_route(plan: WalkPlan) -> WalkRoute:
    """Divide a plan into equal cycles.

    Raises:
        LegsError: If the walk takes too many frames.
        PathError: If the waypoints are not a valid path.
    """
    machine = plan.machine
    rest = machine.neutral_feet
    radius = float(np.hypot(rest[:, 0], rest[:, 1]).max())
    if plan.heading is Heading.SPIN:
        path = spin_path(
            plan.waypoints[0],
            heading_deg=plan.heading_deg,
            spin_deg=plan.spin_deg,
            radius=radius,
        )
    else:
        path = curve_path(
            plan.waypoints,
            curve=plan.curve,
            turning=plan.heading is Heading.TURN,
            heading_deg=plan.heading_deg,
            radius=radius,
            stride=plan.stride,
        )
    wanted = path.length / plan.stride
    if not wanted * 4 * plan.frames_per_step <= MOST_FRAMES:
        raise LegsError(
            f"a path of {path.length:.4g} in strides of {plan.stride:g} takes more than"
            f" {MOST_FRAMES} frames; shorten it, lengthen the stride or reduce frames_per_step"
        )
    cycles = max(1, ceil(wanted - _WHOLE))
    two_phase = plan.timing is GaitTiming.TWO_PHASE
    moves = 2 * cycles if two_phase else cycles
    ways: Array = np.arange(moves + 2, dtype=np.float64) * (path.length / moves)
    poses = path.poses(ways)
    holds = footholds(plan.terrain, _placed(rest, poses), highest=plan.lift)
    return WalkRoute(path, cycles, two_phase, ways, poses, holds)


def _placed(points: Array, poses: Array) -> Array:
    """Return points of the body frame on the ground for each pose, shape (m, points, 2)."""
    c, s = np.cos(poses[:, 2:]), np.sin(poses[:, 2:])
    x, y = points[:, 0], points[:, 1]
    return np.stack([poses[:, :1] + c * x - s * y, poses[:, 1:2] + s * x + c * y], axis=-1)
