"""Checks on free bodies: falling, drifting, spinning, colliding, being pushed."""

from math import sqrt

import numpy as np

from kinetarium.engines.conformance.check import Check, Measurement
from kinetarium.engines.protocol import Capability, Engine, Precision, Simulation, State
from kinetarium.model.robot import Box, Inertia, Sphere
from kinetarium.scene import Body, Material, Motion, Scene, free_body
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.gravity import GRAVITY
from kinetarium.spatial.rotation import pose, rotation_about, rotation_from_quaternion

TIMESTEP = 1e-3
STEPS = (1e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2)
"""Time steps at which an engine must work [s]."""
NO_COMMAND = np.zeros(0)
WEIGHTLESS = frozen([0.0, 0.0, 0.0])
_BRICK = Box((0.1, 0.2, 0.3))


def rounding(engine: Engine, exact: float, *, scale: float) -> tuple[float, str]:
    """Return a tolerance for what is exact but for rounding, and the reason if it is single."""
    if engine.info.precision is Precision.SINGLE:
        return 1e-5 * scale, "single precision: a thousand steps round to 1e-5"
    return exact * scale, ""


def run(simulation: Simulation, steps: int) -> State:
    """Step without commands and close."""
    for _ in range(steps):
        simulation.step(NO_COMMAND)
    state = simulation.state()
    simulation.close()
    return state


def _free_fall(engine: Engine) -> Measurement:
    scene = Scene(bodies=(free_body("brick", _BRICK, mass=1.0, position=(0.0, 0.0, 10.0)),))
    state = run(engine.compile(scene, timestep=TIMESTEP), 1000)
    fallen = GRAVITY * TIMESTEP**2 * 1000 * 1001 / 2  # semi-implicit Euler: sum of k g h^2
    tolerance, reason = rounding(engine, 1e-9, scale=fallen)
    return Measurement(10.0 - state.poses[0, 2], fallen, tolerance, "m", reason)


def _fall_steps(engine: Engine) -> Measurement:
    scene = Scene(bodies=(free_body("brick", _BRICK, mass=1.0, position=(0.0, 0.0, 1.0)),))
    worst = 0.0
    for timestep in STEPS:
        state = run(engine.compile(scene, timestep=timestep), 50)
        fallen = GRAVITY * timestep**2 * 50 * 51 / 2
        worst = max(worst, abs(float(1.0 - state.poses[0, 2]) - fallen))
    tolerance, reason = rounding(engine, 1e-9, scale=1.0)
    return Measurement(worst, 0.0, tolerance, "m", reason)


def _far_away(engine: Engine) -> Measurement:
    body = free_body("brick", _BRICK, mass=1.0, twist=(1e5, 0.0, 0.0, 0.0, 0.0, 0.0))
    simulation = engine.compile(Scene(bodies=(body,)), timestep=TIMESTEP)
    state = run(simulation, 1000)
    error = abs(float(state.poses[0, 0]) - 1e5) / 1e5 + abs(float(state.twists[0, 2]) / GRAVITY + 1)
    tolerance, reason = rounding(engine, 1e-9, scale=1.0)
    return Measurement(error, 0.0, 10 * tolerance, "relative", reason)


def _twist_origin(engine: Engine) -> Measurement:
    """Let a body turn whose centre of mass is not its origin: the centre moves uniformly."""
    inertia = Inertia(1.0, frozen([0.3, 0.0, 0.0]), frozen(0.01 * np.eye(3)))
    twist = frozen([0.0, 0.6, 0.0, 0.0, 0.0, 2.0])
    R = rotation_about((0.0, 1.0, 0.0), 1.0)
    body = Body("body", Sphere(0.1), Motion.FREE, inertia, frozen(pose(rotation=R)), twist)
    simulation = engine.compile(Scene(bodies=(body,), gravity=WEIGHTLESS), timestep=TIMESTEP)
    state = run(simulation, 300)
    lever = rotation_from_quaternion(state.poses[0, 3:]) @ inertia.center
    v, w = state.twists[0, :3], state.twists[0, 3:]
    drift = twist[:3] + np.cross(twist[3:], R @ inertia.center)
    error = float(np.linalg.norm(v + np.cross(w, lever) - drift))
    reason = "off the centre of mass a step of first order keeps momentum to 1e-3 a turn"
    return Measurement(error, 0.0, 1e-3, "m/s", reason)


