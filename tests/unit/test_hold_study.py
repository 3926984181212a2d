"""hold: equilibria against closed forms, verdicts on robots that must hold, sag, stand or fall."""

from dataclasses import replace
from math import sin
from pathlib import Path

import numpy as np
import pytest

from kinetarium import load_robot
from kinetarium.cli import main
from kinetarium.dynamics import RobotDynamics
from kinetarium.dynamics.coupling import close_loops
from kinetarium.dynamics.kinematics import link_poses
from kinetarium.engines.registry import open_engine, refinements
from kinetarium.model.robot import Loop, LoopKind
from kinetarium.roles import BaseKind, RoleOptions
from kinetarium.scene import holding_servos, placed_robot
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import pose
from kinetarium.studies.hold import Hold
from kinetarium.studies.hold.config import Config
from kinetarium.studies.hold.run import equilibrium, run, scene, standing
from kinetarium.studies.hold.score import is_error_of_the_engine, score
from kinetarium.study import check_study

PENDULUM = """<robot name="pendulum"><link name="base"/>
<link name="rod"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
<inertia ixx="0.01" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" velocity="10" effort="{effort}"/></joint></robot>"""

TOWER = """<robot name="tower"><link name="box"><inertial><origin xyz="{x} 0 0"/><mass value="3"/>
<inertia ixx="0.1" iyy="0.1" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.2 0.2 0.6"/></geometry></collision></link></robot>"""


def held(robot: str | Path, engine: str, *, duration: float = 2.0, base: BaseKind | None = None):
    [case] = Config(robot=str(robot), engine=(engine,), duration=duration, base=base).cases()
    return score(case, run(case))


def pendulum(folder: Path, *, effort: float) -> Path:
    file = folder / "pendulum.urdf"
    file.write_text(PENDULUM.format(effort=effort))
    return file


def test_the_equilibrium_of_a_pendulum_is_that_of_its_closed_form(tmp_path: Path) -> None:
    robot = RoleOptions().open(str(pendulum(tmp_path, effort=1e3)))
    [drive] = holding_servos(robot).values()
    found = equilibrium(scene(robot).robots[0])
    # K q = m g l cos(q), about +y, which turns the rod downwards.
    q = 0.0
    for _ in range(100):
        q = 2 * 9.81 * 0.5 * sin(np.pi / 2 - q) / drive.stiffness
    assert found["positions"] == pytest.approx([q], abs=1e-12)
    assert found["torques"] == pytest.approx([-drive.stiffness * q], rel=1e-9)
    assert found["gravity"] == pytest.approx([-9.81])
    assert found["weak"] == []


def test_a_mimic_joint_and_a_limit_are_part_of_the_equilibrium(tmp_path: Path) -> None:
    robot = RoleOptions().open("panda")
    placed = scene(robot).robots[0]
    found = equilibrium(placed)
    q = dict(zip(found["joints"], found["positions"], strict=True))
    every = [q.get(joint.name, q["panda_finger_joint1"]) for joint in robot.model.moving_joints]
    g = RobotDynamics(robot.model).gravity_forces(every)
    torques = dict(zip(found["joints"], found["torques"], strict=True))
    fingers = [i for i, joint in enumerate(robot.model.moving_joints) if "finger" in joint.name]
    for i, joint in enumerate(robot.model.moving_joints):
        if i not in fingers:
            assert torques[joint.name] == pytest.approx(g[i], abs=1e-8)
    assert torques["panda_finger_joint1"] == pytest.approx(sum(g[i] for i in fingers), abs=1e-8)


@pytest.mark.parametrize("engine", ["mujoco", "ode"])
def test_a_robot_rests_in_its_equilibrium(engine: str) -> None:
    row = held("ur5", engine)
    assert row["verdict"] == "holds", row
    assert row["position_error"] < 1e-5 < row["sag"] < 0.02


def test_a_servo_that_cannot_carry_its_load_is_named(tmp_path: Path) -> None:
    row = held(pendulum(tmp_path, effort=5.0), "mujoco", duration=0.5)
    assert row["verdict"] == "sags"
    assert row["cause"].startswith("hinge: its effort limit of 5 is below the load of 9.8")


@pytest.mark.parametrize("base", [BaseKind.FIXED, BaseKind.FREE])
def test_a_joint_that_carries_nothing_needs_no_effort(tmp_path: Path, base: BaseKind) -> None:
    file = pendulum(tmp_path, effort=0)
    upright = '<child link="rod"/><origin rpy="1.5707963 0 0"/>'
    box = '<collision><geometry><box size="1 1 1"/></geometry></collision>'
    text = file.read_text().replace('<child link="rod"/>', upright)
    text = text.replace("</inertial>", f"</inertial>{box}")
    ball = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    heavy = f'"base"><inertial><mass value="1"/>{ball}</inertial></link>'
    file.write_text(text.replace('"base"/>', heavy, 1))
    placed = scene(RoleOptions(base=base).open(str(file))).robots[0]
    found = standing(placed) if base is BaseKind.FREE else equilibrium(placed)
    assert found["weak"] == []


def test_a_vehicle_stands_on_its_weight() -> None:
    row = held("husky4", "mujoco", duration=1.0)
    assert row["verdict"] == "stands"
    assert abs(row["force_error"]) < 1e-3
    assert row["airborne"] == 0


