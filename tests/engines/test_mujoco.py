"""MuJoCo against closed forms, Pinocchio and the letter of the engine protocol."""

from dataclasses import replace
from functools import partial
from math import inf

import numpy as np
import pytest

from engines.staging import (
    CUBE,
    NOTHING,
    SOURCE,
    WEIGHTLESS,
    H,
    compiled,
    driven,
    joint_state,
    with_joint,
)
from kinetarium.dynamics import RobotDynamics
from kinetarium.engines.base.engine import ALLOW_FAULTY
from kinetarium.engines.conformance.models import (
    Y_AXIS,
    flyer,
    four_bar,
    rotor,
    sensed_load,
    solid_link,
)
from kinetarium.engines.mujoco import Cone, EngineMujoco, Integrator, MujocoOptions, Solver
from kinetarium.engines.protocol import CapabilityError, State
from kinetarium.engines.registry import EngineUnavailableError, open_engine
from kinetarium.model.load import catalogue_entry, load_catalogue_robot
from kinetarium.model.robot import (
    Box,
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
    free_body,
    ground,
)
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import (
    pose,
)

pytestmark = pytest.mark.engine

ENGINE = EngineMujoco()
start = partial(compiled, ENGINE)


class TestJoints:
    def test_armature_resists(self) -> None:
        model = with_joint(rotor(), armature=0.02)
        inertia = model.link("bar").inertia.moment[2, 2] + 0.02
        simulation = start(driven(model), gravity=WEIGHTLESS)
        simulation.step(np.array([0.1]), 100)
        assert simulation.state().v[0] == pytest.approx(0.01 / inertia, rel=1e-9)
        assert simulation.mass_matrix("robot")[0, 0] == pytest.approx(inertia, rel=1e-12)

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
        servo = Actuation(DriveMode.VELOCITY, damping=5e3)
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


class TestAudit:
    def test_links_fixed_together_count_as_one(self) -> None:
        model = with_joint(
            sensed_load(), damping=0.1, friction=0.2, armature=0.3, limits=JointLimits(-1.0, 2.0)
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
        assert multiplier == pytest.approx(1.54, abs=0.06)


class TestRestitution:
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


class TestRuns:
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


class TestVersions:
    def test_a_faulty_version_is_refused_unless_it_is_allowed(self, monkeypatch) -> None:
        import mujoco

        monkeypatch.setattr(mujoco, "__version__", "4.0.0")
        monkeypatch.delenv(ALLOW_FAULTY, raising=False)
        with pytest.raises(EngineUnavailableError, match=r"MuJoCo 4\.0\.0 .* Cholesky"):
            open_engine("mujoco")
        with pytest.raises(ImportError, match="Cholesky"):
            start(ground())
        monkeypatch.setenv(ALLOW_FAULTY, "1")
        assert open_engine("mujoco").info.version == "4.0.0"
        start(ground())


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
        servo = Actuation(DriveMode.POSITION, stiffness=1e6)
        options = MujocoOptions(integrator=Integrator.DISCRETE)
        simulation = start(driven(rotor(), servo), gravity=WEIGHTLESS, options=options)
        simulation.step(np.array([0.3]), 200)
        assert simulation.state().q[0] == pytest.approx(0.3, abs=1e-3)
