"""plan_tool_lines: straight lines of the tool on one branch of the inverse kinematics.

Solving pose by pose jumps between branches. An arm with a closed form keeps the position of its
free joint and the number of the branch; any other follows the line from a solution at its start, by
Newton steps from pose to pose.
"""

from dataclasses import dataclass
from math import ceil, inf

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.dynamics.chain import ChainArrays
from kinetarium.dynamics.forward import differentiate, volume
from kinetarium.errors import KinetariumError
from kinetarium.plan._joint_space import ArmArrays, blocked
from kinetarium.plan.arm_path import PlacedArm, checked_q
from kinetarium.reach.collision.check import no_last_contact
from kinetarium.reach.ik.generic import descend, nearest, out_of_reach, rank
from kinetarium.reach.ik.panda import BRANCHES, search, wrist_frame
from kinetarium.reach.ik.panda_geometry import PandaArrays
from kinetarium.reach.ik.solve import checked_poses
from kinetarium.reach.ik.solver import IkArrays
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled
from kinetarium.spatial.rotation import inverse_pose

STEP = 0.01
"""Distance of the tool's poses along a line [m]."""
TURN = 0.05
"""Angle between them [rad]."""
JUMP = 0.2
"""Largest motion of a joint between two of them [rad or m]: more is another branch, or a singular
configuration in which the tool cannot be followed."""
SWEEP = 31
"""Positions of the free joint that are tried."""
STARTS = 32
"""Starts of the numerical search for solutions at the start of a line."""
ROOMY = 0.1
"""Margin to joint limits with which the nearest branch is taken [rad or m]."""
AT_START = 1e-4
"""Distance of the tool at a given configuration from the start of its line [m, rad]."""
MOST_STEPS = 10_000
SINGLE = 0.05
"""Solutions whose joints differ by less are one [rad or m]."""


@dataclass(frozen=True, slots=True, eq=False)
class ToolLine:
    """The motion of an arm whose tool follows a straight line, or how far it follows.

    Attributes:
        q: Joint positions at points of equal distance along the line [rad or m],
            shape (n, joints); as far as it follows.
        fraction: How much of the line that is, from 0 to 1.
        reason: Why it is not all, in one line; empty if it is.
        limit_margin: Least distance of a joint from its limits [rad or m].
        manipulability: Least sqrt(det(J J')) [m^3].
        length: Length of the line [m].
        angle: Angle by which the tool turns [rad].
    """

    q: Array
    fraction: float
    reason: str
    limit_margin: float
    manipulability: float
    length: float
    angle: float

    @property
    def found(self) -> bool:
        """Whether the whole line can be followed."""
        return not self.reason


END, LIMIT, CONTACT, BRANCH = range(4)
"""Why a line ends: at its end, at a joint limit or out of reach, at a contact, at a jump."""
WHY = {
    LIMIT: "the arm is at a joint limit or at the end of its reach",
    CONTACT: "the arm collides",
    BRANCH: "the branch ends in a singular configuration",
}


def plan_tool_lines(
    arm: PlacedArm,
    lines: ArrayLike,
    *,
    start: ArrayLike | None = None,
    near: ArrayLike | None = None,
) -> list[ToolLine]:
    """Find motions of an arm whose tool follows straight lines without leaving a branch.

    Every branch is tried, and the one with the largest margin to the joint limits is returned; if
    none follows the whole line, the one that follows farthest.

    Args:
        arm: The arm among obstacles.
        lines: Poses X_WT of the tool at the start and the end of each line, shape (n, 2, 4, 4); the
            tool turns about one axis between them.
        start: Configuration at the start of every line [rad or m], shape (joints,); by default
            any.
        near: Of branches with 0.1 rad of margin to the limits the one whose start is nearest to
            this configuration is returned, shape (joints,).

    Raises:
        KinetariumError: If a pose or a configuration is invalid, or the tool is not at the start of
            a line in the given configuration.
    """
    ends = np.asarray(lines, dtype=np.float64)
    if ends.ndim != 4 or ends.shape[1:] != (2, 4, 4):
        raise KinetariumError(f"lines must have the shape (n, 2, 4, 4), not {ends.shape}")
    X = inverse_pose(arm.X_WB) @ checked_poses(ends.reshape(-1, 4, 4)).reshape(ends.shape)
    robot = arm.robot
    first = None if start is None else checked_q(start, robot)
    wanted = None if near is None else checked_q(near, robot)
    return [_planned(arm, a, b, first, wanted) for a, b in X]


