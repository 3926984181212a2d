"""The contacts of a PhysX scene."""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.engines.physx.library import World, physx, physx_pose
from kinetarium.engines.protocol import Contacts
from kinetarium.model.mesh.mesh import mesh_of
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import Box, Capsule, Cylinder, MeshData, MeshFile, Shape, Sphere
from kinetarium.scene import Material, Plane, SceneError
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose


def read_contacts(world: World, shapes: Mapping[Any, tuple[int, int]]) -> Contacts:
    """Read the contacts of the last step, each with the normal part of its force.

    PhysX tells of impulses along the normal alone, and also of points that do
    not touch yet; those without force are left out.

    Args:
        shapes: Number and solid of every shape.
    """
    rows = []
    for contact in world.system.get_contacts():
        (first, a), (second, b) = (shapes[shape] for shape in contact.shapes)
        for point in contact.points:
            force = point.impulse / world.timestep
            if point.separation <= 0 or force.any():
                depth = -point.separation
                rows.append((first, second, a, b, *point.position, *point.normal, depth, *force))
    # SAPIEN sorts pairs by where they lie in memory.
    rows.sort(key=itemgetter(0, 1))
    return _contacts(rows)


def no_contacts() -> Contacts:
    """Return the contacts of a scene that has not been stepped."""
    return _contacts([])


def _contacts(rows: list[tuple[float, ...]]) -> Contacts:
    """Make contacts of rows: shapes, solids, point, normal, depth and force."""
    table = np.array(rows, dtype=np.float64).reshape(-1, 14)
    return Contacts(
        solids=table[:, 2:4].astype(np.int32),
        points=table[:, 4:7],
        normals=table[:, 7:10],
        depths=table[:, 10],
        forces=table[:, 11:14],
    )


_BITS = 32


def collision_groups(may_touch: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return each solid its groups, so that exactly the right pairs touch.

    Two shapes touch if a bit of the first one's type is in the second one's
    affinity, or the other way round. Each bit thus lets a set of solids touch
    another set; such pairs of sets are grown greedily, to lay open as many
    pairs as possible, until all are.

    Args:
        may_touch: Whether two solids may touch, symmetric, shape (n, n).

    Returns:
        Type and affinity of each solid.

    Raises:
        SceneError: If 32 bits do not suffice.
    """
    count = len(may_touch)
    # Shapes of one solid are one actor's and never meet.
    open_to = may_touch | np.eye(count, dtype=np.bool_)
    missing = may_touch.copy()
    types, affinities = [0] * count, [0] * count
    for bit in range(_BITS):
        if not missing.any():
            break
        ones, others = _grow(open_to, missing)
        missing[np.ix_(ones, others)] = False
        missing[np.ix_(others, ones)] = False
        for i in np.flatnonzero(ones):
            types[i] |= 1 << bit
        for i in np.flatnonzero(others):
            affinities[i] |= 1 << bit
    if missing.any():
        raise SceneError("PhysX cannot tell so many kinds of pairs apart that may not touch")
    return list(zip(types, affinities, strict=True))


def _grow(
    open_to: NDArray[np.bool_], missing: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return two sets of which each member of one may touch each of the other."""
    ones = np.zeros(len(open_to), dtype=np.bool_)
    first = int(np.argmax(missing.sum(axis=1)))
    ones[first] = True
    others = open_to[first]
    covered = int(missing[first].sum())
    while True:
        left = open_to & others  # what remains of the others beside each candidate
        gains = left @ missing[ones].sum(axis=0) + (left & missing).sum(axis=1)
        gains[ones] = 0
        best = int(np.argmax(gains))
        if gains[best] <= covered:
            return ones, others
        covered = int(gains[best])
        ones[best] = True
        others = left[best]


X_TO_Z = frozen([[0, 0, -1], [0, 1, 0], [1, 0, 0]])
"""Turns x, along which PhysX has its axes, onto z, where they are in the model."""
_SIDES = 96
"""Of a cylinder; a hull of many more is thinned out by PhysX to fewer."""
_SPHERES = 5
"""In the row that stands for a wheel."""
_ON_AXIS = 1e-6
"""Distance [m] or sine of the angle within which a cylinder lies on its axle."""


class Surfaces:
    """Adds collision shapes to the components of a scene.

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
    """Return whether a cylinder turns about its own axis."""
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
