"""solve_ik: inverse kinematics of any arm, with every solution verified."""

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
"""Tolerance of orthonormal columns of a rotation."""
SWEEP = 256
"""Positions of joint 7 that the closed form tries."""
STARTS = 64
"""Starts that the numerical search tries."""


class Policy(StrEnum):
    """Which solution of a pose is returned."""

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

    Arms built like the Panda are solved in closed form, all others by a numerical search.
    Solutions reach the pose to 1e-7 m and 1e-7 rad within the joint limits.

    Args:
        poses: Poses X_BT of the tool in the base link's frame, shape (n, 4, 4).
        tool: The tool link; see `serial_chain`.
        base_link: The link in whose frame poses are expressed; see `serial_chain`.
        policy: "first" returns the first solution in a fixed order, "best" the one with the
            greatest manipulability among those that are tried.
        seed: Seed of the starts of the numerical search.
        collision: The bodies to check for collisions, from `body_pieces`; without it
            collisions are ignored.

    Returns:
        The solutions.

    Raises:
        UnknownNameError: If there is no such link or policy.
        KinetariumError: If there is no chain to the tool, or a pose is invalid.
    """
    if policy not in tuple(Policy):
        raise UnknownNameError("policy", str(policy), known=Policy)
    chain = serial_chain(robot, base_link=base_link, tool=tool)
    X_BT = checked_poses(poses)
    ik = ik_arrays(chain, seed=seed, pieces=collision)
    # Imported here, since Numba takes a second to load.
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
        pieces: The bodies to check for collisions, from `body_pieces`; none if not given.

    Raises:
        KinetariumError: If the seed is not a non-negative integer.
    """
    from kinetarium.reach.ik.solver import IkArrays
    from kinetarium.reach.ik.start_table import no_starts, start_table

    if type(seed) is not int or seed < 0:
        raise KinetariumError(f"a seed must be a non-negative integer, not {seed!r}")
    panda = panda_arrays(chain.arrays)
    return IkArrays(
        chain.arrays,
        panda is not None,
        panda or no_panda(),
        no_starts(len(chain.joints)) if panda else start_table(chain.arrays, seed=seed),
        pieces or no_pieces(),
    )


def checked_poses(poses: ArrayLike) -> Array:
    """Check poses, shape (n, 4, 4), and return them with exact rotations.

    Raises:
        KinetariumError: If the shape is wrong, or a pose is not finite or not rigid.
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
        homogeneous = (X[:, 3] == (0, 0, 0, 1)).all(axis=1)
        rigid = np.isfinite(X).all(axis=(1, 2)) & (off <= RIGID) & turned & homogeneous
    if not rigid.all():
        worst = int(np.argmin(rigid))
        raise KinetariumError(
            f"pose {worst} is not a rigid transform: it needs finite numbers, "
            "right-handed orthonormal axes, and 0 0 0 1 in its last row"
        )
    # One step of Newton's iteration to the nearest rotation (polar decomposition).
    X[:, :3, :3] = R @ (1.5 * np.eye(3) - 0.5 * (R.mT @ R))
    return X
