"""pydrake, the parts of it that are used, kept from writing to the terminal."""

import locale
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

from kinetarium.model.robot import Inertia
from kinetarium.spatial.arrays import Array

_UTF8_LOCALES = ("C.UTF-8", "C.utf8", "en_US.UTF-8", "UTF-8")
"""Names under which systems have UTF-8; every one has at least one of them."""


@contextmanager
def _reading_utf8() -> Iterator[None]:
    """Make UTF-8 the encoding of files for a moment.

    A part of pydrake's own sources, which are UTF-8, is read in the locale's encoding; where
    that is ASCII, as with LC_ALL=C, pydrake would not load.
    """
    before = locale.setlocale(locale.LC_CTYPE)
    for name in _UTF8_LOCALES if locale.getencoding().lower() != "utf-8" else ():
        with suppress(locale.Error):
            locale.setlocale(locale.LC_CTYPE, name)
            break
    try:
        yield
    finally:
        locale.setlocale(locale.LC_CTYPE, before)


with _reading_utf8():
    framework: Any = import_module("pydrake.systems.framework")
    geometry: Any = import_module("pydrake.geometry")
    math: Any = import_module("pydrake.math")
    plants: Any = import_module("pydrake.multibody.plant")
    spatial: Any = import_module("pydrake.multibody.math")
    trees: Any = import_module("pydrake.multibody.tree")

logging.getLogger("drake").setLevel(logging.ERROR)  # its warnings are about other uses


def drake_pose(X: Array) -> Any:
    """Return a homogeneous transform, shape (4, 4), as Drake's own.

    Products of rotations that have lost a few digits are made orthonormal again.
    """
    return math.RigidTransform(math.RotationMatrix.ProjectToRotationMatrix(X[:3, :3]), X[:3, 3])


def drake_inertia(inertia: Inertia | None) -> Any:
    """Return mass properties as Drake's own; none for a massless frame."""
    if inertia is None:
        return trees.SpatialInertia.Zero()
    I = inertia.moment  # noqa: E741
    return trees.SpatialInertia.MakeFromCentralInertia(
        inertia.mass,
        inertia.center,
        trees.RotationalInertia(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]),
    )
