"""Arm paths and tool lines, against an independent collision check, limits and plain references."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest

from coal_collision import PUBLIC, standing, touching
from collision_pairs import collision_pairs
from kinetarium import load_robot
from kinetarium.dynamics import link_poses
from kinetarium.dynamics.chain import link_frames, ranges
from kinetarium.errors import KinetariumError
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import Box, Geometry, Joint, JointType, Link, RobotModel
from kinetarium.plan import (
    PlacedArm,
    PlanningRobot,
    ToolLine,
    narrow_posture,
    place_arm,
    plan_arm_path,
    plan_tool_lines,
    planning_robot,
    side_reach,
)
from kinetarium.plan._joint_space import blocked_many, free_edge
from kinetarium.reach import Obstacles
from kinetarium.reach.collision.check import collisions
from kinetarium.reach.collision.pieces import with_obstacles
from kinetarium.scene.scene import rigid_groups
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_about
from needs import needs

DOWN = np.diag([1.0, -1.0, -1.0])
TABLE = (
    Geometry(Box((0.6, 1.2, 0.04)), pose((0.62, 0.0, 0.08))),
    Geometry(Box((0.1, 0.1, 0.5)), pose((0.5, 0.35, 0.35))),
    Geometry(Box((0.1, 0.1, 0.6)), pose((0.35, -0.35, 0.4))),
)
"""A table beside an arm on the ground, with two pillars."""


@pytest.fixture(scope="module")
def panda() -> PlanningRobot:
    return planning_robot(load_robot("panda"), tool="panda_hand_tcp")


@pytest.fixture(scope="module")
def ur5() -> PlanningRobot:
    return planning_robot(load_robot("ur5"))


def free_configurations(arm: PlacedArm, count: int, seed: int = 3) -> Array:
    rng = np.random.default_rng(seed)
    chain = arm.robot.chain.arrays
    q = rng.uniform(*ranges(chain), (10 * count, len(chain.lower)))
    return q[~arm.collides(q)][:count]


def along(q: Array, step: float = 0.01) -> Array:
    """Points on straight lines between corners, no joint farther apart than the step."""
    parts = [
        a + np.linspace(0, 1, int(np.abs(b - a).max() / step) + 2)[:, None] * (b - a)
        for a, b in pairwise(q)
    ]
    return np.concatenate(parts)


def with_fixed(model: RobotModel, shapes: tuple[Geometry, ...]) -> RobotModel:
    """A robot with obstacles as a link that is fixed to its root."""
    link = Link("obstacles", collisions=shapes)
    joint = Joint("fixed/obstacles", JointType.FIXED, model.root, link.name, frozen(np.eye(4)),
                  frozen((0.0, 0.0, 1.0)))  # fmt: skip
    return replace(model, links=(*model.links, link), joints=(*model.joints, joint))


def check_plans(robot: PlanningRobot, name: str, count: int, most: int) -> None:
    """Plan between random configurations and check the paths with the makers' meshes in Coal."""
    arm = place_arm(robot, pose(), obstacles=Obstacles(TABLE, ground=True))
    ends = free_configurations(arm, 2 * count)
    chain, rng = robot.chain, np.random.default_rng(0)
    checked, straight, missing = [], 0, 0
    for a, b in zip(ends[::2], ends[1::2], strict=True):
        path = plan_arm_path(arm, a, goal=b)
        missing += not path.found
        if not path.found:
            continue
        straight += path.straight
        np.testing.assert_array_equal(path.q[[0, -1]], [a, b])
        points = along(path.q)
        assert ((points >= chain.arrays.lower) & (points <= chain.arrays.upper)).all()
        checked.append(points[np.sort(rng.permutation(len(points))[:most])])
    assert missing <= 0.02 * count
    assert straight < count
    file, ignored = PUBLIC[name]
    public = load_robot(file)
    links = [standing(link) if link.name == "base_link" else link for link in public.links]
    public = replace(public, links=tuple(links))
    pairs = list(collision_pairs(public, ignore=ignored))
    base = {"panda_link0", "base_link"}
    moving = [link.name for link in public.links if link.collisions and link.name not in base]
    q = chain.whole(np.concatenate(checked))
    assert [j.name for j in public.moving_joints] == [j.name for j in chain.model.moving_joints]
    everything = [*pairs, *((link, "obstacles") for link in moving)]
    assert not touching(with_fixed(public, TABLE), q, everything).any()


