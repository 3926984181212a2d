"""Wheel speeds, ramps, and the controller that makes them of a reference."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetarium.control.interface import Measurement
from kinetarium.control.vehicle.laws import FeedForward
from kinetarium.control.vehicle.reference import SteadyReference
from kinetarium.control.vehicle.wheel_driver import WheelDriver, planar_pose
from kinetarium.control.vehicle.wheeled_base import (
    Chassis,
    DifferentialDrive,
    DriveType,
    GroundWheel,
    SpeedRamp,
    Steering,
    WheeledBase,
)
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


def two_wheels(speed: float | None = None) -> WheeledBase:
    """A base of 1 m track on wheels of 0.1 m."""
    wheels = tuple(
        GroundWheel(side, side, 0.0, y, 0.1, 0.0, 1, False, None, 0.0, 0.0, k, k, None, speed)
        for k, (side, y) in enumerate((("left", 0.5), ("right", -0.5)))
    )
    return WheeledBase("base", (0.0, 0.0, 0.0), wheels, 10.0, (0.0, 0.0), (), (0.0, 0.0))


def test_a_driver_waits_ramps_and_stops() -> None:
    driver = WheelDriver(
        SteadyReference(0.5, 0.1, 2.0), law=FeedForward(), chassis=Chassis(two_wheels()), wait=0.5
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


@given(SPEEDS, SPEEDS, SPEEDS, SPEEDS)
def test_no_wheel_is_commanded_above_its_speed_limit(
    v: float, w: float, v1: float, w1: float
) -> None:
    """Wheels of 2 rad/s: the same curve at |v| + |w| / 2 = 0.2 m/s, within the ramps all along."""
    chassis, now = Chassis(two_wheels(2.0)), (0.0, 0.0)
    for asked in ((v, w), (v1, w1)):
        for _ in range(40):
            before, now = now, chassis.toward(asked, now=now, period=0.01)
            assert np.abs(chassis.commands(now)).max() <= 2.0 + 1e-9
            assert abs(now[0] - before[0]) <= 0.03 + 1e-9 and abs(now[1] - before[1]) <= 0.06 + 1e-9
        slower = max(1.0, (abs(asked[0]) + abs(asked[1]) / 2) / 0.2)
        assert now == pytest.approx((asked[0] / slower, asked[1] / slower), abs=1e-9)


@given(st.floats(-3, 3), st.floats(-0.2, 0.2))
def test_the_heading_of_a_tilted_robot(heading: float, tilt: float) -> None:
    R = rotation_about((0, 0, 1), heading) @ rotation_about((0, 1, 0), tilt)
    seen = planar_pose(np.array([1.0, 2.0, 0.3, *quaternion_from_rotation(R)]))
    assert seen == pytest.approx((1.0, 2.0, heading), abs=1e-9)


def car() -> WheeledBase:
    """A car: 0.3 m between the axles, steered in front about pins that are inside the wheels."""
    wheels = []
    for k, (x, y) in enumerate(((0.0, 0.12), (0.0, -0.12), (0.3, 0.12), (0.3, -0.12))):
        pin = y * 10 / 12
        steering = Steering(f"pin{k}", x, pin, -1, 0.2, 0.6, 0.5, 10 + k, 2 + k) if x else None
        command = k if not x else None
        wheels.append(
            GroundWheel(
                str(k), str(k), x, y, 0.05, 0.04, 1, False, 9.0, 0.0, 0.0, k, command, steering
            )
        )
    home = (0.0, 0.0, 0.0, 0.0, 0.2, 0.2)
    return WheeledBase("car", (0.0, 0.0, 0.0), tuple(wheels), 5.0, (0.1, 0.0), (), home)


class TestSteering:
    def test_a_car_is_steered(self) -> None:
        assert car().kind is DriveType.STEERED
        assert two_wheels().kind is DriveType.DIFFERENTIAL
        # To the right the outer pin reaches 0.5 rad first.
        slope = np.tan(0.5)
        assert car().tightest == pytest.approx(slope / (0.3 + 0.1 * slope))

    @given(st.floats(0.05, 2.0), st.floats(-1.4, 1.4))
    def test_all_axes_meet_in_the_centre_of_the_turn(self, v: float, curvature: float) -> None:
        commands = Chassis(car()).commands((v, curvature))
        for wheel in car().wheels:
            angle = 0.0
            x, y = wheel.x, wheel.y
            if wheel.steering:
                angle = -(commands[wheel.steering.command] - 0.2)
                # The wheel is turned about its pin.
                arm = wheel.y - wheel.steering.y
                x = wheel.steering.x - arm * np.sin(angle)
                y = wheel.steering.y + arm * np.cos(angle)
            velocity = v * np.array([1 - curvature * y, curvature * x])
            across = velocity @ (-np.sin(angle), np.cos(angle))
            along = velocity @ (np.cos(angle), np.sin(angle))
            assert across == pytest.approx(0.0, abs=1e-9)
            if wheel.command is not None:
                assert commands[wheel.command] * wheel.radius == pytest.approx(along, abs=1e-9)

    @given(st.floats(0.1, 2.0), st.floats(-1.0, 1.0))
    def test_commands_there_and_back(self, v: float, curvature: float) -> None:
        chassis = Chassis(car())
        commands = chassis.commands((v, curvature))[np.newaxis]
        speed, rate = chassis.commanded_speeds(commands)
        assert (speed[0], rate[0]) == pytest.approx((v, v * curvature), abs=1e-9)

    def test_its_slowest_wheel_limits_it_in_a_bend(self) -> None:
        """The outer wheel of the driven axle rolls by 1 + k y of the speed."""
        wheels = tuple(replace(wheel, speed=2.0) for wheel in car().wheels)
        chassis, now = Chassis(replace(car(), wheels=wheels)), (0.0, 0.0)
        for _ in range(100):
            now = chassis.toward((0.5, 0.5), now=now, period=0.01)
        assert now == (pytest.approx(2.0 * 0.05 / (1 + 1.0 * 0.12)), 1.0)

    def test_it_steers_at_a_bounded_rate_within_its_limits(self) -> None:
        chassis, now, angles = Chassis(car()), (0.0, 0.0), []
        for _ in range(100):
            now = chassis.toward((0.5, 5.0), now=now, period=0.01)
            angles.append(np.arctan(0.3 * now[1]))
        assert np.diff(angles).max() <= 0.02 + 1e-12
        assert now == (0.5, pytest.approx(car().tightest))
        assert chassis.speeds(now) == pytest.approx((0.5, 0.5 * car().tightest))
        # At rest the steering stays where it is.
        assert chassis.toward((0.0, 0.0), now=now, period=1.0) == (0.0, now[1])
