"""The ideal reference: a rigid grasp under the same control, without an engine."""

import numpy as np
import pytest

from kinetarium.metrics import mean_moving_variance
from kinetarium.studies.grasp.config import ToolPath
from kinetarium.studies.grasp.ideal import Ideal, ideal
from kinetarium.studies.grasp.profiles import JointControl


def _ideal(path: ToolPath, duration: float, control: JointControl = JointControl.LAW) -> Ideal:
    return ideal(path, duration=duration, timestep=1e-3, control=control, armature=0.0, lifted=True)


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