needs_meshes = needs("example-robot-data")


@needs_meshes
@pytest.mark.parametrize("name", ["panda", "ur5"])
def test_no_path_collides(name: str, request: pytest.FixtureRequest) -> None:
    check_plans(request.getfixturevalue(name), name, 20, 30)


@needs_meshes
@pytest.mark.slow
@pytest.mark.parametrize("name", ["panda", "ur5"])
def test_no_path_of_200_collides(name: str, request: pytest.FixtureRequest) -> None:
    check_plans(request.getfixturevalue(name), name, 200, 10_000)


def test_edges_agree_with_a_plain_check(panda: PlanningRobot) -> None:
    """An edge is free if no configuration on it collides, one by one at a finer step."""
    arm = place_arm(panda, pose(), obstacles=Obstacles(TABLE), margin=0.02)
    bare = place_arm(panda, pose(), obstacles=Obstacles(TABLE), margin=0.0)
    ends = free_configurations(arm, 120)
    free = 0
    for a, b in zip(ends[::2], ends[1::2], strict=True):
        if free_edge(arm.arrays, a, b):
            free += 1
            assert not bare.collides(along(np.array([a, b]), 0.002)).any()
        else:
            assert arm.collides(along(np.array([a, b]), 0.002)).any()
    assert 5 < free < 55


def test_levers_bound_how_far_points_move(panda: PlanningRobot) -> None:
    """No corner of the hand's pieces moves farther than the levers claim."""
    chain, pieces = panda.chain.arrays, panda.pieces
    rng = np.random.default_rng(1)
    first, end = pieces.cluster_starts[pieces.body_starts[[7, 8]]]
    centers = np.c_[pieces.places[first:end, :, 3], np.ones(end - first)]
    for _ in range(100):
        q = rng.uniform(chain.lower, chain.upper)
        dq = rng.uniform(-1e-4, 1e-4, 7)
        X, Y = link_frames(chain, q)[7], link_frames(chain, q + dq)[7]
        moved = np.linalg.norm(centers @ (Y - X).T, axis=1).max()
        assert moved <= np.abs(dq) @ panda.levers + 1e-9


def test_the_ground_is_a_plane(panda: PlanningRobot) -> None:
    """A check against the plane equals one against a very large box."""
    arm = place_arm(panda, pose((0.0, 0.0, 0.1)), obstacles=Obstacles(ground=True), margin=0.0)
    chain = panda.chain.arrays
    q = np.random.default_rng(2).uniform(chain.lower, chain.upper, (2000, 7))
    solid = Box((100.0, 100.0, 1.0))
    box = Geometry(solid, pose((0.0, 0.0, -0.6)))
    expected = collisions(with_obstacles(panda.pieces, [box]), chain, q)
    own = collisions(panda.pieces, chain, q)
    assert (expected & ~own).sum() > 50
    np.testing.assert_array_equal(arm.collides(q), expected)
    tilted = pose((0.0, 0.0, 0.1), rotation_about((1.0, 0.0, 0.0), 0.4))
    sloped = place_arm(panda, tilted, obstacles=Obstacles(ground=True), margin=0.0)
    box = Geometry(solid, np.linalg.inv(tilted) @ pose((0.0, 0.0, -0.5)))
    expected = collisions(with_obstacles(panda.pieces, [box]), chain, q)
    np.testing.assert_array_equal(sloped.collides(q), expected)


