"""MuJoCo against closed forms, Pinocchio and the letter of the engine protocol."""

import subprocess
import sys
from dataclasses import replace
from math import inf

import numpy as np
import pytest

from kinetarium.dynamics import RobotDynamics
from kinetarium.engines.capability import Capability, CapabilityError
from kinetarium.engines.conformance import CHECKS
from kinetarium.engines.conformance.models import (
    X_AXIS,
    Y_AXIS,
    chain,
    flyer,
    four_bar,
    pendulum,
    rotor,
    sensed_load,
    solid_link,
)
from kinetarium.engines.mujoco import Cone, EngineMujoco, Integrator, MujocoOptions, Solver
from kinetarium.engines.protocol import Simulation, State, Status
from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.model.catalogue import catalogue_entry, load_catalogue_robot
from kinetarium.model.robot import (
    Geometry,
    Inertia,
    Joint,
    JointType,
    Limits,
    Link,
    LoopKind,
    RobotModel,
    Source,
)
from kinetarium.model.shapes import Box, MeshData, Sphere, TriangleMesh
from kinetarium.scene import (
    Actuation,
    Base,
    Body,
    Drive,
    Material,
    Motion,
    PlacedRobot,
    Scene,
    SceneError,
    WrenchSensor,
    free_body,
    ground,
)
from kinetarium.scene.rigid_tree import rigid_tree
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import (
    pose,
    rotation_about,
    rotation_from_quaternion,
)

pytestmark = pytest.mark.engine

ENGINE = EngineMujoco()
H = 1e-3
NOTHING = np.zeros(0)
WEIGHTLESS = frozen(np.zeros(3))
CUBE = Box((0.1, 0.1, 0.1))
TORQUE = Actuation(Drive.TORQUE)
SOURCE = Source("test", "python", "")


def start(*parts: PlacedRobot | Body, timestep: float = H, options=None, **scene) -> Simulation:
    robots = tuple(part for part in parts if isinstance(part, PlacedRobot))
    bodies = tuple(part for part in parts if isinstance(part, Body))
    return ENGINE.compile(Scene(robots, bodies, **scene), timestep=timestep, options=options)


def driven(model: RobotModel, actuation: Actuation = TORQUE, **placement) -> PlacedRobot:
    drives = {joint.name: actuation for joint in model.moving_joints}
    return PlacedRobot("robot", model, actuation=drives, **placement)


def with_joint(model: RobotModel, **changes) -> RobotModel:
    return replace(model, joints=(replace(model.joints[0], **changes), *model.joints[1:]))


def joint_state(q, v, poses=None, twists=None) -> State:
    poses = np.zeros((0, 7)) if poses is None else poses
    twists = np.zeros((0, 6)) if twists is None else twists
    return State(0.0, np.asarray(q, float), np.asarray(v, float), poses, twists)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_conformance(check) -> None:
    assert check.needs <= ENGINE.info.capabilities
    measurement = check.measure(ENGINE)
    assert measurement.passed, measurement


