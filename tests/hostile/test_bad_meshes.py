"""Bad mesh files are refused with the right code, the file's name and, in text, the line."""

import os
import random
from pathlib import Path

import numpy as np
import pytest

from kinetarium import load_robot
from kinetarium.model import reading as reading_module
from kinetarium.model.assets import AssetResolver
from kinetarium.model.diagnostics import Code, Diagnostics, RobotFileError
from kinetarium.model.mesh import mesh as mesh_module
from kinetarium.model.mesh.mesh import load_mesh
from kinetarium.model.reading import Reading
from mesh_files import PLY, Gltf, binary_ply, tetrahedron

HEADER = b"a tetrahedron".ljust(80)


def binary_stl(corners: np.ndarray, *, count: int | None = None) -> bytes:
    facets = np.zeros(
        len(corners), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("_", "<u2")]
    )
    facets["corners"] = corners
    number = len(corners) if count is None else count
    return HEADER + number.to_bytes(4, "little") + facets.tobytes()


TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])[
    [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
]
STL = binary_stl(TETRAHEDRON)
FACET = (
    "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
)
TEXT_STL = f"solid one\n{FACET}{FACET}endsolid one\n"
OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
DAE = """<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="1"/></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array>
<technique_common><accessor source="#a" count="4" stride="3"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/>
<p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s">
<node id="n"><translate>0 0 1</translate><instance_geometry url="#g"/></node>
</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene>
</COLLADA>
"""
MOVE = "<translate>0 0 1</translate>"
SOUND = {
    ".stl": STL,
    ".obj": OBJ.encode(),
    ".dae": DAE.encode(),
    ".glb": tetrahedron().glb(),
    ".gltf": tetrahedron().text(),
    ".ply": PLY,
}
OTHERS = {
    ".text.stl": TEXT_STL.encode(),
    ".binary.ply": binary_ply(
        TETRAHEDRON.reshape(-1, 3), [[0, 1, 2], [3, 4, 5, 5], [6, 7, 8], [9, 10, 11]]
    ),
}


def spoilt(value: float) -> np.ndarray:
    corners = TETRAHEDRON.astype(float)
    corners[2, 1, 1] = value
    return corners


BAD_STL = {
    "empty": b"",
    "blank": b" \n",
    "not a mesh": b"\x89PNG\r\n\x1a\n" * 100,
    "header only": HEADER,
    "no facets": binary_stl(TETRAHEDRON[:0]),
    "one byte short": STL[:-1],
    "one facet short": STL[:-50],
    "one facet more than counted": STL + STL[-50:],
    "text after the facets": STL + b"and more",
    "too much padding": STL + b"\0" * 1025,
    "four thousand million facets": binary_stl(TETRAHEDRON, count=2**32 - 1),
    "a count in the other byte order": HEADER + (4).to_bytes(4, "big") + STL[84:],
    "NaN": binary_stl(spoilt(float("nan"))),
    "infinite": binary_stl(spoilt(float("inf"))),
    "absurdly far": binary_stl(spoilt(2e9)),
    "a point thrice": binary_stl(TETRAHEDRON[:, [0, 0, 0]]),
    "a line": binary_stl(np.array([[[0, 0, 0], [1, 0, 0], [2, 0, 0]]])),
}
BAD_TEXT_STL = {
    "no facets": ("solid\nendsolid\n", None),
    "no end": ("solid\n" + FACET, None),
    "two corners": (TEXT_STL.replace("vertex 1 0 0\n", "", 1), 6),
    "four corners": (TEXT_STL.replace("vertex 0 1 0\n", "vertex 0 1 0\nvertex 1 1 1\n"), 7),
    "no loop": (TEXT_STL.replace("outer loop\n", "", 1), 3),
    "a foreign word": (TEXT_STL.replace("endfacet", "color 1 0 0\nendfacet"), 8),
    "words after the end": (TEXT_STL + "vertex 0 0 0\n", 17),
    "two coordinates": (TEXT_STL.replace("vertex 1 0 0", "vertex 1 0"), 5),
    "NaN": (TEXT_STL.replace("vertex 1 0 0", "vertex 1 nan 0", 1), 5),
    "infinite": (TEXT_STL.replace("vertex 1 0 0", "vertex 1 0 1e999"), 5),
    "hexadecimal": (TEXT_STL.replace("vertex 1 0 0", "vertex 0x10 0 0"), 5),
    "comma": (TEXT_STL.replace("vertex 1 0 0", "vertex 1,0 0 0"), 5),
    "four coordinates": (TEXT_STL.replace("vertex 1 0 0", "vertex 1 0 0 0"), 5),
    "NUL bytes": (TEXT_STL.replace("vertex 1 0 0", "vertex 1 0\0 0"), 5),
    "glued": (TEXT_STL.replace("vertex 1 0 0", "vertex1 0 0"), 5),
}
BAD_OBJ = {
    "empty": ("", None),
    "prose": ("Call me Ishmael.\n", None),
    "NUL bytes": (OBJ + "\0", 9),
    "no faces": (OBJ[: OBJ.index("f")], None),
    "no vertices": (OBJ[OBJ.index("f") :], 1),
    "NaN": (OBJ.replace("v 1 0 0", "v 1 nan 0"), 2),
    "infinite": (OBJ.replace("v 1 0 0", "v -inf 0 0"), 2),
    "absurdly far": (OBJ.replace("v 1 0 0", "v 1e10 0 0"), 2),
    "two coordinates": (OBJ.replace("v 1 0 0", "v 1 0"), 2),
    "a vertex of nothing": (OBJ.replace("v 1 0 0", "v"), 2),
    "numbers moved over a line": (OBJ.replace("v 1 0 0\nv 0 1 0", "v 1 0\nv 0 0 1 0"), 2),
    "words for numbers": (OBJ.replace("v 1 0 0", "v one 0 0"), 2),
    "index too large": (OBJ.replace("f 1 4 3", "f 1 5 3"), 7),
    "index zero": (OBJ.replace("f 1 4 3", "f 1 0 3"), 7),
    "index too negative": (OBJ.replace("f 1 4 3", "f 1 -5 3"), 7),
    "index beyond 64 bits": (OBJ.replace("f 1 4 3", "f 1 99999999999999999999 3"), 7),
    "index with a fraction": (OBJ.replace("f 1 4 3", "f 1 1.5 3"), 7),
    "index without a vertex": (OBJ.replace("f 1 4 3", "f 1 /4 3 x"), 7),
    "a face of one corner": (OBJ.replace("f 1 4 3", "f 1"), 7),
    "a face of nothing": (OBJ.replace("f 1 4 3", "f"), 7),
    "no area": (OBJ[: OBJ.index("f")] + "f 1 1 1\n", None),
    "cut inside its last face": (OBJ + "f 1 4", None),
    "continued into nothing": (OBJ + "f 1 2 \\\n", None),
    "only edges": ("v 0 0 0\nv 1 0 0\nf 1 2\n", None),
}
BAD_DAE = {
    "empty": (DAE, "", None),
    "not XML": (DAE, "solid\n", 1),
    "trailing": ("</COLLADA>", "</COLLADA><x/>", 15),
    "entity": ("<COLLADA", '<!DOCTYPE x [<!ENTITY e "1">]><COLLADA', 2),
    "another encoding": ("utf-8", "utf-16", 1),
    "deep": ("<library_visual", "<x>" * 200 + "</x>" * 200 + "<library_visual", 11),
    "another root": ("COLLADA", "collada", 2),
    "unit zero": ('meter="1"', 'meter="0"', 3),
    "unit negative": ('meter="1"', 'meter="-1"', 3),
    "unit NaN": ('meter="1"', 'meter="nan"', 3),
    "unit huge": ('meter="1"', 'meter="1e300"', None),
    "no mesh": ("mesh>", "spline>", 4),
    "array too short": (" 0 0 1</float_array>", " 0 0</float_array>", 5),
    "array of words": ("1 0 0 0 1 0", "1 0 0 zero 1 0", 5),
    "array with NaN": ("1 0 0 0 1 0", "1 0 0 nan 1 0", 5),
    "array absurdly far": ("1 0 0 0 1 0", "1 0 0 1e10 1 0", 5),
    "array count huge": ('"12"', '"999999999"', 5),
    "array count beyond all": ('"12"', f'"{"9" * 5000}"', 5),
    "accessor beyond its array": ('count="4" stride', 'count="5" stride', 6),
    "accessor with an offset beyond": ('stride="3"', 'stride="3" offset="1"', 6),
    "accessor of stride two": ('stride="3"', 'stride="2"', 6),
    "accessor of nothing": ('source="#a"', 'source="#b"', 6),
    "accessor into another file": ('source="#a"', 'source="other.dae#a"', 6),
    "source of another kind": ('source="#p"', 'source="#g"', 7),
    "no POSITION": ("POSITION", "NORMAL", 7),
    "no VERTEX": ("VERTEX", "NORMAL", 8),
    "no offset": (' offset="0"', "", 8),
    "offset negative": ('offset="0"', 'offset="-1"', 8),
    "offset huge": ('offset="0"', 'offset="999999999"', 8),
    "more triangles than indices": ('triangles count="4"', 'triangles count="5"', 8),
    "fewer triangles than indices": ('triangles count="4"', 'triangles count="3"', 8),
    "count huge": ('triangles count="4"', 'triangles count="999999999"', 8),
    "count missing": ('triangles count="4"', "triangles", 8),
    "index too large": ("1 2 3</p>", "1 2 4</p>", 8),
    "index negative": ("1 2 3</p>", "1 2 -1</p>", 8),
    "index beyond 64 bits": ("1 2 3</p>", "1 2 99999999999999999999</p>", 8),
    "index with a fraction": ("1 2 3</p>", "1 2 3.5</p>", 9),
    "polylist without vcount": ("triangles", "polylist", 8),
    "polylist whose counts wrap around": (
        '<triangles count="4"><input', '<polylist count="4"><vcount>9223372036854775807 '
        '9223372036854775807 7 7</vcount></polylist><triangles count="4"><input', 8,
    ),
    "polygons in one": ("triangles", "polygons", 8),
    "strips": ("triangles", "tristrips", 8),
    "no scene": ("<scene>", "<library>", 14),
    "scene of nothing": ("#s", "#t", 14),
    "scene without nodes": ("node", "bone", None),
    "geometry of nothing": ('url="#g"', 'url="#h"', 12),
    "node within itself": ("<translate>", '<instance_node url="#n"/><translate>', 12),
    "matrix of 15": (MOVE, f"<matrix>{'1 ' * 15}</matrix>", 12),
    "matrix with perspective": (MOVE, f"<matrix>{'1 ' * 16}</matrix>", 12),
    "rotation about nothing": (MOVE, "<rotate>0 0 0 90</rotate>", 12),
    "translation infinite": (MOVE, "<translate>0 inf 1</translate>", 12),
    "scale zero": (MOVE, "<scale>0 0 0</scale>", None),
    "matrix zero": (MOVE, f"<matrix>{'0 ' * 15}1</matrix>", None),
    "unknown axis": ("<asset>", "<asset><up_axis>Q_UP</up_axis>", 3),
    "scale overflowing": (MOVE, "<scale>1e200 1e200 1e200</scale>" * 2, None),
    "skewed": (MOVE, "<skew>45 1 0 0 0 1 0</skew>", 12),
    "a skin": ("<instance_geometry", '<instance_controller url="#x"/><instance_geometry', 12),
}  # fmt: skip


def refusal(path: Path) -> tuple[Code, str]:
    with pytest.raises(RobotFileError) as caught:
        load_mesh(path, diagnostics=Diagnostics("robot.urdf"), line=77)
    (only,) = caught.value.refusals
    assert (only.file, only.line) == ("robot.urdf", 77)
    assert path.name in only.message
    return only.code, only.message


def assert_broken(path: Path, data: bytes | str, line: int | None = None) -> None:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    code, message = refusal(path)
    assert code is Code.MESH_BROKEN
    assert ("at its line" in message) == (line is not None)
    if line is not None:
        assert message.endswith(f"at its line {line}")


def load_or_refuse(path: Path) -> None:
    """Nothing but a mesh or the gate's own refusal comes of a file."""
    try:
        mesh = load_mesh(path, diagnostics=Diagnostics("robot.urdf"))
    except RobotFileError as error:
        assert error.refusals[0].code in (Code.MESH_BROKEN, Code.TOO_LARGE)
    else:
        assert np.isfinite(mesh.vertices).all() and mesh.faces.max() < len(mesh.vertices)


@pytest.mark.parametrize("suffix", SOUND)
def test_the_sound_ones_load(tmp_path, suffix):
    (tmp_path / f"a{suffix}").write_bytes(SOUND[suffix])
    assert len(load_mesh(tmp_path / f"a{suffix}", diagnostics=Diagnostics("x")).faces) == 4


@pytest.mark.parametrize("name", BAD_STL)
def test_bad_binary_stl(tmp_path, name):
    assert_broken(tmp_path / "a.stl", BAD_STL[name])


@pytest.mark.parametrize("name", BAD_TEXT_STL)
def test_bad_text_stl(tmp_path, name):
    text, line = BAD_TEXT_STL[name]
    assert_broken(tmp_path / "a.stl", text, line)


@pytest.mark.parametrize("name", BAD_OBJ)
def test_bad_obj(tmp_path, name):
    text, line = BAD_OBJ[name]
    assert_broken(tmp_path / "a.obj", text, line)


@pytest.mark.parametrize("name", BAD_DAE)
def test_bad_dae(tmp_path, name):
    old, new, line = BAD_DAE[name]
    assert old in DAE
    assert_broken(tmp_path / "a.dae", DAE.replace(old, new), line)


def test_billions_of_instances(tmp_path):
    nodes = "".join(
        f'<node id="n{i}">' + f'<instance_node url="#n{i + 1}"/>' * 10 + "</node>"
        for i in range(30)
    )
    last = '<node id="n30"><instance_geometry url="#g"/></node>'
    text = DAE.replace(
        "<library_visual", f"<library_nodes>{nodes}{last}</library_nodes><library_visual", 1
    )
    text = text.replace(
        '<instance_geometry url="#g"/></node>\n', '<instance_node url="#n0"/></node>\n'
    )
    (tmp_path / "a.dae").write_text(text)
    code, message = refusal(tmp_path / "a.dae")
    assert code is Code.MESH_BROKEN and "20,000" in message


def points_only(nodes: int) -> Gltf:
    """Nodes that show as many primitives each, all of them points."""
    file = tetrahedron()
    mesh = file.mesh(*[{"attributes": {"POSITION": 0}, "mode": 0}] * nodes)
    return file.scene(*(file.node(mesh=mesh) for _ in range(nodes)))


def with_float_indices() -> Gltf:
    file = tetrahedron()
    faces = file.array(np.array([0.0, 2.7, 1.0]), "<f4")
    mesh = file.mesh({"attributes": {"POSITION": 0}, "indices": faces})
    return file.scene(file.node(mesh=mesh))


def overflowing() -> Gltf:
    file = tetrahedron()
    inner = file.node(mesh=0, scale=[1e200] * 3)
    return file.scene(file.node(children=[inner], scale=[1e200] * 3))


@pytest.mark.parametrize(
    ("suffix", "data", "reason"),
    [
        (".gltf", points_only(200).text(), "20,000"),
        (".gltf", with_float_indices().text(), "whole numbers"),
        (".gltf", overflowing().text(), "not finite"),
        (".ply", PLY.replace(b"3 0 2 1", b"3 0 2.5 1"), "whole numbers"),
        (".ply", PLY.replace(b"3 0 2 1", b"3 0 nan 1"), "whole numbers"),
    ],
)
def test_bad_gltf_and_ply(tmp_path, suffix, data, reason):
    assert data != PLY
    path = tmp_path / f"a{suffix}"
    path.write_bytes(data)
    code, message = refusal(path)
    assert code is Code.MESH_BROKEN and reason in message


@pytest.mark.parametrize(
    ("suffix", "data"),
    [
        (".obj", b"v 0 0 0\nf" + b" 1" * 1_000_003),
        (".obj", b"v 0 0 0\n" + b"f 1 1\n" * 1_000_001),
        (".stl", HEADER + (1_000_001).to_bytes(4, "little") + bytes(50 * 1_000_001)),
    ],
)
def test_a_million_triangles_are_the_most(tmp_path, monkeypatch, suffix, data):
    monkeypatch.setattr(mesh_module, "MOST_BYTES", 2**26)
    path = tmp_path / f"a{suffix}"
    path.write_bytes(data)
    code, message = refusal(path)
    assert code is Code.MESH_BROKEN and "1,000,000" in message


@pytest.mark.parametrize("suffix", SOUND)
@pytest.mark.parametrize(
    ("data", "reason", "remedy"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS", "git lfs pull"),
        (b"<!DOCTYPE html>\n<html>" + b"x" * 300, "HTML", "download"),
        (b"<html>404</html>", "HTML", "download"),
    ],
)
def test_stand_ins_are_called_by_their_name(tmp_path, suffix, data, reason, remedy):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(data)
    with pytest.raises(RobotFileError, match=reason) as caught:
        load_mesh(path, diagnostics=Diagnostics("robot.urdf"))
    assert remedy in caught.value.refusals[0].remedy


@pytest.mark.parametrize("data", [b"prose " * 100, TEXT_STL.encode("utf-16"), b"hello"])
def test_what_is_no_stl_is_not_counted_in_facets(tmp_path, data):
    path = tmp_path / "a.stl"
    path.write_bytes(data)
    assert "it is not an STL file" in refusal(path)[1]


def reading(folder: Path) -> Reading:
    diagnostics = Diagnostics("robot.urdf")
    return Reading(
        folder / "robot.urdf", diagnostics, AssetResolver(folder, diagnostics=diagnostics)
    )


def test_the_meshes_of_a_robot_share_a_budget(tmp_path, monkeypatch):
    paths = [tmp_path / f"{i}.stl" for i in range(4)]
    for path in paths:
        path.write_bytes(STL)
    for name, most in (("MOST_TRIANGLES", 12), ("MOST_MESH_BYTES", 3 * len(STL))):
        with monkeypatch.context() as patch:
            patch.setattr(reading_module, name, most)
            robot = reading(tmp_path)
            for path in paths[:3] * 2:
                np.testing.assert_array_equal(robot.mesh_bounds(path, line=1), [[0] * 3, [1] * 3])
            with pytest.raises(RobotFileError) as caught:
                robot.mesh_bounds(paths[3], line=8)
            (only,) = caught.value.refusals
            assert (only.code, only.line) == (Code.TOO_LARGE, 8)


def test_a_robot_reads_a_mesh_once_whatever_is_cached(tmp_path, monkeypatch):
    (tmp_path / "a.stl").write_bytes(STL)
    robot = reading(tmp_path)
    robot.mesh_bounds(tmp_path / "a.stl", line=1)
    monkeypatch.setattr(reading_module, "mesh_extent", None)
    robot.mesh_bounds(tmp_path / "a.stl", line=2)


def test_broken_meshes_use_up_the_budget(tmp_path, monkeypatch):
    monkeypatch.setattr(reading_module, "MOST_MESH_BYTES", 5 * len(STL))
    path = tmp_path / "a.stl"
    path.write_bytes(STL[:-1])
    robot, codes = reading(tmp_path), []
    for _ in range(3):
        with pytest.raises(RobotFileError) as caught:
            robot.mesh_bounds(path, line=1)
        codes.append(caught.value.refusals[0].code)
    assert codes == [Code.MESH_BROKEN, Code.MESH_BROKEN, Code.TOO_LARGE]


@pytest.mark.parametrize("scale", ["1 1e-320 1", "1e-300 1e-300 1e-300", "1e-10 1e-10 1e-10",
                                   "1e12 1 1", "0 1 1"])  # fmt: skip
def test_a_scale_that_leaves_no_size_or_an_absurd_one(tmp_path, scale):
    (tmp_path / "a.stl").write_bytes(STL)
    (tmp_path / "a.urdf").write_text(
        '<robot name="r"><link name="a"><visual><geometry>'
        f'<mesh filename="a.stl" scale="{scale}"/></geometry></visual></link></robot>'
    )
    with pytest.raises(RobotFileError) as caught:
        load_robot(tmp_path / "a.urdf")
    assert caught.value.refusals[0].code is Code.SIZE


@pytest.mark.parametrize("suffix", SOUND)
def test_every_truncation(tmp_path, suffix):
    data = SOUND[suffix]
    path = tmp_path / f"a{suffix}"
    for length in range(0, len(data), 3):
        path.write_bytes(data[:length])
        if suffix == ".obj":  # a shorter list of faces is a sound file too
            load_or_refuse(path)
        elif data[length:].strip():
            assert refusal(path)[0] is Code.MESH_BROKEN


@pytest.mark.parametrize("suffix", [*SOUND, *OTHERS])
def test_mutants(tmp_path, suffix):
    chance = random.Random(suffix)
    data = {**SOUND, **OTHERS}[suffix]
    path = tmp_path / f"a{suffix}"
    for _ in range(150):
        mutant = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(mutant))
            kind = chance.randrange(3)
            if kind == 0:
                mutant[place] = chance.randrange(256)
            elif kind == 1:
                del mutant[place : place + chance.randint(1, 20)]
            else:
                piece = chance.choice([b"-", b"9" * 20, b"nan", b"\0", b"\n", b"1e400", b"<", b" "])
                mutant[place:place] = piece
        path.write_bytes(mutant)
        load_or_refuse(path)


