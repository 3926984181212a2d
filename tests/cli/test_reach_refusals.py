"""What `kinetarium reach` refuses: one line, exit code 2, nothing written."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinetarium import load_robot
from kinetarium.reach import build_map
from kinetarium.spatial.rotation import pose

DOWN = np.diag([1.0, -1.0, -1.0])
SIGHT = pose((0.4, 0.0, 0.4), DOWN).tolist()
AIM = {"position": [0.4, 0.0, 0.4], "quaternion_wxyz": [0, 1, 0, 0]}
FAR = pose((0.4, 0.0, 9.0), DOWN).tolist()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound")
    robot = load_robot("panda")
    build_map(robot, folder / "p.rmap", kind="irm4", voxel=0.25, poses=2)
    build_map(robot, folder / "c.rmap", kind="capability", voxel=0.5, poses=1)
    return folder


@pytest.fixture
def here(sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a map, poses and robots, in which the command is called."""
    shutil.copytree(sound, tmp_path, dirs_exist_ok=True)
    files = {
        "sight.json": [SIGHT],
        "far.json": [FAR],
        "none.json": [],
        "two.json": [SIGHT, SIGHT],
        "half.json": [{"position": [0, 0, 0]}],
        "way.json": {"times": [0.0, 0.1], "poses": [SIGHT, SIGHT]},
        "far-way.json": {"times": [0.0, 0.1], "poses": [FAR, FAR]},
        "back.json": {"times": [0.1, 0.0], "poses": [SIGHT, SIGHT]},
        "cage.json": {"boxes": [{"position": [0, 0, 0.05], "size": [9, 9, 0.1]}]},
        "walls.json": {"walls": []},
        "leg.json": {"boxes": [{"position": [0, 0, 0], "size": [1, 1, 0]}]},
        "spin.json": [AIM, AIM | {"free": "tool-x"}],
        "loose.json": [AIM | {"angle_tolerance": "5deg"}],
        "wide.json": [AIM | {"position_tolerance": -1}],
        "typo.json": [AIM | {"tolerance": 0.1}],
    }
    for name, data in files.items():
        (tmp_path / name).write_text(json.dumps(data))
    (tmp_path / "nan.json").write_text(json.dumps([SIGHT]).replace("0.4", "NaN"))
    (tmp_path / "big.json").write_text(json.dumps([SIGHT]).replace("0.4", "1e999"))
    (tmp_path / "broken.urdf").write_text("<robot name='x'><link")
    shutil.copytree(tmp_path / "p.rmap", tmp_path / "torn.rmap")
    field = tmp_path / "torn.rmap" / "reach.npy"
    field.write_bytes(field.read_bytes()[:-1])
    shutil.copytree(tmp_path / "p.rmap", tmp_path / "flipped.rmap")
    field = tmp_path / "flipped.rmap" / "reach.npy"
    field.write_bytes(field.read_bytes()[:-1] + b"\x07")
    shutil.copytree(tmp_path / "p.rmap", tmp_path / "other.rmap")
    manifest = tmp_path / "other.rmap" / "manifest.json"
    # As of release 0.1, which sealed none.
    manifest.write_text(manifest.read_text().replace('"schema_version": 2', '"schema_version": 1'))
    digest = json.loads(manifest.read_text())["recipe"]["robot_sha256"]
    manifest.write_text(manifest.read_text().replace(digest, "0" * 64))
    (tmp_path / "foreign.rmap").mkdir()
    (tmp_path / "foreign.rmap" / "data.h5").write_bytes(b"\x89HDF")
    monkeypatch.chdir(tmp_path)
    return tmp_path


