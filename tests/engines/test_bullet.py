"""Bullet against closed forms, Pinocchio and itself."""

import subprocess
import sys
from dataclasses import replace
from math import sin
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from engines.staging import CUBE, NOTHING, SOURCE, TORQUE, WEIGHTLESS, G, H, driven, joint_state
from kinetarium.dynamics import Coupling, RobotDynamics
from kinetarium.dynamics.coupling import LoopClosure
from kinetarium.engines.bullet import BulletOptions, EngineBullet, Servo
from kinetarium.engines.conformance.models import (
    X_AXIS,
    Y_AXIS,
    Z_AXIS,
    chain,
    fingers,
    pendulum,
    rotor,
    solid_link,
)
from kinetarium.engines.conformance.runs import state_bytes
from kinetarium.engines.protocol import (
    CapabilityError,
    Simulation,
    State,
)
from kinetarium.errors import KinetariumError
from kinetarium.model.load import load_catalogue_robot
from kinetarium.model.robot import (
    Box,
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
    Shape,
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
    Scene,
    SceneError,
    WrenchSensor,
    free_body,
    ground,
)
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_about, rotation_from_quaternion
from needs import needs

pytestmark = [pytest.mark.engine, needs("bullet")]


def compiled(scene: Scene, options: BulletOptions | None = None) -> Simulation:
    return EngineBullet().compile(scene, timestep=H, options=options)


def force_on(simulation: Simulation, solid: str) -> Array:
    contacts = simulation.contacts()
    index = simulation.layout.solids.index(solid)
    return (contacts.solids == index) @ (1.0, -1.0) @ contacts.forces


def slide(mass: float = 1.0, **joint) -> RobotModel:
    """Make a cube on a slide along x."""
    links = (Link("base"), solid_link("cube", CUBE, mass=mass, touches=True))
    joints = (Joint("slide", JointType.PRISMATIC, "base", "cube", axis=X_AXIS, **joint),)
    return RobotModel("slide", links, joints, SOURCE)


def gripper(*, mimic: bool) -> RobotModel:
    """Make a palm on a lift with two fingers that close along y, sensors behind their pads."""
    links = [Link("base"), solid_link("palm", Box((0.1, 0.1, 0.02)), mass=1.0)]
    joints = [Joint("lift", JointType.PRISMATIC, "base", "palm", axis=Z_AXIS)]
    for name, side in (("left", 1), ("right", -1)):
        finger = solid_link(name, Box((0.02, 0.01, 0.05)), mass=0.1, at=(0, side * 0.02, -0.03))
        pad = solid_link(
            f"{name}_pad",
            Box((0.02, 0.01, 0.02)),
            mass=0.015,
            at=(0, side * 0.005, 0),
            touches=True,
        )
        links += [finger, pad]
        joints += [
            Joint(
                f"{name}_close", JointType.PRISMATIC, "palm", name,
                frozen(pose((0, side * 0.03, 0))), frozen([0, -side, 0]), JointLimits(-0.1, 0.1),
                mimic=Mimic("left_close") if mimic and name == "right" else None,
            ),
            Joint(f"{name}_sensor", JointType.FIXED, name, pad.name, frozen(pose((0, 0, -0.06)))),
        ]  # fmt: skip
    return RobotModel("gripper", tuple(links), tuple(joints), SOURCE)


# Free bodies


