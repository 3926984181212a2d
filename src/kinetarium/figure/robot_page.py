"""Robots as pages: the catalogue, a robot with its joints, and its roles in a coloured picture."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.dynamics.kinematics import link_poses
from kinetarium.figure.page import Figure, Page, Section
from kinetarium.figure.scene3d import Color, Mesh3D, Scene3D, decimate
from kinetarium.figure.text import Cell, Column, Facts, Listing, Prose, Table, cell_text, header
from kinetarium.model.load import CatalogueEntry
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.mesh.triangles import read_only_mesh
from kinetarium.model.robot import Geometry, Joint, JointType, RobotModel, TriangleMesh
from kinetarium.roles.roles import Arm, Gripper, Leg, Roles, Wheel
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose

_MOST_FACES = 2000
"""Maximum triangles per geometry; more cannot be distinguished in a small picture."""

_TONES: tuple[Color, Color] = ((0.88, 0.88, 0.87, 1.0), (0.44, 0.50, 0.58, 1.0))
"""For links without a colour: two alternating tones, so that joints are visible."""


def robot_scene(
    model: RobotModel, q: ArrayLike, *, X_WB: ArrayLike | None = None
) -> Scene3D | None:
    """Draw a robot by its visual geometry, or by its collision geometry if it has no other.

    Args:
        q: Positions of the moving joints [rad or m], shape (joints,).
        X_WB: Pose of the root link, shape (4, 4); the identity by default.

    Returns:
        The scene, or None for a robot without any shape.

    Raises:
        RobotFileError: If a mesh file cannot be loaded.
    """
    seen = any(link.visuals for link in model.links)
    bodies: list[Mesh3D] = []
    poses = link_poses(model, q, X_WB=X_WB)
    for index, (link, X_WL) in enumerate(zip(model.links, poses, strict=True)):
        by_color: dict[Color, list[TriangleMesh]] = {}
        for geometry in link.visuals if seen else link.collisions:
            mesh = _display_mesh(geometry)
            if len(mesh.faces):
                color = geometry.color or _TONES[index % 2]
                by_color.setdefault(color, []).append(mesh)
        bodies.extend(
            Mesh3D(link.name, _joined(meshes), color, frozen(X_WL))
            for color, meshes in by_color.items()
        )
    return Scene3D(model.name, tuple(bodies)) if bodies else None


def _display_mesh(geometry: Geometry) -> TriangleMesh:
    """Return the triangles of a geometry in the link frame, few enough to show."""
    mesh = decimate(triangulate(geometry.shape), most_faces=_MOST_FACES)
    X_LG = geometry.X_LG
    return TriangleMesh(frozen(mesh.vertices @ X_LG[:3, :3].T + X_LG[:3, 3]), mesh.faces)


def _joined(meshes: list[TriangleMesh]) -> TriangleMesh:
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
    faces = [mesh.faces + start for mesh, start in zip(meshes, starts, strict=True)]
    vertices = np.concatenate([mesh.vertices for mesh in meshes])
    return read_only_mesh(vertices, np.concatenate(faces))


_UNITS = {
    JointType.FIXED: ("", "", ""),
    JointType.REVOLUTE: ("rad", "rad/s", "N m"),
    JointType.CONTINUOUS: ("rad", "rad/s", "N m"),
    JointType.PRISMATIC: ("m", "m/s", "N"),
}


def joint_units(joint: Joint) -> tuple[str, str, str]:
    """Return the units of a joint's position, velocity and effort; empty for a fixed joint."""
    return _UNITS[joint.type]


def joint_tables(model: RobotModel) -> tuple[Table, ...]:
    """List the moving joints with their limits: rotational and prismatic ones."""
    turning = [joint for joint in model.moving_joints if joint.type is not JointType.PRISMATIC]
    sliding = [joint for joint in model.moving_joints if joint.type is JointType.PRISMATIC]
    return tuple(
        _joint_table(title, joints)
        for title, joints in (("Rotational joints", turning), ("Prismatic joints", sliding))
        if joints
    )


