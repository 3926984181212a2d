"""DART against closed forms, Pinocchio and the letter of the engine protocol."""

from dataclasses import replace
from functools import partial
from math import inf

import numpy as np
import pytest

from engines.staging import (
    CUBE,
    NOTHING,
    SOURCE,
    TORQUE,
    WEIGHTLESS,
    H,
    compiled,
    driven,
    joint_state,
    with_joint,
)
from kinetarium.dynamics import RobotDynamics
from kinetarium.dynamics.kinematics import link_poses
from kinetarium.engines.conformance.models import (
    X_AXIS,
    Y_AXIS,
    Z_AXIS,
    chain,
    fingers,
    flyer,
    four_bar,
    pendulum,
    rotor,
    sensed_load,
    solid_link,
)
from kinetarium.engines.conformance.runs import state_bytes
from kinetarium.engines.dart import DartOptions, EngineDart
from kinetarium.engines.protocol import CapabilityError, Simulation, Status
from kinetarium.errors import KinetariumError
from kinetarium.model.load import load_catalogue_robot
from kinetarium.model.robot import (
    Box,
    Capsule,
    Geometry,
    Joint,
    JointLimits,
    JointType,
    Link,
    Loop,
    LoopKind,
    MeshData,
    RobotModel,
    Sphere,
    TriangleMesh,
)
from kinetarium.scene import (
    Actuation,
    Base,
    Body,
    DriveMode,
    Material,
    PlacedRobot,
    Scene,
    SceneError,
    WrenchSensor,
    driving_ground,
    free_body,
    ground,
)
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import pose, rotation_about, rotation_from_quaternion

pytestmark = pytest.mark.engine

ENGINE = EngineDart()
start = partial(compiled, ENGINE)


class TestEquationOfMotion:
    @pytest.mark.parametrize("name", ["panda", "ur5", "kr250", "husky4"])
    @pytest.mark.parametrize("base", Base)
    def test_is_pinocchios(self, name: str, base: Base) -> None:
        model = load_catalogue_robot(name)
        free = base is Base.FREE
        dynamics = RobotDynamics(model, free_base=free)
        simulation = start(driven(model, base=base))
        rng = np.random.default_rng(0)
        n = len(model.moving_joints)
        for _ in range(20):
            q, v = rng.uniform(-1, 1, n), rng.uniform(-2, 2, n)
            place, twist = rng.normal(size=(+free, 7)), rng.normal(size=(+free, 6))
            place[:, 3:] /= np.linalg.norm(place[:, 3:], axis=1, keepdims=True)
            a = rng.uniform(-5, 5, n + 6 * free)
            simulation.reset(joint_state(q, v, place, twist))
            q, v = np.concatenate([*place, q]), np.concatenate([*twist, v])
            M, tau = dynamics.mass_matrix(q), dynamics.inverse_dynamics(q, v, a)
            assert np.abs(simulation.mass_matrix("robot") - M).max() <= 1e-12 * np.abs(M).max()
            there = simulation.inverse_dynamics("robot", a)
            assert np.abs(there - tau).max() <= 1e-12 * np.abs(tau).max()

    def test_counts_the_drives(self) -> None:
        joints = tuple(replace(joint, armature=0.1, damping=3.0) for joint in flyer().joints)
        model = replace(flyer(), joints=joints)
        dynamics = RobotDynamics(model)
        simulation = start(driven(model, base=Base.FREE))
        q, v = np.array([0, 0, 0, 1, 0, 0, 0, 0.3]), np.zeros(7)
        a = np.arange(7.0)
        simulation.reset(joint_state(q[7:], v[6:], q[np.newaxis, :7], v[np.newaxis, :6]))
        np.testing.assert_allclose(
            simulation.mass_matrix("robot"), dynamics.mass_matrix(q), atol=1e-13
        )
        np.testing.assert_allclose(
            simulation.inverse_dynamics("robot", a), dynamics.inverse_dynamics(q, v, a), atol=1e-12
        )

    def test_looking_changes_nothing(self) -> None:
        runs = []
        for look in (False, True):
            simulation = start(driven(chain(), Actuation(DriveMode.POSITION, 50.0, 5.0)))
            for _ in range(20):
                if look:
                    simulation.mass_matrix("robot")
                    simulation.inverse_dynamics("robot", np.ones(3))
                simulation.step(np.full(3, 0.4))
            runs.append(simulation.state().q)
        np.testing.assert_array_equal(*runs)

    @pytest.mark.parametrize("name", ["ur5", "kr250"])
    def test_one_step(self, name: str) -> None:
        model = load_catalogue_robot(name)
        unlimited = tuple(replace(joint, limits=JointLimits()) for joint in model.joints)
        model = replace(model, joints=unlimited)
        dynamics = RobotDynamics(model, free_base=False)
        simulation = start(driven(model))
        rng = np.random.default_rng(1)
        for _ in range(5):
            q, v, tau = rng.uniform(-1, 1, (3, 6))
            simulation.reset(joint_state(q, v))
            simulation.step(100 * tau)
            a = dynamics.forward_dynamics(q, v, 100 * tau)
            reached = (simulation.state().v - v) / H
            assert np.abs(reached - a).max() <= 1e-9 * np.abs(a).max()


