"""What a link looks like as triangles, and the colours by which legs are told apart."""

import numpy as np

from kinetarium.legs.link_shape import LinkShape
from kinetarium.model.shapes import TriangleMesh
from kinetarium.spatial.arrays import frozen

LEG_COLORS = (
    (0.01, 0.30, 0.85, 1.0),
    (0.78, 0.22, 0.00, 1.0),
    (0.01, 0.64, 0.55, 1.0),
    (0.56, 0.16, 0.55, 1.0),
)
"""Red, green, blue and opacity of the legs 1 to 4."""

BODY_COLOR = (0.62, 0.63, 0.65, 1.0)


def link_mesh(shape: LinkShape, *, unit_m: float) -> TriangleMesh:
    """Give a prism as triangles that face outwards [m]; its section is taken as convex."""
    section = np.array(shape.section) * unit_m
    x, y = section.T
    if (x * np.roll(y, -1) - y * np.roll(x, -1)).sum() < 0:
        section = section[::-1]
    n = len(section)
    lower = np.column_stack([section, np.full(n, min(shape.bottom, shape.top) * unit_m)])
    upper = np.column_stack([section, np.full(n, max(shape.bottom, shape.top) * unit_m)])
    here = np.arange(n)
    there = np.roll(here, -1)
    faces = [
        np.column_stack([here, there, there + n]),
        np.column_stack([here, there + n, here + n]),
    ]
    middle = np.arange(1, n - 1)
    zero = np.zeros(n - 2, dtype=np.int64)
    faces += [
        np.column_stack([zero, middle + 1, middle]),
        np.column_stack([zero + n, middle + n, middle + 1 + n]),
    ]
    triangles = np.concatenate(faces).astype(np.int32)
    triangles.setflags(write=False)
    return TriangleMesh(frozen(np.concatenate([lower, upper])), triangles)
