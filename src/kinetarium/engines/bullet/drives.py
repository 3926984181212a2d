"""Forces and Bullet's own motors, handed over before every step."""

from collections.abc import Sequence

from kinetarium.engines.bullet.library import BulletClient
from kinetarium.engines.bullet.multibody import Multibody
from kinetarium.engines.bullet.options import BulletOptions
from kinetarium.engines.protocol import Layout
from kinetarium.scene import DriveMode


class TorqueDrive:
    """Puts the torque commands of one robot on its joints, cut off at the effort limits."""

    def __init__(self, bullet: BulletClient, robot: Multibody, *, layout: Layout) -> None:
        """Look up the torque drives of a robot."""
        drives = [row for row in layout.drives(robot.name) if row[2].drive is DriveMode.TORQUE]
        self._robot, self._links = robot.id, [robot.joints[joint] for _, joint, _ in drives]
        self._limits = [(command, drive.effort) for command, _, drive in drives]
        self._set, self._mode = bullet.bare("setJointMotorControlArray"), bullet.TORQUE_CONTROL
        self._number = bullet.number

    def __call__(self, commands: Sequence[float]) -> None:
        """Hand over the forces for the next step."""
        forces = [
            limit if commands[i] > limit else -limit if commands[i] < -limit else commands[i]
            for i, limit in self._limits
        ]
        self._set(self._robot, self._links, self._mode, forces=forces, physicsClientId=self._number)


class MotorDrive:
    """Passes the commands of one kind of drive of one robot to Bullet's own motors."""

    def __init__(
        self,
        bullet: BulletClient,
        robot: Multibody,
        *,
        layout: Layout,
        kind: DriveMode,
        options: BulletOptions,
    ) -> None:
        """Look up the position or velocity drives of a robot."""
        drives = [row for row in layout.drives(robot.name) if row[2].drive is kind]
        self._bullet, self._robot = bullet, robot.id
        self._links = [robot.joints[joint] for _, joint, _ in drives]
        self._commands = [command for command, _, _ in drives]
        self._forces = [drive.effort for _, _, drive in drives]
        self._gains = {"velocityGains": [options.motor_velocity_gain] * len(drives)}
        self._mode, self._target = bullet.VELOCITY_CONTROL, "targetVelocities"
        if kind is DriveMode.POSITION:
            self._gains["positionGains"] = [options.motor_position_gain] * len(drives)
            self._mode, self._target = bullet.POSITION_CONTROL, "targetPositions"

    def __call__(self, commands: Sequence[float]) -> None:
        """Set the targets of the motors."""
        targets = {self._target: [commands[i] for i in self._commands]}
        self._bullet.setJointMotorControlArray(
            self._robot, self._links, self._mode, forces=self._forces, **targets, **self._gains
        )
