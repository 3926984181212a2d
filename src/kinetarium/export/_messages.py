"""Recorded runs as ROS 2 messages: JointState, TF, WrenchStamped, MarkerArray, Float64, String.

Topics are made of letters, digits and "_" whatever the names in the recording are. Times are
those of the simulation, rounded to nanoseconds; /channels/time has them to the bit.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kinetarium.errors import MissingPackageError
from kinetarium.export._frames import WORLD, Frames, Transform
from kinetarium.export.tables import ExportError, columns, unique
from kinetarium.figure.replay import Replay
from kinetarium.figure.scene3d import Color
from kinetarium.recording.recording import Channel, Recording
from kinetarium.spatial.arrays import Array

_MOST_TOPICS = 32
"""Numbers of a channel that have a topic each; a channel with more is one array."""
_MOST_TIME = 9e9
"""Latest time: seconds of a ROS time have 31 bits, and nanoseconds since 0 must fit 63 [s]."""
_METRES_PER_NEWTON = 1e-2
"""Length of the arrow of a force."""
_RED: Color = (0.85, 0.2, 0.15, 1.0)
_GREY: Color = (0.35, 0.35, 0.4, 1.0)
_NONE = Channel(np.zeros(0), "")


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic.

    Attributes:
        name: Its name.
        type: Type of its messages, such as "std_msgs/msg/String".
        latched: Whether a late subscriber receives its last message (transient local).
    """

    name: str
    type: str
    latched: bool = False


