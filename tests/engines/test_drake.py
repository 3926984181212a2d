"""Drake against closed forms, Pinocchio and the letter of the engine protocol."""

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
from kinetarium import check_engine
from kinetarium.dynamics import RobotDynamics
from kinetarium.engines.conformance import CHECKS
from kinetarium.engines.conformance.models import (
    X_AXIS,
    Y_AXIS,
    Z_AXIS,
    chain,
    fingers,
    flyer,
    four_bar,
    rotor,
    sensed_load,
    solid_link,
)
from kinetarium.engines.drake import Approximation, ContactModel, DrakeOptions, EngineDrake
from kinetarium.engines.protocol import CapabilityError
from kinetarium.model.load import catalogue_entry, load_catalogue_robot
from kinetarium.model.robot import (
    Box,
    Cylinder,
    Inertia,
    Joint,
    JointLimits,
    JointType,
    Link,
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
    Motion,
    PlacedRobot,
    SceneError,
    WrenchSensor,
    free_body,
    ground,
)
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import pose, rotation_about
from needs import need

need("drake")
pytestmark = pytest.mark.engine

ENGINE = EngineDrake()
start = partial(compiled, ENGINE)


class TestEquationOfMotion:
    """M and inverse dynamics at moving states, against Pinocchio."""

    @pytest.mark.parametrize("base", Base)
    @pytest.mark.parametrize("robot", ["panda", "ur5", "kr250", "husky4"])
    def test_catalogue(self, robot: str, base: Base) -> None:
        model = load_catalogue_robot(robot)
        free = base is Base.FREE
        dynamics = RobotDynamics(model, free_base=free)
        simulation = start(driven(model, base=base))
        rng = np.random.default_rng(1)
        n = len(simulation.layout.joints)
        for _ in range(20):
            poses = rng.normal(size=(int(free), 7))
            poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
            twists = rng.normal(size=(int(free), 6))
            state = joint_state(rng.uniform(-1, 1, n), rng.uniform(-2, 2, n), poses, twists)
            q, v = np.append(poses.ravel(), state.q), np.append(twists.ravel(), state.v)
            a = rng.uniform(-5, 5, len(v))
            simulation.reset(state)
            M, tau = dynamics.mass_matrix(q), dynamics.inverse_dynamics(q, v, a)
            np.testing.assert_allclose(
                simulation.mass_matrix("robot"), M, rtol=0, atol=1e-12 * np.abs(M).max()
            )
            np.testing.assert_allclose(
                simulation.inverse_dynamics("robot", a), tau, rtol=0,
                atol=1e-12 * np.abs(tau).max(),
            )  # fmt: skip

    @pytest.mark.parametrize("drive", [DriveMode.TORQUE, DriveMode.PASSIVE, DriveMode.VELOCITY])
    def test_drives_count_by_their_inertia_alone(self, drive: DriveMode) -> None:
        changes = {"armature": 0.01, "damping": 0.3, "friction": 0.2}
        model = with_joint(flyer(), **changes)
        dynamics = RobotDynamics(model, free_base=True)
        simulation = start(driven(model, Actuation(drive, damping=1.0), base=Base.FREE))
        a = np.array([1.0, -2.0, 0.5, 3.0, -1.0, 2.0, 4.0])
        q = np.concatenate([[0.1, 0.2, 0.3], np.array([1, 2, 3, 4]) / np.sqrt(30), [0.4]])
        v = np.array([1.0, 2, 3, 4, 5, 6, 7])
        simulation.reset(joint_state(q[7:], v[6:], q[np.newaxis, :7], v[np.newaxis, :6]))
        M, tau = dynamics.mass_matrix(q), dynamics.inverse_dynamics(q, v, a)
        np.testing.assert_allclose(simulation.mass_matrix("robot"), M, atol=1e-12 * M.max())
        np.testing.assert_allclose(
            simulation.inverse_dynamics("robot", a), tau, atol=1e-12 * np.abs(tau).max()
        )

    def test_robots_beside_each_other(self) -> None:
        one, other = load_catalogue_robot("ur5"), chain()
        simulation = start(
            driven(one), replace(driven(other), name="other"), free_body("cube", CUBE, mass=1.0)
        )
        rng = np.random.default_rng(3)
        q, v = rng.uniform(-1, 1, 9), rng.uniform(-1, 1, 9)
        simulation.reset(replace(simulation.state(), q=q, v=v))
        for name, model, own in (("robot", one, slice(0, 6)), ("other", other, slice(6, 9))):
            dynamics, a = RobotDynamics(model), rng.uniform(-1, 1, own.stop - own.start)
            M = dynamics.mass_matrix(q[own])
            tau = dynamics.inverse_dynamics(q[own], v[own], a)
            np.testing.assert_allclose(simulation.mass_matrix(name), M, atol=1e-12 * M.max())
            np.testing.assert_allclose(
                simulation.inverse_dynamics(name, a), tau, atol=1e-12 * np.abs(tau).max()
            )

    def test_one_step_of_a_free_base(self) -> None:
        model = flyer()
        dynamics = RobotDynamics(model, free_base=True)
        simulation = start(driven(model, base=Base.FREE), timestep=1e-6)
        rng = np.random.default_rng(5)
        for _ in range(5):
            poses, twists = rng.normal(size=(1, 7)), rng.normal(size=(1, 6))
            poses[:, 3:] /= np.linalg.norm(poses[:, 3:])
            state = joint_state(rng.normal(size=1), rng.normal(size=1), poses, twists)
            q, v = np.append(poses[0], state.q), np.append(twists[0], state.v)
            simulation.reset(state)
            simulation.step(np.array([1.5]))
            after = simulation.state()
            reached = (np.append(after.twists[0], after.v) - v) / 1e-6
            expected = dynamics.forward_dynamics(q, v, np.array([0, 0, 0, 0, 0, 0, 1.5]))
            np.testing.assert_allclose(reached, expected, atol=1e-7)

    def test_an_arm_of_the_catalogue_falls_as_pinocchio_says(self) -> None:
        model = load_catalogue_robot("ur5")
        dynamics = RobotDynamics(model)
        simulation = start(driven(model))
        q, v = np.array([0.1, -0.5, 0.7, 0.2, 0.4, 0.3]), np.full(6, 0.2)
        simulation.reset(joint_state(q, v))
        for _ in range(100):
            v = v + H * dynamics.forward_dynamics(q, v, np.zeros(6))
            q = q + H * v
            simulation.step(np.zeros(6))
        np.testing.assert_allclose(simulation.state().q, q, atol=1e-12)

    def test_quaternions_stay_of_unit_length(self) -> None:
        simulation = start(free_body("b", CUBE, mass=1.0, twist=(0, 0, 0, 90, 20, 30)))
        simulation.step(NOTHING, 500)
        assert np.linalg.norm(simulation.state().poses[0, 3:]) == pytest.approx(1.0, abs=1e-15)


