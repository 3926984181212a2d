"""Conclusions of studies: sentences from the outcomes, failed runs counted."""

from typing import Any

import pytest

from kinetarium.batch.outcomes import completion
from kinetarium.batch.study import Outcome, open_study
from kinetarium.recording.recording import RunStatus
from kinetarium.studies.reach.comparison.figures import _conclusion as of_placement

DOCK = {
    "steady_error_n": 0.5, "ripple_n": 1.0, "settle_s": 0.4, "rebounds": 0, "peak_n": 500.0,
    "contact_time_s": 2.8, "eta_end_m": [0.0, 0.0, 0.0], "xi_end_rad": [0.0, 0.0, 0.0],
    "contact_point_error_m": 1e-4, "drift_z_m": None, "drift_formula_m": None, "flags": [],
    "reference_settle_s": 0.4, "reference_peak_n": 500.0,
}  # fmt: skip
FLOAT = {
    "restitution": 0.9, "restitution_ideal": 0.75, "momentum_error": 0.0,
    "angular_momentum_error": 0.0, "energy_error": 0.44, "flags": [],
}  # fmt: skip
CELL = {"at_delay_ms": 1.0, "stable": True, "growth_per_s": -1.0, "critical_ms": 5.0}


def ended(case: Any, *rows: dict[str, Any], status: RunStatus = RunStatus.COMPLETED) -> Any:
    return Outcome(case, status, "", rows, None, {})


def crashed(case: Any) -> Any:
    return ended(case, status=RunStatus.CRASHED)


def cases(study: str, **values: Any) -> Any:
    opened = open_study(study)
    return opened.cases(opened.config(**values))


def concluded(study: str, outcomes: list[Any]) -> str:
    return open_study(study).report(outcomes).conclusion


def test_runs_that_did_not_complete_are_counted_by_status() -> None:
    assert completion([ended(0), ended(1)]) == "All 2 runs completed."
    assert completion([ended(0)]) == "The only run completed."
    several = [ended(0), crashed(1), crashed(2), ended(3, status=RunStatus.DIVERGED)]
    assert completion(several) == "3 of 4 runs did not complete (2 crashed, 1 diverged)."


def test_docking_names_the_hardest_contact() -> None:
    one, other, third = cases("dock", engine=("mujoco",), seeds=3)[:3]
    hard = {**DOCK, "peak_n": 900.0, "settle_s": None}
    words = concluded("dock", [ended(one, DOCK), ended(other, hard), crashed(third)])
    assert "1 of 3 contacts settle within 0.4 s" in words
    assert "the greatest force 900 N" in words
    assert "1 of 3 runs did not complete (1 crashed)." in words


def test_floating_names_the_wrong_restitution() -> None:
    case = cases("dock-float")[0]
    words = concluded("dock-float", [ended(case, FLOAT)])
    assert "up to +20 %" in words and "0.900 instead of 0.750" in words
    assert "the energy is wrong by up to 44 %" in words
    assert "did not complete" in concluded("dock-float", [crashed(case)])


def test_the_map_counts_its_cells() -> None:
    case = cases("dock-stability", stiffness=(1e5,), delay_ms=(1.0, 2.0, 4.0, 5.0))[0]
    cells = [{**CELL, "agrees": agrees} for agrees in (True, True, False, None)]
    words = concluded("dock-stability", [ended(case, *cells)])
    assert "agree on 2 of 3 cells of the map; 1 are too near" in words


def test_a_walk_says_how_it_ended() -> None:
    case = cases("walk")[0]
    row = {"verdict": "tipped over", "min_margin_units": 0.25, "end_error_m": 0.5,
           "limit_violations": 2, "warnings": []}  # fmt: skip
    words = concluded("walk", [ended(case, row), crashed(case)])
    assert "Of 2 walks: 1 tipped over." in words and "0.25 units" in words
    assert "up to 0.5 m from the plan; 2 leg steps exceed" in words
    assert "1 of 2 runs did not complete" in words


def test_placement_compares_the_methods() -> None:
    case = cases("dock-float")[0]
    named = {name: ended(case, {"exact_success": share})
             for name, share in (("random", 0.4), ("ours", 0.9))}  # fmt: skip
    words = of_placement(named, list(named.values()))
    assert words.startswith("ours: 90.0 % of the poses are reached, the most; random 40.0 %")
    assert of_placement({}, [crashed(case)]).startswith("1 of 1 runs did not complete")


@pytest.mark.parametrize("study", ["dock", "dock-float", "dock-stability", "walk"])
def test_without_a_result_the_failures_are_the_conclusion(study: str) -> None:
    values = {"engine": ("mujoco",)} if study == "dock" else {}
    words = concluded(study, [crashed(cases(study, **values)[0])])
    assert "1 of 1 runs did not complete (1 crashed)." in words
