"""Tables with objects, obstacles between them and a robot, and where the robot starts.

A scene is random by a seed, or read from a TOML file; lengths in metres, angles in degrees:

    start = { x = -2.0, y = 0.4, yaw = 30 }

    [[tables]]
    x = 0.0
    y = 0.0
    size = [1.2, 0.6, 0.7]    # height last; closed = true for a solid block

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

from dataclasses import dataclass
from math import cos, hypot, radians, sin
from pathlib import Path
from typing import Annotated

import numpy as np

from kinetarium.errors import KinetariumError
from kinetarium.model.robot import Box, Geometry
from kinetarium.ranges import Range
from kinetarium.scene.body import DRY, Body, Material, free_body
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_about
from kinetarium.storage.serialization import from_builtins, read_toml

Length = Annotated[float, Range(-100.0, 100.0, unit="m")]
Angle = Annotated[float, Range(-360.0, 360.0, unit="deg")]
Size = Annotated[tuple[float, float, float], Range(0.005, 20.0, unit="m")]
Mass = Annotated[float, Range(1e-3, 100.0, unit="kg")]

TOP = 0.04
"""Thickness of a table's top [m]."""
LEG = 0.05
"""Edge of a table's legs [m]."""
_FARTHEST = 50
"""Most tables, objects or obstacles of a file."""


class TableSceneError(KinetariumError):
    """A scene with tables that is invalid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stand:
    """A pose on the ground.

    Attributes:
        x: Position [m].
        y: Position [m].
        yaw: Heading [deg].
    """

    x: Length = 0.0
    y: Length = 0.0
    yaw: Angle = 0.0

    @property
    def frame(self) -> Array:
        """The pose as a matrix, shape (4, 4)."""
        return pose((self.x, self.y, 0.0), rotation_about((0.0, 0.0, 1.0), radians(self.yaw)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Table(Stand):
    """A table: a top on four legs, or a solid block.

    Attributes:
        size: Length, width and height [m].
        closed: Whether it is solid below its top.
    """

    size: Size = (1.2, 0.6, 0.7)
    closed: bool = False

    def boxes(self) -> list[tuple[str, Geometry]]:
        """Return its parts in the world, by name."""
        length, width, height = self.size
        if self.closed:
            return [("block", self._box(self.size, (0.0, 0.0, height / 2)))]
        parts = [("top", self._box((length, width, TOP), (0.0, 0.0, height - TOP / 2)))]
        for i, (along, aside) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1)), 1):
            foot = (along * (length - LEG) / 2, aside * (width - LEG) / 2, (height - TOP) / 2)
            parts.append((f"leg{i}", self._box((LEG, LEG, height - TOP), foot)))
        return parts

    def _box(self, size: tuple[float, float, float], at: tuple[float, float, float]) -> Geometry:
        return Geometry(Box(size), frozen(self.frame @ pose(at)))


@dataclass(frozen=True, slots=True, kw_only=True)
class TableObject(Stand):
    """A box on a table; x, y and yaw are in the table's frame, from its centre.

    Attributes:
        table: Number of its table, from 1 on.
        size: Its edges, height last [m].
        mass: Its mass [kg].
    """

    table: Annotated[int, Range(1, _FARTHEST, unit="-")] = 1
    size: Size = (0.05, 0.05, 0.10)
    mass: Mass = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle(Stand):
    """A box on the ground.

    Attributes:
        size: Its edges, height last [m].
    """

    size: Size = (0.3, 0.3, 0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableScene:
    """Tables, objects, obstacles, and the start of a robot.

    Attributes:
        start: Where the robot's root starts.
        tables: The tables.
        objects: The objects on them.
        obstacles: Boxes on the ground.
    """

    start: Stand
    tables: tuple[Table, ...]
    objects: tuple[TableObject, ...]
    obstacles: tuple[Obstacle, ...] = ()

    def object_pose(self, index: int) -> Array:
        """Return the pose of an object's centre in the world, shape (4, 4)."""
        held = self.objects[index]
        table = self.tables[held.table - 1]
        above = pose((0.0, 0.0, table.size[2] + held.size[2] / 2))
        return np.asarray(table.frame @ held.frame @ above)

    def standing(self) -> list[tuple[str, Geometry]]:
        """Return what is fixed to the ground, as shapes in the world by name."""
        parts = [
            (f"table{i}_{part}", geometry)
            for i, table in enumerate(self.tables, 1)
            for part, geometry in table.boxes()
        ]
        for i, box in enumerate(self.obstacles, 1):
            X_WO = box.frame @ pose((0.0, 0.0, box.size[2] / 2))
            parts.append((f"obstacle{i}", Geometry(Box(box.size), frozen(X_WO))))
        return parts

    def outlines(self) -> list[tuple[str, Array]]:
        """Return the closed outlines of tables and obstacles on the ground [m], by name."""
        corners = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1], [1, 1]]) / 2
        named = [(f"table {i}", one.size, one.frame) for i, one in enumerate(self.tables, 1)]
        named += [(f"obstacle {i}", one.size, one.frame) for i, one in enumerate(self.obstacles, 1)]
        return [(name, corners * size[:2] @ X[:2, :2].T + X[:2, 3]) for name, size, X in named]

    def object_shapes(self) -> list[Geometry]:
        """Return the objects as shapes in the world."""
        return [
            Geometry(Box(held.size), frozen(self.object_pose(i)))
            for i, held in enumerate(self.objects)
        ]

    def bodies(self, material: Material = DRY) -> tuple[Body, ...]:
        """Return everything but robot and ground as bodies; object 1 is named "object1"."""
        fixed = [
            Body(name, geometry.shape, X_WB=geometry.X_LG, material=material)
            for name, geometry in self.standing()
        ]
        free = []
        for i, held in enumerate(self.objects):
            X_WO = self.object_pose(i)
            free.append(
                free_body(
                    object_name(i),
                    Box(held.size),
                    mass=held.mass,
                    position=X_WO[:3, 3],
                    rotation=X_WO[:3, :3],
                    material=material,
                )
            )
        return (*free, *fixed)


def object_name(index: int) -> str:
    """Return the name of an object's body."""
    return f"object{index + 1}"


def read_table_scene(path: Path) -> TableScene:
    """Read a scene from a TOML file.

    Raises:
        KinetariumError: If it cannot be read, or is not such a scene.
    """
    scene = from_builtins(TableScene, read_toml(path), where=repr(str(path)))
    for what in ("tables", "objects", "obstacles"):
        if len(getattr(scene, what)) > _FARTHEST:
            raise TableSceneError(f"{str(path)!r}: it has more than {_FARTHEST} {what}")
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
    return scene


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
        if all(_distance(table, x, y) >= _CLEAR_OF_TABLES for table in tables):
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
            _distance(table, x, y) >= _CLEAR_OF_TABLES for table in tables
        ):
            a, b, height = rng.uniform((0.2, 0.2, 0.3), (0.4, 0.4, 0.8)).tolist()
            turn = float(rng.uniform(-180.0, 180.0))
            return Obstacle(x=float(x), y=float(y), yaw=turn, size=(a, b, height))
    return None


def _distance(table: Table, x: float, y: float) -> float:
    """Return the distance of a point on the ground from the outline of a table [m]."""
    turn = radians(table.yaw)
    dx, dy = x - table.x, y - table.y
    along, aside = cos(turn) * dx + sin(turn) * dy, cos(turn) * dy - sin(turn) * dx
    return hypot(max(abs(along) - table.size[0] / 2, 0.0), max(abs(aside) - table.size[1] / 2, 0.0))
