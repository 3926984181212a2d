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
MOST_STEPS = 20_000
"""Limit on visited nodes, children and surfaces; a short file can instantiate billions."""
MOST_LINES = 1_500_000
"""Lines of a text format; the largest valid file has fewer, unless they are padding."""
MOST_COORDINATE = 1e9
"""Coordinates beyond this count as errors in the file [m]."""

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
    """Return a mesh of an array that no other code writes to and a copy of the faces."""
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

    Returns:
        The points [m], shape (n, 3).
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
    """Find the first row by bisection that keeps the rows from being all good."""
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
    """Refuse what is often found instead of a mesh: a Git LFS pointer or a web page."""
    beginning = data[:1024].removeprefix(_BYTE_ORDER_MARK).lstrip().lower()
    if beginning.startswith(b"version https://git-lfs"):
        raise BrokenMeshError(
            "it is a Git LFS pointer, not the mesh",
            remedy="fetch the real file with 'git lfs pull'",
        )
    if beginning.startswith((b"<!doctype html", b"<html")):
        raise BrokenMeshError("it is a web page (HTML)", remedy="download the mesh itself")


def normalized_text(data: bytes) -> bytes:
    """Return the text of a mesh file without byte order mark, its lines ending in a line feed."""
    if b"\0" in data:
        line = data.count(b"\n", 0, data.find(b"\0")) + 1
        raise BrokenMeshError("it is text with NUL bytes", line=line)
    data = data.removeprefix(_BYTE_ORDER_MARK)
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    if data.count(b"\n") > MOST_LINES:
        raise BrokenMeshError(f"it has more than {MOST_LINES:,} lines")
    return data


MOST_POINTS = 300_000
"""Of a hull; as many on a sphere take three seconds."""


def convex_hull(points: Array) -> NDArray[np.int64]:
    """Return the outward triangles, shape (m, 3), of the convex hull of points, shape (n, 3)."""
    # SciPy takes a third of a second to import, and few robots need a hull.
    from scipy.spatial import ConvexHull, QhullError

    if len(points) > MOST_POINTS:
        raise BrokenMeshError(f"a hull of more than {MOST_POINTS:,} points takes too long")
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):  # the latter for no points at all
        raise BrokenMeshError("its points are in a plane and enclose no volume") from None
    faces: NDArray[np.int64] = hull.simplices.astype(np.int64)
    a, b, c = points[faces].transpose(1, 0, 2)
    inwards = np.vecdot(np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    faces[inwards] = faces[inwards, ::-1]
    return faces
