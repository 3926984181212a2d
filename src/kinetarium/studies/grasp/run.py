"""One run: the fingers close on the object, wait, and carry it along the path."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite
from time import process_time
from typing import ClassVar

import numpy as np

from kinetarium.control.interface import Controller, ExternalWrench, Measurement
from kinetarium.dynamics import RobotDynamics, link_poses
from kinetarium.engines.base.audit import audit_errors
from kinetarium.engines.protocol import Audit, Engine, FrictionRule, Options, Simulation, State
from kinetarium.engines.registry import open_engine
from kinetarium.errors import KinetariumError
from kinetarium.metrics import LOOP_TIME
from kinetarium.model.robot import JointType, RobotModel
from kinetarium.recording.recording import Channel, Recording
from kinetarium.rollout.loop import run as simulate
from kinetarium.scene import Material, Scene
from kinetarium.scene.held_object import Holder
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.gravity import GRAVITY_VECTOR
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_from_quaternion
from kinetarium.studies.grasp.config import Case
from kinetarium.studies.grasp.ideal import SAMPLE_RATE, ideal, least_grip, pushed
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
from kinetarium.studies.grasp.task import (
    RELEASE_TIME,
    SETTLE,
    ArmReference,
    Task,
    arm_reference,
    path_time,
    task,
)

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
        for q, v, a in _states(alone.robots[0].model, start.q):
            simulation.reset(State(0.0, q, v, start.poses, start.twists))
            simulation.step(dynamics.inverse_dynamics(q, v, a))
            reached = (simulation.state().v - v) / timestep
            worst = max(worst, float(np.abs(reached - a).max()))
        return worst
    finally:
        simulation.close()


def _states(model: RobotModel, home: Array) -> Sequence[tuple[Array, Array, Array]]:
    """Return positions, velocities and accelerations about a posture, always the same."""
    rng = np.random.default_rng(0)
    joints = model.moving_joints
    reach = np.array([0.01 if joint.type is JointType.PRISMATIC else 0.3 for joint in joints])
    # At its limits a joint is stopped.
    lower = np.array([joint.limits.lower for joint in joints]) + 0.05 * reach
    upper = np.array([joint.limits.upper for joint in joints]) - 0.05 * reach
    return [
        (
            np.clip(home + rng.uniform(-reach, reach), lower, upper),
            rng.uniform(-2 * reach, 2 * reach),
            rng.uniform(-5 * reach, 5 * reach),
        )
        for _ in range(_STATES)
    ]


def _check(loaded: Audit, scene: Scene, *, rule: FrictionRule) -> None:
    for fact, error in audit_errors(scene, loaded, rule=rule).items():
        if not error <= _TOLERANCE:
            raise AuditError(f"the model in the engine differs by {error:.2g}: {fact}")


_FIRST_GRIP, _LAST_GRIP = 12.0 / 6.13125, 4.0 / 6.13125
"""Grip force of a release after a second and at its end, over that of Coulomb's law [-]."""
SIDES = ("first", "second")
"""The sides of the grip, in names of channels."""


@dataclass(frozen=True)
class SideProbe:
    """Reads the contacts between one side of a gripper and the object.

    Attributes:
        side: Name of the side.
        solids: Its links in the scene.
        other: The object.
    """

    side: str
    solids: tuple[str, ...]
    other: str

    unit: ClassVar[str] = "N, m, 1"
    columns: ClassVar[tuple[str, ...]] = (
        "force", "depth", "number", "fx", "fy", "fz", "nx", "ny", "nz",
    )  # fmt: skip

    @property
    def name(self) -> str:
        """Name of the channel."""
        return f"contact/{self.side}"

    def read(self, simulation: Simulation) -> Array:
        """Return the sum of normal forces, the depth, the number, the force on the object [N].

        The last three values are the mean normal into the object, weighted by the normal forces;
        zero without contact.
        """
        solids = simulation.layout.solids
        ours, other = {solids.index(name) for name in self.solids}, solids.index(self.other)
        contacts = simulation.contacts()
        force, normal, depth, number, total = np.zeros(3), np.zeros(3), 0.0, 0, 0.0
        for i, (a, b) in enumerate(contacts.solids.tolist()):
            if not ((a == other and b in ours) or (b == other and a in ours)):
                continue
            # Forces and normals are those on the first solid of a pair.
            sign = 1.0 if a == other else -1.0
            pressing = float(contacts.forces[i] @ contacts.normals[i])
            force += sign * contacts.forces[i]
            normal += sign * pressing * contacts.normals[i]
            total += pressing
            depth, number = max(depth, float(contacts.depths[i])), number + 1
        length = float(np.linalg.norm(normal))
        return np.array([total, depth, number, *force, *(normal / length if length else normal)])


