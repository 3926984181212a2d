"""Profiles: the settings of each engine, and the reasons."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from kinetarium.control.arm.computed_torque import (
    FINGER_BANDWIDTH,
    GRIP_STIFFNESS,
    SWIFTEST,
    GraspComputedTorque,
    GraspReference,
)
from kinetarium.control.interface import Measurement
from kinetarium.dynamics import RobotDynamics
from kinetarium.engines.protocol import Engine, Options
from kinetarium.engines.registry import matched_options, open_engine
from kinetarium.scene import Actuation, DriveMode
from kinetarium.scene.grasped_cube import PADS
from kinetarium.scene.held_object import Holder
from kinetarium.scene.standing import SERVO_FREQUENCY
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.studies.grasp.config import Profile
from kinetarium.studies.grasp.task import ArmReference

FRICTION = 0.8
"""Friction coefficient between cube and pads, unless it is the engine's own [-]."""


class JointControl(StrEnum):
    """What drives the joints."""

    LAW = "law"
    """A computed-torque controller outside the engine, at every step."""
    SERVO = "servo"
    """The engine's own position servos."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The settings of an engine.

    Attributes:
        options: The engine's own options.
        control: What drives the joints.
        reason: Why these settings.
        friction: Friction coefficient between cube and pads [-].
        timestep: Physics time step [s].
        armature: Rotor inertia of every joint [kg m^2 or kg].
        lifted: Whether servo commands compensate the arm's weight.
    """

    options: Options
    control: JointControl
    reason: str
    friction: float = FRICTION
    timestep: float = 1e-3
    armature: float = 0.0
    lifted: bool = False


_OWN_FRICTION = {"mujoco": 1.0, "bullet": 0.25, "physx": 0.3, "drake": 1.0, "rapier": 0.5}
"""Default friction between two surfaces; Bullet multiplies 0.5 by 0.5. ODE has no default."""


def setting(engine: str, profile: Profile) -> Setting:
    """Return the settings of a profile in an engine.

    Engines of plug-ins have their own defaults.

    Args:
        engine: The engine's name.

    Raises:
        KinetariumError: If the engine is not available.
    """
    opened = open_engine(engine)
    match profile:
        case Profile.DEFAULTS:
            return _defaults(opened)
        case Profile.MATCHED:
            return _matched(opened)
        case Profile.TUNED:
            return _tuned(opened)


def _defaults(engine: Engine) -> Setting:
    return Setting(
        engine.options.stock(),
        JointControl.SERVO,
        "the engine's defaults, including friction; only the time step of 1 ms is set",
        friction=_OWN_FRICTION.get(engine.info.name, FRICTION),
    )


def _matched(engine: Engine) -> Setting:
    matched = matched_options(engine)
    return Setting(matched.options, JointControl.LAW, matched.reason)


def _tuned(engine: Engine) -> Setting:
    kind: Callable[..., Options] = engine.options
    if engine.info.name == "mujoco":
        return Setting(
            kind(
                impratio=10.0,
                contact_solref=(0.02, 1.0),
                contact_solimp=(0.9, 0.95, 0.001, 0.5, 2.0),
            ),
            JointControl.SERVO,
            "elliptic cone, friction 10 times as stiff as the normal contact, MuJoCo's own contact"
            " softness and time step of 2 ms, armature 0.1; servo commands compensate the arm's"
            " weight",
            timestep=2e-3,
            armature=0.1,
            lifted=True,
        )
    matched = _matched(engine)
    return replace(
        matched,
        control=JointControl.SERVO,
        lifted=True,
        reason=f"{matched.reason}; servo commands compensate the arm's weight",
    )


CLOSING = 0.05
"""Duration of the ramp of the fingers' command from the object's surface into it [s]."""
_PANDA = frozen([4500, 4500, 3500, 3500, 2000, 2000, 2000])
"""Stiffness of the Panda's servos [N m/rad], from MuJoCo Menagerie; damping is a tenth of it."""
_FINGER_DAMPING = 20.0
"""Damping of the servo of each finger [N s/m]."""


