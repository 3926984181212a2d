"""Frames of a recorded run, as ROS has them: a tree of transforms from "world" to every link."""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from kinetarium.figure.replay import Replay
from kinetarium.figure.scene3d import decimate
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import (
    Capsule,
    Geometry,
    Joint,
    JointType,
    Link,
    MeshData,
    MeshFile,
    RobotModel,
    Shape,
)
from kinetarium.model.urdf.writer import write_urdf
from kinetarium.recording.recording import Recording
from kinetarium.scene import Base, Motion, PlacedRobot, Scene
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import quaternion_from_rotation

WORLD = "world"

_MOST_FACES = 600
"""Maximum triangles of each mesh of a robot description."""
_MESHES = "kinetarium-mesh"
"""Stands for the folder of meshes, until their addresses are replaced by their contents."""


@dataclass(frozen=True, slots=True, eq=False)
class Transform:
    """A frame in its parent frame.

    Attributes:
        parent: The parent frame.
        child: The frame.
        rows: Position [m] and quaternion wxyz at every time, shape (n, 7), or at all, (1, 7).
    """

    parent: str
    child: str
    rows: Array

    @property
    def static(self) -> bool:
        """Whether it never changes."""
        return len(self.rows) == 1


class Frames:
    """Names and transforms of all frames of a run.

    The frames of a single robot have the names of its links, those of several robots
    "robot/link", and bodies their own names.
    """

    def __init__(self, recording: Recording, replay: Replay | None) -> None:
        """Take what is known of the run; without a replay there are only floating solids."""
        self._recording = recording
        self._replay = replay
        self.scene = replay.scene if replay else None
        self._plain = self.scene is not None and _has_plain_names(self.scene)

    def frame(self, solid: str) -> str:
        """Return the frame of a solid, "robot/link" or the name of a body."""
        if self.scene and solid in self.scene.solids:
            link = solid.partition("/")[2]
            return link if link and self._plain else solid
        return f"{solid}_" if solid == WORLD else solid

    def joint(self, name: str) -> str:
        """Return the name of a joint, "robot/joint" in a recording, as in its description."""
        return name.partition("/")[2] if self._plain and "/" in name else name

    def sensor(self, name: str) -> str:
        """Return the frame of a force-torque sensor: that of the link below its joint."""
        for sensor in self.scene.sensors if self.scene else ():
            if sensor.name == name:
                model = self.scene.robot(sensor.robot).model  # type: ignore[union-attr]
                return self.frame(f"{sensor.robot}/{model.joint(sensor.joint).child}")
        return WORLD

    def transforms(self) -> Iterator[Transform]:
        """Yield the transforms; recorded poses are kept to the bit."""
        recorded = self._columns("poses")
        if self.scene:
            for robot in self.scene.robots:
                yield from self._robot(robot, recorded)
            for body in self.scene.bodies:
                rows = recorded.get(body.name) if body.motion is Motion.FREE else None
                still = _rows(body.X_WB)
                yield Transform(WORLD, self.frame(body.name), still if rows is None else rows)
        elif self._replay:
            for solid in self._replay.solids:
                yield Transform(WORLD, self.frame(solid.name), solid.poses)
        else:
            for name, rows in recorded.items():
                yield Transform(WORLD, self.frame(name), rows)

    def descriptions(self) -> dict[str, str]:
        """Return the URDF of each robot of the scene; a robot with closed loops has none.

        Links and joints are named as the frames. Meshes are part of the text, as data: addresses
        of STL files, reduced to 600 triangles.
        """
        found = {}
        for robot in self.scene.robots if self.scene else ():
            if robot.model.loops:
                continue
            named = _renamed(robot, "" if self._plain else f"{robot.name}/")
            text, meshes = write_urdf(named, mesh_folder=_MESHES)
            for name, data in meshes.items():
                address = f"data:model/stl;base64,{b64encode(data).decode()}"
                text = text.replace(f'filename="{_MESHES}/{name}"', f'filename="{address}"')
            found[robot.name] = text
        return found

    def _robot(self, robot: PlacedRobot, recorded: Mapping[str, Array]) -> Iterator[Transform]:
        root = f"{robot.name}/{robot.model.root}"
        rows = recorded.get(root) if robot.base is Base.FREE else None
        yield Transform(WORLD, self.frame(root), _rows(robot.X_WB) if rows is None else rows)
        q = self._columns("q")
        for joint in robot.model.joints:
            positions = q.get(f"{robot.name}/{joint.name}")
            if positions is None:
                positions = np.array([robot.positions.get(joint.name, 0.0)])
            if joint.type is JointType.FIXED:
                positions = np.zeros(1)
            yield Transform(
                self.frame(f"{robot.name}/{joint.parent}"),
                self.frame(f"{robot.name}/{joint.child}"),
                joint_rows(joint, positions),
            )

    def _columns(self, channel: str) -> dict[str, Array]:
        if channel not in self._recording.channels:
            return {}
        found = self._recording.channels[channel]
        values = np.asarray(found.values)
        return {name: values[:, i] for i, name in enumerate(found.columns)}


