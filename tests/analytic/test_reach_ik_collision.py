"""Self-collision: exact for primitives, and honest against public meshes."""

from pathlib import Path

import coal
import numpy as np
import pytest

from coal_collision import DATA, PUBLIC, meshes_touching, touching
from collision_pairs import collision_pairs
from kinetarium import load_robot
from kinetarium.dynamics.chain import serial_chain
from kinetarium.model.robot import RobotModel
from kinetarium.reach.collision import _gjk as gjk
from kinetarium.reach.collision.check import collisions
from kinetarium.reach.collision.pieces import body_pieces
from kinetarium.spatial import so3


def own_pairs(model: RobotModel, *, same: tuple[str, ...]) -> list[tuple[str, str]]:
    """Pairs of links to check where some are one body with the hand."""
    pairs = collision_pairs(model)
    return [(a, b) for a, b in pairs if not (a.startswith(same) and b.startswith(same))]


@pytest.mark.parametrize("name", ["panda", "ur5", "kr250"])
def test_primitives_are_judged_as_an_independent_library_does(name: str) -> None:
    model = load_robot(name)
    chain = serial_chain(model)
    q = np.random.default_rng(0).uniform(
        chain.arrays.lower, chain.arrays.upper, (150, len(chain.joints))
    )
    hand = ("panda_hand", "panda_left", "panda_right", "panda_link6", "panda_link7")
    expected = touching(model, chain.whole(q), own_pairs(model, same=hand))
    reported = collisions(body_pieces(chain), chain.arrays, q)
    assert expected.sum() > 5
    assert (expected != reported).sum() == 0


def test_convex_sets_of_every_kind_are_told_apart() -> None:
    rng = np.random.default_rng(1)
    kinds = np.array([[0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1], [1, 1, 1, 0]])
    for _ in range(1000):
        sizes = rng.uniform(0.02, 0.2, (2, 4)) * kinds[rng.integers(0, 4, 2)]
        margin = rng.choice([0.0, 0.05])
        R, p = so3.exp(rng.normal(size=3) * 2), rng.normal(size=3) * 0.2
        shapes = [
            coal.Cylinder(size[3], 2 * size[2])
            if size[3]
            else coal.Box(*np.maximum(2 * size[:3], 1e-9))
            for size in sizes
        ]
        distance = coal.distance(
            shapes[0], coal.Transform3s.Identity(), shapes[1], coal.Transform3s(R, p),
            coal.DistanceRequest(), coal.DistanceResult(),
        )  # fmt: skip
        if abs(distance - margin) > 1e-5:
            axes = (tuple(R[:, 0]), tuple(R[:, 1]), tuple(R[:, 2]))
            assert gjk.closer(sizes, 0, 1, *axes, tuple(p), margin) == (distance < margin)


def test_the_gap_of_segments_is_that_of_their_nearest_points() -> None:
    rng = np.random.default_rng(2)
    t = np.linspace(-1, 1, 201)
    for turn in (*rng.normal(size=(50, 3)), np.zeros(3), np.array([np.pi, 0, 0])):
        u, v, d = so3.exp(rng.normal(size=3))[:, 2], so3.exp(turn)[:, 2], rng.normal(size=3)
        u = v if not turn.any() else u
        a, b = rng.uniform(0.1, 1, 2)
        points, others = np.outer(a * t, u), d + np.outer(b * t, v)
        sampled = np.linalg.norm(points[:, None] - others, axis=2).min()
        gap = np.sqrt(gjk.segments_gap(tuple(u), a, tuple(v), b, tuple(d)))
        assert sampled - 0.02 < gap <= sampled + 1e-12


def against_meshes(name: str, count: int) -> None:
    chain = serial_chain(load_robot(name))
    lower, upper = chain.arrays.lower, chain.arrays.upper
    q = np.random.default_rng(0).uniform(lower, upper, (count, len(lower)))
    truth = meshes_touching(name, chain.whole(q))
    reported = collisions(body_pieces(chain), chain.arrays, q)
    assert truth.mean() > 0.08
    assert not (truth & ~reported).any()
    assert (reported & ~truth).sum() <= 0.07 * (~truth).sum()


@pytest.mark.skipif(DATA == Path(), reason="needs the data extra")
@pytest.mark.parametrize("name", PUBLIC)
def test_no_collision_of_the_public_meshes_is_missed(name: str) -> None:
    against_meshes(name, 1000)


@pytest.mark.slow
@pytest.mark.skipif(DATA == Path(), reason="needs the data extra")
@pytest.mark.parametrize("name", PUBLIC)
def test_no_collision_of_the_public_meshes_is_missed_in_full(name: str) -> None:
    against_meshes(name, 10_000)
