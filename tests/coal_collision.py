"""Whether shapes of a robot's links meet, by an independent library."""

from itertools import product
from pathlib import Path

import coal
import numpy as np

from kinetarium.dynamics import link_poses
from kinetarium.model.packages import installed_packages
from kinetarium.model.robot import RobotModel
from kinetarium.model.shapes import Box, Cylinder, Shape, Sphere
from kinetarium.model.solids import triangulate
from kinetarium.spatial.arrays import Array

DATA = installed_packages().get("example-robot-data", Path())
PUBLIC_PANDA = DATA / "robots" / "panda_description" / "urdf" / "panda.urdf"
FINGERS = ("panda_leftfinger", "panda_rightfinger")


def coal_shape(shape: Shape) -> coal.CollisionGeometry:
    match shape:
        case Box(size):
            return coal.Box(*size)
        case Cylinder(radius, length):
            return coal.Cylinder(radius, length)
        case Sphere(radius):
            return coal.Sphere(radius)
    mesh = triangulate(shape)
    vertices, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for vertex in mesh.vertices:
        vertices.append(vertex)
    for face in mesh.faces.tolist():
        triangles.append(coal.Triangle(*face))
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(triangles), len(vertices))
    model.addSubModel(vertices, triangles)
    model.endModel()
    return model


def placed(X: Array) -> coal.Transform3s:
    return coal.Transform3s(X[:3, :3].copy(), X[:3, 3].copy())


def touching(model: RobotModel, q: Array, pairs: list[tuple[str, str]]) -> Array:
    """Whether shapes of any pair of links meet, by an independent library."""
    shapes = {
        link.name: [(coal_shape(part.shape), part.X_LG) for part in link.collisions]
        for link in model.links
    }
    index = {link.name: i for i, link in enumerate(model.links)}
    request = coal.CollisionRequest()

    def meet(X: Array, a: str, b: str) -> bool:
        return any(
            coal.collide(
                s, placed(X[index[a]] @ X_s), t, placed(X[index[b]] @ X_t), request,
                coal.CollisionResult(),
            )
            for (s, X_s), (t, X_t) in product(shapes[a], shapes[b])
        )  # fmt: skip

    return np.array([any(meet(X, a, b) for a, b in pairs) for X in link_poses(model, q)])
