"""Mimic joints as tendons of PhysX that do not stretch."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetarium.dynamics import RobotDynamics
from kinetarium.engines.physx.options import NAME
from kinetarium.engines.protocol import Capability, CapabilityError, LoadedCoupling
from kinetarium.model.robot import Joint, JointType
from kinetarium.scene import Base, PlacedRobot
from kinetarium.scene.robot import RigidBody
from kinetarium.spatial.arrays import Array

_HARDNESS = 1e6
"""How much stiffer a tendon is than the inertia it moves within one step [-]."""
_PARALLEL = 1 - 1e-6
_HINGES = (JointType.REVOLUTE, JointType.CONTINUOUS)


def directions(bodies: Sequence[RigidBody]) -> list[float]:
    """Return for each joint the sign by which parallel hinges, one below the other, turn alike.

    A tendon of PhysX takes it for granted that they do.
    """
    signs = [1.0] * len(bodies)
    for i, body in enumerate(bodies):
        along = _along_parent(bodies, i)
        if abs(along) > _PARALLEL:
            signs[i] = signs[body.parent] * float(np.sign(along))
    return signs


def couple(
    robot: PlacedRobot, bodies: Sequence[RigidBody], links: Sequence[Any], *, timestep: float
) -> list[LoadedCoupling]:
    """Let the mimic joints of a robot follow their leaders.

    A tendon of PhysX keeps the weighted sum of joint positions at its length.
    It pulls at the link of each joint against the link that it starts from,
    and each of these pulls is solved as if it were alone. A pull thus acts
    upon all joints in between, and it moves its own joint by its weight times
    what is missing, however heavy the joint is. The weights are chosen so that
    all pulls together do what a rigid coupling would: the forces on leader and
    follower are as multiplier to -1, and one iteration leaves nothing missing.
    They depend on the inertia seen at the joints, and are those of the start: exact for
    fingers on a body that is heavy or held, some per cent off along a chain that folds far.
    Positions agree to 1e-6 in free motion, and to a fraction of a millimetre where fingers
    squeeze something hard, since contacts have the last word in an iteration.

    Args:
        bodies: Its rigid bodies.
        links: The link of each.
        timestep: Time step [s].

    Returns:
        The couplings as set; SAPIEN cannot read them back.

    Raises:
        CapabilityError: If a joint and its leader are neither on the same body nor
            connected by parallel hinges alone.
    """
    moving = robot.model.moving_joints
    followers = [joint for joint in moving if joint.mimic]
    couplings: list[LoadedCoupling] = []
    if not followers:
        return couplings
    dynamics = RobotDynamics(robot.model, free_base=robot.base is Base.FREE)
    q = dynamics.neutral()
    q[dynamics.nq - len(moving) :] = [robot.positions.get(joint.name, 0.0) for joint in moving]
    mobility: Array = np.linalg.pinv(dynamics.mass_matrix(q)).astype(np.float64)
    mobility = mobility[-len(moving) :, -len(moving) :]
    signs = dict(zip([body.name for body in bodies], directions(bodies), strict=True))
    turn = np.array([signs[joint.child] for joint in moving])
    mobility *= np.outer(turn, turn)
    column = {joint.child: i for i, joint in enumerate(moving)}
    for joint in followers:
        assert joint.mimic
        leader = robot.model.joint(joint.mimic.joint)
        start, branches = _branches(bodies, leader, joint)
        weights = np.zeros(len(moving))
        weights[column[joint.child]] = 1.0
        weights[column[leader.child]] -= joint.mimic.multiplier
        weights *= turn
        columns = [[column[bodies[i].name] for i in branch] for branch in branches]
        pulls, inertia = _pulls(columns, weights, mobility=mobility)
        links[start].articulation.create_fixed_tendon(
            [links[start], *(links[i] for branch in branches for i in branch)],
            [0.0, *(float(weights[i]) for branch in columns for i in branch)],
            [0.0, *pulls],
            rest_length=joint.mimic.offset,
            stiffness=_HARDNESS * inertia / timestep**2,
        )
        names = (f"{robot.name}/{joint.name}", f"{robot.name}/{leader.name}")
        multiplier = float(-weights[column[leader.child]] * turn[column[leader.child]])
        offset = joint.mimic.offset
        couplings.append(LoadedCoupling(*names, multiplier, offset, read_back=False))
    return couplings


def _pulls(
    branches: Sequence[list[int]], weights: Array, *, mobility: Array
) -> tuple[list[float], float]:
    """Return the weight of each pull of a tendon, and the greatest inertia that one of them moves.

    Args:
        branches: The joints along the tendon, branch by branch downwards.
        weights: Weight of each joint of the robot in the length of the tendon.
        mobility: Inverse of the robot's mass matrix.
    """
    pulls, inertias = [], []
    for branch in branches:
        for depth, joint in enumerate(branch):
            upon = np.zeros(len(weights))
            upon[branch[: depth + 1]] = 1.0
            own = float(upon @ mobility @ upon)
            # What the pulls further down do to this joint is theirs already.
            below = weights[branch[depth + 1]] if depth + 1 < len(branch) else 0.0
            pulls.append(own * float(weights[joint] - below))
            inertias.append(1 / own)
    missing = float(weights @ mobility @ weights)
    return [pull / missing for pull in pulls], max(inertias)


def _branches(
    bodies: Sequence[RigidBody], leader: Joint, follower: Joint
) -> tuple[int, list[list[int]]]:
    """Return the body a tendon starts from, and the bodies along it downwards from there."""
    index = {body.name: i for i, body in enumerate(bodies)}
    paths = []
    for joint in (leader, follower):
        path = [index[joint.child]]
        while bodies[path[0]].joint is not None:
            path.insert(0, bodies[path[0]].parent)
        paths.append(path)
    shared = 1
    while paths[0][: shared + 1] == paths[1][: shared + 1] and shared + 1 < min(map(len, paths)):
        shared += 1
    ends = [path[shared:] for path in paths]
    if ends[0][0] == ends[1][0]:
        ends = [max(ends, key=len)]
    if not all(abs(_along_parent(bodies, i)) > _PARALLEL for end in ends for i in end[1:]):
        raise CapabilityError(
            NAME,
            Capability.MIMIC,
            reason=f"joint '{follower.name}' following '{leader.name}' across other joints",
        )
    return paths[0][shared - 1], ends


def _along_parent(bodies: Sequence[RigidBody], i: int) -> float:
    """Return the cosine between a hinge and the one above, zero if either is not a hinge."""
    below, above = bodies[i].joint, bodies[bodies[i].parent].joint
    if below is None or above is None or not {below.type, above.type} <= set(_HINGES):
        return 0.0
    axis: Array = bodies[i].X_PJ[:3, :3] @ below.axis
    return float(axis @ above.axis)
