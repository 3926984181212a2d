"""Short cuts of the collision check change nothing: tables, and what touched last."""

from dataclasses import replace

import numpy as np
import pytest

from kinetarium import load_robot
from kinetarium.dynamics.chain import SerialChain, ranges, serial_chain
from kinetarium.model.robot import JointLimits, JointType, RobotModel
from kinetarium.reach.collision.check import collisions
from kinetarium.reach.collision.pieces import body_pieces
from kinetarium.spatial.arrays import Array

COUNT = 20_000


def robot(name: str) -> RobotModel:
    if name != "with a slide":
        return load_robot(name)
    arm = load_robot("kr250")
    joints = tuple(
        replace(joint, type=JointType.PRISMATIC, limits=JointLimits(-0.6, 0.4))
        if joint.name == "A5"
        else joint
        for joint in arm.joints
    )
    return replace(arm, joints=joints)


def drawn(chain: SerialChain) -> Array:
    lower, upper = ranges(chain.arrays)
    rng = np.random.default_rng(3)
    q = rng.uniform(lower, upper, (COUNT, len(lower)))
    ends = rng.uniform(size=q.shape) < 0.1
    return np.where(ends, np.where(rng.uniform(size=q.shape) < 0.5, lower, upper), q)


@pytest.mark.parametrize("name", ["panda", "ur5", "kr250", "with a slide"])
def test_tables_of_bodies_that_are_surely_apart(name: str) -> None:
    chain = serial_chain(robot(name))
    pieces, q = body_pieces(chain), drawn(chain)
    assert pieces.apart.any()
    exact = pieces._replace(apart=np.zeros_like(pieces.apart))
    expected = collisions(exact, chain.arrays, q)
    assert 0 < expected.sum() < COUNT
    assert (collisions(pieces, chain.arrays, q) == expected).all()


def test_what_touched_last_is_only_a_hint() -> None:
    chain = serial_chain(load_robot("panda"))
    pieces, q = body_pieces(chain), drawn(chain)[:2000]
    expected = np.array([collisions(pieces, chain.arrays, one[None])[0] for one in q])
    order = np.random.default_rng(0).permutation(len(q))
    assert (collisions(pieces, chain.arrays, q[order]) == expected[order]).all()