class TestJoints:
    def test_damping_decays_as_backward_euler(self) -> None:
        model = with_joint(rotor(), damping=0.05)
        simulation = start(driven(model), gravity=WEIGHTLESS)
        simulation.reset(joint_state([0.0], [3.0]))
        simulation.step(np.zeros(1), 200)
        inertia = model.link("bar").inertia.moment[2, 2]
        assert simulation.state().v[0] == pytest.approx(
            3.0 / (1 + H * 0.05 / inertia) ** 200, rel=1e-9
        )

    def test_coulomb_friction_holds_and_then_gives(self) -> None:
        model = with_joint(rotor(), friction=0.1)
        inertia = model.link("bar").inertia.moment[2, 2]
        simulation = start(driven(model), gravity=WEIGHTLESS)
        simulation.step(np.array([0.09]), 1000)
        assert abs(simulation.state().q[0]) < 1e-5
        simulation.step(np.array([0.15]), 1000)
        assert simulation.state().v[0] == pytest.approx(0.05 / inertia, rel=1e-3)

    def test_armature_resists(self) -> None:
        model = with_joint(rotor(), armature=0.02)
        inertia = model.link("bar").inertia.moment[2, 2] + 0.02
        simulation = start(driven(model), gravity=WEIGHTLESS)
        simulation.step(np.array([0.1]), 100)
        assert simulation.state().v[0] == pytest.approx(0.01 / inertia, rel=1e-9)
        assert simulation.mass_matrix("robot")[0, 0] == pytest.approx(inertia, rel=1e-12)

    def test_a_limit_does_not_throw_back(self) -> None:
        model = with_joint(rotor(), limits=Limits(-1.0, 0.5))
        simulation = start(driven(model), gravity=WEIGHTLESS)
        simulation.reset(joint_state([0.49], [5.0]))
        simulation.step(np.zeros(1), 10)
        assert simulation.state().q[0] == pytest.approx(0.5, abs=6e-3)
        assert abs(simulation.state().v[0]) < 0.02 * 5.0

    @pytest.mark.parametrize(
        "limits",
        [Limits(0.2, 0.2), Limits(-inf, 0.3), Limits(-0.3, inf), Limits(effort=0.0)],
        ids=["shut", "above", "below", "powerless"],
    )
    def test_unusual_limits(self, limits: Limits) -> None:
        model = with_joint(rotor(), limits=limits)
        simulation = start(driven(model, positions={"spindle": 0.2}), gravity=WEIGHTLESS)
        (joint,) = simulation.audit().joints
        assert (joint.lower, joint.upper) == pytest.approx((limits.lower, limits.upper))
        simulation.step(np.array([0.5]), 300)
        q = simulation.state().q[0]
        if limits.effort == 0.0:
            assert q == pytest.approx(0.2, abs=1e-12)
        else:
            assert (q > 0.4) == (limits.upper == inf)
            assert q < limits.upper + 1e-3

    def test_velocity_servo_is_implicit(self) -> None:
        # Explicitly, h damping / inertia = 300 would explode within a few steps.
        model = rotor()
        servo = Actuation(Drive.VELOCITY, damping=5e3)
        simulation = start(driven(model, servo), gravity=WEIGHTLESS)
        simulation.step(np.array([2.0]), 3)
        assert simulation.state().v[0] == pytest.approx(2.0, rel=1e-3)

    def test_a_rigid_loop_holds(self) -> None:
        # Two cantilevers whose tips are welded: either alone would fall.
        bar = Box((0.4, 0.02, 0.02))
        links = (
            Link("base"),
            solid_link("left", bar, mass=1.0, at=(0.2, 0.0, 0.0)),
            solid_link("right", bar, mass=1.0, at=(-0.2, 0.0, 0.0)),
        )
        joints = (
            Joint("a", JointType.REVOLUTE, "base", "left", axis=Y_AXIS),
            Joint("b", JointType.REVOLUTE, "base", "right", frozen(pose((0.8, 0, 0))), Y_AXIS),
        )
        weld = replace(
            four_bar().loops[0], kind=LoopKind.POSE, link_a="left", link_b="right",
            X_AC=frozen(pose((0.4, 0, 0))), X_BC=frozen(pose((-0.4, 0, 0))),
        )  # fmt: skip
        model = RobotModel("beam", links, joints, SOURCE, (weld,))
        simulation = start(PlacedRobot("robot", model))
        simulation.step(NOTHING, 1000)
        assert np.abs(simulation.state().q).max() < 1e-5


