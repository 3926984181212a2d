"""No claim of inverse kinematics is false, and few poses that can be reached are missed."""

import numpy as np
import pytest

from kinetarium import load_robot
from kinetarium.dynamics import RobotDynamics, forward
from kinetarium.dynamics.chain import SerialChain, serial_chain
from kinetarium.reach import solve_ik
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose

ARMS = ("panda", "ur5", "kr250")
LEAST = {"panda": 0.999, "ur5": 0.997, "kr250": 0.997}


def anywhere(rng: np.random.Generator, count: int, *, size: float) -> Array:
    """Poses at random places in a cube, turned at random."""
    quaternions = rng.normal(size=(count, 4))
    angles = 2 * np.arctan2(np.linalg.norm(quaternions[:, 1:], axis=1), quaternions[:, 0])
    axes = quaternions[:, 1:] / np.linalg.norm(quaternions[:, 1:], axis=1, keepdims=True)
    R = so3.exp(angles[:, None] * axes)
    return np.array(
        [pose(p, r) for p, r in zip(rng.uniform(-size, size, (count, 3)), R, strict=True)]
    )


def judge(chain: SerialChain, poses: Array, q: Array) -> None:
    """Check claims with a library of its own: limits, 1e-6 m and 1e-6 rad."""
    dynamics = RobotDynamics(chain.model, free_base=False)
    index = {link.name: i for i, link in enumerate(chain.model.links)}
    assert ((chain.arrays.lower <= q) & (q <= chain.arrays.upper)).all()
    for X_BT, positions in zip(poses, chain.whole(q), strict=True):
        X_WL = dynamics.link_poses(positions)
        X = np.linalg.inv(X_WL[index[chain.base_link]]) @ X_WL[index[chain.tool]]
        assert np.linalg.norm(X[:3, 3] - X_BT[:3, 3]) < 1e-6
        assert np.linalg.norm(so3.log(X[:3, :3].T @ X_BT[:3, :3])) < 1e-6


def check_claims(name: str, count: int) -> None:
    robot = load_robot(name)
    chain = serial_chain(robot)
    rng = np.random.default_rng(5)
    q = rng.uniform(chain.arrays.lower, chain.arrays.upper, (count, len(chain.joints)))
    reachable = forward.poses(chain.arrays, q)
    solved = solve_ik(robot, reachable)
    assert solved.found.mean() >= LEAST[name]
    judge(chain, reachable[solved.found], solved.q[solved.found])
    assert np.isnan(solved.q[~solved.found]).all()
    assert np.isnan(solved.manipulability[~solved.found]).all()

    size = 1.3 * np.abs(reachable[:, :3, 3]).max()
    poses = anywhere(rng, count, size=size)
    solved = solve_ik(robot, poses)
    assert 0 < solved.found.sum() < 0.5 * count
    judge(chain, poses[solved.found], solved.q[solved.found])

    poses[:, :3, 3] *= 2 * size / np.linalg.norm(poses[:, :3, 3], axis=1, keepdims=True)
    assert not solve_ik(robot, poses).found.any()


@pytest.mark.parametrize("name", ARMS)
def test_claims_hold(name: str) -> None:
    check_claims(name, 1000)


@pytest.mark.slow
@pytest.mark.parametrize("name", ARMS)
def test_claims_hold_in_full(name: str) -> None:
    check_claims(name, 10_000)
