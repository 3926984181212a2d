"""What `place` claims, held against Pinocchio, the limits and an independent collision check."""

from pathlib import Path

import numpy as np
import pytest

from coal_collision import DATA, PUBLIC, meshes_touching, touching
from collision_pairs import collision_pairs
from kinetarium import load_robot
from kinetarium.dynamics import RobotDynamics, forward
from kinetarium.dynamics.chain import ranges, serial_chain
from kinetarium.reach import build_map, solve_ik
from kinetarium.reach.collision.check import collisions
from kinetarium.reach.placement.query import Placer
from kinetarium.spatial import so3
from kinetarium.studies.reach.comparison.run import random_poses

POSES = 20


def check_placements(name: str, count: int, folder: Path, *, scale: float = 1.0) -> None:
    """Place bases for so many poses, and check every joint solution that is returned."""
    robot = load_robot(name)
    words = {"kind": "irm4", "voxel": 0.125 * scale, "poses": 3, "workers": 2}
    placer = Placer(build_map(robot, folder / f"{name}.rmap", **words), robot=robot)
    chain = placer.arm.chain
    dynamics = RobotDynamics(robot, free_base=False)
    index = {link.name: i for i, link in enumerate(robot.links)}
    rng = np.random.default_rng(11)
    solutions = []
    for _ in range(count // POSES):
        poses = random_poses(rng, count=POSES)
        poses[:, :3, 3] *= scale
        found = placer.place(poses)
        q = found.joints[found.reached]
        assert ((chain.arrays.lower <= q) & (q <= chain.arrays.upper)).all()
        assert not collisions(placer.arm.ik.pieces, chain.arrays, q).any()
        for X_WT, positions in zip(poses[found.reached], chain.whole(q), strict=True):
            X_RL = dynamics.link_poses(positions)
            X_BT = np.linalg.inv(X_RL[index[chain.base_link]]) @ X_RL[index[chain.tool]]
            X = found.X_WB @ X_BT
            assert np.linalg.norm(X[:3, 3] - X_WT[:3, 3]) < 1e-4
            assert np.linalg.norm(so3.log(X[:3, :3].T @ X_WT[:3, :3])) < 1e-3
        solutions.append(chain.whole(q))
    whole = np.concatenate(solutions)
    assert len(whole) >= 0.6 * count
    if name in PUBLIC and DATA != Path():
        assert not meshes_touching(name, whole).any()
    if name != "panda":
        # The Panda's own solids overlap in the hand; its meshes are the judge.
        assert not touching(robot, whole, list(collision_pairs(robot))).any()


@pytest.mark.parametrize(("name", "scale"), [("panda", 1.0), ("ur5", 1.0), ("kr250", 2.5)])
def test_no_false_claim(name: str, scale: float, tmp_path: Path) -> None:
    check_placements(name, 500 if name == "panda" else 100, tmp_path, scale=scale)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "scale"), [("panda", 1.0), ("ur5", 1.0), ("kr250", 2.5)])
def test_no_false_claim_in_10000_poses(name: str, scale: float, tmp_path: Path) -> None:
    check_placements(name, 10_000, tmp_path, scale=scale)


def reachable_share(name: str, count: int) -> float:
    """Return which part of poses that are surely reachable is solved."""
    robot = load_robot(name)
    chain = serial_chain(robot).arrays
    q = np.random.default_rng(17).uniform(*ranges(chain), (count, len(chain.lower)))
    return float(solve_ik(robot, forward.poses(chain, q)).found.mean())


@pytest.mark.parametrize("name", ["ur5", "kr250"])
def test_reachable_poses_are_solved(name: str) -> None:
    assert reachable_share(name, 2000) >= 0.997


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ur5", "kr250"])
def test_reachable_poses_are_solved_in_full(name: str) -> None:
    assert reachable_share(name, 100_000) >= 0.997
