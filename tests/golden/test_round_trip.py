"""A robot written out and read back is the same robot: URDF by ourselves, MJCF by MuJoCo."""

from math import isfinite
from pathlib import Path

import mujoco
import numpy as np
import pytest

from comparison import assert_same_robot, link_poses, random_positions
from kinetarium import RobotModel, load_robot
from kinetarium.model.assets import installed_packages
from kinetarium.model.load import catalogue_names
from kinetarium.model.mjcf import write_mjcf
from kinetarium.model.robot import Inertia, JointType
from kinetarium.model.urdf import write_urdf
from kinetarium.spatial.rotation import rotation_from_quaternion

PUBLIC = [
    "a1_description/urdf/a1.urdf",
    "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "anymal_c_simple_description/urdf/anymal.urdf",
    "asr_twodof_description/urdf/TwoDofs.urdf",
    "b1_description/urdf/b1.urdf",
    "baxter_description/urdf/baxter.urdf",
    "bolt_description/robots/bolt.urdf",
    "borinot_description/urdf/borinot_flying_arm_2.urdf",
    "centauro_description/urdf/centauro.urdf",
    "double_pendulum_description/urdf/double_pendulum.urdf",
    "finger_edu_description/robots/finger_edu.urdf",
    "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "go2_description/urdf/go2.urdf",
    "hyq_description/robots/hyq_no_sensors.urdf",
    "icub_description/robots/icub.urdf",
    "kinova_description/robots/kinova.urdf",
    "laikago_description/urdf/laikago.urdf",
    "panda_description/urdf/panda.urdf",
    "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "solo_description/robots/solo12.urdf",
    "ur_description/urdf/ur5_robot.urdf",
    "xarm_description/urdf/xarm7.urdf",
    "z1_description/urdf/z1.urdf",
]
DATA = installed_packages().get("example-robot-data", Path())
ROBOTS = [*catalogue_names(), *PUBLIC]


def _load(robot: str) -> RobotModel:
    return load_robot(DATA / "robots" / robot if robot in PUBLIC else robot)


@pytest.mark.parametrize("robot", ROBOTS)
def test_urdf_and_back(robot: str, tmp_path: Path) -> None:
    model = _load(robot)
    text, meshes = write_urdf(model, mesh_folder="robot.meshes")
    (tmp_path / "robot.meshes").mkdir()
    for name, data in meshes.items():
        (tmp_path / "robot.meshes" / name).write_bytes(data)
    file = tmp_path / "robot.urdf"
    file.write_text(text)
    back = load_robot(file)
    assert back.repairs == ()
    assert_same_robot(model, back, tolerance=1e-12)


def _inertia_in_mujoco(loaded: mujoco.MjModel, body: int) -> Inertia:
    R = rotation_from_quaternion(loaded.body_iquat[body])
    moment = R @ np.diag(loaded.body_inertia[body]) @ R.T
    return Inertia(float(loaded.body_mass[body]), loaded.body_ipos[body], moment)


@pytest.mark.parametrize("robot", ROBOTS)
def test_mjcf_in_mujoco(robot: str) -> None:
    model = _load(robot)
    text, meshes = write_mjcf(model, mesh_folder="meshes")
    assets = {f"meshes/{name}": data for name, data in meshes.items()}
    loaded = mujoco.MjModel.from_xml_string(text, assets)
    for link in model.links:
        body = loaded.body(link.name).id
        if link.inertia is None:
            assert loaded.body_mass[body] == 0
            continue
        there = _inertia_in_mujoco(loaded, body)
        scale = np.abs(link.inertia.moment).max()
        assert there.mass == pytest.approx(link.inertia.mass, rel=1e-12)
        np.testing.assert_allclose(there.center, link.inertia.center, atol=1e-12)
        np.testing.assert_allclose(there.moment, link.inertia.moment, atol=1e-9 * scale)
    for joint in model.moving_joints:
        there = loaded.joint(joint.name)
        limited = joint.type is not JointType.CONTINUOUS and isfinite(joint.limits.lower)
        assert bool(there.limited[0]) == limited
        if limited:
            # MuJoCo refuses an empty range: a locked joint is given a play of 1e-9.
            np.testing.assert_allclose(
                there.range, [joint.limits.lower, joint.limits.upper], rtol=1e-12, atol=1e-9
            )
    data = mujoco.MjData(loaded)
    rng = np.random.default_rng(1)
    for _ in range(5):
        q = random_positions(model, rng)
        for joint, value in zip(model.moving_joints, q, strict=True):
            data.qpos[loaded.joint(joint.name).qposadr[0]] = value
        mujoco.mj_kinematics(loaded, data)
        for name, X in link_poses(model, q).items():
            np.testing.assert_allclose(data.body(name).xpos, X[:3, 3], atol=1e-9)
            np.testing.assert_allclose(data.body(name).xmat.reshape(3, 3), X[:3, :3], atol=1e-9)
