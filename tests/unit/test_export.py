"""Exported recordings are read back by the public readers, to the bit."""

import json
import re
import sqlite3
from base64 import b64decode
from io import BytesIO
from pathlib import Path
from xml.etree.ElementTree import fromstring
from zipfile import ZipFile

import numpy as np
import pandas
import polars
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader

from kinetarium import Channel, Recording, Scene, load_robot, run
from kinetarium.dynamics.kinematics import link_poses
from kinetarium.errors import KinetariumError, OutputError
from kinetarium.export import ExportError, ExportFormat, export_run, read_channels
from kinetarium.figure.scene_replay import scene_replay
from kinetarium.model import Box
from kinetarium.rollout import ContactPoints
from kinetarium.scene import Base, PlacedRobot, WrenchSensor, free_body, ground
from kinetarium.spatial.rotation import pose, rotation_from_quaternion

TOPIC = re.compile(r"(/[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*)+")
HOSTILE = ("../../etc/passwd", "/tf", "a b", "a_b", "=cmd()", "\x00", "", "é" * 300, "q ]\n[")


@pytest.fixture(scope="module")
def scene() -> Scene:
    arm = PlacedRobot("arm", load_robot("panda"), X_WB=pose((1.0, 0.0, 0.0)))
    box = free_body("box", Box((0.1, 0.1, 0.1)), mass=1.0, position=(0, 0, 0.0499),
                    twist=(0.1, 0, 0, 0, 0, 0.5))  # fmt: skip
    sensor = WrenchSensor("wrist", "arm", "panda_joint7")
    return Scene((arm,), (ground(), box), (sensor,))


@pytest.fixture(scope="module")
def recording(scene: Scene) -> Recording:
    return run(scene, engine="mujoco", duration=0.1, probes=[ContactPoints(8)])


def decoded(path: Path) -> dict[str, list]:
    found: dict[str, list] = {}
    with open(path, "rb") as file:
        for _, channel, message, ros in make_reader(
            file, decoder_factories=[DecoderFactory()]
        ).iter_decoded_messages():
            found.setdefault(channel.topic, []).append((message.log_time, ros))
    return found


def bits(values) -> bytes:
    return np.asarray(values, dtype=np.float64).tobytes()


