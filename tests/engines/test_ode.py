"""ODE beyond the conformance kit: what the adapter adds, against closed forms and Pinocchio."""

import subprocess
import sys
from dataclasses import replace
from functools import partial
from math import inf, pi
from pathlib import Path

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
from kinetarium.engines.ode import EngineOde, OdeOptions, OdeSolver, library
from kinetarium.engines.protocol import Capability, Simulation, State, Status
from kinetarium.errors import KinetariumError
from kinetarium.model.load import catalogue_entry, load_robot
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import (
    Box,
    Capsule,
    Cylinder,
    Joint,
    JointLimits,
    JointType,
    Link,
    LoopKind,
    MeshData,
    Mimic,
    RobotModel,
    Shape,
    Sphere,
)
from kinetarium.scene import (
    Actuation,
    Base,
    Body,
    DriveMode,
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

need("ode")

pytestmark = pytest.mark.engine

ENGINE = EngineOde()
start = partial(compiled, ENGINE)
QUICK = OdeOptions(solver=OdeSolver.QUICK, iterations=20)


def bar_inertia(model: RobotModel) -> float:
    inertia = model.link("bar").inertia
    assert inertia is not None
    return float(inertia.moment[2, 2])


def swivel_slide() -> RobotModel:
    """A bead of 1 kg that slides along a light rod, which turns about z."""
    links = (
        Link("base"),
        solid_link("rod", Box((0.4, 0.02, 0.02)), mass=0.5, at=(0.1, 0.02, 0.0)),
        solid_link("bead", Box((0.05, 0.05, 0.05)), mass=1.0, at=(0.03, 0.01, 0.02)),
    )
    joints = (
        Joint("turn", JointType.CONTINUOUS, "base", "rod", frozen(pose((0.1, 0.2, 0.3))), Z_AXIS),
        Joint(
            "slide", JointType.PRISMATIC, "rod", "bead",
            frozen(pose((0.1, 0.05, 0.0), rotation_about(Z_AXIS, 0.4))), X_AXIS,
        ),
    )  # fmt: skip
    return RobotModel("swivel slide", links, joints, SOURCE)


class TestLibrary:
    def test_tells_its_version(self) -> None:
        info = ENGINE.info
        assert (info.name, info.title) == ("ode", "Open Dynamics Engine")
        assert info.version[0].isdigit()
        assert Capability.CLOSED_LOOPS in info.capabilities

    def test_what_does_not_serve_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(library, "_candidates", lambda: ["./nowhere.so", "libm.so.6"])
        with pytest.raises(ImportError, match=r"nowhere\.so.*libm"):
            library.load.__wrapped__()

    def test_single_precision_does_not_serve(self) -> None:
        class Single:
            def dGetConfiguration(self) -> bytes:  # noqa: N802
                return b"ODE ODE_EXT_trimesh ODE_single_precision"

        assert "single" in library._lack(Single())  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        "wrong",
        [{"iterations": 0}, {"erp": 1.5}, {"contact_cfm": -1.0}, {"relaxation": 2.0}, {"cfm": inf}],
    )
    def test_options_out_of_range_are_refused(self, wrong: dict[str, float]) -> None:
        with pytest.raises(KinetariumError, match=next(iter(wrong))):
            OdeOptions(**wrong)  # type: ignore[arg-type]