def test_what_is_held_collides(panda: PlanningRobot) -> None:
    """A long pole on the hand meets a wall where the geometry says so, and nothing else changes."""
    home = np.asarray(panda.chain.held[panda.chain.coordinates])
    (X,) = place_arm(panda, pose()).tool_poses(home[None])
    pole = Geometry(Box((0.02, 0.02, 0.4)), pose((0.0, 0.0, 0.2)))  # 0.4 m ahead of the tool
    for gap, expected in ((0.03, False), (0.005, True)):
        wall = Geometry(Box((4.0, 4.0, 0.1)), X @ pose((0.0, 0.0, 0.4 + gap + 0.05)))
        arm = place_arm(panda, pose(), obstacles=Obstacles((wall,)), held=[pole], margin=0.01)
        assert arm.collides(home[None])[0] == expected
        assert (arm.contact(home) == "'panda_link7' and an obstacle") == expected
        assert not place_arm(panda, pose(), obstacles=Obstacles((wall,))).collides(home[None])[0]
    q = free_configurations(place_arm(panda, pose()), 300)
    tiny = Geometry(Box((1e-3, 1e-3, 1e-3)), pose())
    assert not place_arm(panda, pose(), held=[tiny]).collides(q).any()


def test_a_path_is_the_same_for_the_same_seed(panda: PlanningRobot) -> None:
    arm = place_arm(panda, pose(), obstacles=Obstacles(TABLE, ground=True))
    ends = free_configurations(arm, 60)
    bent = [
        (a, b) for a, b in zip(ends[::2], ends[1::2], strict=True)
        if not free_edge(arm.arrays, a, b)
    ]  # fmt: skip
    a, b = bent[0]
    first, again = (plan_arm_path(arm, a, goal=b, seed=4) for _ in range(2))
    other = plan_arm_path(arm, a, goal=b, seed=5)
    np.testing.assert_array_equal(first.q, again.q)
    assert not first.straight
    assert first.q.shape != other.q.shape or not np.array_equal(first.q, other.q)


@pytest.mark.parametrize("name", ["panda", "ur5"])
def test_a_narrow_posture_reaches_less_to_the_sides(
    name: str, request: pytest.FixtureRequest
) -> None:
    robot: PlanningRobot = request.getfixturevalue(name)
    home = robot.chain.held[robot.chain.coordinates]
    narrow = narrow_posture(robot, near=home)
    assert narrow is not None
    assert np.array_equal(narrow, narrow_posture(robot, near=home))
    lower, upper = ranges(robot.chain.arrays)
    assert (lower < narrow).all() and (narrow < upper).all()
    on_ground = place_arm(robot, np.eye(4), obstacles=Obstacles(ground=True))
    assert on_ground.contact(narrow) == ""
    assert widest(robot, narrow) < 0.7 * widest(robot, home)
    rng = np.random.default_rng(0)
    for q in (home, narrow, *rng.uniform(lower, upper, (20, len(home)))):
        # Upright boxes around the pieces are up to 13 cm wider than the shapes.
        assert -1e-9 < side_reach(robot, q) - widest(robot, q) < 0.13


def test_a_locked_joint_leaves_the_others_free_to_fold() -> None:
    model = load_robot("panda")
    third = model.joint("panda_joint3")
    locked = replace(third, limits=replace(third.limits, lower=0.0, upper=0.0))
    joints = tuple(locked if joint is third else joint for joint in model.joints)
    robot = planning_robot(replace(model, joints=joints), tool="panda_hand_tcp")
    home = robot.chain.held[robot.chain.coordinates]
    narrow = narrow_posture(robot, near=home)
    assert narrow is not None and narrow[2] == 0.0
    assert side_reach(robot, narrow) < 0.7 * side_reach(robot, home)


def widest(robot: PlanningRobot, q: Array) -> float:
    """How far the arm's own shapes reach from the axis of its first joint, point by point."""
    chain, model = robot.chain, robot.chain.model
    poses = link_poses(model, robot.whole(q))
    names = [link.name for link in model.links]
    axis = poses[names.index(model.joint(chain.joints[0]).child)][:2, 3]
    groups = rigid_groups(model)
    points = [
        triangulate(shape.shape).vertices @ (X @ shape.X_LG)[:2, :3].T + (X @ shape.X_LG)[:2, 3]
        for link, X in zip(model.links, poses, strict=True)
        if groups[link.name] != groups[chain.base_link]
        for shape in link.collisions
    ]
    return float(np.linalg.norm(np.concatenate(points) - axis, axis=1).max())


