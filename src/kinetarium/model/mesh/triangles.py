"""The common base of the mesh readers: numbers from text, checked triangles, convex hulls."""

import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetarium.model.robot import TriangleMesh
from kinetarium.spatial.arrays import Array

MOST_TRIANGLES = 1_000_000
MOST_LINES = 1_500_000
"""Lines of a text format; the largest valid file has fewer, unless they are padding."""
MOST_COORDINATE = 1e9
"""Coordinates beyond this are taken for errors in the file [m]."""

_WHOLE = re.compile(rb"[-+0-9\s]*+")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class BrokenMeshError(Exception):
    """An invalid mesh file; the loader turns it into a refusal.

    Attributes:
        remedy: What to do about it.
    """

    def __init__(
        self, reason: str, *, line: int | None = None, remedy: str = "export the mesh again"
    ) -> None:
        """Keep the reason and, for text formats, the line in the mesh file."""
        super().__init__(f"{reason} at its line {line}" if line else reason)
        self.remedy = remedy


def triangle_mesh(vertices: ArrayLike, faces: NDArray[np.integer[Any]]) -> TriangleMesh:
    """Check triangles, merge equal vertices and drop those that no triangle uses.

    Args:
        vertices: Corner points [m], shape (n, 3).
        faces: Indices of the corners, shape (m, 3).

    Raises:
        BrokenMeshError: If there are no triangles or too many, none of them has an area,
            or a corner is missing, not finite or too far away.
    """
    points = np.asarray(vertices)
    if len(faces) == 0:
        raise BrokenMeshError("it has no triangles")
    if len(faces) > MOST_TRIANGLES:
        raise BrokenMeshError(f"it has more than {MOST_TRIANGLES:,} triangles")
    if faces.min() < 0 or faces.max() >= len(points):
        raise BrokenMeshError(f"a triangle has an index outside its {len(points)} vertices")
    used = np.zeros(len(points), dtype=bool)
    used[faces] = True
    points, compact = points[used], np.cumsum(used) - 1
    if not (np.abs(points) <= MOST_COORDINATE).all():
        raise BrokenMeshError("a corner is not finite or farther away than 1e9")
    points, merged = _distinct(points)
    mesh = read_only_mesh(points, merged[compact][faces])
    if not _has_area(mesh):
        raise BrokenMeshError("all of its triangles have zero area")
    return mesh


def _distinct(points: NDArray[Any]) -> tuple[Array, NDArray[np.intp]]:
    """Return the distinct points in ascending order, and for each point its index among them."""
    place = np.zeros(len(points), dtype=np.intp)
    for column in points.T:
        values, rank = np.unique(column, return_inverse=True)
        _, place = np.unique(place * len(values) + rank, return_inverse=True)
    distinct = np.empty((int(place.max()) + 1, 3))
    distinct[place] = points
    distinct += 0.0  # -0 becomes 0
    return distinct, place


def _has_area(mesh: TriangleMesh, *, step: int = 10_000) -> bool:
    """Return whether any triangle has an area, checked in blocks: the first nearly always has."""
    for start in range(0, len(mesh.faces), step):
        a, b, c = mesh.vertices[mesh.faces[start : start + step]].transpose(1, 0, 2)
        if np.cross(b - a, c - a).any():
            return True
    return False


def read_only_mesh(vertices: Array, faces: NDArray[np.integer[Any]]) -> TriangleMesh:
    """Return a mesh of an array that nobody else writes to and a copy of the faces."""
    indices = np.array(faces, dtype=np.int32, order="C")
    vertices.setflags(write=False)
    indices.setflags(write=False)
    return TriangleMesh(vertices, indices)


