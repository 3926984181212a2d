"""RobotDynamics against the same files read and computed by other libraries."""

from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from kinetarium import load_robot
from kinetarium.dynamics import RobotDynamics, random_positions
from kinetarium.model.assets import installed_packages
from kinetarium.model.diagnostics import Code
from kinetarium.model.mjcf import write_mjcf
from kinetarium.spatial.arrays import Array
from needs import needs

DATA = installed_packages().get("example-robot-data", Path())
FILES = [
    "panda_description/urdf/panda.urdf",
    "ur_description/urdf/ur5_robot.urdf",
    "solo_description/robots/solo12.urdf",
    "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "kinova_description/robots/kinova.urdf",
]
"""Files whose inertias the gate does not repair."""

needs_data = needs("example-robot-data")


def relative(mine: Array, theirs: Array) -> float:
    return float(np.abs(mine - theirs).max() / max(1.0, np.abs(theirs).max()))


@needs_data
@pytest.mark.parametrize("free_base", [False, True], ids=["fixed", "free"])
@pytest.mark.parametrize("file", FILES)
def test_agrees_with_pinocchio_reading_the_file_itself(file: str, free_base: bool) -> None:
    path = DATA / "robots" / file
    model = load_robot(path)
    assert Code.INERTIA not in {repair.code for repair in model.repairs}
    mine = RobotDynamics(model, free_base=free_base)
    theirs = (
        pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
        if free_base
        else pin.buildModelFromUrdf(str(path))
    )
    data = theirs.createData()
    rng = np.random.default_rng(0)
    base_nq, base_nv = (7, 6) if free_base else (0, 0)
    ids = [theirs.getJointId(joint.name) for joint in model.moving_joints]
    order = [*range(base_nv), *(theirs.joints[i].idx_v for i in ids)]
    assert theirs.nv == mine.nv

    joints = random_positions(model, rng, count=1)[0]
    base = rng.normal(size=base_nq)
    base[3:] /= np.linalg.norm(base[3:]) if free_base else 1.0
    q, v, a = np.concatenate([base, joints]), *rng.normal(size=(2, mine.nv))

    q_pin = pin.neutral(theirs)
    if free_base:
        q_pin[:7] = q[[0, 1, 2, 4, 5, 6, 3]]
    for i, position in zip(ids, joints, strict=True):
        joint = theirs.joints[i]
        circle = [np.cos(position), np.sin(position)]
        q_pin[joint.idx_q : joint.idx_q + joint.nq] = circle if joint.nq == 2 else position
    T = np.eye(mine.nv)
    v_transport = np.zeros(mine.nv)
    if free_base:
        R = pin.Quaternion(q_pin[3:7]).toRotationMatrix()
        T[:3, :3] = T[3:6, 3:6] = R.T
        v_transport[:3] = np.cross(v[3:6], v[:3])
    v_pin, a_pin = np.empty((2, mine.nv))
    v_pin[order], a_pin[order] = T @ v, T @ (a - v_transport)

    M = pin.crba(theirs, data, q_pin)[np.ix_(order, order)]
    assert relative(mine.mass_matrix(q), T.T @ M @ T) < 1e-12
    tau = pin.rnea(theirs, data, q_pin, v_pin, a_pin)[order]
    assert relative(mine.inverse_dynamics(q, v, a), T.T @ tau) < 1e-12
    g = pin.computeGeneralizedGravity(theirs, data, q_pin)[order]
    assert relative(mine.gravity_forces(q), T.T @ g) < 1e-12
    pin.framesForwardKinematics(theirs, data, q_pin)
    for link, X_WL in zip(model.links, mine.link_poses(q), strict=True):
        frame = theirs.getFrameId(link.name, pin.FrameType.BODY)
        np.testing.assert_allclose(X_WL, data.oMf[frame].homogeneous, atol=1e-13)


@pytest.mark.parametrize("name", ["panda", "ur5", "kr250"])
def test_agrees_with_mujoco(name: str) -> None:
    model = load_robot(name)
    dynamics = RobotDynamics(model)
    text, assets = write_mjcf(model, mesh_folder="meshes")
    mj_model = mujoco.MjModel.from_xml_string(text, assets)
    mj_data = mujoco.MjData(mj_model)
    rng = np.random.default_rng(0)
    names = [mj_model.joint(i).name for i in range(mj_model.njnt)]
    assert names == [joint.name for joint in model.moving_joints]
    for q in random_positions(model, rng, count=20):
        v = rng.normal(size=dynamics.nv)
        mj_data.qpos[:], mj_data.qvel[:] = q, v
        mujoco.mj_forward(mj_model, mj_data)
        M = np.zeros((dynamics.nv, dynamics.nv))
        mujoco.mj_fullM(mj_model, mj_data, M)
        assert relative(dynamics.mass_matrix(q), M) < 1e-12
        assert relative(dynamics.bias(q, v), mj_data.qfrc_bias) < 1e-12
