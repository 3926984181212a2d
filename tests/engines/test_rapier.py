"""Rapier: friction in contacts and joints, couplings, drives, sensors, and its own traps."""

from dataclasses import replace

import numpy as np
import pytest

from engines.staging import (
    CUBE,
    NOTHING,
    SOURCE,
    TORQUE,
    WEIGHTLESS,
    G,
    H,
    compiled,
    driven,
    joint_state,
    rack_with_a_ghost,
    with_joint,
)
from kinetarium.dynamics import Coupling, RobotDynamics
from kinetarium.engines.conformance.models import (
    X_AXIS,
    Y_AXIS,
    chain,
    fingers,
    flyer,
    four_bar,
    pendulum,
    rotor,
    sensed_load,
    solid_link,
)
from kinetarium.engines.conformance.runs import busy_simulation, drive, state_bytes
from kinetarium.engines.protocol import CapabilityError, Status
from kinetarium.engines.rapier import EngineRapier, FreeBodies, RapierOptions
from kinetarium.errors import KinetariumError
from kinetarium.model.load import load_robot
from kinetarium.model.robot import (
    Box,
    Capsule,
    Cylinder,
    Geometry,
    Inertia,
    Joint,
    JointLimits,
    JointType,
    Link,
    Loop,
    LoopKind,
    MeshData,
    Mimic,
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
    SceneError,
    WrenchSensor,
    free_body,
    ground,
)
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import pose, rotation_about, rotation_from_quaternion
from needs import need

need("rapier")

pytestmark = pytest.mark.engine

ENGINE = EngineRapier()
SHEET = TriangleMesh(frozen(np.outer(range(4), [1.0, 2.0, 3.0])), np.array([[0, 1, 2]], np.int32))
WEDGE = TriangleMesh(
    frozen([[-0.1, -0.1, 0], [0.1, -0.1, 0], [0, 0.1, 0], [0, 0, 0.1]]),
    np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]], dtype=np.int32),
)


def simulate(*parts, **keywords):
    return compiled(ENGINE, *parts, **keywords)


def tilted(angle, heading=0.0):
    """Return the gravity on a slope that falls off in a direction."""
    along = G * np.sin(angle)
    return frozen(
        [along * np.cos(heading), along * np.sin(heading), -G * np.cos(angle)],
    )


class TestFreeBodies:
    @pytest.mark.parametrize("kind", FreeBodies)
    def test_twist_is_at_the_origin_not_at_the_centre(self, kind):
        turn = rotation_about(np.array([0.6, 0.0, 0.8]), 0.7)
        moment = turn @ np.diag([0.1, 0.2, 0.25]) @ turn.T
        inertia = Inertia(2.0, frozen([0.1, -0.2, 0.3]), frozen(moment))
        twist = np.array([0.5, -1.0, 0.3, 1.0, 2.0, -0.5])
        body = replace(free_body("body", CUBE, mass=2.0, twist=twist), inertia=inertia)
        simulation = simulate(body, gravity=WEIGHTLESS, options=RapierOptions(free_bodies=kind))
        assert simulation.state().twists[0] == pytest.approx(twist, abs=1e-6)
        # With no forces the centre moves straight on; the origin circles it.
        start = twist[:3] + np.cross(twist[3:], inertia.center)
        simulation.step(NOTHING, 100)
        state = simulation.state()
        lever = rotation_from_quaternion(state.poses[0, 3:]) @ inertia.center
        velocity = state.twists[0, :3] + np.cross(state.twists[0, 3:], lever)
        assert velocity == pytest.approx(start, abs=1e-5)
        assert state.poses[0, :3] + lever == pytest.approx(inertia.center + 0.1 * start, abs=1e-5)
        R = rotation_from_quaternion(state.poses[0, 3:])
        momentum = R @ moment @ R.T @ state.twists[0, 3:]
        assert momentum == pytest.approx(moment @ twist[3:], rel=1e-3, abs=2e-4)

    def test_speed_is_not_held_under_any_limit(self):
        twist = (900.0, 0, 0, 0, 0, 2000.0)
        simulation = simulate(free_body("cube", CUBE, mass=1.0, twist=twist), gravity=WEIGHTLESS)
        simulation.step(NOTHING, 200)
        assert simulation.state().twists[0] == pytest.approx(twist, rel=1e-4, abs=1e-3)


