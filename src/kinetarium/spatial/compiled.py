"""compiled: marks a function of arrays and numbers as a Numba kernel.

Modules that use it load Numba, which takes more than a second; they are
imported where a kernel is first called.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, ParamSpec, TypeVar

import numba
from numba.core import caching
from numba.np import linalg

from kinetarium.import_closure import file_closure

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_one_at_a_time = Lock()


def _import_blas_when_needed() -> None:
    """Let Numba import SciPy's BLAS for the kernels that use it, not before the first of all.

    Numba imports it only to find out whether it is there, which takes 0.2 s; we require SciPy.
    """
    ensure = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = ensure


_import_blas_when_needed()


def compiled(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile a function at its first call and cache the machine code on disk.

    It runs without the global interpreter lock, so that threads can run it in parallel.
    """
    kernel: Any = numba.njit(nogil=True)(function)
    kernel._cache = _LateCache(function)
    result: Callable[Parameters, Result] = kernel
    return result


class _LateCache(caching.FunctionCache):  # type: ignore[misc]
    """The cache of a kernel, which is opened when the kernel is first called.

    Most kernels are only called by others, whose machine code contains theirs; opening the
    caches of all takes longer than a query.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        self._py_func, self._name = function, repr(function)
        self.enable()

    def __getattr__(self, name: str) -> Any:
        if name not in ("_impl", "_cache_path", "_cache_file"):
            raise AttributeError(name)
        with _watched_sources():
            super().__init__(self._py_func)
        # An index of other sources is dropped unread: it may name classes that are no longer there.
        index = self._cache_file
        index._version = index._version, index._source_stamp
        return getattr(self, name)


@contextmanager
def _watched_sources() -> Iterator[None]:
    """Invalidate cached machine code when any source compiled into it changes.

    Numba checks a kernel's own file only; but the kernels that it calls and the
    constants that it reads are compiled into it as well.
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


class _Stamped:
    _py_file: str

    def get_source_stamp(self) -> str:
        return file_closure(Path(self._py_file)).digest


class ChosenCache(_Stamped, caching.UserProvidedCacheLocator):  # type: ignore[misc]
    """A folder that the user has chosen (NUMBA_CACHE_DIR)."""


class CacheInTree(_Stamped, caching.InTreeCacheLocator):  # type: ignore[misc]
    """Python's `__pycache__` beside the source."""


class CacheOfUser(_Stamped, caching.UserWideCacheLocator):  # type: ignore[misc]
    """The user's cache folder, where the source folder is read-only."""
