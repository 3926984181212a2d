"""ArmInScene: an arm with obstacles, for bases that move."""

from typing import NamedTuple

import numpy as np

from kinetarium.model.robot import Box, Geometry
from kinetarium.reach.arm import Arm
from kinetarium.reach.collision.check import collides, no_last_contact
from kinetarium.reach.collision.kept_pieces import kept_pieces
from kinetarium.reach.collision.piece_arrays import PieceArrays
from kinetarium.reach.collision.pieces import with_obstacles
from kinetarium.reach.ik.solver import IkArrays
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled
from kinetarium.spatial.rotation import pose

_GROUND = 100.0
"""Length and width of the ground [m]; it is 1 m thick."""


class Obstacles(NamedTuple):
    """Obstacles of an arm.

    Attributes:
        shapes: Shapes in the frame of the plane of bases.
        ground: Whether the plane itself is solid; the base stands on it.
    """

    shapes: tuple[Geometry, ...] = ()
    ground: bool = False

    def __bool__(self) -> bool:
        """Return whether there is any."""
        return bool(self.shapes) or self.ground


class ArmInScene(NamedTuple):
    """The solver's arrays with obstacles as their last body.

    The solver takes obstacles in the base's frame; `move_base` transforms them.

    Attributes:
        ik: The solver's arrays, with the obstacles in the base's frame; updated.
        in_plane: The same pieces with the obstacles in the plane's frame.
        base: Pieces for checking the base itself against the obstacles; updated.
        base_in_plane: The same with the obstacles in the plane's frame.
    """

    ik: IkArrays
    in_plane: PieceArrays
    base: PieceArrays
    base_in_plane: PieceArrays


NO_OBSTACLES = Obstacles()


def put_arm_in_scene(
    arm: Arm, obstacles: Obstacles = NO_OBSTACLES, *, height: float = 0.0
) -> ArmInScene:
    """Combine an arm with obstacles; what depends on the arm alone is not computed again.

    Args:
        height: Height of the plane of base links above the ground [m].
    """
    shapes, ground = obstacles
    in_plane = base_in_plane = arm.ik.pieces
    pairs = np.zeros((0, 2), dtype=np.int64)
    if obstacles:
        own = arm.pieces if arm.pieces is not None else kept_pieces(arm.chain)
        in_plane = with_obstacles(own, (*shapes, _ground(height)) if ground else shapes)
        last = len(in_plane.bodies) - 1
        if not len(arm.ik.pieces.pairs):
            in_plane = in_plane._replace(pairs=in_plane.pairs[in_plane.pairs[:, 1] == last])
        # The base stands on the ground, and must be clear of all else.
        base_in_plane = with_obstacles(own, shapes) if ground else in_plane
        if shapes and own.body_starts[0] < own.body_starts[1]:
            pairs = np.array([[0, last]])
    base_in_plane = base_in_plane._replace(pairs=pairs)
    return ArmInScene(
        arm.ik._replace(pieces=_writable(in_plane)),
        in_plane,
        _writable(base_in_plane),
        base_in_plane,
    )


def _ground(height: float) -> Geometry:
    """Return solid ground at a depth below the plane of base links [m]."""
    return Geometry(Box((_GROUND, _GROUND, 1.0)), pose((0.0, 0.0, -0.5 - height)))


def _writable(pieces: PieceArrays) -> PieceArrays:
    """Copy the arrays that `move_base` updates."""
    return pieces._replace(
        places=pieces.places.copy(), clusters=pieces.clusters.copy(), bodies=pieces.bodies.copy()
    )


@compiled
def move_base(scene: ArmInScene, X_BP: Array, X: Array) -> bool:
    """Move the base: transform the obstacles to its frame.

    Args:
        scene: The arm and its obstacles; the pieces of its solver are updated.
        X_BP: Pose of the plane's frame in the base's, shape (3, 4).
        X: Frames of the chain, the first of which is the base's, shape (joints + 2, 3, 4).

    Returns:
        Whether the base itself is clear of obstacles.
    """
    carry(scene.in_plane, scene.ik.pieces, X_BP)
    if not len(scene.base.pairs):
        return True
    carry(scene.base_in_plane, scene.base, X_BP)
    X[0] = 0.0
    X[0, 0, 0] = X[0, 1, 1] = X[0, 2, 2] = 1.0
    return not collides(scene.base, X, np.empty(0), no_last_contact())


@compiled
def carry(in_plane: PieceArrays, moved: PieceArrays, X_BP: Array) -> None:
    """Write the last body of pieces in the frame of the base."""
    last = len(in_plane.bodies) - 1
    if last < 0:
        return
    start, end = in_plane.body_starts[last], in_plane.body_starts[last + 1]
    for i in range(in_plane.cluster_starts[start], in_plane.cluster_starts[end]):
        for row in range(3):
            for column in range(4):
                total = X_BP[row, 3] if column == 3 else 0.0
                for k in range(3):
                    total += X_BP[row, k] * in_plane.places[i, k, column]
                moved.places[i, row, column] = total
    for row in range(3):
        for i in range(start, end):
            moved.clusters[i, row] = _along(X_BP, row, in_plane.clusters[i])
        moved.bodies[last, row] = _along(X_BP, row, in_plane.bodies[last])


@compiled
def _along(X: Array, row: int, p: Array) -> float:
    total: float = X[row, 0] * p[0] + X[row, 1] * p[1] + X[row, 2] * p[2] + X[row, 3]
    return total
