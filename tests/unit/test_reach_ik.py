"""Inverse kinematics: chains, kernels against their references, policies and refusals."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import kernel_references
import kinetarium.reach
from forward_kernels import jacobians, manipulabilities
from kinetarium import KinetariumError, load_robot
from kinetarium.dynamics import RobotDynamics, forward
from kinetarium.dynamics.chain import link_frames, ranges, serial_chain
from kinetarium.errors import UnknownNameError
from kinetarium.model.robot import (
    Geometry,
    JointLimits,
    JointType,
    Loop,
    LoopKind,
    Mimic,
    RobotModel,
    Sphere,
)
from kinetarium.reach import solve_ik
from kinetarium.reach.collision.check import collisions
from kinetarium.reach.collision.pieces import body_pieces
from kinetarium.reach.ik import generic as generic_ik
from kinetarium.reach.ik.panda_geometry import panda_arrays
from kinetarium.reach.ik.start_table import start_table
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose

ARMS = ("panda", "ur5", "kr250", "two-link", "husky4-panda")


def reachable(robot: RobotModel, count: int, *, tool: str = "", seed: int = 1) -> Array:
    """Poses that random joint positions within the limits give."""
    chain = serial_chain(robot, tool=tool).arrays
    lower, upper = ranges(chain)
    q = np.random.default_rng(seed).uniform(lower, upper, (count, len(lower)))
    return forward.poses(chain, q)


def sliding(robot: RobotModel) -> RobotModel:
    """The robot with its second joint sliding along a skew axis."""
    axis = frozen(np.array([0.6, 0.0, 0.8]))
    joints = tuple(
        replace(joint, type=JointType.PRISMATIC, axis=axis, limits=JointLimits(-0.3, 0.4))
        if joint.name == robot.moving_joints[1].name
        else joint
        for joint in robot.joints
    )
    return replace(robot, joints=joints)


@pytest.mark.parametrize("name", ARMS)
def test_the_chain_moves_as_the_robot_does(name: str) -> None:
    robot = load_robot(name)
    chain = serial_chain(robot)
    lower, upper = ranges(chain.arrays)
    q = np.random.default_rng(0).uniform(lower, upper, (20, len(lower)))
    dynamics = RobotDynamics(robot, free_base=False)
    index = {link.name: i for i, link in enumerate(robot.links)}
    for positions, X_BT in zip(chain.whole(q), forward.poses(chain.arrays, q), strict=True):
        X_WL = dynamics.link_poses(positions)
        expected = np.linalg.inv(X_WL[index[chain.base_link]]) @ X_WL[index[chain.tool]]
        np.testing.assert_allclose(X_BT, expected, atol=1e-13)


@pytest.mark.parametrize("slide", [False, True], ids=["turning", "with a slide"])
def test_kernels_agree_with_their_references(slide: bool) -> None:
    robot = load_robot("kr250")
    chain = serial_chain(sliding(robot) if slide else robot).arrays
    assert chain.prismatic.any() == slide
    q = np.random.default_rng(2).uniform(*ranges(chain), (20, 6))
    X = np.empty((8, 3, 4))
    for positions in q:
        forward.place(chain, positions, X)
        np.testing.assert_allclose(X, link_frames(chain, positions)[:, :3], atol=1e-13)
    J = [kernel_references.jacobian(chain, positions) for positions in q]
    np.testing.assert_allclose(jacobians(chain, q), J, atol=1e-13)
    w = [kernel_references.manipulability(chain, positions) for positions in q]
    np.testing.assert_allclose(manipulabilities(chain, q), w, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("joints", [2, 6, 7])
def test_damped_least_squares_are_solved_as_numpy_does(joints: int) -> None:
    rng = np.random.default_rng(joints)
    for damping in (1e-1, 1e-3, 1e-6):
        J, e, A = rng.normal(size=(6, joints)), rng.normal(size=6), np.empty((6, 7))
        A[:, 6] = e
        generic_ik.damped(J, damping, A)
        expected = np.linalg.solve(J @ J.T + damping * np.eye(6), e)
        np.testing.assert_allclose(A[:, 6], expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_manipulability_is_zero_where_arms_are_stretched_or_short() -> None:
    panda, short = serial_chain(load_robot("panda")).arrays, serial_chain(load_robot("two-link"))
    assert manipulabilities(panda, np.zeros((1, 7)))[0] < 1e-7
    assert manipulabilities(short.arrays, np.ones((1, 2)))[0] == 0.0


@pytest.mark.parametrize("slide", [False, True], ids=["turning", "with a slide"])
def test_the_jacobian_is_the_derivative(slide: bool) -> None:
    robot = load_robot("ur5")
    chain = serial_chain(sliding(robot) if slide else robot).arrays
    q = np.random.default_rng(3).uniform(-1, 1, 6) * 0.3
    h = 1e-6
    J = jacobians(chain, q[None])[0]
    R = forward.poses(chain, q[None])[0, :3, :3]
    for j, column in enumerate(J.T):
        ahead, behind = forward.poses(chain, np.array([q, q]) + h * np.outer([1, -1], np.eye(6)[j]))
        v = (ahead - behind)[:3, 3] / (2 * h)
        w = (so3.log(ahead[:3, :3] @ R.T) - so3.log(behind[:3, :3] @ R.T)) / (2 * h)
        np.testing.assert_allclose([*v, *w], column, atol=1e-8)


def test_the_closed_form_is_chosen_by_geometry() -> None:
    fits = {name: panda_arrays(serial_chain(load_robot(name)).arrays) for name in ARMS}
    assert {name for name, panda in fits.items() if panda} == {"panda", "husky4-panda"}
    np.testing.assert_allclose(
        fits["panda"].lengths, [0.316, 0.0825, -0.0825, 0.384, 0.088], atol=1e-12
    )
    longer = load_robot("panda")
    joints = [
        replace(joint, X_PJ=frozen(joint.X_PJ @ pose([0, 0, 0.01])))
        if joint.name == "panda_joint4"
        else joint
        for joint in longer.joints
    ]
    skew = serial_chain(replace(longer, joints=tuple(joints))).arrays
    assert panda_arrays(skew) is None


@pytest.mark.parametrize("name", ["ur5", "kr250", "two-link", "panda-skew", "slide"])
def test_other_arms_are_solved_numerically(name: str) -> None:
    if name == "panda-skew":
        robot = load_robot("panda")
        turn = pose(rotation=so3.exp([0.01, 0.0, 0.0]))
        joints = [
            replace(joint, X_PJ=frozen(joint.X_PJ @ turn)) if joint.name.endswith("5") else joint
            for joint in robot.joints
        ]
        robot = replace(robot, joints=tuple(joints))
    else:
        robot = sliding(load_robot("kr250")) if name == "slide" else load_robot(name)
    X = reachable(robot, 300)
    solved = solve_ik(robot, X)
    chain = serial_chain(robot).arrays
    assert panda_arrays(chain) is None
    assert solved.found.mean() > 0.99
    q = solved.q[solved.found]
    np.testing.assert_allclose(forward.poses(chain, q), X[solved.found], atol=3e-7)
    assert ((chain.lower <= q) & (q <= chain.upper)).all()


@pytest.mark.parametrize("name", ["panda", "ur5"])
def test_the_best_solution_is_no_worse_than_the_first(name: str) -> None:
    robot = load_robot(name)
    X = reachable(robot, 40)
    first, best = solve_ik(robot, X), solve_ik(robot, X, policy="best")
    assert first.found.all() and best.found.all()
    assert (best.manipulability >= first.manipulability - 1e-12).all()
    assert best.manipulability.mean() > 1.1 * first.manipulability.mean()
    chain = serial_chain(robot).arrays
    for solved in (first, best):
        w = manipulabilities(chain, solved.q)
        np.testing.assert_allclose(solved.manipulability, w, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(forward.poses(chain, solved.q), X, atol=3e-7)


def test_solutions_do_not_depend_on_their_company() -> None:
    robot = load_robot("ur5")
    X = reachable(robot, 20)
    together, alone = solve_ik(robot, X), [solve_ik(robot, X[i : i + 1]).q[0] for i in range(20)]
    np.testing.assert_array_equal(together.q, alone)
    other = solve_ik(robot, X, seed=7)
    assert other.found.all() and (other.q != together.q).any()


@pytest.mark.parametrize("name", ["panda", "ur5"])
def test_solutions_do_not_collide_where_collisions_count(name: str) -> None:
    robot = load_robot(name)
    chain = serial_chain(robot)
    pieces = body_pieces(chain)
    X = reachable(robot, 400)
    free, clear = solve_ik(robot, X), solve_ik(robot, X, collision=pieces)
    assert collisions(pieces, chain.arrays, free.q).sum() > 20
    assert not collisions(pieces, chain.arrays, clear.q[clear.found]).any()
    assert 0.85 < clear.found.mean() < 1.0
    assert not (clear.found & ~free.found).any()


def test_what_stands_around_is_avoided() -> None:
    robot = load_robot("panda")
    chain = serial_chain(robot)
    X = reachable(robot, 50)
    tool = pose(X[0, :3, 3])
    ball = Geometry(Sphere(0.05), frozen(tool))
    solved = solve_ik(robot, X, collision=body_pieces(chain, obstacles=[ball]))
    assert not solved.found[0]
    assert solved.found.any()


def test_tool_and_base_can_be_named() -> None:
    robot = load_robot("husky4-panda")
    assert serial_chain(robot).base_link == "base_link"
    X = reachable(robot, 20, tool="panda_hand_tcp")
    solved = solve_ik(robot, X, tool="panda_hand_tcp")
    assert solved.found.all()
    assert solved.joints == tuple(f"panda_joint{i}" for i in range(1, 8))
    chain = serial_chain(robot, tool="panda_link3", base_link="panda_link1")
    assert chain.joints == ("panda_joint2", "panda_joint3")


def test_a_fully_named_pose_is_solved_at_the_limits() -> None:
    robot = load_robot("panda")
    chain = serial_chain(robot).arrays
    X = forward.poses(chain, np.array([chain.lower, chain.upper]))
    solved = solve_ik(robot, X)
    q = solved.q[solved.found]
    assert ((chain.lower <= q) & (q <= chain.upper)).all()


def test_degenerate_poses_are_answered() -> None:
    """The tool at the shoulder, at the base, straight up, and far beyond all numbers' squares."""
    robot = load_robot("panda")
    places = [[0, 0, 0.333], [0, 0, 0], [0, 0, 1.19], [0, 0, 0.333 + 0.107], [1e200, 0, 0]]
    X = np.array([pose(p, so3.exp([a, 0, 0])) for p in places for a in (0.0, np.pi)])
    for name in ("panda", "ur5"):
        solved = solve_ik(load_robot(name), X)
        chain = serial_chain(load_robot(name)).arrays
        q = solved.q[solved.found]
        np.testing.assert_allclose(forward.poses(chain, q), X[solved.found], atol=3e-7)
        assert not solved.found[-2:].any()
    assert solve_ik(robot, np.zeros((0, 4, 4))).q.shape == (0, 7)


