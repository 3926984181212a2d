"""The comparison of engines in one command, and what it concludes."""

from math import inf
from pathlib import Path
from typing import Any

from kinetarium.cli.commands import compare_engines
from kinetarium.studies.engine_guide.page import purpose_table


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
    assert cells[3:] == ("4 %", "1 %", "20 % (no)", "fails")


def test_nothing_meets_the_rule() -> None:
    (cells,) = purpose_table({"grasp": [grasp("a", 1.0, held=False)]}, ["a"]).rows
    assert cells[2:] == ("none", "fails")


def cells_of(rows: dict[str, list[dict[str, Any]]], purpose: str) -> tuple[Any, ...]:
    engines = sorted({row["engine"] for part in rows.values() for row in part})
    return next(row[2:] for row in purpose_table(rows, engines).rows if row[0] == purpose)


def test_a_fast_grip_is_the_cheapest_that_is_good_enough() -> None:
    rows = [
        {**grasp("a", 1.5), "cost": 0.1},
        {**grasp("a", 1.01), "cost": 0.4},
        {**grasp("b", 1.02), "cost": 0.5},
        {**grasp("c", 1.02), "cost": 3.0},
        {**grasp("d", 1.0, held=False), "cost": 0.1},
    ]
    cells = cells_of({"grasp-effort": rows}, "a fast grip")
    assert cells == ("a", "0.4 s/s", "0.5 s/s", "3 s/s (no)", "fails")


def test_a_grip_is_lost_where_friction_ends_and_nowhere_else() -> None:
    def run(engine: str, friction: float, *, held: bool) -> dict[str, Any]:
        return {**grasp(engine, 1.0, held=held), "friction": friction, "slip_m": 1e-4}

    rows = [
        run("good", 0.03, held=False), run("good", 0.3, held=True),
        run("sticky", 0.03, held=True), run("sticky", 0.3, held=True),
        run("weak", 0.03, held=False), run("weak", 0.3, held=False),
    ]  # fmt: skip
    cells = cells_of({"grasp-friction": rows}, "a grip on any friction")
    assert cells == ("good", "0.1 mm", "fails", "fails")


def test_skidding_is_judged_by_the_ideal_drive() -> None:
    def run(engine: str, off: float, cost: float) -> dict[str, Any]:
        return {"engine": engine, "status": "completed", "yaw_off": off, "cost": cost}

    rows = [run("a", -0.03, 0.2), run("a", 0.2, 0.1), run("b", 0.04, 0.1), run("c", inf, 0.1)]
    cells = cells_of({"drive-effort": rows}, "skidding fast")
    assert cells == ("b", "0.2 s/s", "0.1 s/s", "fails")
    cells = cells_of({"drive-friction": rows}, "skidding on any friction")
    assert cells == ("b", "20 % (no)", "4 %", "fails")


def test_every_part_of_the_whole_comparison_has_cases() -> None:
    plans = compare_engines._plans(compare_engines.Config(engine=("mujoco",), starts=5))
    counts = {name: len(plan.tasks()) for name, plan in plans.items()}
    assert counts == {
        "grasp": 3 * (3 * 5 + 1),
        "grasp-effort": 3 * 4,
        "grasp-friction": 6,
        "drive": 2 * 2 * 3 * 5,
        "drive-profiles": 2 * 2 * 3,
        "drive-effort": 4 * 4,
        "drive-friction": 4,
        "calibrate": 4 * 3,
    }


def test_grips_and_skids_are_judged_by_coulombs_law() -> None:
    def release(engine: str, grip: float | None) -> dict[str, Any]:
        row = {**grasp(engine, 1.0), "path": "release", "friction": 0.8}
        return {**row, "sliding_grip_n": grip}

    rows = [release("a", 1.0 * 9.81 / (2 * 0.8)), release("b", 7.0), release("c", None)]
    cells = cells_of({"grasp": rows}, "when a grip slides")
    assert cells == ("a", "0 %", "14.2 % (no)", "fails")

    def turn(engine: str, multiplier: float | None) -> dict[str, Any]:
        row = {"engine": engine, "status": "completed", "v": 0, "coulomb": 1.54}
        return {**row, "track_multiplier": multiplier}

    rows = [turn("a", 1.54), turn("b", 2.0), turn("c", 1.54), turn("c", None)]
    cells = cells_of({"calibrate": rows}, "skidding in place")
    assert cells == ("a", "0 %", "29.9 % (no)", "fails")
