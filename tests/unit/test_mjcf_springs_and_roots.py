"""Springs, several roots, MSH meshes and tendon couplings of MJCF files."""

from math import radians
from pathlib import Path

import mujoco
import numpy as np
import pytest

from kinetarium import RobotFileError, load_robot
from kinetarium.model.mjcf import write_mjcf

BALL = '<body name="ball"><freejoint name="loose"/><geom size="0.1"/><site name="on"/></body>'
ARM = (
    '<body name="arm"><joint name="a" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/>'
    '<body name="hand" pos="0.5 0 0"><joint name="b" axis="0 1 0"/><geom size="0.05"/></body>'
    "</body>"
)
WALKER = (
    '<body name="trunk" pos="0 0 1"><freejoint/><geom size="0.2"/>'
    '<body name="leg"><joint name="hip" axis="0 1 0"/><geom size="0.1" pos="0 0 -0.3"/></body>'
    "</body>"
)


def _file(tmp_path: Path, bodies: str, rest: str = "") -> Path:
    file = tmp_path / "robot.xml"
    file.write_text(f"<mujoco>\n<worldbody>\n{bodies}\n</worldbody>{rest}</mujoco>")
    return file


def test_a_spring_is_read_in_the_units_of_the_file(tmp_path: Path) -> None:
    spring = ARM.replace('name="a"', 'name="a" stiffness="7" springref="30"')
    joint = load_robot(_file(tmp_path, spring)).joint("a")
    assert (joint.stiffness, joint.springref) == (7.0, pytest.approx(radians(30)))


def test_springs_survive_a_conversion(tmp_path: Path) -> None:
    spring = ARM.replace('name="a"', 'name="a" stiffness="7" springref="30"')
    text, _ = write_mjcf(load_robot(_file(tmp_path, spring)), mesh_folder="meshes")
    again = tmp_path / "again.xml"
    again.write_text(text)
    joint = load_robot(again).joint("a")
    assert (joint.stiffness, joint.springref) == (7.0, pytest.approx(radians(30)))
    model = mujoco.MjModel.from_xml_string(text)
    assert np.ravel(model.jnt_stiffness)[0] == 7.0
    assert model.qpos_spring[0] == pytest.approx(radians(30))


@pytest.mark.parametrize("bodies", [ARM, WALKER], ids=["fixed", "free"])
def test_springs_by_time_constants_are_those_of_mujoco(tmp_path: Path, bodies: str) -> None:
    for name in ("a", "b", "hip"):
        bodies = bodies.replace(
            f'name="{name}"', f'name="{name}" springdamper="0.2 0.7" armature="0.01" ref="20"'
        )
    file = _file(tmp_path, bodies)
    theirs = mujoco.MjModel.from_xml_path(str(file))
    for joint in load_robot(file).moving_joints:
        index = theirs.joint(joint.name).id
        dof = theirs.jnt_dofadr[index]
        assert joint.stiffness == pytest.approx(np.ravel(theirs.jnt_stiffness[index])[0])
        assert joint.damping == pytest.approx(np.ravel(theirs.dof_damping[dof])[0])


@pytest.mark.parametrize(("robot", "root"), [(ARM, "world"), (WALKER, "trunk")])
def test_the_robot_is_the_body_with_joints(tmp_path: Path, robot: str, root: str) -> None:
    model = load_robot(_file(tmp_path, BALL + robot))
    assert model.root == root and "ball" not in [link.name for link in model.links]
    assert any(repair.where == "other body" for repair in model.repairs)


def test_two_robots_need_a_choice(tmp_path: Path) -> None:
    file = _file(tmp_path, WALKER + "\n" + ARM)
    with pytest.raises(RobotFileError, match="--root NAME") as caught:
        load_robot(file)
    assert caught.value.refusals[0].line == 4
    assert load_robot(file, root="trunk").free_base
    assert [joint.name for joint in load_robot(file, root="arm").moving_joints] == ["a", "b"]
    with pytest.raises(RobotFileError, match="one of trunk, arm"):
        load_robot(file, root="trunc")


def test_a_root_is_for_mjcf(tmp_path: Path) -> None:
    file = tmp_path / "box.urdf"
    file.write_text('<robot name="box"><link name="box"/></robot>')
    with pytest.raises(RobotFileError, match="--root is for MJCF"):
        load_robot(file, root="box")


