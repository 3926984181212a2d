"""The comparison of engines in one command, and what it concludes."""

from pathlib import Path
from typing import Any

from kinetarium.report.engine_guide import purpose_table


def test_a_quick_comparison(call: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("compare-engines", "--quick", "--engine", "mujoco", "--workers", "0", "--out", out)
    done = call(*words, "--json", "-")
    assert done.code == 0, done.err
    assert set(done.json["studies"]) == {"grasp", "drive"}
    assert all(row["held"] for row in done.json["studies"]["grasp"]["rows"])
    assert "Which engine for what" in (out / "report.html").read_text()
    runs = {path: path.stat().st_mtime_ns for path in out.glob("*/runs/*")}
    assert call(*words).code == 0
    assert {path: path.stat().st_mtime_ns for path in out.glob("*/runs/*")} == runs


def grasp(engine: str, variance: float | None, *, held: bool = True) -> dict[str, Any]:
    return {
        "engine": engine, "profile": "matched", "path": "circle", "held": held,
        "moving_variance_n2": variance, "ideal_variance_n2": 1.0, "status": "completed",
    }  # fmt: skip


def test_the_best_of_those_that_meet_the_rule_comes_first() -> None:
    rows = {"grasp": [grasp("a", 1.04), grasp("b", 0.99), grasp("c", 1.2), grasp("d", None)]}
    table = purpose_table(rows, ["a", "b", "c", "d"])
    (cells,) = table.rows
    assert cells[0] == "forces in a grip" and cells[2] == "b"
    assert cells[3:] == ("4 %", "1 %", "20 % (no)", "lost (no)")


def test_nothing_meets_the_rule() -> None:
    (cells,) = purpose_table({"grasp": [grasp("a", 1.0, held=False)]}, ["a"]).rows
    assert cells[2:] == ("none", "lost (no)")
