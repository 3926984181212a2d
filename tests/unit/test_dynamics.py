"""RobotDynamics against finite differences, conservation laws and other libraries."""

import subprocess
import sys
from dataclasses import replace
from math import isfinite

import numpy as np
import pytest

from kinetarium.dynamics import Coupling, LoopClosure, RobotDynamics, link_poses, random_positions
from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.model.robot import (
    Inertia,
    Joint,
    JointLimits,
    JointType,
    Link,
    Loop,
    LoopKind,
    Mimic,
    RobotModel,
    Source,
)
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose

H = 1e-6
GRAVITY = (1.0, -2.0, -9.0)


def random_pose(rng: np.random.Generator) -> Array:
    return frozen(pose(rng.uniform(-0.5, 0.5, 3), so3.exp(rng.uniform(-2, 2, 3))))


def random_link(rng: np.random.Generator, name: str) -> Link:
    R, (a, b, c) = so3.exp(rng.uniform(-2, 2, 3)), rng.uniform(0.01, 0.1, 3)
    moment = R @ np.diag([b + c, a + c, a + b]) @ R.T
    center = frozen(rng.uniform(-0.2, 0.2, 3))
    return Link(name, Inertia(rng.uniform(0.5, 3), center, frozen(moment)))


def random_tree(*, free_base: bool) -> RobotModel:
    """A branching tree with every kind of joint, general axes, a massless and two fixed links."""
    rng = np.random.default_rng(3)
    branches = [
        ("root", JointType.REVOLUTE),
        ("link1", JointType.FIXED),
        ("link2", JointType.PRISMATIC),
        ("link3", JointType.CONTINUOUS),
        ("link3", JointType.FIXED),
        ("link2", JointType.REVOLUTE),
        ("root", JointType.REVOLUTE),
    ]
    links = [random_link(rng, "root")]
    joints = []
    for number, (parent, kind) in enumerate(branches, 1):
        axis = rng.normal(size=3)
        links.append(random_link(rng, f"link{number}"))
        joints.append(
            Joint(
                f"joint{number}",
                kind,
                parent,
                f"link{number}",
                random_pose(rng),
                frozen(axis / np.linalg.norm(axis)),
                armature=0.1 * number,
            )
        )
    links[5] = Link("link5")
    return RobotModel(
        "tree", tuple(links), tuple(joints), Source("tree", "urdf", ""), free_base=free_base
    )


@pytest.fixture(params=[False, True], ids=["fixed", "free"])
def dynamics(request: pytest.FixtureRequest) -> RobotDynamics:
    return RobotDynamics(random_tree(free_base=request.param), gravity=GRAVITY)


def state(dynamics: RobotDynamics, seed: int = 0) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    q = dynamics.integrate(dynamics.neutral(), rng.uniform(-1, 1, dynamics.nv))
    return q, rng.uniform(-2, 2, dynamics.nv), rng.uniform(-5, 5, dynamics.nv)


