"""Force-torque sensors, by the balance of momentum of what hangs on them.

Bullet's own joint feedback counts Coriolis forces twice, leaves out motors
along their axis and misplaces the forces of couplings. A step changes the
momentum of the load by everything that acted on it: weight, contacts, pushes
from outside and the joint. The first three are known, so that the change of
momentum gives the last, as its mean over the step.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.engines.base.simulation import AppliedWrench
from kinetarium.engines.bullet.library import BulletClient, principal
from kinetarium.engines.bullet.multibody import Multibody
from kinetarium.engines.protocol import Capability, CapabilityError, Contacts
from kinetarium.scene import Scene
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose

LinkStates = tuple[tuple[Any, ...], ...]
"""What pybullet returns of links: position, quaternion xyzw, ..., linear and angular velocity."""
Memory = tuple[dict[str, LinkStates], dict[str, LinkStates]]
"""How the load of every sensor moved before the last step and moves now, where that is known."""


@dataclass(frozen=True, slots=True, eq=False)
class _Load:
    """What hangs on a sensor.

    Attributes:
        robot: Bullet's number of the robot.
        links: Bullet's links that are the load, the one behind the sensor first.
        masses: Of each [kg], shape (k,).
        moments: Principal moments of each [kg m^2], shape (k, 3).
        X_IC: The sensor's frame in the inertial frame of the first, shape (4, 4).
        members: The solids that are part of the load.
        solids: Whether each solid of the scene is one of them.
    """

    robot: int
    links: tuple[int, ...]
    masses: Array
    moments: Array
    X_IC: Array
    members: frozenset[str]
    solids: NDArray[np.bool_]


class WrenchSensors:
    """The force-torque sensors of a scene."""

    def __init__(
        self, bullet: BulletClient, scene: Scene, *, robots: Iterable[Multibody], timestep: float
    ) -> None:
        """Find what hangs on each sensor.

        Raises:
            CapabilityError: If a loop leads around a sensor.
        """
        self._bullet = bullet
        self._gravity, self._timestep = scene.gravity, timestep
        by_name = {robot.name: robot for robot in robots}
        self._loads = {
            sensor.name: _load(scene, by_name[sensor.robot], sensor.joint)
            for sensor in scene.sensors
        }
        self.forget()

    def forget(self) -> None:
        """Begin anew: no step has been made."""
        self.memory: Memory = ({}, {})

    def note(self) -> None:
        """Keep how the loads move, right before a step."""
        self.memory = (self._present(), {})

    def read(self, sensor: str, *, contacts: Contacts, wrenches: Sequence[AppliedWrench]) -> Array:
        """Return the wrench of the load on a sensor in the sensor's frame [N, N m], shape (6,).

        Args:
            contacts: The contacts of the last step.
            wrenches: What was applied from outside during it.
        """
        before, _ = self.memory
        self.memory = (before, self._present())
        load, h = self._loads[sensor], self._timestep
        x, R, p_0, L_0 = self._momenta(load, before[sensor])
        _, _, p_1, L_1 = self._momenta(load, self.memory[1][sensor])
        X_WC = pose(x[0], R[0]) @ load.X_IC
        # Everything that acts on the load but the joint, less what changed its momentum.
        shares = load.solids[contacts.solids] @ (1.0, -1.0)
        own = [wrench for wrench in wrenches if wrench.solid in load.members]
        forces = np.vstack(
            [
                load.masses[:, np.newaxis] * self._gravity - (p_1 - p_0) / h,
                shares[:, np.newaxis] * contacts.forces,
                *(wrench.F_W[:3] for wrench in own),
            ]
        )
        points = np.vstack([x, contacts.points, *(wrench.point for wrench in own)])
        f = forces.sum(axis=0)
        m = np.cross(points - X_WC[:3, 3], forces).sum(axis=0) - (L_1 - L_0).sum(axis=0) / h
        for wrench in own:
            m += wrench.F_W[3:]
        return np.concatenate([f @ X_WC[:3, :3], m @ X_WC[:3, :3]])

    def _momenta(self, load: _Load, states: LinkStates) -> tuple[Array, Array, Array, Array]:
        """Return position, rotation, momentum and angular momentum of each link of a load."""
        x, v, w = (np.array([state[i] for state in states]) for i in (0, 6, 7))
        R = np.array([self._bullet.getMatrixFromQuaternion(state[1]) for state in states])
        R = R.reshape(-1, 3, 3)
        L = np.einsum("kij,kj,klj,kl->ki", R, load.moments, R, w)
        return x, R, load.masses[:, np.newaxis] * v, L

    def _present(self) -> dict[str, LinkStates]:
        """Read how the loads move, unless that is known."""
        return self.memory[1] or {
            name: self._bullet.getLinkStates(
                load.robot, load.links, computeLinkVelocity=1, computeForwardKinematics=1
            )
            for name, load in self._loads.items()
        }


def _load(scene: Scene, robot: Multibody, joint: str) -> _Load:
    """Find everything below a joint."""
    model = scene.robot(robot.name).model
    child = model.joint(joint).child
    top, X_IC = robot.inertial_pose(child)
    below = {top + 1}
    for i, spec in enumerate(robot.specs):
        if spec.parent in below:
            below.add(i)
    members = {solid for i in below for solid, _ in robot.specs[i].members}
    for loop in model.loops:
        ends = {f"{robot.name}/{link}" in members for link in (loop.link_a, loop.link_b)}
        if len(ends) == 2:
            raise CapabilityError(
                "bullet", Capability.JOINT_WRENCH, reason=f"joint '{joint}' inside a closed loop"
            )
    heavy = [top + 1, *(i for i in sorted(below) if i > top + 1 and robot.specs[i].inertia)]
    inertias = [robot.specs[i].inertia for i in heavy]
    return _Load(
        robot=robot.id,
        links=tuple(i - 1 for i in heavy),
        masses=np.array([inertia.mass if inertia else 0.0 for inertia in inertias]),
        moments=np.array([principal(inertia)[0] for inertia in inertias]),
        X_IC=X_IC,
        members=frozenset(members),
        solids=np.array([solid in members for solid in scene.solids]),
    )