def _planned(
    arm: PlacedArm, a: Array, b: Array, start: Array | None, near: Array | None
) -> ToolLine:
    length = float(np.linalg.norm(b[:3, 3] - a[:3, 3]))
    turn = so3.log(a[:3, :3].T @ b[:3, :3])
    angle = float(np.linalg.norm(turn))
    steps = max(ceil(length / STEP), ceil(angle / TURN), 1)
    if steps > MOST_STEPS:
        raise KinetariumError(f"a line of {length:.3g} m is too long")
    shares = np.linspace(0.0, 1.0, steps + 1)
    X_BT = np.zeros((steps + 1, 3, 4))
    X_BT[:, :, 3] = a[:3, 3] + shares[:, None] * (b[:3, 3] - a[:3, 3])
    X_BT[:, :, :3] = a[:3, :3] @ so3.exp(shares[:, None] * turn)
    ik = arm.robot.arm.ik
    joints = len(ik.chain.lower)
    if start is not None:
        gap = arm.tool_poses(start[None])[0] - arm.X_WB @ a
        if np.abs(gap).max() > AT_START:
            raise KinetariumError("the tool is not at the start of the line at the configuration")
    # Space for each branch, the best of which is kept.
    goal = near if near is not None else np.full(joints, np.nan)
    q = np.empty((steps + 1, joints))
    if ik.closed:
        panda = ik.panda
        if start is not None:
            q7 = start[6]
            panda = panda._replace(sweep=np.array([[q7, np.cos(q7), np.sin(q7)]]))
        first = start if start is not None else np.full(joints, np.nan)
        count, why, margin, w = follow_closed(arm.arrays, panda, X_BT, first, goal, SWEEP, q)
    else:
        starts = start[None] if start is not None else solutions(arm.arrays, ik, X_BT[0], STARTS)
        count, why, margin, w = follow_tracked(arm.arrays, ik.table.length, X_BT, starts, goal, q)
    reason = ""
    if count <= steps:
        reason = f"{WHY[why]} after {max(count - 1, 0) / steps:.0%} of the line"
    fraction = max(count - 1, 0) / steps
    return ToolLine(q[:count].copy(), fraction, reason, margin, w, length, angle)


