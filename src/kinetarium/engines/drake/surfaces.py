"""What touches what: collision geometry, materials and filters of a Drake plant."""

from collections.abc import Iterable
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from kinetarium.engines.drake.library import drake_pose, geometry, plants
from kinetarium.engines.drake.options import FRICTION_RULE, DrakeOptions, Touch
from kinetarium.model.mesh import mesh_of
from kinetarium.model.shapes import Box, Capsule, Cylinder, MeshData, MeshFile, Shape, Sphere
from kinetarium.scene import Plane, Scene, SceneError
from kinetarium.spatial.arrays import Array

_RESOLUTION = 0.1
"""Of shapes that Drake cuts into pieces [m]; it cuts boxes and hulls along their own edges."""


class SurfaceBuilder:
    """Gives the bodies of a plant their geometry, and then rules which of it touches.

    Of every shape there is one copy for each friction it meets with, and only
    copies of the same friction touch, so that the friction of two surfaces is
    what the rule says.

    Attributes:
        solids: The solid, as an index, that each of Drake's geometries belongs to.
    """

    def __init__(self, plant: Any, scene: Scene, *, options: DrakeOptions) -> None:
        """Begin with a plant that has a scene graph.

        Args:
            plant: The plant under construction.
            scene: The scene it is built from.
            options: Softness of contacts.
        """
        self._plant = plant
        self._options = options
        self._index = {name: i for i, name in enumerate(scene.solids)}
        self._may_touch = scene.may_touch
        self._frictions = _frictions(scene)
        self._copies: dict[tuple[int, float], list[Any]] = {}
        self.solids: dict[Any, int] = {}

    def cover(
        self, solid: str, body: Any, *, shapes: Iterable[tuple[Shape | Plane, Array]]
    ) -> None:
        """Put the shapes of a solid at their poses on a body, unless it may touch nothing."""
        i = self._index[solid]
        met = {self._between(i, int(j)) for j in np.flatnonzero(self._may_touch[i])}
        for k, (shape, X_BG) in enumerate(shapes):
            for friction in sorted(met):
                try:
                    added = self._plant.RegisterCollisionGeometry(
                        body,
                        drake_pose(X_BG),
                        _form(shape),
                        f"{solid}#{k}#{friction}",
                        self._properties(shape, friction),
                    )
                except (RuntimeError, SystemExit) as error:  # the latter from failed assertions
                    raise refusal(f"the shape of '{solid}'", error) from None
                self._copies.setdefault((i, friction), []).append(added)
                self.solids[added] = i

    def filter(self, graph: Any) -> None:
        """Exclude all pairs but those that are to touch."""
        filters = graph.collision_filter_manager()
        sets = {key: geometry.GeometrySet(ids) for key, ids in self._copies.items()}
        declaration = geometry.CollisionFilterDeclaration()
        for one, other in combinations_with_replacement(sets, 2):
            (i, mu_i), (j, mu_j) = one, other
            if not (self._may_touch[i, j] and mu_i == mu_j == self._between(i, j)):
                declaration.ExcludeBetween(sets[one], sets[other])
        filters.Apply(declaration)

    def _between(self, i: int, j: int) -> float:
        return FRICTION_RULE.combine(self._frictions[i], self._frictions[j])

    def _properties(self, shape: Shape | Plane, friction: float) -> Any:
        options = self._options
        properties = geometry.ProximityProperties()
        geometry.AddContactMaterial(
            dissipation=options.dissipation,
            point_stiffness=options.stiffness,
            friction=plants.CoulombFriction(friction, friction),
            properties=properties,
        )
        properties.AddProperty("material", "relaxation_time", options.relaxation_time)
        if options.touch is Touch.SURFACE:
            match shape:
                case Plane():
                    geometry.AddRigidHydroelasticProperties(properties=properties)
                case Box() | MeshFile() | MeshData():
                    geometry.AddCompliantHydroelasticProperties(
                        resolution_hint=_RESOLUTION,
                        hydroelastic_modulus=options.modulus,
                        properties=properties,
                    )
        return properties


def refusal(what: str, error: BaseException) -> SceneError:
    """Give in one line what Drake does not take, and why."""
    return SceneError(f"Drake refuses {what}: {' '.join(str(error).split())}")


def _frictions(scene: Scene) -> list[float]:
    """Give the friction of every solid, in their order."""
    frictions = [
        robot.link_materials.get(link.name, robot.material).friction
        for robot in scene.robots
        for link in robot.model.links
    ]
    return frictions + [body.material.friction for body in scene.bodies]


def _form(shape: Shape | Plane) -> Any:
    match shape:
        case Plane():
            return geometry.HalfSpace()
        case Box():
            return geometry.Box(*shape.size)
        case Sphere():
            return geometry.Sphere(shape.radius)
        case Cylinder():
            return geometry.Cylinder(shape.radius, shape.length)
        case Capsule():
            return geometry.Capsule(shape.radius, shape.length)
        case MeshFile() | MeshData():
            return geometry.Convex(points=mesh_of(shape).vertices.T, label="mesh")
