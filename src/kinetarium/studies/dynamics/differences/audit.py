"""The first step: the robot as loaded by a backend, compared with the given robot."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from kinetarium.engines.protocol import Audit, LoadedCoupling, LoadedJoint, LoadedSolid
from kinetarium.model.robot import Inertia, Joint, Mimic, RobotModel
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import inverse_pose
from kinetarium.studies.dynamics.backends.backend import ROBOT, with_joints
from kinetarium.studies.dynamics.differences.body import body_differences
from kinetarium.studies.dynamics.differences.inertia import (
    axis_difference,
    frame_differences,
    gravity_difference,
    inertia_differences,
    leader_text,
    order_difference,
    placement_differences,
    resistance_differences,
)
from kinetarium.studies.dynamics.finding import Cause, Difference, Severity

_Solids = dict[str, LoadedSolid]
_Joints = dict[str, LoadedJoint]


@dataclass(frozen=True, slots=True, eq=False)
class Audited:
    """The result of an audit.

    Attributes:
        differences: Every difference from the given robot.
        model: The robot according to the audit; what it does not show is as given.
        gravity: Gravity according to the audit [m/s^2], shape (3,).
    """

    differences: tuple[Difference, ...]
    model: RobotModel
    gravity: Array


def audit_differences(
    model: RobotModel, audit: Audit, *, gravity: Array, tolerance: float
) -> Audited:
    """Compare a robot with an audit of it.

    Args:
        model: The given robot.
        audit: The robot as loaded by a backend.
        gravity: The given gravity [m/s^2], shape (3,).
        tolerance: Largest relative difference due to rounding [-].
    """
    solids = {solid.name.removeprefix(f"{ROBOT}/"): solid for solid in audit.solids}
    joints = {joint.name.removeprefix(f"{ROBOT}/"): joint for joint in audit.joints}
    structure = tuple(_of_structure(model, joints))
    model = with_joints(model, joints)
    mounts, model = _of_mounts(model, solids, joints, tolerance=tolerance)
    differences = [
        *structure,
        *mounts,
        *gravity_difference(gravity, audit.gravity, tolerance=tolerance),
        *_of_joints(model, joints, tolerance=tolerance),
        *_of_couplings(model, audit.couplings, tolerance=tolerance),
        *_of_bodies(model, solids, tolerance=tolerance),
        *(Difference(Cause.REMARK, "", None, text, Severity.NOTE) for text in audit.remarks),
    ]
    return Audited(
        tuple(differences),
        _as_audited(model, solids, joints, tolerance=tolerance),
        frozen(audit.gravity),
    )


def _of_structure(model: RobotModel, joints: _Joints) -> Iterator[Difference]:
    wanted = [joint.name for joint in model.moving_joints]
    for name in wanted:
        if name not in joints:
            text = f"joint {name} is missing or does not move"
            yield Difference(Cause.STRUCTURE, name, None, text)
    for name in joints:
        if name not in wanted:
            text = f"joint {name} moves, but the robot has no such moving joint"
            yield Difference(Cause.STRUCTURE, name, None, text)
    yield from order_difference(wanted, list(joints))


def _of_mounts(
    model: RobotModel, solids: _Solids, joints: _Joints, *, tolerance: float
) -> tuple[list[Difference], RobotModel]:
    """Find fixed joints that are displaced, and the robot with them.

    One displaced mount moves all joints and masses behind it; it is one fault, not several.
    """
    differences = []
    for body in rigid_tree(model):
        rivals: dict[str, RobotModel] = {}
        for link, X_TF in body.members[1:]:
            mount = model.parent_joint[link]
            for X in _mount_poses(model, body.name, X_TF, joints):
                X_PT = inverse_pose(dict(body.members)[mount.parent])
                displaced = replace(mount, X_PJ=frozen(X_PT @ X))
                trial = replace(
                    model, joints=tuple(displaced if j == mount else j for j in model.joints)
                )
                moved = any(frame_differences("", mount.X_PJ, displaced.X_PJ, tolerance=tolerance))
                if moved and _explains(trial, body.name, solids, joints, tolerance=tolerance):
                    rivals[mount.name] = trial
        texts = [
            each
            for name, trial in rivals.items()
            for each in frame_differences(
                name, model.joint(name).X_PJ, trial.joint(name).X_PJ, tolerance=tolerance
            )
        ]
        if texts:
            text = "; or ".join(each.text for each in texts)
            names = ", ".join(rivals)
            differences.append(Difference(Cause.JOINT_ORIGIN, names, texts[0].size, text))
            model = next(iter(rivals.values()))
    return differences, model


def _mount_poses(model: RobotModel, top: str, X_TF: Array, joints: _Joints) -> Iterator[Array]:
    """Yield where a fixed joint must be in its body for a joint of the body to be as loaded."""
    tree = rigid_tree(model)
    for body in tree:
        loaded = joints.get(body.joint.name) if body.joint else None
        if loaded and loaded.X_PJ is not None and tree[body.parent].name == top:
            yield loaded.X_PJ @ inverse_pose(body.X_PJ) @ X_TF


def _explains(
    trial: RobotModel, top: str, solids: _Solids, joints: _Joints, *, tolerance: float
) -> bool:
    """Return whether a body and all joints on it are as loaded."""
    tree = rigid_tree(trial)
    body = next(each for each in tree if each.name == top)
    solid = solids.get(top)
    if body.joint and solid is None:
        return False
    if solid and inertia_differences(body.inertia, solid.inertia, tolerance=tolerance):
        return False
    return not any(
        difference
        for child in tree
        if child.joint
        and tree[child.parent].name == top
        and (loaded := joints.get(child.joint.name))
        and loaded.X_PJ is not None
        for difference in frame_differences("", child.X_PJ, loaded.X_PJ, tolerance=tolerance)
    )


def _of_joints(model: RobotModel, joints: _Joints, *, tolerance: float) -> Iterator[Difference]:
    tree = [body for body in rigid_tree(model) if body.joint and body.joint.name in joints]
    poses = {
        body.joint.name: (body.X_PJ, joints[body.joint.name].X_PJ) for body in tree if body.joint
    }
    shown = {name: (given, found) for name, (given, found) in poses.items() if found is not None}
    yield from placement_differences(shown, tolerance=tolerance)
    for joint in (body.joint for body in tree if body.joint):
        loaded = joints[joint.name]
        yield from axis_difference(joint.name, joint.axis, loaded.axis)
        yield from resistance_differences(joint, loaded, tolerance=tolerance)


def _of_couplings(
    model: RobotModel, couplings: Iterable[LoadedCoupling] | None, *, tolerance: float
) -> Iterator[Difference]:
    if couplings is None:
        return
    loaded = {coupling.joint: coupling for coupling in couplings}
    for joint in model.moving_joints:
        there, given = loaded.get(f"{ROBOT}/{joint.name}"), joint.mimic
        found = None
        if there:
            leader = there.leader.removeprefix(f"{ROBOT}/")
            found = Mimic(leader, there.multiplier, there.offset)
        if given and found and given.joint == found.joint:
            size = max(abs(found.multiplier - given.multiplier), abs(found.offset - given.offset))
            if size <= tolerance * max(1.0, abs(given.multiplier)):
                continue
        if given != found:
            text = (
                f"joint {joint.name} follows {leader_text(found)} instead of {leader_text(given)}"
            )
            yield Difference(Cause.COUPLING, joint.name, None, text)


def _of_bodies(model: RobotModel, solids: _Solids, *, tolerance: float) -> Iterator[Difference]:
    for body in rigid_tree(model):
        solid = solids.get(body.name)
        # A fixed root is not a moving body, and not audited.
        if solid or body.joint:
            found = solid.inertia if solid and solid.inertia.mass > 0 else None
            yield from body_differences(model, body, found, tolerance=tolerance)


def _as_audited(
    model: RobotModel, solids: _Solids, joints: _Joints, *, tolerance: float
) -> RobotModel:
    """Return the robot according to the audit; a differing body has all mass at its top link."""
    changed: dict[str, Inertia | None] = {}
    for body in rigid_tree(model):
        solid = solids.get(body.name)
        found = solid.inertia if solid and solid.inertia.mass > 0 else None
        shown = solid or body.joint
        if shown and inertia_differences(body.inertia, found, tolerance=tolerance):
            changed |= {link: None for link, _ in body.members} | {body.name: found}

    tree = rigid_tree(model)
    homes = {link: X_BL for body in tree for link, X_BL in body.members}
    frames = {body.joint.name: body.X_PJ for body in tree if body.joint}

    def joint(each: Joint) -> Joint:
        loaded = joints.get(each.name)
        if loaded is None:
            return each
        found = replace(each, axis=frozen(loaded.axis), armature=loaded.armature)
        X_BJ = loaded.X_PJ
        if X_BJ is None or not any(
            frame_differences(each.name, frames[each.name], X_BJ, tolerance=tolerance)
        ):
            return found
        return replace(found, X_PJ=frozen(inverse_pose(homes[each.parent]) @ X_BJ))

    return replace(
        model,
        links=tuple(
            replace(link, inertia=changed.get(link.name, link.inertia)) for link in model.links
        ),
        joints=tuple(joint(each) for each in model.joints),
    )
