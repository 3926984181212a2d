"""NVIDIA's Newton: what is its own, beside the kit and the tests that all engines share."""

from functools import partial

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from engines.staging import CUBE, NOTHING, H, compiled, driven, with_joint
from kinetarium import check_engine
from kinetarium.engines.conformance import CHECKS
from kinetarium.engines.conformance.models import chain, rotor
from kinetarium.engines.newton import (
    EngineNewton,
    NewtonCone,
    NewtonIntegrator,
    NewtonOptions,
    NewtonSolver,
)
from kinetarium.engines.protocol import CapabilityError
from kinetarium.model.robot import Inertia, MeshData, TriangleMesh
from kinetarium.scene import Actuation, Body, DriveMode, Material, Motion, free_body, ground
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import pose

pytestmark = [pytest.mark.engine, pytest.mark.newton]
start = partial(compiled, EngineNewton())


def test_a_recorded_step_is_the_solvers_own_step_to_the_bit() -> None:
    import warp

    cubes = [
        free_body(f"cube{i}", CUBE, mass=1.0, position=(0, 0.03 * i, 0.06 + 0.11 * i))
        for i in (0, 1)
    ]
    one, other = (start(driven(chain()), *cubes, ground()) for _ in range(2))
    command = np.array([0.5, -0.3, 0.2])
    for _ in range(150):
        one.step(command)
        other._torques[0][other._torques[1]] = command
        with warp.ScopedDevice("cpu"):
            now = other._state_now
            other._solver.step(now, now, other._control, None, H)
    a, b = one.state(), other.state()
    assert one.contacts().forces[:, 2].sum() > 0
    for name in ("q", "v", "poses", "twists"):
        assert (getattr(a, name) == getattr(b, name)).all(), name


@pytest.mark.parametrize("solver", NewtonSolver)
@pytest.mark.parametrize("cone", NewtonCone)
@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_contact_forces_explain_the_motion(
    solver: NewtonSolver, cone: NewtonCone, friction: float
) -> None:
    cube = free_body(
        "cube", CUBE, mass=1.0, position=(0, 0, 0.0497), twist=(1.0, 0.3, 0, 0, 0, 0),
        material=Material(friction),
    )  # fmt: skip
    simulation = start(cube, ground(Material(friction)), options=NewtonOptions(solver, cone=cone))
    v, pushed = simulation.state().twists[0, :3], 0
    for _ in range(100):
        simulation.step(NOTHING)
        before, v = v, simulation.state().twists[0, :3]
        force = simulation.contacts().forces.sum(axis=0)
        # In single precision v is known to 6e-8 m/s, and a step is 1 ms.
        assert force == pytest.approx((v - before) / H + (0, 0, 9.81), abs=2e-3)
        pushed += force[2] > 0
    assert pushed > 2  # a pyramid lifts what slides, which then hops
    if cone is NewtonCone.ELLIPTIC:
        assert v[0] == pytest.approx(1.0 - 0.1 * 9.81 * friction / np.hypot(1, 0.3), rel=0.05)


# One of each kind; all of the kit takes minutes (docs/conformance.md has the command).
_SOME = {
    "restitution", "external-wrench", "friction-force", "joint-spring-rest", "servo-release",
    "wrench-contact", "mimic", "loop-load", "audit", "force-balance", "solver-converges",
    "save-restore", "divergence",
}  # fmt: skip


def test_mujocos_c_library_passes_the_checks_too() -> None:
    options = NewtonOptions(NewtonSolver.MUJOCO_C)
    checks = [check for check in CHECKS if check.name in _SOME]
    outcomes = check_engine(EngineNewton(), checks=checks, options=options)
    assert {outcome.check for outcome in outcomes} == _SOME
    assert [outcome for outcome in outcomes if not outcome.passed] == []


def test_both_solvers_agree_to_single_precision() -> None:
    ends = []
    for solver in NewtonSolver:
        simulation = start(driven(chain()), options=NewtonOptions(solver))
        simulation.step(np.array([0.5, -0.3, 0.2]), 200)
        ends.append(simulation.state().q)
    assert ends[0] == pytest.approx(ends[1], abs=2e-5)
    assert not (ends[0] == ends[1]).all()


