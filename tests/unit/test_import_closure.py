"""What code depends on, by its imports: all of it, and nothing else."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kinetarium import import_closure
from kinetarium.import_closure import file_closure, module_closure

FILES = {
    "__init__.py": "",
    "start.py": '''
"""A module."""
from typing import TYPE_CHECKING
import json
import numpy as np
from plugged import part
from plugged.deep.below import name
from . import beside
from .deep import *
if TYPE_CHECKING:
    from plugged.typed import Kind
def late():
    try:
        from plugged.late import work
    except ImportError:
        import scipy.spatial
''',
    "part.py": "",
    "beside.py": "from .deep.sideways import x",
    "typed.py": "",
    "late.py": "",
    "other.py": "",
    "deep/__init__.py": "",
    "deep/below.py": "from ..above import y",
    "deep/sideways.py": "",
    "above.py": "",
}


@pytest.fixture
def plugged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of another distribution."""
    folder = tmp_path / "plugged"
    (folder / "deep").mkdir(parents=True)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    sys.modules.pop("plugged", None)
    forget()


def forget() -> None:
    import_closure._node.cache_clear()
    import_closure._code.cache_clear()
    import_closure.file_closure.cache_clear()


def digest(folder: Path, name: str = "", text: str = "") -> str:
    if name:
        (folder / name).write_text(text)
    forget()
    return module_closure(["plugged.start"]).digest


def test_imports_are_followed_within_the_package(plugged: Path) -> None:
    closure = module_closure(["plugged.start"])
    names = ("start", "part", "beside", "late", "above", "deep/__init__", "deep/below")
    assert closure.files == {f"plugged/{name}.py" for name in (*names, "deep/sideways")}
    assert closure.packages == {"numpy", "scipy"}
    assert file_closure(plugged / "start.py") == closure


@pytest.mark.parametrize("name", ["part.py", "late.py", "above.py", "deep/__init__.py"])
def test_code_that_is_imported_counts(plugged: Path, name: str) -> None:
    before = digest(plugged)
    assert digest(plugged, name, "value = 3") != before
    assert digest(plugged, name, FILES[name]) == before


@pytest.mark.parametrize("name", ["other.py", "typed.py", "__init__.py"])
def test_other_code_does_not(plugged: Path, name: str) -> None:
    before = digest(plugged)
    assert digest(plugged, name, "value = 3") == before


def test_words_do_not_count(plugged: Path) -> None:
    plain = digest(plugged, "part.py", "x = 1\ndef f():\n    return 2\n")
    said = (
        '"""A part."""\nx = 1  # of it\n"""How much."""\ndef f():\n    """Two."""\n    return 2\n'
    )
    assert digest(plugged, "part.py", said) == plain
    assert digest(plugged, "part.py", said.replace("x = 1", 'x = """A part."""')) != plain


def test_a_file_that_is_not_python_counts_as_it_is(plugged: Path) -> None:
    assert digest(plugged, "part.py", "def (") != digest(plugged, "part.py", "def [")


def test_modules_beside_each_other_without_a_package(tmp_path: Path) -> None:
    (tmp_path / "first.py").write_text("from second import x\nimport numpy")
    (tmp_path / "second.py").write_text("import third")
    (tmp_path / "third.py").write_text("")
    (tmp_path / "numpy").mkdir()  # as where other packages are installed
    (tmp_path / "numpy" / "__init__.py").write_text("")
    closure = file_closure(tmp_path / "first.py")
    assert closure.files == {"first.py", "second.py", "third.py"}
    assert closure.packages == {"numpy"}


def test_a_lazy_export_leads_to_where_it_comes_from(plugged: Path) -> None:
    (plugged / "start.py").write_text("from kinetarium.study import Channel")
    files = module_closure(["plugged.start"]).files
    assert "kinetarium/recording/recording.py" in files
    assert not any("ranges" in name or "check_study" in name for name in files)
    (plugged / "start.py").write_text("import kinetarium.study")
    forget()
    files = module_closure(["plugged.start"]).files
    assert "kinetarium/batch/check_study.py" in files and "kinetarium/study.py" in files


def test_a_module_without_source_has_no_closure() -> None:
    assert module_closure(["sys", "a_module_that_is_not_there"]).files == set()