class TestJoints:
    @pytest.mark.parametrize(
        "limits",
        [
            JointLimits(0.2, 0.2),
            JointLimits(-inf, 0.3),
            JointLimits(-0.3, inf),
            JointLimits(effort=0.0),
        ],
        ids=["shut", "above", "below", "powerless"],
    )
    def test_unusual_limits(self, limits: JointLimits) -> None:
        model = with_joint(rotor(), limits=limits)
        simulation = start(driven(model, positions={"spindle": 0.2}), gravity=WEIGHTLESS)
        (joint,) = simulation.audit().joints
        assert (joint.lower, joint.upper) == (limits.lower, limits.upper)
        simulation.step(np.array([0.5]), 300)
        q = simulation.state().q[0]
        if limits.effort == 0.0:
            assert q == pytest.approx(0.2, abs=1e-12)
        elif limits.upper < inf:
            assert q == pytest.approx(limits.upper, abs=1e-2)
        else:
            assert q > 1.0

    def test_servo_is_implicit(self) -> None:
        model = with_joint(rotor(), damping=0.3, armature=0.05)
        inertia = model.link("bar").inertia.moment[2, 2] + 0.05
        servo = Actuation(DriveMode.POSITION, stiffness=2e4, damping=30.0)
        simulation = start(driven(model, servo), gravity=WEIGHTLESS)
        q = v = 0.0
        for _ in range(100):
            simulation.step(np.array([0.4]))
            v = (inertia * v + H * 2e4 * (0.4 - q)) / (inertia + H * 30.3 + H**2 * 2e4)
            q += H * v
        assert simulation.state().q[0] == pytest.approx(q, abs=1e-12)
        assert simulation.state().v[0] == pytest.approx(v, abs=1e-10)

    def test_stiff_wheels_roll_smoothly(self) -> None:
        simulation = ENGINE.compile(driving_ground(wheel_damping=200.0), timestep=H)
        command = np.full(4, 3.0)
        simulation.step(command, 800)
        vehicle = len(simulation.layout.solids) - 1
        for _ in range(4):
            simulation.step(command)
            contacts = simulation.contacts()
            signs = np.where(contacts.solids[:, :1] == vehicle, -1.0, 1.0)
            forces = signs * contacts.forces
            weight = 9.81 * load_catalogue_robot("husky4").mass
            assert forces[:, 2].sum() == pytest.approx(weight, rel=1e-4)
            assert np.abs(forces[:, 0]).max() < 1e-2
            state = simulation.state()
            np.testing.assert_allclose(state.v, 3.0, rtol=1e-4)
            assert state.twists[0, 0] == pytest.approx(3.0 * 0.17775, rel=1e-4)


