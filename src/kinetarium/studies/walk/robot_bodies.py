"""The drawn robot: links as prisms, in metres."""

import numpy as np

from kinetarium.figure.scene3d import Body, Color
from kinetarium.legs import LEG_NAMES, LinkShape, Machine
from kinetarium.model.shapes import TriangleMesh
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_from_quaternion

LEG_COLORS: tuple[Color, ...] = (
    (0.01, 0.30, 0.85, 1.0),
    (0.78, 0.22, 0.00, 1.0),
    (0.01, 0.64, 0.55, 1.0),
    (0.56, 0.16, 0.55, 1.0),
)
BODY_COLOR: Color = (0.62, 0.63, 0.65, 1.0)


def prism_mesh(shape: LinkShape, *, unit_m: float) -> TriangleMesh:
    """Give a prism as triangles that face outwards [m]; its section is taken as convex."""
    section = np.array(shape.section) * unit_m
    n = len(section)
    if _area(section) < 0:
        section = section[::-1]
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


def robot_bodies(
    machine: Machine,
    links: Array,
    body: Array,
    *,
    unit_m: float,
    label: str = "",
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> list[Body]:
    """Draw a robot.

    Args:
        machine: The machine.
        links: Poses of the links [m], shape (4, 9, 7).
        body: Pose of the body [m], shape (7,).
        unit_m: The machine's unit of length [m].
        label: What is put before the names.
        shift: How far the whole robot is moved aside [m].
    """
    *legs, (trunk,) = machine.link_shapes
    bodies = [
        Body(f"{label}body", prism_mesh(trunk, unit_m=unit_m), BODY_COLOR, _placed(body, shift))
    ]
    for leg, shapes in enumerate(legs):
        for link, shape in enumerate(shapes):
            bodies.append(
                Body(
                    f"{label}leg {leg + 1} ({LEG_NAMES[leg]}): {shape.name}",
                    prism_mesh(shape, unit_m=unit_m),
                    LEG_COLORS[leg],
                    _placed(links[leg, link], shift),
                )
            )
    return bodies


def _placed(row: Array, shift: tuple[float, float, float]) -> Array:
    return frozen(pose(row[:3] + np.array(shift), rotation_from_quaternion(row[3:])))


def _area(section: Array) -> float:
    x, y = section.T
    return float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum())
