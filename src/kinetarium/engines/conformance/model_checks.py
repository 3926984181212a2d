"""Checks on what an engine made of the model: masses, accelerations, M, inverse dynamics."""

from collections.abc import Collection

import numpy as np

from kinetarium.dynamics import RobotDynamics
from kinetarium.engines.base.audit import audit_errors
from kinetarium.engines.conformance.bodies import TIMESTEP, rounding
from kinetarium.engines.conformance.check import Check, Measurement
from kinetarium.engines.conformance.models import chain, fingers, four_bar, laden_arm
from kinetarium.engines.protocol import Capability, Engine, Precision, Simulation, State
from kinetarium.model.robot import RobotModel
from kinetarium.scene import (
    Actuation,
    DriveMode,
    Material,
    PlacedRobot,
    Scene,
    WrenchSensor,
    ground,
)
from kinetarium.spatial.arrays import Array


def _driven(engine: Engine, model: RobotModel, timestep: float = TIMESTEP) -> Simulation:
    drives = {joint.name: Actuation(DriveMode.TORQUE) for joint in model.moving_joints}
    scene = Scene((PlacedRobot("robot", model, actuation=drives),))
    return engine.compile(scene, timestep=timestep)


def _moving_states(count: int, n: int) -> list[tuple[Array, Array, Array]]:
    """Return seeded positions, velocities and accelerations of n joints."""
    rng = np.random.default_rng(7)
    return [
        (rng.uniform(-1, 1, n), rng.uniform(-2, 2, n), rng.uniform(-5, 5, n)) for _ in range(count)
    ]


def _at(q: Array, v: Array) -> State:
    return State(0.0, q, v, np.zeros((0, 7)), np.zeros((0, 6)))


def _one_step(engine: Engine) -> Measurement:
    reason = ""
    if engine.info.implicit_coriolis:
        reason = "implicit Coriolis forces: extrapolated from steps of 1 and 2 ms to none"
    return Measurement(one_step_error(engine), 0.0, 1e-3, "rad/s^2", reason)


def one_step_error(engine: Engine) -> float:
    """Return how far the accelerations of a moving arm are off after one step [rad/s^2].

    Without its Coriolis forces they would be off by `coriolis_size`.
    """
    errors = _step_errors(engine, TIMESTEP)
    if engine.info.implicit_coriolis:
        errors = 2 * errors - _step_errors(engine, 2 * TIMESTEP)
    return float(np.abs(errors).max())


def coriolis_size() -> float:
    """Return the largest acceleration that is due to Coriolis forces in these states [rad/s^2]."""
    dynamics = RobotDynamics(chain())
    found = []
    for q, v, a in _moving_states(10, 3):
        tau = dynamics.inverse_dynamics(q, v, a)
        at_rest = dynamics.inverse_dynamics(q, np.zeros_like(v), a)
        found.append(np.linalg.solve(dynamics.mass_matrix(q), tau - at_rest))
    return float(np.abs(found).max())


def _step_errors(engine: Engine, timestep: float) -> Array:
    """Return how far accelerations are off after one step [rad/s^2], shape (states, joints)."""
    model = chain()
    dynamics = RobotDynamics(model)
    simulation = _driven(engine, model, timestep)
    errors = []
    for q, v, a in _moving_states(10, 3):
        simulation.reset(_at(q, v))
        simulation.step(dynamics.inverse_dynamics(q, v, a))
        errors.append((simulation.state().v - v) / timestep - a)
    simulation.close()
    return np.array(errors)


def _audit(engine: Engine) -> Measurement:
    scene = audited_scene(engine.info.capabilities)
    simulation = engine.compile(scene, timestep=TIMESTEP)
    audit = simulation.audit()
    simulation.close()
    worst = max(audit_errors(scene, audit, rule=engine.info.friction_rule).values())
    if engine.info.precision is Precision.SINGLE:
        return Measurement(worst, 0.0, 2e-6, "relative", "single precision")
    return Measurement(worst, 0.0, 1e-9, "relative")


