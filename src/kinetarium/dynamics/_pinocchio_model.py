"""A RobotModel as a Pinocchio model, built joint by joint."""

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.errors import KinetariumError
from kinetarium.model.robot import JointType, RobotModel
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose

PinocchioModel = Any
"""`pinocchio.Model`; its package has no types and is imported when first used."""
PinocchioData = Any
"""`pinocchio.Data`, the working memory of one model."""


def pinocchio_model(
    model: RobotModel, *, free_base: bool, armature: bool, gravity: ArrayLike
) -> PinocchioModel:
    """Build the Pinocchio model of a robot.

    Moving joints keep the robot's order, a free-flyer joint first where the
    base is free; every joint has one coordinate, continuous ones too. A link
    behind fixed joints is appended to the moving joint above it. The frame of
    link i, massless or not, is frame i + 1, after Pinocchio's universe.

    Args:
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

    Reading the frames one by one costs more than computing them. They are in one
    block of memory, each as a column-major rotation and a position, and the view
    shows the last forward kinematics of `data`, which the caller keeps alive.
    """
    first, second = data.oMf[0].rotation, data.oMf[1].rotation
    step = second.ctypes.data - first.ctypes.data
    shape = (len(data.oMf), 3, 4)
    return np.lib.stride_tricks.as_strided(first, shape, (step, 8, 24), writeable=False)


def to_pinocchio(q: Array) -> tuple[Array, Array]:
    """Return Pinocchio's configuration, with a unit quaternion, and B, shape (6, 6).

    Raises:
        KinetariumError: If the quaternion of the base is zero.
    """
    # Scalars: small arrays would take several times as long.
    w, x, y, z = q[3:7].tolist()
    length = sqrt(w * w + x * x + y * y + z * z)
    if length == 0.0:
        raise KinetariumError("the quaternion of the base is zero; a unit quaternion is needed")
    w, x, y, z = w / length, x / length, y / length, z / length
    q_pin = q.copy()
    q_pin[3:7] = x, y, z, w
    B = np.zeros((6, 6))
    B[:3, :3] = B[3:, 3:] = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return q_pin, B


def rotate_base(A: Array, B: Array) -> Array:
    """Rotate the first six rows of a vector or matrix by B, in place, and return it."""
    A[:6] = B @ A[:6]
    return A


def rotate_base_both(M: Array, B: Array) -> Array:
    """Rotate the first six rows and columns of a square matrix, T' M T, in place; return it."""
    rotate_base(M, B)
    rotate_base(M.T, B)
    return M


def transport(v: Array) -> Array:
    """Return w x v of the base, shape (3,).

    Pinocchio's base coordinates turn with the body: a_pin = R' (a - w x v).
    """
    vx, vy, vz, wx, wy, wz = v[:6].tolist()
    return np.array([wy * vz - wz * vy, wz * vx - wx * vz, wx * vy - wy * vx])
