"""Robust bases: errors within the box are forgiven, by solutions and collisions found otherwise."""

from itertools import combinations
from math import pi, radians

import numpy as np
import pytest

from kinetarium import KinetariumError, load_robot
from kinetarium.dynamics import link_poses
from kinetarium.dynamics.chain import ranges, serial_chain
from kinetarium.model.robot import Box, Geometry
from kinetarium.reach import Obstacles, solve_ik
from kinetarium.reach.collision.check import collisions
from kinetarium.reach.collision.pieces import body_pieces, with_obstacles
from kinetarium.reach.maps.build import build_map
from kinetarium.reach.placement import stops
from kinetarium.reach.placement.files import TaskPoses
from kinetarium.reach.placement.plane import Objective
from kinetarium.reach.placement.query import BasePlacement, Placer
from kinetarium.reach.placement.robust import POINTS, BaseError, headed, poses_kept
from kinetarium.reach.placement.stance import have_room
from kinetarium.reach.placement.stops import place_stops, shortest_way, smallest_cover
from kinetarium.roles.roles import BaseKind
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_about

SCOUT = load_robot("scout-panda")
LINKS = [link.name for link in SCOUT.links]
BASE, TOOL = "panda_link0", "panda_hand_tcp"
CHAIN = serial_chain(SCOUT, base_link=BASE, tool=TOOL)
ERROR = BaseError(0.03, 0.03, radians(3))


@pytest.fixture(scope="module")
def placer(tmp_path_factory: pytest.TempPathFactory) -> Placer:
    path = tmp_path_factory.mktemp("scout") / "scout.rmap"
    return Placer(build_map(SCOUT, path, voxel=0.1, poses=3, workers=2, base_link=BASE, tool=TOOL))


def about_z(angle: float) -> np.ndarray:
    return rotation_about((0, 0, 1), angle)


def table_scene(seed: int) -> tuple[Obstacles, np.ndarray]:
    """Return a table with a box beside it, and grasps from above: four yaws, three heights."""
    rng = np.random.default_rng(seed)
    x, y, yaw = rng.uniform(-1, 1, 3) * [1, 1, pi]
    X_WT = pose((x, y, 0.0), about_z(yaw))
    parts = [((1.2, 0.6, 0.04), (0.0, 0.0, 0.68))]
    parts += [((0.05, 0.05, 0.66), (0.57 * i, 0.27 * j, 0.33)) for i in (-1, 1) for j in (-1, 1)]
    parts += [((0.4, 0.4, 0.6), (0.2, 1.2, 0.3))]
    shapes = tuple(Geometry(Box(size), X_WT @ pose(at)) for size, at in parts)
    p = (X_WT @ [*rng.uniform(-1, 1, 2) * [0.5, 0.2], 0.75, 1.0])[:3]
    turn = rng.uniform(-pi, pi)
    grasps = [
        pose((*p[:2], p[2] + rise), about_z(turn + k * pi / 2) @ rotation_about((1, 0, 0), pi))
        for k in range(4)
        for rise in (0.0, 0.12, 0.15)
    ]
    return Obstacles(shapes, ground=True), np.array(grasps)


def keeps_all(found: BasePlacement, obstacles: Obstacles, poses: np.ndarray, errors: int) -> bool:
    """Solve for all poses at random errors with obstacles that are put there one by one."""
    X_RB = link_poses(SCOUT, CHAIN.held)[LINKS.index(BASE)]
    own, home = body_pieces(CHAIN), CHAIN.held[CHAIN.coordinates][None]
    last = len(own.bodies) - 1
    every = np.array([(body, last) for body in range(last)])
    ground = Geometry(Box((50.0, 50.0, 1.0)), pose((0.0, 0.0, -0.5)))
    for x, y, yaw in np.random.default_rng(1).uniform(-1, 1, (errors, 3)):
        off = pose((ERROR.x * x, ERROR.y * y, 0.0), about_z(ERROR.yaw * yaw))
        X_BW = inverse_pose(found.X_WR @ off @ X_RB)
        *shapes, below = (Geometry(g.shape, X_BW @ g.X_LG) for g in (*obstacles.shapes, ground))
        solid = with_obstacles(own, (*shapes, below))
        solved = solve_ik(SCOUT, X_BW @ poses, tool=TOOL, base_link=BASE, collision=solid)
        whole = with_obstacles(own, shapes)._replace(pairs=every)
        if not solved.found.all() or collisions(whole, CHAIN.arrays, home).any():
            return False
    return True


