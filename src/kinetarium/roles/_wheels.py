"""Finding wheels by geometry: round bodies on the ground that turn about a horizontal axis."""

from dataclasses import replace

import numpy as np

from kinetarium.model.robot import Joint, JointType
from kinetarium.roles._bodies import Bodies, Body, is_unlimited
from kinetarium.roles.roles import RoleSource, Wheel
from kinetarium.spatial.arrays import Array

_HORIZONTAL = 0.3
"""Largest vertical component of a wheel's axis."""
_VERTICAL = 0.9
"""Least vertical component of a steering axis."""
_SECTORS = 8
_ROUND = 0.9
"""Least ratio of the radii in all directions: feet and pendulums are below 0.6."""
_CLEARANCE = 0.01
"""How high a wheel may be over the lowest point of the robot [m]."""
_TRAIL = 0.1
"""Distance of a caster's wheel from its swivel axis, as a share of the radius."""


def find_wheels(bodies: Bodies) -> tuple[Wheel, ...]:
    """Find the wheels of a robot.

    A wheel turns without limits about a horizontal axis, is round about it and reaches the
    lowest point of the robot. A joint about a vertical axis right above it steers it; if that
    is off the wheel's centre and nothing says that it is driven, it is a caster.
    """
    candidates = [body for body in bodies.bodies if body.joint and _may_roll(bodies, body)]
    if not candidates:
        return ()
    low = min(
        float(bodies.vertices(body)[:, 2].min())
        for body in bodies.bodies
        if bodies.has_shapes(body)
    )
    driven = set(bodies.model.declared.driven)
    found = [wheel for body in candidates if (wheel := _wheel(bodies, body, low))]
    if len(found) < 2:  # a single one is a flywheel or a motor on a bench
        return ()
    if driven & {wheel.joint for wheel, _ in found}:  # drives are declared, for wheels too
        return tuple(
            replace(wheel, driven=wheel.joint in driven, steered=wheel.steering in driven)
            for wheel, _ in found
        )
    return tuple(
        replace(wheel, driven=not trails, steered=bool(wheel.steering) and not trails)
        for wheel, trails in found
    )


def _may_roll(bodies: Bodies, body: Body) -> bool:
    joint = body.joint
    if joint is None or joint.mimic or not is_unlimited(joint) or not bodies.has_shapes(body):
        return False
    return bool(abs(_axis(bodies, body)[2]) < _HORIZONTAL)


def _axis(bodies: Bodies, body: Body) -> Array:
    assert body.joint
    return np.asarray(bodies.rest_poses[body.links[0], :3, :3] @ body.joint.axis)


def _wheel(bodies: Bodies, body: Body, low: float) -> tuple[Wheel, bool] | None:
    """Return a wheel, and whether it trails a swivel axis; None if the body is not a wheel."""
    axis, origin = _axis(bodies, body), bodies.rest_poses[body.links[0], :3, 3]
    offsets = bodies.vertices(body) - origin
    along = offsets @ axis
    across = offsets - along[:, None] * axis
    radii = np.linalg.norm(across, axis=1)
    radius = float(radii.max())
    tread = radii > 0.8 * radius
    center = origin + axis * float(along[tread].min() + along[tread].max()) / 2
    if radius < 0.01 or abs(center[2] - radius - low) > max(_CLEARANCE, 0.05 * radius):
        return None
    side = np.cross(axis, (0.0, 0.0, 1.0))
    side /= np.linalg.norm(side)
    angles = np.arctan2(across @ np.cross(side, axis), across @ side)
    sectors = ((angles / (2 * np.pi) + 0.5) * _SECTORS).astype(int) % _SECTORS
    reach = [radii[sectors == sector].max(initial=0.0) for sector in range(_SECTORS)]
    if min(reach) < _ROUND * radius:
        return None
    width = float(np.ptp(along[tread]))
    steering = _steering(bodies, body)
    trails = False
    if steering is not None:
        above = bodies.rest_poses[bodies.bodies[body.parent].links[0], :3, 3]
        trails = abs(float((center - above) @ side)) > _TRAIL * radius
    assert body.joint
    x, y, z = (round(float(value), 9) + 0.0 for value in axis)
    wheel = Wheel(
        joint=body.joint.name, link=bodies.name(body), radius=radius, width=width, axis=(x, y, z),
        steering=steering.name if steering else "", source=RoleSource.GEOMETRY,
    )  # fmt: skip
    return wheel, trails


def _steering(bodies: Bodies, body: Body) -> Joint | None:
    """Return the joint about a vertical axis right above a wheel, or None."""
    above = bodies.bodies[body.parent]
    if above.joint is None or above.joint.type is JointType.PRISMATIC:
        return None
    return above.joint if abs(_axis(bodies, above)[2]) > _VERTICAL else None
