"""The Pareto front, and the figure that draws it."""

import numpy as np

from kinetarium.figure.charts import Axis
from kinetarium.figure.sweep import FRONT, Trial, speed_accuracy
from kinetarium.metrics import pareto_front


def test_nothing_on_the_front_is_beaten_and_everything_else_is() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        cost, error = rng.integers(0, 8, (2, 20)).astype(float)
        front = pareto_front(cost, error)
        assert (np.diff(cost[front]) > 0).all() and (np.diff(error[front]) < 0).all()
        for k in range(20):
            no_worse = (cost[front] <= cost[k]) & (error[front] <= error[k])
            assert no_worse.any()
            if k in front:
                assert no_worse.sum() == 1


def test_what_is_not_known_is_not_on_the_front() -> None:
    cost, error = np.array([1.0, np.nan, 2.0]), np.array([np.nan, 0.0, 5.0])
    assert list(pareto_front(cost, error)) == [2]
    assert len(pareto_front(np.empty(0), np.empty(0))) == 0


def test_the_front_is_joined_and_the_rest_stands_alone() -> None:
    trials = [Trial("a", 1, 9), Trial("a", 2, 9.5), Trial("a", 3, 1), Trial("b", 2, 5)]
    figure = speed_accuracy("", trials, error=Axis("error"))
    a, b, best = figure.series
    np.testing.assert_array_equal(a.y, [9, 1, np.nan, 9.5])
    np.testing.assert_array_equal(a.x[[0, 1, 3]], [1, 3, 2])
    assert list(b.y) == [5]
    assert best.name == FRONT
    assert list(best.x) == [1, 2, 3] and list(best.y) == [9, 5, 1]