class TestDynamics:
    """A robot whose base flies and turns, at moving states, against Pinocchio."""

    def states(self, count: int) -> list[tuple[State, np.ndarray, np.ndarray]]:
        rng = np.random.default_rng(5)
        found = []
        for _ in range(count):
            quaternion = rng.normal(size=4)
            quaternion /= np.linalg.norm(quaternion)
            poses = np.concatenate([rng.normal(size=3), quaternion])[np.newaxis]
            state = joint_state(
                rng.normal(size=1), rng.normal(size=1), poses, rng.normal(size=(1, 6))
            )
            q = np.concatenate([poses[0], state.q])
            v = np.concatenate([state.twists[0], state.v])
            found.append((state, q, v))
        return found

    def test_free_base_against_pinocchio(self) -> None:
        model = with_joint(flyer(), armature=0.01, damping=0.3, friction=0.2)
        dynamics = RobotDynamics(model, free_base=True)
        simulation = start(driven(model, base=Base.FREE))
        a = np.array([1.0, -2.0, 0.5, 3.0, -1.0, 2.0, 4.0])
        for state, q, v in self.states(5):
            simulation.reset(state)
            M, tau = dynamics.mass_matrix(q), dynamics.inverse_dynamics(q, v, a)
            np.testing.assert_allclose(simulation.mass_matrix("robot"), M, atol=1e-9 * M.max())
            np.testing.assert_allclose(
                simulation.inverse_dynamics("robot", a), tau, atol=1e-9 * np.abs(tau).max()
            )
            read = simulation.state()
            np.testing.assert_allclose(read.twists, state.twists, atol=1e-14)
            np.testing.assert_allclose(read.poses, state.poses, atol=1e-14)

    def test_one_step_of_a_free_base(self) -> None:
        model = flyer()
        dynamics = RobotDynamics(model, free_base=True)
        simulation = start(driven(model, base=Base.FREE), timestep=1e-6)
        for state, q, v in self.states(5):
            tau = np.array([0, 0, 0, 0, 0, 0, 1.5])
            simulation.reset(state)
            simulation.step(tau[6:])
            after = simulation.state()
            reached = (np.concatenate([after.twists[0], after.v]) - v) / 1e-6
            np.testing.assert_allclose(reached, dynamics.forward_dynamics(q, v, tau), atol=1e-4)

    def test_an_arm_of_the_catalogue_steps_as_pinocchio_says(self) -> None:
        model = load_catalogue_robot("panda")
        model = replace(model, joints=tuple(replace(joint, mimic=None) for joint in model.joints))
        dynamics = RobotDynamics(model)
        simulation = start(driven(model))
        rng = np.random.default_rng(2)
        home = np.array([catalogue_entry("panda").home[j.name] for j in model.moving_joints])
        for _ in range(5):
            q = home + rng.uniform(-0.3, 0.3, 9) * np.repeat([1.0, 0.0], [7, 2]) - 0.01
            v = rng.uniform(-1, 1, 9) * np.repeat([1.0, 0.01], [7, 2])
            tau = rng.uniform(-5, 5, 9)
            simulation.reset(joint_state(q, v))
            simulation.step(tau)
            reached = (simulation.state().v - v) / H
            expected = dynamics.forward_dynamics(q, v, tau)
            np.testing.assert_allclose(reached, expected, atol=1e-9 * np.abs(expected).max())

    def test_the_twist_is_that_of_the_origin(self) -> None:
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


class TestAudit:
    def test_links_fixed_together_count_as_one(self) -> None:
        model = with_joint(
            sensed_load(), damping=0.1, friction=0.2, armature=0.3, limits=Limits(-1.0, 2.0)
        )
        audit = start(PlacedRobot("robot", model), gravity=frozen([1.0, 2.0, 3.0])).audit()
        expected = next(body for body in rigid_tree(model) if body.name == "arm").inertia
        (solid,) = audit.solids
        assert (solid.name, solid.members) == ("robot/arm", ("robot/arm", "robot/load"))
        assert solid.inertia.mass == pytest.approx(expected.mass, rel=1e-12)
        np.testing.assert_allclose(solid.inertia.center, expected.center, atol=1e-12)
        np.testing.assert_allclose(solid.inertia.moment, expected.moment, atol=1e-12)
        (joint,) = audit.joints
        assert joint.name == "robot/shoulder"
        assert (joint.damping, joint.friction, joint.armature) == (0.1, 0.2, 0.3)
        assert (joint.lower, joint.upper) == (-1.0, 2.0)
        np.testing.assert_array_equal(joint.axis, Y_AXIS)
        np.testing.assert_array_equal(audit.gravity, [1.0, 2.0, 3.0])
        assert audit.remarks == ()

    def test_says_where_the_engine_softens(self) -> None:
        (remark,) = (
            start(free_body("cube", CUBE, mass=1.0), ground(), timestep=5e-3).audit().remarks
        )
        assert "0.01 s" in remark


