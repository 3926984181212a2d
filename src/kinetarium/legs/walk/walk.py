"""PlannedWalk: every frame of a planned walk, its warnings, and its measures of effort."""

from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from math import pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.legs.mechanism.interference import Interference
from kinetarium.legs.mechanism.machine import Machine
from kinetarium.legs.mechanism.pantograph import LegKind
from kinetarium.legs.walk.plan import WalkPlan
from kinetarium.spatial.arrays import Array

LEG_NAMES = ("rear right", "front right", "rear left", "front left")
"""Names of legs 1 to 4, in the order of all arrays."""


class WarningKind(StrEnum):
    """What a warning is about."""

    REACH = "reach"
    """A foot is beyond what the pantograph can stretch or fold to."""
    DRIVE = "drive"
    """A lateral slide or a leg's turn is beyond its limit."""
    SINGULAR = "singular"
    """A TTR leg whose foot is under its own axis, where its angle is undefined; it is kept."""
    STABILITY = "stability"
    """The centre of mass leaves the support."""
    SWAY = "sway"
    """The static margin requested by the sway is not reached."""
    BALANCE = "balance"
    """The zero-moment point leaves the support, or comes closer to its edge than wanted."""
    FOOT_GAP = "foot-gap"
    """Two feet come too close to each other."""
    SHAPE = "shape"
    """The shape of a link does not reach a pivot of it."""
    INTERFERENCE = "interference"
    """A link penetrates the body or another leg."""
    TERRAIN = "terrain"
    """A foot penetrates the ground, or has no foothold."""


@dataclass(frozen=True, slots=True)
class WalkWarning:
    """A violation on a walk, reported once for each leg step at its worst frame.

    Attributes:
        kind: What it is about.
        frame: The frame at which it is worst.
        leg: The leg, 1 to 4; 0 for the whole robot.
        step: The leg step, counted from 1; 0 before the first.
        amount: By how much [unit, or rad for a leg that turns too far].
        text: The message.
    """

    kind: WarningKind
    frame: int
    leg: int
    step: int
    amount: float
    text: str


@dataclass(frozen=True, slots=True)
class LegStep:
    """One swing of one leg: an interval of the gait diagram.

    Attributes:
        leg: The leg, 1 to 4.
        first: Last frame at which the foot is on its old foothold.
        last: First frame at which it is on its new one.
    """

    leg: int
    first: int
    last: int


@dataclass(frozen=True, slots=True, eq=False)
class PlannedWalk:
    """A planned walk of n frames; legs are in the order 1 to 4 along arrays.

    Attributes:
        plan: The plan.
        time: Time of each frame [s], shape (n,).
        body: Position of the body's centre at hip height, and its orientation as a quaternion
            wxyz [unit], shape (n, 7).
        joints: h_x, h_y or the angle of a TTR leg, and v_z [unit, rad], shape (n, 4, 3).
        links: Positions and quaternions wxyz of the nine links of each leg in the world
            [unit], shape (n, 4, 9, 7); `Machine.link_shapes` has their shapes.
        feet: The feet in the world [unit], shape (n, 4, 3).
        support: Whether a foot is on the ground, shape (n, 4).
        margin: Distance of the centre of mass from the nearest edge of the support polygon,
            negative outside [unit], shape (n,).
        com: The centre of mass in the world [unit], shape (n, 3).
        order: The order in which the legs swing; that of the first cycle if it changes.
        table1_row: The row of the paper's Table 1 with that order; 0 if there is none.
        steps: The swings in time order, as in a gait diagram.
        warnings: The violations, in time order.
        interference: The links that penetrate the body or another leg.
        stride: Greatest travel of the body in one cycle [unit], of the feet in a spin.
        path: Points of the body's path on the ground, for drawing [unit], shape (m, 2).
        rows: The row of Table 1 of each cycle, if orders follow the direction of travel.
    """

    plan: WalkPlan
    time: Array
    body: Array
    joints: Array
    links: Array
    feet: Array
    support: NDArray[np.bool_]
    margin: Array
    com: Array
    order: tuple[int, int, int, int]
    table1_row: int
    steps: tuple[LegStep, ...]
    warnings: tuple[WalkWarning, ...]
    interference: Interference
    stride: float
    path: Array
    rows: tuple[int, ...] = ()

    @property
    def min_margin(self) -> float:
        """The least static margin of all frames [unit]."""
        return float(self.margin.min())


