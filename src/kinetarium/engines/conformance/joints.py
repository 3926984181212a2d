"""Checks on robots: joints, drives, limits, sensors, couplings, loops."""

from dataclasses import replace
from functools import cache
from math import cos, log2, pi, sin, sqrt

import numpy as np

from kinetarium.dynamics import RobotDynamics
from kinetarium.dynamics.kinematics import link_poses
from kinetarium.engines.conformance.bodies import TIMESTEP, WEIGHTLESS, rounding
from kinetarium.engines.conformance.check import Check, Measurement
from kinetarium.engines.conformance.models import (
    chain,
    double_pendulum,
    fingers,
    flyer,
    four_bar,
    pendulum,
    rank,
    rotor,
    sensed_load,
    sensed_slide,
    stool,
)
from kinetarium.engines.protocol import Capability, Engine, Simulation, State
from kinetarium.model.robot import JointLimits, RobotModel
from kinetarium.scene import Actuation, Base, DriveMode, PlacedRobot, Scene, WrenchSensor, ground
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.gravity import GRAVITY
from kinetarium.spatial.rotation import pose


def _compile(
    engine: Engine,
    model: RobotModel,
    *,
    actuation: Actuation | None = None,
    positions: dict[str, float] | None = None,
    gravity: bool = True,
    base: Base = Base.FIXED,
    sensors: tuple[WrenchSensor, ...] = (),
) -> Simulation:
    drives = {joint.name: actuation for joint in model.moving_joints if actuation}
    robot = PlacedRobot("robot", model, base, positions=positions or {}, actuation=drives)
    scene = Scene((robot,), sensors=sensors)
    if not gravity:
        scene = Scene((robot,), sensors=sensors, gravity=WEIGHTLESS)
    return engine.compile(scene, timestep=TIMESTEP)


def _pendulum_period(engine: Engine) -> Measurement:
    amplitude = 0.3
    model = pendulum()
    simulation = _compile(engine, model, positions={"pivot": amplitude})
    angles = []
    for _ in range(4000):
        simulation.step(np.zeros(0))
        angles.append(simulation.state().q[0])
    simulation.close()
    crossings = [
        k + angles[k] / (angles[k] - angles[k + 1])
        for k in range(len(angles) - 1)
        if angles[k] > 0 >= angles[k + 1]
    ]
    period = (crossings[-1] - crossings[0]) / (len(crossings) - 1) * TIMESTEP
    inertia = model.link("bob").inertia
    assert inertia is not None
    about_pivot = inertia.moment[1, 1] + inertia.mass * 0.5**2
    # Half an elliptic integral by the arithmetic-geometric mean (Gauss): T = T0 / agm(1, cos(a/2)).
    a, b = 1.0, np.cos(amplitude / 2)
    for _ in range(6):
        a, b = (a + b) / 2, sqrt(a * b)
    expected = 2 * pi * sqrt(about_pivot / (inertia.mass * GRAVITY * 0.5)) / a
    return Measurement(float(period), float(expected), 0.005 * float(expected), "s")


def _spun_up(
    engine: Engine,
    *,
    actuation: Actuation,
    command: float,
    torque: float,
    effort: float = np.inf,
    tolerance: float,
) -> Measurement:
    """Drive a rotor for half a second, and compare its speed with what a torque [N m] gives."""
    model = rotor(effort=effort)
    simulation = _compile(engine, model, actuation=actuation, gravity=False)
    simulation.step(np.array([command]), 500)
    speed = simulation.state().v[0]
    simulation.close()
    inertia = model.link("bar").inertia
    assert inertia is not None
    expected = float(torque * 0.5 / inertia.moment[2, 2])
    return Measurement(float(speed), expected, tolerance * expected, "rad/s")


def _torque(engine: Engine) -> Measurement:
    drive = Actuation(DriveMode.TORQUE)
    return _spun_up(engine, actuation=drive, command=0.05, torque=0.05, tolerance=1e-3)


def _torque_limit(engine: Engine) -> Measurement:
    drive = Actuation(DriveMode.TORQUE)
    return _spun_up(engine, actuation=drive, command=5.0, torque=0.02, effort=0.02, tolerance=1e-2)


