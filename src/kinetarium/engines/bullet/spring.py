"""SpringDrive: servos, joint damping and armature, for a solver that knows none of them.

Bullet's motors are velocities to be reached, not springs, its joint damping
is explicit, and its joints have no armature. Here the law

    tau = u + K (q_ref - q - h v') + D (v_ref - v') - d v' - A (v' - v) / h

of the velocity v' after a step of length h is solved together with the
equation of motion M (v' - v) / h = tau + load, M being Bullet's own (stable
PD control: Tan, Liu and Turk, 2011). The load is weight and Coriolis forces
as Bullet has them now, and whatever else acted in the step before: contacts,
couplings, loops. Free motion is implicit Euler; against an obstacle tau comes
to rest at the law's static value, without overshoot.
"""

from dataclasses import dataclass

import numpy as np

from kinetarium.engines.bullet.joint_space import JointSpace
from kinetarium.engines.bullet.library import BulletClient
from kinetarium.engines.bullet.wiring import Wiring
from kinetarium.spatial.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class StepBefore:
    """What is left of a step: the equation of motion at its start, and the forces during it."""

    v: Array
    M: Array
    bias: Array
    tau: Array


class SpringDrive:
    """Drives the joints of one robot by forces.

    Attributes:
        damping: Joint damping d in force [N m s/rad or N s/m], shape (n,).
        armature: Inertia of the drives A in force [kg m^2 or kg], shape (n,).
        before: The step before; None if there was none.
    """

    def __init__(
        self,
        bullet: BulletClient,
        wiring: Wiring,
        *,
        space: JointSpace,
        timestep: float,
        servos: bool,
    ) -> None:
        """Wire a robot.

        Args:
            bullet: The world.
            wiring: The robot and its drives.
            space: Its equation of motion.
            timestep: Time step h [s].
            servos: Whether its position and velocity drives are springs and dampers.
        """
        self._bullet, self._robot = bullet, wiring.robot
        self._space, self._h = space, timestep
        n = len(wiring.joints)
        self.damping = np.array([joint.damping for joint in wiring.joints])
        self.armature = np.array([joint.armature for joint in wiring.joints])
        self._A_h = self.armature / timestep
        self._passive = self.damping + self._A_h
        self._K, self._gain, self._effort = np.zeros(n), np.zeros(n), np.zeros(n)
        # Commands times these are torques, and the pull of the servos from zero.
        self._torque = np.zeros((n, wiring.commands))
        self._pull = np.zeros((n, wiring.commands))
        self._limit = np.full(wiring.commands, np.inf)
        torque, position, velocity = wiring.torque, wiring.position, wiring.velocity
        self._torque[torque.joints, torque.commands] = 1.0
        self._limit[torque.commands] = torque.effort
        if servos:
            self._pull[position.joints, position.commands] = position.stiffness
            self._pull[velocity.joints, velocity.commands] = velocity.damping
            self._K[position.joints] = position.stiffness
            self._gain[position.joints] = position.damping + timestep * position.stiffness
            self._gain[velocity.joints] = velocity.damping
            self._effort[position.joints] = position.effort
            self._effort[velocity.joints] = velocity.effort
        self._diagonal = np.arange(n), np.arange(n)
        self.before: StepBefore | None = None

    def __call__(self, command: Array, *, q: Array, v: Array) -> None:
        """Hand over the forces for the next step.

        Args:
            command: The commands of the scene.
            q: Positions of the robot's joints [rad or m].
            v: Their velocities [rad/s or m/s].
        """
        h, before = self._h, self.before
        M, bias = self._space.of_joints(q, v)
        load = -bias
        if before is not None:
            load += before.M @ (v - before.v) / h + before.bias - before.tau
        torques = np.minimum(np.maximum(command, -self._limit), self._limit)
        force = self._A_h * v + self._torque @ torques
        pull, gain = self._pull @ command - self._K * q, self._gain
        while True:
            G = self._passive + gain
            implicit = M.copy()
            implicit[self._diagonal] += h * G
            v_after = np.linalg.solve(implicit, M @ v + h * (load + force + pull))
            servo = pull - gain * v_after
            beyond = np.abs(servo) > self._effort
            if not beyond.any():
                break
            # A servo at its limit is a mere force.
            force += np.where(beyond, np.copysign(self._effort, servo), 0.0)
            pull, gain = np.where(beyond, 0.0, pull), np.where(beyond, 0.0, gain)
        tau = force + pull - G * v_after
        self._bullet.setJointMotorControlArray(
            self._robot.id, self._robot.joints, self._bullet.TORQUE_CONTROL, forces=tau.tolist()
        )
        self.before = StepBefore(v, M, bias, tau)
