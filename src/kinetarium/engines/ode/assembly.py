"""A scene as ODE knows it: rigid pieces, each joined to one above it, the world or nothing."""

from dataclasses import dataclass

import numpy as np

from kinetarium.engines.protocol import Layout
from kinetarium.model.robot import Inertia, Joint, JointType
from kinetarium.scene import Base, Motion, PlacedRobot, Scene
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import Array, frozen

WORLD = -1
"""Stands for the index of a piece where the world itself is meant."""
NONE = -1
"""Stands for an index where there is nothing to point at."""
_NEGLIGIBLE = 1e-6
"""Share of a robot's mass given to a piece without any: ODE cannot move what has no mass."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A rigid body that moves.

    Attributes:
        name: The solid whose frame is the piece's frame.
        parent: Index of the piece above, or WORLD.
        joint: The joint to it, FIXED only where a sensor sits; None for what floats freely.
        X_PJ: Pose of the joint at position zero in the frame of the parent, shape (4, 4).
        coordinate: Index into `layout.joints`, or NONE.
        floating: Index into `layout.floating`, or NONE.
        inertia: Mass properties.
        members: The solids it consists of.
    """

    name: str
    parent: int
    joint: Joint | None
    X_PJ: Array
    coordinate: int
    floating: int
    inertia: Inertia
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Assembly:
    """All pieces of a scene, a parent before its children.

    Attributes:
        pieces: The pieces.
        homes: For each solid of the layout the piece it is part of, or WORLD, and its pose there.
        massless: Names of the pieces that were given a negligible mass.
    """

    pieces: tuple[Piece, ...]
    homes: dict[str, tuple[int, Array]]
    massless: tuple[str, ...]


def assemble(scene: Scene, layout: Layout) -> Assembly:
    """Take a scene apart into pieces."""
    pieces: list[Piece] = []
    homes: dict[str, tuple[int, Array]] = {}
    massless: list[str] = []
    for robot in scene.robots:
        kept = {sensor.joint for sensor in scene.sensors if sensor.robot == robot.name}
        massless += _add_robot(robot, kept, layout, pieces, homes)
    for body in scene.bodies:
        if body.motion is Motion.FREE and body.inertia is not None:
            homes[body.name] = (len(pieces), frozen(np.eye(4)))
            floating = layout.floating.index(body.name)
            pieces.append(
                Piece(body.name, WORLD, None, body.X_WB, NONE, floating, body.inertia, (body.name,))
            )
        else:
            homes[body.name] = (WORLD, body.X_WB)
    return Assembly(tuple(pieces), homes, tuple(massless))


def _add_robot(
    robot: PlacedRobot,
    kept: set[str],
    layout: Layout,
    pieces: list[Piece],
    homes: dict[str, tuple[int, Array]],
) -> list[str]:
    """Add the pieces of a robot; give the names of those without mass."""
    massless = []
    # For each body of the tree its piece and its pose there; only a held root is not a piece.
    places: list[tuple[int, Array]] = []
    for body in rigid_tree(robot.model, keep=kept):
        name = f"{robot.name}/{body.name}"
        members = tuple(f"{robot.name}/{link}" for link, _ in body.members)
        if body.joint is None and robot.base is Base.FIXED:
            places.append((WORLD, robot.X_WB))
        else:
            parent, X_PB = places[body.parent] if body.joint else (WORLD, robot.X_WB)
            X_PJ = frozen(X_PB @ body.X_PJ)
            coordinate = floating = NONE
            if body.joint is None:
                floating = layout.floating.index(name)
            elif body.joint.type is not JointType.FIXED:
                coordinate = layout.joints.index(f"{robot.name}/{body.joint.name}")
            inertia = body.inertia
            if inertia is None:
                massless.append(name)
                mass = _NEGLIGIBLE * robot.model.mass
                inertia = Inertia(mass, frozen(np.zeros(3)), frozen(1e-4 * mass * np.eye(3)))
            places.append((len(pieces), frozen(np.eye(4))))
            pieces.append(
                Piece(name, parent, body.joint, X_PJ, coordinate, floating, inertia, members)
            )
        piece, X = places[-1]
        for solid, (_, X_BL) in zip(members, body.members, strict=True):
            homes[solid] = (piece, frozen(X @ X_BL))
    return massless