def _servo_limit(engine: Engine) -> Measurement:
    drive = Actuation(DriveMode.VELOCITY, damping=100.0)
    return _spun_up(engine, actuation=drive, command=50.0, torque=0.02, effort=0.02, tolerance=1e-2)


def _position(engine: Engine) -> Measurement:
    servo = Actuation(DriveMode.POSITION, stiffness=500.0, damping=50.0)
    simulation = _compile(engine, pendulum(), actuation=servo)
    simulation.step(np.array([0.8]), 2000)
    angle = float(simulation.state().q[0])
    simulation.close()
    # The load bends the servo's spring: k (r - q) = m g l sin q.
    expected = 0.8
    for _ in range(50):
        expected = 0.8 - GRAVITY * 0.5 * np.sin(expected) / 500.0
    return Measurement(angle, float(expected), 0.01, "rad")


def _velocity(engine: Engine) -> Measurement:
    servo = Actuation(DriveMode.VELOCITY, damping=5.0)
    simulation = _compile(engine, rotor(), actuation=servo, gravity=False)
    simulation.step(np.array([3.0]), 1000)
    speed = float(simulation.state().v[0])
    simulation.close()
    return Measurement(speed, 3.0, 0.03, "rad/s")


def _joint_limit(engine: Engine) -> Measurement:
    model = pendulum(limits=JointLimits(lower=-0.4, upper=1.0))
    simulation = _compile(engine, model, positions={"pivot": 0.9})
    lowest = 0.0
    for _ in range(1500):
        simulation.step(np.zeros(0))
        lowest = min(lowest, float(simulation.state().q[0]))
    simulation.close()
    return Measurement(lowest, -0.4, 0.01, "rad")


def _joint_wrench(engine: Engine) -> Measurement:
    model = sensed_load()
    servo = Actuation(DriveMode.POSITION, stiffness=2e4, damping=500.0)
    simulation = _compile(
        engine, model, actuation=servo, sensors=(WrenchSensor("ft", "robot", "sensor"),)
    )
    simulation.step(np.array([0.7]), 3000)
    read = simulation.wrench("ft")
    q = simulation.state().q
    simulation.close()
    load = model.link("load").inertia
    assert load is not None
    R_WL = link_poses(model, q)[2, :3, :3]
    force = R_WL.T @ np.array([0.0, 0.0, -load.mass * GRAVITY])
    expected = np.concatenate([force, np.cross(load.center, force)])
    error = float(np.linalg.norm(read - expected) / np.linalg.norm(expected))
    return Measurement(error, 0.0, 0.01, "relative")


def _mimic(engine: Engine) -> Measurement:
    model = fingers()
    servo = Actuation(DriveMode.POSITION, stiffness=2000.0, damping=100.0)
    drives = {"lead": servo}
    robot = PlacedRobot("robot", model, positions={"follow": 0.01}, actuation=drives)
    simulation = engine.compile(Scene((robot,)), timestep=TIMESTEP)
    worst = 0.0
    for k in range(1000):
        simulation.step(np.array([0.1 * min(1.0, k / 500)]))
        lead, follow = simulation.state().q
        worst = max(worst, abs(float(follow - (-2.0 * lead + 0.01))))
    moved = abs(float(simulation.state().q[0]))
    simulation.close()
    return Measurement(worst if moved > 0.05 else np.inf, 0.0, 2e-3, "m")


def _joint_order(engine: Engine) -> Measurement:
    model = chain()
    simulation = _compile(
        engine, model, positions={"joint0": 0.1, "joint1": 0.2, "joint2": 0.3},
        actuation=Actuation(DriveMode.TORQUE), gravity=False,
    )  # fmt: skip
    q = simulation.state().q
    simulation.step(np.array([0.0, 0.0, 1e-2]))
    v = simulation.state().v
    simulation.close()
    right = np.allclose(q, [0.1, 0.2, 0.3], atol=1e-6) and int(np.argmax(np.abs(v))) == 2
    return Measurement(float(right), 1.0, 0.0)


