"""The walking machine in MuJoCo: ratios of the pantograph, closed loops, and walks."""

from dataclasses import replace

import numpy as np
import pytest

from kinetarium.control.interface import ExternalWrench
from kinetarium.dynamics.kinematics import link_poses
from kinetarium.legs import GaitTiming, LegKind, Machine, quadruped_mjcf
from kinetarium.legs.quadruped import (
    MotorDrive,
    drive_gains,
    drive_names,
    joint_positions,
    mass_center,
    quadruped_model,
    rest_joints,
)
from kinetarium.model.load import load_robot
from kinetarium.rollout.loop import run as simulate
from kinetarium.scene import Actuation, DriveMode, PlacedRobot, Scene
from kinetarium.studies.walk.config import Config, Drives, Ground, cases
from kinetarium.studies.walk.run import run
from kinetarium.studies.walk.score import score

pytestmark = pytest.mark.engine
UNIT = 0.01


class Held:
    """Commands that stay as they are."""

    rate = 100.0

    def __init__(self, command):
        self.command = command

    def reset(self):
        pass

    def update(self, t, measurement):
        return self.command


class Push:
    """A force on the shank of leg 1 at its foot."""

    def __init__(self, foot, force):
        self.wrench = ExternalWrench("robot/leg1_shank", np.array([*force, 0, 0, 0.0]), foot)

    def update(self, t, measurement):
        return (self.wrench,)


def hung(machine, joints, push=None):
    """Hold the body in the air with its drives at joint values; give feet, joints, gap, efforts."""
    model = quadruped_model(machine)
    gains = drive_gains(machine, unit_m=UNIT)
    robot = PlacedRobot(
        "robot",
        model,
        positions=joint_positions(machine, joints),
        actuation={n: Actuation(DriveMode.POSITION, stiffness=k, damping=d)
                   for n, (k, d) in gains.items()},
    )  # fmt: skip
    wanted = joint_positions(machine, joints)
    driven = [j.name for j in model.moving_joints if j.name in drive_names(machine)]
    recording = simulate(
        Scene((robot,)),
        engine="mujoco",
        duration=0.4,
        controller=Held(np.array([wanted[name] for name in driven])),
        interactions=push or (),
    )
    names = [joint.name for joint in model.moving_joints]
    q = recording["q"][-1]
    X = link_poses(model, q)
    index = {link.name: i for i, link in enumerate(model.links)}
    bar = machine.gain * machine.l2 * UNIT
    feet = [(X[index[f"leg{i}_shank"]] @ [0, 0, bar, 1])[:3] for i in (1, 2, 3, 4)]
    values = {name: q[names.index(name)] for name in drive_names(machine)}
    gap = max(
        np.linalg.norm((X[index[p.link_a]] @ p.X_AC - X[index[p.link_b]] @ p.X_BC)[:3, 3])
        for p in model.loops
    )
    efforts = {n: gains[n][0] * (wanted[n] - values[n]) for n in values}
    return np.array(feet), values, gap, efforts


def test_foot_moves_by_the_ratios_of_the_pantograph():
    machine = Machine()
    rest, at_rest, gap, _ = hung(machine, np.zeros((4, 3)))
    assert gap <= 1e-4
    for column, name, axis, ratio, within in (
        (0, "x", 0, 6.0, 0.005),
        (1, "y", 1, 6.0, 0.005),
        (2, "z", 2, -5.0, 0.01),
    ):
        joints = np.zeros((4, 3))
        joints[0, column] = 1.5
        feet, values, gap, _ = hung(machine, joints)
        moved = values[f"leg1_{name}"] - at_rest[f"leg1_{name}"]
        assert (feet - rest)[0, axis] / moved == pytest.approx(ratio, abs=within)
        assert gap <= 1e-4


def test_the_horizontal_drive_carries_no_weight():
    machine = Machine()
    feet, _, _, idle = hung(machine, np.zeros((4, 3)))
    pushed = hung(machine, np.zeros((4, 3)), push=(Push(feet[0], (0, 0, 50.0)),))[3]
    extra = {name: pushed[name] - idle[name] for name in pushed}
    assert abs(extra["leg1_z"]) == pytest.approx(250, abs=2)
    assert abs(extra["leg1_x"]) < 0.5 and abs(extra["leg1_y"]) < 0.5


