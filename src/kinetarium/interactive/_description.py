"""What a room looks like and consists of: meshes for display, and facts of every solid."""

from typing import Any

import numpy as np

from kinetarium.figure.replay import DisplayMesh, Replay, Solid
from kinetarium.figure.scene_replay import link_meshes, shape_mesh
from kinetarium.interactive.setup import ROBOT
from kinetarium.interactive.simulation import LiveSimulation
from kinetarium.model.diagnostics import RobotFileError
from kinetarium.model.plausibility import find_implausibilities
from kinetarium.model.robot import (
    Geometry,
    Inertia,
    Joint,
    JointType,
    Link,
    RobotModel,
    TriangleMesh,
)
from kinetarium.scene import Motion, Plane
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import quaternion_from_rotation

_OBJECT_COLORS = (
    (0.86, 0.46, 0.16, 1.0), (0.16, 0.55, 0.68, 1.0), (0.55, 0.35, 0.66, 1.0),
    (0.42, 0.60, 0.24, 1.0), (0.78, 0.30, 0.38, 1.0),
)  # fmt: skip
_COLLISION_COLOR = (0.20, 0.72, 0.55, 1.0)


def room_replay(room: LiveSimulation) -> Replay:
    """Return the solids of a room where they are, for display."""
    rows = room.poses()
    looks: dict[str, tuple[DisplayMesh, ...]] = {}
    if room.robot is not None:
        for link, meshes in link_meshes(room.robot.model).items():
            looks[f"{ROBOT}/{link}"] = meshes
    free = 0
    for body in room.scene.bodies:
        if not isinstance(body.shape, Plane):
            color = _OBJECT_COLORS[free % len(_OBJECT_COLORS)]
            looks[body.name] = (shape_mesh(body.shape, color),)
            free += 1
    solids = [
        Solid(name, ROBOT if name.startswith(f"{ROBOT}/") else "", looks.get(name, ()), row[None])
        for name, row in zip(room.shown, rows, strict=True)
    ]
    return Replay(np.zeros(1), tuple(solids))


def collision_replay(room: LiveSimulation) -> Replay:
    """Return the collision shapes of the robot's links as solids, for display."""
    model = room.robot.model if room.robot else None
    solids = []
    for name, row in zip(room.shown, room.poses(), strict=True):
        robot, _, link = name.partition("/")
        if model is not None and robot == ROBOT and link:
            shapes = tuple(_placed(shape) for shape in model.link(link).collisions)
            if shapes:
                solids.append(Solid(name, ROBOT, shapes, row[None]))
    return Replay(np.zeros(1), tuple(solids))


def _placed(geometry: Geometry) -> DisplayMesh:
    local = shape_mesh(geometry.shape, _COLLISION_COLOR)
    X_LG = geometry.X_LG
    vertices = frozen(local.mesh.vertices @ X_LG[:3, :3].T + X_LG[:3, 3])
    return DisplayMesh(TriangleMesh(vertices, local.mesh.faces), local.color)


def room_facts(room: LiveSimulation) -> dict[str, Any]:
    """Return the facts of a room as JSON data: solids in the order of frames, joints, findings."""
    layout, robot = room.layout, room.robot
    home = dict(zip(layout.joints, room.start.q.tolist(), strict=True))
    joints = []
    if robot is not None:
        driven = set(layout.commands)
        for joint in robot.model.moving_joints:
            name = f"{ROBOT}/{joint.name}"
            joints.append({**_joint(joint), "home": home[name], "driven": name in driven})
    return {
        "engine": room.setup.engine,
        "title": room.title,
        "timestep": room.setup.timestep,
        "can_pull": room.can_pull,
        "solids": [_solid(room, name) for name in room.shown],
        "scene_solids": list(layout.solids),
        "joints": joints,
        "findings": robot_findings(robot.model) if robot else [],
        "name": robot.model.name if robot else "",
    }


def _solid(room: LiveSimulation, name: str) -> dict[str, Any]:
    robot, _, link = name.partition("/")
    if room.robot is not None and robot == ROBOT and link:
        model = room.robot.model
        found: Link = model.link(link)
        parent = model.parent_joint.get(link)
        return {
            "name": name,
            "label": link,
            "inertia": _inertia(found.inertia),
            "joint": _joint(parent) if parent else None,
            "collisions": len(found.collisions),
            "visuals": len(found.visuals),
            "pulled": not bool(room.scene.fixed[room.layout.solids.index(name)]),
        }
    body = next(body for body in room.scene.bodies if body.name == name)
    return {
        "name": name,
        "label": name,
        "inertia": _inertia(body.inertia),
        "joint": None,
        "collisions": 1,
        "visuals": 1,
        "pulled": body.motion is Motion.FREE,
    }


def _joint(joint: Joint) -> dict[str, Any]:
    turns = joint.type is not JointType.PRISMATIC
    limits = joint.limits
    return {
        "name": joint.name,
        "type": str(joint.type),
        "parent": joint.parent,
        "child": joint.child,
        "axis": joint.axis.tolist(),
        "unit": "rad" if turns else "m",
        "lower": _finite(limits.lower),
        "upper": _finite(limits.upper),
        "velocity": _finite(limits.velocity),
        "effort": _finite(limits.effort),
        "damping": joint.damping,
        "mimic": joint.mimic.joint if joint.mimic else None,
        "line": joint.line,
    }


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _inertia(inertia: Inertia | None) -> dict[str, Any] | None:
    if inertia is None:
        return None
    edges, rotation = inertia_box(inertia)
    quaternion: Array = quaternion_from_rotation(rotation)
    return {
        "mass": inertia.mass,
        "center": np.asarray(inertia.center).tolist(),
        "moment": np.asarray(inertia.moment).tolist(),
        "box": edges.tolist(),
        "axes": quaternion.tolist(),
    }


def inertia_box(inertia: Inertia) -> tuple[Array, Array]:
    """Return the box of uniform density that has the mass and the moments of a link.

    With principal moments I_x = m (b^2 + c^2) / 12 and so on, a^2 = 6 (I_y + I_z - I_x) / m.

    Returns:
        Its edges [m], shape (3,), and the rotation of its axes in the link, shape (3, 3).
    """
    moments, axes = np.linalg.eigh(np.asarray(inertia.moment))
    if np.linalg.det(axes) < 0:
        axes = -axes
    squares = 6 / inertia.mass * (moments.sum() - 2 * moments)
    return np.sqrt(np.maximum(squares, 0.0)), axes


def robot_findings(model: RobotModel) -> list[dict[str, Any]]:
    """Return what was repaired in a robot file, and what is hardly meant, with their lines."""
    repairs = [
        {"level": "note", "code": str(one.code), "text": f"{one.where}: {one.message}",
         "line": one.line, "file": one.file}
        for one in model.repairs
    ]  # fmt: skip
    doubts = [
        {"level": "warning", "code": str(one.code), "text": f"{one.where}: {one.message}; "
         f"{one.remedy}".removesuffix("; "), "line": one.line, "file": ""}
        for one in find_implausibilities(model)
    ]  # fmt: skip
    return [*repairs, *doubts]


def refusal_findings(error: RobotFileError) -> list[dict[str, Any]]:
    """Return the faults for which a robot file was refused, with their lines."""
    return [
        {"level": "error", "code": str(one.code),
         "text": f"{one.message}; {one.remedy}".removesuffix("; "), "line": one.line,
         "file": one.file}
        for one in error.refusals
    ]  # fmt: skip