@pytest.mark.parametrize("suffix", SOUND)
def test_what_is_no_regular_file(tmp_path, suffix):
    folder, pipe, zero = (tmp_path / f"{name}{suffix}" for name in ("folder", "pipe", "zero"))
    folder.mkdir()
    os.mkfifo(pipe)
    zero.symlink_to("/dev/zero")
    for path in (folder, pipe, zero):
        assert refusal(path)[0] is Code.MESH_BROKEN
    for uri in (folder.name, pipe.name, zero.name):
        with pytest.raises(RobotFileError) as caught:
            AssetResolver(tmp_path, diagnostics=Diagnostics("robot.urdf")).mesh(uri, line=1)
        expected = Code.MESH_OUTSIDE if uri == zero.name else Code.MESH_BROKEN
        assert caught.value.refusals[0].code is expected


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    (tmp_path / "robot").mkdir()
    (tmp_path / "secret.stl").write_bytes(STL)
    (tmp_path / "robot/a.stl").symlink_to("../secret.stl")
    with pytest.raises(RobotFileError) as caught:
        AssetResolver(tmp_path / "robot", diagnostics=Diagnostics("robot.urdf")).mesh(
            "a.stl", line=1
        )
    assert caught.value.refusals[0].code is Code.MESH_OUTSIDE


def test_unreadable_and_too_large(tmp_path, monkeypatch):
    huge = tmp_path / "huge.stl"
    with huge.open("wb") as file:
        file.truncate(2**40)
    assert refusal(huge)[0] is Code.TOO_LARGE
    with huge.open("wb") as file:
        file.truncate(32 * 2**20 + 1)
    assert refusal(huge)[0] is Code.TOO_LARGE
    assert refusal(tmp_path / "nothing.stl")[0] is Code.MESH_MISSING
    (tmp_path / "loop.stl").symlink_to("loop.stl")
    assert refusal(tmp_path / "loop.stl")[0] is Code.MESH_MISSING