def test_all_searches_are_counted(panda: PlanningRobot, monkeypatch: pytest.MonkeyPatch) -> None:
    arm = place_arm(panda, pose(), obstacles=Obstacles(TABLE, ground=True))
    drawn: list[int] = []

    def lost(*args: Array) -> tuple[Array, int]:
        drawn.append(len(args[-1]))
        return np.empty((0, 7)), len(args[-1])

    monkeypatch.setattr("kinetarium.plan.arm_path.connect_trees", lost)
    monkeypatch.setattr("kinetarium.plan.arm_path.free_edge", lambda *_: False)
    home = panda.chain.held[panda.chain.coordinates]
    path = plan_arm_path(arm, home, goal=home)
    assert drawn == [100, 1000, 4000] and path.nodes == 5100
    assert path.reason == "no path found with 5100 random configurations"


def test_reasons_and_refusals(panda: PlanningRobot, ur5: PlanningRobot) -> None:
    arm = place_arm(panda, pose(), obstacles=Obstacles(TABLE, ground=True))
    home = np.asarray(panda.chain.held[panda.chain.coordinates])
    below = home + np.array([0.0, 1.4, 0.0, 0.5, 0.0, 0.0, 0.0])
    assert "the goal collides: " in plan_arm_path(arm, home, goal=below).reason
    beyond = home + np.array([4.0, 0, 0, 0, 0, 0, 0])
    reason = plan_arm_path(arm, beyond, goal=home).reason
    assert reason == "the start is 1.1 beyond a limit of 'panda_joint1'"
    q = free_configurations(arm, 60)
    bent = next((a, b) for a, b in pairwise(q) if not free_edge(arm.arrays, a, b))
    assert "no path found" in plan_arm_path(arm, bent[0], goal=bent[1], tries=0).reason
    with pytest.raises(KinetariumError, match=r"shape \(n, 7\)"):
        plan_arm_path(arm, home[:6], goal=home)
    with pytest.raises(KinetariumError, match="seed"):
        plan_arm_path(arm, home, goal=home, seed=-1)
    with pytest.raises(KinetariumError, match="rigid"):
        place_arm(ur5, np.diag([2.0, 1.0, 1.0, 1.0]))
    with pytest.raises(KinetariumError, match="margin"):
        place_arm(ur5, pose(), margin=np.nan)


def tool_line(x: float, y: float, yaw: float, z: tuple[float, float]) -> Array:
    R = rotation_about((0.0, 0.0, 1.0), yaw) @ DOWN
    return np.array([pose((x, y, height), R) for height in z])


def check_line(arm: PlacedArm, line: ToolLine, ends: Array) -> None:
    """The tool is on the line at every point, in order, and no joint jumps or collides."""
    X = arm.tool_poses(line.q)
    shares = np.linspace(0.0, line.fraction, len(line.q))
    expected = ends[0, :3, 3] + shares[:, None] * (ends[1, :3, 3] - ends[0, :3, 3])
    np.testing.assert_allclose(X[:, :3, 3], expected, atol=3e-7)
    np.testing.assert_allclose(X[:, :3, :3], np.broadcast_to(ends[0, :3, :3], X[:, :3, :3].shape),
                               atol=3e-7)  # fmt: skip
    assert np.abs(np.diff(line.q, axis=0)).max() < 0.1
    assert not arm.collides(line.q).any()
    chain = arm.robot.chain.arrays
    margin = np.minimum(line.q - chain.lower, chain.upper - line.q).min()
    assert line.limit_margin == pytest.approx(margin)


