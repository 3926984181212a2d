"""The contacts of a PhysX scene."""

from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.engines.physx.library import World, physx, physx_pose
from kinetarium.engines.protocol import Contacts
from kinetarium.model.mesh.mesh import mesh_of
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import (
    IDENTITY,
    Box,
    Capsule,
    Cylinder,
    MeshData,
    MeshFile,
    Shape,
    Sphere,
)
from kinetarium.scene import Material, Plane, Scene, SceneError
from kinetarium.scene.scene import collision_filter
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose


def read_contacts(world: World, shapes: Mapping[Any, tuple[int, int]]) -> Contacts:
    """Read the contacts of the last step, each with the normal part of its force.

    PhysX reports impulses along the normal alone, and also points that do
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
    table = np.array(rows, dtype=np.float64).reshape(-1, 14)
    return Contacts(
        solids=table[:, 2:4].astype(np.int32),
        points=table[:, 4:7],
        normals=table[:, 7:10],
        depths=table[:, 10],
        forces=table[:, 11:14],
    )


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
        wheels: Names of the solids that roll on rows of spheres; to anything but planes they are
            prisms, if there are planes.
        faceted: Names of the solids with cylinders that are hulls.
        hulls: Names of the solids with meshes that are hulls.
    """

    def __init__(self, scene: Scene, *, contact_offset: float) -> None:
        """Keep the collision filter.

        Args:
            contact_offset: Gap from which on a contact is looked after [m].
        """
        self._scene = scene
        self._touching = [bool(row.any()) for row in scene.may_meet]
        self._rolling, pairs = _with_wheels(scene)
        self._groups = collision_filter(pairs)
        self._contact_offset = contact_offset
        self._materials: dict[Material, Any] = {}
        self.solids: dict[Any, tuple[int, int]] = {}
        self.wheels: list[str] = []
        self.faceted: list[str] = []
        self.hulls: list[str] = []

    def cover(
        self, solid: int, component: Any, *, X_BL: Array = IDENTITY, axle: Array | None = None
    ) -> None:
        """Put the shapes of a solid on a component, unless it may touch nothing.

        Args:
            solid: Index of the solid.
            component: The body.
            X_BL: Pose of the solid in the body's frame, shape (4, 4).
            axle: Unit axis through the body's origin about which it turns without end,
                shape (3,), or None.

        Raises:
            SceneError: If PhysX cannot make a hull of a mesh.
        """
        if not self._touching[solid]:
            return
        material = self._scene.materials[solid]
        if material not in self._materials:
            friction, restitution = material.friction, material.restitution
            self._materials[material] = physx.PhysxMaterial(friction, friction, restitution)
        for shape, X_LG in self._scene.geometry[solid]:
            for one, group in self._make(shape, X_BL @ X_LG, solid, axle=axle):
                one.contact_offset = self._contact_offset
                one.set_collision_groups([*self._groups[group], 0, 0])
                component.attach(one)
                self.solids[one] = (len(self.solids), solid)

    def _make(
        self, shape: Shape | Plane, X_BG: Array, solid: int, *, axle: Array | None
    ) -> Iterator[tuple[Any, int]]:
        """Yield the shapes of PhysX that stand for one of a solid, and the groups they are in."""
        name = self._scene.solids[solid]
        surface = self._materials[self._scene.materials[solid]]
        if isinstance(shape, Cylinder) and axle is not None and _is_wheel(X_BG, axle):
            self.wheels.append(name)
            spheres, prism = self._rolling.get(solid, (solid, None))
            for sphere in _row_of_spheres(shape, surface, X_BG):
                yield sphere, spheres
            if prism is not None:
                yield _single(shape, surface, X_BG, name=name), prism
            return
        if isinstance(shape, Cylinder):
            self.faceted.append(name)
        elif isinstance(shape, MeshFile | MeshData):
            self.hulls.append(name)
        yield _single(shape, surface, X_BG, name=name), solid


def _with_wheels(scene: Scene) -> tuple[dict[int, tuple[int, int]], NDArray[np.bool_]]:
    """Return which pairs may meet, wheels being spheres on planes and prisms to all else.

    Spheres bulge by the wheel's radius to its sides, where a plane is not.

    Returns:
        Rows of the spheres and of the prism of a solid that may be a wheel and meets planes and
        others; and the pairs, symmetric, with these rows after those of the solids.
    """
    shapes = [[shape for shape, _ in each] for each in scene.geometry]
    flat = np.array([any(isinstance(s, Plane) for s in each) for each in shapes], dtype=np.bool_)
    meets = scene.may_meet
    round_ones = [
        i
        for i, each in enumerate(shapes)
        if any(isinstance(s, Cylinder) for s in each)
        and (meets[i] & flat).any()
        and (meets[i] & ~flat).any()
    ]
    count, more = len(shapes), len(round_ones)
    source = [*range(count), *round_ones, *round_ones]
    pairs = meets[np.ix_(source, source)]
    plane = np.concatenate([flat, np.zeros(2 * more, dtype=np.bool_)])
    pairs[count : count + more] &= plane
    pairs[count + more :] &= ~plane
    pairs &= pairs.T
    return {i: (count + k, count + more + k) for k, i in enumerate(round_ones)}, pairs


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
