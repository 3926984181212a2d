"""WalkRoute: a plan divided into gait cycles, with poses of the body and footholds for each.

In every frame of a crawl the body moves with all feet on the ground, or one foot swings.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, cos, degrees, pi, radians, sin

import numpy as np
from numpy.typing import NDArray

from kinetarium.legs.mechanism.pantograph import LegsError
from kinetarium.legs.walk.crawl import (
    body_index,
    crawl_bodies,
    crawl_feet,
    height_over,
    plane_slopes,
)
from kinetarium.legs.walk.plan import (
    Curve,
    Gait,
    GaitTiming,
    Heading,
    Segment,
    WalkPlan,
    footholds,
    region_row,
)
from kinetarium.legs.walk.walk import LegStep
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


@dataclass(frozen=True, eq=False)
class _JoinedPath(BodyPath):
    """Paths one after the other."""

    parts: tuple[BodyPath, ...]

    def poses(self, w: Array) -> Array:
        """Return poses on the part that a distance lies on; beyond the ends those of its end."""
        starts = np.cumsum([0.0, *(part.length for part in self.parts)])
        at = np.clip(np.searchsorted(starts, w, side="right") - 1, 0, len(self.parts) - 1)
        poses = np.empty((len(w), 3))
        for i, part in enumerate(self.parts):
            here = at == i
            poses[here] = part.poses(w[here] - starts[i])
        return poses


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
    path = _whole_path(plan, radius=radius)
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


_AHEAD = 1e-3
"""A body that heads elsewhere by less than this continues without a turn on the spot [rad]."""


def _whole_path(plan: WalkPlan, *, radius: float) -> BodyPath:
    """Return the path of all segments of a plan."""
    first = Segment(
        heading=plan.heading,
        waypoints=plan.waypoints,
        curve=plan.curve,
        spin_deg=plan.spin_deg,
    )
    path = _segment_path(plan, first, heading_deg=plan.heading_deg, radius=radius)
    if not plan.segments:
        return path
    parts = [path]
    for segment in plan.segments:
        x, y, heading = parts[-1].poses(np.array([parts[-1].length]))[0].tolist()
        along = replace(segment, waypoints=((x, y), *segment.waypoints))
        path = _segment_path(plan, along, heading_deg=degrees(heading), radius=radius)
        turn = float(path.poses(np.zeros(1))[0, 2]) - heading
        turn -= 2 * pi * round(turn / (2 * pi))
        if abs(turn) > _AHEAD:
            parts.append(
                spin_path(
                    (x, y), heading_deg=degrees(heading), spin_deg=degrees(turn), radius=radius
                )
            )
        parts.append(path)
    return _JoinedPath(sum(part.length for part in parts), _unwound(parts))


def _unwound(parts: list[BodyPath]) -> tuple[BodyPath, ...]:
    """Return paths whose headings continue from one to the next, without whole turns between."""
    done = parts[:1]
    for part in parts[1:]:
        end = float(done[-1].poses(np.array([done[-1].length]))[0, 2])
        begin = float(part.poses(np.zeros(1))[0, 2])
        turns = 2 * pi * round((end - begin) / (2 * pi))
        if isinstance(part, _CurvePath):
            part = replace(part, headings=part.headings + turns)
        elif isinstance(part, _Spin):
            part = replace(part, heading=part.heading + turns)
        done.append(part)
    return tuple(done)


def _segment_path(
    plan: WalkPlan, segment: Segment, *, heading_deg: float, radius: float
) -> BodyPath:
    if segment.heading is Heading.SPIN:
        return spin_path(
            segment.waypoints[0],
            heading_deg=heading_deg,
            spin_deg=segment.spin_deg,
            radius=radius,
        )
    return curve_path(
        segment.waypoints,
        curve=segment.curve,
        turning=segment.heading is Heading.TURN,
        heading_deg=heading_deg,
        radius=radius,
        stride=plan.stride,
    )


def region_rows(plan: WalkPlan, route: WalkRoute) -> tuple[int, ...]:
    """Return the row of Table 1 for the direction of travel of each cycle."""
    rest = plan.machine.neutral_feet
    radius = float(np.hypot(rest[:, 0], rest[:, 1]).max())
    ends = route.path.poses(np.linspace(0.0, route.path.length, route.cycles + 1))
    rows = []
    for (x0, y0, a), (x1, y1, b) in pairwise(ends.tolist()):
        dx, dy, middle = x1 - x0, y1 - y0, (a + b) / 2
        forward, left = cos(middle) * dx + sin(middle) * dy, cos(middle) * dy - sin(middle) * dx
        rows.append(region_row(forward, left, radius * (b - a)))
    return tuple(rows)


def _placed(points: Array, poses: Array) -> Array:
    """Return points of the body frame on the ground for each pose, shape (m, points, 2)."""
    c, s = np.cos(poses[:, 2:]), np.sin(poses[:, 2:])
    x, y = points[:, 0], points[:, 1]
    return np.stack([poses[:, :1] + c * x - s * y, poses[:, 1:2] + s * x + c * y], axis=-1)


Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Frames:
    """A crawl, frame by frame.

    Attributes:
        body: x, y, z [unit], heading [rad], slopes of its plane along x and y [-], shape (n, 6).
        feet: The feet in the world [unit], shape (n, 4, 3).
        support: Which of them are on the ground, shape (n, 4).
        steps: The swings.
        step: The swing that a frame belongs to or leads to, counted from 1; 0 at the start, and
            one more than the last swing after it; shape (n,).
    """

    body: Array
    feet: Array
    support: NDArray[np.bool_]
    steps: tuple[LegStep, ...]
    step: Indices


@dataclass(frozen=True, slots=True, eq=False)
class _Stops:
    """The body's pose at the start, during each swing and, after a sway, at the end."""

    index: Indices
    sway: Array
    stance: Array
    """Height, and slopes of the plane, shape (n, 3)."""