class TestContacts:
    @pytest.mark.parametrize("heading", [0.0, 0.4, np.pi / 4])
    def test_forces_on_a_slope_are_whole_and_within_the_cone(self, heading):
        mu = 0.5
        for angle, slides in ((0.3, False), (0.6, True)):
            cube = free_body("cube", CUBE, mass=2.0, position=(0, 0, 0.05), material=Material(mu))
            simulation = simulate(cube, ground(Material(mu)), gravity=tilted(angle, heading))
            simulation.step(NOTHING, 500)
            contacts, state = simulation.contacts(), simulation.state()
            forces, normal = contacts.forces, contacts.normals
            assert normal == pytest.approx(np.tile([0, 0, 1.0], (len(normal), 1)), abs=1e-6)
            assert {tuple(pair) for pair in contacts.solids} == {(0, 1)}
            assert contacts.points[:, 2] == pytest.approx(0.0, abs=1e-5)
            friction = np.linalg.norm(forces[:, :2], axis=1)
            assert np.all(friction <= mu * forces[:, 2] * (1 + 1e-4))
            along = np.array([np.cos(heading), np.sin(heading)])
            weight = 2.0 * G * np.array([np.sin(angle), np.cos(angle)])
            expected = mu * weight[1] if slides else weight[0]
            assert forces.sum(axis=0)[2] == pytest.approx(weight[1], rel=1e-4)
            assert -forces.sum(axis=0)[:2] == pytest.approx(expected * along, abs=0.05)
            gone = 0.5 * (weight[0] - expected) / 2.0 * 0.5**2
            assert state.poses[0, :2] == pytest.approx(gone * along, rel=2e-2, abs=1e-4)

    @pytest.mark.parametrize("kind", FreeBodies)
    def test_a_heavy_body_rests_on_a_light_one(self, kind):
        light = free_body("light", CUBE, mass=0.1, position=(0, 0, 0.05))
        heavy = free_body("heavy", CUBE, mass=10.0, position=(0, 0, 0.15))
        options = RapierOptions(free_bodies=kind)
        simulation = simulate(light, heavy, ground(), options=options)
        simulation.step(NOTHING, 1000)
        contacts = simulation.contacts()
        floor = (contacts.solids == 2).any(axis=1)
        assert np.abs(contacts.forces[floor, 2]).sum() == pytest.approx(10.1 * G, rel=5e-3)
        assert simulation.state().poses[1, 2] == pytest.approx(0.15, abs=1e-3)

    def test_only_pairs_that_may_touch_do(self):
        cubes = [free_body(name, CUBE, mass=1.0, position=(x, 0, 0.8))
                 for name, x in (("caught", -0.04), ("passing", 0.2))]  # fmt: skip
        never = frozenset({frozenset(("rack/ghost", "caught")), frozenset(("passing", "ground"))})
        simulation = simulate(rack_with_a_ghost(), *cubes, ground(), no_contact=never)
        simulation.step(NOTHING, 1000)
        caught, passing = simulation.state().poses[:, 2]
        assert caught == pytest.approx(0.26, abs=1e-3)
        assert passing < 0.0
        solids = simulation.layout.solids
        touching = {solids[i] for i in simulation.contacts().solids.ravel()}
        assert touching == {"caught", "rack/shelf"}

    def test_a_robot_touches_itself_only_if_it_is_to(self):
        bobs = [solid_link(f"bob{i}", Sphere(0.1), mass=1.0, at=(0, 0, -0.5), touches=True)
                for i in range(2)]  # fmt: skip
        joints = tuple(
            Joint(f"j{i}", JointType.REVOLUTE, "base", f"bob{i}", frozen(pose((0.2 * i, 0, 0))),
                  Y_AXIS)
            for i in range(2)
        )  # fmt: skip
        model = RobotModel("cradle", (Link("base"), *bobs), joints, SOURCE)
        ends = []
        for touches in (False, True):
            robot = PlacedRobot("robot", model, positions={"j0": 0.5}, self_collision=touches)
            simulation = simulate(robot)
            simulation.step(NOTHING, 600)
            ends.append(simulation.state().q[1])
        assert ends[0] == 0.0
        assert abs(ends[1]) > 0.05

    @pytest.mark.parametrize("timestep", [1e-4, 1e-3, 1e-2])
    @pytest.mark.parametrize(
        ("shape", "height"),
        [(Sphere(0.05), 0.05), (Capsule(0.05, 0.2), 0.05), (Cylinder(0.1, 0.06), 0.03),
         (Box((0.1, 0.2, 0.06)), 0.03), (MeshData("wedge", WEDGE), 0.0)],
        ids=["sphere", "capsule", "cylinder", "box", "mesh"],
    )  # fmt: skip
    def test_shapes_rest_at_their_height(self, shape, height, timestep):
        turn = rotation_about(Y_AXIS, np.pi / 2) if isinstance(shape, Capsule) else np.eye(3)
        body = free_body("thing", shape, mass=1.0, position=(0, 0, height + 1e-3), rotation=turn)
        simulation = simulate(body, ground(), timestep=timestep)
        simulation.step(NOTHING, round(0.5 / timestep))
        assert simulation.state().poses[0, 2] == pytest.approx(height, abs=1e-4)
        assert simulation.contacts().forces[:, 2].sum() == pytest.approx(G, rel=5e-3)
        assert any("convex hulls" in r for r in simulation.audit().remarks) == isinstance(
            shape, MeshData
        )

    def test_refuses_a_mesh_without_a_hull(self):
        ball = free_body("ball", Sphere(0.1), mass=1.0)
        with pytest.raises(SceneError, match="convex hull of a mesh of 'line'"):
            simulate(Body("line", MeshData("line", SHEET)), ball)


