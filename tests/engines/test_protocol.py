"""The letter of the engine protocol: contacts, sensors, pushes, states and runs."""

from dataclasses import replace

import numpy as np
import pytest

from engines.staging import (
    CUBE,
    NOTHING,
    SOURCE,
    WEIGHTLESS,
    H,
    driven,
    joint_state,
    rack_with_a_ghost,
)
from kinetarium.engines.conformance.models import (
    X_AXIS,
    Y_AXIS,
    chain,
    pendulum,
    solid_link,
)
from kinetarium.engines.protocol import Status
from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.model.robot import (
    Inertia,
    Joint,
    JointType,
    Link,
    MeshData,
    RobotModel,
    Sphere,
    TriangleMesh,
)
from kinetarium.scene import (
    Base,
    Body,
    Motion,
    PlacedRobot,
    WrenchSensor,
    free_body,
    ground,
)
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import pose, rotation_about, rotation_from_quaternion

pytestmark = [
    pytest.mark.engine,
    pytest.mark.parametrize("start", ["drake", "mujoco"], indirect=True),
]


def test_the_twist_is_that_of_the_origin(start) -> None:
    inertia = Inertia(1.0, frozen([0.3, 0.0, 0.0]), frozen(0.01 * np.eye(3)))
    turned = frozen(pose((0, 0, 0), rotation_about(Y_AXIS, 1.0)))
    twist = frozen([0.0, 0.6, 0.0, 0.0, 0.0, 2.0])
    body = Body("b", Sphere(0.1), Motion.FREE, inertia, turned, twist)
    simulation = start(body, gravity=WEIGHTLESS)
    center = turned[:3, :3] @ inertia.center
    drift = twist[:3] + np.cross(twist[3:], center)
    for _ in range(3):
        state = simulation.state()
        R = rotation_from_quaternion(state.poses[0, 3:])
        v = state.twists[0, :3] + np.cross(state.twists[0, 3:], R @ inertia.center)
        # Off the centre of mass the integrator itself keeps momentum to 1e-3 per turn.
        np.testing.assert_allclose(v, drift, atol=3e-4)
        np.testing.assert_allclose(state.twists[0, 3:], twist[3:], atol=1e-9)
        simulation.step(NOTHING, 100)


def test_friction_is_part_of_the_force(start) -> None:
    gravity = frozen([3.0, 0.0, -9.0])
    simulation = start(
        free_body("cube", CUBE, mass=1.0, position=(0, 0, 0.05)), ground(), gravity=gravity
    )
    simulation.step(NOTHING, 1000)
    contacts = simulation.contacts()
    signs = 1.0 - 2.0 * contacts.solids[:, 0]
    np.testing.assert_allclose(signs @ contacts.forces, -gravity, rtol=1e-3, atol=1e-3)


def test_only_what_may_touch_touches(start) -> None:
    cube = free_body("cube", CUBE, mass=1.0, position=(0, 0, 0.6))
    excluded = frozenset({frozenset({"cube", "rack/ghost"})})
    simulation = start(rack_with_a_ghost(), cube, no_contact=excluded)
    simulation.step(NOTHING, 1000)
    assert simulation.state().poses[0, 2] == pytest.approx(0.26, abs=1e-3)
    touching = {simulation.layout.solids[i] for i in simulation.contacts().solids.ravel()}
    assert touching == {"cube", "rack/shelf"}


def test_a_mesh_touches_as_its_hull(start) -> None:
    corners = np.array([[x, y, z] for x in (0, 0.2) for y in (0, 0.2) for z in (0.1, 0.3)])
    inside = np.array([[0.1, 0.1, 0.2]])
    mesh = TriangleMesh(frozen(np.vstack([corners, inside])), np.array([[0, 1, 8]], dtype=np.int32))
    inertia = Inertia(1.0, frozen([0.1, 0.1, 0.2]), frozen(0.01 * np.eye(3)))
    body = Body("mesh", MeshData("m", mesh), Motion.FREE, inertia)
    simulation = start(body, ground())
    simulation.step(NOTHING, 1000)
    np.testing.assert_allclose(simulation.state().poses[0, :3], [0, 0, -0.1], atol=1e-3)
    assert any("hull" in remark for remark in simulation.audit().remarks)


