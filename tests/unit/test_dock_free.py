"""Free dockings: any wrench, gains, misalignment and speed; what is refused beforehand."""

from dataclasses import replace

import numpy as np
import pytest

from kinetarium.control.admittance.law import (
    AdmittanceGains,
    AdmittanceSE3,
    contact_roots,
    critical_delay,
    noise_bandwidth,
    settling_time,
)
from kinetarium.control.interface import Measurement
from kinetarium.dynamics import RobotDynamics
from kinetarium.errors import KinetariumError
from kinetarium.ranges import Range, quantity
from kinetarium.scene.docking import CENTER, FACE_VERTICES, SATELLITE_LENGTH, docking_scene
from kinetarium.spatial import se3
from kinetarium.studies.dock.press.arms import CONTACT_SPEED, GAP, docking_of
from kinetarium.studies.dock.press.cases import (
    CONTACT_TIME,
    Approach,
    cases,
    cruise,
    random_docking,
)
from kinetarium.studies.dock.press.config import Contact, DockConfig, PresetName
from kinetarium.studies.dock.press.contact import ElasticFaces, turning_stiffness
from kinetarium.studies.dock.press.probe import SHAPE
from kinetarium.studies.dock.press.run import run, score
from kinetarium.studies.dock.press.settling import band, noise_bounds, noise_left

FREE = DockConfig(
    preset=(PresetName.RECOMMENDED,), engine=("mujoco",), wrench=(-500.0, 0.0, 0.0, 0.0, 20.0, 10.0)
)


def test_roots_solve_the_loop_and_vanish_at_the_critical_delay():
    gains = {"s": 0.5, "stiffness": 1e5, "damping": 2000.0}
    slow, fast = contact_roots(100.0, 4000.0, **gains, delay=0.0)
    np.testing.assert_allclose(
        sorted([slow.real, fast.real]), np.sort(np.roots([100.0, 5000.0, 5e4]))
    )
    for D, K in ((300.0, 200.0), (100.0, 4000.0)):
        most = critical_delay(D, K, **gains)
        assert contact_roots(D, K, **gains, delay=0.95 * most)[0].real < 0
        assert contact_roots(D, K, **gains, delay=1.05 * most)[0].real > 0
    # Case A of the paper: 511 N of impact on 500 N, 1.67 s by an independent simulation.
    roots = contact_roots(300.0, 200.0, **gains, delay=0.0)
    time = settling_time(roots, error=20.0, rate=1e5 * 0.06615 / 25)
    assert time == pytest.approx(1.67, rel=0.1)
    assert settling_time((0.1 + 1j, 0.1 - 1j), error=2.0, rate=0.0) == np.inf


def test_a_settling_time_bounds_the_response():
    roots = contact_roots(
        300.0, 900.0, s=0.5, stiffness=2e4, damping=300.0, delay=0.0, compliance=1e-5
    )
    late = settling_time(roots, error=20.0, rate=0.0)
    # D x'' (1 + C k) + ... of the linear loop, integrated finely.
    more, x, v, h = 1 + 1e-5 * 2e4, 20.0, 0.0, 1e-5
    outside = 0.0
    for n in range(round(2 * late / h)):
        damper = 900.0 + 0.5 * 300.0
        v -= h * (damper * v + 0.5 * 2e4 * x) / (300.0 * more)
        x += h * v
        outside = n * h if abs(x) > 1 else outside
    assert 0.6 * late < outside < 1.02 * late


def test_matrices_of_gains_generalise_diagonals():
    rng = np.random.default_rng(1)
    turn = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    D, K = turn @ np.diag(rng.uniform(50, 300, 6)) @ turn.T, np.diag(rng.uniform(100, 900, 6))
    X, F = se3.exp(0.1 * rng.standard_normal(6)), rng.standard_normal(6)
    law = AdmittanceSE3(AdmittanceGains((D + D.T) / 2, K), timestep=1e-3)
    V = law.step(X, X_WD=np.eye(4), V_D=np.zeros(6), F_B=F, F_D=np.zeros(6))
    by_hand = se3.adjoint(law.X_BD) @ -np.linalg.solve(D, law.impulse - K @ law.error)
    np.testing.assert_allclose(V, by_hand, rtol=1e-9)
    law.take_over(V)
    held = law.step(np.eye(4), X_WD=np.eye(4), V_D=np.zeros(6), F_B=0 * F, F_D=0 * F)
    np.testing.assert_allclose(held, V, rtol=1e-9)
    law.change_gains(AdmittanceGains(100.0, 50.0))
    after = law.step(np.eye(4), X_WD=np.eye(4), V_D=np.zeros(6), F_B=0 * F, F_D=0 * F)
    np.testing.assert_allclose(after, V, rtol=1e-9)
    for bad in (-np.eye(6), D + np.triu(np.ones((6, 6)), 1), np.zeros((3, 3))):
        with pytest.raises(KinetariumError, match=r"symmetric|positive|6 by 6"):
            AdmittanceGains(bad, 1.0)