def _free_base(engine: Engine) -> Measurement:
    model = flyer()
    simulation = _compile(
        engine, model, actuation=Actuation(DriveMode.TORQUE), gravity=False, base=Base.FREE
    )
    start = _center(model, simulation)
    simulation.step(np.array([0.3]), 200)
    simulation.step(np.array([-0.3]), 200)
    moved = float(np.linalg.norm(_center(model, simulation) - start))
    turned = abs(float(simulation.state().q[0]))
    simulation.close()
    reason = "a step of first order turns the body about a point that lags by the step"
    return Measurement(moved if turned > 0.01 else np.inf, 0.0, 1e-4, "m", reason)


def _center(model: RobotModel, simulation: Simulation) -> Array:
    """Return the centre of mass of a free robot [m], shape (3,)."""
    state = simulation.state()
    return RobotDynamics(model).center_of_mass(np.concatenate([state.poses[0], state.q]))


def _closed_loop(engine: Engine) -> Measurement:
    model = four_bar()
    drives = {"drive": Actuation(DriveMode.VELOCITY, damping=20.0)}
    robot = PlacedRobot("robot", model, actuation=drives)
    simulation = engine.compile(Scene((robot,)), timestep=TIMESTEP)
    simulation.step(np.array([0.5]), 1000)
    q = simulation.state().q
    simulation.close()
    poses = link_poses(model, q)
    loop = model.loops[0]
    gap = (poses[2] @ loop.X_AC)[:3, 3] - (poses[3] @ loop.X_BC)[:3, 3]
    turned = abs(float(q[0])) > 0.2
    return Measurement(float(np.linalg.norm(gap)) if turned else np.inf, 0.0, 1e-3, "m")


def _bar_inertia(model: RobotModel) -> float:
    inertia = model.link("bar").inertia
    assert inertia is not None
    return float(inertia.moment[2, 2])


def _turned(
    engine: Engine, model: RobotModel, *, speed: float = 0.0, torques: tuple[float, ...] = (0.0,),
    steps: int,
) -> list[State]:  # fmt: skip
    """Start a rotor at a speed [rad/s], apply torques [N m] for some steps each, and look."""
    simulation = _compile(engine, model, actuation=Actuation(DriveMode.TORQUE), gravity=False)
    simulation.reset(replace(simulation.state(), v=np.array([speed])))
    states = []
    for torque in torques:
        simulation.step(np.array([torque]), steps)
        states.append(simulation.state())
    simulation.close()
    return states


def _damping(engine: Engine) -> Measurement:
    model = rotor(damping=0.05)
    (end,) = _turned(engine, model, speed=3.0, steps=200)
    expected = 3.0 / (1 + TIMESTEP * 0.05 / _bar_inertia(model)) ** 200
    tolerance, reason = rounding(engine, 1e-9, scale=3.0)
    return Measurement(float(end.v[0]), expected, tolerance, "rad/s", reason)


def _spring(engine: Engine) -> Measurement:
    """Let a rotor swing for a period of 1.2 s; an implicit spring loses h w pi = 0.5 % or 1.6 %."""
    frequency, amplitude, relaxed = 5.0, 0.4, -0.3
    model = rotor(springref=relaxed)
    inertia = _bar_inertia(model)
    model = rotor(stiffness=frequency**2 * inertia, springref=relaxed)
    simulation = _compile(engine, model, positions={"spindle": relaxed + amplitude}, gravity=False)
    worst, command = 0.0, np.zeros(len(simulation.layout.commands))
    for step in range(1, 1257):
        simulation.step(command)
        expected = relaxed + amplitude * cos(frequency * step * TIMESTEP)
        worst = max(worst, abs(float(simulation.state().q[0]) - expected))
    simulation.close()
    return Measurement(worst / amplitude, 0.0, 1.2 * pi * frequency * TIMESTEP, "of the amplitude")


def _loaded_spring(engine: Engine) -> Measurement:
    """Push a rotor against its spring with damping, until it rests."""
    stiffness, relaxed, torque = 2.0, 0.4, 0.5
    model = rotor(stiffness=stiffness, springref=relaxed, damping=0.3, armature=0.01)
    (end,) = _turned(engine, model, torques=(torque,), steps=5000)
    tolerance, reason = rounding(engine, 1e-6, scale=1.0)
    return Measurement(float(end.q[0]), relaxed + torque / stiffness, tolerance, "rad", reason)