class TestContacts:
    def test_who_presses_whom(self) -> None:
        simulation = start(ground(), free_body("cube", CUBE, mass=2.0, position=(0, 0, 0.05)))
        simulation.step(NOTHING, 1000)
        contacts = simulation.contacts()
        names = [tuple(simulation.layout.solids[i] for i in pair) for pair in contacts.solids]
        signs = np.array([1.0 if first == "cube" else -1.0 for first, _ in names])
        assert set(names) <= {("cube", "ground"), ("ground", "cube")}
        assert len(names) == 4
        np.testing.assert_allclose(contacts.normals * signs[:, None], [[0, 0, 1]] * 4, atol=1e-9)
        np.testing.assert_allclose(signs @ contacts.forces, [0, 0, 2 * 9.81], rtol=1e-6, atol=1e-6)
        assert np.all(contacts.depths > 0)
        np.testing.assert_allclose(np.abs(contacts.points[:, :2]), 0.05, atol=1e-4)

    def test_friction_is_part_of_the_force(self) -> None:
        gravity = frozen([3.0, 0.0, -9.0])
        simulation = start(
            free_body("cube", CUBE, mass=1.0, position=(0, 0, 0.05)), ground(), gravity=gravity
        )
        simulation.step(NOTHING, 1000)
        contacts = simulation.contacts()
        signs = 1.0 - 2.0 * contacts.solids[:, 0]
        np.testing.assert_allclose(signs @ contacts.forces, -gravity, rtol=1e-3, atol=1e-3)

    def test_a_block_slides_without_hopping(self) -> None:
        cube = free_body(
            "cube", CUBE, mass=1.0, position=(0, 0, 0.05), material=Material(0.6),
            twist=(1.5, 0, 0, 0, 0, 0),
        )  # fmt: skip
        simulation = start(cube, ground(Material(0.6)))
        simulation.step(NOTHING, 50)
        speed, highest = simulation.state().twists[0, 0], 0.0
        for _ in range(180):
            simulation.step(NOTHING)
            highest = max(highest, simulation.state().poses[0, 2])
        slowed = (speed - simulation.state().twists[0, 0]) / 0.18
        assert slowed == pytest.approx(0.6 * 9.81, rel=0.1)
        assert highest < 0.051

    def test_skidding_wheels_turn_a_rover_as_coulomb_says(self) -> None:
        # The identified track multiplier of the Husky; theory gives 1.54 for its centre of mass.
        model, height = load_catalogue_robot("husky4"), catalogue_entry("husky4").base_height
        rover = driven(
            model, Actuation(Drive.VELOCITY, damping=200.0), base=Base.FREE,
            X_WB=frozen(pose((0, 0, height))), material=Material(1.0),
        )  # fmt: skip
        simulation = start(rover, ground(Material(1.0)), timestep=2e-3)
        side = np.array([1.0 if "right" in name else -1.0 for name in simulation.layout.commands])
        command = side * 0.5 * 1.54 * 0.5708 / 2 / 0.17775
        simulation.step(command, 500)
        rate, wheels = [], []
        for _ in range(50):
            simulation.step(command, 10)
            state = simulation.state()
            rate.append(state.twists[0, 5])
            wheels.append(np.mean(state.v / command))
        multiplier = 1.54 * 0.5 * np.mean(wheels) / np.mean(rate)
        assert multiplier == pytest.approx(1.54, abs=0.06)

    def test_only_what_may_touch_touches(self) -> None:
        # Two fingers fixed to one base: one is excluded, the other is not.
        base = Link("base")
        shelf = Geometry(Box((0.2, 0.2, 0.02)))
        links = (base, Link("ghost", None, (shelf,)), Link("shelf", None, (shelf,)))
        joints = tuple(
            Joint(f"to {name}", JointType.FIXED, "base", name, frozen(pose((0, 0, z))))
            for name, z in (("ghost", 0.5), ("shelf", 0.2))
        )
        rack = PlacedRobot("rack", RobotModel("rack", links, joints, SOURCE))
        cube = free_body("cube", CUBE, mass=1.0, position=(0, 0, 0.6))
        excluded = frozenset({frozenset({"cube", "rack/ghost"})})
        simulation = start(rack, cube, no_contact=excluded)
        simulation.step(NOTHING, 1000)
        assert simulation.state().poses[0, 2] == pytest.approx(0.26, abs=1e-3)

    def test_a_mesh_touches_as_its_hull(self) -> None:
        corners = np.array([[x, y, z] for x in (0, 0.2) for y in (0, 0.2) for z in (0.1, 0.3)])
        inside = np.array([[0.1, 0.1, 0.2]])
        mesh = TriangleMesh(
            frozen(np.vstack([corners, inside])), np.array([[0, 1, 8]], dtype=np.int32)
        )
        inertia = Inertia(1.0, frozen([0.1, 0.1, 0.2]), frozen(0.01 * np.eye(3)))
        body = Body("mesh", MeshData("m", mesh), Motion.FREE, inertia)
        simulation = start(body, ground())
        simulation.step(NOTHING, 1000)
        np.testing.assert_allclose(simulation.state().poses[0, :3], [0, 0, -0.1], atol=1e-3)
        assert any("hull" in remark for remark in simulation.audit().remarks)


