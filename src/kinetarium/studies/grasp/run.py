"""One run: the pads close on the cube, wait, and carry it along the path."""

from collections.abc import Sequence
from dataclasses import replace
from time import process_time

import numpy as np

from kinetarium.control.interface import Controller
from kinetarium.dynamics import RobotDynamics
from kinetarium.engines.base.audit import audit_errors
from kinetarium.engines.protocol import Audit, Engine, FrictionRule, Options, State
from kinetarium.engines.registry import open_engine
from kinetarium.errors import KinetariumError
from kinetarium.metrics import LOOP_TIME
from kinetarium.model.robot import RobotModel
from kinetarium.recording.recording import Channel, Recording
from kinetarium.rollout.loop import ContactProbe
from kinetarium.rollout.loop import run as simulate
from kinetarium.scene import Material, Scene
from kinetarium.scene.grasped_cube import GRIP, PADS, grasped_cube, gripper_arm
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_about
from kinetarium.studies.grasp.config import Case, ToolPath
from kinetarium.studies.grasp.ideal import SAMPLE_RATE, ideal
from kinetarium.studies.grasp.profiles import (
    JointControl,
    ServoCommands,
    Setting,
    actuation,
    closing,
    grasp_law,
    lifts,
    setting,
)
from kinetarium.studies.grasp.reference import SETTLE, ArmReference, arm_reference

_TOLERANCE = 1e-5
"""Largest relative error of a mass, a moment or a coefficient; single precision rounds to 1e-7."""
_STATES = 5
"""Number of states to step from."""


class AuditError(KinetariumError):
    """The model in the engine differs from the given one."""


def one_step_error(scene: Scene, *, engine: Engine, options: Options, timestep: float) -> float:
    """Return the largest error of an acceleration after one step [rad/s^2 or m/s^2].

    Args:
        scene: The scene, all joints of its arm driven by torques.
        timestep: Physics time step [s].

    Raises:
        AuditError: If the model in the engine differs.
    """
    far = frozen(pose((0.0, 0.0, 10.0)) @ scene.bodies[0].X_WB)
    alone = replace(scene, bodies=(replace(scene.bodies[0], X_WB=far),))
    simulation = engine.compile(alone, timestep=timestep, options=options)
    try:
        _check(simulation.audit(), alone, rule=engine.info.friction_rule)
        start = simulation.state()
        dynamics = RobotDynamics(alone.robots[0].model)
        worst = 0.0
        for q, v, a in _states(start.q):
            simulation.reset(State(0.0, q, v, start.poses, start.twists))
            simulation.step(dynamics.inverse_dynamics(q, v, a))
            reached = (simulation.state().v - v) / timestep
            worst = max(worst, float(np.abs(reached - a).max()))
        return worst
    finally:
        simulation.close()


def _states(home: Array) -> Sequence[tuple[Array, Array, Array]]:
    """Return positions, velocities and accelerations about a posture, always the same."""
    rng = np.random.default_rng(0)
    reach = np.array([0.3] * 7 + [0.01] * 2)
    return [
        (
            home + rng.uniform(-reach, reach),
            rng.uniform(-2 * reach, 2 * reach),
            rng.uniform(-5 * reach, 5 * reach),
        )
        for _ in range(_STATES)
    ]


def _check(loaded: Audit, scene: Scene, *, rule: FrictionRule) -> None:
    for fact, error in audit_errors(scene, loaded, rule=rule).items():
        if not error <= _TOLERANCE:
            raise AuditError(f"the model in the engine differs by {error:.2g}: {fact}")


RELEASE = ((0.0, GRIP), (1.0, 12.0), (9.0, 4.0))
"""Time since the start of a release [s] and grip force [N], interpolated linearly."""
_OFFSET = 2e-3
"""Maximum displacement of the cube along each edge of the pads [m]."""
_TURN = np.radians(2.0)
"""Maximum rotation of the cube about the closing axis [rad]."""


