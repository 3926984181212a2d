"""glTF and PLY files, against Assimp, closed forms and public files."""

from pathlib import Path

import coal
import numpy as np
import pytest

from kinetarium.model.diagnostics import Code, Diagnostics, RobotFileError
from kinetarium.model.mesh.mesh import load_mesh
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import Box, TriangleMesh
from kinetarium.spatial.rotation import rotation_about
from mesh_files import PLY, Gltf, binary_ply, tetrahedron

CUBE = triangulate(Box((2.0, 4.0, 6.0)))
QUADS = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-2, 2) for z in (-3, 3)], dtype=float)


def load(path: Path, data: bytes) -> TriangleMesh:
    path.write_bytes(data)
    return load_mesh(path, diagnostics=Diagnostics("robot.urdf"))


def volume(mesh: TriangleMesh) -> float:
    a, b, c = mesh.vertices[mesh.faces].transpose(1, 0, 2)
    return float(np.vecdot(a, np.cross(b, c)).sum() / 6)


def assert_as_assimp(path: Path, mesh: TriangleMesh) -> None:
    """Compare all triangles with those that Assimp, behind Coal, reads from the same file."""
    theirs = coal.MeshLoader().load(str(path), np.ones(3))
    points = np.array(theirs.vertices())
    triangles = [theirs.tri_indices(i) for i in range(theirs.num_tris)]
    theirs = points[[[t[0], t[1], t[2]] for t in triangles]]
    ours = mesh.vertices[mesh.faces]
    assert len(ours) == len(theirs)
    np.testing.assert_allclose(_sorted(ours), _sorted(theirs), atol=1e-6)


def _sorted(triangles: np.ndarray) -> np.ndarray:
    """Order triangles by their centres and areas, which no order of corners changes."""
    a, b, c = triangles.transpose(1, 0, 2)
    keys = np.column_stack([triangles.mean(axis=1), np.linalg.norm(np.cross(b - a, c - a), axis=1)])
    return keys[np.lexsort(np.round(keys, 5).T)]


def placed_parts() -> Gltf:
    """Two meshes in a tree of nodes: turned, scaled, mirrored, by matrix, in strips and fans."""
    file = Gltf()
    R = rotation_about((0.6, 0.0, 0.8), 0.7)
    points = file.array(CUBE.vertices, "<f4", stride=20)
    faces = file.array(CUBE.faces.ravel(), "u1")
    cube = file.mesh({"attributes": {"POSITION": points}, "indices": faces})
    band = file.array(np.array([[x, y, 0.1 * x] for x in range(5) for y in (0, 1)]), "<f4")
    strip = {"attributes": {"POSITION": band}, "mode": 5}
    ring = [[0, 0, 1], *([np.cos(t), np.sin(t), 0.0] for t in np.arange(5))]
    fan = {"attributes": {"POSITION": file.array(np.array(ring), "<f4")}, "mode": 6}
    line = {"attributes": {"POSITION": band}, "mode": 1}
    # Coal reads the first of several primitives of one mesh several times.
    parts = [file.node(mesh=file.mesh(each)) for each in (strip, fan, line)]
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R * 0.5, (1.0, 2.0, 3.0)
    half = [0.0, 0.0, np.sin(0.2), np.cos(0.2)]
    inner = file.node(mesh=cube, rotation=half, scale=[1, -2, 0.5], translation=[0.1, 0.2, 0.3])
    middle = file.node(matrix=X.T.ravel().tolist(), children=[inner, *parts])
    return file.scene(middle, file.node(mesh=cube, translation=[-4, 0, 0]))


@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
def test_nodes_strips_and_strides(tmp_path: Path, suffix: str) -> None:
    file, path = placed_parts(), tmp_path / f"a{suffix}"
    mesh = load(path, file.glb() if suffix == ".glb" else file.text())
    assert len(mesh.faces) == 12 + 12 + 8 + 4
    assert_as_assimp(path, mesh)


def test_a_mesh_of_several_primitives(tmp_path: Path) -> None:
    file = Gltf()
    parts = []
    for side in (0.0, 5.0):
        points = file.array(CUBE.vertices + np.array([side, 0.0, 0.0]), "<f4")
        faces = file.array(CUBE.faces.ravel(), "<u2")
        parts.append({"attributes": {"POSITION": points}, "indices": faces})
    mesh = load(tmp_path / "a.glb", file.scene(file.node(mesh=file.mesh(*parts))).glb())
    assert (len(mesh.faces), volume(mesh)) == (24, pytest.approx(96))
    np.testing.assert_allclose(mesh.bounds, [[-1, -2, -3], [6, 2, 3]])


