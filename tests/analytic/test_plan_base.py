"""Base paths: the whole robot is clear of obstacles, legs are what they claim, the goal is met."""

from dataclasses import replace
from itertools import pairwise, product
from math import cos, pi, sin

import coal
import numpy as np
import pytest

from coal_collision import DATA, coal_shape, placed
from kernel_references import lattice_cost
from kinetarium import load_robot
from kinetarium.dynamics import link_poses
from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.model.robot import Box, Geometry
from kinetarium.plan import (
    BasePath,
    PlanningRobot,
    base_path,
    base_pose,
    plan_base_path,
    planning_robot,
    steered_pose,
    time_base_path,
)
from kinetarium.plan._lattice import search
from kinetarium.plan._legs import Drivable, free_motion
from kinetarium.plan.arm_path import driving_body
from kinetarium.reach import Obstacles
from kinetarium.reach.collision.pieces import grown
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose, rotation_about
from needs import needs

HEIGHT = 0.235
CENTRE = (0.064, 0.0, 0.0)


@pytest.fixture(scope="module")
def scout() -> PlanningRobot:
    return planning_robot(load_robot("scout-panda"), tool="panda_hand_tcp")


def table(x: float, y: float, yaw: float = 0.0) -> tuple[Geometry, ...]:
    X = pose((x, y, 0.0), rotation_about((0.0, 0.0, 1.0), yaw))
    legs = [
        Geometry(Box((0.05, 0.05, 0.66)), X @ pose((0.55 * i, 0.25 * j, 0.33)))
        for i, j in product((-1, 1), repeat=2)
    ]
    return (Geometry(Box((1.2, 0.6, 0.04)), X @ pose((0.0, 0.0, 0.68))), *legs)


def crate(x: float, y: float, height: float = 0.5) -> Geometry:
    return Geometry(Box((0.3, 0.3, height)), pose((x, y, height / 2)))


def home(robot: PlanningRobot) -> Array:
    return np.asarray(robot.chain.held[robot.chain.coordinates])


def poses_along(path: BasePath) -> Array:
    """Poses of the base link every 10 ms of its motion."""
    motion = time_base_path(path)
    at, _, _ = motion.sample(np.arange(0.0, motion.duration + 0.01, 0.01))
    return base_pose(at, path.steered)


def least_gap(robot: PlanningRobot, obstacles: Obstacles, path: BasePath, height: float) -> float:
    """Return the least distance of the robot from obstacles along a path, by Coal [m]."""
    model = robot.chain.model
    X_BL = link_poses(model, robot.whole(home(robot)))
    own = [
        (coal_shape(part.shape), X @ part.X_LG)
        for link, X in zip(model.links, X_BL, strict=True)
        for part in link.collisions
    ]
    around = [(coal_shape(part.shape), placed(part.X_LG)) for part in obstacles.shapes]
    least = np.inf
    for x, y, yaw in poses_along(path)[::25]:
        X_WB = pose((x, y, height), rotation_about((0.0, 0.0, 1.0), yaw))
        for (shape, X), (other, there) in product(own, around):
            result = coal.DistanceResult()
            gap = coal.distance(
                shape, placed(X_WB @ X), other, there, coal.DistanceRequest(), result
            )
            least = min(least, gap)
    return least


def check_legs(path: BasePath, start: Array, goal: Array, *, sideways: bool = False) -> None:
    """Each leg is a turn about the steered point or a straight way along its heading."""
    poses = path.poses
    assert np.array_equal(poses[0], start)
    assert np.array_equal(poses[-1, :2], goal[:2])
    assert abs((poses[-1, 2] - goal[2] + pi) % (2 * pi) - pi) < 1e-9
    points = steered_pose(poses, path.steered)
    for leg, a, b in zip(path.legs, points[:-1], points[1:], strict=True):
        assert (leg.turn == 0.0) != (leg.length == 0.0)
        if leg.turn:
            np.testing.assert_allclose(a[:2], b[:2], atol=1e-5)
            assert b[2] - a[2] == pytest.approx(leg.turn, abs=1e-5)
        else:
            assert sideways or leg.direction == 0.0
            d = a[2] + leg.direction
            np.testing.assert_allclose(b[:2] - a[:2], [leg.length * cos(d), leg.length * sin(d)],
                                       atol=1e-5)  # fmt: skip
            assert b[2] == pytest.approx(a[2], abs=1e-5)