@dataclass(frozen=True)
class _Push:
    """A force on the object along the closing axis, for a tenth of a second in mid-path."""

    case: Case
    body: str
    center: Array
    axis: Array

    def update(self, t: float, measurement: Measurement) -> Sequence[ExternalWrench]:
        """Return the wrench on the object at a time [s]."""
        if not pushed(self.case, t - SETTLE):
            return ()
        F_W = np.concatenate([self.case.push * self.axis, np.zeros(3)])
        p = measurement.poses[0]
        center = p[:3] + rotation_from_quaternion(p[3:]) @ self.center
        return (ExternalWrench(self.body, F_W, center),)


def run(case: Case) -> Recording:
    """Carry the object along the path and record forces, contacts and state.

    Raises:
        KinetariumError: If the model in the engine differs from the given one.
    """
    engine, chosen, done = open_engine(case.engine), _setting(case), task(case)
    # Servos need a gear that couples the fingers; the controller couples them itself.
    coupled = chosen.control is JointControl.SERVO
    holder = done.holder.driven(coupled=coupled, armature=chosen.armature)
    placed = holder.scene(
        actuation=actuation(holder, chosen.control, force=case.force),
        material=Material(chosen.friction),
    )
    controller = _controller(case, holder, chosen)
    axis = holder.grip_frame(holder.home)[:3, 1]
    push = _Push(case, holder.object, holder.inertia.center, axis)
    begin = process_time()
    recording = simulate(
        placed,
        engine=engine,
        duration=SETTLE + path_time(case),
        controller=controller,
        interactions=[push] if case.push else [],
        probes=[
            SideProbe(name, tuple(f"arm/{link}" for link in side.links), holder.object)
            for name, side in zip(SIDES, holder.sides, strict=True)
        ],
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
        "scale": done.scale,
        "moved": done.moved,
        "determinate": holder.parallel,
        "least_friction": _least_friction(case, chosen),
        "closing": [
            {
                "joint": side.joint,
                "effort": abs(side.opening) * case.force,
                "limit": side.limit if isfinite(side.limit) else None,
            }
            for side in holder.moving
        ],
        "one_step_rad_s2": one_step_error(
            placed, engine=engine, options=chosen.options, timestep=case.timestep
        )
        if chosen.control is JointControl.LAW
        else None,
    }
    channels = {
        **recording.channels,
        **_grip_channels(case, done, holder, recording),
        **_ideal_channels(case, chosen, len(recording["time"])),
    }
    return replace(recording, channels=channels, facts=facts, timing=timing)


def _least_friction(case: Case, chosen: Setting) -> float | None:
    """Return the friction from which on a rigid grasp holds; None if it never does, or releases."""
    least = inf if case.release else ideal(case, chosen).friction
    return least if isfinite(least) else None


def _setting(case: Case) -> Setting:
    """Return the settings; a release uses the controller in every profile."""
    own = setting(case.engine, case.profile)
    return replace(
        own,
        options=own.options.with_iterations(case.iterations),
        friction=case.friction,
        control=JointControl.LAW if case.release else own.control,
    )


