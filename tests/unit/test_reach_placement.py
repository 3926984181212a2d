"""Bases: what is claimed is true, the search finds what is there, bad input is refused."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from kinetarium import KinetariumError, load_robot
from kinetarium.dynamics import link_poses
from kinetarium.dynamics.chain import link_frames
from kinetarium.errors import UnknownNameError
from kinetarium.model.robot import Box, Geometry, Sphere
from kinetarium.reach.arm import prepare_arm
from kinetarium.reach.collision.arm_in_scene import Obstacles, put_arm_in_scene
from kinetarium.reach.collision.check import collides, no_last_contact
from kinetarium.reach.collision.obstacles import read_obstacles
from kinetarium.reach.maps.build import build_map
from kinetarium.reach.maps.files import ReachMap
from kinetarium.reach.maps.recipe import graded_grid
from kinetarium.reach.placement.files import read_poses, read_trajectory
from kinetarium.reach.placement.follow import ACCELERATION, follow
from kinetarium.reach.placement.plane import BasePlane, base_plane
from kinetarium.reach.placement.query import BasePlacement, Effort, Placer, place_base
from kinetarium.reach.placement.score_raster import sum_of_slices
from kinetarium.reach.placement.search import solve_at_base
from kinetarium.reach.placement.whole_body import BaseMotionLimits, course, sum_of_squares
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_about
from kinetarium.studies.reach.comparison._baselines import (
    algorithm_2,
    brute_force,
    sampled_map,
    solve_numerically,
    transformed_voxels,
)
from kinetarium.studies.reach.comparison.run import random_poses

PANDA = load_robot("panda")
DOWN = np.diag([1.0, -1.0, -1.0])


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> ReachMap:
    path = tmp_path_factory.mktemp("graded") / "panda.rmap"
    return build_map(PANDA, path, kind="irm4", voxel=0.1, poses=3, workers=2)


@pytest.fixture(scope="module")
def voxels(tmp_path_factory: pytest.TempPathFactory) -> ReachMap:
    path = tmp_path_factory.mktemp("voxels") / "panda.rmap"
    return build_map(PANDA, path, kind="irm3", voxel=0.1, poses=10, workers=2)


@pytest.fixture(scope="module")
def placer(graded: ReachMap) -> Placer:
    return Placer(graded)


def check(
    placement: BasePlacement, poses: np.ndarray, *, around: Obstacles, plane: BasePlane
) -> None:
    """Hold what is claimed against the model's own kinematics, limits and shapes."""
    arm = prepare_arm(PANDA)
    limits = [PANDA.joint(name).limits for name in arm.chain.joints]
    names = [link.name for link in PANDA.links]
    scene = put_arm_in_scene(arm, around)
    X_BP = inverse_pose(placement.X_WB) @ plane.frame
    moved = put_arm_in_scene(
        arm,
        Obstacles(tuple(Geometry(g.shape, X_BP @ g.X_LG) for g in around.shapes), around.ground),
    )
    assert len(scene.in_plane.pairs) == len(moved.in_plane.pairs)
    for X_WT, q, reached in zip(poses, placement.joints, placement.reached, strict=True):
        assert np.isfinite(q).all() == reached
        if not reached:
            continue
        assert all(one.lower <= value <= one.upper for one, value in zip(limits, q, strict=True))
        X_WL = link_poses(PANDA, arm.chain.whole(q), X_WB=placement.X_WB)
        assert np.abs(X_WL[names.index("panda_link8")] - X_WT).max() < 1e-6
        frames = np.concatenate([np.eye(4)[None, :3], link_frames(arm.chain.arrays, q)[-8:, :3]])
        assert not collides(moved.in_plane, np.ascontiguousarray(frames), q, no_last_contact())


@pytest.mark.parametrize("effort", list(Effort))
def test_nothing_is_claimed_that_is_not_so(effort: Effort, placer: Placer) -> None:
    rng = np.random.default_rng(4)
    rates = []
    for _ in range(6):
        poses = random_poses(rng, count=20)
        placement = placer.place(poses, effort=effort)
        check(placement, poses, around=Obstacles(), plane=BasePlane())
        rates.append(placement.reached.mean())
    assert np.mean(rates) > 0.95