def _drift(engine: Engine) -> Measurement:
    body = free_body("brick", _BRICK, mass=1.0, twist=(1.0, 2.0, 3.0, 0.0, 0.0, 4.0))
    scene = Scene(bodies=(body,), gravity=WEIGHTLESS)
    state = run(engine.compile(scene, timestep=TIMESTEP), 1000)
    loss = float(np.abs(state.twists[0] - body.V_WB).max())
    tolerance, reason = rounding(engine, 1e-9, scale=4.0)
    return Measurement(loss, 0.0, tolerance, "m/s or rad/s", reason)


def _spin(body_twist: tuple[float, ...], engine: Engine) -> tuple[Array, Array, float, float]:
    """Let a brick spin for a second; return its angular momentum and energy before and after."""
    body = free_body("brick", _BRICK, mass=3.0, twist=(0.0, 0.0, 0.0, *body_twist))
    assert body.inertia is not None
    simulation = engine.compile(Scene(bodies=(body,), gravity=WEIGHTLESS), timestep=TIMESTEP)
    before = simulation.state()
    after = run(simulation, 1000)
    momenta, energies = [], []
    for state in (before, after):
        R = rotation_from_quaternion(state.poses[0, 3:])
        w = state.twists[0, 3:]
        momentum = R @ body.inertia.moment @ R.T @ w
        momenta.append(momentum)
        energies.append(float(w @ momentum) / 2)
    return momenta[0], momenta[1], energies[0], energies[1]


def _principal_spin(engine: Engine) -> Measurement:
    before, after, _, _ = _spin((0.0, 0.0, 5.0), engine)
    change = float(np.linalg.norm(after - before) / np.linalg.norm(before))
    tolerance, reason = rounding(engine, 1e-6, scale=1.0)
    return Measurement(change, 0.0, tolerance, "relative", reason)


def _tumble(engine: Engine) -> Measurement:
    _, _, before, after = _spin((1.0, 1.5, 0.5), engine)
    return Measurement(after / before, 1.0, 0.01, "relative")


def _collide(engine: Engine, restitution: float) -> tuple[Array, float]:
    """Let two balls meet head on; return their final speeds and the relative momentum error."""
    material = Material(friction=0.0, restitution=restitution)
    balls = tuple(
        free_body(name, Sphere(0.1), mass=mass, position=(x, 0.0, 0.0), material=material,
                  twist=(speed, 0.0, 0.0, 0.0, 0.0, 0.0))
        for name, mass, x, speed in (("left", 1.0, -0.2, 1.0), ("right", 2.0, 0.2, -0.5))
    )  # fmt: skip
    scene = Scene(bodies=balls, gravity=WEIGHTLESS)
    state = run(engine.compile(scene, timestep=TIMESTEP), 250)
    speeds = state.twists[:, 0]
    return speeds, float(speeds[0] + 2.0 * speeds[1])


def _inelastic(engine: Engine) -> Measurement:
    speeds, _ = _collide(engine, 0.0)
    return Measurement(float(speeds[1] - speeds[0]), 0.0, 0.02, "m/s")


def _momentum(engine: Engine) -> Measurement:
    _, error = _collide(engine, 0.0)
    tolerance, reason = rounding(engine, 1e-6, scale=1.0)
    return Measurement(error, 0.0, tolerance, "kg m/s", reason)


def _elastic(engine: Engine) -> Measurement:
    speeds, _ = _collide(engine, 1.0)
    return Measurement(float(speeds[1] - speeds[0]), 1.5, 0.03, "m/s")


def _restitution(engine: Engine) -> Measurement:
    worst = 0.0
    for e in (0.0, 0.3, 0.7, 1.0):
        speeds, _ = _collide(engine, e)
        worst = max(worst, abs(float(speeds[1] - speeds[0]) / 1.5 - e))
    return Measurement(worst, 0.0, 0.02)


