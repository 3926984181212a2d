"""Inverse kinematics of a chain by the solver that fits it, as a Numba kernel."""

from typing import NamedTuple

from kinetarium.dynamics.chain import ChainArrays
from kinetarium.reach.collision.piece_arrays import PieceArrays
from kinetarium.reach.ik import generic as generic_ik
from kinetarium.reach.ik import panda as panda_ik
from kinetarium.reach.ik.panda_geometry import PandaArrays
from kinetarium.reach.ik.start_table import StartTable
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled


class IkArrays(NamedTuple):
    """Everything that inverse kinematics needs to know of a robot.

    Attributes:
        chain: The chain.
        closed: Whether the closed form fits.
        panda: The parameters of the closed form, if it fits.
        table: Where the numerical search starts, if the closed form does not fit.
        pieces: What must not touch; no pieces where collisions do not count.
    """

    chain: ChainArrays
    closed: bool
    panda: PandaArrays
    table: StartTable
    pieces: PieceArrays


@compiled
def solve_many(ik: IkArrays, X_BT: Array, effort: int, best: bool, q: Array, w: Array) -> None:
    """Find joint positions that place the tool, for many poses.

    It holds no state and runs without Python's lock; threads may share the robot. Calls
    from other kernels should bring dozens of poses each: the arguments are many.

    Args:
        ik: The robot.
        X_BT: Poses of the tool in the base link's frame, shape (n, 3 or 4, 4).
        effort: How many positions of joint 7 (closed form) or starts (search) are tried
            at most for a pose.
        best: Whether to try them all and take the solution with the greatest
            manipulability, instead of the first.
        q: Written to: joint positions, or NaN [rad or m], shape (n, joints).
        w: Written to: manipulabilities, or -1 where no solution was found [m^3], shape (n,).
    """
    if ik.closed:
        panda_ik.solve_many(ik.panda, ik.chain, ik.pieces, X_BT, effort, best, q, w)
    else:
        generic_ik.solve_many(ik.table, ik.chain, ik.pieces, X_BT, effort, best, q, w)
