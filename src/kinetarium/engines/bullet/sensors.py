"""Force-torque sensors, by the balance of momentum of their loads.

Bullet's own joint feedback counts Coriolis forces twice, leaves out motors
along their axis and misplaces the forces of couplings.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetarium.engines.base.momentum_balance import Load, Momentum
from kinetarium.engines.base.simulation import AppliedWrench
from kinetarium.engines.bullet.library import BulletClient, principal
from kinetarium.engines.bullet.multibody import Multibody
from kinetarium.engines.protocol import Contacts
from kinetarium.scene import Scene
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose

LinkStates = tuple[tuple[Any, ...], ...]
"""What pybullet returns of links: position, quaternion xyzw, ..., linear and angular velocity."""
Memory = tuple[dict[str, LinkStates], dict[str, LinkStates]]
"""How the load of every sensor moved before the last step and moves now, where that is known."""


@dataclass(frozen=True, slots=True, eq=False)
class _LoadLinks:
    """The links of the load of a sensor.

    Attributes:
        load: What they are to the scene.
        robot: Bullet's number of the robot.
        numbers: Bullet's numbers of them, the one behind the sensor first.
        masses: Of each [kg], shape (k,).
        moments: Principal moments of each [kg m^2], shape (k, 3).
        X_IC: The sensor's frame in the inertial frame of the first, shape (4, 4).
    """

    load: Load
    robot: int
    numbers: tuple[int, ...]
    masses: Array
    moments: Array
    X_IC: Array


class WrenchSensors:
    """The force-torque sensors of a scene."""

    def __init__(
        self, bullet: BulletClient, scene: Scene, *, robots: Iterable[Multibody], timestep: float
    ) -> None:
        """Find the load of each sensor.

        Raises:
            CapabilityError: If a loop leads around a sensor.
        """
        self._bullet = bullet
        by_name = {robot.name: robot for robot in robots}
        self._links = {
            sensor.name: _load_links(
                by_name[sensor.robot],
                scene.robot(sensor.robot).model.joint(sensor.joint).child,
                load=Load.of(sensor, scene, timestep=timestep, engine="bullet"),
            )
            for sensor in scene.sensors
        }
        self.forget()

    def forget(self) -> None:
        """Reset: no step has been made."""
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
        links = self._links[sensor]
        return links.load.wrench(
            self._momentum(links, before[sensor]),
            self._momentum(links, self.memory[1][sensor]),
            masses=links.masses,
            contacts=contacts,
            wrenches=wrenches,
        )

    def _momentum(self, links: _LoadLinks, states: LinkStates) -> Momentum:
        x, v, w = (np.array([state[i] for state in states]) for i in (0, 6, 7))
        R = np.array([self._bullet.getMatrixFromQuaternion(state[1]) for state in states])
        R = R.reshape(-1, 3, 3)
        return Momentum(
            X_WS=pose(x[0], R[0]) @ links.X_IC,
            centers=x,
            linear=links.masses[:, np.newaxis] * v,
            angular=np.einsum("kij,kj,klj,kl->ki", R, links.moments, R, w),
        )

    def _present(self) -> dict[str, LinkStates]:
        """Read how the loads move, unless that is known."""
        return self.memory[1] or {
            name: self._bullet.getLinkStates(
                links.robot, links.numbers, computeLinkVelocity=1, computeForwardKinematics=1
            )
            for name, links in self._links.items()
        }


def _load_links(robot: Multibody, child: str, *, load: Load) -> _LoadLinks:
    """Find Bullet's links below a sensor, given the link right below it."""
    top, X_IC = robot.inertial_pose(child)
    below = {top + 1}
    for i, spec in enumerate(robot.specs):
        if spec.parent in below:
            below.add(i)
    heavy = [top + 1, *(i for i in sorted(below) if i > top + 1 and robot.specs[i].inertia)]
    inertias = [robot.specs[i].inertia for i in heavy]
    return _LoadLinks(
        load=load,
        robot=robot.id,
        numbers=tuple(i - 1 for i in heavy),
        masses=np.array([inertia.mass if inertia else 0.0 for inertia in inertias]),
        moments=np.array([principal(inertia)[0] for inertia in inertias]),
        X_IC=X_IC,
    )
