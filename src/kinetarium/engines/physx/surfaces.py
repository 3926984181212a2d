"""What touches what: collision shapes, materials and filters of a PhysX scene."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.engines.physx.groups import collision_groups
from kinetarium.engines.physx.library import physx, physx_pose
from kinetarium.model.mesh import mesh_of
from kinetarium.model.shapes import Box, Capsule, Cylinder, MeshData, MeshFile, Shape, Sphere
from kinetarium.model.solids import triangulate
from kinetarium.scene import Material, Plane, SceneError
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose

X_TO_Z = frozen([[0, 0, -1], [0, 1, 0], [1, 0, 0]])
"""Turns x, along which PhysX has its axes, onto z, where they are in the model."""
_SIDES = 96
"""Of a cylinder; a hull of many more is thinned out by PhysX to fewer."""
_SPHERES = 5
"""In the row that stands for a wheel."""
_ON_AXIS = 1e-6
"""Distance [m] or sine of the angle within which a cylinder lies on its axle."""


class Surfaces:
    """Gives the components of a scene their collision shapes.

    Attributes:
        solids: Number and solid of every shape, by shape.
        wheels: Names of the solids that roll on rows of spheres.
        faceted: Names of the solids with cylinders that are hulls.
        hulls: Names of the solids with meshes that are hulls.
    """

    def __init__(
        self, names: Sequence[str], may_touch: NDArray[np.bool_], *, contact_offset: float
    ) -> None:
        """Begin with who may touch whom.

        Args:
            names: The names of the solids.
            may_touch: Whether two solids may touch, shape (n, n).
            contact_offset: Gap from which on a contact is looked after [m].
        """
        self._names = names
        self._touching = [bool(row.any()) for row in may_touch]
        self._groups = collision_groups(may_touch)
        self._contact_offset = contact_offset
        self._materials: dict[Material, Any] = {}
        self.solids: dict[Any, tuple[int, int]] = {}
        self.wheels: list[str] = []
        self.faceted: list[str] = []
        self.hulls: list[str] = []

    def cover(
        self,
        component: Any,
        shape: Shape | Plane,
        *,
        X_BG: Array,
        solid: int,
        material: Material,
        axle: Array | None = None,
    ) -> None:
        """Put a shape on a component, unless its solid may touch nothing.

        Args:
            component: The body.
            shape: The shape.
            X_BG: Pose of the shape in the body's frame, shape (4, 4).
            solid: Index of the solid it belongs to.
            material: Its surface.
            axle: Unit axis through the body's origin about which it turns without end,
                shape (3,), or None.

        Raises:
            SceneError: If PhysX cannot make a hull of a mesh.
        """
        if not self._touching[solid]:
            return
        if material not in self._materials:
            friction, restitution = material.friction, material.restitution
            self._materials[material] = physx.PhysxMaterial(friction, friction, restitution)
        name, surface = self._names[solid], self._materials[material]
        if isinstance(shape, Cylinder) and axle is not None and _is_wheel(X_BG, axle):
            self.wheels.append(name)
            made = _row_of_spheres(shape, surface, X_BG)
        else:
            if isinstance(shape, Cylinder):
                self.faceted.append(name)
            elif isinstance(shape, MeshFile | MeshData):
                self.hulls.append(name)
            made = iter([_single(shape, surface, X_BG, name=name)])
        for one in made:
            one.contact_offset = self._contact_offset
            one.set_collision_groups([*self._groups[solid], 0, 0])
            component.attach(one)
            self.solids[one] = (len(self.solids), solid)


def _is_wheel(X_BG: Array, axle: Array) -> bool:
    """Tell whether a cylinder turns about its own axis."""
    off_angle = np.cross(X_BG[:3, 2], axle)
    off_center = np.cross(X_BG[:3, 3], axle)
    return bool(np.linalg.norm(off_angle) < _ON_AXIS and np.linalg.norm(off_center) < _ON_AXIS)


def _row_of_spheres(wheel: Cylinder, surface: Any, X_BG: Array) -> Iterator[Any]:
    for z in np.linspace(-wheel.length / 2, wheel.length / 2, _SPHERES):
        sphere = physx.PhysxCollisionShapeSphere(wheel.radius, surface)
        sphere.local_pose = physx_pose(X_BG @ pose((0.0, 0.0, z)))
        yield sphere


def _single(shape: Shape | Plane, surface: Any, X_BG: Array, *, name: str) -> Any:
    match shape:
        case Plane():
            made = physx.PhysxCollisionShapePlane(surface)
        case Box():
            made = physx.PhysxCollisionShapeBox([edge / 2 for edge in shape.size], surface)
        case Sphere():
            made = physx.PhysxCollisionShapeSphere(shape.radius, surface)
        case Capsule():
            made = physx.PhysxCollisionShapeCapsule(shape.radius, shape.length / 2, surface)
        case Cylinder():
            made = _hull(triangulate(shape, segments=_SIDES).vertices, surface, name=name)
        case MeshFile() | MeshData():
            made = _hull(mesh_of(shape).vertices, surface, name=name)
    lies_along_x = isinstance(shape, Plane | Capsule)
    made.local_pose = physx_pose(X_BG @ pose(rotation=X_TO_Z) if lies_along_x else X_BG)
    return made


def _hull(vertices: Array, surface: Any, *, name: str) -> Any:
    # PhysX merges corners by an absolute distance; at unit size that is a relative one.
    size = float(np.ptp(vertices, axis=0).max()) or 1.0
    try:
        return physx.PhysxCollisionShapeConvexMesh(
            vertices=(vertices / size).astype(np.float32), scale=[size] * 3, material=surface
        )
    except RuntimeError:
        raise SceneError(f"PhysX can make no convex hull of a mesh of '{name}'") from None
