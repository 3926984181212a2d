"""Meshes in glTF 2.0 files: the triangles of the scene, in one self-contained file.

Materials, skins and animations are not used. Layout: Khronos, glTF 2.0 specification, sections 3.6
(buffers and accessors), 3.7 (meshes and nodes) and 4 (GLB).
"""

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.model.mesh.triangles import (
    MOST_STEPS,
    MOST_TRIANGLES,
    BrokenMeshError,
    refuse_placeholder,
    triangle_mesh,
)
from kinetarium.model.robot import TriangleMesh
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import rotation_from_quaternion
from kinetarium.storage.strict_json import parse_json

_MAGIC, _JSON, _BINARY = b"glTF", b"JSON", b"BIN\0"
_COMPONENTS = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_INDICES = {5121, 5123, 5125}
"""Component types that indices may have."""
_WIDTHS = {"SCALAR": 1, "VEC3": 3}
_TRIANGLES, _STRIP, _FAN = 4, 5, 6
_UNDERSTOOD = {"KHR_mesh_quantization"}
_MOST_DEPTH = 64
"""Depth of nodes; deeper ones are in a circle."""


def read_gltf(data: bytes) -> TriangleMesh:
    """Read a glTF file, binary (GLB) or text with its buffers within it [m]."""
    refuse_placeholder(data)
    text, binary = _chunks(data) if data.startswith(_MAGIC) else (data, None)
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # points that are not finite are refused
            return _File(parse_json(text.decode("utf-8-sig")), binary).mesh()
    except (LookupError, TypeError, AttributeError, ArithmeticError, ValueError, RecursionError):
        # Numbers, lists and objects in each other's places: all that is read is looked up by them.
        raise BrokenMeshError("it is not a valid glTF 2.0 file") from None


def _chunks(data: bytes) -> tuple[bytes, bytes | None]:
    """Return the text and the binary buffer of a GLB file."""
    header = np.frombuffer(data[:12].ljust(12, b"\0"), dtype="<u4")
    if header[1] != 2:
        raise BrokenMeshError("it is not glTF 2.0")
    if header[2] != len(data):
        raise BrokenMeshError(f"it has {len(data)} bytes instead of {header[2]}")
    found, at = dict[bytes, bytes](), 12
    while at + 8 <= len(data):
        size, kind = int.from_bytes(data[at : at + 4], "little"), data[at + 4 : at + 8]
        if at + 8 + size > len(data):
            raise BrokenMeshError("it ends within a chunk")
        found.setdefault(kind, data[at + 8 : at + 8 + size])
        at += 8 + size
    if _JSON not in found:
        raise BrokenMeshError("it has no JSON chunk")
    return found[_JSON], found.get(_BINARY)