class TestJoints:
    @pytest.mark.parametrize("drive", [DriveMode.TORQUE, DriveMode.PASSIVE])
    def test_coulomb_friction_slows(self, drive: DriveMode) -> None:
        model = with_joint(rotor(), friction=0.1, armature=0.05)
        inertia = model.link("bar").inertia.moment[2, 2] + 0.05
        simulation = start(driven(model, Actuation(drive)), gravity=WEIGHTLESS)
        simulation.reset(joint_state([0.0], [3.0]))
        simulation.step(np.zeros(len(simulation.layout.commands)), 200)
        assert simulation.state().v[0] == pytest.approx(3.0 - 0.1 / inertia * 0.2, rel=1e-6)

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
        else:
            assert (q > 0.4) == (limits.upper == inf)
            assert q < limits.upper + 1e-3

    @pytest.mark.parametrize("gain", [5e3, 5e7])
    def test_velocity_servo_is_implicit(self, gain: float) -> None:
        servo = Actuation(DriveMode.VELOCITY, damping=gain)
        simulation = start(driven(rotor(), servo), gravity=WEIGHTLESS)
        simulation.step(np.array([2.0]), 3)
        assert simulation.state().v[0] == pytest.approx(2.0, rel=1e-3)

    def test_position_servo_is_implicit(self) -> None:
        servo = Actuation(DriveMode.POSITION, stiffness=1e6)
        simulation = start(driven(rotor(), servo), gravity=WEIGHTLESS)
        simulation.step(np.array([0.3]), 200)
        assert simulation.state().q[0] == pytest.approx(0.3, abs=1e-3)

    def test_drives_of_every_kind_in_one_robot(self) -> None:
        drives = {
            "joint0": Actuation(DriveMode.POSITION, stiffness=500.0, damping=50.0),
            "joint1": TORQUE,
            "joint2": Actuation(DriveMode.VELOCITY, damping=20.0),
        }
        model = chain()
        simulation = start(PlacedRobot("robot", model, actuation=drives), gravity=WEIGHTLESS)
        simulation.step(np.array([0.3, 0.0, 1.0]), 500)
        state = simulation.state()
        assert state.q[0] == pytest.approx(0.3, abs=0.02)
        assert state.v[2] == pytest.approx(1.0, abs=0.05)

    def test_the_force_of_the_leader_moves_both(self) -> None:
        # Virtual work: (m1 + k^2 m2) a = f.
        model = fingers(multiplier=-2.0, offset=0.01)
        robot = PlacedRobot("robot", model, positions={"follow": 0.01}, actuation={"lead": TORQUE})
        simulation = start(robot)
        simulation.step(np.array([0.3]), 100)
        state = simulation.state()
        assert state.v[0] == pytest.approx(0.3 * 0.1 / (0.5 + 4 * 0.3), rel=1e-5)
        assert state.q[1] == pytest.approx(-2.0 * state.q[0] + 0.01, abs=1e-8)

    @pytest.mark.parametrize("kind", LoopKind)
    def test_a_closed_loop_carries(self, kind: LoopKind) -> None:
        # Two cantilevers that meet at their tips: either alone would fall.
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
        tie = replace(
            four_bar().loops[0], kind=kind, link_a="left", link_b="right",
            X_AC=frozen(pose((0.4, 0, 0))), X_BC=frozen(pose((-0.4, 0, 0))),
        )  # fmt: skip
        model = RobotModel("beam", links, joints, SOURCE, (tie,))
        sensor = WrenchSensor("ft", "robot", "a")
        simulation = start(PlacedRobot("robot", model), sensors=(sensor,))
        simulation.step(NOTHING, 300)
        # Bars in one line hold only once they have sunk a little.
        assert np.abs(simulation.state().q).max() < 5e-3
        # Each end carries half of the whole, if the tie's force is counted.
        R_WL = rotation_about(Y_AXIS, simulation.state().q[0])
        assert (R_WL @ simulation.wrench("ft")[:3])[2] == pytest.approx(-9.81, rel=1e-3)