class TestJoints:
    def test_friction_acts_on_the_inertia_with_the_armature(self):
        # A light link: 1.5 N m brake 0.241 kg m^2 from 2 rad/s within 0.3213 rad.
        link = Link("bar", Inertia(1.0, frozen(np.zeros(3)), frozen(1e-3 * np.eye(3))))
        joint = replace(rotor().joints[0], friction=1.5, armature=0.24)
        simulation = simulate(PlacedRobot("robot", RobotModel("r", (Link("base"), link), (joint,),
                                                              SOURCE)))  # fmt: skip
        simulation.reset(joint_state([0.0], [2.0]))
        simulation.step(NOTHING, 600)
        assert simulation.state().q[0] == pytest.approx(0.3213, abs=2e-3)
        assert abs(simulation.state().v[0]) < 1e-6
        loaded = simulation.audit().joints[0]
        assert (loaded.friction, loaded.armature) == pytest.approx((1.5, 0.24))

    @pytest.mark.parametrize("kind", [JointType.CONTINUOUS, JointType.PRISMATIC])
    def test_servo_friction_and_damping_together(self, kind):
        model = with_joint(rotor(), type=kind, friction=3.0, damping=5.0)
        servo = Actuation(DriveMode.VELOCITY, damping=20.0, effort=10.0)
        simulation = simulate(driven(model, servo), gravity=WEIGHTLESS)
        simulation.step(np.array([1.0]), 1500)
        # servo 20 (1 - v) = damping 5 v + friction 3
        assert simulation.state().v[0] == pytest.approx(17 / 25, rel=1e-4)
        simulation.step(np.array([9.0]), 4000)
        # the servo at its limit: 10 = 5 v + 3
        assert simulation.state().v[0] == pytest.approx(7 / 5, rel=1e-3)

    @pytest.mark.parametrize("kind", [JointType.REVOLUTE, JointType.PRISMATIC])
    @pytest.mark.parametrize(
        "bounds", [(-0.1, np.inf), (-np.inf, 0.1), (-np.inf, np.inf), (-0.1, 0.1), (2.0, 4.5)]
    )
    def test_limits_on_one_side_or_none(self, kind, bounds):
        limits = JointLimits(*bounds)
        model = with_joint(rotor(), type=kind, limits=limits)
        start = 3.0 if limits.lower > 0 else 0.0
        for push, bound in ((-1.0, limits.lower), (1.0, limits.upper)):
            robot = driven(model, positions={"spindle": start})
            simulation = simulate(robot, gravity=WEIGHTLESS)
            simulation.step(np.array([push]), 3000)
            q = simulation.state().q[0]
            assert q == pytest.approx(bound, abs=2e-3) if np.isfinite(bound) else abs(q) > 0.2
        loaded = simulation.audit().joints[0]
        assert (loaded.lower, loaded.upper) == pytest.approx((limits.lower, limits.upper))

    def test_torque_holds_over_many_steps(self):
        one, many = (simulate(driven(chain())) for _ in range(2))
        command = np.array([0.5, -0.3, 0.2])
        for _ in range(50):
            one.step(command)
        many.step(command, 50)
        assert state_bytes(one.state()) == state_bytes(many.state())

    @pytest.mark.parametrize("drive", [DriveMode.POSITION, DriveMode.VELOCITY])
    def test_a_servo_without_gains_lets_go(self, drive):
        simulation = simulate(driven(pendulum(), Actuation(drive), positions={"pivot": 0.5}))
        simulation.step(np.zeros(1), 100)
        assert simulation.state().q[0] < 0.46

    def test_servos_of_an_arm_are_implicit_all_together(self):
        model = load_robot("ur5")
        joints = tuple(
            replace(j, limits=JointLimits(), damping=0, friction=0) for j in model.joints
        )
        model = replace(model, joints=joints)
        K, D = np.full(6, 4000.0), np.full(6, 300.0)
        simulation = simulate(driven(model, Actuation(DriveMode.POSITION, K[0], D[0])))
        dynamics, rng = RobotDynamics(model), np.random.default_rng(1)
        for _ in range(5):
            q, v = rng.uniform(-1, 1, 6), rng.uniform(-0.1, 0.1, 6)
            target = q + rng.uniform(-0.1, 0.1, 6)
            M = dynamics.mass_matrix(q)
            force = M @ v + H * (K * (target - q) - dynamics.bias(q, v))
            expected = np.linalg.solve(M + np.diag(H * D + H**2 * K), force)
            simulation.reset(joint_state(q, v))
            simulation.step(target)
            assert simulation.state().v == pytest.approx(expected, rel=2e-3, abs=1e-4)

    @pytest.mark.parametrize("name", ["panda", "husky4-panda"])
    def test_accelerations_tend_to_those_of_pinocchio(self, name):
        """Hinges and slides, a fixed and a free base; extrapolated to a step of no length."""
        model = load_robot(name)
        model = replace(
            model, joints=tuple(replace(j, mimic=None, limits=JointLimits()) for j in model.joints)
        )
        free, n = model.free_base, len(model.moving_joints)
        dynamics = RobotDynamics(model, free_base=free)
        rng = np.random.default_rng(2)
        poses = np.concatenate([rng.normal(size=3), [0.5, 0.5, -0.5, 0.5]])[np.newaxis][: 1 * free]
        q, v, tau = rng.uniform(-1, 1, n), rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)
        twists = rng.uniform(-1, 1, (1, 6))[: 1 * free]
        a = dynamics.forward_dynamics(
            np.concatenate([poses.ravel(), q]),
            np.concatenate([twists.ravel(), v]),
            np.concatenate([np.zeros(6 * free), tau]),
        )[6 * free :]
        reached = []
        for h in (H, 2 * H):
            base = Base.FREE if free else Base.FIXED
            simulation = simulate(driven(model, TORQUE, base=base), timestep=h)
            simulation.reset(joint_state(q, v, poses, twists))
            simulation.step(tau)
            reached.append((simulation.state().v - v) / h)
        assert 2 * reached[0] - reached[1] == pytest.approx(a, rel=2e-3, abs=2e-3)

    def test_inner_forces_of_a_slide_move_no_centre(self):
        hull = flyer()
        slide = replace(hull.joints[0], type=JointType.PRISMATIC, axis=X_AXIS)
        model = replace(hull, joints=(slide,))
        simulation = simulate(driven(model, TORQUE, base=Base.FREE), gravity=WEIGHTLESS)
        simulation.step(np.array([1.0]), 300)
        state = simulation.state()
        full_q = np.concatenate([state.poses[0], state.q])
        full_v = np.concatenate([state.twists[0], state.v])
        assert np.linalg.norm(RobotDynamics(model).momentum(full_q, full_v)) < 1e-5
        assert state.v[0] > 0.2


