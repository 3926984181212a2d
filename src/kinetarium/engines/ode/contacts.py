"""Contacts in ODE: the shapes of a scene as its geometries, and contact joints where they meet."""

from collections.abc import Iterator
from ctypes import CDLL
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from kinetarium.engines.ode.build import WORLD, Assembly, OdeWorld
from kinetarium.engines.ode.library import (
    CONTACT_SLOTS,
    FEEDBACK_SLOTS,
    GEOMETRY_SLOT,
    POSITION,
    ROTATION,
)
from kinetarium.engines.ode.options import FRICTION_RULE, OdeOptions
from kinetarium.engines.protocol import Contacts, LoadedSurface
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
from kinetarium.scene import Material, Plane, Scene, SceneError
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


_BOUNCE, _SOFT_CFM, _PYRAMID = 0x004, 0x010, 0x7000
"""Modes of a contact; the last limits friction by the normal force of the same step."""
_MU, _RETURN, _LEAST_SPEED, _COMPLIANCE = 1, 6, 7, 9
"""Places of friction, bounce, slowest bounce and compliance in a contact."""
_POINT = slice(GEOMETRY_SLOT, GEOMETRY_SLOT + 3)
_NORMAL = slice(GEOMETRY_SLOT + 4, GEOMETRY_SLOT + 7)
_DEPTH = GEOMETRY_SLOT + 8

_PER_PAIR = 16
"""Most contacts of two shapes."""
_FOUND = 512
"""Most contacts of two shapes that are looked at: a box on the triangles of a finger has 212."""
_SAME = 1e-4
"""Distance within which contacts of two shapes are copies of one [m]."""
_MOST = 4096
"""Most contacts of a step; the direct solver would take minutes for as many."""
_MARGIN = 0.04
"""Pairs closer than this [m] are looked at in every step."""


class ContactFinder:
    """The pairs of shapes that may touch, and the contacts of the last step.

    ODE's own spaces would call back into Python for every pair. Instead the
    pairs within a margin are found by NumPy, and again only after bodies may
    have moved by that margin.
    """

    def __init__(
        self,
        world: OdeWorld,
        scene: Scene,
        shapes: list[OdeShape],
        *,
        options: OdeOptions,
    ) -> None:
        """Find the pairs of shapes that may touch in a scene."""
        library = self._library = world.library
        self._world = world.handle
        self._collide = library.dCollide
        self._calls = (library.dJointCreateContact, library.dJointAttach, library.dJointSetFeedback)
        self._group = library.dJointGroupCreate(0)
        pairs = _pairs(scene, shapes)
        self._first, self._second = pairs.T
        self._names = scene.solids
        self._solids = np.array([shape.solid for shape in shapes], dtype=np.int32)
        self._handles = [(shapes[i].handle, shapes[j].handle) for i, j in pairs]
        self._bodies = [(world.body(shapes[i].body), world.body(shapes[j].body)) for i, j in pairs]
        materials = [scene.materials[shape.solid] for shape in shapes]
        self._surfaces = [_surface(materials[i], materials[j], options) for i, j in pairs]
        self._body_of = np.array([shape.body for shape in shapes], dtype=np.intp)
        X = np.array([shape.X_CS for shape in shapes]).reshape(-1, 4, 4)
        self._rotation, self._center = X[:, :3, :3], X[:, :3, 3:]
        radius = np.array([shape.radius for shape in shapes])
        larger = radius[self._first] > radius[self._second]
        self._ball = np.where(larger, self._second, self._first)
        self._box = np.where(larger, self._first, self._second)
        half = np.array([shape.half for shape in shapes]).reshape(-1, 3)
        self._room_taken = half[self._box] + radius[self._ball, None]
        # A shape that reaches r from the centre of mass moves at most at (1 + r^2)^1/2 times the
        # speed of its body, linear and angular together.
        reach = max(
            (
                float(np.linalg.norm(shape.X_CS[:3, 3])) + shape.radius
                for shape in shapes
                if shape.body != WORLD
            ),
            default=0.0,
        )
        self._haste = sqrt(2 * (1 + reach**2))
        capacity = min(_PER_PAIR * len(pairs), _MOST) + _PER_PAIR
        self._contacts = np.zeros((capacity, CONTACT_SLOTS))
        self._feedback = np.zeros((capacity, FEEDBACK_SLOTS))
        self._many = np.zeros((_FOUND, CONTACT_SLOTS))
        self._address: int = self._contacts.ctypes.data
        self._feedback_address: int = self._feedback.ctypes.data
        self._near: list[int] = []
        self.forget()

    def forget(self) -> None:
        """Forget the contacts and where the bodies were."""
        self._room = -inf
        self._rows: list[int] = []
        self._touching: list[int] = []

    def close(self) -> None:
        """Destroy the joint group."""
        self._library.dJointGroupDestroy(self._group)

    def find(self, bodies: Array) -> None:
        """Make a contact joint for every contact of bodies in a state, shape (22, n + 1)."""
        if self._room < 0:
            self._near = self._look(bodies)
            self._room = _MARGIN
        create, attach, feed = self._calls
        rows: list[int] = []
        touching: list[int] = []
        used = 0
        for pair in self._near:
            place = self._address + 8 * CONTACT_SLOTS * used
            count = self._collide(
                *self._handles[pair], _PER_PAIR, place + 8 * GEOMETRY_SLOT, 8 * CONTACT_SLOTS
            )
            if not count:
                continue
            if count == _PER_PAIR:
                count = self._spread(pair, used)
            found = self._contacts[used : used + count]
            found[:, :GEOMETRY_SLOT] = self._surfaces[pair]
            first, second = self._bodies[pair]
            for row, depth in enumerate(found[:, _DEPTH].tolist(), used):
                if depth > 0:
                    joint = create(self._world, self._group, place)
                    attach(joint, first, second)
                    feed(joint, self._feedback_address + 8 * FEEDBACK_SLOTS * row)
                    rows.append(row)
                    touching.append(pair)
                place += 8 * CONTACT_SLOTS
            used += count
            if used > len(self._contacts) - _PER_PAIR:
                break
        self._rows, self._touching = rows, touching

    def _spread(self, pair: int, row: int) -> int:
        """Replace the contacts of a pair from a row on by those farthest apart; return how many.

        ODE returns the first it finds, and a point of a mesh once for each triangle that meets
        there: sixteen of them may be two or three points of a face. A box between two
        fingers then rocks, and its grip force of 50 N varies by 6 N.
        """
        many = self._many
        count: int = self._collide(
            *self._handles[pair],
            _FOUND,
            many.ctypes.data + 8 * GEOMETRY_SLOT,
            8 * CONTACT_SLOTS,
        )
        kept = _farthest(many[:count, _POINT], many[:count, _DEPTH])
        self._contacts[row : row + len(kept)] = many[kept]
        return len(kept)

    def moved(self, speed: float, *, timestep: float) -> None:
        """Remove the contact joints after a step and note how far bodies may have moved.

        Args:
            speed: Root of the sum of all squared speeds [m/s, rad/s].
            timestep: Time step [s].
        """
        if self._rows:
            self._library.dJointGroupEmpty(self._group)
        self._room -= timestep * speed * self._haste

    def surfaces(self) -> Iterator[LoadedSurface]:
        """Yield what is handed to ODE with every contact of two solids."""
        for first, second, surface in zip(self._first, self._second, self._surfaces, strict=True):
            a, b = self._names[self._solids[first]], self._names[self._solids[second]]
            friction, restitution = float(surface[_MU]), float(surface[_RETURN])
            yield LoadedSurface(a, friction, restitution, against=(b,), read_back=False)

    def contacts(self) -> Contacts:
        """Return the contacts of the last step: where they were, and what they transmitted."""
        rows = self._contacts[self._rows]
        pairs = np.array(self._touching, dtype=np.intp)
        return Contacts(
            solids=np.stack(
                [self._solids[self._first[pairs]], self._solids[self._second[pairs]]], axis=1
            ),
            points=rows[:, _POINT].copy(),
            normals=rows[:, _NORMAL].copy(),
            depths=rows[:, _DEPTH].copy(),
            forces=self._feedback[self._rows, :3],
        )

    def _look(self, bodies: Array) -> list[int]:
        """Return the pairs where the ball around the smaller is near the box around the larger."""
        R_body = bodies[ROTATION, self._body_of].T.reshape(-1, 3, 3)
        p = bodies[POSITION, self._body_of].T + (R_body @ self._center)[..., 0]
        R = (R_body @ self._rotation)[self._box]
        way = (p[self._ball] - p[self._box])[:, None, :] @ R
        gaps = np.abs(way[:, 0]) - self._room_taken
        near: list[int] = np.flatnonzero(gaps.max(axis=1, initial=-inf) < _MARGIN).tolist()
        return near


