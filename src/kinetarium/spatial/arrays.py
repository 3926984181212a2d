"""The array type of the package, and read-only arrays."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
"""An array of double-precision numbers."""


def frozen(values: ArrayLike) -> Array:
    """Copy values into a read-only float64 array."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array