GUIDE_FRICTION = 0.1
"""Coulomb friction coefficient of the slides and of the turning rail [-]."""
LEG_WEIGHT = 0.05
"""Weight of a leg relative to that of the whole robot [-]."""


def walk_figures(walk: PlannedWalk) -> dict[str, Any]:
    """Return a walk in figures, as JSON-like data; lengths in the machine's unit."""
    return {
        "order": list(walk.order),
        "table1_row": walk.table1_row,
        "stride": walk.stride,
        "way": float(np.hypot(*np.diff(walk.path, axis=0).T).sum()),
        "min_margin": walk.min_margin,
        "mean_margin": float(walk.margin.mean()),
        "foot_gap": float(foot_gaps(walk.feet).min()),
        "joint_travel": joint_travel(walk).tolist(),
        "drive_work": drive_work(walk),
        "walking_volume": walking_volume(walk.plan.machine),
    }


def foot_gaps(feet: Array) -> Array:
    """Return the least distance between two feet over the ground [unit], shape (n,)."""
    pairs = [feet[:, a, :2] - feet[:, b, :2] for a, b in combinations(range(4), 2)]
    least: Array = np.min([np.hypot(pair[:, 0], pair[:, 1]) for pair in pairs], axis=0)
    return least


def joint_travel(walk: PlannedWalk) -> Array:
    """Return the travel of the three drives, summed over all legs [unit, rad], shape (3,)."""
    travel: Array = np.abs(np.diff(walk.joints, axis=0)).sum(axis=(0, 1))
    return travel


def drive_work(walk: PlannedWalk) -> float:
    """Return the work of all drives on a slow walk [weight of the robot x unit].

    By the pantograph's law a foot that carries N loads the slide of the horizontal drive with
    K N, and a leg that slides as a whole (TTT1) loads its own slide with N. The work is the
    friction of the slides and the lifting of body and legs; the horizontal drives carry no
    weight.
    """
    machine = walk.plan.machine
    load = _loads(walk)[1:]
    q, K = walk.joints, machine.gain
    x, c, v = np.moveaxis(np.diff(q, axis=0), -1, 0)
    match machine.kind:
        case LegKind.TTT1:
            rubbed = (K * load + LEG_WEIGHT) * np.abs(x) + (load + LEG_WEIGHT) * np.abs(c)
        case LegKind.TTT2:
            rubbed = (K * load + LEG_WEIGHT) * np.hypot(x, c)
        case LegKind.TTR:
            rubbed = (K * load + LEG_WEIGHT) * np.hypot(x, q[1:, :, 0] * c)
    # A supporting foot that moves down raises the body; a swinging one raises half its leg.
    raised = load * np.maximum((K - 1) * v, 0.0)
    drawn = np.where(load > 0, 0.0, LEG_WEIGHT / 2 * np.maximum((1 - K) * v, 0.0))
    return float((GUIDE_FRICTION * rubbed + raised + drawn).sum())


def walking_volume(machine: Machine) -> float:
    """Return the volume that a foot can reach in its leg's frame [unit^3].

    The drives move b relative to a within a half shell between the least and the greatest span
    of the pantograph, below a; the Jacobian of the leg maps its volume to that of the foot.
    """
    low, high = machine.leg.reach
    K, shell = machine.gain, high**3 - low**3
    match machine.kind:
        case LegKind.TTT1:  # a half ring, times the lateral stroke; K and 1 - K along x and z
            ring = pi / 2 * (high**2 - low**2)
            return K * (K - 1) * ring * 2 * machine.lateral_stroke
        case LegKind.TTT2:
            return K**2 * (K - 1) * 2 * pi / 3 * shell
        case LegKind.TTR:  # the Jacobian grows with |h_x|
            return float(K**2 * (K - 1) * 2 / 3 * shell * 2 * machine.limits[3])


def _loads(walk: PlannedWalk) -> Array:
    """Return the fraction of the weight that each foot carries, shape (n, 4).

    On three feet it is determined; on four it is the least-norm solution. Feet never pull.
    """
    feet, com = walk.feet, walk.com
    A = np.stack([np.ones(feet.shape[:2]), *np.moveaxis(feet[:, :, :2], -1, 0)], axis=1)
    A[:, 1:] -= com[:, :2, np.newaxis]
    A = np.where(walk.support[:, np.newaxis], A, 0.0)
    share = np.linalg.pinv(A, rcond=1e-9)[:, :, 0]
    return np.maximum(share, 0.0)
