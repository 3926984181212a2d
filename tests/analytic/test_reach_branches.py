"""Lists of poses on one branch, margins and tolerances, held against dense interpolation."""

from itertools import pairwise

import numpy as np
import pytest

from kinetarium import KinetariumError, load_robot
from kinetarium.dynamics import forward
from kinetarium.model.robot import Box, Geometry, Sphere
from kinetarium.reach.collision.arm_in_scene import Obstacles, move_base
from kinetarium.reach.collision.check import collisions
from kinetarium.reach.maps.build import build_map
from kinetarium.reach.placement.branches import limit_margins
from kinetarium.reach.placement.files import TaskPoses
from kinetarium.reach.placement.query import BasePlacement, Placer
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_about

DOWN = np.diag([1.0, -1.0, -1.0])
SUBSTEPS = 30
TABLE = Obstacles((Geometry(Box((0.5, 1.6, 0.04)), pose((0.9, 0.0, 0.15))),))


@pytest.fixture(scope="module", params=["ur5", pytest.param("panda", marks=pytest.mark.slow)])
def placer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Placer:
    robot = load_robot(request.param)
    path = tmp_path_factory.mktemp("maps") / "arm.rmap"
    return Placer(build_map(robot, path, voxel=0.2, poses=2, workers=2))


@pytest.fixture(scope="module")
def ur5(tmp_path_factory: pytest.TempPathFactory) -> Placer:
    path = tmp_path_factory.mktemp("ur5") / "arm.rmap"
    return Placer(build_map(load_robot("ur5"), path, voxel=0.2, poses=2, workers=2))


def seam(count: int = 40) -> Array:
    """A curved weld of about 1.2 m over a table, with a torch that sways."""
    s = np.linspace(-0.5, 0.5, count)
    places = np.column_stack([0.5 + 0.1 * np.cos(5 * s), 1.1 * s, 0.35 + 0.05 * np.sin(4 * s)])
    sway = [DOWN @ rotation_about((0, 1, 0), 0.3 * np.sin(6 * each)) for each in s]
    return np.array([pose(p, R) for p, R in zip(places, sway, strict=True)])


def spun(count: int = 40, *, turns: float = 4.0) -> Array:
    """A straight line along which the tool turns about its own z axis."""
    return np.array(
        [
            pose((0.4, y, 0.4), DOWN @ rotation_about((0, 0, 1), angle))
            for y, angle in zip(
                np.linspace(-0.1, 0.1, count), np.linspace(0, 2 * np.pi * turns, count), strict=True
            )
        ]
    )


def driven(placer: Placer, q: Array, X_BT: Array) -> Array:
    """Drive the arm along the straight motion of the tool to a pose, in many small steps.

    The Jacobian is a finite difference, and every step is solved by the pseudoinverse.
    """
    chain, q = placer.arm.chain.arrays, q.copy()
    start = forward.poses(chain, q[None])[0]
    turn = so3.log(start[:3, :3].T @ X_BT[:3, :3])
    for s in np.linspace(0, 1, SUBSTEPS + 1)[1:]:
        target = pose(
            (1 - s) * start[:3, 3] + s * X_BT[:3, 3], start[:3, :3] @ so3.exp(np.array(s * turn))
        )
        q = projected(placer, q, target)
    return q


def projected(placer: Placer, q: Array, target: Array) -> Array:
    """Correct a configuration by two steps of Newton's iteration."""
    for _ in range(2):
        moved = forward.poses(placer.arm.chain.arrays, np.vstack([q, q + 1e-6 * np.eye(len(q))]))
        now = moved[0]
        J = np.array([twist(now, each) for each in moved[1:]]).T / 1e-6
        q = q + np.linalg.pinv(J) @ twist(now, target)
    return q


def slid(placer: Placer, q: Array, goal: Array, X_BT: Array) -> Array:
    """Move a redundant arm towards another configuration of the same pose, in small steps."""
    for _ in range(200):
        q = projected(placer, q + np.clip(goal - q, -0.01, 0.01), X_BT)
        if np.abs(goal - q).max() < 5e-3:
            break
    return q


def twist(X: Array, Y: Array) -> Array:
    turn = X[:3, :3] @ so3.log(X[:3, :3].T @ Y[:3, :3])
    return np.concatenate([Y[:3, 3] - X[:3, 3], turn])


def check_branch(placer: Placer, placement: BasePlacement, poses: Array) -> None:
    """Check that between poses without a flip the arm drives from one solution to the next."""
    X_BT = inverse_pose(placement.X_WB) @ poses
    reached = np.flatnonzero(placement.reached)
    announced = {(flip.before, flip.after) for flip in placement.flips}
    assert announced <= set(pairwise(reached))
    for before, after in pairwise(reached):
        found = driven(placer, placement.joints[before], X_BT[after])
        if found.size == 7:  # where a joint is at its limit, the others move otherwise
            found = slid(placer, found, placement.joints[after], X_BT[after])
        same = np.abs(found - placement.joints[after]).max() < 5e-3
        assert same or (before, after) in announced, (before, after)


@pytest.mark.parametrize("around", [Obstacles(), TABLE], ids=["alone", "table"])
def test_a_seam_of_40_poses_has_no_flip_that_is_not_announced(
    placer: Placer, around: Obstacles
) -> None:
    poses = seam()
    placement = placer.among(around).place(poses, continuous=True, effort="fast")
    assert placement.reached.sum() == 40
    check_branch(placer, placement, poses)
    assert placement.flips == ()


