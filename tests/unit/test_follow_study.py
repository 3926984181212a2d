"""The follow study: what the sensors know, the line over time, the arm's law, and short runs."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kinetarium import KinetariumError, load_robot
from kinetarium.batch.outcomes import RunStatus
from kinetarium.batch.study import Outcome
from kinetarium.control.arm.moving_base import MovingBaseArm, ToolReference
from kinetarium.control.interface import Measurement
from kinetarium.control.vehicle.robot_base import vehicle
from kinetarium.control.vehicle.wheeled_base import Chassis, Steering
from kinetarium.dynamics import RobotDynamics
from kinetarium.roles import RoleOptions
from kinetarium.spatial.rotation import pose, rotation_about
from kinetarium.studies.follow import figures
from kinetarium.studies.follow._sensing import DELAY, NOISE, RATE, base_sensor
from kinetarium.studies.follow.config import CONTROL_RATE, Case, Config, Sensing
from kinetarium.studies.follow.run import line_over_time, run, score

SHORT = Config(length=0.4, speed=(0.3,), sensing=(Sensing.TRUE,))


@pytest.fixture(scope="module")
def case() -> Case:
    [only] = SHORT.cases()
    return only


def moving(t: float, *, speed: float = 0.3, wheels: float = 0.0) -> Measurement:
    """A base that drives along x, and wheels that turn."""
    at = np.array([[speed * t, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0]])
    twist = np.array([[speed, 0.0, 0.0, 0.0, 0.0, 0.0]])
    return Measurement(np.zeros(13), np.full(13, wheels), at, twist, {})


def read(sensing: Sensing, *, seconds: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    """Return what a sensor knows of x, and x."""
    robot = RoleOptions().open("scout-panda")
    base = vehicle(robot)
    sensor = base_sensor(sensing, chassis=Chassis(base, 1.5), seed=1)
    times = np.arange(round(seconds * CONTROL_RATE)) / CONTROL_RATE
    wheels = 0.3 / base.wheel_radius * base.driven[0].forward
    known = [sensor.read(t, moving(t, wheels=wheels)).X_WB[0, 3] for t in times]
    return np.array(known), 0.3 * times


def test_late_poses_are_old_by_the_delay_and_up_to_a_period_more() -> None:
    known, true = read(Sensing.LATE)
    behind = (true - known)[100:] / 0.3
    assert behind.min() == pytest.approx(DELAY, abs=1e-9)
    assert behind.max() == pytest.approx(DELAY + 1 / RATE - 1 / CONTROL_RATE, abs=1e-9)


def test_an_even_motion_is_predicted_exactly_and_rolling_wheels_add_up_to_it() -> None:
    for sensing in (Sensing.TRUE, Sensing.PREDICTED, Sensing.ODOMETRY):
        known, true = read(sensing)
        assert np.abs(known - true).max() < 1e-9


def test_the_filter_removes_most_of_the_noise() -> None:
    raw, filtered = (
        np.subtract(*read(sensing, seconds=20.0))[1000:] for sensing in (Sensing.RAW, Sensing.NOISY)
    )
    assert raw.std() == pytest.approx(NOISE, rel=0.1)
    # Of a first-order filter with gain g the variance is g / (2 - g) of the noise's.
    assert filtered.std() == pytest.approx(NOISE * np.sqrt(0.05 / 1.95), rel=0.35)


def test_the_line_is_followed_from_rest_to_rest(case: Case, tmp_path: Path) -> None:
    line = line_over_time(replace(case, length=2.0), rate=500.0)
    speed = np.gradient(line.X_WT[:, 0, 3], line.times)
    assert line.X_WT[0, 0, 3] == pytest.approx(0.0) and line.X_WT[-1, 0, 3] == pytest.approx(2.0)
    assert speed.max() == pytest.approx(0.3, rel=1e-3) and abs(speed[0]) < 1e-3
    assert np.abs(np.gradient(speed, line.times)).max() < 0.5
    # A line too short for its speed is set off at 0.3 m/s^2 too: at 0.42 m/s at most, not 0.5.
    short = line_over_time(replace(case, length=0.6, speed=0.5), rate=500.0)
    speed = np.gradient(short.X_WT[:, 0, 3], short.times)
    assert speed.max() == pytest.approx(np.sqrt(0.3 * 0.6), rel=1e-3)
    assert speed.max() / short.times[speed.argmax()] == pytest.approx(0.3, rel=2e-3)
    bent = [pose((x, y, 1.0), rotation_about((0, 0, 1), x)) for x, y in ((0, 0), (1, 0.2), (2, 0))]
    file = tmp_path / "line.json"
    file.write_text(json.dumps([X.tolist() for X in bent]))
    [other] = replace(SHORT, line=str(file)).cases()
    path = line_over_time(other, rate=50.0).X_WT
    assert np.linalg.norm(path[:, :3, 3] - bent[1][:3, 3], axis=1).min() < 5e-3
    file.write_text(json.dumps([X.tolist() for X in bent[:2]]))
    with pytest.raises(KinetariumError, match="has changed"):
        line_over_time(other, rate=50.0)


def test_the_law_accelerates_the_tool_as_its_error_demands() -> None:
    """With the torques of the law, and a base that moves as planned, A = w^2 log(X X_D^-1)."""
    model = load_robot("panda")
    dynamics = RobotDynamics(model, free_base=True)
    rng = np.random.default_rng(0)
    home = np.array([0.1, -0.7, 0.2, -2.2, 0.1, 1.7, 0.6, 0.02, 0.02])
    q = np.concatenate([[0.3, 0.1, 0.5, 1.0, 0.0, 0.0, 0.0], home])
    v = np.concatenate([0.1 * rng.standard_normal(6), 0.1 * rng.standard_normal(7), [0.0, 0.0]])
    law = MovingBaseArm(dynamics, link="panda_hand", joints=np.arange(7), bandwidth=5.0)
    X, J = dynamics.link_pose(q, "panda_hand"), dynamics.jacobian(q, "panda_hand")
    wanted_at = X.copy()
    wanted_at[:3, 3] += (0.01, -0.02, 0.005)
    A_B = np.array([0.2, -0.1, 0.0, 0.0, 0.0, 0.3])
    wanted = ToolReference(wanted_at, J @ v, np.zeros(6), home[:7], v[6:13], A_B)
    tau = law.torques(q, v, wanted=wanted)
    # The joints' accelerations that these torques cause while base and fingers move as planned.
    rows = np.arange(6, 13)
    fixed = np.concatenate([A_B, np.zeros(9)])
    rest = dynamics.inverse_dynamics(q, v, fixed)[rows]
    a = fixed.copy()
    a[rows] = np.linalg.solve(dynamics.mass_matrix(q)[np.ix_(rows, rows)], tau - rest)
    step = 1e-6
    ahead = dynamics.jacobian(dynamics.integrate(q, step * v), "panda_hand")
    reached = J @ a + (ahead - J) @ v / step
    assert np.allclose(reached[:3], 25.0 * np.array([0.01, -0.02, 0.005]), atol=2e-3)
    assert np.allclose(reached[3:], 0.0, atol=2e-3)


def test_an_effort_of_zero_states_no_limit() -> None:
    """Exporters write it by default; the torques are then those without a limit."""
    panda = load_robot("panda")
    q = np.concatenate([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], np.full(9, 0.02)])
    v, X = np.zeros(15), pose((2.0, 0.0, 0.0))
    wanted = ToolReference(X, np.zeros(6), np.zeros(6), q[7:14], np.zeros(7), np.zeros(6))
    found = []
    for effort in (0.0, np.inf):
        limited = [
            replace(each, limits=replace(each.limits, effort=effort)) for each in panda.joints
        ]
        model = replace(panda, joints=tuple(limited))
        dynamics = RobotDynamics(model, free_base=True)
        law = MovingBaseArm(dynamics, link="panda_hand", joints=np.arange(7))
        found.append(law.torques(q, v, wanted=wanted))
        assert {joint.limits.rated_effort for joint in model.joints} == {np.inf}
    assert np.abs(found[0]).max() > 1e3 and np.array_equal(*found)


def test_a_short_line_in_mujoco(case: Case) -> None:
    rows = {}
    outcomes = []
    for sensing in (Sensing.TRUE, Sensing.PREDICTED, Sensing.LATE):
        one = replace(case, sensing=sensing)
        recording = run(one)
        rows[sensing] = score(one, recording)
        done = Outcome(one, RunStatus.COMPLETED, "", (rows[sensing],), recording, {})
        outcomes.append(done)
    assert rows[Sensing.TRUE]["tool_max_mm"] < 0.5
    assert rows[Sensing.PREDICTED]["tool_max_mm"] < 2.0 < rows[Sensing.LATE]["tool_max_mm"]
    for row in rows.values():
        assert row["success"] and row["cause"] == ""
        uses = [value for name, value in row.items() if name.endswith("_use")]
        assert len(uses) == 7 and 0 < min(uses) and max(uses) <= 1 + 1e-9
    findings = figures.report(outcomes)
    assert "scout-panda keeps its tool on the line within" in findings.conclusion
    assert "with the true pose" in findings.conclusion
    elsewhere = replace(case, engine="of another machine")
    replay = figures.replay(elsewhere, outcomes[0].recorded)
    assert replay.guides[0].name == "line" and len(replay.time) == len(outcomes[0].recorded["time"])


def test_a_steered_base_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its plan would turn in place, and its odometry need driven wheels on both sides."""
    base = vehicle(RoleOptions().open("scout-panda"))
    front = replace(
        base.wheels[0], y=0.0, steering=Steering("fork", 0.2, 0.0, 1, 0.0, 1.0, 1.0, 0, 0)
    )
    tricycle = replace(base, wheels=(front,))
    monkeypatch.setattr("kinetarium.control.vehicle.robot_base.vehicle", lambda robot: tricycle)
    with pytest.raises(KinetariumError, match=r"steered, .*; use a base that turns in place"):
        SHORT.cases()