def _controller(case: Case, holder: Holder, chosen: Setting) -> Controller:
    arm = arm_reference(case)
    waiting = round(SETTLE / case.timestep)
    q = np.concatenate([np.repeat(arm.q[:1], waiting, axis=0), arm.q])
    v = np.concatenate([np.zeros((waiting, arm.v.shape[1])), arm.v])
    time = case.timestep * np.arange(len(q), dtype=np.float64)
    opening, rate = closing(time, force=case.force), 1 / case.timestep
    if chosen.control is JointControl.SERVO:
        commands = q + lifts(holder, q) if chosen.lifted else q
        finger = holder.home[holder.arm] + opening / holder.openings[0]
        return ServoCommands(rate, np.column_stack([commands, finger]))
    grip = np.full(len(time), case.force)
    if case.release:
        least = release_grip(holder, case)
        since = (0.0, 1.0, RELEASE_TIME)
        force = np.minimum([case.force, _FIRST_GRIP * least, _LAST_GRIP * least], case.force)
        grip = np.interp(time - SETTLE, since, force)
    mass = case.mass * (1 + case.payload_error)
    return grasp_law(holder, ArmReference(q, v), opening=opening, grip=grip, rate=rate, mass=mass)


def release_grip(holder: Holder, case: Case) -> float:
    """Return the grip force at which the object slides, its normals along the closing axis [N]."""
    axis = holder.grip_frame(holder.home)[:3, 1]
    least = least_grip(np.stack([-axis, axis]), friction=case.friction, mass=case.mass)
    if least is None:
        raise KinetariumError(f"no grip holds the object with a friction of {case.friction:g}")
    return least


def _grip_channels(
    case: Case, done: Task, holder: Holder, recording: Recording
) -> dict[str, Channel]:
    """Return the object in the grip frame, the grip by sensors, and the tracking error."""
    X_WT = holder.grip_frame(recording["q"])
    placed = [pose(p[:3], rotation_from_quaternion(p[3:])) for p in recording["poses"][:, 0]]
    X_WO = np.array(placed).reshape(-1, 4, 4) @ inverse_pose(holder.X_TO)
    X_TO = np.asarray(inverse_pose(X_WT) @ X_WO)
    sensed = np.full((len(X_WT), 2), np.nan)
    names = [link.name for link in holder.model.links]
    X_WL = link_poses(holder.model, recording["q"])
    for i, (side, sign) in enumerate(zip(holder.sides, (1.0, -1.0), strict=True)):
        if not side.sensed:
            continue
        child = names.index(holder.model.joint(side.sensed).child)
        wrench = recording[f"wrench/{side.pad}"]
        axis = np.vecdot(X_WL[:, child, :3, :3].mT, X_WT[:, None, :3, 1])
        force = np.vecdot(wrench[:, :3], axis)
        weight = _mass_below(holder.model, names[child]) * X_WT[:, :3, 1] @ GRAVITY_VECTOR
        sensed[:, i] = sign * (force - weight)
    time = recording["time"] - SETTLE
    return {
        "object": Channel(X_TO.reshape(-1, 16), "m"),
        "sensed": Channel(sensed, "N", SIDES),
        "error": Channel(done.error(recording["q"], np.maximum(time, 0.0)), "m"),
        "axis": Channel(X_WT[:, :3, 1], "1", ("x", "y", "z")),
    }


def _mass_below(model: RobotModel, link: str) -> float:
    below = {link}
    for joint in model.joints:
        if joint.parent in below:
            below.add(joint.child)
    inertias = (each.inertia for each in model.links if each.name in below)
    return sum(inertia.mass for inertia in inertias if inertia)


def _ideal_channels(case: Case, chosen: Setting, samples: int) -> dict[str, Channel]:
    """Return the ideal forces and errors at the samples of a run, NaN before the path."""
    if case.release:
        return {}
    best = ideal(case, chosen)
    return {
        "ideal/force": Channel(_aligned(best.force, samples), "N", SIDES),
        "ideal/rest": Channel(np.tile(best.rest, (samples, 1)), "N", SIDES),
        "ideal/error": Channel(_aligned(best.error, samples), "m"),
    }


def _aligned(values: Array, samples: int) -> Array:
    """Pad values by the samples before the path, and cut them at the end of the run."""
    whole = np.full((round(SETTLE * SAMPLE_RATE) + 1 + len(values), *values.shape[1:]), np.nan)
    whole[-len(values) :] = values
    return whole[:samples]