class TestCouplings:
    @pytest.mark.parametrize("multiplier", [1.0, -2.0, 5.0, -0.3])
    def test_siblings_move_as_one_inertia(self, multiplier):
        model = fingers(multiplier=multiplier, offset=0.01)
        robot = driven(model, positions={"follow": 0.01})
        simulation = simulate(robot, gravity=WEIGHTLESS)
        simulation.step(np.array([0.3, 0.1]), 300)
        lead, follow = simulation.state().q
        assert follow == pytest.approx(multiplier * lead + 0.01, abs=1e-6)
        force = 0.3 + multiplier * 0.1
        expected = force * 0.3 / (0.5 + multiplier**2 * 0.3)
        assert simulation.state().v[0] == pytest.approx(expected, rel=1e-3)

    def test_followers_along_a_chain_across_other_joints(self):
        model = chain()
        follows = (None, Mimic("joint0", -0.7, 0.1), Mimic("joint0", 0.5, -0.2))
        joints = tuple(replace(j, mimic=m) for j, m in zip(model.joints, follows, strict=True))
        model = replace(model, joints=joints)
        coupling, dynamics = Coupling.of(model), RobotDynamics(model)
        q, v = coupling.positions([0.2]), np.zeros(3)
        names = [joint.name for joint in joints]
        simulation = simulate(driven(model, positions=dict(zip(names, q, strict=True))))
        tau = np.array([0.5, -0.2, 0.1])
        for _ in range(150):  # the same steps in the one coordinate that is left
            simulation.step(tau)
            M = coupling.matrix(dynamics.mass_matrix(q))
            force = coupling.forces(tau - dynamics.bias(q, v))
            v = v + H * coupling.velocities(np.linalg.solve(M, force))
            q = q + H * v
        state = simulation.state()
        assert state.q == pytest.approx(coupling.positions(state.q[:1]), abs=1e-5)
        assert state.q == pytest.approx(q, abs=5e-3)
        assert abs(v[0]) > 0.3

    def test_a_follower_of_a_follower(self):
        model = chain()
        follows = (None, Mimic("joint0", -0.7, 0.1), Mimic("joint1", 0.5, -0.2))
        joints = tuple(replace(j, mimic=m) for j, m in zip(model.joints, follows, strict=True))
        simulation = simulate(PlacedRobot("robot", replace(model, joints=joints)))
        simulation.reset(joint_state([0.0, 0.1, -0.15], np.zeros(3)))
        simulation.step(NOTHING, 500)
        a, b, c = simulation.state().q
        assert abs(a) > 0.1
        assert (b, c) == pytest.approx((0.1 - 0.7 * a, 0.5 * b - 0.2), abs=1e-5)

    def test_panda_squeezes_evenly(self):
        panda = load_robot("panda")
        names = [joint.name for joint in panda.moving_joints]
        q = {"panda_joint4": -1.5, "panda_joint6": 1.5, **dict.fromkeys(names[7:], 0.0205)}
        values = np.array([q.get(name, 0.0) for name in names])
        X = RobotDynamics(panda).link_pose(values, "panda_hand_tcp")
        cube = free_body("cube", Box((0.04, 0.04, 0.04)), mass=1.0, position=X[:3, 3],
                         rotation=X[:3, :3])  # fmt: skip
        drives = {name: Actuation(DriveMode.POSITION, 4000.0, 400.0) for name in names[:7]}
        drives[names[7]] = TORQUE
        simulation = simulate(PlacedRobot("panda", panda, positions=q, actuation=drives), cube)
        simulation.step(np.append(values[:7], -100.0), 300)
        contacts = simulation.contacts()
        grip = {"panda/panda_leftpad": 0.0, "panda/panda_rightpad": 0.0}
        for pair, force, normal in zip(
            contacts.solids, contacts.forces, contacts.normals, strict=True
        ):
            grip[simulation.layout.solids[pair[0]]] += float(force @ normal)
        assert list(grip.values()) == pytest.approx([50.0, 50.0], abs=0.5)
        # Friction bears the cube.
        assert contacts.forces.sum(axis=0)[2] == pytest.approx(-G, abs=0.1)
        state = simulation.state()
        assert state.q[7] == pytest.approx(state.q[8], abs=1e-5)


