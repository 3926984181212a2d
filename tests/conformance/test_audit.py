"""Catalogue robots as the engines loaded them, against the model and Pinocchio."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from conformance.engine_names import ENGINES, WITH_MASS_MATRIX
from kinetarium import RobotModel, Scene, load_robot
from kinetarium.dynamics import RobotDynamics
from kinetarium.engines.base.audit import audit_errors
from kinetarium.engines.conformance.model_checks import audited_scene
from kinetarium.engines.protocol import Audit, Capability, Precision, Simulation, State
from kinetarium.engines.registry import open_engine
from kinetarium.model.robot import JointType, LoopKind
from kinetarium.scene import Actuation, Base, DriveMode, Material, PlacedRobot, ground
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import pose

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
    tolerance = 1e-6 if engine in ("newton", "physx", "rapier") else 1e-9
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


def _audited(engine: str, scene: Scene, *, steps: int = 0) -> Audit:
    simulation = open_engine(engine).compile(scene, timestep=TIMESTEP)
    if steps:
        simulation.step(np.zeros(len(simulation.layout.commands)), steps)
    audit = simulation.audit()
    simulation.close()
    return audit


def _off(engine: str, scene: Scene, audit: Audit, *, tolerance: float | None = None) -> set[str]:
    """Return the facts of an audit that are not those of a scene."""
    info = open_engine(engine).info
    allowed = tolerance or (2e-6 if info.precision is Precision.SINGLE else 1e-9)
    errors = audit_errors(scene, audit, rule=info.friction_rule)
    return {fact for fact, error in errors.items() if not error <= allowed}


def _capabilities(engine: str) -> frozenset[Capability]:
    return open_engine(engine).info.capabilities


@pytest.mark.parametrize("engine", ENGINES)
def test_all_facts_are_reported_and_as_given(engine: str) -> None:
    scene = audited_scene(_capabilities(engine))
    audit = _audited(engine, scene)
    assert all((audit.drives, audit.couplings, audit.loops, audit.surfaces))
    assert all(joint.X_PJ is not None for joint in audit.joints)
    assert _off(engine, scene, audit) == set()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_rover_and_frames_held_together_are_as_given(engine: str) -> None:
    """A free root has a frame of its own in some engines; one end of a loop is the world here."""
    scene = audited_scene(_capabilities(engine))
    linkage = scene.robots[-1]
    turned = frozen(pose((0.5, 0.0, 0.4), [[0, -1, 0], [1, 0, 0], [0, 0, 1]]))
    loops = (
        replace(linkage.model.loops[0], kind=LoopKind.POSE, X_BC=turned),
        replace(linkage.model.loops[0], name="ground", link_b="base", X_BC=turned),
    )
    linkage = replace(
        linkage,
        model=replace(linkage.model, loops=loops),
        X_WB=frozen(pose((0.3, 0.2, 0.1), [[0, 0, 1], [1, 0, 0], [0, 1, 0]])),
    )
    model = load_robot("husky4")
    servo = Actuation(DriveMode.VELOCITY, damping=5.0)
    wheels = {joint.name: servo for joint in model.moving_joints}
    rover = PlacedRobot("rover", model, Base.FREE, actuation=wheels)
    scene = Scene((rover, linkage), (ground(Material(0.5)),))
    assert _off(engine, scene, _audited(engine, scene)) == set()


@pytest.mark.parametrize("engine", ENGINES)
def test_motion_does_not_change_the_model(engine: str) -> None:
    scene = audited_scene(_capabilities(engine) - {Capability.CLOSED_LOOPS})
    # In ODE frames are read from the poses of bodies, which its joints hold to micrometres.
    tolerance = 1e-4 if engine == "ode" else None
    audit = _audited(engine, scene, steps=20)
    assert _off(engine, scene, audit, tolerance=tolerance) == set()


def _joint_changed(robot: PlacedRobot, name: str, **changes: Any) -> PlacedRobot:
    model = robot.model
    joints = tuple(replace(j, **changes) if j.name == name else j for j in model.joints)
    return replace(robot, model=replace(model, joints=joints))


def _drive_changed(robot: PlacedRobot, name: str, **changes: Any) -> PlacedRobot:
    drive = replace(robot.actuation[name], **changes)
    return replace(robot, actuation={**robot.actuation, name: drive})


def _mimic_changed(robot: PlacedRobot, **changes: Any) -> PlacedRobot:
    mimic = robot.model.joint("follow").mimic
    assert mimic
    return _joint_changed(robot, "follow", mimic=replace(mimic, **changes))


def _loop_changed(robot: PlacedRobot, **changes: Any) -> PlacedRobot:
    loops = (replace(robot.model.loops[0], **changes),)
    return replace(robot, model=replace(robot.model, loops=loops))


_FRAME = frozen(pose((0.0201, 0.0, 0.05)))
_TOOL = "surface arm/tool, ground"

WRONG: dict[str, tuple[int, Callable[[PlacedRobot], PlacedRobot], str]] = {
    "stiffness": (0, lambda r: _drive_changed(r, "shoulder", stiffness=40.1), "drive arm/shoulder"),
    "damping": (0, lambda r: _drive_changed(r, "wrist", damping=2.1), "drive arm/wrist"),
    "effort": (0, lambda r: _drive_changed(r, "shoulder", effort=21.0), "drive arm/shoulder"),
    "torque limit": (0, lambda r: _drive_changed(r, "extend", effort=6.0), "drive arm/extend"),
    "mode": (0, lambda r: _drive_changed(r, "wrist", drive=DriveMode.TORQUE), "drive arm/wrist"),
    "frame": (0, lambda r: _joint_changed(r, "wrist", X_PJ=_FRAME), "frame arm/wrist"),
    "flange": (0, lambda r: _joint_changed(r, "mount", X_PJ=_FRAME), "frame arm/wrist"),
    "friction": (0, lambda r: replace(r, link_materials={"tool": Material(0.95, 0.3)}), _TOOL),
    "multiplier": (1, lambda r: _mimic_changed(r, multiplier=-2.01), "coupling hand/follow"),
    "offset": (1, lambda r: _mimic_changed(r, offset=0.011), "coupling hand/follow"),
    "loop": (2, lambda r: _loop_changed(r, X_BC=_FRAME), "loop linkage/closure"),
}
"""The robot that is loaded with something wrong, what that is, and the fact that shows it."""


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_wrong_is_found(engine: str, wrong: str) -> None:
    scene = audited_scene(_capabilities(engine))
    index, change, fact = WRONG[wrong]
    robots = [change(robot) if i == index else robot for i, robot in enumerate(scene.robots)]
    if Capability.RESTITUTION not in _capabilities(engine):
        dull = {"tool": replace(robots[0].link_materials["tool"], restitution=0.0)}
        robots[0] = replace(robots[0], link_materials=dull)
    loaded = replace(scene, robots=tuple(robots))
    off = _off(engine, scene, _audited(engine, loaded))
    # A flange that is elsewhere also moves the mass of the arm that it is part of.
    assert off - {"inertia arm/arm"} == {fact}


def _stiffen_mujoco(simulation: Any) -> None:
    simulation._model.actuator("arm/shoulder").biasprm[1] = -41.0


def _smooth_bullet(simulation: Any) -> None:
    place = simulation._places["arm/tool"]
    simulation._bullet.changeDynamics(*place, lateralFriction=0.1)


def _limit_ode(simulation: Any) -> None:
    joint = simulation._world.joints[0]
    joint._set_motor(joint.motor, 5, 19.0)


def _stiffen_physx(simulation: Any) -> None:
    simulation._model.joints[0].joint.set_drive_properties(41.0, 3.0, 20.0, "force")


def _move_dart(simulation: Any) -> None:
    joint = simulation._world.robots[0].joints[0]
    X = joint.getTransformFromParentBodyNode()
    joint.setTransformFromParentBodyNode(type(X)(X.matrix() @ pose((0.0, 0.0, 0.01))))


def _stiffen_rapier(simulation: Any) -> None:
    _, motor, link, axis, _ = simulation._drives._servos[0]
    motor(link, axis, 0.0, 0.0, 41.0, 3.0)


TAMPERED: dict[str, tuple[Callable[[Any], None], str]] = {
    "mujoco": (_stiffen_mujoco, "drive arm/shoulder"),
    "bullet": (_smooth_bullet, _TOOL),
    "ode": (_limit_ode, "drive arm/shoulder"),
    "physx": (_stiffen_physx, "drive arm/shoulder"),
    "dart": (_move_dart, "frame arm/shoulder"),
    "rapier": (_stiffen_rapier, "drive arm/shoulder"),
}


@pytest.mark.parametrize("engine", [name for name in ENGINES if name in TAMPERED])
def test_audits_read_back_from_the_engine(engine: str) -> None:
    """A change within the engine, without the adapter, is reported."""
    scene = audited_scene(_capabilities(engine))
    simulation = open_engine(engine).compile(scene, timestep=TIMESTEP)
    tamper, fact = TAMPERED[engine]
    tamper(simulation)
    assert _off(engine, scene, simulation.audit()) == {fact}
    simulation.close()
