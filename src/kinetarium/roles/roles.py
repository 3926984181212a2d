"""Roles: which joints and links of a robot are its arms, grippers, wheels and legs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from kinetarium.errors import KinetariumError, UnknownNameError

Vector = tuple[float, float, float]


class RolesError(KinetariumError):
    """A role that a robot does not have, that is ambiguous, or that does not fit it."""


class RoleSource(StrEnum):
    """Where a role was found; the first source that answers is used."""

    FLAG = "flag"
    FILE = "roles file"
    SRDF = "srdf"
    MJCF = "mjcf"
    URDF = "urdf"
    CATALOGUE = "catalogue"
    GEOMETRY = "geometry"


class BaseKind(StrEnum):
    """How the root link of a robot moves."""

    FIXED = "fixed"
    FREE = "free"
    PLANAR = "planar"


@dataclass(frozen=True, kw_only=True)
class BaseRole:
    """The root of a robot.

    Attributes:
        kind: Fixed to the world, free, or moving in a plane by its own first joints.
        source: Where it was found.
    """

    kind: BaseKind = BaseKind.FIXED
    source: RoleSource = field(default=RoleSource.FILE, compare=False)

    def __str__(self) -> str:
        """Return the base in words, to be shown by studies: "free base (geometry)"."""
        return f"{self.kind} base ({self.source})"


@dataclass(frozen=True, kw_only=True)
class Arm:
    """A serial chain that moves a tool.

    Attributes:
        name: Its name, unique among the arms.
        joints: Its moving joints, from the base to the tool.
        tool: The link that works.
        xyz: Position of the tool frame in that link [m].
        rpy: Its roll, pitch and yaw [rad].
        gripper: Name of the gripper that it carries, or empty.
        source: Where it was found.
    """

    name: str
    joints: tuple[str, ...]
    tool: str
    xyz: Vector = (0.0, 0.0, 0.0)
    rpy: Vector = (0.0, 0.0, 0.0)
    gripper: str = ""
    source: RoleSource = field(default=RoleSource.FILE, compare=False)


@dataclass(frozen=True, kw_only=True)
class Finger:
    """A part of a gripper that moves, or the fixed jaw that a moving one closes on.

    Attributes:
        joints: Its moving joints, followers included; empty for a fixed jaw.
        links: Its links.
        pad: The link that touches what is held.
    """

    joints: tuple[str, ...]
    links: tuple[str, ...]
    pad: str


@dataclass(frozen=True, kw_only=True)
class Gripper:
    """Fingers that close on an object.

    Attributes:
        name: Its name, unique among the grippers.
        palm: The link that carries the fingers.
        fingers: The fingers, at least two; those that meet are the first two.
        leader: The independent joint that closes it; the first of several in a hand.
        followers: Joints that are coupled to the leader.
        open: Positions of its independent joints where it is open [rad or m].
        closed: Positions where the first two fingers meet [rad or m].
        center: The point where they meet, in the palm's frame [m].
        axis: Unit vector from the second finger to the first there, in the palm's frame.
        stroke: How far they are apart where it is open [m].
        force: Grip force [N] at the leader's largest effort, if each moving finger is driven
            with it; 0 if that is not limited.
        source: Where it was found.
    """

    name: str
    palm: str
    fingers: tuple[Finger, ...]
    leader: str
    followers: tuple[str, ...] = ()
    open: Mapping[str, float]
    closed: Mapping[str, float]
    center: Vector = (0.0, 0.0, 0.0)
    axis: Vector = (0.0, 1.0, 0.0)
    stroke: float = 0.0
    force: float = 0.0
    source: RoleSource = field(default=RoleSource.FILE, compare=False)

    @property
    def closing(self) -> int:
        """The sign of the leader's motion that closes it: 1 or -1."""
        return 1 if self.closed[self.leader] > self.open[self.leader] else -1

    @property
    def joints(self) -> tuple[str, ...]:
        """All its moving joints."""
        return tuple(joint for finger in self.fingers for joint in finger.joints)


@dataclass(frozen=True, kw_only=True)
class Wheel:
    """A wheel on the ground.

    Attributes:
        joint: The joint it rolls by.
        link: Its link.
        radius: Rolling radius [m].
        width: Width along its axis [m].
        axis: Unit axis of the joint in the root link's frame, with all joints at zero.
        driven: Whether the joint has a drive.
        steering: The joint about a vertical axis above it, or empty.
        steered: Whether that joint has a drive.
        source: Where it was found.
    """

    joint: str
    link: str
    radius: float
    width: float
    axis: Vector
    driven: bool = True
    steering: str = ""
    steered: bool = False
    source: RoleSource = field(default=RoleSource.FILE, compare=False)

    @property
    def caster(self) -> bool:
        """Whether it is a caster: it rolls and swivels freely."""
        return bool(self.steering) and not self.steered and not self.driven