def test_body_with_an_offset_centre_falls_and_turns_about_it():
    inertia = Inertia(2.0, frozen([0.1, -0.05, 0.2]), frozen(np.diag([0.02, 0.03, 0.025])))
    turned = rotation_about((0.6, 0.0, 0.8), 0.7)
    tilted = replace(inertia, moment=frozen(turned @ inertia.moment @ turned.T))
    w = np.array([0.0, 0.0, 2.0])
    for given in (inertia, tilted):
        X_WB = pose((1.0, 2.0, 3.0), rotation_about((0, 1, 0), 0.4))
        lever = X_WB[:3, :3] @ given.center
        v = -np.cross(w, lever)  # the centre of mass starts at rest
        body = Body("body", CUBE, Motion.FREE, given, frozen(X_WB), frozen([*v, *w]))
        simulation = compiled(Scene(bodies=(body,)))
        start = simulation.state()
        assert_allclose(start.poses[0, :3], (1.0, 2.0, 3.0), atol=1e-15)
        assert_allclose(rotation_from_quaternion(start.poses[0, 3:]), X_WB[:3, :3], atol=1e-15)
        assert_allclose(start.twists[0], [*v, *w], atol=1e-15)
        simulation.step(NOTHING, 1000)
        state = simulation.state()
        lever = rotation_from_quaternion(state.poses[0, 3:]) @ given.center
        fallen = G * H**2 * 1000 * 1001 / 2
        center = state.poses[0, :3] + lever
        assert_allclose(center, X_WB[:3, :3] @ given.center + (1, 2, 3 - fallen), rtol=1e-9)
        speed = state.twists[0, :3] + np.cross(state.twists[0, 3:], lever)
        assert_allclose(speed, (0, 0, -G), atol=1e-9)
        assert state.time == pytest.approx(1.0)
        simulation.close()


@pytest.mark.parametrize("shape", [Sphere(0.05), CUBE], ids=["ball", "cube"])
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_bounces_by_its_restitution(shape: Shape, restitution: float):
    material = Material(0.5, restitution)
    dropped = free_body("it", shape, mass=2.0, position=(0, 0, 0.3), material=material)
    simulation = compiled(Scene(bodies=(dropped, ground(material))))
    speeds = []
    for _ in range(300):
        simulation.step(NOTHING)
        speeds.append(simulation.state().twists[0, 2])
    after = max(speeds[speeds.index(min(speeds)) :])
    impact = min(speeds) - G * H  # gravity comes first within a step
    # What does not bounce still gets its penetration back, 8 % of it per step.
    tolerance = 0.003 if restitution else 0.08
    assert after == pytest.approx(-restitution * impact, abs=-tolerance * impact)
    assert np.abs(simulation.state().twists[0, 3:]).max() < 1e-3


# Contact


def test_contacts_carry_the_weight():
    cube = free_body("cube", CUBE, mass=1.0, position=(0, 0, 0.05))
    simulation = compiled(Scene(bodies=(cube, ground())))
    simulation.step(NOTHING, 500)
    contacts = simulation.contacts()
    towards_cube = np.where(contacts.solids[:, 0] == 0, 1.0, -1.0)
    assert set(map(tuple, np.sort(contacts.solids))) == {(0, 1)}
    assert_allclose(contacts.normals[:, 2], towards_cube, atol=1e-6)
    assert_allclose(contacts.points[:, 2], 0.0, atol=5e-5)
    assert 0 < contacts.depths.max() < 5e-5
    assert_allclose(force_on(simulation, "cube"), (0, 0, G), atol=1e-5)
    assert simulation.state().poses[0, 2] == pytest.approx(0.05, abs=5e-5)


def test_contacts_know_the_link_they_are_on():
    """A fist fixed to the first moving link pushes a cube, and shares its angular momentum."""
    arm = solid_link("arm", Box((0.4, 0.04, 0.04)), mass=1.0, at=(0.2, 0, 0))
    fist = solid_link("fist", CUBE, mass=0.5, touches=True)
    joints = (
        Joint("hinge", JointType.REVOLUTE, "base", "arm", axis=Z_AXIS),
        Joint("weld", JointType.FIXED, "arm", "fist", frozen(pose((0.4, 0, 0)))),
    )
    model = RobotModel("swing", (Link("base"), arm, fist), joints, SOURCE)
    cube = free_body("cube", CUBE, mass=1.0, position=(0.4, 0.2, 0))
    simulation = compiled(Scene((driven(model),), (cube,), gravity=WEIGHTLESS))
    touched = set()
    for _ in range(400):
        simulation.step(np.array([1.0]))
        touched |= {
            simulation.layout.solids[i] for i in simulation.contacts().solids.ravel().tolist()
        }
    assert touched == {"robot/fist", "cube"}
    state = simulation.state()
    inertia = arm.inertia.moment[2, 2] + 0.2**2 + fist.inertia.moment[2, 2] + 0.5 * 0.4**2
    spin = cube.inertia.moment[2, 2] * state.twists[0, 5]
    orbit = np.cross(state.poses[0, :3], state.twists[0, :3])[2]
    assert inertia * state.v[0] + orbit + spin == pytest.approx(0.4, rel=1e-3)


