"""Reading SRDF, MoveIt's description of groups, end effectors and states beside a URDF."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from kinetarium.model.attributes import AttributeReader
from kinetarium.model.diagnostics import Code, Diagnostics, read_robot_part
from kinetarium.model.markup import Element, parse_xml
from kinetarium.model.robot import JointType, RobotModel
from kinetarium.roles.roles import Arm, BaseKind, Gripper, Leg, Roles, RoleSource

_MOST_BYTES = 4 * 2**20
"""The largest SRDF file that is read; those of public robots have up to 0.1 MiB."""
_MOST_DEPTH = 20
"""Deepest nesting of groups."""

_VIRTUAL = {
    "fixed": BaseKind.FIXED,
    "floating": BaseKind.FREE,
    "planar": BaseKind.PLANAR,
}


@dataclass(frozen=True, slots=True)
class EndEffector:
    """A tool as SRDF defines it.

    Attributes:
        link: The link that it is attached to.
        group: The group of its own joints; in many files that of the arm.
        parent: The group of the arm, or empty.
    """

    link: str
    group: str
    parent: str


@dataclass(slots=True)
class Srdf:
    """The contents of an SRDF file that concern one robot.

    Attributes:
        groups: Moving joints of each group, in the model's order.
        tips: The last link of each group that is a chain.
        end_effectors: The end effectors.
        states: Joint positions [rad or m] of each state, by name.
        base: The kind of base by a virtual joint of the root, or None.
        passive: Joints that are not driven.
        disabled: Pairs of links that are not checked for collisions.
        notes: What was ignored.
    """

    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tips: dict[str, str] = field(default_factory=dict)
    end_effectors: list[EndEffector] = field(default_factory=list)
    states: dict[str, dict[str, float]] = field(default_factory=dict)
    base: BaseKind | None = None
    passive: set[str] = field(default_factory=set)
    disabled: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_srdf(path: Path, model: RobotModel) -> Srdf:
    """Read an SRDF file.

    One file often serves several variants of a robot: joints and links that this one does not
    have are left out and noted. Elements of other kinds are not read.

    Raises:
        RobotFileError: If it cannot be read, is not SRDF, or an element lacks a name or a number.
    """
    diagnostics = Diagnostics(str(path))
    root = parse_xml(
        read_robot_part(path, diagnostics=diagnostics, most=_MOST_BYTES), diagnostics=diagnostics
    )
    if root.tag != "robot":
        raise diagnostics.refusal(
            Code.WRONG_ROOT,
            f"the root element is <{root.tag}>",
            remedy="an SRDF file begins with <robot>",
            line=root.line,
        )
    srdf = _SrdfReader(model, diagnostics).read(root)
    diagnostics.stop_if_refused()
    return srdf


class _SrdfReader:
    """Reads the elements of one file."""

    def __init__(self, model: RobotModel, diagnostics: Diagnostics) -> None:
        self._model = model
        self._diagnostics = diagnostics
        self._attributes = AttributeReader(diagnostics)
        self._links = {link.name for link in model.links}
        self._joints = {joint.name: joint for joint in model.joints}
        self._unknown: dict[str, int] = {}
        self._srdf = Srdf()

    def read(self, root: Element) -> Srdf:
        srdf, name = self._srdf, self._attributes.name
        elements: dict[str, Element] = {}
        for element in root.all("group"):
            with self._diagnostics.at(element):
                elements[name(element)] = element
        for group, element in elements.items():
            with self._diagnostics.at(element):
                chosen = self._members(element, elements, depth=0)
                srdf.groups[group] = self._moving(chosen)
        for element in root.all("end_effector"):
            with self._diagnostics.at(element):
                name(element)
                link, group = name(element, "parent_link"), name(element, "group")
                if self._known(link, self._links):
                    parent = element.attributes.get("parent_group", "")
                    srdf.end_effectors.append(EndEffector(link, group, parent))
        for element in root.all("group_state"):
            with self._diagnostics.at(element):
                srdf.states.setdefault(name(element), {}).update(self._state(element))
        for element in root.all("virtual_joint"):
            with self._diagnostics.at(element):
                kind = self._attributes.text(element, "type")
                if kind not in _VIRTUAL:
                    raise self._diagnostics.refusal(
                        Code.BAD_VALUE,
                        f"{element}: type is {kind[:40]!r}",
                        remedy=f"one of {', '.join(_VIRTUAL)}",
                    )
                if name(element, "child_link") == self._model.root:
                    srdf.base = _VIRTUAL[kind]
        for element in root.all("passive_joint"):
            with self._diagnostics.at(element):
                srdf.passive.add(name(element))
        for element in root.all("disable_collisions"):
            with self._diagnostics.at(element):
                pair = name(element, "link1"), name(element, "link2")
                if all([self._known(link, self._links) for link in pair]):
                    srdf.disabled.append(pair)
        if self._unknown:
            some = ", ".join(sorted(self._unknown)[:5])
            more = f" and {len(self._unknown) - 5} more" if len(self._unknown) > 5 else ""
            srdf.notes.append(
                f"{self._diagnostics.file}: {self._model.name} has no {some}{more}: left out"
            )
        return srdf

    def _known(self, name: str, known: Iterable[str]) -> bool:
        if name in known:
            return True
        self._unknown.setdefault(name, 1)
        return False

    def _members(self, group: Element, groups: dict[str, Element], *, depth: int) -> set[str]:
        """Return the joints of a group: by joints, links, chains and other groups."""
        if depth > _MOST_DEPTH:
            raise self._diagnostics.refusal(
                Code.CYCLE, f"{group} contains itself, or groups are nested too deeply"
            )
        members: set[str] = set()
        for child in group.children:
            match child.tag:
                case "joint":
                    joint = self._attributes.name(child)
                    members |= {joint} if self._known(joint, self._joints) else set()
                case "link":
                    link = self._attributes.name(child)
                    if self._known(link, self._links) and link in self._model.parent_joint:
                        members.add(self._model.parent_joint[link].name)
                case "chain":
                    members |= self._chain(group, child)
                case "group":
                    other = self._attributes.name(child)
                    if other not in groups:
                        raise self._diagnostics.refusal(
                            Code.UNKNOWN_NAME,
                            f"{group} names the group {other[:80]!r}, which does not exist",
                            line=child.line,
                        )
                    members |= self._members(groups[other], groups, depth=depth + 1)
        return members

    def _chain(self, group: Element, chain: Element) -> set[str]:
        base = self._attributes.name(chain, "base_link")
        tip = self._attributes.name(chain, "tip_link")
        if not self._known(tip, self._links):
            return set()
        joints, link = set(), tip
        while link != base and link in self._model.parent_joint:
            joint = self._model.parent_joint[link]
            joints.add(joint.name)
            link = joint.parent
        if link != base:
            self._known(base, self._links)
            return set()
        self._srdf.tips[group.attributes["name"]] = tip
        return joints

    def _moving(self, names: set[str]) -> tuple[str, ...]:
        return tuple(joint.name for joint in self._model.moving_joints if joint.name in names)

    def _state(self, element: Element) -> dict[str, float]:
        state = {}
        for child in element.all("joint"):
            joint = self._joints.get(self._attributes.name(child))
            if joint and joint.type is not JointType.FIXED:  # others are virtual, of several values
                state[joint.name] = self._attributes.number(child, "value")
        return state


def apply_srdf(srdf: Srdf, roles: Roles, model: RobotModel) -> Roles:
    """Return roles with what an SRDF file says instead of what geometry says.

    A group is an arm or a leg if it is a serial chain and shares most of its joints with one
    that was found, or carries an end effector; a gripper if it shares joints with one that was
    found. Of several groups with the same end the one like the found limb is taken.
    """
    grippers = tuple(_gripper(gripper, srdf) for gripper in roles.grippers)
    fingers = {joint for gripper in grippers for joint in gripper.joints}
    ends = fingers | {wheel.joint for wheel in roles.wheels}  # some files count them to the limb
    limbs = {
        name: tuple(joint for joint in joints if joint not in ends)
        for name, joints in srdf.groups.items()
        if _is_serial(joints, model)
    }
    chains = {name: joints for name, joints in limbs.items() if len(joints) > 1}
    names = {old.name: new.name for old, new in zip(roles.grippers, grippers, strict=True)}
    carriers = {e.parent or e.group for e in srdf.end_effectors} & chains.keys()
    arms: dict[str, Arm] = {}
    legs: dict[str, Leg] = {}
    for arm in roles.arms:
        arm = replace(arm, gripper=names.get(arm.gripper, arm.gripper))
        group = _nearest(chains, arm.joints)
        arms[arm.joints[-1]] = _arm(srdf, group, chains[group], arm) if group else arm
    for leg in roles.legs:
        group = _nearest(chains, leg.joints)
        legs[leg.joints[-1]] = (
            replace(leg, name=group, joints=chains[group], foot=srdf.tips.get(group, leg.foot),
                    source=RoleSource.SRDF)
            if group else leg
        )  # fmt: skip
    for group in sorted(carriers, key=list(chains).index):
        joints = chains[group]
        last = joints[-1]
        if last not in arms and last not in legs and len(joints) > 2:
            tool = _end(srdf, group) or model.joint(last).child
            found = Arm(name=group, joints=joints, tool=tool, source=RoleSource.SRDF)
            arms[last] = found
    base = replace(roles.base, kind=srdf.base, source=RoleSource.SRDF) if srdf.base else roles.base
    wheels = tuple(
        replace(wheel, driven=False, source=RoleSource.SRDF)
        if wheel.joint in srdf.passive else wheel
        for wheel in roles.wheels
    )  # fmt: skip
    return replace(
        roles,
        base=base,
        arms=tuple(arms.values()),
        grippers=grippers,
        wheels=wheels,
        legs=tuple(legs.values()),
        disabled_collisions=tuple(srdf.disabled),
        notes=(*roles.notes, *srdf.notes),
    )


def _is_serial(joints: tuple[str, ...], model: RobotModel) -> bool:
    """Return whether each joint is above the next one."""
    for upper, lower in pairwise(joints):
        link = model.joint(lower).parent
        while link in model.parent_joint and model.parent_joint[link].name != upper:
            if model.parent_joint[link].type is not JointType.FIXED:
                return False
            link = model.parent_joint[link].parent
        if link not in model.parent_joint:
            return False
    return True


def _nearest(chains: dict[str, tuple[str, ...]], joints: tuple[str, ...]) -> str:
    """Return the group most like a limb with the same last joint or most joints in common."""

    def unlike(name: str) -> int:
        return len(set(chains[name]) ^ set(joints))

    alike = [name for name in chains if 2 * len(set(chains[name]) & set(joints)) > len(joints)]
    return min(alike, key=unlike, default="")


def _end(srdf: Srdf, group: str) -> str:
    for effector in srdf.end_effectors:
        if group in (effector.group, effector.parent):
            return effector.link
    return srdf.tips.get(group, "")


def _arm(srdf: Srdf, group: str, joints: tuple[str, ...], found: Arm) -> Arm:
    tool = _end(srdf, group)
    arm = replace(found, name=group, joints=joints, source=RoleSource.SRDF)
    return replace(arm, tool=tool, xyz=(0.0, 0.0, 0.0)) if tool else arm


def _gripper(found: Gripper, srdf: Srdf) -> Gripper:
    """Return a gripper with the name and the states of its group, if there is one."""
    ours = set(found.joints)
    group = next((name for name, own in srdf.groups.items() if own and set(own) <= ours), "")
    if not group:
        return found
    opened, closed = dict(found.open), dict(found.closed)
    for name, state in srdf.states.items():
        own = {joint: value for joint, value in state.items() if joint in opened}
        if found.leader in own and name.lower().startswith("open"):
            opened.update(own)
        elif found.leader in own and name.lower().startswith("clos"):
            closed.update(own)
    return replace(found, name=group, open=opened, closed=closed, source=RoleSource.SRDF)