@pytest.mark.parametrize(
    "bad",
    [
        np.full((1, 4, 4), np.nan),
        np.eye(4),
        [[1, 2], [3]],
        np.full((1, 4, 4), "x"),
        np.eye(4)[None] * 1j,
        np.diag([1.0, 1.0, -1.0, 1.0])[None],
        np.diag([1.0, 1.0, 1.01, 1.0])[None],
        np.diag([1e300, 1.0, 1.0, 1.0])[None],
        np.ones((2, 4, 4)),
        None,
        {},
    ],
    ids=str,
)
def test_what_is_not_a_pose_is_refused(bad: object) -> None:
    with pytest.raises(KinetariumError, match="pose"):
        solve_ik(load_robot("ur5"), bad)  # type: ignore[arg-type]


def test_rounded_poses_are_still_reached() -> None:
    robot = load_robot("panda")
    X = reachable(robot, 50).astype(np.float32)
    assert solve_ik(robot, X).found.all()


def test_bad_arguments_are_refused() -> None:
    robot, X = load_robot("panda"), np.eye(4)[None]
    with pytest.raises(UnknownNameError, match="first"):
        solve_ik(robot, X, policy="worst")
    with pytest.raises(UnknownNameError, match="panda_link8"):
        solve_ik(robot, X, tool="panda_link9")
    for seed in (-1, 0.5, "0"):
        with pytest.raises(KinetariumError, match="seed"):
            solve_ik(robot, X, seed=seed)  # type: ignore[arg-type]