class TestDynamics:
    def test_an_arm_of_the_catalogue_steps_as_pinocchio_says(self) -> None:
        model = load_robot("panda")
        joints = tuple(replace(joint, mimic=None, armature=0.1) for joint in model.joints)
        model = replace(model, joints=joints)
        dynamics = RobotDynamics(model)
        simulation = start(driven(model))
        rng = np.random.default_rng(2)
        worst = 0.0
        for _ in range(10):
            q = np.array([0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8, 0.02, 0.02])
            q[:7] += rng.uniform(-0.3, 0.3, 7)
            v = rng.uniform(-1, 1, 9) * np.repeat([2.0, 0.1], [7, 2])
            tau = rng.uniform(-10, 10, 9)
            simulation.reset(joint_state(q, v))
            simulation.step(tau)
            expected = dynamics.forward_dynamics(q, v, tau)
            worst = max(worst, float(np.abs((simulation.state().v - v) / H - expected).max()))
        assert worst < 5e-4

    def test_a_slide_on_a_turning_rod(self) -> None:
        model = swivel_slide()
        dynamics = RobotDynamics(model)
        simulation = start(driven(model))
        rng = np.random.default_rng(3)
        for _ in range(5):
            q, v = rng.uniform(-1, 1, 2) * [3.0, 0.2], rng.uniform(-1, 1, 2) * [4.0, 1.0]
            tau = rng.uniform(-1, 1, 2)
            simulation.reset(joint_state(q, v))
            np.testing.assert_array_equal(simulation.state().v, v)
            simulation.step(tau)
            reached = (simulation.state().v - v) / H
            np.testing.assert_allclose(reached, dynamics.forward_dynamics(q, v, tau), atol=1e-4)

    def test_a_slide_keeps_angular_momentum(self) -> None:
        # Free of torque about z, M00(q) v0 stays; the bead flies out along the rod.
        model = swivel_slide()
        dynamics = RobotDynamics(model)
        simulation = start(driven(model), gravity=WEIGHTLESS)
        simulation.reset(joint_state([0.0, 0.0], [2.0, 0.0]))

        def momentum(state: State) -> float:
            return float(dynamics.mass_matrix(state.q)[0] @ state.v)

        before = momentum(simulation.state())
        simulation.step(np.zeros(2), 500)
        after = simulation.state()
        assert after.q[1] > 0.05
        assert momentum(after) == pytest.approx(before, rel=2e-3)

    def test_a_free_base_steps_as_pinocchio_says(self) -> None:
        model = flyer()
        dynamics = RobotDynamics(model, free_base=True)
        simulation = start(driven(model, base=Base.FREE))
        rng = np.random.default_rng(5)
        for _ in range(5):
            quaternion = rng.normal(size=4)
            quaternion /= np.linalg.norm(quaternion)
            poses = np.concatenate([rng.normal(size=3), quaternion])[np.newaxis]
            given = joint_state(
                rng.normal(size=1), rng.normal(size=1), poses, rng.normal(size=(1, 6))
            )
            q = np.concatenate([poses[0], given.q])
            v = np.concatenate([given.twists[0], given.v])
            tau = np.array([0, 0, 0, 0, 0, 0, 1.5])
            simulation.reset(given)
            np.testing.assert_array_equal(simulation.state().twists, given.twists)
            simulation.step(tau[6:])
            after = simulation.state()
            reached = (np.concatenate([after.twists[0], after.v]) - v) / H
            expected = dynamics.forward_dynamics(q, v, tau)
            np.testing.assert_allclose(reached[3:], expected[3:], atol=1e-4)
            # The centre of mass is integrated and the origin read, h w^3 r apart.
            np.testing.assert_allclose(reached[:3], expected[:3], atol=5e-3)

    def test_a_running_arm_keeps_its_energy(self) -> None:
        model = chain()
        dynamics = RobotDynamics(model)
        simulation = start(driven(model))
        simulation.reset(joint_state([0.5, 0.4, 0.3], [1.0, -1.0, 0.5]))

        def energy(state: State) -> float:
            return dynamics.kinetic_energy(state.q, state.v) + dynamics.potential_energy(state.q)

        before, top = energy(simulation.state()), 0.0
        for _ in range(20):
            simulation.step(np.zeros(3), 25)
            top = max(top, dynamics.kinetic_energy(simulation.state().q, simulation.state().v))
        assert energy(simulation.state()) == pytest.approx(before, abs=0.02 * top)


