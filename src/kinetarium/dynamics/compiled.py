"""compiled: marks a function of plain arrays as a kernel for Numba.

Modules that use it load Numba, which takes more than a second; they are
imported where a kernel is first called.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numba

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def compiled(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile a function at its first call and keep the machine code for later runs.

    It runs without Python's lock, so that threads may share the work.
    """
    kernel: Callable[Parameters, Result] = numba.njit(cache=True, nogil=True)(function)
    return kernel
