"""`kinetarium reach`: maps, slices, placements and ways of a base from the command line."""

import json
import re
import signal
import subprocess
import time
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest

from kinetarium import load_robot
from kinetarium.reach import build_map, open_map, solve_ik, verify_map
from kinetarium.reach.collision.obstacles import _ObstacleFile
from kinetarium.reach.placement.files import FREE, POSE, TOLERANCES, FreeAxis
from kinetarium.spatial.rotation import pose, rotation_about
from kinetarium.studies.reach.comparison.run import random_poses
from needs import needs

DOWN = np.diag([1.0, -1.0, -1.0])
COARSE = {"capability": (0.25, 6), "irm3": (0.1, 10), "irm4": (0.125, 3)}

SIX_JOINTS = [("z", 0.15), ("y", 0.2), ("y", 0.35), ("z", 0.3), ("y", 0.08), ("z", 0.07)]


def six_joint_arm() -> str:
    """A robot file such as a user has: six joints, capsule-like links, nobody's catalogue."""
    inertial = (
        '<inertial><mass value="1"/>'
        '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    lines = ['<robot name="mine"><link name="foot"/>']
    parent, height = "foot", 0.1
    for number, (axis, length) in enumerate(SIX_JOINTS, start=1):
        xyz = {"z": "0 0 1", "y": "0 1 0"}[axis]
        shape = f'<cylinder radius="0.03" length="{0.6 * length}"/>'
        lines += [
            f'<link name="l{number}">{inertial}<collision><origin xyz="0 0 {length / 2}"/>'
            f"<geometry>{shape}</geometry></collision></link>",
            f'<joint name="j{number}" type="revolute"><parent link="{parent}"/>'
            f'<child link="l{number}"/><origin xyz="0 0 {height}"/><axis xyz="{xyz}"/>'
            '<limit lower="-2.8" upper="2.8" effort="50" velocity="2"/></joint>',
        ]
        parent, height = f"l{number}", length
    lines += [
        '<link name="tip"/><joint name="end" type="fixed"><parent link="l6"/>'
        f'<child link="tip"/><origin xyz="0 0 {height}"/></joint></robot>'
    ]
    return "\n".join(lines)


@pytest.fixture(scope="module")
def maps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a coarse map of each kind."""
    folder = tmp_path_factory.mktemp("maps")
    robot = load_robot("panda")
    for kind, (voxel, poses) in COARSE.items():
        words = {"kind": kind, "voxel": voxel, "poses": poses, "workers": 2}
        build_map(robot, folder / f"{kind}.rmap", **words)
    return folder


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare the pictures beside a page, which other tests draw."""
    monkeypatch.setattr("kinetarium.report.html.files.figure_files", lambda page, stills: {})


def written(path: Path, data: object) -> Path:
    path.write_text(json.dumps(data))
    return path


@pytest.fixture
def poses(tmp_path: Path) -> Path:
    rows = random_poses(np.random.default_rng(0), count=4).tolist()
    rows[0] = {"position": [0.4, 0.1, 0.3], "quaternion_wxyz": [0, 1, 0, 0]}
    return written(tmp_path / "poses.json", rows)


def test_build_info_and_verify(call: Any, tmp_path: Path) -> None:
    out = tmp_path / "panda.rmap"
    words = ("--robot", "panda", "--kind", "irm3", "--voxel", "0.25", "--poses", "5")
    done = call("reach", "build", *words, "--self-collision", "--out", out, "--json", "-")
    assert done.code == 0, done.err
    assert done.json["recipe"]["self_collision"] and done.json["recipe"]["tool"] == "panda_link8"
    assert done.json["voxels"] == 9**3
    page = tmp_path / "page"
    info = call("reach", "info", "--map", out, "--report", page, "--json", "-")
    assert info.json["recipe"] == done.json["recipe"]
    assert "a quarter cut away" in (page / "report.html").read_text()
    assert len(list((page / "figures").glob("*.png"))) == 6
    assert "irm3" in call("reach", "info", out).out
    assert call("reach", "verify", out).code == 0
    assert call("reach", "verify", "--map", out, "--json", "-").json["ok"]
    kinematic = call("reach", "build", *words, "--out", tmp_path / "k.rmap", "--json", "-").json
    assert not kinematic["recipe"]["self_collision"]


def test_a_robot_file_of_ones_own_in_one_command(call: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.urdf").write_text(six_joint_arm())
    out = tmp_path / "mine.rmap"
    words = ("--robot", tmp_path / "mine.urdf", "--voxel", "0.2", "--poses", "2")
    done = call("reach", "build", *words, "--self-collision", "--out", out, "--json", "-")
    assert done.code == 0, done.err
    assert done.json["recipe"]["tool"] == "tip"
    targets = [pose((0.4, y, 0.5), rotation_about((0, 1, 0), 2.0)).tolist() for y in (-0.2, 0.2)]
    file = written(tmp_path / "poses.json", targets)
    placed = call("reach", "place", "--map", out, "--poses", file, "--json", "-").json
    assert placed["reachable"] == 2
    assert [len(q) for q in placed["joints"]] == [6, 6]
    (tmp_path / "mine.urdf").write_text(six_joint_arm().replace('mass value="1"', 'mass value="2"'))
    again = call("reach", "place", "--map", out, "--poses", file)
    assert again.code == 2 and "another file" in again.err


def test_place_prints_the_contract_and_keeps_nothing(
    call: Any, maps: Path, poses: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    done = call("reach", "place", "--map", maps / "irm4.rmap", "--poses", poses, "--json", "-")
    assert done.code == 0, done.err
    found = done.json
    assert found.keys() >= {
        "base", "reachable", "total", "manipulability", "joints", "elapsed_ms",
    }  # fmt: skip
    assert not {"out", "report"} & found.keys() and list(Path().iterdir()) == []
    assert "elapsed_ms" not in found["rows"][0] and found["rows"][0]["base"] == found["base"]
    assert found["base"].keys() == {"x", "y", "z", "yaw", "pose"}
    X_WB = np.array(found["base"]["pose"])
    assert X_WB.shape == (4, 4) and (X_WB[:2, 3] == [found["base"]["x"], found["base"]["y"]]).all()
    assert found["reachable"] == found["total"] == 4 == len(found["joints"])
    targets = [pose((0.4, 0.1, 0.3), DOWN), *map(np.array, json.loads(poses.read_text())[1:])]
    assert solve_ik(load_robot("panda"), np.linalg.inv(X_WB) @ targets).found.all()


def test_place_ends_with_words(call: Any, maps: Path, tmp_path: Path) -> None:
    aim = {"quaternion_wxyz": [0, 1, 0, 0], "free": "tool-z", "angle_tolerance": 0.01}
    places = [[0.4, y, 0.4] for y in np.linspace(-0.2, 0.2, 5).tolist()] + [[0.4, 0.2, 9.0]]
    poses = written(tmp_path / "seam.json", [{"position": p, **aim} for p in places])
    table = {"boxes": [{"position": [0.4, 0, 0.1], "size": [0.3, 0.3, 0.02]}]}
    around = written(tmp_path / "table.json", table)
    words = ("--map", maps / "irm4.rmap", "--poses", poses, "--obstacles", around, "--continuous")
    done = call("reach", "place", *words)
    assert done.code == 0, done.err
    x, y, yaw = r"-?\d\.\d\d", r"-?\d\.\d\d", r"-?\d+"
    said = (
        rf"Put the base at \({x}, {y}\), {yaw} degrees: 5 of 6 poses \(not 5\), clearance \d+ mm, "
        r"joints \d+ degrees from their limits, one branch without a flip\."
    )
    assert re.search(said + "$", " ".join(done.out.split())), done.out


def test_schemas_have_the_keys_that_are_read() -> None:
    folder = Path(__file__).parents[2] / "docs" / "schemas"
    poses, around = (
        json.loads((folder / f"{name}.schema.json").read_text()) for name in ("poses", "obstacles")
    )
    keys = poses["$defs"]["pose"]["properties"]
    assert keys.keys() == {*POSE, FREE, *TOLERANCES}
    assert keys["free"]["enum"] == [str(axis) for axis in FreeAxis]
    assert {name: keys[name]["maximum"] for name in TOLERANCES} == TOLERANCES
    hints = get_type_hints(_ObstacleFile)
    assert around["properties"].keys() == hints.keys()
    for name in ("spheres", "boxes", "meshes"):
        shape = get_args(hints[name])[0]
        entry = around["properties"][name]["items"]
        assert entry["properties"].keys() == {each.name for each in fields(shape)}
        assert set(entry["required"]) == {e.name for e in fields(shape) if e.default is MISSING}


@pytest.mark.usefixtures("without_pictures")
def test_place_draws_what_it_found(call: Any, maps: Path, poses: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = ("--map", maps / "irm4.rmap", "--poses", poses, "--effort", "fast")
    box = {"position": [0.4, 2.0, 0.2], "size": [0.2, 0.2, 0.4]}
    scene = written(tmp_path / "scene.json", {"ground": True, "boxes": [box]})
    done = call("reach", "place", *words, "--obstacles", scene, "--out", out)
    assert done.code == 0, done.err
    assert f"report: {out / 'report.html'}" in done.out
    page = (out / "report.html").read_text()
    assert "The arm at every pose" in page and "obstacle 0" in page
    assert "rad" in page and "rad or m" not in page
    assert json.loads((out / "metrics.json").read_text())["rows"][0]["total"] == 4
    before = {path: path.stat().st_mtime_ns for path in (out / "runs").rglob("*")}
    assert call("reach", "place", *words, "--obstacles", scene, "--out", out).code == 0
    assert {path: path.stat().st_mtime_ns for path in (out / "runs").rglob("*")} == before
    assert call("report", out).code == 0 and call("runs", out, "--verify").code == 0
    assert "another run" in call("reach", "place", *words, "--out", out).err


@pytest.mark.usefixtures("without_pictures")
def test_slice_in_the_plane_and_on_a_slope(call: Any, maps: Path, tmp_path: Path) -> None:
    file = written(tmp_path / "pose.json", pose((0.4, 0.1, 0.4), DOWN).tolist())
    for kind, slope in (("irm3", ()), ("irm4", ("--plane-normal", "0.2", "0", "1"))):
        out = tmp_path / kind
        words = ("--map", maps / f"{kind}.rmap", "--pose", file, *slope, "--out", out)
        done = call("reach", "slice", *words, "--json", "-")
        assert done.code == 0, done.err
        assert done.json["reachable_points"] > 50
        headings = ("The slice in the world", "The slice in the tool frame")
        assert all(f"<h2>{heading}" in (out / "report.html").read_text() for heading in headings)
        assert np.load(out / "reach.npy").max() == pytest.approx(done.json["best"]["reach"])


@pytest.mark.usefixtures("without_pictures")
def test_a_base_follows(call: Any, maps: Path, tmp_path: Path) -> None:
    times = np.arange(0, 3, 0.1)
    way = [pose((0.3 * t, 0.5, 0.4), DOWN).tolist() for t in times]
    file = written(tmp_path / "way.json", {"times": times.tolist(), "poses": way})
    out = tmp_path / "out"
    words = ("--map", maps / "irm4.rmap", "--trajectory", file, "--out", out)
    done = call("reach", "follow", *words, "--json", "-")
    assert done.code == 0, done.err
    assert done.json["reached"] == done.json["poses"] == len(times)
    assert "Paths of base and tool" in (out / "report.html").read_text()
    assert done.json["drivable"] and done.json["violations"] == 0 and done.json["faults"] == []
    assert 0 < done.json["joint_speed_use"] <= 1 and done.json["plan_s"] > 0
    assert json.loads((out / "timing.json").read_text())["runs"][0]["plan_s"] > 0


def test_a_folder_of_release_0_1_is_refused_in_one_line(call: Any, tmp_path: Path) -> None:
    old = tmp_path / "place"
    old.mkdir()
    written(old / "placement.json", {"schema_version": 1, "reachable": 1, "total": 1})
    for words in (("report", old), ("resume", old), ("runs", old, "--verify")):
        done = call(*words)
        assert done.code == 2 and done.err.count("\n") == 1 and str(old) in done.err
    assert [path.name for path in old.iterdir()] == ["placement.json"]


@needs("linux")
def test_an_interrupted_build_goes_on_where_it_was(program: str, tmp_path: Path) -> None:
    words = [program, "reach", "build", "--robot", "panda", "--kind", "irm3", "--voxel", "0.06"]
    words += ["--poses", "40", "--self-collision", "--out", "m.rmap"]
    build = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    parts = tmp_path / "m.rmap.building"
    while build.poll() is None and len(list(parts.glob("shard-*"))) < 3:
        time.sleep(0.01)
    build.send_signal(signal.SIGINT)
    _, said = build.communicate(timeout=60)
    assert build.returncode == 130
    assert "resume with: kinetarium reach build" in said and "Traceback" not in said
    assert not (tmp_path / "m.rmap").exists()
    assert len(list(parts.glob("shard-*"))) >= 3
    again = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert again.returncode == 0, again.stderr
    assert "already done" in again.stderr
    verify_map(tmp_path / "m.rmap")
    assert [path.name for path in tmp_path.iterdir()] == ["m.rmap"]
    assert open_map(tmp_path / "m.rmap").recipe.poses == 40


def test_parts_are_built_by_processes_of_their_own(program: str, call: Any, tmp_path: Path) -> None:
    words = ["reach", "build", "--robot", "panda", "--kind", "irm3", "--voxel", "0.25"]
    words += ["--poses", "5", "--workers", "1", "--out", str(tmp_path / "m.rmap")]
    parts = [
        subprocess.Popen(
            [program, *words, "--part", f"{number}/2"], stdout=subprocess.PIPE, text=True
        )
        for number in (1, 2)
    ]
    said = [part.communicate(timeout=120)[0] for part in parts]
    assert [part.returncode for part in parts] == [0, 0]
    assert all(line.startswith(f"part {n}/2: ") for n, line in enumerate(said, start=1))
    again = call(*words, "--part", "2/2", "--json", "-")
    assert again.json == {"ok": True, "part": "2/2", "shards": {"there": 9, "total": 9}}
    assert "without --part joins them" in call(*words, "--part", "1/2").out
    assert call(*words, "--json", "-").json["voxels"] == 9**3
    verify_map(tmp_path / "m.rmap")
    other = call(*words, "--part", "1/2")
    assert other.out.startswith("part 1/2: 5 of 9 shards")
    assert call(*words, "--seed", "1", "--part", "1/2").code == 2


def test_help_lists_the_actions(call: Any) -> None:
    text = call("reach", "--help").out
    assert all(action in text for action in ("build", "info", "verify", "slice", "place", "follow"))
    assert "--plane-normal" in call("reach", "slice", "--help").out
    assert call("--help").out.count("reach") >= 1


def test_flags_of_all_commands_may_come_first(call: Any, maps: Path) -> None:
    assert call("reach", "--quiet", "verify", maps / "irm3.rmap") == (0, "", "")
