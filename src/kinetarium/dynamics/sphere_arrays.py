"""The plain arrays that the sphere kernels and their reference work on."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.spatial.arrays import Array


class SphereArrays(NamedTuple):
    """The spheres of a robot, link by link.

    Attributes:
        starts: First sphere of each link, and the end, shape (links + 1,).
        centers: Centres in the link frames [m], shape (n, 3).
        radii: Radii [m], shape (n,).
        bound_centers: Centres of a sphere around all those of a link [m], shape (links, 3).
        bound_radii: Its radii [m], shape (links,).
        pairs: Indices of the pairs of links to be checked, shape (pairs, 2).
        grounded: Whether a link may stand on the ground, shape (links,).
    """

    starts: NDArray[np.int64]
    centers: Array
    radii: Array
    bound_centers: Array
    bound_radii: Array
    pairs: NDArray[np.int64]
    grounded: NDArray[np.bool_]


class ObstacleArrays(NamedTuple):
    """What stands around a robot.

    Attributes:
        ground: Height of the ground [m], minus infinity for none.
        centers: Centres of spheres in the world [m], shape (n, 3).
        radii: Their radii [m], shape (n,).
        boxes: Poses X_WO of boxes, shape (m, 4, 4).
        halves: Half their edge lengths [m], shape (m, 3).
    """

    ground: float
    centers: Array
    radii: Array
    boxes: Array
    halves: Array