def run(case: Case) -> Recording:
    """Carry the cube along the path and record forces, contacts and state.

    Raises:
        KinetariumError: If the model in the engine differs from the given one.
    """
    engine, chosen = open_engine(case.engine), _setting(case)
    # Servos need a gear that couples the fingers; the controller couples them itself.
    model = gripper_arm(coupled=chosen.control is JointControl.SERVO, armature=chosen.armature)
    placed, controller = _scene(case, model, chosen), _controller(case, model, chosen)
    begin = process_time()
    recording = simulate(
        placed,
        engine=engine,
        duration=SETTLE + path_time(case),
        controller=controller,
        probes=[ContactProbe(f"arm/{pad}", "cube") for pad in PADS],
        timestep=case.timestep,
        sample_rate=SAMPLE_RATE,
        options=chosen.options,
        seed=case.seed,
    )
    timing = {LOOP_TIME: process_time() - begin}
    facts = {
        **recording.facts,
        "control": str(chosen.control),
        "friction": chosen.friction,
        "armature": chosen.armature,
        "reason": chosen.reason,
        "one_step_rad_s2": one_step_error(
            placed, engine=engine, options=chosen.options, timestep=case.timestep
        )
        if chosen.control is JointControl.LAW
        else None,
    }
    channels = {**recording.channels, **_ideal_channels(case, chosen, len(recording["time"]))}
    return replace(recording, channels=channels, facts=facts, timing=timing)


def path_time(case: Case) -> float:
    """Return the time from the start of the path to the end of the run [s]."""
    return RELEASE[-1][0] if case.path is ToolPath.RELEASE else case.duration


def _setting(case: Case) -> Setting:
    """Return the settings; a release uses the controller in every profile."""
    own = setting(case.engine, case.profile)
    return replace(
        own,
        options=own.options.with_iterations(case.iterations),
        friction=case.friction,
        control=JointControl.LAW if case.path is ToolPath.RELEASE else own.control,
    )


def _scene(case: Case, model: RobotModel, chosen: Setting) -> Scene:
    """Place the cube between the pads, displaced in their plane.

    Across that plane the pads fix its position, and rotated out of it the cube
    would be in contact with its edges.
    """
    x, z, turn = np.zeros(3)
    if case.start > 0:
        x, z, turn = np.random.default_rng([case.seed, case.start]).uniform(-1.0, 1.0, 3)
    R_TC = rotation_about((0.0, 1.0, 0.0), turn * _TURN)
    return grasped_cube(
        model,
        actuation=actuation(model, chosen.control),
        X_TC=pose((x * _OFFSET, 0.0, z * _OFFSET), R_TC),
        material=Material(chosen.friction),
    )


def _controller(case: Case, model: RobotModel, chosen: Setting) -> Controller:
    arm = arm_reference(case.path, duration=path_time(case), timestep=case.timestep)
    waiting = round(SETTLE / case.timestep)
    q = np.concatenate([np.repeat(arm.q[:1], waiting, axis=0), arm.q])
    v = np.concatenate([np.zeros((waiting, arm.v.shape[1])), arm.v])
    time = case.timestep * np.arange(len(q), dtype=np.float64)
    opening, rate = closing(time), 1 / case.timestep
    if chosen.control is JointControl.SERVO:
        commands = q + lifts(model, q) if chosen.lifted else q
        return ServoCommands(rate, np.column_stack([commands, opening]))
    grip = np.full(len(time), GRIP)
    if case.path is ToolPath.RELEASE:
        since, force = zip(*RELEASE, strict=True)
        grip = np.interp(time - SETTLE, since, force)
    return grasp_law(model, ArmReference(q, v), opening=opening, grip=grip, rate=rate)


def _ideal_channels(case: Case, chosen: Setting, samples: int) -> dict[str, Channel]:
    """Return the ideal forces and errors at the samples of a run, NaN before the path."""
    if case.path is ToolPath.RELEASE:
        return {}
    best = ideal(
        case.path,
        duration=case.duration,
        timestep=case.timestep,
        control=chosen.control,
        armature=chosen.armature,
        lifted=chosen.lifted,
    )
    return {
        "ideal/force": Channel(_aligned(best.force, samples), "N", PADS),
        "ideal/error": Channel(_aligned(best.error, samples), "m"),
    }


def _aligned(values: Array, samples: int) -> Array:
    """Pad values by the samples before the path, and cut them at the end of the run."""
    whole = np.full((round(SETTLE * SAMPLE_RATE) + 1 + len(values), *values.shape[1:]), np.nan)
    whole[-len(values) :] = values
    return whole[:samples]