@pytest.mark.parametrize(
    ("text", "value"), [("5mm", 5e-3), ("2deg", np.radians(2)), ("-1e-3", -1e-3), ("4 ms", 4e-3)]
)
def test_quantities_have_units(text, value):
    units = ("mm", "deg", "ms")
    found = quantity(text, units=units, limits=Range(-1, 1, unit="SI"), name="x")
    assert found == pytest.approx(value)
    for bad in ("5 kg", "mm", "nan", "1e999", "0x5", "5mm5", "2"):
        with pytest.raises(KinetariumError, match="x: "):
            quantity(bad, units=units, limits=Range(-1, 1, unit="SI"), name="x")


def test_a_misaligned_face_is_where_it_should_be():
    misalign = (0.004, 0.01, -0.005, 0.02, 0.03, -0.04)
    docking = docking_scene(payload=1.0, gap=GAP, misalign=misalign)
    arms = docking.chaser, docking.target
    X_C, X_T = (arm.X_WA @ RobotDynamics(arm.model).link_pose(arm.q_start, CENTER) for arm in arms)
    aligned = docking_scene(payload=1.0, gap=GAP).target
    X_A = aligned.X_WA @ RobotDynamics(aligned.model).link_pose(aligned.q_start, CENTER)
    face = np.array([SATELLITE_LENGTH / 2, 0.0, 0.0])
    moved = (X_T[:3, :3] @ face + X_T[:3, 3]) - (X_A[:3, :3] @ face + X_A[:3, 3])
    np.testing.assert_allclose(moved[1:], misalign[1:3], atol=1e-9)
    turned = se3.log(np.block([[X_T[:3, :3] @ X_A[:3, :3].T, np.zeros((3, 1))], [0, 0, 0, 1]]))
    np.testing.assert_allclose(turned[3:], misalign[3:], atol=2e-3)
    vertices = X_C[:3, 3] + FACE_VERTICES @ X_C[:3, :3].T
    normal = X_T[:3, 0]
    ways = (X_T[:3, 3] + SATELLITE_LENGTH / 2 * normal - vertices) @ normal / normal[0]
    assert ways.min() == pytest.approx(GAP + misalign[0], abs=1e-9)


def test_a_path_goes_on_at_its_speed_until_a_farther_target():
    case = cases(replace(FREE, speed=0.02, misalign=("8mm", *"00000")))[0]
    path = Approach(np.eye(4), scale=case.speed / CONTACT_SPEED, cruise=cruise(case))
    for t in (CONTACT_TIME + 1e-9, CONTACT_TIME + 0.4):
        assert path.at(t)[1][0] == pytest.approx(0.02, rel=1e-3)
    times = np.linspace(0.0, 6.0, 60001)
    places = np.array([path.at(t)[0][0, 3] for t in times])
    rates = np.array([path.at(t)[1][0] for t in times])
    np.testing.assert_allclose(np.gradient(places, times), rates, atol=2e-5)
    assert places[-1] > GAP * case.speed / CONTACT_SPEED + 8e-3


def pressed(docking, *, friction=0.0, dy=0.0, steps=1, v=0.0):
    contact = ElasticFaces(docking, stiffness=1e5, damping=0.0, friction=friction)
    arm = docking.chaser
    dynamics = RobotDynamics(arm.model)
    J, none = dynamics.jacobian(arm.q_start, CENTER), np.zeros((0, 7))
    for n in range(steps):
        q = arm.q_start + np.linalg.solve(J, [0, dy * (n + 1) / steps, 0, 0, 0, 0])
        rates = np.linalg.solve(J, [0, v, 0, 0, 0, 0])
        both = np.concatenate([q, docking.target.q_start])
        measured = Measurement(both, np.concatenate([rates, 0 * rates]), none, none, {})
        contact.update(1e-3 * n, measured)
    return contact


