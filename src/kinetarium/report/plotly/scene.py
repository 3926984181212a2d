"""A Scene3D as Plotly traces and a layout."""

from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.figure.scene3d import Color, GroundGrid, Mesh3D, Scene3D
from kinetarium.report.drawing import label
from kinetarium.report.plotly.layout import typed_array

ASPECT = 4 / 3
"""Width over height of the picture of a scene."""


def plotly_scene(scene: Scene3D) -> dict[str, Any]:
    """Return the traces and the layout that draw a scene.

    The axes span a cube, so that the scale is the same in every direction; the
    camera is that of the scene.
    """
    points = np.concatenate([scene.ground.lines.reshape(-1, 3), scene.bounds])
    low, high = points.min(axis=0), points.max(axis=0)
    middle, edge = (low + high) / 2, float(np.max(high - low))
    camera = scene.camera(aspect=ASPECT)
    axes = {
        f"{axis}axis": {"visible": False, "range": [at - edge / 2, at + edge / 2]}
        for axis, at in zip("xyz", middle.tolist(), strict=True)
    }
    return {
        "data": [_ground_trace(scene.ground), *(_body_trace(body) for body in scene.bodies)],
        "layout": {
            "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "showlegend": False,
            "scene": {
                **axes,
                "bgcolor": "rgba(0,0,0,0)",
                "aspectmode": "cube",
                "dragmode": "turntable",
                "camera": {
                    "up": _xyz((0.0, 0.0, 1.0)),
                    "eye": _xyz((camera.eye - middle) / edge),
                    "center": _xyz((camera.target - middle) / edge),
                },
            },
        },
    }


def _body_trace(body: Mesh3D) -> dict[str, Any]:
    x, y, z = body.world_points.astype(np.float32).T
    kind = np.uint16 if len(body.world_points) < 2**16 else np.uint32
    i, j, k = body.mesh.faces.astype(kind).T
    return {
        "type": "mesh3d",
        "x": typed_array(x), "y": typed_array(y), "z": typed_array(z),
        "i": typed_array(i), "j": typed_array(j), "k": typed_array(k),
        "color": css_color(body.color),
        "opacity": body.color[3],
        "flatshading": True,
        "lighting": {
            "ambient": 0.55, "diffuse": 0.6, "specular": 0.05, "roughness": 0.9, "fresnel": 0.0,
            # By default triangles of less than a square millimetre are treated as degenerate.
            "facenormalsepsilon": 0, "vertexnormalsepsilon": 0,
        },
        "lightposition": {"x": 3e4, "y": -2e4, "z": 1e5},
        "text": escape(label(body.name)),  # Plotly interprets some tags
        "hoverinfo": "text",
    }  # fmt: skip


def _ground_trace(ground: GroundGrid) -> dict[str, Any]:
    """Draw all lines as one, with a gap after each."""
    gap = np.full((len(ground.lines), 1, 3), np.nan)
    x, y, z = np.concatenate([ground.lines, gap], axis=1).reshape(-1, 3).T
    return {
        "type": "scatter3d",
        "mode": "lines",
        "x": x.tolist(),
        "y": y.tolist(),
        "z": z.tolist(),
        "line": {"color": "#a4acb6", "width": 1},
        "hoverinfo": "skip",
    }


def css_color(color: Color) -> str:
    """Return a colour without its opacity."""
    return "#" + "".join(f"{round(255 * min(max(part, 0.0), 1.0)):02x}" for part in color[:3])


def _xyz(vector: ArrayLike) -> dict[str, float]:
    x, y, z = np.asarray(vector).tolist()
    return {"x": x, "y": y, "z": z}