class TestJoints:
    def test_armature_adds_to_the_inertia(self) -> None:
        model = with_joint(rotor(), armature=0.02, damping=0.01)
        simulation = start(driven(model), gravity=WEIGHTLESS)
        v = 0.0
        for _ in range(50):
            v = (v + H * 0.1 / (bar_inertia(model) + 0.02)) / (
                1 + H * 0.01 / (bar_inertia(model) + 0.02)
            )
        simulation.step(np.array([0.1]), 50)
        assert simulation.state().v[0] == pytest.approx(v, rel=1e-9)

    def test_position_servo_is_the_implicit_spring(self) -> None:
        model = rotor()
        servo = Actuation(DriveMode.POSITION, stiffness=80.0, damping=0.3)
        simulation = start(driven(model, servo), gravity=WEIGHTLESS)
        simulation.step(np.array([0.7]), 40)
        q = v = 0.0
        for _ in range(40):
            v = (v + H * 80.0 * (0.7 - q) / bar_inertia(model)) / (
                1 + H * (0.3 + H * 80.0) / bar_inertia(model)
            )
            q += H * v
        state = simulation.state()
        assert (state.q[0], state.v[0]) == pytest.approx((q, v), rel=1e-8)

    def test_velocity_servo_is_implicit(self) -> None:
        # Explicitly, h damping / inertia = 300 would explode within a few steps.
        servo = Actuation(DriveMode.VELOCITY, damping=5e3)
        simulation = start(driven(rotor(), servo), gravity=WEIGHTLESS)
        simulation.step(np.array([2.0]), 3)
        assert simulation.state().v[0] == pytest.approx(2.0, rel=1e-3)

    def test_servo_pushed_into_a_stop_keeps_its_law(self) -> None:
        # ODE's own motor would push with all it has; a stop and a servo are two rows here.
        model = with_joint(rotor(), limits=JointLimits(-1.0, 0.5, effort=100.0))
        servo = Actuation(DriveMode.POSITION, stiffness=10.0, damping=1.0)
        sensor = WrenchSensor("ft", "robot", "spindle")
        simulation = start(driven(model, servo), gravity=WEIGHTLESS, sensors=(sensor,))
        simulation.step(np.array([0.8]), 1500)
        assert simulation.state().q[0] == pytest.approx(0.5, abs=1e-6)
        # Spring and stop cancel: nothing passes through the joint about its axis.
        np.testing.assert_allclose(simulation.wrench("ft"), 0.0, atol=1e-6)
        simulation.step(np.array([-0.8]), 2000)
        assert simulation.state().q[0] == pytest.approx(-0.8, abs=1e-4)

    @pytest.mark.parametrize(
        "limits",
        [
            JointLimits(-0.3, 0.4),
            JointLimits(-2.9, 2.9),
            JointLimits(-pi, pi),
            JointLimits(-3.3, 3.3),
            JointLimits(-2 * pi, 2 * pi),
            JointLimits(-6.1, 6.1),
            JointLimits(1.0, 9.0),
            JointLimits(-inf, 7.0),
            JointLimits(-7.0, inf),
        ],
        ids=lambda limits: f"{limits.lower:.2f}..{limits.upper:.2f}",
    )
    @pytest.mark.parametrize("effort", [0.5, -0.5])
    def test_stops_stop_wherever_they_are(self, limits: JointLimits, effort: float) -> None:
        model = with_joint(rotor(), limits=limits, type=JointType.REVOLUTE)
        begin = 1.2 if limits.lower > 0 else 0.1
        simulation = start(driven(model, positions={"spindle": begin}), gravity=WEIGHTLESS)
        (joint,) = simulation.audit().joints
        assert (joint.lower, joint.upper) == pytest.approx((limits.lower, limits.upper))
        simulation.step(np.array([effort]), 1500)
        stop = limits.upper if effort > 0 else limits.lower
        q = simulation.state().q[0]
        if np.isfinite(stop):
            assert q == pytest.approx(stop, abs=1e-3)
            # And it leaves the stop again.
            simulation.step(np.array([-effort / 10]), 300)
            assert abs(simulation.state().q[0] - stop) > 0.03
        else:
            assert abs(q) > 15

    def test_from_one_stop_to_the_other_unseen(self) -> None:
        model = with_joint(rotor(), limits=JointLimits(-2.9, 2.9), type=JointType.REVOLUTE)
        simulation = start(driven(model, positions={"spindle": -2.8}), gravity=WEIGHTLESS)
        simulation.step(np.array([0.5]), 1500)
        assert simulation.state().q[0] == pytest.approx(2.9, abs=1e-3)

    def test_turns_are_counted(self) -> None:
        simulation = start(driven(rotor()), gravity=WEIGHTLESS)
        simulation.reset(joint_state([-100.0], [300.0]))
        simulation.step(np.zeros(1), 1000)
        assert simulation.state().q[0] == pytest.approx(200.0, abs=1e-6)

    @pytest.mark.parametrize("kind", LoopKind)
    def test_loops_close(self, kind: LoopKind) -> None:
        # Two cantilevers joined at their tips: either alone would fall.
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
        simulation = start(PlacedRobot("robot", RobotModel("beam", links, joints, SOURCE, (tie,))))
        simulation.step(NOTHING, 300)
        assert np.abs(simulation.state().q).max() < 1e-3

    def test_a_loop_to_the_base(self) -> None:
        model = chain()
        tip = frozen(pose((0.0, 0.0, 0.3)))
        tie = replace(
            four_bar().loops[0], link_a="link2", link_b="base",
            X_AC=tip, X_BC=frozen(pose((0.0, 0.0, 0.9))),
        )  # fmt: skip
        simulation = start(PlacedRobot("robot", replace(model, loops=(tie,))))
        simulation.apply_wrench("robot/link2", np.array([50.0, 0, 0, 0, 0, 0]), np.zeros(3))
        simulation.step(NOTHING, 200)
        assert np.abs(simulation.state().q[:2]).max() < 1e-3


