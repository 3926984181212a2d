"""MJCF as written: accepted by MuJoCo whatever the model holds, and read back as the same robot."""

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from comparison import assert_same_robot
from kinetarium import RobotModel, load_robot
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.mjcf import write_mjcf
from kinetarium.model.mjcf.writer import MOST_FACES
from kinetarium.model.robot import (
    Box,
    Capsule,
    Cylinder,
    Geometry,
    Inertia,
    Joint,
    JointLimits,
    JointType,
    Link,
    Loop,
    LoopKind,
    MeshData,
    Mimic,
    Source,
    Sphere,
    TriangleMesh,
)
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import pose, rotation_from_rpy

SOLID = Inertia(2.0, frozen([0.1, 0.2, 0.3]), frozen(np.diag([0.2, 0.3, 0.4])))
TURNED = frozen(pose([0.1, 0.2, 0.3], rotation_from_rpy([0.4, 0.5, 0.6])))
ODD = "ünï <&>\"'/ --> ]]> 漢"


def _robot(*joints: Joint, root: str = "base", inertia: Inertia | None = None) -> RobotModel:
    """Make a robot of joints, a link with mass below each."""
    links = [Link(root, inertia), *(Link(joint.child, SOLID) for joint in joints)]
    return RobotModel("robot", tuple(links), joints, Source("none", "mjcf", ""))


def _load(model: RobotModel) -> mujoco.MjModel:
    text, meshes = write_mjcf(model, mesh_folder="m")
    return mujoco.MjModel.from_xml_string(
        text, {f"m/{name}": data for name, data in meshes.items()}
    )


def _back(model: RobotModel, folder: Path) -> RobotModel:
    text, meshes = write_mjcf(model, mesh_folder="m")
    (folder / "m").mkdir()
    for name, data in meshes.items():
        (folder / "m" / name).write_bytes(data)
    (folder / "robot.xml").write_text(text, encoding="utf-8")
    return load_robot(folder / "robot.xml")


def _with_visual(mesh: TriangleMesh) -> RobotModel:
    geometry = Geometry(MeshData("mesh", mesh))
    hinge = Joint("j", JointType.CONTINUOUS, "base", "a")
    link = Link("a", SOLID, collisions=(geometry,), visuals=(geometry,))
    return replace(_robot(hinge), links=(Link("base"), link))


def test_everything_survives(tmp_path: Path) -> None:
    limits = JointLimits(-1.5, 2.5, effort=30.0)
    joints = (
        Joint("a", JointType.REVOLUTE, "base", "A", TURNED, frozen([0.6, 0, 0.8]), limits),
        Joint(
            "b", JointType.PRISMATIC, "A", "B", TURNED, limits=JointLimits(0.0, 0.1), damping=1.0
        ),
        Joint("c", JointType.CONTINUOUS, "B", "C", friction=2.0, mimic=Mimic("a", -2.0, 0.5)),
        Joint("D/fixed", JointType.FIXED, "A", "D", TURNED),
        Joint("e", JointType.PRISMATIC, "D", "E", armature=3.0),
    )
    mesh = MeshData("ball", triangulate(Sphere(0.5)))
    red = (1.0, 0.0, 0.0, 0.5)
    shapes = (Box((0.1, 0.2, 0.3)), Sphere(0.1), Cylinder(0.1, 0.2), Capsule(0.1, 0.2), mesh)
    geometries = tuple(Geometry(shape, TURNED, f"g{i}", red) for i, shape in enumerate(shapes))
    loop = Loop("loop", LoopKind.POINT, "C", "E", TURNED, frozen(np.eye(4)))
    model = _robot(*joints, inertia=SOLID)
    model = replace(
        model,
        links=(
            replace(model.links[0], visuals=geometries, collisions=geometries),
            *model.links[1:],
        ),
        loops=(loop, replace(loop, name="rigid", kind=LoopKind.POSE)),
        free_base=True,
    )
    back = _back(model, tmp_path)
    assert back.repairs == ()
    assert_same_robot(model, back, tolerance=1e-12)
    for one, other in zip(model.loops, back.loops, strict=True):
        assert (one.name, one.kind, one.link_a, one.link_b) == (
            other.name, other.kind, other.link_a, other.link_b,
        )  # fmt: skip
        np.testing.assert_allclose(other.X_AC, one.X_AC, atol=1e-15)
        np.testing.assert_allclose(other.X_BC, one.X_BC, atol=1e-15)
    for mine, theirs in zip(back.links[0].visuals, geometries, strict=True):
        assert mine.color == red
        np.testing.assert_allclose(mine.X_LG, theirs.X_LG, atol=1e-15)
    assert [g.shape for g in back.links[0].collisions[:4]] == list(shapes[:4])


def test_odd_names_survive(tmp_path: Path) -> None:
    joint = Joint(ODD, JointType.CONTINUOUS, "base", ODD)
    model = replace(_robot(joint), name=ODD)
    loaded = _load(model)
    assert (loaded.body(1).name, loaded.joint(0).name) == ("base", ODD)
    back = _back(model, tmp_path)
    assert (back.name, back.links[1].name, back.joints[0].name) == (ODD, ODD, ODD)


