"""What every mesh reader ends with: numbers out of text, and triangles that can be trusted."""

import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetarium.model.shapes import TriangleMesh
from kinetarium.spatial.arrays import Array

MOST_TRIANGLES = 5_000_000
MOST_LINES = 3_000_000
"""Lines of a text format; the largest file that is read holds fewer, unless they are padding."""
MOST_COORDINATE = 1e9
"""Coordinates beyond this [m] are a slip of the pen or a wrong byte."""


class BrokenMeshError(Exception):
    """A mesh file that cannot be used; the loader turns it into a refusal."""

    def __init__(self, reason: str, *, line: int | None = None) -> None:
        """Keep the reason and the line inside the mesh file, if a line means something."""
        super().__init__(f"{reason} at its line {line}" if line else reason)


def triangle_mesh(vertices: ArrayLike, faces: NDArray[np.integer[Any]]) -> TriangleMesh:
    """Check triangles, merge equal vertices and drop those that no triangle uses.

    Args:
        vertices: Corner points [m], shape (n, 3).
        faces: Indices of the corners, shape (m, 3).

    Raises:
        BrokenMeshError: If there are no triangles or too many, or a corner is
            not there, not finite or absurdly far away.
    """
    points = np.asarray(vertices, dtype=np.float64)
    if len(faces) == 0:
        raise BrokenMeshError("it holds no triangles")
    if len(faces) > MOST_TRIANGLES:
        raise BrokenMeshError(f"it holds more than {MOST_TRIANGLES:,} triangles")
    if faces.min() < 0 or faces.max() >= len(points):
        raise BrokenMeshError(f"a triangle names a corner that is none of its {len(points)}")
    used = np.zeros(len(points), dtype=bool)
    used[faces] = True
    points, compact = points[used], np.cumsum(used) - 1
    if not (np.abs(points) <= MOST_COORDINATE).all():
        raise BrokenMeshError("a corner is not finite or farther away than 1e9")
    points, merged = _distinct(points)
    return read_only_mesh(points, merged[compact[faces]])


def _distinct(points: Array) -> tuple[Array, NDArray[np.intp]]:
    """Give the distinct points in ascending order, and for each point its place among them."""
    points = points + 0.0  # -0 becomes 0, so that equal numbers are equal bytes
    order = np.lexsort(points.T[::-1])
    ordered = points[order]
    first = np.ones(len(points), dtype=bool)
    first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    place = np.empty(len(points), dtype=np.intp)
    place[order] = np.cumsum(first) - 1
    return ordered[first], place


def read_only_mesh(vertices: Array, faces: NDArray[np.integer[Any]]) -> TriangleMesh:
    """Make a mesh of an array that nobody else writes to and a copy of the faces."""
    indices = np.array(faces, dtype=np.int32, order="C")
    vertices.setflags(write=False)
    indices.setflags(write=False)
    return TriangleMesh(vertices, indices)


def fan_triangles(corners: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Cut polygons into triangles that share each polygon's first corner.

    Args:
        corners: The corners of all polygons, one polygon after the other.
        sizes: How many corners each polygon has; below three there is nothing to cut.

    Returns:
        The triangles, shape (m, 3).

    Raises:
        BrokenMeshError: If there would be too many.
    """
    counts = np.maximum(sizes - 2, 0)
    total = int(counts.sum())
    if total > MOST_TRIANGLES:
        raise BrokenMeshError(f"it holds more than {MOST_TRIANGLES:,} triangles")
    starts = np.repeat(np.cumsum(sizes) - sizes, counts)
    second = starts + 1 + np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    triangles: NDArray[np.int64] = corners[np.column_stack([starts, second, second + 1])]
    return triangles


def decimal_numbers(text: str | bytes, *, kind: type = np.float64) -> NDArray[Any]:
    """Read decimal numbers separated by white space; integers too large become the largest.

    Args:
        text: The text.
        kind: The type of the numbers, float64 or int64.

    Raises:
        BrokenMeshError: If anything else stands between them.
    """
    text = text.strip()
    if not text:
        return np.zeros(0, dtype=kind)
    with warnings.catch_warnings():
        # Older releases of NumPy warn where newer ones raise.
        warnings.simplefilter("error", DeprecationWarning)
        try:
            return np.fromstring(text, dtype=kind, sep=" ")
        except (ValueError, DeprecationWarning):
            raise BrokenMeshError("it holds something that is not a number") from None


def points_on_lines(pattern: re.Pattern[bytes], data: bytes) -> Array:
    """Read a point from each line of a text format that a pattern finds.

    Args:
        pattern: Finds a line; its first group holds the coordinates and
            perhaps more numbers, such as a colour.
        data: The whole file.

    Returns:
        The points [m], shape (n, 3).

    Raises:
        BrokenMeshError: Naming the first line that holds no usable point.
    """
    rows = pattern.findall(data)
    points = _points(rows)
    if points is None:
        index = first_bad(rows, lambda some: _points(some) is not None)
        line = line_of_match(pattern, data, index=index)
        raise BrokenMeshError("it holds no usable point", line=line)
    return points


def _points(rows: Sequence[bytes]) -> Array | None:
    """Read the first three numbers of each row, or None if a row has no usable ones."""
    try:
        # All rows in one pass; a nan behind each shows where it ends.
        numbers = decimal_numbers(b" nan ".join([*rows, b""]))
    except BrokenMeshError:
        return None
    ends = np.flatnonzero(np.isnan(numbers))
    starts = np.concatenate([[0], ends[:-1] + 1]) if rows else ends
    if len(ends) != len(rows) or (ends - starts < 3).any():
        return None
    points: Array = numbers[starts[:, None] + np.arange(3)]
    return points if (np.abs(points) <= MOST_COORDINATE).all() else None


def first_bad(rows: Sequence[bytes], good: Callable[[Sequence[bytes]], bool]) -> int:
    """Find the first row that is not good, among rows that together are not, by halving.

    Args:
        rows: The rows.
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
    """Give the line, counted from one, on which a match of a pattern begins."""
    for place, match in enumerate(pattern.finditer(data)):
        if place == index:
            return data.count(b"\n", 0, match.start(1)) + 1
    raise IndexError(index)


def refuse_binary(data: bytes) -> None:
    """Refuse text that holds NUL bytes or more lines than any mesh needs.

    Raises:
        BrokenMeshError: If it does.
    """
    if b"\0" in data:
        raise BrokenMeshError("it holds NUL bytes", line=data.count(b"\n", 0, data.find(b"\0")) + 1)
    if data.count(b"\n") > MOST_LINES:
        raise BrokenMeshError(f"it has more than {MOST_LINES:,} lines")
