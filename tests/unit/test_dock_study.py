"""The study dock: its cases, a short run of it, its flags and its limits."""

from dataclasses import replace

import numpy as np
import pytest

from kinetarium.batch.check_study import check_study
from kinetarium.batch.plan import Plan
from kinetarium.batch.sweep import run_plan
from kinetarium.batch.worker import SerialExecutor
from kinetarium.control.admittance.law import AntiWindup, Form
from kinetarium.control.interface import Measurement
from kinetarium.dynamics import RobotDynamics
from kinetarium.errors import KinetariumError
from kinetarium.recording.recording import Channel, Recording
from kinetarium.scene import SceneError
from kinetarium.scene.docking import CENTER, docking_scene
from kinetarium.spatial import se3
from kinetarium.studies.dock import Dock, DockFloat, DockStability
from kinetarium.studies.dock.floating.config import FloatConfig
from kinetarium.studies.dock.press._controller import DockingController
from kinetarium.studies.dock.press.arms import DISTANCE, GAP
from kinetarium.studies.dock.press.cases import DURATION, Approach
from kinetarium.studies.dock.press.cases import cases as dock_cases
from kinetarium.studies.dock.press.config import Contact, DockConfig, ForceCase, PresetName
from kinetarium.studies.dock.press.contact import FaceContact
from kinetarium.studies.dock.press.figures import beyond, delay_maps, limits
from kinetarium.studies.dock.press.presets import PRESETS, WRENCH_GAIN, damper
from kinetarium.studies.dock.press.run import flags, free_drift, run, score, settling
from kinetarium.studies.dock.stability.config import StabilityConfig

QUICK = DockConfig(
    case=(ForceCase.C,), preset=(PresetName.RECOMMENDED,), engine=("mujoco",), seeds=1
)


def judged(**changes):
    (case,) = dock_cases(replace(QUICK, **changes))
    recording = run(case)
    return case, recording, score(case, recording)


def test_the_approach_meets_the_target_at_2_80_s():
    approach = Approach(np.eye(4))
    X, V = approach.at(2.8)
    assert X[0, 3] == pytest.approx(GAP, abs=1e-4)
    assert V[0] == pytest.approx(0.066, abs=1e-3)
    assert approach.at(DURATION + 1)[0][0, 3] == pytest.approx(DISTANCE)
    h = 1e-5
    for t in (0.5, 1.9, 3.3):
        moved = (approach.at(t + h)[0] - approach.at(t - h)[0])[0, 3] / (2 * h)
        assert moved == pytest.approx(approach.at(t)[1][0], abs=1e-9)
        faster = (approach.at(t + h)[1] - approach.at(t - h)[1])[0] / (2 * h)
        assert faster == pytest.approx(approach.acceleration(t)[0], abs=1e-9)


@pytest.mark.engine
def test_a_quick_docking_holds_its_limits():
    case, recording, row = judged()
    assert recording.status == "running"
    assert beyond(case, row) == []
    assert limits(case)["peak_n"] == 240.0
    assert row["contact_point_error_m"] < 5e-3
    assert any("virtual mass" in flag for flag in row["flags"])


@pytest.mark.engine
def test_a_force_that_nothing_resists_drifts_as_the_law_says():
    _, _, row = judged(case=(ForceCase.B,), preset=(PresetName.PAPER,))
    assert row["drift_z_m"] == pytest.approx(row["drift_formula_m"], rel=0.01)
    assert any("not reachable" in flag and "0.32" in flag for flag in row["flags"])


@pytest.mark.engine
@pytest.mark.parametrize(("gate", "why"), [(0.0, "without a gate"), (1.0, "a gate of only 1 N")])
def test_without_a_gate_the_satellites_meet_with_a_blow(gate, why, monkeypatch):
    """A gate below the noise is none: the wanted wrench acts from the start."""
    monkeypatch.setattr("kinetarium.studies.dock.press.run.DURATION", 0.95)
    _, _, row = judged(case=(ForceCase.A,), preset=(PresetName.PAPER,), gate=gate)
    assert row["peak_n"] > 2000
    assert any("wound up" in flag and why in flag for flag in row["flags"])
    assert any("blow" in flag for flag in row["flags"])