class TestCouplings:
    def test_the_force_of_the_leader_moves_both(self) -> None:
        # Virtual work: (m1 + k^2 m2) a = f.
        model = fingers(multiplier=-2.0, offset=0.01)
        robot = PlacedRobot("robot", model, positions={"follow": 0.01}, actuation={"lead": TORQUE})
        simulation = start(robot)
        simulation.step(np.array([0.3]), 100)
        state = simulation.state()
        assert state.v[0] == pytest.approx(0.3 * 0.1 / (0.5 + 4 * 0.3), rel=1e-5)
        assert state.q[1] == pytest.approx(-2.0 * state.q[0] + 0.01, abs=1e-8)
        assert state.v[1] == pytest.approx(-2.0 * state.v[0], abs=2e-6)

    def test_followers_are_held_at_their_leaders_stop(self) -> None:
        model = fingers(multiplier=-2.0, offset=0.01)
        robot = driven(model, positions={"follow": 0.01})
        simulation = start(robot)
        simulation.step(np.array([20.0, 20.0]), 1500)
        state = simulation.state()
        assert state.q[1] == pytest.approx(-2.0 * state.q[0] + 0.01, abs=1e-5)
        assert state.q[0] == pytest.approx(-0.2, abs=1e-4)

    def test_chained_phalanges(self) -> None:
        # Each joint of a finger follows the first; all hang on each other.
        model = chain()
        joints = tuple(
            replace(joint, axis=Y_AXIS, mimic=Mimic("joint0", 0.5 * i, 0.1) if i else None)
            for i, joint in enumerate(model.joints)
        )
        model = replace(model, joints=joints)
        dynamics = RobotDynamics(model)
        robot = PlacedRobot(
            "robot", model, positions={"joint1": 0.1, "joint2": 0.1}, actuation={"joint0": TORQUE}
        )
        simulation = start(robot)
        simulation.step(np.array([1.0]))
        # Reduced to the leader: e' M e a = e' (tau - g), with e the ratios.
        ratios, q = np.array([1.0, 0.5, 1.0]), np.array([0.0, 0.1, 0.1])
        M, g = dynamics.mass_matrix(q), dynamics.gravity_forces(q)
        expected = (1.0 - ratios @ g) / (ratios @ M @ ratios)
        assert simulation.state().v[0] / H == pytest.approx(expected, rel=1e-3)
        worst = 0.0
        for _ in range(300):
            simulation.step(np.array([8.0]))
            state = simulation.state()
            worst = max(worst, float(np.abs(state.q[1:] - ratios[1:] * state.q[0] - 0.1).max()))
        assert abs(state.q[0]) > 0.2
        assert worst < 1e-5

    @pytest.mark.parametrize("force", [1e9, 1e15, 1e300])
    def test_they_diverge_in_order(self, force: float) -> None:
        model = fingers()
        joints = tuple(replace(joint, limits=JointLimits()) for joint in model.joints)
        simulation = start(driven(replace(model, joints=joints)))
        with np.errstate(all="raise"):
            simulation.step(np.array([force, force]), 2000)
        assert simulation.status is Status.DIVERGED

    def test_a_gripper_shares_the_load(self) -> None:
        # 40 N on the leader alone press 20 N on either side of a cube between the fingers.
        simulation = start(*gripper(mimic=True), gravity=WEIGHTLESS)
        simulation.step(np.array([40.0]), 400)
        forces = np.abs(simulation.contacts().forces[:, 0])
        pads = simulation.contacts().solids
        for solid in set(pads.ravel().tolist()) - {simulation.layout.solids.index("cube")}:
            assert forces[(pads == solid).any(axis=1)].sum() == pytest.approx(20.0, rel=1e-3)


def gripper(*, mimic: bool, shape: Shape = CUBE) -> tuple[PlacedRobot, Body]:
    """Two fingers that close along x on a cube of 1 kg."""
    pad = Box((0.02, 0.06, 0.06))
    links = (
        Link("base"),
        solid_link("left", pad, mass=0.1, touches=True),
        solid_link("right", pad, mass=0.1, touches=True),
    )
    joints = (
        Joint("l", JointType.PRISMATIC, "base", "left", frozen(pose((-0.07, 0, 0))), X_AXIS,
              JointLimits(-0.1, 0.1)),
        Joint("r", JointType.PRISMATIC, "base", "right", frozen(pose((0.07, 0, 0))), -X_AXIS,
              JointLimits(-0.1, 0.1), mimic=Mimic("l") if mimic else None),
    )  # fmt: skip
    model = RobotModel("gripper", links, joints, SOURCE)
    drives = {"l": TORQUE} if mimic else {"l": TORQUE, "r": TORQUE}
    return PlacedRobot("robot", model, actuation=drives), free_body("cube", shape, mass=1.0)


