"""find_roles: the roles of a robot from files, the catalogue and geometry."""

import re
from collections.abc import Mapping
from dataclasses import replace
from math import degrees, isfinite
from os import PathLike
from pathlib import Path

from kinetarium.model.diagnostics import RobotFileError
from kinetarium.model.load import catalogue_entry, catalogue_names
from kinetarium.model.robot import JointType, RobotModel
from kinetarium.roles._bodies import Bodies
from kinetarium.roles._grippers import find_grippers
from kinetarium.roles._limbs import find_base, find_limbs, tool_link
from kinetarium.roles._srdf import apply_srdf, read_srdf
from kinetarium.roles._wheels import find_wheels
from kinetarium.roles.file import ROLES, SRDF, file_beside, read_roles_file
from kinetarium.roles.roles import Arm, BaseKind, BaseRole, Roles, RoleSource
from kinetarium.spatial.rotation import rpy_from_rotation

_HOMES = ("home", "ready", "standing", "stand", "half_sitting", "rest", "default", "reference")
"""Names of home poses, the best first; otherwise the first pose of the file."""


_UPRIGHT = 0.05
"""Tilt of the root up to which a keyframe counts as upright: robots settle a little [rad]."""


def find_roles(
    model: RobotModel,
    *,
    roles: str | PathLike[str] | None = None,
    srdf: str | PathLike[str] | None = None,
    tool: str | None = None,
    base: BaseKind | None = None,
    beside: bool = True,
) -> Roles:
    """Find what the joints and links of a robot are for.

    For each part (base, home, arms, grippers, wheels, legs) the first source that answers is
    used: the arguments, the roles file, SRDF, the robot file itself (free joint, actuators,
    keyframes, sites, transmissions), the catalogue, geometry. Each entry says where it is from.

    Example:
        >>> from kinetarium.model import load_robot
        >>> from kinetarium.roles import find_roles
        >>> roles = find_roles(load_robot("husky4-panda"))
        >>> str(roles.base), len(roles.wheels), roles.arm().gripper, roles.gripper().closing
        ('free base (catalogue)', 4, 'panda_link7', -1)

    Args:
        roles: A roles file; by default NAME.roles.toml beside the robot file, if there is one.
        srdf: An SRDF file; by default NAME.srdf beside the robot file or in ../srdf.
        tool: The link of the tool, of the arm that ends there.
        base: How the root moves, instead of what is found.
        beside: Whether to look for files beside the robot file.

    Raises:
        KinetariumError: If a file is refused or does not fit the robot, or the tool is unknown.
    """
    found = _by_geometry(model)
    found = _by_robot_file(model, found)
    found = _by_catalogue(model, found)
    if path := _given(srdf) or (file_beside(model, SRDF) if beside else None):
        found = _by_srdf(model, found, path, asked=srdf is not None)
    if path := _given(roles) or (file_beside(model, ROLES) if beside else None):
        written, parts = read_roles_file(path, model)
        changes = {part: getattr(written, part) for part in parts}
        if "home" in parts:
            changes["home"] = {**found.home, **written.home}
            changes["home_source"] = RoleSource.FILE
        found = replace(found, **changes)
    if tool is not None:
        found = _with_tool(model, found, tool)
    if base is not None:
        found = replace(found, base=BaseRole(kind=base, source=RoleSource.FLAG))
    return found


def _given(path: str | PathLike[str] | None) -> Path | None:
    return None if path is None else Path(path)


def _by_srdf(model: RobotModel, found: Roles, path: Path, *, asked: bool) -> Roles:
    """Take what an SRDF file says; a faulty one that was found by itself is left out and noted."""
    try:
        contents = read_srdf(path, model)
    except RobotFileError as error:
        if asked:
            raise
        return replace(found, notes=(*found.notes, f"left out: {error}"))
    found = apply_srdf(contents, found, model)
    return _with_home(model, found, contents.states, RoleSource.SRDF)


def _by_geometry(model: RobotModel) -> Roles:
    bodies = Bodies(model)
    wheels = find_wheels(bodies)
    grippers = find_grippers(bodies, wheels=[wheel.joint for wheel in wheels])
    arms, legs = find_limbs(bodies, grippers=grippers, wheels=wheels)
    home = {
        joint.name: float(bodies.rest[bodies.coordinate[joint.name]])
        for joint in model.moving_joints
        if joint.mimic is None
    }
    ends = [body for body in bodies.bodies if not body.children and body.joint]
    return Roles(
        robot=model.name,
        base=find_base(bodies, wheels=wheels, legs=legs),
        arms=arms,
        grippers=grippers,
        wheels=wheels,
        legs=legs,
        home=home,
        home_source=RoleSource.GEOMETRY,
        tool_links=tuple(tool_link(bodies, body) for body in ends),
    )


