"""Force-torque sensors."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WrenchSensor:
    """A force-torque sensor in a joint, fixed or moving.

    It reads the wrench [f; m] of the load (everything below the joint, with
    gravity and contacts) on the sensor, in the child link's frame about its origin.

    Attributes:
        name: Its name, unique in the scene.
        robot: The placed robot's name.
        joint: The joint it sits in.
    """

    name: str
    robot: str
    joint: str
