"""Roles files: TOML that says what the joints and links of a robot are for."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.model.load import catalogue_names
from kinetarium.model.robot import JointType, RobotModel
from kinetarium.roles.roles import BaseKind, Roles, RolesError
from kinetarium.storage.regular_file import read_regular
from kinetarium.storage.serialization import (
    MOST_TOML_BYTES,
    from_builtins,
    read_toml,
    to_builtins,
    to_toml,
)

ROLES, SRDF = ".roles.toml", ".srdf"
"""Suffixes of roles files and SRDF files."""
_PARTS = ("base", "home", "arms", "grippers", "wheels", "legs", "disabled_collisions")

_HEADER = """\
# Roles of {robot}, written by: kinetarium roles ROBOT --write FILE
# Edit it, and give it by --roles FILE, or keep it beside the robot as NAME.roles.toml.
# A part that is not in this file is found as before; an empty list says that there is none.
# Lengths are in metres, angles in radians, forces in newtons.
"""
_COMMENTS = {
    "home": "Positions of the independent joints in the home pose.",
    "arms": "joints from the base to the tool; tool: the link that works, with the tool frame at\n"
    "# xyz and rpy in it; gripper: the name of the one it carries.",
    "grippers": "palm: the link that carries the fingers, whose frame center and axis refer to;\n"
    "# the first two fingers meet at center, along axis; open and closed: positions of the\n"
    "# independent joints, the leader first.",
    "wheels": "axis: of the joint in the root's frame; steering: the joint about a vertical axis\n"
    "# above it; a wheel neither driven nor steered below such a joint is a caster.",
    "legs": "joints from the base to the foot.",
}


def file_beside(model: RobotModel, suffix: str) -> Path | None:
    """Return the file of the robot's name with another suffix near the robot file, or None."""
    file = Path(model.source.file)
    if model.source.file in catalogue_names() or "\0" in model.source.file:
        return None
    folders = [file.parent] + ([file.parent.parent / "srdf"] if suffix == SRDF else [])
    names = [file.name.partition(".")[0], model.name]
    for name in (name for name in names if Path(name).name == name):
        for folder in folders:
            if (folder / f"{name}{suffix}").is_file():
                return folder / f"{name}{suffix}"
    return None


def read_roles_file(path: Path, model: RobotModel) -> tuple[Roles, frozenset[str]]:
    """Read a roles file, and check that its joints and links are those of the robot.

    Returns:
        The roles, and the names of the parts that the file contains.

    Raises:
        KinetariumError: If it cannot be read or does not fit the robot: FILE:LINE and the fault.
    """
    data = read_toml(path)
    parts = frozenset(data) & set(_PARTS)
    base = data.get("base")
    if isinstance(base, str):
        data["base"] = {"kind": base}
    try:
        for unknown in set(data) - {"robot", *_PARTS}:
            raise UnknownNameError("part", unknown, known=("robot", *_PARTS))
        roles = from_builtins(Roles, {"robot": model.name, **data}, where="roles")
        _check(roles, model)
    except KinetariumError as error:
        raise RolesError(f"{_place(path, str(error))}: {error}") from None
    return replace(roles, robot=model.name), parts


def _place(path: Path, message: str) -> str:
    """Return FILE:LINE of the first line with what a message quotes; FILE if there is none."""
    quoted = message.split("'")
    lines = read_regular(path, most=MOST_TOML_BYTES).decode().splitlines() if quoted[1:] else []
    found = [number for number, line in enumerate(lines, start=1) if quoted[1] in line]
    return f"{path}:{found[0]}" if found else str(path)


