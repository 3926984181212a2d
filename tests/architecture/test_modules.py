"""The shape of the source tree: small modules with names that explain themselves."""

from pathlib import Path
from statistics import median

SOURCE = Path(__file__).parents[2] / "src" / "kinetarium"
MODULES = sorted(SOURCE.rglob("*.py"))
LENGTHS = {module: len(module.read_text().splitlines()) for module in MODULES}


def test_modules_stay_small() -> None:
    assert {str(m) for m, length in LENGTHS.items() if length > 600} == set()
    assert median(length for m, length in LENGTHS.items() if m.name != "__init__.py") < 200


def test_names_explain_themselves() -> None:
    empty = {"utils.py", "util.py", "helpers.py", "helper.py", "common.py", "misc.py", "manager.py"}
    assert empty.isdisjoint(module.name for module in MODULES)
