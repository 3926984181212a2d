"""Steady turns of a vehicle under Coulomb friction: a reference without an engine.

Each wheel contacts the ground at the two ends of its width, unless another footprint is asked
for. The friction force at a point with slip velocity s is -mu N s/|s|. In a steady turn these
forces keep the centre of mass on its circle and have no moment about it; this determines the
three speeds of the vehicle, given those of its wheels. The loads are static, distributed as by
springs of equal stiffness; casters carry load without friction, wheels without a drive roll;
damping and friction of the wheels' joints are part of the balance.

Not only wheels on several axles skid: the two ends of a wide wheel cannot both roll in a turn.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache, partial
from itertools import product
from math import cos, inf, isnan, nan, sin

import numpy as np
from numpy.typing import NDArray

from kinetarium.control.vehicle.wheeled_base import DriveType, WheeledBase, rolling_of
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.gravity import GRAVITY

SKID_MULTIPLIER = 1.875
"""Track-width multiplier of the Husky's wheels: wheel_separation_multiplier of
Clearpath's husky_control, and the paper's mu [-]."""
HARDWARE_MULTIPLIER = 1.525
"""The multiplier with which a user's Husky on indoor wheels turned by 179 of 180 degrees: issue
193 of the repository husky/husky, one robot on one floor [-]."""
CENTER_TOLERANCE = 6 / 512
"""How well the centre of mass is known, over the wheelbase [-]: 6 mm of the Husky's 512 mm."""

_SMOOTHING = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
"""Slips at which the regularised friction saturates [m/s], decreasing."""
_ITERATIONS = 50
_BEYOND = 1e-3
"""Share of its gain that a servo keeps beyond its limit, so that speeds are unique [-]."""
_UNBALANCED = 1e-6
"""Tolerance of the force balance, relative to weight times friction [-]."""
_STIFF = 1e6
"""Gain of ideal servos [N m s/rad]."""
_STILL = 0.05
"""Speed of a wheel at which the friction of its joint is nearly all in force [rad/s]."""
_LINE_POINTS = 8


class Footprint(StrEnum):
    """Where a wheel touches the ground: the load is on these points in equal shares."""

    EDGES = "edges"
    """The two ends of its width: what engines find between a cylinder and a plane."""
    LINE = "line"
    """Evenly along its width."""
    POINT = "point"
    """The middle of its width."""


@dataclass(frozen=True, slots=True, eq=False)
class _Footing:
    """Where and how a vehicle touches the ground.

    Attributes:
        points: Points of contact about the centre of mass [m], shape (k, 2).
        loads: Their loads [N], shape (k,).
        wheel: The wheel of each, shape (k,).
        ways: Directions in which the wheels roll, shape (c, 2).
        radius: Radii of the wheels [m], shape (c,).
        center: Centre of mass in the vehicle's frame [m], shape (2,).
        mass: Mass [kg].
    """

    points: Array
    loads: Array
    wheel: NDArray[np.intp]
    ways: Array
    radius: Array
    center: Array
    mass: float


@dataclass(frozen=True, slots=True)
class Skid:
    """The steady motion of a vehicle whose wheels are driven at given speeds.

    Attributes:
        forward: Speed of its frame's origin to the front [m/s].
        sideways: Speed of its frame's origin to the left [m/s].
        yaw_rate: Yaw rate [rad/s].
        rolled_rate: Yaw rate of the same wheel speeds without skidding [rad/s].
        speeds: The speeds of the vehicle and of its wheels, from which a similar motion is found
            quickly.
    """

    forward: float
    sideways: float
    yaw_rate: float
    rolled_rate: float
    speeds: tuple[float, ...] = ()


def is_husky(base: WheeledBase) -> bool:
    """Return whether a vehicle is a Husky on four wheels, whose multiplier is published."""
    return base.skids and "husky" in base.name.lower()


@lru_cache(maxsize=64)
def usual_multiplier(base: WheeledBase) -> float:
    """Return the multiplier that a vehicle is driven with if nothing else is known [-].

    That of its maker, or of Coulomb friction on a slow arc; 1 if it does not skid.
    """
    if not base.skids:
        return 1.0
    if is_husky(base):
        return SKID_MULTIPLIER
    found = coulomb_multiplier(base, v=0.5, w=0.25, friction=1.0)
    return SKID_MULTIPLIER if isnan(found) else round(found, 3)


