"""Repairs of robot files: what is repaired, and what a user may allow, is listed."""

from math import inf
from pathlib import Path

import numpy as np
import pytest

from hostile.bad_urdf import BOX, LIMIT, MASS, MOMENT, SHOULDER, SOUND
from kinetarium import Allowance, RobotFileError, RobotModel, load_robot
from kinetarium.model.inertia import ROUNDING, _is_surely_valid
from kinetarium.model.robot import JointType


def _load(folder: Path, text: str, *allow: Allowance) -> RobotModel:
    file = folder / "robot.urdf"
    file.write_text(text)
    return load_robot(file, allow=allow)


def _moments(model: RobotModel, link: str) -> np.ndarray:
    inertia = model.link(link).inertia
    assert inertia is not None
    return np.linalg.eigvalsh(inertia.moment)


def _inertia(*values: float) -> str:
    xx, yy, zz = values
    return f'<inertia ixx="{xx}" ixy="0" ixz="0" iyy="{yy}" iyz="0" izz="{zz}"/>'


@pytest.mark.parametrize(
    ("moment", "repaired"),
    [
        ((0.0, 0.0, 0.0), [0.4 * 2 * (3 * 2 / (4000 * np.pi)) ** (2 / 3)] * 3),
        ((1.0, 1.0, 10.0), [5.0, 5.0, 10.0]),
        ((-0.4, 1.0, 1.0), [0.0, 1.2, 1.2]),
        ((0.0, 1.0, 1.0), [0.0, 1.0, 1.0]),
        ((-1e-13, 1e-13, 1e-13), [0.4 * 2 * (3 * 2 / (4000 * np.pi)) ** (2 / 3)] * 3),
    ],
    ids=["zero", "triangle", "indefinite", "flat", "negligible"],
)
def test_inertia_repair(moment: tuple[float, ...], repaired: list[float], tmp_path: Path) -> None:
    model = _load(tmp_path, SOUND.replace(MOMENT, _inertia(*moment)))
    assert [(r.code, r.where, r.line) for r in model.repairs] == [("inertia", "link upper", 5)]
    moments = _moments(model, "upper")
    np.testing.assert_allclose(moments, repaired, atol=1e-6)
    assert moments[0] > 0
    assert moments[0] + moments[1] >= moments[2]


def test_repair_is_idempotent(tmp_path: Path) -> None:
    once = _load(tmp_path, SOUND.replace(MOMENT, _inertia(1.0, 1.0, 9.9)))
    again = _load(tmp_path, SOUND.replace(MOMENT, _inertia(*_moments(once, "upper"))))
    assert again.repairs == ()


def test_a_flat_plate_needs_no_repair(tmp_path: Path) -> None:
    assert _load(tmp_path, SOUND.replace(MOMENT, _inertia(1.0, 2.0, 3.0))).repairs == ()


def test_a_massless_link_that_carries_mass_is_given_some(tmp_path: Path) -> None:
    model = _load(tmp_path, SOUND.replace(MASS, '<mass value="0"/>'))
    assert [r.code for r in model.repairs] == ["mass", "massless"]
    assert model.mass == pytest.approx(1.0, rel=2e-6)
    assert model.link("upper").inertia is not None


def test_revolute_without_a_range_is_continuous(tmp_path: Path) -> None:
    text = LIMIT.replace('lower="-1" upper="1" ', "")
    model = _load(tmp_path, SOUND.replace(LIMIT, text))
    assert model.joint("shoulder").type is JointType.CONTINUOUS
    assert model.joint("shoulder").limits.effort == 50
    assert [r.code for r in model.repairs] == ["limits"]


@pytest.mark.parametrize(
    ("bounds", "codes"),
    [
        ('lower="-0.4" upper="0"', ["limits"]),
        ('upper="1"', ["limits"]),
        ('lower="0" upper="0"', []),
        ('lower="-1e16" upper="1e16"', []),
        ("", []),
    ],
)
def test_limits_of_a_continuous_joint_are_left_out_and_listed(
    bounds: str, codes: list[str], tmp_path: Path
) -> None:
    text = SOUND.replace(LIMIT, LIMIT.replace('lower="-1" upper="1"', bounds))
    model = _load(tmp_path, text.replace(SHOULDER, SHOULDER.replace("revolute", "continuous")))
    assert [repair.code for repair in model.repairs] == codes
    assert model.joint("shoulder").limits.upper == inf


def test_customary_infinity_is_no_limit(tmp_path: Path) -> None:
    text = LIMIT.replace('lower="-1"', 'lower="-1e16"').replace('effort="50"', 'effort="1e+18"')
    limits = _load(tmp_path, SOUND.replace(LIMIT, text)).joint("shoulder").limits
    assert (limits.lower, limits.upper, limits.effort) == (-inf, 1.0, inf)