def test_the_same_question_has_the_same_answer(placer: Placer, graded: ReachMap) -> None:
    poses = random_poses(np.random.default_rng(1), count=20)
    first, second = placer.place(poses), place_base(graded, poses, robot=PANDA)
    assert (first.X_WB == second.X_WB).all()
    assert np.array_equal(first.joints, second.joints, equal_nan=True)


def test_a_base_follows_its_poses_about(placer: Placer) -> None:
    poses = random_poses(np.random.default_rng(2), count=12)
    X = pose((3.0, -5.0, 0.0), rotation_about((0, 0, 1), 0.0))
    here, there = placer.place(poses), placer.place(X @ poses)
    assert np.allclose(there.X_WB, X @ here.X_WB, atol=1e-6)
    assert (here.reached == there.reached).all()


def test_a_base_on_a_slope_stands_upright_on_it(graded: ReachMap) -> None:
    plane = base_plane((0.2, -0.1, 1.0), height=0.4)
    poses = plane.frame @ random_poses(np.random.default_rng(3), count=10)
    placement = place_base(graded, poses, plane=plane)
    X_WB = placement.X_WB
    assert np.allclose(X_WB[:3, 2], plane.normal)
    assert X_WB[2, 3] == pytest.approx(plane.height_at(X_WB[0, 3], X_WB[1, 3]))
    assert placement.reached.mean() > 0.8
    check(placement, poses, around=Obstacles(), plane=plane)


def test_the_voxel_map_places_too(voxels: ReachMap) -> None:
    poses = random_poses(np.random.default_rng(6), count=20)
    placement = place_base(voxels, poses, effort="thorough")
    assert placement.reached.mean() > 0.8
    check(placement, poses, around=Obstacles(), plane=BasePlane())


def test_by_manipulability_it_is_greater(placer: Placer) -> None:
    poses = random_poses(np.random.default_rng(7), count=20)
    words = {"effort": "thorough"}
    count = placer.place(poses, objective="count", **words)
    total = placer.place(poses, objective="manipulability", **words)
    assert np.nansum(total.manipulability) >= np.nansum(count.manipulability)
    assert count.reached.sum() >= total.reached.sum()


def test_within_reach_of_the_ceiling(placer: Placer, voxels: ReachMap) -> None:
    rng = np.random.default_rng(8)
    x = y = np.linspace(-1, 1, 21)
    arm, scene = placer.arm, placer.scene
    ours, paper, ceiling = [], [], []
    for _ in range(4):
        poses = random_poses(rng, count=20)
        ours.append(placer.place(poses, effort="thorough").reached.mean())
        scores = sum_of_slices(
            voxels.fields["manipulability"], poses, plane=BasePlane(), grid=voxels.grid, x=x, y=y
        )
        for base, rates in (
            (algorithm_2(arm, scene, poses=poses, x=x, y=y, scores=scores), paper),
            (brute_force(arm, scene, poses=poses, x=x, y=y), ceiling),
        ):
            _, w = solve_at_base(scene, poses, base=base, effort=arm.full_effort)
            rates.append((w >= 0).mean())
    assert np.mean(ours) >= np.mean(ceiling) - 0.01
    assert np.mean(ours) > np.mean(paper)


def test_obstacles_are_kept_clear_of(graded: ReachMap, tmp_path: Path) -> None:
    poses = np.array([pose((0.5, y, 0.4), DOWN) for y in (-0.2, 0.0, 0.2)])
    free = place_base(graded, poses)
    blocked = pose((*free.X_WB[:2, 3], 0.3))
    file = tmp_path / "scene.json"
    box = {"position": blocked[:3, 3].tolist(), "size": [0.2, 0.2, 0.6]}
    ball = {"center": [0.5, 0.0, 0.1], "radius": 0.1}
    file.write_text(json.dumps({"ground": True, "boxes": [box], "spheres": [ball]}))
    around = read_obstacles(file, plane=BasePlane())
    placement = place_base(graded, poses, obstacles=around)
    assert placement.reached.all()
    assert np.abs(placement.X_WB[:2, 3] - free.X_WB[:2, 3]).max() > 0.1
    check(placement, poses, around=around, plane=BasePlane())


