"""DART's contacts as contacts between solids."""

from collections.abc import Iterable
from itertools import combinations
from math import sqrt
from typing import Any

import numpy as np

from kinetarium.engines.dart.skeletons import Node, dynamics, inertia_of, isometry
from kinetarium.engines.protocol import NO_CONTACTS, Contacts
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
from kinetarium.spatial.arrays import Array


class Surfaces:
    """The surfaces of a scene.

    Attributes:
        solids: Index of the solid of every shape.
    """

    def __init__(self, scene: Scene) -> None:
        """Begin without surfaces."""
        self._scene = scene
        self._index = {name: i for i, name in enumerate(scene.solids)}
        self._carriers: list[tuple[Any, int]] = []
        self.solids: dict[Any, int] = {}

    def cover(self, nodes: Iterable[Node]) -> None:
        """Attach to bodies the shapes of the solids they stand for.

        DART filters collisions by body. Solids of one body with different collision
        partners get a massless body each, welded to it.
        """
        for body in nodes:
            carriers: dict[bytes, Any] = {}
            for name, X_NL in body.members:
                solid = self._index[name]
                row = self._scene.may_collide[solid]
                if not row.any() or not self._scene.geometry[solid]:
                    continue
                meets = row.tobytes()
                if meets not in carriers:
                    carriers[meets] = _carrier(body.node) if carriers else body.node
                    self._carriers.append((carriers[meets], solid))
                for shape, X_LG in self._scene.geometry[solid]:
                    self._add(carriers[meets], solid, shape=shape, X_NG=X_NL @ X_LG)

    def exclude_pairs(self, blacklist: Any) -> None:
        """Add the pairs that never touch to DART's filter."""
        for (a, i), (b, j) in combinations(self._carriers, 2):
            if not self._scene.may_collide[i, j]:
                blacklist.addBodyNodePairToBlackList(a, b)

    def _add(self, node: Any, solid: int, *, shape: Shape | Plane, X_NG: Array) -> None:
        placed = node.createShapeNode(_shape(shape, self._scene.solids[solid]))
        placed.setRelativeTransform(isometry(X_NG))
        placed.createCollisionAspect()
        rubs = placed.createDynamicsAspect()
        material = self._scene.materials[solid]
        rubs.setFrictionCoeff(material.friction)
        # DART multiplies restitutions; the roots of two equal ones multiply to theirs.
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
                f"'{solid}' collides by a mesh, which dartpy cannot make; use boxes, spheres,"
                " cylinders or capsules"
            )


def read_contacts(world: Any, surfaces: Surfaces) -> Contacts:
    """Return the contacts of the last step of DART's world, with normal and friction forces."""
    found = world.getLastCollisionResult().getContacts()
    if not found:
        return NO_CONTACTS
    solid = surfaces.solids
    pairs = [
        (solid[c.collisionObject1.getShapeFrame()], solid[c.collisionObject2.getShapeFrame()])
        for c in found
    ]
    return Contacts(
        solids=np.array(pairs, dtype=np.int32),
        points=np.array([c.point for c in found]),
        normals=np.array([c.normal for c in found]),
        depths=np.array([c.penetrationDepth for c in found]),
        forces=np.array([c.force for c in found]),
    )
