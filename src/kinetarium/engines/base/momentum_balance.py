"""Force-torque sensors by the balance of momentum, for engines that report no joint forces.

A step changes the momentum of the load of a sensor by everything that acts on it: weight,
contacts, external wrenches and the joint. The first three are known, so that the change of
momentum yields the joint wrench, as its mean over the step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.engines.base.simulation import AppliedWrench
from kinetarium.engines.protocol import Capability, CapabilityError, Contacts
from kinetarium.scene import Scene, WrenchSensor
from kinetarium.spatial.arrays import Array


class Momentum(NamedTuple):
    """The momentum and position of the k rigid bodies of the load of a sensor.

    Attributes:
        X_WS: Pose of the sensor, shape (4, 4).
        centers: Centres of mass [m], shape (k, 3).
        linear: Momenta [N s], shape (k, 3).
        angular: Angular momenta about the centres of mass [N m s], shape (k, 3).
    """

    X_WS: Array
    centers: Array
    linear: Array
    angular: Array


@dataclass(frozen=True, slots=True, eq=False)
class Load:
    """The load of a sensor: all solids below it.

    Attributes:
        members: The solids it consists of.
        carried: Whether each solid of the scene is one of them, shape (n,).
        gravity: Gravity [m/s^2], shape (3,).
        timestep: Time step [s].
    """

    members: frozenset[str]
    carried: NDArray[np.bool_]
    gravity: Array
    timestep: float

    @classmethod
    def of(cls, sensor: WrenchSensor, scene: Scene, *, timestep: float, engine: str) -> "Load":
        """Find everything below a sensor.

        Args:
            timestep: Time step [s].
            engine: Name of the engine.

        Raises:
            CapabilityError: If the sensor's joint is part of a closed loop.
        """
        model = scene.robot(sensor.robot).model
        links = {model.joint(sensor.joint).child}
        for joint in model.joints:  # a parent's before its children's
            if joint.parent in links:
                links.add(joint.child)
        for loop in model.loops:
            if (loop.link_a in links) != (loop.link_b in links):
                cause = f"joint '{sensor.joint}' inside a closed loop"
                raise CapabilityError(engine, Capability.JOINT_WRENCH, reason=cause)
        members = frozenset(f"{sensor.robot}/{link}" for link in links)
        carried = np.array([solid in members for solid in scene.solids])
        return cls(members, carried, scene.gravity, timestep)

    def wrench(
        self,
        before: Momentum,
        after: Momentum,
        *,
        masses: Array,
        contacts: Contacts,
        wrenches: Sequence[AppliedWrench],
    ) -> Array:
        """Return what the load exerts on the sensor in a step, in the sensor's frame, shape (6,).

        Args:
            before: Its momentum before the step.
            after: Its momentum after the step.
            masses: Of its bodies [kg], shape (k,).
            contacts: The contacts of the step.
            wrenches: The external wrenches during it.
        """
        shares = self.carried[contacts.solids] @ (1.0, -1.0)
        own = [wrench for wrench in wrenches if wrench.solid in self.members]
        change = (after.linear - before.linear) / self.timestep
        forces = np.vstack(
            [
                masses[:, np.newaxis] * self.gravity - change,
                shares[:, np.newaxis] * contacts.forces,
                *(wrench.F_W[:3] for wrench in own),
            ]
        )
        points = np.vstack([before.centers, contacts.points, *(wrench.point for wrench in own)])
        R, p = before.X_WS[:3, :3], before.X_WS[:3, 3]
        f = forces.sum(axis=0)
        m = np.cross(points - p, forces).sum(axis=0)
        m -= (after.angular - before.angular).sum(axis=0) / self.timestep
        for wrench in own:
            m += wrench.F_W[3:]
        return np.concatenate([f @ R, m @ R])