def _joint_table(title: str, joints: list[Joint]) -> Table:
    position, speed, effort = joint_units(joints[0])
    columns: tuple[Column, ...] = (
        Column("joint"),
        Column("lower", position),
        Column("upper", position),
        Column("speed", speed),
        Column("effort", effort),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            joint.name,
            joint.limits.lower,
            joint.limits.upper,
            joint.limits.velocity,
            joint.limits.effort,
        )
        for joint in joints
    ]
    if any(joint.mimic for joint in joints):
        columns = (*columns, Column("follows"))
        rows = [(*row, _coupling(joint)) for row, joint in zip(rows, joints, strict=True)]
    return Table(title, columns, tuple(rows))


def repair_table(model: RobotModel) -> Table:
    """List what was repaired or left out when the file was read."""
    return Table(
        "Repairs",
        header("line | where | repair | code"),
        tuple(
            (repair.line, repair.where, repair.message, str(repair.code))
            for repair in model.repairs
        ),
    )


def _coupling(joint: Joint) -> str:
    if joint.mimic is None:
        return ""
    offset = f" + {cell_text(joint.mimic.offset)}" if joint.mimic.offset else ""
    ratio = f"{cell_text(joint.mimic.multiplier)} * " if joint.mimic.multiplier != 1.0 else ""
    return f"{ratio}{joint.mimic.joint}{offset}"


_LEAD = (
    "The robots of the catalogue. Each file is read and checked once: invalid files are refused,"
    " repairs are listed, and every physics engine is built from the same model."
)

Catalogue = Mapping[str, tuple[CatalogueEntry, RobotModel]]
"""Catalogue entry and model of each robot, by name."""


def catalogue_table(robots: Catalogue) -> Table:
    """Return the headline table: a row for every robot."""
    return Table(
        "",
        header("name | links | joints | moving | mass [kg] | base | tool | robot | sources"),
        tuple(
            (
                name,
                len(model.links),
                len(model.joints),
                len(model.moving_joints),
                model.mass,
                _base(model),
                entry.tool or "none",
                entry.title,
                f"{len(entry.sources)} under {entry.licence}",
            )
            for name, (entry, model) in robots.items()
        ),
    )


def catalogue_page(robots: Catalogue, *, provenance: tuple[tuple[str, str], ...]) -> Page:
    """Return the whole page.

    Args:
        provenance: How to reproduce the page.
    """
    headline = Section("All robots", (catalogue_table(robots),))
    cards = (_card(entry, model) for entry, model in robots.values())
    return Page("The robot catalogue", _LEAD, (headline, *cards), provenance)


def _card(entry: CatalogueEntry, model: RobotModel) -> Section:
    scene = robot_scene(model, home(entry, model), X_WB=pose((0.0, 0.0, entry.base_height)))
    repairs = repair_table(model)
    figures: tuple[Figure, ...] = (
        *([scene] if scene else []),
        Prose(f"{entry.description[:1].upper()}{entry.description[1:]}."),
        Facts(
            (
                ("links", len(model.links), ""),
                ("moving joints", len(model.moving_joints), ""),
                ("mass", model.mass, "kg"),
                ("base", _base(model), ""),
                ("tool", entry.tool or "none", ""),
            )
        ),
        *joint_tables(model),
        repairs if repairs.rows else Prose("No repairs."),
        Listing(f"Sources ({entry.licence})", entry.sources),
    )
    return Section(entry.title, figures, label=entry.name)


def home(entry: CatalogueEntry, model: RobotModel) -> Array:
    """Return the positions of the moving joints in the home pose [rad or m], shape (joints,)."""
    return np.array([entry.home.get(joint.name, 0.0) for joint in model.moving_joints])


def _base(model: RobotModel) -> str:
    return "free" if model.free_base else "fixed"


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
    scene = roles_scene(model, roles)
    figures: tuple[Figure, ...] = (
        *([scene] if scene else []),
        roles_table(roles),
        *([Listing("Left out", roles.notes)] if roles.notes else []),
    )
    lead = "Arms are blue, grippers orange, wheels green, legs violet."
    return Page(f"Roles of {roles.robot}", lead, (Section("Roles", figures),), provenance)


def roles_scene(model: RobotModel, roles: Roles) -> Scene3D | None:
    """Draw a robot at its home pose, its parts coloured by role; None if it has no shapes."""
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
