"""pydrake, the parts of it that are used, kept from writing to the terminal."""

import logging
from importlib import import_module
from typing import Any

from kinetarium.model.robot import Inertia
from kinetarium.spatial.arrays import Array

framework: Any = import_module("pydrake.systems.framework")
geometry: Any = import_module("pydrake.geometry")
math: Any = import_module("pydrake.math")
plants: Any = import_module("pydrake.multibody.plant")
spatial: Any = import_module("pydrake.multibody.math")
trees: Any = import_module("pydrake.multibody.tree")

logging.getLogger("drake").setLevel(logging.ERROR)  # it warns of uses that nobody asked about


def drake_pose(X: Array) -> Any:
    """Give a homogeneous transform, shape (4, 4), as Drake's own.

    Products of rotations that have lost a few digits are made orthonormal again.
    """
    return math.RigidTransform(math.RotationMatrix.ProjectToRotationMatrix(X[:3, :3]), X[:3, 3])


def drake_inertia(inertia: Inertia | None) -> Any:
    """Give mass properties as Drake's own; none for a massless frame."""
    if inertia is None:
        return trees.SpatialInertia.Zero()
    I = inertia.moment  # noqa: E741
    return trees.SpatialInertia.MakeFromCentralInertia(
        inertia.mass,
        inertia.center,
        trees.RotationalInertia(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]),
    )
