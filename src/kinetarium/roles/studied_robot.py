"""The robot of a study: its model with the base that was asked for, and its roles."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256

from kinetarium.dynamics.coupling import close_loops
from kinetarium.errors import KinetariumError
from kinetarium.model.diagnostics import RobotOptions
from kinetarium.model.inertia import water_ball
from kinetarium.model.load import load_robot
from kinetarium.model.robot import IDENTITY, Joint, JointType, Link, RobotModel
from kinetarium.model.tree import MASSLESS_SHARE
from kinetarium.roles._bodies import Bodies
from kinetarium.roles._limbs import is_planar
from kinetarium.roles.file import roles_toml
from kinetarium.roles.find import find_roles
from kinetarium.roles.roles import BaseKind, Roles, RolesError
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import pose, rotation_about

PLANAR_JOINTS = ("base/x", "base/y", "base/yaw")
"""The joints of a planar base that a robot file does not have."""


@dataclass(frozen=True, eq=False)
class StudiedRobot:
    """A robot and what its parts are for.

    Attributes:
        model: The robot; its root is free, fixed, or on three joints of a plane.
        roles: Its roles.
    """

    model: RobotModel
    roles: Roles

    @property
    def sha256(self) -> str:
        """Hash of all files of the robot, of its base and of its roles."""
        parts = f"{self.model.source.sha256} {self.model.free_base} {roles_toml(self.roles)}"
        return sha256(parts.encode()).hexdigest()

    @cached_property
    def home(self) -> dict[str, float]:
        """Positions of all moving joints in the home pose [rad or m], by joint; loops closed."""
        home = {
            joint.name: self.roles.home.get(joint.name, 0.0) for joint in self.model.moving_joints
        }
        for joint in self.model.moving_joints:
            if joint.mimic:
                leader = home[joint.mimic.joint]
                home[joint.name] = joint.mimic.multiplier * leader + joint.mimic.offset
        if self.model.loops:
            home = dict(zip(home, close_loops(self.model, [*home.values()]).tolist(), strict=True))
        return home


def open_robot(
    robot: str,
    *,
    options: RobotOptions,
    roles: str = "",
    srdf: str = "",
    tool: str = "",
    base: BaseKind | None = None,
    sha256: str = "",
) -> StudiedRobot:
    """Load a robot and find its roles; see `RoleOptions` for the arguments.

    Raises:
        KinetariumError: If a file is refused, or differs from what was read before.
    """
    model = load_robot(
        robot,
        mesh_roots=options.mesh_root,
        allow=options.allow,
        arguments=options.arguments,
        root=options.root,
    )
    found = find_roles(model, roles=roles or None, srdf=srdf or None, tool=tool or None, base=base)
    studied = StudiedRobot(with_base(model, found.base.kind), found)
    if sha256 and studied.sha256 != sha256:
        raise KinetariumError(f"'{robot}' has changed since the case was created")
    return studied


def with_base(model: RobotModel, kind: BaseKind) -> RobotModel:
    """Return a robot whose root is fixed, free, or moves in a plane.

    In a plane the root moves by three joints "base/x", "base/y" and "base/yaw" without friction;
    a robot whose first joints do that already is not changed.

    Raises:
        RolesError: If a link is already named after one of these joints.
    """
    if kind is not BaseKind.PLANAR:
        return replace(model, free_base=kind is BaseKind.FREE)
    model = replace(model, free_base=False)
    if is_planar(Bodies(model)):
        return model
    names = PLANAR_JOINTS
    if {link.name for link in model.links} & {"world", *names}:
        raise RolesError(f"{model.name} has links with the names of a planar base: --base free")
    kinds = (JointType.PRISMATIC, JointType.PRISMATIC, JointType.CONTINUOUS)
    axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    ends = ("world", *names[:2], model.root)
    joints = tuple(
        Joint(name, kind, ends[i], ends[i + 1], IDENTITY, frozen(axis))
        for i, (name, kind, axis) in enumerate(zip(names, kinds, axes, strict=True))
    )
    # Engines divide by the mass of every moving link.
    slide = water_ball(MASSLESS_SHARE * model.mass)
    links = (Link("world"), *(Link(name, slide) for name in names[:2]))
    return replace(model, links=(*links, *model.links), joints=(*joints, *model.joints))


def with_locked_joints(model: RobotModel, positions: Mapping[str, float]) -> RobotModel:
    """Return a robot in which some joints are fixed where they are.

    Args:
        positions: Positions of the joints to lock, by name [rad or m].
    """

    def locked(joint: Joint) -> Joint:
        if joint.name not in positions or joint.type is JointType.FIXED:
            return joint
        q = positions[joint.name]
        if joint.type is JointType.PRISMATIC:
            X = pose(q * joint.axis)
        else:
            X = pose((0.0, 0.0, 0.0), rotation_about(joint.axis, q))
        return Joint(
            joint.name,
            JointType.FIXED,
            joint.parent,
            joint.child,
            frozen(joint.X_PJ @ X),
            line=joint.line,
        )

    kept = f"{model.source.sha256} {sorted(positions.items())}"
    source = replace(model.source, sha256=sha256(kept.encode()).hexdigest())
    return replace(model, joints=tuple(map(locked, model.joints)), source=source)