@pytest.mark.engine
def test_both_forms_of_the_law_dock_alike(monkeypatch):
    monkeypatch.setattr("kinetarium.studies.dock.press.run.DURATION", 0.2)
    paths = [
        run(case)["q"]
        for form in Form
        for case in dock_cases(replace(QUICK, preset=(PresetName.PAPER,), gate=0.0, form=form))
    ]
    assert np.ptp(paths[0], axis=0).max() > 1e-3
    np.testing.assert_allclose(paths[0], paths[1], rtol=0, atol=1e-12)


@pytest.mark.engine
@pytest.mark.parametrize(
    ("start_deg", "singular"),
    [((0.0, -90.0, 90.0, 0.0, 0.0, 0.0), True), (QUICK.start_deg, False)],
)
def test_a_singular_start_is_told_and_the_rates_stay_bounded(start_deg, singular, monkeypatch):
    monkeypatch.setattr("kinetarium.studies.dock.press.run.DURATION", 0.3)
    _, recording, row = judged(start_deg=start_deg)
    assert any("singular posture" in flag for flag in row["flags"]) is singular
    assert np.abs(np.diff(recording["q"][:, :6], axis=0)).max() < 1e-3
    assert "the satellites did not touch" in row["flags"]


@pytest.mark.engine
def test_rows_are_those_of_the_contract_and_ticks_are_timed(monkeypatch, tmp_path):
    monkeypatch.setattr("kinetarium.studies.dock.press.run.DURATION", 0.1)
    plan = Plan.of(Dock(), replace(QUICK, preset=(PresetName.PAPER, PresetName.RSI)))
    folder, _ = run_plan(plan, out=tmp_path / "out", executor=SerialExecutor())
    rows = folder.metrics["rows"]
    assert len(rows) == 2
    assert set(rows[0]) >= {
        "case", "preset", "engine", "seed", "status", "steady_error_n", "ripple_n", "settle_s",
        "rebounds", "peak_n", "contact_time_s", "eta_end_m", "xi_end_rad",
        "contact_point_error_m", "flags",
    }  # fmt: skip
    assert all(0 < run["tick_p50_s"] <= run["tick_p99_s"] for run in folder.timings().values())
    assert "tick" not in (tmp_path / "out" / "metrics.json").read_text()


def seen(case, *, warnings, **row):
    """Return the flags of a run of which only the warnings and a row are known."""
    empty = Channel(np.zeros((1, 6)), "N")
    recording = Recording(
        {
            "time": Channel(np.zeros(1), "s"), "sensed": empty, "impulse": empty, "error": empty,
            "warnings": Channel(np.array([warnings], dtype=np.float64), "1"),
        },
        "running",
    )  # fmt: skip
    rest = {"contact_time_s": 2.8, "ripple_n": 0.0, "settle_s": 1.0, "peak_n": 500.0}
    return flags(case, recording, {**rest, **row})


OPEN = (1, 0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "ms late, and bears 123.0 ms at most"),
        ({"contact": Contact.ENGINE}, "too stiff, or too little damped"),
        ({"contact": Contact.HUNT_CROSSLEY}, "too stiff, or too little damped"),
    ],
)
def test_a_contact_that_rings_is_told(changes, said):
    (case,) = dock_cases(replace(QUICK, **changes))
    assert any(said in flag for flag in seen(case, warnings=OPEN, ripple_n=50.0))
    assert not any("come to rest" in flag for flag in seen(case, warnings=OPEN))


def test_a_force_that_does_not_settle_is_told():
    (case,) = dock_cases(QUICK)
    assert any("within 5 %" in flag for flag in seen(case, warnings=OPEN, settle_s=None))
    shut = seen(case, warnings=(0, 0, 0, 0, 0, 0), settle_s=None)
    assert not any("within 5 %" in flag for flag in shut)


def test_a_force_is_settled_once_it_has_stayed_in_the_band():
    time = np.linspace(0.0, 1.0, 1001)
    force = np.where(time < 0.4, 0.0, 500.0)
    assert settling(time, force, 500.0) == pytest.approx(0.399)
    assert settling(time, np.full(1001, 510.0), 500.0) == 0.0
    force[-4] = 600.0  # out of the band 3 ms before the end
    assert settling(time, force, 500.0) is None


