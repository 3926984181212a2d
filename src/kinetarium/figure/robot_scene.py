"""A robot in a configuration as a Scene3D."""

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.dynamics.kinematics import link_poses
from kinetarium.figure.decimate import decimate
from kinetarium.figure.scene3d import Body, Color, Scene3D
from kinetarium.model.robot import Geometry, RobotModel
from kinetarium.model.shapes import TriangleMesh
from kinetarium.model.solids import triangulate
from kinetarium.model.triangles import read_only_mesh
from kinetarium.spatial.arrays import frozen

_MOST_FACES = 2000
"""Triangles of one geometry; more cannot be told apart in a picture the size of a hand."""

_TONES: tuple[Color, Color] = ((0.88, 0.88, 0.87, 1.0), (0.44, 0.50, 0.58, 1.0))
"""For links without a colour: two tones in turn, so that joints can be seen."""


def robot_scene(
    model: RobotModel, q: ArrayLike, *, X_WB: ArrayLike | None = None
) -> Scene3D | None:
    """Draw a robot by what is seen of it, or by what touches where nothing is seen at all.

    Args:
        model: The robot.
        q: Positions of the moving joints [rad or m], shape (joints,).
        X_WB: Pose of the root link, shape (4, 4); the world's frame if not given.

    Returns:
        The scene, or None for a robot without any shape.

    Raises:
        RobotFileError: If a mesh file cannot be loaded.
    """
    seen = any(link.visuals for link in model.links)
    bodies: list[Body] = []
    poses = link_poses(model, q, X_WB=X_WB)
    for index, (link, X_WL) in enumerate(zip(model.links, poses, strict=True)):
        by_color: dict[Color, list[TriangleMesh]] = {}
        for geometry in link.visuals if seen else link.collisions:
            mesh = _display_mesh(geometry)
            if len(mesh.faces):
                color = geometry.color or _TONES[index % 2]
                by_color.setdefault(color, []).append(mesh)
        bodies.extend(
            Body(link.name, _joined(meshes), color, frozen(X_WL))
            for color, meshes in by_color.items()
        )
    return Scene3D(model.name, tuple(bodies)) if bodies else None


def _display_mesh(geometry: Geometry) -> TriangleMesh:
    """Give the triangles of a geometry in the link frame, few enough to show."""
    mesh = decimate(triangulate(geometry.shape), most_faces=_MOST_FACES)
    X_LG = geometry.X_LG
    return TriangleMesh(frozen(mesh.vertices @ X_LG[:3, :3].T + X_LG[:3, 3]), mesh.faces)


def _joined(meshes: list[TriangleMesh]) -> TriangleMesh:
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
    faces = [mesh.faces + start for mesh, start in zip(meshes, starts, strict=True)]
    vertices = np.concatenate([mesh.vertices for mesh in meshes])
    return read_only_mesh(vertices, np.concatenate(faces))
