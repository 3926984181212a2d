"""Checks on robots: joints, drives, limits, sensors, couplings, loops."""

from math import pi, sqrt

import numpy as np

from kinetarium.dynamics.kinematics import link_poses
from kinetarium.engines.conformance.bodies import TIMESTEP, WEIGHTLESS
from kinetarium.engines.conformance.check import Check, Measurement
from kinetarium.engines.conformance.models import (
    chain,
    fingers,
    flyer,
    four_bar,
    pendulum,
    rotor,
    sensed_load,
)
from kinetarium.engines.protocol import Capability, Engine, Simulation
from kinetarium.model.robot import JointLimits, RobotModel
from kinetarium.scene import Actuation, Base, DriveMode, PlacedRobot, Scene, WrenchSensor
from kinetarium.spatial.arrays import Array

_GRAVITY = 9.81


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
    expected = 2 * pi * sqrt(about_pivot / (inertia.mass * _GRAVITY * 0.5)) / a
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
        expected = 0.8 - _GRAVITY * 0.5 * np.sin(expected) / 500.0
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
    force = R_WL.T @ np.array([0.0, 0.0, -load.mass * _GRAVITY])
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
    from kinetarium.dynamics import RobotDynamics

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


_JOINTS = frozenset({Capability.JOINTS})

CHECKS = (
    Check("pendulum", "a pendulum swings with its period", _pendulum_period, _JOINTS),
    Check("joint-torque", "a torque accelerates a joint", _torque, _JOINTS),
    Check("effort-limit", "a torque beyond the limit is cut off", _torque_limit, _JOINTS),
    Check("servo-effort-limit", "a servo never exceeds the limit", _servo_limit, _JOINTS),
    Check("joint-position", "a position servo holds a load as its spring says", _position, _JOINTS),
    Check("joint-velocity", "a velocity servo reaches its speed", _velocity, _JOINTS),
    Check("joint-limit", "a joint stops at its limit", _joint_limit, _JOINTS),
    Check("joint-wrench", "a force-torque sensor reads a static load", _joint_wrench,
          _JOINTS | {Capability.JOINT_WRENCH}),
    Check("mimic", "a coupled joint follows its leader", _mimic, _JOINTS | {Capability.MIMIC}),
    Check("joint-order", "joints stand in the order of the model", _joint_order, _JOINTS),
    Check("free-base", "inner torques do not move the centre of mass", _free_base,
          _JOINTS | {Capability.FREE_BASE}),
    Check("closed-loop", "a four-bar stays closed", _closed_loop,
          _JOINTS | {Capability.CLOSED_LOOPS}),
)  # fmt: skip