def test_a_pose_inside_an_obstacle_is_not_reached(graded: ReachMap) -> None:
    poses = np.array([pose((0.5, 0, 0.4), DOWN), pose((0.5, 0.4, 0.4), DOWN)])
    ball = Geometry(Sphere(0.15), pose((0.5, 0.4, 0.3)))
    placement = place_base(graded, poses, obstacles=Obstacles((ball,)))
    assert placement.reached.tolist() == [True, False]
    cage = Geometry(Box((9.0, 9.0, 0.1)), pose((0.0, 0.0, 0.05)))
    with pytest.raises(KinetariumError, match="no base in the plane"):
        place_base(graded, poses, obstacles=Obstacles((cage,)))


def test_mesh_obstacles(graded: ReachMap, tmp_path: Path) -> None:
    corners = [(0, 0, 0), (0.3, 0, 0), (0, 0.3, 0), (0, 0, 0.3)]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    lines = [f"v {x} {y} {z}" for x, y, z in corners]
    lines += ["f " + " ".join(str(i + 1) for i in face) for face in faces]
    (tmp_path / "corner.obj").write_text("\n".join(lines))
    scene = {"meshes": [{"file": "corner.obj", "position": [0.45, 0.35, 0.25]}]}
    (tmp_path / "scene.json").write_text(json.dumps(scene))
    around = read_obstacles(tmp_path / "scene.json", plane=BasePlane())
    poses = np.array([pose((0.5, 0, 0.4), DOWN), pose((0.5, 0.4, 0.4), DOWN)])
    placement = place_base(graded, poses, obstacles=around)
    assert placement.reached.tolist() == [True, False]


@pytest.mark.parametrize(
    "scene",
    [
        "[]", "{", '{"walls": []}', '{"spheres": [{"center": [0, 0, 0], "radius": -1}]}',
        '{"spheres": [{"center": [0, 0], "radius": 1}]}', '{"boxes": [{"position": [0, 0, 0]}]}',
        '{"boxes": [{"position": [0,0,0], "size": [1,1,1], "quaternion_wxyz": [0,0,0,0]}]}',
        '{"meshes": [{"file": "../../etc/passwd"}]}', '{"meshes": [{"file": "none.stl"}]}',
        '{"ground": 1}', '{"spheres": [{"center": [0, 0, 1e999], "radius": 1}]}', "NaN",
    ],
)  # fmt: skip
def test_scenes_that_are_none(scene: str, tmp_path: Path) -> None:
    (tmp_path / "scene.json").write_text(scene)
    with pytest.raises(KinetariumError):
        read_obstacles(tmp_path / "scene.json", plane=BasePlane())


def test_poses_in_files(tmp_path: Path) -> None:
    X = pose((0.1, 0.2, 0.3), DOWN)
    item = {"position": [0.1, 0.2, 0.3], "quaternion_wxyz": [0, 2, 0, 0]}
    (tmp_path / "poses.json").write_text(json.dumps([X.tolist(), item]))
    assert np.allclose(read_poses(tmp_path / "poses.json"), [X, X])


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "[1]", "[[1, 2]]", "[null]", '["a"]', "[[[1]]]", "[" * 5000, "[NaN]",
        "[[[1,0,0,0],[0,1,0,0],[0,0,1,1e999],[0,0,0,1]]]",
        "[[[2,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]]",
        '[{"position": [0, 0, 0]}]', '[{"position": [0,0,0], "quaternion_wxyz": [0,0,0,0]}]',
        '[{"position": [0,0,"x"], "quaternion_wxyz": [1,0,0,0]}]', "\udcff", "[[[1e400]]]",
    ],
)  # fmt: skip
def test_poses_that_are_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "poses.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(KinetariumError):
        read_poses(tmp_path / "poses.json")
    with pytest.raises(KinetariumError):
        read_trajectory(tmp_path / "poses.json")