class TestCouplings:
    @pytest.mark.parametrize("solid", ["leader", "follower"])
    def test_pushes_go_through(self, solid: str) -> None:
        """A force on either finger moves both, as the coupled masses say."""
        model = fingers(multiplier=-2.0, offset=0.01)
        simulation = start(PlacedRobot("robot", model), gravity=WEIGHTLESS)
        simulation.apply_wrench(f"robot/{solid}", np.array([1.0, 0, 0, 0, 0, 0]), np.zeros(3))
        simulation.step(NOTHING)
        share = 1.0 if solid == "leader" else -2.0
        lead = H * share / (0.5 + 4 * 0.3)
        np.testing.assert_allclose(simulation.state().v, [lead, -2 * lead], rtol=1e-9)
        simulation.step(NOTHING)
        np.testing.assert_allclose(simulation.state().v, [lead, -2 * lead], rtol=1e-9)

    def test_the_follower_is_held_by_a_wall(self) -> None:
        """A leader pushed against what its follower touches comes to rest, and presses."""
        model = fingers(multiplier=-2.0, offset=0.0)
        links = tuple(
            replace(link, collisions=(Geometry(Box((0.05, 0.05, 0.05))),))
            if link.name == "follower"
            else link
            for link in model.links
        )
        wall = Body("wall", Box((0.1, 1.0, 1.0)), X_WB=frozen(pose((-0.125, 0.3, 0.0))))
        robot = driven(replace(model, links=links))
        simulation = start(robot, wall, gravity=WEIGHTLESS)
        simulation.step(np.array([10.0, 0.0]), 1000)
        state, contacts = simulation.state(), simulation.contacts()
        assert abs(state.v).max() < 1e-4
        assert abs(state.q[1] + 2 * state.q[0]) < 1e-4
        assert np.abs(contacts.forces[:, 0].sum()) == pytest.approx(5.0, rel=1e-3)

    def test_a_grip_keeps_its_limit(self) -> None:
        """Two coupled jaws on a bar between them press it with half the effort each."""
        jaw = Box((0.02, 0.1, 0.1))
        links = (
            Link("base"),
            solid_link("left", jaw, mass=0.1, touches=True),
            solid_link("right", jaw, mass=0.1, touches=True),
        )
        slide = fingers(multiplier=-1.0, offset=0.0).joints
        joints = (
            replace(slide[0], child="left", X_PJ=frozen(pose((-0.1, 0, 0)))),
            replace(slide[1], child="right", X_PJ=frozen(pose((0.1, 0, 0)))),
        )
        servo = Actuation(DriveMode.POSITION, stiffness=1e4, damping=50.0, effort=20.0)
        model = RobotModel("gripper", links, joints, SOURCE)
        robot = PlacedRobot("robot", model, actuation={"lead": servo})
        bar = free_body("bar", Box((0.06, 0.05, 0.05)), mass=0.5)
        simulation = start(robot, bar, gravity=WEIGHTLESS)
        simulation.step(np.array([0.15]), 500)
        contacts = simulation.contacts()
        on_left = np.where(contacts.solids[:, 0] == 1, 1.0, -1.0)
        left = (contacts.solids == 1).any(axis=1)
        assert (on_left * contacts.forces[:, 0])[left].sum() == pytest.approx(-10.0, rel=1e-2)
        assert abs(simulation.state().poses[0, 0]) < 1e-3


class TestLoops:
    @pytest.mark.parametrize("kind", LoopKind)
    def test_closes(self, kind: LoopKind) -> None:
        """A frame of a free chain is held at a place on its base."""
        X_AC = frozen(pose((0.0, 0.1, 0.2), rotation_about(Z_AXIS, 0.3)))
        model = chain()
        q = np.array([0.2, -0.3, 0.4])
        X_BC = frozen(link_poses(model, q)[3] @ X_AC)
        for ends in (("link2", "base", X_AC, X_BC), ("base", "link2", X_BC, X_AC)):
            closed = replace(model, loops=(Loop("closure", kind, *ends),))
            positions = {f"joint{i}": value for i, value in enumerate(q)}
            simulation = start(PlacedRobot("robot", closed, positions=positions))
            simulation.step(NOTHING, 300)
            there = link_poses(model, simulation.state().q)[3] @ X_AC
            assert np.abs(there - X_BC)[:3, 3].max() < 1e-4
            if kind is LoopKind.POSE:
                assert np.abs(there - X_BC).max() < 1e-4

    def test_a_loop_that_starts_open_closes(self) -> None:
        model = four_bar()
        simulation = start(PlacedRobot("robot", model, positions={"rock": 0.01}))
        simulation.step(NOTHING, 1000)
        poses = link_poses(model, simulation.state().q)
        loop = model.loops[0]
        gap = (poses[2] @ loop.X_AC)[:3, 3] - (poses[3] @ loop.X_BC)[:3, 3]
        assert np.linalg.norm(gap) < 1e-4


