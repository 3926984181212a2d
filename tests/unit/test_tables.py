"""Scenes with tables: random ones by seed, those of files, and refusals."""

from math import hypot
from pathlib import Path

import numpy as np
import pytest

from kinetarium.errors import KinetariumError
from kinetarium.scene import Scene, ground
from kinetarium.scene.table_scenes import random_table_scene, read_table_scene
from kinetarium.scene.tables import (
    TOP,
    Obstacle,
    Stand,
    Table,
    TableObject,
    TableScene,
)

FILE = """start = { x = -2.0, y = 0.4, yaw = 30 }
[[tables]]
yaw = 90
[[objects]]
x = 0.3
y = -0.1
[[obstacles]]
x = -1.0
y = 0.6
"""


def test_a_table_stands_on_four_legs_that_carry_its_top() -> None:
    parts = dict(Table(x=1.0, yaw=90).boxes())
    top = parts.pop("top")
    assert top.X_LG[2, 3] + TOP / 2 == pytest.approx(0.7)
    assert len(parts) == 4
    for leg in parts.values():
        height = leg.shape.size[2]
        assert leg.X_LG[2, 3] == pytest.approx(height / 2)
        assert height == pytest.approx(0.7 - TOP)
        # Turned by 90 degrees, the long side is along y.
        assert abs(leg.X_LG[0, 3] - 1.0) < 0.3 < abs(leg.X_LG[1, 3])


def test_a_table_no_higher_than_a_top_is_a_board_on_the_ground() -> None:
    [(_, board)] = Table(size=(1.2, 0.6, 0.03)).boxes()
    assert board.shape.size == (1.2, 0.6, 0.03)
    assert board.X_LG[2, 3] == pytest.approx(0.015)
    assert len(Table(size=(1.2, 0.6, TOP + 0.01)).boxes()) == 5


def test_an_object_stands_on_its_table_in_the_frame_of_the_table() -> None:
    table = Table(x=1.0, y=2.0, yaw=90)
    held = TableObject(x=0.3, y=-0.1, yaw=20)
    scene = TableScene(start=Stand(), tables=(table,), objects=(held,))
    X_WO = scene.object_pose(0)
    assert X_WO[:3, 3] == pytest.approx((1.1, 2.3, 0.75))
    assert np.rad2deg(np.arctan2(X_WO[1, 0], X_WO[0, 0])) == pytest.approx(110)


@pytest.mark.parametrize("objects", [1, 8])
def test_random_scenes_leave_room_and_depend_on_their_seed_alone(objects: int) -> None:
    for number in range(20):
        scene = random_table_scene(seed=3, scene=number, objects=objects, tables=2)
        assert scene == random_table_scene(seed=3, scene=number, objects=objects, tables=2)
        assert scene != random_table_scene(seed=4, scene=number, objects=objects, tables=2)
        x, y = scene.object_pose(0)[:2, 3]
        assert 1.5 <= hypot(scene.start.x - x, scene.start.y - y) <= 3.0
        for box in scene.obstacles:
            assert hypot(box.x - scene.start.x, box.y - scene.start.y) >= 1.0
        Scene(bodies=(*scene.bodies(), ground()))  # names and numbers are valid


def test_a_block_may_be_below_a_table_and_obstacles_in_each_other() -> None:
    block = Table(size=(0.8, 0.4, 0.3), closed=True)
    walls = (Obstacle(x=2.0, size=(1.0, 0.1, 1.0)), Obstacle(x=2.4, size=(0.1, 1.0, 1.0)))
    scene = TableScene(
        start=Stand(y=-2.0), tables=(Table(), block), objects=(TableObject(),), obstacles=walls
    )
    assert scene.overlap() is None


def test_a_file_is_read_and_faults_are_named_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "scene.toml"
    file.write_text(FILE)
    assert read_table_scene(file) == TableScene(
        start=Stand(x=-2.0, y=0.4, yaw=30.0),
        tables=(Table(yaw=90.0),),
        objects=(TableObject(x=0.3, y=-0.1),),
        obstacles=(Obstacle(x=-1.0, y=0.6),),
    )
    for old, new, said in (
        ("x = 0.3", "x = 0.7", "object 1 is not above its table"),
        ("x = 0.3", "x = 0.598", "object 1 would tip over the edge of its table"),
        ("x = 0.3", "table = 2", "object 1 is on table 2"),
        ("[[objects]]", "[[things]]", "things"),
        ("yaw = 90", "size = [1.2, 0.6, -0.7]", "-0.7 is outside"),
        ("x = 0.3", "mass = 'heavy'", "mass"),
        (
            "x = -1.0\ny = 0.6",
            "x = 0.2\ny = 0.3\nsize = [0.3, 0.3, 0.8]",
            "object 1 is in obstacle 1",
        ),
        ("[[obstacles]]", "[[objects]]\nx = 0.34\ny = -0.06\n[[obstacles]]", "1 is in object 2"),
        ("[[objects]]", "[[tables]]\nx = 0.5\n[[objects]]", "table 1 is in table 2"),
        ("y = 0.6", "y = 0.6\n[[obstacles]]\nx = 0.25\ny = 0.6", "table 1 is in obstacle 2"),
        ("x = -2.0, y = 0.4", "x = 0.2, y = -0.5", "the start is in table 1"),
        ("x = -2.0, y = 0.4", "x = -0.9, y = 0.5", "the start is in obstacle 1"),
    ):
        file.write_text(FILE.replace(old, new))
        with pytest.raises(KinetariumError, match=said):
            read_table_scene(file)