def audited_scene(capabilities: Collection[Capability]) -> Scene:
    """Return a scene with something of everything that an engine can be asked to load."""
    contact = Capability.CONTACT in capabilities
    bounce = 0.3 if Capability.RESTITUTION in capabilities else 0.0
    model = laden_arm(touches=contact)
    drives = {
        "shoulder": Actuation(DriveMode.POSITION, 40.0, 3.0, 20.0),
        "wrist": Actuation(DriveMode.VELOCITY, damping=2.0),
        "extend": Actuation(DriveMode.TORQUE, effort=5.0),
    }
    tool = {"tool": Material(0.4, bounce)}
    robots = [
        PlacedRobot("arm", model, actuation=drives, material=Material(0.7), link_materials=tool)
    ]
    if Capability.MIMIC in capabilities:
        robots.append(PlacedRobot("hand", fingers()))
    if Capability.CLOSED_LOOPS in capabilities:
        robots.append(PlacedRobot("linkage", four_bar()))
    wrenches = Capability.JOINT_WRENCH in capabilities
    sensors = (WrenchSensor("flange", "arm", "mount"),) if wrenches else ()
    return Scene(tuple(robots), (ground(Material(0.9)),) if contact else (), sensors)


def _mass_matrix(engine: Engine) -> Measurement:
    model = chain()
    dynamics = RobotDynamics(model)
    simulation = _driven(engine, model)
    worst = 0.0
    for q, v, _ in _moving_states(10, 3):
        simulation.reset(_at(q, v))
        M = dynamics.mass_matrix(q)
        worst = max(
            worst, float(np.abs(simulation.mass_matrix("robot") - M).max() / np.abs(M).max())
        )
    simulation.close()
    return Measurement(worst, 0.0, 1e-9, "relative")


def _inverse_dynamics(engine: Engine) -> Measurement:
    model = chain()
    dynamics = RobotDynamics(model)
    simulation = _driven(engine, model)
    worst = 0.0
    for q, v, a in _moving_states(10, 3):
        simulation.reset(_at(q, v))
        tau = dynamics.inverse_dynamics(q, v, a)
        there = simulation.inverse_dynamics("robot", a)
        worst = max(worst, float(np.abs(there - tau).max() / np.abs(tau).max()))
    simulation.close()
    return Measurement(worst, 0.0, 1e-9, "relative")


def _reset(engine: Engine) -> Measurement:
    simulation = _driven(engine, chain())
    worst = 0.0
    for q, v, _ in _moving_states(5, 3):
        simulation.reset(_at(q, v))
        state = simulation.state()
        worst = max(worst, float(np.abs(state.q - q).max()), float(np.abs(state.v - v).max()))
    simulation.close()
    tolerance, reason = rounding(engine, 1e-12, scale=1.0)
    return Measurement(worst, 0.0, tolerance, "rad or rad/s", reason)


_JOINTS = frozenset({Capability.JOINTS})

CHECKS = (
    Check("audit", "masses, joints, drives, couplings and surfaces are loaded as given", _audit,
          _JOINTS, "all numbers as given", "the model"),
    Check("reset", "a state that is set reads back", _reset, _JOINTS, "q, v as set",
          "the engine protocol"),
    Check("one-step", "one step under given torques accelerates as Pinocchio says", _one_step,
          _JOINTS, "(v' - v) / h = M^-1 (tau - C v - g)", "Pinocchio (Featherstone 2008)"),
    Check("mass-matrix", "the mass matrix is Pinocchio's", _mass_matrix,
          _JOINTS | {Capability.MASS_MATRIX}, "M(q)", "composite rigid bodies, by Pinocchio"),
    Check("inverse-dynamics", "inverse dynamics are Pinocchio's", _inverse_dynamics,
          _JOINTS | {Capability.INVERSE_DYNAMICS}, "tau = M a + C v + g",
          "recursive Newton-Euler, by Pinocchio"),
)  # fmt: skip