class RosRun:
    """A recorded run as messages.

    Attributes:
        names: What topics of channels, sensors and robots are named after, as it was recorded.
    """

    def __init__(self, recording: Recording, replay: Replay | None) -> None:
        """Take a recording and, where its study has one, its replay.

        Raises:
            ExportError: If its times are not those of a run.
            MissingPackageError: If rosbags is not installed.
        """
        try:
            from rosbags.typesys import Stores, get_typestore
        except ImportError:
            raise MissingPackageError("rosbags", extra="export") from None
        self.typestore = get_typestore(Stores.ROS2_JAZZY)
        time = np.asarray(recording["time"], dtype=np.float64)
        if time.ndim != 1 or not np.all((time >= 0) & (time < _MOST_TIME)):
            raise ExportError("its times are not numbers of seconds from 0 on")
        if np.any(np.diff(time) < 0):
            raise ExportError("its times do not rise")
        self.times: list[int] = [round(t * 1e9) for t in time.tolist()]
        self._recording, self._replay = recording, replay
        self._frames = Frames(recording, replay)
        self.names: dict[str, str] = {}

    def messages(self) -> Iterator[tuple[Topic, int, bytes]]:
        """Yield topic, time [ns] and serialized message of everything, in the order of time."""
        streams = list(self._streams())
        for topic, message in self._latched():
            yield topic, self.times[0] if self.times else 0, self._serialized(topic, message)
        for i, t in enumerate(self.times):
            for topic, sample in streams:
                yield topic, t, self._serialized(topic, sample(i))

    def _topic(self, above: str, name: str) -> str:
        """Return a topic of its own for a recorded name."""
        topic = unique(f"{above}/{topic_name(name)}", self.names)
        self.names[topic] = name
        return topic

    def _serialized(self, topic: Topic, message: Any) -> bytes:
        return bytes(self.typestore.serialize_cdr(message, topic.type))

    def _latched(self) -> Iterator[tuple[Topic, Any]]:
        """Yield what does not change: robots, fixed frames, shapes."""
        descriptions = self._frames.descriptions()
        for robot, text in descriptions.items():
            name = "/robot_description"
            if len(descriptions) > 1:
                name = self._topic("/robot_description", robot)
            yield Topic(name, "std_msgs/msg/String", True), self._make("std_msgs/msg/String", text)
        static = [each for each in self._transforms if each.static]
        yield self._tf("/tf_static", latched=True), self._tf_message(static, 0)
        if self._replay:
            topic = Topic("/scene", "visualization_msgs/msg/MarkerArray", True)
            yield topic, self._make(topic.type, list(self._shapes(self._replay)))

    def _streams(self) -> Iterator[tuple[Topic, Any]]:
        """Yield each topic with the function that makes its message of a sample."""
        channels = self._recording.channels
        samples = len(self.times)
        if moving := [each for each in self._transforms if len(each.rows) == samples > 1]:
            yield self._tf("/tf"), lambda i: self._tf_message(moving, i)
        if "q" in channels and channels["q"].columns:
            topic = Topic("/joint_states", "sensor_msgs/msg/JointState")
            yield topic, self._joint_states(topic, channels["q"], channels.get("v"))
        for name, channel in channels.items():
            if name.startswith("wrench/") and np.shape(channel.values) == (samples, 6):
                sensor = name.removeprefix("wrench/")
                place = Topic(self._topic("/wrench", sensor), "geometry_msgs/msg/WrenchStamped")
                yield place, self._wrenches(place, sensor, channel)
        if arrows := list(self._contact_arrows()):
            topic = Topic("/contacts", "visualization_msgs/msg/MarkerArray")
            yield topic, lambda i: self._make(topic.type, self._arrow_markers(arrows, i))
        yield from self._numbers()

    @cached_property
    def _transforms(self) -> list[Transform]:
        return list(self._frames.transforms())

    def _numbers(self) -> Iterator[tuple[Topic, Any]]:
        """Yield the numbers of all channels as they were recorded."""
        joints = ("q", "v") if self._recording.channels.get("q", _NONE).columns else ()
        for name, channel in self._recording.channels.items():
            if name in joints or len(np.atleast_1d(channel.values)) != len(self.times):
                continue
            parts = list(columns(Recording({name: channel}, "")))
            single = len(parts) <= _MOST_TOPICS
            for label, values in (
                [(part.name, part.values) for part in parts]
                if single
                else [(name, np.stack([part.values for part in parts], axis=1))]
            ):
                own = self._topic("/channels", label)
                kind = "std_msgs/msg/Float64" if single else "std_msgs/msg/Float64MultiArray"
                yield Topic(own, kind), self._number(kind, np.asarray(values, dtype=np.float64))

    def _number(self, kind: str, values: Array) -> Any:
        if values.ndim == 1:
            return lambda i: self._make(kind, float(values[i]))
        layout = self._make("std_msgs/msg/MultiArrayLayout", [], 0)
        return lambda i: self._make(kind, layout, values[i])

    def _joint_states(self, topic: Topic, q: Channel, v: Channel | None) -> Any:
        names = [self._frames.joint(name) for name in q.columns]
        none = np.zeros(0)
        speeds = None if v is None or v.columns != q.columns else np.asarray(v.values, np.float64)
        positions = np.asarray(q.values, np.float64)

        def message(i: int) -> Any:
            header = self._header(i, "")
            velocity = none if speeds is None else speeds[i]
            return self._make(topic.type, header, names, positions[i], velocity, none)

        return message

    def _wrenches(self, topic: Topic, sensor: str, channel: Channel) -> Any:
        values, frame = np.asarray(channel.values, np.float64), self._frames.sensor(sensor)

        def message(i: int) -> Any:
            force, torque = (self._vector(values[i, part]) for part in (slice(3), slice(3, 6)))
            wrench = self._make("geometry_msgs/msg/Wrench", force, torque)
            return self._make(topic.type, self._header(i, frame), wrench)

        return message

    def _tf(self, name: str, *, latched: bool = False) -> Topic:
        return Topic(name, "tf2_msgs/msg/TFMessage", latched)

    def _tf_message(self, transforms: Sequence[Transform], i: int) -> Any:
        stamped = []
        for each in transforms:
            row = each.rows[0 if each.static else i]
            pose = self._make(
                "geometry_msgs/msg/Transform", self._vector(row[:3]), self._quaternion(row[3:])
            )
            header = self._header(i, each.parent)
            stamped.append(
                self._make("geometry_msgs/msg/TransformStamped", header, each.child, pose)
            )
        return self._make("tf2_msgs/msg/TFMessage", stamped)

    def _shapes(self, replay: Replay) -> Iterator[Any]:
        """Yield the display meshes of all solids and the guides, as markers that stay."""
        for solid in replay.solids:
            for n, coat in enumerate(solid.meshes):
                corners = coat.mesh.vertices[coat.mesh.faces.ravel()]
                frame = self._frames.frame(solid.name)
                yield self._marker(
                    0, frame, _Marker.TRIANGLE_LIST, name=solid.name, id=n, points=corners,
                    color=coat.color,
                )  # fmt: skip
        for guide in replay.guides:
            yield self._marker(
                0, WORLD, _Marker.LINE_STRIP, name=guide.name, points=guide.points,
                scale=(0.01, 0.0, 0.0), color=_GREY,
            )  # fmt: skip

    def _contact_arrows(self) -> Iterator[tuple[str, Array, Array]]:
        """Yield name, points [m] and forces [N] of contacts: those of a replay or of a probe."""
        scene = self._frames.scene
        sensors = {sensor.name for sensor in scene.sensors} if scene else ()
        for arrow in self._replay.arrows if self._replay else ():
            if arrow.name not in sensors and len(arrow.points) == len(self.times):
                yield arrow.name, arrow.points, arrow.vectors
        contacts = self._recording.channels.get("contacts")
        if contacts and contacts.columns[:2] == ("0/a", "0/b"):
            values = np.asarray(contacts.values).reshape(len(self.times), -1, 12)
            for n in range(values.shape[1]):
                yield f"contact {n}", values[:, n, 2:5], values[:, n, 8:11]

    def _arrow_markers(self, arrows: Sequence[tuple[str, Array, Array]], i: int) -> list[Any]:
        """Return the arrows of a sample, after a marker that deletes those of the sample before."""
        markers = [self._marker(i, WORLD, _Marker.ARROW, name="contacts", action=_Marker.DELETEALL)]
        for n, (_, points, vectors) in enumerate(arrows):
            if np.all(np.isfinite(points[i])) and np.all(np.isfinite(vectors[i])):
                ends = np.stack([points[i], points[i] + _METRES_PER_NEWTON * vectors[i]])
                arrow = self._marker(
                    i, WORLD, _Marker.ARROW, name="contacts", id=n, points=ends,
                    scale=(0.005, 0.012, 0.0), color=_RED,
                )  # fmt: skip
                markers.append(arrow)
        return markers

    def _marker(
        self,
        i: int,
        frame: str,
        kind: int,
        *,
        name: str,
        id: int = 0,
        action: int = 0,
        points: Array | None = None,
        scale: tuple[float, float, float] = (1.0, 1.0, 1.0),
        color: Color = _GREY,
    ) -> Any:
        pose = self._make(
            "geometry_msgs/msg/Pose",
            self._make("geometry_msgs/msg/Point", 0.0, 0.0, 0.0),
            self._quaternion((1.0, 0.0, 0.0, 0.0)),
        )
        corners = [
            self._make("geometry_msgs/msg/Point", *row)
            for row in ([] if points is None else np.asarray(points, np.float64).tolist())
        ]
        paint = self._make("std_msgs/msg/ColorRGBA", *map(float, color))
        kinds = self.typestore.types
        empty = kinds["std_msgs/msg/Header"](self._time(0), "")
        return kinds["visualization_msgs/msg/Marker"](
            header=self._header(i, frame), ns=name, id=id, type=kind, action=action, pose=pose,
            scale=self._vector(scale), color=paint,
            lifetime=self._make("builtin_interfaces/msg/Duration", 0, 0), frame_locked=True,
            points=corners, colors=[], texture_resource="",
            texture=self._make("sensor_msgs/msg/CompressedImage", empty, "", np.zeros(0, np.uint8)),
            uv_coordinates=[], text="", mesh_resource="",
            mesh_file=self._make("visualization_msgs/msg/MeshFile", "", np.zeros(0, np.uint8)),
            mesh_use_embedded_materials=False,
        )  # fmt: skip

    def _make(self, kind: str, *values: Any) -> Any:
        return self.typestore.types[kind](*values)

    def _header(self, i: int, frame: str) -> Any:
        return self._make("std_msgs/msg/Header", self._time(i), frame)

    def _time(self, i: int) -> Any:
        seconds, nanoseconds = divmod(self.times[i] if self.times else 0, 10**9)
        return self._make("builtin_interfaces/msg/Time", seconds, nanoseconds)

    def _vector(self, values: Any) -> Any:
        return self._make("geometry_msgs/msg/Vector3", *map(float, values))

    def _quaternion(self, wxyz: Any) -> Any:
        w, x, y, z = map(float, wxyz)
        return self._make("geometry_msgs/msg/Quaternion", x, y, z, w)


class _Marker:
    """Kinds and actions of visualization_msgs/msg/Marker."""

    ARROW, LINE_STRIP, TRIANGLE_LIST = 0, 4, 11
    DELETEALL = 3


def topic_name(name: str) -> str:
    """Return a valid part of a topic (ROS 2 names: letters, digits, single "_", "/")."""
    parts = (re.sub(r"[^A-Za-z0-9]+", "_", part).strip("_")[:60] for part in name.split("/"))
    valid = (f"n{part}" if part[0].isdigit() else part for part in parts if part)
    return "/".join(valid) or "unnamed"
