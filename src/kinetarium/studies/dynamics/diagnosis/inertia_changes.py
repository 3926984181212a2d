"""The ways in which a link's mass properties may have changed, fitted one by one."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import permutations

import numpy as np

from kinetarium.model.robot import Inertia
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.studies.dynamics.diagnosis.suspect import gauss_newton

_STARTS = (np.zeros(3), *(np.pi / 2 * np.eye(3)))
"""Rotation vectors from which a turned inertia is looked for [rad]."""


def inertia_changes(
    given: Inertia, left_by: Callable[[Inertia | None], Array]
) -> Iterator[tuple[int, Inertia | None]]:
    """Give the number of fitted parameters, and the inertia, for each way it might have changed.

    Args:
        given: The inertia as it should be.
        left_by: Gives what a changed inertia leaves of a difference, any shape.
    """
    moment = given.moment
    diagonal = np.diag(moment)
    products = moment - np.diag(diagonal)
    yield 0, None
    yield 0, replace(given, moment=frozen(moment - 2 * products))
    for order in list(permutations(range(3)))[1:]:
        P = np.eye(3)[list(order)]
        yield 0, replace(given, moment=frozen(P @ moment @ P.T))
        yield 0, replace(given, moment=frozen(np.diag(diagonal[list(order)]) + products))
    for mass, spread in ((1.0, 0.0), (1.0, 1.0), (0.0, 1.0)):

        def grown(x: Array, mass: float = mass, spread: float = spread) -> Inertia:
            by = float(x[0])
            heavy, wide = 1 + mass * by, frozen((1 + spread * by) * moment)
            return Inertia(heavy * given.mass, given.center, wide)

        yield 1, _fitted(grown, left_by, np.zeros(1))
    yield (
        3,
        _fitted(lambda x: replace(given, center=frozen(given.center + x)), left_by, np.zeros(3)),
    )
    for start in _STARTS:
        yield 3, _fitted(lambda x: replace(given, moment=_turned(moment, x)), left_by, start)
    yield 6, _fitted(lambda x: replace(given, moment=_added(moment, x)), left_by, np.zeros(6))


def _fitted(
    changed: Callable[[Array], Inertia], left_by: Callable[[Inertia | None], Array], start: Array
) -> Inertia:
    x, _ = gauss_newton(lambda x: left_by(changed(x)), start, step=1e-6)
    return changed(x)


def _turned(moment: Array, turn: Array) -> Array:
    R = so3.exp(turn)
    return frozen(R @ moment @ R.T)


def _added(moment: Array, x: Array) -> Array:
    upper = np.zeros((3, 3))
    upper[np.triu_indices(3)] = np.abs(moment).max() * x
    return frozen(moment + upper + np.triu(upper, 1).T)
