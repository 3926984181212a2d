"""Dynamic balance: zero-moment points in closed form, transfer of the load, plans that keep it."""

from dataclasses import replace

import numpy as np
import pytest

from kinetarium.dynamics.kinematics import link_poses
from kinetarium.legs import LegKind, Machine, WalkPlan, WarningKind, plan_walk
from kinetarium.legs.quadruped import joint_positions, mass_center, quadruped_model
from kinetarium.legs.walk.balance import (
    MassPoints,
    Physics,
    balance_warnings,
    mass_points,
    stable_plan,
    walk_margins,
)
from kinetarium.legs.walk.crawl import support_margins
from kinetarium.spatial.rotation import pose, rotation_from_quaternion

SPEC = ((0.0, 0.0), (60.0, 0.0), (60.0, 60.0), (0.0, 60.0))
"""Waypoints whose walk has a static margin of 2 with a sway of 2, and tips over in MuJoCo."""


def real_machine(**values):
    machine = Machine(**values)
    x, y = mass_center(machine)
    return replace(machine, com=(x, y), foot_forward=x)


def physics(machine):
    return Physics.of(machine, unit_m=0.01, mass=6.08)


def test_zero_moment_point_of_an_accelerated_mass():
    t = np.arange(50) * 0.01
    a, h, g = 0.7, 0.5, 9.81
    x = 0.3 + a * t**2 / 2
    points = MassPoints(np.ones(1), np.column_stack([x, 0 * x, h + 0 * x])[:, np.newaxis])
    zmp = points.zero_moment_points(0.01, gravity=g, ground=np.zeros(50))
    np.testing.assert_allclose(zmp[1:-1, 0], x[1:-1] - h * a / g, atol=1e-9)


def test_a_mass_that_is_lifted_draws_the_zero_moment_point():
    # Two equal masses 1 m apart; one is accelerated upwards by g: it counts twice.
    t = np.arange(20) * 0.01
    rising = np.column_stack([1 + 0 * t, 0 * t, 9.81 * t**2 / 2])
    points = MassPoints(np.full(2, 0.5), np.stack([np.zeros((20, 3)), rising], axis=1))
    zmp = points.zero_moment_points(0.01, gravity=9.81, ground=np.zeros(20))
    np.testing.assert_allclose(zmp[1:-1, 0], 2 / 3, atol=1e-9)


@pytest.mark.parametrize("kind", LegKind)
def test_mass_points_are_those_of_the_model(kind):
    machine = Machine(kind=kind, foot_offset=4.0, l2=5.0)
    walk = plan_walk(WalkPlan(machine=machine, waypoints=SPEC, sway=2.0))
    points = mass_points(machine, walk.body, walk.links)
    assert points.masses.sum() == pytest.approx(1.0)
    model = quadruped_model(machine)
    for frame in (0, 77, 400):
        positions = joint_positions(machine, walk.joints[frame])
        body = walk.body[frame]
        X = link_poses(
            model,
            [positions[joint.name] for joint in model.moving_joints],
            X_WB=pose(body[:3] * 0.01, rotation_from_quaternion(body[3:])),
        )
        center = sum(
            link.inertia.mass * (x[:3, :3] @ link.inertia.center + x[:3, 3])
            for link, x in zip(model.links, X, strict=True)
            if link.inertia
        )
        ours = points.masses @ points.places[frame]
        np.testing.assert_allclose(ours, center / model.mass * 100, atol=1e-9)


def test_a_slow_stiff_walk_has_its_static_margin():
    machine = real_machine()
    plan = WalkPlan(machine=machine, waypoints=SPEC, sway=3.0, frames_per_step=48, step_time=500.0)
    walk = plan_walk(plan)
    points = mass_points(machine, walk.body, walk.links)
    still = walk_margins(walk, replace(physics(machine), compliance=0.0))
    com = points.masses @ points.places
    np.testing.assert_allclose(still, support_margins(walk.feet, walk.support, com), atol=1e-3)
    # The legs' masses move the centre of mass, which the static margin takes as constant.
    moved = np.linalg.norm((com - walk.com)[:, :2], axis=1).max()
    assert 0.1 < moved < 1.0
    np.testing.assert_allclose(still, walk.margin, atol=moved + 1e-3)


def test_the_load_of_a_lifted_leg_turns_the_body_towards_it():
    """On a square each leg carries W/4; with the centre on the diagonal two legs carry W/2."""
    machine = Machine(body_length=40.0, body_width=40.0, com=(0.0, 0.0))
    plan = WalkPlan(
        machine=machine, waypoints=((0.0, 0.0), (1e-3, 0.0)), stride=16.0, frames_per_step=48,
        order=(1, 2, 3, 4),
    )  # fmt: skip
    walk = plan_walk(replace(plan, step_time=1e5))
    centred = replace(walk, links=walk.links.copy(), body=walk.body.copy())
    centre = mass_points(machine, walk.body, walk.links)
    shift = (centre.masses @ centre.places)[:, :2]
    centred.body[:, :2] -= shift
    centred.links[..., :2] -= shift[:, np.newaxis, np.newaxis]
    free, yields = (walk_margins(centred, Physics(gravity=981.0, compliance=c)) for c in (0.0, 0.4))
    swing = walk.support.sum(axis=1) == 3
    # The legs of the diagonal sink by W/4, the fourth rises by W/4: over half the diagonal,
    # 20 sqrt(2), the body turns by W/2 of the compliance; its centre moves by its height.
    height = machine.height
    expected = height * 0.5 * 0.4 / (20 * np.sqrt(2))
    np.testing.assert_allclose((free - yields)[swing], expected, rtol=0.02)


def test_the_waypoints_that_tip_over_are_warned_of_and_a_stable_plan_is_not():
    machine = real_machine()
    plan = WalkPlan(machine=machine, waypoints=SPEC, sway=2.0, step_time=2.0, frames_per_step=48)
    walk = plan_walk(plan)
    margins = walk_margins(walk, physics(machine))
    assert walk.min_margin == pytest.approx(2.0) and not walk.warnings
    assert margins.min() < -1.0
    (first, *_) = balance_warnings(walk, margins)
    assert first.kind is WarningKind.BALANCE and "outside the support" in first.text

    stable = stable_plan(plan, margin=2.0, physics=physics(machine))
    kept = plan_walk(stable)
    margins = walk_margins(kept, physics(machine))
    assert 2.0 <= margins.min() < 2.05
    assert not list(balance_warnings(kept, margins, wanted=2.0))
    faster = plan_walk(replace(stable, step_time=0.97 * stable.step_time))
    assert walk_margins(faster, physics(machine)).min() < 2.0


def test_a_wider_margin_takes_longer():
    machine = real_machine()
    plan = WalkPlan(machine=machine, waypoints=((0.0, 0.0), (32.0, 0.0)))
    times = [stable_plan(plan, margin=m, physics=physics(machine)).step_time for m in (1, 2, 4)]
    assert times == sorted(times) and times[0] < times[-1]


def test_a_margin_that_no_walk_has_is_reported():
    machine = real_machine()
    plan = WalkPlan(machine=machine, waypoints=((0.0, 0.0), (32.0, 0.0)), frames_per_step=48)
    best = plan_walk(stable_plan(plan, margin=30.0, physics=physics(machine)))
    margins = walk_margins(best, physics(machine))
    assert 0 < margins.min() < 30.0
    assert any("30 is wanted" in w.text for w in balance_warnings(best, margins, wanted=30.0))
