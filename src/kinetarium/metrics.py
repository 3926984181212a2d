"""Measures of recordings, and statistics over repeated runs.

CPU cost, tracking errors, moving variance, Pareto front, circle fit; bootstrap intervals of paired
runs and exact shares of failures.
"""

from collections.abc import Callable, Mapping
from math import inf, nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.recording.recording import Recording
from kinetarium.spatial.arrays import Array

LOOP_TIME = "loop_cpu_s"
"""Name under which a study records the CPU time of the simulation loop, control included [s].

Work before and after the loop, such as computing a reference, does not count.
"""


def cost_per_second(timing: Mapping[str, float], recording: Recording | None) -> float:
    """Return the CPU time of the loop per simulated second [s/s]; NaN where nothing was measured.

    Args:
        timing: The times of a run by name [s].
    """
    if recording is None or LOOP_TIME not in timing or len(recording["time"]) < 2:
        return nan
    return timing[LOOP_TIME] / float(recording["time"][-1] - recording["time"][0])


_BLOCK = 256
"""Points that are processed together; bounds the memory."""


def cross_track(points: Array, path: Array) -> Array:
    """Return the distance of each point from the nearest point of a path [m], shape (n,).

    Args:
        points: The points [m], shape (n, d).
        path: Vertices of a polyline along the path [m], shape (m, d), not all the same.
    """
    starts, edges = path[:-1], np.diff(path, axis=0)
    kept = np.einsum("md,md->m", edges, edges) > 0
    starts, edges = starts[kept], edges[kept]
    inverse = 1 / np.einsum("md,md->m", edges, edges)
    nearest = np.empty(len(points))
    for i in range(0, len(points), _BLOCK):
        # Axis by axis, shape (block, m) each: several times faster than one array of vectors.
        away = [
            p[:, np.newaxis] - s for p, s in zip(points[i : i + _BLOCK].T, starts.T, strict=True)
        ]
        share = sum(a * e for a, e in zip(away, edges.T, strict=True)) * inverse
        share = np.clip(share, 0.0, 1.0)
        squared = sum((a - share * e) ** 2 for a, e in zip(away, edges.T, strict=True))
        nearest[i : i + _BLOCK] = np.sqrt(np.asarray(squared).min(axis=1))
    return nearest


def path_curvature(velocities: Array, *, period: float, window: float, slowest: float) -> Array:
    """Return the curvature of a path along the time it was driven [1/m], shape (n - k,).

    The curvature is the rate at which the direction of travel turns, over the speed.
    Velocities are averaged over a window of k samples first, or the noise of single steps
    would dominate.

    Args:
        velocities: Velocities in the plane at equal times [m/s], shape (n, 2).
        period: Time between two of them [s].
        window: Length of the average [s].
        slowest: Speed below which the direction is undefined [m/s]; the curvature is NaN there.
    """
    count = max(1, round(window / period))
    sums = np.cumsum(np.vstack([np.zeros(2), velocities]), axis=0)
    smooth = (sums[count:] - sums[:-count]) / count
    speed = np.linalg.norm(smooth, axis=1)
    direction = np.unwrap(np.arctan2(smooth[:, 1], smooth[:, 0]))
    between = (speed[1:] + speed[:-1]) / 2
    moving = np.minimum(speed[1:], speed[:-1]) >= slowest
    curvature = np.full(len(between), np.nan)
    curvature[moving] = (np.diff(direction) / period)[moving] / between[moving]
    return curvature


def total_variation(values: Array) -> float:
    """Return the sum of all changes from sample to sample; gaps (NaN) are skipped."""
    changes = np.abs(np.diff(values))
    return float(changes[np.isfinite(changes)].sum())


def moving_mean(signal: Array, window: int) -> Array:
    """Return the mean of every window, shape (n - window + 1,); empty if the signal is shorter.

    Args:
        signal: Samples at equal times, shape (n,).
        window: Samples of a window.
    """
    means: Array = _windows(signal, window).mean(axis=1)
    return means


def moving_variance(signal: Array, window: int) -> Array:
    """Return the variance of every window, shape (n - window + 1,), as `moving_mean`."""
    variances: Array = _windows(signal, window).var(axis=1)
    return variances


def mean_moving_variance(signal: Array, window: int, *, disjoint: bool = False) -> float:
    """Return the mean variance of the windows; NaN where the signal is shorter than one.

    Args:
        signal: Samples at equal times, shape (n,).
        window: Samples of a window.
        disjoint: Whether windows follow each other without overlap, instead of sample by sample.
    """
    variances = moving_variance(signal, window)[:: window if disjoint else 1]
    return float(variances.mean()) if variances.size else float("nan")


def _windows(signal: Array, window: int) -> Array:
    if len(signal) < window:
        return np.empty((0, window))
    return np.lib.stride_tricks.sliding_window_view(signal, window)


