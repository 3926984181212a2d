"""A robot as something that drives: its wheels, and which of them are on the left."""

from dataclasses import dataclass

from kinetarium.control.differential_drive import DifferentialDrive
from kinetarium.model.load import load_robot
from kinetarium.model.robot import RobotModel
from kinetarium.model.shapes import Cylinder, Sphere
from kinetarium.studies.drive.config import Robot

SKID_MULTIPLIER = 1.875
"""What the track is multiplied by for wheels that skid: wheel_separation_multiplier of
Clearpath's husky_control, and the paper's mu [-]."""


@dataclass(frozen=True, slots=True, eq=False)
class Vehicle:
    """A robot on wheels.

    Attributes:
        model: The robot.
        wheels: Names of the links that roll, in the order of the commands.
        left: Of each wheel, whether it is on the left.
        wheel_radius: Radius of the wheels [m].
        track: Distance of left and right wheels [m].
    """

    model: RobotModel
    wheels: tuple[str, ...]
    left: tuple[bool, ...]
    wheel_radius: float
    track: float

    @property
    def skids(self) -> bool:
        """Whether it cannot turn without skidding: it has more than one axle."""
        return len(self.wheels) > 2

    def drive(self, multiplier: float = SKID_MULTIPLIER) -> DifferentialDrive:
        """Give its kinematics.

        Args:
            multiplier: What the track is multiplied by if the wheels skid [-].
        """
        wider = multiplier if self.skids else 1.0
        return DifferentialDrive(self.wheel_radius, self.track, wider)


def vehicle(robot: Robot) -> Vehicle:
    """Look at a robot of the catalogue."""
    model = load_robot(robot.value)
    joints = model.moving_joints
    aside = [float(joint.X_PJ[1, 3]) for joint in joints]
    shape = model.link(joints[0].child).collisions[0].shape
    assert isinstance(shape, Cylinder | Sphere)
    return Vehicle(
        model,
        tuple(joint.child for joint in joints),
        tuple(y > 0 for y in aside),
        shape.radius,
        max(aside) - min(aside),
    )