class TestLoops:
    def test_a_parallelogram_moves_as_one_coordinate(self):
        model = four_bar()
        robot = PlacedRobot("robot", model, positions={"drive": 0.3, "pin": -0.3, "rock": 0.3})
        simulation = simulate(robot)
        dynamics = RobotDynamics(model)
        along = np.array([1.0, -1.0, 1.0])  # the coupler stays level
        q, v = 0.3 * along, np.zeros(3)
        for _ in range(500):  # the same steps in that coordinate
            simulation.step(NOTHING)
            M = along @ dynamics.mass_matrix(q) @ along
            v = v - H * along * (along @ dynamics.bias(q, v)) / M
            q = q + H * v
        assert abs(q[0]) > 2.0
        assert simulation.state().q == pytest.approx(q, abs=1e-2)

    def test_a_pose_loop_makes_it_rigid(self):
        model = four_bar()
        held = replace(model, loops=(replace(model.loops[0], kind=LoopKind.POSE),))
        moved = []
        for case in (model, held):
            simulation = simulate(PlacedRobot("robot", case, actuation={"drive": TORQUE}))
            simulation.step(np.array([2.0]), 300)
            moved.append(np.abs(simulation.state().q).max())
        assert moved[0] > 0.1
        assert moved[1] < 1e-3

    def test_a_loop_to_the_world_holds_a_load(self):
        loop = Loop("peg", LoopKind.POINT, "base", "bob",
                    frozen(pose((0.3, 0, -0.4))), frozen(pose((0, 0, -0.5))))  # fmt: skip
        angle = -np.arctan2(0.3, 0.4)
        model = replace(pendulum(), loops=(loop,))
        simulation = simulate(PlacedRobot("robot", model, positions={"pivot": angle}))
        simulation.step(NOTHING, 500)
        assert simulation.state().q[0] == pytest.approx(angle, abs=1e-4)
        with pytest.raises(CapabilityError, match="joint 'pivot' inside a closed loop"):
            simulate(PlacedRobot("robot", model), sensors=(WrenchSensor("ft", "robot", "pivot"),))