def test_a_long_axis_is_made_unit(tmp_path: Path) -> None:
    model = _load(tmp_path, SOUND.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 3 4"/>', 1))
    np.testing.assert_allclose(model.joint("shoulder").axis, [0, 0.6, 0.8], atol=1e-15)
    assert [r.code for r in model.repairs] == ["zero-axis"]


def test_foreign_elements_are_left_out_and_listed(tmp_path: Path) -> None:
    model = _load(tmp_path, SOUND.replace("</robot>", "<gazebo/><gazebo/></robot>"))
    assert [(r.code, r.line) for r in model.repairs] == [("unknown-element", 41)]
    assert "2 <gazebo>" in model.repairs[0].message


@pytest.mark.parametrize("encoding", ["utf8", "US-ASCII", "ISO-8859-1", "windows-1252"])
def test_plain_ascii_may_be_declared_as_what_contains_it(encoding: str, tmp_path: Path) -> None:
    text = SOUND.replace('version="1.0"', f'version="1.0" encoding="{encoding}"')
    assert _load(tmp_path, text).repairs == ()


def test_a_fault_in_an_included_file_names_that_file(tmp_path: Path) -> None:
    part = '<robot>\n<link name="bad">\n<inertial><mass value="x"/></inertial></link></robot>'
    (tmp_path / "part.xacro").write_text(part)
    file = tmp_path / "robot.xacro"
    file.write_text(
        '<robot name="r" xmlns:xacro="x"><xacro:include filename="part.xacro"/></robot>'
    )
    with pytest.raises(RobotFileError) as caught:
        load_robot(file)
    assert caught.value.refusals[0].file.endswith("part.xacro")


def test_chains_of_mimics_are_followed_to_their_leader(tmp_path: Path) -> None:
    third = """<link name="tip"><inertial><mass value="1"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
      <joint name="wrist" type="continuous"><parent link="fore"/><child link="tip"/>
      <mimic joint="elbow" multiplier="3" offset="0.5"/></joint></robot>"""
    mimic = _load(tmp_path, SOUND.replace("</robot>", third)).joint("wrist").mimic
    assert mimic is not None
    assert (mimic.joint, mimic.multiplier, mimic.offset) == ("shoulder", 6.0, 0.5)


def test_a_planar_joint_becomes_two_slides_and_a_turn(tmp_path: Path) -> None:
    model = _load(tmp_path, SOUND.replace(SHOULDER, SHOULDER.replace("revolute", "planar")).replace(
        '<mimic joint="shoulder" multiplier="2"/>', ""))  # fmt: skip
    assert [joint.name for joint in model.moving_joints] == [
        "shoulder/x", "shoulder/y", "shoulder", "elbow",
    ]  # fmt: skip
    axes = np.array([joint.axis for joint in model.moving_joints[:3]])
    np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(axes[2], [0, 1, 0], atol=1e-15)


def test_a_floating_joint_under_an_empty_world_is_a_free_base(tmp_path: Path) -> None:
    text = SOUND.replace(
        '<link name="base"/>',
        '<link name="world"/><link name="base"/><joint name="root" type="floating">'
        '<parent link="world"/><child link="base"/></joint>',
    )
    model = _load(tmp_path, text)
    assert model.free_base
    assert model.root == "base"


@pytest.mark.parametrize(
    ("allow", "old", "new"),
    [
        (Allowance.MISSING_MESH, BOX, '<mesh filename="nowhere.stl"/>'),
        (Allowance.MISSING_LIMIT, LIMIT, "</joint>\n  <joint name=\"elbow\""),
        (Allowance.MISSING_LIMIT, LIMIT, LIMIT.replace(' effort="50"', "")),
        (Allowance.MASSLESS, '<mass value="1"/>', '<mass value="0"/>'),
        (Allowance.BAD_INERTIA, MOMENT, _inertia(1.0, 1.0, -9.0)),
    ],
)  # fmt: skip
def test_the_refusal_names_the_switch_that_lets_it_through(
    allow: Allowance, old: str, new: str, tmp_path: Path
) -> None:
    text = SOUND.replace(old, new)
    with pytest.raises(RobotFileError) as caught:
        _load(tmp_path, text)
    assert f"--allow-{allow}" in caught.value.refusals[0].remedy
    assert _load(tmp_path, text, allow).repairs


def test_products_of_inertia_may_be_written_twice(tmp_path: Path) -> None:
    twice = MOMENT.replace(' iyy="', ' iyx="0" izx="0" izy="0" iyy="')
    assert twice != MOMENT and SOUND.count(MOMENT)
    assert _load(tmp_path, SOUND.replace(MOMENT, twice)).repairs == ()
    with pytest.raises(RobotFileError, match="has izx and ixz that differ"):
        _load(tmp_path, SOUND.replace(MOMENT, twice.replace('izx="0"', 'izx="1e-3"')))


def test_no_inertia_is_accepted_early_that_would_be_repaired() -> None:
    rng, early = np.random.default_rng(0), 0
    for exponents in rng.uniform(-11, 0, (2000, 3)):
        second = 10.0**exponents * rng.choice([1, 1, 1, -1], 3)
        Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        moment = Q @ np.diag(second.sum() - second) @ Q.T
        if _is_surely_valid(moment):
            early += 1
            values = np.linalg.eigvalsh(moment)
            assert values.sum() / 2 - values[2] > ROUNDING * values[2]
    assert early > 500


def test_a_spherical_joint_becomes_three_turns_on_request(tmp_path: Path) -> None:
    text = SOUND.replace(SHOULDER, SHOULDER.replace("revolute", "spherical"))
    text = text.replace('<mimic joint="shoulder" multiplier="2"/>', "")
    with pytest.raises(RobotFileError, match="--lenient ball-joints"):
        _load(tmp_path, text)
    model = _load(tmp_path, text, Allowance.BALL_JOINTS)
    sound = _load(tmp_path, SOUND).joint("shoulder")
    turns = [model.joint(f"shoulder/{letter}") for letter in "xyz"]
    assert [joint.type for joint in turns] == [JointType.CONTINUOUS] * 3
    np.testing.assert_array_equal([joint.axis for joint in turns], np.eye(3))
    assert (turns[0].parent, turns[2].child) == (sound.parent, sound.child)
    np.testing.assert_array_equal(turns[0].X_PJ, sound.X_PJ)
    assert any("three revolute joints" in repair.message for repair in model.repairs)
