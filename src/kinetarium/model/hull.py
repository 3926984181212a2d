"""The convex hull of points: the faces of meshes that are written without any.

Quickhull (Barber, Dobkin, Huhdanpaa, "The quickhull algorithm for convex
hulls", 1996): the farthest point above a face replaces all faces it sees.
"""

import numpy as np
from numpy.typing import NDArray

from kinetarium.model.triangles import BrokenMeshError
from kinetarium.spatial.arrays import Array

MOST_CORNERS = 5_000
"""A hull with more corners than this has been written with its faces by any program."""
MOST_POINTS = 300_000
_FLATNESS = 1e-10
"""Points closer to a face than this share of their extent lie on it."""
_TOO_CLOSE = "its points are too close to each other for a hull"


def convex_hull(points: Array) -> NDArray[np.int64]:
    """Give the triangles, shape (m, 3), of the convex hull of points, facing outwards.

    Args:
        points: The points, shape (n, 3).

    Raises:
        BrokenMeshError: If the points are too many or lie in a plane, or too many
            are corners of the hull.
    """
    if len(points) > MOST_POINTS:
        raise BrokenMeshError(f"a hull of more than {MOST_POINTS:,} points takes too long")
    hull = _Hull(points)
    for _ in range(MOST_CORNERS):
        if not hull.grow():
            return hull.closed_faces()
    raise BrokenMeshError(f"its hull has more than {MOST_CORNERS} corners; write its faces")


class _Hull:
    """A growing hull: faces, their planes, and above each the points still outside."""

    def __init__(self, points: Array) -> None:
        self._points = points
        self._least = _FLATNESS * float(np.ptp(points, axis=0).max(initial=0.0))
        corners = self._tetrahedron()
        self._faces = np.zeros((0, 3), dtype=np.int64)
        self._normals = np.zeros((0, 3))
        self._offsets = np.zeros(0)
        self._above: dict[int, NDArray[np.int64]] = {}
        center = points[corners].mean(axis=0)
        faces = np.array([np.delete(corners, i) for i in range(4)])
        edges = points[faces[:, 1:]] - points[faces[:, :1]]
        inwards = np.einsum(
            "ij,ij->i", np.cross(edges[:, 0], edges[:, 1]), points[faces[:, 0]] - center
        ) < 0  # fmt: skip
        faces[inwards] = faces[inwards, ::-1]
        self._add(faces, np.arange(len(points)))

    def _tetrahedron(self) -> NDArray[np.int64]:
        """Pick four points far apart to begin with."""
        points = self._points
        axis = int(np.argmax(np.ptp(points, axis=0)))
        a, b = int(np.argmin(points[:, axis])), int(np.argmax(points[:, axis]))
        from_line = np.linalg.norm(np.cross(points - points[a], points[b] - points[a]), axis=1)
        c = int(np.argmax(from_line))
        normal = np.cross(points[b] - points[a], points[c] - points[a])
        length = float(np.linalg.norm(normal))
        heights = np.abs((points - points[a]) @ normal)
        d = int(np.argmax(heights))
        if length == 0 or heights[d] / length <= max(self._least, 0.0):
            raise BrokenMeshError("its points lie in a plane, so that they enclose nothing")
        return np.array([a, b, c, d])

    def _add(self, faces: NDArray[np.int64], candidates: NDArray[np.int64]) -> None:
        """Add faces, and give each candidate point to the face it is farthest above."""
        a, b, c = (self._points[faces[:, i]] for i in range(3))
        normals = np.cross(b - a, c - a)
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
        offsets = np.einsum("ij,ij->i", normals, a)
        heights = self._points[candidates] @ normals.T - offsets
        highest = np.argmax(heights, axis=1)
        outside = heights[np.arange(len(candidates)), highest] > self._least
        first = len(self._faces)
        self._faces = np.concatenate([self._faces, faces])
        self._normals = np.concatenate([self._normals, normals])
        self._offsets = np.concatenate([self._offsets, offsets])
        for i in range(len(faces)):
            above = candidates[outside & (highest == i)]
            if len(above):
                self._above[first + i] = above

    def grow(self) -> bool:
        """Take in one more corner; tell whether there was one."""
        if not self._above:
            return False
        chosen = next(iter(self._above))
        heights = self._points[self._above[chosen]] @ self._normals[chosen]
        corner = int(self._above[chosen][np.argmax(heights)])
        # A face that is gone has an infinite offset, so that no point sees it.
        seen = self._normals @ self._points[corner] - self._offsets > self._least
        seen[chosen] = True
        gone = np.flatnonzero(seen)
        edges = self._faces[gone][:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2).tolist()
        inner = {(b, a) for a, b in edges}
        horizon = [(a, b, corner) for a, b in edges if (a, b) not in inner]
        if not horizon:
            raise BrokenMeshError(_TOO_CLOSE)
        above = [self._above.pop(i) for i in gone.tolist() if i in self._above]
        candidates = np.concatenate(above)
        self._offsets[gone] = np.inf
        faces = np.array(horizon, dtype=np.int64).reshape(-1, 3)
        self._add(faces, candidates[candidates != corner])
        return True

    def closed_faces(self) -> NDArray[np.int64]:
        """Give the faces, after a check that each edge is shared by two of them."""
        faces = self._faces[np.isfinite(self._offsets)]
        edges = faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
        forth, back = {(a, b) for a, b in edges.tolist()}, {(b, a) for a, b in edges.tolist()}
        if forth != back or len(forth) != len(edges):
            raise BrokenMeshError(_TOO_CLOSE)
        return faces