PLACE = "place --map p.rmap --poses"
SLICE = "slice --out new --map p.rmap --pose"
FOLLOW = "follow --out new --map p.rmap --trajectory"
BUILD = "build --out new.rmap --robot"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        # A pose that cannot be reached.
        (f"{PLACE} far.json --out new", "no base in the plane"),
        (f"{SLICE} far.json", "no base in the plane"),
        (f"{FOLLOW} far-way.json", "no base in the plane"),
        (f"{PLACE} sight.json --obstacles cage.json", "no base in the plane"),
        # A robot without a chain to the tool.
        (f"{BUILD} husky4", "no arm"),
        (f"{BUILD} panda --tool panda_link9", "panda_link9"),
        (f"{BUILD} panda --tool panda_rightfinger", "follows"),
        (f"{BUILD} panda --base-link panda_hand --tool panda_link3", "no chain"),
        (f"{BUILD} nobody", "nobody"),
        (f"{BUILD} broken.urdf", "broken.urdf"),
        # An invalid pose.
        (f"{PLACE} nan.json --out new", "NaN"),
        (f"{PLACE} big.json", "finite"),
        (f"{PLACE} none.json", "poses"),
        (f"{PLACE} half.json", "quaternion_wxyz"),
        (f"{PLACE} nowhere.json", "nowhere.json"),
        (f"{SLICE} nan.json", "NaN"),
        (f"{SLICE} two.json", "4 x 4"),
        (f"{FOLLOW} back.json", "increase"),
        (f"{FOLLOW} sight.json", "times"),
        # A map that is corrupted, foreign or not there.
        ("verify torn.rmap", "does not match its manifest"),
        ("verify flipped.rmap", "changed"),
        ("info foreign.rmap --report new", "manifest.json"),
        ("verify nowhere.rmap", "nowhere.rmap"),
        ("place --map torn.rmap --poses sight.json --out new", "does not match its manifest"),
        ("slice --map foreign.rmap --pose sight.json --out new", "manifest.json"),
        ("build --robot panda --voxel 0.5 --out foreign.rmap", "not a map"),
        # A map of another robot file, or of another kind.
        ("place --map other.rmap --poses sight.json --out new", "another file"),
        ("place --map p.rmap --poses sight.json --robot ur5 --out new", "another file"),
        ("place --map c.rmap --poses sight.json --out new", "capability"),
        ("slice --map c.rmap --pose sight.json --out new", "capability"),
        # Numbers and words that make no sense.
        (f"{BUILD} panda --voxel 1e-9", "voxel"),
        (f"{BUILD} panda --voxel -1", "voxel"),
        (f"{BUILD} panda --poses -1", "poses"),
        (f"{BUILD} panda --seed -1", "seed"),
        (f"{BUILD} panda --workers 0", "workers"),
        (f"{BUILD} panda --radius nan", "radius"),
        *(
            (f"{BUILD} panda --part {part}", "K/N")
            for part in ("2", "a/b", "-1/2", "1/2/3", "1.5/2")
        ),
        *(
            (f"{BUILD} panda --part {part}", "is invalid")
            for part in ("0/2", "3/2", "0/0", "1/999999")
        ),
        (f"{BUILD} panda --kind irm5", "irm5"),
        ("build --robot panda --voxel 0.5 --out no/where.rmap", "not a folder"),
        (f"{PLACE} sight.json --effort lazy", "lazy"),
        (f"{PLACE} sight.json --objective beauty", "beauty"),
        (f"{PLACE} sight.json --plane-normal 1 0 0", "point up"),
        (f"{PLACE} sight.json --plane-height nan", "nan is outside"),
        (f"{PLACE} sight.json --obstacles walls.json", "walls"),
        (f"{PLACE} sight.json --obstacles leg.json", "a box has an invalid size"),
        (f"{PLACE} sight.json --objective clearance", "needs obstacles"),
        (f"{PLACE} sight.json --free tool-x", "tool-x"),
        (f"{PLACE} sight.json --continuous --tool-speed 0", "tool-speed"),
        (f"{PLACE} spin.json", 'pose 1: free must be "tool-z"'),
        (f"{PLACE} loose.json", "pose 0: angle_tolerance must be a number from 0 to 3.14 rad"),
        (f"{PLACE} wide.json", "pose 0: position_tolerance must be a number from 0 to 1 m"),
        (f"{PLACE} typo.json", "pose 0: unknown key 'tolerance'; choose from position"),
        # Robots without an arm, or with several.
        (f"{BUILD} husky4", "husky4 has no arm"),
        (f"{BUILD} panda --arm left", "left"),
        (f"{PLACE} sight.json --out foreign.rmap", "data.h5"),
        (f"{FOLLOW} way.json --speed -1", "m/s"),
        ("compare --out new --sets 0", "sets"),
        ("compare --out new --sets 1 --seed -1", "seed"),
        ("compare --out foreign.rmap --sets 1", "data.h5"),
        ("info", "one map"),
        ("verify p.rmap --map p.rmap", "one map"),
        ("bild --robot panda", "did you mean 'build'"),
        ("build --robt panda", "--robt"),
        ("", "expected"),
    ],
)
def test_one_line_and_nothing_written(line: str, said: str, call: Any, here: Path) -> None:
    before = sorted(str(path) for path in here.rglob("*"))
    done = call("reach", *line.split())
    assert done.code == 2, done
    assert said in done.err
    assert done.err.count("\n") == 1 and "Traceback" not in done.err and "internal" not in done.err
    assert done.out == ""
    assert sorted(str(path) for path in here.rglob("*")) == before
