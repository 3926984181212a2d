"""The verdicts on engines: failed runs, intervals, ties, limits and what they decide."""

from math import inf
from typing import Any

import numpy as np
import pytest

from kinetarium.studies.engine_guide._rules import RULES
from kinetarium.studies.engine_guide.page import (
    conclusion,
    headline,
    judgements,
    limit_table,
    purpose_table,
    seed_table,
    stable,
    start_table,
    statement_table,
    untuned_turns,
)
from kinetarium.studies.engine_guide.verdict import Judgement, Mark, sample_of

Rows = dict[str, list[dict[str, Any]]]


def grasp(engine: str, error: float | None = 0.0, **values: Any) -> dict[str, Any]:
    """Return a row of a held cube, all values as of one run that completed."""
    return {
        "engine": engine, "profile": "matched", "path": "circle", "held": error is not None,
        "force_error_n": error, "contact_lost": 0.0, "start": 0, "seed": 0,
        "status": "completed", **values,
    }  # fmt: skip


def starts(engine: str, errors: list[float], **values: Any) -> list[dict[str, Any]]:
    return [grasp(engine, error, start=k, **values) for k, error in enumerate(errors)]


def verdict_on(rows: Rows, purpose: str) -> Judgement:
    return next(each for each in judgements(rows) if each.rule.name == purpose)


def test_the_best_of_those_that_meet_the_limit_comes_first() -> None:
    rows = {"grasp": [grasp("a", 0.002), grasp("b", 0.001), grasp("c", 0.1), grasp("d", None)]}
    verdict = verdict_on(rows, "forces in a grip")
    assert verdict.first == ("b",)
    assert verdict.of(Mark.MEETS) == ["b", "a"] and verdict.of(Mark.FAILS) == ["c", "d"]
    assert verdict.cell("c") == "0.1 N (no)"
    assert verdict.cell("d") == "1 of 1 failed (3 to 100 %) (no)"


def test_nothing_meets_the_limit() -> None:
    verdict = verdict_on({"grasp": [grasp("a", None)]}, "forces in a grip")
    assert verdict.first == () and verdict.choice == "none"
    assert "No engine meets" in conclusion([verdict], {"grasp": [grasp("a", None)]})


def test_engines_that_do_not_differ_significantly_share_the_first_place() -> None:
    rows = {
        "grasp": starts("z", [1.0e-3, 1.2e-3, 1.1e-3, 0.9e-3, 1.0e-3])
        + starts("a", [1.1e-3, 1.0e-3, 1.2e-3, 1.0e-3, 0.9e-3])
        + starts("far", [2.1e-3, 2.0e-3, 2.2e-3, 2.0e-3, 2.1e-3])
    }
    verdict = verdict_on(rows, "forces in a grip")
    assert verdict.first == ("a", "z") and verdict.choice == "a = z (tie)"
    assert headline([verdict]).rows[0][1] == "a = z (tie)"


def test_paired_starts_separate_what_starts_displace_alike() -> None:
    shared = np.array([0.5, 2.0, 1.0, 0.7, 1.5]) * 1e-3
    rows = {"grasp": starts("a", list(shared)) + starts("b", list(shared + 1e-4))}
    verdict = verdict_on(rows, "forces in a grip")
    one, other = verdict.samples["a"].interval, verdict.samples["b"].interval
    assert one.high > other.low  # alone they overlap
    assert verdict.first == ("a",)


def test_a_limit_within_the_interval_leaves_the_verdict_open() -> None:
    # PhysX on the circle in closed loop: 0.1194 m with five starts, 0.1225 m with one.
    def closed(engine: str, errors: list[float | None]) -> list[dict[str, Any]]:
        common = {"profile": "matched", "robot": "husky4", "control": "closed", "path": "circle"}
        return [
            {"engine": engine, **common, "start": k, "seed": 0, "cross_track_rmse_m": error,
             "status": "completed" if error is not None else "diverged"}
            for k, error in enumerate(errors)
        ]  # fmt: skip

    physx = [0.1225, 0.1194, 0.1188, 0.1202, 0.1191]
    rows = {"drive": closed("physx", physx) + closed("ode", [0.083, 0.084, 0.082, 0.083, 0.084])}
    verdict = verdict_on(rows, "driving, closed loop")
    assert verdict.marks == {"ode": Mark.MEETS, "physx": Mark.UNDECIDED}
    assert verdict.cell("physx") == "0.119 m [0.119, 0.122] (undecided)"
    alone = verdict_on({"drive": closed("physx", [0.1225])}, "driving, closed loop")
    assert alone.marks == {"physx": Mark.UNDECIDED}  # starts differ by 0.003 m
    fallen = {"drive": [{**row, "toppled": True} for row in closed("physx", [0.1])]}
    assert verdict_on(fallen, "driving, closed loop").marks == {"physx": Mark.FAILS}
    lost = {"drive": closed("physx", [0.1, 0.1, None, 0.1, 0.1])}
    failing = verdict_on(lost, "driving, closed loop")
    assert failing.marks == {"physx": Mark.FAILS}
    assert failing.cell("physx") == "0.1 m [0.1, inf] 1 of 5 failed (1 to 72 %) (no)"


