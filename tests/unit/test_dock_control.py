"""The parts of the docking controller, one by one."""

import numpy as np
import pytest

from kinetarium.control.admittance.sensing import (
    ContactGate,
    PayloadWrench,
    RandomWalkKalman,
    TickAverage,
    contact_point,
)
from kinetarium.control.arm.clik import Clik
from kinetarium.control.arm.tracking import Setpoints
from kinetarium.dynamics import RobotDynamics
from kinetarium.scene import SceneError
from kinetarium.scene.docking import (
    CENTER,
    CHASER,
    FACE_VERTICES,
    SATELLITE,
    TARGET,
    X_SB,
    docking_scene,
    satellite_arm,
)
from kinetarium.spatial import se3
from kinetarium.spatial.rotation import pose, rotation_about

HOME = np.deg2rad([0.0, -90.0, 130.0, 0.0, -40.0, 0.0])


@pytest.fixture(scope="module")
def arm():
    return RobotDynamics(satellite_arm(100.0))


def test_the_scene_is_as_specified():
    docking = docking_scene(payload=1.0, gap=0.1674)
    assert docking.target.X_WA[0, 3] == pytest.approx(4.2244, abs=1e-4)
    dynamics = RobotDynamics(docking.chaser.model)
    X_WC = dynamics.link_pose(docking.chaser.q_start, CENTER)
    X_WT = docking.target.X_WA @ X_WC
    gap = (X_WT[:3, 3] - X_WC[:3, 3]) @ X_WC[:3, 0] - 0.4
    assert gap == pytest.approx(0.1674)
    np.testing.assert_allclose(X_WT[:3, 0], -X_WC[:3, 0], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(FACE_VERTICES[:, 1:], axis=1), 0.3)
    pair = frozenset({f"{CHASER}/{SATELLITE}", f"{TARGET}/{SATELLITE}"})
    assert docking.scene.no_contact == {pair}
    with pytest.raises(SceneError, match="A2"):
        docking_scene(payload=1.0, gap=0.1, positions=dict.fromkeys(docking_names(), 0.2))


def docking_names():
    return [f"A{i}" for i in range(1, 7)]


def test_a_heavier_satellite_is_spread_alike(arm):
    inertia = arm.model.link(SATELLITE).inertia
    assert inertia.mass == 100.0
    np.testing.assert_allclose(np.diag(inertia.moment), [3.75, 3.208333, 3.208333], rtol=1e-6)


def test_rates_follow_a_twist(arm):
    clik = Clik(arm.model, link=CENTER, timestep=1e-3)
    X_WB = clik.locate(HOME)
    clik.reset(X_WB)
    V = np.array([0.05, 0.02, -0.03, 0.1, -0.1, 0.05])
    rates = clik.rates(HOME, V_ref=V)
    moved = se3.log(se3.inverse(X_WB) @ arm.link_pose(HOME + 1e-6 * rates, CENTER)) / 1e-6
    np.testing.assert_allclose(moved, V, atol=1e-3)  # the reference is 1 ms ahead
    assert not any((clik.warnings.singular, clik.warnings.at_limit, clik.warnings.too_fast))
    smallest = np.linalg.svd(arm.jacobian(HOME, CENTER))[1][-1]
    assert clik.smallest_singular_value == pytest.approx(smallest, rel=1e-2)


def test_the_link_is_where_pinocchio_has_it(arm):
    clik = Clik(arm.model, link=CENTER, timestep=1e-3)
    for q in (HOME, np.array([0.4, -1.2, 1.9, -2.0, 0.7, 3.0])):
        np.testing.assert_allclose(clik.locate(q), arm.link_pose(q, CENTER), atol=1e-12)
        np.testing.assert_allclose(clik._J, arm.jacobian(q, CENTER), atol=1e-12)


def test_a_singular_posture_is_noticed_and_rates_stay_bounded(arm):
    q = np.deg2rad([0.0, -90.0, 90.0, 0.0, 0.0, 0.0])
    clik = Clik(arm.model, link=CENTER, timestep=1e-3)
    X_WB = clik.locate(q)
    clik.reset(X_WB)
    rates = clik.rates(q, V_ref=np.full(6, 0.1))
    assert clik.warnings.singular
    assert np.isfinite(rates).all()
    limits = [joint.limits.velocity for joint in arm.model.moving_joints]
    assert (np.abs(rates) <= np.array(limits) + 1e-12).all()


def test_limits_stop_a_joint_and_scale_all_rates(arm):
    clik = Clik(arm.model, link=CENTER, timestep=1e-3)
    X_WB = clik.locate(HOME)
    clik.reset(X_WB)
    fast = clik.rates(HOME, V_ref=np.array([5.0, 0, 0, 0, 0, 0]))
    assert clik.warnings.too_fast
    limits = np.array([joint.limits.velocity for joint in arm.model.moving_joints])
    assert np.max(np.abs(fast) / limits) == pytest.approx(1.0)
    q = HOME.copy()
    q[1] = arm.model.moving_joints[1].limits.lower + 0.01
    X_WB = clik.locate(q)
    outward = np.sign(arm.jacobian(q, CENTER)[2, 1])
    clik.reset(X_WB)
    V_W = -outward * arm.jacobian(q, CENTER)[:, 1] * outward
    R = X_WB[:3, :3]
    rates = clik.rates(q, V_ref=0.1 * np.concatenate([R.T @ V_W[:3], R.T @ V_W[3:]]))
    assert clik.warnings.at_limit
    assert rates[1] == 0.0