class TestRestitution:
    @pytest.mark.parametrize("e", [0.3, 0.7, 1.0])
    def test_a_ball_returns_its_share(self, e: float) -> None:
        ball = free_body(
            "ball", Sphere(0.1), mass=2.0, position=(0, 0, 0.5), material=Material(0.5, e)
        )
        simulation = start(ball, ground())
        before = after = 0.0
        while after <= 0:
            before = after
            simulation.step(NOTHING)
            after = simulation.state().twists[0, 2]
        assert after / -before == pytest.approx(e, abs=2e-3)

    def test_bouncing_surfaces_rub_once_they_rest_on_each_other(self) -> None:
        rubber = Material(0.5, 0.4)
        cube = free_body(
            "cube", CUBE, mass=1.0, position=(0, 0, 0.05), material=rubber,
            twist=(2.0, 0, 0, 0, 0, 0),
        )  # fmt: skip
        simulation = start(cube, ground(rubber))
        simulation.step(NOTHING, 50)
        speed = simulation.state().twists[0, 0]
        simulation.step(NOTHING, 200)
        slowed = (speed - simulation.state().twists[0, 0]) / 0.2
        assert slowed == pytest.approx(0.5 * 9.81, rel=0.1)
        assert any("bounce" in remark for remark in simulation.audit().remarks)

    def test_an_integrator_that_cannot_says_so(self) -> None:
        with pytest.raises(CapabilityError, match="restitution"):
            start(ground(Material(0.5, 0.5)), options=MujocoOptions(integrator=Integrator.RK4))