def _by_robot_file(model: RobotModel, found: Roles) -> Roles:
    """Take what MJCF has: the root without a free joint is fixed, keyframes, sites as tools."""
    moves = model.free_base or found.base.kind is BaseKind.PLANAR
    if model.source.format == "mjcf" and model.moving_joints and not moves:
        found = replace(found, base=BaseRole(kind=BaseKind.FIXED, source=RoleSource.MJCF))
    tilts = model.declared.tilts
    tilted = [name for name in model.declared.poses if tilts.get(name, 0.0) > _UPRIGHT]
    upright = {name: q for name, q in model.declared.poses.items() if name not in tilted}
    notes = tuple(
        f"left out: keyframe '{name}', whose root leans by {degrees(tilts[name]):.0f} deg; "
        "home poses are upright"
        for name in tilted
    )
    found = replace(found, notes=found.notes + notes)
    found = _with_home(model, found, upright, RoleSource.MJCF)
    arms = tuple(_at_site(model, arm) for arm in found.arms)
    return replace(found, arms=arms)


def _at_site(model: RobotModel, arm: Arm) -> Arm:
    end = _rigid_links(model, arm.joints[-1])
    for site in model.declared.sites:
        words = re.sub(r"[^a-z0-9]+", " ", site.name.lower()).split()
        if site.link in end and {"tcp", "ee", "eef", "attachment", "grasp", "pinch"} & set(words):
            x, y, z = (float(value) for value in site.X_LS[:3, 3])
            r, p, w = (float(value) for value in rpy_from_rotation(site.X_LS[:3, :3]))
            return replace(
                arm, tool=site.link, xyz=(x, y, z), rpy=(r, p, w), source=RoleSource.MJCF
            )
    return arm


def _rigid_links(model: RobotModel, joint: str) -> set[str]:
    """Return the links that move with the child of a joint and not otherwise."""
    links = {model.joint(joint).child}
    for each in model.joints:
        if each.type is JointType.FIXED and each.parent in links:
            links.add(each.child)
    return links


def _by_catalogue(model: RobotModel, found: Roles) -> Roles:
    if model.source.file not in catalogue_names():
        return found
    entry = catalogue_entry(model.source.file)
    if entry.tool:
        found = _with_tool(model, found, entry.tool, source=RoleSource.CATALOGUE)
    if model.free_base:
        found = replace(found, base=replace(found.base, source=RoleSource.CATALOGUE))
    return _with_home(model, found, {"home": entry.home}, RoleSource.CATALOGUE)


def _with_home(
    model: RobotModel, found: Roles, poses: Mapping[str, Mapping[str, float]], source: RoleSource
) -> Roles:
    """Return roles with the best of some named poses as home, for the joints that they name.

    Each joint takes its position from the first pose, in the order of preference, that has it;
    positions beyond its limits are not taken.
    """
    order = sorted(poses, key=lambda name: _preference(name, list(poses)))
    home = dict(found.home)
    taken: set[str] = set()
    limits = {joint.name: joint.limits for joint in model.moving_joints}
    for name in order:
        for joint, value in poses[name].items():
            if joint in home and joint not in taken and isfinite(value):
                within = limits[joint].lower - 1e-3 <= value <= limits[joint].upper + 1e-3
                if within:
                    home[joint] = min(max(value, limits[joint].lower), limits[joint].upper)
                    taken.add(joint)
    return replace(found, home=home, home_source=source) if taken else found


def _preference(name: str, names: list[str]) -> tuple[int, int]:
    lower = name.lower()
    rank = next((i for i, word in enumerate(_HOMES) if word in lower), len(_HOMES))
    return rank, names.index(name)


def _with_tool(
    model: RobotModel, found: Roles, link: str, *, source: RoleSource = RoleSource.FLAG
) -> Roles:
    """Return roles in which an arm ends at a link; other arms stay."""
    model.link(link)
    for index, arm in enumerate(found.arms):
        if link in _rigid_links(model, arm.joints[-1]):
            zero = (0.0, 0.0, 0.0)
            end = replace(arm, tool=link, xyz=zero, rpy=zero, source=source)
            return replace(found, arms=(*found.arms[:index], end, *found.arms[index + 1 :]))
    joints: list[str] = []
    above = link
    while above in model.parent_joint:
        joint = model.parent_joint[above]
        if joint.type is not JointType.FIXED:
            joints.insert(0, joint.name)
        above = joint.parent
    if not joints:
        return found
    name = "arm" if not found.arms else link
    arm = Arm(name=name, joints=tuple(joints), tool=link, source=source)
    return replace(found, arms=(*found.arms, arm))
