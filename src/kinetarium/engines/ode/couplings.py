"""Couplings: joints that follow others, held by forces that are found by trying.

A constraint of ODE joins two bodies, a coupling of joints three or four. So the
step is made with a guess of the coupling forces, and made again from the same
start with a better one until the coupled speeds agree. The speeds depend on the
forces in straight pieces, bent where contacts and stops let go. Their slope is
learnt from the tries (Broyden, "A class of methods for solving nonlinear
simultaneous equations", 1965) and damped after a try that made matters worse
(Levenberg, "A method for the solution of certain non-linear problems in least
squares", 1944). As a rule the forces of the step before are good enough at once
or after one more try.
"""

from collections.abc import Callable, Sequence

import numpy as np

from kinetarium.engines.layout import Layout
from kinetarium.engines.ode.joints import OdeJoint
from kinetarium.engines.ode.options import OdeOptions
from kinetarium.scene import Scene
from kinetarium.spatial.arrays import Array

TOLERANCE = 1e-6
"""How far coupled speeds may differ after a step [rad/s or m/s]."""
_HOPELESS = 1e6
"""Difference of speeds [rad/s or m/s] beyond which the run has diverged."""
_MOST_TRIES = 10
_LEAST_DAMPING, _MOST_DAMPING = 1e-4, 1.0
"""Damping of the search, as a share of the mobility of the joints alone."""


class Couplings:
    """The couplings G q = offset of all robots, followers less their leaders' share.

    Attributes:
        count: How many there are.
        forces: The coupling forces of the last step [N m or N], shape (count,).
    """

    def __init__(
        self,
        scene: Scene,
        layout: Layout,
        *,
        joints: Sequence[OdeJoint],
        inertias: Sequence[float],
        timestep: float,
        options: OdeOptions,
    ) -> None:
        """Read the couplings off the robots of a scene.

        Args:
            scene: The scene.
            layout: Its layout.
            joints: The joints, in the order of `layout.joints`.
            inertias: Mass or moment of inertia that moves with each [kg or kg m^2].
            timestep: Time step [s].
            options: Settings.
        """
        index = {name: i for i, name in enumerate(layout.joints)}
        followers = [
            (index[f"{robot.name}/{joint.name}"], index[f"{robot.name}/{joint.mimic.joint}"],
             joint.mimic)
            for robot in scene.robots
            for joint in robot.model.moving_joints
            if joint.mimic
        ]  # fmt: skip
        self.count = len(followers)
        self._G = np.zeros((self.count, len(joints)))
        self._offset = np.array([mimic.offset for _, _, mimic in followers])
        for row, (follower, leader, mimic) in enumerate(followers):
            self._G[row, follower] = 1.0
            self._G[row, leader] -= mimic.multiplier
        self._pushers = [
            (joints[k].push, joints[k].handle, k)
            for k in np.flatnonzero(self._G.any(axis=0)).tolist()
        ]
        self._return, self._fastest = options.erp / timestep, options.correcting_speed
        self._mobility = timestep * (self._G**2 / np.asarray(inertias)).sum(axis=1)
        self.reset()

    def reset(self) -> None:
        """Forget the forces and what was learnt of their effect."""
        self.forces = np.zeros(self.count)
        self._slope = np.diag(self._mobility)

    @property
    def efforts(self) -> Array:
        """What the coupling forces of the last step are at the joints [N m or N]."""
        return np.asarray(self.forces @ self._G)

    def save(self) -> tuple[Array, Array]:
        """Give the forces and what was learnt of their effect."""
        return self.forces, self._slope

    def restore(self, saved: tuple[Array, Array]) -> None:
        """Take back what was saved."""
        self.forces, self._slope = saved

    def push(self) -> None:
        """Push the joints with the coupling forces during the next step."""
        efforts = self.efforts.tolist()
        for push, handle, k in self._pushers:
            push(handle, efforts[k])

    def solve(self, q: Array, attempt: Callable[[], Array]) -> None:
        """Make a step that keeps the couplings.

        Args:
            q: Positions at its start [rad or m], shape (joints,).
            attempt: Goes back to the start, calls `push`, makes the step and gives the speeds.
        """
        wanted = self._return * (self._offset - self._G @ q)
        wanted = np.clip(wanted, -self._fastest, self._fastest)

        def miss(forces: Array) -> Array:
            self.forces = forces
            return np.asarray(self._G @ attempt() - wanted)

        forces, slope, damping = self.forces, self._slope, _LEAST_DAMPING
        error = miss(forces)
        for _ in range(_MOST_TRIES):
            if not TOLERANCE < np.abs(error).max() < _HOPELESS or damping > _MOST_DAMPING:
                break
            damped = slope + damping * np.diag(self._mobility)
            change = -np.linalg.lstsq(damped, error)[0]
            tried = miss(forces + change)
            if np.abs(tried).max() < _HOPELESS:
                surprise = tried - error - slope @ change
                slope = slope + np.outer(surprise, change / (change @ change))
            if np.abs(tried).max() < np.abs(error).max():
                forces, error = self.forces, tried
            else:
                damping *= 100
        if self.forces is not forces:
            miss(forces)
        self._slope = slope
