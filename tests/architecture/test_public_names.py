"""The front door: every public name is offered once, resolves, and is documented."""

import ast
import doctest
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import kinetarium
from source_tree import FILES, NAMES, ROOT, SOURCE, public_modules, tree

GATHERED = {"kinetarium", "kinetarium.study"}
"""Offer names of other packages, too: the first to every user, the second to authors of studies."""
IMPORT = re.compile(r"\bfrom (kinetarium[\w.]*) import (\([^)]*\)|[^\n;#'\"`]+)")
NAMED = [name for name in kinetarium.__all__ if f"kinetarium.{name}" not in NAMES]
READERS = [
    *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *SOURCE.rglob("*.md"),
    *(ROOT / "examples").glob("*.py"),
]  # fmt: skip


@pytest.mark.parametrize("name", public_modules())
def test_a_package_shows_its_public_names_and_nothing_else(name: str) -> None:
    module = public_modules()[name]
    assert module.__doc__
    assert len(set(module.__all__)) == len(module.__all__)
    for each in module.__all__:
        assert hasattr(module, each), each
    if hasattr(module, "__path__"):
        assert dir(module) == sorted(module.__all__)
        # Importing a module sets it as an attribute of its package, over a name of its own.
        parts = {Path(n.removeprefix(f"{name}.").replace(".", "/")).parts[0] for n in NAMES}
        offered = {n for n in module.__all__ if not isinstance(getattr(module, n), ModuleType)}
        assert not offered & {p for p in parts if f"{name}.{p}" in NAMES}


def test_a_public_name_has_one_import_path() -> None:
    places: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, module in public_modules().items():
        if name not in GATHERED and not name.startswith("kinetarium.spatial.s"):
            for each in module.__all__:
                places[each][name] = getattr(module, each)
    several = {each: sorted(found) for each, found in places.items() if len(found) > 1}
    assert several == {"Solver": ["kinetarium.engines.mujoco", "kinetarium.engines.physx"]}
    for gathered in GATHERED:
        for each in public_modules()[gathered].__all__:
            offered = getattr(public_modules()[gathered], each)
            assert all(offered is value for value in places[each].values()), each


@pytest.mark.parametrize("name", public_modules())
def test_public_names_are_documented(name: str) -> None:
    module = public_modules()[name]
    assert [each for each in module.__all__ if not documented(name, each)] == []


def documented(home: str, name: str) -> bool:
    """Whether a name has a docstring where it is defined, and not an inherited one."""
    if f"{home}.{name}" in NAMES:
        return bool(ast.get_docstring(tree(NAMES[f"{home}.{name}"])))
    statements = [
        part
        for node in tree(NAMES[home]).body
        for part in (node.body if isinstance(node, ast.If) else [node])
    ]
    for i, node in enumerate(statements):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            return bool(ast.get_docstring(node))
        if isinstance(node, ast.ImportFrom) and node.module in NAMES:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return documented(node.module, alias.name)
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            after = statements[i + 1] if i + 1 < len(statements) else None
            return isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
    return False


@pytest.mark.engine
@pytest.mark.parametrize("name", NAMED)
def test_the_front_door_is_shown_by_examples(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every function and class of the front door has an example, which runs as it stands."""
    monkeypatch.chdir(tmp_path)
    text = getattr(kinetarium, name).__doc__
    example = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


def test_packages_say_what_they_offer() -> None:
    """A package that is more than its docstring has an `__all__`."""
    silent = []
    for path in FILES:
        if path.name == "__init__.py":
            text = path.read_text(encoding="utf-8")
            assert ast.get_docstring(tree(path)), path
            if len(tree(path).body) > 1 and "__all__" not in text:
                silent.append(str(path))
    assert silent == []


@pytest.mark.parametrize("path", READERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_docs_and_examples_import_public_names(path: Path) -> None:
    public = public_modules()
    for module, names in IMPORT.findall(path.read_text(encoding="utf-8")):
        assert module in public, f"{module} is not public"
        for name in re.split(r"[\s,()]+", names.strip(" \n()")):
            if name:
                assert name in public[module].__all__, f"{module} offers no {name}"


def test_importing_loads_nothing_heavy() -> None:
    """Light imports are fast; a time would measure the machine."""
    code = "import sys, kinetarium; dir(kinetarium); print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


def test_the_module_is_the_command() -> None:
    words = [sys.executable, "-m", "kinetarium", "--version"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == f"kinetarium {kinetarium.__version__}\n"