@pytest.mark.parametrize(
    ("poses", "words"),
    [
        (np.full((1, 4, 4), np.nan), {}),
        (np.zeros((0, 4, 4)), {}),
        (np.eye(4), {}),
        ([pose((0, 0, 7.0))], {}),
        ([pose((0.4, 0, 0.4))], {"effort": "lazy"}),
        ([pose((0.4, 0, 0.4))], {"objective": "beauty"}),
    ],
)
def test_questions_without_an_answer(poses: np.ndarray, words: dict, placer: Placer) -> None:
    with pytest.raises(KinetariumError):
        placer.place(poses, **words)


def test_a_map_of_another_robot_is_refused(graded: ReachMap) -> None:
    with pytest.raises(KinetariumError, match="another file"):
        place_base(graded, [pose((0.4, 0, 0.4))], robot=load_robot("ur5"))
    with pytest.raises(UnknownNameError):
        place_base(graded, [pose((0.4, 0, 0.4))], effort="x")


WAVE = np.arange(0, 8, 0.05)
WAVES = np.array(
    [pose((0.3 * s, np.sin(0.5 * s), 0.4), rotation_about((0, 0, 1), 0.4 * s) @ DOWN) for s in WAVE]
)


@pytest.mark.parametrize("sideways", [True, False])
def test_a_base_that_follows_can_be_driven(placer: Placer, sideways: bool) -> None:
    limits = BaseMotionLimits(sideways=sideways)
    found = follow(placer, WAVE, poses=WAVES, limits=limits)
    assert found.reached.all() and not found.collides.any() and not found.faults
    steps, h = np.diff(found.vehicle, axis=0), 0.05
    speeds = np.hypot(steps[:, 0], steps[:, 1]) / h
    assert speeds.max() <= limits.speed and np.abs(steps[:, 2]).max() <= h * limits.turning
    # From rest, within the acceleration limit.
    assert speeds[0] <= limits.acceleration * h
    assert np.abs(np.diff(steps[:, 2], prepend=0.0)).max() <= h * h * limits.turning_acceleration
    if not sideways:
        mean = found.vehicle[:-1, 2] + steps[:, 2] / 2
        aside = np.cos(mean) * steps[:, 1] - np.sin(mean) * steps[:, 0]
        assert np.abs(aside).max() < 1e-12
    chain = placer.arm.chain
    fastest = np.array([chain.model.joint(name).limits.velocity for name in chain.joints])
    rates = np.diff(found.joints, axis=0) / h
    assert (np.abs(rates) <= fastest).all()
    assert np.abs(np.diff(rates, axis=0)).max() <= ACCELERATION * h
    X_BT = np.array(
        [
            inverse_pose(pose((x, y, 0), rotation_about((0, 0, 1), yaw))) @ X
            for (x, y, yaw), X in zip(found.bases, WAVES, strict=True)
        ]
    )
    X_found = np.array([link_frames(chain.arrays, q)[-1] for q in found.joints])
    assert np.abs(X_found - X_BT).max() < 1e-6
    with pytest.raises(KinetariumError):
        follow(placer, WAVE[::-1], poses=WAVES)


def test_where_a_trajectory_cannot_be_driven(placer: Placer) -> None:
    """The tool rises out of reach, and a base may be too slow."""
    t = np.arange(0, 8, 0.05)
    rising = np.array([pose((0.2 * s, 0.0, 0.4 + 0.15 * s), DOWN) for s in t])
    high = follow(placer, t, poses=rising)
    assert not high.reached.all() and high.faults
    lost = next(fault for fault in high.faults if "the tool is off" in fault.reason)
    # Shoulder 0.333 m, arm 0.327 m + 0.393 m, and the flange 0.107 m below the wrist: 0.946 m.
    assert 0.8 < 0.4 + 0.15 * t[lost.first] < 0.95
    assert lost.begin == pytest.approx(0.25 * t[lost.first])
    [first] = re.findall(r"no base reaches (\S+) m to", lost.reason)
    assert 0.9 < 0.4 + 0.6 * float(first) < 1.0  # the tool rises by 0.15 m on 0.25 m
    slow = follow(placer, WAVE, poses=WAVES, limits=BaseMotionLimits(speed=0.05))
    assert slow.faults and "m: " in str(slow.faults[0])


