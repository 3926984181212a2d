"""The source tree as the architecture tests read it: modules, imports, public names."""

import ast
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from kinetarium.plugins import discover

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "kinetarium"
FILES = sorted(SOURCE.rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {module_name(path): path for path in FILES}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> set[str]:
    """Return what a file imports, within functions too: its own modules in full, others by name."""
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in NAMES else node.module)
    return found


@cache
def import_graph() -> dict[str, set[str]]:
    return {name: (imported(path) & NAMES.keys()) - {name} for name, path in NAMES.items()}


@cache
def public_modules() -> dict[str, ModuleType]:
    """Return what the front door leads to, and the packages of our engines, by name."""
    engines = [plugin.module for plugin in discover("kinetarium.engines").values() if plugin.own]
    found: dict[str, ModuleType] = {}
    ahead = ["kinetarium", *engines]
    while ahead:
        module = import_module(ahead.pop())
        found[module.__name__] = module
        offered = (getattr(module, name) for name in module.__all__)
        ahead += [each.__name__ for each in offered if isinstance(each, ModuleType)]
    return found
