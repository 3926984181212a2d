"""How Coulomb friction alone turns a vehicle on skidding wheels: a reference without an engine.

Each wheel touches the ground at the two ends of its width. A point that slips
with s is pulled by -mu N s/|s|. In a steady turn these forces keep the centre
of mass on its circle and have no moment about it; that fixes the three speeds
of the vehicle, given those of its wheels. Loads are those at rest, shared as by
springs of equal stiffness.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinetarium.model.shapes import Cylinder
from kinetarium.spatial.arrays import Array
from kinetarium.studies.drive.vehicle import Vehicle

_GRAVITY = 9.81
_SMOOTHING = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
"""Slips at which friction reaches its full force [m/s], one after the other."""
_ITERATIONS = 30


@dataclass(frozen=True, slots=True, eq=False)
class _Footing:
    """Points of contact about the centre of mass, their loads and wheels; centre of mass; mass."""

    points: Array
    loads: Array
    wheel: NDArray[np.intp]
    center: Array
    mass: float


def coulomb_multiplier(vehicle: Vehicle, *, v: float, w: float, friction: float) -> float:
    """Give the track multiplier of a steady turn of a vehicle with cylindrical wheels [-].

    Args:
        vehicle: The vehicle.
        v: Forward speed that its wheels are driven for [m/s].
        w: Yaw rate that they are driven for [rad/s].
        friction: Between wheels and ground [-].
    """
    footing = _footing(vehicle)
    drive = vehicle.drive()
    left, right = drive.wheel_speeds(v, w)
    rolling = np.where(vehicle.left, left, right)[footing.wheel] * vehicle.wheel_radius
    speeds = np.array([v, 0.0, w])
    for smoothing in _SMOOTHING:
        for _ in range(_ITERATIONS):
            rest, slope = _balance(speeds, rolling, footing, friction=friction, smoothing=smoothing)
            step = np.linalg.solve(slope, rest)
            # Full steps overshoot where a wheel changes from slipping to rolling.
            speeds = speeds - step * min(1.0, 0.2 / float(np.abs(step).max() + 1e-300))
            if np.abs(step).max() < 1e-12:
                break
    return float((right - left) * vehicle.wheel_radius / (vehicle.track * speeds[2]))


def _balance(
    speeds: Array, rolling: Array, footing: _Footing, *, friction: float, smoothing: float
) -> tuple[Array, Array]:
    """Give forces and moment that are not balanced, shape (3,), and their slope, shape (3, 3)."""
    x, y = footing.points.T
    vx, vy, w = speeds
    ones, none = np.ones_like(x), np.zeros_like(x)
    # Slip of each point, and what it depends on: the speeds of the vehicle at its frame's origin.
    X, Y = x + footing.center[0], y + footing.center[1]
    slip = np.stack([vx - w * Y - rolling, vy + w * X], axis=-1)
    slip_slope = np.stack([np.stack([ones, none, -Y]), np.stack([none, ones, X])])
    length = np.sqrt((slip**2).sum(axis=1) + smoothing**2)
    pull = friction * footing.loads / length
    force = -pull[:, np.newaxis] * slip
    along = np.einsum("na,akn->kn", slip, slip_slope) / length**2
    force_slope = -pull * (slip_slope - slip.T[:, np.newaxis] * along)
    cx, cy = footing.center
    inertial = footing.mass * np.array([-w * (vy + w * cx), w * (vx - w * cy)])
    inertial_slope = footing.mass * np.array(
        [[0.0, -w, -vy - 2 * w * cx], [w, 0.0, vx - 2 * w * cy]]
    )
    rest = np.array(
        [*(force.sum(axis=0) - inertial), float((x * force[:, 1] - y * force[:, 0]).sum())]
    )
    slope = np.vstack(
        [force_slope.sum(axis=2) - inertial_slope,
         (x * force_slope[1] - y * force_slope[0]).sum(axis=1)]
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
    # The plane of loads over the points whose sum is the weight and whose moments vanish.
    plane = np.column_stack([np.ones(len(about)), about])
    loads = plane @ np.linalg.solve(plane.T @ plane, [mass * _GRAVITY, 0.0, 0.0])
    return _Footing(about, loads, np.array(wheel), center, mass)