def test_a_robot_falls_whose_centre_of_mass_is_outside_its_support(tmp_path: Path) -> None:
    file = tmp_path / "tower.urdf"
    file.write_text(TOWER.format(x=0.13))
    robot = RoleOptions(base=BaseKind.FREE).open(str(file))
    expected = standing(placed_robot(robot))
    assert expected["margin"] == pytest.approx(-0.03, abs=1e-4)
    assert expected["height"] == pytest.approx(0.3)
    row = held(file, "mujoco", base=BaseKind.FREE)
    assert row["verdict"] == "falls"
    assert "30 mm outside its support" in row["cause"]
    file.write_text(TOWER.format(x=0.07))
    assert held(file, "mujoco", base=BaseKind.FREE)["verdict"] == "stands"


def test_a_robot_that_its_servos_tip_over_is_told_from_an_error_of_the_engine(tmp_path) -> None:
    tower = tmp_path / "tower.urdf"
    tower.write_text(TOWER.format(x=0.096))
    [case] = Config(robot=str(tower), engine=("mujoco",), duration=0.5).cases()
    recording = run(case)
    expected = recording.facts["expected"]
    assert expected["margin"] == pytest.approx(4e-3)
    fallen = {"verdict": "falls"}
    # 0.02 rad at a height of 0.3 m are 6 mm.
    assert not is_error_of_the_engine(fallen, expected)
    assert is_error_of_the_engine(fallen, {**expected, "margin": 0.05})
    tried = [{"with": "half the time step", "verdict": "stands"}]
    facts = {**recording.facts, "refined": tried}
    cause = score(case, replace(recording, facts=facts))["cause"]
    assert cause.endswith("with half the time step it stands")


def test_joint_speeds_are_those_of_positions(tmp_path: Path) -> None:
    [case] = Config(
        robot=str(pendulum(tmp_path, effort=1e3)), engine=("mujoco",), duration=2.0
    ).cases()
    recording = run(case)
    drifting = np.ones_like(recording["v"])
    resting = {**recording.channels, "v": replace(recording.channels["v"], values=drifting)}
    assert score(case, replace(recording, channels=resting))["verdict"] == "holds"
    # Chatter of a period of the samples is seen in the last steps.
    facts = {**recording.facts, "last_speeds": [0.05]}
    row = score(case, replace(recording, facts=facts))
    assert (row["verdict"], row["cause"]) == ("chatters", "joint hinge moves at 0.05 rad/s or m/s")


def test_a_joint_that_damping_slows_down_is_on_its_way(tmp_path: Path) -> None:
    file = pendulum(tmp_path, effort=1e3)
    text = file.read_text().replace("</joint>", '<dynamics damping="3000"/></joint>')
    file.write_text(text)
    # The servo has k = (2 pi 10)^2 0.7 N m/rad: the time constant is 1.1 s.
    for engine in ("mujoco", "ode"):
        row = held(file, engine, duration=1.0)
        assert row["verdict"] == "holds"
        assert row["sag"] < 0.7 * 2 * 9.81 * 0.5 / ((2 * np.pi * 10) ** 2 * 0.7)


def test_bad_results_are_checked_more_precisely() -> None:
    finer = {name: refinements(open_engine(name), timestep=1e-3) for name in ("mujoco", "ode")}
    assert [each.words for each in finer["mujoco"]] == [
        "half the time step",
        "500 solver iterations",
    ]
    assert [each.timestep for each in finer["mujoco"]] == [5e-4, 1e-3]
    assert [each.words for each in finer["ode"]] == ["half the time step"]  # its solver is exact


def test_a_robot_without_shapes_falls_and_the_cause_is_said(tmp_path: Path) -> None:
    file = pendulum(tmp_path, effort=1e3)
    file.write_text(file.read_text().replace('<link name="base"/>', TOWER_BASE))
    row = held(file, "mujoco", base=BaseKind.FREE, duration=1.0)
    assert row["verdict"] == "falls"
    assert "no collision shapes" in row["cause"]


TOWER_BASE = """<link name="base"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""


def test_it_is_a_valid_study() -> None:
    config = Config(robot="two-link", engine=("mujoco", "ode"), duration=0.2)
    assert [check for check in check_study(Hold(), config) if not check.passed] == []


def test_the_command_takes_the_robot_with_and_without_a_flag(tmp_path, capsys) -> None:
    short = ["--engine", "mujoco", "--duration", "0.2", "--workers", "0", "--quiet"]
    assert main(["hold", "two-link", *short, "--out", str(tmp_path / "a")]) == 0
    assert main(["hold", "--robot", "two-link", *short, "--out", str(tmp_path / "b")]) == 0
    assert main(["hold", *short]) == 2
    assert "hold needs a robot, FILE|NAME" in capsys.readouterr().err
    assert main(["hold", "panda", "--robot", "ur5", *short]) == 2
    assert "one robot" in capsys.readouterr().err


def test_the_home_pose_closes_loops() -> None:
    arm = load_robot("two-link")
    # Its tool is tied to a point 0.1 m from where it is with straight joints.
    straight = link_poses(arm, np.zeros(2))[-1]
    there = frozen(pose(straight[:3, 3] * 0.9))
    tied = replace(
        arm, loops=(Loop("tie", LoopKind.POINT, arm.links[-1].name, arm.root, X_BC=there),)
    )
    q = close_loops(tied, np.array([0.1, 0.1]))
    assert link_poses(arm, q)[-1][:3, 3] == pytest.approx(there[:3, 3], abs=1e-4)
    away = replace(tied, loops=(replace(tied.loops[0], X_BC=frozen(pose((9.0, 0.0, 0.0)))),))
    assert close_loops(away, np.array([0.1, 0.1])).tolist() == [0.1, 0.1]
