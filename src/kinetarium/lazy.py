"""Lazy exports: public names of a package that are imported when first used.

A package lists its public names once, as imports that type checkers read, and `lazy_exports`
reads at run time:

    if TYPE_CHECKING:
        from kinetarium.reach.ik.solve import solve_ik as solve_ik
    else:
        __all__, __getattr__, __dir__ = lazy_exports(__name__)

`import kinetarium` stays light that way, `dir()` shows what is public and nothing else, and
types stay exact: to a type checker there is no `__getattr__` that would accept any name.
"""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

Exports = tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]


def lazy_exports(package: str) -> Exports:
    """Return `__all__` and the functions `__getattr__` and `__dir__` of a module (PEP 562).

    Args:
        package: Its name; it is being imported.
    """
    module = sys.modules[package]
    with open(str(module.__file__), encoding="utf-8") as file:
        homes = _homes(file.read(), package)

    def get_attribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(homes[name])
        value = home if homes[name] == f"{package}.{name}" else getattr(home, name)
        setattr(module, name, value)
        return value

    return list(homes), get_attribute, lambda: sorted(homes)


def _homes(source: str, package: str) -> dict[str, str]:
    """Return the module of each name that is imported for type checkers."""
    branches = (node for node in ast.parse(source).body if isinstance(node, ast.If))
    imports = (node for branch in branches for node in branch.body)
    return {
        alias.name: f"{package}.{alias.name}" if node.module == package else node.module
        for node in imports
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