def _friction(engine: Engine) -> Measurement:
    model = rotor(friction=0.1)
    held, slipped = _turned(engine, model, torques=(0.09, 0.15), steps=500)
    crept = abs(float(held.q[0])) > 1e-4
    expected = (0.15 - 0.1) * 0.5 / _bar_inertia(model)
    speed = np.inf if crept else float(slipped.v[0])
    return Measurement(speed, expected, 1e-3 * expected, "rad/s")


def _armature(engine: Engine) -> Measurement:
    model = rotor(armature=0.1)
    (end,) = _turned(engine, model, torques=(0.5,), steps=500)
    expected = 0.5 * 0.5 / (_bar_inertia(model) + 0.1)
    tolerance, reason = rounding(engine, 1e-9, scale=expected)
    return Measurement(float(end.v[0]), expected, tolerance, "rad/s", reason)


def _limit_rest(engine: Engine) -> Measurement:
    model = rotor(lower=-1.0, upper=0.5)
    (end,) = _turned(engine, model, speed=5.0, steps=120)
    stopped = abs(float(end.q[0]) - 0.5) < 0.01
    return Measurement(float(end.v[0]) if stopped else np.inf, 0.0, 0.1, "rad/s")


def _effort_edge(engine: Engine) -> Measurement:
    limit = 0.02
    model = rotor(effort=limit)
    worst = 0.0
    for share in (0.99, 1.0, 1.01, -0.99, -1.0, -1.01):
        (end,) = _turned(engine, model, torques=(share * limit,), steps=100)
        expected = np.clip(share, -1.0, 1.0) * limit * 0.1 / _bar_inertia(model)
        worst = max(worst, abs(float(end.v[0] / expected) - 1))
    tolerance, reason = rounding(engine, 1e-6, scale=1.0)
    return Measurement(worst, 0.0, tolerance, "relative", reason)


def _moving_sensor(engine: Engine) -> Measurement:
    sensors = (WrenchSensor("ft", "robot", "pivot"),)
    simulation = _compile(engine, pendulum(), sensors=sensors)
    simulation.reset(replace(simulation.state(), v=np.array([2.0])))
    simulation.step(np.zeros(0))
    read = simulation.wrench("ft")
    simulation.close()
    expected = np.array([0.0, 0.0, -GRAVITY - 2.0**2 * 0.5, 0.0, 0.0, 0.0])
    error = float(np.linalg.norm(read - expected) / np.linalg.norm(expected))
    return Measurement(error, 0.0, 0.01, "relative")


def _accelerated_load(engine: Engine) -> Measurement:
    drive = Actuation(DriveMode.TORQUE)
    sensors = (WrenchSensor("ft", "robot", "sensor"),)
    simulation = _compile(engine, sensed_slide(), actuation=drive, sensors=sensors)
    simulation.step(np.array([6.0]), 100)
    read = simulation.wrench("ft")
    simulation.close()
    a = 6.0 / 3.0
    expected = np.array([-2.0 * a, 0.0, -2.0 * GRAVITY, 0.0, -2.0 * a * 0.05, 0.0])
    error = float(np.linalg.norm(read - expected) / np.linalg.norm(expected))
    return Measurement(error, 0.0, 0.01, "relative")


def _standing_sensor(engine: Engine) -> Measurement:
    robot = PlacedRobot("stool", stool(), Base.FREE, frozen(pose((0.0, 0.0, 0.25))))
    scene = Scene((robot,), (ground(),), sensors=(WrenchSensor("ft", "stool", "ankle"),))
    simulation = engine.compile(scene, timestep=TIMESTEP)
    simulation.step(np.zeros(0), 500)
    read = simulation.wrench("ft")[:3]
    simulation.close()
    # The load of this sensor is the foot with the ground below it, which bears all but the foot.
    error = float(np.linalg.norm(read - (0.0, 0.0, 3.0 * GRAVITY)) / (3.0 * GRAVITY))
    return Measurement(error, 0.0, 0.01, "relative")


def _mimic_inertia(engine: Engine) -> Measurement:
    multipliers = (-2.0, 0.5, 1.0)
    drives = {"rail0": Actuation(DriveMode.TORQUE)}
    scene = Scene((PlacedRobot("robot", rank(multipliers), actuation=drives),))
    simulation = engine.compile(scene, timestep=TIMESTEP)
    simulation.step(np.array([1.0]), 300)
    v = simulation.state().v
    simulation.close()
    speed = 0.3 / (0.5 * (1.0 + sum(k**2 for k in multipliers)))
    expected = speed * np.array([1.0, *multipliers])
    error = float(np.abs(v - expected).max() / speed)
    return Measurement(error, 0.0, 0.01, "relative")