class TestSensors:
    def test_a_hanging_load_pulls_down(self) -> None:
        sensor = WrenchSensor("ft", "robot", "pivot")
        simulation = start(PlacedRobot("robot", pendulum()), sensors=(sensor,))
        np.testing.assert_array_equal(simulation.wrench("ft"), np.zeros(6))
        simulation.step(NOTHING, 10)
        np.testing.assert_allclose(simulation.wrench("ft"), [0, 0, -9.81, 0, 0, 0], atol=1e-6)

    @pytest.mark.parametrize("drive", ["servo", "torque"])
    def test_the_drive_is_part_of_it(self, drive: str) -> None:
        # The shoulder carries both links; its own servo or torque holds the moment about its axis.
        model = sensed_load()
        dynamics = RobotDynamics(model)
        holding = dynamics.gravity_forces([0.0])
        servo = Actuation(DriveMode.POSITION, stiffness=1e5, damping=1e3)
        sensors = (WrenchSensor("ft", "robot", "shoulder"), WrenchSensor("tip", "robot", "sensor"))
        simulation = start(driven(model, servo if drive == "servo" else TORQUE), sensors=sensors)
        if drive == "servo":
            simulation.step(np.zeros(1), 500)
        else:
            simulation.step(holding)
        read = simulation.wrench("ft")
        np.testing.assert_allclose(read[:3], [0, 0, -3 * 9.81], atol=1e-2)
        assert read[4] == pytest.approx(-holding[0], rel=1e-3)
        assert simulation.wrench("tip")[2] == pytest.approx(-2 * 9.81, rel=1e-3)

    def test_a_slide_weighs_what_hangs_on_it(self) -> None:
        model = swivel_slide()
        hanging = frozen(pose((0, 0, 0), rotation_about(Y_AXIS, pi / 2)))
        sensor = WrenchSensor("ft", "robot", "slide")
        simulation = start(driven(model, X_WB=hanging), sensors=(sensor,))
        q = np.array([0.4, 0.0])
        dynamics = RobotDynamics(model, gravity=hanging[:3, :3].T @ [0, 0, -9.81])
        simulation.reset(joint_state(q, [0.0, 0.0]))
        simulation.step(dynamics.gravity_forces(q))
        R_WL = hanging[:3, :3] @ dynamics.link_pose(q, "bead")[:3, :3]
        force = R_WL.T @ [0, 0, -9.81]
        expected = [*force, *np.cross([0.03, 0.01, 0.02], force)]
        np.testing.assert_allclose(simulation.wrench("ft"), expected, atol=1e-3)

    def test_contact_and_sensor_agree_in_a_grasp(self) -> None:
        robot, cube = gripper(mimic=False)
        sensors = (WrenchSensor("l", "robot", "l"), WrenchSensor("r", "robot", "r"))
        simulation = start(robot, cube, sensors=sensors)
        simulation.step(np.array([100.0, 100.0]), 200)
        grips, height = [], simulation.state().poses[0, 2]
        for _ in range(200):
            simulation.step(np.array([100.0, 100.0]))
            contacts = simulation.contacts()
            left = (contacts.solids == simulation.layout.solids.index("robot/left")).any(axis=1)
            signs = np.where(contacts.solids[left, 0] == contacts.solids[left].min(), -1.0, 1.0)
            grips.append(float(signs @ contacts.forces[left, 0]))
        # What the drive pushes with is held by the cube, and nothing is left for the sensor.
        assert np.mean(grips) == pytest.approx(100.0, abs=0.01)
        assert np.var(grips) < 1e-10
        assert abs(simulation.wrench("l")[0]) == pytest.approx(100.0, abs=0.01)
        assert simulation.wrench("l")[2] == pytest.approx(-(0.1 + 0.5) * 9.81, rel=1e-2)
        assert height - simulation.state().poses[0, 2] < 2e-5


def mesh_cube() -> MeshData:
    return MeshData("cube", triangulate(CUBE))


