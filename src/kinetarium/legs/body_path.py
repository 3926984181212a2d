"""The way of the body: a curve over the ground, measured by how far it takes the feet."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import radians

import numpy as np

from kinetarium.legs.course import Curve
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.paths import Bezier, BezierSpline, Path, PathError

_SAMPLES_PER_STRIDE = 8
_FEWEST_SAMPLES = 256
_MOST_SAMPLES = 20_000
_OUTLINE = 257


@dataclass(frozen=True, eq=False)
class BodyPath(ABC):
    """Body poses (x, y, heading) by the way w of a foot at the greatest distance from the centre.

    A body that turns takes its feet farther than its centre: by ds (1 + r |curvature|) at most,
    r being the distance of the feet. Equal parts of w are therefore moves that no foot finds
    longer than another, short where the path bends.

    Attributes:
        length: The whole way w [unit].
    """

    length: float

    @abstractmethod
    def poses(self, w: Array) -> Array:
        """Give x, y [unit] and heading [rad] at ways [unit], shape (n, 3); beyond the ends too."""

    def outline(self) -> Array:
        """Give points of the path for drawing [unit], shape (m, 2)."""
        return self.poses(np.linspace(0.0, self.length, _OUTLINE))[:, :2]


@dataclass(frozen=True, eq=False)
class _CurvePath(BodyPath):
    """Samples of a curve, joined by cubics (Hermite): exact at the samples, smooth between."""

    ways: Array
    arcs: Array
    points: Array
    tangents: Array
    headings: Array

    def poses(self, w: Array) -> Array:
        """Give poses on the curve, and straight on beyond its ends."""
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
        """Give poses on the spot."""
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
    """Lay a path through way-points.

    Args:
        waypoints: Points on the ground [unit].
        curve: What is drawn through them.
        turning: Whether the heading follows the path.
        heading_deg: The heading if it does not [deg].
        radius: Distance of the feet from the centre [unit].
        stride: Way of the body in one cycle, by which the curve is sampled [unit].

    Raises:
        PathError: If they make no path.
    """
    if any(len(point) != 2 for point in waypoints):
        raise PathError("way-points lie on the ground: give each two coordinates")
    drawn: Path = BezierSpline(waypoints) if curve is Curve.SPLINE else Bezier(waypoints)
    wanted = _SAMPLES_PER_STRIDE * drawn.length / stride
    arcs = np.linspace(0.0, drawn.length, int(np.clip(wanted, _FEWEST_SAMPLES, _MOST_SAMPLES)) + 1)
    # A closed path begins again at its end, which is its start all but in name.
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
        center: Where [unit].
        heading_deg: The heading at the start [deg].
        spin_deg: How far, positive to the left [deg].
        radius: Distance of the feet from the centre [unit].
    """
    length = radius * abs(radians(spin_deg))
    return _Spin(length, center, radians(heading_deg), radians(spin_deg) / length)
