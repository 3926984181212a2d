"""Markers in scenes: frames as three axes, obstacles, and tiles of a plane."""

from collections.abc import Sequence

import numpy as np

from kinetarium.figure.scene3d import Body, Color
from kinetarium.model.robot import Geometry
from kinetarium.model.shapes import Box
from kinetarium.model.solids import triangulate
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose
from kinetarium.studies.reach.coloring import colored_quads

_AXES: tuple[Color, ...] = ((0.84, 0.2, 0.2, 1.0), (0.15, 0.6, 0.25, 1.0), (0.15, 0.35, 0.85, 1.0))
_THICKNESS = 0.08
"""Width of an axis as a part of its length."""
_POSE = 0.08
"""Length of the axes of a pose as a part of the arm's reach."""
_SOLID: Color = (0.45, 0.48, 0.52, 0.6)


def frame_marker(name: str, X_WF: Array, *, length: float) -> tuple[Body, ...]:
    """Draw a frame: x red, y green, z blue.

    Args:
        name: What a pointer over it shows.
        X_WF: The frame, shape (4, 4).
        length: Length of its axes [m].
    """
    bodies = []
    for axis, color in enumerate(_AXES):
        size = np.full(3, _THICKNESS * length)
        size[axis] = length
        middle = np.zeros(3)
        middle[axis] = length / 2
        x, y, z = size.tolist()
        mesh = triangulate(Box((x, y, z)))
        bodies.append(Body(f"{name}, {'xyz'[axis]}", mesh, color, frozen(X_WF @ pose(middle))))
    return tuple(bodies)


def pose_markers(poses: Array, *, radius: float) -> tuple[Body, ...]:
    """Draw the frames that the tool is asked for.

    Args:
        poses: Poses X_WT, shape (n, 4, 4).
        radius: How far the arm reaches, which says how large they are drawn [m].
    """
    return tuple(
        part
        for number, X_WT in enumerate(poses)
        for part in frame_marker(f"pose {number}", X_WT, length=_POSE * radius)
    )


def obstacle_bodies(shapes: Sequence[Geometry], *, X_WP: Array) -> tuple[Body, ...]:
    """Draw what stands around.

    Args:
        shapes: Shapes in the frame of the plane of bases.
        X_WP: That frame, shape (4, 4).
    """
    return tuple(
        Body(f"obstacle {number}", triangulate(part.shape), _SOLID, frozen(X_WP @ part.X_LG))
        for number, part in enumerate(shapes)
    )


def plane_tiles(x: Array, y: Array, *, values: Array, X_WP: Array) -> tuple[Body, ...]:
    """Paint the points of a plane as tiles; where the value is zero there is none.

    Args:
        x: Coordinates x in the plane's frame, evenly spaced [m], shape (n,).
        y: Coordinates y [m], shape (m,).
        values: The values, shape (n, m).
        X_WP: The plane's frame, shape (4, 4).
    """
    some = np.argwhere(values > 0)
    half = np.array([x[1] - x[0], y[1] - y[0]]) / 2
    middles = np.stack([x[some[:, 0]], y[some[:, 1]]], axis=-1)
    corners = middles[:, None] + half * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    flat = np.concatenate([corners, np.zeros((*corners.shape[:2], 1))], axis=-1)
    quads = flat @ X_WP[:3, :3].T + X_WP[:3, 3]
    return colored_quads(quads, np.asarray(values[tuple(some.T)], dtype=np.float64), unit="")