def test_elastic_faces_have_edges_and_stick():
    docking = docking_scene(payload=1.0, gap=-5e-3)
    assert pressed(docking).force == pytest.approx(500.0, rel=1e-6)
    # Moved by the apothem two hexagons share 5/12 of their area.
    half = docking_scene(
        payload=1.0, gap=-5e-3, misalign=(0.0, 0.0, 0.3 * np.cos(np.pi / 6), 0, 0, 0)
    )
    assert pressed(half).force == pytest.approx(500.0 * 5 / 12, rel=0.01)
    # 1 mm of sliding stretches the springs to 100 N; friction of 0.1 holds 50.
    stuck = pressed(docking, friction=1.0, dy=1e-3, steps=20, v=0.05)
    assert stuck.F_B[1] == pytest.approx(-1e5 * 1e-3 * 19 / 20, rel=0.06)
    slid = pressed(docking, friction=0.1, dy=1e-3, steps=20, v=0.05)
    assert slid.F_B[1] == pytest.approx(-50.0, rel=0.02)
    across, along = turning_stiffness(elastic=True)
    assert across == pytest.approx(5 / 24 * 0.3**2, rel=0.03)  # of a hexagon
    assert along == pytest.approx(2 * across)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"wrench": (-500.0, 0.0)}, "six numbers"),
        ({"wrench": (-10.0, 0, 0, 0, 0, 0)}, "gate of 20 N"),
        ({"wrench": (-500.0, 0, 0, 20, 10, 0)}, "no reaction at rest"),
        (
            {"wrench": (-500.0, 200, 0, 0, 0, 0), "contact": Contact.FACE, "friction": 0.3},
            "need a friction of 0.5",
        ),
        ({"wrench": (-200.0, 0, 0, 0, 40, 0)}, "200 mm from the axis"),
        ({"gains_d": (100.0, 0.5)}, "too small for the payload"),
        ({"gains_d": (1.0, 2.0, 3.0)}, "one number, two, six or 36"),
        ({"gains_k": (10.0, 1.0), "stiffness": 3e5, "damping": 0.0}, "is unstable"),
        ({"gains_k": (2e5,)}, "settles after"),
        ({"misalign": ("5mm", "0")}, "six values"),
        ({"misalign": ("5kg", *"00000")}, "unit of mm, cm, m"),
        ({"misalign": (*"000", "40deg", "0", "0")}, "outside"),
        ({"chaser": "panda", "payload_kg": 1.0}, r"panda cannot press with 500 N .* of 87 N m"),
        ({"speed": 1.0}, "speed: 1 is outside"),
    ],
)
def test_what_cannot_settle_is_refused_beforehand(changes, said):
    with pytest.raises(KinetariumError, match=said):
        cases(replace(FREE, **changes))


def test_moments_get_gains_of_their_own():
    (case,) = cases(FREE)
    assert case.gains_d == pytest.approx((100.0,) * 3 + (4.5,) * 3)
    assert case.gains_k == pytest.approx((4000.0,) * 3 + (180.0,) * 3)
    (own,) = cases(replace(FREE, gains_d=(120.0,), gains_k=(3000.0, 200.0)))
    assert own.gains_d == pytest.approx((120.0,) * 3 + (5.4,) * 3)
    assert own.gains_k == pytest.approx((3000.0,) * 3 + (200.0,) * 3)


@pytest.mark.engine
def test_a_tilted_target_is_pressed_with_force_and_moment():
    misalign = ("5mm", "0", "0", "1deg", "2deg", "1deg")
    (case,) = cases(replace(FREE, misalign=misalign, speed=0.05))
    row = score(case, run(case))
    assert row["settled"] and row["settle_wrench_s"] <= 1.5 * row["settle_formula_s"] < 1.5
    assert row["force_error_n"] < 10 and row["moment_error_nm"] < 1.0
    assert docking_of(case).target.X_WA[2, 0] != 0


@pytest.mark.engine
def test_a_switched_impedance_adds_no_more_than_its_tank():
    """D from 100 to 300 kg at 0.066 m/s adds 0.87 J at once, or what a tank of 0.1 J allows.

    In the tick of the contact K puts V^T K V/s dt into the tank.
    """
    refilled = CONTACT_SPEED**2 * 4000 / 0.5 * 4e-3
    for tank, most in ((-1.0, 0.87), (0.1, 0.1 + refilled)):
        (case,) = cases(replace(FREE, contact_d=(300.0,), contact_k=(4000.0,), tank=tank))
        recording = run(case)
        row = score(case, recording)
        assert row["settled"]
        energies = recording["energies"]
        first = int(np.flatnonzero(energies[:, 1])[0])
        assert energies[first, 1] == pytest.approx(most, rel=0.1)
        assert tank < 0 or (energies[:, 2] >= 0).all()
    with pytest.raises(KinetariumError, match="--tank requires"):
        cases(replace(FREE, tank=1.0))


@pytest.mark.engine
def test_friction_bears_forces_and_moments_in_the_face():
    changes = {"wrench": (-500.0, 30.0, -20.0, 5.0, 6.0, -4.0), "contact": Contact.FACE}
    tilted = replace(FREE, **changes, friction=0.3, misalign=(*"0000", "1deg", "0"))
    with pytest.raises(KinetariumError, match=r"noise .* --moment-band 1\.\d"):
        cases(tilted)
    (case,) = cases(replace(tilted, moment_band=1.5))
    recording = run(case)
    row = score(case, recording)
    assert row["settled"], row
    # What friction bears acts on the moment by the lever of the face: 0.13 N m without it.
    rest = recording["time"] > recording["time"][-1] - 1.0
    left = noise_left(case, docking_of(case))[1]
    spread = np.linalg.norm(recording["pressed"][rest, 3:].std(axis=0))
    assert spread == pytest.approx(left, rel=0.35)