def test_the_mount_of_the_arm_moves_sideways_and_the_vehicle_does_not(placer: Placer) -> None:
    limits = BaseMotionLimits(sideways=False, mount=(0.2, 0.05, 0.3))
    found = follow(placer, WAVE, poses=WAVES, limits=limits)
    x, y, yaw = found.vehicle.T
    at = np.column_stack(
        [x + 0.2 * np.cos(yaw) - 0.05 * np.sin(yaw), y + 0.2 * np.sin(yaw) + 0.05 * np.cos(yaw)]
    )
    assert np.abs(found.bases[:, :2] - at).max() < 1e-12
    assert np.abs(found.bases[:, 2] - yaw - 0.3).max() < 1e-12
    assert found.reached.all()


def test_the_normal_equations_are_those_of_the_sum(placer: Placer) -> None:
    """The gradient agrees with finite differences of the sum of squares."""
    chain, rng = placer.arm.chain.arrays, np.random.default_rng(0)
    count, joints = 6, len(chain.lower)
    z = rng.uniform(-0.4, 0.4, (count, 3 + joints))
    z[:, 3:] += chain.middle
    times = np.cumsum(rng.uniform(0.05, 0.1, count))
    near = z[:, 3:] + rng.normal(0.0, 1e-3, (count, joints))
    for sideways in (True, False):
        limits = BaseMotionLimits(sideways=sideways)
        X_PT = np.array(
            [
                pose((x, y, 0), rotation_about((0, 0, 1), yaw)) @ link_frames(chain, q)[-1]
                for (x, y, yaw), q in zip(z[:, :3], near, strict=True)
            ]
        )
        task = course(
            chain, times, X_PT=X_PT, posture=chain.middle, limits=limits,
            speeds=np.full(joints, 2.0), accelerations=np.full(joints, 10.0),
        )  # fmt: skip
        band, slopes = np.zeros((3 * z.shape[1], z.size)), np.zeros(z.size)
        sum_of_squares(chain, task, z, band, slopes)
        for n in rng.choice(z.size, 12, replace=False):
            ends = []
            for step in (1e-6, -1e-6):
                moved = z.copy()
                moved.flat[n] += step
                ends.append(sum_of_squares(chain, task, moved, np.zeros((0, 0)), slopes))
            assert (ends[0] - ends[1]) / 4e-6 == pytest.approx(
                slopes[n], rel=1e-4, abs=1e-5 * np.abs(slopes).max()
            )


def test_the_numerical_solver_claims_nothing_false(placer: Placer) -> None:
    arm = placer.arm
    rng = np.random.default_rng(0)
    q = rng.uniform(arm.chain.arrays.lower, arm.chain.arrays.upper, (100, 7))
    X_BT = np.array([link_frames(arm.chain.arrays, one)[-1] for one in q])
    found, w = np.empty((100, 7)), np.empty(100)
    solve_numerically(arm.chain.arrays, arm.ik.pieces, X_BT, found, w)
    hit = w >= 0
    assert 0.2 < hit.mean() < 0.95
    again = np.array([link_frames(arm.chain.arrays, one)[-1] for one in found[hit]])
    assert np.abs(again - X_BT[hit]).max() < 1e-4


def test_the_maps_of_others(placer: Placer, voxels: ReachMap, graded: ReachMap) -> None:
    x = y = np.linspace(-1, 1, 21)
    poses = random_poses(np.random.default_rng(0), count=2)
    grid = voxels.grid
    centers = grid.centers(np.arange(grid.count**3))
    values = voxels.fields["manipulability"]
    moved = transformed_voxels(values, centers, poses=poses, size=grid.size, x=x, y=y)
    cut = sum_of_slices(values, poses, plane=BasePlane(), grid=grid, x=x, y=y)
    assert np.corrcoef(moved.ravel(), cut.ravel())[0, 1] > 0.7
    cells = sampled_map(placer.arm, graded_grid(graded.recipe), samples=200_000, seed=0)
    reach = graded.fields["reach"]
    assert (reach[cells > 0] > 0).mean() > 0.9
