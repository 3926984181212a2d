"""Moving mean and variance against closed forms."""

import numpy as np
import pytest

from kinetarium.metrics import mean_moving_variance, moving_mean, moving_variance


def test_a_constant_does_not_vary() -> None:
    signal = np.full(60, 3.0)
    assert np.array_equal(moving_mean(signal, 50), np.full(11, 3.0))
    assert mean_moving_variance(signal, 50) == 0.0


def test_a_ramp_varies_by_its_slope() -> None:
    """The variance of n equal steps of size h is h^2 (n^2 - 1) / 12."""
    ramp = 0.2 * np.arange(100.0)
    np.testing.assert_allclose(moving_variance(ramp, 10), 0.04 * 99 / 12)
    assert mean_moving_variance(ramp, 10, disjoint=True) == pytest.approx(0.04 * 99 / 12)


def test_windows_overlap_or_follow_each_other() -> None:
    spike = np.zeros(8)
    spike[3] = 4.0
    one = 4.0**2 * (1 / 4 - 1 / 16)
    assert mean_moving_variance(spike, 4) == pytest.approx(one * 4 / 5)
    assert mean_moving_variance(spike, 4, disjoint=True) == pytest.approx(one / 2)


def test_a_short_signal_has_no_window() -> None:
    assert moving_variance(np.zeros(3), 4).size == 0
    assert np.isnan(mean_moving_variance(np.zeros(3), 4))