def test_an_engine_beyond_the_limit_does_not_share_the_first_place() -> None:
    """The ranges of five starts overlap, but the median of b is above the limit of 0.003 N."""
    rows = {
        "grasp": starts("a", [2e-3, 2e-3, 2.1e-3, 2e-3, 2e-3])
        + starts("b", [2e-3, 5e-3, 5e-3, 5e-3, 2e-3])
        + starts("c", [2e-3, 2e-3, 2.2e-3, 5e-3, 2e-3])
    }
    verdict = verdict_on(rows, "forces in a grip")
    assert verdict.of(Mark.UNDECIDED) == ["c", "b"]
    assert verdict.first == ("a", "c")
    del rows["grasp"][:5], rows["grasp"][5:]  # b alone
    assert verdict_on(rows, "forces in a grip").choice == "b (undecided)"


def test_pads_that_lose_contact_fail_a_grip_without_tuning() -> None:
    held = {"profile": "defaults"}
    rows = {
        "grasp": [
            grasp("physx", 0.05, **held),
            grasp("dart", 0.05, contact_lost=331 / 800, **held),
            {**grasp("bullet", 0.05, **held), "contact_lost": None, "zero_contact_samples": 3},
        ]
    }
    verdict = verdict_on(rows, "a grip without tuning")
    assert verdict.first == ("physx",)
    assert verdict.of(Mark.FAILS) == ["bullet", "dart"]


def test_without_the_error_of_the_force_its_lower_bound_counts() -> None:
    row = {**grasp("a"), "force_error_n": None, "moving_variance_n2": 4e-4,
           "ideal_variance_n2": 1e-4}  # fmt: skip
    verdict = verdict_on({"grasp": [row]}, "forces in a grip")
    assert verdict.samples["a"].value == pytest.approx(0.01)


def test_the_sliding_grip_is_resolved_to_the_uncertainty_of_its_reference() -> None:
    def release(engine: str, off: float | None) -> dict[str, Any]:
        grip = None if off is None else 9.81 / (2 * 0.8) * (1 + off)
        return {**grasp(engine), "path": "release", "sliding_grip_n": grip,
                "ideal_sliding_grip_n": 9.81 / (2 * 0.8)}  # fmt: skip

    rows = {"grasp-release": [release("a", 1e-3), release("b", 0.02), release("c", 0.04),
                              release("d", 0.2), release("e", None)]}  # fmt: skip
    verdict = verdict_on(rows, "when a grip slides")
    assert verdict.first == ("a", "b")
    assert verdict.of(Mark.FAILS) == ["d", "e"]


def test_a_fast_grip_is_the_cheapest_that_is_good_enough() -> None:
    rows = {
        "grasp-effort": [
            grasp("a", 0.5, cost=0.1),
            grasp("a", 1e-3, cost=0.4),
            grasp("b", 2e-3, cost=0.65),
            grasp("c", 2e-3, cost=3.0),
            grasp("d", None, cost=0.1),
        ]
    }
    verdict = verdict_on(rows, "a fast grip")
    assert verdict.first == ("a",)
    assert verdict.of(Mark.FAILS) == ["c", "d"]
    assert "1 of 1 failed" in verdict.cell("d")  # it completed, and lost the cube
    # With half the limit b is not good enough, with a quarter a is not either.
    assert verdict.sensitivity == "down from 0.00089 N: none"


def test_costs_within_a_half_tie() -> None:
    rows = {"grasp-effort": [grasp("a", 1e-3, cost=0.10), grasp("b", 1e-3, cost=0.145)]}
    assert verdict_on(rows, "a fast grip").first == ("a", "b")


def test_a_grip_is_lost_where_friction_ends_and_nowhere_else() -> None:
    def run(engine: str, friction: float, *, held: bool, least: float = 0.05) -> dict[str, Any]:
        return {**grasp(engine), "held": held, "friction": friction, "slip_m": 1e-4,
                "least_friction": least}  # fmt: skip

    rows = {
        "grasp-friction": [
            run("good", 0.03, held=False), run("good", 0.3, held=True),
            run("sticky", 0.03, held=True), run("sticky", 0.3, held=True),
            run("weak", 0.03, held=False), run("weak", 0.3, held=False),
        ]
    }  # fmt: skip
    verdict = verdict_on(rows, "a grip on any friction")
    assert verdict.first == ("good",) and verdict.of(Mark.FAILS) == ["sticky", "weak"]
    # What holds is up to gripper, object and force: 2 kg with 20 N need 0.49.
    heavy = [run("good", 0.3, held=False, least=0.49), run("good", 0.6, held=True, least=0.49)]
    assert verdict_on({"grasp-friction": heavy}, "a grip on any friction").first == ("good",)