def test_kalman_gain_and_lag():
    kalman = RandomWalkKalman(0.3)
    assert kalman.gain == pytest.approx(0.4179, abs=1e-4)
    assert kalman.lag == pytest.approx(1.393, abs=1e-3)
    assert RandomWalkKalman(0.01).lag == pytest.approx(9.51, abs=0.01)
    ramp = [kalman.update(np.full(6, float(k)))[0] for k in range(100)]
    assert 99 - ramp[-1] == pytest.approx(kalman.lag, rel=1e-6)


def test_kalman_gain_is_that_of_the_riccati_recursion():
    P, Q, R = 1.0, 0.3 * 25, 25.0
    for _ in range(200):
        P = P + Q
        gain = P / (P + R)
        P = (1 - gain) * P
    assert RandomWalkKalman(0.3).gain == pytest.approx(gain, rel=1e-12)


def test_tick_average():
    average = TickAverage()
    for value in (1.0, 2.0, 6.0):
        average.add(np.full(6, value))
    np.testing.assert_array_equal(average.take(), np.full(6, 3.0))
    average.add(np.ones(6))
    np.testing.assert_array_equal(average.take(), np.ones(6))


def test_a_hanging_payload_feels_no_contact_at_any_tilt():
    g = np.array([0.0, 0.0, -9.81])
    payload = PayloadWrench(mass=100.0, X_SB=X_SB, gravity=g)
    for angle in (0.0, 0.4, 2.0):
        X_WS = pose(rotation=rotation_about((0.6, 0.0, 0.8), angle))
        X_WB = X_WS @ X_SB
        weight = np.concatenate([X_WB[:3, :3].T @ (100.0 * g), np.zeros(3)])
        F_S = se3.wrench_in_parent(X_SB, weight)
        np.testing.assert_allclose(payload.contact(F_S, R_WB=X_WB[:3, :3]), 0.0, atol=1e-10)
        a = np.array([0.3, -0.1, 0.2])
        carried = weight - np.concatenate([X_WB[:3, :3].T @ (100.0 * a), np.zeros(3)])
        F_S = se3.wrench_in_parent(X_SB, carried)
        felt = payload.contact(F_S, R_WB=X_WB[:3, :3], acceleration=a)
        np.testing.assert_allclose(felt, 0.0, atol=1e-10)


def test_gate_opens_once_armed_and_stays_open():
    gate = ContactGate(threshold=20.0, armed_after=0.2)
    hard, soft = np.array([-30.0, 0, 0, 0, 0, 0]), np.zeros(6)
    assert not gate.update(0.1, hard)
    assert not gate.update(0.3, soft)
    assert gate.update(0.4, hard)
    assert not gate.update(0.5, hard)  # it opens only once
    assert gate.is_open
    assert gate.opened_at == 0.4
    gate.reset()
    assert not gate.is_open
    assert ContactGate(threshold=0.0, armed_after=0.2).is_open


def test_setpoints_are_lines_some_time_late():
    start = np.zeros(1)
    line = Setpoints(start, tick=4e-3, delay=4e-3)
    seen, rates = [], []
    for k in range(20):
        if k % 4 == 0:
            line.add(k * 1e-3, np.array([float(k // 4 + 1)]))
        q, rate = line.at((k + 1) * 1e-3)
        seen.append(q[0])
        rates.append(rate[0])
    # After the delay of 4 ms one unit per tick of 4 ms, without a step.
    np.testing.assert_allclose(seen, np.maximum(0.0, (np.arange(1, 21) - 4) / 4), atol=1e-9)
    np.testing.assert_allclose(rates[4:], 250.0)


def test_setpoints_without_delay_are_the_points():
    line = Setpoints(np.zeros(1), tick=1e-3, delay=0.0)
    for k in range(5):
        line.add(k * 1e-3, np.array([k * 0.1]))
        assert line.at((k + 1) * 1e-3)[0][0] == pytest.approx(k * 0.1)
    q, rate = line.at(1.0)
    assert (q[0], rate[0]) == (pytest.approx(0.4), 0.0)


def test_contact_point_from_a_wrench():
    p, f = np.array([0.2, 0.07, -0.11]), np.array([-500.0, 30.0, -20.0])
    F_B = np.concatenate([f, np.cross(p, f)])
    np.testing.assert_allclose(contact_point(F_B, face=0.2), p, atol=1e-12)
    assert np.isnan(contact_point(np.zeros(6), face=0.2)).all()
