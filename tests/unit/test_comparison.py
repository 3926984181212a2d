"""Which rows of two folders belong together, and how far they are apart."""

from pathlib import Path
from typing import Any

import pytest

from kinetarium.batch.comparison import ComparisonError, compare
from kinetarium.recording.recording import Row, Run, RunStatus
from kinetarium.recording.result_folder import ResultFolder


def folder(
    path: Path, rows: list[tuple[Row, list[Row]]], *, study: str = "drop", version: str = "1"
) -> ResultFolder:
    made = ResultFolder.create(
        path, config={"study": study}, environment={"versions": {"mujoco": version}}
    )
    with made:
        for position, (case, results) in enumerate(rows):
            run = Run(f"key-{position}", study, case, RunStatus.COMPLETED, "", tuple(results))
            made.add(run, position)
    return made


def row(engine: str, dt: float, **results: Any) -> tuple[Row, list[Row]]:
    return {"engine": engine, "dt": dt}, [results]


def test_equal_folders(tmp_path: Path) -> None:
    rows = [row("mujoco", 0.1, error=1.0), row("ode", 0.1, error=None)]
    comparison = compare(folder(tmp_path / "a", rows), folder(tmp_path / "b", rows[::-1]))
    assert comparison.equal and comparison.pairs == 2 and comparison.settings == ()


def test_the_largest_difference_is_found_and_named(tmp_path: Path) -> None:
    a = [row("mujoco", 0.1, error=1.0, kind="x"), row("ode", 0.1, error=4.0, kind="x")]
    b = [row("mujoco", 0.1, error=1.5, kind="x"), row("ode", 0.1, error=2.0, kind="x")]
    comparison = compare(folder(tmp_path / "a", a), folder(tmp_path / "b", b))
    error = next(d for d in comparison.differences if d.column == "error")
    assert (error.differing, error.largest, error.relative, error.values) == (
        2,
        2.0,
        0.5,
        (4.0, 2.0),
    )
    assert "engine ode" in error.where
    assert not comparison.equal


def test_a_setting_that_differs_as_a_whole_is_set_aside(tmp_path: Path) -> None:
    a = folder(tmp_path / "a", [row("mujoco", 0.1, error=1.0)], version="1")
    b = folder(
        tmp_path / "b", [row("mujoco", 0.2, error=1.0), row("ode", 0.2, error=1.0)], version="2"
    )
    comparison = compare(a, b)
    assert comparison.settings == (("dt", "0.1", "0.2"),)
    assert comparison.versions == (("mujoco", "1", "2"),)
    assert (comparison.pairs, comparison.only_first, comparison.only_second) == (1, 0, 1)


def test_a_tolerance_makes_close_numbers_equal(tmp_path: Path) -> None:
    a = folder(tmp_path / "a", [row("mujoco", 0.1, error=1.0)])
    b = folder(tmp_path / "b", [row("mujoco", 0.1, error=1.0 + 1e-9)])
    assert not compare(a, b).equal
    assert compare(a, b, tolerance=1e-6).equal


def test_several_rows_of_a_case_are_told_apart(tmp_path: Path) -> None:
    case = {"robot": "panda"}
    a = folder(tmp_path / "a", [(case, [{"quantity": "M", "e": 1.0}, {"quantity": "g", "e": 2.0}])])
    b = folder(tmp_path / "b", [(case, [{"quantity": "M", "e": 1.0}, {"quantity": "g", "e": 3.0}])])
    comparison = compare(a, b)
    (difference,) = [d for d in comparison.differences if d.differing]
    assert difference.column == "e" and "g" in difference.where.split(", ")


def test_different_studies_have_nothing_in_common(tmp_path: Path) -> None:
    a, b = folder(tmp_path / "a", []), folder(tmp_path / "b", [], study="roll")
    with pytest.raises(ComparisonError, match=r"'drop'.*'roll'"):
        compare(a, b)
