"""Lazy exports: a package offers names that are imported when they are first used.

`import kinetarium` stays light that way, and `dir()` still shows everything that is public.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the functions `__getattr__` and `__dir__` of a package (PEP 562).

    Args:
        package: Its name.
        homes: The module of each public name; a sub-package is its own home.
    """

    def get_attribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(homes[name])
        return home if homes[name] == f"{package}.{name}" else getattr(home, name)

    def list_names() -> list[str]:
        return sorted(homes)

    return get_attribute, list_names