def servo_gains(holder: Holder) -> tuple[Array, Array]:
    """Return stiffness [N m/rad or N/m] and damping of the arm's servos, shape (arm,) each.

    Those of the Panda are its own; other arms have servos of 10 Hz with critical damping for what
    each joint moves.
    """
    if PADS[0] in {side.pad for side in holder.sides}:
        return _PANDA, frozen(_PANDA / 10)
    M = RobotDynamics(holder.carrying()).mass_matrix(holder.home)
    inertia, w = np.diag(M)[: holder.arm], 2 * np.pi * SERVO_FREQUENCY
    return frozen(w**2 * inertia), frozen(2 * w * inertia)


def actuation(holder: Holder, control: JointControl, *, force: float) -> Mapping[str, Actuation]:
    """Return the drive of every joint.

    Args:
        holder: The arm, its fingers coupled if servos drive it.
        control: What drives the joints.
        force: Grip force at each finger [N].
    """
    joints = [joint.name for joint in holder.model.moving_joints]
    if control is JointControl.LAW:
        return dict.fromkeys(joints, Actuation(DriveMode.TORQUE))
    servos = {
        name: Actuation(DriveMode.POSITION, float(stiffness), float(damping))
        for name, stiffness, damping in zip(joints[: holder.arm], *servo_gains(holder), strict=True)
    }
    # One drive closes both fingers, so that each gets half of its force.
    closing, fingers = holder.moving[0], len(holder.moving)
    lever = closing.opening**2 * fingers
    closer = Actuation(
        DriveMode.POSITION,
        GRIP_STIFFNESS * lever,
        _FINGER_DAMPING * lever,
        effort=fingers * force * abs(closing.opening),
    )
    return {**servos, closing.joint: closer}


def grasp_law(
    holder: Holder,
    arm: ArmReference,
    *,
    opening: Array,
    grip: Array,
    rate: float,
    mass: float | None = None,
) -> GraspComputedTorque:
    """Return the controller that carries the object along a joint motion.

    Args:
        holder: The arm, its fingers free.
        arm: The joint motion, one row for each step.
        opening: Desired motion of the fingers off the object [m], shape (k,).
        grip: Maximum closing force [N], shape (k,).
        rate: Steps per second [Hz].
        mass: Mass of the object that the controller expects [kg]; the true one if None.
    """
    dynamics = RobotDynamics(holder.carrying(mass=mass))
    alone = np.diag(RobotDynamics(holder.model).mass_matrix(holder.home))[holder.arm :]
    loaded = np.diag(RobotDynamics(holder.carrying()).mass_matrix(holder.home))[holder.arm :]
    return GraspComputedTorque(
        dynamics,
        GraspReference(rate, arm.q, arm.v, opening, grip),
        touching=holder.home[holder.arm :],
        openings=holder.openings,
        bandwidth=FINGER_BANDWIDTH * min(1.0, SWIFTEST / float((loaded / alone).max())),
        most_aside=float(grip.max()),
        sideways=holder.parallel,
    )


def closing(time: Array, *, force: float) -> Array:
    """Return the fingers' command off the object [m], shape (k,): twice as deep as the force needs.

    Args:
        time: Since the start of closing [s], shape (k,).
        force: Grip force at each finger [N].
    """
    opening: Array = -2 * force / GRIP_STIFFNESS * np.clip(time / CLOSING, 0.0, 1.0)
    return opening


def lifts(holder: Holder, q: Array) -> Array:
    """Return the servo offsets that compensate the weight of arm and object, shape (k, arm).

    Args:
        holder: The arm with its object.
        q: Positions of the arm [rad or m], shape (k, arm).
    """
    dynamics, fingers = RobotDynamics(holder.carrying()), holder.home[holder.arm :]
    weight = [dynamics.gravity_forces(np.concatenate([row, fingers]))[: holder.arm] for row in q]
    return np.asarray(weight) / servo_gains(holder)[0]


@dataclass(frozen=True, eq=False)
class ServoCommands:
    """Position commands for an engine's own servos, one row for each step.

    Attributes:
        rate: Steps per second [Hz].
        commands: Of the arm and of the leading finger [rad and m], shape (k, arm + 1).
    """

    rate: float
    commands: Array

    def reset(self) -> None:
        """Do nothing: it has no state."""

    def update(self, t: float, measurement: Measurement) -> Array:
        """Return the commands at a time [s], shape (arm + 1,)."""
        row: Array = self.commands[min(round(t * self.rate), len(self.commands) - 1)]
        return row