def test_a_position_servo_is_implicit_in_its_stiffness() -> None:
    K, D, inertia, target = 200.0, 8.0, 0.02, 0.5
    servo = Actuation(DriveMode.POSITION, stiffness=K, damping=D)
    model = rotor()
    simulation = start(driven(model, servo), gravity=frozen(np.zeros(3)))
    inertia = simulation.audit().solids[0].inertia.moment @ simulation.audit().joints[0].axis
    inertia = float(simulation.audit().joints[0].axis @ inertia)
    q = v = 0.0
    for _ in range(100):
        # I (v' - v) / h = K (c - q - h v') - D v'
        v = (inertia * v / H + K * (target - q)) / (inertia / H + D + H * K)
        q += H * v
    simulation.step(np.array([target]), 100)
    assert simulation.state().q[0] == pytest.approx(q, abs=1e-5)


def test_a_mesh_rests_on_its_corners() -> None:
    ends = (-0.05, 0.05)
    corners = frozen([[x, y, z] for x in ends for y in ends for z in ends])
    shape = MeshData("block", TriangleMesh(corners, ConvexHull(corners).simplices))
    moment = frozen(np.eye(3) / 600)
    block = Body(
        "block", shape, Motion.FREE, Inertia(1.0, frozen(np.zeros(3)), moment),
        frozen(pose((0, 0, 0.05))),
    )  # fmt: skip
    simulation = start(block, ground())
    simulation.step(NOTHING, 500)
    contacts = simulation.contacts()
    assert len(contacts.points) >= 3
    assert contacts.forces[:, 2].sum() == pytest.approx(9.81, rel=5e-3)
    assert "meshes touch as their convex hulls" in simulation.audit().remarks


def test_a_scene_in_which_nothing_moves_stays_as_it_is() -> None:
    simulation = start(ground())
    saved = simulation.save()
    simulation.step(NOTHING, 10)
    simulation.restore(saved)
    assert simulation.state().time == 0.0
    assert len(simulation.contacts().forces) == 0


def test_options_reach_the_solver() -> None:
    options = NewtonOptions(integrator=NewtonIntegrator.EULER, impratio=3.0, iterations=7)
    solver = start(driven(chain()), options=options)._solver
    assert solver.mjw_model.opt.tolerance.numpy()[0] == np.float32(options.tolerance)
    option = solver.mj_model.opt
    assert (option.integrator, option.impratio, option.iterations) == (0, 3.0, 7)


def test_joint_laws_are_loaded_in_full() -> None:
    model = with_joint(chain(), damping=0.3, friction=0.2, armature=0.1)
    joint = start(driven(model)).audit().joints[0]
    assert (joint.damping, joint.friction, joint.armature) == pytest.approx((0.3, 0.2, 0.1))


def test_it_has_no_mass_matrix() -> None:
    with pytest.raises(CapabilityError, match="mass-matrix"):
        start(driven(chain())).mass_matrix("robot")


def test_contacts_beyond_the_first_room_are_not_lost(monkeypatch) -> None:
    cubes = [
        free_body(f"cube{i}", CUBE, mass=1.0, position=(0.2 * i, 0, 0.06), twist=(0, 0, 0, 0, i, 0))
        for i in range(6)
    ]
    ends = []
    for room in (16, 1024):
        for module in ("build", "simulation"):
            monkeypatch.setattr(f"kinetarium.engines.newton.{module}.FIRST_POINTS", room)
        simulation = start(*cubes, ground())
        room_before = simulation._solver.mjw_data.naconmax
        simulation.step(NOTHING, 300)
        ends.append(simulation.state().poses)
        assert (simulation._solver.mjw_data.naconmax > room_before) == (room == 16)
        assert simulation.contacts().forces[:, 2].sum() == pytest.approx(6 * 9.81, rel=5e-3)
    assert (ends[0] == ends[1]).all()
