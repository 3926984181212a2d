"""Where a body is touched, from the wrench alone.

A pure force f through a point p has the moment m = p x f, which leaves p free along f:
the point of that line nearest to the origin is f x m/|f|^2. Where the line meets a known
face is the place of contact, or the centre of pressure if there are several.
"""

import numpy as np

from kinetarium.spatial.arrays import Array


def contact_point(F_B: Array, *, face: float) -> Array:
    """Give the point on the face x = `face` through which a force acts [m], shape (3,).

    Args:
        F_B: Wrench on the body, in its frame [N, N m], shape (6,).
        face: Where the face is along x of that frame [m].

    Returns:
        The point, in the body's frame; NaN where the force does not cross the face.
    """
    f, m = F_B[:3], F_B[3:]
    if f[0] == 0:
        return np.full(3, np.nan)
    nearest = np.cross(f, m) / (f @ f)
    return np.asarray(nearest + (face - nearest[0]) / f[0] * f)
