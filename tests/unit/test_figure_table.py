from math import inf, nan

import pytest

from kinetarium.figure.robot_page import joint_tables
from kinetarium.figure.text import Column, Table, cell_text
from kinetarium.model.robot import Joint, JointLimits, JointType, Link, Mimic, RobotModel, Source


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("as it is", "as it is"),
        (7, "7"),
        (123456, "123456"),
        (0.0, "0"),
        (-2.89725, "-2.897"),
        (150000.0, "150000"),
        (1e-7, "1e-07"),
        (3e12, "3e+12"),
        (inf, "∞"),
        (-inf, "-∞"),
        (nan, "not a number"),
    ],
)
def test_values_are_written_for_people(value, text):
    assert cell_text(value) == text


def test_columns_of_numbers_are_known():
    table = Table(
        "",
        (Column("a"), Column("b"), Column("c")),
        ((1, "x", None), (2.5, 3, None), (None, 4, None)),
    )
    assert [table.is_numeric(i) for i in range(3)] == [True, False, False]
    assert Column("mass", "kg").heading == "mass [kg]"


def test_joints_are_listed_in_their_own_units():
    names = ["base", "arm", "left", "right", "tip"]
    joints = (
        Joint("turn", JointType.CONTINUOUS, "base", "arm"),
        Joint("left", JointType.PRISMATIC, "arm", "left", limits=JointLimits(0, 0.1, 1, 5)),
        Joint("right", JointType.PRISMATIC, "arm", "right", mimic=Mimic("left", -2.0, 0.5)),
        Joint("weld", JointType.FIXED, "right", "tip"),
    )
    model = RobotModel(
        "robot", tuple(Link(name) for name in names), joints, Source("robot", "urdf", "")
    )
    turning, sliding = joint_tables(model)
    assert [column.unit for column in turning.columns] == ["", "rad", "rad", "rad/s", "N m"]
    assert turning.rows == (("turn", -inf, inf, inf, inf),)
    assert [column.unit for column in sliding.columns] == ["", "m", "m", "m/s", "N", ""]
    assert [row[-1] for row in sliding.rows] == ["", "-2 * left + 0.5"]
