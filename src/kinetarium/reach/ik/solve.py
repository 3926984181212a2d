"""solve_ik: joint positions that place a robot's tool, each verified before it is claimed."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetarium.dynamics.chain import SerialChain, serial_chain
from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.model.robot import RobotModel
from kinetarium.reach.collision.piece_arrays import PieceArrays
from kinetarium.reach.collision.pieces import no_pieces
from kinetarium.reach.ik.panda_geometry import no_panda, panda_arrays
from kinetarium.spatial.arrays import Array

if TYPE_CHECKING:
    from kinetarium.reach.ik.solver import IkArrays

RIGID = 1e-6
"""How far the columns of a rotation may be from orthonormal."""
SWEEP = 256
"""How many positions of joint 7 the closed form tries before it gives up."""
STARTS = 64
"""How many starts the numerical search tries before it gives up."""


class Policy(StrEnum):
    """Which of a pose's solutions is wanted."""

    FIRST = "first"
    BEST = "best"


@dataclass(frozen=True, slots=True, eq=False)
class IkSolutions:
    """Joint positions for poses.

    Attributes:
        joints: Names of the joints, in the order of q.
        q: Positions within the limits, NaN where none was found [rad or m], shape (n, joints).
        found: Whether a pose has a solution, shape (n,).
        manipulability: sqrt(det(J J')) at the solution, NaN where there is none [m^3],
            shape (n,).
    """

    joints: tuple[str, ...]
    q: Array
    found: NDArray[np.bool_]
    manipulability: Array


def solve_ik(
    robot: RobotModel,
    poses: ArrayLike,
    *,
    tool: str | None = None,
    base_link: str | None = None,
    policy: Policy | str = Policy.FIRST,
    seed: int = 0,
    collision: PieceArrays | None = None,
) -> IkSolutions:
    """Find joint positions that place the tool.

    The closed form serves arms built like the Panda, a numerical search all others. What
    is found reaches the pose to 1e-7 m and 1e-7 rad within the joint limits.

    Args:
        poses: Poses X_BT of the tool in the base link's frame, shape (n, 4, 4).
        tool: The link to be placed; see `serial_chain`.
        base_link: The link poses are given in; see `serial_chain`.
        policy: "first" takes the first solution in a fixed order, "best" the one with the
            greatest manipulability among those that are tried.
        seed: Seed of the starts of the numerical search.
        collision: What must not touch, from `body_pieces`; without it collisions do
            not count.

    Returns:
        The solutions.

    Raises:
        UnknownNameError: If there is no such link or policy.
        KinetariumError: If there is no chain to the tool, or a pose is not one.
    """
    if policy not in tuple(Policy):
        raise UnknownNameError("policy", str(policy), known=Policy)
    chain = serial_chain(robot, base_link=base_link, tool=tool)
    X_BT = checked_poses(poses)
    ik = ik_arrays(chain, seed=seed, pieces=collision)
    # Kernels, and Numba with them, are loaded with the first solve, and only those needed.
    from kinetarium.reach.ik import generic as generic_ik
    from kinetarium.reach.ik import panda as panda_ik

    q, w = np.empty((len(X_BT), len(chain.joints))), np.empty(len(X_BT))
    best = policy == Policy.BEST
    if ik.closed:
        panda_ik.solve_many(ik.panda, ik.chain, ik.pieces, X_BT, SWEEP, best, q, w)
    else:
        generic_ik.solve_many(ik.table, ik.chain, ik.pieces, X_BT, STARTS, best, q, w)
    found = w >= 0.0
    return IkSolutions(chain.joints, q, found, np.where(found, w, np.nan))


def ik_arrays(
    chain: SerialChain, *, seed: int = 0, pieces: PieceArrays | None = None
) -> "IkArrays":
    """Prepare a chain for the kernels in `kinetarium.reach.ik.solver`.

    Args:
        seed: Seed of the starts of the numerical search.
        pieces: What must not touch, from `body_pieces`; nothing if not given.

    Raises:
        KinetariumError: If the seed is not a whole number from zero on.
    """
    from kinetarium.reach.ik.solver import IkArrays
    from kinetarium.reach.ik.start_table import no_starts, start_table

    if type(seed) is not int or seed < 0:
        raise KinetariumError(f"a seed must be a whole number from zero on, not {seed!r}")
    panda = panda_arrays(chain.arrays)
    return IkArrays(
        chain.arrays,
        panda is not None,
        panda or no_panda(),
        no_starts(len(chain.joints)) if panda else start_table(chain.arrays, seed=seed),
        pieces or no_pieces(),
    )


def checked_poses(poses: ArrayLike) -> Array:
    """Return poses, shape (n, 4, 4), as an array of exact rotations.

    Raises:
        KinetariumError: If the shape is another, or a pose is not finite or not rigid.
    """
    try:
        X = np.asarray(poses)
    except ValueError:
        raise KinetariumError("poses must be an array of shape (n, 4, 4)") from None
    if X.dtype.kind not in "fiu" or X.ndim != 3 or X.shape[1:] != (4, 4):
        raise KinetariumError(
            f"poses must be numbers of shape (n, 4, 4), not {X.dtype} of shape {X.shape}"
        )
    X = np.array(X, dtype=np.float64)
    R = X[:, :3, :3]
    with np.errstate(over="ignore", invalid="ignore"):
        off = np.abs(R.mT @ R - np.eye(3)).max(axis=(1, 2))
        turned = np.linalg.det(R) > 0
        plain = (X[:, 3] == (0, 0, 0, 1)).all(axis=1)
        rigid = np.isfinite(X).all(axis=(1, 2)) & (off <= RIGID) & turned & plain
    if not rigid.all():
        worst = int(np.argmin(rigid))
        raise KinetariumError(
            f"pose {worst} is not a rigid transform: it needs finite numbers, "
            "orthonormal axes that turn right, and 0 0 0 1 in its last row"
        )
    # One step of Newton's iteration towards the nearest rotation.
    X[:, :3, :3] = R @ (1.5 * np.eye(3) - 0.5 * (R.mT @ R))
    return X
