"""PhysX through SAPIEN: closed forms, and what the adapter does beyond them."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engines.staging import NOTHING, WEIGHTLESS, G, H
from kinetarium.dynamics import Coupling, RobotDynamics
from kinetarium.engines.conformance.models import (
    X_AXIS,
    Y_AXIS,
    cart,
    chain,
    fingers,
    four_bar,
    pendulum,
    rotor,
    sensed_load,
    solid_link,
)
from kinetarium.engines.conformance.runs import state_bytes
from kinetarium.engines.physx import EnginePhysx, PhysxOptions, Solver
from kinetarium.engines.protocol import CapabilityError, State, Status
from kinetarium.model.load import load_robot
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import (
    Box,
    Capsule,
    Cylinder,
    Geometry,
    Joint,
    JointLimits,
    JointType,
    Link,
    Loop,
    LoopKind,
    MeshData,
    Mimic,
    RobotModel,
    Source,
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
    free_body,
    ground,
)
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import pose, rotation_about
from needs import need

need("physx")

pytestmark = pytest.mark.engine

ENGINE = EnginePhysx()


def alone(model, *, options=None, gravity=None, sensors=(), timestep=H, **placing):
    """Compile a scene of one robot called "robot"."""
    robot = PlacedRobot("robot", model, **placing)
    scene = Scene(
        (robot,), sensors=sensors, gravity=frozen([0, 0, -G] if gravity is None else gravity)
    )
    return ENGINE.compile(scene, timestep=timestep, options=options)


def torques(model):
    return {joint.name: Actuation(DriveMode.TORQUE) for joint in model.moving_joints}


class TestFreeBodies:
    @pytest.mark.parametrize("restitution", [0.3, 0.8])
    def test_bounces_by_its_restitution(self, restitution):
        material = Material(0.5, restitution)
        for gap, offset in ((0.0105, 0.01), (0.0105, 1e-4), (0.0109, 1e-4)):
            ball = free_body("ball", Sphere(0.1), mass=1.0, position=(0, 0, 0.1 + gap),
                             material=material, twist=(0, 0, -1.0, 0, 0, 0))  # fmt: skip
            simulation = ENGINE.compile(
                Scene(bodies=(ball, ground(material)), gravity=WEIGHTLESS),
                timestep=H,
                options=PhysxOptions(contact_offset=offset),
            )
            simulation.step(NOTHING, 30)
            assert simulation.state().twists[0, 2] == pytest.approx(restitution, rel=1e-3)


class TestContacts:
    def test_forces_are_normal_and_add_up_on_a_slope(self):
        angle = 0.3
        gravity = frozen([G * np.sin(angle), 0, -G * np.cos(angle)])
        cube = free_body("cube", Box((0.1, 0.1, 0.1)), mass=2.0, position=(0, 0, 0.05))
        simulation = ENGINE.compile(Scene(bodies=(cube, ground()), gravity=gravity), timestep=H)
        simulation.step(NOTHING, 500)
        contacts = simulation.contacts()
        names = [tuple(simulation.layout.solids[i] for i in pair) for pair in contacts.solids]
        assert set(names) == {("cube", "ground")}
        assert contacts.normals == pytest.approx(np.tile([0, 0, 1.0], (len(names), 1)), abs=1e-6)
        # Friction is not reported: the force along the slope is missing.
        assert contacts.forces.sum(axis=0) == pytest.approx([0, 0, 2 * G * np.cos(angle)], abs=0.05)
        assert np.abs(contacts.depths).max() < 1e-4
        assert contacts.points[:, 2] == pytest.approx(0.0, abs=1e-4)

    def test_lumped_links_keep_their_own_names(self):
        foot = Link("foot", None, (Geometry(Box((0.1, 0.1, 0.1)), frozen(pose((0, 0, -0.05)))),))
        body = solid_link("body", Box((0.2, 0.2, 0.2)), mass=3.0, touches=True)
        joint = Joint("ankle", JointType.FIXED, "body", "foot", frozen(pose((0, 0, -0.1))))
        model = RobotModel("statue", (body, foot), (joint,), Source("", "", ""), free_base=True)
        robot = PlacedRobot("statue", model, Base.FREE, frozen(pose((0, 0, 0.2))))
        simulation = ENGINE.compile(Scene((robot,), (ground(),)), timestep=H)
        simulation.step(NOTHING, 300)
        contacts = simulation.contacts()
        touching = {simulation.layout.solids[i] for i in contacts.solids.ravel()}
        assert touching == {"statue/foot", "ground"}
        assert contacts.forces[:, 2].sum() == pytest.approx(3 * G, rel=5e-3)

    def test_only_pairs_that_may_touch_do(self):
        # Balls dropped on a plate: those on the list fall through it.
        plate = Body("plate", Box((2.0, 2.0, 0.1)), X_WB=frozen(pose((0, 0, -0.05))))
        balls = [
            free_body(f"ball{i}", Sphere(0.05), mass=0.1, position=(0.2 * i - 0.4, 0, 0.06))
            for i in range(5)
        ]
        through = {1, 3}
        scene = Scene(
            bodies=(plate, *balls),
            no_contact=frozenset(frozenset({"plate", f"ball{i}"}) for i in through),
        )
        simulation = ENGINE.compile(scene, timestep=H)
        simulation.step(NOTHING, 300)
        fell = {i for i, z in enumerate(simulation.state().poses[:, 2]) if z < 0}
        assert fell == through

    def test_a_robot_touches_itself_only_if_it_is_to(self):
        # Two pendulums side by side that swing into each other.
        bobs = [solid_link(f"bob{i}", Sphere(0.1), mass=1.0, at=(0, 0, -0.5), touches=True)
                for i in range(2)]  # fmt: skip
        joints = tuple(
            Joint(
                f"j{i}",
                JointType.REVOLUTE,
                "base",
                f"bob{i}",
                frozen(pose((0.2 * i, 0, 0))),
                Y_AXIS,
            )
            for i in range(2)
        )
        model = RobotModel("cradle", (Link("base"), *bobs), joints, Source("", "", ""))
        ends = []
        for touches in (False, True):
            simulation = alone(model, positions={"j0": 0.5}, self_collision=touches)
            simulation.step(NOTHING, 600)
            ends.append(simulation.state().q[1])
        assert ends[0] == 0.0
        assert abs(ends[1]) > 0.05

    @pytest.mark.parametrize(
        ("shape", "height"),
        [
            (Capsule(0.05, 0.2), 0.05),
            (Cylinder(0.1, 0.06), 0.03),
            (Box((0.1, 0.2, 0.06)), 0.03),
            (MeshData("wedge", TriangleMesh(
                frozen([[-0.1, -0.1, 0], [0.1, -0.1, 0], [0, 0.1, 0], [0, 0, 0.1]]),
                np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]], dtype=np.int32))), 0.0),
        ],
        ids=["capsule", "cylinder", "box", "mesh"],
    )  # fmt: skip
    def test_shapes_rest_at_their_height(self, shape, height):
        turn = rotation_about(Y_AXIS, np.pi / 2) if isinstance(shape, Capsule) else np.eye(3)
        body = free_body("thing", shape, mass=1.0, position=(0, 0, height + 1e-3), rotation=turn)
        simulation = ENGINE.compile(Scene(bodies=(body, ground())), timestep=H)
        simulation.step(NOTHING, 300)
        assert simulation.state().poses[0, 2] == pytest.approx(height, abs=1e-4)
        assert simulation.contacts().forces[:, 2].sum() == pytest.approx(G, rel=5e-3)

    def test_tiny_meshes_keep_their_shape(self):
        corners = frozen(
            np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 2e-4
        )
        faces = triangulate(Box((1.0, 1.0, 1.0))).faces
        mesh = MeshData("grain", TriangleMesh(corners, faces))
        grain = free_body("grain", mesh, mass=1e-3, position=(0, 0, 3e-4))
        simulation = ENGINE.compile(Scene(bodies=(grain, ground())), timestep=H)
        simulation.step(NOTHING, 200)
        assert simulation.state().poses[0, 2] == pytest.approx(2e-4, abs=2e-6)

    def test_refuses_a_mesh_without_a_hull(self):
        flat = TriangleMesh(frozen(np.eye(3)), np.array([[0, 1, 2]], dtype=np.int32))
        ball = free_body("ball", Sphere(0.1), mass=1.0)
        scene = Scene(bodies=(Body("sheet", MeshData("sheet", flat)), ball))
        with pytest.raises(SceneError, match="convex hull of a mesh of 'sheet'"):
            ENGINE.compile(scene, timestep=H)


class TestJoints:
    @pytest.mark.parametrize("kind", [JointType.CONTINUOUS, JointType.PRISMATIC])
    def test_servo_friction_and_damping_together(self, kind):
        joint = replace(rotor().joints[0], type=kind, friction=3.0, damping=5.0)
        model = replace(rotor(), joints=(joint,))
        servo = Actuation(DriveMode.VELOCITY, damping=20.0, effort=10.0)
        simulation = alone(model, gravity=WEIGHTLESS, actuation={"spindle": servo})
        simulation.step(np.array([1.0]), 1500)
        # servo 20 (1 - v) = damping 5 v + friction 3
        assert simulation.state().v[0] == pytest.approx(17 / 25, rel=1e-4)
        simulation.step(np.array([9.0]), 4000)
        # the servo at its limit: 10 = 5 v + 3
        assert simulation.state().v[0] == pytest.approx(7 / 5, rel=1e-3)
        loaded = simulation.audit().joints[0]
        assert (loaded.damping, loaded.friction) == pytest.approx((5.0, 3.0), rel=1e-6)

    @pytest.mark.parametrize("kind", [JointType.REVOLUTE, JointType.PRISMATIC])
    def test_limits_on_one_side_or_none(self, kind):
        for limits, low, high in [
            (JointLimits(-0.1, np.inf), True, False),
            (JointLimits(-np.inf, 0.1), False, True),
            (JointLimits(), False, False),
            (JointLimits(-0.1, 0.1), True, True),
            (JointLimits(0.0, 0.0), True, True),
        ]:
            joint = replace(rotor().joints[0], type=kind, limits=limits)
            model = replace(rotor(), joints=(joint,))
            for push, stopped, bound in ((-1.0, low, limits.lower), (1.0, high, limits.upper)):
                simulation = alone(model, gravity=WEIGHTLESS, actuation=torques(model))
                simulation.step(np.array([push]), 1000)
                q = simulation.state().q[0]
                assert q == pytest.approx(bound, abs=1e-4) if stopped else abs(q) > 0.2
            loaded = simulation.audit().joints[0]
            assert (loaded.lower, loaded.upper) == pytest.approx((limits.lower, limits.upper))

    def test_wheels_count_their_turns(self):
        simulation = alone(
            rotor(), actuation={"spindle": Actuation(DriveMode.VELOCITY, damping=100.0)}
        )
        simulation.step(np.array([80.0]), 1000)
        assert simulation.state().q[0] == pytest.approx(80.0, rel=1e-2)

    def test_speed_is_not_held_under_any_limit(self):
        model = rotor()
        simulation = alone(model, actuation=torques(model))
        simulation.step(np.array([30.0]), 1000)
        inertia = model.link("bar").inertia.moment[2, 2]
        assert simulation.state().v[0] == pytest.approx(30.0 / inertia, rel=1e-3)

    def test_torque_holds_over_many_steps(self):
        model = chain()
        one, many = (alone(model, actuation=torques(model)) for _ in range(2))
        command = np.array([0.5, -0.3, 0.2])
        for _ in range(50):
            one.step(command)
        many.step(command, 50)
        assert state_bytes(one.state()) == state_bytes(many.state())

    @pytest.mark.parametrize("name", ["panda", "ur5", "husky4-panda"])
    def test_one_step_accelerates_as_pinocchio_says(self, name):
        model = load_robot(name)
        open_joints = tuple(
            replace(joint, mimic=None, limits=JointLimits()) for joint in model.joints
        )
        model = replace(model, joints=open_joints)
        free = model.free_base
        dynamics = RobotDynamics(model, free_base=free)
        simulation = alone(model, actuation=torques(model), base=Base.FREE if free else Base.FIXED)
        rng = np.random.default_rng(2)
        n = len(model.moving_joints)
        for _ in range(5):
            q, v = rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)
            turn = rng.normal(size=4)
            poses = np.concatenate([rng.normal(size=3), turn / np.linalg.norm(turn)])[np.newaxis]
            twists = rng.uniform(-1, 1, (1, 6))
            if not free:
                poses, twists = poses[:0], twists[:0]
            full_q = np.concatenate([poses.ravel(), q])
            full_v = np.concatenate([twists.ravel(), v])
            tau = rng.uniform(-1, 1, n)
            full_tau = np.concatenate([np.zeros(twists.size), tau])
            a = dynamics.forward_dynamics(full_q, full_v, full_tau)
            simulation.reset(State(0.0, q, v, poses, twists))
            simulation.step(tau)
            reached = (simulation.state().v - v) / H
            assert reached == pytest.approx(a[twists.size :], rel=1e-5, abs=3e-4)
            if free:  # the origin turns about the centre during the step
                base = (simulation.state().twists - twists).ravel() / H
                assert base == pytest.approx(a[:6], abs=2e-2)


class TestCouplings:
    @pytest.mark.parametrize("multiplier", [1.0, -2.0, 5.0, -0.3])
    def test_siblings_move_as_one_inertia(self, multiplier):
        model = fingers(multiplier=multiplier, offset=0.01)
        simulation = alone(
            model, gravity=WEIGHTLESS, positions={"follow": 0.01}, actuation=torques(model)
        )
        simulation.step(np.array([0.3, 0.1]), 300)
        lead, follow = simulation.state().q
        assert follow == pytest.approx(multiplier * lead + 0.01, abs=1e-6)
        force = 0.3 + multiplier * 0.1
        expected = force * 0.3 / (0.5 + multiplier**2 * 0.3)
        assert simulation.state().v[0] == pytest.approx(expected, rel=1e-3)

    @pytest.mark.parametrize("axis", [X_AXIS, -X_AXIS], ids=["same way", "other way"])
    @pytest.mark.parametrize("multiplier", [1.0, -0.7])
    def test_a_finger_that_curls(self, axis, multiplier):
        links = (
            Link("palm"),
            solid_link("near", Box((0.02, 0.02, 0.1)), mass=0.1, at=(0, 0, 0.05)),
            solid_link("far", Box((0.02, 0.02, 0.1)), mass=0.15, at=(0, 0, 0.05)),
        )
        joints = (
            Joint("knuckle", JointType.REVOLUTE, "palm", "near", axis=X_AXIS),
            Joint("tip", JointType.REVOLUTE, "near", "far", frozen(pose((0, 0, 0.1))), axis,
                  mimic=Mimic("knuckle", multiplier, 0.1)),
        )  # fmt: skip
        model = RobotModel("finger", links, joints, Source("", "", ""))
        coupling = Coupling.of(model)
        q = coupling.positions([0.2])
        v = np.zeros(2)
        simulation = alone(
            model, positions={"knuckle": q[0], "tip": q[1]}, actuation=torques(model)
        )
        dynamics = RobotDynamics(model)
        tau = np.array([0.1, -0.02])
        for _ in range(200):  # the same steps in the one coordinate that is left
            simulation.step(tau)
            M = coupling.matrix(dynamics.mass_matrix(q))
            force = coupling.forces(tau - dynamics.bias(q, v))
            v = v + H * coupling.velocities(np.linalg.solve(M, force))
            q = q + H * v
        state = simulation.state()
        assert state.q[1] == pytest.approx(multiplier * state.q[0] + 0.1, abs=1e-5)
        assert state.q == pytest.approx(q, abs=1e-3 * np.abs(q - coupling.positions([0.2])).max())
        axes = [joint.axis for joint in simulation.audit().joints]
        assert axes[1] == pytest.approx(axis, abs=1e-6)

    def test_a_free_gripper_keeps_its_momentum(self):
        model = fingers(multiplier=1.0, offset=0.0)
        palm = solid_link("base", Box((0.1, 0.1, 0.1)), mass=1.0)
        model = replace(model, links=(palm, *model.links[1:]), free_base=True)
        simulation = alone(model, gravity=WEIGHTLESS, base=Base.FREE, actuation=torques(model))
        simulation.step(np.array([1.0, 0.0]), 100)
        state = simulation.state()
        dynamics = RobotDynamics(model)
        full_q = np.concatenate([state.poses[0], state.q])
        full_v = np.concatenate([state.twists[0], state.v])
        assert np.linalg.norm(dynamics.momentum(full_q, full_v)) < 1e-5
        assert abs(state.v[0]) > 0.05

    def test_panda_squeezes_evenly(self):
        panda = load_robot("panda")
        hand = {"panda_finger_joint1", "panda_finger_joint2"}
        q = {"panda_joint4": -1.5, "panda_joint6": 1.5, **dict.fromkeys(hand, 0.021)}
        names = [joint.name for joint in panda.moving_joints]
        values = np.array([q.get(name, 0.0) for name in names])
        X = RobotDynamics(panda).link_pose(values, "panda_hand_tcp")
        cube = free_body("cube", Box((0.04, 0.04, 0.04)), mass=1.0, position=X[:3, 3],
                         rotation=X[:3, :3])  # fmt: skip
        drives = {name: Actuation(DriveMode.POSITION, 4000.0, 400.0) for name in names[:7]}
        drives["panda_finger_joint1"] = Actuation(DriveMode.TORQUE)
        robot = PlacedRobot("panda", panda, positions=q, actuation=drives)
        simulation = ENGINE.compile(Scene((robot,), (cube,)), timestep=H)
        simulation.step(np.append(values[:7], -100.0), 300)
        contacts = simulation.contacts()
        grip = {"panda/panda_leftpad": 0.0, "panda/panda_rightpad": 0.0}
        for pair, force in zip(contacts.solids, contacts.forces, strict=True):
            grip[simulation.layout.solids[pair[0]]] += float(np.linalg.norm(force))
        assert list(grip.values()) == pytest.approx([50.0, 50.0], abs=0.5)
        state = simulation.state()
        assert state.q[7] == pytest.approx(state.q[8], abs=5e-4)
        assert np.linalg.norm(state.poses[0, :3] - X[:3, 3]) < 0.01

    def test_refuses_what_no_tendon_can_couple(self):
        model = chain()
        crossed = (*model.joints[:2], replace(model.joints[2], mimic=Mimic("joint0")))
        with pytest.raises(CapabilityError, match="'joint2' following 'joint0'"):
            alone(replace(model, joints=crossed))


class TestLoops:
    def test_a_parallelogram_moves_as_one_coordinate(self):
        model = four_bar()
        simulation = alone(model, positions={"drive": 0.3, "pin": -0.3, "rock": 0.3})
        dynamics = RobotDynamics(model)
        along = np.array([1.0, -1.0, 1.0])  # the coupler stays level
        q, v = 0.3 * along, np.zeros(3)
        for _ in range(500):  # the same steps in that coordinate
            simulation.step(NOTHING)
            M = along @ dynamics.mass_matrix(q) @ along
            v = v - H * along * (along @ dynamics.bias(q, v)) / M
            q = q + H * v
        assert abs(q[0]) > 2.0
        assert simulation.state().q == pytest.approx(q, abs=5e-3)

    def test_a_pose_loop_makes_it_rigid(self):
        model = four_bar()
        loop = model.loops[0]
        held = replace(model, loops=(replace(loop, kind=LoopKind.POSE),))
        push = {joint.name: Actuation(DriveMode.TORQUE) for joint in model.moving_joints[:1]}
        moved = []
        for case in (model, held):
            simulation = alone(case, actuation=push)
            start = simulation.state().q
            simulation.step(np.array([2.0]), 300)
            moved.append(np.abs(simulation.state().q - start).max())
        assert moved[0] > 0.1
        assert moved[1] < 1e-3

    def test_a_loop_to_the_world(self):
        # A pendulum whose bob is held where it is.
        model = pendulum()
        loop = Loop("peg", LoopKind.POINT, "base", "bob",
                    frozen(pose((0.3, 0, -0.4))), frozen(pose((0, 0, -0.5))))  # fmt: skip
        angle = -np.arctan2(0.3, 0.4)
        simulation = alone(replace(model, loops=(loop,)), positions={"pivot": angle})
        simulation.step(NOTHING, 500)
        assert simulation.state().q[0] == pytest.approx(angle, abs=1e-4)


class TestSensors:
    @pytest.mark.parametrize("turn", range(4))
    def test_static_load_in_any_orientation(self, turn):
        rng = np.random.default_rng(turn)
        axis = rng.normal(size=3)
        R = rotation_about(axis / np.linalg.norm(axis), rng.uniform(0, 3))
        servo = Actuation(DriveMode.POSITION, 2e4, 500.0)
        sensors = (
            WrenchSensor("wrist", "robot", "sensor"),
            WrenchSensor("drive", "robot", "shoulder"),
        )
        model = sensed_load()
        simulation = alone(model, X_WB=frozen(pose((0, 0, 0), R)), sensors=sensors,
                           actuation={"shoulder": servo})  # fmt: skip
        simulation.step(np.array([0.7]), 2000)
        q = simulation.state().q
        dynamics = RobotDynamics(model)
        for sensor, link, carried in (
            ("wrist", "load", ["load"]),
            ("drive", "arm", ["arm", "load"]),
        ):
            X_WS = pose((0, 0, 0), R) @ dynamics.link_pose(q, link)
            expected = np.zeros(6)
            for name in carried:
                inertia = model.link(name).inertia
                X_SL = np.linalg.inv(X_WS) @ pose((0, 0, 0), R) @ dynamics.link_pose(q, name)
                force = X_WS[:3, :3].T @ [0, 0, -inertia.mass * G]
                lever = X_SL[:3, :3] @ inertia.center + X_SL[:3, 3]
                expected += np.concatenate([force, np.cross(lever, force)])
            assert simulation.wrench(sensor) == pytest.approx(expected, abs=2e-3)

    def test_reads_a_push_behind_a_link_without_mass(self):
        model = sensed_load()
        tip = Joint("tip sensor", JointType.FIXED, "load", "tip", frozen(pose((0.2, 0, 0))))
        model = replace(model, links=(*model.links, Link("tip")), joints=(*model.joints, tip))
        sensor = WrenchSensor("tip", "robot", "tip sensor")
        servo = Actuation(DriveMode.POSITION, 2e4, 500.0)
        simulation = alone(model, sensors=(sensor,), actuation={"shoulder": servo})
        assert any("1e-6 kg: robot/tip" in remark for remark in simulation.audit().remarks)
        simulation.step(np.zeros(1), 2000)
        X_WT = RobotDynamics(model).link_pose(simulation.state().q, "tip")
        for _ in range(300):
            simulation.apply_wrench("robot/tip", np.array([0, 5.0, 0, 0, 0, 1.0]), X_WT[:3, 3])
            simulation.step(np.zeros(1))
        push = np.concatenate([X_WT[:3, :3].T @ [0, 5.0, 0], X_WT[:3, :3].T @ [0, 0, 1.0]])
        assert simulation.wrench("tip") == pytest.approx(push, abs=1e-3)

    def test_says_what_a_sensor_in_a_rough_joint_does_not_feel(self):
        rough = replace(rotor().joints[0], friction=1.0, damping=1.0)
        sensor = WrenchSensor("ft", "robot", "spindle")
        for joint, told in ((rough, True), (replace(rough, damping=0.0), False)):
            simulation = alone(replace(rotor(), joints=(joint,)), sensors=(sensor,))
            assert any("spindle" in remark for remark in simulation.audit().remarks) == told


class TestWheels:
    @pytest.mark.parametrize("solver", Solver)
    def test_cylinders_roll_smoothly(self, solver):
        model = cart(Cylinder(0.1, 0.06), radius=0.1, turn=rotation_about(X_AXIS, np.pi / 2))
        drives = {joint.name: Actuation(DriveMode.VELOCITY, damping=5.0) for joint in model.joints}
        robot = PlacedRobot("cart", model, Base.FREE, frozen(pose((0, 0, 0.1))), actuation=drives)
        simulation = ENGINE.compile(
            Scene((robot,), (ground(),)), timestep=H, options=PhysxOptions(solver=solver)
        )
        (remark,) = simulation.audit().remarks
        assert "rows of spheres" in remark and "cart/wheel3" in remark
        simulation.step(np.full(4, 10.0), 700)
        loads = []
        for _ in range(100):
            simulation.step(np.full(4, 10.0))
            loads.append(simulation.contacts().forces[:, 2].sum())
        assert simulation.state().twists[0, 0] == pytest.approx(1.0, rel=5e-3)
        assert np.std(loads) < (0.003 if solver is Solver.PGS else 0.03) * 12 * G
        assert np.mean(loads) == pytest.approx(12 * G, rel=5e-3)

    def test_a_wheel_passes_beside_what_is_not_in_its_way(self):
        """Spheres bulge by the radius, 0.1 m, to the sides of a wheel that is 0.06 m wide."""
        model = cart(Cylinder(0.1, 0.06), radius=0.1, turn=rotation_about(X_AXIS, np.pi / 2))
        robot = PlacedRobot("cart", model, Base.FREE, frozen(pose((0, 0, 0.1))))
        outside = max(abs(float(joint.X_PJ[1, 3])) for joint in model.joints) + 0.03
        for gap, met in ((0.02, False), (-0.005, True)):
            at = frozen(pose((0, outside + gap + 0.01, 0.2)))
            wall = Body("wall", Box((2.0, 0.02, 0.4)), X_WB=at)
            simulation = ENGINE.compile(Scene((robot,), (ground(), wall)), timestep=H)
            simulation.step(np.zeros(0), 2)
            solids, names = simulation.contacts().solids, simulation.layout.solids
            assert (solids == names.index("wall")).any() == met
            assert (solids == names.index("ground")).any()

    def test_what_does_not_turn_about_its_axis_is_no_wheel(self):
        for turn, at in ((None, (0, 0, 0)), (rotation_about(X_AXIS, np.pi / 2), (0.01, 0, 0))):
            model = cart(Cylinder(0.1, 0.06), radius=0.1, turn=turn)
            shifted = [
                replace(link, collisions=tuple(
                    replace(g, X_LG=frozen(pose(at) @ g.X_LG)) for g in link.collisions))
                for link in model.links
            ]  # fmt: skip
            robot = PlacedRobot("cart", replace(model, links=tuple(shifted)), Base.FREE)
            simulation = ENGINE.compile(Scene((robot,), (ground(),)), timestep=H)
            (remark,) = simulation.audit().remarks
            assert "prisms of 96 sides" in remark


class TestRuns:
    def busy(self, *, options=None):
        """A robot with servos that stirs cubes on the ground."""
        model = chain()
        links = tuple(
            replace(
                link,
                collisions=(Geometry(Box((0.1, 0.08, 0.3)), frozen(pose((0.01, 0.02, 0.15)))),),
            )
            if link.inertia
            else link
            for link in model.links
        )
        servo = Actuation(DriveMode.POSITION, 200.0, 20.0)
        robot = PlacedRobot("robot", replace(model, links=links), actuation={
            "joint0": servo, "joint1": Actuation(DriveMode.TORQUE), "joint2": servo})  # fmt: skip
        places = [(0.1 * i - 0.2, 0.3, 0.06 + 0.12 * i) for i in range(4)]
        cubes = [
            free_body(f"cube{i}", Box((0.1, 0.1, 0.1)), mass=1.0, position=place)
            for i, place in enumerate(places)
        ]
        sensors = (WrenchSensor("ft", "robot", "joint1"),)
        scene = Scene((robot,), (*cubes, ground()), sensors)
        return ENGINE.compile(scene, timestep=H, options=options)

    @staticmethod
    def stir(simulation, steps):
        for k in range(steps):
            simulation.step(np.array([1.5 * np.sin(0.01 * k), 2.0, 0.5]))

    def test_goes_on_bit_by_bit_from_where_it_was_saved(self):
        simulation = self.busy()
        self.stir(simulation, 300)
        before = simulation.state(), simulation.contacts(), simulation.wrench("ft")
        simulation.apply_wrench("cube0", np.array([5.0, 0, 0, 0, 0, 0]), np.zeros(3))
        saved = simulation.save()
        ends = []
        for _ in range(3):
            now = simulation.state(), simulation.contacts(), simulation.wrench("ft")
            assert state_bytes(now[0]) == state_bytes(before[0]) and now[0].time == before[0].time
            assert np.array_equal(now[1].forces, before[1].forces) and len(now[1].forces)
            assert np.array_equal(now[2], before[2]) and now[2].any()
            self.stir(simulation, 200)
            ends.append(state_bytes(simulation.state()) + simulation.contacts().forces.tobytes())
            simulation.restore(saved)
        assert ends[0] == ends[1] == ends[2]

    def test_saving_hardly_changes_the_run(self):
        plain, saved = self.busy(), self.busy()
        self.stir(plain, 200)
        self.stir(saved, 200)
        saved.save()
        for simulation in (plain, saved):
            simulation.step(np.array([1.0, 2.0, 0.5]), 5)
        assert saved.state().v == pytest.approx(plain.state().v, abs=0.05)
        assert saved.state().poses == pytest.approx(plain.state().poses, abs=1e-3)

    def test_contacts_repeat_in_another_process(self):
        code = (
            "import sys; sys.path.insert(0, sys.argv[1])\n"
            "pad = [bytearray(int(n)) for n in sys.argv[2].split(',')]\n"
            "from engines.test_physx import TestRuns\n"
            "s = TestRuns().busy(); TestRuns.stir(s, 250); c = s.contacts()\n"
            "bits = c.solids.tobytes() + c.points.tobytes() + c.forces.tobytes()\n"
            "print('bits:' + bits.hex())\n"
        )
        answers = set()
        for padding in ("1", "3000,70000,123457"):
            done = subprocess.run(
                [sys.executable, "-c", code, str(Path(__file__).parents[1]), padding],
                capture_output=True, text=True, check=True, timeout=120,
            )  # fmt: skip
            answers.add(done.stdout.partition("bits:")[2])
        assert len(answers) == 1
        assert len(answers.pop()) > 100

    def test_a_run_that_explodes_is_marked(self):
        model = rotor()
        simulation = alone(model, actuation=torques(model))
        simulation.step(np.array([1e30]), 20)
        assert simulation.status is Status.DIVERGED
        saved = simulation.save()
        simulation.restore(saved)
        assert simulation.status is Status.DIVERGED
        simulation.reset(State(0.0, np.zeros(1), np.zeros(1), np.zeros((0, 7)), np.zeros((0, 6))))
        simulation.step(np.array([0.05]), 100)
        assert simulation.status is Status.RUNNING
        expected = 0.05 * 0.1 / model.link("bar").inertia.moment[2, 2]
        assert simulation.state().v[0] == pytest.approx(expected, rel=1e-4)

    def test_a_servo_may_be_sent_anywhere(self):
        servo = Actuation(DriveMode.POSITION, 10.0, 5.0, effort=0.1)
        simulation = alone(rotor(), actuation={"spindle": servo})
        simulation.step(np.array([1e9]), 100)
        assert simulation.status is Status.RUNNING

    def test_simulations_do_not_change_each_other(self):
        from sapien import physx

        before = repr(physx.get_scene_config().__getstate__())
        alone_pgs = self.busy()
        self.stir(alone_pgs, 150)
        expected = state_bytes(alone_pgs.state())
        pgs = self.busy()
        tgs = self.busy(
            options=PhysxOptions(solver=Solver.TGS, position_iterations=4, contact_offset=0.02)
        )
        light = alone(pendulum(), gravity=(0, 0, -1.0), positions={"pivot": 1.0})
        for k in range(150):
            command = np.array([1.5 * np.sin(0.01 * k), 2.0, 0.5])
            tgs.step(command)
            light.step(NOTHING)
            pgs.step(command)
        assert state_bytes(pgs.state()) == expected
        assert state_bytes(tgs.state()) != expected
        tgs.close()
        pgs.save()
        assert light.audit().gravity == pytest.approx([0, 0, -1.0])
        assert pgs.audit().gravity == pytest.approx([0, 0, -G])
        assert repr(physx.get_scene_config().__getstate__()) == before

    def test_nothing_falls_asleep(self):
        cube = free_body("cube", Box((0.1, 0.1, 0.1)), mass=1.0, position=(0, 0, 0.05))
        simulation = ENGINE.compile(Scene(bodies=(cube, ground())), timestep=H)
        simulation.step(NOTHING, 2000)
        simulation.apply_wrench("cube", np.array([1e-3, 0, 20.0, 0, 0, 0]), np.zeros(3))
        simulation.step(NOTHING)
        assert simulation.state().twists[0, 2] > 0.005


def test_audit_reads_back_every_number():
    model = load_robot("panda")
    rough = tuple(
        replace(joint, damping=0.1 * i, friction=0.2 * i, armature=0.01 * i)
        if joint.type is not JointType.FIXED else joint
        for i, joint in enumerate(model.joints)
    )  # fmt: skip
    model = replace(model, joints=rough)
    simulation = alone(model, actuation=torques(model))
    audit = simulation.audit()
    bodies = {f"robot/{body.name}": body for body in rigid_tree(model)}
    assert len(audit.solids) == len(bodies) - 1
    for solid in audit.solids:
        inertia = bodies[solid.name].inertia
        assert solid.inertia.mass == pytest.approx(inertia.mass, rel=1e-6)
        assert solid.inertia.center == pytest.approx(inertia.center, abs=1e-7)
        assert solid.inertia.moment == pytest.approx(
            inertia.moment, abs=1e-6 * np.abs(inertia.moment).max()
        )
        assert solid.members == tuple(f"robot/{name}" for name, _ in bodies[solid.name].members)
    for loaded, joint in zip(audit.joints, model.moving_joints, strict=True):
        assert loaded.name == f"robot/{joint.name}"
        assert loaded.axis == pytest.approx(joint.axis, abs=1e-6)
        for name in ("damping", "friction", "armature"):
            assert getattr(loaded, name) == pytest.approx(getattr(joint, name), rel=1e-6)
        assert loaded.lower == pytest.approx(joint.limits.lower, rel=1e-6)
        assert loaded.upper == pytest.approx(joint.limits.upper, rel=1e-6)
    assert audit.gravity == pytest.approx([0, 0, -G])


def test_robots_without_joints():
    brick = RobotModel(
        "brick",
        (solid_link("only", Box((0.1, 0.1, 0.1)), mass=1.0, touches=True),),
        (),
        Source("", "", ""),
    )
    held = PlacedRobot("held", brick, X_WB=frozen(pose((0, 0, 0.5))))
    free = PlacedRobot("free", brick, Base.FREE, frozen(pose((0, 0, 0.65))))
    simulation = ENGINE.compile(Scene((held, free), (ground(),)), timestep=H)
    simulation.step(NOTHING, 300)
    assert simulation.state().poses[0, 2] == pytest.approx(0.6, abs=1e-3)
    assert {solid.name for solid in simulation.audit().solids} == {"free/only"}


def test_two_robots_keep_their_joints_apart():
    left = PlacedRobot("left", chain(), actuation=torques(chain()), positions={"joint1": 0.3})
    right = PlacedRobot("right", rotor(), X_WB=frozen(pose((2, 0, 0))), positions={"spindle": 0.7},
                        actuation=torques(rotor()))  # fmt: skip
    simulation = ENGINE.compile(Scene((left, right), gravity=WEIGHTLESS), timestep=H)
    assert simulation.state().q == pytest.approx([0, 0.3, 0, 0.7])
    simulation.step(np.array([0, 0, 0, 0.1]), 10)
    v = simulation.state().v
    assert v[:3] == pytest.approx(0.0) and v[3] > 0.01


def test_z_axis_of_a_plane_points_out():
    X = frozen(pose((0, 0, 0), rotation_about(X_AXIS, np.pi / 2)))  # z turned onto -y
    wall = replace(ground(name="wall"), X_WB=X)
    ball = free_body(
        "ball", Sphere(0.1), mass=1.0, position=(0, -0.5, 0), twist=(0, 1.0, 0, 0, 0, 0)
    )
    simulation = ENGINE.compile(Scene(bodies=(ball, wall), gravity=WEIGHTLESS), timestep=H)
    simulation.step(NOTHING, 1000)
    assert simulation.state().poses[0, 1] == pytest.approx(-0.1, abs=1e-3)
