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
from typing import Any, TypeGuard

Exports = tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]


def lazy_exports(package: str) -> Exports:
    """Return `__all__` and the functions `__getattr__` and `__dir__` of a module (PEP 562).

    Args:
        package: Its name; it is being imported.
    """
    module = sys.modules[package]
    with open(str(module.__file__), encoding="utf-8") as file:
        homes = lazy_names(ast.parse(file.read()))

    def get_attribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if homes[name] == package:
            value = import_module(f"{package}.{name}")
        else:
            value = getattr(import_module(homes[name]), name)
        setattr(module, name, value)
        return value

    return list(homes), get_attribute, lambda: sorted(homes)


def lazy_names(tree: ast.Module) -> dict[str, str]:
    """Return the names that a module exports lazily, each with the module it is imported from."""
    branches = (node for node in tree.body if is_for_type_checkers(node) and node.orelse)
    return {
        alias.name: node.module
        for branch in branches
        for node in branch.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def is_for_type_checkers(node: ast.AST) -> TypeGuard[ast.If]:
    """Return whether a statement is `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