class TestContacts:
    @pytest.mark.parametrize("floor", ["plane", "box", "mesh"])
    @pytest.mark.parametrize(
        ("shape", "height", "turn"),
        [
            (CUBE, 0.05, 0.0),
            (mesh_cube(), 0.05, 0.0),
            (Cylinder(0.05, 0.1), 0.05, 0.0),
            (Cylinder(0.05, 0.1), 0.05, pi / 2),
            (Capsule(0.05, 0.1), 0.05, pi / 2),
            (Sphere(0.05), 0.05, 0.0),
        ],
        ids=["box", "mesh", "standing cylinder", "lying cylinder", "lying capsule", "sphere"],
    )
    def test_shapes_rest(self, shape: Shape, height: float, turn: float, floor: str) -> None:
        slab = Box((2.0, 2.0, 0.2))
        beds = {
            "plane": ground(),
            "box": Body("ground", slab, X_WB=frozen(pose((0, 0, -0.1)))),
            "mesh": Body(
                "ground", MeshData("slab", triangulate(slab)), X_WB=frozen(pose((0, 0, -0.1)))
            ),
        }
        body = free_body(
            "body", shape, mass=2.0, position=(0.1, 0.2, height),
            rotation=rotation_about(X_AXIS, turn),
        )  # fmt: skip
        simulation = start(beds[floor], body)
        simulation.step(NOTHING, 300)
        first = simulation.state().poses[0]
        weights = []
        for _ in range(100):
            simulation.step(NOTHING)
            contacts = simulation.contacts()
            signs = np.where(contacts.solids[:, 0] == 1, 1.0, -1.0)
            weights.append(float(signs @ contacts.forces[:, 2]))
            assert np.all(signs * contacts.normals[:, 2] > 0.99)
            assert np.all(contacts.depths > 0)
        last = simulation.state().poses[0]
        assert np.mean(weights) == pytest.approx(2 * 9.81, rel=1e-3)
        assert np.std(weights) < 0.02 * 2 * 9.81
        np.testing.assert_allclose(last, first, atol=1e-4)
        assert last[2] == pytest.approx(height, abs=1e-4)

    @pytest.mark.parametrize("off", [0.0, 0.02])
    def test_a_face_of_many_triangles_bears_evenly(self, off: float) -> None:
        """Of the first sixteen contacts, copies of a few points, the weight varies by 3 to 5 N."""
        drum = Body(
            "drum", MeshData("drum", triangulate(Cylinder(0.06, 0.2))),
            X_WB=frozen(pose((0, 0, -0.1))),
        )  # fmt: skip
        simulation = start(drum, free_body("cube", CUBE, mass=2.0, position=(off, 0.0, 0.05)))
        simulation.step(NOTHING, 100)
        weights = []
        for _ in range(300):
            simulation.step(NOTHING)
            contacts = simulation.contacts()
            weights.append(float(np.abs(contacts.forces[:, 2]).sum()))
            gaps = np.linalg.norm(contacts.points[:, None] - contacts.points, axis=2)
            assert gaps[~np.eye(len(gaps), dtype=bool)].min() > 1e-4
        assert np.mean(weights) == pytest.approx(2 * 9.81, rel=1e-3)
        assert np.std(weights) < 1e-3 * 2 * 9.81

    def test_what_comes_fast_is_not_missed(self) -> None:
        # Pairs far apart are looked at rarely; a shot must not slip through between the looks.
        wall = Body("wall", Box((0.2, 2.0, 2.0)), X_WB=frozen(pose((2.0, 0, 0))))
        ball = free_body("ball", Sphere(0.05), mass=1.0, twist=(40.0, 0, 0, 0, 0, 0))
        simulation = start(wall, ball, gravity=WEIGHTLESS)
        simulation.step(NOTHING, 100)
        assert simulation.state().poses[0, 0] < 1.9
        # And neither must what is pushed from rest.
        rest = start(wall, free_body("ball", Sphere(0.05), mass=1.0), gravity=WEIGHTLESS)
        rest.apply_wrench("ball", np.array([4e4, 0, 0, 0, 0, 0]), np.zeros(3))
        rest.step(NOTHING, 100)
        assert rest.state().poses[0, 0] < 1.9

    def test_a_long_arm_sweeps_into_a_wall(self) -> None:
        # Its centre turns on the spot, only the tip comes near.
        bar = free_body("bar", Box((2.0, 0.05, 0.05)), mass=1.0, twist=(0, 0, 0, 0, 0, 3.0))
        wall = Body("wall", Box((0.1, 0.1, 0.5)), X_WB=frozen(pose((0.6, 0.6, 0))))
        simulation = start(bar, wall, gravity=WEIGHTLESS)
        touched = False
        for _ in range(400):
            simulation.step(NOTHING)
            touched |= len(simulation.contacts().depths) > 0
        assert touched
        assert simulation.state().twists[0, 5] < 2.9

    def test_a_tilted_plane(self) -> None:
        R = rotation_about(Y_AXIS, 0.3)
        slope = replace(ground(), X_WB=frozen(pose((0, 0, 0), R)))
        cube = free_body("cube", CUBE, mass=1.0, position=R @ [0, 0, 0.05], rotation=R)
        simulation = start(slope, cube)
        simulation.step(NOTHING, 200)
        np.testing.assert_allclose(simulation.state().poses[0, :3], R @ [0, 0, 0.05], atol=1e-5)

    def test_a_mesh_without_volume_is_refused(self) -> None:
        flat = MeshData(
            "flat", replace(triangulate(CUBE), vertices=triangulate(CUBE).vertices * [1, 1, 0])
        )
        with pytest.raises(SceneError, match="'sheet'"):
            start(free_body("cube", CUBE, mass=1.0), Body("sheet", flat))

    def test_links_of_one_robot_touch_if_asked(self) -> None:
        for touch in (False, True):
            robot, _ = gripper(mimic=False)
            simulation = start(replace(robot, self_collision=touch), gravity=WEIGHTLESS)
            simulation.step(np.array([1.0, 1.0]), 400)
            apart = 0.14 - simulation.state().q.sum()
            assert (apart > 0.019) == touch


