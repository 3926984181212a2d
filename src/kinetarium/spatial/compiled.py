"""compiled: marks a function of arrays and numbers as a Numba kernel.

Modules that use it load Numba, which takes more than a second; they are
imported where a kernel is first called.
"""

from ast import (
    ClassDef,
    FunctionDef,
    Import,
    ImportFrom,
    Module,
    dump,
    get_docstring,
    parse,
    walk,
)
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, ParamSpec, TypeVar

import numba
from numba.core import caching

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_one_at_a_time = Lock()


def compiled(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile a function at its first call and cache the machine code on disk.

    It runs without the global interpreter lock, so that threads can run it in parallel.
    """
    with _watched_sources():
        kernel: Any = numba.njit(cache=True, nogil=True)(function)
    # An index of other sources is dropped unread: it may name classes that are no longer there.
    index = kernel._cache._cache_file
    index._version = index._version, index._source_stamp
    result: Callable[Parameters, Result] = kernel
    return result


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


@cache
def _source_stamp(file: Path) -> str:
    """Digest the code of a module and of all modules that it imports from its own package.

    Comments and docstrings do not count. Other libraries are covered by their versions,
    which Numba checks itself.
    """
    root = file.parent
    while (root / "__init__.py").exists():
        root = root.parent
    digest, waiting, seen = sha256(), [file], {file}
    while waiting:
        tree = parse(waiting.pop().read_bytes())
        digest.update(_code_of(tree).encode())
        for path in _imported(tree, root):
            if path not in seen:
                seen.add(path)
                waiting.append(path)
    return digest.hexdigest()


def _imported(tree: Module, root: Path) -> list[Path]:
    """Find the files below a folder that a module imports, in the order of the imports."""
    names: list[str] = []
    for node in walk(tree):
        if isinstance(node, Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ImportFrom) and node.module and not node.level:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    places = (root.joinpath(*name.split(".")) for name in names)
    files = (file for place in places for file in (place.with_suffix(".py"), place / "__init__.py"))
    return [file for file in files if file.is_file()]


def _code_of(tree: Module) -> str:
    for node in walk(tree):
        if isinstance(node, Module | ClassDef | FunctionDef) and get_docstring(node) is not None:
            node.body = node.body[1:]
    return dump(tree)


class _Stamped:
    _py_file: str

    def get_source_stamp(self) -> str:
        return _source_stamp(Path(self._py_file))


class ChosenCache(_Stamped, caching.UserProvidedCacheLocator):  # type: ignore[misc]
    """A folder that the user has chosen (NUMBA_CACHE_DIR)."""


class CacheInTree(_Stamped, caching.InTreeCacheLocator):  # type: ignore[misc]
    """Python's `__pycache__` beside the source."""


class CacheOfUser(_Stamped, caching.UserWideCacheLocator):  # type: ignore[misc]
    """The user's cache folder, where the source folder is read-only."""
