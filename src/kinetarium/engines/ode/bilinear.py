"""Many bilinear forms of the same numbers in five array operations."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from kinetarium.spatial.arrays import Array


class Term(NamedTuple):
    """A factor times two numbers of an array, which are given by their indices."""

    factor: float
    first: int
    second: int


class BilinearForms:
    """Sums of products of two numbers.

    All that is read from the bodies, angles, ways and speeds, is of this kind.
    With a dozen joints NumPy spends its time on calls, not on numbers, so that
    it pays to compute all forms at once.
    """

    def __init__(self, forms: Iterable[Sequence[Term]]) -> None:
        """Take the terms of each form."""
        forms = list(forms)
        terms = [term for form in forms for term in form]
        self._first = np.array([term.first for term in terms], dtype=np.intp)
        self._second = np.array([term.second for term in terms], dtype=np.intp)
        self._factors = np.array([term.factor for term in terms])
        lengths = [len(form) for form in forms]
        self._starts = np.cumsum([0, *lengths])[:-1]
        assert all(lengths), "a form without terms would take its neighbour's"

    def __call__(self, numbers: Array) -> Array:
        """Give the value of each form."""
        products = numbers.take(self._first) * numbers.take(self._second)
        products *= self._factors
        return np.add.reduceat(products, self._starts)