def random_scene(rng: np.random.Generator) -> tuple[Obstacles, Array, Array]:
    """A table, a base in front of it, a start 1.5 to 3 m away, and crates between them."""
    yaw = rng.uniform(-pi, pi)
    X = pose((0.0, 0.0, 0.0), rotation_about((0.0, 0.0, 1.0), yaw))
    x, y, *_ = X @ [rng.uniform(-0.3, 0.3), -1.1, 0.0, 1.0]
    goal = np.array([x, y, yaw + pi / 2])
    away, angle = rng.uniform(1.5, 3.0), rng.uniform(-pi, pi)
    start = np.array([x + away * cos(angle), y + away * sin(angle), rng.uniform(-pi, pi)])
    middle = (start + goal) / 2 + rng.uniform(-0.2, 0.2, 3)
    return Obstacles((*table(0.0, 0.0, yaw), crate(*middle[:2])), ground=True), start, goal


def check_scenes(robot: PlanningRobot, height: float, count: int) -> int:
    """Plan in random scenes; return in how many there is a way."""
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(count):
        obstacles, start, goal = random_scene(rng)
        path = plan_base_path(
            robot, obstacles, start=start, goal=goal, posture=home(robot), height=height,
            steered=CENTRE, end_margin=0.03,
        )  # fmt: skip
        if path.found:
            found += 1
            check_legs(path, start, goal)
            # In between checked poses the end margin of 3 cm may be less by 2 cm.
            assert least_gap(robot, obstacles, path, height) > 0.01
        else:
            assert "obstacle" in path.reason
    return found


def test_the_whole_robot_is_clear_of_obstacles(scout: PlanningRobot) -> None:
    assert check_scenes(scout, HEIGHT, 4) >= 2


def test_a_way_that_was_found_from_the_goal_is_as_free(
    scout: PlanningRobot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base_path, "PATIENCE", (1, 10_000))
    assert check_scenes(scout, HEIGHT, 6) >= 2


@pytest.mark.slow
def test_the_whole_robot_is_clear_of_obstacles_in_50_scenes(scout: PlanningRobot) -> None:
    assert check_scenes(scout, HEIGHT, 50) >= 30


def test_husky_drives_around_a_crate() -> None:
    husky = planning_robot(load_robot("husky4-panda"), tool="panda_hand_tcp")
    obstacles = Obstacles((*table(2.0, 0.0, pi / 2), crate(0.0, 0.1)))
    start, goal = np.array([-1.6, 0.3, 2.0]), np.array([0.9, 0.0, 0.0])
    path = plan_base_path(
        husky, obstacles, start=start, goal=goal, posture=home(husky), height=0.145, end_margin=0.02
    )
    assert path.found, path.reason
    check_legs(path, start, goal)
    assert least_gap(husky, obstacles, path, 0.145) > 0.0


@needs("example-robot-data")
def test_a_robot_file_with_a_torso() -> None:
    file = DATA / "robots" / "tiago_description" / "robots" / "tiago_no_hand.urdf"
    tiago = planning_robot(load_robot(file), tool="wrist_ft_tool_link")
    assert tiago.chain.joints[0] == "torso_lift_joint"
    obstacles = Obstacles((*table(1.5, 0.0), crate(-0.3, 0.1)))
    start, goal = np.array([-1.5, 0.5, 2.0]), np.array([0.35, 0.0, 0.0])
    path = plan_base_path(tiago, obstacles, start=start, goal=goal, posture=home(tiago))
    assert path.found, path.reason
    check_legs(path, start, goal)


def test_the_hand_counts_not_only_the_footprint(scout: PlanningRobot) -> None:
    """A board at the height of the hand blocks a way that is free for the chassis."""
    board = Geometry(Box((0.1, 2.0, 0.2)), pose((0.9, 0.0, 0.85)))
    words = {"start": (-1.0, 0.0, 0.0), "goal": (0.35, 0.0, 0.0), "height": HEIGHT}
    ahead = plan_base_path(scout, Obstacles((board,)), posture=home(scout), **words)
    assert "at the goal" in ahead.reason
    there = plan_base_path(
        scout, Obstacles((board,)), posture=home(scout), **{**words, "start": words["goal"]}
    )
    assert "at the goal" in there.reason
    # With the arm folded over the chassis it is free.
    folded = np.array([pi / 2, -1.5, 0.0, -2.9, 0.0, 1.6, 0.785])
    path = plan_base_path(scout, Obstacles((board,)), posture=folded, **words)
    assert path.found
    assert path.length == pytest.approx(1.35)


def test_a_free_way_is_straight_and_ends_straight_ahead(scout: PlanningRobot) -> None:
    start, goal = np.array([0.0, 0.0, 0.3]), np.array([2.0, 1.0, -0.4])
    path = plan_base_path(
        scout, Obstacles(), start=start, goal=goal, posture=home(scout), steered=CENTRE
    )
    check_legs(path, start, goal)
    assert path.reached == 0
    assert path.legs[-1].length > 0.0
    there = plan_base_path(scout, Obstacles(), start=goal, goal=goal, posture=home(scout))
    assert there.found
    assert there.legs == ()


