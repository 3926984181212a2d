"""VoxelGrid: a cube of equal voxels around the origin of a frame."""

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetarium.errors import KinetariumError
from kinetarium.spatial.arrays import Array

MOST_PER_AXIS = 500
"""Greatest number of voxels along an axis, so that a typing error cannot exhaust the memory."""


@dataclass(frozen=True, slots=True)
class VoxelGrid:
    """Voxels in the order x, y, z; the centre of one of them is the origin.

    Attributes:
        count: Voxels along each axis, an odd number.
        size: Edge length of a voxel [m].
    """

    count: int
    size: float

    @property
    def lower(self) -> float:
        """The least coordinate inside, along every axis [m]."""
        return -self.count * self.size / 2

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape of an array with one value per voxel."""
        return self.count, self.count, self.count

    @property
    def axis(self) -> Array:
        """The coordinates of the voxels' centres along an axis [m], shape (count,)."""
        return np.asarray((np.arange(self.count) - self.count // 2) * self.size)

    def centers(self, voxels: NDArray[np.int64]) -> Array:
        """Return the centres [m], shape (n, 3), of voxels by their number, shape (n,)."""
        return self.axis[np.stack(np.unravel_index(voxels, self.shape), axis=-1)]

    def indices(self, points: ArrayLike) -> NDArray[np.int64]:
        """Return the voxels that contain points.

        Args:
            points: Coordinates [m], shape (..., 3).

        Returns:
            Indices along the axes, shape (..., 3); outside the cube they are
            negative or at least `count`.
        """
        steps = (np.asarray(points, dtype=np.float64) - self.lower) * (1.0 / self.size)
        return np.floor(steps).astype(np.int64)


def voxel_grid(size: float, *, radius: float) -> VoxelGrid:
    """Return the smallest grid whose outermost voxels contain the radius along each axis.

    With 0.03 m and 1 m these are the 67^3 = 300,763 voxels of the paper.

    Args:
        size: Edge length of a voxel [m].
        radius: Radius that the grid must cover [m].

    Raises:
        KinetariumError: If there are too many voxels, or the size is invalid.
    """
    if not 0.0 < size <= radius:
        raise KinetariumError(f"a voxel of {size:g} m is invalid for a radius of {radius:g} m")
    # The tolerance keeps a radius that is a whole number of voxels from being rounded up.
    count = 2 * ceil(radius / size - 0.5 - 1e-9) + 1
    if count > MOST_PER_AXIS:
        raise KinetariumError(
            f"voxels of {size:g} m over a radius of {radius:g} m make {count} along an axis, "
            f"more than {MOST_PER_AXIS}: choose larger ones"
        )
    return VoxelGrid(count, size)
