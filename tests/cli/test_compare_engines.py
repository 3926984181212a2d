"""The comparison of engines in one command, and what it concludes."""

from pathlib import Path
from typing import Any

from kinetarium.cli.commands import compare_engines


def test_a_quick_comparison(call: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = (
        *("compare-engines", "--quick", "--engine", "mujoco", "--starts", "1"),
        *("--workers", "0", "--out", out),
    )
    done = call(*words, "--json", "-")
    assert done.code == 0, done.err
    assert set(done.json["studies"]) == {"grasp", "slide", "drive"}
    assert done.json["verdicts"][0]["first"] == ["mujoco"]
    assert "First choice" in done.json["conclusion"]
    assert all(row["held"] for row in done.json["studies"]["grasp"]["rows"])
    assert "Which engine for what" in (out / "report.html").read_text()
    runs = {path: path.stat().st_mtime_ns for path in out.glob("*/runs/*")}
    assert call(*words).code == 0
    assert {path: path.stat().st_mtime_ns for path in out.glob("*/runs/*")} == runs


def test_every_part_of_the_whole_comparison_has_cases() -> None:
    plans, left_out = compare_engines._plans(compare_engines.Config(engine=("mujoco",), starts=5))
    counts = {name: len(plan.tasks()) for name, (_, plan) in plans.items()}
    assert left_out == {}
    assert counts == {
        "grasp": 3 * 3 * 5,
        "grasp-release": 5,
        "grasp-effort": 3 * 4,
        "grasp-friction": 6 * 3,
        "slide": 2 * 2 * 5,
        "drive": 2 * 3 * 5,
        "drive-two": 3 * 5,
        "drive-profiles": 2 * 3 * 3,
        "drive-effort": 4 * 4,
        "drive-friction": 4 * 3,
        "calibrate": 4 * 3,
    }


def test_no_part_has_more_starts_than_asked_for() -> None:
    plans, _ = compare_engines._plans(compare_engines.Config(engine=("mujoco",), starts=1))
    assert {task.case.get("start", 0) for _, plan in plans.values() for task in plan.tasks()} == {0}


def test_repetitions_have_other_seeds_and_their_own_folders() -> None:
    config = compare_engines.Config(engine=("mujoco",), quick=True, seed=7, repeat=2)
    plans, _ = compare_engines._plans(config)
    assert [*plans][3:] == ["grasp-seed-8", "slide-seed-8", "drive-seed-8"]
    seeds = {
        name: {task.case["seed"] for task in plan.tasks()} for name, (_, plan) in plans.items()
    }
    assert seeds["drive"] == {7} and seeds["drive-seed-8"] == {8}


def test_repetitions_have_what_a_rule_judges_and_a_seed_changes() -> None:
    config = compare_engines.Config(engine=("mujoco",), repeat=2)
    plans, _ = compare_engines._plans(config)
    repeated = {part: plan for name, (part, plan) in plans.items() if name.endswith("-seed-1")}
    assert not {"grasp-effort", "drive-effort", "calibrate"} & repeated.keys()
    profiles = {task.case["profile"] for plan in repeated.values() for task in plan.tasks()}
    assert profiles == {"matched", "defaults"}
    for name, (part, plan) in plans.items():
        displaced = any(task.case.get("start") for task in plan.tasks())
        assert displaced is (part in repeated), name


def test_a_robot_that_cannot_grasp_leaves_grasping_out_with_the_reason() -> None:
    config = compare_engines.Config(engine=("mujoco",), quick=True, robot=("husky4",))
    plans, left_out = compare_engines._plans(config)
    assert set(plans) == {"slide", "drive"} and set(left_out) == {"grasp"}
    assert "\n" not in left_out["grasp"] and left_out["grasp"]


def test_a_missing_robot_is_one_line(call: Any, tmp_path: Path) -> None:
    robots = ("--robot", "husky4", "no-such-robot")
    done = call("compare-engines", "--quick", *robots, "--out", tmp_path / "out")
    assert done.code == 2
    assert "no-such-robot" in done.err and done.err.count("\n") == 1
