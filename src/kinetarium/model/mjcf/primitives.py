"""Primitive geoms: spheres, capsules, cylinders, ellipsoids and boxes from their sizes."""

from enum import StrEnum
from functools import cache
from math import pi

import numpy as np

from kinetarium.model.findings import Code
from kinetarium.model.markup import Element
from kinetarium.model.mjcf.compiler import shortest_turn
from kinetarium.model.mjcf.scope import Scope
from kinetarium.model.robot import Inertia
from kinetarium.model.shapes import Box, Capsule, Cylinder, MeshData, Shape, Sphere, TriangleMesh
from kinetarium.model.solids import solid_properties, triangulate
from kinetarium.model.triangles import read_only_mesh
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose

LEAST_SIZE = 1e-9
"""Half lengths below this [m] are as wrong as zero."""


class GeomType(StrEnum):
    """The shapes of geoms."""

    PLANE = "plane"
    HFIELD = "hfield"
    SPHERE = "sphere"
    CAPSULE = "capsule"
    ELLIPSOID = "ellipsoid"
    CYLINDER = "cylinder"
    BOX = "box"
    MESH = "mesh"
    SDF = "sdf"


PRIMITIVES = {
    GeomType.SPHERE: 1,
    GeomType.CAPSULE: 2,
    GeomType.CYLINDER: 2,
    GeomType.ELLIPSOID: 3,
    GeomType.BOX: 3,
}
"""The shapes that have sizes of their own, and how many."""


def read_sizes(element: Element, kind: GeomType, *, scope: Scope) -> tuple[Array, Array]:
    """Give the half lengths [m] of a primitive, as many as it has, and its pose, shape (4, 4).

    Args:
        element: The geom, with its defaults.
        kind: Which primitive it is.
        scope: The file being read.

    Raises:
        RobotFileError: If sizes are missing, too many or not positive.
    """
    needed = PRIMITIVES[kind]
    given = np.array(
        scope.reading.attributes.numbers(element, "size") if "size" in element.attributes else ()
    )
    if len(given) > max(PRIMITIVES.values()):
        raise scope.refusal(Code.BAD_NUMBER, f"{element}: size holds {len(given)} numbers", element)
    if "fromto" in element.attributes:
        if kind is GeomType.SPHERE or "pos" in element.attributes:
            raise scope.refusal(
                Code.BAD_VALUE,
                f"{element}: fromto is for shapes with two ends, without pos",
                element,
            )
        X_FG, half = two_point_pose(scope.reading.attributes.vector(element, "fromto", 6))
        # Across the line between the points, the first size counts for all.
        sizes = np.array([*np.repeat(given[:1], needed - 1), half])
    else:
        sizes, X_FG = given[:needed], scope.pose(element)
    if len(sizes) < needed or np.any(sizes < LEAST_SIZE):
        raise scope.refusal(
            Code.SIZE,
            f"{element}: a {kind} needs {needed} positive sizes",
            element,
            remedy="write them in size, as half lengths",
        )
    return sizes, X_FG


def two_point_pose(points: Array) -> tuple[Array, float]:
    """Give the pose, shape (4, 4), of a shape between two points, and half its length [m].

    Its z axis points from the second point to the first, as MuJoCo has it.
    """
    line = points[:3] - points[3:]
    length = float(np.linalg.norm(line))
    R = shortest_turn(line / length) if length > LEAST_SIZE else np.eye(3)
    return pose((points[:3] + points[3:]) / 2, R), length / 2


def primitive(kind: GeomType, half: Array) -> Shape:
    """Give the shape of a primitive with half lengths [m]; an ellipsoid as a mesh."""
    sizes = [float(size) for size in half]
    match kind:
        case GeomType.SPHERE:
            return Sphere(sizes[0])
        case GeomType.CAPSULE:
            return Capsule(sizes[0], 2 * sizes[1])
        case GeomType.CYLINDER:
            return Cylinder(sizes[0], 2 * sizes[1])
        case GeomType.BOX:
            return Box((2 * sizes[0], 2 * sizes[1], 2 * sizes[2]))
    sphere = _unit_sphere()
    return MeshData("ellipsoid", read_only_mesh(sphere.vertices * half, sphere.faces))


@cache
def _unit_sphere() -> TriangleMesh:
    return triangulate(Sphere(1.0))


def primitive_inertia(kind: GeomType, half: Array) -> Inertia:
    """Give the inertia of a primitive with half lengths [m] and density one."""
    if kind is not GeomType.ELLIPSOID:
        return solid_properties(primitive(kind, half), density=1.0)
    volume = 4 / 3 * pi * float(np.prod(half))
    moment = volume / 5 * np.diag((half**2).sum() - half**2)
    return Inertia(volume, frozen(np.zeros(3)), frozen(moment))
