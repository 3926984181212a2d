"""The robot that MuJoCo's own compiler makes of a URDF or MJCF file."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path

import mujoco
import numpy as np

from kinetarium.engines.protocol import RobotAsRead
from kinetarium.errors import KinetariumError, one_line
from kinetarium.model.inertia import moved_inertia
from kinetarium.model.robot import (
    Inertia,
    Joint,
    JointLimits,
    JointType,
    Link,
    Mimic,
    RobotModel,
    Source,
)
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import (
    inverse_pose,
    pose,
    rotation_about,
    rotation_from_quaternion,
)

_WORLD = "world"


def read_robot(file: Path, *, packages: Sequence[Path]) -> RobotAsRead:
    """Compile a file and read the bodies and joints back.

    Args:
        packages: Folders of packages; MuJoCo has no use for them.

    Raises:
        KinetariumError: If MuJoCo refuses the file.
    """
    try:
        model = mujoco.MjModel.from_xml_path(str(file))
    except ValueError as error:
        raise KinetariumError(one_line(str(error))) from None
    mimics = dict(_mimics(model))
    links, joints, free = [Link(_WORLD)], list[Joint](), list[str]()
    frames = {0: (_WORLD, np.eye(4))}
    for body in range(1, model.nbody):
        above, X_LP = frames[int(model.body_parentid[body])]
        name = model.body(body).name or f"body{body}"
        chain, between, anchor = _joints(model, body, above, name, X_LP=X_LP, mimics=mimics)
        if chain is None:
            free.append(name)
        joints += chain or ()
        links += between
        X_LB = inverse_pose(pose(anchor))
        links.append(Link(name, _inertia(model, body, X_LB)))
        frames[body] = (name, X_LB)
    robot = RobotModel(
        name=model.names[: model.names.index(b"\0")].decode(errors="replace"),
        links=tuple(links),
        joints=tuple(joints),
        source=Source(str(file), "mjcf", ""),
        free_base=bool(free),
    )
    return RobotAsRead(_rooted(robot, free))


def _rooted(robot: RobotModel, free: list[str]) -> RobotModel:
    """Return a robot without the world above it, if it floats alone."""
    if len(free) != 1 or any(joint.parent == _WORLD for joint in robot.joints):
        return robot
    return RobotModel(
        robot.name, robot.links[1:], robot.joints, source=robot.source, free_base=True
    )


def _joints(
    model: mujoco.MjModel,
    body: int,
    above: str,
    name: str,
    *,
    X_LP: Array,
    mimics: dict[str, Mimic],
) -> tuple[list[Joint] | None, list[Link], Array]:
    """Return the joints above a body, the links between them, and the last anchor in the body.

    There are no joints, None, above a body that floats.
    """
    X = X_LP @ pose(model.body_pos[body], rotation_from_quaternion(model.body_quat[body]))
    first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
    if not count:
        fixed = Joint(f"{name}/fixed", JointType.FIXED, above, name, frozen(X))
        return [fixed], [], np.zeros(3)
    motions = [
        motion for number in range(first, first + count) for motion in _motions(model, number, name)
    ]
    if any(model.jnt_type[number] == mujoco.mjtJoint.mjJNT_FREE for number, _, _ in motions):
        return None, [], np.zeros(3)
    joints, between, anchor = list[Joint](), list[Link](), np.zeros(3)
    for i, (number, own, axis) in enumerate(motions):
        kind = model.jnt_type[number]
        slides = kind == mujoco.mjtJoint.mjJNT_SLIDE
        below = name if i == len(motions) - 1 else f"{name}/{own}"
        hinge = kind == mujoco.mjtJoint.mjJNT_HINGE
        reference = float(model.qpos0[model.jnt_qposadr[number]]) if slides or hinge else 0.0
        shift = np.zeros(3) if slides else model.jnt_pos[number] - anchor
        anchor = anchor + shift
        turn = (
            pose(-reference * axis) if slides else pose(rotation=rotation_about(axis, -reference))
        )
        joint = _joint(model, number, own, (above, below), frozen(X @ pose(shift) @ turn), mimics)
        joints.append(replace(joint, axis=frozen(axis)))
        if below != name:
            between.append(Link(below))
        X, above = np.eye(4), below
    return joints, between, anchor


def _motions(model: mujoco.MjModel, number: int, body: str) -> list[tuple[int, str, Array]]:
    """Return the number, names and axes of a joint; a ball joint counts as three hinges."""
    name = model.joint(number).name or f"{body}/joint"
    if model.jnt_type[number] != mujoco.mjtJoint.mjJNT_BALL:
        return [(number, name, model.jnt_axis[number])]
    stem = model.joint(number).name or f"{body}/ball"
    return [(number, f"{stem}/{x}", axis) for x, axis in zip("xyz", np.eye(3), strict=True)]


def _joint(
    model: mujoco.MjModel,
    number: int,
    name: str,
    links: tuple[str, str],
    X_PJ: Array,
    mimics: dict[str, Mimic],
) -> Joint:
    ball = model.jnt_type[number] == mujoco.mjtJoint.mjJNT_BALL
    slides = model.jnt_type[number] == mujoco.mjtJoint.mjJNT_SLIDE
    limited, dof = bool(model.jnt_limited[number]) and not ball, int(model.jnt_dofadr[number])
    lower, upper = model.jnt_range[number].tolist() if limited else (-inf, inf)
    turning = JointType.REVOLUTE if limited else JointType.CONTINUOUS
    strongest = inf
    if model.jnt_actfrclimited[number]:
        strongest = float(np.abs(model.jnt_actfrcrange[number]).max())
    return Joint(
        name,
        JointType.PRISMATIC if slides else turning,
        *links,
        X_PJ=X_PJ,
        axis=frozen(model.jnt_axis[number]),
        limits=JointLimits(lower, upper, effort=strongest),
        damping=float(model.dof_damping[dof]),
        friction=float(model.dof_frictionloss[dof]),
        armature=float(model.dof_armature[dof]),
        stiffness=float(np.ravel(model.jnt_stiffness[number])[0]),
        springref=0.0 if ball else float(model.qpos_spring[model.jnt_qposadr[number]]),
        mimic=mimics.get(name),
    )


def _mimics(model: mujoco.MjModel) -> Iterator[tuple[str, Mimic]]:
    """Yield the followers of linear couplings.

    Joints are coupled by y - y0 = a0 + a1 (x - x0), or by a fixed tendon whose length
    a (x - x0) + b (y - y0) is a0.
    """
    for i in range(model.neq):
        a0, a1 = model.eq_data[i, :2].tolist()
        leader, follower = int(model.eq_obj2id[i]), int(model.eq_obj1id[i])
        if model.eq_type[i] == mujoco.mjtEq.mjEQ_TENDON and leader < 0:
            start, count = int(model.tendon_adr[follower]), int(model.tendon_num[follower])
            path = slice(start, start + count)
            if count != 2 or any(model.wrap_type[path] != mujoco.mjtWrap.mjWRAP_JOINT):
                continue
            leader, follower = model.wrap_objid[path].tolist()
            a, b = model.wrap_prm[path].tolist()
            a0, a1 = a0 / b, -a / b
        elif model.eq_type[i] != mujoco.mjtEq.mjEQ_JOINT or leader < 0:
            continue
        y0, x0 = (float(model.qpos0[model.jnt_qposadr[one]]) for one in (follower, leader))
        yield model.joint(follower).name, Mimic(model.joint(leader).name, a1, y0 + a0 - a1 * x0)


def _inertia(model: mujoco.MjModel, body: int, X_LB: Array) -> Inertia | None:
    if not model.body_mass[body]:
        return None
    R = rotation_from_quaternion(model.body_iquat[body])
    moment = frozen(R * model.body_inertia[body] @ R.T)
    own = Inertia(float(model.body_mass[body]), frozen(model.body_ipos[body]), moment)
    return moved_inertia(own, X_LB)
