"""Coulomb's skid against cases that can be solved by other means."""

from dataclasses import replace

import numpy as np
import pytest

from kinetarium.control.vehicle.robot_base import vehicle
from kinetarium.control.vehicle.wheeled_base import WheeledBase
from kinetarium.roles.options import RoleOptions
from kinetarium.studies.drive.coulomb import (
    SKID_MULTIPLIER,
    Footprint,
    coulomb_multiplier,
    coulomb_skid,
    multiplier_range,
    usual_multiplier,
)

HUSKY = vehicle(RoleOptions().open("husky4"))
SLOW = 1e-3
"""Yaw rate at which nothing has to be bent [rad/s]."""


def centered() -> WheeledBase:
    """The Husky with its centre of mass in the middle."""
    return replace(HUSKY, center=(0.0, 0.0))


def test_the_husky_is_known() -> None:
    assert (HUSKY.wheel_radius, HUSKY.track) == (0.17775, pytest.approx(0.5708))
    assert HUSKY.left == (True, False, True, False)
    assert usual_multiplier(HUSKY) == HUSKY.drive(SKID_MULTIPLIER).multiplier == SKID_MULTIPLIER
    two = vehicle(RoleOptions().open("husky2"))
    assert usual_multiplier(two) == two.drive(SKID_MULTIPLIER).multiplier == 1.0


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
    left, right = HUSKY.drive(SKID_MULTIPLIER).wheel_speeds(0.5, 0.25)
    rates = [
        coulomb_skid(HUSKY, left=left, right=right, friction=1.0, wheel_damping=gain).yaw_rate
        for gain in (20.0, 200.0, 2000.0, 1e6)
    ]
    assert rates == sorted(rates)
    exact = coulomb_multiplier(HUSKY, v=0.5, w=0.25, friction=1.0)
    assert rates[-1] == pytest.approx(0.25 * SKID_MULTIPLIER / exact, rel=1e-4)


def test_servos_that_are_too_weak_to_skid_do_not_turn_it() -> None:
    left, right = HUSKY.drive(SKID_MULTIPLIER).wheel_speeds(0.5, 0.25)
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
    left, right = HUSKY.drive(SKID_MULTIPLIER).wheel_speeds(0.3, w)
    skid = coulomb_skid(
        HUSKY, left=left, right=right, friction=friction, wheel_damping=200.0, effort=30.0
    )
    assert skid.yaw_rate * w >= -1e-9
    assert abs(skid.yaw_rate) < 1.2 * abs(w)
    assert skid.forward == pytest.approx(0.3, abs=0.05)


def test_where_no_balance_is_found_nothing_is_claimed() -> None:
    left, right = HUSKY.drive(SKID_MULTIPLIER).wheel_speeds(0.5, 0.25)
    skid = coulomb_skid(
        HUSKY, left=left, right=right, friction=10.0, wheel_damping=200.0, effort=30.0
    )
    assert np.isnan(skid.yaw_rate) or abs(skid.yaw_rate) < 0.25


def test_a_point_contact_in_place_by_hand() -> None:
    """Four points at (+-a, +-b), the wheels' speed c: the moment of friction must vanish.

    With slip (c - w b, w a) at every wheel by symmetry, b (c - w b) = w a^2, so that
    c / (w b) = 1 + (a / b)^2.
    """
    a, b = HUSKY.length / 2, HUSKY.track / 2
    found = coulomb_multiplier(centered(), v=0.0, w=SLOW, friction=1.0, footprint=Footprint.POINT)
    assert found == pytest.approx(1 + (a / b) ** 2, abs=1e-4)


def test_the_ideal_is_known_to_within_its_footprint_and_centre_of_mass() -> None:
    least, greatest = multiplier_range(HUSKY, v=0.0, w=0.5, friction=1.0)
    exact = coulomb_multiplier(HUSKY, v=0.0, w=0.5, friction=1.0)
    assert (least, greatest) == pytest.approx((1.381, 1.600), abs=2e-3)
    assert least < 1.525 < exact < greatest  # 1.525: measured on a real Husky


def test_casters_carry_load_and_do_not_rub() -> None:
    """One in the middle relieves all wheels alike, which changes nothing in place."""
    caster = replace(
        HUSKY.wheels[0], x=0.0, y=0.0, caster=True, command=None, joint="caster", link="caster"
    )
    without = coulomb_multiplier(centered(), v=0.0, w=SLOW, friction=1.0)
    found = [
        coulomb_multiplier(
            replace(centered(), wheels=(*HUSKY.wheels, replace(caster, x=x))),
            v=0.0, w=SLOW, friction=1.0,
        )
        for x in (0.0, -0.5)
    ]  # fmt: skip
    assert found[0] == pytest.approx(without, abs=1e-4)
    assert found[1] < without - 0.01  # the front wheels carry more, and it turns about them


def test_wheels_without_a_drive_roll() -> None:
    """Driven front wheels alone turn it less: the rear ones follow."""
    wheels = tuple(replace(w, command=None) if w.x < 0 else w for w in HUSKY.wheels)
    passive = coulomb_multiplier(
        replace(HUSKY, wheels=wheels, center=(0.0, 0.0)), v=0.0, w=SLOW, friction=1.0
    )
    assert passive > 1.1 * coulomb_multiplier(centered(), v=0.0, w=SLOW, friction=1.0)
