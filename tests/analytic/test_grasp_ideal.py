"""The ideal reference: a rigid grasp under the same control, without an engine."""

from dataclasses import replace

import numpy as np
import pytest

from kinetarium.engines.mujoco.options import MujocoOptions
from kinetarium.metrics import mean_moving_variance
from kinetarium.studies.grasp.config import Case, Closing, Profile, ToolPath
from kinetarium.studies.grasp.ideal import Ideal, ideal, least_grip
from kinetarium.studies.grasp.profiles import JointControl, Setting
from kinetarium.studies.grasp.task import task


def _case(path: ToolPath, duration: float) -> Case:
    return Case(
        engine="", path=path, profile=Profile.MATCHED, start=0, duration=duration, timestep=1e-3,
        iterations=0, friction=0.8, seed=0,
    )  # fmt: skip


def _ideal(path: ToolPath, duration: float, control: JointControl = JointControl.LAW) -> Ideal:
    case = _case(path, duration)
    return ideal(case, Setting(MujocoOptions(), control, "", lifted=True))


@pytest.mark.parametrize("control", list(JointControl))
def test_a_still_hand_presses_evenly(control: JointControl) -> None:
    best = _ideal(ToolPath.STILL, 0.2, control)
    np.testing.assert_allclose(best.force, 100.0, atol=1e-6)
    np.testing.assert_allclose(best.error, 0.0, atol=1e-9)


def test_the_pads_share_what_accelerates_the_cube() -> None:
    """Where the model is right, the cube follows across the pads like one oscillator."""
    best = _ideal(ToolPath.CIRCLE, 0.05)
    h, speed, y, v = 1e-3, 0.1 * 2 * np.pi / 8, 0.0, 0.0
    a = []
    for k in range(50):
        a.append(50.0**2 * (speed * k * h - y) + 2 * 50.0 * (speed - v))
        v += h * a[-1]
        y += h * v
    np.testing.assert_allclose(best.force[:, 0] - 100.0, 0.5 * np.array(a[9::10]), atol=2e-3)
    np.testing.assert_allclose(best.force.sum(axis=1), 200.0, atol=1e-3)


def test_the_least_grip_is_that_of_coulomb() -> None:
    """Across the pads friction carries the weight; along them a pad must."""
    level = np.array([[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]])
    assert least_grip(level, friction=0.8, mass=1.0) == pytest.approx(9.81 / 1.6, rel=2e-3)
    upright = np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]])
    assert least_grip(upright, friction=0.8, mass=1.0) == pytest.approx(9.81 / 2)
    # Pads that are inclined by 0.3 rad and open downwards: m g = 2 N (mu cos - sin).
    s, c = np.sin(0.3), np.cos(0.3)
    wedge = np.array([[0.0, -c, -s], [0.0, c, -s]])
    needed = 9.81 / (2 * (0.8 * c - s))
    assert least_grip(wedge, friction=0.8, mass=1.0) == pytest.approx(needed, rel=2e-3)
    steep = np.array([[0.0, -0.5, -0.9], [0.0, 0.5, -0.9]])
    assert least_grip(steep, friction=0.1, mass=1.0) is None


def test_the_least_friction_is_that_of_the_object_and_its_grip() -> None:
    """At rest mu = m g / (2 F); along a circle in the plane of gravity and axis m (g + v^2/r)."""
    still = _case(ToolPath.STILL, 0.1)
    chosen = Setting(MujocoOptions(), JointControl.LAW, "", lifted=True)
    for mass, force in ((1.0, 100.0), (0.5, 20.0), (2.0, 60.0)):
        case = replace(still, mass=mass, force=force)
        expected = mass * 9.81 / (2 * force)
        assert ideal(case, chosen).friction == pytest.approx(expected, rel=1e-6)
    # At the lowest point of the circle, where it sets off, the path adds its v^2 / r.
    fast = replace(_case(ToolPath.CIRCLE, 1.0), speed=0.2, ramp=False)
    upwards = ideal(fast, chosen)
    assert upwards.friction == pytest.approx((9.81 + 0.2**2 / 0.1) / 200, rel=5e-3)


def test_with_the_axis_upright_the_fingers_differ_by_the_weight() -> None:
    case = replace(_case(ToolPath.STILL, 0.1), closing=Closing.UPRIGHT)
    holder = task(case).holder
    assert abs(holder.grip_frame(holder.home)[2, 1]) == pytest.approx(1.0, abs=1e-6)
    best = ideal(case, Setting(MujocoOptions(), JointControl.LAW, "", lifted=True))
    assert abs(np.diff(best.force, axis=1)) == pytest.approx(9.81, rel=1e-5)
    assert best.force.sum(axis=1) == pytest.approx(200.0, rel=1e-5)
    assert best.friction < 1e-3  # which carries nothing


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "variance", "rmse"),
    [
        (ToolPath.CIRCLE, 1.296e-4, 0.042e-3),
        (ToolPath.SQUARE, 2.533e-2, 0.119e-3),
        (ToolPath.EIGHT, 2.151e-4, 0.061e-3),
    ],
)
def test_known_values(path: ToolPath, variance: float, rmse: float) -> None:
    best = _ideal(path, 8.0)
    for pad in best.force.T:
        assert mean_moving_variance(pad, 50) == pytest.approx(variance, rel=1e-3)
    assert np.sqrt(np.mean(best.error**2)) == pytest.approx(rmse, abs=0.5e-6)
