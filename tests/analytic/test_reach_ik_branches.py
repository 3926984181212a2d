"""The closed form of the Panda gives every solution, and each satisfies the kinematics."""

from dataclasses import replace

import numpy as np
import pytest

from forward_kernels import manipulabilities
from kinetarium import load_robot
from kinetarium.dynamics import forward
from kinetarium.dynamics.chain import ChainArrays, serial_chain
from kinetarium.model.robot import JointLimits, JointType, RobotModel
from kinetarium.reach.ik import panda as panda_ik
from kinetarium.reach.ik.panda_geometry import PandaArrays, panda_arrays
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose


def unlimited(robot: RobotModel) -> RobotModel:
    joints = [
        replace(joint, limits=JointLimits(-np.pi, np.pi))
        if joint.type is JointType.REVOLUTE
        else joint
        for joint in robot.joints
    ]
    return replace(robot, joints=tuple(joints))


def turned(robot: RobotModel) -> RobotModel:
    """The same arm with every axis reversed, other zeros, and other lengths."""
    joints = []
    for number, joint in enumerate(robot.joints):
        X = joint.X_PJ
        if joint.name.startswith("panda_joint") and joint.type is JointType.REVOLUTE:
            X = X @ pose(rotation=so3.exp([0, 0, 0.3 * number]))
            X = pose(1.2 * X[:3, 3], X[:3, :3])
            before = robot.joints[number - 1]
            if number and before.type is JointType.REVOLUTE:
                back = pose(rotation=so3.exp([0, 0, -0.3 * (number - 1)]))
                X = back @ joint.X_PJ @ pose(rotation=so3.exp([0, 0, 0.3 * number]))
            limits = JointLimits(-joint.limits.upper, -joint.limits.lower)
            joint = replace(joint, X_PJ=frozen(X), axis=frozen(-joint.axis), limits=limits)
        joints.append(joint)
    return replace(robot, joints=tuple(joints))


def solutions(
    X_BT: Array, k: int, panda: PandaArrays, chain: ChainArrays
) -> list[tuple[float, Array]]:
    """All solutions for one position of joint 7."""
    frame = panda_ik.wrist_frame(X_BT, panda)
    q, X, J = np.empty(7), np.empty((9, 3, 4)), np.empty((6, 7))
    number, end, found = 8 * k, 8 * (k + 1), []
    while number < end:
        w, number = panda_ik.search(X_BT, frame, number, end, -1.0, panda, chain, q, X, J)
        if w >= 0:
            found.append((w, q.copy()))
    return found


@pytest.mark.parametrize("change", [None, unlimited, turned], ids=["as is", "unlimited", "turned"])
def test_every_branch_reaches_the_pose_and_none_is_missing(change) -> None:
    robot = load_robot("panda")
    robot = change(robot) if change else robot
    chain = serial_chain(robot).arrays
    panda = panda_arrays(chain)
    assert panda
    rng = np.random.default_rng(0)
    q = rng.uniform(chain.lower, chain.upper, (200, 7))
    # A solution is known for those positions of joint 7 that the sweep holds.
    ks = rng.integers(0, 64, len(q))
    q[:, 6] = panda.sweep[ks, 0]
    poses = forward.poses(chain, q)
    counts = []
    for known, X_BT, k in zip(q, poses, ks, strict=True):
        found = solutions(X_BT, int(k), panda, chain)
        counts.append(len(found))
        branches = np.array([branch for _, branch in found])
        np.testing.assert_allclose(
            forward.poses(chain, branches), np.broadcast_to(X_BT, (len(found), 4, 4)), atol=1e-9
        )
        assert ((chain.lower <= branches) & (branches <= chain.upper)).all()
        assert (branches[:, 6] == known[6]).all()
        assert np.abs(np.sin((branches - known) / 2)).max(axis=1).min() < 1e-6
        gaps = np.abs(branches[:, None] - branches).max(axis=2) + np.eye(len(found))
        assert gaps.min() > 1e-9
        w = [value for value, _ in found]
        np.testing.assert_allclose(w, manipulabilities(chain, branches), rtol=1e-5, atol=1e-8)
    assert max(counts) == 8 if change is unlimited else 1.5 < np.mean(counts) < 6


def test_the_wrist_circle_is_never_wrong() -> None:
    chain = serial_chain(load_robot("panda")).arrays
    panda = panda_arrays(chain)
    assert panda
    rng = np.random.default_rng(1)
    q = rng.uniform(chain.lower, chain.upper, (2000, 7))
    for X_BT in forward.poses(chain, q):
        assert not panda_ik.out_of_reach(panda_ik.wrist_frame(X_BT, panda), panda)
    turns = rng.normal(size=(2000, 3)) * 2
    poses = [pose(p, so3.exp(r)) for p, r in zip(rng.uniform(-1, 1, (2000, 3)), turns, strict=True)]
    out = [panda_ik.out_of_reach(panda_ik.wrist_frame(X, panda), panda) for X in poses]
    assert 0.6 < np.mean(out) < 0.9


def test_manipulability_knows_neither_the_first_nor_the_last_joint_nor_the_tool() -> None:
    robot = load_robot("panda")
    chain, other = serial_chain(robot).arrays, serial_chain(robot, tool="panda_hand_tcp").arrays
    q = np.random.default_rng(2).uniform(chain.lower, chain.upper, (50, 7))
    w = manipulabilities(chain, q)
    moved = q.copy()
    moved[:, [0, 6]] = 0.3
    np.testing.assert_allclose(manipulabilities(chain, moved), w, atol=1e-9)
    np.testing.assert_allclose(manipulabilities(other, q), w, atol=1e-9)