@pytest.mark.engine
def test_a_probe_10_mm_beside_the_cone_is_captured():
    """The contact force and the latch in an engine; wedging is tested without one."""
    changes = {"wrench": (-500.0, 0, 0, 0, 0, 0), "contact": Contact.PROBE, "friction": 0.2}
    (case,) = cases(replace(FREE, **changes, misalign=("0", "10mm", *"0000"), speed=0.05))
    row = score(case, run(case))
    assert row["latched"] and not row["jammed"], row
    assert row["settled"] and row["insertion_m"] > SHAPE.mouth + SHAPE.latch
    assert row["wedging_tilt_rad"] == pytest.approx(0.1)
    with pytest.raises(KinetariumError, match="along its axis alone"):
        cases(replace(FREE, **{**changes, "wrench": FREE.wrench}))


def test_noise_leaves_what_the_closed_form_says():
    """A first-order loop, D small: the variance is S s k/(2 K); and one with D, by its steps."""
    first = {"s": 0.5, "stiffness": 1e4, "damping": 0.0, "delay": 0.0}
    assert noise_bandwidth(1e-3, 1000.0, **first) == pytest.approx(0.5 * 1e4 / 2000, rel=1e-3)
    loop = {"s": 0.5, "stiffness": 2e4, "damping": 300.0}
    h, D, K, rng = 1e-3, 100.0, 900.0, np.random.default_rng(3)
    noise = 10.0 * rng.standard_normal(400_000)
    x = v = 0.0
    forces = []
    for n in noise.tolist():
        force = loop["stiffness"] * x + loop["damping"] * v
        forces.append(force)
        v -= h * (K * v + loop["s"] * (force + n)) / D
        x += h * v
    left = 10.0**2 * h * noise_bandwidth(D, K, **loop, delay=0.0)
    assert np.std(forces[2000:]) == pytest.approx(left**0.5, rel=0.05)


def test_moments_are_settled_within_5_percent_whatever_the_noise():
    """K of the moments is raised until noise leaves no more; what would be too slow is refused."""
    strong, weak, weaker = (
        replace(FREE, wrench=(-500.0, 0.0, 0.0, 0.0, moment, 0.0)) for moment in (40.0, 12.0, 1.0)
    )
    (fast,), (slow,) = cases(strong), cases(weak)
    docking = docking_of(fast)
    assert band(fast, docking) == pytest.approx((25.0, 2.0))
    assert band(slow, docking) == pytest.approx((25.0, 0.6))
    assert fast.gains_k[3:] == pytest.approx([4000.0 * 0.045] * 3)
    assert min(slow.gains_k[3:]) > 2 * fast.gains_k[3]
    assert 0.7 * 0.6 < noise_bounds(slow, docking)[1] <= 0.76 * 0.6
    # 1 N m and, by the lever of 0.2 m, 2 N m of noise a sample about either axis.
    bandwidth = noise_left(fast, docking)[0] ** 2 / (10.0**2 * 1e-3)
    expected = 4 * (2 * (1.0**2 + 2.0**2) * 1e-3 * bandwidth) ** 0.5
    assert noise_bounds(fast, docking)[1] == pytest.approx(expected, rel=0.01)
    with pytest.raises(KinetariumError, match=r"noise of the sensor .* 0.05 N m .* --moment-band"):
        cases(weaker)
    with pytest.raises(KinetariumError, match="greater K for moments"):
        cases(replace(weak, gains_k=(4000.0, 180.0)))
    (accepted,) = cases(replace(weaker, moment_band=1.1))
    assert accepted.gains_k == fast.gains_k
    assert band(accepted, docking) == pytest.approx((25.0, 1.1))
    (alone,) = cases(replace(FREE, wrench=(-500.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
    assert band(alone, docking)[1] == noise_bounds(alone, docking)[1]


@pytest.mark.slow
@pytest.mark.engine
def test_random_dockings_settle_or_are_refused():
    """200 on three arms and both engines: `python -m benchmarks.docking`."""
    rng, verdicts = np.random.default_rng(0), []
    for number in range(12):
        drawn = random_docking(rng, config=replace(FREE, seed=number))
        try:
            pairs = cases(replace(drawn, engine=("mujoco", "bullet")))
        except KinetariumError:
            continue
        verdicts.append([score(case, run(case))["settled"] for case in pairs])
    assert len(verdicts) > 6
    assert all(mujoco and bullet for mujoco, bullet in verdicts)
