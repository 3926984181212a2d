"""The first step: the robot as loaded by a backend, compared with the given robot."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kinetarium.engines.protocol import Audit, LoadedJoint, LoadedSolid
from kinetarium.model.robot import Inertia, Joint, RobotModel
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.studies.dynamics.backends.backend import ROBOT, with_joints
from kinetarium.studies.dynamics.differences.body import body_differences
from kinetarium.studies.dynamics.differences.inertia import (
    axis_difference,
    gravity_difference,
    inertia_differences,
    order_difference,
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
    differences = [
        *structure,
        *gravity_difference(gravity, audit.gravity, tolerance=tolerance),
        *_of_joints(model, joints, tolerance=tolerance),
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


def _of_joints(model: RobotModel, joints: _Joints, *, tolerance: float) -> Iterator[Difference]:
    for joint in model.moving_joints:
        loaded = joints.get(joint.name)
        if loaded is None:
            continue
        yield from axis_difference(joint.name, joint.axis, loaded.axis)
        yield from resistance_differences(joint, loaded, tolerance=tolerance)


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

    def joint(each: Joint) -> Joint:
        loaded = joints.get(each.name)
        if loaded is None:
            return each
        return replace(each, axis=frozen(loaded.axis), armature=loaded.armature)

    return replace(
        model,
        links=tuple(
            replace(link, inertia=changed.get(link.name, link.inertia)) for link in model.links
        ),
        joints=tuple(joint(each) for each in model.joints),
    )
