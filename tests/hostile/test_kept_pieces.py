"""Convex pieces kept with maps and in the user's cache: not computed again, and not trusted."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kinetarium import load_robot
from kinetarium.dynamics.chain import SerialChain, serial_chain
from kinetarium.model.robot import Box, Geometry
from kinetarium.reach import MapFileError, Obstacles, build_map, open_map, verify_map
from kinetarium.reach.collision import kept_pieces as kept
from kinetarium.reach.collision.pieces import body_pieces
from kinetarium.reach.placement.query import Placer
from kinetarium.spatial.rotation import pose

TETRAHEDRON = """v {a} 0 0
v -{a} {a} 0
v -{a} -{a} 0
v 0 0 {b}
f 1 3 2
f 1 2 4
f 2 3 4
f 3 1 4
"""
JOINT = """
<link name="l{n}"><collision><geometry><mesh filename="part.obj"/></geometry></collision>
<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
</link>
<joint name="j{n}" type="revolute"><parent link="l{m}"/><child link="l{n}"/>
<origin xyz="0 0 0.3"/><axis xyz="{axis}"/><limit lower="-2" upper="2" effort="1" velocity="1"/>
</joint>"""
TABLE = Obstacles((Geometry(Box((0.4, 0.4, 0.1)), pose((0.9, 0.0, 0.2))),), ground=True)


def write_mesh(folder: Path, size: float) -> None:
    (folder / "part.obj").write_text(TETRAHEDRON.format(a=size, b=0.25))


@pytest.fixture
def robot_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An arm of six joints and seven meshes, and an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_mesh(tmp_path, 0.05)
    axes = ["0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "0 0 1"]
    joints = [JOINT.format(n=n + 1, m=n, axis=axis) for n, axis in enumerate(axes)]
    file = tmp_path / "arm.urdf"
    file.write_text(f'<robot name="arm"><link name="l0"/>{"".join(joints)}</robot>')
    return file


def chain_of(file: Path) -> SerialChain:
    return serial_chain(load_robot(str(file)))


def build(file: Path, **words: object) -> Path:
    out = file.parent / "arm.rmap"
    build_map(load_robot(str(file)), out, voxel=0.4, poses=1, **words)
    return out


def forbid_computing(monkeypatch: pytest.MonkeyPatch) -> None:
    def compute(*_: object, **__: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr(kept, "body_pieces", compute)


def test_a_map_brings_the_pieces_of_its_arm(
    robot_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    map_path = build(robot_file)
    shutil.rmtree(robot_file.parent / "cache")
    forbid_computing(monkeypatch)
    placer = Placer(open_map(map_path), obstacles=TABLE)
    expected = body_pieces(placer.arm.chain)
    for name, values in placer.arm.pieces._asdict().items():
        assert np.array_equal(values, getattr(expected, name)), name


def test_a_map_without_pieces_still_serves_and_they_are_computed_once(
    robot_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    map_path = build(robot_file)
    poses = np.array([pose((0.5, 0.1, 0.9)), pose((0.4, -0.2, 1.0))])
    expected = Placer(open_map(map_path), obstacles=TABLE).place(poses)
    (map_path / "pieces.bin").unlink()
    manifest = map_path / "manifest.json"
    data = json.loads(manifest.read_text())
    for name in ("pieces", "sha256_of_all_above"):
        data.pop(name)
    manifest.write_text(json.dumps(data | {"schema_version": 1}))
    verify_map(map_path)
    shutil.rmtree(robot_file.parent / "cache")
    for _ in range(2):
        found = Placer(open_map(map_path), obstacles=TABLE).place(poses)
        assert np.array_equal(found.X_WB, expected.X_WB)
        assert np.array_equal(found.joints, expected.joints, equal_nan=True)
        forbid_computing(monkeypatch)


def test_other_obstacles_do_not_need_another_placer(
    robot_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = open_map(build(robot_file))
    whole, alone = Placer(opened, obstacles=TABLE), Placer(opened)
    forbid_computing(monkeypatch)
    for a, b in zip(alone.among(TABLE).scene.in_plane, whole.scene.in_plane, strict=True):
        assert np.array_equal(a, b)
    assert len(alone.scene.in_plane.pairs) < len(whole.scene.in_plane.pairs)


def test_a_changed_mesh_is_noticed(robot_file: Path) -> None:
    map_path = build(robot_file)
    write_mesh(robot_file.parent, 0.06)
    with pytest.raises(MapFileError, match="other collision shapes"):
        Placer(open_map(map_path))


def test_a_map_of_kinematics_alone_gets_the_pieces_of_the_changed_mesh(robot_file: Path) -> None:
    map_path = build(robot_file, self_collision=False)
    write_mesh(robot_file.parent, 0.06)
    placer = Placer(open_map(map_path), obstacles=TABLE)
    assert np.array_equal(placer.arm.pieces.corners, body_pieces(placer.arm.chain).corners)


def test_the_digest_does_not_depend_on_where_the_files_are(
    robot_file: Path, tmp_path: Path
) -> None:
    shutil.copytree(tmp_path, tmp_path / "elsewhere", ignore=shutil.ignore_patterns("cache"))
    other = chain_of(tmp_path / "elsewhere" / "arm.urdf")
    assert kept.pieces_digest(chain_of(robot_file)) == kept.pieces_digest(other)


def test_verify_names_changed_and_missing_pieces(robot_file: Path) -> None:
    map_path = build(robot_file)
    file = map_path / "pieces.bin"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(MapFileError, match=r"pieces\.bin' has changed"):
        verify_map(map_path)
    with pytest.raises(MapFileError, match=r"pieces\.bin': the pieces have changed"):
        Placer(open_map(map_path))
    file.unlink()
    with pytest.raises(MapFileError, match=r"cannot read .*pieces\.bin"):
        verify_map(map_path)


def test_a_broken_file_in_the_cache_is_made_again(robot_file: Path, tmp_path: Path) -> None:
    chain = chain_of(robot_file)
    pieces = kept.kept_pieces(chain)
    [file] = (tmp_path / "cache" / "kinetarium" / "pieces").iterdir()
    good = file.read_bytes()
    file.write_bytes(good[:100])
    assert np.array_equal(kept.kept_pieces(chain).corners, pieces.corners)
    assert file.read_bytes() == good


@pytest.mark.parametrize("name", ["cluster_starts", "body_starts", "frames", "pairs", "sizes"])
@pytest.mark.parametrize("value", [-1, 10**6])
def test_indices_outside_the_arrays_are_refused(robot_file: Path, name: str, value: int) -> None:
    chain = chain_of(robot_file)
    pieces = kept.kept_pieces(chain)
    for place in range(getattr(pieces, name).shape[0]):
        changed = getattr(pieces, name).copy()
        changed[(place, 8) if name == "sizes" else place] = value
        data = kept.pieces_file(pieces._replace(**{name: changed}))
        with pytest.raises(kept.PiecesFileError, match="do not fit"):
            kept.parse_pieces(data, chain)


def test_numbers_that_are_not_finite_and_other_shapes_are_refused(robot_file: Path) -> None:
    chain = chain_of(robot_file)
    pieces = kept.kept_pieces(chain)
    sound = kept.parse_pieces(kept.pieces_file(pieces), chain)
    assert all(np.array_equal(a, b) for a, b in zip(sound, pieces, strict=True))
    holes = pieces.places.copy()
    holes[0, 0, 0] = np.nan
    for other in (
        pieces._replace(places=holes),
        pieces._replace(apart=pieces.apart[1:]),
        pieces._replace(spans=pieces.spans[:-1]),
        pieces._replace(pairs=pieces.pairs.T.copy()),
    ):
        with pytest.raises(kept.PiecesFileError, match="do not fit"):
            kept.parse_pieces(kept.pieces_file(other), chain)
    for data in (b"", b"{}\n", kept.pieces_file(pieces)[:-1]):
        with pytest.raises(kept.PiecesFileError):
            kept.parse_pieces(data, chain)
