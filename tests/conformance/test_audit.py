"""Catalogue robots as the engines loaded them, against the model and Pinocchio."""

from dataclasses import replace

import numpy as np
import pytest

from conformance.engine_names import ENGINES, WITH_MASS_MATRIX
from kinetarium import RobotModel, Scene, load_robot
from kinetarium.dynamics import RobotDynamics
from kinetarium.engines.protocol import Simulation, State
from kinetarium.engines.registry import open_engine
from kinetarium.model.robot import JointType
from kinetarium.scene import Actuation, Base, DriveMode, PlacedRobot
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import frozen

ROBOTS = ["panda", "ur5", "husky4", "kr250"]
TIMESTEP = 1e-3
FREE_MOTION = {"ode": 2e-4, "physx": 1e-5, "rapier": 5e-4}
"""Tolerance on joint angles [rad] after 100 steps of the reference's own integrator: ODE holds
joints by constraints between free bodies, which yield a little (cfm); PhysX works in reduced
coordinates like the reference, but in single precision; so does Rapier, which takes Coriolis
forces at the end of a step."""

pytestmark = pytest.mark.engine


def _compile(engine: str, model: RobotModel) -> Simulation:
    drives = {joint.name: Actuation(DriveMode.TORQUE) for joint in model.moving_joints}
    robot = PlacedRobot("robot", model, Base.FIXED, actuation=drives)
    scene = Scene((robot,), gravity=frozen([0.0, 0.0, -9.81]))
    return open_engine(engine).compile(scene, timestep=TIMESTEP)


def _state(model: RobotModel, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    lower = np.array([max(j.limits.lower, -1.0) for j in model.moving_joints])
    upper = np.array([min(j.limits.upper, 1.0) for j in model.moving_joints])
    middle, half = (lower + upper) / 2, (upper - lower) / 4
    q = middle + half * rng.uniform(-1, 1, len(lower))
    v = rng.uniform(-0.2, 0.2, len(lower)) * np.minimum(1.0, half)
    for i, joint in enumerate(model.moving_joints):
        if joint.mimic:
            leader = [j.name for j in model.moving_joints].index(joint.mimic.joint)
            q[i] = joint.mimic.multiplier * q[leader] + joint.mimic.offset
            v[i] = joint.mimic.multiplier * v[leader]
    return q, v


def _at(q: np.ndarray, v: np.ndarray) -> State:
    return State(0.0, q, v, np.zeros((0, 7)), np.zeros((0, 6)))


@pytest.mark.parametrize("engine", WITH_MASS_MATRIX)
@pytest.mark.parametrize("robot", ROBOTS)
def test_mass_matrix(robot: str, engine: str) -> None:
    model = load_robot(robot)
    dynamics = RobotDynamics(model, free_base=False)
    simulation = _compile(engine, model)
    rng = np.random.default_rng(0)
    for _ in range(10):
        q, v = _state(model, rng)
        simulation.reset(_at(q, v))
        M = dynamics.mass_matrix(q)
        assert np.abs(simulation.mass_matrix("robot") - M).max() <= 1e-9 * np.abs(M).max()
    simulation.close()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("robot", ROBOTS)
def test_inertias(robot: str, engine: str) -> None:
    model = load_robot(robot)
    simulation = _compile(engine, model)
    loaded = {solid.name: solid.inertia for solid in simulation.audit().solids}
    simulation.close()
    tolerance = 1e-6 if engine in ("physx", "rapier") else 1e-9
    for body in rigid_tree(model):
        if body.inertia is None or body.joint is None:
            continue
        there = loaded[f"robot/{body.name}"]
        scale = np.abs(body.inertia.moment).max()
        assert abs(there.mass / body.inertia.mass - 1) <= tolerance
        assert np.abs(there.center - body.inertia.center).max() <= tolerance
        assert np.abs(there.moment - body.inertia.moment).max() <= tolerance * scale


@pytest.mark.parametrize("engine", ["ode", "physx", "rapier"])
@pytest.mark.parametrize("robot", ROBOTS)
def test_free_motion(robot: str, engine: str) -> None:
    """Let the robot fall for a tenth of a second, against the same integrator on Pinocchio."""
    model = load_robot(robot)
    if any(joint.mimic for joint in model.moving_joints):
        model = _without_fingers(model)
    dynamics = RobotDynamics(model, free_base=False)
    simulation = _compile(engine, model)
    q, v = _state(model, np.random.default_rng(3))
    simulation.reset(_at(q, v))
    command = np.zeros(len(simulation.layout.commands))
    for _ in range(100):
        v = v + TIMESTEP * dynamics.forward_dynamics(q, v, np.zeros_like(v))
        q = q + TIMESTEP * v
        simulation.step(command)
    there = simulation.state().q
    simulation.close()
    assert np.abs(there - q).max() <= FREE_MOTION[engine]


def _without_fingers(model: RobotModel) -> RobotModel:
    """Fix the coupled fingers, whose coupling force the unconstrained reference does not have."""
    joints = tuple(
        replace(joint, type=JointType.FIXED, mimic=None) if "finger" in joint.name else joint
        for joint in model.joints
    )
    return replace(model, joints=joints)
