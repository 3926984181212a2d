"""Steady turns of a skid-steer vehicle under Coulomb friction: a reference without an engine.

Each wheel contacts the ground at the two ends of its width. The friction force at
a point with slip velocity s is -mu N s/|s|. In a steady turn these forces keep the
centre of mass on its circle and have no moment about it; this determines the three
speeds of the vehicle, given those of its wheels. The loads are static, distributed
as by springs of equal stiffness.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, nan

import numpy as np
from numpy.typing import NDArray

from kinetarium.model.robot import Cylinder
from kinetarium.spatial.arrays import Array
from kinetarium.studies.drive.vehicle import Vehicle

_GRAVITY = 9.81
_SMOOTHING = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
"""Slips at which the regularised friction saturates [m/s], decreasing."""
_ITERATIONS = 50
_BEYOND = 1e-3
"""Share of its gain that a servo keeps beyond its limit, so that speeds are unique [-]."""
_UNBALANCED = 1e-6
"""Tolerance of the force balance, relative to weight times friction [-]."""
_STIFF = 1e6
"""Gain of ideal servos [N m s/rad]."""


@dataclass(frozen=True, slots=True, eq=False)
class _Footing:
    """Points of contact about the centre of mass, their loads, wheels and radius; centre; mass."""

    points: Array
    loads: Array
    wheel: NDArray[np.intp]
    radius: float
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
    """

    forward: float
    sideways: float
    yaw_rate: float
    rolled_rate: float


def coulomb_multiplier(vehicle: Vehicle, *, v: float, w: float, friction: float) -> float:
    """Return the track multiplier of a steady turn of a vehicle with cylindrical wheels [-].

    Args:
        v: Commanded forward speed [m/s].
        w: Commanded yaw rate [rad/s].
        friction: Friction coefficient between wheels and ground [-].
    """
    left, right = vehicle.drive().wheel_speeds(v, w)
    skid = coulomb_skid(vehicle, left=left, right=right, friction=friction)
    return skid.rolled_rate / skid.yaw_rate


def coulomb_skid(
    vehicle: Vehicle,
    *,
    left: float,
    right: float,
    friction: float,
    wheel_damping: float = _STIFF,
    effort: float = inf,
) -> Skid:
    """Return the steady motion of a vehicle with cylindrical wheels.

    All values are NaN if there is none, as with servos far too weak for the friction.

    Args:
        left: Commanded speed of the left wheels [rad/s].
        right: Commanded speed of the right wheels, different from the left [rad/s].
        friction: Friction coefficient between wheels and ground [-].
        wheel_damping: Gain of the wheels' servos [N m s/rad], which lag by torque over gain.
        effort: Maximum torque of the wheels' servos [N m].
    """
    footing = _footing(vehicle)
    on_left = np.array(vehicle.left)
    commands = np.where(on_left, left, right)
    v, w = vehicle.drive().vehicle_speeds(left, right)
    speeds = np.array([v, 0.0, w, *commands])
    for smoothing in _SMOOTHING:

        def balance(speeds: Array, smoothing: float = smoothing) -> tuple[Array, Array]:
            rest, slope = _balance(speeds, footing, friction=friction, smoothing=smoothing)
            # The torque of the ground equals that of the servos: gain times speed error.
            wanted = wheel_damping * (commands - speeds[3:])
            torque = np.clip(wanted, -effort, effort)
            rest[3:] = torque + _BEYOND * (wanted - torque) - rest[3:]
            gain = wheel_damping * np.where(wanted == torque, 1.0, _BEYOND)
            slope[3:] = -np.diag([0.0, 0.0, 0.0, *gain])[3:] - slope[3:]
            return rest, slope

        speeds = _root(balance, speeds)
    largest = footing.mass * _GRAVITY * max(friction, 1.0)
    if np.abs(balance(speeds)[0]).max() > _UNBALANCED * largest:
        return Skid(nan, nan, nan, nan)
    forward, sideways, yaw_rate = speeds[:3].tolist()
    wheels = speeds[3:]
    sides = float(wheels[on_left].mean()), float(wheels[~on_left].mean())
    return Skid(forward, sideways, yaw_rate, vehicle.drive(1.0).vehicle_speeds(*sides)[1])


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
    # The contact points of each wheel, times its radius.
    turns = footing.radius * (footing.wheel == np.arange(len(speeds) - 3)[:, np.newaxis])
    slip = np.stack([vx - w * Y - speeds[3:] @ turns, vy + w * X], axis=-1)
    slip_slope = np.stack(
        [np.stack([ones, none, -Y, *-turns]), np.stack([none, ones, X, *(0 * turns)])]
    )
    length = np.sqrt((slip**2).sum(axis=1) + smoothing**2)
    pull = friction * footing.loads / length
    force = -pull[:, np.newaxis] * slip
    along = np.einsum("na,akn->kn", slip, slip_slope) / length**2
    force_slope = -pull * (slip_slope - slip.T[:, np.newaxis] * along)
    cx, cy = footing.center
    inertial = footing.mass * np.array([-w * (vy + w * cx), w * (vx - w * cy)])
    inertial_slope = np.zeros((2, len(speeds)))
    inertial_slope[:, :3] = footing.mass * np.array(
        [[0.0, -w, -vy - 2 * w * cx], [w, 0.0, vx - 2 * w * cy]]
    )
    moment = float((x * force[:, 1] - y * force[:, 0]).sum())
    rest = np.array([*(force.sum(axis=0) - inertial), moment, *(turns @ force[:, 0])])
    slope = np.vstack(
        [force_slope.sum(axis=2) - inertial_slope,
         (x * force_slope[1] - y * force_slope[0]).sum(axis=1),
         turns @ force_slope[0].T]
    )  # fmt: skip
    return rest, slope


def _footing(vehicle: Vehicle) -> _Footing:
    model = vehicle.model
    points, wheel = [], []
    for number, joint in enumerate(model.moving_joints):
        shape = model.link(joint.child).collisions[0].shape
        assert isinstance(shape, Cylinder)
        for end in (-shape.length / 2, shape.length / 2):
            points.append(joint.X_PJ[:2, 3] + (0.0, end))
            wheel.append(number)
    mass, moment = 0.0, np.zeros(2)
    for link in model.links:
        if link.inertia:
            joint_above = model.parent_joint.get(link.name)
            origin = joint_above.X_PJ[:2, 3] if joint_above else np.zeros(2)
            mass += link.inertia.mass
            moment += link.inertia.mass * (origin + link.inertia.center[:2])
    center = moment / mass
    about = np.array(points) - center
    # Loads are a plane over the points, with the weight as sum and zero moments.
    plane = np.column_stack([np.ones(len(about)), about])
    loads = plane @ np.linalg.solve(plane.T @ plane, [mass * _GRAVITY, 0.0, 0.0])
    return _Footing(about, loads, np.array(wheel), vehicle.wheel_radius, center, mass)
