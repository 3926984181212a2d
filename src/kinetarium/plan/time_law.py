"""Time laws: trapezoids of speed along paths of arms, tool lines and bases."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import cos, isfinite, sin, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.dynamics.chain import SerialChain
from kinetarium.errors import KinetariumError
from kinetarium.model.robot import JointType
from kinetarium.plan.base_path import BasePath, steered_pose
from kinetarium.plan.tool_line import ToolLine
from kinetarium.spatial.arrays import Array

TURNING_SPEED = 1.0
SLIDING_SPEED = 0.2
"""Speed limits of joints that have none [rad/s, m/s]."""
RAMP = 0.5
"""Time in which a joint reaches its full speed: robot files have no acceleration limits [s]."""
SHARE = 0.5
"""Share of the acceleration limit for changes of speed along a line; the rest is for its bends."""


@dataclass(frozen=True, slots=True, eq=False)
class MotionLimits:
    """Limits of joints.

    Attributes:
        speed: Greatest speeds [rad/s or m/s], shape (joints,).
        acceleration: Greatest accelerations [rad/s^2 or m/s^2], shape (joints,).
    """

    speed: Array
    acceleration: Array


def motion_limits(chain: SerialChain, *, scale: float = 1.0) -> MotionLimits:
    """Return the limits of a chain's joints: speeds of the model, and full speed in 0.5 s.

    Args:
        chain: The chain.
        scale: Factor of speeds and accelerations, at most 1.

    Raises:
        KinetariumError: If the scale is invalid.
    """
    if not 0.0 < scale <= 1.0:
        raise KinetariumError(f"a scale of limits must be within (0, 1], not {scale}")
    speeds = []
    for name in chain.joints:
        joint = chain.model.joint(name)
        given = joint.limits.velocity
        slides = joint.type is JointType.PRISMATIC
        default = SLIDING_SPEED if slides else TURNING_SPEED
        speeds.append(given if given and isfinite(given) else default)
    speed = scale * np.array(speeds)
    return MotionLimits(speed, speed / RAMP)


@dataclass(frozen=True, slots=True)
class Trapezoid:
    """Motion from rest to rest along a way: constant acceleration, speed and deceleration.

    Attributes:
        way: Its length, not negative.
        speed: Greatest speed [1/s of its unit].
        acceleration: Acceleration and deceleration.
    """

    way: float
    speed: float
    acceleration: float

    @property
    def peak(self) -> float:
        """The speed that is reached."""
        return min(self.speed, sqrt(self.way * self.acceleration))

    @property
    def duration(self) -> float:
        """How long it takes [s]."""
        return self.way / self.peak + self.peak / self.acceleration if self.way > 0.0 else 0.0

    def sample(self, times: Array) -> tuple[Array, Array, Array]:
        """Return way, speed and acceleration at times [s], shape (n,) each; at rest outside."""
        if self.way <= 0.0:
            zero = np.zeros_like(times)
            return zero, zero, zero
        ramp, end = self.peak / self.acceleration, self.duration
        t = np.clip(times, 0.0, end)
        left = end - t
        rising, falling = t < ramp, left < ramp
        along = self.peak * (t - ramp / 2)
        along = np.where(rising, self.acceleration * t**2 / 2, along)
        along = np.where(falling, self.way - self.acceleration * left**2 / 2, along)
        v = self.acceleration * np.minimum(np.minimum(t, left), ramp)
        a = self.acceleration * (rising.astype(float) - falling)
        return along, v, np.where((times >= 0.0) & (times < end), a, 0.0)


class Curve(Protocol):
    """A curve q(s) with its first and second derivative."""

    def __call__(self, s: Array, order: int = 0) -> Array:
        """Return derivatives of an order, shape (n, joints), at s, shape (n,)."""


@dataclass(frozen=True, slots=True, eq=False)
class TimedMotion:
    """A motion of joints over time, from rest to rest.

    Attributes:
        curves: Curves, one after the other.
        laws: The time law along each.
        ends: When each curve ends [s], shape (curves,).
        start: The configuration at the start, shape (joints,).
        end: The configuration at the end.
    """

    curves: tuple[Curve, ...]
    laws: tuple[Trapezoid, ...]
    ends: Array
    start: Array
    end: Array

    @property
    def duration(self) -> float:
        """How long it takes [s]."""
        return float(self.ends[-1]) if len(self.ends) else 0.0

    def sample(self, times: ArrayLike) -> tuple[Array, Array, Array]:
        """Return positions, speeds and accelerations at times [s], shape (n,).

        Returns:
            q, v and a [rad or m, per s, per s^2], shape (n, joints) each; at rest before and after.
        """
        t = np.asarray(times, dtype=np.float64)
        q = np.where(t[:, None] < 0.0, self.start, self.end)
        v, a = np.zeros_like(q), np.zeros_like(q)
        number = np.searchsorted(self.ends, t, side="right")
        for n, (curve, law) in enumerate(zip(self.curves, self.laws, strict=True)):
            now = (number == n) & (t >= 0.0)
            if not now.any():
                continue
            s, ds, dds = law.sample(t[now] - (self.ends[n] - law.duration))
            slope, bend = curve(s, 1), curve(s, 2)
            q[now] = curve(s)
            v[now] = slope * ds[:, None]
            a[now] = slope * dds[:, None] + bend * ds[:, None] ** 2
        return q, v, a


@dataclass(frozen=True, slots=True, eq=False)
class _Straight:
    """A straight line in joint space, s from 0 to 1."""

    start: Array
    way: Array

    def __call__(self, s: Array, order: int = 0) -> Array:
        if order == 0:
            return self.start + s[:, None] * self.way
        return np.broadcast_to(self.way if order == 1 else 0.0 * self.way, (len(s), len(self.way)))


def time_path(q: ArrayLike, limits: MotionLimits) -> TimedMotion:
    """Move along straight lines in joint space as fast as the limits allow, with stops at corners.

    All joints start and stop together: the line is as fast as the joint that needs longest.

    Args:
        q: Corners [rad or m], shape (n, joints).
        limits: Limits of the joints.

    Raises:
        KinetariumError: If the corners are invalid.
    """
    corners = _checked(q, limits)
    curves, laws = [], []
    for a, b in pairwise(corners):
        way = b - a
        if not way.any():
            continue
        moves = np.abs(way) > 0.0
        speed = (limits.speed[moves] / np.abs(way[moves])).min()
        acceleration = (limits.acceleration[moves] / np.abs(way[moves])).min()
        curves.append(_Straight(a, way))
        laws.append(Trapezoid(1.0, float(speed), float(acceleration)))
    return _timed(curves, laws, corners)


def time_line(
    line: ToolLine,
    limits: MotionLimits,
    *,
    tool_speed: float = 0.1,
    tool_acceleration: float = 0.5,
) -> TimedMotion:
    """Move the tool along a line without stops.

    The joints follow a cubic spline through the points of the line; s is the way of the tool, or
    its angle where it only turns. With q(s), v = q' ds/dt and a = q' d2s/dt2 + q'' (ds/dt)^2: half
    of each joint's acceleration is for either term.

    Args:
        line: The line; as far as it can be followed.
        limits: Limits of the joints.
        tool_speed: Greatest speed of the tool [m/s, or rad/s].
        tool_acceleration: Greatest acceleration along the line [m/s^2, or rad/s^2].

    Raises:
        KinetariumError: If a limit is not positive, or the line cannot be followed at all.
    """
    if not (tool_speed > 0.0 and tool_acceleration > 0.0):
        raise KinetariumError("the limits of the tool's speed and acceleration must be positive")
    corners = _checked(line.q, limits)
    way = (line.length if line.length > 1e-9 else line.angle) * line.fraction
    if len(corners) < 2 or way <= 0.0:
        return _timed([], [], corners)
    # Imported here, since SciPy's interpolation takes a while to load.
    from scipy.interpolate import CubicSpline

    s = np.linspace(0.0, way, len(corners))
    curve = CubicSpline(s, corners, bc_type="natural")
    fine = np.linspace(0.0, way, 4 * len(corners))
    slope, bend = np.abs(curve(fine, 1)).max(axis=0), np.abs(curve(fine, 2)).max(axis=0)
    slope, bend = np.maximum(slope, 1e-12), np.maximum(bend, 1e-12)
    speed = min(
        tool_speed,
        float((limits.speed / slope).min()),
        sqrt(float(((1.0 - SHARE) * limits.acceleration / bend).min())),
    )
    acceleration = min(tool_acceleration, float((SHARE * limits.acceleration / slope).min()))
    return _timed([curve], [Trapezoid(way, speed, acceleration)], corners)


def _checked(q: ArrayLike, limits: MotionLimits) -> Array:
    corners = np.asarray(q, dtype=np.float64)
    joints = len(limits.speed)
    if corners.ndim != 2 or corners.shape[1] != joints or not len(corners):
        raise KinetariumError(f"a path must have the shape (n, {joints}), not {corners.shape}")
    if not np.isfinite(corners).all():
        raise KinetariumError("a path must consist of finite numbers")
    return corners


def _timed(curves: Sequence[Curve], laws: Sequence[Trapezoid], corners: Array) -> TimedMotion:
    ends = np.cumsum([law.duration for law in laws])
    return TimedMotion(tuple(curves), tuple(laws), ends, corners[0], corners[-1])


@dataclass(frozen=True, slots=True)
class BaseLimits:
    """Limits of a base.

    Attributes:
        speed: Greatest speed [m/s].
        turn_rate: Greatest yaw rate [rad/s].
        acceleration: Greatest acceleration [m/s^2].
        turn_acceleration: Greatest yaw acceleration [rad/s^2].
    """

    speed: float = 0.5
    turn_rate: float = 0.5
    acceleration: float = 0.5
    turn_acceleration: float = 1.0


CAREFUL = BaseLimits()
"""Limits of a base that carries an arm."""


@dataclass(frozen=True, slots=True, eq=False)
class BaseMotion:
    """The motion of a base over time, at rest between its legs.

    Attributes:
        path: The path.
        laws: The time law of each leg, of its length [m] or angle [rad].
        ends: When each leg ends [s], shape (legs,).
    """

    path: BasePath
    laws: tuple[Trapezoid, ...]
    ends: Array

    @property
    def duration(self) -> float:
        """How long it takes [s]."""
        return float(self.ends[-1]) if len(self.ends) else 0.0

    def sample(self, times: ArrayLike) -> tuple[Array, Array, Array]:
        """Return the motion of the steered frame at times [s], shape (n,).

        Returns:
            Its pose in the world, x, y [m] and heading [rad]; its speeds forwards and to the left
            [m/s] and its yaw rate [rad/s]; and their derivatives, shape (n, 3) each.
        """
        t = np.asarray(times, dtype=np.float64)
        if not self.path.legs:
            raise KinetariumError("there is no motion to sample: the path has no legs")
        corners = steered_pose(self.path.poses, self.path.steered)
        pose = np.where(t[:, None] < 0.0, corners[0], corners[-1])
        v, a = np.zeros_like(pose), np.zeros_like(pose)
        number = np.searchsorted(self.ends, t, side="right")
        for n, (leg, law) in enumerate(zip(self.path.legs, self.laws, strict=True)):
            now = (number == n) & (t >= 0.0)
            s, ds, dds = law.sample(t[now] - (self.ends[n] - law.duration))
            share = s / law.way
            pose[now] = corners[n] + share[:, None] * (corners[n + 1] - corners[n])
            if leg.length:
                sign = np.copysign(1.0, leg.length)
                along = sign * np.array([cos(leg.direction), sin(leg.direction), 0.0])
            else:
                along = np.array([0.0, 0.0, np.copysign(1.0, leg.turn)])
            v[now], a[now] = ds[:, None] * along, dds[:, None] * along
        return pose, v, a


def time_base_path(path: BasePath, limits: BaseLimits = CAREFUL) -> BaseMotion:
    """Drive along a path as fast as the limits allow, with stops between the legs.

    Raises:
        KinetariumError: If a limit is not positive.
    """
    values = (limits.speed, limits.turn_rate, limits.acceleration, limits.turn_acceleration)
    if not min(values) > 0.0:
        raise KinetariumError("the limits of a base must be positive")
    laws = tuple(
        Trapezoid(abs(leg.length), limits.speed, limits.acceleration)
        if leg.length
        else Trapezoid(abs(leg.turn), limits.turn_rate, limits.turn_acceleration)
        for leg in path.legs
    )
    return BaseMotion(path, laws, np.cumsum([law.duration for law in laws]))
