"""Mesh files: Wavefront OBJ (vertices and faces only), STL, and MuJoCo's binary MSH."""

import re
from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from kinetarium.model.mesh.triangles import (
    MOST_TRIANGLES,
    BrokenMeshError,
    decimal_numbers,
    fan_triangles,
    first_bad,
    line_of_match,
    normalized_text,
    points_on_lines,
    refuse_placeholder,
    triangle_mesh,
)
from kinetarium.model.robot import TriangleMesh
from kinetarium.spatial.arrays import Array

_COMMENT = re.compile(rb"#[^\n]*")
_CONTINUATION = re.compile(rb"\\\r?\n")
# A weight or a colour may follow the coordinates.
_VERTEX = re.compile(rb"^[ \t]*v(?!\S)((?:[ \t]++\S++){0,3})", re.MULTILINE)
_FACE = re.compile(rb"^[ \t]*f((?:[ \t].*)?)\r?$", re.MULTILINE)
_TEXTURE_AND_NORMAL = re.compile(rb"/\S*")


def read_obj(data: bytes) -> TriangleMesh:
    """Read an OBJ file; polygons are triangulated, the material file is never opened."""
    refuse_placeholder(data)
    data = _bare(data)
    points = points_on_lines(_VERTEX, data)
    corners, sizes = _polygons(data, len(points))
    return triangle_mesh(points, fan_triangles(corners, sizes))


_MSH_HEADER = 4


def read_msh(data: bytes) -> TriangleMesh:
    """Read a MuJoCo MSH file; normals and texture coordinates are not used.

    Four counts (vertices, normals, texture coordinates, triangles), then those numbers, 32 bits
    each, little-endian (MuJoCo's documentation, "MSH").
    """
    refuse_placeholder(data)
    if len(data) < 4 * _MSH_HEADER:
        raise BrokenMeshError("its header is incomplete")
    counts = np.frombuffer(data, dtype="<i4", count=_MSH_HEADER).astype(np.int64)
    if counts.min() < 0 or counts.max() > 3 * MOST_TRIANGLES:
        raise BrokenMeshError("its header has implausible counts")
    vertices, normals, textures, faces = counts.tolist()
    words = _MSH_HEADER + 3 * vertices + 3 * normals + 2 * textures + 3 * faces
    if len(data) != 4 * words:
        raise BrokenMeshError(f"it has {len(data)} bytes instead of {4 * words}")
    points = np.frombuffer(data, dtype="<f4", count=3 * vertices, offset=4 * _MSH_HEADER)
    corners = np.frombuffer(data, dtype="<i4", count=3 * faces, offset=4 * (words - 3 * faces))
    return triangle_mesh(
        points.reshape(-1, 3).astype(np.float64), corners.reshape(-1, 3).astype(np.int64)
    )


def read_obj_points(data: bytes) -> Array:
    """Return all vertices of an OBJ file, those that no face uses included, shape (n, 3)."""
    return np.asarray(points_on_lines(_VERTEX, _bare(data)), dtype=np.float64)


def _bare(data: bytes) -> bytes:
    return _COMMENT.sub(b"", _CONTINUATION.sub(b" ", normalized_text(data)))