def busy(options: OdeOptions | None = None, *, seed: int = 3) -> Simulation:
    """A coupled gripper, a sensed pendulum and a cube on the ground: everything that has state."""
    robot, _ = gripper(mimic=True)
    arm = PlacedRobot("arm", pendulum(), X_WB=frozen(pose((0, 1, 2))), positions={"pivot": 1.0})
    cube = free_body(
        "cube", CUBE, mass=1.0, position=(1, 1, 0.09), twist=(0.3, 0, 0, 1.0, 2.0, 0.5)
    )
    return start(
        replace(robot, X_WB=frozen(pose((0, 0, 1)))), arm, cube, ground(), options=options,
        seed=seed, sensors=(WrenchSensor("ft", "arm", "pivot"),),
    )  # fmt: skip


def drive(simulation: Simulation, steps: int) -> bytes:
    for k in range(steps):
        simulation.step(np.array([5 * np.cos(0.05 * k)]))
    return bits(simulation)


def bits(simulation: Simulation) -> bytes:
    state, contacts = simulation.state(), simulation.contacts()
    parts = (state.q, state.v, state.poses, state.twists, contacts.forces, contacts.points)
    return b"".join(part.tobytes() for part in parts) + simulation.wrench("ft").tobytes()


class Complaining:
    """ODE, but with a complaint in every step."""

    def __init__(self, ode, only: str = "") -> None:
        self._ode, self._only = ode, only

    def __getattr__(self, name: str):
        function = getattr(self._ode, name)
        if name not in ("dWorldStep", "dWorldQuickStep") or self._only not in ("", name):
            return function

        def step(*arguments) -> None:
            function(*arguments)
            library._warn(3, b"LCP internal error, s <= 0", 0)

        return step


_REPEAT = """
import sys
sys.path[:0] = sys.argv[2:]
from engines.test_ode import QUICK, busy, drive
sys.stdout.write(drive(busy(QUICK if sys.argv[1] == "quick" else None), 250).hex())
"""