def coulomb_multiplier(
    base: WheeledBase,
    *,
    v: float,
    w: float,
    friction: float,
    footprint: Footprint = Footprint.EDGES,
) -> float:
    """Return the track multiplier of a steady turn [-]; commanded over actual if it is steered.

    Args:
        v: Commanded forward speed [m/s].
        w: Commanded yaw rate [rad/s].
        friction: Friction coefficient between wheels and ground [-].
        footprint: Where the wheels touch the ground.
    """
    if base.kind is DriveType.STEERED:
        skid = coulomb_arc(base, v=v, curvature=w / v, friction=friction, footprint=footprint)
    else:
        left, right = base.drive(SKID_MULTIPLIER).wheel_speeds(v, w)
        skid = coulomb_skid(base, left=left, right=right, friction=friction, footprint=footprint)
    return skid.rolled_rate / skid.yaw_rate


@lru_cache(maxsize=256)
def multiplier_range(
    base: WheeledBase, *, v: float, w: float, friction: float
) -> tuple[float, float]:
    """Return the least and the greatest track multiplier that cannot be told from the ideal [-].

    Over footprints of the wheels, and errors of the centre of mass along the vehicle. For a base
    that is steered: commanded over actual yaw rate.
    """
    found = [
        coulomb_multiplier(variant, v=v, w=w, friction=friction, footprint=footprint)
        for variant, footprint in variants(base)
    ]
    known = [value for value in found if not isnan(value)] or [nan]
    return min(known), max(known)


def variants(base: WheeledBase) -> list[tuple[WheeledBase, Footprint]]:
    """Return what a vehicle may as well be: other footprints, another centre of mass.

    The first is the vehicle itself on the edges of its wheels.
    """
    off = CENTER_TOLERANCE * base.length
    return [
        (replace(base, center=(base.center[0] + shift, base.center[1])), footprint)
        for footprint, shift in product(Footprint, (0.0, -off, off))
    ]


def coulomb_skid(
    base: WheeledBase,
    *,
    left: float,
    right: float,
    friction: float,
    wheel_damping: float = _STIFF,
    effort: float = inf,
    footprint: Footprint = Footprint.EDGES,
    near: Skid | None = None,
) -> Skid:
    """Return the steady motion of a vehicle that turns by the speeds of its wheels.

    All values are NaN if there is none, as with servos far too weak for the friction.

    Args:
        left: Commanded speed of the left wheels [rad/s].
        right: Commanded speed of the right wheels, different from the left [rad/s].
        friction: Friction coefficient between wheels and ground [-].
        wheel_damping: Gain of the wheels' servos [N m s/rad], which lag by torque over gain.
        effort: Maximum torque of the wheels' servos [N m].
        footprint: Where the wheels touch the ground.
        near: A similar motion, to be quick.
    """
    drive = base.drive(SKID_MULTIPLIER)
    on_left = np.array([wheel.y > 0 for wheel in base.rolling])
    driven = np.array([wheel.command is not None for wheel in base.rolling])
    scale = drive.wheel_radius / np.array([wheel.radius for wheel in base.rolling])
    speeds = _steady(
        base,
        _footing(base, footprint),
        commands=np.where(on_left, left, right) * scale,
        guess=drive.vehicle_speeds(left, right),
        friction=friction,
        wheel_damping=wheel_damping,
        effort=effort,
        near=near,
    )
    forward, sideways, yaw_rate = speeds[:3].tolist()
    wheels = speeds[3:] / scale
    sides = [float(wheels[driven & side].mean()) for side in (on_left, ~on_left)]
    rolled = base.drive(1.0).vehicle_speeds(*sides)[1]
    return Skid(forward, sideways, yaw_rate, rolled, tuple(speeds.tolist()))


