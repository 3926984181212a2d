"""A volume of voxels with a quarter cut away, so that one sees into it."""

import numpy as np

from kinetarium.figure.scene3d import Scene3D
from kinetarium.spatial.arrays import Array
from kinetarium.studies.reach.coloring import colored_quads

MOST = 48
"""Voxels along an axis that are drawn; finer ones are joined."""

# The face of a voxel towards each side: its corners as seen from outside, in turn.
_SIDES = {
    (1, 0, 0): ((1, 0, 0), (1, 1, 0), (1, 1, 1), (1, 0, 1)),
    (-1, 0, 0): ((0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 0)),
    (0, 1, 0): ((0, 1, 0), (0, 1, 1), (1, 1, 1), (1, 1, 0)),
    (0, -1, 0): ((0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1)),
    (0, 0, 1): ((0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)),
    (0, 0, -1): ((0, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 0)),
}


def cut_volume(title: str, values: Array, *, size: float, lower: Array, unit: str) -> Scene3D:
    """Draw what is seen of a volume from the side that is cut away.

    Args:
        title: What it shows.
        values: A value for each voxel; where it is zero there is nothing, shape (x, y, z).
        size: Edge length of a voxel [m].
        lower: The least corner of the volume [m], shape (3,).
        unit: What the values are.
    """
    step = -(-max(values.shape) // MOST)
    coarse, size = _joined(values, step), size * step
    middle = [round(-low / size) for low in lower[:2]]
    # The camera stands at positive x and y.
    coarse[middle[0] :, middle[1] :] = 0.0
    padded = np.pad(coarse, 1)
    quads, shown = [], []
    for side, corners in _SIDES.items():
        beyond = np.roll(padded, [-s for s in side], axis=(0, 1, 2))[1:-1, 1:-1, 1:-1]
        seen = np.argwhere((coarse > 0) & (beyond <= 0))
        quads.append(seen[:, None, :] + np.array(corners))
        shown.append(coarse[tuple(seen.T)])
    points = np.concatenate(quads) * size + lower
    return Scene3D(title, colored_quads(points, np.concatenate(shown), unit=unit))


def _joined(values: Array, step: int) -> Array:
    """Give the mean of each block of voxels, those that hold nothing left out."""
    if step == 1:
        return np.array(values, dtype=np.float64)
    pad = [(0, -length % step) for length in values.shape]
    whole = np.pad(np.asarray(values, dtype=np.float64), pad)
    x, y, z = (length // step for length in whole.shape)
    blocks = whole.reshape(x, step, y, step, z, step)
    filled = (blocks > 0).sum(axis=(1, 3, 5))
    mean: Array = blocks.sum(axis=(1, 3, 5)) / np.maximum(filled, 1)
    # A block that is mostly empty would make the volume thicker than it is.
    return np.where(2 * filled >= step**3, mean, 0.0)
