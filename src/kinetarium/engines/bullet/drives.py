"""Forces and Bullet's own motors, handed over before every step."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinetarium.engines.bullet.joint_space import JointSpace, Wires, Wiring
from kinetarium.engines.bullet.library import BulletClient
from kinetarium.engines.bullet.options import BulletOptions
from kinetarium.spatial.arrays import Array


class TorqueDrive:
    """Puts the torque commands of one robot on its joints, cut off at the effort limits."""

    def __init__(self, bullet: BulletClient, wiring: Wiring) -> None:
        """Wire a robot.

        Args:
            bullet: The world.
            wiring: The robot and its drives.
        """
        wires = wiring.torque
        self._robot, self._links = wiring.robot.id, _links(wiring, wires)
        self._wires = list(zip(wires.commands.tolist(), wires.effort.tolist(), strict=True))
        self._set, self._mode = bullet.bare("setJointMotorControlArray"), bullet.TORQUE_CONTROL
        self._number = bullet.number

    def __call__(self, commands: Sequence[float]) -> None:
        """Hand over the forces for the next step."""
        forces = [
            limit if commands[i] > limit else -limit if commands[i] < -limit else commands[i]
            for i, limit in self._wires
        ]
        self._set(self._robot, self._links, self._mode, forces=forces, physicsClientId=self._number)


class MotorDrive:
    """Passes the position and velocity commands of one robot to Bullet's own motors."""

    def __init__(self, bullet: BulletClient, wiring: Wiring, *, options: BulletOptions) -> None:
        """Wire a robot.

        Args:
            bullet: The world.
            wiring: The robot and its drives.
            options: For the gains of the motors.
        """
        self._bullet, self._robot = bullet, wiring.robot.id
        self._position, self._velocity = wiring.position, wiring.velocity
        self._placed, self._turning = (
            _links(wiring, wiring.position),
            _links(wiring, wiring.velocity),
        )
        self._gains = options.motor_position_gain, options.motor_velocity_gain

    def __call__(self, commands: Sequence[float]) -> None:
        """Set the targets of the motors."""
        bullet, (kp, kd) = self._bullet, self._gains
        bullet.setJointMotorControlArray(
            self._robot,
            self._placed,
            bullet.POSITION_CONTROL,
            targetPositions=[commands[i] for i in self._position.commands],
            forces=self._position.effort.tolist(),
            positionGains=[kp] * len(self._placed),
            velocityGains=[kd] * len(self._placed),
        )
        bullet.setJointMotorControlArray(
            self._robot,
            self._turning,
            bullet.VELOCITY_CONTROL,
            targetVelocities=[commands[i] for i in self._velocity.commands],
            forces=self._velocity.effort.tolist(),
            velocityGains=[kd] * len(self._turning),
        )


def _links(wiring: Wiring, wires: Wires) -> list[int]:
    """Return Bullet's links of the joints that wires drive."""
    return [wiring.robot.joints[joint] for joint in wires.joints]


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