def coulomb_arc(
    base: WheeledBase,
    *,
    v: float,
    curvature: float,
    friction: float,
    wheel_damping: float = _STIFF,
    effort: float = inf,
    footprint: Footprint = Footprint.EDGES,
    near: Skid | None = None,
) -> Skid:
    """Return the steady motion of a vehicle that is steered; other arguments as for a skid.

    Args:
        v: Commanded forward speed [m/s].
        curvature: Commanded curvature [1/m].
    """
    turned = [rolling_of(wheel, curvature) for wheel in base.rolling]
    speeds = _steady(
        base,
        _footing(base, footprint, tuple(angle for angle, _ in turned)),
        commands=np.array(
            [v * ratio / one.radius for (_, ratio), one in zip(turned, base.rolling, strict=True)]
        ),
        guess=(v, v * curvature),
        friction=friction,
        wheel_damping=wheel_damping,
        effort=effort,
        near=near,
    )
    forward, sideways, yaw_rate = speeds[:3].tolist()
    return Skid(forward, sideways, yaw_rate, v * curvature, tuple(speeds.tolist()))


def _steady(
    base: WheeledBase,
    footing: _Footing,
    *,
    commands: Array,
    guess: tuple[float, float],
    friction: float,
    wheel_damping: float,
    effort: float,
    near: Skid | None,
) -> Array:
    """Return the speeds of a vehicle and of its wheels, shape (3 + c,); NaN if there are none.

    Args:
        commands: Commanded speeds of the wheels, forwards [rad/s], shape (c,).
        guess: Forward speed [m/s] and yaw rate [rad/s] without slip.
    """
    driven = np.array([wheel.command is not None for wheel in base.rolling])
    gains = np.where(driven, wheel_damping, 0.0)
    losses = np.array([(wheel.damping, wheel.friction) for wheel in base.rolling]).T

    def balance(speeds: Array, smoothing: float) -> tuple[Array, Array]:
        rest, slope = _balance(speeds, footing, friction=friction, smoothing=smoothing)
        # The torque of the ground equals that of the servos: gain times speed error.
        wanted = gains * (commands - speeds[3:])
        torque = np.clip(wanted, -effort, effort)
        spin = np.hypot(speeds[3:], _STILL)
        lost = losses[0] * speeds[3:] + losses[1] * speeds[3:] / spin
        rest[3:] = torque + _BEYOND * (wanted - torque) - lost - rest[3:]
        gain = gains * np.where(wanted == torque, 1.0, _BEYOND)
        gain += losses[0] + losses[1] * _STILL**2 / spin**3
        slope[3:] = -np.diag([0.0, 0.0, 0.0, *gain])[3:] - slope[3:]
        return rest, slope

    rolling = np.array([guess[0], 0.0, guess[1], *commands])
    starts: list[tuple[Array, tuple[float, ...]]] = [(rolling, _SMOOTHING)]
    if near is not None and not isnan(near.yaw_rate):
        starts.insert(0, (np.array(near.speeds), _SMOOTHING[-2:]))
    largest = footing.mass * GRAVITY * max(friction, 1.0)
    for start, smoothings in starts:
        speeds = start
        for smoothing in smoothings:
            speeds = _root(partial(balance, smoothing=smoothing), speeds)
        if np.abs(balance(speeds, smoothings[-1])[0]).max() <= _UNBALANCED * largest:
            return speeds
    return np.full(len(commands) + 3, nan)


def _root(balance: Callable[[Array], tuple[Array, Array]], speeds: Array) -> Array:
    """Solve the force balance for the speeds by Newton's method, shape (3 + c,).

    A step that does not reduce the residual is halved: full steps overshoot where a wheel
    changes from slipping to rolling.
    """
    rest, slope = balance(speeds)
    for _ in range(_ITERATIONS):
        step, share = np.linalg.solve(slope, rest), 1.0
        if np.abs(step).max() < 1e-12:
            break
        size = np.linalg.norm(rest)
        while share > 1e-6:
            rest, slope = balance(speeds - share * step)
            if np.linalg.norm(rest) < size:
                break
            share /= 2
        speeds = speeds - share * step
    return speeds


