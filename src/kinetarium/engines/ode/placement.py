"""Where every piece of an assembly is, and how fast, in a given state.

ODE solves J(x) v' = 0 for the velocities v' at the end of a step with the joints
as they stand at its start, and then moves the bodies. Velocities that already
satisfied J(x) v = 0 would therefore miss the centripetal acceleration in the
step to come. Those that are set lag behind by it, as those of a running
simulation do: v - h c, with the accelerations c that the pieces have when no
joint accelerates.

The gyroscopic torque is taken from the angular velocity in an implicit step of
its own, which turns the angular momentum L into I u with (I - h [L]) u = L
(Lacoursiere, "Stabilizing gyroscopic forces in rigid multibody simulations",
2006). The L that is set is the one from which that step arrives where the true
torque leads.
"""

from typing import NamedTuple

import numpy as np

from kinetarium.engines.ode.assembly import NONE, Assembly, Piece
from kinetarium.engines.protocol import State
from kinetarium.model.robot import JointType
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose, rotation_from_quaternion


class Placement(NamedTuple):
    """Poses and velocities of n pieces.

    Attributes:
        X_WB: Poses, shape (n, 4, 4).
        V_WC: Velocities of the centres of mass and angular velocities, lagging behind by the
            time step to come [m/s, rad/s], shape (n, 6).
    """

    X_WB: Array
    V_WC: Array


def placement(assembly: Assembly, state: State, *, timestep: float) -> Placement:
    """Place every piece.

    Args:
        assembly: The pieces.
        state: The state.
        timestep: Time step [s].
    """
    n = len(assembly.pieces)
    # At the origins of the pieces; the last row is the world's, which the index WORLD finds.
    X_WB = np.tile(np.eye(4), (n + 1, 1, 1))
    V, A = np.zeros((2, n + 1, 6))
    V_WC = np.zeros((n, 6))
    for i, piece in enumerate(assembly.pieces):
        if piece.joint is None:
            X_WB[i] = pose(
                state.poses[piece.floating, :3],
                rotation_from_quaternion(state.poses[piece.floating, 3:]),
            )
            V[i] = state.twists[piece.floating]
            # What floats moves its centre of mass evenly if nothing accelerates it.
            A[i, :3] = -_centripetal(V[i, 3:], X_WB[i, :3, :3] @ piece.inertia.center)
        else:
            X_WB[i] = X_WB[piece.parent] @ piece.X_PJ @ _moved(piece, state)
            V[i], A[i] = _carried(piece, state, X_WB, V[piece.parent], A[piece.parent], i)
        V_WC[i] = _lagging(piece, X_WB[i, :3, :3], V[i], A[i], timestep)
    return Placement(X_WB[:n], V_WC)


def motion(piece: Piece, q: float) -> Array:
    """Give the pose of a moved joint [rad or m] against its position zero, shape (4, 4)."""
    if piece.joint is None or piece.coordinate == NONE:
        return pose()
    if piece.joint.type is JointType.PRISMATIC:
        return pose(q * piece.joint.axis)
    return pose(rotation=so3.exp(q * piece.joint.axis))


def _moved(piece: Piece, state: State) -> Array:
    return motion(piece, 0.0 if piece.coordinate == NONE else state.q[piece.coordinate])


def _carried(
    piece: Piece, state: State, X_WB: Array, V_P: Array, A_P: Array, i: int
) -> tuple[Array, Array]:
    """Give the twist of a piece on a moving parent and its acceleration at a steady joint."""
    assert piece.joint is not None
    arm = X_WB[i, :3, 3] - X_WB[piece.parent, :3, 3]
    V, A = V_P.copy(), A_P.copy()
    V[:3] += np.cross(V_P[3:], arm)
    A[:3] += np.cross(A_P[3:], arm) + _centripetal(V_P[3:], arm)
    if piece.coordinate != NONE:
        along = state.v[piece.coordinate] * (X_WB[i, :3, :3] @ piece.joint.axis)
        if piece.joint.type is JointType.PRISMATIC:
            V[:3] += along
            A[:3] += 2 * np.cross(V_P[3:], along)
        else:
            V[3:] += along
            A[3:] += np.cross(V_P[3:], along)
    return V, A


def _lagging(piece: Piece, R: Array, V: Array, A: Array, timestep: float) -> Array:
    """Give the velocity to set of a centre of mass and the angular velocity, shape (6,)."""
    arm = R @ piece.inertia.center
    v = V[:3] + np.cross(V[3:], arm)
    a = A[:3] + np.cross(A[3:], arm) + _centripetal(V[3:], arm)
    moment = R @ piece.inertia.moment @ R.T
    wanted = moment @ (V[3:] - timestep * A[3:]) - timestep * np.cross(V[3:], moment @ V[3:])
    u = np.linalg.solve(moment, wanted)
    L = np.linalg.solve(np.eye(3) - timestep * so3.hat(u), wanted)
    w = np.linalg.solve(moment, L)
    return np.concatenate([v - timestep * a, w])


def _centripetal(w: Array, arm: Array) -> Array:
    return np.cross(w, np.cross(w, arm))
