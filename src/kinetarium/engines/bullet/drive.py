"""Forces and Bullet's own motors, handed over before every step."""

from collections.abc import Sequence

from kinetarium.engines.bullet.library import BulletClient
from kinetarium.engines.bullet.options import BulletOptions
from kinetarium.engines.bullet.wiring import Wires, Wiring


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
    """Gives the position and velocity commands of one robot to Bullet's own motors."""

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
    """Give Bullet's links of the joints that wires drive."""
    return [wiring.robot.joints[joint] for joint in wires.joints]
