"""Drives and losses of whole robots: the same in every engine as by Pinocchio's dynamics."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

from engines.staging import ENGINES, TORQUE, WEIGHTLESS, H, driven, joint_state, with_joint
from kinetarium import load_robot
from kinetarium.dynamics import RobotDynamics
from kinetarium.engines.conformance.drives import TouchDown
from kinetarium.engines.conformance.models import cart, fingers, rotor
from kinetarium.model.assets import installed_packages
from kinetarium.model.robot import RobotModel, Sphere
from kinetarium.scene import Actuation, Base, DriveMode, PlacedRobot, ground
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import pose
from needs import needs

pytestmark = [
    pytest.mark.engine,
    pytest.mark.parametrize("start", ENGINES, indirect=True),
]

DATA = installed_packages().get("example-robot-data", Path())
FRICTION = np.array([7.0, 6.5, 4.8, 1.9, 1.6, 1.4])
ARMATURE = np.array([1.7, 1.6, 1.1, 0.32, 0.25, 0.2])
WINDOW = 500
"""Steps between two returns to the reference, half a second."""

HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785, 0.02])
"""The Panda's arm and one finger [rad and m]."""
STIFFNESS, DAMPING = 600.0, 30.0


def rough_ur5() -> RobotModel:
    """Return a UR5 with friction and drive inertias as they are identified on such arms."""
    robot = load_robot("ur5")
    losses = iter(zip(FRICTION, ARMATURE, strict=True))
    joints = []
    for joint in robot.joints:
        if joint in robot.moving_joints:
            friction, armature = next(losses)
            joint = replace(joint, friction=friction, armature=armature)
        joints.append(joint)
    return replace(robot, joints=tuple(joints))