@dataclass(frozen=True, kw_only=True)
class Leg:
    """A serial chain that stands on the ground.

    Attributes:
        name: Its name, unique among the legs.
        joints: Its moving joints, from the base to the foot.
        foot: The link that stands on the ground.
        source: Where it was found.
    """

    name: str
    joints: tuple[str, ...]
    foot: str
    source: RoleSource = field(default=RoleSource.FILE, compare=False)


Named = TypeVar("Named", Arm, Gripper, Leg)


@dataclass(frozen=True, kw_only=True)
class Roles:
    """What the joints and links of a robot are for.

    Roles are equal if they state the same, wherever it was found.

    Example:
        >>> from kinetarium.model import load_robot
        >>> from kinetarium.roles import find_roles
        >>> roles = find_roles(load_robot("panda"))
        >>> roles.arm().tool, roles.gripper().leader, roles.base.kind.value
        ('panda_hand_tcp', 'panda_finger_joint1', 'fixed')

    Attributes:
        robot: Name of the robot.
        base: How its root moves.
        arms: Its arms.
        grippers: Its grippers.
        wheels: Its wheels.
        legs: Its legs.
        home: Positions of its independent joints in the home pose [rad or m], by joint.
        home_source: Where the home pose was found.
        disabled_collisions: Pairs of links whose collisions are not checked, from SRDF.
        notes: What was ignored in a source, and why.
        tool_links: Links at the ends of chains, which may be tools.
    """

    robot: str
    base: BaseRole = BaseRole()
    arms: tuple[Arm, ...] = ()
    grippers: tuple[Gripper, ...] = ()
    wheels: tuple[Wheel, ...] = ()
    legs: tuple[Leg, ...] = ()
    home: Mapping[str, float] = field(default_factory=dict)
    home_source: RoleSource = field(default=RoleSource.FILE, compare=False)
    disabled_collisions: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)
    tool_links: tuple[str, ...] = field(default=(), compare=False)

    def arm(self, name: str | None = None) -> Arm:
        """Return an arm by its name, or the only one.

        Raises:
            RolesError: If there is none, or several and no name.
            UnknownNameError: If there is no arm of that name.
        """
        if not self.arms and name is None:
            wheels = {wheel.link for wheel in self.wheels}
            links = [link for link in self.tool_links if link not in wheels]
            if wheels and not links:
                raise RolesError(f"{self.robot} has no arm: only its wheels move")
            raise RolesError(
                f"{self.robot} needs a tool link: --tool {' or '.join(links[:4]) or 'LINK'}"
            )
        return self._one("arm", self.arms, name, ask="--roles FILE")

    def gripper(self, name: str | None = None) -> Gripper:
        """Return a gripper by its name, or the only one.

        Raises:
            RolesError: If there is none, or several and no name.
            UnknownNameError: If there is no gripper of that name.
        """
        return self._one("gripper", self.grippers, name, ask="--roles FILE")

    def leg(self, name: str | None = None) -> Leg:
        """Return a leg by its name, or the only one.

        Raises:
            RolesError: If there is none, or several and no name.
            UnknownNameError: If there is no leg of that name.
        """
        return self._one("leg", self.legs, name, ask="--roles FILE")

    def driven_wheels(self) -> tuple[Wheel, ...]:
        """Return the wheels that have a drive.

        Raises:
            RolesError: If there are none.
        """
        driven = tuple(wheel for wheel in self.wheels if wheel.driven)
        if not driven:
            missing = "driven wheels" if self.wheels else "wheels"
            raise self._missing(missing, ask="--roles FILE")
        return driven

    def arm_home(self, arm: Arm) -> dict[str, float]:
        """Return the positions of an arm's joints in the home pose [rad or m]."""
        return {joint: self.home[joint] for joint in arm.joints if joint in self.home}

    def _one(self, kind: str, known: Sequence[Named], name: str | None, *, ask: str) -> Named:
        if name is not None:
            for each in known:
                if each.name == name:
                    return each
            raise UnknownNameError(kind, name, known=(each.name for each in known))
        if not known:
            raise self._missing(f"a{'n' if kind == 'arm' else ''} {kind}", ask=ask)
        if len(known) > 1:
            names = ", ".join(each.name for each in known)
            raise RolesError(f"{self.robot} has {len(known)} {kind}s: --{kind} one of {names}")
        return known[0]

    def _missing(self, what: str, *, ask: str) -> RolesError:
        return RolesError(
            f"needs {what}, and none was found in {self.robot}: {ask}"
            f" (kinetarium roles ROBOT --write FILE writes one to edit)"
        )