def test_geom_names_that_come_twice_are_written_once() -> None:
    geometry = Geometry(Sphere(0.1), name="same")
    model = _robot(inertia=SOLID)
    link = replace(model.links[0], collisions=(geometry, geometry), visuals=(geometry,))
    loaded = _load(replace(model, links=(link,)))
    assert [loaded.geom(i).name for i in range(loaded.ngeom)] == ["same", "", ""]


class TestWorld:
    def test_a_massless_root_of_that_name_is_the_world(self) -> None:
        loaded = _load(_robot(Joint("j", JointType.CONTINUOUS, "world", "a"), root="world"))
        assert [loaded.body(i).name for i in range(loaded.nbody)] == ["world", "a"]

    @pytest.mark.parametrize("free", [False, True])
    def test_a_root_with_mass_is_renamed(self, free: bool) -> None:
        model = _robot(Joint("j", JointType.CONTINUOUS, "world", "world_"), root="world",
                       inertia=SOLID)  # fmt: skip
        loaded = _load(replace(model, free_base=free))
        assert [loaded.body(i).name for i in range(3)] == ["world", "world__", "world_"]


class TestLimits:
    def _joint(self, limits: JointLimits) -> mujoco.MjModel:
        return _load(_robot(Joint("j", JointType.REVOLUTE, "base", "a", limits=limits)))

    def test_a_locked_joint(self) -> None:
        loaded = self._joint(JointLimits(0.5, 0.5))
        assert loaded.jnt_limited[0]
        np.testing.assert_allclose(loaded.jnt_range[0], [0.5, 0.5], atol=1e-8)

    def test_one_sided(self, tmp_path: Path) -> None:
        model = _robot(Joint("j", JointType.REVOLUTE, "base", "a", limits=JointLimits(lower=-1.0)))
        assert _load(model).jnt_range[0, 0] == -1
        assert _back(model, tmp_path).joint("j").limits == JointLimits(lower=-1.0)

    def test_no_effort(self) -> None:
        loaded = self._joint(JointLimits(-1.0, 1.0, effort=0.0))
        assert loaded.jnt_actfrclimited[0]
        np.testing.assert_allclose(loaded.jnt_actfrcrange[0], [0, 0], atol=1e-8)

    def test_effort(self) -> None:
        np.testing.assert_array_equal(
            self._joint(JointLimits(effort=7.0)).jnt_actfrcrange[0], [-7.0, 7.0]
        )


class TestMeshes:
    def test_files_have_numbers_for_names_and_come_once(self) -> None:
        _, meshes = write_mjcf(_with_visual(triangulate(Box((1.0, 1.0, 1.0)))), mesh_folder="m")
        assert list(meshes) == ["000.stl"]

    @pytest.mark.parametrize(
        "vertices",
        [
            [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
            [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]],
            [[0, 0, 0], [1e-3, 0, 0], [0, 1e-3, 0], [0, 0, 1e-12]],
            [[5, 0, 0], [5, 1, 0.3], [5, 0, 1], [5, 2, 1]],
        ],
    )
    def test_flat_meshes_are_accepted(self, vertices: list[list[float]]) -> None:
        faces = np.array([[0, 1, 2], [0, len(vertices) - 1, 1]], dtype=np.int32)
        loaded = _load(_with_visual(TriangleMesh(frozen(vertices), faces)))
        assert loaded.ngeom == 2

    def test_meshes_without_surface_are_left_out(self) -> None:
        faces = np.array([[0, 1, 2]], dtype=np.int32)
        line = TriangleMesh(frozen([[0, 0, 0], [1, 0, 0], [2, 0, 0]]), faces)
        assert _load(_with_visual(line)).ngeom == 0

    def test_large_meshes_are_cut(self) -> None:
        ball = triangulate(Sphere(1.0), segments=500)
        assert len(ball.faces) > MOST_FACES
        model = _with_visual(ball)
        link = replace(model.links[1], collisions=())
        loaded = _load(replace(model, links=(model.links[0], link)))
        assert loaded.nmesh == loaded.ngeom > 1
        assert loaded.mesh_facenum.sum() == len(ball.faces)


def test_long_chains_are_written_without_recursion() -> None:
    names = [f"l{i}" for i in range(2000)]
    joints = [
        Joint(f"j{i}", JointType.CONTINUOUS, names[i], names[i + 1]) for i in range(len(names) - 1)
    ]
    text, _ = write_mjcf(_robot(*joints, root=names[0]), mesh_folder="m")
    assert text.count("<body") == text.count("</body>") == len(names)


def test_almost_massless_links_are_accepted() -> None:
    speck = Inertia(1e-15, frozen([0, 0, 0]), frozen(1e-25 * np.eye(3)))
    hinge = Joint("j", JointType.CONTINUOUS, "base", "a")
    model = replace(_robot(hinge), links=(Link("base"), Link("a", speck)))
    assert _load(model).body_mass[2] == pytest.approx(0, abs=1e-12)
