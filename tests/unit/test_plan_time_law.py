"""Time laws: closed forms, limits, and derivatives against finite differences."""

from collections.abc import Callable
from math import pi, sqrt

import numpy as np
import pytest

from kinetarium import load_robot
from kinetarium.dynamics import serial_chain
from kinetarium.errors import KinetariumError
from kinetarium.plan import (
    BaseLimits,
    MotionLimits,
    ToolLine,
    motion_limits,
    time_base_path,
    time_line,
    time_path,
)
from kinetarium.plan.base_path import BaseLeg, BasePath
from kinetarium.plan.time_law import Trapezoid
from kinetarium.spatial.arrays import Array

LIMITS = MotionLimits(np.array([1.0, 2.0, 0.5]), np.array([2.0, 4.0, 2.0]))
Sample = Callable[[Array], tuple[Array, Array, Array]]


def check_derivatives(sample: Sample, duration: float) -> None:
    """Speeds and accelerations are the derivatives of positions and speeds."""
    t, h = np.random.default_rng(0).uniform(0.01, duration - 0.01, 500), 1e-6
    (q0, v0, _), (q1, v1, _) = sample(t - h), sample(t + h)
    _, v, a = sample(t)
    np.testing.assert_allclose((q1 - q0) / (2 * h), v, atol=1e-5)
    away = np.abs((v1 - v0) / (2 * h) - a).max(axis=1)
    assert (away > 1e-3).mean() < 0.01  # but for jumps of the acceleration


@pytest.mark.parametrize(
    ("way", "duration"), [(1.0, 1.0 / 0.5 + 0.5 / 2.0), (0.1, 2 * sqrt(0.1 / 2.0)), (0.0, 0.0)]
)
def test_trapezoids_and_triangles(way: float, duration: float) -> None:
    law = Trapezoid(way, 0.5, 2.0)
    assert law.duration == pytest.approx(duration)
    t = np.linspace(-1.0, duration + 1.0, 1001)
    s, v, a = law.sample(t)
    assert s[0] == 0.0
    assert s[-1] == pytest.approx(way)
    assert v.max() <= 0.5 + 1e-12
    assert np.abs(a).max() <= 2.0
    assert v[0] == v[-1] == a[0] == a[-1] == 0.0


def test_joints_move_together_and_stop_at_corners() -> None:
    corners = np.array([[0.0, 0.0, 0.0], [1.0, -0.5, 0.1], [1.0, -0.5, 0.1], [0.0, 1.5, 0.0]])
    motion = time_path(corners, LIMITS)
    # The first joint is the slowest on both ways: 1 / 1 + 1 / 2 s.
    assert motion.duration == pytest.approx(3.0)
    t = np.linspace(-0.5, motion.duration + 0.5, 4001)
    q, v, a = motion.sample(t)
    assert (np.abs(v) <= LIMITS.speed + 1e-12).all()
    assert (np.abs(a) <= LIMITS.acceleration + 1e-12).all()
    np.testing.assert_array_equal(q[[0, -1]], corners[[0, -1]])
    stopped, at_rest, _ = motion.sample(np.array([1.5]))
    np.testing.assert_allclose(stopped[0], corners[1], atol=1e-12)
    np.testing.assert_allclose(at_rest, 0.0, atol=1e-12)
    first = t < 1.5
    np.testing.assert_allclose(q[first, 1], -0.5 * q[first, 0], atol=1e-12)
    check_derivatives(motion.sample, motion.duration)
    still = time_path(corners[:1], LIMITS)
    assert still.duration == 0.0
    np.testing.assert_array_equal(still.sample(np.zeros(1))[0], corners[:1])


def arc(points: int) -> ToolLine:
    """Joints of a planar arm of two links of 0.5 m whose tool moves along a straight line."""
    x = np.linspace(0.2, 0.6, points)
    elbow = np.arccos((x**2 + 0.3**2) / 0.5 - 1.0)
    shoulder = np.arctan2(0.3, x) - elbow / 2
    q = np.stack([shoulder, elbow, 0.0 * x], axis=-1)
    return ToolLine(q, 1.0, "", 1.0, 0.1, 0.4, 0.0)