def test_the_root_rests_on_its_wheels(placer: Placer) -> None:
    obstacles, poses = table_scene(0)
    [found] = placer.among(obstacles).place_robust(poses, error=ERROR)
    wheels = [i for i, name in enumerate(LINKS) if "wheel" in name]
    q = placer.arm.chain.held
    axles = link_poses(SCOUT, q, X_WB=found.X_WR)[wheels, 2, 3]
    assert axles == pytest.approx(0.16459, abs=1e-5)  # the radius of the wheels
    fixed = Placer(placer._map, base=BaseKind.FIXED)
    assert fixed.stance.height == 0.0


@pytest.mark.parametrize("alternatives", [1, 4])
def test_poses_are_kept_under_all_errors(placer: Placer, alternatives: int) -> None:
    for seed in range(2):
        obstacles, poses = table_scene(seed)
        [found] = placer.among(obstacles).place_robust(
            poses, error=ERROR, alternatives=alternatives
        )
        part = poses.reshape(alternatives, -1, 4, 4)[found.alternative]
        assert found.robust
        assert keeps_all(found, obstacles, part, errors=3)


@pytest.mark.slow
def test_nothing_is_missed_in_40_scenes(placer: Placer) -> None:
    for seed in range(40):
        obstacles, poses = table_scene(seed)
        [found] = placer.among(obstacles).place_robust(poses, error=ERROR)
        assert found.robust, seed
        assert keeps_all(found, obstacles, poses, errors=20), seed


def test_several_bases_differ(placer: Placer) -> None:
    obstacles, poses = table_scene(3)
    scene = placer.among(obstacles)
    found = scene.place_robust(poses, error=ERROR, k=3)
    roots = np.array([(*one.X_WR[:2, 3], one.root_yaw) for one in found])
    assert len(found) == 3
    assert scene.free(roots).all()
    for i, j in ((0, 1), (0, 2), (1, 2)):
        gap = found[i].X_WB[:2, 3] - found[j].X_WB[:2, 3]
        turn = (found[i].yaw - found[j].yaw + pi) % (2 * pi) - pi
        assert np.hypot(*gap) >= 0.15 or abs(turn) >= pi / 6


def test_a_larger_error_is_not_forgiven(placer: Placer) -> None:
    obstacles, poses = table_scene(1)
    [found] = placer.among(obstacles).place_robust(poses, error=BaseError(0.6, 0.6, 0.5))
    assert not found.robust
    assert found.kept is not None
    assert found.kept.min() < 1.0


def test_what_cannot_be_is_refused(placer: Placer) -> None:
    _, poses = table_scene(0)
    high = poses + np.array([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 3.0], [0, 0, 0, 0]])
    with pytest.raises(KinetariumError, match="m above its base link, the map reaches"):
        placer.place_robust(high, error=ERROR)
    wall = Obstacles((Geometry(Box((20.0, 20.0, 2.0)), pose()),))
    with pytest.raises(KinetariumError, match="no base was found where the robot has room"):
        placer.among(wall).place_robust(poses, error=ERROR)
    for words in ({"k": 0}, {"alternatives": 5}):
        with pytest.raises(KinetariumError, match="equally long"):
            placer.place_robust(poses, error=ERROR, **words)
    for wrong in (-0.1, 2.0, float("nan")):
        with pytest.raises(KinetariumError, match="a base error"):
            BaseError(wrong, 0.0, 0.0)


def test_solutions_at_a_given_root(placer: Placer) -> None:
    obstacles, poses = table_scene(2)
    scene = placer.among(obstacles)
    [found] = scene.place_robust(poses, error=ERROR)
    tilted = found.X_WR @ pose((0.01, 0.0, 0.004), rotation_about((1, 0, 0), 0.01))
    there = scene.reach_from(tilted, poses)
    assert there.reached.all()
    tool = LINKS.index(TOOL)
    for X_WT, q in zip(poses, there.joints, strict=True):
        X = link_poses(SCOUT, placer.arm.chain.whole(q), X_WB=tilted)[tool]
        assert np.abs(X - X_WT).max() < 1e-6


def two_tables() -> tuple[Obstacles, np.ndarray, np.ndarray]:
    """Return two tables 2.4 m apart, and grasps of two objects on each."""
    first, _ = table_scene(0)
    X = pose((2.4, 0.3, 0.0)) @ inverse_pose(first.shapes[0].X_LG) @ pose((0.0, 0.0, 0.68))
    shapes = [Geometry(g.shape, X_WL) for g in first.shapes[:5] for X_WL in (X @ g.X_LG, g.X_LG)]
    tables = [pose((0.0, 0.0, -0.68)) @ g.X_LG for g in shapes[:2]]
    poses = [
        X_WT @ pose((x, y, 0.75 + rise), rotation_about((1, 0, 0), pi))
        for X_WT in tables
        for x, y in ((-0.5, -0.2), (0.5, 0.2))
        for rise in (0.0, 0.12)
    ]
    return Obstacles(tuple(shapes), ground=True), np.array(poses), np.repeat(np.arange(4), 2)