class TestFlight:
    def test_a_spinning_body_falls_by_its_centre(self) -> None:
        body = free_body("brick", CUBE, mass=2.0, twist=(0.3, 0.2, 4.0, 3.0, -2.0, 5.0))
        center = frozen([0.1, -0.2, 0.05])
        body = replace(body, inertia=replace(body.inertia, center=center))
        simulation = start(body)
        v = body.V_WB[:3] + np.cross(body.V_WB[3:], center)
        simulation.step(NOTHING, 500)
        (placed,) = simulation.state().poses
        there = placed[:3] + rotation_from_quaternion(placed[3:]) @ center
        fallen = 9.81 * H**2 * 500 * 501 / 2
        np.testing.assert_allclose(there, center + v * 0.5 - [0, 0, fallen], atol=1e-10)

    def test_states_read_back(self) -> None:
        center = frozen([0.1, -0.2, 0.05])
        body = free_body("brick", CUBE, mass=2.0)
        body = replace(body, inertia=replace(body.inertia, center=center))
        simulation = start(driven(flyer(), base=Base.FREE), body)
        rng = np.random.default_rng(4)
        for _ in range(20):
            poses, twists = rng.normal(size=(2, 7)), rng.normal(size=(2, 6))
            simulation.reset(joint_state([0.3], [-1.0], 3 * poses, twists))
            state = simulation.state()
            poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
            poses[:, 3:] *= np.sign(poses[:, 3:4])
            poses[:, :3] *= 3
            np.testing.assert_allclose(state.poses, poses, atol=1e-13)
            np.testing.assert_allclose(state.twists, twists, atol=1e-13)

    def test_two_robots_and_bodies_keep_their_places(self) -> None:
        arm = replace(driven(chain(), positions={"joint1": 0.2}), name="arm")
        robots = (driven(flyer(), base=Base.FREE, positions={"elbow": 0.1}), arm)
        bodies = tuple(
            free_body(n, CUBE, mass=1.0, position=(x, 5, 0)) for n, x in (("a", 3), ("b", 4))
        )
        simulation = start(*robots, *bodies, gravity=WEIGHTLESS)
        assert simulation.layout.floating == ("robot/hull", "a", "b")
        np.testing.assert_allclose(simulation.state().q, [0.1, 0.0, 0.2, 0.0])
        np.testing.assert_allclose(simulation.state().poses[:, 0], [0, 3, 4])


class TestSensors:
    def test_feels_contact_and_motion(self) -> None:
        """A foot on a slide, pushed onto the ground behind a sensor."""
        links = (
            Link("base"),
            solid_link("rod", Box((0.05, 0.05, 0.2)), mass=1.0),
            solid_link("foot", Box((0.1, 0.1, 0.02)), mass=0.5, touches=True),
        )
        joints = (
            Joint("slide", JointType.PRISMATIC, "base", "rod", frozen(pose((0, 0, 0.5))), Z_AXIS),
            Joint("ankle", JointType.FIXED, "rod", "foot", frozen(pose((0, 0, -0.1)))),
        )
        robot = driven(RobotModel("stamp", links, joints, SOURCE))
        sensors = (WrenchSensor("ft", "robot", "ankle"), WrenchSensor("top", "robot", "slide"))
        simulation = start(robot, ground(), sensors=sensors)
        simulation.step(np.array([3.0]))
        a = 3.0 / 1.5 - 9.81
        assert simulation.wrench("ft")[2] == pytest.approx(-0.5 * (a + 9.81), rel=1e-9)
        simulation.reset(joint_state([-0.39], [0.0]))
        np.testing.assert_array_equal(simulation.wrench("ft"), np.zeros(6))
        simulation.step(np.array([-30.0]), 300)
        pressed = 30.0 + 1.5 * 9.81
        assert simulation.contacts().forces[:, 2].sum() == pytest.approx(pressed, rel=1e-4)
        assert simulation.wrench("ft")[2] == pytest.approx(pressed - 0.5 * 9.81, rel=1e-4)
        assert simulation.wrench("top")[2] == pytest.approx(30.0, rel=1e-4)

    def test_what_is_behind_a_sensor_counts_with_its_link(self) -> None:
        sensors = (WrenchSensor("ft", "robot", "sensor"),)
        loaded = start(driven(sensed_load()), sensors=sensors).audit().solids
        (body,) = [body for body in rigid_tree(sensed_load()) if body.joint]
        assert [solid.members for solid in loaded] == [("robot/arm", "robot/load")]
        assert loaded[0].inertia.mass == pytest.approx(body.inertia.mass, rel=1e-12)
        np.testing.assert_allclose(loaded[0].inertia.moment, body.inertia.moment, atol=1e-12)


