"""Bodies that two joints join: tables of where they are surely apart.

How such bodies lie depends on two joint positions only. Over a square of the two, no point of
the second body moves farther than the joints' half widths times its distance from their
axes; if the bodies are farther apart than that in the middle, they are so in the whole
square. Squares of which this cannot be said are quartered.
"""

import numpy as np
from numpy.typing import NDArray

from kinetarium.reach.chain import ChainArrays, ranges
from kinetarium.reach.piece_arrays import CELLS, PieceArrays
from kinetarium.spatial.arrays import Array

COARSEST = 8
"""Squares along an axis to begin with."""


def with_tables(pieces: PieceArrays, chain: ChainArrays) -> PieceArrays:
    """Fill the tables of pieces; what `collides` says of them stays the same.

    Args:
        pieces: The pieces.
        chain: The chain that moves them.
    """
    lower, upper = ranges(chain)
    apart = np.zeros_like(pieces.apart)
    for pair in pieces.pairs:
        if pair[1] - pair[0] == 2 and pair[1] <= len(lower):
            table = _table(pieces._replace(pairs=pair[None]), chain, lower, upper)
            apart[pair[0]] = np.packbits(table, axis=1, bitorder="little")
    spans = np.column_stack([lower, CELLS / (upper - lower)])
    return pieces._replace(apart=apart, spans=spans)


def _table(
    pieces: PieceArrays, chain: ChainArrays, lower: Array, upper: Array
) -> NDArray[np.uint8]:
    """Give 1 for the cells in which the one pair of bodies is surely apart."""
    # Numba is loaded with the first pieces, not with this module.
    from kinetarium.reach.self_collision import collisions

    first, body = int(pieces.pairs[0, 0]), int(pieces.pairs[0, 1])
    reach = float(np.linalg.norm(pieces.bodies[body, :3]) + pieces.bodies[body, 3])
    slide = max(abs(lower[first + 1]), abs(upper[first + 1])) if chain.prismatic[first + 1] else 0.0
    levers = np.array([np.linalg.norm(chain.frames[first + 1, :, 3]) + slide + reach, reach])
    levers[chain.prismatic[[first, first + 1]]] = 1.0
    joints = slice(first, first + 2)
    table = np.zeros((CELLS, CELLS), np.uint8)
    squares = np.argwhere(np.ones((COARSEST, COARSEST)))
    count = COARSEST
    while len(squares) and count <= CELLS:
        width = (upper[joints] - lower[joints]) / count
        q = np.tile((lower + upper) / 2, (len(squares), 1))
        q[:, joints] = lower[joints] + (squares + 0.5) * width
        touch = collisions(_grown(pieces, by=float(levers @ width) / 4), chain, q)
        step = CELLS // count
        for row, column in squares[~touch] * step:
            table[row : row + step, column : column + step] = 1
        quarters = np.array([(0, 0), (0, 1), (1, 0), (1, 1)])
        squares = (2 * squares[touch][:, None] + quarters).reshape(-1, 2)
        count *= 2
    return table


def _grown(pieces: PieceArrays, *, by: float) -> PieceArrays:
    """Give pieces with a layer around them [m]: two meet where they are within twice that."""
    layer = np.array([0.0, 0.0, 0.0, by])
    return pieces._replace(
        radii=pieces.radii + by,
        girths=pieces.girths + by,
        reaches=pieces.reaches + by,
        clusters=pieces.clusters + layer,
        bodies=pieces.bodies + layer,
    )