def test_wheels_that_are_too_slow_are_planned_for_or_refused(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wheels of 1.5 rad/s drive at 0.25 m/s; those of 1 rad/s at 0.16 m/s."""
    base = vehicle(RoleOptions().open("scout-panda"))

    def limit(speed: float) -> None:
        wheels = tuple(replace(wheel, speed=speed) for wheel in base.wheels)
        limited = replace(base, wheels=wheels)
        monkeypatch.setattr("kinetarium.studies.follow.run.vehicle", lambda robot: limited)

    limit(1.5)
    slow = replace(case, base_speed=0.9)
    row = score(slow, run(slow))
    assert row["success"] and 0.5 < row["wheel_speed_use"] <= 1.0
    limit(1.0)
    with pytest.raises(KinetariumError, match="cannot follow the line"):
        run(replace(case, base_speed=0.8, length=2.0))


def test_the_line_of_the_readme_is_followed(tmp_path: Path) -> None:
    """As written: a bent line by positions and quaternions, in the order of the file."""
    text = (Path(figures.__file__).parent / "README.md").read_text("utf-8")
    file = tmp_path / "line.json"
    file.write_text(text.partition("```json\n")[2].partition("```")[0])
    [one] = replace(SHORT, line=str(file)).cases()
    recording = run(one)
    row = score(one, recording)
    assert row["success"] and row["tool_max_mm"] < 0.5
    line = recording["line"]
    for place in json.loads(file.read_text()):
        assert np.linalg.norm(line - place["position"], axis=1).min() < 5e-3


def test_a_report_without_a_completed_run(case: Case) -> None:
    failed = Outcome(case, RunStatus.FAILED, "no such line", (), None, {})
    findings = figures.report([failed])
    assert (
        findings.sections == ()
        and "does not follow the line with the true pose" in findings.conclusion
    )


def test_the_conclusion_names_the_torque_of_each_engine(case: Case) -> None:
    outcomes = [
        Outcome(
            replace(case, engine=engine), RunStatus.COMPLETED, "",
            ({"success": success, "cause": "", "tool_max_mm": 1.0, "torque_use": use},), None, {},
        )
        for engine, use, success in
        (("ode", 0.9, True), ("dart", 1.0, False), ("mujoco", 0.3, True))
    ]  # fmt: skip
    of_ode, of_dart, of_mujoco = figures.report(outcomes).conclusion.split(". ")
    assert "90 % of their torque" in of_ode and "30 % of their torque" in of_mujoco
    assert of_dart == "In dart scout-panda does not follow the line with the true pose"


@pytest.mark.parametrize("poses", [[pose()], [pose(), pose()]])
def test_files_that_are_no_line_are_refused(poses: list[np.ndarray], tmp_path: Path) -> None:
    file = tmp_path / "line.json"
    file.write_text(json.dumps([X.tolist() for X in poses]))
    with pytest.raises(KinetariumError, match="must have two poses or more"):
        replace(SHORT, line=str(file)).cases()


def test_robots_and_lines_that_do_not_fit_are_refused(case: Case, tmp_path: Path) -> None:
    with pytest.raises(KinetariumError, match="wheels"):
        replace(SHORT, robot="panda").cases()
    with pytest.raises(KinetariumError, match=r"first pose of the trajectory, at 0\.00 m"):
        run(replace(case, height=3.0))
    left = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]
    file = tmp_path / "rising.json"
    file.write_text(json.dumps([pose((x, 0.0, 1.1 + x), left).tolist() for x in (0.0, 1.5)]))
    [rising] = replace(SHORT, line=str(file)).cases()
    with pytest.raises(KinetariumError, match=r"scout-panda cannot follow the line .* m: "):
        run(rising)
