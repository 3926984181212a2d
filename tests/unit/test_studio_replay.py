import numpy as np
import pytest

from kinetarium.batch.study import find_function, list_studies
from kinetarium.dynamics.kinematics import link_poses
from kinetarium.figure.replay import (
    Arrow,
    DisplayMesh,
    Replay,
    Solid,
    continuous,
    pose_rows,
    thinned,
)
from kinetarium.figure.scene_replay import scene_replay
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import Box
from kinetarium.recording.recording import Channel, Recording
from kinetarium.scene import arm_with_cube, driving_ground
from kinetarium.spatial import so3
from kinetarium.spatial.rotation import rotation_from_quaternion
from kinetarium.studio.replay_file import MOST_SAMPLES, Encoding, replay_file
from unit.replay_reader import ReplayReader

RNG = np.random.default_rng(3)


def tumbling(count, turns=5.0):
    """A pose that turns several times round and moves on."""
    angle = np.linspace(0.0, 2 * np.pi * turns, count)
    X = np.tile(np.eye(4), (count, 1, 1))
    X[:, :3, :3] = so3.exp(angle[:, None] * np.array([0.6, 0.0, 0.8]))
    X[:, :3, 3] = np.column_stack([angle, np.sin(angle), np.full(count, 0.5)])
    return X


def test_pose_rows_do_not_jump_and_mean_the_same():
    X = tumbling(500)
    rows = pose_rows(X)
    assert np.abs(np.diff(rows[:, 3:], axis=0)).max() < 0.1
    for row, pose in zip(rows, X, strict=True):
        np.testing.assert_allclose(rotation_from_quaternion(row[3:]), pose[:3, :3], atol=1e-12)
    flipped = rows * np.where(RNG.random((500, 1)) < 0.5, 1, -1)
    flipped[:, :3] = rows[:, :3]
    again = continuous(flipped)
    np.testing.assert_allclose(np.abs(np.vecdot(again[:, 3:], rows[:, 3:])), 1.0)
    assert np.abs(np.diff(again[:, 3:], axis=0)).max() < 0.1


def test_recorded_phases_become_markers_and_nonsense_does_not():
    scene = arm_with_cube()
    time = Channel(np.array([0.0, 1.0]), "s")
    phases = [["drive", 0, 0.5], ["hold", 0.5, 1.0], ["x"], "drive", ["y", float("nan"), 1.0]]
    replay = scene_replay(scene, Recording({"time": time}, "running", {"phases": phases}))
    assert [(each.name, each.time) for each in replay.markers] == [("drive", 0.0), ("hold", 0.5)]
    head = ReplayReader(replay_file(replay, {}, title="")).head
    assert head["markers"] == [
        {"name": "drive", "time": 0.0, "kind": "phase"},
        {"name": "hold", "time": 0.5, "kind": "phase"},
    ]
    for nonsense in (3, "drive", {"a": 1}):
        wrong = Recording({"time": time}, "running", {"phases": nonsense})
        assert scene_replay(scene, wrong).markers == ()


def box_replay(count, dt=0.01, **extra):
    mesh = DisplayMesh(triangulate(Box((1, 2, 3))), (0.5, 0.5, 0.5, 1.0))
    time = dt * np.arange(count)
    still = pose_rows(np.eye(4)[None])
    solids = (
        Solid("flying", "", (mesh,), pose_rows(tumbling(count))),
        Solid("standing", "", (mesh,), still),
    )
    return Replay(time, solids, **extra)


@pytest.mark.parametrize(("encoding", "off"), [(Encoding.EXACT, 1e-6), (Encoding.COMPACT, 4e-4)])
def test_a_replay_file_says_what_the_replay_says(encoding, off):
    replay = box_replay(350)
    gap = np.where(np.arange(350) % 7 == 0, np.nan, np.linspace(0, 1, 350))
    channels = {
        "time": Channel(replay.time, "s"),
        "gap": Channel(gap, "m"),
        "pairs": Channel(RNG.normal(size=(350, 2)), "N", ("left", "right")),
        "poses": Channel(RNG.normal(size=(350, 2, 7)), "m, wxyz", ("a", "b")),
        "twists": Channel(RNG.normal(size=(350, 1, 6)), "m/s, rad/s", ("a",)),
        "another time": Channel(np.zeros(3), "1"),
    }
    read = ReplayReader(replay_file(replay, channels, title="a </script> title", encoding=encoding))
    assert read.head["title"] == "a </script> title"
    np.testing.assert_array_equal(read.time, replay.time)
    assert [part["samples"] for part in read.head["parts"]] == [250, 100]
    for solid in replay.solids:
        found = read.poses(solid.name)
        np.testing.assert_allclose(found, np.broadcast_to(solid.poses, (350, 7)), atol=off)
    # What does not change costs nothing, and equal meshes are sent once.
    assert len(read.head["ranges"]) == 5 and len(read.head["meshes"]) == 1
    vertices, faces = read.meshes()[0]
    np.testing.assert_allclose(vertices, triangulate(Box((1, 2, 3))).vertices, atol=3e-5)
    np.testing.assert_array_equal(faces, triangulate(Box((1, 2, 3))).faces)
    assert [entry["name"] for entry in read.head["channels"]] == [
        "gap", "pairs", "poses", "twists",
    ]  # fmt: skip
    np.testing.assert_allclose(read.channel("gap")[:, 0], gap, atol=2e-5)
    np.testing.assert_allclose(read.channel("pairs"), channels["pairs"].values, atol=1e-4)
    columns = [entry["columns"] for entry in read.head["channels"]]
    assert columns[0] == [""] and columns[1] == ["left", "right"]
    assert columns[2][:4] == ["a x", "a y", "a z", "a qw"] and len(columns[2]) == 14
    assert columns[3] == ["a vx", "a vy", "a vz", "a wx", "a wy", "a wz"]


