"""The drawn robot: links as prisms, in metres."""

import numpy as np

from kinetarium.figure.scene3d import Body
from kinetarium.legs import LEG_NAMES, Machine
from kinetarium.legs.link_mesh import BODY_COLOR, LEG_COLORS, link_mesh
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_from_quaternion


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
        Body(f"{label}body", link_mesh(trunk, unit_m=unit_m), BODY_COLOR, _placed(body, shift))
    ]
    for leg, shapes in enumerate(legs):
        for link, shape in enumerate(shapes):
            bodies.append(
                Body(
                    f"{label}leg {leg + 1} ({LEG_NAMES[leg]}): {shape.name}",
                    link_mesh(shape, unit_m=unit_m),
                    LEG_COLORS[leg],
                    _placed(links[leg, link], shift),
                )
            )
    return bodies


def _placed(row: Array, shift: tuple[float, float, float]) -> Array:
    return frozen(pose(row[:3] + np.array(shift), rotation_from_quaternion(row[3:])))
