"""A Scene3D as a still picture, drawn by Matplotlib."""

from io import BytesIO
from math import tan

import numpy as np

from kinetarium.figure.scene3d import Camera, Scene3D
from kinetarium.spatial.arrays import Array

_LIGHT = np.array([-0.30, 0.80, 0.52])
"""Direction towards the light in the axes of the picture: right, up, towards the eye."""

_DOTS_PER_INCH = 100


def scene_png(scene: Scene3D, *, width: int, height: int) -> bytes:
    """Draw a scene on a transparent background.

    Triangles are painted from the farthest to the nearest, each in one shade
    by Lambert's law, the same on both sides.

    Args:
        width: Width [pixels].
        height: Height [pixels].

    Returns:
        The picture as PNG.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.figure import Figure

    camera = scene.camera(aspect=width / height)
    corners = np.concatenate([body.world_points[body.mesh.faces] for body in scene.bodies])
    colors = np.repeat(
        [body.color for body in scene.bodies],
        [len(body.mesh.faces) for body in scene.bodies],
        axis=0,
    )
    seen = (corners - camera.eye) @ camera.rotation  # shape (triangles, 3 corners, 3), z < 0 ahead
    colors[:, :3] *= _shade(seen)[:, None]
    order = np.argsort(seen[:, :, 2].mean(axis=1))
    ground = (scene.ground.lines - camera.eye) @ camera.rotation
    ground = ground[(ground[:, :, 2] < 0).all(axis=1)]

    figure = Figure(figsize=(width / _DOTS_PER_INCH, height / _DOTS_PER_INCH), dpi=_DOTS_PER_INCH)
    figure.patch.set_alpha(0.0)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set(xlim=(-width / height, width / height), ylim=(-1, 1))
    axes.add_collection(
        LineCollection(list(_projected(ground, camera)), colors="#a4acb6", linewidths=0.6, zorder=1)
    )
    # Edges in the colour of their triangle close the hairline gaps between neighbours.
    paint = colors[order]
    axes.add_collection(
        PolyCollection(
            list(_projected(seen[order], camera)),
            facecolors=paint,
            edgecolors=paint,
            linewidths=0.3,
            zorder=2,
        )
    )
    png = BytesIO()
    FigureCanvasAgg(figure).print_png(png, metadata={"Software": None})
    return png.getvalue()


def _shade(triangles: Array) -> Array:
    """Return the brightness of each triangle, 0..1, shape (n,)."""
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    facing = np.abs(normals @ _LIGHT) / np.where(lengths > 0, lengths, 1.0)
    shade: Array = 0.5 + 0.5 * facing / np.linalg.norm(_LIGHT)
    return shade


def _projected(points: Array, camera: Camera) -> Array:
    """Project points in the axes of the camera; the picture's upper edge is at 1."""
    plane: Array = points[..., :2] / (-points[..., 2:] * tan(camera.view_angle / 2))
    return plane