@pytest.mark.parametrize("preset", [PresetName.PAPER, PresetName.GENTLE])
@pytest.mark.parametrize("until", [0.3, 2.0])
def test_a_free_drift_solves_the_law(preset, until):
    """D l' + K l = s times the integral of a force that comes up over the ramp."""
    (case,) = dock_cases(replace(QUICK, case=(ForceCase.B,), preset=(preset,)))
    D, K, ramp = PRESETS[preset].D, damper(ForceCase.B, preset), PRESETS[preset].ramp
    length, impulse, h = 0.0, 0.0, 1e-5
    for k in range(round(until / h)):
        share = min((k + 0.5) * h / ramp, 1.0) if ramp else 1.0
        impulse += WRENCH_GAIN * -200.0 * share * h
        length += (impulse - K * length) / D * h
    assert free_drift(case, -200.0, time=until) == pytest.approx(length, rel=1e-3)


def test_the_map_of_delays_has_the_operating_point():
    cases = dock_cases(replace(QUICK, preset=(PresetName.PAPER, PresetName.RSI)))
    (chart,) = delay_maps(cases).figures
    assert {(spot.label, round(spot.x, 1), spot.y) for spot in chart.shown_marks} == {
        ("paper", 2.4, 1e5),
        ("rsi", 7.0, 1e5),
    }
    at = chart.rows.index(1e5), chart.columns.index(23.0)
    assert chart.values[at] == pytest.approx(23.0 / 23.43, rel=1e-3)
    told = delay_maps(dock_cases(replace(QUICK, contact=Contact.ENGINE)))
    assert not told.figures[0].marks and "no stiffness" in told.figures[1].text


def test_an_angle_near_pi_is_told():
    """A path that is turned by almost half a turn, through the controller to the words."""
    (case,) = dock_cases(QUICK)
    docking = docking_scene(payload=100.0, gap=GAP)
    for angle, near in ((3.0, False), (3.12, True)):
        controller = DockingController(case, docking, timestep=1e-3)
        X_WB = RobotDynamics(docking.chaser.model).link_pose(docking.chaser.q_start, CENTER)
        controller._approach = Approach(X_WB @ se3.exp([0, 0, 0, angle, 0, 0]))
        controller._average.add(np.zeros(6))
        controller.tick(0.0, q=docking.chaser.q_start, v=np.zeros(6))
        said = seen(case, warnings=controller.warnings, contact_time_s=None)
        assert any("near pi" in flag for flag in said) is near


@pytest.mark.engine
def test_a_gate_that_never_opens_is_told(monkeypatch):
    monkeypatch.setattr("kinetarium.studies.dock.press.run.DURATION", 2.9)
    _, _, row = judged(gate=5000.0)
    assert any("gate of 5000 N" in flag for flag in row["flags"])


@pytest.mark.engine
@pytest.mark.parametrize("study", [
    (Dock(), replace(QUICK, gate=0.0)),
    (DockStability(), StabilityConfig(stiffness=(1e5,), delay_ms=(1.0, 10.0))),
    (DockFloat(), FloatConfig(stiffness=(1e5,), lead=True)),
], ids=["dock", "dock-stability", "dock-float"])  # fmt: skip
def test_the_studies_are_sound(study, monkeypatch):
    # Without a gate the satellites meet early.
    monkeypatch.setattr("kinetarium.studies.dock.press.run.DURATION", 1.5)
    failed = [check for check in check_study(*study) if not check.passed]
    assert failed == []


