"""RoomSetup: what is in a room, and the scene made of it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import numpy as np

from kinetarium.errors import KinetariumError
from kinetarium.model.diagnostics import RobotOptions
from kinetarium.model.robot import Box, Cylinder, Shape, Sphere
from kinetarium.ranges import Friction, Range
from kinetarium.roles.roles import BaseKind
from kinetarium.roles.studied_robot import StudiedRobot, open_robot
from kinetarium.scene import Body, Material, Scene, free_body, ground
from kinetarium.scene.standing import holding_servos, placed_robot
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.gravity import GRAVITY

ROBOT = "robot"
"""Name of the robot in the scene."""
MOST_OBJECTS = 20
"""Maximum number of objects; each may touch each."""
_THINNEST = 0.002
"""Least size of an object, that of a step at 1 m/s [m]."""

Vector = tuple[float, float, float]


class RoomError(KinetariumError):
    """A room that cannot be opened as asked, or a command that does not fit it."""


class ObjectShape(StrEnum):
    """The shapes of objects."""

    BOX = "box"
    SPHERE = "sphere"
    CYLINDER = "cylinder"


@dataclass(frozen=True, kw_only=True)
class RoomObject:
    """A free body of uniform density.

    Attributes:
        shape: Its shape.
        size: Edges of a box; of the others the diameter and, of a cylinder, the length along z are
            the first and the third [m].
        mass: Its mass [kg].
        position: Where it starts [m].
        friction: Coulomb coefficient of its surface [-].
    """

    shape: ObjectShape = ObjectShape.BOX
    size: Annotated[Vector, Range(_THINNEST, 5.0, unit="m")] = (0.1, 0.1, 0.1)
    mass: Annotated[float, Range(1e-3, 1e3, unit="kg")] = 1.0
    position: Annotated[Vector, Range(-50.0, 50.0, unit="m")] = (0.5, 0.0, 0.5)
    friction: Friction = 0.8

    def body(self, name: str) -> Body:
        """Return it as a body."""
        width, _, length = self.size
        shapes: dict[ObjectShape, Shape] = {
            ObjectShape.BOX: Box(self.size),
            ObjectShape.SPHERE: Sphere(width / 2),
            ObjectShape.CYLINDER: Cylinder(width / 2, length),
        }
        surface = Material(friction=self.friction)
        return free_body(
            name, shapes[self.shape], mass=self.mass, position=self.position, material=surface
        )


@dataclass(frozen=True, kw_only=True)
class RoomSetup:
    """Everything in a room.

    Attributes:
        robot: Name of a robot in the catalogue, or the identifier of a file that was given; empty
            for none.
        engine: The engine.
        base: How the root of the robot moves; None as the robot is built.
        servo: Natural frequency of the position servos of its joints [Hz]; 0 for none.
        gravity: Gravity [m/s^2].
        ground: Whether there is a ground at z = 0.
        friction: Coulomb coefficient of the ground and of the robot [-].
        objects: The objects.
        timestep: Time step [s].
    """

    robot: str = "panda"
    engine: str = "mujoco"
    base: BaseKind | None = None
    servo: Annotated[float, Range(0.0, 30.0, unit="Hz")] = 4.0
    gravity: Annotated[Vector, Range(-100.0, 100.0, unit="m/s^2")] = (0.0, 0.0, -GRAVITY)
    ground: bool = True
    friction: Friction = 0.8
    objects: tuple[RoomObject, ...] = ()
    timestep: Annotated[float, Range(1e-4, 5e-3, unit="s")] = 2e-3

    def check(self) -> None:
        """Check what the types do not say.

        Raises:
            RoomError: If there are too many objects, or nothing at all.
        """
        if len(self.objects) > MOST_OBJECTS:
            raise RoomError(f"a room may have up to {MOST_OBJECTS} objects")
        if not (self.robot or self.objects):
            raise RoomError("the room is empty: choose a robot or add an object")

    def open_robot(self, *, file: str, folder: str) -> StudiedRobot | None:
        """Open the robot, if there is one.

        Args:
            file: Its file, or empty for a robot of the catalogue.
            folder: The folder of its meshes.

        Raises:
            KinetariumError: If it is refused or unknown.
        """
        if not self.robot:
            return None
        options = RobotOptions(mesh_root=(folder,) if file else ())
        return open_robot(file or self.robot, options=options, base=self.base)

    def scene(self, robot: StudiedRobot | None) -> Scene:
        """Return the scene: the robot in its home pose, and the objects."""
        robots = []
        surface = Material(friction=self.friction)
        if robot is not None:
            drives = holding_servos(robot, frequency=self.servo) if self.servo > 0 else {}
            robots.append(placed_robot(robot, name=ROBOT, actuation=drives, material=surface))
        bodies = [thing.body(f"object {n}") for n, thing in enumerate(self.objects, 1)]
        if self.ground:
            bodies.insert(0, ground(surface))
        return Scene(tuple(robots), tuple(bodies), gravity=frozen(np.array(self.gravity)))
