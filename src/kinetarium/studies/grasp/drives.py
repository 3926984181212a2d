"""What moves the joints: the grasp law as torques, or commands for an engine's own servos."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kinetarium.control.controller import Measurement
from kinetarium.control.grasp_computed_torque import GraspComputedTorque, GraspReference
from kinetarium.dynamics import RobotDynamics
from kinetarium.model.robot import RobotModel
from kinetarium.scene import Actuation, Drive
from kinetarium.scene.grasped_cube import CUBE_SIZE, FINGERS, carrying_cube
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.studies.grasp.profiles import Control
from kinetarium.studies.grasp.reference import ArmReference

GRIP = 100.0
"""Force between each pad and the cube [N]."""
CLOSING = 0.05
"""Time in which the fingers' command goes from the cube's face to zero [s]."""
STIFFNESS = frozen([4500, 4500, 3500, 3500, 2000, 2000, 2000])
"""Of the arm's servos [N m/rad]; those of MuJoCo Menagerie's Panda."""
DAMPING = frozen(STIFFNESS / 10)
"""Of the arm's servos [N m s/rad]."""
_FINGER_STIFFNESS = 2e4
"""Of the servo that drives both fingers [N/m]; it is cut off long before the cube's faces meet."""
_FINGER_DAMPING = 40.0
"""Of that servo [N s/m]."""


def actuation(model: RobotModel, control: Control) -> Mapping[str, Actuation]:
    """Give the drive of every joint.

    Args:
        model: The arm, its fingers coupled if servos drive it.
        control: Who moves the joints.
    """
    joints = [joint.name for joint in model.moving_joints]
    if control is Control.LAW:
        return dict.fromkeys(joints, Actuation(Drive.TORQUE))
    servos = {
        name: Actuation(Drive.POSITION, float(stiffness), float(damping))
        for name, stiffness, damping in zip(joints[:-2], STIFFNESS, DAMPING, strict=True)
    }
    # One drive closes both fingers, so that each pad has half of its force.
    closer = Actuation(Drive.POSITION, _FINGER_STIFFNESS, _FINGER_DAMPING, effort=2 * GRIP)
    return {**servos, FINGERS[0]: closer}


def grasp_law(
    model: RobotModel, arm: ArmReference, *, opening: Array, grip: Array, rate: float
) -> GraspComputedTorque:
    """Give the law that carries the cube along a joint motion.

    Args:
        model: The arm, its fingers free.
        arm: The joint motion, one row for each step.
        opening: Where the fingers should be [m], shape (k,).
        grip: Most closing force [N], shape (k,).
        rate: Steps per second [Hz].
    """
    reference = GraspReference(rate, arm.q, arm.v, opening, grip)
    return GraspComputedTorque(RobotDynamics(carrying_cube(model)), reference)


def closing(time: Array) -> Array:
    """Give the fingers' command [m] at times since they began to close [s], shape (k,)."""
    opening: Array = CUBE_SIZE / 2 * np.clip(1 - time / CLOSING, 0.0, 1.0)
    return opening


def lifts(model: RobotModel, q: Array) -> Array:
    """Give by how much servos must aim higher to bear the arm and the cube [rad], shape (k, 7).

    Args:
        model: The arm.
        q: Positions of the arm [rad], shape (k, 7).
    """
    dynamics = RobotDynamics(carrying_cube(model))
    fingers = np.full(2, CUBE_SIZE / 2)
    weight = [dynamics.gravity_forces(np.concatenate([row, fingers]))[:-2] for row in q]
    return np.asarray(weight) / STIFFNESS


@dataclass(frozen=True, eq=False)
class ServoCommands:
    """Hands positions to an engine's own servos, one row for each step.

    Attributes:
        rate: Steps per second [Hz].
        commands: Of the arm and of the finger that leads [rad and m], shape (k, 8).
    """

    rate: float
    commands: Array

    def reset(self) -> None:
        """Do nothing: it remembers nothing."""

    def update(self, t: float, measurement: Measurement) -> Array:
        """Give the commands at a time [s], shape (8,)."""
        row: Array = self.commands[min(round(t * self.rate), len(self.commands) - 1)]
        return row
