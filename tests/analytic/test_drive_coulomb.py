"""Coulomb's skid against cases that can be solved by other means."""

from dataclasses import replace

import numpy as np
import pytest

from kinetarium.model.robot import Inertia
from kinetarium.spatial.arrays import frozen
from kinetarium.studies.drive.config import Robot
from kinetarium.studies.drive.coulomb import coulomb_multiplier, coulomb_skid
from kinetarium.studies.drive.vehicle import SKID_MULTIPLIER, Vehicle, vehicle

HUSKY = vehicle(Robot.HUSKY4)
SLOW = 1e-3
"""Yaw rate at which nothing has to be bent [rad/s]."""


def centered() -> Vehicle:
    """The Husky with its centre of mass in the middle."""
    base = HUSKY.model.links[0]
    assert base.inertia
    moved = replace(
        base, inertia=Inertia(base.inertia.mass, frozen([0, 0, 0]), base.inertia.moment)
    )
    return replace(HUSKY, model=replace(HUSKY.model, links=(moved, *HUSKY.model.links[1:])))


def test_the_husky_is_known() -> None:
    assert (HUSKY.wheel_radius, HUSKY.track) == (0.17775, pytest.approx(0.5708))
    assert HUSKY.left == (True, False, True, False)
    assert HUSKY.drive().multiplier == SKID_MULTIPLIER
    assert vehicle(Robot.HUSKY2).drive().multiplier == 1.0


def test_the_husky_in_place() -> None:
    assert coulomb_multiplier(HUSKY, v=0.0, w=SLOW, friction=1.0) == pytest.approx(1.540, abs=2e-3)


def test_a_centred_vehicle_by_bisection() -> None:
    # By symmetry it turns about its middle: only the moment of friction remains to be balanced.
    ends = np.array([(0.256, y + e) for y in (0.2854, -0.2854) for e in (-0.05715, 0.05715)])
    x, y = np.vstack([ends, -ends]).T
    rolling = -np.sign(y) * SKID_MULTIPLIER * 0.2854

    def moment(w: float) -> float:
        slip = np.stack([-w * y - rolling, w * x])
        way = slip / np.linalg.norm(slip, axis=0)
        return float((-x * way[1] + y * way[0]).sum())

    low, high = 0.5, 1.9
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if moment(middle) > 0 else (low, middle)
    found = coulomb_multiplier(centered(), v=0.0, w=0.1, friction=1.0)
    assert found == pytest.approx(SKID_MULTIPLIER / low, abs=1e-3)
    assert found == pytest.approx(1.848, abs=1e-3)


def test_forward_speed_alone_changes_nothing_on_sticky_ground() -> None:
    at_rest = coulomb_multiplier(HUSKY, v=0.0, w=0.5, friction=1e6)
    moving = coulomb_multiplier(HUSKY, v=1.0, w=0.5, friction=1e6)
    assert moving == pytest.approx(at_rest, abs=1e-4)


def test_slippery_ground_turns_less() -> None:
    values = [coulomb_multiplier(HUSKY, v=0.5, w=0.5, friction=mu) for mu in (1.0, 0.5, 0.3)]
    assert values == sorted(values)
    assert values[0] > coulomb_multiplier(HUSKY, v=0.0, w=0.5, friction=1.0)


def test_servos_that_lag_turn_it_less() -> None:
    left, right = HUSKY.drive().wheel_speeds(0.5, 0.25)
    rates = [
        coulomb_skid(HUSKY, left=left, right=right, friction=1.0, wheel_damping=gain).yaw_rate
        for gain in (20.0, 200.0, 2000.0, 1e6)
    ]
    assert rates == sorted(rates)
    exact = coulomb_multiplier(HUSKY, v=0.5, w=0.25, friction=1.0)
    assert rates[-1] == pytest.approx(0.25 * SKID_MULTIPLIER / exact, rel=1e-4)


def test_servos_that_are_too_weak_to_skid_do_not_turn_it() -> None:
    left, right = HUSKY.drive().wheel_speeds(0.5, 0.25)
    strong, weak = (
        coulomb_skid(
            HUSKY, left=left, right=right, friction=3.0, wheel_damping=200.0, effort=effort
        )
        for effort in (300.0, 30.0)
    )
    assert strong.yaw_rate > 0.2
    assert abs(weak.yaw_rate) < 1e-3
    assert weak.forward == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("friction", [0.25, 1.0, 2.0, 3.0])
@pytest.mark.parametrize("w", [0.01, -0.3, 1.0])
def test_the_slower_side_is_turned_to(friction: float, w: float) -> None:
    left, right = HUSKY.drive().wheel_speeds(0.3, w)
    skid = coulomb_skid(
        HUSKY, left=left, right=right, friction=friction, wheel_damping=200.0, effort=30.0
    )
    assert skid.yaw_rate * w >= -1e-9
    assert abs(skid.yaw_rate) < 1.2 * abs(w)
    assert skid.forward == pytest.approx(0.3, abs=0.05)


def test_where_no_balance_is_found_nothing_is_claimed() -> None:
    left, right = HUSKY.drive().wheel_speeds(0.5, 0.25)
    skid = coulomb_skid(
        HUSKY, left=left, right=right, friction=10.0, wheel_damping=200.0, effort=30.0
    )
    assert np.isnan(skid.yaw_rate) or abs(skid.yaw_rate) < 0.25
