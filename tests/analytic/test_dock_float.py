"""Floating satellites against what mechanics says."""

from dataclasses import replace
from functools import cache
from math import exp, pi

import numpy as np
import pytest

from kinetarium.batch.study import Outcome
from kinetarium.control.admittance.floating import FloatingBody, mean_motion, relative_acceleration
from kinetarium.errors import KinetariumError
from kinetarium.recording.recording import RunStatus
from kinetarium.studies.dock.floating import pair
from kinetarium.studies.dock.floating.config import FloatConfig, LoopRate
from kinetarium.studies.dock.floating.config import cases as float_cases
from kinetarium.studies.dock.floating.figures import report
from kinetarium.studies.dock.floating.pair import run_free
from kinetarium.studies.dock.floating.run import score


@pytest.fixture(scope="module", autouse=True)
def equal_meetings_are_computed_once():
    """The ideal ones, that is: several cases are compared with the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair, "_meet", cache(pair._meet))
        yield


def met(**changes):
    (case,) = float_cases(replace(FloatConfig(), **changes))
    return score(case, run_free(case))


def test_without_lag_a_spring_gives_back_what_it_took():
    row = met(delay_ms=0.0, stiffness=(1e5,), sensor_in_front=True)
    assert row["restitution"] == pytest.approx(1.0, abs=2e-3)
    assert row["momentum_error"] < 1e-12
    assert abs(row["energy_error"]) < 1e-3


def test_meetings_of_several_kinds_each_have_their_ideal():
    outcomes = []
    for mass, lead in (((100.0, 150.0), False), ((50.0, 50.0), False), ((50.0, 50.0), True)):
        (case,) = float_cases(replace(FloatConfig(), mass=mass, lead=lead, stiffness=(1e4,)))
        recording = run_free(case)
        rows = (score(case, recording),)
        outcomes.append(Outcome(case, RunStatus.COMPLETED, "", rows, recording, {}))
    page = report(outcomes)
    assert len({row[0] for row in page.headline.rows}) == 3
    forces = page.sections[0].figures[0].series
    names = [series.name for series in forces]
    assert len(set(names)) == len(names) == 5
    peaks = {series.name: series.y.max() for series in forces if series.name.startswith("ideal")}
    assert sorted(peaks.values()) == pytest.approx([25.0, 38.7], rel=0.02)  # v sqrt(k m)


def test_lag_alone_makes_energy():
    """A lag between two steps counts in full."""
    row = met(stiffness=(1e4,), sensor_in_front=True, delay_ms=13.4)
    assert row["restitution"] == pytest.approx(exp(pi * row["w_tau"] / 2), rel=0.01)
    assert row["energy_error"] > 0.5


@pytest.mark.parametrize(("stiffness", "tolerance"), [(1e4, 0.02), (1e5, 0.06)])
def test_lead_restores_the_restitution(stiffness, tolerance):
    row = met(stiffness=(stiffness,), lead=True)
    assert abs(row["restitution"] - row["restitution_ideal"]) <= tolerance
    assert row["momentum_error"] <= 0.002


def test_lead_at_an_industrial_rate():
    row = met(stiffness=(1e5,), lead=True, timing=LoopRate.RSI)
    assert abs(row["restitution"] - row["restitution_ideal"]) <= 0.06
    assert row["momentum_error"] <= 0.003


def test_a_passivity_observer_needs_no_lag():
    row = met(stiffness=(1e5,), delay_ms=13.0, passivity=True)
    assert row["restitution"] == pytest.approx(1.0, abs=0.04)


def test_a_contact_beside_the_centre_turns_both_and_keeps_angular_momentum():
    row = met(stiffness=(1e5,), lead=True, offset_m=0.1, orbit_altitude_km=400.0)
    assert row["angular_momentum_error"] < 0.003
    assert row["momentum_error"] < 0.002
    assert abs(row["restitution"] - row["restitution_ideal"]) <= 0.06


def test_damping_lowers_the_restitution_as_it_should():
    row = met(stiffness=(1e4,), damping=100.0, delay_ms=0.0, sensor_in_front=True)
    assert row["restitution"] < 0.85
    assert row["restitution"] == pytest.approx(row["restitution_ideal"], abs=0.01)


@pytest.mark.parametrize(
    ("wrong", "word"),
    [({"payload_kg": 80.0}, "sensor"), ({"speed": 0.0}, "speed"), ({"delay_ms": -1.0}, "delay"),
     ({"mass": (0.0, 1.0)}, "mass"), ({"stiffness": ()}, "stiffness"),
     ({"mass": (1.0, 1.0), "stiffness": (1e7,), "payload_kg": 0.1}, "rad/s"),
     ({"mass": (1e5, 1e5), "stiffness": (100.0,)}, "rad/s"), ({"damping": 1e6}, "damping"),
     ({"lead_error_ms": 1.0}, "requires --lead"),
     ({"sensor_in_front": True, "engine": ("mujoco",)}, "behind the payload")],
)  # fmt: skip
def test_nonsense_is_refused_in_words(wrong, word):
    with pytest.raises(KinetariumError, match=word):
        float_cases(replace(FloatConfig(), **wrong))
    assert float_cases(FloatConfig(payload_kg=80.0, sensor_in_front=True))


def test_a_heavy_payload_is_warned_of():
    row = met(stiffness=(1e5,), lead=True, payload_kg=40.0)
    assert any("0.40" in flag for flag in row["flags"])
    assert row["momentum_error"] < 0.002


def test_a_payload_that_breaks_the_loop_is_told():
    row = met(lead=True, payload_kg=50.0)
    assert row["restitution"] is None
    assert any("chatters" in flag for flag in row["flags"])
    assert "the satellites did not part" in row["flags"]


def test_a_lag_beyond_the_formula_is_told():
    row = met(stiffness=(1e6,), sensor_in_front=True)
    assert row["w_tau"] > 0.6 and row["restitution_formula"] is None
    assert any("too fast for this lag" in flag for flag in row["flags"])


def test_a_lead_that_is_wrong_gives_the_formula_of_what_is_left():
    row = met(stiffness=(1e5,), lead=True, lead_error_ms=1.0)
    assert row["restitution_formula"] == pytest.approx(exp(-pi * 0.0408 / 2), rel=1e-3)
    assert row["restitution"] == pytest.approx(row["restitution_formula"], abs=0.02)


def test_orbit_drifts_as_clohessy_and_wiltshire_say():
    """From rest at x0 outward: x = (4 - 3 cos nt) x0, y = 6 (sin nt - nt) x0."""
    n = mean_motion(400e3)
    assert n == pytest.approx(1.1314e-3, abs=5e-7)
    p, v, dt = np.array([10.0, 0.0, 2.0]), np.zeros(3), 0.05
    for _ in range(20000):
        # The midpoint rule, for the velocity is in the acceleration.
        a = relative_acceleration(p, v, n=n)
        a = relative_acceleration(p + v * dt / 2, v + a * dt / 2, n=n)
        p, v = p + (v + a * dt / 2) * dt, v + a * dt
    nt = n * 1000.0
    np.testing.assert_allclose(
        p, [10 * (4 - 3 * np.cos(nt)), 60 * (np.sin(nt) - nt), 2 * np.cos(nt)], atol=1e-3
    )


def test_a_body_that_turns_freely_keeps_its_spin():
    body = FloatingBody(
        mass=2.0, moment=np.diag([1.0, 2.0, 3.0]), X_WB=np.eye(4), velocity=(1, 0, 0)
    )
    body.turn(np.array([0.5, 1.0, -0.7]))
    spin, energy = body.spin, body.energy
    for _ in range(2000):
        body.step(np.zeros(6), dt=1e-3)
    np.testing.assert_allclose(body.spin, spin, atol=1e-9)
    assert body.energy == pytest.approx(energy, rel=1e-3)
    np.testing.assert_allclose(body.p_WB, [2.0, 0, 0], atol=1e-12)


def test_an_impulse_moves_the_point_it_acts_on():
    body = FloatingBody(mass=2.0, moment=np.diag([1.0, 2.0, 3.0]), X_WB=np.eye(4))
    point, along = np.array([0.3, 0.2, -0.1]), np.array([0.0, 0.6, 0.8])
    body.push(5 * along, point=point)
    assert body.velocity_at(point) @ along == pytest.approx(5 * body.mobility(along, point=point))
