"""Inverse kinematics of a chain, in closed form or by search, as a Numba kernel."""

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
    """The data of a robot for inverse kinematics.

    Attributes:
        chain: The chain.
        closed: Whether it has a closed form.
        panda: The parameters of the closed form, if it has one.
        table: The starts of the numerical search, if it has none.
        pieces: The bodies to check for collisions; empty if collisions are ignored.
    """

    chain: ChainArrays
    closed: bool
    panda: PandaArrays
    table: StartTable
    pieces: PieceArrays


@compiled
def solve_many(ik: IkArrays, X_BT: Array, effort: int, best: bool, q: Array, w: Array) -> None:
    """Find joint positions that place the tool, for many poses.

    It has no state and runs without the global interpreter lock; threads may share the
    robot. Calls from other kernels should pass dozens of poses each, since passing the
    many arguments is expensive.

    Args:
        X_BT: Poses of the tool in the base link's frame, shape (n, 3 or 4, 4).
        effort: How many positions of joint 7 (closed form) or starts (search) are tried
            at most for a pose.
        best: Whether to try them all and return the solution with the greatest
            manipulability, instead of the first.
        q: Output: joint positions, or NaN [rad or m], shape (n, joints).
        w: Output: manipulabilities, or -1 where no solution was found [m^3], shape (n,).
    """
    if ik.closed:
        panda_ik.solve_many(ik.panda, ik.chain, ik.pieces, X_BT, effort, best, q, w)
    else:
        generic_ik.solve_many(ik.table, ik.chain, ik.pieces, X_BT, effort, best, q, w)
