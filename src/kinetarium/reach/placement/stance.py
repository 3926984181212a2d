"""Stance: how a robot stands on a plane, and whether there is room for it.

Maps and the search know the arm's base link alone. The robot that carries it may be a vehicle:
its root is so high that it rests on its wheels, its chassis must be clear of obstacles, and so
must the arm in the posture in which it travels.
"""

from dataclasses import dataclass
from math import cos, sin
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.dynamics.chain import ChainArrays, SerialChain
from kinetarium.dynamics.kinematics import link_poses
from kinetarium.errors import KinetariumError
from kinetarium.model.robot import Geometry
from kinetarium.reach.arm import Arm
from kinetarium.reach.collision.arm_in_scene import carry
from kinetarium.reach.collision.check import collides
from kinetarium.reach.collision.kept_pieces import kept_pieces
from kinetarium.reach.collision.piece_arrays import PieceArrays
from kinetarium.reach.collision.pieces import with_obstacles
from kinetarium.roles.roles import BaseKind
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_about

UPRIGHT = 1e-6
"""Greatest sine of the angle between the axes z of the root and of the base link."""


@dataclass(frozen=True, slots=True, eq=False)
class Stance:
    """How a robot stands on a plane.

    Attributes:
        kind: How its root moves.
        height: Height of its base link above the plane [m].
        X_RB: Pose of the base link in the root's frame, shape (4, 4).
    """

    kind: BaseKind
    height: float
    X_RB: Array


def find_stance(chain: SerialChain, *, base: BaseKind | None = None) -> Stance:
    """Find how a robot stands: one whose root is not fixed rests with its lowest shape.

    Args:
        chain: The arm; the base link of a fixed robot stands on the plane itself.
        base: How its root moves; by default as its roles say.

    Raises:
        KinetariumError: If the base link of a robot that moves is not upright.
    """
    model = chain.model
    names = [link.name for link in model.links]
    X = link_poses(model, chain.held)
    X_RB = inverse_pose(X[names.index(model.root)]) @ X[names.index(chain.base_link)]
    kind = base or _kind(chain)
    if kind is BaseKind.FIXED:
        return Stance(kind, 0.0, X_RB)
    if np.hypot(X_RB[0, 2], X_RB[1, 2]) > UPRIGHT or X_RB[2, 2] < 0:
        raise KinetariumError(
            f"the base link '{chain.base_link}' is not upright on '{model.root}': "
            "build the map with --base-link of a link that is"
        )
    # Imported here: it loads the library of dynamics, which arms alone do not need.
    from kinetarium.scene.standing import lowest_point

    moving = [joint.name for joint in model.moving_joints]
    held = dict(zip(moving, chain.held.tolist(), strict=True))
    return Stance(kind, float(X_RB[2, 3]) - lowest_point(model, held), X_RB)


def _kind(chain: SerialChain) -> BaseKind:
    model = chain.model
    if model.free_base:
        return BaseKind.FREE
    carried = {model.joint(name).child for name in chain.joints}
    for joint in model.joints:
        if joint.parent in carried:
            carried.add(joint.child)
    if all(joint.child in carried for joint in model.moving_joints):
        return BaseKind.FIXED  # nothing moves but the arm and what it carries: there is no wheel
    from kinetarium.roles.find import find_roles

    return find_roles(model).base.kind


class Room(NamedTuple):
    """A whole robot in its travelling posture among obstacles, for kernels.

    Attributes:
        pieces: The robot, with the obstacles in the base link's frame; updated.
        in_plane: The same with the obstacles in the frame of the plane of base links.
        X: Frames of the chain in the travelling posture, shape (joints + 2, 3, 4).
        q: That posture [rad or m], shape (joints,).
        last: The last contact, as in `collides`, shape (3,); updated.
    """

    pieces: PieceArrays
    in_plane: PieceArrays
    X: Array
    q: Array
    last: NDArray[np.int64]


def make_room(arm: Arm, shapes: tuple[Geometry, ...], *, q: Array) -> Room:
    """Put a whole robot among obstacles.

    Args:
        shapes: The obstacles in the frame of the plane of base links; the ground is not one.
        q: The travelling posture [rad or m], shape (joints,).
    """
    in_plane = arm.ik.pieces
    pairs = np.zeros((0, 2), dtype=np.int64)
    if shapes:
        own = arm.pieces if arm.pieces is not None else kept_pieces(arm.chain)
        in_plane = with_obstacles(own, shapes)
        last = len(in_plane.bodies) - 1
        # The chassis is the largest body and touches first.
        filled = np.flatnonzero(np.diff(in_plane.body_starts)[:last])
        pairs = np.column_stack([filled, np.full_like(filled, last)])
    in_plane = in_plane._replace(pairs=pairs)
    moved = in_plane._replace(
        places=in_plane.places.copy(),
        clusters=in_plane.clusters.copy(),
        bodies=in_plane.bodies.copy(),
    )
    return Room(moved, in_plane, _frames(arm.ik.chain, q), q, np.full(3, -1))


def _frames(chain: ChainArrays, q: Array) -> Array:
    """Return the frames of a chain as `forward.place` writes them, without loading its kernel."""
    X = [pose()]
    for frame, slides, position in zip(chain.frames, chain.prismatic, q, strict=False):
        turn = np.eye(3) if slides else rotation_about((0, 0, 1), position)
        motion = pose((0, 0, position if slides else 0.0), turn)
        X.append(X[-1] @ np.vstack([frame, [0, 0, 0, 1]]) @ motion)
    X.append(X[-1] @ np.vstack([chain.frames[-1], [0, 0, 0, 1]]))
    return np.ascontiguousarray([each[:3] for each in X])


@compiled
def has_room(room: Room, X_BP: Array) -> bool:
    """Return whether a whole robot is clear of obstacles.

    Args:
        X_BP: Pose of the plane's frame in that of the base link, shape (3, 4).
    """
    if not len(room.pieces.pairs):
        return True
    carry(room.in_plane, room.pieces, X_BP)
    return not collides(room.pieces, room.X, room.q, room.last)


@compiled
def have_room(room: Room, bases: Array) -> NDArray[np.bool_]:
    """Return which bases, x, y [m] and yaw [rad] in the plane's frame, shape (n, 3), are free."""
    free, X_BP = np.empty(len(bases), dtype=np.bool_), np.empty((3, 4))
    for n in range(len(bases)):
        plane_seen_from(bases[n, 0], bases[n, 1], bases[n, 2], X_BP)
        free[n] = has_room(room, X_BP)
    return free


@compiled
def plane_seen_from(x: float, y: float, yaw: float, X_BP: Array) -> None:
    """Write the pose of the plane's frame in that of a base at x, y [m] and yaw [rad]."""
    c, s = cos(yaw), sin(yaw)
    X_BP[0, 0], X_BP[0, 1], X_BP[0, 2], X_BP[0, 3] = c, s, 0.0, -(c * x + s * y)
    X_BP[1, 0], X_BP[1, 1], X_BP[1, 2], X_BP[1, 3] = -s, c, 0.0, s * x - c * y
    X_BP[2, 0], X_BP[2, 1], X_BP[2, 2], X_BP[2, 3] = 0.0, 0.0, 1.0, 0.0
