"""The equation of motion of one robot as Drake sees it, in Kinetarium's coordinates.

Drake's own coordinates of a free base are its twist in world axes at its origin
as well, only angular part first, so that nothing but the order differs.
"""

from typing import Any

import numpy as np

from kinetarium.engines.drake.addresses import Addresses, Indices
from kinetarium.engines.drake.build import DrakeWorld
from kinetarium.engines.drake.library import trees
from kinetarium.scene import Base, PlacedRobot
from kinetarium.spatial.arrays import Array


class JointSpace:
    """The equation of motion of one robot.

    Joint damping and friction, contacts and constraints are no part of it;
    the inertia of the drives is.
    """

    def __init__(self, world: DrakeWorld, robot: PlacedRobot, *, addresses: Addresses) -> None:
        """Choose the robot.

        Args:
            world: The scene in Drake.
            robot: The robot.
            addresses: Where things lie in the state vector.
        """
        self._plant = world.plant
        dofs: Indices = addresses.v[world.layout.robot_joints[robot.name]]
        if robot.base is Base.FREE:
            root = world.layout.floating.index(f"{robot.name}/{robot.model.root}")
            dofs = np.concatenate([addresses.twists[root], dofs])
        self._dofs = dofs - addresses.positions
        n = self._plant.num_velocities()
        self._block = n * self._dofs[:, np.newaxis] + self._dofs  # of M, row after row
        self._forces = trees.MultibodyForces(self._plant)
        self._acceleration = np.zeros(n)

    def mass_matrix(self, context: Any) -> Array:
        """Give M, shape (n, n)."""
        M: Array = self._plant.CalcMassMatrix(context).T.take(self._block)
        return M

    def inverse_dynamics(self, context: Any, acceleration: Array) -> Array:
        """Give tau = M a + C v + g for an acceleration (recursive Newton-Euler), shape (n,)."""
        self._acceleration[self._dofs] = acceleration
        self._plant.CalcForceElementsContribution(context, self._forces)
        self._forces.mutable_generalized_forces()[:] = 0.0  # joint damping; gravity acts on bodies
        tau: Array = self._plant.CalcInverseDynamics(context, self._acceleration, self._forces)
        return tau.take(self._dofs)