def pareto_front(costs: Array, errors: Array) -> NDArray[np.intp]:
    """Return the indices of the Pareto front by rising cost, shape (m,).

    Of equal points the first is returned. Points with a NaN are never part of it.

    Args:
        costs: To be minimized, shape (n,).
        errors: To be minimized, shape (n,).
    """
    known = np.flatnonzero(~(np.isnan(costs) | np.isnan(errors)))
    order = known[np.lexsort((errors[known], costs[known]))]
    best = np.minimum.accumulate(errors[order])
    return order[np.diff(best, prepend=np.inf) < 0]


def out_of_round(points: Array) -> float:
    """Return the root mean square distance of points from the circle that fits them best [m].

    The circle minimises the squared error of x^2 + y^2 + a x + b y + c = 0
    (Kasa, "A circle fitting procedure and its error analysis", 1976).

    Args:
        points: At least three points in the plane, not all on a line [m], shape (n, 2).
    """
    middle = points.mean(axis=0)
    x, y = (points - middle).T
    rows = np.column_stack([x, y, np.ones_like(x)])
    a, b, c = np.linalg.lstsq(rows, -(x**2 + y**2), rcond=None)[0]
    radius = np.sqrt(max(0.0, a * a / 4 + b * b / 4 - c))
    return float(np.sqrt(np.mean((np.hypot(x + a / 2, y + b / 2) - radius) ** 2)))


class Interval(NamedTuple):
    """A confidence interval; infinite where nothing is known.

    Attributes:
        low: Its lower end.
        high: Its upper end.
    """

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Return whether a value lies in it, ends included."""
        return self.low <= value <= self.high


UNKNOWN = Interval(-inf, inf)
"""Of a single run: nothing is known about its variation."""
CONFIDENCE = 0.95
"""Confidence of all intervals [-]."""
_REPEATS = 4000
"""Resamples of a bootstrap; the ends of intervals then vary by less than a tenth of their width."""


def bootstrap(
    values: Array, statistic: Callable[[Array], Array], *, seed: int = 0, repeats: int = _REPEATS
) -> Array:
    """Return a statistic of runs that are drawn again with replacement, shape (repeats,).

    The same runs are drawn in all groups, so that results of two calls are paired as long as
    their numbers of runs and their seeds are the same.

    Args:
        values: One group per row, one run per column, shape (groups, runs).
        statistic: From values of shape (groups, repeats, runs) to shape (repeats,).
        seed: Seed of the draws.
        repeats: How often runs are drawn.
    """
    count = values.shape[1]
    drawn = np.random.default_rng(seed).integers(count, size=(repeats, count))
    return np.asarray(statistic(values[:, drawn]))


def bootstrap_interval(draws: Array, runs: int) -> Interval:
    """Return the interval of a statistic from its bootstrap draws.

    The percentiles are expanded for few runs, as bootstrap draws spread too little: instead of
    the tail a/2 that of Phi(-t sqrt(n / (n - 1))), with t the quantile of Student's distribution
    (Hesterberg, "What teachers should know about the bootstrap", The American Statistician 69,
    2015). For the median of five runs this is the range of the runs, which covers the median with
    1 - 2 / 2^5 = 94 %.

    Args:
        draws: The statistic of each draw, shape (repeats,); infinite where it fails.
        runs: The number of runs that were drawn from.
    """
    from scipy.special import ndtr, stdtrit

    if runs < 2:
        return UNKNOWN
    tail = float(ndtr(-stdtrit(runs - 1, (1 + CONFIDENCE) / 2) * sqrt(runs / (runs - 1))))
    # Without interpolation, which is undefined beside infinity.
    low = np.quantile(draws, tail, method="lower")
    high = np.quantile(draws, 1 - tail, method="higher")
    return Interval(float(low), float(high))


def failure_share(failures: int, runs: int) -> Interval:
    """Return the exact interval of the probability of a failure (Clopper and Pearson 1934).

    Args:
        failures: The number of runs that failed.
        runs: The number of all runs; at least one.
    """
    from scipy.special import betaincinv

    tail = (1 - CONFIDENCE) / 2
    low = betaincinv(failures, runs - failures + 1, tail) if failures else 0.0
    high = betaincinv(failures + 1, runs - failures, 1 - tail) if failures < runs else 1.0
    return Interval(float(low), float(high))


def wilson_interval(successes: int, runs: int) -> Interval:
    """Return the 95 % interval of a share of successes (Wilson 1927); [0, 1] without runs.

    It is narrower than the exact one of `failure_share`, whose coverage is larger than stated.
    """
    if not runs:
        return Interval(0.0, 1.0)
    z, share = _NORMAL_QUANTILE, successes / runs
    middle = share + z * z / (2 * runs)
    half = z * sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    total = 1 + z * z / runs
    return Interval(max(0.0, (middle - half) / total), min(1.0, (middle + half) / total))


_NORMAL_QUANTILE = 1.959963984540054
"""Of the normal distribution, for 95 % between both ends."""
