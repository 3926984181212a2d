"""The random states at which back-ends are compared."""

from dataclasses import dataclass, replace

import numpy as np

from kinetarium.dynamics import random_positions
from kinetarium.model.robot import RobotModel
from kinetarium.spatial.arrays import Array

_FASTEST = 3.0
"""Greatest speed that is drawn [rad/s or m/s]; less where a joint is slower."""
_QUICKEST = 5.0
"""Greatest acceleration that is drawn [rad/s^2 or m/s^2]."""


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """Positions, velocities and accelerations, a state in each row.

    Attributes:
        q: Joint positions [rad or m], shape (n, joints).
        v: Joint velocities [rad/s or m/s], shape (n, joints).
        a: Joint accelerations [rad/s^2 or m/s^2], shape (n, joints).
    """

    q: Array
    v: Array
    a: Array

    def __len__(self) -> int:
        """Give the number of states."""
        return len(self.q)

    def first(self, count: int) -> "States":
        """Give the first so many states, or all if there are fewer."""
        return States(self.q[:count], self.v[:count], self.a[:count])

    def only(self, joints: list[int]) -> "States":
        """Hold every joint still at zero but those of the given numbers."""
        held = np.ones(self.q.shape[1], dtype=np.bool_)
        held[joints] = False
        q, v, a = self.q.copy(), self.v.copy(), self.a.copy()
        for values in (q, v, a):
            values[:, held] = 0.0
        return States(q, v, a)


def draw_states(model: RobotModel, *, count: int, seed: int) -> States:
    """Draw states inside the joint limits, followers as free as the joints they follow.

    Args:
        model: The robot.
        count: How many.
        seed: Seed of all that is drawn.
    """
    rng = np.random.default_rng(seed)
    uncoupled = replace(model, joints=tuple(replace(joint, mimic=None) for joint in model.joints))
    fastest = [min(joint.limits.velocity or np.inf, _FASTEST) for joint in model.moving_joints]
    shape = (count, len(fastest))
    return States(
        q=random_positions(uncoupled, rng, count=count),
        v=rng.uniform(-1.0, 1.0, shape) * fastest,
        a=rng.uniform(-_QUICKEST, _QUICKEST, shape),
    )
