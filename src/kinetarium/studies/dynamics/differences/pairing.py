"""Which link and joint of one robot is which of another: by name, else by their place."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kinetarium.model.robot import Joint, JointType, RobotModel
from kinetarium.studies.dynamics.finding import Cause, Difference, Severity

_NEAR = 1e-6
"""Largest difference of the entries of poses and axes that are the same."""


def with_names_of(
    model: RobotModel, other: RobotModel
) -> tuple[RobotModel, tuple[Difference, ...]]:
    """Give another robot with the names of this one, and say what was called otherwise.

    A link or joint that has no namesake is taken for the one in the same
    place of the tree, where there is only one that it can be.

    Args:
        model: The robot whose names count.
        other: The other robot.
    """
    links, joints = _pairs(model, other)
    renamed = [(f"link {ours}", theirs) for theirs, ours in links.items() if ours != theirs]
    renamed += [(f"joint {ours}", theirs) for theirs, ours in joints.items() if ours != theirs]

    def joint(each: Joint) -> Joint:
        return replace(
            each,
            name=joints.get(each.name, each.name),
            parent=links.get(each.parent, each.parent),
            child=links.get(each.child, each.child),
            mimic=each.mimic
            and replace(each.mimic, joint=joints.get(each.mimic.joint, each.mimic.joint)),
        )

    named = replace(
        other,
        links=tuple(replace(link, name=links.get(link.name, link.name)) for link in other.links),
        joints=tuple(joint(each) for each in other.joints),
        loops=tuple(
            replace(
                loop,
                link_a=links.get(loop.link_a, loop.link_a),
                link_b=links.get(loop.link_b, loop.link_b),
            )
            for loop in other.loops
        ),
    )
    return named, tuple(_called(ours, theirs) for ours, theirs in renamed)


def _called(ours: str, theirs: str) -> Difference:
    text = f"{ours} is called {theirs}"
    return Difference(Cause.NAMES, ours.split(" ", 1)[1], None, text, Severity.NOTE)


def _pairs(model: RobotModel, other: RobotModel) -> tuple[dict[str, str], dict[str, str]]:
    """Give our name for each of the other's links and joints that has one here."""
    our_links = {link.name for link in model.links}
    our_joints = {joint.name: joint for joint in model.joints}
    links = {link.name: link.name for link in other.links if link.name in our_links}
    joints = {joint.name: joint.name for joint in other.joints if joint.name in our_joints}
    if other.root not in links and model.root not in links:
        links[other.root] = model.root
    ours, theirs = _children(model), _children(other)
    for joint in other.joints:  # parents before children
        if joint.name in joints:
            there = our_joints[joints[joint.name]].child
            if joint.child not in links and there not in links.values():
                links[joint.child] = there
        elif joint.parent in links:
            parent = links[joint.parent]
            free = [j for j in ours[parent] if j.name not in joints.values()]
            rivals = [j for j in theirs[joint.parent] if j.name not in joints]
            same = _counterpart(joint, free, rivals, links)
            if same:
                joints[joint.name] = same.name
                links.setdefault(joint.child, same.child)
    return links, joints


def _counterpart(
    joint: Joint, free: list[Joint], rivals: list[Joint], links: dict[str, str]
) -> Joint | None:
    """Give the one of our free joints that a joint must be, its siblings being rivals for it.

    Where several might be, it is the one in the same pose with the same axis.
    """
    for alike in (_fits, _coincides):
        mine = [each for each in free if alike(each, joint, links)]
        if len(mine) == 1 and sum(alike(mine[0], rival, links) for rival in rivals) == 1:
            return mine[0]
    return None


def _coincides(ours: Joint, theirs: Joint, links: dict[str, str]) -> bool:
    poses = np.abs(ours.X_PJ - theirs.X_PJ).max() < _NEAR
    axes = ours.type is JointType.FIXED or np.abs(ours.axis - theirs.axis).max() < _NEAR
    return bool(poses and axes) and _fits(ours, theirs, links)


def _fits(ours: Joint, theirs: Joint, links: dict[str, str]) -> bool:
    """Say whether two joints may be the same: of one kind, and not joined to different links."""
    same_kind = (ours.type is JointType.FIXED) == (theirs.type is JointType.FIXED)
    if theirs.child in links:
        return same_kind and links[theirs.child] == ours.child
    return same_kind and ours.child not in links.values()


def _children(model: RobotModel) -> defaultdict[str, list[Joint]]:
    children: defaultdict[str, list[Joint]] = defaultdict(list)
    for joint in model.joints:
        children[joint.parent].append(joint)
    return children


def structure_differences(model: RobotModel, other: RobotModel) -> Iterator[Difference]:
    """Name links and joints that only one robot has, or that hang elsewhere or move otherwise.

    Args:
        model: The robot as it should be.
        other: The other robot, with the names of this one where it has the same parts.
    """
    ours = {joint.name: joint for joint in model.joints}
    theirs = {joint.name: joint for joint in other.joints}
    for name, joint in ours.items():
        there = theirs.get(name)
        moves = joint.type is not JointType.FIXED
        if there is None and moves:
            text = f"joint {name} between {joint.parent} and {joint.child} is missing"
            yield Difference(Cause.STRUCTURE, name, None, text)
        elif there is not None:
            yield from _placed(joint, there)
    for name, joint in theirs.items():
        if name not in ours and joint.type is not JointType.FIXED:
            text = f"joint {name} between {joint.parent} and {joint.child} is added"
            yield Difference(Cause.STRUCTURE, name, None, text)


def _placed(given: Joint, found: Joint) -> Iterator[Difference]:
    if found.parent != given.parent:
        text = f"joint {given.name} hangs on link {found.parent} instead of {given.parent}"
        yield Difference(Cause.STRUCTURE, given.name, None, text)
    if found.child != given.child:
        text = f"joint {given.name} carries link {found.child} instead of {given.child}"
        yield Difference(Cause.STRUCTURE, given.name, None, text)
    if found.type is not given.type:
        turning = {JointType.REVOLUTE, JointType.CONTINUOUS}
        alike = {found.type, given.type} <= turning
        text = f"joint {given.name} is {found.type} instead of {given.type}"
        severity = Severity.NOTE if alike else Severity.FAULT
        yield Difference(Cause.STRUCTURE, given.name, None, text, severity)
