"""Wheel speeds, ramps, and the controller that makes them of a reference."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetarium.control.interface import Measurement
from kinetarium.control.vehicle.kinematics import DifferentialDrive, SpeedRamp
from kinetarium.control.vehicle.laws import FeedForward
from kinetarium.control.vehicle.reference import SteadyReference
from kinetarium.control.vehicle.wheel_driver import WheelDriver, planar_pose
from kinetarium.spatial.rotation import quaternion_from_rotation, rotation_about

SPEEDS = st.floats(-3, 3)
HUSKY = DifferentialDrive(0.17775, 0.5708, 1.875)


def test_the_papers_equation() -> None:
    left, right = HUSKY.wheel_speeds(0.5, 0.25)
    assert left == pytest.approx((0.5 - 0.5708 * 1.875 / 2 * 0.25) / 0.17775)
    assert right == pytest.approx((0.5 + 0.5708 * 1.875 / 2 * 0.25) / 0.17775)


@given(SPEEDS, SPEEDS)
def test_there_and_back(v: float, w: float) -> None:
    assert HUSKY.vehicle_speeds(*HUSKY.wheel_speeds(v, w)) == pytest.approx((v, w), abs=1e-12)


@given(SPEEDS, SPEEDS, SPEEDS, SPEEDS)
def test_a_ramp_goes_no_faster_and_no_further(v: float, w: float, v0: float, w0: float) -> None:
    ramp = SpeedRamp(linear=3.0, angular=6.0)
    reached = ramp.toward((v, w), now=(v0, w0), period=0.01)
    for new, wanted, old, most in zip(reached, (v, w), (v0, w0), (0.03, 0.06), strict=True):
        assert abs(new - old) <= most + 1e-12
        assert abs(wanted - new) <= abs(wanted - old)
        assert new == wanted or abs(new - old) == pytest.approx(most)


def test_a_driver_waits_ramps_and_stops() -> None:
    driver = WheelDriver(
        SteadyReference(0.5, 0.1, 2.0),
        law=FeedForward(),
        drive=DifferentialDrive(0.1, 1.0),
        left=(True, False),
        wait=0.5,
    )
    pose = np.array([[0.0, 0, 0, 1, 0, 0, 0]])
    seen = Measurement(np.zeros(2), np.zeros(2), pose, np.zeros((1, 6)), {})
    driver.reset()
    commands = np.array([driver.update(k / 100, seen) for k in range(400)])
    assert not commands[:50].any()
    assert commands[50].mean() == pytest.approx(0.03 / 0.1)
    assert commands[150] == pytest.approx([4.5, 5.5])
    assert not commands[-1].any()
    driver.reset()
    assert not driver.update(0.0, seen).any()


@given(st.floats(-3, 3), st.floats(-0.2, 0.2))
def test_the_heading_of_a_tilted_robot(heading: float, tilt: float) -> None:
    R = rotation_about((0, 0, 1), heading) @ rotation_about((0, 1, 0), tilt)
    seen = planar_pose(np.array([1.0, 2.0, 0.3, *quaternion_from_rotation(R)]))
    assert seen == pytest.approx((1.0, 2.0, heading), abs=1e-9)
