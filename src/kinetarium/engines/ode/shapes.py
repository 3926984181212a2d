"""The shapes of a scene as ODE's geometries."""

from ctypes import CDLL
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinetarium.engines.ode.build import WORLD, Assembly, OdeWorld
from kinetarium.model.mesh.mesh import mesh_of
from kinetarium.model.mesh.solids import bounding_box
from kinetarium.model.mesh.triangles import BrokenMeshError, convex_hull
from kinetarium.model.robot import (
    Box,
    Capsule,
    Cylinder,
    MeshData,
    MeshFile,
    Shape,
    Sphere,
)
from kinetarium.scene import Plane, Scene, SceneError
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose

_DEEP = 1e6
"""Depth [m] of the box that bounds a half space."""


@dataclass(frozen=True, slots=True, eq=False)
class OdeShape:
    """A geometry and a box around it.

    Attributes:
        handle: The geometry.
        solid: Index into `layout.solids`.
        body: The body it moves with, or WORLD.
        shape: What it is.
        only_on_boxes: Whether it is there for boxes alone.
        X_CS: Pose of the box in the frame of the body, which is at the centre of mass, or in
            the world, shape (4, 4).
        half: Half edges of the box [m], shape (3,).
        radius: Radius of the ball around it [m].
    """

    handle: int
    solid: int
    body: int
    shape: Shape | Plane
    only_on_boxes: bool
    X_CS: Array
    half: Array
    radius: float


class OdeShapes:
    """All shapes of a scene.

    A mesh is the triangles of its convex hull: ODE's convex shape finds a single
    contact on a box, on which nothing can stand still. ODE also finds one contact
    of a capsule on a box, so that the balls at its ends are shapes of their own
    there.

    Attributes:
        shapes: The shapes.
    """

    def __init__(self, world: OdeWorld, scene: Scene, assembly: Assembly) -> None:
        """Build the shapes of what may touch something.

        Raises:
            SceneError: If a mesh has no convex hull.
        """
        self._solids = scene.solids
        self._touching = [bool(row.any()) for row in scene.may_collide]
        self._library: CDLL = world.library
        self._world = world
        self._meshes: list[tuple[int, Array, NDArray[np.uint32]]] = []
        self.shapes: list[OdeShape] = []
        for solid, shapes in enumerate(scene.geometry):
            home = assembly.homes[scene.solids[solid]]
            for shape, X_LG in shapes:
                if isinstance(shape, Plane):
                    self._add_plane(solid, home[1])
                elif self._touching[solid]:
                    self._add(shape, X_LG, solid, home)

    @property
    def meshes(self) -> bool:
        """Whether there are meshes among them."""
        return len(self._meshes) > 0

    def close(self) -> None:
        """Destroy the geometries, which do not belong to the world."""
        for shape in self.shapes:
            self._library.dGeomDestroy(shape.handle)
        for mesh, _, _ in self._meshes:
            self._library.dGeomTriMeshDataDestroy(mesh)

    def _add(self, shape: Shape, X_LG: Array, solid: int, home: tuple[int, Array]) -> None:
        body, X_PL = home
        X = X_PL @ X_LG
        if body != WORLD:
            X[:3, 3] -= self._world.specs[body].inertia.center
        self._add_shape(shape, solid, body=body, X=X)
        if isinstance(shape, Capsule):
            for end in (-0.5, 0.5):
                X_end = X @ pose((0.0, 0.0, end * shape.length))
                ball = Sphere(shape.radius)
                self._add_shape(ball, solid, body=body, X=X_end, only_on_boxes=True)

    def _add_shape(
        self,
        shape: Shape,
        solid: int,
        *,
        body: int,
        X: Array,
        only_on_boxes: bool = False,
    ) -> None:
        handle = self._geometry(shape, self._solids[solid])
        R = np.zeros((3, 4))
        R[:, :3] = X[:3, :3]
        kind = ""
        if body != WORLD:
            self._library.dGeomSetBody(handle, self._world.bodies[body])
            kind = "Offset"
        getattr(self._library, f"dGeomSet{kind}Position")(handle, *X[:3, 3])
        getattr(self._library, f"dGeomSet{kind}Rotation")(handle, R.ctypes.data)
        low, high = bounding_box(shape)
        half = (high - low) / 2
        X_box = frozen(X @ pose((low + high) / 2))
        radius = half[0] if isinstance(shape, Sphere) else float(np.linalg.norm(half))
        self.shapes.append(OdeShape(handle, solid, body, shape, only_on_boxes, X_box, half, radius))

    def _add_plane(self, solid: int, X: Array) -> None:
        normal = X[:3, 2]
        handle = self._library.dCreatePlane(None, *normal, normal @ X[:3, 3])
        X_box = frozen(X @ pose((0.0, 0.0, -_DEEP)))
        half = np.full(3, _DEEP)
        self.shapes.append(OdeShape(handle, solid, WORLD, Plane(), False, X_box, half, np.inf))

    def _geometry(self, shape: Shape, name: str) -> int:
        handle: int
        match shape:
            case Box(size=size):
                handle = self._library.dCreateBox(None, *size)
            case Sphere(radius=radius):
                handle = self._library.dCreateSphere(None, radius)
            case Cylinder(radius=radius, length=length):
                handle = self._library.dCreateCylinder(None, radius, length)
            case Capsule(radius=radius, length=length):
                handle = self._library.dCreateCapsule(None, radius, length)
            case MeshFile() | MeshData():
                handle = self._hull(mesh_of(shape).vertices, name)
        return handle

    def _hull(self, vertices: Array, name: str) -> int:
        """Make the triangles of a convex hull; ODE keeps pointing at their arrays."""
        try:
            faces = convex_hull(vertices)
        except BrokenMeshError as error:
            raise SceneError(f"a mesh of '{name}' has no convex hull: {error}") from None
        corners, triangles = np.unique(faces, return_inverse=True)
        points = np.ascontiguousarray(vertices[corners])
        indices = np.ascontiguousarray(triangles.reshape(-1, 3), dtype=np.uint32)
        mesh: int = self._library.dGeomTriMeshDataCreate()
        self._library.dGeomTriMeshDataBuildDouble(
            mesh, points.ctypes.data, 24, len(points), indices.ctypes.data, indices.size, 12
        )
        self._meshes.append((mesh, points, indices))
        handle: int = self._library.dCreateTriMesh(None, mesh, None, None, None)
        return handle
