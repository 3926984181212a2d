"""A RobotModel as a Pinocchio model, built joint by joint."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.model.robot import JointType, RobotModel
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose

PinocchioModel = Any
"""`pinocchio.Model`, whose package has no types and is loaded when it is first used."""
PinocchioData = Any
"""`pinocchio.Data`, the working memory of one model."""


def pinocchio_model(
    model: RobotModel, *, free_base: bool, armature: bool, gravity: ArrayLike
) -> PinocchioModel:
    """Build the Pinocchio model of a robot.

    Moving joints keep the robot's order, a free-flyer joint first where the
    base is free; every joint has one coordinate, continuous ones too. A link
    behind fixed joints is appended to the moving joint above it. The frame of
    link i, massless or not, is frame i + 1, behind Pinocchio's universe.

    Args:
        model: The robot.
        free_base: Whether the root link floats freely.
        armature: Whether the inertia of the drives counts.
        gravity: Acceleration of gravity in the world [m/s^2], shape (3,).

    Returns:
        The `pinocchio.Model`.
    """
    import pinocchio as pin

    pin_model = pin.Model()
    pin_model.name = model.name
    pin_model.gravity.linear = gravity
    base = 0
    if free_base:
        base = pin_model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "free_base")

    # Per link: the moving joint that carries it and its pose on that joint.
    carrier: dict[str, tuple[int, Array]] = {model.root: (base, pose())}
    for joint in model.joints:
        parent, X_CP = carrier[joint.parent]
        X_CJ = X_CP @ joint.X_PJ
        if joint.type is JointType.FIXED:
            carrier[joint.child] = (parent, X_CJ)
            continue
        kind = (
            pin.JointModelPrismaticUnaligned
            if joint.type is JointType.PRISMATIC
            else pin.JointModelRevoluteUnaligned
        )
        index = pin_model.addJoint(parent, kind(joint.axis), pin.SE3(X_CJ), joint.name)
        if armature:
            pin_model.armature[pin_model.idx_vs[index]] = joint.armature
        carrier[joint.child] = (index, pose())

    for link in model.links:
        index, X_CL = carrier[link.name]
        placement = pin.SE3(X_CL)
        if link.inertia:
            body = pin.Inertia(link.inertia.mass, link.inertia.center, link.inertia.moment)
            pin_model.appendBodyToJoint(index, body, placement)
        pin_model.addFrame(pin.Frame(link.name, index, placement, pin.FrameType.BODY), False)
    return pin_model


def frame_placements(data: PinocchioData) -> Array:
    """View every frame's placement in the world at once, shape (frames, 3, 4).

    Reading the frames one by one costs more than computing them. They lie in
    one block of memory, each as a rotation by columns and a position, and the
    view shows whatever the last forward kinematics of `data` left there; the
    caller keeps `data` alive.
    """
    first, second = data.oMf[0].rotation, data.oMf[1].rotation
    step = second.ctypes.data - first.ctypes.data
    shape = (len(data.oMf), 3, 4)
    return np.lib.stride_tricks.as_strided(first, shape, (step, 8, 24), writeable=False)