def _balance(
    speeds: Array, footing: _Footing, *, friction: float, smoothing: float
) -> tuple[Array, Array]:
    """Return the residual force and moment on the vehicle, and the wheels' torques.

    Args:
        speeds: Of the vehicle at its frame's origin, and of its wheels, shape (3 + c,).
        friction: Friction coefficient between wheels and ground [-].
        smoothing: Slip at which the regularised friction saturates [m/s].

    Returns:
        Two forces, a moment, and the resisting torque of the ground on each wheel,
        shape (3 + c,), and their Jacobian, shape (3 + c, 3 + c).
    """
    x, y = footing.points.T
    vx, vy, w = speeds[:3]
    ones, none = np.ones_like(x), np.zeros_like(x)
    X, Y = x + footing.center[0], y + footing.center[1]
    # The contact points of each wheel, times its radius, along and across the vehicle.
    wheels = np.arange(len(speeds) - 3)[:, np.newaxis]
    own = footing.wheel == wheels
    along, across = (footing.radius * footing.ways.T)[:, :, np.newaxis] * own
    slip = np.stack([vx - w * Y - speeds[3:] @ along, vy + w * X - speeds[3:] @ across], axis=-1)
    slip_slope = np.stack(
        [np.stack([ones, none, -Y, *-along]), np.stack([none, ones, X, *-across])]
    )
    length = np.sqrt((slip**2).sum(axis=1) + smoothing**2)
    pull = friction * footing.loads / length
    force = -pull[:, np.newaxis] * slip
    grows = np.einsum("na,akn->kn", slip, slip_slope) / length**2
    force_slope = -pull * (slip_slope - slip.T[:, np.newaxis] * grows)
    cx, cy = footing.center
    inertial = footing.mass * np.array([-w * (vy + w * cx), w * (vx - w * cy)])
    inertial_slope = np.zeros((2, len(speeds)))
    inertial_slope[:, :3] = footing.mass * np.array(
        [[0.0, -w, -vy - 2 * w * cx], [w, 0.0, vx - 2 * w * cy]]
    )
    moment = float((x * force[:, 1] - y * force[:, 0]).sum())
    torques = along @ force[:, 0] + across @ force[:, 1]
    rest = np.array([*(force.sum(axis=0) - inertial), moment, *torques])
    slope = np.vstack(
        [force_slope.sum(axis=2) - inertial_slope,
         (x * force_slope[1] - y * force_slope[0]).sum(axis=1),
         along @ force_slope[0].T + across @ force_slope[1].T]
    )  # fmt: skip
    return rest, slope


@lru_cache(maxsize=64)
def _footing(base: WheeledBase, footprint: Footprint, angles: tuple[float, ...] = ()) -> _Footing:
    """Distribute the weight over the points of contact; none of them pulls.

    Args:
        angles: Steering angles of the wheels that are not casters [rad]; zero if empty.
    """
    points, wheel, ways = [], [], []
    for number, (one, angle) in enumerate(
        zip(base.rolling, angles or [0.0] * len(base.rolling), strict=True)
    ):
        c, s = cos(angle), sin(angle)
        ways.append((c, s))
        pivot = (one.steering.x, one.steering.y) if one.steering else (one.x, one.y)
        for end in _ends(one.width, footprint):
            dx, dy = one.x - pivot[0], one.y - pivot[1] + end
            points.append((pivot[0] + c * dx - s * dy, pivot[1] + s * dx + c * dy))
            wheel.append(number)
    points += [(one.x, one.y) for one in base.wheels if one.caster] + list(base.supports)
    wheel += [-1] * (len(points) - len(wheel))
    center = np.array(base.center)
    about, owner = np.array(points) - center, np.array(wheel)
    weight = base.mass * GRAVITY
    # Loads are a plane over the points, with the weight as sum and zero moments.
    carrying = np.ones(len(about), dtype=bool)
    for _ in points:
        plane = np.column_stack([np.ones(len(about)), about]) * carrying[:, np.newaxis]
        share = np.linalg.lstsq(plane.T @ plane, np.array([weight, 0.0, 0.0]), rcond=None)[0]
        loads = plane @ share
        if (loads >= 0).all():
            break
        carrying &= loads > 0
    rolls = owner >= 0
    radius = np.array([one.radius for one in base.rolling])
    return _Footing(
        about[rolls], loads[rolls], owner[rolls], np.array(ways), radius, center, base.mass
    )


def _ends(width: float, footprint: Footprint) -> list[float]:
    """Return where a wheel touches the ground, from its middle to the left [m]."""
    if not width or footprint is Footprint.POINT:
        return [0.0]
    if footprint is Footprint.EDGES:
        return [-width / 2, width / 2]
    spots = (np.arange(_LINE_POINTS) + 0.5) / _LINE_POINTS - 0.5
    return [float(spot) * width for spot in spots]