@pytest.mark.parametrize(
    ("self_collision", "apart", "touches"), [(False, False, False), (True, False, True),
                                             (True, True, False)]
)  # fmt: skip
def test_touches_only_what_it_may(self_collision: bool, apart: bool, touches: bool):
    def bar(name: str, length: float) -> Link:
        shape = Box((length, 0.05, 0.05))
        return solid_link(name, shape, mass=1.0, at=(length / 2, 0, 0), touches=True)

    links = (Link("base"), bar("a", 0.4), bar("b", 0.1), bar("c", 0.4))
    joints = tuple(
        Joint(f"to_{child}", JointType.REVOLUTE, parent, child, frozen(pose((x, 0, 0))), Z_AXIS)
        for parent, child, x in (("base", "a", 0.0), ("a", "b", 0.4), ("b", "c", 0.1))
    )
    robot = driven(
        RobotModel("fold", links, joints, SOURCE), positions={"to_b": 1.4, "to_c": 1.2},
        self_collision=self_collision,
    )  # fmt: skip
    pairs = frozenset({frozenset({"robot/a", "robot/c"})}) if apart else frozenset()
    simulation = compiled(Scene((robot,), gravity=WEIGHTLESS, no_contact=pairs))
    touched = False
    for _ in range(600):
        simulation.step(np.array([0.0, 0.3, 0.3]))
        touched |= len(simulation.contacts().depths) > 0
    assert touched is touches


def test_mesh_rests_on_its_hull():
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.05
    faces = np.array(
        [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
         [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]], dtype=np.int32
    )  # fmt: skip
    shape = MeshData("cube", TriangleMesh(frozen(corners), faces))
    table = Body("table", Box((1, 1, 0.1)), X_WB=frozen(pose((0, 0, -0.05))))
    for under in (ground(), table):
        cube = free_body("cube", shape, mass=1.0, position=(0, 0, 0.052))
        simulation = compiled(Scene(bodies=(cube, under)))
        simulation.step(NOTHING, 800)
        assert simulation.state().poses[0, 2] == pytest.approx(0.05, abs=5e-5)
        assert force_on(simulation, "cube")[2] == pytest.approx(G, rel=1e-3)
        assert "convex hulls" in "".join(simulation.audit().remarks)