def test_robots_without_a_free_chain_are_refused() -> None:
    panda = load_robot("panda")
    with pytest.raises(KinetariumError, match="no chain from 'panda_hand' to 'panda_link3'"):
        serial_chain(panda, base_link="panda_hand", tool="panda_link3")
    with pytest.raises(KinetariumError, match="no joint"):
        serial_chain(panda, base_link="panda_link8", tool="panda_hand")
    with pytest.raises(KinetariumError, match="no joint"):
        serial_chain(panda, base_link="panda_link8", tool="panda_link8")
    with pytest.raises(KinetariumError, match="follows 'panda_finger_joint1'"):
        serial_chain(panda, tool="panda_rightfinger")
    with pytest.raises(KinetariumError, match="tool link"):
        serial_chain(load_robot("husky4"))
    looped = replace(panda, loops=(Loop("rod", LoopKind.POINT, "panda_link0", "panda_link4"),))
    with pytest.raises(KinetariumError, match="'rod'"):
        serial_chain(looped)
    bound = replace(panda, source=replace(panda.source, file="my.urdf"))
    with pytest.raises(KinetariumError, match="panda_leftpad"):
        serial_chain(bound)
    mimic = Mimic("panda_joint1")
    joints = [replace(j, mimic=mimic) if j.name == "panda_joint2" else j for j in panda.joints]
    with pytest.raises(KinetariumError, match="panda_joint2"):
        serial_chain(replace(panda, joints=tuple(joints)))


def test_the_package_is_light() -> None:
    code = (
        "import sys, kinetarium.reach; kinetarium.reach.solve_ik;"
        "assert not {'numba', 'pinocchio', 'mujoco'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert kinetarium.reach.solve_ik is solve_ik


def test_the_table_of_starts_lies_in_memory_as_it_is_searched() -> None:
    table = start_table(serial_chain(load_robot("ur5")).arrays, seed=0)
    assert table.keys.flags.c_contiguous and table.keys.dtype == np.float32
