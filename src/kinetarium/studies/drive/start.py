"""Where a run starts: at the origin, or a little beside it."""

from math import radians

import numpy as np

from kinetarium.control.driving_law import Placement

_ASIDE = 2e-3
"""Largest displacement along x and y [m]."""
_TURNED = radians(2.0)
"""Largest displacement of the heading [rad]."""


def start_placement(start: int, *, seed: int) -> Placement:
    """Give the placement of a start; the same numbers in every engine.

    Args:
        start: Number of the start; number 0 is the origin, heading along x.
        seed: Seed of the displacements.
    """
    if start == 0:
        return Placement(0.0, 0.0, 0.0)
    x, y, turn = np.random.default_rng((seed, start)).uniform(-1.0, 1.0, 3).tolist()
    return Placement(_ASIDE * x, _ASIDE * y, _TURNED * turn)