def test_a_short_way_back_is_driven_backwards(scout: PlanningRobot) -> None:
    path = plan_base_path(
        scout, Obstacles(), start=(0.0, 0.0, 0.0), goal=(-0.5, 0.0, 0.0), posture=home(scout)
    )
    (leg,) = path.legs
    assert leg.length == pytest.approx(-0.5)


def test_omnidirectional_bases_slide(scout: PlanningRobot) -> None:
    start, goal = np.array([0.0, 0.0, 0.5]), np.array([0.3, 1.2, 0.5])
    words = {"start": start, "goal": goal, "posture": home(scout), "height": HEIGHT}
    path = plan_base_path(scout, Obstacles(), motion="omnidirectional", **words)
    (leg,) = path.legs
    assert leg.length == pytest.approx(np.hypot(0.3, 1.2))
    obstacles = Obstacles((crate(0.45, 0.45, 0.9), crate(0.9, 0.5, 0.9)))
    around = plan_base_path(scout, obstacles, motion="omnidirectional", **words)
    if around.found:
        check_legs(around, start, goal, sideways=True)
        assert least_gap(scout, obstacles, around, HEIGHT) > 0.0


def test_refusals_and_reasons(scout: PlanningRobot) -> None:
    words = {"start": (0.0, 0.0, 0.0), "goal": (2.0, 0.0, 0.0), "posture": home(scout)}
    with pytest.raises(KinetariumError, match="cannot turn in place"):
        plan_base_path(scout, Obstacles(), motion="steered", **words)
    with pytest.raises(UnknownNameError):
        plan_base_path(scout, Obstacles(), motion="hovering", **words)
    with pytest.raises(KinetariumError, match="three finite numbers"):
        plan_base_path(scout, Obstacles(), **{**words, "goal": (0.0, np.nan, 0.0)})
    with pytest.raises(KinetariumError, match="margins"):
        plan_base_path(scout, Obstacles(), margin=-0.1, **words)
    walls = [
        Geometry(Box((0.1, 2.3, 1.0)), pose((2.0 + 1.1 * side, 0.0, 0.5))) for side in (-1, 1)
    ] + [Geometry(Box((2.3, 0.1, 1.0)), pose((2.0, 1.1 * side, 0.5))) for side in (-1, 1)]
    closed = plan_base_path(scout, Obstacles(tuple(walls)), height=HEIGHT,
                            **{**words, "start": (-1.5, 0.0, 0.0)})  # fmt: skip
    assert not closed.found
    assert "no way to the goal keeps 0.06 m from all obstacles" in closed.reason


@pytest.mark.parametrize("sideways", [False, True])
def test_search_finds_the_cheapest_way_on_the_lattice(scout: PlanningRobot, sideways: bool) -> None:
    """The kernel without guidance against Dijkstra's algorithm in plain Python."""
    obstacles = Obstacles((crate(0.0, 0.0, 0.9), crate(0.1, 0.6, 0.9)))
    body = driving_body(scout, obstacles, posture=home(scout))
    pieces = grown(body, by=0.03)
    start, goal = np.array([-0.62, -0.83, 0.4]), np.array([-1.1, 0.3, pi / 2])
    ends = np.array([start[:2], goal[:2]])
    base = Drivable(pieces, pieces, np.array(CENTRE), ends, HEIGHT, 0.9, sideways)
    box = np.array([[-14, -8], [6, 8]])
    poses, cost, reached = search(base, start, goal, box, False, 10**6)
    reference = lattice_cost(
        start, goal, box=box, free=lambda a, b: bool(free_motion(base, a, b)), sideways=sideways
    )
    assert reached > 20
    assert cost == pytest.approx(reference, abs=1e-9)
    assert all(free_motion(base, a, b) for a, b in pairwise(poses))
    _, guided, fewer = search(base, start, goal, box, True, 10**6)
    assert fewer < reached
    assert cost - 1e-9 <= guided <= 1.5 * cost


def test_steered_frames_convert_back() -> None:
    rng = np.random.default_rng(0)
    bases, frame = rng.uniform(-3, 3, (20, 3)), (0.2, -0.1, 0.7)
    np.testing.assert_allclose(base_pose(steered_pose(bases, frame), frame), bases, atol=1e-12)


def test_what_is_held_counts(scout: PlanningRobot) -> None:
    wall = Geometry(Box((0.1, 2.0, 2.0)), pose((1.2, 0.0, 1.0)))
    words = {"start": (-1.0, 0.0, 0.0), "goal": (0.3, 0.0, 0.0), "height": HEIGHT}
    path = plan_base_path(scout, Obstacles((wall,)), posture=home(scout), **words)
    assert path.found
    pole = replace(crate(0.0, 0.0), X_LG=pose(), shape=Box((0.8, 0.05, 0.05)))
    held = plan_base_path(scout, Obstacles((wall,)), posture=home(scout), held=[pole], **words)
    assert not held.found