def _farthest(points: Array, depths: Array) -> list[int]:
    """Return the deepest contact and, one by one, those farthest from the chosen, in their order.

    Of the copies of a point, one for each triangle that meets there, the deepest counts: others
    are up to as shallow as zero.

    Args:
        points: Positions [m], shape (k, 3).
        depths: Penetration [m], shape (k,).
    """
    chosen: list[int] = []
    apart, k = np.full(len(points), inf), int(np.argmax(depths))
    while len(chosen) < _PER_PAIR and apart[k] > _SAME**2:
        copies = ((points - points[k]) ** 2).sum(axis=1) <= _SAME**2
        k = int(np.argmax(np.where(copies, depths, -inf)))
        chosen.append(k)
        apart = np.minimum(apart, ((points - points[k]) ** 2).sum(axis=1))
        k = int(np.argmax(apart))
    return sorted(chosen)


def _pairs(scene: Scene, shapes: list[OdeShape]) -> NDArray[np.intp]:
    """Return the shapes that may touch, the first of a moving body, shape (pairs, 2)."""
    pairs = [
        (i, j) if shapes[i].body != WORLD else (j, i)
        for i in range(len(shapes))
        for j in range(i + 1, len(shapes))
        if scene.may_collide[shapes[i].solid, shapes[j].solid]
        and shapes[i].body != shapes[j].body
        and all(
            isinstance(other.shape, Box)
            for shape, other in ((shapes[i], shapes[j]), (shapes[j], shapes[i]))
            if shape.only_on_boxes
        )
    ]
    return np.array(pairs, dtype=np.intp).reshape(-1, 2)


def _surface(a: Material, b: Material, options: OdeOptions) -> Array:
    """Return the surface of a contact as it stands in a dContact, shape (15,)."""
    bounce = FRICTION_RULE.combine(a.restitution, b.restitution)
    surface = np.zeros(GEOMETRY_SLOT)
    surface.view(np.int32)[0] = _PYRAMID | _SOFT_CFM | (_BOUNCE if bounce else 0)
    surface[_MU] = FRICTION_RULE.combine(a.friction, b.friction)
    surface[_RETURN], surface[_LEAST_SPEED] = bounce, options.bounce_speed
    # Compliance would swallow part of a bounce.
    surface[_COMPLIANCE] = options.cfm if bounce else options.contact_cfm
    return surface
