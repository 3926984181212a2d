"""The mission: closed form of the orbit, books of momentum and energy, and the capture."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kinetarium.control.admittance.floating import (
    mean_motion,
    orbit_transition,
    relative_acceleration,
)
from kinetarium.errors import KinetariumError
from kinetarium.spatial import se3
from kinetarium.spatial.rotation import pose, rotation_about
from kinetarium.studies.dock.mission.arms import ArmPair
from kinetarium.studies.dock.mission.config import FINE, MissionConfig, Side, cases
from kinetarium.studies.dock.mission.figures import mission_section, replay, report
from kinetarium.studies.dock.mission.run import Craft, Guidance, run, score
from kinetarium.studies.dock.press.probe import SHAPE, ProbeContact


@pytest.mark.parametrize("time", [1e-3, 30.0, 5000.0])
def test_the_closed_form_solves_the_relative_motion(time: float) -> None:
    n, a = mean_motion(500e3), np.array([1e-4, -2e-4, 3e-4])
    start = np.array([30.0, -50.0, 10.0, 0.02, -0.05, 0.01])

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[3:], relative_acceleration(y[:3], y[3:], n=n) + a])

    exact = solve_ivp(rates, (0, time), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    A, B = orbit_transition(n, time)
    np.testing.assert_allclose(A @ start + B @ a, exact, rtol=1e-9, atol=1e-9)


def test_steps_of_a_craft_are_the_closed_form() -> None:
    n = mean_motion(500e3)
    state = np.array([5.0, -50.0, 3.0, 0.01, 0.02, -0.01])
    craft = Craft(100.0, p=state[:3], v=state[3:], R=np.eye(3), w=np.zeros(3), n=n)
    for _ in range(12_000):
        craft.step(np.zeros(3), np.zeros(3), dt=0.05)
    exact = orbit_transition(n, 600.0)[0] @ state
    np.testing.assert_allclose(np.concatenate([craft.p, craft.v]), exact, rtol=1e-6, atol=1e-6)


def test_a_tumbling_craft_keeps_its_energy_and_angular_momentum() -> None:
    w = np.radians([0.3, 0.5, 0.9])
    craft = Craft(150.0, p=np.zeros(3), v=np.zeros(3), R=np.eye(3), w=w, n=1e-3)
    energy, spin = craft.energy, craft.spin.copy()
    for _ in range(7200):
        craft.step(np.zeros(3), np.zeros(3), dt=0.05)
    assert craft.energy == pytest.approx(energy, rel=1e-6)
    np.testing.assert_array_equal(craft.spin, spin)


def test_the_gap_is_smooth_and_ends_at_the_speed_of_contact() -> None:
    (case,) = cases(MissionConfig())
    guidance = Guidance(case)
    t = np.linspace(0.0, guidance.contact_from + 0.3, 40_000)
    rate = np.gradient([guidance.gap(float(each)) for each in t], t)
    assert guidance.gap(0.0) == pytest.approx(50.0)
    assert rate[-10] == pytest.approx(-case.speed, rel=1e-3)
    assert np.abs(np.diff(rate)).max() < 1e-3 and rate.min() > -0.31


def test_a_tumbling_target_is_captured_and_the_books_balance() -> None:
    (case,) = cases(MissionConfig())
    recording = run(case)
    row = score(case, recording)
    assert row["captured"] and row["flags"] == []
    assert row["contact_speed_ms"] == pytest.approx(0.05, rel=0.1)
    assert row["contact_offset_m"] < 0.01 and row["contact_tilt_rad"] < np.radians(3)
    for name in ("momentum_error", "spin_error", "energy_error"):
        assert row[name] < 1e-3, (name, row)
    assert row["arm_error_m"] < 1e-6 and row["arm_speed_share"] < 0.1 < row["arm_room_rad"]
    shown = replay(case, recording)
    assert [marker.name for marker in shown.markers][2:] == ["on the arms", "contact", "captured"]
    solids = {solid.name: solid.poses for solid in shown.solids}
    assert solids.keys() > {"chaser", "target", "chaser/satellite", "target/satellite"}
    # On the arms the satellites come as near to each other as in orbit.
    for pair in (("chaser", "target"), ("chaser/satellite", "target/satellite")):
        ends = [solids[name][-1, :3] for name in pair]
        sensors = 2 * 0.2 if "/" in pair[0] else 0.0  # a satellite on an arm begins at its sensor
        between = np.linalg.norm(ends[0] - ends[1]) - sensors
        assert between == pytest.approx(0.4 + SHAPE.length - SHAPE.mouth - SHAPE.socket, abs=6e-3)
    assert shown.time[0] == 0.0 and len(shown.time) == len(recording["time"])
    path, force, _ = mission_section("mission", recording, suffix="").figures
    assert [mark.label for mark in path.marks] == ["round the target", "on the arms", "contact"]
    assert path.caption.endswith("contact from 371.5 s, captured from 373.1 s.")
    (captured,) = force.marks
    assert captured.value == pytest.approx(row["capture_time_s"] - row["contact_time_s"])


def test_arms_hold_what_is_relative_to_each_other() -> None:
    """Any roll of the chaser is mounted; then both arms repeat a twist that turns all axes."""
    arms, roll = ArmPair(2.0), pose((0, 0, 0), rotation_about((1.0, 0.0, 0.0), 2.5))
    facing = pose((2.52, 0.0, 0.0), rotation_about((0.0, 0.0, 1.0), np.pi)) @ roll
    start = arms.q
    np.testing.assert_allclose(arms.follow(facing), facing, atol=1e-9)
    np.testing.assert_allclose(arms.q, start, atol=1e-6)
    for share in np.linspace(0.0, 1.0, 60):
        X_TC = facing @ se3.exp(share * np.array([1.8, 0.02, -0.03, 0.05, 0.06, -0.04]))
        np.testing.assert_allclose(arms.follow(X_TC), X_TC, atol=1e-8)
    assert arms.follows
    arms.follow(facing @ pose((9.0, 0.0, 0.0)))
    assert not arms.follows


def energies(
    contact: ProbeContact, *, aside: float, tilt: float, dt: float, duration: float = 0.7
) -> list[float]:
    """Return the kinetic energy of two free satellites over time, over that before they touch."""
    facing, free = rotation_about((0.0, 0.0, 1.0), np.pi), {"w": np.zeros(3), "n": 1e-6}
    tilted = rotation_about((0.0, 0.0, 1.0), tilt)
    p = np.array([-0.201, aside, 0.0]) - (0.2 + SHAPE.length) * tilted[:, 0]
    chaser = Craft(1.0, p=p, v=np.array([0.2, 0.0, 0.0]), R=tilted, **free)
    target = Craft(1.0, p=np.zeros(3), v=np.zeros(3), R=facing, **free)
    found = [chaser.energy + target.energy]
    for _ in range(round(duration / dt)):
        force, moment = contact.forces(
            pose(chaser.p, chaser.R), pose(target.p, target.R),
            V_C=np.concatenate([chaser.v, chaser.w]), V_T=np.concatenate([target.v, target.w]),
            dt=dt,
        )  # fmt: skip
        for craft, push, turn in ((chaser, force, moment), (target, -force, -moment)):
            craft.step(push, turn + np.cross(contact.point - craft.p, push), dt=dt)
        found.append(chaser.energy + target.energy)
    return [energy / found[0] for energy in found]


@pytest.mark.parametrize(("aside", "tilt"), [(0.0, 0.0), (0.01, 0.0), (0.01, 0.03)])
def test_a_contact_does_not_create_energy(aside: float, tilt: float) -> None:
    """The books count its work as that of any force; without thrust nothing else adds energy."""
    (case,) = cases(MissionConfig(mass=(1.0, 1.0), stiffness=1e3, damping=200.0))
    contact = ProbeContact(
        SHAPE, stiffness=case.stiffness, damping=case.damping, friction=case.friction
    )
    found = energies(contact, aside=aside, tilt=tilt, dt=FINE)
    assert max(found) <= 1 + 1e-9 and min(found) < 0.75  # it touched


@pytest.mark.parametrize("aside", [0.001, 0.003, 0.01, 0.034, 0.04, 0.061])
def test_springs_return_what_was_put_into_them(aside: float) -> None:
    """Beside the socket's mouth, on the cone, over its edge and on the face; steps add 0.5 %."""
    contact = ProbeContact(SHAPE, stiffness=1e3, damping=0.0, friction=0.0)
    found = energies(contact, aside=aside, tilt=0.01, dt=1e-4, duration=0.5)
    assert max(found) < 1.01 and min(found) < 0.995


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"tumble": "90deg/s"}, "--tumble: 90deg/s is outside"),
        ({"tumble": "1rpm"}, "a unit of deg/s, rad/s"),
        ({"distance": 5.0}, "distance"),
        ({"stiffness": 1e6, "mass": (1.0, 1.0)}, "too stiff for 1 kg"),
        ({"stiffness": 1e3, "mass": (1.0, 1.0), "damping": 1e4}, "must be at most 200$"),
    ],
)
def test_nonsense_is_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(KinetariumError, match=said):
        cases(MissionConfig(**changes))


@pytest.mark.slow
def test_a_mission_from_below() -> None:
    (case,) = cases(MissionConfig(approach=Side.R_BAR, altitude_km=400.0, tumble="0.5deg/s"))
    row = score(case, run(case))
    assert row["captured"] and row["energy_error"] < 1e-3


def test_reports_say_what_failed() -> None:
    assert report([]).conclusion