@pytest.mark.parametrize("name", ["panda", "ur5"])
def test_tools_follow_lines_on_one_branch(name: str, request: pytest.FixtureRequest) -> None:
    robot: PlanningRobot = request.getfixturevalue(name)
    arm = place_arm(robot, pose(), obstacles=Obstacles(TABLE, ground=True), margin=0.005)
    ends = np.array([
        tool_line(x, y, yaw, (0.4, 0.25))
        for x, y, yaw in product((0.4, 0.55), (-0.1, 0.1), (0.0, np.pi / 2))
    ])  # fmt: skip
    lines = plan_tool_lines(arm, ends)
    assert all(line.found for line in lines)
    for line, pair in zip(lines, ends, strict=True):
        check_line(arm, line, pair)
        assert line.length == pytest.approx(0.15)
        # Back up from where it ended: the same branch, all the way.
        (back,) = plan_tool_lines(arm, pair[None, ::-1], start=line.q[-1])
        check_line(arm, back, pair[::-1])
        assert back.found
        np.testing.assert_allclose(back.q[-1], line.q[0], atol=0.05)
    if name == "panda":
        assert np.ptp(lines[0].q[:, 6]) == 0.0
    wanted = lines[0].q[0] + 0.01
    (near,) = plan_tool_lines(arm, ends[:1], near=wanted)
    assert np.abs(near.q[0] - wanted).max() <= np.abs(lines[0].q[0] - wanted).max() + 1e-9


def test_a_line_ends_where_the_hand_meets_the_table(panda: PlanningRobot) -> None:
    """The lowest point of the hand is the tool's tip, to a centimetre: the table's top is 0.1 m."""
    arm = place_arm(panda, pose(), obstacles=Obstacles(TABLE), margin=0.0)
    (line,) = plan_tool_lines(arm, tool_line(0.5, 0.0, 0.0, (0.4, 0.0))[None])
    assert not line.found
    assert line.reason.startswith("the arm collides after ")
    end = 0.4 - 0.4 * line.fraction
    assert 0.1 - 0.02 < end < 0.1 + 0.03
    check_line(arm, line, tool_line(0.5, 0.0, 0.0, (0.4, 0.0)))


def test_a_line_ends_at_the_end_of_the_reach(ur5: PlanningRobot) -> None:
    arm = place_arm(ur5, pose())
    ends = np.array([pose((x, 0.1, 0.4), DOWN) for x in (0.5, 1.5)])
    (line,) = plan_tool_lines(arm, ends[None])
    assert 0.1 < line.fraction < 0.5
    assert line.reason.startswith("the arm is at a joint limit or at the end of its reach after ")
    (none,) = plan_tool_lines(arm, np.array([[pose((3.0, 0.0, 0.4), DOWN)] * 2]))
    assert none.fraction == 0.0
    assert not none.found
    with pytest.raises(KinetariumError, match="not at the start"):
        plan_tool_lines(arm, ends[None], start=np.zeros(6))
    with pytest.raises(KinetariumError, match=r"\(n, 2, 4, 4\)"):
        plan_tool_lines(arm, ends)


def test_a_tool_frame_in_its_link(panda: PlanningRobot) -> None:
    """A tool frame 0.1 m ahead of the flange reaches what the flange reaches 0.1 m behind it."""
    longer = planning_robot(load_robot("panda"), tool="panda_hand_tcp", X_LT=pose((0, 0, 0.1)))
    home = np.asarray(panda.chain.held[panda.chain.coordinates])
    X, Y = (place_arm(robot, pose()).tool_poses(home[None])[0] for robot in (panda, longer))
    np.testing.assert_allclose(Y, X @ pose((0.0, 0.0, 0.1)), atol=1e-12)
    (line,) = plan_tool_lines(place_arm(longer, pose()), np.array([[Y, pose((0, 0, 0.05)) @ Y]]))
    assert line.found


def test_kernels_agree_on_many_configurations(panda: PlanningRobot) -> None:
    arm = place_arm(panda, pose(), obstacles=Obstacles(TABLE), margin=0.0)
    chain = panda.chain.arrays
    q = np.random.default_rng(8).uniform(chain.lower, chain.upper, (500, 7))
    expected = collisions(with_obstacles(panda.pieces, TABLE), chain, q)
    np.testing.assert_array_equal(blocked_many(arm.arrays, q), expected)
