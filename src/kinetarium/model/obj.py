"""Wavefront OBJ files: vertices and faces; whatever else they hold is left aside."""

import re
from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from kinetarium.model.shapes import TriangleMesh
from kinetarium.model.triangles import (
    MOST_TRIANGLES,
    BrokenMeshError,
    decimal_numbers,
    fan_triangles,
    first_bad,
    line_of_match,
    plain_text,
    points_on_lines,
    refuse_stand_in,
    triangle_mesh,
)
from kinetarium.spatial.arrays import Array

_COMMENT = re.compile(rb"#[^\n]*")
_CONTINUATION = re.compile(rb"\\\r?\n")
# What follows the coordinates is a weight or a colour.
_VERTEX = re.compile(rb"^[ \t]*v(?!\S)((?:[ \t]++\S++){0,3})", re.MULTILINE)
_FACE = re.compile(rb"^[ \t]*f((?:[ \t].*)?)\r?$", re.MULTILINE)
_TEXTURE_AND_NORMAL = re.compile(rb"/\S*")


def read_obj(data: bytes) -> TriangleMesh:
    """Read an OBJ file; its polygons are cut into triangles, its material file is never opened.

    Raises:
        BrokenMeshError: If a vertex or face is not right, or there are no faces.
    """
    refuse_stand_in(data)
    data = _bare(data)
    points = points_on_lines(_VERTEX, data)
    corners, sizes = _polygons(data, len(points))
    return triangle_mesh(points, fan_triangles(corners, sizes))


def read_obj_points(data: bytes) -> Array:
    """Return all vertices of an OBJ file, those that no face uses included, shape (n, 3)."""
    return np.asarray(points_on_lines(_VERTEX, _bare(data)), dtype=np.float64)


def _bare(data: bytes) -> bytes:
    return _COMMENT.sub(b"", _CONTINUATION.sub(b" ", plain_text(data)))


def _polygons(data: bytes, points: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the corners of all faces, counted from zero, and how many each face has."""
    rows = _FACE.findall(data)
    if len(rows) > MOST_TRIANGLES:
        raise BrokenMeshError(f"it holds more than {MOST_TRIANGLES:,} faces")
    faces = _indices(rows)
    if faces is None:
        _refuse_face(data, first_bad(rows, lambda some: _indices(some) is not None))
    indices, sizes = faces
    if len(sizes) and sizes[-1] == 2 and data.rpartition(b"\n")[2].lstrip().startswith(b"f"):
        raise BrokenMeshError("it ends inside a face")
    corners = np.where(indices < 0, indices, indices - 1)
    if (indices < 0).any():
        # A negative index counts back from the latest vertex before the face.
        vertices_at = [match.start() for match in _VERTEX.finditer(data)]
        faces_at = [match.start() for match in _FACE.finditer(data)]
        before = np.repeat(np.searchsorted(vertices_at, faces_at), sizes)
        corners = np.where(indices < 0, before + indices, corners)
    wrong = (corners < 0) | (corners >= points)
    if wrong.any():
        _refuse_face(data, int(np.searchsorted(np.cumsum(sizes), np.argmax(wrong), side="right")))
    return corners, sizes


def _indices(rows: Sequence[bytes]) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Give the indices of all faces as they stand and how many each has; None if one is bad.

    Raises:
        BrokenMeshError: If there are too many.
    """
    # No index is zero, so that a zero can mark the end of each face in one pass over all.
    text = _TEXTURE_AND_NORMAL.sub(b"", b" 0 ".join([*rows, b""]))
    try:
        numbers = decimal_numbers(text, kind=np.int64)
    except BrokenMeshError:
        return None
    if len(numbers) - 3 * len(rows) > MOST_TRIANGLES:
        raise BrokenMeshError(f"it holds more than {MOST_TRIANGLES:,} triangles")
    ends = np.flatnonzero(numbers == 0)
    sizes = np.diff(ends, prepend=-1) - 1
    # Blender has written loose edges as faces of two corners; they are let pass.
    if len(ends) != len(rows) or (sizes < 2).any():
        return None
    return numbers[numbers != 0], sizes


def _refuse_face(data: bytes, index: int) -> NoReturn:
    line = line_of_match(_FACE, data, index=index)
    raise BrokenMeshError("it has a face whose corners are not right", line=line)
