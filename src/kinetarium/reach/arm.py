"""Arm: a robot prepared for maps and base placement."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kinetarium.dynamics.chain import ChainArrays, SerialChain, serial_chain
from kinetarium.model.robot import RobotModel
from kinetarium.reach.collision.kept_pieces import kept_pieces
from kinetarium.reach.collision.piece_arrays import PieceArrays
from kinetarium.reach.ik.solve import STARTS, SWEEP, ik_arrays

if TYPE_CHECKING:
    from kinetarium.reach.ik.solver import IkArrays

STRAIGHT = 1e-9
"""Greatest offset of the first axis from the base link's z axis [m, rad]."""


@dataclass(frozen=True, slots=True, eq=False)
class Arm:
    """A chain with its solver and the solver's effort.

    Attributes:
        chain: The chain.
        ik: The solver's arrays; with pieces if collisions are checked.
        pieces: Its own convex pieces; None if they were not needed yet.
        map_effort: Positions of the redundant joint, or starts, per pose of a map.
        effort: The same for scoring a base.
        full_effort: The same before a pose is finally declared unreachable.
    """

    chain: SerialChain
    ik: "IkArrays"
    pieces: PieceArrays | None
    map_effort: int
    effort: int
    full_effort: int

    @property
    def turns(self) -> bool:
        """Whether the first joint turns the whole arm about the base's own axis."""
        return turns_about_base(self.chain.arrays)


def prepare_arm(
    robot: RobotModel,
    *,
    tool: str | None = None,
    base_link: str | None = None,
    self_collision: bool = True,
    pieces: PieceArrays | None = None,
) -> Arm:
    """Prepare a robot.

    Args:
        tool: The tool link; see `serial_chain`.
        base_link: The base link; see `serial_chain`.
        self_collision: Whether configurations in self-collision count as unreachable.
        pieces: Its convex pieces; if None, they are taken from the user's cache or computed.

    Raises:
        UnknownNameError: If there is no such link.
        KinetariumError: If there is no chain to the tool.
    """
    chain = serial_chain(robot, base_link=base_link, tool=tool)
    return arm_of(chain, self_collision=self_collision, pieces=pieces)


def arm_of(
    chain: SerialChain, *, self_collision: bool = True, pieces: PieceArrays | None = None
) -> Arm:
    """Prepare the arm that a chain is; see `prepare_arm`."""
    if pieces is None and self_collision:
        pieces = kept_pieces(chain)
    ik = ik_arrays(chain, pieces=pieces if self_collision else None)
    efforts = (15, 31, SWEEP) if ik.closed else (6, 8, STARTS)
    return Arm(chain, ik, pieces, *efforts)


def turns_about_base(chain: ChainArrays) -> bool:
    """Return whether the first joint turns about the z axis of the base link."""
    first = chain.frames[0]
    off = np.abs([first[0, 2], first[1, 2], first[0, 3], first[1, 3]]).max()
    return bool(not chain.prismatic[0] and off < STRAIGHT and first[2, 2] > 0)