def test_more_turns_than_a_wrist_has_need_a_flip_and_a_free_axis_none(ur5: Placer) -> None:
    poses = spun()
    placement = ur5.place(poses, continuous=True, effort="fast")
    assert placement.reached.all()
    # The last joint has two turns, and the tool makes four.
    assert 1 <= len(placement.flips) <= 3
    check_branch(ur5, placement, poses)
    jumps = np.abs(np.diff(placement.joints, axis=0)).max(axis=1)
    assert {int(n) for n in np.flatnonzero(jumps > 1.5)} <= {f.before for f in placement.flips}
    flip = placement.flips[0]
    assert str(flip) == f"wrist_3 flip between {flip.before} and {flip.after}"
    assert placement.as_json()["flips"][0]["joint"] == "wrist_3_joint"
    free = TaskPoses(poses, free=np.ones(len(poses), dtype=bool))
    assert ur5.place(free, continuous=True, effort="fast").flips == ()


def test_poses_out_of_reach_are_passed_by(ur5: Placer) -> None:
    poses = seam(12)
    poses[5, :3, 3] = 0.0, 0.0, 9.0
    placement = ur5.place(poses, continuous=True, effort="fast")
    assert np.flatnonzero(~placement.reached).tolist() == [5]
    assert placement.flips == ()
    check_branch(ur5, placement, poses)


def test_joint_speeds_follow_the_speed_of_the_tool(ur5: Placer) -> None:
    poses = seam(10)
    slow, fast = (
        ur5.place(poses, continuous=True, effort="fast", tool_speed=speed) for speed in (0.01, 2.0)
    )
    assert np.nanmax(slow.strain) < 1.0 < np.nanmax(fast.strain)
    # Between two poses the fastest joint is at least as fast as on average.
    limits = [ur5.arm.chain.model.joint(name).limits.velocity for name in ur5.arm.chain.joints]
    length = np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1)
    mean = np.abs(np.diff(slow.joints, axis=0)) / (length / 0.01)[:, None] / limits
    turned = mean.max(axis=1)
    assert (slow.strain[1:] >= 0.3 * turned).all()


def test_margins_are_objectives(ur5: Placer) -> None:
    placer, poses = ur5.among(TABLE), seam(8)
    chain = placer.arm.chain.arrays
    plain = placer.place(poses)
    limits = placer.place(poses, objective="limits")
    clear = placer.place(poses, objective="clearance")
    assert plain.reached.all() and limits.reached.all() and clear.reached.all()
    assert limit_margins(chain, limits.joints).min() > limit_margins(chain, plain.joints).min()
    assert placer.clearances(clear).min() > placer.clearances(plain).min()
    with pytest.raises(KinetariumError, match="needs obstacles"):
        ur5.place(poses, objective="clearance")


def test_an_obstacle_grown_by_the_clearance_touches(ur5: Placer) -> None:
    poses = seam(4)
    ball = Geometry(Sphere(0.1), pose((0.6, 0.0, 0.05)))
    placer = ur5.among(Obstacles((ball,)))
    placement = placer.place(poses)
    chain = placer.arm.chain.arrays
    X_BP = inverse_pose(placement.X_WB)[:3]
    for q, gap in zip(placement.joints, placer.clearances(placement), strict=True):
        touches = []
        for radius in (0.1 + gap - 1e-6, 0.1 + gap + 5e-4):
            grown = ur5.among(Obstacles((Geometry(Sphere(radius), ball.X_LG),))).scene
            move_base(grown, X_BP, np.empty((len(q) + 2, 3, 4)))
            touches.append(bool(collisions(grown.ik.pieces, chain, q[None])[0]))
        assert touches == [False, True]


def test_tolerances_reach_a_little_farther(ur5: Placer) -> None:
    low, high = 0.5, 2.0
    while high - low > 1e-3:  # the greatest height at which the tool points sideways
        middle = (low + high) / 2
        try:
            ur5.place(sideways(middle))
            low = middle
        except KinetariumError:
            high = middle
    X = sideways(high + 0.005)
    with pytest.raises(KinetariumError, match="no base"):
        ur5.place(X)
    placement = ur5.place(TaskPoses(X, position_tolerance=np.array([0.02])))
    reached = placement.X_WB @ forward.poses(ur5.arm.chain.arrays, placement.joints)[0]
    away = X[0, :3, :3].T @ (reached[:3, 3] - X[0, :3, 3])
    assert 0.005 < np.abs(away).max() <= 0.02
    assert np.allclose(reached[:3, :3], X[0, :3, :3], atol=1e-6)


def sideways(height: float) -> Array:
    return pose((0.5, 0.0, height), rotation_about((0, 1, 0), np.pi / 2))[None]


def test_a_free_axis_changes_the_roll_alone(ur5: Placer) -> None:
    poses = seam(6)
    placement = ur5.place(TaskPoses(poses, free=np.ones(6, dtype=bool)), continuous=True)
    reached = placement.X_WB @ forward.poses(ur5.arm.chain.arrays, placement.joints)
    assert np.allclose(reached[:, :3, 3], poses[:, :3, 3], atol=1e-6)
    assert np.allclose(reached[:, :3, 2], poses[:, :3, 2], atol=1e-6)
