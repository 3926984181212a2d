"""One run: a robot held at its home pose, and the static equilibrium that it should find."""

from dataclasses import dataclass, replace

import numpy as np

from kinetarium.control.interface import ConstantCommand
from kinetarium.dynamics import Coupling, RobotDynamics
from kinetarium.engines.protocol import Options, Simulation, Status
from kinetarium.engines.registry import open_engine, refinements
from kinetarium.recording.recording import Recording
from kinetarium.roles.studied_robot import StudiedRobot
from kinetarium.rollout.loop import Rollout
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
from kinetarium.spatial.gravity import GRAVITY
from kinetarium.studies.hold.config import SAMPLE_RATE, Case
from kinetarium.studies.hold.score import is_error_of_the_engine, score

_ROUNDS = 200
"""Iterations of the equilibrium; each gains more than a digit, as the servos are stiff."""
_STILL = 1e-12
"""Change at which the iteration has converged [rad or m]."""
_NO_LOAD = 1e-7
"""Load over the weight of the robot that needs no servo: rounding, that of the file's angles too,
as of a vertical axis with a right angle of eight digits [m or -]."""


def run(case: Case) -> Recording:
    """Hold the robot, and record it with its equilibrium.

    A result that nothing about the robot explains is checked by more precise simulations; the
    verdict stays that of the engine's defaults, and has their results in its cause.
    """
    robot = case.reading.open(case.robot, sha256=case.sha256)
    held = scene(robot)
    placed = held.robots[0]
    expected = standing(placed) if robot.model.free_base else equilibrium(placed)
    recording = _held(case, held, timestep=case.timestep)
    recording = replace(recording, facts={**recording.facts, "expected": expected})
    refined: list[dict[str, str]] = []
    if is_error_of_the_engine(score(case, recording), expected):
        for finer in refinements(open_engine(case.engine), timestep=case.timestep):
            again = _held(case, held, timestep=finer.timestep, options=finer.options)
            again = replace(again, facts={**again.facts, "expected": expected})
            row = score(case, again)
            refined.append({"with": finer.words, "verdict": row["verdict"]})
            if not is_error_of_the_engine(row, expected):
                break
    return replace(recording, facts={**recording.facts, "refined": refined})


_LAST_STEPS = 20
"""Steps after the last sample in which every step is looked at: chatter may be faster than the
samples, and some engines have velocities at rest with which nothing moves."""


def _held(case: Case, held: Scene, *, timestep: float, options: Options | None = None) -> Recording:
    """Simulate; the facts have the root mean square speed of each joint in the last steps."""
    command = home_command(held.robots[0])
    with Rollout(
        held, engine=case.engine, timestep=timestep, options=options, seed=case.seed
    ) as rollout:
        recording = rollout.run(
            duration=case.duration,
            controller=ConstantCommand(command, SAMPLE_RATE),
            probes=[_GroundForce()] if held.bodies else [],
            sample_rate=SAMPLE_RATE,
        )
        speeds: Array = np.zeros(0)
        if recording.status != Status.DIVERGED:
            simulation = rollout.simulation
            q = [simulation.state().q]
            for _ in range(_LAST_STEPS):
                simulation.step(command)
                q.append(simulation.state().q)
            speeds = np.sqrt(np.mean((np.diff(q, axis=0) / timestep) ** 2, axis=0))
    facts = {**recording.facts, "last_speeds": speeds.tolist()}
    return replace(recording, facts=facts)


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
        stop each joint, "settling", the time constant of a joint that its damping slows down, d / k
        [s], "weak", the joints whose servo cannot carry its load. Positions are None for robots
        with loops, whose constraint forces it does not have.
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
    d = np.array([joint.damping for joint in model.moving_joints])
    slowed = np.array([drive.damping for drive in drives])
    slowed = slowed + np.einsum("ij,i,ij->j", coupling.E, d, coupling.E)
    settling = np.divide(slowed, K + own, out=np.zeros_like(K), where=K + own > 0)
    torques = K * (home - q)
    enough = most + _NO_LOAD * model.mass * GRAVITY
    return {
        "joints": list(coupling.independent),
        "home": home.tolist(),
        "positions": None if model.loops else q.tolist(),
        "stiffness": K.tolist(),
        "effort": [limit if np.isfinite(limit) else None for limit in most.tolist()],
        "gravity": load(home).tolist(),
        "torques": torques.tolist(),
        "slack": slack.tolist(),
        "settling": settling.tolist(),
        "weak": [joints[i].name for i in np.flatnonzero(np.abs(torques) > enough)],
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
    least = _NO_LOAD * model.mass * GRAVITY
    weak = [name for name, load in loads.items() if abs(load) > limits[name] + least]
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