@pytest.fixture(scope="module")
def mcap(scene: Scene, recording: Recording, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("export") / "run.mcap"
    replay = scene_replay(scene, recording)
    assert export_run(recording, path, format="mcap", replay=replay) == ()
    return path


@pytest.fixture(scope="module")
def messages(mcap: Path) -> dict[str, list]:
    return decoded(mcap)


def test_joints_and_wrenches_are_equal_to_the_bit(messages, recording) -> None:
    states = [ros for _, ros in messages["/joint_states"]]
    assert bits([each.position for each in states]) == bits(recording["q"])
    assert bits([each.velocity for each in states]) == bits(recording["v"])
    assert states[0].name[0] == "panda_joint1"
    wrenches = [ros.wrench for _, ros in messages["/wrench/wrist"]]
    rows = [
        [getattr(part, axis) for part in (each.force, each.torque) for axis in "xyz"]
        for each in wrenches
    ]
    assert bits(rows) == bits(recording["wrench/wrist"])
    assert messages["/wrench/wrist"][0][1].header.frame_id == "panda_link7"
    times = [each.data for _, each in messages["/channels/time"]]
    assert bits(times) == bits(recording["time"])
    stamps = [time for time, _ in messages["/joint_states"]]
    assert stamps == [round(t * 1e9) for t in times]


def test_frames_form_a_tree_with_the_links_where_they_were(messages, scene, recording) -> None:
    tree: dict[str, tuple[str, np.ndarray]] = {}

    def place(message) -> None:
        for each in message.transforms:
            t, r = each.transform.translation, each.transform.rotation
            X = pose((t.x, t.y, t.z), rotation_from_quaternion((r.w, r.x, r.y, r.z)))
            tree[each.child_frame_id] = (each.header.frame_id, X)

    def world(frame: str) -> np.ndarray:
        X = np.eye(4)
        while frame != "world":
            frame, X_PF = tree[frame]
            X = X_PF @ X
        return X

    place(messages["/tf_static"][0][1])
    place(messages["/tf"][-1][1])
    model = scene.robots[0].model
    expected = link_poses(model, recording["q"][-1], X_WB=scene.robots[0].X_WB)
    for link, X in zip(model.links, expected, strict=True):
        np.testing.assert_allclose(world(link.name), X, atol=1e-13)
    box = []
    for _, ros in messages["/tf"]:
        (tf,) = (each.transform for each in ros.transforms if each.child_frame_id == "box")
        t, r = tf.translation, tf.rotation
        box.append([t.x, t.y, t.z, r.w, r.x, r.y, r.z])
    assert bits(box) == bits(recording["poses"][:, 0])


def test_the_robot_comes_with_the_file(messages, scene) -> None:
    root = fromstring(messages["/robot_description"][0][1].data)
    model = scene.robots[0].model
    assert [each.get("name") for each in root.iter("link")] == [link.name for link in model.links]
    meshes = [each.get("filename", "") for each in root.iter("mesh")]
    assert all(name.startswith("data:model/stl;base64,") for name in meshes)
    shapes = messages["/scene"][0][1].markers
    links = {link.name for link in model.links if link.visuals or link.collisions}
    assert {each.header.frame_id for each in shapes} == links | {"box"}
    assert all(each.type == 11 and len(each.points) % 3 == 0 and each.points for each in shapes)


SHOWN = {
    "/tf": "tf2_msgs/msg/TFMessage",
    "/tf_static": "tf2_msgs/msg/TFMessage",
    "/scene": "visualization_msgs/msg/MarkerArray",
    "/contacts": "visualization_msgs/msg/MarkerArray",
    "/joint_states": "sensor_msgs/msg/JointState",
    "/robot_description": "std_msgs/msg/String",
    "/wrench/wrist": "geometry_msgs/msg/WrenchStamped",
}
"""Topics and schemas by which the panels of Foxglove recognise what they show."""


def test_the_file_is_one_that_foxglove_reads(mcap) -> None:
    """The profile "ros2" of MCAP, and an index by which a player finds any time."""
    reader = make_reader(BytesIO(mcap.read_bytes()))
    summary = reader.get_summary()
    assert reader.get_header().profile == "ros2"
    assert summary.chunk_indexes and summary.statistics.message_start_time == 0
    topics = {channel.topic: channel for channel in summary.channels.values()}
    assert len(topics) == len(summary.channels)
    for channel in topics.values():
        schema = summary.schemas[channel.schema_id]
        assert (channel.message_encoding, schema.encoding) == ("cdr", "ros2msg")
        assert re.fullmatch(r"[a-z0-9_]+/msg/[A-Z][A-Za-z0-9]*", schema.name)
        latched = channel.topic in ("/tf_static", "/scene", "/robot_description")
        assert ("durability: 1" in channel.metadata["offered_qos_profiles"]) == latched
    found = {topic: summary.schemas[channel.schema_id].name for topic, channel in topics.items()}
    assert {topic: found.get(topic) for topic in SHOWN} == SHOWN
    times = [message.log_time for _, _, message in reader.iter_messages(log_time_order=False)]
    assert times == sorted(times)


@pytest.mark.parametrize("share", [0.0, 0.37, 1.0])
def test_foxglove_finds_every_frame_at_any_time(messages, share: float) -> None:
    """After a jump a player has the last message of each topic, and no other."""
    last = messages["/tf"][-1][0]
    known = {topic: [ros for time, ros in each if time <= share * last][-1:]
             for topic, each in messages.items()}  # fmt: skip
    transforms = [
        each for topic in ("/tf_static", "/tf") for ros in known[topic] for each in ros.transforms
    ]
    parents = {each.child_frame_id: each.header.frame_id for each in transforms}
    assert len(parents) == len(transforms), "a frame has two parents"
    for each in transforms:
        turn = each.transform.rotation
        assert np.linalg.norm([turn.w, turn.x, turn.y, turn.z]) == pytest.approx(1.0, abs=1e-9)
    assert set(parents.values()) - set(parents) == {"world"}
    for frame in parents:
        path = [frame]
        while path[-1] != "world":
            path.append(parents[path[-1]])
            assert len(path) <= len(parents) + 1, "frames form a cycle"
    frames = {"world", *parents}
    markers = [each for topic in ("/scene", "/contacts") for each in known[topic][0].markers]
    assert {each.header.frame_id for each in markers} <= frames
    assert len({(each.ns, each.id) for each in known["/scene"][0].markers}) == len(
        known["/scene"][0].markers
    )
    assert known["/wrench/wrist"][0].header.frame_id in frames
    robot = fromstring(known["/robot_description"][0].data)
    assert {each.get("name") for each in robot.iter("link")} <= frames
    joints = {each.get("name"): each for each in robot.findall("joint")}
    for joint in joints.values():  # the description agrees with the transforms
        assert parents[joint.find("child").get("link")] == joint.find("parent").get("link")
    assert set(known["/joint_states"][0].name) <= set(joints)
    for mesh in robot.iter("mesh"):
        data = b64decode(mesh.get("filename").removeprefix("data:model/stl;base64,"))
        assert len(data) == 84 + 50 * int.from_bytes(data[80:84], "little") > 84


def test_contacts_are_arrows_and_numbers(messages, recording) -> None:
    values = recording["contacts"].reshape(len(recording["time"]), 8, 12)
    seen = np.isfinite(values[-1, :, 0])
    assert seen.sum() == 4
    clear, *arrows = messages["/contacts"][-1][1].markers
    assert clear.action == 3 and len(arrows) == 4
    points = [[getattr(each.points[0], axis) for axis in "xyz"] for each in arrows]
    assert bits(points) == bits(values[-1, seen, 2:5])
    assert values[-1, seen, 10].sum() == pytest.approx(9.81, rel=0.05)
    stored = [each.data for _, each in messages["/channels/contacts"]]
    assert bits(stored) == bits(recording["contacts"])


def test_a_bag_has_the_messages_of_the_mcap_file(tmp_path, messages, scene, recording) -> None:
    path = tmp_path / "bag"
    export_run(recording, path, format="rosbag2", replay=scene_replay(scene, recording))
    counts: dict[str, int] = {}
    positions = []
    with AnyReader([path]) as reader:
        for connection, _, data in reader.messages():
            counts[connection.topic] = counts.get(connection.topic, 0) + 1
            if connection.topic == "/joint_states":
                positions.append(reader.deserialize(data, connection.msgtype).position)
    assert counts == {topic: len(each) for topic, each in messages.items()}
    assert bits(positions) == bits(recording["q"])
    with sqlite3.connect(path / "bag.db3") as base:
        qos = dict(base.execute("SELECT name, offered_qos_profiles FROM topics"))
    assert "durability: 1" in qos["/tf_static"] and "durability" not in qos["/tf"]


def test_csv_and_parquet_hold_every_number(tmp_path, recording) -> None:
    for format in ("csv", "parquet"):
        export_run(recording, tmp_path / f"run.{format}", format=format)
        channels = read_channels(tmp_path / f"run.{format}")
        assert bits(channels["time"].values) == bits(recording["time"])
        for i, joint in enumerate(recording.channels["q"].columns):
            assert bits(channels[f"q/{joint}"].values) == bits(recording["q"][:, i])
        assert bits(channels["poses/box/qw"].values) == bits(recording["poses"][:, 0, 3])
        units = [channels[f"wrench/wrist/{c}"].unit for c in ("fx", "fz", "mx", "mz")]
        assert units == ["N", "N", "N m", "N m"]
        assert (channels["poses/box/x"].unit, channels["poses/box/qw"].unit) == ("m", "-")
        assert channels["contacts/1/fx"].unit == "N"
    frame = pandas.read_csv(tmp_path / "run.csv")
    assert bits(frame["time [s]"]) == bits(recording["time"])
    about = json.loads(polars.read_parquet_metadata(tmp_path / "run.parquet")["about"])
    assert about["units"]["time"] == "s" and about["facts"]["engine"] == "mujoco"


def test_npz_holds_the_channels_as_they_are(tmp_path, recording) -> None:
    export_run(recording, tmp_path / "run.npz", format="npz")
    with np.load(tmp_path / "run.npz", allow_pickle=False) as file:
        assert bits(file["q"]) == bits(recording["q"])
    for name, channel in read_channels(tmp_path / "run.npz").items():
        expected = recording.channels[name]
        assert channel.values.dtype == expected.values.dtype
        assert channel.values.tobytes() == expected.values.tobytes()
        assert (channel.unit, channel.columns) == (expected.unit, expected.columns)
    first = (tmp_path / "run.npz").read_bytes()
    export_run(recording, tmp_path / "run.npz", format="npz", overwrite=True)
    assert (tmp_path / "run.npz").read_bytes() == first


def test_unusual_channels(tmp_path) -> None:
    channels = {
        "count": Channel(np.array([1, 2, 3], dtype=np.uint8), "1"),
        "time": Channel(np.array([0.0, 0.1, 0.2]), "s"),
        "short": Channel(np.array([np.nan, -0.0]), "m"),
        "flag": Channel(np.array([True, False, True]), "-"),
        "wave": Channel(np.array([1 + 2j, 3j, 4]), "V"),
        "one": Channel(np.float32(0.1), "-"),
    }
    for format in ("csv", "parquet"):
        path = tmp_path / f"run.{format}"
        export_run(Recording(channels, "running"), path, format=format)
        found = read_channels(path)
        assert next(iter(found)) == "time"
        assert found["count"].values.tolist() == [1, 2, 3]
        assert bits(found["short"].values) == bits([np.nan, -0.0])
        assert found["flag"].values.tolist() == [True, False, True]
        assert found["wave/0"].values.tolist() == [1, 0, 4]
        assert float(found["one"].values[0]) == float(np.float32(0.1))


@pytest.mark.parametrize("format", list(ExportFormat))
def test_names_of_a_received_recording_are_only_names(tmp_path, format) -> None:
    times = Channel(np.array([0.0, 0.1]), "s")
    channels = {name: Channel(np.ones(2), name) for name in HOSTILE}
    channels |= {f"wrench/{name}": Channel(np.ones((2, 6)), "N, N m") for name in HOSTILE}
    channels["q"] = Channel(np.ones((2, len(HOSTILE))), "rad", HOSTILE)
    recording = Recording({"time": times, **channels}, "running")
    path = tmp_path / "inner" / f"run{format.suffix}"
    path.parent.mkdir()
    export_run(recording, path, format=format)
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    if format is ExportFormat.MCAP:
        topics = list(decoded(path))
        assert all(map(TOPIC.fullmatch, topics)), topics
        assert len(topics) == 3 + 8 * len(HOSTILE)
    elif format is ExportFormat.NPZ:
        names = ZipFile(BytesIO(path.read_bytes())).namelist()
        assert all(re.fullmatch(r"[\w-]+\.npy", name, re.ASCII) for name in names)
        assert read_channels(path).keys() == recording.channels.keys()
    elif format is not ExportFormat.ROSBAG2:
        assert len(read_channels(path)) == 1 + len(HOSTILE) * 8


def test_existing_files_are_replaced_only_when_asked(tmp_path, recording) -> None:
    path = tmp_path / "run.csv"
    path.write_text("mine")
    with pytest.raises(OutputError, match="--overwrite"):
        export_run(recording, path, format="csv")
    assert path.read_text() == "mine"
    bag = tmp_path / "bag"
    bag.mkdir()
    (bag / "thesis.tex").write_text("mine")
    with pytest.raises(OutputError, match=r"thesis\.tex"):
        export_run(recording, bag, format="rosbag2", overwrite=True)
    export_run(recording, tmp_path / "own", format="rosbag2")
    export_run(recording, tmp_path / "own", format="rosbag2", overwrite=True)


def test_refusals(tmp_path, recording) -> None:
    with pytest.raises(ExportError, match="unknown format 'xlsx'"):
        export_run(recording, tmp_path / "run.xlsx", format="xlsx")
    for times in ([-1.0, 0.0], [np.nan, 0.0], [1.0, 0.5], [0.0, 1e300]):
        broken = Recording({"time": Channel(np.array(times), "s")}, "running")
        with pytest.raises(ExportError, match="its times"):
            export_run(broken, tmp_path / "run.mcap", format="mcap")
    with pytest.raises(ExportError, match="nothing was recorded"):
        empty = Recording({"time": Channel(np.zeros(0), "s")}, "diverged")
        export_run(empty, tmp_path / "run.csv", format="csv")
    (tmp_path / "bad.csv").write_text("a,b\n1\n")
    (tmp_path / "bad.npz").write_bytes(b"PK")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    for name in ("bad.csv", "bad.npz", "bad.parquet", "missing.csv", "run.mcap"):
        with pytest.raises(KinetariumError):
            read_channels(tmp_path / name)


def test_frames_of_several_robots_have_their_names(tmp_path) -> None:
    robots = tuple(
        PlacedRobot(name, load_robot("husky4"), Base.FREE, pose((0.0, y, 0.2)))
        for name, y in (("left", 1.0), ("right", -1.0))
    )
    scene = Scene(robots, (ground(),))
    recording = run(scene, engine="mujoco", duration=0.02)
    export_run(recording, tmp_path / "a.mcap", format="mcap", replay=scene_replay(scene, recording))
    found = decoded(tmp_path / "a.mcap")
    names = [each.get("name") for each in fromstring(found["/robot_description/left"][0][1].data)]
    assert all(name.startswith("left/") for name in names)
    assert set(found["/joint_states"][0][1].name) == set(recording.channels["q"].columns)
    frames = {each.child_frame_id for each in found["/tf"][0][1].transforms}
    assert {"left/base_link", "right/base_link"} <= frames
