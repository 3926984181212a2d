"""Rigid bodies in PhysX with the given inertia and nothing that PhysX adds of its own."""

from typing import Any

import numpy as np

from kinetarium.engines.physx.library import physx_pose
from kinetarium.model.robot import Inertia
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_from_quaternion

FASTEST = 1e15
"""Speed [m/s or rad/s] that PhysX holds nothing under."""
NEGLIGIBLE = Inertia(1e-6, frozen(np.zeros(3)), frozen(1e-9 * np.eye(3)))
"""Of a link without mass, which PhysX does not know."""


def free_of_extras(component: Any) -> None:
    """Take away the damping and the limits of speed that PhysX gives to every body."""
    component.linear_damping = 0.0
    component.angular_damping = 0.0
    component.max_linear_velocity = FASTEST
    component.max_angular_velocity = FASTEST


def set_inertia(component: Any, inertia: Inertia) -> None:
    """Give a body its mass, centre and moment."""
    moments, axes = np.linalg.eigh(inertia.moment)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    component.mass = inertia.mass
    component.inertia = moments.tolist()
    component.cmass_local_pose = physx_pose(pose(inertia.center, axes))


def read_inertia(component: Any) -> Inertia:
    """Read back the mass, centre and moment of a body."""
    center = component.cmass_local_pose
    R: Array = rotation_from_quaternion(center.q)
    moments = np.asarray(component.inertia, dtype=np.float64)
    return Inertia(float(component.mass), frozen(center.p), frozen(R * moments @ R.T))