def joint_rows(joint: Joint, positions: Array) -> Array:
    """Return the poses [x y z, wxyz] of a joint's child in its parent, shape (n, 7).

    Args:
        positions: Positions of the joint [rad or m], shape (n,).
    """
    rows = np.repeat(_rows(joint.X_PJ), len(positions), axis=0)
    if joint.type is JointType.PRISMATIC:
        rows[:, :3] += np.outer(positions, joint.X_PJ[:3, :3] @ joint.axis)
    elif joint.type is not JointType.FIXED:
        turn = np.outer(np.sin(positions / 2), joint.axis)
        rows[:, 3:] = _product(rows[:, 3:], np.column_stack([np.cos(positions / 2), turn]))
    return rows


def _product(a: Array, b: Array) -> Array:
    """Return the products of quaternions wxyz, shape (n, 4)."""
    scalar = a[:, 0] * b[:, 0] - np.vecdot(a[:, 1:], b[:, 1:])
    vector = a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:] + np.cross(a[:, 1:], b[:, 1:])
    return np.column_stack([scalar, vector])


def _rows(X: Array) -> Array:
    return np.concatenate([X[:3, 3], quaternion_from_rotation(X[:3, :3])])[None]


def _has_plain_names(scene: Scene) -> bool:
    """Return whether links can do without the name of their robot."""
    if len(scene.robots) != 1:
        return False
    links = {link.name for link in scene.robots[0].model.links}
    return links.isdisjoint({WORLD, *(body.name for body in scene.bodies)})


def _renamed(robot: PlacedRobot, prefix: str) -> RobotModel:
    """Return a robot whose links and joints have a prefix, and whose meshes are small.

    Its root is fixed: where it is in the world is a transform, not a part of the robot.
    """

    def link(each: Link) -> Link:
        visuals = tuple(map(_small, each.visuals))
        collisions = tuple(map(_small, each.collisions))
        return replace(each, name=prefix + each.name, visuals=visuals, collisions=collisions)

    def joint(each: Joint) -> Joint:
        mimic = each.mimic and replace(each.mimic, joint=prefix + each.mimic.joint)
        names = {part: prefix + getattr(each, part) for part in ("name", "parent", "child")}
        return replace(each, **names, mimic=mimic)

    model = robot.model
    links, joints = tuple(map(link, model.links)), tuple(map(joint, model.joints))
    return replace(model, links=links, joints=joints, free_base=False)


def _small(geometry: Geometry) -> Geometry:
    shape: Shape = geometry.shape
    if isinstance(shape, MeshFile | MeshData | Capsule):  # ROS knows no capsules
        shape = MeshData("mesh", decimate(triangulate(shape), most_faces=_MOST_FACES))
    return replace(geometry, shape=shape)