def crawl_frames(plan: WalkPlan, route: WalkRoute, *, order: tuple[int, ...]) -> Frames:
    """Return the frames of a crawl.

    Args:
        order: The order in which the legs swing in every cycle, or in all cycles, one after the
            other.
    """
    legs = np.array(order, dtype=np.int64) - 1
    feet = crawl_feet(legs, route.holds, route.two_phase, route.cycles)
    stops = _stops(plan, route, legs=legs, feet=feet)
    moves, swing = _frame_counts(plan)
    step, moved, swung = _clock(moves, swing, cycles=route.cycles, returning=plan.sway > 0)

    # After the last swing only the body may move, back from its sway.
    before, after = np.minimum(step, len(feet)) - 1, np.minimum(step, len(feet) - 1)
    leg = legs[before % len(legs)]
    rows = np.arange(1, len(step))
    places = feet[np.maximum(before, 0)]
    places[rows, leg[1:]] = _swung(
        feet[before, leg][1:], feet[after, leg][1:], swung[1:], lift=plan.lift
    )
    support = np.ones((len(step), 4), dtype=np.bool_)
    support[rows, leg[1:]] = (swung[1:] == 0) | (swung[1:] == 1)
    ends = np.cumsum(np.tile(moves + swing, route.cycles))
    return Frames(
        _body(route, stops, step=step, part=_eased(moved)),
        places,
        support,
        tuple(
            LegStep(order[i % len(order)], int(end) - swing, int(end)) for i, end in enumerate(ends)
        ),
        step,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _GaitMotion:
    """A gait along a path, frame by frame.

    Attributes:
        ways: Distance of the body along its path [unit], shape (n,).
        support: Which feet are on the ground, shape (n, 4).
        swings: For each swing leg 0 to 3, first and last frame, and the distance along the path
            of the body whose neutral foothold is its goal; in the order of their ends.
    """

    ways: Array
    support: NDArray[np.bool_]
    swings: tuple[tuple[int, int, int, float], ...]


def _gait_motion(gait: Gait, length: float, *, stride: float, frames: int) -> _GaitMotion:
    """Return when the body moves and the feet swing.

    The body's speed rises over the first cycle and falls over the last; feet land where they
    are neutral in the middle of their stance.

    Args:
        gait: The gait.
        length: Length of the path [unit].
        stride: Distance that the body moves in one cycle [unit].
        frames: Frames of a cycle.
    """
    moving = max(2, ceil(length / stride) + 1)  # cycles; the first and the last at half speed
    cycles = moving + 1  # and one to bring all feet to rest
    phase = np.arange(cycles * frames + 1) / frames
    ways = travelled(phase, moving) * length
    support = np.ones((len(phase), 4), dtype=np.bool_)
    swings = []
    for leg, offset in enumerate(gait.offsets):
        for cycle in range(cycles):
            begin = cycle + offset % 1.0
            end = begin + 1 - gait.duty
            if end > cycles:
                continue
            first, last = round(begin * frames), round(end * frames)
            support[first + 1 : last, leg] = False
            middle = end + gait.duty / 2
            goal = float(travelled(np.array([middle]), moving)[0]) * length
            swings.append((leg, first, last, goal))
    swings.sort(key=lambda swing: (swing[2], swing[0]))
    return _GaitMotion(ways, support, tuple(swings))


def travelled(phase: Array, moving: int) -> Array:
    """Return the travelled fraction of a path at a phase: speed ramps over a cycle at each end."""
    p = np.clip(phase, 0.0, moving)
    up = np.minimum(p, 1.0)
    down = np.maximum(p - (moving - 1), 0.0)
    ramp = up**2 / 2 + np.clip(p - 1.0, 0.0, moving - 2) + down - down**2 / 2
    return np.asarray(ramp / (moving - 1))


def _arc(start: Array, goal: Array, part: Array, *, lift: float) -> Array:
    """Return a foot in the air, shape (n, 3): it leaves and lands without vertical speed.

    Args:
        start: Where it lifts [unit], shape (3,).
        goal: Where it lands [unit], shape (3,).
        part: Completed fractions of its swing, 0 to 1, shape (n,).
        lift: Height over the straight line [unit].
    """
    across = _eased(part)[:, np.newaxis]
    places: Array = (1 - across) * start + across * goal
    places[:, 2] += lift * 16 * part**2 * (1 - part) ** 2
    return places


def gait_frames(plan: WalkPlan, route: WalkRoute, gait: Gait) -> Frames:
    """Return the frames of a periodic gait."""
    motion = _gait_motion(
        gait, route.path.length, stride=plan.stride, frames=4 * plan.frames_per_step
    )
    poses = route.path.poses(motion.ways)
    rest = plan.machine.neutral_feet
    feet = np.empty((len(poses), 4, 3))
    feet[:] = footholds(plan.terrain, _placed(rest, poses[:1]), highest=plan.lift)[0]
    step = np.zeros(len(poses), dtype=np.int64)
    goals = route.path.poses(np.array([swing[3] for swing in motion.swings]))
    holds = footholds(plan.terrain, _placed(rest, goals), highest=plan.lift)
    for number, (leg, first, last, _) in enumerate(motion.swings, 1):
        goal = holds[number - 1, leg]
        part = np.arange(1, last - first + 1) / (last - first)
        feet[first + 1 : last + 1, leg] = _arc(feet[first, leg], goal, part, lift=plan.lift)
        feet[last + 1 :, leg] = goal
        step[first + 1 :] = number
    height = plan.machine.height + _stance_height(feet, motion.support)
    return Frames(
        np.column_stack([poses[:, :2], height, poses[:, 2], np.zeros((len(poses), 2))]),
        feet,
        motion.support,
        tuple(LegStep(leg + 1, first, last) for leg, first, last, _ in motion.swings),
        step,
    )


def _stance_height(feet: Array, support: NDArray[np.bool_]) -> Array:
    """Return the mean height of the feet on the ground, as last known [unit], shape (n,)."""
    count = support.sum(axis=1)
    mean = (feet[:, :, 2] * support).sum(axis=1) / np.maximum(count, 1)
    last = np.maximum.accumulate(np.where(count > 0, np.arange(len(count)), 0))
    return np.asarray(mean[last])


def _stops(plan: WalkPlan, route: WalkRoute, *, legs: Indices, feet: Array) -> _Stops:
    height = plan.machine.height
    com = np.array(plan.machine.com)
    bodies = crawl_bodies(
        legs, feet, route.poses, route.two_phase, com, height, plan.sway, plan.tilt
    )
    swings = [body_index(i, route.two_phase) for i in range(len(bodies))]
    rest = np.zeros((1, 2))
    ends = []
    for at, pose in ((0, 0), (-1, swings[-1])):
        gx, gy = plane_slopes(feet[at], plan.tilt)
        x, y = route.poses[pose, :2]
        ends.append([height_over(feet[at], x, y, gx, gy, height), gx, gy])
    return _Stops(
        np.array([0, *swings, swings[-1]], dtype=np.int64),
        np.concatenate([rest, bodies[:, 6:], rest]),
        np.concatenate([ends[:1], bodies[:, [2, 4, 5]], ends[1:]]),
    )


def _frame_counts(plan: WalkPlan) -> tuple[Indices, int]:
    """Return the frames of the body's move before each swing of a cycle, and those of a swing."""
    part = plan.frames_per_step // 3
    if plan.sway > 0:
        shares = (1, 1, 1, 1)
    else:
        shares = (2, 0, 2, 0) if plan.timing is GaitTiming.TWO_PHASE else (0, 0, 4, 0)
    return part * np.array(shares, dtype=np.int64), plan.frames_per_step - part


def _clock(
    moves: Indices, swing: int, *, cycles: int, returning: bool
) -> tuple[Indices, Array, Array]:
    """Return each frame's step, and the fractions of its body move and of its swing, 0..1."""
    steps, moved, swung = [], [], []
    for i, move in enumerate(moves.tolist()):
        steps.append(np.full(move + swing, i + 1))
        moved.append(np.concatenate([np.arange(1, move + 1) / max(move, 1), np.ones(swing)]))
        swung.append(np.concatenate([np.zeros(move), np.arange(1, swing + 1) / swing]))
    cycle = np.concatenate(steps)
    step = (np.arange(cycles)[:, np.newaxis] * 4 + cycle).ravel()
    last = int(moves.max()) if returning else 0
    return (
        np.concatenate([[0], step, np.full(last, 4 * cycles + 1)]),
        np.concatenate(
            [[1.0], np.tile(np.concatenate(moved), cycles), np.arange(1, last + 1) / max(last, 1)]
        ),
        np.concatenate([[0.0], np.tile(np.concatenate(swung), cycles), np.zeros(last)]),
    )


def _body(route: WalkRoute, stops: _Stops, *, step: Indices, part: Array) -> Array:
    """Move the body along its path from stop to stop, shape (n, 6)."""
    source = np.maximum(step - 1, 0)
    begin, end = stops.index[source], stops.index[step]
    poses = route.poses[end]
    between = np.flatnonzero((part < 1) & (begin != end))
    start, goal = route.ways[begin[between]], route.ways[end[between]]
    poses[between] = route.path.poses(start + part[between] * (goal - start))
    part = part[:, np.newaxis]
    sway = (1 - part) * stops.sway[source] + part * stops.sway[step]
    over = (1 - part) * stops.stance[source] + part * stops.stance[step]
    return np.column_stack([poses[:, :2] + sway, over[:, 0], poses[:, 2], over[:, 1:]])


def _swung(start: Array, goal: Array, part: Array, *, lift: float) -> Array:
    """Lift feet, carry them over and set them down, shape (n, 3).

    They rise in the first third of the swing, sink in the last, and travel in the middle two
    thirds, to keep clear of edges near a foothold.
    """
    across = _eased(np.clip((part - 1 / 6) * 1.5, 0.0, 1.0))[:, np.newaxis]
    places = (1 - across) * start + across * goal
    base = np.where(part < 0.5, start[:, 2], goal[:, 2])
    raised = _eased(np.clip(3 * np.minimum(part, 1 - part), 0.0, 1.0))
    top = np.maximum(start[:, 2], goal[:, 2]) + lift
    places[:, 2] = base + raised * (top - base)
    return places


def _eased(part: Array) -> Array:
    """Return the quintic 10 t^3 - 15 t^4 + 6 t^5, which starts and ends without acceleration."""
    return part**3 * (10 - 15 * part + 6 * part * part)
