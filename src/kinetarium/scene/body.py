"""Free and static bodies beside the robots."""

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.model.mesh.solids import solid_properties
from kinetarium.model.robot import IDENTITY, Inertia, Shape
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose


@dataclass(frozen=True, slots=True)
class Material:
    """Contact properties of a surface.

    Two surfaces of equal friction have that friction between them in every
    engine; unequal ones are combined by the rule the engine declares.

    Attributes:
        friction: Coulomb coefficient [-].
        restitution: Normal speed after an impact over that before [-].
        spinning_friction: Most torque about the normal over normal force [m].
        rolling_friction: Most torque about a tangent over normal force [m].
    """

    friction: float = 0.8
    restitution: float = 0.0
    spinning_friction: float = 0.0
    rolling_friction: float = 0.0


DRY = Material()
"""An ordinary dry surface without restitution."""


@dataclass(frozen=True, slots=True)
class Plane:
    """The half space below its own xy plane; only for static bodies."""


class Motion(StrEnum):
    """Whether a body is static or moves freely."""

    STATIC = "static"
    FREE = "free"


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """A rigid body of one shape.

    Attributes:
        name: Its name, unique in the scene.
        shape: Its shape; a Plane only if it is static.
        motion: Whether it moves.
        inertia: Mass properties; None for a static body.
        X_WB: Its initial pose, shape (4, 4).
        V_WB: Its initial twist [v; w] in the world frame at the body origin, shape (6,).
        material: Its surface.
    """

    name: str
    shape: Shape | Plane
    motion: Motion = Motion.STATIC
    inertia: Inertia | None = None
    X_WB: Array = field(default_factory=lambda: IDENTITY)
    V_WB: Array = field(default_factory=lambda: frozen(np.zeros(6)))
    material: Material = DRY


def free_body(
    name: str,
    shape: Shape,
    *,
    mass: float,
    position: ArrayLike = (0.0, 0.0, 0.0),
    rotation: ArrayLike | None = None,
    twist: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    material: Material = DRY,
) -> Body:
    """Make a free body of uniform density.

    Args:
        mass: Its mass [kg].
        position: Its initial position [m], shape (3,).
        rotation: Its initial rotation, shape (3, 3); the identity if None.
        twist: Its initial twist [v; w] [m/s, rad/s], shape (6,).
    """
    unit = solid_properties(shape, density=1.0)
    inertia = Inertia(mass, unit.center, frozen(unit.moment * (mass / unit.mass)))
    return Body(
        name, shape, Motion.FREE, inertia, frozen(pose(position, rotation)), frozen(twist), material
    )


def ground(material: Material = DRY, *, name: str = "ground") -> Body:
    """Make the ground: the half space z <= 0."""
    return Body(name, Plane(), material=material)