@pytest.mark.parametrize("kind", LegKind)
def test_loops_are_closed_at_any_pose(kind):
    machine = Machine(kind=kind, l2=5.0, foot_offset=6.0)
    model = quadruped_model(machine, unit_m=0.02, mass=9.0)
    assert model.mass == pytest.approx(9.0)
    joints = rest_joints(machine) + np.random.default_rng(2).uniform(-0.4, 0.4, (4, 3))
    positions = joint_positions(machine, joints, unit_m=0.02)
    X = link_poses(model, [positions[joint.name] for joint in model.moving_joints])
    index = {link.name: i for i, link in enumerate(model.links)}
    for loop in model.loops:
        ends = X[index[loop.link_a]] @ loop.X_AC, X[index[loop.link_b]] @ loop.X_BC
        np.testing.assert_allclose(ends[0][:3, 3], ends[1][:3, 3], atol=1e-12)


@pytest.mark.parametrize("kind", LegKind)
def test_the_mjcf_file_stands_in_mujoco_and_passes_the_gate(kind, tmp_path):
    import mujoco

    machine = Machine(kind=kind)
    path = tmp_path / "robot.xml"
    path.write_text(quadruped_mjcf(machine))
    model = mujoco.MjModel.from_xml_path(str(path))
    assert model.neq == 8 and model.nu == 12
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    for _ in range(500):
        mujoco.mj_step(model, data)
    assert data.qpos[2] == pytest.approx(0.512, abs=0.01)
    assert abs(data.qpos[4:6]).max() < 0.02
    again = load_robot(path)
    assert len(again.loops) == 8 and again.mass == pytest.approx(6.08)


def test_the_centre_of_mass_lies_behind_the_middle():
    assert mass_center(Machine()) == pytest.approx((-1.73, 0.0), abs=0.02)


def walked(**values):
    (case,) = cases(Config(engine=("mujoco",), type=(LegKind.TTT2,), **values))
    recording = run(case)
    return score(case, recording), recording


def turned(recording):
    """The angle from the first pose of the body to the last about the vertical [deg]."""
    (w0, _, _, z0), (w, _, _, z) = recording["body"][[0, -1], 3:]
    return np.degrees(2 * np.arctan2(w0 * z - z0 * w, w0 * w + z0 * z))


def test_a_straight_walk():
    row, recording = walked(stride=(31.87,), step_time=1.0)
    assert row["verdict"] == "walked"
    assert recording["body"][-1, 0] - recording["body"][0, 0] == pytest.approx(1.27, abs=0.04)
    assert row["end_error_m"] <= 0.04 and row["tilt_max_deg"] <= 5 and row["loop_gap_m"] <= 1e-4
    assert recording["links"].shape[1:] == (36, 7) and recording["joints"].shape[1] == 12


def test_a_robot_that_does_not_turn_is_off_course():
    values = {"path": ("spin",), "spin_deg": 30.0, "step_time": 1.0}
    row, recording = walked(**values)
    assert row["verdict"] == "walked" and turned(recording) == pytest.approx(30.0, abs=0.5)
    assert row["heading_error_deg"] == pytest.approx(abs(turned(recording) - 30.0), abs=1e-6)
    (case,) = cases(Config(engine=("mujoco",), type=(LegKind.TTT2,), **values))
    body = recording.channels["body"]
    still = replace(body, values=np.repeat(body.values[:1], len(body.values), axis=0))
    for turn, way, verdict in (
        (np.pi / 6, 0.0, "off course"),
        (2 * np.pi, 0.0, "off course"),  # it ends as it begins
        (0.15, 10.0, "walked"),  # a drift along a path
        (0.25, 10.0, "off course"),
    ):
        plan = {**recording.facts["plan"], "turn": turn, "way": way}
        stood = replace(
            recording, channels={**recording.channels, "body": still}, facts={"plan": plan}
        )
        row = score(case, stood)
        assert row["verdict"] == verdict and row["end_error_m"] < 1e-9
        assert row["heading_error_deg"] == pytest.approx(np.degrees(turn))
    row = score(case, replace(recording, status="diverged"))
    assert row["verdict"] == "diverged" and row["speed_m_per_s"] is None


