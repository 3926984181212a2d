"""Any robot placed at its home pose: where it stands, and how stiff its servos are."""

from math import pi

import numpy as np
import pytest

from kinetarium.dynamics import RobotDynamics
from kinetarium.dynamics.kinematics import link_poses
from kinetarium.model.mesh.solids import triangulate
from kinetarium.roles import BaseKind, RoleOptions
from kinetarium.scene import Base, holding_servos, lowest_point, placed_robot, support_points


@pytest.mark.parametrize("robot", ["husky4", "scout", "husky4-panda", "panda", "kr250"])
def test_the_lowest_point_is_that_of_finely_triangulated_shapes(robot: str) -> None:
    studied = RoleOptions(base=BaseKind.FREE).open(robot)
    rng = np.random.default_rng(0)
    names = [joint.name for joint in studied.model.moving_joints]
    q = rng.uniform(-1.0, 1.0, len(names))
    found = lowest_point(studied.model, dict(zip(names, q.tolist(), strict=True)))
    lowest = min(
        float((triangulate(each.shape, segments=400).vertices @ X[2, :3] + X[2, 3]).min())
        for link, X_BL in zip(studied.model.links, link_poses(studied.model, q), strict=True)
        for each in link.collisions
        for X in (X_BL @ each.X_LG,)
    )
    assert found == pytest.approx(lowest, abs=1e-4)


def test_a_free_robot_stands_on_the_ground_and_a_fixed_one_where_it_is() -> None:
    husky = placed_robot(RoleOptions().open("husky4"), height=0.1)
    assert husky.base is Base.FREE
    assert husky.X_WB[2, 3] == pytest.approx(0.1 - lowest_point(husky.model, {}))
    panda = placed_robot(RoleOptions().open("panda"))
    assert panda.base is Base.FIXED
    np.testing.assert_array_equal(panda.X_WB, np.eye(4))


def test_servos_swing_the_inertia_of_their_joint_at_the_given_frequency() -> None:
    ur5 = RoleOptions().open("ur5")
    q = [ur5.home[joint.name] for joint in ur5.model.moving_joints]
    M = RobotDynamics(ur5.model).mass_matrix(q)
    servos = holding_servos(ur5, frequency=20.0, damping_ratio=0.7)
    for inertia, joint in zip(np.diag(M), ur5.model.moving_joints, strict=True):
        servo = servos[joint.name]
        # Its effort limit is not reached within 0.05 rad.
        stiffness = min((2 * pi * 20.0) ** 2 * inertia, joint.limits.effort / 0.05)
        assert servo.stiffness == pytest.approx(stiffness)
        assert servo.damping / (2 * np.sqrt(servo.stiffness * inertia)) == pytest.approx(0.7)


def test_a_leader_carries_its_followers_and_added_joints_are_passive() -> None:
    panda = RoleOptions(base=BaseKind.PLANAR).open("panda")
    servos = holding_servos(panda)
    assert not {"panda_finger_joint2", "base/x", "base/y", "base/yaw"} & set(servos)
    finger = panda.model.link("panda_rightfinger").inertia
    assert finger is not None
    w = 2 * pi * 10.0
    assert servos["panda_finger_joint1"].stiffness > 1.9 * w**2 * finger.mass


def test_servos_do_not_give_way_under_weight() -> None:
    ur5 = RoleOptions().open("ur5")
    q = [ur5.home[joint.name] for joint in ur5.model.moving_joints]
    g = RobotDynamics(ur5.model).gravity_forces(q)
    M = RobotDynamics(ur5.model).mass_matrix(q)
    soft = holding_servos(ur5, frequency=0.1)
    assert [soft[joint.name].stiffness for joint in ur5.model.moving_joints] == pytest.approx(
        np.maximum(np.abs(g) / 0.02, (2 * pi * 0.1) ** 2 * np.diag(M)).tolist()
    )


def test_joints_that_a_free_robot_stands_on_are_stiff_enough_for_what_is_above_them() -> None:
    free = holding_servos(RoleOptions(base=BaseKind.FREE).open("husky4"))
    held = holding_servos(RoleOptions(base=BaseKind.FIXED).open("husky4"))
    model = RoleOptions().open("husky4").model
    # A wheel of radius r that stands carries a quarter of the rest, whose centre is near its axle.
    for joint in model.moving_joints:
        assert free[joint.name].stiffness > 3 * held[joint.name].stiffness
    weight = model.mass * 9.81
    points = support_points(model, {})
    assert len(points) == 4
    assert weight > 0 and all(np.ptp(each[:, 2]) < 6e-3 for each in points.values())
