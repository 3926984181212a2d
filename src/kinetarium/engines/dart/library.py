"""dartpy, kept from writing to the terminal, and poses in its terms."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.model.robot import Inertia

_dartpy: Any = import_module("dartpy")

constraint: Any = _dartpy.constraint
dynamics: Any = _dartpy.dynamics
simulation: Any = _dartpy.simulation


@contextmanager
def quiet() -> Iterator[None]:
    """Send to nowhere what DART writes to the error stream: it warns of massless links."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    kept = None
    try:
        with suppress(OSError):  # a closed stream needs no silencing
            kept = os.dup(2)
            os.dup2(nowhere, 2)
        yield
    finally:
        if kept is not None:
            os.dup2(kept, 2)
            os.close(kept)
        os.close(nowhere)


def isometry(X: ArrayLike) -> Any:
    """Return a pose, shape (4, 4), as DART has it."""
    return _dartpy.math.Isometry3(np.array(X, dtype=np.float64))


def inertia_of(inertia: Inertia | None, *, about: ArrayLike = (0.0, 0.0, 0.0)) -> Any:
    """Return mass properties as DART has them; zero if there are none.

    Args:
        inertia: Mass properties in the frame of a link.
        about: Origin of the frame they are wanted in, which has the same axes [m], shape (3,).
    """
    if inertia is None:
        return dynamics.Inertia(0.0, np.zeros(3), np.zeros((3, 3)))
    return dynamics.Inertia(inertia.mass, inertia.center - np.asarray(about), inertia.moment)