class TestAudit:
    def test_links_fixed_together_count_as_one(self) -> None:
        model = with_joint(
            sensed_load(), damping=0.1, friction=0.2, armature=0.3, limits=JointLimits(-1.0, 2.0)
        )
        expected = next(body for body in rigid_tree(model) if body.name == "arm").inertia
        for sensors in ((), (WrenchSensor("ft", "robot", "sensor"),)):
            audit = start(driven(model), gravity=frozen([1.0, 2.0, 3.0]), sensors=sensors).audit()
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

    def test_no_mass_is_made_up(self) -> None:
        model = load_catalogue_robot("ur5")
        audit = start(driven(model)).audit()
        moving = [body.inertia.mass for body in rigid_tree(model) if body.joint and body.inertia]
        assert sum(solid.inertia.mass for solid in audit.solids) == pytest.approx(
            sum(moving), rel=1e-14
        )

    def test_says_where_it_differs(self) -> None:
        can = free_body("can", Cylinder(0.1, 0.2), mass=1.0)
        assert any("one point" in remark for remark in start(can, ground()).audit().remarks)
        assert start(free_body("cube", CUBE, mass=1.0), ground()).audit().remarks == ()


class TestContacts:
    def test_who_presses_whom(self) -> None:
        simulation = start(ground(), free_body("cube", CUBE, mass=2.0, position=(0, 0, 0.05)))
        simulation.step(NOTHING, 500)
        contacts = simulation.contacts()
        names = [tuple(simulation.layout.solids[i] for i in pair) for pair in contacts.solids]
        signs = np.array([1.0 if first == "cube" else -1.0 for first, _ in names])
        assert set(names) <= {("cube", "ground"), ("ground", "cube")}
        np.testing.assert_allclose(contacts.normals * signs[:, None], [[0, 0, 1]], atol=1e-6)
        np.testing.assert_allclose(signs @ contacts.forces, [0, 0, 2 * 9.81], atol=1e-4)
        np.testing.assert_allclose(contacts.points[0], 0.0, atol=1e-5)
        sunk = 0.05 - simulation.state().poses[0, 2]
        assert 0 < contacts.depths[0] == pytest.approx(sunk, rel=1e-3)

    def test_the_point_is_the_centre_of_pressure(self) -> None:
        # A cube whose mass sits off its middle.
        inertia = Inertia(1.0, frozen([0.02, -0.01, 0.0]), frozen(1e-3 * np.eye(3)))
        body = Body("cube", CUBE, Motion.FREE, inertia, frozen(pose((0, 0, 0.05))))
        simulation = start(ground(), body)
        simulation.step(NOTHING, 300)
        contacts = simulation.contacts()
        np.testing.assert_allclose(contacts.points[0, :2], [0.02, -0.01], atol=1e-4)

    @pytest.mark.parametrize("first", [True, False])
    def test_a_ball_touches_at_a_point(self, first: bool) -> None:
        ball = free_body("ball", Sphere(0.1), mass=2.0, position=(0.3, 0, 0.1))
        simulation = start(*((ball, ground()) if first else (ground(), ball)))
        simulation.step(NOTHING, 200)
        contacts = simulation.contacts()
        (pair,) = contacts.solids
        sign = 1.0 if simulation.layout.solids[pair[0]] == "ball" else -1.0
        np.testing.assert_allclose(sign * contacts.forces[0], [0, 0, 2 * 9.81], atol=1e-6)
        np.testing.assert_allclose(sign * contacts.normals[0], [0, 0, 1], atol=1e-9)
        assert contacts.depths[0] == pytest.approx(2 * 9.81 / 1.5e5, rel=1e-3)

    def test_surfaces_of_three_kinds(self) -> None:
        # Ice on ice, wood on ice, wood on wood: each slows by the rule.
        kinds = {"ice": 0.1, "wood": 0.4}
        rule = ENGINE.info.friction_rule
        for floor, mu in kinds.items():
            cubes = [
                free_body(
                    name,
                    CUBE,
                    mass=1.0,
                    position=(0, i, 0.05),
                    material=Material(kinds[name]),
                    twist=(2.0, 0, 0, 0, 0, 0),
                )
                for i, name in enumerate(kinds)
            ]
            simulation = start(*cubes, ground(Material(mu), name=f"{floor} floor"))
            simulation.step(NOTHING, 50)
            before = simulation.state().twists[:, 0]
            simulation.step(NOTHING, 100)
            slowed = (before - simulation.state().twists[:, 0]) / 0.1
            expected = [rule.combine(mu, kind) * 9.81 for kind in kinds.values()]
            np.testing.assert_allclose(slowed, expected, rtol=0.01)
            assert len(simulation.contacts().depths) == 2

    def test_skidding_wheels_turn_a_rover(self) -> None:
        # The track multiplier that Coulomb friction gives for the Husky's centre of mass.
        model, height = load_catalogue_robot("husky4"), catalogue_entry("husky4").base_height
        rover = driven(
            model, Actuation(DriveMode.VELOCITY, damping=200.0), base=Base.FREE,
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
        assert multiplier == pytest.approx(1.54, abs=0.03)

    def test_a_gripper_holds(self) -> None:
        pad = Box((0.02, 0.02, 0.02))
        links = (
            Link("base"),
            solid_link("left", pad, mass=0.1, touches=True),
            solid_link("right", pad, mass=0.1, touches=True),
        )
        limits = JointLimits(-0.1, 0.1, effort=100.0)
        joints = tuple(
            Joint(name, JointType.PRISMATIC, "base", name, frozen(pose((x, 0, 0.5))), axis, limits)
            for name, x, axis in (("left", -0.03, X_AXIS), ("right", 0.03, -X_AXIS))
        )
        servo = Actuation(DriveMode.POSITION, stiffness=1e5, damping=1e3)
        robot = driven(RobotModel("gripper", links, joints, SOURCE), servo)
        cube = free_body("cube", Box((0.04, 0.04, 0.04)), mass=1.0, position=(0, 0, 0.5))
        simulation = start(robot, cube)
        simulation.step(np.full(2, 0.05), 300)
        before = simulation.state().poses[0]
        simulation.step(np.full(2, 0.05), 500)
        contacts = simulation.contacts()
        np.testing.assert_allclose(np.abs(contacts.forces[:, 0]), 100.0, rtol=1e-6)
        assert contacts.depths.max() < 2e-4
        np.testing.assert_allclose(simulation.state().poses[0, :3], before[:3], atol=2e-5)


class TestRuns:
    def test_what_drake_refuses_is_a_scene_error(self) -> None:
        moment = frozen(np.diag([0.01, 0.01, 0.1]))
        impossible = Body("b", Sphere(0.1), Motion.FREE, Inertia(1.0, frozen(np.zeros(3)), moment))
        with pytest.raises(SceneError, match="inertia"):
            start(impossible)
        flat = TriangleMesh(
            frozen([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]), np.zeros((1, 3), np.int32)
        )
        with pytest.raises(SceneError, match="plate"):
            start(Body("plate", MeshData("plate", flat)), free_body("b", CUBE, mass=1.0))
        links = (Link("base"), Link("nothing"))
        joint = Joint("turn", JointType.REVOLUTE, "base", "nothing", axis=Z_AXIS)
        with pytest.raises(SceneError, match="no inertia"):
            start(driven(RobotModel("idle", links, (joint,), SOURCE)))

    def test_what_drake_cannot_do(self) -> None:
        with pytest.raises(CapabilityError, match="restitution"):
            start(ground(Material(0.5, 0.5)))


class TestOptions:
    @pytest.mark.parametrize("approximation", Approximation)
    @pytest.mark.parametrize("contact_model", ContactModel)
    def test_every_choice_carries_a_weight(self, approximation, contact_model) -> None:
        options = DrakeOptions(approximation=approximation, contact_model=contact_model)
        ball = free_body("ball", Sphere(0.1), mass=1.0, position=(0, 0, 0.1))
        simulation = start(ball, ground(), options=options)
        simulation.step(NOTHING, 300)
        assert np.abs(simulation.contacts().forces[:, 2].sum()) == pytest.approx(9.81, rel=5e-3)

    def test_stock_is_drake_as_it_comes(self) -> None:
        from pydrake.geometry import SceneGraphConfig
        from pydrake.multibody.plant import MultibodyPlantConfig

        stock, plant = DrakeOptions.stock(), MultibodyPlantConfig()
        proximity = SceneGraphConfig().default_proximity_properties
        assert (stock.approximation, stock.near_rigid, stock.stiction_speed) == (
            plant.discrete_contact_approximation,
            plant.sap_near_rigid_threshold,
            plant.stiction_tolerance,
        )
        assert (stock.modulus, stock.stiffness, stock.dissipation, stock.relaxation_time) == (
            proximity.hydroelastic_modulus,
            proximity.point_stiffness,
            proximity.hunt_crossley_dissipation,
            proximity.relaxation_time,
        )
        assert proximity.compliance_type == "undefined"
        assert stock.contact_model is ContactModel.POINT


def test_hard_points_lose_their_friction_when_a_robot_lands() -> None:
    """The check that is made for it sees it."""

    class HardPoints(EngineDrake):
        def compile(self, scene, **settings):
            options = DrakeOptions(stiffness=1e8, dissipation=200.0)
            return super().compile(scene, **settings | {"options": options})

    checks = [check for check in CHECKS if check.name == "touch-down"]
    (hard,) = check_engine(HardPoints(), checks=checks)
    (own,) = check_engine(EngineDrake(), checks=checks)
    assert hard.measurement.value < 0.5 * hard.measurement.expected
    assert own.passed