def test_sensor_in_a_moving_joint_under_motion(start) -> None:
    # A pendulum at the lowest point: tension m g + m v^2 / l.
    simulation = start(
        PlacedRobot("robot", pendulum()), sensors=(WrenchSensor("ft", "robot", "pivot"),)
    )
    simulation.reset(joint_state([0.0], [2.0]))
    simulation.step(NOTHING)
    np.testing.assert_allclose(
        simulation.wrench("ft"), [0, 0, -9.81 - 0.5 * 4.0, 0, 0, 0], atol=1e-9
    )


def test_sensor_under_a_fixed_base(start) -> None:
    plate = solid_link("plate", CUBE, mass=4.0)
    model = pendulum()
    joints = (
        Joint("floor", JointType.FIXED, "world", "plate", frozen(pose((0, 0, 1)))),
        replace(model.joints[0], parent="plate"),
    )
    stand = RobotModel("stand", (Link("world"), plate, model.links[1]), joints, SOURCE)
    simulation = start(PlacedRobot("robot", stand), sensors=(WrenchSensor("ft", "robot", "floor"),))
    simulation.step(NOTHING)
    np.testing.assert_allclose(simulation.wrench("ft"), [0, 0, -5 * 9.81, 0, 0, 0], atol=1e-9)
    simulation.apply_wrench("robot/plate", np.array([0, 0, 0, 0, 0, 2.0]), np.zeros(3))
    simulation.step(NOTHING)
    assert simulation.wrench("ft")[5] == pytest.approx(2.0)


def test_sensor_feels_contacts_and_pushes(start) -> None:
    # A foot on a sensor presses the ground with all the weight but its own.
    links = (
        solid_link("body", CUBE, mass=3.0),
        solid_link("foot", CUBE, mass=1.0, touches=True),
    )
    joint = Joint("ankle", JointType.FIXED, "body", "foot", frozen(pose((0, 0, -0.2))))
    model = RobotModel("stool", links, (joint,), SOURCE, free_base=True)
    robot = PlacedRobot("stool", model, Base.FREE, frozen(pose((0, 0, 0.25))))
    simulation = start(robot, ground(), sensors=(WrenchSensor("ft", "stool", "ankle"),))
    simulation.step(NOTHING, 1000)
    np.testing.assert_allclose(simulation.wrench("ft")[:3], [0, 0, 3 * 9.81], rtol=1e-4, atol=1e-4)
    simulation.apply_wrench("stool/foot", np.array([0, 0, -5.0, 0, 0, 0]), np.zeros(3))
    simulation.step(NOTHING)
    pressed = abs(float(simulation.contacts().forces[:, 2].sum()))
    assert simulation.wrench("ft")[2] == pytest.approx(0.75 * (pressed - 5.0), rel=1e-3)


def test_pushes_add_up_where_the_body_is_now(start) -> None:
    body = free_body("cube", CUBE, mass=1.0, twist=(100.0, 0, 0, 0, 0, 0))
    simulation = start(body, gravity=WEIGHTLESS)
    simulation.step(NOTHING, 10)
    center = simulation.state().poses[0, :3]
    for sign in (1.0, -1.0):
        force = np.array([0, sign, 0, 0, 0, 0])
        simulation.apply_wrench("cube", force, center + 0.05 * sign * X_AXIS)
    simulation.step(NOTHING, 3)
    spin = 0.1 / body.inertia.moment[2, 2] * H
    np.testing.assert_allclose(
        simulation.state().twists[0], [100.0, 0, 0, 0, 0, spin], atol=1e-9 * spin
    )