@pytest.mark.parametrize("error", [BaseError(0.0, 0.0, 0.0), ERROR])
def test_no_fewer_stops_reach_all(
    placer: Placer, monkeypatch: pytest.MonkeyPatch, error: BaseError
) -> None:
    monkeypatch.setattr(stops, "STEPS", (0.15,))
    obstacles, poses, groups = two_tables()
    scene = placer.among(obstacles)
    found = place_stops(scene, poses, groups=groups, error=error, start=(-2.0, 0.0))
    for n, stop in enumerate(found.stop_of):
        assert found.bases[stop].reached[n]
    # Every candidate of the raster, with solutions at all errors: no smaller set has all groups.
    X_PT = inverse_pose(scene.plane.frame) @ poses
    x, y, _ = scene.scores(X_PT, step=0.15)
    places = np.column_stack([each.ravel() for each in np.meshgrid(x, y)])
    bases = headed(places, headings=stops.HEADINGS)
    bases = bases[have_room(scene.room, bases)]
    offsets = error.offsets(POINTS, scene.stance.X_RB)[:9]
    sets = set()
    for base in bases:
        kept = poses_kept(scene.scene, scene.room, X_PT[:, None], base, offsets, scene.arm.effort)
        sets.add(tuple(kept.all(axis=0).reshape(4, 2).all(axis=1)))
    assert len(found.bases) > 1
    for few in combinations(sets, len(found.bases) - 1):
        assert not np.any(few, axis=0).all()


def test_the_cover_is_the_smallest() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        reach = rng.random((9, 6)) < 0.35
        chosen = smallest_cover(reach)
        every = reach.any(axis=0)
        assert (reach[chosen].any(axis=0) == every).all()
        for few in combinations(range(9), len(chosen) - 1):
            assert not (reach[list(few)].any(axis=0) == every).all()


def test_the_way_through_stops_is_the_shortest() -> None:
    corners = [(0.0, 0.0), (1.0, 1.0), (0.0, 1.0), (1.0, 0.0)]
    assert shortest_way(corners)[1] == pytest.approx(3.0)
    order, length = shortest_way(corners, start=(2.0, 0.0))
    assert order == [3, 0, 2, 1] or order == [3, 1, 2, 0]
    assert length == pytest.approx(4.0)
    line = [(float(x), 0.0) for x in (5, 2, 9, 1, 7, 3, 8, 4, 6, 0)]
    assert shortest_way(line)[1] == pytest.approx(9.0)


def test_stops_that_cannot_be_are_refused(placer: Placer) -> None:
    _, poses, groups = two_tables()
    far = poses + np.array([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 5.0], [0, 0, 0, 0]])
    with pytest.raises(KinetariumError, match="no base was found"):
        place_stops(placer, far)
    with pytest.raises(KinetariumError, match="one group for each"):
        place_stops(placer, poses, groups=groups[1:])
    some = place_stops(placer, np.concatenate([poses[:1], far[:1]]))
    assert some.stop_of.tolist() == [0, -1]


def test_a_free_axis_needs_no_more_stops_whatever_the_objective(placer: Placer) -> None:
    obstacles, poses, groups = two_tables()
    scene = placer.among(obstacles)
    task = TaskPoses(poses, free=np.ones(len(poses), dtype=np.bool_))
    exact = place_stops(scene, poses, groups=groups, error=ERROR)
    free = place_stops(scene, task, groups=groups, error=ERROR)
    assert len(free.bases) <= len(exact.bases)
    assert (free.stop_of >= 0).all()
    tool = LINKS.index(TOOL)
    for n, stop in enumerate(free.stop_of):
        one = free.bases[stop]
        X_WL = link_poses(SCOUT, CHAIN.whole(one.joints[n]), X_WB=one.X_WR)
        assert np.abs(X_WL[tool][:, 2:] - poses[n][:, 2:]).max() < 1e-6  # axis z and position
    limits = ranges(CHAIN.arrays)
    for objective in (Objective.LIMITS, Objective.SINGULARITY, Objective.CLEARANCE):
        other = place_stops(scene, task, groups=groups, error=ERROR, objective=objective)
        assert len(other.bases) == len(free.bases) and (other.stop_of == free.stop_of).all()
        for n, stop in enumerate(other.stop_of):
            q, first = other.bases[stop].joints[n], free.bases[stop].joints[n]
            assert other.bases[stop].reached[n]
            if objective is Objective.LIMITS:
                margins = [
                    np.minimum(each - limits[0], limits[1] - each).min() for each in (q, first)
                ]
                assert margins[0] >= margins[1] - 1e-9
    some = TaskPoses(poses[:2], free=np.ones(2, dtype=np.bool_))
    [found] = scene.place_robust(some, error=ERROR)
    assert found.robust