def _check(roles: Roles, model: RobotModel) -> None:
    links = {link.name for link in model.links}
    joints = {joint.name for joint in model.joints if joint.type is not JointType.FIXED}
    free = {joint.name for joint in model.moving_joints if joint.mimic is None}

    def known(kind: str, names: Iterable[str], valid: set[str]) -> None:
        for name in names:
            if name not in valid:
                raise UnknownNameError(kind, name, known=valid)

    known("independent joint", roles.home, free)
    for pair in roles.disabled_collisions:
        known("link", pair, links)
    for kind, parts in (("arm", roles.arms), ("gripper", roles.grippers), ("leg", roles.legs)):
        names = [part.name for part in parts]
        for name in names:
            if names.count(name) > 1:
                raise RolesError(f"two {kind}s are called '{name}'")
    for arm in roles.arms:
        known("joint", arm.joints, joints)
        known("link", [arm.tool], links)
        known("gripper", [arm.gripper] if arm.gripper else [], {g.name for g in roles.grippers})
        if not arm.joints:
            raise RolesError(f"the arm '{arm.name}' has no joints")
    for gripper in roles.grippers:
        known("link", [gripper.palm], links)
        known("independent joint", [gripper.leader, *gripper.open, *gripper.closed], free)
        known("joint", gripper.followers, joints)
        if not (gripper.leader in gripper.open and gripper.leader in gripper.closed):
            raise RolesError(f"open and closed of '{gripper.name}' need the leader's position")
        if gripper.open[gripper.leader] == gripper.closed[gripper.leader]:
            raise RolesError(f"the leader of '{gripper.name}' is where it is open and closed")
        if len(gripper.fingers) < 2:
            raise RolesError(f"the gripper '{gripper.name}' needs two fingers")
        for finger in gripper.fingers:
            known("joint", finger.joints, joints)
            known("link", [*finger.links, finger.pad], links)
    for wheel in roles.wheels:
        known("joint", [wheel.joint, *([wheel.steering] if wheel.steering else [])], joints)
        known("link", [wheel.link], links)
        if wheel.radius <= 0 or wheel.width < 0:
            raise RolesError(f"the wheel '{wheel.joint}' needs a positive radius and width")
    for leg in roles.legs:
        known("joint", leg.joints, joints)
        known("link", [leg.foot], links)


def roles_toml(roles: Roles) -> str:
    """Return roles as a commented roles file, which reads back to the same roles.

    Example:
        >>> from kinetarium.model import load_robot
        >>> from kinetarium.roles import find_roles, roles_toml
        >>> print(roles_toml(find_roles(load_robot("husky4"))).splitlines()[6])
        base = "free"
    """
    data = to_builtins(roles)
    top: dict[str, Any] = {"robot": roles.robot}
    lists = ("arms", "grippers", "wheels", "legs", "disabled_collisions")
    top.update({key: [] for key in lists if not data[key]})
    if roles.disabled_collisions:
        top["disabled_collisions"] = data["disabled_collisions"]
    text = [
        _HEADER.format(robot=roles.robot),
        f"# {roles.base.kind}, {' or '.join(k for k in BaseKind if k != roles.base.kind)};"
        f" found by {roles.base.source}",
        to_toml({"base": roles.base.kind}).rstrip(),
        to_toml(top).rstrip(),
        f"\n# {_COMMENTS['home']} Found by {roles.home_source}.",
        to_toml({"home": data["home"]}).rstrip(),
    ]
    for key in lists[:-1]:
        for index, entry in enumerate(data[key]):
            source = entry.pop("source")
            comment = f"# {key.capitalize()}: {_COMMENTS[key]}\n" if index == 0 else ""
            # One table alone per call: comments stay with what they describe.
            text.append(f"\n{comment}# Found by {source}.\n{_table(key, entry)}")
    return "\n".join(text) + "\n"


def _table(key: str, entry: Mapping[str, Any]) -> str:
    """Return one entry of an array of tables; inner tables come last, as TOML demands."""
    plain = {name: value for name, value in entry.items() if not _is_table(value)}
    inner = {name: value for name, value in entry.items() if _is_table(value)}
    return to_toml({key: [{**plain, **inner}]}).rstrip()


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)
    )
