from pathlib import Path

import numpy as np
import pytest

from kinetarium.model.diagnostics import Code, Diagnostics, RobotFileError
from kinetarium.model.mesh import mesh as mesh_module
from kinetarium.model.mesh.formats import stl_bytes
from kinetarium.model.mesh.mesh import load_mesh, mesh_extent, mesh_of
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import Box, MeshData, MeshFile, TriangleMesh
from needs import public

CUBE = triangulate(Box((2.0, 4.0, 6.0)))

OBJ_CUBE = b"""# a cube of quads
mtllib does_not_exist.mtl
o cube
v -1 -2 -3
v 1 -2 -3 1.0
v 1 2 -3 0.5 0.5 0.5
v -1 2 -3
v -1 -2 3   # with a comment
v 1 -2 3\t
\tv 1 2 3
v -1 2 3\r
vn 0 0 1
vt 0 0
usemtl steel
f 4 3 2 1
f 5/1 6/1 7/1 8/1
f 1//1 2//1 6//1 5//1
f 2/1/1 3/1/1 7/1/1 6/1/1
f -6 -5 -1 -2
f 1 5 8 4
l 1 2
"""


def load(path: Path) -> TriangleMesh:
    return load_mesh(path, diagnostics=Diagnostics("robot.urdf"))


def written(path: Path, data: bytes | str) -> Path:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def volume(mesh: TriangleMesh) -> float:
    a, b, c = mesh.vertices[mesh.faces].transpose(1, 0, 2)
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6)


def text_stl(mesh: TriangleMesh) -> str:
    facets = [
        "facet normal 0 0 0\n outer loop\n"
        + "".join(f"  vertex {x:.6e} {y} {z}\n" for x, y, z in mesh.vertices[face])
        + " endloop\nendfacet\n"
        for face in mesh.faces
    ]
    return f"solid a vertex of endfacet\n{''.join(facets)}endsolid\n"


def collada(*, surfaces: str = "", nodes: str = "", extra: str = "", asset: str = "") -> str:
    """A document with the corners of CUBE as the source p; by default the scene shows #g."""
    corners = " ".join(str(number) for number in CUBE.vertices.ravel())
    indices = " ".join(f"{index} 0" for index in CUBE.faces.ravel())
    surfaces = surfaces or (
        '<triangles count="12"><input semantic="VERTEX" source="#v" offset="0"/>'
        f'<input semantic="NORMAL" source="#n" offset="1"/><p>{indices}</p></triangles>'
    )
    return f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset>{asset}</asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="a" count="24">{corners}</float_array>