def test_link_of_many_shapes_is_one_solid():
    beads = tuple(
        Geometry(Sphere(0.02), frozen(pose((0.05 * (i % 5), 0.05 * (i // 5), 0))))
        for i in range(20)
    )
    inertia = Inertia(1.0, frozen([0.1, 0.075, 0]), frozen(np.diag([0.01, 0.01, 0.02])))
    model = RobotModel("beads", (Link("root", inertia, beads),), (), SOURCE, free_base=True)
    robot = PlacedRobot("beads", model, Base.FREE, frozen(pose((0, 0, 0.02))))
    simulation = compiled(Scene((robot,), (ground(),)))
    simulation.step(NOTHING, 300)
    assert simulation.state().poses[0, 2] == pytest.approx(0.02, abs=1e-4)
    assert_allclose(force_on(simulation, "beads/root"), (0, 0, G), atol=0.01)


# Joints and drives


@pytest.mark.parametrize(
    "drive",
    [TORQUE, Actuation(DriveMode.VELOCITY, damping=100.0), Actuation(DriveMode.POSITION, 1e4, 1.0)],
)
def test_no_drive_exceeds_its_effort(drive: Actuation):
    simulation = compiled(Scene((driven(rotor(effort=0.02), drive),), gravity=WEIGHTLESS))
    simulation.step(np.array([50.0]), 300)
    inertia = rotor().link("bar").inertia.moment[2, 2]
    assert simulation.state().v[0] == pytest.approx(0.02 * 0.3 / inertia, rel=1e-9)


def test_servo_is_an_implicit_spring():
    drive = Actuation(DriveMode.POSITION, stiffness=2e4, damping=100.0)
    simulation = compiled(Scene((driven(slide(0.5), drive),)))
    q = v = 0.0
    for _ in range(200):
        simulation.step(np.array([0.01]))
        v = (0.5 * v + H * 2e4 * (0.01 - q)) / (0.5 + H * 100.0 + H**2 * 2e4)
        q += H * v
        assert simulation.state().q[0] == pytest.approx(q, abs=1e-12)


@pytest.mark.parametrize(("mass", "stiffness", "damping"), [(0.5, 2e4, 100.0), (0.01, 1e5, 1e3)])
def test_servo_presses_on_a_wall_as_its_spring_says(mass: float, stiffness: float, damping: float):
    wall = Body("wall", CUBE, X_WB=frozen(pose((0.1, 0, 0))))
    drive = Actuation(DriveMode.POSITION, stiffness, damping)
    simulation = compiled(Scene((driven(slide(mass), drive),), (wall,)))
    forces = []
    for _ in range(1200):
        simulation.step(np.array([0.01]))
        forces.append(force_on(simulation, "wall")[0])
    assert forces[-1] == pytest.approx(0.01 * stiffness, rel=2e-3)
    assert max(forces) < 0.0105 * stiffness


def test_servo_bends_under_a_load():
    drive = Actuation(DriveMode.POSITION, stiffness=500.0, damping=50.0)
    simulation = compiled(Scene((driven(pendulum(), drive),)))
    simulation.step(np.array([0.8]), 2000)
    q = simulation.state().q[0]
    assert 500.0 * (0.8 - q) == pytest.approx(G * 0.5 * sin(q), rel=1e-6)


def test_damping_and_armature_are_exact_at_every_step():
    model = chain()
    joints = tuple(
        replace(joint, damping=0.7 + i, armature=0.1 * (i + 1))
        for i, joint in enumerate(model.joints)
    )
    model = replace(model, joints=joints)
    dynamics, d = RobotDynamics(model), np.array([joint.damping for joint in joints])
    simulation = compiled(Scene((driven(model),)))
    simulation.reset(joint_state([0.3, -0.5, 0.8], [1.0, -2.0, 1.5]))
    tau = np.array([1.0, -2.0, 0.5])
    for _ in range(20):
        before = simulation.state()
        simulation.step(tau)
        M = dynamics.mass_matrix(before.q)
        push = tau - dynamics.bias(before.q, before.v) - d * before.v
        gained = np.linalg.solve(M + H * np.diag(d), H * push)
        assert_allclose(simulation.state().v - before.v, gained, atol=1e-12)
    loaded = simulation.audit().joints
    assert [(j.damping, j.armature) for j in loaded] == [(j.damping, j.armature) for j in joints]
    assert_allclose(simulation.mass_matrix("robot"), dynamics.mass_matrix(simulation.state().q))


def test_stiff_damping_does_not_blow_up():
    simulation = compiled(Scene((driven(slide(0.01, damping=1e4, armature=1.0)),)))
    simulation.reset(joint_state([0.0], [1.0]))
    simulation.step(np.array([5.0]), 1000)
    assert simulation.state().v[0] == pytest.approx(5.0 / 1e4, rel=1e-6)


def test_bullets_own_motor_holds_its_speed():
    drive = Actuation(DriveMode.VELOCITY, damping=1e-6)
    options = replace(BulletOptions(), servo=Servo.MOTOR)
    model = slide(limits=JointLimits(effort=20.0), friction=1.0)
    simulation = compiled(Scene((driven(model, drive),)), options)
    simulation.step(np.array([0.5]), 100)
    assert simulation.state().v[0] == pytest.approx(0.5)
    audit = simulation.audit()
    assert "without the given stiffness" in "".join(audit.remarks)
    assert audit.joints[0].friction == 0.0


def test_stock_options_are_pybullets():
    simulation = compiled(Scene(bodies=(free_body("b", CUBE, mass=1.0),)), BulletOptions.stock())
    simulation.step(NOTHING, 1000)
    assert simulation.state().twists[0, 2] > -9.0
    assert "momentum" in "".join(simulation.audit().remarks)


# Couplings and loops


@pytest.mark.parametrize(("multiplier", "offset"), [(-2.0, 0.01), (1.0, 0.0), (0.5, -0.02)])
def test_follower_follows(multiplier: float, offset: float):
    model = fingers(multiplier=multiplier, offset=offset)
    simulation = compiled(Scene((PlacedRobot("r", model, actuation={"lead": TORQUE}),)))
    simulation.step(np.array([1.0]))
    shared = 0.5 + multiplier**2 * 0.3
    assert simulation.state().v[0] == pytest.approx(H / shared, rel=1e-12)
    simulation.step(np.array([1.0]), 300)
    lead, follow = simulation.state().q
    assert lead > 0.01
    assert follow == pytest.approx(multiplier * lead + offset, abs=1e-12)


def test_coupled_arm_moves_as_pinocchio_says():
    model = chain()
    last = replace(model.joints[2], mimic=Mimic("joint0", -1.5, 0.2))
    model = replace(model, joints=(*model.joints[:2], last))
    dynamics, coupling = RobotDynamics(model), Coupling.of(model)
    simulation = compiled(Scene((driven(model, positions={"joint0": 0.3}),)))
    assert_allclose(simulation.state().q, (0.3, 0.0, -0.25))
    tau = np.array([1.0, 0.5, -0.2])
    simulation.step(tau, 200)
    before = simulation.state()
    simulation.step(tau)
    free = coupling.forces(tau - dynamics.bias(before.q, before.v))
    expected = np.linalg.solve(coupling.matrix(dynamics.mass_matrix(before.q)), free)
    reached = (simulation.state().v - before.v) / H
    assert_allclose(reached, coupling.velocities(expected), atol=1e-6)


def crank_rocker() -> tuple[RobotModel, dict[str, float]]:
    """Make a four-bar of unlike bars, and a closed position of it."""
    lengths = {"crank": 0.15, "coupler": 0.45, "rocker": 0.35}
    links = [
        solid_link(name, Box((length, 0.03, 0.03)), mass=1.0, at=(length / 2, 0, 0))
        for name, length in lengths.items()
    ]
    joints = tuple(
        Joint(name, JointType.CONTINUOUS, parent, child, frozen(pose((x, 0, 0))), Y_AXIS)
        for name, parent, child, x in (
            ("drive", "base", "crank", 0.0),
            ("pin", "crank", "coupler", 0.15),
            ("rock", "base", "rocker", 0.5),
        )
    )
    loop = Loop("closure", LoopKind.POINT, "coupler", "rocker",
                frozen(pose((0.45, 0, 0))), frozen(pose((0.35, 0, 0))))  # fmt: skip
    model = RobotModel("four-bar", (Link("base"), *links), joints, SOURCE, (loop,))
    closure = LoopClosure(RobotDynamics(model))
    q = np.array([0.3, -1.3, -1.9])
    for _ in range(20):
        q[1:] -= np.linalg.lstsq(closure.jacobian(q)[:, 1:], closure.residual(q), rcond=None)[0]
    return model, dict(zip(("drive", "pin", "rock"), q, strict=True))


def test_loop_stays_closed_and_keeps_energy():
    model, positions = crank_rocker()
    dynamics = RobotDynamics(model)
    closure = LoopClosure(dynamics)
    simulation = compiled(Scene((PlacedRobot("robot", model, positions=positions),)))

    def energy() -> float:
        state = simulation.state()
        return dynamics.kinetic_energy(state.q, state.v) + dynamics.potential_energy(state.q)

    start, gaps, energies, heights = energy(), [], [], []
    for _ in range(1000):
        simulation.step(NOTHING)
        gaps.append(np.abs(closure.residual(simulation.state().q)).max())
        energies.append(energy())
        heights.append(dynamics.potential_energy(simulation.state().q))
    assert max(gaps) < 2e-4
    assert np.ptp(energies) < 0.02 * np.ptp(heights)
    assert abs(energies[-1] - start) < 0.02 * np.ptp(heights)


def test_pose_loop_holds_two_links_as_one():
    turn = rotation_about((0, 0, 1), 0.5)
    links = (Link("base"), solid_link("a", CUBE, mass=1.0), solid_link("b", CUBE, mass=2.0))
    joints = (
        Joint("ja", JointType.PRISMATIC, "base", "a", axis=X_AXIS),
        Joint("jb", JointType.PRISMATIC, "base", "b", frozen(pose((0, 0.3, 0), turn)),
              frozen(turn.T @ X_AXIS)),
    )  # fmt: skip
    loop = Loop("weld", LoopKind.POSE, "a", "b", frozen(pose((0, 0.3, 0))),
                frozen(pose((0, 0, 0), turn.T)))  # fmt: skip
    model = RobotModel("pair", links, joints, SOURCE, (loop,))
    simulation = compiled(Scene((PlacedRobot("r", model, actuation={"ja": TORQUE}),)))
    simulation.step(np.array([3.0]), 500)
    assert_allclose(simulation.state().v, 0.5, rtol=1e-9)


# Force-torque sensors


def sensed_chain(kind: JointType) -> RobotModel:
    model = chain()
    load = solid_link("load", Box((0.1, 0.2, 0.1)), mass=2.0, at=(0.1, 0.02, 0.03))
    at = frozen(pose((0.05, 0, 0.3), rotation_about((1, 0, 0), 0.3)))
    joint = Joint("sensor", kind, "link2", "load", at, axis=Z_AXIS)
    return replace(model, links=(*model.links, load), joints=(*model.joints, joint))


def test_sensor_reads_a_moving_load():
    """A sensor of one free axis, at rest, feels along that axis what Pinocchio holds it with."""
    rng = np.random.default_rng(1)
    fixed = sensed_chain(JointType.FIXED)
    sensor = WrenchSensor("ft", "robot", "sensor")
    simulation = compiled(Scene((driven(fixed),), sensors=(sensor,)))
    for kind, row in ((JointType.REVOLUTE, 5), (JointType.PRISMATIC, 2)):
        dynamics = RobotDynamics(sensed_chain(kind))
        for _ in range(5):
            q, v, tau = rng.uniform(-1, 1, 3), rng.uniform(-2, 2, 3), rng.uniform(-5, 5, 3)
            simulation.reset(joint_state(q, v))
            simulation.step(tau)
            a = (simulation.state().v - v) / H
            held = dynamics.inverse_dynamics([*q, 0], [*v, 0], [*a, 0])[3]
            read = simulation.wrench("ft")
            assert -read[row] == pytest.approx(held, abs=0.01 * np.linalg.norm(read))


@pytest.mark.parametrize("mimic", [False, True])
def test_sensors_agree_with_contacts_in_a_grasp(mimic: bool):
    drives = {"lift": Actuation(DriveMode.POSITION, 1e5, 1e3), "left_close": TORQUE,
              "right_close": TORQUE}  # fmt: skip
    robot = PlacedRobot(
        "g", gripper(mimic=mimic), X_WB=frozen(pose((0, 0, 0.08))), actuation=drives
    )
    cube = free_body("cube", Box((0.04, 0.04, 0.04)), mass=1.0, position=(0, 0, 0.02))
    sensors = (WrenchSensor("pad", "g", "left_sensor"), WrenchSensor("wrist", "g", "lift"))
    simulation = compiled(Scene((robot,), (cube, ground()), sensors=sensors))
    for k in range(800):
        simulation.step(np.array([0.05 * min(1.0, max(0.0, k / 300 - 1)), 100.0, 100.0]))
    state = simulation.state()
    assert state.poses[0, 2] - state.q[0] == pytest.approx(0.02, abs=1e-4)
    pad, touch = simulation.wrench("pad"), force_on(simulation, "g/left_pad")
    assert pad[1] == pytest.approx(100.0, abs=0.1)
    assert_allclose(pad[:3], touch - (0, 0, 0.015 * G), atol=0.01)
    weight = (1.0 + 2 * 0.115 + 1.0) * G
    assert_allclose(simulation.wrench("wrist")[:3], (0, 0, -weight), atol=0.05)


def test_pads_let_go_when_friction_ends():
    drives = {"lift": Actuation(DriveMode.POSITION, 1e6, 1e4), "left_close": TORQUE,
              "right_close": TORQUE}  # fmt: skip
    start = {"left_close": 0.0099, "right_close": 0.0099}
    robot = PlacedRobot("g", gripper(mimic=True), X_WB=frozen(pose((0, 0, 0.08))),
                        actuation=drives, positions=start)  # fmt: skip
    cube = free_body("cube", Box((0.04, 0.04, 0.04)), mass=1.0, position=(0, 0, 0.02))
    simulation = compiled(Scene((robot,), (cube,)))
    simulation.step(np.array([0.0, 30.0, 30.0]), 300)
    for grip, slips in ((6.6, False), (5.7, True)):  # 1 kg between pads of 0.8: 6.131 N
        before = simulation.state().poses[0, 2]
        simulation.step(np.array([0.0, grip, grip]), 300)
        assert bool(before - simulation.state().poses[0, 2] > 1e-3) is slips


# What Bullet made of the model


@pytest.mark.parametrize("name", ["panda", "kr250", "husky4", "husky4-panda"])
def test_loads_and_moves_the_robot_as_given(name: str):
    model = load_catalogue_robot(name)
    joints = tuple(replace(joint, limits=JointLimits(), mimic=None) for joint in model.joints)
    model = replace(model, joints=joints)
    dynamics = RobotDynamics(model)
    base = Base.FREE if model.free_base else Base.FIXED
    simulation = compiled(Scene((driven(model, base=base),)))
    rng = np.random.default_rng(2)
    n, f = len(model.moving_joints), int(model.free_base)
    for _ in range(4):
        base_q = rng.normal(size=7 * f)
        base_q[3:] /= np.linalg.norm(base_q[3:]) if f else 1.0
        q = np.concatenate([base_q, rng.uniform(-1, 1, n)])
        v, tau = rng.uniform(-1, 1, 6 * f + n), rng.uniform(-2, 2, n)
        start = State(0.0, q[7 * f :], v[6 * f :], base_q.reshape(f, 7), v[: 6 * f].reshape(f, 6))
        simulation.reset(start)
        M = dynamics.mass_matrix(q)
        assert_allclose(simulation.mass_matrix("robot"), M, atol=1e-12 * M.max())
        a = rng.uniform(-5, 5, 6 * f + n)
        expected = dynamics.inverse_dynamics(q, v, a)
        assert_allclose(
            simulation.inverse_dynamics("robot", a), expected, atol=1e-11 * np.abs(expected).max()
        )
        a = dynamics.forward_dynamics(q, v, np.concatenate([np.zeros(6 * f), tau]))
        simulation.step(tau)
        state = simulation.state()
        assert_allclose((state.v - v[6 * f :]) / H, a[6 * f :], atol=1e-9 * np.abs(a).max())
        if f:
            turned = (state.twists[0, 3:] - v[3:6]) / H
            assert_allclose(turned, a[3:6], atol=1e-9 * np.abs(a).max())


def test_base_stands_as_it_is_placed():
    model = chain()
    R = rotation_about((0.6, 0.8, 0), 1.1)
    robot = driven(model, X_WB=frozen(pose((1, 2, 3), R)))
    simulation = compiled(Scene((robot,)))
    dynamics = RobotDynamics(model, gravity=R.T @ (0, 0, -G))
    q, v, a = np.array([0.3, -0.4, 0.5]), np.array([1.0, -1, 2]), np.array([3.0, 2, -1])
    simulation.reset(joint_state(q, v))
    tau = dynamics.inverse_dynamics(q, v, a)
    assert_allclose(simulation.inverse_dynamics("robot", a), tau, rtol=1e-12)
    simulation.step(tau)
    assert_allclose((simulation.state().v - v) / H, a, rtol=1e-9)


def test_audit_reads_the_model_back():
    model = load_catalogue_robot("panda")
    robot = driven(model)
    sensor = WrenchSensor("ft", "robot", "panda_leftpad_joint")
    sensors = (sensor,) if "panda_leftpad_joint" in {j.name for j in model.joints} else ()
    cube = free_body("cube", CUBE, mass=1.0)
    simulation = compiled(Scene((robot,), (cube, ground()), sensors=sensors))
    audit = simulation.audit()
    moving = [solid for solid in audit.solids if solid.name != "cube"]
    assert sum(solid.inertia.mass for solid in moving) == pytest.approx(
        model.mass - model.link(model.root).inertia.mass
    )
    link1 = model.link("panda_link1").inertia
    read = next(s.inertia for s in moving if s.name == "robot/panda_link1")
    assert_allclose(read.center, link1.center, atol=1e-15)
    assert_allclose(read.moment, link1.moment, rtol=1e-12, atol=1e-15)
    for joint, loaded in zip(model.moving_joints, audit.joints, strict=True):
        assert loaded.name == f"robot/{joint.name}"
        assert_allclose(loaded.axis, joint.axis, atol=1e-12)
        assert (loaded.lower, loaded.upper) == (joint.limits.lower, joint.limits.upper)
    assert_allclose(audit.gravity, (0, 0, -G))


# Runs


def busy() -> Scene:
    """Set up a mimicking gripper with a servo and a sensor beside tumbling bodies."""
    drives = {"lift": Actuation(DriveMode.POSITION, 1e4, 1e3), "left_close": TORQUE}
    robot = PlacedRobot("g", gripper(mimic=True), X_WB=frozen(pose((0, 0, 0.08))), actuation=drives)
    shapes = (Box((0.04, 0.04, 0.04)), CUBE, Cylinder(0.05, 0.1), Sphere(0.05))
    bodies = [
        free_body(f"b{i}", shape, mass=0.5 + i, position=(0.11 * i, 0, 0.02 + 0.1 * i),
                  twist=(0, 0, 0, 0.3 * i, 0.5 * i, 0.1))
        for i, shape in enumerate(shapes)
    ]  # fmt: skip
    return Scene((robot,), (*bodies, ground()), sensors=(WrenchSensor("ft", "g", "left_sensor"),))


def play(simulation: Simulation, steps: int) -> bytes:
    for k in range(steps):
        simulation.step(np.array([0.02 * sin(0.02 * k), 60.0]))
    return state_bytes(simulation.state())


def test_restored_run_goes_on_bit_by_bit():
    simulation = compiled(busy())
    play(simulation, 200)
    simulation.apply_wrench("b1", np.array([1.0, 2, 3, 0.1, 0.2, 0.3]), np.zeros(3))
    saved = simulation.save()
    here, felt, forces = simulation.state(), simulation.wrench("ft"), simulation.contacts().forces
    once = play(simulation, 150)
    simulation.reset(here)
    play(simulation, 20)
    simulation.restore(saved)
    assert simulation.state().time == here.time
    assert state_bytes(simulation.state()) == state_bytes(here)
    assert_allclose(simulation.contacts().forces, forces)
    assert_allclose(simulation.wrench("ft"), felt)
    assert play(simulation, 150) == once


def test_two_processes_give_the_same_bits(tmp_path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from engines import test_bullet as t;"
        "print(t.play(t.compiled(t.busy()), 150).hex())"
    )
    answers = [
        subprocess.run(
            [sys.executable, "-c", code, str(Path(__file__).parents[1])],
            capture_output=True, text=True, check=True, cwd=tmp_path,
        )
        for _ in range(2)
    ]  # fmt: skip
    assert answers[0].stdout == answers[1].stdout
    # Nothing but the answer is printed, and nothing is left behind.
    assert answers[0].stdout.count("\n") == 1
    assert answers[0].stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_refuses_what_it_cannot_hold():
    hollow = RobotModel("hollow", (Link("root"),), (), SOURCE)
    with pytest.raises(SceneError, match="without a mass"):
        compiled(Scene((PlacedRobot("r", hollow, Base.FREE),)))
    model, positions = crank_rocker()
    scene = Scene((PlacedRobot("r", model, positions=positions),),
                  sensors=(WrenchSensor("ft", "r", "pin"),))  # fmt: skip
    with pytest.raises(CapabilityError, match="joint-wrench"):
        compiled(scene)
    links = [solid_link(f"l{i}", CUBE, mass=1.0) for i in range(140)]
    joints = [
        Joint(f"j{i}", JointType.REVOLUTE, f"l{i}", f"l{i + 1}", axis=Z_AXIS) for i in range(139)
    ]
    snake = RobotModel("snake", tuple(links), tuple(joints), SOURCE)
    with pytest.raises(KinetariumError, match="'r' takes"):
        compiled(Scene((PlacedRobot("r", snake),)))
