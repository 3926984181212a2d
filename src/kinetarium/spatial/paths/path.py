"""Path: a curve parametrized by arc length."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.errors import KinetariumError
from kinetarium.spatial.arrays import Array, frozen

SHORTEST = 1e-9
"""Sizes and distances between neighbouring points below this count as typing errors [m]."""

FARTHEST = 1e9
"""Sizes and coordinates beyond this count as typing errors [m]."""


class PathError(KinetariumError):
    """A path with invalid parameters, or a quantity that it does not have."""


def checked_size(name: str, value: float) -> float:
    """Check a size [m] and return it as a float.

    Args:
        name: What it is the size of, for the message.
        value: The size [m].

    Raises:
        PathError: If it is not a positive, finite, plausible length.
    """
    if not SHORTEST <= value <= FARTHEST:
        raise PathError(f"{name} is {value} m; it must be between {SHORTEST:g} and {FARTHEST:g} m")
    return float(value)


def checked_points(name: str, points: ArrayLike) -> Array:
    """Check points [m] and return them as a read-only array, shape (n, 2) or (n, 3).

    Args:
        name: What they are the points of, for the message.
        points: At least two points, no two neighbours equal.

    Raises:
        PathError: If they are invalid.
    """
    try:
        array = frozen(points)
    except (TypeError, ValueError, OverflowError):
        raise PathError(f"points of {name} must be rows of two or three numbers") from None
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise PathError(f"points of {name} must have shape (n, 2) or (n, 3), not {array.shape}")
    if len(array) < 2:
        raise PathError(f"{name} needs at least two points, not {len(array)}")
    wild = np.flatnonzero(~(np.abs(array) <= FARTHEST).all(axis=1))
    if wild.size:
        raise PathError(
            f"point {wild[0]} of {name} is {array[wild[0]].tolist()}; "
            f"coordinates must be finite and within {FARTHEST:g} m"
        )
    repeated = np.flatnonzero(np.linalg.norm(np.diff(array, axis=0), axis=1) < SHORTEST)
    if repeated.size:
        raise PathError(f"points {repeated[0]} and {repeated[0] + 1} of {name} are the same")
    return array


class Path(ABC):
    """An immutable curve in the plane or in space, as a function of arc length s.

    All methods take any shape (...) of s [m]. A closed path repeats beyond its length and
    below zero; an open one is clamped to its ends. A corner belongs to the edge that
    leaves it.
    """

    @property
    @abstractmethod
    def length(self) -> float:
        """Length of the path, once round if it is closed [m]."""

    @property
    @abstractmethod
    def closed(self) -> bool:
        """Whether it ends where it starts."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""

    @abstractmethod
    def position(self, s: ArrayLike) -> Array:
        """Return the points at s [m], shape (..., dimension)."""

    @abstractmethod
    def tangent(self, s: ArrayLike) -> Array:
        """Return the unit directions of travel at s, shape (..., dimension)."""

    @abstractmethod
    def curvature(self, s: ArrayLike) -> Array:
        """Return the curvatures at s [1/m], shape (...).

        In the plane positive to the left of travel; in space the magnitude.
        """

    def heading(self, s: ArrayLike) -> Array:
        """Return the angles from x to the direction of travel at s [rad], shape (...).

        They are unwrapped: they jump only at corners, by at most pi, and those
        of a closed path continue from lap to lap.

        Raises:
            PathError: If the path is not planar.
        """
        raise PathError("a path in space has no heading; use its tangent")

    def _laps(self, s: ArrayLike) -> tuple[Array, Array]:
        """Split s into whole laps and the arc length on the path, 0..length [m]."""
        s = np.asarray(s, dtype=np.float64)
        if self.closed:
            return np.divmod(s, self.length)
        return np.zeros_like(s), np.clip(s, 0.0, self.length)


@dataclass(frozen=True, eq=False, init=False)
class PlacedPath(Path):
    """A path moved into space; a planar path is in the plane z = 0 of its own frame P.

    Attributes:
        path: The path, in P.
        X_WP: Pose of P, shape (4, 4), read-only.
    """

    path: Path
    X_WP: Array

    dimension = 3

    def __init__(self, path: Path, X_WP: ArrayLike) -> None:
        """Place a path.

        Args:
            path: A path in the plane or in space.
            X_WP: Pose of its frame, shape (4, 4).

        Raises:
            PathError: If X_WP is not a rigid motion, which would change lengths.
        """
        X = frozen(X_WP)
        if X.shape != (4, 4) or not _rigid(X):
            raise PathError("a path can only be placed by a pose: a rotation and a position")
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "X_WP", X)

    @property
    def length(self) -> float:
        """Length of the path, once round if it is closed [m]."""
        return self.path.length

    @property
    def closed(self) -> bool:
        """Whether it ends where it starts."""
        return self.path.closed

    def position(self, s: ArrayLike) -> Array:
        """Return the points at s [m], shape (..., 3)."""
        return self._turned(self.path.position(s)) + self.X_WP[:3, 3]

    def tangent(self, s: ArrayLike) -> Array:
        """Return the unit directions of travel at s, shape (..., 3)."""
        return self._turned(self.path.tangent(s))

    def curvature(self, s: ArrayLike) -> Array:
        """Return the magnitudes of the curvature at s [1/m], shape (...)."""
        return np.abs(self.path.curvature(s))

    def _turned(self, vectors: Array) -> Array:
        return vectors @ self.X_WP[:3, : self.path.dimension].T


def _rigid(X: Array) -> bool:
    R = X[:3, :3]
    return bool(
        np.abs(X).max() <= FARTHEST
        and np.abs(R @ R.T - np.eye(3)).max() < 1e-9
        and np.linalg.det(R) > 0
        and (X[3] == (0, 0, 0, 1)).all()
    )