def friction_velocity(M: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return v of M (v - free) = h c, |c| <= FRICTION, c against v, by Gauss-Seidel on c."""
    c, yielding = np.zeros(6), np.linalg.inv(M)
    for _ in range(10_000):
        last = c.copy()
        for i in range(6):
            v = free[i] + H * yielding[i] @ c
            c[i] = np.clip(c[i] - v / (H * yielding[i, i]), -FRICTION[i], FRICTION[i])
        if np.abs(c - last).max() < 1e-12:
            break
    return free + H * yielding @ c


@cache
def recorded_motion(windows: int, *, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Integrate the UR5 under smooth random torques; return torques, positions and velocities."""
    rng = np.random.default_rng(seed)
    dynamics = RobotDynamics(rough_ur5())
    rates, phases = rng.uniform(3.0, 12.0, (2, 3, 6))
    strength = rng.uniform(0.5, 1.2, (3, 6)) * FRICTION  # they slip and stick by turns
    q, v = np.array([0.3, -1.2, 1.5, -0.8, 0.6, 0.2]), np.zeros(6)
    torques, positions, velocities = [], [q], [v]
    for k in range(windows * WINDOW):
        bias = dynamics.bias(q, v)
        tau = dynamics.gravity_forces(q) + (strength * np.sin(rates * k * H + phases)).sum(axis=0)
        M = dynamics.mass_matrix(q)
        v = friction_velocity(M, v + H * np.linalg.solve(M, tau - bias))
        q = q + H * v
        torques.append(tau)
        positions.append(q)
        velocities.append(v)
    return np.array(torques), np.array(positions), np.array(velocities)


def worst_window(start, *, windows: int, seed: int) -> float:
    """Return the largest error of a joint within windows that begin on the reference [rad]."""
    torques, positions, velocities = recorded_motion(windows, seed=seed)
    simulation = start(driven(rough_ur5()))
    worst = 0.0
    for k in range(windows * WINDOW):
        if k % WINDOW == 0:
            simulation.reset(joint_state(positions[k], velocities[k]))
        simulation.step(torques[k])
        worst = max(worst, np.abs(simulation.state().q - positions[k + 1]).max())
    return worst


def test_a_rough_arm_moves_as_by_pinocchio(start) -> None:
    assert worst_window(start, windows=2, seed=1) < 1e-4


@pytest.mark.slow
def test_a_rough_arm_moves_as_by_pinocchio_for_long(start) -> None:
    # Rapier evaluates Coriolis forces at the end of a step.
    limit = 5e-4 if start.args[0].name == "rapier" else 1e-4
    for seed in range(1, 5):
        assert worst_window(start, windows=4, seed=seed) < limit


@needs("example-robot-data")
@pytest.mark.parametrize("speed", [0.3, 0.9])
def test_the_feet_of_a_public_quadruped_hold_at_once(start, speed) -> None:
    """Its friction ratio over 0.2 s is within 10 % of that of feet that stick."""
    robot = load_robot(DATA / "robots" / "a1_description" / "urdf" / "a1.urdf")
    feet = tuple(link.name for link in robot.links if link.name.endswith("_foot"))
    links = (replace(x, collisions=x.collisions if x.name in feet else ()) for x in robot.links)
    robot = replace(robot, links=tuple(links))
    stance = {"hip": 0.1, "thigh": 0.8, "calf": -1.5}
    positions = {}
    for joint in robot.moving_joints:
        side, kind, _ = joint.name.split("_")
        positions[joint.name] = stance[kind] * (-1 if kind == "hip" and side[1] == "R" else 1)
    case = TouchDown(
        robot, positions, tuple((foot, (0.0, 0.0, 0.0)) for foot in feet), 0.02, speed=speed
    )
    expected = case.rigid_ratio()
    assert len(feet) == 4
    assert 0.2 < expected < 0.5
    assert case.friction_ratio(start.args[0]) == pytest.approx(expected, rel=0.1)


@cache
def servo_motion() -> tuple[np.ndarray, np.ndarray]:
    """Integrate a Panda under servos for 4 s; return the commands and the positions."""
    panda = load_robot("panda")
    dynamics = RobotDynamics(panda)
    rng = np.random.default_rng(3)
    swing, rates = rng.uniform(0.2, 0.5, 7), rng.uniform(1.0, 3.0, 7)
    times = H * np.arange(4000)[:, np.newaxis]
    targets = HOME + np.append(swing, 0.0) * np.sin(np.append(rates, 0.0) * times)
    share = np.vstack([np.eye(8), np.eye(8)[7]])  # the second finger is where the first one is
    gain, u, v = H * (DAMPING + H * STIFFNESS) * np.eye(8), HOME, np.zeros(8)
    positions = []
    for target in targets:
        q, speed = share @ u, share @ v
        M = share.T @ dynamics.mass_matrix(q) @ share
        push = STIFFNESS * (target - u) - share.T @ dynamics.bias(q, speed)
        v = np.linalg.solve(M + gain, M @ v + H * push)
        u = u + H * v
        positions.append(share @ u)
    return targets, np.array(positions)


def test_a_panda_under_servos_moves_alike_everywhere(start) -> None:
    """Within half of 5e-4 rad of the reference, no two engines are that far apart."""
    panda = load_robot("panda")
    names = [joint.name for joint in panda.moving_joints]
    servo = Actuation(DriveMode.POSITION, stiffness=STIFFNESS, damping=DAMPING)
    robot = PlacedRobot(
        "panda",
        panda,
        positions=dict(zip(names, [*HOME, HOME[-1]], strict=True)),
        actuation={name: servo for name in names[:8]},
    )
    simulation = start(robot)
    worst = 0.0
    for target, q in zip(*servo_motion(), strict=True):
        simulation.step(target)
        worst = max(worst, np.abs(simulation.state().q - q).max())
    assert worst < 2.5e-4


def test_friction_acts_beside_a_servo_and_its_limit(start) -> None:
    """The servo runs into its effort limit, comes out of it and sticks short of its target."""
    servo = Actuation(DriveMode.POSITION, stiffness=20.0, damping=3.0)
    model = with_joint(rotor(effort=4.0), friction=1.0, armature=0.2)
    inertia = model.link("bar").inertia.moment[2, 2] + 0.2
    simulation = start(driven(model, servo), gravity=WEIGHTLESS)

    def surplus(speed: float) -> float:
        """Return what the forces lack of the change of momentum at a speed after the step."""
        effort = np.clip(20.0 * (0.6 - q - H * speed) - 3.0 * speed, -4.0, 4.0)
        return inertia * (speed - v) / H - effort + np.clip(speed / 1e-9, -1.0, 1.0)

    q = v = 0.0
    for _ in range(1500):
        simulation.step(np.array([0.6]))
        v = brentq(surplus, -10.0, 10.0, xtol=1e-14)
        q += H * v
        assert simulation.state().q[0] == pytest.approx(q, abs=3e-6)
    assert 0.55 < q < 0.57


def test_rough_wheels_slow_a_cart_with_the_inertia_of_their_drives(start) -> None:
    radius, friction, armature = 0.1, 0.5, 0.05
    model = cart(Sphere(radius), radius=radius)
    model = replace(
        model,
        joints=tuple(replace(j, friction=friction, armature=armature) for j in model.joints),
    )
    placed = driven(model, base=Base.FREE, X_WB=frozen(pose((0.0, 0.0, radius))))
    simulation = start(placed, ground())
    spin = model.link("wheel0").inertia.moment[1, 1] + armature
    brake = 4 * friction / radius / (12.0 + 4 * spin / radius**2)
    twist = [[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
    rest = [[0.0, 0.0, radius, 1.0, 0.0, 0.0, 0.0]]
    simulation.reset(joint_state(np.zeros(4), np.full(4, 1.0 / radius), rest, twist))
    simulation.step(np.zeros(4), 400)
    state = simulation.state()
    # In Bullet and DART the drives learn of the ground, which slows the wheels less than their
    # own friction would, within some ten steps.
    late = 0.01 * brake if start.args[0].name in {"bullet", "dart"} else 0.0
    assert state.twists[0, 0] == pytest.approx(1.0 - 0.4 * brake + late, rel=3e-3)
    simulation.step(np.zeros(4), 1600)
    distance = 0.5 / brake + late * 1.0 / brake
    assert simulation.state().poses[0, 0] == pytest.approx(distance, rel=5e-3)
    assert np.abs(simulation.state().v).max() < 1e-3


def test_friction_of_coupled_joints_adds_up(start) -> None:
    """Seen from the leader a follower that moves r times as far has r f and r^2 m."""
    model = fingers(multiplier=-2.0, offset=0.0)
    lead, follow = model.joints
    joints = (
        replace(lead, friction=1.0, armature=0.4),
        replace(follow, friction=0.5, armature=0.3),
    )
    model = replace(model, joints=joints)
    robot = PlacedRobot("robot", model, actuation={"lead": TORQUE})
    simulation = start(robot, gravity=WEIGHTLESS)
    simulation.step(np.array([1.9]), 300)
    assert abs(simulation.state().q[0]) < 1e-5
    simulation.step(np.array([2.5]), 300)
    mass = 0.5 + 0.4 + 4 * (0.3 + 0.3)
    assert simulation.state().v[0] == pytest.approx(0.3 * 0.5 / mass, rel=2e-3)