def fan_triangles(corners: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Split polygons into triangles that share each polygon's first corner.

    Args:
        corners: The corners of all polygons, one polygon after the other.
        sizes: How many corners each polygon has; those with fewer than three are dropped.

    Returns:
        The triangles, shape (m, 3).

    Raises:
        BrokenMeshError: If there would be too many.
    """
    counts = np.maximum(sizes - 2, 0)
    total = int(counts.sum())
    if total > MOST_TRIANGLES:
        raise BrokenMeshError(f"it has more than {MOST_TRIANGLES:,} triangles")
    starts = np.repeat(np.cumsum(sizes) - sizes, counts)
    second = starts + 1 + np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    triangles: NDArray[np.int64] = corners[np.column_stack([starts, second, second + 1])]
    return triangles


def decimal_numbers(text: str | bytes, *, kind: type = np.float64) -> NDArray[Any]:
    """Read decimal numbers separated by white space; too large integers are clipped.

    Args:
        kind: The type of the numbers, float64 or int64.

    Raises:
        BrokenMeshError: If anything else is between them.
    """
    text = (text.encode() if isinstance(text, str) else text).strip()
    if not text:
        return np.zeros(0, dtype=kind)
    if kind is np.float64 and _WHOLE.fullmatch(text):
        # Eight times as fast, so that the densest text does not take longest.
        return decimal_numbers(text, kind=np.int64).astype(np.float64)
    with warnings.catch_warnings():
        # Older releases of NumPy warn where newer ones raise.
        warnings.simplefilter("error", DeprecationWarning)
        try:
            return np.fromstring(text, dtype=kind, sep=" ")
        except (ValueError, DeprecationWarning):
            raise BrokenMeshError("it contains something that is not a number") from None


def points_on_lines(pattern: re.Pattern[bytes], data: bytes) -> Array:
    """Read a point from each line of a text format that a pattern finds.

    Args:
        pattern: Matches a line; its first group is the three coordinates.
        data: The whole file.

    Returns:
        The points [m], shape (n, 3).

    Raises:
        BrokenMeshError: Naming the first line without a valid point.
    """
    rows = pattern.findall(data)
    points = _points(rows)
    if points is None:
        index = first_bad(rows, lambda some: _points(some) is not None)
        line = line_of_match(pattern, data, index=index)
        raise BrokenMeshError("it has no valid point", line=line)
    return points


def _points(rows: Sequence[bytes]) -> Array | None:
    """Read the three numbers of each row, or None if a row is invalid."""
    try:
        # All rows in one pass, separated by nan.
        numbers = decimal_numbers(b" nan ".join([*rows, b""]))
    except BrokenMeshError:
        return None
    if len(numbers) != 4 * len(rows):
        return None
    points: Array = numbers.reshape(-1, 4)
    usable = np.isnan(points[:, 3]) & (np.abs(points[:, :3]) <= MOST_COORDINATE).all(axis=1)
    return points[:, :3] if usable.all() else None


def first_bad(rows: Sequence[bytes], good: Callable[[Sequence[bytes]], bool]) -> int:
    """Find the first bad row by bisection, among rows that are not all good.

    Args:
        good: Whether every one of some rows is good.
    """
    low, high = 0, len(rows)
    while high - low > 1:
        middle = (low + high) // 2
        if good(rows[low:middle]):
            low = middle
        else:
            high = middle
    return low


def line_of_match(pattern: re.Pattern[bytes], data: bytes, *, index: int) -> int:
    """Return the line, counted from one, on which a match of a pattern begins."""
    for place, match in enumerate(pattern.finditer(data)):
        if place == index:
            return data.count(b"\n", 0, match.start(1)) + 1
    raise IndexError(index)


def refuse_placeholder(data: bytes) -> None:
    """Refuse what is often found instead of a mesh: a Git LFS pointer or a web page.

    Raises:
        BrokenMeshError: If it is one of these.
    """
    beginning = data[:1024].removeprefix(_BYTE_ORDER_MARK).lstrip().lower()
    if beginning.startswith(b"version https://git-lfs"):
        raise BrokenMeshError(
            "it is a Git LFS pointer, not the mesh",
            remedy="fetch the real file with 'git lfs pull'",
        )
    if beginning.startswith((b"<!doctype html", b"<html")):
        raise BrokenMeshError("it is a web page (HTML)", remedy="download the mesh itself")


def plain_text(data: bytes) -> bytes:
    """Return the text of a mesh file without byte order mark, its lines ending in a line feed.

    Raises:
        BrokenMeshError: If it contains NUL bytes or too many lines.
    """
    if b"\0" in data:
        line = data.count(b"\n", 0, data.find(b"\0")) + 1
        raise BrokenMeshError("it is text with NUL bytes", line=line)
    data = data.removeprefix(_BYTE_ORDER_MARK)
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    if data.count(b"\n") > MOST_LINES:
        raise BrokenMeshError(f"it has more than {MOST_LINES:,} lines")
    return data


MOST_CORNERS = 5_000
"""Corners of a hull at most; any program writes larger ones with their faces."""
MOST_POINTS = 300_000
_FLATNESS = 1e-10
"""Points closer to a face than this fraction of their extent are on it."""
_TOO_CLOSE = "its points are too close to each other for a hull"


def convex_hull(points: Array) -> NDArray[np.int64]:
    """Return the triangles, shape (m, 3), of the convex hull of points, facing outwards.

    Args:
        points: The points, shape (n, 3).

    Raises:
        BrokenMeshError: If there are too many points or corners of the hull, or all points
            are in a plane.
    """
    if len(points) > MOST_POINTS:
        raise BrokenMeshError(f"a hull of more than {MOST_POINTS:,} points takes too long")
    hull = _Hull(points)
    for _ in range(MOST_CORNERS):
        if not hull.grow():
            return hull.closed_faces()
    raise BrokenMeshError(f"its hull has more than {MOST_CORNERS} corners; write its faces")


class _Hull:
    """A growing hull (quickhull): faces, their planes, and the points still outside each."""

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
        """Choose four points far apart as the first hull."""
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
            raise BrokenMeshError("its points are in a plane and enclose no volume")
        return np.array([a, b, c, d])

    def _add(self, faces: NDArray[np.int64], candidates: NDArray[np.int64]) -> None:
        """Add faces, and assign each candidate point to the face it is farthest above."""
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
        """Add the next corner; return whether there was one."""
        if not self._above:
            return False
        chosen = next(iter(self._above))
        heights = self._points[self._above[chosen]] @ self._normals[chosen]
        corner = int(self._above[chosen][np.argmax(heights)])
        # A removed face has an infinite offset, so that no point is above it.
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
        """Return the faces, after checking that each edge is shared by two of them."""
        faces = self._faces[np.isfinite(self._offsets)]
        edges = faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
        forth, back = {(a, b) for a, b in edges.tolist()}, {(b, a) for a, b in edges.tolist()}
        if forth != back or len(forth) != len(edges):
            raise BrokenMeshError(_TOO_CLOSE)
        return faces
