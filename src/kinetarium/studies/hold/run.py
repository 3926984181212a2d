"""One run: a robot held at its home pose; the static equilibrium it should find; the verdict."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from math import degrees
from typing import Any

import numpy as np

from kinetarium.control.interface import ConstantCommand
from kinetarium.dynamics import Coupling, RobotDynamics
from kinetarium.engines.protocol import Simulation, Status
from kinetarium.recording.recording import Recording, Row
from kinetarium.roles.studied_robot import StudiedRobot
from kinetarium.rollout.loop import run as simulate
from kinetarium.scene import (
    Scene,
    ground,
    holding_servos,
    home_command,
    placed_robot,
    support_points,
)
from kinetarium.scene.robot import Actuation, PlacedRobot
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import rotation_from_quaternion
from kinetarium.studies.hold.config import SAMPLE_RATE, Case

_ROUNDS = 200
"""Iterations of the equilibrium; each gains more than a digit, as the servos are stiff."""
_STILL = 1e-12
"""Change at which the iteration has converged [rad or m]."""


def run(case: Case) -> Recording:
    """Hold the robot, and record it with its equilibrium."""
    robot = case.reading.open(case.robot, sha256=case.sha256)
    held = scene(robot)
    placed = held.robots[0]
    recording = simulate(
        held,
        engine=case.engine,
        duration=case.duration,
        controller=ConstantCommand(home_command(placed), SAMPLE_RATE),
        probes=[_GroundForce()] if robot.model.free_base else [],
        timestep=case.timestep,
        sample_rate=SAMPLE_RATE,
        seed=case.seed,
    )
    expected = standing(placed) if robot.model.free_base else equilibrium(placed)
    return replace(recording, facts={**recording.facts, "expected": expected})


def scene(robot: StudiedRobot) -> Scene:
    """Return the robot under servos, on the ground if its base is free."""
    placed = placed_robot(robot, actuation=holding_servos(robot))
    return Scene((placed,), (ground(),) if robot.model.free_base else ())


@dataclass(frozen=True)
class _GroundForce:
    """Reads the force of the ground on the robot and the number of contacts."""

    name: str = "ground"
    unit: str = "N, 1"
    columns: tuple[str, ...] = ("fx", "fy", "fz", "number")

    def read(self, simulation: Simulation) -> Array:
        """Return the total force in the world [N] and the number of contacts."""
        own = simulation.layout.solids.index("ground")
        contacts = simulation.contacts()
        pairs = contacts.solids.reshape(-1, 2)
        # A contact's force is that on the first of the two solids.
        sign = np.where(pairs[:, 1] == own, 1.0, -1.0) * (pairs == own).any(axis=1)
        return np.append(sign @ contacts.forces.reshape(-1, 3), float(np.count_nonzero(sign)))


def equilibrium(placed: PlacedRobot) -> dict[str, object]:
    """Return the static equilibrium of a robot with a fixed base under its servos.

    For the independent joints q, with K of the servos, k and r of joint springs, E of the mimic
    joints and g of gravity, K (q0 - q) = E' (g(q) + k (q - r)), between the joint limits, the
    servo's effort clipped at its limit. It is solved for q with g of the last round, which
    converges since the servos are much stiffer than gravity.

    Returns:
        By name: "joints", "home" and "positions" [rad or m], "stiffness", "effort" limits (None
        without a limit), "gravity", the efforts that hold the robot still in the home pose,
        "torques" of the servos in equilibrium, "slack", the positions within which friction may
        stop each joint, "weak", the joints whose servo cannot carry its load. Positions are None
        for robots with loops, whose constraint forces it does not have.
    """
    model = placed.model
    coupling = Coupling.of(model)
    joints = [model.joint(name) for name in coupling.independent]
    home = np.array([placed.positions[joint.name] for joint in joints])
    drives = [placed.actuation.get(joint.name, Actuation()) for joint in joints]
    K = np.array([drive.stiffness for drive in drives])
    most = np.array([min(d.effort, j.limits.effort) for d, j in zip(drives, joints, strict=True)])
    lower = np.array([joint.limits.lower for joint in joints])
    upper = np.array([joint.limits.upper for joint in joints])
    for follower in model.moving_joints:  # which has limits of its own
        if (mimic := follower.mimic) and mimic.multiplier:
            i = coupling.independent.index(mimic.joint)
            ends = np.array([follower.limits.lower, follower.limits.upper]) - mimic.offset
            low, high = sorted((ends / mimic.multiplier).tolist())
            lower[i], upper[i] = max(lower[i], low), min(upper[i], high)
    k = np.array([joint.stiffness for joint in model.moving_joints])
    r = np.array([joint.springref for joint in model.moving_joints])
    # Springs are taken at the end of a round, since they may be stiffer than the servos.
    own = np.einsum("ij,i,ij->j", coupling.E, k, coupling.E)
    dynamics = RobotDynamics(model, free_base=False)

    def load(q: Array) -> Array:
        every = coupling.positions(q)
        forces: Array = coupling.forces(dynamics.gravity_forces(every) + k * (every - r))
        return forces

    q = home.copy()
    for _ in range(_ROUNDS):
        rest = load(q) - own * q
        total = K + own
        moved = np.where(total > 0, (K * home - rest) / np.where(total > 0, total, 1.0), home)
        moved = np.clip(moved, np.minimum(lower, home), np.maximum(upper, home))
        change, q = np.abs(moved - q).max(initial=0.0), moved
        if change < _STILL:
            break
    friction = np.abs(coupling.E.T) @ np.array([joint.friction for joint in model.moving_joints])
    slack = np.divide(friction, K + own, out=np.zeros_like(K), where=K + own > 0)
    torques = K * (home - q)
    return {
        "joints": list(coupling.independent),
        "home": home.tolist(),
        "positions": None if model.loops else q.tolist(),
        "stiffness": K.tolist(),
        "effort": [limit if np.isfinite(limit) else None for limit in most.tolist()],
        "gravity": load(home).tolist(),
        "torques": torques.tolist(),
        "slack": slack.tolist(),
        "weak": [joints[i].name for i in np.flatnonzero(np.abs(torques) > most)],
    }


def standing(placed: PlacedRobot) -> dict[str, object]:
    """Return what is known of a robot that stands on level ground.

    Returns:
        By name: the joints that are too "weak" for the weight of what hangs on them, with their
        "effort" limits and "torques" [N m or N]; its "mass" [kg]; the "height" of its centre of
        mass [m]; the "margin" by which that is inside its support, the convex hull of the points
        that touch the ground, negative outside [m], None for a robot without shapes.
    """
    model = placed.model
    dynamics = RobotDynamics(model, free_base=True)
    q = dynamics.neutral()
    q[7:] = [placed.positions[joint.name] for joint in model.moving_joints]
    center = dynamics.center_of_mass(q)
    points = support_points(model, placed.positions)
    g = dynamics.gravity_forces(q)[6:]
    coupling = Coupling.of(model)
    loads = dict(zip(coupling.independent, coupling.forces(g).tolist(), strict=True))
    limits = {name: model.joint(name).limits.effort for name in loads}
    weak = [name for name, load in loads.items() if abs(load) > limits[name]]
    return {
        "weak": weak,
        "joints": weak,
        "effort": [limits[name] for name in weak],
        "torques": [loads[name] for name in weak],
        "mass": model.mass,
        "height": float(center[2] + placed.X_WB[2, 3]),
        "margin": _margin(np.vstack(list(points.values()))[:, :2], center[:2]) if points else None,
    }


def _margin(points: Array, inside: Array) -> float:
    """Return how far a point is inside the convex hull of others in a plane [m].

    The hull is the intersection of half planes; all directions are tried that matter, those
    across two of the points, and a degree apart in case they are on a line.
    """
    angles = np.linspace(0.0, 2 * np.pi, 360, endpoint=False)
    normals = np.column_stack([np.cos(angles), np.sin(angles)])
    return float(((points @ normals.T).max(axis=0) - normals @ inside).min())


GRAVITY = 9.81
"""Gravitational acceleration [m/s^2]."""

LIMITS = {
    "position_error": (2e-3, "a tenth of the 0.02 rad by which the servos may give way"),
    "torque_error": (0.02, "what a good joint torque sensor resolves of its load"),
    "joint_speed": (1e-2, "a joint that holds does not move; this is a turn in ten minutes"),
    "tilt_deg": (30.0, "no robot leans that far while it stands"),
    "height_loss": (0.05, "joints that give way by 0.02 rad lower it by far less"),
    "drift_m_s": (1e-3, "a robot at rest on dry ground does not creep"),
    "airborne": (0.01, "a robot at rest is always in contact"),
    "force_noise": (0.1, "a robot at rest is carried by its weight"),
    "force_error": (0.02, "at rest the ground carries the weight, m g, exactly"),
}
"""The limit of each measure, and why it is that."""


class Verdict(StrEnum):
    """The result for a robot in an engine."""

    HOLDS = "holds"
    """It is where its static equilibrium has it."""
    STANDS = "stands"
    """It stands on the ground, at rest."""
    SAGS = "sags"
    """It is lower than its servos allow, or than its effort limits can carry."""
    DRIFTS = "drifts"
    """It creeps."""
    CHATTERS = "chatters"
    """It vibrates, or its contacts open and close."""
    FALLS = "falls"
    """It has fallen over or down."""
    DIVERGED = "diverged"
    """The simulation became unstable."""


def score(case: Case, recording: Recording) -> Row:
    """Compare the second half of a run with the static equilibrium.

    Returns:
        verdict, cause: One of `Verdict`, and the measure that shows it.
        sag: Largest distance of a joint from its home position at the end [rad or m].
        joint_speed: Root mean square speed of the fastest joint.
        For a fixed base, position_error and torque_error: largest distance of a joint from its
            equilibrium, beyond what its friction explains [rad or m], and largest difference of a
            servo's effort from it, over the largest effort of the robot, of joints of a kind.
        For a free base, tilt_deg; height_loss over the height of the centre of mass; drift_m_s, the
            speed over the ground; force_error of the mean ground force over the weight;
            force_noise, its standard deviation; airborne, the share of samples without contact.
    """
    expected = recording.facts["expected"]
    measures: dict[str, Any] = dict.fromkeys(
        ("sag", "joint_speed", *(name for name in LIMITS if name != "joint_speed"))
    )
    if len(recording["time"]) < _FEWEST:
        return {"verdict": str(Verdict.DIVERGED), "cause": "within a few samples", **measures}
    half = len(recording["time"]) // 2
    q, v = recording["q"], recording["v"]
    measures["sag"] = _largest(q[-1] - q[0])
    measures["joint_speed"] = _largest(np.sqrt(np.mean(v[half:] ** 2, axis=0)))
    if "mass" in expected:
        measures |= _on_the_ground(recording, expected, half=half)
    else:
        measures |= _at_equilibrium(recording, expected)
    verdict, cause = _verdict(measures, expected)
    if recording.status == Status.DIVERGED:
        verdict, cause = Verdict.DIVERGED, f"after {recording['time'][-1]:g} s"
    return {"verdict": str(verdict), "cause": cause, **measures}


_FEWEST = 4
"""Samples that a half must have at least two of."""


def exceeded(measure: str, measures: Mapping[str, Any]) -> bool:
    """Return whether a measure is beyond its limit; one that was not taken is not."""
    value = measures[measure]
    return value is not None and not abs(value) <= LIMITS[measure][0]


def _at_equilibrium(recording: Recording, expected: Mapping[str, Any]) -> dict[str, Any]:
    columns = recording.channels["q"].columns
    own = [columns.index(f"robot/{name}") for name in expected["joints"]]
    q = recording["q"][-1, own]
    measures: dict[str, Any] = {}
    if expected["positions"] is not None and not expected["weak"]:
        off = np.abs(q - expected["positions"]) - expected["slack"]
        measures["position_error"] = max(0.0, float(off.max(initial=0.0)))
        stiffness = np.array(expected["stiffness"])
        effort = stiffness * np.maximum(off, 0.0)
        scale = _largest(np.array(expected["gravity"]))
        measures["torque_error"] = _largest(effort) / scale if scale > _WEIGHTLESS else None
    return measures


_WEIGHTLESS = 1e-6
"""Largest effort of gravity below which errors are not relative to it [N m or N]."""


def _on_the_ground(
    recording: Recording, expected: Mapping[str, Any], *, half: int
) -> dict[str, Any]:
    poses, force = recording["poses"][:, 0], recording["ground"][half:]
    weight = expected["mass"] * GRAVITY
    turn = rotation_from_quaternion(poses[-1, 3:]) @ rotation_from_quaternion(poses[0, 3:]).T
    seconds = float(recording["time"][-1] - recording["time"][half])
    return {
        "tilt_deg": degrees(np.arccos(np.clip(float(turn[2, 2]), -1.0, 1.0))),
        "height_loss": float(poses[0, 2] - poses[-1, 2]) / max(expected["height"], 1e-3),
        "drift_m_s": float(np.hypot(*(poses[-1, :2] - poses[half, :2]))) / seconds,
        "force_error": float(force[:, 2].mean()) / weight - 1,
        "force_noise": float(force[:, 2].std()) / weight,
        "airborne": float(np.mean(force[:, 3] == 0)),
    }


def _verdict(measures: Mapping[str, Any], expected: Mapping[str, Any]) -> tuple[Verdict, str]:
    """Return the worst that happened, and the measure that shows it."""

    def beyond(*names: str) -> str:
        return ", ".join(f"{_said(name, measures[name])}" for name in names
                         if exceeded(name, measures))  # fmt: skip

    if "mass" in expected:
        if expected["margin"] is None:
            return Verdict.FALLS, "it has no collision shapes to stand on"
        cause = beyond("tilt_deg") or (
            f"{_said('height_loss', measures['height_loss'])}"
            if measures["height_loss"] > _FALLEN
            else ""
        )
        if cause:
            return Verdict.FALLS, f"{cause}{_doomed(expected)}"
    if expected.get("weak"):
        return Verdict.SAGS, _weakness(expected)
    if cause := beyond("height_loss", "position_error"):
        return Verdict.SAGS, cause
    if cause := beyond("joint_speed", "airborne", "force_noise"):
        return Verdict.CHATTERS, cause
    if cause := beyond("drift_m_s"):
        return Verdict.DRIFTS, cause
    good = Verdict.STANDS if "mass" in expected else Verdict.HOLDS
    return good, beyond("torque_error", "force_error")


_FALLEN = 0.5
"""Share of its height that a robot has lost which fell, and did not merely give way [-]."""

_WORDS = {
    "position_error": "{:.2g} rad or m from its equilibrium",
    "torque_error": "torques {:.1%} from those of gravity",
    "joint_speed": "a joint moves at {:.2g} rad/s or m/s",
    "tilt_deg": "tilts by {:.0f} deg",
    "height_loss": "sinks by {:.0%} of its height",
    "drift_m_s": "creeps at {:.2g} m/s",
    "airborne": "{:.0%} of samples without contact",
    "force_noise": "the ground force varies by {:.0%} of the weight",
    "force_error": "the ground force is {:+.1%} off the weight",
}


def _said(measure: str, value: float) -> str:
    return _WORDS[measure].format(value)


def _doomed(expected: Mapping[str, Any]) -> str:
    """Say why a robot must fall."""
    if expected["margin"] < 0:
        return f"; its centre of mass is {-1e3 * expected['margin']:.0f} mm outside its support"
    return ""


def _weakness(expected: Mapping[str, Any]) -> str:
    name = expected["weak"][0]
    i = expected["joints"].index(name)
    more = f" and {len(expected['weak']) - 1} more" if len(expected["weak"]) > 1 else ""
    return (
        f"{name}{more}: its effort limit of {expected['effort'][i]:.3g} is below the load of"
        f" {abs(expected['torques'][i]):.3g} N m or N"
    )


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))