def test_mirrored_nodes_still_face_outwards(tmp_path: Path) -> None:
    file = Gltf()
    points, faces = file.array(CUBE.vertices, "<f4"), file.array(CUBE.faces.ravel(), "<u4")
    mesh = file.mesh({"attributes": {"POSITION": points}, "indices": faces})
    mirrored = file.scene(file.node(mesh=mesh, scale=[-1, 2, 1])).glb()
    assert volume(load(tmp_path / "a.glb", mirrored)) == pytest.approx(2 * 48)


def test_quantised_positions(tmp_path: Path) -> None:
    file = Gltf()
    file.content["extensionsRequired"] = ["KHR_mesh_quantization"]
    points = file.array(np.sign(CUBE.vertices) * 32767, "<i2", stride=8, normalized=True)
    faces = file.array(CUBE.faces.ravel(), "<u2")
    mesh = file.mesh({"attributes": {"POSITION": points}, "indices": faces})
    found = load(tmp_path / "a.glb", file.scene(file.node(mesh=mesh, scale=[1, 2, 3])).glb())
    np.testing.assert_allclose(found.bounds, CUBE.bounds, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"extensionsRequired": ["KHR_draco_mesh_compression"]}, "needs the extension KHR_draco"),
        ({"nodes": [{"mesh": 0, "children": [0]}]}, "not a tree"),
        ({"nodes": [{"mesh": 0, "matrix": [1, 2]}]}, "invalid transformation"),
        ({"nodes": [{"mesh": 0, "rotation": [0, 0, 0, 0]}]}, "invalid transformation"),
        ({"nodes": [{"mesh": -1}]}, "not a valid glTF"),
        ({"nodes": [{}]}, "no triangles"),
        ({"scenes": [{"nodes": [7]}]}, "not a valid glTF"),
        ({"accessors": []}, "not a valid glTF"),
        ({"bufferViews": [{"buffer": 0, "byteLength": 4}] * 2}, "outside its buffer"),
        ({"bufferViews": [{"buffer": 0, "byteOffset": 60, "byteLength": 48}] * 2}, "outside its"),
        ({"bufferViews": 3}, "not a valid glTF"),
    ],
)
def test_invalid_gltf_is_refused(tmp_path: Path, change: dict[str, object], words: str) -> None:
    file = tetrahedron()
    load(tmp_path / "sound.glb", file.glb())
    file.content |= change
    with pytest.raises(RobotFileError, match=words) as caught:
        load(tmp_path / "a.glb", file.glb())
    assert caught.value.refusals[0].code is Code.MESH_BROKEN


def test_buffers_in_other_files_are_not_opened(tmp_path: Path) -> None:
    file = tetrahedron()
    text = file.text().replace(b"data:application/octet-stream;base64,", b"/etc/passwd?")
    with pytest.raises(RobotFileError, match=r"in other files .*export it as one \.glb file"):
        load(tmp_path / "a.gltf", text)


@pytest.mark.parametrize("order", ["<", ">"])
def test_binary_ply(tmp_path: Path, order: str) -> None:
    path = tmp_path / "a.ply"
    quads = load(path, binary_ply(CORNERS, QUADS, order))
    assert (len(quads.faces), volume(quads)) == (12, pytest.approx(48))
    pentagon = [*QUADS[:5], [1, 5, 7], [1, 7, 3]]
    mixed = load(path, binary_ply(CORNERS, pentagon, order))
    assert (len(mixed.faces), volume(mixed)) == (12, pytest.approx(48))
    assert_as_assimp(path, mixed)


def test_text_ply(tmp_path: Path) -> None:
    path = tmp_path / "a.ply"
    mesh = load(path, PLY)
    assert (len(mesh.faces), volume(mesh)) == (4, pytest.approx(1 / 6))
    assert_as_assimp(path, mesh)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b"property float z\n", b"", "no vertices with x, y and z"),
        (b"element face 4", b"element face 5", "ends too early"),
        (b"element face 4", b"element face 4000000000", "implausible"),
        (b"1.0\ncomment", b"9.0\ncomment", "header is invalid"),
        (b"list uchar int", b"list float int", "header is invalid"),
        (b"3 1 2 3", b"3 1 2 4", "outside its 4 vertices"),
        (b"3 1 2 3", b"-3 1 2 3", "invalid length"),
        (b"3 1 2 3", b"3 1 x 3", "not a number"),
        (b"end_header", b"end", "not a PLY file"),
    ],
)
def test_invalid_ply_is_refused(tmp_path: Path, old: bytes, new: bytes, words: str) -> None:
    assert old in PLY
    with pytest.raises(RobotFileError, match=words):
        load(tmp_path / "a.ply", PLY.replace(old, new))