class TestRuns:
    @pytest.mark.parametrize("options", [None, QUICK], ids=["direct", "quick"])
    def test_a_restored_run_goes_on_to_the_bit(self, options: OdeOptions | None) -> None:
        simulation = busy(options)
        drive(simulation, 120)
        saved, here = simulation.save(), bits(simulation)
        first = drive(simulation, 150)
        simulation.restore(saved)
        assert bits(simulation) == here
        assert drive(simulation, 150) == first

    @pytest.mark.parametrize("solver", OdeSolver)
    def test_processes_agree(self, solver: OdeSolver) -> None:
        command = [sys.executable, "-c", _REPEAT, solver, str(Path(__file__).parents[1])]
        runs = [subprocess.run(command, capture_output=True, text=True, check=True)]
        options = QUICK if solver is OdeSolver.QUICK else None
        assert runs[0].stdout == drive(busy(options), 250).hex()

    def test_simulations_do_not_disturb_each_other(self) -> None:
        alone = drive(busy(QUICK), 100)
        one, other = busy(QUICK), busy(QUICK, seed=8)
        for k in range(100):
            for simulation in (one, other):
                simulation.step(np.array([5 * np.cos(0.05 * k)]))
        assert bits(one) == alone
        assert bits(other) != alone

    def test_what_ode_complains_of_marks_the_run(self, monkeypatch: pytest.MonkeyPatch) -> None:
        simulation = start(driven(rotor()), options=QUICK)
        library._warn(3, b"somebody else's", 0)
        simulation.step(np.array([0.0]))
        assert simulation.status is Status.RUNNING
        monkeypatch.setattr(simulation, "_library", Complaining(simulation._library))
        simulation.step(np.array([0.0]))
        assert simulation.status is Status.DIVERGED

    def test_a_step_without_solution_is_made_quickly(self, monkeypatch: pytest.MonkeyPatch) -> None:
        simulation, other = start(driven(rotor())), start(driven(rotor()))
        monkeypatch.setattr(
            simulation, "_library", Complaining(simulation._library, only="dWorldStep")
        )
        for either in (simulation, other):
            either.step(np.array([0.1]), 10)
        assert simulation.status is Status.RUNNING
        np.testing.assert_allclose(simulation.state().v, other.state().v, rtol=1e-6)
        assert any("10 steps" in remark for remark in simulation.audit().remarks)

    def test_a_rover_starts_off(self) -> None:
        # Here the direct solver is known to fail in some of the first steps.
        model, height = load_robot("scout"), catalogue_entry("scout").base_height
        rover = driven(
            model, Actuation(DriveMode.VELOCITY, damping=50.0), base=Base.FREE,
            X_WB=frozen(pose((0, 0, height))),
        )  # fmt: skip
        simulation = start(rover, ground())
        simulation.step(np.full(4, 2.0), 300)
        assert simulation.status is Status.RUNNING
        contacts = simulation.contacts()
        assert contacts.forces[:, 2].sum() == pytest.approx(model.mass * 9.81, rel=1e-3)
        state = simulation.state()
        assert abs(state.poses[0, 1]) < 1e-4


class TestAudit:
    def test_reads_back_what_is_in_force(self) -> None:
        model = with_joint(
            sensed_load(), damping=0.1, friction=0.2, armature=0.3, limits=JointLimits(-1.0, 2.0)
        )
        simulation = start(
            driven(model, X_WB=frozen(pose((1, 2, 3), rotation_about(Z_AXIS, 0.7)))),
            gravity=frozen([1.0, 2.0, 3.0]), sensors=(WrenchSensor("ft", "robot", "sensor"),),
        )  # fmt: skip
        simulation.step(np.zeros(1), 20)
        audit = simulation.audit()
        # Behind the sensor there is another body in ODE, fixed to the arm.
        (solid,) = audit.solids
        assert (solid.name, solid.members) == ("robot/arm", ("robot/arm", "robot/load"))
        expected = rigid_tree(model)[1].inertia
        assert expected is not None
        assert solid.inertia.mass == expected.mass
        np.testing.assert_allclose(solid.inertia.center, expected.center, rtol=1e-12)
        np.testing.assert_allclose(solid.inertia.moment, expected.moment, rtol=1e-12, atol=1e-15)
        (joint,) = audit.joints
        assert (joint.damping, joint.friction, joint.armature) == pytest.approx((0.1, 0.2, 0.3))
        assert (joint.lower, joint.upper) == pytest.approx((-1.0, 2.0))
        np.testing.assert_allclose(joint.axis, Y_AXIS, atol=1e-12)
        np.testing.assert_array_equal(audit.gravity, [1.0, 2.0, 3.0])

    def test_what_has_no_mass_is_named(self) -> None:
        model = sensed_load()
        links = tuple(
            replace(link, inertia=None) if link.name == "arm" else link for link in model.links
        )
        simulation = start(
            PlacedRobot("robot", replace(model, links=links)),
            sensors=(WrenchSensor("ft", "robot", "sensor"),),
        )
        assert any("robot/arm" in remark for remark in simulation.audit().remarks)
        simulation.step(NOTHING, 100)
        # The load swings as if it hung on the shoulder itself.
        dynamics = RobotDynamics(replace(model, links=links))
        q, v = np.zeros(1), np.zeros(1)
        for _ in range(100):
            v = v + H * dynamics.forward_dynamics(q, v, np.zeros(1))
            q = q + H * v
        assert simulation.state().q[0] == pytest.approx(q[0], rel=1e-3)