class TestWrenches:
    def test_sensor_in_a_moving_joint_under_motion(self) -> None:
        # A pendulum at the lowest point: tension m g + m v^2 / l.
        model = pendulum()
        simulation = start(
            PlacedRobot("robot", model), sensors=(WrenchSensor("ft", "robot", "pivot"),)
        )
        simulation.reset(joint_state([0.0], [2.0]))
        simulation.step(NOTHING)
        np.testing.assert_allclose(
            simulation.wrench("ft"), [0, 0, -9.81 - 0.5 * 4.0, 0, 0, 0], atol=1e-9
        )

    def test_sensor_under_a_fixed_base(self) -> None:
        # The base plate of a pendulum that hangs still, on a sensor on the floor.
        plate = solid_link("plate", CUBE, mass=4.0)
        model = pendulum()
        joints = (
            Joint("floor", JointType.FIXED, "world", "plate", frozen(pose((0, 0, 1)))),
            replace(model.joints[0], parent="plate"),
        )
        stand = RobotModel("stand", (Link("world"), plate, model.links[1]), joints, SOURCE)
        simulation = start(
            PlacedRobot("robot", stand), sensors=(WrenchSensor("ft", "robot", "floor"),)
        )
        simulation.step(NOTHING)
        np.testing.assert_allclose(simulation.wrench("ft"), [0, 0, -5 * 9.81, 0, 0, 0], atol=1e-9)

    def test_sensor_feels_contacts_and_pushes(self) -> None:
        # A foot on a sensor presses the ground with all the weight but its own.
        links = (
            solid_link("body", CUBE, mass=3.0),
            solid_link("foot", CUBE, mass=1.0, touches=True),
        )
        joint = Joint("ankle", JointType.FIXED, "body", "foot", frozen(pose((0, 0, -0.2))))
        model = RobotModel("stool", links, (joint,), SOURCE, free_base=True)
        robot = PlacedRobot("stool", model, Base.FREE, frozen(pose((0, 0, 0.25))))
        sensor = WrenchSensor("ft", "stool", "ankle")
        simulation = start(robot, ground(), sensors=(sensor,))
        simulation.step(NOTHING, 1000)
        np.testing.assert_allclose(
            simulation.wrench("ft")[:3], [0, 0, 3 * 9.81], rtol=1e-4, atol=1e-4
        )
        simulation.apply_wrench("stool/foot", np.array([0, 0, -5.0, 0, 0, 0]), np.zeros(3))
        simulation.step(NOTHING)
        contacts = simulation.contacts()
        pressed = abs(float(contacts.forces[:, 2].sum()))
        felt = simulation.wrench("ft")[2]
        assert felt == pytest.approx(0.75 * (pressed - 5.0), rel=1e-3)

    def test_pushes_add_up_where_the_body_is_now(self) -> None:
        body = free_body("cube", CUBE, mass=1.0, twist=(100.0, 0, 0, 0, 0, 0))
        simulation = start(body, gravity=WEIGHTLESS)
        simulation.step(NOTHING, 10)
        center = simulation.state().poses[0, :3]
        for sign in (1.0, -1.0):
            force = np.array([0, sign, 0, 0, 0, 0])
            simulation.apply_wrench("cube", force, center + 0.05 * sign * X_AXIS)
        simulation.step(NOTHING)
        spin = 0.1 / body.inertia.moment[2, 2] * H
        np.testing.assert_allclose(
            simulation.state().twists[0], [100.0, 0, 0, 0, 0, spin], atol=1e-9 * spin
        )

    def test_unknown_names_are_answered(self) -> None:
        simulation = start(free_body("cube", CUBE, mass=1.0))
        with pytest.raises(UnknownNameError, match="cube"):
            simulation.apply_wrench("cub", np.zeros(6), np.zeros(3))
        with pytest.raises(UnknownNameError, match="sensor"):
            simulation.wrench("ft")
        with pytest.raises(UnknownNameError, match="robot"):
            simulation.mass_matrix("arm")