def test_what_acts_on_other_bodies_is_left_out(tmp_path: Path) -> None:
    rest = (
        '<actuator><motor joint="loose"/><motor joint="a" ctrlrange="-2 2"/></actuator>'
        '<equality><weld body1="ball"/></equality>'
        '<tendon><spatial stiffness="1"><site site="on"/><site site="on"/></spatial></tendon>'
    )
    model = load_robot(_file(tmp_path, BALL + ARM, rest))
    assert model.joint("a").limits.effort == 2.0 and model.loops == ()
    assert "3 omitted" in next(
        repair.message for repair in model.repairs if repair.where == "part of other bodies"
    )


def test_a_weld_to_another_body_is_refused(tmp_path: Path) -> None:
    rest = '<equality><weld body1="ball" body2="hand"/></equality>'
    with pytest.raises(RobotFileError, match="surroundings"):
        load_robot(_file(tmp_path, BALL + ARM, rest))


def test_a_tendon_couples_two_joints(tmp_path: Path) -> None:
    rest = (
        '<tendon><fixed name="t"><joint joint="a" coef="0.5"/><joint joint="b" coef="-2"/></fixed>'
        '</tendon><equality><tendon tendon1="t"/></equality>'
    )
    mimic = load_robot(_file(tmp_path, ARM, rest)).joint("b").mimic
    assert mimic and (mimic.joint, mimic.multiplier, mimic.offset) == ("a", 0.25, 0.0)


def test_a_tendon_of_three_joints_is_refused(tmp_path: Path) -> None:
    joints = "".join(f'<joint joint="{name}" coef="1"/>' for name in "aba")
    rest = (
        f'<tendon><fixed name="t">{joints}</fixed></tendon>'
        '<equality><tendon tendon1="t"/></equality>'
    )
    with pytest.raises(RobotFileError, match="with two joints"):
        load_robot(_file(tmp_path, ARM, rest))


def _msh(vertices: np.ndarray, faces: np.ndarray, *, textures: int = 0) -> bytes:
    counts = np.array([len(vertices), 0, textures, len(faces)], "<i4")
    return (
        counts.tobytes()
        + vertices.astype("<f4").tobytes()
        + np.zeros(2 * textures, "<f4").tobytes()
        + faces.astype("<i4").tobytes()
    )


CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
MESH = '<asset><mesh file="wedge.msh" inertia="exact"/></asset>'
WEDGE = '<body><joint/><geom type="mesh" mesh="wedge"/></body>'


def test_msh_meshes_have_the_mass_that_mujoco_gives_them(tmp_path: Path) -> None:
    (tmp_path / "wedge.msh").write_bytes(_msh(CORNERS, FACES, textures=4))
    file = _file(tmp_path, WEDGE, MESH)
    assert load_robot(file).mass == pytest.approx(1000 / 6)
    assert mujoco.MjModel.from_xml_path(str(file)).body_mass[1] == pytest.approx(1000 / 6)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        _msh(CORNERS, FACES)[:10],
        _msh(CORNERS, FACES)[:-1],
        _msh(CORNERS, FACES) + b"\0",
        _msh(CORNERS, FACES + 1),
        _msh(CORNERS * np.nan, FACES),
        np.array([-1, 0, 0, 4], "<i4").tobytes(),
        np.array([2**31 - 1, 0, 0, 4], "<i4").tobytes(),
    ],
)
def test_broken_msh_files_are_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "wedge.msh").write_bytes(data)
    with pytest.raises(RobotFileError) as caught:
        load_robot(_file(tmp_path, WEDGE, MESH))
    assert {refusal.code for refusal in caught.value.refusals} == {"mesh-broken"}


def test_a_weld_to_a_mocap_body_is_left_out(tmp_path: Path) -> None:
    """It moves the robot from outside, as the grippers of Gymnasium-Robotics' Fetch are moved."""
    mocap = '<body name="mouse" mocap="true"/>'
    rest = '<equality><weld body1="mouse" body2="hand"/></equality>'
    model = load_robot(_file(tmp_path, mocap + ARM, rest))
    assert model.loops == ()
    assert any(repair.where == "weld to a mocap body" for repair in model.repairs)