class TestContacts:
    def test_names_the_link_and_the_sides(self) -> None:
        """A shape on a fixed link is told apart from the link it is fixed to."""
        ball = Geometry(Sphere(0.05), frozen(pose((0.3, 0, 0))))
        links = (
            solid_link("hull", CUBE, mass=3.0, touches=True),
            Link("bumper", collisions=(ball,)),
        )
        joints = (Joint("bolt", JointType.FIXED, "hull", "bumper", frozen(pose((0, 0, -0.3)))),)
        model = RobotModel("lamp", links, joints, SOURCE)
        robot = PlacedRobot("robot", model, Base.FREE, frozen(pose((0, 0, 0.35))))
        simulation = start(robot, ground())
        simulation.step(NOTHING, 5)
        contacts = simulation.contacts()
        names = [{simulation.layout.solids[i] for i in pair} for pair in contacts.solids]
        assert names == [{"robot/bumper", "ground"}]
        sign = 1.0 if contacts.solids[0, 0] == 1 else -1.0
        np.testing.assert_allclose(sign * contacts.normals[0], [0, 0, 1], atol=1e-9)
        assert sign * contacts.forces[0, 2] > 0
        np.testing.assert_allclose(contacts.points[0], [0.3, 0, 0], atol=1e-3)
        assert 0 <= contacts.depths[0] < 1e-3

    @pytest.mark.parametrize("link", ["hull", "bumper"])
    def test_one_of_two_links_passes_through(self, link: str) -> None:
        ball = Geometry(Sphere(0.05))
        links = (
            solid_link("hull", CUBE, mass=3.0, touches=True),
            Link("bumper", collisions=(ball,)),
        )
        joints = (Joint("bolt", JointType.FIXED, "hull", "bumper", frozen(pose((0, 0, -0.1)))),)
        model = RobotModel("lamp", links, joints, SOURCE)
        robot = PlacedRobot("robot", model, Base.FREE, frozen(pose((0, 0, 0.2))))
        pair = frozenset({frozenset({f"robot/{link}", "ground"})})
        simulation = start(robot, ground(), no_contact=pair)
        simulation.step(NOTHING, 800)
        height = simulation.state().poses[0, 2]
        assert height == pytest.approx(0.05 if link == "bumper" else 0.15, abs=2e-3)
        assert simulation.audit().solids[0].inertia.mass == 3.0

    def test_links_touch_only_where_they_may(self) -> None:
        model = chain()
        links = tuple(
            replace(link, collisions=(Geometry(Sphere(0.2), frozen(pose((0, 0, 0.15)))),))
            for link in model.links
        )
        model = replace(model, links=links)
        for collide, pairs in ((False, set()), (True, {(0, 2), (0, 3), (1, 3)})):
            simulation = start(driven(model, self_collision=collide), gravity=WEIGHTLESS)
            simulation.step(np.zeros(3))
            touched = {tuple(sorted(pair)) for pair in simulation.contacts().solids.tolist()}
            assert touched <= pairs
            assert bool(touched) == collide

    @pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (1.0, 0.25)])
    def test_bounces_by_the_geometric_mean(self, a: float, b: float) -> None:
        ball = free_body("ball", Sphere(0.1), mass=1.0, position=(0, 0, 0.101),
                         twist=(0, 0, -2.0, 0, 0, 0), material=Material(0.0, a))  # fmt: skip
        simulation = start(ball, ground(Material(0.0, b)), gravity=WEIGHTLESS)
        simulation.step(NOTHING, 20)
        assert simulation.state().twists[0, 2] == pytest.approx(2.0 * 0.5, rel=1e-2)

    def test_a_compliant_contact_rests_at_its_depth(self) -> None:
        """erp d / h = cfm A F h: with A = 1 / m and F = m g, d = cfm g h^2 / 0.01."""
        ball = free_body("ball", Sphere(0.1), mass=2.0, position=(0.0, 0.0, 0.1))
        stiff = start(ball, ground())
        for cfm in (1e-3, 1e-1):
            soft = start(ball, ground(), options=DartOptions(contact_cfm=cfm))
            for simulation in (stiff, soft, stiff):  # each has its own
                simulation.step(NOTHING, 1500)
            depth = 0.1 - soft.state().poses[0, 2]
            assert depth == pytest.approx(cfm * 9.81 * H**2 / 0.01, rel=1e-3)
            assert abs(0.1 - stiff.state().poses[0, 2]) < 0.02 * depth
        with pytest.raises(KinetariumError, match="contact_cfm of engine 'dart' cannot be 2"):
            DartOptions(contact_cfm=2.0)

    def test_meshes_are_refused_only_where_they_touch(self) -> None:
        corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
        faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], dtype=np.int32)
        mesh = MeshData("wedge", TriangleMesh(corners, faces))
        model = pendulum()
        bob = replace(model.link("bob"), collisions=(Geometry(mesh),))
        model = replace(model, links=(model.links[0], bob))
        start(PlacedRobot("robot", model)).step(NOTHING)
        with pytest.raises(
            CapabilityError, match="no meshes, which the collision mesh of 'robot/bob'"
        ):
            start(PlacedRobot("robot", model), ground())