@compiled
def follow_closed(
    arm: ArmArrays,
    panda: PandaArrays,
    X_BT: Array,
    start: Array,
    near: Array,
    effort: int,
    q: Array,
) -> tuple[int, int, float, float]:
    """Follow a line with all branches of the closed form.

    Args:
        panda: The parameters of the closed form.
        X_BT: Poses along the line in the base's frame, shape (n, 3, 4).
        start: The configuration at the start, NaN if it is free [rad], shape (7,).
        near: A configuration to be near to, or NaN, shape (7,).
        effort: Positions of joint 7 to be tried.
        q: Output: the best motion, shape (n, 7).

    Returns:
        Points that it follows, why it ends there, its least margin to the limits [rad] and its
        least manipulability [m^3].
    """
    n = len(X_BT)
    trial, X, J = np.empty((n, 7)), np.empty((9, 3, 4)), np.empty((6, 7))
    last_contact = no_last_contact()
    best, result = -inf, (0, LIMIT, 0.0, 0.0)
    end = BRANCHES * min(effort, len(panda.sweep))
    number = 0
    while number < end:
        frame = wrist_frame(X_BT[0], panda)
        w, number = search(X_BT[0], frame, number, end, -1.0, panda, arm.chain, trial[0], X, J)
        if w < 0.0:
            break
        if not _alike(trial[0], start):
            continue
        branch = number - 1
        last = BRANCHES * (branch // BRANCHES + 1)
        count, why, margin, least = 0, END, inf, inf
        while count < n:
            row = trial[count]
            if count > 0:
                frame = wrist_frame(X_BT[count], panda)
                w, found = search(
                    X_BT[count], frame, branch, last, -1.0, panda, arm.chain, row, X, J
                )
                if w < 0.0 or found != branch + 1:
                    why = LIMIT
                    break
                if _jumps(trial[count - 1], row):
                    why = BRANCH
                    break
            if blocked(arm, row, X, last_contact):
                why = CONTACT
                break
            margin, least = min(margin, _margin(arm.chain, row)), min(least, w)
            count += 1
        worth = _worth(count, n, margin, trial[0], near)
        if worth > best or (count == 0 and result[0] == 0):
            best, result = max(worth, best), (count, why, margin, least)
            q[:count] = trial[:count]
    return result


@compiled
def follow_tracked(
    arm: ArmArrays, length: float, X_BT: Array, starts: Array, near: Array, q: Array
) -> tuple[int, int, float, float]:
    """Follow a line from several configurations by Newton steps; see `follow_closed`.

    Args:
        length: The length that is weighted like one radian [m].
        X_BT: Poses along the line in the base's frame, shape (n, 3, 4).
        starts: Configurations at its start, shape (m, joints).
        near: A configuration to be near to, or NaN, shape (joints,).
        q: Output: the best motion, shape (n, joints).
    """
    n, joints = len(X_BT), starts.shape[1]
    trial, X = np.empty((n, joints)), np.empty((joints + 2, 3, 4))
    J, A = np.empty((6, joints)), np.empty((6, 7))
    last_contact = no_last_contact()
    best, result = -inf, (0, LIMIT, 0.0, 0.0)
    for k in range(len(starts)):
        count, why, margin, least = 0, END, inf, inf
        while count < n:
            trial[count] = starts[k] if count == 0 else trial[count - 1]
            if not descend(X_BT[count], length, arm.chain, trial[count], X, J, A):
                why = LIMIT
                break
            if count > 0 and _jumps(trial[count - 1], trial[count]):
                why = BRANCH
                break
            if blocked(arm, trial[count], X, last_contact):
                why = CONTACT
                break
            differentiate(arm.chain, X, J)
            margin = min(margin, _margin(arm.chain, trial[count]))
            least = min(least, volume(J))
            count += 1
        worth = _worth(count, n, margin, trial[0], near)
        if worth > best or (count == 0 and result[0] == 0):
            best, result = max(worth, best), (count, why, margin, least)
            q[:count] = trial[:count]
    return result


@compiled
def solutions(arm: ArmArrays, ik: IkArrays, X_BT: Array, effort: int) -> Array:
    """Return configurations at a pose, found from several starts, shape (n, joints)."""
    joints, table = len(arm.chain.lower), ik.table
    found, count = np.empty((effort, joints)), 0
    X, J, A = np.empty((joints + 2, 3, 4)), np.empty((6, joints)), np.empty((6, 7))
    if out_of_reach(X_BT, table):
        return found[:0]
    nearness = np.empty(len(table.starts), np.float32)
    rank(X_BT, table, nearness)
    trial = np.empty(joints)
    for _ in range(min(effort, len(table.starts))):
        nearest(table, nearness, trial)
        if not descend(X_BT, table.length, arm.chain, trial, X, J, A):
            continue
        known = False
        for n in range(count):
            known = known or np.abs(found[n] - trial).max() < SINGLE
        if not known:
            found[count] = trial
            count += 1
    return found[:count]


@compiled
def _worth(count: int, n: int, margin: float, first: Array, near: Array) -> float:
    """Return how good a motion is: how far it leads, then its margin or how near it begins."""
    if count < n or np.isnan(near[0]):
        return count + min(margin, 1.0) * 0.5 if count else -1.0
    away = 0.0
    for j in range(len(first)):
        away = max(away, abs(first[j] - near[j]))
    if margin < ROOMY:
        return count + 0.1 * margin
    return count + 0.1 + 0.5 / (1.0 + away)


@compiled
def _margin(chain: ChainArrays, q: Array) -> float:
    """Return the least distance of a joint from its limits [rad or m]."""
    margin = inf
    for j in range(len(q)):
        margin = min(margin, q[j] - chain.lower[j], chain.upper[j] - q[j])
    return margin


@compiled
def _jumps(a: Array, b: Array) -> bool:
    for j in range(len(a)):
        if abs(b[j] - a[j]) > JUMP:
            return True
    return False


@compiled
def _alike(q: Array, start: Array) -> bool:
    """Return whether a configuration is the given one, if one is given."""
    for j in range(len(q)):
        if abs(q[j] - start[j]) > 1e-3:
            return False
    return True