def _polygons(data: bytes, points: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the corners of all faces, counted from zero, and how many each face has."""
    rows = _FACE.findall(data)
    if len(rows) > MOST_TRIANGLES:
        raise BrokenMeshError(f"it has more than {MOST_TRIANGLES:,} faces")
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
    """Return the raw indices of all faces and how many each has; None if one is invalid."""
    # No valid index is zero, so that zeros can separate the faces in one pass over all.
    text = _TEXTURE_AND_NORMAL.sub(b"", b" 0 ".join([*rows, b""]))
    try:
        numbers = decimal_numbers(text, kind=np.int64)
    except BrokenMeshError:
        return None
    if len(numbers) - 3 * len(rows) > MOST_TRIANGLES:
        raise BrokenMeshError(f"it has more than {MOST_TRIANGLES:,} triangles")
    ends = np.flatnonzero(numbers == 0)
    sizes = np.diff(ends, prepend=-1) - 1
    # Blender has written loose edges as faces of two corners; they are accepted.
    if len(ends) != len(rows) or (sizes < 2).any():
        return None
    return numbers[numbers != 0], sizes


def _refuse_face(data: bytes, index: int) -> NoReturn:
    line = line_of_match(_FACE, data, index=index)
    raise BrokenMeshError("it has a face with invalid corners", line=line)


_HEADER_BYTES = 84
_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_MOST_PADDING = 1024

_WORD = re.compile(rb"^[ \t\r]*([^\s]+)", re.MULTILINE)
# At most four words: enough to detect that there are not three.
_STL_VERTEX = re.compile(rb"^[ \t]*vertex\b((?:[ \t]++\S++){0,4})", re.MULTILINE | re.IGNORECASE)
# The space before a statement that does not begin its line; a name may contain such words too.
_SPACE_BETWEEN = re.compile(
    rb"(?<=\S)[ \t]++(?=facet[ \t]+normal\b|outer[ \t]+loop\b|vertex[ \t]+[-+.\d])"
    rb"|(?<=[\d.])[ \t]++(?=endloop\b)|(?<=endloop)[ \t]++(?=endfacet\b)"
    rb"|(?<=endfacet)[ \t]++(?=endsolid\b)",
    re.IGNORECASE,
)
_LETTERS = {
    b"solid": b"S",
    b"facet": b"F",
    b"outer": b"O",
    b"vertex": b"V",
    b"endloop": b"L",
    b"endfacet": b"E",
    b"endsolid": b"X",
}
_MOST_UNBROKEN = 4 * 2**20
"""The largest text with several statements per line that is split into lines, which is slow."""

_GRAMMAR = re.compile(rb"(?:S(?:FOVVVLE)*+X)++")
# The same, ending anywhere, to find the first invalid word of a file.
_BEGINNING = re.compile(
    rb"(?:S(?:FOVVVLE)*+X)*+(?:S(?:FOVVVLE)*+(?:F(?:O(?:V(?:V(?:V(?:L)?)?)?)?)?)?)?"
)


def read_stl(data: bytes) -> TriangleMesh:
    """Read an STL file, binary or text; the content decides, since both may begin "solid".

    The length of a binary file must match its count of facets. Up to 1 KiB of zeros after
    the facets, which some programs write to fill a block, is accepted.
    """
    refuse_placeholder(data)
    beginning = data[:1024].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if beginning.startswith(b"solid") and (b"facet" in beginning or b"\0" not in data):
        return _read_text(data)
    return _read_binary(data)


def stl_bytes(mesh: TriangleMesh) -> bytes:
    """Write a mesh as a binary STL file, with coordinates rounded to 32 bits."""
    corners = mesh.vertices[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    facets = np.zeros(len(corners), dtype=_FACET)
    facets["normal"] = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0)
    facets["corners"] = corners
    count = np.array(len(corners), dtype="<u4").tobytes()
    return b"binary STL".ljust(_HEADER_BYTES - len(count)) + count + facets.tobytes()


def _read_binary(data: bytes) -> TriangleMesh:
    if len(data) < _HEADER_BYTES:
        raise BrokenMeshError(
            f"it is not an STL file: it does not begin with 'solid' and has only {len(data)} bytes"
        )
    count = int.from_bytes(data[_HEADER_BYTES - 4 : _HEADER_BYTES], "little")
    extra = len(data) - _HEADER_BYTES - count * _FACET.itemsize
    if extra < 0 or extra > _MOST_PADDING or any(data[len(data) - extra :]):
        if b"\0" not in data or data.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise BrokenMeshError("it is not an STL file: not binary, and without 'solid'")
        raise BrokenMeshError(
            f"{count} facets take {_HEADER_BYTES + count * _FACET.itemsize} bytes, "
            f"it has {len(data)}"
        )
    if count > MOST_TRIANGLES:
        raise BrokenMeshError(f"it has more than {MOST_TRIANGLES:,} triangles")
    facets = np.frombuffer(data, dtype=_FACET, count=count, offset=_HEADER_BYTES)
    corners = facets["corners"].reshape(-1, 3)
    return triangle_mesh(corners, np.arange(len(corners)).reshape(-1, 3))


def _read_text(data: bytes) -> TriangleMesh:
    data = normalized_text(data)
    words, letters = _statements(data)
    if not _GRAMMAR.fullmatch(letters) and _SPACE_BETWEEN.search(data):
        if len(data) > _MOST_UNBROKEN:
            raise BrokenMeshError("it has several statements on a line and is too large")
        data = _SPACE_BETWEEN.sub(b"\n", data)
        words, letters = _statements(data)
    if not _GRAMMAR.fullmatch(letters):
        beginning = _BEGINNING.match(letters)
        assert beginning is not None  # it also matches the empty text
        if beginning.end() == len(words):
            raise BrokenMeshError("it ends before 'endsolid'")
        word = words[beginning.end()][:20].decode("ascii", "replace")
        line = line_of_match(_WORD, data, index=beginning.end())
        raise BrokenMeshError(f"it has {word!r} in the wrong place", line=line)
    if letters.count(b"F") > MOST_TRIANGLES:
        raise BrokenMeshError(f"it has more than {MOST_TRIANGLES:,} triangles")
    corners = points_on_lines(_STL_VERTEX, data)
    return triangle_mesh(corners, np.arange(len(corners)).reshape(-1, 3))


def _statements(data: bytes) -> tuple[list[bytes], bytes]:
    """Return the first word of each line, and one letter for each, for the grammar."""
    words = _WORD.findall(data)
    return words, b"".join([_LETTERS.get(word.lower(), b"?") for word in words])
