"""The equation of motion of one robot as Drake sees it, in Kinetarium's coordinates.

Drake's own coordinates of a free base are its twist in world axes at its origin
as well, only angular part first, so that nothing but the order differs.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.engines.drake.build import DrakeWorld
from kinetarium.engines.drake.library import trees
from kinetarium.scene import Base, PlacedRobot
from kinetarium.spatial.arrays import Array

Indices = NDArray[np.intp]

# Drake writes what floats as [quaternion; position] and [w; v], both in world axes.
_POSE = np.array([4, 5, 6, 0, 1, 2, 3])
_TWIST = np.array([3, 4, 5, 0, 1, 2])


@dataclass(frozen=True, slots=True, eq=False)
class Addresses:
    """Indices into the state vector.

    Attributes:
        v: Of the velocity of each joint, shape (n,).
        twists: Of the twist [v; w] of each floating solid, shape (f, 6).
        quaternions: Of the first number of its quaternion, by floating solid.
        positions: Number of positions, which stand before all velocities.
        gather: Of q, v, poses and twists one after the other, shape (m,).
        scatter: Where each entry of the state vector stands in those, shape (m,).
    """

    v: Indices
    twists: Indices
    quaternions: tuple[int, ...]
    positions: int
    gather: Indices
    scatter: Indices

    @classmethod
    def of(cls, world: DrakeWorld) -> "Addresses":
        """Look up a scene in the plant built from it."""
        nq = world.plant.num_positions()
        q = np.array([joint.position_start() for joint in world.joints], dtype=np.intp)
        v = np.array([nq + joint.velocity_start() for joint in world.joints], dtype=np.intp)
        poses = [joint.position_start() + _POSE for joint in world.floating]
        twists = [nq + joint.velocity_start() + _TWIST for joint in world.floating]
        gather = np.concatenate([q, v, *poses, *twists])
        return cls(
            v,
            np.array(twists, dtype=np.intp).reshape(-1, 6),
            tuple(joint.position_start() for joint in world.floating),
            nq,
            gather,
            np.argsort(gather),
        )


class JointSpace:
    """The equation of motion of one robot.

    Joint damping and friction, contacts and constraints are no part of it;
    the inertia of the drives is.
    """

    def __init__(self, world: DrakeWorld, robot: PlacedRobot, *, addresses: Addresses) -> None:
        """Choose the robot."""
        self._plant = world.plant
        dofs: Indices = addresses.v[world.layout.robot_joints[robot.name]]
        if robot.base is Base.FREE:
            root = world.layout.floating.index(f"{robot.name}/{robot.model.root}")
            dofs = np.concatenate([addresses.twists[root], dofs])
        self._dofs = dofs - addresses.positions
        n = self._plant.num_velocities()
        self._block = n * self._dofs[:, np.newaxis] + self._dofs  # of M, row after row
        self._positions: Indices = addresses.gather[world.layout.robot_joints[robot.name]]
        self._forces = trees.MultibodyForces(self._plant)
        self._acceleration = np.zeros(n)

    def mass_matrix(self, context: Any) -> Array:
        """Return M, shape (n, n)."""
        M: Array = self._plant.CalcMassMatrix(context).T.take(self._block)
        return M

    def inverse_dynamics(self, context: Any, acceleration: Array) -> Array:
        """Return tau = M a + C v + g for an acceleration (recursive Newton-Euler), shape (n,)."""
        self._weigh(context)
        return self._own_forces(context, acceleration)

    def of_fixed_base(
        self, context: Any, q: Array, v: Array, *, a: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Return M, g, C v + g and tau at a state, which the context takes on."""
        plant, rest, velocity = self._plant, np.zeros_like(v), np.zeros_like(v)
        position = np.empty_like(q)
        position[self._positions], velocity[self._dofs] = q, v
        plant.SetPositions(context, position)
        plant.SetVelocities(context, rest)
        self._weigh(context)
        g = self._own_forces(context, rest)
        plant.SetVelocities(context, velocity)
        bias, tau = self._own_forces(context, rest), self._own_forces(context, a)
        return self.mass_matrix(context), g, bias, tau

    def _weigh(self, context: Any) -> None:
        """Find the forces of gravity, which acts on bodies; those on joints are of damping."""
        self._plant.CalcForceElementsContribution(context, self._forces)
        self._forces.mutable_generalized_forces()[:] = 0.0

    def _own_forces(self, context: Any, acceleration: Array) -> Array:
        self._acceleration[self._dofs] = acceleration
        tau: Array = self._plant.CalcInverseDynamics(context, self._acceleration, self._forces)
        return tau.take(self._dofs)
