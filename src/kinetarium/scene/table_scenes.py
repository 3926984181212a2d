"""Scenes with tables: random by seed, or read from a TOML file.

In a file lengths are in metres, angles in degrees:

    start = { x = -2.0, y = 0.4, yaw = 30 }

    [[tables]]
    x = 0.0
    y = 0.0
    size = [1.2, 0.6, 0.7]    # height last; closed = true for a solid block, as up to 0.04 m

    [[objects]]
    table = 1                 # the first one; x and y are in its frame, from its centre
    x = 0.3
    y = -0.1
    size = [0.05, 0.05, 0.1]
    mass = 0.5

    [[obstacles]]
    x = -1.0
    y = 0.6
    size = [0.3, 0.3, 0.5]
"""

from math import cos, hypot, sin
from pathlib import Path

import numpy as np

from kinetarium.errors import KinetariumError
from kinetarium.scene.tables import MOST, Obstacle, Stand, Table, TableObject, TableScene
from kinetarium.spatial.arrays import Array
from kinetarium.storage.serialization import from_builtins, read_toml


class TableSceneError(KinetariumError):
    """A scene with tables that is invalid."""


def read_table_scene(path: Path) -> TableScene:
    """Read a scene from a TOML file.

    Raises:
        KinetariumError: If it cannot be read, or is not such a scene.
    """
    scene = from_builtins(TableScene, read_toml(path), where=repr(str(path)))
    for what in ("tables", "objects", "obstacles"):
        if len(getattr(scene, what)) > MOST:
            raise TableSceneError(f"{str(path)!r}: it has more than {MOST} {what}")
    if not scene.tables or not scene.objects:
        raise TableSceneError(f"{str(path)!r}: a scene needs a table and an object")
    for number, held in enumerate(scene.objects, 1):
        if held.table > len(scene.tables):
            raise TableSceneError(
                f"{str(path)!r}: object {number} is on table {held.table}, and there"
                f" {'is' if len(scene.tables) == 1 else 'are'} {len(scene.tables)}"
            )
        length, width, _ = scene.tables[held.table - 1].size
        if abs(held.x) > length / 2 or abs(held.y) > width / 2:
            raise TableSceneError(f"{str(path)!r}: object {number} is not above its table")
        if abs(held.x) > length / 2 - _STEADY or abs(held.y) > width / 2 - _STEADY:
            raise TableSceneError(
                f"{str(path)!r}: object {number} would tip over the edge of its table, which is"
                f" less than {1e3 * _STEADY:g} mm beyond its centre"
            )
    if found := scene.overlap():
        raise TableSceneError(f"{str(path)!r}: {found[0]} is in {found[1]}")
    return scene


_STEADY = 0.005
"""Least distance of an object's centre from the edge of its table [m]: it must not tip over."""
_EDGE = 0.08
"""Least distance of an object's centre from the edge of a random table [m]."""
_APART = 0.16
"""Least distance of two objects' centres [m]: room for fingers between them."""
_NEAR, _FAR = 1.5, 3.0
"""Distance of the start from the first object [m]."""
_TABLES_APART = (2.4, 3.2)
"""Distance of neighbouring tables [m]."""
_CLEAR_OF_START = 1.0
"""Least distance of an obstacle's centre from the start [m]: the robot may turn there."""
_CLEAR_OF_TABLES = 0.9
"""Least distance of the start, and of obstacles, from a table's edge [m]."""
_TRIES = 2000


def random_table_scene(*, seed: int, scene: int, objects: int = 1, tables: int = 1) -> TableScene:
    """Return a random scene: tables and objects, one or two boxes between them and the robot.

    Objects are equal boxes at random places and yaws, obstacles boxes of 0.2 to 0.4 m. The robot
    starts 1.5 to 3 m from the first object, with any heading.

    Args:
        seed: Seed of the series of scenes.
        scene: Number of the scene in the series.
        objects: How many objects.
        tables: How many tables, in a row; objects are dealt to them in turn.

    Raises:
        TableSceneError: If there is no room for the objects.
    """
    rng = np.random.default_rng((seed, scene))
    row = [Table(yaw=float(rng.uniform(-180.0, 180.0)))]
    for _ in range(tables - 1):
        away, angle = rng.uniform(*_TABLES_APART), rng.uniform(-0.5, 0.5)
        row.append(
            Table(
                x=row[-1].x + away * cos(angle),
                y=row[-1].y + away * sin(angle),
                yaw=float(rng.uniform(-180.0, 180.0)),
            )
        )
    held: list[TableObject] = []
    for i in range(objects):
        held.append(_random_object(rng, [one for one in held if one.table == i % tables + 1],
                                   table=row[i % tables], number=i % tables + 1))  # fmt: skip
    first = TableScene(start=Stand(), tables=tuple(row), objects=tuple(held)).object_pose(0)[:2, 3]
    start = _random_start(rng, row, first)
    boxes: list[Obstacle] = []
    for _ in range(int(rng.integers(1, 3))):
        box = _random_obstacle(rng, row, start=start, first=first)
        if box is not None:
            boxes.append(box)
    return TableScene(start=start, tables=tuple(row), objects=tuple(held), obstacles=tuple(boxes))


def _random_object(
    rng: np.random.Generator, others: list[TableObject], *, table: Table, number: int
) -> TableObject:
    length, width, _ = table.size
    for _ in range(_TRIES):
        x = float(rng.uniform(-1.0, 1.0)) * (length / 2 - _EDGE)
        y = float(rng.uniform(-1.0, 1.0)) * (width / 2 - _EDGE)
        if all(hypot(x - one.x, y - one.y) >= _APART for one in others):
            return TableObject(x=x, y=y, yaw=float(rng.uniform(-180.0, 180.0)), table=number)
    raise TableSceneError(f"there is no room for more than {len(others)} objects on a table")


def _random_start(rng: np.random.Generator, tables: list[Table], first: Array) -> Stand:
    for _ in range(_TRIES):
        away, angle = rng.uniform(_NEAR, _FAR), rng.uniform(-np.pi, np.pi)
        x, y = first + away * np.array([cos(angle), sin(angle)])
        if all(table.distance(x, y) >= _CLEAR_OF_TABLES for table in tables):
            return Stand(x=float(x), y=float(y), yaw=float(rng.uniform(-180.0, 180.0)))
    raise TableSceneError("there is no room for a robot between the tables")


def _random_obstacle(
    rng: np.random.Generator, tables: list[Table], *, start: Stand, first: Array
) -> Obstacle | None:
    """Return a box near the line from the start to the first object; None if there is no room."""
    begin = np.array([start.x, start.y])
    line = first - begin
    across = np.array([-line[1], line[0]]) / np.linalg.norm(line)
    for _ in range(_TRIES):
        x, y = begin + rng.uniform(0.2, 0.8) * line + rng.uniform(-1.0, 1.0) * across
        away = hypot(x - start.x, y - start.y)
        if away >= _CLEAR_OF_START and all(
            table.distance(x, y) >= _CLEAR_OF_TABLES for table in tables
        ):
            a, b, height = rng.uniform((0.2, 0.2, 0.3), (0.4, 0.4, 0.8)).tolist()
            turn = float(rng.uniform(-180.0, 180.0))
            return Obstacle(x=float(x), y=float(y), yaw=turn, size=(a, b, height))
    return None
