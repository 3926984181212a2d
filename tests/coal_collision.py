"""Whether shapes of a robot's links meet, by an independent library."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import coal
import numpy as np

from collision_pairs import collision_pairs
from kinetarium import load_robot
from kinetarium.dynamics import link_poses
from kinetarium.model.assets import installed_packages
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import Box, Cylinder, Link, MeshData, RobotModel, Shape, Sphere
from kinetarium.spatial.arrays import Array, frozen

DATA = installed_packages().get("example-robot-data", Path())
PUBLIC_PANDA = DATA / "robots" / "panda_description" / "urdf" / "panda.urdf"
FINGERS = ("panda_leftfinger", "panda_rightfinger")
PUBLIC = {
    "panda": (PUBLIC_PANDA, [FINGERS]),
    "ur5": (DATA / "robots" / "ur_description" / "urdf" / "ur5_robot.urdf", []),
}
"""Files with the makers' meshes, and pairs that touch there by construction."""


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


def meshes_touching(name: str, q: Array) -> Array:
    """Whether the public meshes of a robot of the catalogue meet, shape (n,)."""
    file, ignored = PUBLIC[name]
    public = load_robot(file)
    links = [standing(link) if link.name == "base_link" else link for link in public.links]
    pairs = list(collision_pairs(public, ignore=ignored))
    return touching(replace(public, links=tuple(links)), q, pairs)


def standing(base: Link) -> Link:
    """The base without what its mesh has below the plane that it is mounted on."""
    (part,) = base.collisions
    mesh = triangulate(part.shape)
    vertices = frozen(np.maximum(mesh.vertices, [-np.inf, -np.inf, 0.0]))
    flat = MeshData(base.name, replace(mesh, vertices=vertices))
    return replace(base, collisions=(replace(part, shape=flat),))


def touching(model: RobotModel, q: Array, pairs: list[tuple[str, str]]) -> Array:
    """Whether shapes of any pair of links meet, by an independent library."""
    shapes = {
        link.name: [(coal_shape(part.shape), part.X_LG) for part in link.collisions]
        for link in model.links
    }
    index = {link.name: i for i, link in enumerate(model.links)}
    request = coal.CollisionRequest()
    request.gjk_tolerance = 1e-9  # by default, gaps of a micrometre are taken for contacts

    def meet(X: Array, a: str, b: str) -> bool:
        return any(
            coal.collide(
                s, placed(X[index[a]] @ X_s), t, placed(X[index[b]] @ X_t), request,
                coal.CollisionResult(),
            )
            for (s, X_s), (t, X_t) in product(shapes[a], shapes[b])
        )  # fmt: skip

    return np.array([any(meet(X, a, b) for a, b in pairs) for X in link_poses(model, q)])
