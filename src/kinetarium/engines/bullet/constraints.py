"""Couplings between joints and closed loops, as constraints of Bullet's solver."""

from kinetarium.engines.bullet.library import BulletClient
from kinetarium.engines.bullet.multibody import Multibody
from kinetarium.engines.bullet.transforms import position, quaternion_xyzw
from kinetarium.model.robot import LoopKind, RobotModel

_UNBREAKABLE = 1e9
"""Force up to which a constraint holds [N or N m]."""


def couple_joints(
    bullet: BulletClient, robot: Multibody, *, model: RobotModel, joint_erp: float
) -> None:
    """Make followers follow: q = multiplier q_leader + offset.

    Bullet's gear holds v_A + ratio v_B = 0 and takes back a share of the
    deviation of q_A + ratio q_B from a target: its own ERP times that of all
    joints. The two are made to give all of it.

    Args:
        bullet: The world.
        robot: The robot in it.
        model: The robot's model.
        joint_erp: The ERP of all joints [-].
    """
    links = dict(zip((j.name for j in model.moving_joints), robot.joints, strict=True))
    for joint in model.moving_joints:
        if joint.mimic is None:
            continue
        gear = bullet.createConstraint(
            robot.id,
            links[joint.name],
            robot.id,
            links[joint.mimic.joint],
            jointType=bullet.JOINT_GEAR,
            jointAxis=[0, 0, 1],
            parentFramePosition=[0, 0, 0],
            childFramePosition=[0, 0, 0],
        )
        bullet.changeConstraint(
            gear,
            gearRatio=-joint.mimic.multiplier,
            relativePositionTarget=joint.mimic.offset,
            erp=1.0 / joint_erp if joint_erp else 0.0,
            maxForce=_UNBREAKABLE,
        )


def close_loops(bullet: BulletClient, robot: Multibody, *, model: RobotModel) -> None:
    """Hold the two points or frames of every loop together.

    Args:
        bullet: The world.
        robot: The robot in it.
        model: The robot's model.
    """
    for loop in model.loops:
        link_a, X_IA = robot.inertial_pose(loop.link_a)
        link_b, X_IB = robot.inertial_pose(loop.link_b)
        X_AC, X_BC = X_IA @ loop.X_AC, X_IB @ loop.X_BC
        closure = bullet.createConstraint(
            robot.id,
            link_a,
            robot.id,
            link_b,
            jointType=bullet.JOINT_POINT2POINT
            if loop.kind is LoopKind.POINT
            else bullet.JOINT_FIXED,
            jointAxis=[0, 0, 1],
            parentFramePosition=position(X_AC),
            childFramePosition=position(X_BC),
            parentFrameOrientation=quaternion_xyzw(X_AC),
            childFrameOrientation=quaternion_xyzw(X_BC),
        )
        bullet.changeConstraint(closure, maxForce=_UNBREAKABLE)