def test_skidding_counts_failed_runs() -> None:
    def turn(engine: str, multiplier: float | None, w: float = 0.5) -> dict[str, Any]:
        status = "completed" if multiplier is not None else "timed out"
        return {"engine": engine, "status": status, "v": 0, "w": w, "ideal_multiplier": 1.54,
                "track_multiplier": multiplier}  # fmt: skip

    rows = {"calibrate": [turn("a", 1.54), turn("b", 2.0), turn("c", 1.54), turn("c", None, 1.0)]}
    verdict = verdict_on(rows, "skidding in place")
    assert verdict.first == ("a",) and verdict.of(Mark.FAILS) == ["b", "c"]
    assert "1 of 2 failed" in verdict.cell("c")


def test_driving_is_judged_by_the_ideal_drive() -> None:
    def run(engine: str, ratio: float | None, **values: Any) -> dict[str, Any]:
        return {"engine": engine, "status": "completed", "yaw_ratio": ratio, "ideal_yaw_ratio": 1.1,
                "robot": "husky4", "path": "circle", "control": "open", "start": 0, "seed": 0,
                "cost": 0.1, **values}  # fmt: skip

    own = {"profile": "defaults"}
    rows = {"drive-profiles": [run("mujoco", 0.24 * 1.1, **own), run("ode", 1.09 * 1.1, **own)]}
    verdict = verdict_on(rows, "driving without tuning")
    assert verdict.first == ("ode",) and verdict.of(Mark.FAILS) == ["mujoco"]
    assert verdict.samples["mujoco"].value == pytest.approx(76.0)
    shaken = run("ode", None, **own, start=1) | {"status": "diverged"}
    turns = untuned_turns({"drive-profiles": [*rows["drive-profiles"], shaken]})
    assert [column.name for column in turns.columns] == ["engine", "circle"]
    assert turns.rows == (
        ("mujoco", "0.26 (ideal 1.10)"), ("ode", "1.20 (ideal 1.10) 1 of 2 failed"),
    )  # fmt: skip
    wheels = {"robot": "husky2", "profile": "matched"}
    rows = {
        "drive": [
            run("bullet", 1.1, **wheels, off_ideal_m=0.010, cross_track_rmse_m=0.021),
            run("mujoco", 1.1, **wheels, off_ideal_m=0.006, cross_track_rmse_m=0.026),
        ]
    }
    assert verdict_on(rows, "two wheels, open loop").first == ("mujoco",)
    own = {"robot": "mine.urdf", "profile": "matched"}
    turning = run("bullet", 1.1, **own, off_ideal_m=0.4, drive_type="differential")
    rows = {"drive": [turning, run("mujoco", None, **own, status="diverged")]}
    verdict = verdict_on(rows, "two wheels, open loop")
    assert verdict.of(Mark.FAILS) == ["bullet", "mujoco"]
    rows = {"drive-effort": [run("a", 1.05, cost=0.2), run("b", 1.1), run("c", 3.0)]}
    verdict = verdict_on(rows, "skidding fast")
    assert verdict.first == ("b",) and verdict.of(Mark.FAILS) == ["c"]


def test_sliding_is_judged_by_its_worst_direction() -> None:
    def box(engine: str, angle: float, ratio: float, hop: float = 0.0) -> dict[str, Any]:
        return {"engine": engine, "profile": "matched", "speed": 1.0, "angle_deg": angle,
                "deceleration_ratio": ratio, "hop_m": hop, "start": 0, "seed": 0,
                "status": "completed"}  # fmt: skip

    rows = {"slide": [box("cone", 0, 1.0), box("cone", 45, 1.01), box("pyramid", 0, 1.0),
                      box("pyramid", 45, 1.414), box("soft", 45, 1.0, 5.8e-3)]}  # fmt: skip
    verdict = verdict_on(rows, "sliding in any direction")
    assert verdict.first == ("soft",) and verdict.of(Mark.FAILS) == ["pyramid"]
    assert verdict_on(rows, "sliding without a hop").of(Mark.FAILS) == ["soft"]


def test_the_limit_that_would_change_the_first_choice_is_named() -> None:
    rows = {"grasp": [grasp("a", 0.004), grasp("b", 0.009)]}
    verdict = verdict_on(rows, "forces in a grip")
    assert verdict.choice == "none"
    assert verdict.sensitivity == "from 0.0042 N on: a"
    safe = verdict_on({"grasp": [grasp("a", 1e-6)]}, "forces in a grip")
    assert safe.sensitivity == "none within a factor of 4"


