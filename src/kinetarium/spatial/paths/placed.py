"""PlacedPath: a path put somewhere in space."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.paths.error import FARTHEST, PathError
from kinetarium.spatial.paths.path import Path


@dataclass(frozen=True, eq=False, init=False)
class PlacedPath(Path):
    """A path moved into space; a planar path lies in the plane z = 0 of its own frame P.

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
        """Give the points at s [m], shape (..., 3)."""
        return self._turned(self.path.position(s)) + self.X_WP[:3, 3]

    def tangent(self, s: ArrayLike) -> Array:
        """Give the unit directions of travel at s, shape (..., 3)."""
        return self._turned(self.path.tangent(s))

    def curvature(self, s: ArrayLike) -> Array:
        """Give the magnitudes of the curvature at s [1/m], shape (...)."""
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
