"""Statistics over repeated runs, compared with closed forms and with their nominal coverage."""

from math import comb, inf, sqrt
from statistics import NormalDist

import numpy as np
import pytest

from kinetarium.metrics import (
    CONFIDENCE,
    UNKNOWN,
    Interval,
    bootstrap,
    bootstrap_interval,
    failure_share,
    wilson_interval,
)
from kinetarium.spatial.arrays import Array


def mean(values: Array) -> Array:
    return np.asarray(values.mean(axis=2)[0])


def median(values: Array) -> Array:
    return np.asarray(np.median(values, axis=2)[0])


def interval(values: Array, *, seed: int = 0, repeats: int = 4000) -> Interval:
    draws = bootstrap(values[np.newaxis], mean, seed=seed, repeats=repeats)
    return bootstrap_interval(draws, len(values))


def test_the_interval_of_a_mean_of_many_runs_is_that_of_the_normal_distribution() -> None:
    values = np.random.default_rng(1).normal(3.0, 2.0, 400)
    found = interval(values)
    half = 1.96 * values.std() / sqrt(len(values))
    assert found.low == pytest.approx(values.mean() - half, abs=0.1 * half)
    assert found.high == pytest.approx(values.mean() + half, abs=0.1 * half)


@pytest.mark.parametrize("runs", [5, 10])
def test_the_interval_of_few_runs_covers_the_mean_as_often_as_it_says(runs: int) -> None:
    rng, trials = np.random.default_rng(2), 600
    covered = sum(
        interval(rng.normal(size=runs), seed=trial, repeats=1000).holds(0.0)
        for trial in range(trials)
    )
    # Plain percentiles of five runs cover 84 %.
    assert 0.90 < covered / trials < 0.98


def test_the_interval_of_a_median_of_five_is_their_range() -> None:
    values = np.array([[5.0, 1.0, 4.0, 2.0, 3.0]])
    assert bootstrap_interval(bootstrap(values, median), 5) == (1.0, 5.0)


def test_pairs_cancel_what_two_groups_have_in_common() -> None:
    rng = np.random.default_rng(3)
    shared = rng.normal(0.0, 10.0, 8)
    one, other = shared + rng.normal(0.0, 0.1, 8), shared + 1.0 + rng.normal(0.0, 0.1, 8)
    draws = [bootstrap(values[np.newaxis], mean) for values in (one, other)]
    alone = [bootstrap_interval(each, 8) for each in draws]
    assert alone[0].high > alone[1].low
    assert bootstrap_interval(draws[1] - draws[0], 8).low > 0.5


def test_a_failure_among_the_runs_has_no_upper_end() -> None:
    draws = bootstrap(np.array([[1.0, 2.0, inf, 3.0, 4.0]]), median)
    assert bootstrap_interval(draws, 5) == (1.0, inf)


def test_one_run_has_no_interval() -> None:
    assert bootstrap_interval(bootstrap(np.array([[1.0]]), median), 1) == UNKNOWN


def test_draws_depend_on_the_seed_alone() -> None:
    values = np.random.default_rng(4).normal(size=(1, 9))
    assert np.array_equal(bootstrap(values, mean, seed=5), bootstrap(values, mean, seed=5))
    assert not np.array_equal(bootstrap(values, mean, seed=5), bootstrap(values, mean, seed=6))


def test_the_share_of_failures_is_exact() -> None:
    tail = (1 - CONFIDENCE) / 2
    for failures, runs in ((0, 15), (1, 15), (7, 15), (15, 15)):
        found = failure_share(failures, runs)
        if failures < runs:  # so few or fewer have the probability of the tail at the upper end
            chance = sum(
                comb(runs, k) * found.high**k * (1 - found.high) ** (runs - k)
                for k in range(failures + 1)
            )
            assert chance == pytest.approx(tail, rel=1e-6)
        if failures > 0:
            chance = sum(
                comb(runs, k) * found.low**k * (1 - found.low) ** (runs - k)
                for k in range(failures, runs + 1)
            )
            assert chance == pytest.approx(tail, rel=1e-6)
    assert failure_share(0, 15).low == 0.0
    assert failure_share(0, 15).high == pytest.approx(1 - tail ** (1 / 15))
    assert failure_share(15, 15).high == 1.0


def test_wilsons_interval_solves_the_equation_of_the_normal_approximation() -> None:
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    for successes, runs in ((0, 20), (19, 20), (50, 100), (20, 20)):
        for end in wilson_interval(successes, runs):
            deviation = z * (end * (1 - end) / runs) ** 0.5
            assert abs(successes / runs - end) == pytest.approx(deviation, abs=1e-9)
    assert wilson_interval(0, 0) == (0.0, 1.0)