class TestRuns:
    def _rolling(self) -> Simulation:
        """A capsule on a table, whose contacts DART keeps a memory of."""
        lying = rotation_about(X_AXIS, np.pi / 2)
        capsule = free_body(
            "roll", Capsule(0.1, 0.5), mass=1.0, position=(0, 0, 0.101), rotation=lying
        )
        table = Body("table", Box((3.0, 3.0, 0.2)), X_WB=frozen(pose((0, 0, -0.1))))
        grip = replace(
            driven(fingers(), Actuation(DriveMode.POSITION, 500.0, 5.0, 3.0)),
            X_WB=frozen(pose((0, 5, 1))),
        )
        return start(grip, capsule, table)

    def _roll(self, simulation: Simulation) -> bytes:
        for k in range(100):
            if k == 20:
                F_W = np.array([3.0, 1.0, 0.0, 0.0, 0.0, 0.1])
                simulation.apply_wrench("roll", F_W, simulation.state().poses[0, :3])
            simulation.step(np.array([0.1, 0.0]))
        return state_bytes(simulation.state())

    def test_restored_runs_are_the_same(self) -> None:
        simulation = self._rolling()
        simulation.step(np.array([0.1, 0.0]), 300)
        saved = simulation.save()
        touch = simulation.contacts()
        first = self._roll(simulation)
        for _ in range(2):
            simulation.restore(saved)
            assert simulation.contacts() is touch
            assert self._roll(simulation) == first

    def test_a_reset_run_is_a_new_run(self) -> None:
        simulation = self._rolling()
        begin = simulation.state()
        first = self._roll(simulation)
        simulation.apply_wrench("roll", np.ones(6), np.zeros(3))
        simulation.reset(begin)
        assert len(simulation.contacts().solids) == 0
        assert self._roll(simulation) == first == self._roll(self._rolling())

    @pytest.mark.parametrize("value", [1e31, 1e300, -1e160])
    @pytest.mark.parametrize("drive", [TORQUE, Actuation(DriveMode.POSITION, 10.0, 1.0)])
    def test_commands_beyond_sense(self, value: float, drive: Actuation, capfd) -> None:
        simulation = start(driven(rotor(), drive))
        simulation.step(np.array([value]), 3)
        before = simulation.state()
        assert simulation.status is Status.DIVERGED
        assert np.isfinite(before.q).all()
        simulation.step(np.zeros(1))
        assert simulation.state().time == before.time
        assert capfd.readouterr() == ("", "")

    def test_is_quiet(self, capfd) -> None:
        scene = driving_ground("husky4-panda")
        ENGINE.compile(scene, timestep=H).step(np.zeros(12), 20)
        assert capfd.readouterr() == ("", "")

    def test_does_not_disturb_ode(self) -> None:
        """Both use one library, which counts who does."""
        from kinetarium.engines.ode import EngineOde

        scene = Scene(bodies=(free_body("cube", CUBE, mass=1.0, position=(0, 0, 0.05)), ground()))
        ode = EngineOde().compile(scene, timestep=H)
        for _ in range(3):
            ENGINE.compile(scene, timestep=H).step(NOTHING, 5)
        ode.step(NOTHING, 100)
        assert ode.state().poses[0, 2] == pytest.approx(0.05, abs=1e-3)
        ode.close()