def waypoints(tmp_path, text):
    path = tmp_path / "way.csv"
    path.write_text(text)
    return (str(path),)


def test_a_walk_without_dynamic_margin_tips_over_and_a_stable_one_walks(tmp_path):
    path = waypoints(tmp_path, "0,0\n16,0\n16,16\n")
    fast, _ = walked(path=path, sway=(2.0,), step_time=1.0)
    assert fast["min_margin_units"] == pytest.approx(2.0)  # of statics, which does not warn
    assert fast["min_dynamic_margin_units"] < 0 and "zero-moment point" in fast["warnings"][0]
    assert fast["verdict"] == "tipped over"
    stable, recording = walked(path=path, stable=True, margin=2.0)
    assert stable["verdict"] == "walked" and not stable["warnings"]
    assert 2.0 <= stable["min_dynamic_margin_units"] < 2.1
    assert stable["measured_margin_units"] > 0 and stable["tilt_max_deg"] < 2
    walking = (recording["support"] > 0).all(axis=1)
    difference = (recording["dynamic_margin"] - recording["measured_margin"])[walking] / UNIT
    assert np.median(np.abs(difference)) < 1.5  # planned and simulated margins agree


def test_motors_have_limits_and_losses(tmp_path):
    path = waypoints(tmp_path, "0,0\n16,0\n")
    row, recording = walked(path=path, drives=Drives.MOTOR)
    motor = MotorDrive()
    assert motor.armature == pytest.approx(181e-7 * (2 * np.pi / 0.01) ** 2)
    assert row["verdict"] == "walked" and row["drive_load"] <= 1
    assert np.abs(recording["drive_force"]).max() <= motor.greatest_force
    # A leg that carries W/4 loads its vertical drive with (K - 1) W/4: at least that is lost in
    # the windings while the robot stands.
    holding = motor.power(np.array(5 * 6.08 * 9.81 / 4), np.array(0.0))
    duration = recording["time"][-1]
    assert row["energy_j_per_m"] * 0.16 > 4 * holding * duration
    assert row["cost_of_transport"] == pytest.approx(row["energy_j_per_m"] / (6.08 * 9.81))


def test_a_push_tips_the_robot_over_by_the_capture_point(tmp_path):
    """An impulse J moves the capture point by J / m sqrt(h / g)."""
    path = waypoints(tmp_path, "0,0\n16,0\n")
    per_metre = 6.08 * np.sqrt(9.81 / 0.51)
    # Inside the support by 3.28 units at least; no foot is farther away than 45.
    stands, _ = walked(path=path, push=(0.4 * 0.0328 * per_metre,))
    falls, _ = walked(path=path, push=(1.5 * 0.45 * per_metre,))
    assert stands["min_margin_units"] == pytest.approx(3.28, abs=0.01)
    assert stands["verdict"] == "walked" and falls["verdict"] == "tipped over"


def test_a_trot_is_faster_than_a_crawl(tmp_path):
    row, _ = walked(path=waypoints(tmp_path, "0,0\n100,0\n"), gait="trot")
    assert row["verdict"] == "walked" and row["tilt_max_deg"] < 3 and row["end_error_m"] < 0.05
    fastest_crawl = 0.3187 / 4.0  # the stride of the paper at 1 s a leg step
    assert row["speed_m_per_s"] > 2.5 * fastest_crawl


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["mujoco", "ode"])
def test_ten_metres_of_trot(tmp_path, engine):
    path = waypoints(tmp_path, "0,0\n1000,0\n")
    (case,) = cases(Config(engine=(engine,), type=(LegKind.TTT2,), path=path, gait="trot"))
    row = score(case, run(case))
    assert row["verdict"] == "walked" and row["tilt_max_deg"] < 5 and row["end_error_m"] < 0.1
    assert row["speed_m_per_s"] > 2.5 * 0.3187 / 4.0


