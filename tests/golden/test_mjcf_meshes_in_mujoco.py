"""Meshes of MJCF files are where MuJoCo has them, and weigh what they weigh there."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from kinetarium import load_robot
from kinetarium.model.mesh.formats import stl_bytes
from kinetarium.model.mesh.mesh import mesh_of
from kinetarium.model.mesh.triangles import triangle_mesh
from kinetarium.model.robot import MeshData, MeshFile

VERTICES = np.array(
    [[0, 0, 0], [2, 0, 0], [2, 1, 0], [1, 1, 0], [1, 3, 0], [0, 3, 0],
     [0, 0, 1], [2, 0, 1], [2, 1, 1], [1, 1, 1], [1, 3, 1], [0, 3, 1]], dtype=float
)  # fmt: skip
FACES = np.array(
    [[0, 2, 1], [0, 3, 2], [0, 5, 3], [3, 5, 4], [6, 7, 8], [6, 8, 9], [6, 9, 11], [9, 10, 11],
     [0, 1, 7], [0, 7, 6], [1, 2, 8], [1, 8, 7], [2, 3, 9], [2, 9, 8], [3, 4, 10], [3, 10, 9],
     [4, 5, 11], [4, 11, 10], [5, 0, 6], [5, 6, 11]]
)  # fmt: skip
"""An L-shaped prism, which no turn and no mirror maps onto itself."""

PLACEMENTS = {
    "as it is": "",
    "shifted": 'refpos="0.3 -0.2 0.1"',
    "turned": 'refquat="1 2 -3 0.5"',
    "scaled": 'scale="0.5 2 -3"',
    "shifted and scaled": 'refpos="0.3 -0.2 0.1" scale="0.5 2 3"',
    "shifted, turned and scaled evenly": (
        'refpos="0.3 -0.2 0.1" refquat="1 2 -3 0.5" scale="0.1 0.1 0.1"'
    ),
    "turned by a right angle and scaled": (
        'refpos="0.3 -0.2 0.1" refquat="1 0 0 1" scale="0.5 2 -3"'
    ),
    "shifted, turned and scaled unevenly": (
        'refpos="0.3 -0.2 0.1" refquat="1 2 -3 0.5" scale="0.5 2 3"'
    ),
    "mirrored and turned": 'refquat="1 2 -3 0.5" scale="-1 -1 -1"',
    "mirrored, turned and scaled unevenly": 'refquat="1 2 -3 0.5" scale="-0.5 2 3"',
}


def _text(asset: str) -> str:
    return (
        f'<mujoco><asset><mesh name="m" {asset}/></asset><worldbody><body name="a">'
        '<joint name="j"/><geom name="g" type="mesh" mesh="m" pos="0.1 0.2 0.3" euler="10 20 30"/>'
        "</body></worldbody></mujoco>"
    )


def _written(mesh: np.ndarray) -> str:
    return " ".join(str(number) for number in mesh.ravel())


def _pose(position: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, quaternion)
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R.reshape(3, 3), position
    return X


def _placed(vertices: np.ndarray, X: np.ndarray) -> np.ndarray:
    points = vertices @ X[:3, :3].T + X[:3, 3]
    return points[np.lexsort(points.round(5).T)]


@pytest.mark.parametrize("placement", PLACEMENTS.values(), ids=PLACEMENTS.keys())
def test_a_hull_goes_around_vertices_that_no_face_uses(placement: str, tmp_path: Path) -> None:
    points = "".join("v {} {} {}\n".format(*point) for point in [*VERTICES, (4, 4, 4)])
    faces = "".join("f {} {} {}\n".format(*(face + 1)) for face in FACES)
    (tmp_path / "prism.obj").write_text(points + faces)
    file = tmp_path / "robot.xml"
    file.write_text(_text(f'{placement} inertia="convex" file="prism.obj"'))
    mujoco.mj_clearCache(mujoco.mj_getCache())
    theirs = mujoco.MjModel.from_xml_path(str(file))
    inertia = load_robot(file).link("a").inertia
    assert inertia is not None
    assert inertia.mass == pytest.approx(theirs.body_mass[1], rel=1e-5)
    np.testing.assert_allclose(inertia.center, theirs.body_ipos[1], atol=1e-5)


@pytest.mark.parametrize("rule", ["legacy", "exact", "convex", "shell"])
@pytest.mark.parametrize("in_a_file", [True, False], ids=["file", "written"])
@pytest.mark.parametrize("placement", PLACEMENTS.values(), ids=PLACEMENTS.keys())
def test_same_place_and_mass(placement: str, in_a_file: bool, rule: str, tmp_path: Path) -> None:
    asset = f'{placement} inertia="{rule}" '
    if in_a_file:
        (tmp_path / "prism.stl").write_bytes(stl_bytes(triangle_mesh(VERTICES, FACES)))
        asset += 'file="prism.stl"'
    else:
        asset += f'vertex="{_written(VERTICES)}" face="{_written(FACES)}"'
    file = tmp_path / "robot.xml"
    file.write_text(_text(asset))
    mujoco.mj_clearCache(mujoco.mj_getCache())
    theirs = mujoco.MjModel.from_xml_path(str(file))
    link = load_robot(file).link("a")
    (geometry,) = link.collisions
    assert isinstance(geometry.shape, MeshFile | MeshData)
    expected = _placed(
        theirs.mesh_vert.astype(float), _pose(theirs.geom_pos[0], theirs.geom_quat[0])
    )
    ours = _placed(mesh_of(geometry.shape).vertices, geometry.X_LG)
    np.testing.assert_allclose(ours, expected, atol=1e-5)
    assert link.inertia is not None
    assert link.inertia.mass == pytest.approx(theirs.body_mass[1], rel=1e-5)
    np.testing.assert_allclose(link.inertia.center, theirs.body_ipos[1], atol=1e-5)
    R = _pose(theirs.body_ipos[1], theirs.body_iquat[1])[:3, :3]
    moment = R @ np.diag(theirs.body_inertia[1]) @ R.T
    np.testing.assert_allclose(link.inertia.moment, moment, atol=1e-5 * np.abs(moment).max())
