"""Driving along legs: a kinematic vehicle reaches poses, however it is located; turning centres."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from math import cos, hypot, pi, sin

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetarium.control.interface import Measurement
from kinetarium.control.phases import Phase, PhasedController, Wait
from kinetarium.control.vehicle.laws import LegTracking, PlanarPose, Speeds
from kinetarium.control.vehicle.legs import LegDriver, LegEnd, turning_centre
from kinetarium.control.vehicle.robot_base import vehicle
from kinetarium.control.vehicle.wheeled_base import Chassis, placed
from kinetarium.roles import RoleOptions

PERIOD = 0.01


def measured(pose: PlanarPose) -> Measurement:
    half = pose.heading / 2
    row = np.array([pose.x, pose.y, 0.0, cos(half), 0.0, 0.0, sin(half)])
    return Measurement(np.zeros(0), np.zeros(0), row[None], np.zeros((1, 6)), {})


def driven(
    legs: list[LegEnd],
    heading: float,
    *,
    centre: PlanarPose,
    off: PlanarPose = PlanarPose(0.0, 0.0, 0.0),  # noqa: B008
    about: PlanarPose | None = None,
    seen: list[PlanarPose] | None = None,
    wheel_speed: float = 12.0,
) -> PlanarPose:
    """Return the pose of the root at the end, of a vehicle that turns exactly about a point.

    Args:
        centre: The steered point.
        about: The point about which it turns; the steered one by default.
        seen: Is given all poses of the root.
        wheel_speed: Speed limit of its wheels [rad/s].
    """
    about = about or centre
    base = vehicle(RoleOptions().open("husky4"))
    wheels = tuple(replace(wheel, speed=wheel_speed) for wheel in base.wheels)
    chassis = Chassis(replace(base, wheels=wheels))

    def known(measurement: Measurement) -> PlanarPose:
        x, y, _, qw, _, _, qz = measurement.poses[0]
        return PlanarPose(x + off.x, y + off.y, 2 * np.arctan2(qz, qw) + off.heading)

    driver = LegDriver(legs, heading=heading, chassis=chassis, centre=centre, locate=known)
    root, command = PlanarPose(0.0, 0.0, 0.0), np.zeros(4)
    driver.begin(0.0, measured(root))
    for k in range(20_000):
        if driver.update(k * PERIOD, measured(root), command):
            return root
        (v,), (w,) = chassis.commanded_speeds(command[None])
        point = placed(about, root)
        turned = root.heading + w * PERIOD
        middle = point.heading + w * PERIOD / 2
        x, y = point.x + v * PERIOD * cos(middle), point.y + v * PERIOD * sin(middle)
        c, s = cos(turned), sin(turned)
        root = PlanarPose(x - (c * about.x - s * about.y), y - (s * about.x + c * about.y), turned)
        if seen is not None:
            seen.append(root)
    raise AssertionError("the vehicle did not arrive")


@pytest.mark.parametrize("off", [(0.0, 0.0, 0.0), (0.03, -0.02, 0.05), (-0.03, 0.03, -0.05)])
@pytest.mark.parametrize("backwards", [False, True])
def test_a_pose_is_reached_as_it_is_known(off: tuple[float, ...], backwards: bool) -> None:
    """A heading that is off does not carry the vehicle off its line."""
    centre, wrong = PlanarPose(0.06, 0.0, 0.0), PlanarPose(*off)
    heading = 2.0
    end = (1.0 + 0.5 * cos(heading), -0.7 + 0.5 * sin(heading))
    legs = [
        LegEnd(1.0, -0.7, backwards, 0.0),
        LegEnd(*end, False, heading),
    ]
    point = placed(centre, driven(legs, heading, centre=centre, off=wrong))
    assert hypot(point.x + wrong.x - end[0], point.y + wrong.y - end[1]) < 4e-3
    assert point.heading + wrong.heading == pytest.approx(heading, abs=5e-3)


def test_slow_wheels_take_longer_and_arrive() -> None:
    """Wheels of 1 rad/s drive the Husky at 0.18 m/s, less than half of what legs ask for."""
    centre, seen = PlanarPose(0.0, 0.0, 0.0), list[PlanarPose]()
    legs = [LegEnd(0.0, 2.0, False, pi / 2)]
    end = driven(legs, pi / 2, centre=centre, seen=seen, wheel_speed=1.0)
    assert (end.x, end.y, end.heading) == pytest.approx((0.0, 2.0, pi / 2), abs=5e-3)
    ways = [hypot(b.x - a.x, b.y - a.y) for a, b in pairwise(seen)]
    assert max(ways) == pytest.approx(0.17775 * PERIOD, rel=1e-6)


def test_a_turn_in_place_leaves_the_steered_point() -> None:
    centre = PlanarPose(0.1, 0.02, 0.0)
    root = driven([], 1.5, centre=centre)
    point = placed(centre, root)
    assert (point.x, point.y) == pytest.approx((centre.x, centre.y), abs=1e-6)
    assert turning_centre(PlanarPose(0.0, 0.0, 0.0), root) == pytest.approx((0.1, 0.02), abs=1e-6)


@pytest.mark.parametrize("ahead", [-0.1, 0.1])
@pytest.mark.parametrize("turn", [pi / 2, -3 * pi / 4])
def test_a_turn_about_another_point_ends_on_the_line_of_the_next_leg(
    ahead: float, turn: float
) -> None:
    """Kept in place, the steered point would be some 0.1 m beside the line after the turn."""
    seen: list[PlanarPose] = []
    end = (2 * cos(turn), 2 * sin(turn))
    about = PlanarPose(ahead, 0.03, 0.0)
    legs = [LegEnd(*end, False, turn)]
    last = driven(legs, turn, centre=PlanarPose(0.0, 0.0, 0.0), about=about, seen=seen)
    end_of_turn = next(i for i, pose in enumerate(seen) if abs(pose.heading - turn) < 0.02)
    faced = seen[end_of_turn]
    assert abs(cos(turn) * faced.y - sin(turn) * faced.x) < 0.03
    assert max(hypot(pose.x, pose.y) for pose in seen[:end_of_turn]) < 0.16
    assert (last.x, last.y) == pytest.approx(end, abs=0.02)


@given(st.floats(-2, 2), st.floats(-2, 2), st.floats(-3, 3), st.floats(0.2, 3.0))
def test_the_turning_centre_is_found_in_any_frame(x: float, y: float, h: float, t: float) -> None:
    centre = PlanarPose(0.07, -0.03, 0.0)
    begin = PlanarPose(x, y, h)
    point = placed(centre, begin)
    c, s = cos(h + t), sin(h + t)
    end = PlanarPose(
        point.x - (c * centre.x - s * centre.y), point.y - (s * centre.x + c * centre.y), h + t
    )
    assert turning_centre(begin, end) == pytest.approx((0.07, -0.03), abs=1e-9)


@given(st.floats(-pi / 2, pi / 2))
def test_at_rest_the_heading_is_corrected(off: float) -> None:
    wanted = PlanarPose(0.0, 0.0, off)
    v, w = LegTracking().speeds(
        PlanarPose(0.0, 0.0, 0.0), wanted=wanted, reference=Speeds(0.0, 0.0)
    )
    assert (v, w) == (0.0, pytest.approx(4 * sin(off)))


class Count:
    """A phase of some updates."""

    def __init__(self, name: str, updates: int) -> None:
        self.name, self.left = name, updates

    def begin(self, t: float, measurement: Measurement) -> None:
        pass

    def update(self, t: float, measurement: Measurement, command: np.ndarray) -> bool:
        command[0] += 1
        self.left -= 1
        return self.left == 0


def test_phases_follow_each_other_and_later_ones_see_how_earlier_ones_ended() -> None:
    seen: list[float] = []

    def phases(controller: PhasedController) -> Iterator[Phase]:
        yield Count("first", 3)
        seen.append(float(controller.measurement.poses[0, 0]))
        yield Wait("pause", 0.02)
        yield Count("last", 1)

    controller = PhasedController(phases, start=[10.0], rate=100.0)
    update: Callable[[int], np.ndarray] = lambda k: controller.update(  # noqa: E731
        k / 100, measured(PlanarPose(float(k), 0.0, 0.0))
    )
    for _ in range(2):
        controller.reset()
        for k in range(8):
            command = update(k)
        assert controller.done and command[0] == 14.0
        assert [each.name for each in controller.times] == ["first", "pause", "last"]
        assert controller.times[1].begin == 0.02 and controller.times[1].end == 0.04
    assert seen == [2.0, 2.0]
