"""Meshes in PLY files, text or binary: positions of vertices, and faces.

Layout: G. Turk, "The PLY polygon file format" (1994). Colours, normals and what else elements have
are not used.
"""

import re
import struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.model.mesh.triangles import (
    MOST_TRIANGLES,
    BrokenMeshError,
    decimal_numbers,
    fan_triangles,
    refuse_placeholder,
    triangle_mesh,
)
from kinetarium.model.robot import TriangleMesh

_TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2",
    "ushort": "u2", "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4",
    "float": "f4", "float32": "f4", "double": "f8", "float64": "f8",
}  # fmt: skip
_ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_CODES = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "f4": "f", "f8": "d"}
_MOST_HEADER = 64 * 1024
_MOST_UNEVEN = 64 * 2**20
"""Bytes of rows that differ in length, which are read one by one; numbers of a text take eight."""
_END = re.compile(rb"^end_header[ \t]*\r?\n", re.MULTILINE)


class _Property(NamedTuple):
    """A property of an element; `length` is the type of a list's length, empty for a number."""

    name: str
    kind: str
    length: str = ""


class _Element(NamedTuple):
    name: str
    rows: int
    properties: list[_Property]


class _Column(NamedTuple):
    """The values of a property, one row after the other, and how many each row has."""

    values: NDArray[np.float64]
    sizes: NDArray[np.int64]


def read_ply(data: bytes) -> TriangleMesh:
    """Read a PLY file; polygons are split into triangles."""
    refuse_placeholder(data)
    end = _END.search(data[:_MOST_HEADER])
    if not data.startswith(b"ply") or end is None:
        raise BrokenMeshError("it is not a PLY file: it does not begin with a header")
    order, elements = _header(data[: end.start()].decode("ascii", "replace"))
    body = data[end.end() :]
    if not order:  # the numbers of a text are read as if they were those of a binary file
        order, body = "=", decimal_numbers(body).tobytes()
        elements = [each._replace(properties=_as_doubles(each)) for each in elements]
    found, at = dict[str, dict[str, _Column]](), 0
    for element in elements:
        columns, at = _columns(element, body, at, order)
        found[element.name] = columns
    try:
        vertex = found["vertex"]
        points = np.column_stack([vertex[axis].values for axis in "xyz"])
        face = found["face"]
        corners = face["vertex_indices" if "vertex_indices" in face else "vertex_index"]
    except (KeyError, ValueError):
        raise BrokenMeshError("it has no vertices with x, y and z, or no faces") from None
    if not (np.abs(corners.values) < 2**53).all() or (corners.values % 1).any():
        raise BrokenMeshError("its indices are not whole numbers")
    return triangle_mesh(points, fan_triangles(corners.values.astype(np.int64), corners.sizes))


def _header(text: str) -> tuple[str, list[_Element]]:
    """Return the byte order, empty for text, and the elements."""
    order, elements = None, list[_Element]()
    for line in text.splitlines()[1:]:
        match line.split():
            case ["format", name, "1.0"] if name in _ORDERS:
                order = _ORDERS[name]
            case ["element", name, count] if count.isascii() and count.isdecimal():
                if len(count) > 8 or int(count) > 3 * MOST_TRIANGLES:
                    raise BrokenMeshError("its header has implausible counts")
                elements.append(_Element(name, int(count), []))
            case ["property", "list", length, kind, name] if {length, kind} <= {*_TYPES}:
                if not elements or "f" in _TYPES[length]:
                    raise BrokenMeshError("its header is invalid")
                elements[-1].properties.append(_Property(name, _TYPES[kind], _TYPES[length]))
            case ["property", kind, name] if elements and kind in _TYPES:
                elements[-1].properties.append(_Property(name, _TYPES[kind]))
            case ["comment" | "obj_info", *_] | []:
                pass
            case _:
                raise BrokenMeshError("its header is invalid")
    if order is None:
        raise BrokenMeshError("its header is invalid")
    return order, elements


def _as_doubles(element: _Element) -> list[_Property]:
    return [each._replace(kind="f8", length=each.length and "f8") for each in element.properties]


def _columns(element: _Element, data: bytes, at: int, order: str) -> tuple[dict[str, _Column], int]:
    """Return the properties of all rows of an element, and where the next element begins."""
    count, properties = element.rows, element.properties
    if not count or not properties:
        return {}, at
    lengths, _ = _row(properties, data, at, order)
    parts = list[tuple[str, str, tuple[int, ...]]]()
    for i, (each, length) in enumerate(zip(properties, lengths, strict=True)):
        if each.length:
            parts.append((f"length {i}", order + each.length, ()))
        parts.append((f"values {i}", order + each.kind, (length,)))
    item = np.dtype(parts)
    end = at + count * item.itemsize
    if end <= len(data):
        rows = np.frombuffer(data, item, count, at)
        if all(
            (rows[f"length {i}"] == lengths[i]).all() for i, p in enumerate(properties) if p.length
        ):
            return {
                each.name: _Column(
                    rows[f"values {i}"].astype(np.float64).ravel(), np.full(count, lengths[i])
                )
                for i, each in enumerate(properties)
            }, end
    return _uneven_columns(element, data, at, order)


def _uneven_columns(
    element: _Element, data: bytes, at: int, order: str
) -> tuple[dict[str, _Column], int]:
    """Return the same where lists differ in length, row by row."""
    if element.rows > MOST_TRIANGLES or len(data) - at > _MOST_UNEVEN:
        raise BrokenMeshError("it has too many polygons of different kinds")
    sizes: list[list[int]] = []
    values: list[list[float]] = [[] for _ in element.properties]
    for _ in range(element.rows):
        lengths, places = _row(element.properties, data, at, order)
        sizes.append(lengths)
        for each, length, place, some in zip(
            element.properties, lengths, places, values, strict=False
        ):
            some += struct.unpack_from(f"{order}{length}{_CODES[each.kind]}", data, place)
        at = places[-1]
    return {
        each.name: _Column(np.array(some, dtype=np.float64), np.array(size, dtype=np.int64))
        for each, some, size in zip(
            element.properties, values, zip(*sizes, strict=True), strict=True
        )
    }, at


def _row(
    properties: list[_Property], data: bytes, at: int, order: str
) -> tuple[list[int], list[int]]:
    """Return the lengths of a row's properties, and where each and the next row begin."""
    lengths, places = [], []
    try:
        for each in properties:
            length = 1
            if each.length:
                (length,) = struct.unpack_from(order + _CODES[each.length], data, at)
                at += int(each.length[1])
                if length != int(length) or length < 0:
                    raise BrokenMeshError("a list has an invalid length")
            lengths.append(int(length))
            places.append(at)
            at += int(length) * int(each.kind[1])
            if at > len(data):
                raise BrokenMeshError("it ends too early")
    except (struct.error, OverflowError, ValueError):
        raise BrokenMeshError("it ends too early") from None
    return lengths, [*places, at]