@pytest.mark.parametrize("legs", ["klann", "jansen"])
def test_a_machine_on_four_linkages_walks(legs):
    (case,) = cases(Config(engine=("mujoco",), legs=legs))
    row = score(case, run(case))
    assert row["verdict"] == "walked" and row["tilt_max_deg"] < 3 and row["end_error_m"] < 0.03
    assert row["loop_gap_m"] < 5e-4 and row["speed_m_per_s"] > 0.04


@pytest.mark.slow
@pytest.mark.parametrize("terrain", ["map", "slope"])
def test_rough_ground_and_slopes_downhill(tmp_path, terrain):
    heights = np.random.default_rng(3).uniform(0.0, 1.5, (8, 14))
    heights[[0, -1]] = 0.0
    np.save(tmp_path / "map.npy", heights)
    ground = str(tmp_path / "map.npy") if terrain == "map" else "slope"
    row, _ = walked(terrain=(ground,), slope_deg=-8.0, stable=True)
    assert row["verdict"] == "walked" and row["tilt_max_deg"] < 3


@pytest.mark.slow
def test_a_body_that_tilts_with_the_ground_walks():
    row, recording = walked(ground=(Ground.SLOPE,), slope_deg=12.0, tilt=1.0, stable=True)
    assert row["verdict"] == "walked" and row["tilt_max_deg"] < 1
    x, y = recording["body"][-1, 4:6]
    assert np.degrees(np.arccos(1 - 2 * (x * x + y * y))) == pytest.approx(12.0, abs=0.5)


@pytest.mark.slow
def test_the_waypoints_that_statics_takes_as_safe(tmp_path):
    path = waypoints(tmp_path, "0,0\n60,0\n60,60\n0,60\n")
    row, _ = walked(path=path, sway=(2.0,))
    assert row["verdict"] == "tipped over" and "zero-moment point" in row["warnings"][0]
    assert walked(path=path, sway=(5.0,))[0]["verdict"] == "walked"
    assert walked(path=path, sway=(2.0,), step_time=5.0)[0]["verdict"] == "walked"
    assert walked(path=path, stable=True)[0]["verdict"] == "walked"


@pytest.mark.slow
def test_random_paths_of_stable_plans_walk():
    """40 of the 200 of `kinetarium walk --stable --margin 2 --path random:{0..199}`."""
    rows = [walked(path=(f"random:{i}",), stable=True, margin=2.0)[0] for i in range(40)]
    tipped = [row for row in rows if row["verdict"] != "walked"]
    assert len(tipped) <= 1
    assert all(row["min_dynamic_margin_units"] < 1 for row in tipped)


@pytest.mark.parametrize("wrong", [{"timing": (GaitTiming.PAPER,)}, {"order": ("5",)}])
def test_what_is_planned_to_tip_over_does(wrong):
    row, _ = walked(stride=(31.87,), step_time=0.5, **wrong)
    assert row["verdict"] == "tipped over"


@pytest.mark.slow
@pytest.mark.parametrize(
    "values",
    [
        {},
        {"sway": (4.0,)},
        {"path": ("side",)},
        {"path": ("spin",)},
        {"path": ("curve",)},
        {"ground": (Ground.SLOPE,)},
        {"ground": (Ground.STEPS,)},
    ],
    ids=str,
)
def test_longer_walks(values):
    row, recording = walked(**values)
    assert row["verdict"] == "walked"
    assert row["end_error_m"] <= 0.04 and row["tilt_max_deg"] <= 5 and row["loop_gap_m"] <= 1e-4
    ahead = {"spin": 90.0, "curve": 56.8}.get(*values.get("path", ("straight",)), 0.0)
    assert turned(recording) == pytest.approx(ahead, abs=1.0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [LegKind.TTT1, LegKind.TTR])
def test_the_other_types_walk_too(kind):
    (case,) = cases(Config(engine=("mujoco",), type=(kind,)))
    row = score(case, run(case))
    assert row["verdict"] == "walked" and row["end_error_m"] <= 0.04


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [{"timing": (GaitTiming.PAPER,)}, {"order": ("5",)}])
def test_what_is_planned_to_tip_over_does_at_full_length(wrong):
    assert walked(**wrong)[0]["verdict"] == "tipped over"