def test_cases_take_what_is_not_said_from_the_preset():
    config = DockConfig(
        case=(ForceCase.A, ForceCase.C),
        preset=(PresetName.PAPER, PresetName.GENTLE),
        engine=("mujoco",),
        seeds=3,
        seed=10,
    )
    cases = dock_cases(config)
    assert len(cases) == 12
    assert [case.seed for case in cases[:3]] == [10, 11, 12]
    assert {(c.preset, c.payload_kg, c.delay_ms, c.gate) for c in cases} == {
        (PresetName.PAPER, 1.0, 0.0, 20.0),
        (PresetName.GENTLE, 100.0, 4.0, 40.0),
    }
    (own,) = dock_cases(replace(QUICK, payload_kg=50.0, delay_ms=0.0, gate=0.0))
    assert (own.payload_kg, own.delay_ms, own.gate) == (50.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"payload_kg": 200.0}, "too heavy"),
        ({"seeds": 0}, "seeds"),
        ({"seeds": 10**11}, "seeds"),
        ({"friction": -1.0}, "friction"),
        ({"delay_ms": 1e4}, "delay"),
        ({"gate": float("nan")}, "gate"),
        ({"case": ()}, "case"),
        ({"engine": ("warp",)}, "warp"),
        ({"payload_kg": 1e-9}, "payload"),
        ({"seed": -1}, "seed"),
        ({"start_deg": (0.0, -3.0, 43.0, 0.0, -40.0, 0.0)}, "A2 = -3 deg is outside its limits"),
    ],
)
def test_nonsense_is_refused_in_words(wrong, word):
    with pytest.raises(KinetariumError, match=word):
        dock_cases(replace(QUICK, **wrong))


def test_a_posture_that_looks_elsewhere_is_refused():
    with pytest.raises(SceneError, match="A2"):
        dock_cases(replace(QUICK, start_deg=(0.0, -90.0, 130.0, 0.0, 0.0, 0.0)))
    with pytest.raises(KinetariumError, match="start_deg: inf"):
        dock_cases(replace(QUICK, start_deg=(0.0, float("inf"), 130.0, 0.0, 0.0, 0.0)))


@pytest.fixture(scope="module")
def docking():
    return docking_scene(payload=1.0, gap=-5e-3)


def touch(docking, v=0.0, **law):
    contact = FaceContact(docking, stiffness=1e5, damping=2000.0, **law)
    rates = np.zeros(12)
    if v:
        J = RobotDynamics(docking.chaser.model).jacobian(docking.chaser.q_start, CENTER)
        rates[:6] = np.linalg.solve(J, np.array([v, 0, 0, 0, 0, 0]))
    q = np.concatenate([docking.chaser.q_start, docking.chaser.q_start])
    none = np.zeros((0, 7))
    return contact, tuple(contact.update(0.0, Measurement(q, rates, none, none, {})))


def test_the_prescribed_contact_is_a_spring_and_a_damper(docking):
    law, (on_chaser, on_target) = touch(docking)
    assert law.force == pytest.approx(500.0)
    np.testing.assert_allclose(on_chaser.F_W, [-500, 0, 0, 0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(on_target.F_W, -on_chaser.F_W)
    assert touch(docking, v=0.05)[0].force == pytest.approx(600.0)
    law, wrenches = touch(docking, v=-1.0)  # it never pulls
    assert (law.force, wrenches) == (0.0, ())


def test_hunt_crossley_agrees_at_the_reference_depth(docking):
    assert touch(docking, hardening=True)[0].force == pytest.approx(500.0)
    assert touch(docking, v=0.05, hardening=True)[0].force == pytest.approx(600.0)
    apart = docking_scene(payload=1.0, gap=1e-3)
    assert touch(apart)[1] == ()


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
@pytest.mark.parametrize("preset", [p for p in PresetName if p is not PresetName.REBOUND])
def test_every_seed_holds_the_limits(engine, preset):
    config = DockConfig(
        case=(ForceCase.A, ForceCase.C), preset=(preset,), engine=(engine,), seeds=5
    )
    for case in dock_cases(config):
        row = score(case, run(case))
        assert beyond(case, row) == [], (case, row)


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
def test_the_paper_rebounds_and_then_rests(engine):
    _, _, row = judged(preset=(PresetName.REBOUND,), engine=(engine,))
    assert row["rebounds"] >= 2
    assert row["steady_error_n"] <= 2
    _, _, row = judged(case=(ForceCase.A,), preset=(PresetName.PAPER,), engine=(engine,))
    assert row["eta_end_m"][0] == pytest.approx(32.6e-3 - 500 / 1e5, abs=0.5e-3)


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.parametrize("contact", [Contact.HUNT_CROSSLEY, Contact.ENGINE])
def test_other_contacts_settle_to_the_same_force(contact):
    _, _, row = judged(
        case=(ForceCase.A,), preset=(PresetName.PAPER,), contact=contact,
        anti_windup=AntiWindup.CLAMPED,
    )  # fmt: skip
    assert row["steady_error_n"] <= 2
