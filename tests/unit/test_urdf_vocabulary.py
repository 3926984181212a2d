"""What other programs add to URDF is left out and listed; a robot's mechanics never is."""

from pathlib import Path

import pytest

from hostile.bad_urdf import AXIS, BOX, LIMIT, MIMIC, SHOULDER, SOUND
from kinetarium import RobotFileError, RobotModel, load_robot

BASE = '<link name="base"/>'
BOUNDS = '<limit lower="-1" upper="1" effort="50" velocity="2"/>'
END = "</robot>"


def _load(folder: Path, old: str, new: str) -> RobotModel:
    assert old in SOUND
    file = folder / "robot.urdf"
    file.write_text(SOUND.replace(old, new, 1))
    return load_robot(file)


def _in_link(inside: str) -> tuple[str, str]:
    return BASE, f'<link name="base">{inside}</link>'


def _in_joint(inside: str) -> tuple[str, str]:
    return SHOULDER, SHOULDER + inside


def _in_robot(inside: str) -> tuple[str, str]:
    return END, inside + END


HARMLESS = {
    "gazebo": _in_robot('<gazebo reference="upper"><mass value="3"/><mu1>0.2</mu1></gazebo>'),
    "gazebo in a link": _in_link("<gazebo><inertial/></gazebo>"),
    "transmission": _in_robot(
        '<transmission name="t"><type>a/b</type><joint name="elbow"><parent/></joint>'
        "</transmission>"
    ),
    "ros2_control": _in_robot(
        '<ros2_control name="c" type="system"><joint name="elbow"><limit/></joint></ros2_control>'
    ),
    "sensor": _in_robot('<sensor name="s"><origin xyz="1 2 3"/><parent link="base"/></sensor>'),
    "sensor in a link": _in_link('<sensor name="s"/>'),
    "drake": _in_robot('<drake:joint name="j"><parent link="a"/></drake:joint>'),
    "group": _in_robot('<group name="g"><link name="base"/><joint name="elbow"/></group>'),
    "unknown element that mentions joints": _in_robot('<motors><joint name="elbow"/></motors>'),
    "contact": _in_link('<contact><lateral_friction value="1"/></contact>'),
    "self_collision": _in_link("<self_collision>true</self_collision>"),
    "self_filter": _in_link("<self_filter><geometry><box/></geometry></self_filter>"),
    "gravity and kinematic": _in_link("<gravity>1</gravity>"),
    "colour of a link": _in_link('<material name="red"/>'),
    "origin that moves nothing": _in_link('<origin xyz="0 0 0" rpy="0 -0 0"/>'),
    "verbose": ("<collision>", '<collision><verbose value="1"/>'),
    "surface": ("<collision>", "<collision><surface><friction/></surface>"),
    "safety_controller": _in_joint('<safety_controller k_velocity="1"/>'),
    "calibration": _in_joint('<calibration rising="0"/>'),
    "properties": _in_joint('<joint_properties damping="0"/>'),
    "axis with zero angles": (AXIS, AXIS.replace("<axis", '<axis rpy="0 0 0"')),
    "limits of drives": (BOUNDS, BOUNDS.replace("<limit", '<limit gear_velocity="10" current="2"')),
    "friction of drives": (MIMIC, '<dynamics damping="1" mu_coulomb="0" K="7000" D="50"/>'),
    "concave link": (BASE, '<link name="base" concave="yes" type="laser"/>'),
    "collision groups": ("<collision>", '<collision group="1" mask="0" concave="no">'),
    "attribute of another namespace": (BASE, '<link name="base" drake:kind="x"/>'),
    "named geometry": (f"<geometry>{BOX}", f'<geometry name="g">{BOX}'),
}


@pytest.mark.parametrize("change", HARMLESS.values(), ids=HARMLESS)
def test_what_others_add_is_left_out_and_listed(change: tuple[str, str], tmp_path: Path) -> None:
    model = _load(tmp_path, *change)
    assert model.mass == 3
    assert [repair.code for repair in model.repairs][:1] == ["unknown-element"]
    assert all("omitted" in repair.message and repair.line for repair in model.repairs)


UNLISTED = {
    "schema": ('name="arm"', 'name="arm" xmlns:xsi="x" xsi:noNamespaceSchemaLocation="y"'),
    "material": _in_robot('<material name="m"><colour/><specular rgb="1 1 1"/></material>'),
    "names of shapes": ("<collision>", '<collision name="c">'),
    "two materials": _in_link(
        f"<visual><geometry>{BOX}</geometry><material/><material name='m'/></visual>"
    ),
}


@pytest.mark.parametrize("change", UNLISTED.values(), ids=UNLISTED)
def test_looks_and_schemas_are_not_worth_a_word(change: tuple[str, str], tmp_path: Path) -> None:
    assert _load(tmp_path, *change).repairs == ()


def test_a_name_is_judged_in_every_element(tmp_path: Path) -> None:
    """A harmless twin of an attribute does not hide that a later element lacks the attribute."""
    twin = BOUNDS.replace("<limit", '<limit lower_limit="-1"')
    alone = BOUNDS.replace('lower="-1"', 'lower_limit="-1"')
    file = tmp_path / "robot.urdf"
    file.write_text(SOUND.replace(BOUNDS, twin, 1).replace(BOUNDS, alone))
    with pytest.raises(RobotFileError) as caught:
        load_robot(file)
    assert [(r.code, r.line) for r in caught.value.refusals] == [("unknown-element", 38)]
    assert "'lower'" in caught.value.refusals[0].remedy


@pytest.mark.parametrize(
    ("change", "message", "remedy"),
    [
        (
            ('<parent link="base"/>', '<parent link="base"><origin xyz="0 0 1"/></parent>'),
            "<origin> cannot be inside <parent>",
            "put it directly into <inertial> or <visual> or <collision> or <joint>",
        ),
        (_in_link('<mass value="2"/>'), '<mass> cannot be inside <link name="base">',
         "put it directly into <inertial>"),
        (('xyz="0 0 0.5"', 'xyx="0 0 0.5"'), "<origin> has the unknown attribute 'xyx'",
         "did you mean 'xyz'?"),
        ((LIMIT, LIMIT.replace("<limit", '<limit damping="1"')),
         "<limit> has the attribute 'damping', which is invalid there",
         "it takes lower, upper, effort, velocity, acceleration, deceleration, jerk"),
    ],
)  # fmt: skip
def test_the_refusal_says_what_to_do(
    change: tuple[str, str], message: str, remedy: str, tmp_path: Path
) -> None:
    with pytest.raises(RobotFileError) as caught:
        _load(tmp_path, *change)
    assert [(r.message, r.remedy) for r in caught.value.refusals] == [(message, remedy)]