def test_arrows_keep_their_gaps():
    points = np.where(np.arange(10)[:, None] < 4, np.nan, np.ones((10, 3)))
    arrow = Arrow("contact", "N", points, np.outer(np.arange(10.0), (0, 0, 1)))
    read = ReplayReader(replay_file(box_replay(10, arrows=(arrow,)), {}, title=""))
    np.testing.assert_array_equal(read.arrow("contact"), np.hstack([points, arrow.vectors]))


def test_long_replays_are_thinned_with_their_channels():
    count = 2 * MOST_SAMPLES + 5
    replay = box_replay(count, dt=1e-3)
    read = ReplayReader(replay_file(replay, {"x": Channel(np.arange(float(count)), "1")}, title=""))
    assert read.head["step"] == 3 and len(read.time) == len(read.channel("x")) <= MOST_SAMPLES
    # The first and the last of every six samples that rise.
    x = read.channel("x")[:, 0]
    np.testing.assert_array_equal(x[:400:2], np.arange(0, 1200, 6))
    np.testing.assert_array_equal(x[1:400:2], np.arange(5, 1200, 6))
    assert x[-1] == count - 1
    assert thinned(replay, most=count) is replay


@pytest.mark.parametrize("samples", [2 * MOST_SAMPLES + 5, 2 * MOST_SAMPLES - 1])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_peak_of_one_sample_is_kept_wherever_it_is(samples, sign):
    replay = box_replay(samples, dt=1e-3)
    at = [0, 1, 2, 777, samples // 2, samples - 4, samples - 3, samples - 2, samples - 1]
    values = np.zeros((samples, len(at)))
    values[at, range(len(at))] = sign
    gaps = np.where(np.arange(samples) % 5 == 0, 1.0, np.nan)
    channels = {"peaks": Channel(values, "1", tuple(map(str, at))), "gaps": Channel(gaps, "1")}
    read = ReplayReader(replay_file(replay, channels, title=""))
    peaks = read.channel("peaks")
    assert len(peaks) == len(read.time) <= MOST_SAMPLES
    step = read.head["step"]
    for column, sample in enumerate(at):
        found = np.flatnonzero(peaks[:, column])
        assert 1 <= len(found) <= 2 and (peaks[found, column] == sign).all()
        assert np.abs(read.time[found] - replay.time[sample]).max() <= 3 * step * 1e-3
    assert np.isfinite(read.channel("gaps")).mean() > 0.75


def test_an_arm_is_where_forward_kinematics_puts_it():
    scene = arm_with_cube()
    model = scene.robots[0].model
    names = tuple(f"arm/{joint.name}" for joint in model.moving_joints)
    q = RNG.uniform(-1, 1, (20, len(names)))
    cube = np.hstack([RNG.normal(size=(20, 3)), np.tile([1.0, 0, 0, 0], (20, 1))])
    recording = Recording(
        {
            "time": Channel(np.arange(20) / 100, "s"),
            "q": Channel(q, "rad or m", names),
            "poses": Channel(cube[:, None], "m, wxyz", ("cube",)),
        },
        "running",
    )
    replay = scene_replay(scene, recording, trails=("cube",))
    poses = link_poses(model, q)
    by_name = {solid.name: solid for solid in replay.solids}
    for i, link in enumerate(model.links):
        if solid := by_name.get(f"arm/{link.name}"):
            expected = pose_rows(poses[:, i])
            np.testing.assert_allclose(np.broadcast_to(solid.poses, (20, 7)), expected, atol=1e-12)
            assert solid.meshes
    shown = [len(each.mesh.faces) for solid in replay.solids for each in solid.meshes]
    assert max(shown) < 3_000 and sum(shown) < 14_000  # of 130,000 in the files
    np.testing.assert_array_equal(by_name["cube"].poses, cube)
    assert by_name["table"].poses.shape == (1, 7)


def test_a_free_robot_takes_its_base_along():
    scene = driving_ground("husky4")
    root = scene.robots[0].model.root
    base = pose_rows(tumbling(30))
    wheels = tuple(f"vehicle/{joint.name}" for joint in scene.robots[0].model.moving_joints)
    recording = Recording(
        {
            "time": Channel(np.arange(30) / 50, "s"),
            "q": Channel(np.zeros((30, len(wheels))), "rad or m", wheels),
            "poses": Channel(base[:, None], "m, wxyz", (f"vehicle/{root}",)),
        },
        "running",
    )
    replay = scene_replay(scene, recording, trails=(f"vehicle/{root}",))
    solid = next(s for s in replay.solids if s.name == f"vehicle/{root}")
    np.testing.assert_allclose(solid.poses, base, atol=1e-12)
    assert all(len(s.poses) == 30 for s in replay.solids)


def test_every_study_of_ours_can_be_watched_or_says_that_it_cannot():
    shown = {study.name for study in list_studies() if find_function(study, "replay")}
    assert {"drop", "grasp", "drive", "calibrate", "dock", "dock-float", "walk"} <= shown