class TestSensors:
    @pytest.mark.parametrize("turn", range(3))
    def test_static_load_in_any_orientation(self, turn):
        rng = np.random.default_rng(turn)
        axis = rng.normal(size=3)
        R = rotation_about(axis / np.linalg.norm(axis), rng.uniform(0, 3))
        sensors = (
            WrenchSensor("wrist", "robot", "sensor"),
            WrenchSensor("drive", "robot", "shoulder"),
        )
        model = sensed_load()
        servo = Actuation(DriveMode.POSITION, 2e4, 500.0)
        simulation = simulate(driven(model, servo, X_WB=frozen(pose((0, 0, 0), R))),
                              sensors=sensors)  # fmt: skip
        simulation.step(np.array([0.7]), 2000)
        q, dynamics = simulation.state().q, RobotDynamics(model)
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

    def test_an_accelerated_load(self):
        # About z at rate w, speeding up by b: F = -m (b x r - w^2 r) and T = -I b about z.
        arm = replace(sensed_load().joints[0], axis=frozen([0, 0, 1.0]))
        model = replace(sensed_load(), joints=(arm, sensed_load().joints[1]))
        sensors = (WrenchSensor("drive", "robot", "shoulder"),)
        simulation = simulate(driven(model), gravity=WEIGHTLESS, sensors=sensors)
        simulation.step(np.array([0.6]), 800)
        before = simulation.state().v[0]
        simulation.step(np.array([0.6]))
        w, b = before, (simulation.state().v[0] - before) / H
        center = RobotDynamics(model).center_of_mass(np.zeros(1))
        r, mass = np.array([*center[:2], 0.0]), 3.0
        force = -mass * (b * np.cross([0, 0, 1.0], r) - w**2 * r)
        read = simulation.wrench("drive")
        assert w > 0.5
        assert read[:2] == pytest.approx(force[:2], rel=5e-3, abs=2e-3)
        assert read[5] == pytest.approx(-0.6, rel=1e-3)

    def test_reads_contacts_and_pushes_on_its_own_load_alone(self):
        model = sensed_load()
        box = Geometry(Box((0.1, 0.1, 0.1)), frozen(pose((0.1, 0.02, 0.03))))
        load = replace(model.links[2], collisions=(box,))
        model = replace(model, links=(*model.links[:2], load))
        sensors = (WrenchSensor("ft", "robot", "sensor"),)
        servo = Actuation(DriveMode.POSITION, 2e4, 500.0)
        simulation = simulate(driven(model, servo), sensors=sensors)
        simulation.step(np.zeros(1), 1000)
        rest = simulation.wrench("ft")
        X_WL = RobotDynamics(model).link_pose(simulation.state().q, "load")
        for solid, felt in (("robot/load", True), ("robot/arm", False)):
            for _ in range(300):
                push = np.array([0, 0, 2.0, 0, 0, 0.5])
                simulation.apply_wrench(solid, push, X_WL[:3, 3])
                simulation.step(np.zeros(1))
            R = X_WL[:3, :3].T
            expected = np.concatenate([R @ [0, 0, 2.0], R @ [0, 0, 0.5]]) * felt
            assert simulation.wrench("ft") - rest == pytest.approx(expected, abs=5e-3)

    def test_a_sensor_below_which_nothing_moves(self):
        model = sensed_load()
        model = with_joint(model, type=JointType.FIXED)
        sensors = (WrenchSensor("ft", "robot", "sensor"),)
        simulation = simulate(PlacedRobot("robot", model), sensors=sensors)
        simulation.step(NOTHING)
        assert simulation.wrench("ft")[2] == pytest.approx(-2.0 * G, rel=1e-6)


