"""Drives, friction and armature of joints as actuators of a Drake plant."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.engines.drake.library import trees
from kinetarium.engines.drake.options import DrakeOptions
from kinetarium.engines.protocol import Layout, LoadedDrive
from kinetarium.model.robot import Joint
from kinetarium.scene import Actuation, DriveMode
from kinetarium.spatial.arrays import Array

_LEAST_EFFORT = float(np.finfo(np.float64).tiny)
"""Stands for an effort of zero, which Drake does not accept [N m or N]."""
_FRICTION, _SPRING = "#friction", "#spring"


def add_actuators(
    plant: Any, joint: Any, *, model: Joint, drive: Actuation | None, options: DrakeOptions
) -> None:
    """Add to a joint what drives it, what rubs in it and the inertia of its drive.

    Coulomb friction is a servo of speed zero whose effort is limited to it; a
    spring is a servo to the position at which it is relaxed. The inertia of a
    joint is that of its last actuator, so that each is given all.

    Args:
        joint: The joint in the plant.
        model: The joint in the model.
        drive: Its drive, with the effort limit to obey; None if it has none.
    """
    actuators = []
    if model.friction > 0:
        rub = plant.AddJointActuator(joint.name() + _FRICTION, joint, model.friction)
        rub.set_controller_gains(
            trees.PdControllerGains(p=0.0, d=model.friction / options.joint_creep)
        )
        actuators.append(rub)
    if model.stiffness > 0:
        spring = plant.AddJointActuator(joint.name() + _SPRING, joint)
        spring.set_controller_gains(trees.PdControllerGains(p=model.stiffness, d=0.0))
        actuators.append(spring)
    if drive:
        motor = plant.AddJointActuator(joint.name(), joint, max(drive.effort, _LEAST_EFFORT))
        if drive.drive is not DriveMode.TORQUE:
            stiffness = drive.stiffness if drive.drive is DriveMode.POSITION else 0.0
            motor.set_controller_gains(trees.PdControllerGains(p=stiffness, d=drive.damping))
        actuators.append(motor)
    if model.armature > 0 and not actuators:
        actuators.append(plant.AddJointActuator(joint.name(), joint))
    for actuator in actuators:
        actuator.set_default_rotor_inertia(model.armature)
        actuator.set_default_gear_ratio(1.0)


def friction_of(plant: Any, joint: Any) -> float:
    """Read back the Coulomb friction of a joint [N m or N]."""
    name = joint.name() + _FRICTION
    if not plant.HasJointActuatorNamed(name, joint.model_instance()):
        return 0.0
    return float(plant.GetJointActuatorByName(name, joint.model_instance()).effort_limit())


def armature_of(plant: Any, joint: Any) -> float:
    """Read back the inertia of the drive of a joint [kg m^2 or kg]."""
    own = [a for a in _own_actuators(plant, joint) if a.joint().index() == joint.index()]
    return float(own[-1].default_reflected_inertia()) if own else 0.0


def loaded_drives(plant: Any, layout: Layout, *, joints: tuple[Any, ...]) -> Iterator[LoadedDrive]:
    """Read back the drives; torques are limited by us as well (`Drives`)."""
    commands = zip(layout.commands, layout.command_joints, layout.actuations, strict=True)
    for name, k, asked in commands:
        joint = joints[k]
        motor = plant.GetJointActuatorByName(joint.name(), joint.model_instance())
        mode, stiffness, damping = DriveMode.TORQUE, 0.0, 0.0
        if motor.has_controller():
            gains = motor.get_controller_gains()
            stiffness, damping = float(gains.p), float(gains.d)
            servo = asked.drive is not DriveMode.TORQUE and not stiffness
            mode = asked.drive if servo else DriveMode.POSITION
        yield LoadedDrive(name, mode, stiffness, damping, float(motor.effort_limit()))


@dataclass(frozen=True, slots=True, eq=False)
class Servos:
    """The servos of one robot, and where their commands go.

    Attributes:
        instance: The robot's model instance.
        size: Length of the vector of desired positions and velocities.
        commands: Indices of their commands, shape (k,).
        rows: Indices into that vector, shape (k,).
        relaxed: That vector without commands: where springs are relaxed, shape (size,).
    """

    instance: Any
    size: int
    commands: NDArray[np.intp]
    rows: NDArray[np.intp]
    relaxed: Array


@dataclass(frozen=True, slots=True, eq=False)
class Drives:
    """Where commands go.

    Attributes:
        count: Number of all actuators.
        torques: Indices of the commands that are torques, shape (t,).
        inputs: Indices of their actuators, shape (t,).
        efforts: The effort limit of each [N m or N], shape (t,).
        servos: The robots that have servos.
    """

    count: int
    torques: NDArray[np.intp]
    inputs: NDArray[np.intp]
    efforts: Array
    servos: tuple[Servos, ...]

    @classmethod
    def of(
        cls,
        plant: Any,
        layout: Layout,
        *,
        joints: tuple[Any, ...],
        springrefs: Mapping[Any, float],
    ) -> "Drives":
        """Find the actuators in a finished plant, whose joints stand in the order of the layout.

        Args:
            springrefs: Where the springs of joints are relaxed [rad or m], by the joint's index.
        """
        torques, inputs, efforts = [], [], []
        rows: dict[str, list[tuple[int, int]]] = {robot: [] for robot in layout.robot_joints}
        for k, (name, drive) in enumerate(zip(layout.commands, layout.actuations, strict=True)):
            joint = joints[layout.command_joints[k]]
            motor = plant.GetJointActuatorByName(joint.name(), joint.model_instance())
            if drive.drive is DriveMode.TORQUE:
                torques.append(k)
                inputs.append(motor.input_start())
                efforts.append(drive.effort)
            else:
                row = _own_actuators(plant, joint).index(motor)
                if drive.drive is DriveMode.VELOCITY:
                    row += plant.num_actuators(joint.model_instance())
                rows[name.partition("/")[0]].append((k, row))
        servos = []
        for robot, own in layout.robot_joints.items():
            # A servo without command, which friction is, needs its port as well.
            actuators = _own_actuators(plant, joints[own.start]) if joints[own] else []
            if any(actuator.has_controller() for actuator in actuators):
                instance = actuators[0].model_instance()
                pairs = np.array(rows[robot], dtype=np.intp).reshape(-1, 2)
                size = 2 * plant.num_actuators(instance)
                relaxed = np.zeros(size)
                for row, actuator in enumerate(actuators):
                    if actuator.name().endswith(_SPRING):
                        relaxed[row] = springrefs[actuator.joint().index()]
                servos.append(Servos(instance, size, pairs[:, 0], pairs[:, 1], relaxed))
        return cls(
            plant.num_actuators(),
            np.array(torques, dtype=np.intp),
            np.array(inputs, dtype=np.intp),
            np.array(efforts),
            tuple(servos),
        )


def _own_actuators(plant: Any, joint: Any) -> list[Any]:
    """Return all actuators of the robot that a joint belongs to."""
    indices = plant.GetJointActuatorIndices(joint.model_instance())
    return [plant.get_joint_actuator(index) for index in indices]
