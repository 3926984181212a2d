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


@cache
def imported(path: Path) -> frozenset[str]:
    """Return what a file imports, within functions too; our modules in full."""
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in NAMES else node.module)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            if ast.unparse(node.func).endswith("import_module"):
                found.add(node.args[0].value)
    return frozenset(found)


@cache
def import_graph() -> dict[str, frozenset[str]]:
    return {name: (imported(path) & NAMES.keys()) - {name} for name, path in NAMES.items()}


def plugin_packages(group: str) -> list[str]:
    """Return the packages of our own plug-ins, such as "kinetarium.engines.mujoco"."""
    return sorted({plugin.module for plugin in discover(group).values() if plugin.own})


@cache
def public_modules() -> dict[str, ModuleType]:
    """Return by name what the front door leads to, and the packages of our engines."""
    found: dict[str, ModuleType] = {}
    ahead = ["kinetarium", *plugin_packages("kinetarium.engines")]
    while ahead:
        module = import_module(ahead.pop())
        found[module.__name__] = module
        offered = (getattr(module, name) for name in module.__all__)
        ahead += [each.__name__ for each in offered if isinstance(each, ModuleType)]
    return found
