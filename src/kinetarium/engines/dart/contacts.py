"""DART's contacts as contacts between solids."""

from collections.abc import Iterable
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np

from kinetarium.engines.dart.library import dynamics, inertia_of, isometry
from kinetarium.engines.dart.skeletons import Node
from kinetarium.engines.protocol import Contacts
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
from kinetarium.spatial.arrays import Array, frozen


class Surfaces:
    """The surfaces of a scene.

    Attributes:
        solids: Index of the solid of every shape.
    """

    def __init__(self, scene: Scene) -> None:
        """Begin with none, for a scene."""
        self._scene = scene
        self._index = {name: i for i, name in enumerate(scene.solids)}
        self._geometry, self._materials = _geometry(scene), _materials(scene)
        self._carriers: list[tuple[Any, int]] = []
        self.solids: dict[Any, int] = {}

    def cover(self, nodes: Iterable[Node]) -> None:
        """Attach to bodies the shapes of the solids they stand for.

        DART rules by body who meets whom. Solids of one body that do not meet
        the same others get a massless body each, welded to it.
        """
        for body in nodes:
            carriers: dict[bytes, Any] = {}
            for name, X_NL in body.members:
                solid = self._index[name]
                row = self._scene.may_collide[solid]
                if not row.any() or not self._geometry[solid]:
                    continue
                meets = row.tobytes()
                if meets not in carriers:
                    carriers[meets] = _carrier(body.node) if carriers else body.node
                    self._carriers.append((carriers[meets], solid))
                for shape, X_LG in self._geometry[solid]:
                    self._add(carriers[meets], solid, shape=shape, X_NG=X_NL @ X_LG)

    def part(self, blacklist: Any) -> None:
        """Tell DART the pairs that never touch.

        Args:
            blacklist: DART's filter of pairs.
        """
        for (a, i), (b, j) in combinations(self._carriers, 2):
            if not self._scene.may_collide[i, j]:
                blacklist.addBodyNodePairToBlackList(a, b)

    def _add(self, node: Any, solid: int, *, shape: Shape | Plane, X_NG: Array) -> None:
        placed = node.createShapeNode(_shape(shape, self._scene.solids[solid]))
        placed.setRelativeTransform(isometry(X_NG))
        placed.createCollisionAspect()
        rubs = placed.createDynamicsAspect()
        material = self._materials[solid]
        rubs.setFrictionCoeff(material.friction)
        # DART multiplies restitutions; of their roots two equal ones give theirs.
        rubs.setRestitutionCoeff(sqrt(material.restitution))
        self.solids[placed] = solid


def _carrier(node: Any) -> Any:
    """Weld a massless body to one."""
    _, carrier = node.createWeldJointAndBodyNodePair()
    carrier.setInertia(inertia_of(None))
    return carrier


def _shape(shape: Shape | Plane, solid: str) -> Any:
    match shape:
        case Plane():
            return dynamics.PlaneShape([0.0, 0.0, 1.0], 0.0)
        case Box():
            return dynamics.BoxShape(shape.size)
        case Sphere():
            return dynamics.SphereShape(shape.radius)
        case Cylinder():
            return dynamics.CylinderShape(shape.radius, shape.length)
        case Capsule():
            return dynamics.CapsuleShape(shape.radius, shape.length)
        case MeshFile() | MeshData():
            raise SceneError(
                f"'{solid}' touches with a mesh, and dartpy makes none; give it boxes, spheres,"
                " cylinders or capsules, or nothing to touch"
            )


def _geometry(scene: Scene) -> list[list[tuple[Shape | Plane, Array]]]:
    """Return the shapes of every solid at their poses in its own frame."""
    links: list[list[tuple[Shape | Plane, Array]]] = [
        [(geometry.shape, geometry.X_LG) for geometry in link.collisions]
        for robot in scene.robots
        for link in robot.model.links
    ]
    return [*links, *([(body.shape, IDENTITY)] for body in scene.bodies)]


def _materials(scene: Scene) -> list[Material]:
    """Return the material of every solid."""
    links = [
        robot.link_materials.get(link.name, robot.material)
        for robot in scene.robots
        for link in robot.model.links
    ]
    return [*links, *(body.material for body in scene.bodies)]


NO_CONTACTS = Contacts(
    np.zeros((0, 2), dtype=np.int32),
    frozen(np.zeros((0, 3))),
    frozen(np.zeros((0, 3))),
    frozen(np.zeros(0)),
    frozen(np.zeros((0, 3))),
)


def read_contacts(world: Any, surfaces: Surfaces) -> Contacts:
    """Return the contacts of the last step, with normal and friction forces, read-only.

    Args:
        world: DART's world.
    """
    found = world.getLastCollisionResult().getContacts()
    if not found:
        return NO_CONTACTS
    solid = surfaces.solids
    touched = np.array(
        [
            (solid[c.collisionObject1.getShapeFrame()], solid[c.collisionObject2.getShapeFrame()])
            for c in found
        ],
        dtype=np.int32,
    )
    touched.setflags(write=False)
    return Contacts(
        solids=touched,
        points=frozen([c.point for c in found]),
        normals=frozen([c.normal for c in found]),
        depths=frozen([c.penetrationDepth for c in found]),
        forces=frozen([c.force for c in found]),
    )
