"""What the drives do on a walk: their travel, their work, and the room they give the foot."""

from math import pi

import numpy as np

from kinetarium.legs.leg_kind import LegKind
from kinetarium.legs.machine import Machine
from kinetarium.legs.walk import Walk
from kinetarium.spatial.arrays import Array

GUIDE_FRICTION = 0.1
"""Coulomb's coefficient of the slides and of the turning rail [-]."""
LEG_WEIGHT = 0.05
"""Weight of a leg by that of the whole robot [-]."""


def joint_travel(walk: Walk) -> Array:
    """Give the travel of the three drives of all legs together [unit, rad], shape (3,)."""
    travel: Array = np.abs(np.diff(walk.joints, axis=0)).sum(axis=(0, 1))
    return travel


def drive_work(walk: Walk) -> float:
    """Give the work of all drives on a slow walk [weight of the robot x unit].

    A foot that carries N loads the slide of the horizontal drive with K N, by the pantograph's
    law, and a leg that slides as a whole (TTT1) with N on its own slide; what the slides rub,
    and what lifts the body and the legs, is the work. The horizontal drives carry no weight.
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
    # A foot that is pushed down raises the body; one that is drawn up raises half its leg.
    raised = load * np.maximum((K - 1) * v, 0.0)
    drawn = np.where(load > 0, 0.0, LEG_WEIGHT / 2 * np.maximum((1 - K) * v, 0.0))
    return float((GUIDE_FRICTION * rubbed + raised + drawn).sum())


def walking_volume(machine: Machine) -> float:
    """Give the volume that a foot can reach in its leg's frame [unit^3].

    The drives place b against a within a half shell between the least and the greatest span of
    the pantograph, below a; the Jacobian of the leg makes it the volume of the foot.
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


def _loads(walk: Walk) -> Array:
    """Give the share of the weight that each foot carries, shape (n, 4).

    On three feet it is determined; on four the smallest forces are taken. A foot never pulls.
    """
    feet, com = walk.feet, walk.com
    A = np.stack([np.ones(feet.shape[:2]), *np.moveaxis(feet[:, :, :2], -1, 0)], axis=1)
    A[:, 1:] -= com[:, :2, np.newaxis]
    A = np.where(walk.support[:, np.newaxis], A, 0.0)
    share = np.linalg.pinv(A, rcond=1e-9)[:, :, 0]
    return np.maximum(share, 0.0)
