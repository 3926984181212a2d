"""Random joint positions inside the limits of a robot."""

from math import isfinite, pi

import numpy as np

from kinetarium.dynamics.coupling import Coupling
from kinetarium.model.robot import Joint, JointType, RobotModel
from kinetarium.spatial.arrays import Array


def random_positions(model: RobotModel, rng: np.random.Generator, *, count: int) -> Array:
    """Draw joint positions uniformly between the limits; followers follow.

    Where a joint has no limit it is drawn from half a turn to either side, or
    from a metre to either side.

    Args:
        model: The robot.
        rng: The source of chance.
        count: How many configurations to draw.

    Returns:
        Positions of the moving joints [rad or m], shape (count, joints).
    """
    coupling = Coupling.of(model)
    ranges = np.array([_range(model.joint(name)) for name in coupling.independent])
    lower, upper = ranges.reshape(-1, 2).T
    return coupling.positions(rng.uniform(lower, upper, size=(count, lower.size)))


def _range(joint: Joint) -> tuple[float, float]:
    reach = 1.0 if joint.type is JointType.PRISMATIC else pi
    lower, upper = joint.limits.lower, joint.limits.upper
    if not isfinite(lower) and not isfinite(upper):
        return -reach, reach
    if not isfinite(lower):
        return upper - 2 * reach, upper
    if not isfinite(upper):
        return lower, lower + 2 * reach
    return lower, upper