class TestRuns:
    def test_saving_changes_nothing(self):
        plain, saved = busy_simulation(ENGINE), busy_simulation(ENGINE)
        drive(plain, 300)
        drive(saved, 300)
        saved.save()
        assert drive(plain, 100) == drive(saved, 100)

    @pytest.mark.parametrize("torque", [1e300, 1e38, 1e12])
    def test_numbers_beyond_single_precision_are_divergence(self, torque):
        simulation = simulate(driven(chain()))
        simulation.step(np.full(3, torque), 20)
        assert simulation.status is Status.DIVERGED
        simulation.reset(joint_state(np.zeros(3), np.zeros(3)))
        simulation.step(np.zeros(3), 20)
        assert simulation.status is Status.RUNNING

    def test_links_without_mass_are_named(self):
        link = Joint("middle", JointType.REVOLUTE, "base", "hub", axis=X_AXIS)
        swing = Joint("swing", JointType.REVOLUTE, "hub", "bob", axis=Y_AXIS)
        model = RobotModel("gimbal", (Link("base"), Link("hub"), pendulum().link("bob")),
                           (link, swing), SOURCE)  # fmt: skip
        simulation = simulate(PlacedRobot("robot", model, positions={"middle": 0.3}))
        assert simulation.audit().remarks == ("links without mass have 1e-06 kg: robot/hub",)
        simulation.step(NOTHING, 500)
        assert simulation.status is Status.RUNNING
        assert simulation.state().q[0] < 0.0

    def test_as_it_comes_it_bears_a_weight_but_keeps_its_friction_to_itself(self):
        cube = free_body("cube", CUBE, mass=2.0, position=(0, 0, 0.05))
        simulation = simulate(cube, ground(), gravity=tilted(0.3), options=RapierOptions.stock())
        simulation.step(NOTHING, 500)
        assert simulation.state().poses[0, 0] == pytest.approx(0.0, abs=1e-3)
        force = simulation.contacts().forces.sum(axis=0)
        assert force == pytest.approx([0, 0, 2 * G * np.cos(0.3)], rel=5e-3, abs=1e-3)
        assert "without friction" in simulation.audit().remarks[0]

    @pytest.mark.parametrize("name", ["substeps", "contact_frequency", "prediction_distance"])
    def test_refuses_options_it_would_panic_at(self, name):
        for value in (-1, np.nan):
            with pytest.raises(KinetariumError, match=f"option {name} .*cannot be {value}"):
                RapierOptions(**{name: value})

    def test_iterations_are_its_sweeps(self):
        assert RapierOptions().with_iterations(7).iterations == 7
        assert RapierOptions().with_iterations(0) == RapierOptions()
