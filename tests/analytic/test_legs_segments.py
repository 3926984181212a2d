"""Paths of several segments, and leg orders by the direction of travel."""

import numpy as np
import pytest

from kinetarium.legs import TABLE_1, Heading, LegsError, Machine, Segment, WalkPlan, plan_walk
from kinetarium.legs.walk.plan import region_row
from kinetarium.legs.walk.route import lay_route

MIXED = WalkPlan(
    waypoints=((0.0, 0.0), (64.0, 0.0)),
    segments=(
        Segment(heading=Heading.CRAB, waypoints=((64.0, 48.0),)),
        Segment(heading=Heading.SPIN, spin_deg=90.0),
        Segment(heading=Heading.TURN, waypoints=((64.0, 96.0),)),
    ),
    sway=1.0,
)


def test_segments_follow_each_other_without_a_jump():
    route = lay_route(MIXED)
    radius = float(np.hypot(*Machine().neutral_feet[0, :2]))
    assert route.path.length == pytest.approx(64.0 + 48.0 + radius * np.pi / 2 + 48.0)
    ways = np.array([0.0, 32.0, 64.0, 88.0, 112.0, 112.0 + radius * np.pi / 4])
    expected = [
        (0, 0, 0), (32, 0, 0), (64, 0, 0), (64, 24, 0), (64, 48, 0), (64, 48, np.pi / 4),
    ]  # fmt: skip
    np.testing.assert_allclose(route.path.poses(ways), expected, atol=1e-9)
    fine = route.path.poses(np.linspace(0.0, route.path.length, 5000))
    assert np.abs(np.diff(fine, axis=0)).max() < 0.05
    np.testing.assert_allclose(fine[-1], [64, 96, np.pi / 2], atol=1e-9)


def test_a_walk_of_segments_keeps_its_feet_on_the_ground():
    walk = plan_walk(MIXED)
    np.testing.assert_allclose(walk.body[-1, :2], [64, 96], atol=1e-9)
    assert [w for w in walk.warnings if w.kind in ("stability", "reach")] == []
    standing = walk.support[1:] & walk.support[:-1]
    moved = np.linalg.norm(np.diff(walk.feet, axis=0), axis=2)
    assert moved[standing].max() < 1e-9


def test_the_body_turns_on_the_spot_where_a_segment_leads_elsewhere():
    plan = WalkPlan(
        waypoints=((0.0, 0.0), (32.0, 0.0)), segments=(Segment(waypoints=((32.0, -40.0),)),)
    )
    path = lay_route(plan).path
    radius = float(np.hypot(*Machine().neutral_feet[0, :2]))
    assert path.length == pytest.approx(32 + radius * np.pi / 2 + 40)
    np.testing.assert_allclose(
        path.poses(np.array([32 + radius * np.pi / 2])), [(32, 0, -np.pi / 2)], atol=1e-9
    )


@pytest.mark.parametrize(
    ("travel", "row"),
    [
        ((1, -0.5, 0), 1), ((1, 0, 0), 1), ((1, 0.5, 0), 2), ((-1, -0.5, 0), 5),
        ((-1, 0.5, 0), 6), ((0, 1, 0), 2), ((0, -1, 0), 1), ((0, 0, 1), 3), ((0.5, 0.2, -1), 4),
    ],
)  # fmt: skip
def test_regions(travel, row):
    assert region_row(*travel) == row


def test_orders_follow_the_direction_of_each_cycle():
    from dataclasses import replace

    walk = plan_walk(replace(MIXED, by_region=True))
    assert walk.rows[0] == 1 and {2, 3} <= set(walk.rows)
    for cycle, row in enumerate(walk.rows):
        legs = tuple(step.leg for step in walk.steps[4 * cycle : 4 * cycle + 4])
        assert legs == TABLE_1[row]
    # Feet that stand do not move, whatever the order was before.
    standing = walk.support[1:] & walk.support[:-1]
    assert np.linalg.norm(np.diff(walk.feet, axis=0), axis=2)[standing].max() < 1e-9
    assert plan_walk(MIXED).rows == ()


def test_segments_without_waypoints_are_refused():
    with pytest.raises(LegsError, match="needs a waypoint"):
        Segment(heading=Heading.CRAB)


def test_downhill():
    from kinetarium.legs import Terrain

    walk = plan_walk(
        WalkPlan(
            waypoints=((0.0, 0.0), (128.0, 0.0)), terrain=Terrain(slope_deg=-8.0, slope_from=96.0)
        )
    )
    heights = walk.feet[walk.support][:, 2]
    assert heights.max() == pytest.approx((96 + 22) * np.tan(np.radians(8)), rel=0.2)
    assert walk.body[0, 2] - walk.body[-1, 2] == pytest.approx(96 * np.tan(np.radians(8)), rel=0.15)
    on = walk.plan.terrain.height(*walk.feet[walk.support][:, :2].T)
    np.testing.assert_allclose(heights, on, atol=1e-9)