class _File:
    """The parsed text of a file and its buffers."""

    def __init__(self, content: Any, binary: bytes | None) -> None:
        self._content: Mapping[str, Any] = content
        if unknown := set(content.get("extensionsRequired", ())) - _UNDERSTOOD:
            raise BrokenMeshError(
                f"it needs the extension {min(unknown)[:60]}",
                remedy="export it without compression and extensions",
            )
        self._buffers = [
            _buffer(each, binary if number == 0 else None)
            for number, each in enumerate(content.get("buffers", ()))
        ]
        self._triangles = self._steps = 0

    def mesh(self) -> TriangleMesh:
        """Return all triangles of the scene."""
        points, faces, count = [np.empty((0, 3))], [np.empty((0, 3), dtype=np.int64)], 0
        for number, X in self._placed():
            for primitive in self._entry("meshes", number)["primitives"]:
                self._count_step()
                some = self._faces(primitive)
                if some is None or not len(some):
                    continue
                corners = self._array(primitive["attributes"]["POSITION"], "VEC3")
                if some.max() >= len(corners):
                    raise BrokenMeshError(
                        f"a triangle has an index outside its {len(corners)} vertices"
                    )
                mirrored = np.linalg.det(X[:3, :3]) < 0
                points.append(corners @ X[:3, :3].T + X[:3, 3])
                faces.append(count + (some[:, ::-1] if mirrored else some))
                count += len(corners)
                self._triangles += len(some)
                if max(self._triangles, count // 3) > MOST_TRIANGLES:
                    raise BrokenMeshError(f"it has more than {MOST_TRIANGLES:,} triangles")
        return triangle_mesh(np.concatenate(points), np.concatenate(faces))

    def _placed(self) -> Iterator[tuple[int, Array]]:
        """Yield the meshes of the scene with their poses, which may scale."""
        nodes = self._content.get("nodes", ())
        scenes = self._content.get("scenes")
        if scenes:
            roots = scenes[self._content.get("scene", 0)].get("nodes", ())
        else:
            children = {child for node in nodes for child in node.get("children", ())}
            roots = [number for number in range(len(nodes)) if number not in children]
        seen = set[int]()
        waiting = [(number, np.eye(4), 0) for number in reversed(roots)]
        while waiting:
            number, X, depth = waiting.pop()
            if number in seen or depth > _MOST_DEPTH:
                raise BrokenMeshError("its nodes are not a tree")
            seen.add(number)
            self._count_step()
            node = self._entry("nodes", number)
            X = X @ _pose(node)
            if "mesh" in node:
                yield node["mesh"], X
            waiting += [(child, X, depth + 1) for child in reversed(node.get("children", ()))]

    def _count_step(self) -> None:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise BrokenMeshError(f"it shows more than {MOST_STEPS:,} nodes and surfaces")

    def _faces(self, primitive: Mapping[str, Any]) -> NDArray[np.int64] | None:
        """Return the triangles of a primitive, or None for points and lines."""
        mode = primitive.get("mode", _TRIANGLES)
        if mode not in (_TRIANGLES, _STRIP, _FAN):
            return None
        if "indices" in primitive:
            accessor = self._entry("accessors", primitive["indices"])
            if accessor["componentType"] not in _INDICES:
                raise BrokenMeshError("its indices are not whole numbers")
            order = self._array(primitive["indices"], "SCALAR")[:, 0].astype(np.int64)
        else:
            points = self._entry("accessors", primitive["attributes"]["POSITION"])
            order = np.arange(_checked_count(points["count"]))
        if mode == _TRIANGLES:
            if len(order) % 3:
                raise BrokenMeshError("its last triangle is incomplete")
            return order.reshape(-1, 3)
        k = np.arange(max(len(order) - 2, 0))
        if mode == _FAN:
            return order[np.column_stack([k + 1, k + 2, np.zeros_like(k)])]
        odd = k % 2
        return order[np.column_stack([k, k + 1 + odd, k + 2 - odd])]

    def _entry(self, kind: str, number: int) -> Mapping[str, Any]:
        if number < 0:
            raise IndexError
        entry: Mapping[str, Any] = self._content[kind][number]
        return entry

    def _array(self, number: int, kind: str) -> Array:
        """Return the numbers of an accessor, shape (count, width)."""
        accessor = self._entry("accessors", number)
        if accessor["type"] != kind or "sparse" in accessor or "bufferView" not in accessor:
            raise BrokenMeshError("it has sparse or invalid accessors")
        code, count, width = accessor["componentType"], accessor["count"], _WIDTHS[kind]
        item = np.dtype((_COMPONENTS[code], width))
        view = self._entry("bufferViews", accessor["bufferView"])
        buffer = self._buffers[abs(view["buffer"])]
        start, size = view.get("byteOffset", 0), view["byteLength"]
        offset, stride = accessor.get("byteOffset", 0), view.get("byteStride") or item.itemsize
        last = offset + stride * (_checked_count(count) - 1) + item.itemsize
        if min(start, offset) < 0 or stride < item.itemsize or last > size:
            raise BrokenMeshError("an accessor is outside its buffer")
        if start + size > len(buffer):
            raise BrokenMeshError("a view is outside its buffer")
        rows = np.ndarray(
            (count, width), item.base, buffer, start + offset, (stride, item.base.itemsize)
        )
        values = rows.astype(np.float64)
        if accessor.get("normalized") and item.base.kind != "f":
            values = np.maximum(values / np.iinfo(item.base).max, -1.0)
        return values


def _checked_count(count: Any) -> int:
    if not isinstance(count, int) or not 1 <= count <= 3 * MOST_TRIANGLES:
        raise BrokenMeshError("an accessor has an implausible count")
    return count


def _buffer(entry: Mapping[str, Any], binary: bytes | None) -> bytes:
    """Return the bytes of a buffer, which must be in the file itself."""
    uri = entry.get("uri")
    if uri is None:
        if binary is None:
            raise BrokenMeshError("its binary chunk is missing")
        return binary
    head, _, text = uri.partition(",")
    if not head.startswith("data:") or not head.endswith(";base64"):
        raise BrokenMeshError("its buffers are in other files", remedy="export it as one .glb file")
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise BrokenMeshError("a buffer is not base64") from None


def _pose(node: Mapping[str, Any]) -> Array:
    """Return the transformation of a node, shape (4, 4): a matrix, or T R S."""
    X = np.eye(4)
    if "matrix" in node:
        X = _numbers(node["matrix"], 16).reshape(4, 4).T
    else:
        qx, qy, qz, qw = _numbers(node.get("rotation", (0, 0, 0, 1)), 4)
        if not qx * qx + qy * qy + qz * qz + qw * qw > 0.0:
            raise BrokenMeshError("a node has an invalid transformation")
        R = rotation_from_quaternion((qw, qx, qy, qz))
        X[:3, :3] = R * _numbers(node.get("scale", (1, 1, 1)), 3)
        X[:3, 3] = _numbers(node.get("translation", (0, 0, 0)), 3)
    return X


def _numbers(values: Sequence[Any], count: int) -> Array:
    numbers = np.array(values, dtype=np.float64)
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise BrokenMeshError("a node has an invalid transformation")
    return numbers
