"""Profiles: what is in force in each engine, and why."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from kinetarium.control.arm.computed_torque import GraspComputedTorque, GraspReference
from kinetarium.control.interface import Measurement
from kinetarium.dynamics import RobotDynamics
from kinetarium.engines.protocol import Options
from kinetarium.engines.registry import open_engine
from kinetarium.model.robot import RobotModel
from kinetarium.scene import Actuation, Drive
from kinetarium.scene.grasped_cube import CUBE_SIZE, FINGERS, GRIP, carrying_cube
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.studies.grasp.config import Profile
from kinetarium.studies.grasp.reference import ArmReference

FRICTION = 0.8
"""Between cube and pads, where it is not the engine's own [-]."""


class JointControl(StrEnum):
    """Who moves the joints."""

    LAW = "law"
    """One computed-torque law outside the engine, as torques at every step."""
    SERVO = "servo"
    """The engine's own position servos."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What is in force in an engine.

    Attributes:
        options: The engine's own options.
        control: Who moves the joints.
        reason: Why these, in words.
        friction: Between cube and pads [-].
        timestep: Physics step [s].
        armature: Inertia of the drive of every joint [kg m^2 or kg].
        lifted: Whether servo commands are raised by what gravity would pull the arm down.
    """

    options: Options
    control: JointControl
    reason: str
    friction: float = FRICTION
    timestep: float = 1e-3
    armature: float = 0.0
    lifted: bool = False


_OWN_FRICTION = {"mujoco": 1.0, "bullet": 0.25, "physx": 0.3, "drake": 1.0}
"""Between two surfaces of which nothing is said; Bullet multiplies 0.5 by 0.5. ODE has none."""


def setting(engine: str, profile: Profile) -> Setting:
    """Return what a profile means in an engine.

    An engine that is not known here takes part with its own defaults.

    Args:
        engine: The engine's name.

    Raises:
        KinetariumError: If the engine is not available.
    """
    kind = open_engine(engine).options
    match profile:
        case Profile.DEFAULTS:
            return _defaults(engine, kind)
        case Profile.MATCHED:
            return _matched(engine, kind)
        case Profile.TUNED:
            return _tuned(engine, kind)


def _defaults(engine: str, kind: type[Options]) -> Setting:
    return Setting(
        kind.stock(),
        JointControl.SERVO,
        "as it comes, friction included; only the time step of 1 ms is ours",
        friction=_OWN_FRICTION.get(engine, FRICTION),
    )


def _matched(engine: str, kind: Callable[..., Options]) -> Setting:
    match engine:
        case "mujoco":
            options = kind(
                impratio=100.0,
                contact_solref=(0.002, 1.0),
                contact_solimp=(0.99, 0.99, 0.001, 0.5, 2.0),
            )
            reason = (
                "elliptic cone, friction 100 times as hard as the normal contact (at 10 the cube"
                " creeps ten times faster), and contacts as hard as the time step allows: at the"
                " adapter's softer surface, made for sliding blocks, pads sink in 0.9 mm"
            )
        case "bullet":
            options = kind(contact_softness=0.01)
            reason = (
                "50 iterations, friction as a pyramid (as a cone the cube creeps), contacts that"
                " yield a hundredth of what the bodies do: rigid ones share the load by chance and"
                " let the cube turn in the grip, and at the adapter's 0.3, made for bodies at rest,"
                " the forces of the contacts no longer add up to the grip"
            )
        case "ode":
            options = kind()
            reason = (
                "the direct solver, which is exact, and contacts that yield 1e-5 m/(N s), so that"
                " all four corners of a pad carry"
            )
        case "physx":
            options = kind()
            reason = (
                "projected Gauss-Seidel with 10 iterations on positions and 1 on velocities; the"
                " temporal solver, which is the default, has up to four times the variance"
            )
        case _:
            options, reason = kind(), "the defaults of its adapter"
    return Setting(options, JointControl.LAW, reason)


def _tuned(engine: str, kind: Callable[..., Options]) -> Setting:
    if engine == "mujoco":
        return Setting(
            kind(
                impratio=10.0,
                contact_solref=(0.02, 1.0),
                contact_solimp=(0.9, 0.95, 0.001, 0.5, 2.0),
            ),
            JointControl.SERVO,
            "elliptic cone, friction 10 times as hard as the normal contact, MuJoCo's own contact"
            " softness at its own step of 2 ms, drives with an inertia of 0.1; the arm's weight is"
            " taken off the servos",
            timestep=2e-3,
            armature=0.1,
            lifted=True,
        )
    matched = _matched(engine, kind)
    return replace(
        matched,
        control=JointControl.SERVO,
        lifted=True,
        reason=f"{matched.reason}; the arm's weight is taken off the servos",
    )


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


def actuation(model: RobotModel, control: JointControl) -> Mapping[str, Actuation]:
    """Return the drive of every joint.

    Args:
        model: The arm, its fingers coupled if servos drive it.
        control: Who moves the joints.
    """
    joints = [joint.name for joint in model.moving_joints]
    if control is JointControl.LAW:
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
    """Return the law that carries the cube along a joint motion.

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
    """Return the fingers' command [m] at times since they began to close [s], shape (k,)."""
    opening: Array = CUBE_SIZE / 2 * np.clip(1 - time / CLOSING, 0.0, 1.0)
    return opening


def lifts(model: RobotModel, q: Array) -> Array:
    """Return by how much servos must aim higher to bear the arm and the cube [rad], shape (k, 7).

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
        """Return the commands at a time [s], shape (8,)."""
        row: Array = self.commands[min(round(t * self.rate), len(self.commands) - 1)]
        return row
