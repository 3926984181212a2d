"""The computed-torque law, the grasp law and the scene that they serve."""

from functools import lru_cache

import numpy as np
import pytest

from kinetarium.control.arm.computed_torque import (
    ComputedTorque,
    GraspComputedTorque,
    GraspReference,
)
from kinetarium.control.interface import Measurement
from kinetarium.dynamics import RobotDynamics
from kinetarium.model.robot import Box
from kinetarium.roles.options import RoleOptions
from kinetarium.scene import Actuation, DriveMode
from kinetarium.scene.grasped_cube import PADS, TOOL, padded
from kinetarium.scene.held_object import Holder, hold
from kinetarium.spatial.arrays import Array

RATE = 1000.0
MASS = 1.0


@lru_cache
def _panda() -> Holder:
    robot = RoleOptions().open("panda")
    gripper = padded(robot.roles.gripper(), robot.model)
    return hold(robot, robot.roles.arm(), gripper=gripper, shape=Box((0.04, 0.04, 0.04)), mass=MASS)


def home() -> Array:
    return _panda().home


def _measured(q: Array, v: Array) -> Measurement:
    return Measurement(q, v, np.empty((0, 7)), np.empty((0, 6)), {})


def _law(*, opening: float, grip: float) -> tuple[RobotDynamics, GraspComputedTorque]:
    dynamics = RobotDynamics(_panda().carrying())
    q = home()[np.newaxis, :7]
    reference = GraspReference(RATE, q, np.zeros_like(q), np.array([opening]), np.array([grip]))
    return dynamics, GraspComputedTorque(dynamics, reference, touching=home()[7:])


def test_computed_torque_makes_every_joint_an_oscillator_of_its_own() -> None:
    dynamics = RobotDynamics(_panda().model)
    rng = np.random.default_rng(1)
    q, v = home() + rng.uniform(-0.01, 0.01, 9), rng.uniform(-0.1, 0.1, 9)
    law = ComputedTorque(dynamics, bandwidth=20.0)
    tau = law.torques(q, v, q_ref=home(), v_ref=np.zeros(9))
    a = dynamics.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(a, 400.0 * (home() - q) - 40.0 * v, atol=1e-9)


def test_the_grip_closes_both_fingers_alike_and_is_limited() -> None:
    _, law = _law(opening=-0.02, grip=100.0)
    tau = law.update(0.0, _measured(home(), np.zeros(9)))
    np.testing.assert_allclose(tau[-2:], -100.0, atol=1e-9)
    _, weak = _law(opening=-1e-4, grip=100.0)
    np.testing.assert_allclose(weak.update(0.0, _measured(home(), np.zeros(9)))[-2:], -1.0)


def test_the_law_brings_the_cube_back_to_the_middle() -> None:
    dynamics, law = _law(opening=0.0, grip=0.0)
    q = home() + np.array([0.0] * 7 + [1e-3, -1e-3])
    a = dynamics.forward_dynamics(q, np.zeros(9), law.update(5.0, _measured(q, np.zeros(9))))
    np.testing.assert_allclose(a[-2:], [-(45.0**2) * 1e-3, 45.0**2 * 1e-3], rtol=1e-6)
    np.testing.assert_allclose(a[:-2], 0.0, atol=1e-9)


def test_the_arm_is_limited() -> None:
    _, law = _law(opening=-0.02, grip=100.0)
    q = home() - np.array([0.5] * 7 + [0.0] * 2)
    tau = law.update(0.0, _measured(q, np.zeros(9)))
    assert np.all(np.abs(tau[:7]) <= [87.0] * 4 + [12.0] * 3)
    assert np.any(np.abs(tau[:7]) == [87.0] * 4 + [12.0] * 3)


def test_half_cubes_weigh_and_turn_like_the_whole() -> None:
    bare, carrying = _panda().model, _panda().carrying()
    assert carrying.mass - bare.mass == pytest.approx(MASS)
    added = RobotDynamics(carrying).mass_matrix(home()) - RobotDynamics(bare).mass_matrix(home())
    J = RobotDynamics(bare).jacobian(home(), TOOL)[:, :7]
    whole = np.diag([MASS] * 3 + [MASS * 0.04**2 / 6] * 3)
    np.testing.assert_allclose(added[:7, :7], J.T @ whole @ J, atol=1e-12)


def test_only_the_pads_touch_the_cube() -> None:
    holder = _panda().driven(coupled=True, armature=0.1)
    scene = holder.scene(actuation={"panda_finger_joint1": Actuation(DriveMode.POSITION)})
    touching = scene.may_collide[scene.solids.index("cube")]
    assert {scene.solids[i] for i in np.flatnonzero(touching)} == {f"arm/{pad}" for pad in PADS}
    assert [sensor.name for sensor in scene.sensors] == list(PADS)
    assert all(joint.armature == 0.1 for joint in holder.model.moving_joints)
    X_WT = RobotDynamics(holder.model).link_pose(home(), TOOL)
    np.testing.assert_allclose(scene.bodies[0].X_WB, X_WT, atol=1e-9)
    assert holder.parallel
    np.testing.assert_allclose(home()[7:], 0.02, atol=1e-9)
