"""Where the vertices of a mesh asset go: shifted, turned, then scaled, as MuJoCo does it."""

from dataclasses import dataclass

import numpy as np

from kinetarium.model.shapes import TriangleMesh
from kinetarium.model.triangles import read_only_mesh
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class MeshPlacement:
    """What refpos, refquat and scale of a mesh asset do to its vertices.

    A vertex v goes to S R' (v - p): the scale acts last, along the axes of the
    geom and not along those of the mesh.

    Attributes:
        position: The point p of the mesh that becomes the origin [m], shape (3,).
        R: The orientation in the mesh that becomes the geom's own, shape (3, 3).
        scale: The diagonal of S, shape (3,).
    """

    position: Array
    R: Array
    scale: Array

    def as_scale_and_pose(self) -> tuple[tuple[float, float, float], Array] | None:
        """Compute the same as a scale along the axes of the mesh and a pose after it.

        S R' = R' D with D = R S R', which is a scale if it is diagonal: if all factors are
        alike or the axes stay parallel to those of the mesh.

        Returns:
            The factors and the pose X_GM, shape (4, 4); None where the mesh is sheared.
        """
        D = self.R @ np.diag(self.scale) @ self.R.T
        x, y, z = np.diag(D)
        if np.abs(D - np.diag([x, y, z])).max() > _ROUNDING * np.abs(self.scale).max():
            return None
        X_GM = pose(-self.R.T @ D @ self.position, self.R.T)
        return (float(x), float(y), float(z)), frozen(X_GM)

    def placed(self, points: Array) -> Array:
        """Compute where points of the mesh go [m], shape (n, 3)."""
        return np.asarray((points - self.position) @ self.R * self.scale)

    def applied(self, mesh: TriangleMesh) -> TriangleMesh:
        """Compute the placed mesh; a mirrored one is turned so as to face outwards."""
        faces = mesh.faces[:, ::-1] if np.prod(self.scale) < 0 else mesh.faces
        return read_only_mesh(self.placed(mesh.vertices), faces)