def test_unknown_names_are_answered(start) -> None:
    simulation = start(free_body("cube", CUBE, mass=1.0))
    with pytest.raises(UnknownNameError, match="cube"):
        simulation.apply_wrench("cub", np.zeros(6), np.zeros(3))
    with pytest.raises(UnknownNameError, match="sensor"):
        simulation.wrench("ft")
    with pytest.raises(UnknownNameError, match="robot"):
        simulation.mass_matrix("arm")


def test_restoring_brings_back_readings_and_pending_pushes(start) -> None:
    robot = driven(chain())
    cube = free_body("cube", CUBE, mass=1.0, position=(1.0, 0, 0.05))
    simulation = start(robot, cube, ground(), sensors=(WrenchSensor("ft", "robot", "joint1"),))
    command = np.array([0.5, -0.2, 0.1])
    simulation.step(command, 50)
    simulation.apply_wrench("cube", np.array([0, 0, 50.0, 0, 0, 1.0]), np.zeros(3))
    saved = simulation.save()
    wrench, forces = simulation.wrench("ft"), simulation.contacts().forces
    simulation.step(command, 100)
    first = simulation.state()
    simulation.restore(saved)
    np.testing.assert_array_equal(simulation.wrench("ft"), wrench)
    np.testing.assert_array_equal(simulation.contacts().forces, forces)
    simulation.step(command, 100)
    second = simulation.state()
    assert first.poses[0, 2] > 0.06
    for one, other in (
        (first.q, second.q), (first.v, second.v),
        (first.poses, second.poses), (first.twists, second.twists),
    ):  # fmt: skip
        np.testing.assert_array_equal(one, other)
    with pytest.raises(KinetariumError):
        start(robot).restore(saved)


def test_state_is_a_copy(start) -> None:
    simulation = start(free_body("cube", CUBE, mass=1.0))
    state = simulation.state()
    state.poses[:] = 7.0
    state = simulation.state()
    simulation.step(NOTHING, 100)
    assert state.time == 0.0
    np.testing.assert_array_equal(state.poses[0, :3], 0.0)
    assert simulation.state().time == pytest.approx(0.1)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e12])
def test_divergence_is_marked_and_leaves_nothing_behind(start, bad, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    resting = free_body("cube", CUBE, mass=1.0, position=(1.0, 0, 0.05))
    ways = {
        "command": lambda s: s.step(np.array([0.0, bad, 0.0]), 5),
        "push": lambda s: s.apply_wrench("cube", np.full(6, bad), np.zeros(3)),
        "place": lambda s: s.apply_wrench("cube", np.ones(6), np.array([bad, 0, 0])),
        "position": lambda s: s.reset(replace(s.state(), q=np.array([bad, 0, 0]))),
        "pose": lambda s: s.reset(replace(s.state(), poses=np.full((1, 7), bad))),
        "twist": lambda s: s.reset(replace(s.state(), twists=np.full((1, 6), bad))),
    }
    for name, spoil in ways.items():
        simulation = start(driven(chain()), resting, ground())
        simulation.step(np.zeros(3), 10)
        spoil(simulation)
        simulation.step(np.zeros(3), 5)
        assert simulation.status is Status.DIVERGED, name
        time = simulation.state().time
        simulation.step(np.zeros(3), 5)
        assert simulation.state().time == time, name
    assert list(tmp_path.iterdir()) == []


def test_a_quaternion_that_is_none_is_divergence(start) -> None:
    simulation = start(free_body("cube", CUBE, mass=1.0), ground())
    good = simulation.state()
    simulation.reset(replace(good, poses=np.zeros((1, 7))))
    assert simulation.status is Status.DIVERGED
    simulation.step(NOTHING, 5)
    assert simulation.state().time == 0.0
    simulation.reset(good)
    assert simulation.status is Status.RUNNING
