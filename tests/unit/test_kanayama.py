"""Kanayama's law: what it corrects, and where it cannot."""

from math import cos, pi, sin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetarium.control.vehicle.laws import FeedForward, Kanayama, PlanarPose, Speeds
from kinetarium.control.vehicle.reference import CircleReference

ORIGIN = PlanarPose(0.0, 0.0, 0.0)
AHEAD = Speeds(0.5, 0.2)


def test_without_an_error_it_adds_nothing() -> None:
    there = PlanarPose(3.0, -1.0, 2.0)
    assert Kanayama().speeds(there, wanted=there, reference=AHEAD) == AHEAD


def test_the_published_formula() -> None:
    actual, wanted = PlanarPose(1.0, 2.0, pi / 2), PlanarPose(1.0, 2.3, pi / 2 + 0.1)
    v, w = Kanayama().speeds(actual, wanted=wanted, reference=AHEAD)
    assert v == pytest.approx(0.5 * cos(0.1) + 0.3)
    assert w == pytest.approx(0.2 + 0.5 * 4 * sin(0.1))
    aside = Kanayama().speeds(ORIGIN, wanted=PlanarPose(0.0, 0.1, 0.0), reference=AHEAD)
    assert aside == pytest.approx((0.5, 0.2 + 0.5 * 4 * 0.1))


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(-3, 3))
def test_in_place_nothing_is_corrected_but_the_way_ahead(x: float, y: float, turn: float) -> None:
    wanted = PlanarPose(x, y, turn)
    v, w = Kanayama().speeds(ORIGIN, wanted=wanted, reference=Speeds(0.0, 0.5))
    assert (v, w) == (pytest.approx(x), 0.5)


def test_a_rolling_vehicle_finds_its_way_back() -> None:
    reference, period = CircleReference(), 0.01
    x, y, heading = 0.0, 0.2, -0.3
    for k in range(1500):
        placements, speeds = reference.sample([k * period])
        wanted = PlanarPose(*placements[0])
        law = Kanayama().speeds(
            PlanarPose(x, y, heading), wanted=wanted, reference=Speeds(*speeds[0])
        )
        x, y = x + period * law.v * cos(heading), y + period * law.v * sin(heading)
        heading += period * law.w
    assert (x, y) == pytest.approx(placements[0, :2], abs=0.01)


def test_open_loop_does_not_look() -> None:
    assert FeedForward().speeds(PlanarPose(9, 9, 9), wanted=ORIGIN, reference=AHEAD) == AHEAD