def _loaded_loop(engine: Engine) -> Measurement:
    stiffness = 100.0
    servo = Actuation(DriveMode.POSITION, stiffness=stiffness, damping=20.0)
    robot = PlacedRobot("robot", four_bar(), actuation={"drive": servo})
    simulation = engine.compile(Scene((robot,)), timestep=TIMESTEP)
    simulation.step(np.array([0.4]), 2000)
    angle = float(simulation.state().q[0])
    simulation.close()
    # Virtual work: cranks of 1 kg rise by 0.2 cos q each, the coupler by 0.4 cos q.
    expected = 0.4
    for _ in range(50):
        expected = 0.4 + (0.2 + 0.2 + 0.4) * GRAVITY * sin(expected) / stiffness
    return Measurement(angle, expected, 1e-3, "rad")


_SWING = (0.8, -0.3)
"""Angles at which a double pendulum is let go [rad]."""


def _let_swing(engine: Engine, timestep: float) -> Simulation:
    positions = dict(zip(("shoulder", "elbow"), _SWING, strict=True))
    robot = PlacedRobot("robot", double_pendulum(), positions=positions)
    return engine.compile(Scene((robot,)), timestep=timestep)


def _swing_energy(engine: Engine) -> Measurement:
    dynamics = RobotDynamics(double_pendulum())
    simulation = _let_swing(engine, TIMESTEP / 2)
    energies = []
    for _ in range(501):
        state = simulation.state()
        kinetic = dynamics.kinetic_energy(state.q, state.v)
        energies.append(kinetic + dynamics.potential_energy(state.q))
        simulation.step(np.zeros(0), 40)
    simulation.close()
    swung = energies[0] - dynamics.potential_energy(np.zeros(2))
    # A mean of half a second: an integrator of first order swings about the true energy.
    means = np.convolve(energies, np.full(25, 1 / 25), mode="valid")
    return Measurement(float(np.abs(means - energies[0]).max() / swung), 0.0, 0.01, "relative")


@cache
def _reference_swing() -> Array:
    """Integrate the double pendulum for 0.5 s to 1e-10 rad (Runge-Kutta, fourth order)."""
    dynamics, h = RobotDynamics(double_pendulum()), 2.5e-4

    def slope(x: Array) -> Array:
        return np.concatenate([x[2:], dynamics.forward_dynamics(x[:2], x[2:], np.zeros(2))])

    x = np.array([*_SWING, 0.0, 0.0])
    for _ in range(2000):
        a = slope(x)
        b = slope(x + h / 2 * a)
        c = slope(x + h / 2 * b)
        d = slope(x + h * c)
        x = x + h / 6 * (a + 2 * b + 2 * c + d)
    return x[:2]


def _order(engine: Engine) -> Measurement:
    errors = []
    for timestep in (2e-3, 1e-3):
        simulation = _let_swing(engine, timestep)
        simulation.step(np.zeros(0), round(0.5 / timestep))
        errors.append(float(np.linalg.norm(simulation.state().q - _reference_swing())))
        simulation.close()
    reason = "" if errors[1] < 0.01 else "far from the reference"
    order = log2(errors[0] / errors[1]) if errors[1] < 0.01 else np.inf
    return Measurement(order, 1.0, 0.15, "-", reason)


_JOINTS = frozenset({Capability.JOINTS})
_SENSED = _JOINTS | {Capability.JOINT_WRENCH}

