"""Scalar coefficients of the exponential maps of SO(3) and SE(3), accurate at every angle.

All are even functions of the angle t and are written in x = t^2, because a
rotation vector gives x without a square root and each is a power series in x.

Below one radian they are summed as that series, above it they are closed
forms. A closed form divides a difference that vanishes like a power of t by
that power: at one radian the worst of them (cotangent_slope) is still right
to 1e-15 absolute, at 1e-3 none of its digits would be left. At one radian
twelve terms of any of the series reach rounding accuracy.
"""

from collections.abc import Callable
from math import factorial

import numpy as np

from kinetarium.spatial.arrays import Array

SWITCH = 1.0
_TERMS = 12


def sine(x: Array) -> Array:
    """Return sin(t)/t at x = t^2 [rad^2]."""
    return _evaluate(x, SINE, closed_form=_sine)


def versine(x: Array) -> Array:
    """Return (1 - cos(t))/t^2 at x = t^2 [rad^2]."""
    return _evaluate(x, VERSINE, closed_form=_versine)


def remainder(x: Array) -> Array:
    """Return (t - sin(t))/t^3 at x = t^2 [rad^2]."""
    return _evaluate(x, REMAINDER, closed_form=_remainder)


def cotangent(x: Array) -> Array:
    """Return (1 - (t/2) cot(t/2))/t^2 at x = t^2 [rad^2]; unbounded at a full turn."""
    return _evaluate(x, COTANGENT, closed_form=_cotangent)


def versine_slope(x: Array) -> Array:
    """Return (1/t) d versine/dt at x = t^2 [rad^2]."""
    return _evaluate(x, VERSINE_SLOPE, closed_form=lambda x: (_sine(x) - 2 * _versine(x)) / x)


def remainder_slope(x: Array) -> Array:
    """Return (1/t) d remainder/dt at x = t^2 [rad^2]."""
    return _evaluate(
        x, REMAINDER_SLOPE, closed_form=lambda x: (_versine(x) - 3 * _remainder(x)) / x
    )


def cotangent_slope(x: Array) -> Array:
    """Return (1/t) d cotangent/dt at x = t^2 [rad^2]; unbounded at a full turn."""
    return _evaluate(x, COTANGENT_SLOPE, closed_form=_cotangent_slope)


def _evaluate(
    x: Array, series: tuple[float, ...], *, closed_form: Callable[[Array], Array]
) -> Array:
    """Sum the series where x is small and use the closed form elsewhere."""
    small = x < SWITCH
    if small.all():
        return _sum(series, x)
    if not small.any():
        return closed_form(x)
    values = np.empty_like(x)
    values[small] = _sum(series, x[small])
    values[~small] = closed_form(x[~small])
    return values


def _sum(series: tuple[float, ...], x: Array) -> Array:
    value = series[-1] * x
    for coefficient in series[-2:0:-1]:
        value = (value + coefficient) * x
    return value + series[0]


def _sine(x: Array) -> Array:
    t = np.sqrt(x)
    return np.sin(t) / t


def _versine(x: Array) -> Array:
    # The half angle keeps the digits of 1 - cos(t) near a full turn.
    return 2 * np.sin(np.sqrt(x) / 2) ** 2 / x


def _remainder(x: Array) -> Array:
    t = np.sqrt(x)
    return (t - np.sin(t)) / (t * x)


def _cotangent(x: Array) -> Array:
    half = np.sqrt(x) / 2
    return (1 - half / np.tan(half)) / x


def _cotangent_slope(x: Array) -> Array:
    half = np.sqrt(x) / 2
    return ((half / np.sin(half)) ** 2 + half / np.tan(half) - 2) / x**2


def _factorial_series(first: int) -> tuple[float, ...]:
    """Expand the sum of (-x)^k/(2k + first)!."""
    return tuple((-1) ** k / factorial(2 * k + first) for k in range(_TERMS))


def _cotangent_series() -> tuple[float, ...]:
    """Expand (1 - g)/x with g = (t/2) cot(t/2), which solves 2 x dg/dx = g - g^2 - x/4.

    All terms of the recurrence are positive, so it loses no digits.
    """
    series = [1 / 12]
    for k in range(2, _TERMS + 1):
        products = sum(a * b for a, b in zip(series, reversed(series), strict=True))
        series.append(products / (2 * k + 1))
    return tuple(series)


def _slope(series: tuple[float, ...]) -> tuple[float, ...]:
    """Differentiate a series in x: (1/t) d/dt = 2 d/dx."""
    return tuple(2 * k * coefficient for k, coefficient in enumerate(series))[1:]


SINE = _factorial_series(1)
VERSINE = _factorial_series(2)
REMAINDER = _factorial_series(3)
COTANGENT = _cotangent_series()
VERSINE_SLOPE = _slope(VERSINE)
REMAINDER_SLOPE = _slope(REMAINDER)
COTANGENT_SLOPE = _slope(COTANGENT)
