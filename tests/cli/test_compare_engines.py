"""The comparison of engines in one command, and what it concludes."""

from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from kinetarium.cli.commands import compare_engines
from kinetarium.studies.engine_guide._rules import RULES
from kinetarium.studies.engine_guide.verdict import Judgement, Mark, Rule, Sample


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
    jobs, left_out = compare_engines._jobs(compare_engines.Config(engine=("mujoco",), starts=5))
    counts = {name: len(job.plan.tasks()) for name, job in jobs.items()}
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
    jobs, _ = compare_engines._jobs(compare_engines.Config(engine=("mujoco",), starts=1))
    starts = {task.case.get("start", 0) for job in jobs.values() for task in job.plan.tasks()}
    assert starts == {0}


def _verdict(rule: Rule, values: dict[str, list[float]], first: tuple[str, ...]) -> Judgement:
    """Return a verdict on engines with these values, one for each start."""
    samples = {
        engine: Sample(np.array([own]), len(own), 0, np.array([0.0]))
        for engine, own in values.items()
    }
    return Judgement(rule, samples, dict.fromkeys(values, Mark.MEETS), first)


def test_engines_that_might_be_first_are_repeated_with_other_seeds() -> None:
    config = compare_engines.Config(engine=("mujoco", "bullet", "ode"), seed=7, repeat=2)
    jobs, _ = compare_engines._jobs(config)
    rules = {rule.name: rule for rule in RULES}
    values = {"mujoco": [1.0, 1.2], "bullet": [9.0, 2.3], "ode": [2.5, 3.0]}
    verdicts = [
        _verdict(rules["forces in a grip"], values, ("mujoco",)),
        _verdict(rules["a grip without tuning"], {**values, "mujoco": [inf, inf]}, ("bullet",)),
        _verdict(rules["sliding in any direction"], values, ("mujoco",)),
        _verdict(rules["sliding without a hop"], values, ("ode",)),
        _verdict(rules["a fast grip"], values, ("mujoco",)),
    ]
    again = compare_engines._repeated_jobs(config, jobs, verdicts=verdicts, seed=8)
    cases = {name: [task.case for task in job.plan.tasks()] for name, job in again.items()}
    engines = {name: {case["engine"] for case in own} for name, own in cases.items()}
    assert engines == {
        "grasp-matched-seed-8": {"mujoco", "bullet"},
        "grasp-defaults-seed-8": {"bullet", "ode"},
        "slide-matched-seed-8": {"mujoco", "bullet", "ode"},
    }
    assert {case["seed"] for own in cases.values() for case in own} == {8}
    assert {case["profile"] for case in cases["grasp-defaults-seed-8"]} == {"defaults"}
    assert again["grasp-matched-seed-8"].part == "grasp"


def test_every_rule_names_the_runs_that_it_judges() -> None:
    jobs, _ = compare_engines._jobs(compare_engines.Config(engine=("mujoco",)))
    for rule in RULES:
        cases = [task.case for task in jobs[rule.part].plan.tasks()]
        for name, value in rule.runs.items():
            assert value in {case[name] for case in cases}, rule.name
        displaced = any(case.get("start") for case in cases)
        assert displaced is (rule.part not in compare_engines._UNDISPLACED), rule.name


def test_a_comparison_is_repeated(call: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("--quick", "--engine", "mujoco", "--starts", "2", "--repeat", "2")
    done = call("compare-engines", *words, "--workers", "0", "--out", out, "--json", "-")
    assert done.code == 0, done.err
    assert {"grasp", "grasp-matched-seed-1"} <= set(done.json["studies"])
    assert "Repetitions with other seeds" in (out / "report.html").read_text()


def test_a_robot_that_cannot_grasp_leaves_grasping_out_with_the_reason() -> None:
    config = compare_engines.Config(engine=("mujoco",), quick=True, robot=("husky4",))
    jobs, left_out = compare_engines._jobs(config)
    assert set(jobs) == {"slide", "drive"} and set(left_out) == {"grasp"}
    assert "\n" not in left_out["grasp"] and left_out["grasp"]


def test_a_missing_robot_is_one_line(call: Any, tmp_path: Path) -> None:
    robots = ("--robot", "husky4", "no-such-robot")
    done = call("compare-engines", "--quick", *robots, "--out", tmp_path / "out")
    assert done.code == 2
    assert "no-such-robot" in done.err and done.err.count("\n") == 1
