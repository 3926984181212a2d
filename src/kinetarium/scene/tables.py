"""Tables with objects, obstacles between them and a robot, and where the robot starts."""

from dataclasses import dataclass
from itertools import combinations
from math import cos, hypot, radians, sin
from typing import Annotated

import numpy as np

from kinetarium.model.robot import Box, Geometry
from kinetarium.ranges import Range
from kinetarium.scene.body import DRY, Body, Material, free_body
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_about

Length = Annotated[float, Range(-100.0, 100.0, unit="m")]
Angle = Annotated[float, Range(-360.0, 360.0, unit="deg")]
Size = Annotated[tuple[float, float, float], Range(0.005, 20.0, unit="m")]
Mass = Annotated[float, Range(1e-3, 100.0, unit="kg")]

TOP = 0.04
"""Thickness of a table's top [m]."""
LEG = 0.05
"""Edge of a table's legs [m]."""
_TOUCHING = 1e-6
"""Depth up to which boxes are beside each other [m]."""
MOST = 50
"""Most tables, objects or obstacles of a file."""


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
        closed: Whether it is solid below its top, as what is no higher than a top always is.
    """

    size: Size = (1.2, 0.6, 0.7)
    closed: bool = False

    def boxes(self) -> list[tuple[str, Geometry]]:
        """Return its parts in the world, by name."""
        length, width, height = self.size
        if self.closed or height <= TOP:
            return [("block", self._box(self.size, (0.0, 0.0, height / 2)))]
        parts = [("top", self._box((length, width, TOP), (0.0, 0.0, height - TOP / 2)))]
        for i, (along, aside) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1)), 1):
            foot = (along * (length - LEG) / 2, aside * (width - LEG) / 2, (height - TOP) / 2)
            parts.append((f"leg{i}", self._box((LEG, LEG, height - TOP), foot)))
        return parts

    def distance(self, x: float, y: float) -> float:
        """Return the distance of a point on the ground from its outline [m]."""
        turn = radians(self.yaw)
        dx, dy = x - self.x, y - self.y
        along, aside = cos(turn) * dx + sin(turn) * dy, cos(turn) * dy - sin(turn) * dx
        beyond = abs(along) - self.size[0] / 2, abs(aside) - self.size[1] / 2
        return hypot(max(beyond[0], 0.0), max(beyond[1], 0.0))

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

    table: Annotated[int, Range(1, MOST, unit="-")] = 1
    size: Size = (0.05, 0.05, 0.10)
    mass: Mass = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle(Stand):
    """A box on the ground.

    Attributes:
        size: Its edges, height last [m].
    """

    size: Size = (0.3, 0.3, 0.5)

    @property
    def box(self) -> Geometry:
        """The box in the world."""
        return Geometry(Box(self.size), frozen(self.frame @ pose((0.0, 0.0, self.size[2] / 2))))


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
        parts += [(f"obstacle{i}", one.box) for i, one in enumerate(self.obstacles, 1)]
        return parts

    def _grounds(self) -> list[tuple[str, tuple[float, float, float], Array]]:
        """Return name, size and frame on the ground of each table and obstacle."""
        named = [(f"table {i}", one.size, one.frame) for i, one in enumerate(self.tables, 1)]
        named += [(f"obstacle {i}", one.size, one.frame) for i, one in enumerate(self.obstacles, 1)]
        return named

    def outlines(self) -> list[tuple[str, Array]]:
        """Return the closed outlines of tables and obstacles on the ground [m], by name."""
        corners = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1], [1, 1]]) / 2
        return [
            (name, corners * size[:2] @ X[:2, :2].T + X[:2, 3]) for name, size, X in self._grounds()
        ]

    def object_shapes(self) -> list[Geometry]:
        """Return the objects as shapes in the world."""
        return [
            Geometry(Box(held.size), frozen(self.object_pose(i)))
            for i, held in enumerate(self.objects)
        ]

    def overlap(self) -> tuple[str, str] | None:
        """Return the names of two things of which one is in the other, or None.

        Obstacles may be in each other: boxes make up others. What is low may be below a table,
        but no start.
        """
        objects = [(f"object {i}", [one]) for i, one in enumerate(self.object_shapes(), 1)]
        tables = [
            (f"table {i}", [part for _, part in one.boxes()])
            for i, one in enumerate(self.tables, 1)
        ]
        obstacles = [(f"obstacle {i}", [one.box]) for i, one in enumerate(self.obstacles, 1)]
        fixed = {name for name, _ in obstacles}
        for (name, own), (other, shapes) in combinations((*objects, *tables, *obstacles), 2):
            if name not in fixed and any(_meet(a, b) for a in own for b in shapes):
                return name, other
        for name, size, X in self._grounds():
            x, y = (inverse_pose(X) @ self.start.frame)[:2, 3]
            if abs(x) < size[0] / 2 and abs(y) < size[1] / 2:
                return "the start", name
        return None

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


def _meet(a: Geometry, b: Geometry) -> bool:
    """Return whether two upright boxes are in each other, by separating axes."""
    axes = np.concatenate([np.eye(3), a.X_LG[:3, :3].T, b.X_LG[:3, :3].T])
    halves = []
    for each in (a, b):
        assert isinstance(each.shape, Box)
        halves.append(np.abs(axes @ each.X_LG[:3, :3]) @ np.array(each.shape.size) / 2)
    apart = np.abs(axes @ (a.X_LG[:3, 3] - b.X_LG[:3, 3]))
    return bool((apart < halves[0] + halves[1] - _TOUCHING).all())


def object_name(index: int) -> str:
    """Return the name of an object's body."""
    return f"object{index + 1}"
