"""The ideal reference: the same control of a rigid grasp, without an engine.

The cube is rigidly attached to the pads. The force variation of a pad is then due to the
path alone: half of the cube's mass times its acceleration across the pads. An engine can
be below it only by tracking the path worse.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from kinetarium.control.interface import Measurement
from kinetarium.dynamics import RobotDynamics, link_poses
from kinetarium.model.robot import RobotModel
from kinetarium.scene.grasped_cube import GRIP, TOOL, carrying_cube, gripper_arm
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.studies.grasp.config import ToolPath
from kinetarium.studies.grasp.profiles import DAMPING, STIFFNESS, JointControl, grasp_law, lifts
from kinetarium.studies.grasp.reference import (
    SETTLE,
    ArmReference,
    arm_reference,
    home,
    offsets,
)

SAMPLE_RATE = 100.0
"""Sampling rate of the forces [Hz]."""
_ASIDE = frozen(np.vstack([np.eye(8), np.eye(8)[7] * -1.0]))
"""Jacobian of arm and finger rates by those of the arm and the cube, shape (9, 8)."""
_Motion = Callable[[int, Array, Array], Array]
"""Returns the accelerations of all joints at a step, positions and velocities."""


@dataclass(frozen=True, slots=True, eq=False)
class Ideal:
    """Samples along the path, the first one a sample after its start.

    Attributes:
        force: Of the left and the right pad, as of the step before the sample [N], shape (k, 2).
        error: Distance of the tool from the path [m], shape (k,).
    """

    force: Array
    error: Array


@lru_cache(maxsize=16)
def ideal(
    path: ToolPath,
    *,
    duration: float,
    timestep: float,
    control: JointControl,
    armature: float,
    lifted: bool,
) -> Ideal:
    """Integrate the rigid grasp along a path (semi-implicit Euler).

    Args:
        duration: Simulated part of the path [s].
        timestep: Step of integration and control [s].
        control: What drives the joints.
        armature: Rotor inertia of every joint [kg m^2 or kg].
        lifted: Whether servo commands compensate the arm's weight.
    """
    model = gripper_arm(coupled=False, armature=armature)
    arm = arm_reference(path, duration=duration, timestep=timestep)
    carrying, bare = RobotDynamics(carrying_cube(model)), RobotDynamics(model)
    motion = (
        _law(model, arm, carrying=carrying, timestep=timestep)
        if control is JointControl.LAW
        else _servos(model, arm, carrying=carrying, timestep=timestep, lifted=lifted)
    )
    q, v = home().copy(), np.zeros(9)
    if control is JointControl.SERVO:
        # Without gravity compensation the arm sags before the path begins.
        for _ in range(round(SETTLE / timestep)):
            v = v + timestep * motion(0, q, v)
            q = q + timestep * v
    stride = round(1 / (SAMPLE_RATE * timestep))
    forces, positions = [], []
    for k in range(round(duration / timestep)):
        a = motion(k, q, v)
        sampled = (k + 1) % stride == 0
        if sampled:
            forces.append(_pad_forces(q, v, a, carrying=carrying, bare=bare))
        v = v + timestep * a
        q = q + timestep * v
        if sampled:
            positions.append(q)
    time = np.arange(1, len(forces) + 1) / SAMPLE_RATE
    error = tool_error(np.array(positions), path=path, time=time)
    return Ideal(frozen(forces), frozen(error))


def tool_error(q: Array, *, path: ToolPath, time: Array) -> Array:
    """Return the distance of the tool from the path [m], shape (k,).

    Args:
        q: Positions of arm and fingers, shape (k, 9).
        time: Since the start of the path [s], shape (k,).
    """
    model = gripper_arm(coupled=False)
    tool = [link.name for link in model.links].index(TOOL)
    wanted = np.tile(link_poses(model, home())[tool, :3, 3], (len(time), 1))
    wanted[:, 1:] += offsets(path, time)
    distance: Array = np.linalg.norm(link_poses(model, q)[:, tool, :3, 3] - wanted, axis=1)
    return distance


def _law(
    model: RobotModel, arm: ArmReference, *, carrying: RobotDynamics, timestep: float
) -> _Motion:
    """Return the accelerations under the computed-torque law."""
    steps = len(arm.q)
    law = grasp_law(
        model, arm, opening=np.zeros(steps), grip=np.full(steps, GRIP), rate=1 / timestep
    )
    nothing = np.empty((0, 7)), np.empty((0, 6))

    def motion(k: int, q: Array, v: Array) -> Array:
        tau = law.update(k * timestep, Measurement(q, v, *nothing, {}))
        M = _ASIDE.T @ carrying.mass_matrix(q) @ _ASIDE
        a: Array = _ASIDE @ np.linalg.solve(M, _ASIDE.T @ (tau - carrying.bias(q, v)))
        return a

    return motion


def _servos(
    model: RobotModel, arm: ArmReference, *, carrying: RobotDynamics, timestep: float, lifted: bool
) -> _Motion:
    """Return the accelerations under implicit spring-damper servos; a gear couples the fingers."""
    commands = arm.q + lifts(model, arm.q) if lifted else arm.q
    stiffening = np.diag(timestep * DAMPING + timestep**2 * STIFFNESS)

    def motion(k: int, q: Array, v: Array) -> Array:
        ahead = q[:7] + timestep * v[:7]
        pull = STIFFNESS * (commands[k] - ahead) - DAMPING * v[:7]
        M = carrying.mass_matrix(q)[:7, :7] + stiffening
        a = np.zeros(9)
        a[:7] = np.linalg.solve(M, pull - carrying.bias(q, v)[:7])
        return a

    return motion


def _pad_forces(
    q: Array, v: Array, a: Array, *, carrying: RobotDynamics, bare: RobotDynamics
) -> Array:
    """Return the forces between the pads and the cube [N], left and right, shape (2,).

    Their sum closes the fingers, their difference accelerates the cube.
    """
    fingers = bare.inverse_dynamics(q, v, a)[7:]
    both = carrying.inverse_dynamics(q, v, a)[7:]
    total = fingers.sum() + 2 * GRIP
    difference = (fingers[0] - fingers[1]) - (both[0] - both[1])
    return np.array([total + difference, total - difference]) / 2
