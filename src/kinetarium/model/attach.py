"""attach: one robot mounted rigidly on another."""

from collections import Counter
from dataclasses import replace
from hashlib import sha256

from kinetarium.errors import KinetariumError
from kinetarium.model.robot import IDENTITY, Joint, JointType, Loop, RobotModel, Source
from kinetarium.spatial.arrays import Array, frozen


def attach(
    carrier: RobotModel,
    payload: RobotModel,
    *,
    link: str,
    X_LP: Array = IDENTITY,
    prefix: str = "",
    name: str = "",
) -> RobotModel:
    """Fix the root link of one robot to a link of another.

    Args:
        carrier: The robot that carries, such as a mobile base.
        payload: The robot that is carried, such as an arm.
        link: The carrier's link that it is fixed to.
        X_LP: Pose of the payload's root link in that link, shape (4, 4).
        prefix: Put before every name of the payload; needed where both use the same names.
        name: Name of the whole; by default both names joined.

    Returns:
        One robot; it floats freely if the carrier does.

    Raises:
        UnknownNameError: If the carrier has no such link.
        KinetariumError: If both have a link, joint or loop of the same name.
    """
    carrier.link(link)
    carried = _renamed(payload, prefix)
    mount = Joint(f"{carried.root}_mount", JointType.FIXED, link, carried.root, frozen(X_LP))
    branch = {link}
    for joint in carrier.joints:
        if joint.parent in branch:
            branch.add(joint.child)
    # Depth first: the payload stands after everything else that hangs on the link.
    end = max(i for i, each in enumerate(carrier.links) if each.name in branch) + 1
    joints = carrier.joints
    name = name or f"{carrier.name}-{payload.name}"
    parts = (carrier.source.sha256, payload.source.sha256, link, prefix, str(X_LP.tolist()))
    whole = RobotModel(
        name=name,
        links=carrier.links[:end] + carried.links + carrier.links[end:],
        joints=(*joints[: end - 1], mount, *carried.joints, *joints[end - 1 :]),
        loops=carrier.loops + carried.loops,
        free_base=carrier.free_base,
        source=Source(name, carrier.source.format, sha256("\n".join(parts).encode()).hexdigest()),
        repairs=carrier.repairs + carried.repairs,
    )
    _refuse_shared_names(whole)
    return whole


def _renamed(robot: RobotModel, prefix: str) -> RobotModel:
    """Put a prefix before every name in a robot."""

    def rename_joint(joint: Joint) -> Joint:
        return replace(
            joint,
            name=prefix + joint.name,
            parent=prefix + joint.parent,
            child=prefix + joint.child,
            mimic=joint.mimic and replace(joint.mimic, joint=prefix + joint.mimic.joint),
        )

    def rename_loop(loop: Loop) -> Loop:
        a, b = prefix + loop.link_a, prefix + loop.link_b
        return replace(loop, name=prefix + loop.name, link_a=a, link_b=b)

    return replace(
        robot,
        links=tuple(replace(link, name=prefix + link.name) for link in robot.links),
        joints=tuple(rename_joint(joint) for joint in robot.joints),
        loops=tuple(rename_loop(loop) for loop in robot.loops),
    )


def _refuse_shared_names(robot: RobotModel) -> None:
    for kind, parts in (("link", robot.links), ("joint", robot.joints), ("loop", robot.loops)):
        (name, times), *_ = Counter(part.name for part in parts).most_common(1) or [("", 0)]
        if times > 1:
            raise KinetariumError(
                f"both robots have a {kind} '{name}'; give a prefix for the names of the second"
            )
