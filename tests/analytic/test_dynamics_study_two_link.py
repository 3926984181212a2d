"""The two-link arm in every library: the printed numbers, and the closed form at random states."""

import numpy as np
import pytest

from kinetarium import load_robot
from kinetarium.dynamics import RobotDynamics, TwoLink
from kinetarium.figure.text import Table
from kinetarium.studies.dynamics._examination import examine
from kinetarium.studies.dynamics.backends.registry import backend_names
from kinetarium.studies.dynamics.figures import two_link_section
from kinetarium.studies.dynamics.score import error_rows
from kinetarium.studies.dynamics.states import runge_kutta, semi_implicit_euler

ARM = load_robot("two-link")
BACKENDS = backend_names(ARM)
STATE = {"at": (0.0, 0.0665), "at_velocity": (1.0, 2.0)}


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_back_end_prints_the_numbers_of_2022(backend: str) -> None:
    terms = examine(ARM, backend, states=2, seed=0, **STATE).facts["terms"]
    np.testing.assert_allclose(terms["M"], [[1.970, 0.433], [0.433, 0.192]], atol=5e-4)
    np.testing.assert_allclose(terms["g"], [-38.106, -5.567], atol=5e-4)
    # With a velocity the Coriolis forces are checked as well, other than in the original.
    c = TwoLink().coriolis_matrix(STATE["at"], STATE["at_velocity"]) @ STATE["at_velocity"]
    np.testing.assert_allclose(terms["c"], c, atol=1e-12)
    assert np.abs(c).min() > 1e-3


@pytest.mark.parametrize("backend", [name for name in BACKENDS if name != "pinocchio"])
def test_closed_form_at_a_thousand_states(backend: str) -> None:
    recording = examine(ARM, backend, states=1000, seed=0)
    rows = {row["quantity"]: row for row in error_rows(recording)}
    assert all(rows[name]["max_rel"] <= 1e-12 for name in ("M", "g", "c", "tau"))
    assert all(row["passed"] for row in rows.values())
    assert [data for data in recording.facts["findings"] if data["severity"] == "fault"] == []
    assert np.abs(recording["speed"]).min() > 0


def test_free_motion_after_two_seconds() -> None:
    for backend in BACKENDS[1:]:
        recording = examine(ARM, backend, states=2, seed=0)
        assert recording.facts["horizon_s"] == 2.0
        assert np.abs(recording["q"][-1] - recording["q_reference"][-1]).max() <= 1e-13


def test_the_derivation_is_part_of_the_report() -> None:
    derived = examine(ARM, "closed-form", states=2, seed=0).facts["derived"]
    section = two_link_section({"closed-form": derived})
    (table,) = [figure for figure in section.figures if isinstance(figure, Table)]
    for row in table.rows[:5]:
        assert row[3] == row[4]  # printed, and ours
    text = " ".join(figure.text for figure in section.figures if not isinstance(figure, Table))
    assert "repeats Jvc₁" in text
    assert "vacuous" in text


def test_rules_of_integration() -> None:
    """A pendulum: halving the step halves one error and divides the other by sixteen."""
    arm = RobotDynamics(ARM, free_base=False)
    start = np.array([0.3, 0.2])

    def end(rule, steps: int) -> np.ndarray:
        return rule(
            lambda q, v: arm.forward_dynamics(q, v, np.zeros(2)),
            start,
            timestep=0.2 / steps,
            steps=steps,
        )[0][-1]

    exact = end(runge_kutta, 400)
    for rule, order in ((semi_implicit_euler, 2), (runge_kutta, 16)):
        ratio = np.abs(end(rule, 10) - exact).max() / np.abs(end(rule, 20) - exact).max()
        assert ratio == pytest.approx(order, rel=0.2)