class TestRuns:
    def test_restoring_brings_back_readings_and_pending_pushes(self) -> None:
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

    def test_state_is_a_copy(self) -> None:
        simulation = start(free_body("cube", CUBE, mass=1.0))
        state = simulation.state()
        simulation.step(NOTHING, 100)
        assert state.time == 0.0
        np.testing.assert_array_equal(state.poses[0, :3], 0.0)
        assert simulation.state().time == pytest.approx(0.1)

    @pytest.mark.parametrize("bad", [np.nan, np.inf, 1e12])
    def test_divergence_is_marked_and_leaves_nothing_behind(
        self, bad, tmp_path, monkeypatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        resting = free_body("cube", CUBE, mass=1.0, position=(1.0, 0, 0.05))
        ways = {
            "command": lambda s: s.step(np.array([0.0, bad, 0.0]), 5),
            "push": lambda s: s.apply_wrench("cube", np.full(6, bad), np.zeros(3)),
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

    def test_reset_starts_afresh(self) -> None:
        simulation = start(free_body("cube", CUBE, mass=1.0))
        good = simulation.state()
        simulation.reset(replace(good, twists=np.full((1, 6), 1e9)))
        assert simulation.status is Status.DIVERGED
        simulation.reset(good)
        assert simulation.status is Status.RUNNING
        simulation.step(NOTHING)
        assert simulation.state().twists[0, 2] == pytest.approx(-9.81 * H)

    def test_what_mujoco_refuses_is_a_scene_error(self) -> None:
        moment = frozen(np.diag([0.01, 0.01, 0.1]))
        impossible = Body("b", Sphere(0.1), Motion.FREE, Inertia(1.0, frozen(np.zeros(3)), moment))
        with pytest.raises(SceneError, match="inertia"):
            start(impossible)
        flat = TriangleMesh(
            frozen([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]), np.zeros((1, 3), np.int32)
        )
        with pytest.raises(SceneError, match="plate"):
            start(Body("plate", MeshData("plate", flat)), free_body("b", CUBE, mass=1.0))


class TestOptions:
    def test_stock_is_mujoco_as_it_comes(self) -> None:
        import mujoco

        stock, spec = MujocoOptions.stock(), mujoco.MjSpec()
        body = spec.worldbody.add_body()
        geom, joint, equality = body.add_geom(), body.add_joint(), spec.add_equality()
        option = spec.option
        assert (option.impratio, option.iterations, option.tolerance, option.noslip_iterations) == (
            stock.impratio, stock.iterations, stock.tolerance, stock.noslip_iterations,
        )  # fmt: skip
        assert (option.integrator, option.cone, option.solver) == (
            mujoco.mjtIntegrator.mjINT_EULER,
            mujoco.mjtCone.mjCONE_PYRAMIDAL,
            mujoco.mjtSolver.mjSOL_NEWTON,
        )
        assert (stock.integrator, stock.cone, stock.solver) == ("euler", "pyramidal", "newton")
        for ours, theirs in (
            (stock.contact_solref, geom.solref), (stock.contact_solimp, geom.solimp),
            (stock.contact_solref, joint.solref_limit), (stock.joint_solimp, joint.solimp_limit),
            (stock.joint_solref, joint.solref_friction),
            (stock.joint_solimp, joint.solimp_friction),
            (stock.joint_solref, equality.solref), (stock.joint_solimp, equality.solimp),
        ):  # fmt: skip
            np.testing.assert_array_equal(ours, theirs)

    @pytest.mark.parametrize("integrator", Integrator)
    @pytest.mark.parametrize("cone", Cone)
    @pytest.mark.parametrize("solver", Solver)
    def test_every_choice_carries_a_weight(self, integrator, cone, solver) -> None:
        options = MujocoOptions(integrator=integrator, cone=cone, solver=solver)
        cube = free_body("cube", CUBE, mass=1.0, position=(0, 0, 0.05))
        simulation = start(cube, ground(), options=options)
        simulation.step(NOTHING, 300)
        assert np.abs(simulation.contacts().forces[:, 2].sum()) == pytest.approx(9.81, rel=5e-3)

    def test_discrete_integrator_takes_a_servo_without_damping(self) -> None:
        # Explicitly, h^2 stiffness / inertia = 60 is far beyond the limit of 4.
        servo = Actuation(Drive.POSITION, stiffness=1e6)
        options = MujocoOptions(integrator=Integrator.DISCRETE)
        simulation = start(driven(rotor(), servo), gravity=WEIGHTLESS, options=options)
        simulation.step(np.array([0.3]), 200)
        assert simulation.state().q[0] == pytest.approx(0.3, abs=1e-3)


def test_names_and_capabilities() -> None:
    info = ENGINE.info
    assert (info.name, info.title) == ("mujoco", "MuJoCo")
    assert Capability.RESTITUTION in info.capabilities
    assert info.version[0].isdigit()


def test_odd_names_survive() -> None:
    odd = 'λ "x" <b>&'
    model = pendulum()
    model = replace(
        model,
        links=(model.links[0], replace(model.links[1], name=odd)),
        joints=(replace(model.joints[0], name=odd, child=odd),),
    )
    simulation = start(PlacedRobot("r", model), sensors=(WrenchSensor(odd, "r", odd),))
    simulation.step(NOTHING)
    assert simulation.audit().solids[0].name == f"r/{odd}"
    assert simulation.wrench(odd)[2] == pytest.approx(-9.81)


def test_the_library_is_loaded_with_the_first_scene() -> None:
    code = "import sys, kinetarium.engines.mujoco; print('mujoco' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
