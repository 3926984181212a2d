"""Values as colours of bodies: a scale of few tones, one body for each."""

import numpy as np
from numpy.typing import NDArray

from kinetarium.figure.palette import SEQUENTIAL
from kinetarium.figure.scene3d import Body, Color
from kinetarium.model.triangles import read_only_mesh
from kinetarium.spatial.arrays import Array, frozen

TONES: tuple[Color, ...] = tuple(
    (int(tone[1:3], 16) / 255, int(tone[3:5], 16) / 255, int(tone[5:7], 16) / 255, 1.0)
    for tone in SEQUENTIAL
)
"""From low to high."""

QUAD = np.array([[0, 1, 2], [0, 2, 3]])


def colored_quads(quads: Array, values: Array, *, unit: str) -> tuple[Body, ...]:
    """Paint squares by their values, those of one tone as one body.

    Args:
        quads: Corners of each square in the world, in turn [m], shape (n, 4, 3).
        values: Its value, positive, shape (n,).
        unit: What the values are, for the names.
    """
    top = float(values.max())
    tone = np.minimum((values / top * len(TONES)).astype(np.int64), len(TONES) - 1)
    bodies = []
    for number, color in enumerate(TONES):
        chosen = quads[tone == number]
        if not len(chosen):
            continue
        faces: NDArray[np.int64] = (4 * np.arange(len(chosen))[:, None, None] + QUAD).reshape(-1, 3)
        low, high = number * top / len(TONES), (number + 1) * top / len(TONES)
        name = f"{low:.3g} to {high:.3g} {unit}"
        mesh = read_only_mesh(chosen.reshape(-1, 3), faces)
        bodies.append(Body(name, mesh, color, frozen(np.eye(4))))
    return tuple(bodies)
