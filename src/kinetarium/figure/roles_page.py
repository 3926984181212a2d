"""The roles of a robot as a table, and as a page with a picture in which they are coloured."""

from dataclasses import replace

import numpy as np

from kinetarium.figure.page import Figure, Page, Section
from kinetarium.figure.robot_page import robot_scene
from kinetarium.figure.scene3d import Color, Scene3D
from kinetarium.figure.text import Cell, Listing, Table, cell_text, header
from kinetarium.model.robot import JointType, RobotModel
from kinetarium.roles.roles import Arm, Gripper, Leg, Roles, Wheel

_COLORS: dict[str, Color] = {
    "arm": (0.27, 0.51, 0.71, 1.0),
    "gripper": (0.88, 0.53, 0.15, 1.0),
    "wheel": (0.30, 0.62, 0.36, 1.0),
    "leg": (0.58, 0.42, 0.68, 1.0),
    "": (0.80, 0.80, 0.79, 1.0),
}
"""Of the links of each role; the last is that of the others."""


def roles_table(roles: Roles) -> Table:
    """Return a row for each role: what it is, its joints, its end, its numbers, its source."""
    rows: list[tuple[Cell, ...]] = [
        ("base", str(roles.base.kind), "", "", "", str(roles.base.source))
    ]
    rows += [_arm(arm) for arm in roles.arms]
    rows += [_gripper(gripper) for gripper in roles.grippers]
    rows += [_wheel(wheel) for wheel in roles.wheels]
    rows += [_leg(leg) for leg in roles.legs]
    moved = {name: value for name, value in roles.home.items() if value}
    some = ", ".join(f"{name} {cell_text(value)}" for name, value in list(moved.items())[:3])
    more = f" and {len(moved) - 3} more" if len(moved) > 3 else ""
    text = f"{some}{more}" if moved else "all joints at zero"
    rows.append(("home", "", "", "", text, str(roles.home_source)))
    return Table("", header("role | name | joints | end | details | found by"), tuple(rows))


def _span(joints: tuple[str, ...]) -> str:
    if len(joints) < 3:
        return ", ".join(joints)
    return f"{joints[0]} .. {joints[-1]} ({len(joints)})"


def _arm(arm: Arm) -> tuple[Cell, ...]:
    at = " ".join(cell_text(round(value, 4)) for value in arm.xyz)
    details = [f"tool at {at}"] if any(arm.xyz) else []
    details += [f"carries {arm.gripper}"] if arm.gripper else []
    return "arm", arm.name, _span(arm.joints), arm.tool, ", ".join(details), str(arm.source)


def _gripper(gripper: Gripper) -> tuple[Cell, ...]:
    leader = gripper.leader
    opened, closed = gripper.open[leader], gripper.closed[leader]
    details = [
        f"{len(gripper.fingers)} fingers",
        f"{leader} {cell_text(opened)} to {cell_text(closed)}",
        f"opens {cell_text(gripper.stroke)} m",
    ]
    details += [f"{cell_text(gripper.force)} N"] if gripper.force else []
    pads = ", ".join(finger.pad for finger in gripper.fingers[:2])
    return (
        "gripper", gripper.name, _span(gripper.joints), pads, ", ".join(details),
        str(gripper.source),
    )  # fmt: skip


def _wheel(wheel: Wheel) -> tuple[Cell, ...]:
    kind = "caster" if wheel.caster else "driven" if wheel.driven else "passive"
    details = [kind, f"radius {cell_text(wheel.radius)} m", f"width {cell_text(wheel.width)} m"]
    details += [f"steered by {wheel.steering}"] if wheel.steered else []
    return "wheel", wheel.joint, wheel.joint, wheel.link, ", ".join(details), str(wheel.source)


def _leg(leg: Leg) -> tuple[Cell, ...]:
    return "leg", leg.name, _span(leg.joints), leg.foot, "", str(leg.source)


def roles_page(model: RobotModel, roles: Roles, *, provenance: tuple[tuple[str, str], ...]) -> Page:
    """Return a page with the picture of a robot, its parts coloured by role, and the table."""
    scene = _scene(model, roles)
    figures: tuple[Figure, ...] = (
        *([scene] if scene else []),
        roles_table(roles),
        *([Listing("Left out", roles.notes)] if roles.notes else []),
    )
    lead = "Arms are blue, grippers orange, wheels green, legs violet."
    return Page(f"Roles of {roles.robot}", lead, (Section("Roles", figures),), provenance)


def _scene(model: RobotModel, roles: Roles) -> Scene3D | None:
    q = []
    for joint in model.moving_joints:
        if joint.mimic:
            leader = roles.home.get(joint.mimic.joint, 0.0)
            q.append(joint.mimic.multiplier * leader + joint.mimic.offset)
        else:
            q.append(roles.home.get(joint.name, 0.0))
    scene = robot_scene(model, np.array(q))
    if scene is None:
        return None
    role = _role_of_links(model, roles)
    bodies = (replace(body, color=_COLORS[role[body.name]]) for body in scene.bodies)
    return replace(scene, bodies=tuple(bodies))


def _role_of_links(model: RobotModel, roles: Roles) -> dict[str, str]:
    moved: dict[str, str] = {}
    for kind, joints in (
        ("arm", [joint for arm in roles.arms for joint in arm.joints]),
        ("leg", [joint for leg in roles.legs for joint in leg.joints]),
        ("wheel", [wheel.joint for wheel in roles.wheels]),
        ("gripper", [joint for gripper in roles.grippers for joint in gripper.joints]),
    ):
        moved.update(dict.fromkeys(joints, kind))
    role = {model.root: ""}
    for joint in model.joints:
        above = role[joint.parent] if joint.type is JointType.FIXED else ""
        role[joint.child] = moved.get(joint.name, above)
    return role