<technique_common><accessor source="#a" count="8" stride="3"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
{surfaces}
</mesh></geometry></library_geometries>{extra}
<library_visual_scenes><visual_scene id="s">
{nodes or '<node><instance_geometry url="#g"/></node>'}
</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene>
</COLLADA>"""


def assert_is_cube(mesh: TriangleMesh) -> None:
    assert mesh.vertices.shape == (8, 3) and mesh.faces.shape == (12, 3)
    np.testing.assert_allclose(np.abs(mesh.vertices), np.tile([1.0, 2.0, 3.0], (8, 1)))
    assert volume(mesh) == pytest.approx(48.0)
    assert not mesh.vertices.flags.writeable and not mesh.faces.flags.writeable


def test_binary_stl_comes_back(tmp_path):
    data = stl_bytes(CUBE)
    assert len(data) == 84 + 12 * 50
    assert_is_cube(load(written(tmp_path / "a.STL", data)))


def test_binary_stl_normals_are_those_of_the_triangles():
    facets = np.frombuffer(stl_bytes(CUBE), offset=84, dtype="<f4,<f4,<f4,<V38")
    normals = np.array(facets[["f0", "f1", "f2"]].tolist())
    np.testing.assert_allclose(np.sort(np.abs(normals), axis=1), np.tile([0, 0, 1], (12, 1)))
    np.testing.assert_allclose(normals.sum(axis=0), 0)


@pytest.mark.parametrize("header", [b"solid exported by a careless program", b"\0" * 80])
@pytest.mark.parametrize("padding", [0, 1, 1024])
def test_binary_stl_may_say_solid_and_be_padded_with_zeros(tmp_path, header, padding):
    data = header.ljust(80) + stl_bytes(CUBE)[80:] + b"\0" * padding
    assert_is_cube(load(written(tmp_path / "a.stl", data)))


@pytest.mark.parametrize(
    "change",
    [
        str,
        str.upper,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: text.replace("\n vertex", " vertex").replace("\n endloop", " endloop"),
        lambda text: text.replace("a vertex of endfacet", "a").replace("\n", " "),
        lambda text: "\ufeff" + text,
        lambda text: f"\n {text}\n\n",
        lambda text: text + text,
    ],
)
def test_text_stl(tmp_path, change):
    mesh = load(written(tmp_path / "a.stl", change(text_stl(CUBE))))
    assert len(mesh.vertices) == 8
    assert volume(mesh) == pytest.approx(48.0 * len(mesh.faces) / 12)


def test_obj_with_everything(tmp_path):
    assert_is_cube(load(written(tmp_path / "a.obj", OBJ_CUBE)))


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"\xef\xbb\xbf" + data[data.index(b"v ") :],
        lambda data: data.replace(b"f 4 3 2 1", b"f 4 3 \\\n 2 1").replace(b"v 1 2", b"v 1\\\r\n2"),
        lambda data: data.replace(b"\r", b"").replace(b"\n", b"\r"),
        lambda data: data + b"f 1 2\n",
        lambda data: data + b"f 1 2\n# the end",
    ],
)
def test_obj_in_other_clothes(tmp_path, change):
    assert_is_cube(load(written(tmp_path / "a.obj", change(OBJ_CUBE))))


def test_obj_negative_index_counts_from_where_it_stands(tmp_path):
    data = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nv 0 0 1\nf -4 -3 -1\n"
    mesh = load(written(tmp_path / "a.obj", data))
    np.testing.assert_allclose(
        mesh.vertices[mesh.faces],
        [[[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 0, 0], [1, 0, 0], [0, 0, 1]]],
    )


def test_vertices_that_nothing_uses_are_dropped_and_equal_ones_merged(tmp_path):
    data = b"v 9 9 9\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv -0 0 0\nf 2 3 4\nf 5 4 3\nf 1 1\n"
    mesh = load(written(tmp_path / "a.obj", data))
    assert mesh.vertices.tolist() == [[0, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert mesh.faces.tolist() == [[0, 2, 1], [0, 1, 2]]


def test_collada(tmp_path):
    assert_is_cube(load(written(tmp_path / "a.dae", collada())))


def test_collada_ids_are_of_a_kind(tmp_path):
    for nodes in ('<node id="s"><instance_geometry url="#g"/></node>',
                  '<node id="g"><instance_geometry url="#g"/></node>'):  # fmt: skip
        assert_is_cube(load(written(tmp_path / "a.dae", collada(nodes=nodes))))


def test_collada_needs_no_scene(tmp_path):
    placed = '<node><translate>0 0 9</translate><instance_geometry url="#g"/></node>'
    text = collada(nodes=placed)
    scene = '<scene><instance_visual_scene url="#s"/></scene>'
    only_one = load(written(tmp_path / "a.dae", text.replace(scene, "")))
    np.testing.assert_allclose(only_one.vertices[:, 2].min(), 6)
    start, end = text.index("<library_visual"), text.index("</COLLADA>")
    bare = (text[:start] + text[end:]).replace('<geometry id="g">', "<geometry>")
    assert_is_cube(load(written(tmp_path / "b.dae", bare)))


@pytest.mark.parametrize("kind", ["polylist", "polygons"])
def test_collada_polygons(tmp_path, kind):
    quads = ["0 1 3 2", "4 6 7 5", "0 4 5 1", "2 3 7 6", "0 2 6 4", "1 5 7 3"]
    if kind == "polylist":
        indices = f"<vcount>{'4 ' * 6}</vcount><p>{' '.join(quads)}</p>"
    else:
        indices = "".join(f"<p>{quad}</p>" for quad in quads)
    vertex = '<input semantic="VERTEX" source="#v" offset="0"/>'
    surface = f'<{kind} count="6">{vertex}{indices}</{kind}><lines count="9"/>'
    assert_is_cube(load(written(tmp_path / "a.dae", collada(surfaces=surface))))


def test_collada_transforms_apply_from_the_inside_out(tmp_path):
    nodes = """<node><translate>10 0 0</translate><rotate>0 0 2 90</rotate>
    <node><scale>2 1 1</scale><matrix>1 0 0 0  0 1 0 5  0 0 1 0  0 0 0 1</matrix>
    <instance_geometry url="#g"/></node></node>"""
    mesh = load(written(tmp_path / "a.dae", collada(nodes=nodes)))
    # x in 2 * [-1, 1] and y in 5 + [-2, 2], turned: x' = 10 - y, y' = x.
    np.testing.assert_allclose(mesh.vertices.min(axis=0), [3, -2, -3], atol=1e-12)
    np.testing.assert_allclose(mesh.vertices.max(axis=0), [7, 2, 3], atol=1e-12)


def test_collada_instances(tmp_path):
    above = '<node><translate>0 0 10</translate><instance_geometry url="#g"/></node>'
    pair = f'<node id="pair"><instance_geometry url="#g"/>{above}</node>'
    extra = f"<library_nodes>{pair}</library_nodes>"
    nodes = """<node><instance_node url="#pair"/></node>
    <node><translate>20 0 0</translate><instance_node url="#pair"/></node>"""
    mesh = load(written(tmp_path / "a.dae", collada(nodes=nodes, extra=extra)))
    assert len(mesh.vertices) == 4 * 8 and len(mesh.faces) == 4 * 12
    assert volume(mesh) == pytest.approx(4 * 48)


def test_collada_mirroring_keeps_the_outside_outside(tmp_path):
    nodes = '<node><scale>-1 1 1</scale><instance_geometry url="#g"/></node>'
    assert_is_cube(load(written(tmp_path / "a.dae", collada(nodes=nodes))))


def test_collada_applies_the_unit_and_leaves_the_up_axis(tmp_path):
    asset = '<unit name="mm" meter="0.001"/><up_axis>Y_UP</up_axis>'
    mesh = load(written(tmp_path / "a.dae", collada(asset=asset)))
    np.testing.assert_allclose(mesh.vertices.max(axis=0), [0.001, 0.002, 0.003])


def test_unknown_format_names_the_known_ones(tmp_path):
    with pytest.raises(RobotFileError, match=r"\.stl, \.obj, \.dae") as caught:
        load_mesh(tmp_path / "a.mesh", diagnostics=Diagnostics("robot.urdf"), line=12)
    assert caught.value.refusals[0].code is Code.UNSUPPORTED
    assert caught.value.refusals[0].line == 12


def test_missing_file(tmp_path):
    with pytest.raises(RobotFileError) as caught:
        load(tmp_path / "a.stl")
    assert caught.value.refusals[0].code is Code.MESH_MISSING


def test_a_file_is_read_once_and_again_when_it_changed(tmp_path):
    path = written(tmp_path / "a.stl", stl_bytes(CUBE))
    first = load(path)
    assert load(path) is first
    path.write_text(text_stl(CUBE))
    assert load(path) is not first


def test_the_cache_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(mesh_module, "_cache", mesh_module._Cache())
    monkeypatch.setattr(mesh_module._Cache, "MOST_BYTES", 700)
    paths = [written(tmp_path / f"{i}.stl", stl_bytes(CUBE)) for i in range(3)]
    first = load(paths[0])
    second = load(paths[1])
    assert load(paths[0]) is first
    load(paths[2])
    assert load(paths[0]) is first
    assert load(paths[1]) is not second


def test_scale_mirrors_and_keeps_the_outside_outside(tmp_path):
    path = written(tmp_path / "a.stl", stl_bytes(CUBE))
    mesh = mesh_of(MeshFile("a.stl", path, (0.5, -1.0, 2.0)))
    np.testing.assert_allclose(mesh.vertices.max(axis=0), [0.5, 2, 6])
    assert volume(mesh) == pytest.approx(48)
    assert not mesh.vertices.flags.writeable and not mesh.faces.flags.writeable
    assert mesh_of(MeshFile("a.stl", path)) is load(path)
    assert mesh_of(MeshData("cube", CUBE)) is CUBE


def test_broken_file_is_named_by_mesh_of(tmp_path):
    path = written(tmp_path / "a.stl", b"")
    with pytest.raises(RobotFileError, match=r"a\.stl"):
        mesh_of(MeshFile("package://x/a.stl", path))


def shipped(name: str) -> TriangleMesh:
    return load(public("example-robot-data", f"robots/{name}"))


@pytest.mark.parametrize(
    ("name", "triangles", "litres"),
    [
        # Reference values by trimesh.
        ("panda_description/meshes/collision/link0.stl", 200, 2.9965),
        ("ur_description/meshes/ur5/visual/wrist2.dae", 14074, 0.51554),
    ],
)
def test_public_meshes(name, triangles, litres):
    mesh = shipped(name)
    assert len(mesh.faces) == triangles
    assert 1000 * volume(mesh) == pytest.approx(litres, rel=1e-4)


def test_public_mesh_marked_y_up_is_laid_out_with_z_up():
    shown = shipped("baxter_description/meshes/torso/base_link.DAE").vertices
    touched = shipped("baxter_description/meshes/torso/base_link_collision.DAE").vertices
    np.testing.assert_allclose(shown.max(axis=0), touched.max(axis=0), atol=2e-3)


def test_the_extent_of_a_checked_mesh_is_kept_by_its_content(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(mesh_module, "_LEAST_KEPT", 1)
    file, diagnostics = tmp_path / "cube.stl", Diagnostics("robot.urdf")
    file.write_bytes(stl_bytes(CUBE))
    first = mesh_extent(file, diagnostics=diagnostics)
    assert first.bounds.tolist() == [[-1, -2, -3], [1, 2, 3]]
    assert first.triangles == 12
    monkeypatch.setattr(mesh_module, "load_mesh", None)
    again = mesh_extent(file, diagnostics=diagnostics)
    assert (again.bounds.tolist(), again.triangles) == (first.bounds.tolist(), 12)
    file.write_bytes(stl_bytes(triangulate(Box((1.0, 1.0, 1.0)))))
    with pytest.raises(TypeError):
        mesh_extent(file, diagnostics=diagnostics)  # another content is loaded
    [kept] = (tmp_path / "cache" / "kinetarium" / "meshes").iterdir()
    kept.write_bytes(b"broken")
    monkeypatch.undo()
    file.write_bytes(stl_bytes(CUBE))
    assert mesh_extent(file, diagnostics=diagnostics).triangles == 12