CHECKS = (
    Check("pendulum", "a pendulum swings with its period", _pendulum_period, _JOINTS,
          "T = 2 pi sqrt(I / m g l) / agm(1, cos(a / 2))", "Gauss, elliptic integral"),
    Check("double-pendulum-energy", "a double pendulum keeps its energy for 10 s", _swing_energy,
          _JOINTS, "E constant, means of 0.5 s, over the energy of the swing",
          "conservation of energy; M and g by Pinocchio"),
    Check("integrator-order", "halving the step halves the error of a double pendulum", _order,
          _JOINTS, "log2(e(2 ms) / e(1 ms)) = 1",
          "semi-implicit Euler against Runge-Kutta 4 on Pinocchio to 1e-10"),
    Check("joint-torque", "a torque accelerates a joint", _torque, _JOINTS, "w = tau t / I",
          "Euler's equation"),
    Check("effort-limit", "a torque beyond the limit is cut off", _torque_limit, _JOINTS,
          "w = tau_max t / I", "Euler's equation"),
    Check("effort-edge", "torques of 0.99, 1 and 1.01 times the limit, both ways", _effort_edge,
          _JOINTS, "w = clip(tau) t / I", "Euler's equation"),
    Check("servo-effort-limit", "a servo never exceeds the limit", _servo_limit, _JOINTS,
          "w = tau_max t / I", "Euler's equation"),
    Check("joint-damping", "joint damping slows a rotor", _damping, _JOINTS,
          "w = w_0 / (1 + h d / I)^n", "implicit Euler"),
    Check("joint-spring", "a spring in a joint lets a rotor swing", _spring,
          _JOINTS | {Capability.SPRINGS}, "q = q_0 + a cos(sqrt(k / I) t)", "harmonic oscillator"),
    Check("joint-spring-rest", "a torque bends a spring in a joint", _loaded_spring,
          _JOINTS | {Capability.SPRINGS}, "q = q_0 + tau / k", "Hooke's law"),
    Check("joint-friction", "joint friction holds, then gives way", _friction, _JOINTS,
          "q = 0 for tau < f, then w = (tau - f) t / I", "Coulomb's law"),
    Check("joint-armature", "the inertia of a drive adds to that of its link", _armature, _JOINTS,
          "w = tau t / (I + A)", "Euler's equation"),
    Check("joint-position", "a position servo holds a load as its spring says", _position, _JOINTS,
          "k (r - q) = m g l sin q", "statics"),
    Check("joint-velocity", "a velocity servo reaches its speed", _velocity, _JOINTS, "v = r",
          "the servo at rest"),
    Check("joint-limit", "a joint stops at its limit", _joint_limit, _JOINTS, "min q = lower limit",
          "the model"),
    Check("joint-limit-rest", "a joint does not bounce off its limit", _limit_rest, _JOINTS,
          "w = 0 after the impact", "inelastic impact"),
    Check("joint-wrench", "a force-torque sensor reads a static load", _joint_wrench, _SENSED,
          "f = R' m g, m = c x f", "statics"),
    Check("wrench-swing", "a sensor in a joint reads a swinging load", _moving_sensor, _SENSED,
          "f = m g + m v^2 / l", "centripetal force"),
    Check("wrench-acceleration", "a sensor reads an accelerated load", _accelerated_load, _SENSED,
          "f = m (g - a), m = c x f", "Newton-Euler equations"),
    Check("wrench-contact", "a sensor above a foot reads what stands on it", _standing_sensor,
          _SENSED | {Capability.CONTACT, Capability.FREE_BASE}, "f = weight above", "statics"),
    Check("mimic", "a coupled joint follows its leader", _mimic, _JOINTS | {Capability.MIMIC},
          "q_2 = k q_1 + c", "the model"),
    Check("mimic-inertia", "a force moves three followers with their leader", _mimic_inertia,
          _JOINTS | {Capability.MIMIC}, "v = f t / sum(k_i^2 m_i)", "principle of virtual work"),
    Check("joint-order", "joints stand in the order of the model", _joint_order, _JOINTS,
          "q as set, largest speed in the driven joint", "the engine protocol"),
    Check("free-base", "inner torques do not move the centre of mass", _free_base,
          _JOINTS | {Capability.FREE_BASE}, "c constant", "Newton's first law"),
    Check("closed-loop", "a four-bar stays closed", _closed_loop,
          _JOINTS | {Capability.CLOSED_LOOPS}, "p_A = p_B", "the model"),
    Check("loop-load", "a four-bar bends the servo of its crank by its weight", _loaded_loop,
          _JOINTS | {Capability.CLOSED_LOOPS}, "k (q - r) = (m_1 + m_2 + 2 m_3) l g sin q / 2",
          "principle of virtual work"),
)  # fmt: skip
