"""Random machines on random ways: never a NaN, never anything foreign, whatever is asked."""

from math import pi

import numpy as np
import pytest

from kinetarium.errors import KinetariumError
from kinetarium.legs import (
    TABLE_1,
    Curve,
    GaitTiming,
    Heading,
    LegKind,
    Machine,
    PantographLeg,
    Step,
    Terrain,
    WalkPlan,
    plan_walk,
)


def _pick(rng, values):
    return list(values)[rng.integers(len(list(values)))]


def _machine(rng):
    return Machine(
        kind=_pick(rng, LegKind),
        l1=10 ** rng.uniform(-1, 2),
        l2=10 ** rng.uniform(-1, 2),
        gain=rng.uniform(1.1, 12.0),
        rail_height=-(10 ** rng.uniform(-1, 2)),
        body_length=10 ** rng.uniform(-1, 2.5),
        body_width=10 ** rng.uniform(-1, 2.5),
        foot_offset=_pick(rng, (0.0, rng.uniform(0, 50))),
        foot_forward=_pick(rng, (0.0, rng.normal(0, 10))),
        com=(rng.normal(0, 5), rng.normal(0, 5)),
    )


def _plan(rng):
    points = rng.normal(0, 10 ** rng.uniform(0, 2), (rng.integers(1, 7), 2))
    if rng.random() < 0.15:  # doubled, collinear and returning points
        points = points[rng.integers(0, len(points), len(points))]
    steps = tuple(
        Step(x, x + rng.uniform(1, 60), y, y + rng.uniform(1, 60), rng.uniform(0.1, 12))
        for x, y in rng.normal(0, 40, (rng.integers(0, 3), 2))
    )
    return WalkPlan(
        machine=_machine(rng),
        waypoints=tuple(map(tuple, points.tolist())),
        curve=_pick(rng, Curve),
        heading=_pick(rng, Heading),
        heading_deg=rng.uniform(-400, 400),
        spin_deg=_pick(rng, (-1, 1)) * rng.uniform(1, 200),
        stride=10 ** rng.uniform(0.3, 2),
        lift=_pick(rng, (0.0, rng.uniform(0, 20))),
        sway=_pick(rng, (0.0, rng.uniform(0, 15))),
        timing=_pick(rng, GaitTiming),
        order=_pick(rng, ((), *TABLE_1.values(), (4, 2, 1, 3))),
        frames_per_step=int(rng.integers(3, 14)),
        terrain=_pick(
            rng, (Terrain(), Terrain(slope_deg=rng.uniform(0, 30), slope_from=rng.normal(0, 50),
                                     steps=steps))),
    )  # fmt: skip


def _walk_at_random(seed):
    rng = np.random.default_rng(seed)
    try:
        walk = plan_walk(_plan(rng))
    except KinetariumError as refusal:
        assert str(refusal)
        return False
    for name in ("time", "body", "joints", "links", "feet", "margin", "com", "path"):
        assert np.isfinite(getattr(walk, name)).all(), (seed, name)
    assert np.isfinite([warning.amount for warning in walk.warnings]).all()
    np.testing.assert_allclose(np.linalg.norm(walk.links[..., 3:], axis=-1), 1, atol=1e-9)
    size = 1 + np.abs(walk.links[..., :3]).max()
    np.testing.assert_allclose(walk.links[:, :, 8, :3], walk.feet, atol=1e-12 * size)
    assert walk.support.sum(axis=1).min() >= 3
    return True


def test_random_walks_are_finite():
    assert sum(map(_walk_at_random, range(400))) > 250


def test_a_straight_path_that_pauses_is_walked():
    assert _walk_at_random(4664)  # a Bezier curve through A, B, A, B


@pytest.mark.slow
def test_ten_thousand_random_walks_are_finite():
    assert sum(map(_walk_at_random, range(10_000))) > 6_000


@pytest.mark.parametrize("kind", LegKind)
def test_no_joint_values_make_a_nan(kind):
    rng = np.random.default_rng(3)
    leg = PantographLeg(kind, l1=6, l2=6, gain=6, rail_height=-8.5)
    q = rng.normal(size=(2000, 3)) * 10.0 ** rng.uniform(-12, 6, (2000, 1))
    wild = np.concatenate([q, [[0, 0, -8.5], [0, 0, 0], [12, 0, -8.5], [0, pi, -20.5]]])
    for values in (leg.link_poses(wild), leg.passive_angles(wild), leg.forward(wild),
                   leg.inverse(wild), leg.follow(wild), leg.overreach(wild)):  # fmt: skip
        assert np.isfinite(values).all()
