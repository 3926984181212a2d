"""Two robot files compared: structure, joints and links, one by one."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from kinetarium.dynamics import link_poses
from kinetarium.dynamics.inertial_parameters import inertial_parameters, moved
from kinetarium.model.robot import Joint, JointType, RobotModel
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dynamics.differences.body import link_differences
from kinetarium.studies.dynamics.differences.inertia import (
    axis_difference,
    leader_text,
    order_difference,
    placement_differences,
    resistance_differences,
)
from kinetarium.studies.dynamics.finding import Cause, Difference, Severity

_NEAR = 1e-6
"""Largest difference of the entries of equal poses and axes."""


def with_names_of(
    model: RobotModel, other: RobotModel
) -> tuple[RobotModel, tuple[Difference, ...]]:
    """Return another robot with the names of this one, and the renamed parts.

    A link or joint without a namesake is matched with the one at the same place
    of the tree, if there is only one candidate.

    Args:
        model: The robot whose names are used.
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
    """Return our names of the other's links and joints that have a counterpart here."""
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
    """Return the unmatched joint of ours that corresponds to a joint, or None.

    Among several candidates it is the one with the same pose and axis.
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
    """Return whether two joints may be the same: of one type, and not on different links."""
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
    """Yield links and joints that only one robot has, or with another parent or type.

    Args:
        model: The given robot.
        other: The other robot, renamed to match.
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


TOLERANCE = 1e-9
"""Largest relative difference between two files due to rounding: they have few digits [-]."""
_WORLD_TOLERANCE = 1e-8
"""Largest difference of lines and inertial parameters in the world due to rounding."""
_FRAMES = (Cause.JOINT_AXIS, Cause.JOINT_ORIGIN, Cause.CENTER_OF_MASS, Cause.INERTIA_AXES,
           Cause.INERTIA_FRAME, Cause.INERTIA)  # fmt: skip
"""Causes that also appear if the same robot is described in other link frames."""


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Two robots compared.

    Attributes:
        differences: What differs, the structure first.
        other: The other robot, with the names of the first.
    """

    differences: tuple[Difference, ...]
    other: RobotModel


def model_differences(model: RobotModel, other: RobotModel) -> Compared:
    """Compare two robots.

    Args:
        model: The given robot.
    """
    other, names = with_names_of(model, other)
    theirs = {joint.name: joint for joint in other.moving_joints}
    parts = [
        *joint_differences(model, other, tolerance=TOLERANCE),
        *link_differences(model, other, tolerance=TOLERANCE),
    ]
    parts = as_conventions(parts, model, other, tolerance=_WORLD_TOLERANCE)
    wanted = [joint.name for joint in model.moving_joints]
    differences = (
        *names,
        *structure_differences(model, other),
        *order_difference(wanted, list(theirs)),
        *parts,
        *_of_constraints(model, other),
    )
    return Compared(differences, other)


def joint_differences(
    model: RobotModel, other: RobotModel, *, tolerance: float
) -> Iterator[Difference]:
    """Compare the frames, axes and losses of the joints that both robots have.

    Args:
        model: The given robot.
        other: The other robot, renamed to match.
        tolerance: Largest difference due to rounding [m, rad or relative].
    """
    theirs = {joint.name: joint for joint in other.joints}
    shared = [joint for joint in model.joints if joint.name in theirs]
    poses = {
        joint.name: (joint.X_PJ, theirs[joint.name].X_PJ)
        for joint in shared
        if theirs[joint.name].parent == joint.parent
    }
    for each in placement_differences(poses, tolerance=tolerance):
        heavy = any(_carries_mass(model, model.joint(name)) for name in each.where.split(", "))
        yield each if heavy else replace(each, severity=Severity.NOTE)
    for joint in shared:
        there = theirs[joint.name]
        if JointType.FIXED in (joint.type, there.type):
            continue
        yield from axis_difference(joint.name, joint.axis, there.axis, tolerance=tolerance)
        yield from resistance_differences(joint, there, tolerance=tolerance)


def _carries_mass(model: RobotModel, joint: Joint) -> bool:
    below = {joint.child}
    for each in model.joints:  # parents before children
        if each.parent in below:
            below.add(each.child)
    return any(link.inertia for link in model.links if link.name in below)


def as_conventions(
    parts: list[Difference], model: RobotModel, other: RobotModel, *, tolerance: float
) -> list[Difference]:
    """Return differences of joints and links, as notes if only link frames differ.

    Args:
        tolerance: Largest difference of lines and inertial parameters due to rounding.
    """
    if not parts or not _same_in_the_world(model, other, tolerance):
        return parts
    return [_as_convention(each) for each in parts]


def _same_in_the_world(model: RobotModel, other: RobotModel, tolerance: float) -> bool:
    """Return whether axes and bodies coincide at zero, in any link frames."""
    moving = [joint.name for joint in model.moving_joints]
    if moving != [joint.name for joint in other.moving_joints]:
        return False
    ours, theirs = _in_the_world(model), _in_the_world(other)
    if [name for name, _ in ours] != [name for name, _ in theirs]:
        return False
    return all(
        np.abs(mine - its).max() <= tolerance * max(1.0, np.abs(mine).max())
        for (_, mine), (_, its) in zip(ours, theirs, strict=True)
    )


def _in_the_world(model: RobotModel) -> list[tuple[str, Array]]:
    """Return each joint's axis as a line, and each body's inertial parameters, at zero."""
    poses = link_poses(model, np.zeros(len(model.moving_joints)))
    X_WL = {link.name: X for link, X in zip(model.links, poses, strict=True)}
    shown = []
    for body in rigid_tree(model):
        X_WB = X_WL[body.name]
        if body.joint:
            axis = X_WB[:3, :3] @ body.joint.axis
            moment = np.zeros(3) if _slides(body.joint) else np.cross(X_WB[:3, 3], axis)
            shown.append((body.joint.name, np.concatenate([axis, moment])))
        weight = body.inertia and moved(body.inertia, X_WB)
        shown.append((body.joint.name if body.joint else "", inertial_parameters(weight)))
    return shown


def _as_convention(difference: Difference) -> Difference:
    if difference.cause not in _FRAMES:
        return difference
    text = f"{difference.text}; only the link frame differs, the robot is the same"
    return replace(difference, text=text, severity=Severity.NOTE)


def _of_constraints(model: RobotModel, other: RobotModel) -> Iterator[Difference]:
    theirs = {joint.name: joint for joint in other.moving_joints}
    for joint in model.moving_joints:
        there = theirs.get(joint.name)
        if there is None:
            continue
        if joint.limits != there.limits:
            text = f"joint {joint.name} has other limits"
            yield Difference(Cause.LIMITS, joint.name, None, text, Severity.NOTE)
        if joint.mimic != there.mimic:
            text = (
                f"joint {joint.name} follows {leader_text(there.mimic)}"
                f" instead of {leader_text(joint.mimic)}"
            )
            yield Difference(Cause.COUPLING, joint.name, None, text)
    if {loop.name for loop in model.loops} != {loop.name for loop in other.loops}:
        text = "the loops that constraints close are not the same"
        yield Difference(Cause.COUPLING, "", None, text)


def _slides(joint: Joint) -> bool:
    return joint.type is JointType.PRISMATIC