def test_a_tool_line_keeps_all_limits() -> None:
    line = arc(41)
    slow = time_line(line, LIMITS, tool_speed=0.1, tool_acceleration=0.5)
    assert slow.duration == pytest.approx(0.4 / 0.1 + 0.1 / 0.5)
    fast = time_line(line, LIMITS, tool_speed=5.0, tool_acceleration=50.0)
    assert fast.duration < slow.duration
    for motion in (slow, fast):
        t = np.linspace(0.0, motion.duration, 2001)
        q, v, a = motion.sample(t)
        assert (np.abs(v) <= LIMITS.speed * (1 + 1e-9)).all()
        assert (np.abs(a) <= LIMITS.acceleration * (1 + 1e-9)).all()
        # The tool stays on its line, y = 0.3, and at its speed.
        y = 0.5 * np.sin(q[:, 0]) + 0.5 * np.sin(q[:, 0] + q[:, 1])
        np.testing.assert_allclose(y, 0.3, atol=1e-4)
        check_derivatives(motion.sample, motion.duration)
    x = 0.5 * np.cos(q[:, 0]) + 0.5 * np.cos(q[:, 0] + q[:, 1])
    assert x[-1] == pytest.approx(0.6)
    with pytest.raises(KinetariumError, match="positive"):
        time_line(line, LIMITS, tool_speed=0.0)


def test_limits_of_a_model() -> None:
    chain = serial_chain(load_robot("panda"))
    limits = motion_limits(chain)
    np.testing.assert_array_equal(limits.speed, [2.175] * 4 + [2.61] * 3)
    np.testing.assert_allclose(limits.acceleration, limits.speed / 0.5)
    np.testing.assert_allclose(motion_limits(chain, scale=0.5).speed, limits.speed / 2)
    with pytest.raises(KinetariumError, match="scale"):
        motion_limits(chain, scale=2.0)
    with pytest.raises(KinetariumError, match="shape"):
        time_path(np.zeros((2, 6)), limits)


def test_a_base_rests_between_its_legs() -> None:
    legs = (
        BaseLeg((0.0, 0.0, 0.0), (0.1, 0.1, pi / 2), turn=pi / 2),
        BaseLeg((0.1, 0.1, pi / 2), (0.1, 1.1, pi / 2), length=1.0),
        BaseLeg((0.1, 1.1, pi / 2), (0.1, 0.6, pi / 2), length=-0.5),
    )
    path = BasePath(legs, (0.0, 0.1, 0.0))
    motion = time_base_path(path, BaseLimits(0.5, 0.5, 0.5, 1.0))
    # pi / 2 / 0.5 + 0.5, 1 / 0.5 + 1, and a triangle of 0.5 m.
    np.testing.assert_allclose(np.diff([0.0, *motion.ends]), [pi + 0.5, 3.0, 2.0], atol=1e-12)
    pose, v, a = motion.sample(np.linspace(0.0, motion.duration, 2001))
    assert np.abs(v[:, 0]).max() <= 0.5 + 1e-12
    assert np.abs(v[:, 2]).max() <= 0.5 + 1e-12
    assert not v[:, 1].any()
    assert np.abs(a).max() <= 1.0 + 1e-12
    assert v[:, 0].min() < -0.49
    np.testing.assert_allclose(pose[-1], [0.0, 0.6, pi / 2], atol=1e-12)
    _, rest, _ = motion.sample(motion.ends)
    np.testing.assert_allclose(rest, 0.0, atol=1e-9)
    # The speed in the world is the one in the steered frame, turned by the heading.
    t, h = np.linspace(0.1, motion.duration - 0.1, 300), 1e-6
    rates = (motion.sample(t + h)[0] - motion.sample(t - h)[0]) / (2 * h)
    pose, v, _ = motion.sample(t)
    c, s = np.cos(pose[:, 2]), np.sin(pose[:, 2])
    world = np.stack([c * v[:, 0] - s * v[:, 1], s * v[:, 0] + c * v[:, 1], v[:, 2]], axis=-1)
    np.testing.assert_allclose(rates, world, atol=1e-5)
    with pytest.raises(KinetariumError, match="no legs"):
        time_base_path(BasePath(())).sample([0.0])
    with pytest.raises(KinetariumError, match="positive"):
        time_base_path(path, BaseLimits(speed=-1.0))
