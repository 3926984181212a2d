"""Recorded scenes as replays: bodies that move in time, with paths.

The forward kinematics of a scene is computed for all samples at once.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import isfinite

import numpy as np

from kinetarium.dynamics.kinematics import link_poses
from kinetarium.figure.replay import (
    Arrow,
    DisplayMesh,
    Guide,
    Marker,
    Replay,
    Solid,
    pose_rows,
)
from kinetarium.figure.scene3d import Color, decimate, face_shares
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import Geometry, RobotModel, Shape, TriangleMesh
from kinetarium.recording.recording import Recording
from kinetarium.scene import Base, Body, Motion, PlacedRobot, Plane, Scene, WrenchSensor
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import continuous, pose, rotation_from_quaternion

_MOST_FACES = 600
"""Triangles that each geometry may have; with fewer a moving robot looks faceted."""
_ROBOT_FACES = 12_000
"""Triangles that the geometries of a robot share, in proportion to those of their files."""

_TONES: tuple[Color, Color] = ((0.88, 0.88, 0.87, 1.0), (0.44, 0.50, 0.58, 1.0))
"""For links without a colour: two alternating tones, so that joints are visible."""


def link_meshes(model: RobotModel) -> dict[str, tuple[DisplayMesh, ...]]:
    """Return the visual geometry of each link, or the collision geometry if there is no other.

    Returns:
        The meshes in the link's frame by the link's name, for every link.

    Raises:
        RobotFileError: If a mesh file cannot be loaded.
    """
    seen = any(link.visuals for link in model.links)
    shown = [link.visuals if seen else link.collisions for link in model.links]
    counts = [_face_count(geometry.shape) for geometries in shown for geometry in geometries]
    shares = iter(face_shares(counts, total=_ROBOT_FACES, least=_MOST_FACES))
    return {
        link.name: tuple(
            _link_mesh(geometry, _TONES[index % 2], most_faces=next(shares))
            for geometry in geometries
        )
        for index, (link, geometries) in enumerate(zip(model.links, shown, strict=True))
    }


def shape_mesh(shape: Shape, color: Color) -> DisplayMesh:
    """Return the display mesh of a shape in its own frame."""
    return DisplayMesh(_few_faces(shape, _MOST_FACES), color)


@lru_cache(maxsize=256)
def _face_count(shape: Shape) -> int:
    return len(triangulate(shape).faces)


@lru_cache(maxsize=256)  # replays of one robot are often requested in a row
def _few_faces(shape: Shape, most_faces: int) -> TriangleMesh:
    return decimate(triangulate(shape), most_faces=most_faces)


def _link_mesh(geometry: Geometry, tone: Color, *, most_faces: int) -> DisplayMesh:
    local = DisplayMesh(_few_faces(geometry.shape, most_faces), geometry.color or tone)
    X_LG = geometry.X_LG
    vertices = frozen(local.mesh.vertices @ X_LG[:3, :3].T + X_LG[:3, 3])
    return DisplayMesh(TriangleMesh(vertices, local.mesh.faces), local.color)


_FREE: Color = (0.86, 0.46, 0.16, 1.0)
_STATIC: Color = (0.62, 0.60, 0.56, 1.0)


def scene_replay(
    scene: Scene,
    recording: Recording,
    *,
    arrows: Sequence[Arrow] = (),
    guides: Sequence[Guide] = (),
    trails: Sequence[str] = (),
) -> Replay:
    """Return a recorded scene as a replay.

    Recorded joints and free bodies move; everything else stays where the scene puts it.
    Recorded force-torque sensors become arrows, recorded phases markers.

    Args:
        scene: The scene that was simulated.
        recording: The recording, with the channels "q" and "poses" of `rollout`; its fact
            "phases", if any, lists names with their first and last time [s].
        arrows: Vectors to show besides those of the sensors.
        guides: Static lines to show.
        trails: Names of the solids whose path is drawn.

    Raises:
        RobotFileError: If a mesh file cannot be loaded.
    """
    time = np.asarray(recording["time"])
    poses = {
        robot.name: _robot_poses(robot, recording, samples=len(time)) for robot in scene.robots
    }
    solids: list[Solid] = []
    for robot in scene.robots:
        for i, (link, meshes) in enumerate(link_meshes(robot.model).items()):
            name = f"{robot.name}/{link}"
            if meshes or name in trails:
                rows = _still(pose_rows(poses[robot.name][:, i]))
                solids.append(Solid(name, robot.name, meshes, rows))
    solids += [_body(body, recording) for body in scene.bodies if not isinstance(body.shape, Plane)]
    sensed = [
        _sensor_arrow(scene, sensor, recording, poses[sensor.robot])
        for sensor in scene.sensors
        if f"wrench/{sensor.name}" in recording.channels
    ]
    return Replay(
        time,
        tuple(solids),
        (*sensed, *arrows),
        tuple(guides),
        tuple(trails),
        scene,
        tuple(_phases(recording)),
    )


def _phases(recording: Recording) -> Iterator[Marker]:
    """Yield the start of each recorded phase; facts of received recordings may be anything."""
    phases = recording.facts.get("phases")
    for phase in phases if isinstance(phases, Sequence) else ():
        match phase:
            case [str(name), int() | float() as begin, int() | float()]:
                if isfinite(begin):
                    yield Marker(name, float(begin))


def _robot_poses(robot: PlacedRobot, recording: Recording, *, samples: int) -> Array:
    """Return the poses of all links at all times, shape (n, links, 4, 4)."""
    q = np.empty((samples, len(robot.model.moving_joints)))
    for i, joint in enumerate(robot.model.moving_joints):
        recorded = _column(recording, "q", f"{robot.name}/{joint.name}")
        q[:, i] = robot.positions.get(joint.name, 0.0) if recorded is None else recorded
    root = None
    if robot.base is Base.FREE:
        root = _column(recording, "poses", f"{robot.name}/{robot.model.root}")
    return link_poses(robot.model, q, X_WB=robot.X_WB if root is None else _transforms(root))


def _body(body: Body, recording: Recording) -> Solid:
    assert not isinstance(body.shape, Plane)
    rows = _column(recording, "poses", body.name) if body.motion is Motion.FREE else None
    color = _FREE if body.motion is Motion.FREE else _STATIC
    still = pose_rows(body.X_WB[None])
    return Solid(
        body.name, "", (shape_mesh(body.shape, color),), still if rows is None else continuous(rows)
    )


def _sensor_arrow(scene: Scene, sensor: WrenchSensor, recording: Recording, X_WL: Array) -> Arrow:
    """Return the force of the load on a sensor as an arrow at the sensor's link."""
    model = scene.robot(sensor.robot).model
    names = [link.name for link in model.links]
    X_WS = X_WL[:, names.index(model.joint(sensor.joint).child)]
    force = np.asarray(recording[f"wrench/{sensor.name}"])[:, :3]
    vectors = np.einsum("nij,nj->ni", X_WS[:, :3, :3], force)
    return Arrow(sensor.name, "N", X_WS[:, :3, 3], vectors)


def _column(recording: Recording, channel: str, name: str) -> Array | None:
    """Return a column of a channel, or None if it was not recorded."""
    if channel not in recording.channels:
        return None
    found = recording.channels[channel]
    return np.asarray(found.values[:, found.columns.index(name)]) if name in found.columns else None


def _transforms(rows: Array) -> Array:
    """Convert rows [x y z, wxyz], shape (n, 7), to poses, shape (n, 4, 4)."""
    return np.array([pose(row[:3], rotation_from_quaternion(row[3:])) for row in rows])


def _still(rows: Array) -> Array:
    """Keep one row if the solid never moves."""
    return rows[:1] if np.ptp(rows, axis=0).max(initial=0.0) == 0.0 else rows
