"""compiled: marks a function of plain arrays as a kernel for Numba.

Modules that use it load Numba, which takes more than a second; they are
imported where a kernel is first called.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import ParamSpec, TypeVar

import numba
from numba.core import caching

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

KERNEL_FOLDERS = ("control", "dynamics", "legs", "reach", "spatial", "studies/dock")
"""Where kernels are, and what is compiled into them."""

_one_at_a_time = Lock()


def compiled(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile a function at its first call and keep the machine code for later runs.

    It runs without Python's lock, so that threads may share the work.
    """
    with _watched_sources():
        kernel: Callable[Parameters, Result] = numba.njit(cache=True, nogil=True)(function)
    return kernel


@contextmanager
def _watched_sources() -> Iterator[None]:
    """Keep machine code only until any source of kernels changes.

    Numba looks at a kernel's own file; but the kernels that it calls and the
    constants that it reads are compiled into it, too.
    """
    with _one_at_a_time:
        before = numba.config.CACHE_LOCATOR_CLASSES
        numba.config.CACHE_LOCATOR_CLASSES = ",".join(
            f"{__name__}.{locator.__name__}" for locator in (ChosenCache, CacheInTree, CacheOfUser)
        )
        try:
            yield
        finally:
            numba.config.CACHE_LOCATOR_CLASSES = before


@cache
def _source_stamp() -> str:
    package, digest = Path(__file__).parents[1], sha256()
    for folder in KERNEL_FOLDERS:
        for file in sorted((package / folder).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()


class _Stamped:
    def get_source_stamp(self) -> str:
        return _source_stamp()


class ChosenCache(_Stamped, caching.UserProvidedCacheLocator):  # type: ignore[misc]
    """A folder that the user has chosen (NUMBA_CACHE_DIR)."""


class CacheInTree(_Stamped, caching.InTreeCacheLocator):  # type: ignore[misc]
    """The folder of Python's own machine code, beside the source."""


class CacheOfUser(_Stamped, caching.UserWideCacheLocator):  # type: ignore[misc]
    """A folder of the user's, where the source cannot be written to."""