def _pushed(engine: Engine) -> tuple[State, Array, Array]:
    """Push a brick off its centre for half a second."""
    body = free_body("brick", _BRICK, mass=2.0)
    assert body.inertia is not None
    scene = Scene(bodies=(body,), gravity=WEIGHTLESS)
    simulation = engine.compile(scene, timestep=TIMESTEP)
    simulation.apply_wrench(
        "brick", np.array([0.0, 3.0, 0.0, 0.0, 0.0, 0.02]), np.array([0.1, 0, 0])
    )
    simulation.step(NO_COMMAND)
    state = simulation.state()
    simulation.step(NO_COMMAND, 10)
    later = simulation.state()
    simulation.close()
    turn = (0.1 * 3.0 + 0.02) / body.inertia.moment[2, 2]
    expected = np.array([0.0, 1.5, 0.0, 0.0, 0.0, turn]) * TIMESTEP
    return later, np.asarray(state.twists[0]), expected


def _external_wrench(engine: Engine) -> Measurement:
    _, twist, expected = _pushed(engine)
    error = float(np.linalg.norm(twist - expected) / np.linalg.norm(expected))
    return Measurement(error, 0.0, 1e-3, "relative")


def _wrench_ends(engine: Engine) -> Measurement:
    later, twist, _ = _pushed(engine)
    change = float(np.linalg.norm(later.twists[0] - twist) / np.linalg.norm(twist))
    return Measurement(change, 0.0, 1e-3, "relative")


def _quaternion(engine: Engine) -> Measurement:
    turn = np.array([sqrt(0.5), 0.0, sqrt(0.5), 0.0])
    body = free_body("brick", _BRICK, mass=1.0, rotation=rotation_from_quaternion(turn))
    simulation = engine.compile(Scene(bodies=(body,), gravity=WEIGHTLESS), timestep=TIMESTEP)
    read = simulation.state().poses[0, 3:]
    simulation.close()
    return Measurement(float(abs(read @ turn)), 1.0, 1e-6)


_CONTACT = frozenset({Capability.CONTACT})
_WRENCH = frozenset({Capability.EXTERNAL_WRENCH})

CHECKS = (
    Check("free-fall", "a body falls as the integrator's own closed form says", _free_fall,
          law="z = g h^2 n (n + 1) / 2", source="sum of semi-implicit Euler steps"),
    Check("fall-steps", "a body falls likewise at time steps of 0.1 to 10 ms", _fall_steps,
          law="z = g h^2 n (n + 1) / 2", source="sum of semi-implicit Euler steps"),
    Check("far-away", "a body 100 km away still moves as it should", _far_away,
          law="x = v t, v_z = -g t", source="Newton's second law"),
    Check("no-damping", "a body drifts and spins on undiminished", _drift,
          law="v, w constant", source="Newton's first law"),
    Check("twist-origin", "a twist is that of the body's origin, off its centre of mass",
          _twist_origin, law="v + w x r constant", source="Newton's first law"),
    Check("spin-momentum", "spin about a principal axis keeps its momentum", _principal_spin,
          law="I w constant", source="Euler's equations"),
    Check("tumble-energy", "a tumbling body keeps its energy", _tumble,
          law="w' I w / 2 constant", source="Euler's equations"),
    Check("inelastic-collision", "two balls that do not bounce move on together", _inelastic,
          _CONTACT, "v_2 - v_1 = 0", "Newton's law of restitution, e = 0"),
    Check("collision-momentum", "a collision keeps momentum", _momentum, _CONTACT,
          "m_1 v_1 + m_2 v_2 constant", "Newton's third law"),
    Check("elastic-collision", "two balls that bounce part as fast as they met", _elastic,
          _CONTACT | {Capability.RESTITUTION}, "v_2 - v_1 = 1.5 m/s",
          "Newton's law of restitution, e = 1"),
    Check("restitution", "balls of restitution 0, 0.3, 0.7 and 1 part by that share", _restitution,
          _CONTACT | {Capability.RESTITUTION}, "(v_2' - v_1') / (v_1 - v_2) = e",
          "Newton's law of restitution"),
    Check("external-wrench", "a push off the centre moves and turns a body", _external_wrench,
          _WRENCH, "v = f h / m, w = (r x f + m) h / I", "Newton-Euler equations"),
    Check("external-wrench-ends", "a push lasts one step", _wrench_ends, _WRENCH,
          "v constant afterwards", "Newton's first law"),
    Check("quaternion-order", "a rotation reads back as w, x, y, z", _quaternion,
          law="|q . q'| = 1", source="the engine protocol"),
)  # fmt: skip