def test_every_rule_has_its_reason_and_counts_failures() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.reason.endswith(".") and rule.reason.count(". ") == 0
        assert rule.limit > 0
    lost = sample_of([{"status": "crashed"}, {"status": "completed"}], lambda row: 1.0)
    assert lost is not None and (lost.failed, lost.runs) == (1, 1)


def test_of_several_rows_of_a_start_the_worst_counts() -> None:
    rows = [{"status": "completed", "start": k, "value": v} for k, v in ((0, 1), (0, 3), (1, 2))]
    sample = sample_of(rows, lambda row: float(row["value"]))
    assert sample is not None and sample.values.tolist() == [[3.0, 2.0]]


def test_tables_name_all_engines_and_limits() -> None:
    rows = {"grasp": [*starts("a", [1e-3] * 5), *starts("b", [inf] * 5)]}
    verdicts = judgements(rows)
    (cells,) = purpose_table(verdicts).rows
    assert cells[:3] == ("forces in a grip", "a", "0.003 N")
    (limits,) = limit_table(verdicts).rows
    assert limits[-1] == "5/10"


def test_repetitions_are_compared_seed_by_seed() -> None:
    def seeded(seed: int, a: float, b: float) -> list[dict[str, Any]]:
        pair = zip("ab", (a, b), strict=True)
        return [grasp(engine, error, seed=seed) for engine, error in pair]

    steady = {"grasp": seeded(0, 1e-3, 2e-3) + seeded(1, 1.1e-3, 2e-3)}
    assert seed_table(steady).rows[0][1:] == ("same", "a", "a")
    flips = {"grasp": seeded(0, 1e-3, 2e-3) + seeded(1, 2e-3, 1e-3)}
    assert seed_table(flips).rows[0][1] == "changes"
    assert seed_table({"grasp": seeded(0, 1e-3, 2e-3)}).rows == ()
    assert stable([("a", "b"), ("a",)]) and not stable([("a",), ()]) and stable([(), ()])


def test_a_choice_that_one_start_makes_is_shown() -> None:
    rows = {"grasp": starts("a", [1e-3, 1e-3, 1e-3]) + starts("b", [2e-3, 2e-3, 2e-3])}
    (row,) = start_table(rows).rows
    assert row == ("forces in a grip", "same", "a", "a", "a")
    lost = grasp("a", None, start=2)  # without this start a would be the first choice
    rows = {"grasp": [*starts("a", [1e-3, 1e-3]), lost, *starts("b", [2e-3, 2e-3, 2e-3])]}
    (row,) = start_table(rows).rows
    assert row[2:] == ("b", "b", "a")
    assert row[1] == "changes"
    assert start_table({"grasp": [grasp("a", 1e-3)]}).rows == ()


def test_statements_end_in_measurements() -> None:
    def box(profile: str, ratio: float) -> dict[str, Any]:
        return {"engine": "mujoco", "profile": profile, "deceleration_ratio": ratio,
                "status": "completed"}  # fmt: skip

    def step(timestep: float, error: float) -> dict[str, Any]:
        return grasp("mujoco", error, timestep=timestep, iterations=0)

    own = {"profile": "defaults", "one_step_rad_s2": None}
    rows = {
        "slide": [box("defaults", 1.0), box("defaults", 0.69), box("matched", 0.96)],
        "grasp": [
            grasp("physx", one_step_rad_s2=5.9e-5),
            grasp("mujoco", None, moving_variance_n2=1.0, penetration_m=1e-4, **own),
            grasp("bullet", moving_variance_n2=0.1, penetration_m=1e-4, **own),
            grasp("ode", moving_variance_n2=2.0, penetration_m=1e-3, **own),
        ],
        "grasp-effort": [step(1e-3, 1e-4), step(2e-3, 5e-4)],
    }
    driven = {
        "title": "Statements of the paper, profile matched",
        "rows": [
            {"the paper says": "the circle is round", "here": "holds", "decided by": "0.01"},
            {"the paper says": "of grasping", "here": "not testable", "decided by": "elsewhere"},
        ],
    }
    table = statement_table(rows, [{"statements": [driven]}])
    verdicts = {row[0]: row[1] for row in table.rows}
    assert verdicts == {
        "the circle is round": "holds",
        "the grip force is steadiest in MuJoCo, then Bullet, then ODE": "does not hold here",
        "ODE penetrates most": "holds",
        "MuJoCo's contacts suffer from longer steps": "holds",
        "MuJoCo does not approximate the friction cone": "does not hold here",
        "PhysX ignores Coriolis forces": "does not hold here",
    }