def test_importing_loads_neither_pinocchio_nor_numba() -> None:
    code = (
        "import sys, kinetarium.dynamics; sys.exit(bool({'pinocchio', 'numba'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_sizes_and_names(dynamics: RobotDynamics) -> None:
    moving = ("joint1", "joint3", "joint4", "joint6", "joint7")
    assert dynamics.position_names[-5:] == dynamics.velocity_names[-5:] == moving
    assert dynamics.nq == len(dynamics.position_names) == len(dynamics.neutral())
    assert (dynamics.nq, dynamics.nv) == ((12, 11) if dynamics.free_base else (5, 5))


def test_the_base_is_free_as_asked_or_as_the_model_says() -> None:
    assert RobotDynamics(random_tree(free_base=True)).free_base
    assert not RobotDynamics(random_tree(free_base=True), free_base=False).free_base
    assert RobotDynamics(random_tree(free_base=False), free_base=True).free_base


def test_unknown_link_is_named(dynamics: RobotDynamics) -> None:
    with pytest.raises(UnknownNameError, match="link1"):
        dynamics.jacobian(dynamics.neutral(), "link_1")


def test_integrate_and_difference_are_inverse(dynamics: RobotDynamics) -> None:
    q, v, _ = state(dynamics)
    np.testing.assert_allclose(dynamics.difference(q, dynamics.integrate(q, v)), v, atol=1e-13)


def test_base_quaternion_is_wxyz_and_need_not_be_normal() -> None:
    dynamics = RobotDynamics(random_tree(free_base=True))
    q = dynamics.neutral()
    q[:7] = [1, 2, 3, 2, 2, 0, 0]  # a quarter turn about x
    expected = pose([1, 2, 3], [[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    np.testing.assert_allclose(dynamics.link_pose(q, "root"), expected, atol=1e-15)


def test_a_base_quaternion_of_zero_is_refused() -> None:
    dynamics = RobotDynamics(random_tree(free_base=True))
    with pytest.raises(KinetariumError, match="quaternion"):
        dynamics.mass_matrix(np.zeros(dynamics.nq))


def test_link_poses_agree_with_the_batch(dynamics: RobotDynamics) -> None:
    states = [state(dynamics, seed)[0] for seed in range(4)]
    joints = np.array([q[-5:] for q in states])
    bases = np.array([dynamics.link_pose(q, "root") for q in states])
    single = np.array([dynamics.link_poses(q) for q in states])
    batch = link_poses(dynamics.model, joints, X_WB=bases)
    assert batch.shape == (4, 8, 4, 4)
    np.testing.assert_allclose(batch, single, atol=1e-14)


def test_link_poses_follow_the_joints() -> None:
    model = random_tree(free_base=False)
    dynamics = RobotDynamics(model)
    q, _, _ = state(dynamics)
    X_WL = dict(zip((link.name for link in model.links), dynamics.link_poses(q), strict=True))
    position = dict(zip((joint.name for joint in model.moving_joints), q, strict=True))
    for joint in model.joints:
        motion = np.eye(4)
        if joint.type is JointType.PRISMATIC:
            motion = pose(joint.axis * position[joint.name])
        elif joint.type is not JointType.FIXED:
            motion = pose(rotation=so3.exp(joint.axis * position[joint.name]))
        expected = X_WL[joint.parent] @ joint.X_PJ @ motion
        np.testing.assert_allclose(X_WL[joint.child], expected, atol=1e-14)


@pytest.mark.parametrize("link", ["root", "link2", "link5", "link7"])
@pytest.mark.parametrize("point", [(0, 0, 0), (0.3, -0.2, 0.5)])
def test_jacobian_is_the_derivative_of_the_pose(
    dynamics: RobotDynamics, link: str, point: tuple[float, float, float]
) -> None:
    q, v, _ = state(dynamics)
    X = dynamics.link_pose(q, link)
    before = dynamics.link_pose(dynamics.integrate(q, -H * v), link)
    after = dynamics.link_pose(dynamics.integrate(q, H * v), link)
    at = np.array([*point, 1.0])
    linear = ((after - before) @ at)[:3] / (2 * H)
    angular = so3.log(after[:3, :3] @ before[:3, :3].T) / (2 * H)
    twist = dynamics.jacobian(q, link, point=point) @ v
    np.testing.assert_allclose(twist, [*linear, *angular], atol=2e-8)
    assert X[3].tolist() == [0, 0, 0, 1]


def test_base_velocity_is_its_world_twist() -> None:
    dynamics = RobotDynamics(random_tree(free_base=True))
    q, _, _ = state(dynamics)
    J = dynamics.jacobian(q, "root")
    np.testing.assert_allclose(J, np.eye(6, dynamics.nv), atol=1e-14)


def test_mass_matrix_is_symmetric_positive_definite(dynamics: RobotDynamics) -> None:
    M = dynamics.mass_matrix(state(dynamics)[0])
    np.testing.assert_allclose(M, M.T, atol=1e-13)
    assert np.linalg.eigvalsh(M).min() > 1e-3


def test_mass_matrix_is_the_sum_of_the_links_inertias(dynamics: RobotDynamics) -> None:
    """M = sum of m J_c' J_c + J_w' R I R' J_w over the links, and the drives on the diagonal."""
    q, _, _ = state(dynamics)
    M = np.zeros((dynamics.nv, dynamics.nv))
    for link in dynamics.model.links:
        if link.inertia:
            J = dynamics.jacobian(q, link.name, point=link.inertia.center)
            R = dynamics.link_pose(q, link.name)[:3, :3]
            M += link.inertia.mass * J[:3].T @ J[:3]
            M += J[3:].T @ R @ link.inertia.moment @ R.T @ J[3:]
    without = RobotDynamics(dynamics.model, armature=False)
    np.testing.assert_allclose(without.mass_matrix(q), M, atol=1e-13)
    drives = [joint.armature for joint in dynamics.model.moving_joints]
    M[range(-5, 0), range(-5, 0)] += drives
    np.testing.assert_allclose(dynamics.mass_matrix(q), M, atol=1e-13)


def test_mass_matrix_rate_minus_twice_coriolis_is_skew(dynamics: RobotDynamics) -> None:
    q, v, _ = state(dynamics)
    after = dynamics.mass_matrix(dynamics.integrate(q, H * v))
    before = dynamics.mass_matrix(dynamics.integrate(q, -H * v))
    S = (after - before) / (2 * H) - 2 * dynamics.coriolis_matrix(q, v)
    np.testing.assert_allclose(S, -S.T, atol=2e-8)
    assert np.abs(S).max() > 0.1


def test_inverse_dynamics_is_the_sum_of_its_terms(dynamics: RobotDynamics) -> None:
    q, v, a = state(dynamics)
    C, g = dynamics.coriolis_matrix(q, v), dynamics.gravity_forces(q)
    tau = dynamics.mass_matrix(q) @ a + C @ v + g
    np.testing.assert_allclose(dynamics.inverse_dynamics(q, v, a), tau, atol=1e-12)
    np.testing.assert_allclose(dynamics.bias(q, v), C @ v + g, atol=1e-12)


def test_many_states_are_evaluated_as_one_after_the_other(dynamics: RobotDynamics) -> None:
    states = [state(dynamics, seed) for seed in range(3)]
    terms = dynamics.equation_of_motion(*(np.array(rows) for rows in zip(*states, strict=True)))
    rest = np.zeros(dynamics.nv)
    for i, (q, v, a) in enumerate(states):
        one = (
            dynamics.mass_matrix(q),
            dynamics.inverse_dynamics(q, rest, rest),
            dynamics.bias(q, v),
            dynamics.inverse_dynamics(q, v, a),
        )
        for many, single in zip(terms, one, strict=True):
            np.testing.assert_array_equal(many[i], single)


def test_bias_is_that_of_lagrange(dynamics: RobotDynamics) -> None:
    """Along the coordinates of the joints alone: d/dt(dT/dv) - dT/dq + dU/dq with a = 0."""
    q, v, _ = state(dynamics)
    momentum = [dynamics.mass_matrix(dynamics.integrate(q, sign * H * v)) @ v for sign in (-1, 1)]
    rate = (momentum[1] - momentum[0]) / (2 * H)
    bias = dynamics.bias(q, v)
    for i in range(dynamics.nv - 5, dynamics.nv):
        step = H * np.eye(dynamics.nv)[i]
        L = [
            dynamics.kinetic_energy(q_i, v) - dynamics.potential_energy(q_i)
            for q_i in (dynamics.integrate(q, -step), dynamics.integrate(q, step))
        ]
        assert bias[i] == pytest.approx(rate[i] - (L[1] - L[0]) / (2 * H), abs=1e-7)


def test_energy_changes_by_the_power_of_the_forces(dynamics: RobotDynamics) -> None:
    q, v, tau = state(dynamics)
    a = dynamics.forward_dynamics(q, v, tau)
    energy = [
        dynamics.kinetic_energy(q_i, v + sign * H * a) + dynamics.potential_energy(q_i)
        for sign in (-1, 1)
        for q_i in [dynamics.integrate(q, sign * H * v)]
    ]
    assert (energy[1] - energy[0]) / (2 * H) == pytest.approx(tau @ v, rel=1e-7)


def test_forward_and_inverse_dynamics_are_inverse(dynamics: RobotDynamics) -> None:
    q, v, a = state(dynamics)
    tau = dynamics.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(dynamics.forward_dynamics(q, v, tau), a, atol=1e-11)


def test_inputs_are_left_alone_and_results_are_the_callers(dynamics: RobotDynamics) -> None:
    q, v, a = state(dynamics)
    copies = q.copy(), v.copy(), a.copy()
    M, C, X = dynamics.mass_matrix(q), dynamics.coriolis_matrix(q, v), dynamics.link_poses(q)
    J, h = dynamics.jacobian(q, "link4"), dynamics.momentum(q, v)
    kept = [M.copy(), C.copy(), X.copy(), J.copy(), h.copy()]
    other, other_v, _ = state(dynamics, 1)
    dynamics.mass_matrix(other), dynamics.coriolis_matrix(other, other_v)
    dynamics.link_poses(other), dynamics.jacobian(other, "link4"), dynamics.momentum(other, other_v)
    dynamics.inverse_dynamics(q, v, a), dynamics.forward_dynamics(q, v, a)
    for mine, theirs in zip((q, v, a), copies, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    for mine, theirs in zip((M, C, X, J, h), kept, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_kinetic_energy_counts_the_drives(dynamics: RobotDynamics) -> None:
    q, v, _ = state(dynamics)
    expected = v @ dynamics.mass_matrix(q) @ v / 2
    assert dynamics.kinetic_energy(q, v) == pytest.approx(expected, rel=1e-13)


def test_center_of_mass_counts_the_root(dynamics: RobotDynamics) -> None:
    q, _, _ = state(dynamics)
    X_WL, links = dynamics.link_poses(q), dynamics.model.links
    moment = sum(
        link.inertia.mass * (X @ [*link.inertia.center, 1.0])[:3]
        for X, link in zip(X_WL, links, strict=True)
        if link.inertia
    )
    center = moment / dynamics.model.mass
    np.testing.assert_allclose(dynamics.center_of_mass(q), center, atol=1e-14)
    energy = -dynamics.model.mass * np.dot(GRAVITY, center)
    assert dynamics.potential_energy(q) == pytest.approx(energy, rel=1e-13)


def test_momentum_follows_gravity_alone() -> None:
    dynamics = RobotDynamics(random_tree(free_base=True), gravity=GRAVITY, armature=False)
    q, v, _ = state(dynamics)
    a = dynamics.forward_dynamics(q, v, np.zeros(dynamics.nv))
    h = [
        dynamics.momentum(dynamics.integrate(q, sign * H * v), v + sign * H * a) for sign in (-1, 1)
    ]
    weight = dynamics.model.mass * np.array(GRAVITY)
    np.testing.assert_allclose((h[1] - h[0]) / (2 * H), [*weight, 0, 0, 0], atol=2e-7)
    step = 1e-6 * v
    velocity = dynamics.center_of_mass(dynamics.integrate(q, step))
    velocity = (velocity - dynamics.center_of_mass(dynamics.integrate(q, -step))) / 2e-6
    np.testing.assert_allclose(h[0][:3], dynamics.model.mass * velocity, rtol=1e-4, atol=1e-3)


def test_momentum_of_a_spinning_body_is_conserved_over_time() -> None:
    link = random_link(np.random.default_rng(5), "body")
    model = RobotModel("body", (link,), (), Source("body", "urdf", ""), free_base=True)
    dynamics = RobotDynamics(model, gravity=(0, 0, 0))
    q, v = dynamics.neutral(), np.array([0.3, 0, 0, 1.0, 3.0, -2.0])
    start, energy = dynamics.momentum(q, v), dynamics.kinetic_energy(q, v)
    force, h = np.zeros(6), 1e-3
    for _ in range(500):
        middle = v + h / 2 * dynamics.forward_dynamics(q, v, force)
        q_middle = dynamics.integrate(q, h / 2 * v)
        v = v + h * dynamics.forward_dynamics(q_middle, middle, force)
        q = dynamics.integrate(q, h * middle)
    np.testing.assert_allclose(dynamics.momentum(q, v), start, atol=2e-5)
    assert dynamics.kinetic_energy(q, v) == pytest.approx(energy, rel=1e-5)


def test_a_robot_without_moving_joints() -> None:
    model = RobotModel("stone", (Link("stone"),), (), Source("stone", "urdf", ""))
    dynamics = RobotDynamics(model)
    assert dynamics.mass_matrix([]).shape == (0, 0)
    np.testing.assert_array_equal(dynamics.link_pose([], "stone"), np.eye(4))


def gripper() -> RobotModel:
    """A tree whose second finger follows the first and whose last joint follows it too."""
    model = random_tree(free_base=False)
    joints = {joint.name: joint for joint in model.joints}
    joints["joint4"] = replace(joints["joint4"], mimic=Mimic("joint3", -2.0, 0.1))
    joints["joint7"] = replace(joints["joint7"], mimic=Mimic("joint1", 0.5))
    return replace(model, joints=tuple(joints.values()))


@pytest.mark.parametrize("free_base", [False, True])
def test_coupling_reduces_the_dynamics(free_base: bool) -> None:
    model = gripper()
    dynamics = RobotDynamics(model, free_base=free_base)
    coupling = Coupling.of(model)
    assert coupling.independent == ("joint1", "joint3", "joint6")
    rng = np.random.default_rng(6)
    base_nq, base_nv = (7, 6) if free_base else (0, 0)
    q_i, v_i = rng.uniform(-1, 1, base_nq + 3), rng.uniform(-1, 1, base_nv + 3)
    q, v = coupling.positions(q_i), coupling.velocities(v_i)
    assert q.shape == (dynamics.nq,)
    assert q[base_nq + 2] == pytest.approx(-2.0 * q[base_nq + 1] + 0.1)
    assert v[base_nv + 2] == pytest.approx(-2.0 * v[base_nv + 1])
    assert q[base_nq + 4] == pytest.approx(0.5 * q[base_nq])
    M = dynamics.mass_matrix(q)
    assert v_i @ coupling.matrix(M) @ v_i == pytest.approx(v @ M @ v, rel=1e-13)
    tau = rng.uniform(-1, 1, dynamics.nv)
    assert coupling.forces(tau) @ v_i == pytest.approx(tau @ v, rel=1e-12)


def test_random_positions_stay_inside_the_limits() -> None:
    model = gripper()
    limits = [
        JointLimits(-0.1, 0.3),
        JointLimits(),
        JointLimits(0.5),
        JointLimits(upper=0.2),
        JointLimits(),
        JointLimits(),
    ]
    moving = iter(limits)
    joints = tuple(
        joint if joint.type is JointType.FIXED else replace(joint, limits=next(moving))
        for joint in model.joints
    )
    model = replace(model, joints=joints)
    q = random_positions(model, np.random.default_rng(0), count=500)
    assert q.shape == (500, 5)
    for column, joint in zip(q.T, model.moving_joints, strict=True):
        if joint.mimic is None:
            reach = 2.0 if joint.type is JointType.PRISMATIC else 2 * np.pi
            width = joint.limits.upper - joint.limits.lower
            width = width if isfinite(width) else reach
            assert joint.limits.lower <= column.min() and column.max() <= joint.limits.upper
            assert 0.9 * width < np.ptp(column) <= width
    np.testing.assert_allclose(q[:, 2], -2.0 * q[:, 1] + 0.1)


def test_loop_residual_and_its_jacobian(dynamics: RobotDynamics) -> None:
    rng = np.random.default_rng(7)
    loops = tuple(
        Loop(kind, kind, "link4", "link7", random_pose(rng), random_pose(rng)) for kind in LoopKind
    )
    open_tree = RobotDynamics(
        replace(dynamics.model, loops=loops), free_base=dynamics.free_base, gravity=GRAVITY
    )
    closure = LoopClosure(open_tree)
    q, v, _ = state(open_tree)
    r = closure.residual(q)
    assert r.shape == (closure.size,) == (9,)
    after = closure.residual(open_tree.integrate(q, H * v))
    before = closure.residual(open_tree.integrate(q, -H * v))
    np.testing.assert_allclose(closure.jacobian(q) @ v, (after - before) / (2 * H), atol=2e-8)


def test_loop_residual_is_zero_where_the_frames_meet(dynamics: RobotDynamics) -> None:
    q, _, _ = state(dynamics)
    X_WA, X_WB = dynamics.link_pose(q, "link4"), dynamics.link_pose(q, "link7")
    loop = Loop("loop", LoopKind.POSE, "link4", "link7", X_AC=np.linalg.inv(X_WA) @ X_WB)
    closed = RobotDynamics(replace(dynamics.model, loops=(loop,)), free_base=dynamics.free_base)
    np.testing.assert_allclose(LoopClosure(closed).residual(q), np.zeros(6), atol=1e-12)


def test_no_loops_give_no_rows(dynamics: RobotDynamics) -> None:
    closure = LoopClosure(dynamics)
    q, _, _ = state(dynamics)
    assert closure.residual(q).shape == (0,)
    assert closure.jacobian(q).shape == (0, dynamics.nv)


def test_a_robot_with_more_joints_than_memory_is_refused(tmp_path) -> None:
    from kinetarium import load_robot

    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    zeros = 'ixy="0" ixz="0" iyz="0"'
    inertial = inertial.replace('ixx="1"', f'ixx="1" {zeros}')
    parts = ['<robot name="worm"><link name="l0"/>']
    for number in range(301):
        parts.append(
            f'<link name="l{number + 1}">{inertial}</link>'
            f'<joint name="j{number}" type="continuous"><parent link="l{number}"/>'
            f'<child link="l{number + 1}"/><axis xyz="0 0 1"/></joint>'
        )
    path = tmp_path / "worm.urdf"
    path.write_text("".join([*parts, "</robot>"]))
    with pytest.raises(KinetariumError, match="301 moving joints needs too much memory"):
        RobotDynamics(load_robot(str(path)))