class TestModel:
    def test_audit(self) -> None:
        model = load_catalogue_robot("panda")
        changed = tuple(
            replace(joint, damping=0.1 * i, friction=0.2 * i, armature=0.3 * i)
            for i, joint in enumerate(model.joints)
        )
        model = replace(model, joints=changed)
        servo = Actuation(DriveMode.POSITION, 100.0, 10.0)
        audit = start(driven(model, servo), options=DartOptions(coupling_erp=0.1)).audit()
        bodies = [body for body in rigid_tree(model) if body.joint]
        assert [solid.name for solid in audit.solids] == [f"robot/{body.name}" for body in bodies]
        for solid, body in zip(audit.solids, bodies, strict=True):
            assert solid.members == tuple(f"robot/{link}" for link, _ in body.members)
            np.testing.assert_allclose(solid.inertia.moment, body.inertia.moment, atol=1e-15)
            np.testing.assert_allclose(solid.inertia.center, body.inertia.center, atol=1e-15)
            assert solid.inertia.mass == pytest.approx(body.inertia.mass, rel=1e-14)
        for there, joint in zip(audit.joints, model.moving_joints, strict=True):
            np.testing.assert_allclose(there.axis, joint.axis, atol=1e-15)
            assert (there.damping, there.friction) == (joint.damping, joint.friction)
            assert there.armature == joint.armature
            assert (there.lower, there.upper) == (joint.limits.lower, joint.limits.upper)
        np.testing.assert_array_equal(audit.gravity, [0, 0, -9.81])
        assert len(audit.remarks) == 1

    def test_a_free_root_is_read_in_its_own_frame(self) -> None:
        model = flyer()
        loaded = start(driven(model, base=Base.FREE)).audit().solids
        for solid, link in zip(loaded, model.links, strict=True):
            np.testing.assert_allclose(solid.inertia.center, link.inertia.center, atol=1e-15)
            np.testing.assert_allclose(solid.inertia.moment, link.inertia.moment, atol=1e-15)

    def test_what_moves_has_mass(self) -> None:
        massless = replace(pendulum(), links=(Link("base"), Link("bob")))
        with pytest.raises(SceneError, match="pivot"):
            start(PlacedRobot("robot", massless))
        with pytest.raises(SceneError, match="free without a mass"):
            start(PlacedRobot("robot", pendulum(), Base.FREE))

    def test_massless_links_between_others(self) -> None:
        model = pendulum()
        links = (Link("base"), Link("ring"), model.link("bob"))
        joints = (
            Joint("turn", JointType.CONTINUOUS, "base", "ring", axis=Z_AXIS),
            replace(model.joints[0], parent="ring", axis=Y_AXIS),
        )
        model = RobotModel("swing", links, joints, SOURCE)
        simulation = start(PlacedRobot("robot", model, positions={"pivot": 0.5}))
        M = RobotDynamics(model).mass_matrix(np.array([0.0, 0.5]))
        np.testing.assert_allclose(simulation.mass_matrix("robot"), M, atol=1e-14)
        simulation.step(NOTHING, 100)
        assert simulation.status is Status.RUNNING
