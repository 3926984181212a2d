"""The array type of the package and arrays that cannot be written to."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
"""An array of double-precision numbers."""


def frozen(values: ArrayLike) -> Array:
    """Copy values into a float64 array that refuses to be written to."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array
