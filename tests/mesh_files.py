"""Mesh files written by hand for the tests: glTF and PLY, as their specifications say."""

import base64
import json
from typing import Any

import numpy as np

from kinetarium.spatial.arrays import Array

CODES = {"i1": 5120, "u1": 5121, "<i2": 5122, "<u2": 5123, "<u4": 5125, "<f4": 5126}


class Gltf:
    """A glTF file that is put together part by part."""

    def __init__(self) -> None:
        self.content: dict[str, Any] = {
            "asset": {"version": "2.0"}, "bufferViews": [], "accessors": [], "meshes": [],
            "nodes": [],
        }  # fmt: skip
        self.buffer = b""

    def array(self, values: Array, kind: str, *, stride: int = 0, **more: Any) -> int:
        """Add numbers as an accessor with a view of its own; return its number."""
        rows = np.atleast_2d(np.asarray(values).T).T.astype(kind)
        data = rows.tobytes()
        if stride:
            data = b"".join(row.tobytes().ljust(stride, b"\xff") for row in rows)
        view = {"buffer": 0, "byteOffset": len(self.buffer), "byteLength": len(data)}
        self.content["bufferViews"].append(view | ({"byteStride": stride} if stride else {}))
        self.buffer += data + b"\0" * (-len(data) % 4)
        self.content["accessors"].append(
            {
                "bufferView": len(self.content["bufferViews"]) - 1, "componentType": CODES[kind],
                "count": len(rows), "type": "VEC3" if rows.shape[1] == 3 else "SCALAR", **more,
            }
        )  # fmt: skip
        return len(self.content["accessors"]) - 1

    def mesh(self, *primitives: dict[str, Any]) -> int:
        self.content["meshes"].append({"primitives": list(primitives)})
        return len(self.content["meshes"]) - 1

    def node(self, **values: Any) -> int:
        self.content["nodes"].append(values)
        return len(self.content["nodes"]) - 1

    def scene(self, *roots: int) -> "Gltf":
        self.content |= {"scenes": [{"nodes": list(roots)}], "scene": 0}
        return self

    def glb(self) -> bytes:
        self.content["buffers"] = [{"byteLength": len(self.buffer)}]
        text = json.dumps(self.content).encode()
        chunks = b""
        for kind, data, fill in ((b"JSON", text, b" "), (b"BIN\0", self.buffer, b"\0")):
            data += fill * (-len(data) % 4)
            chunks += len(data).to_bytes(4, "little") + kind + data
        return b"glTF" + np.array([2, 12 + len(chunks)], "<u4").tobytes() + chunks

    def text(self) -> bytes:
        data = base64.b64encode(self.buffer).decode()
        uri = f"data:application/octet-stream;base64,{data}"
        self.content["buffers"] = [{"byteLength": len(self.buffer), "uri": uri}]
        return json.dumps(self.content).encode()


def tetrahedron() -> Gltf:
    """A tetrahedron with corners at the origin and on the axes."""
    file = Gltf()
    points = file.array(np.vstack([np.zeros(3), np.eye(3)]), "<f4")
    faces = file.array(np.array([0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]), "<u2")
    mesh = file.mesh({"attributes": {"POSITION": points}, "indices": faces})
    return file.scene(file.node(mesh=mesh))


PLY = b"""ply
format ascii 1.0
comment a tetrahedron
element vertex 4
property float x
property float y
property float z
property uchar red
element face 4
property list uchar int vertex_indices
end_header
0 0 0 255
1 0 0 0
0 1 0 0
0 0 1 0
3 0 2 1
3 0 1 3
3 0 3 2
3 1 2 3
"""


def binary_ply(points: Array, faces: list[list[int]], order: str = "<") -> bytes:
    """Write points and polygons; vertices have a normal, faces a flag before and a list after."""
    name = {"<": "binary_little_endian", ">": "binary_big_endian"}[order]
    head = [
        "ply", f"format {name} 1.0", f"element vertex {len(points)}", "property double nx",
        "property double x", "property double y", "property double z", "element edge 2",
        "property int v", "property list uchar short w", f"element face {len(faces)}",
        "property uchar flag", "property list ushort uint vertex_index",
        "property list uchar float texcoord", "end_header\n",
    ]  # fmt: skip
    data = "\n".join(head).encode()
    data += np.hstack([np.ones((len(points), 1)), points]).astype(f"{order}f8").tobytes()
    for edge in ([5], [6, 7]):
        data += np.array(1, f"{order}i4").tobytes() + bytes([len(edge)])
        data += np.array(edge, f"{order}i2").tobytes()
    for face in faces:
        data += b"\7" + np.array(len(face), f"{order}u2").tobytes()
        data += np.array(face, f"{order}u4").tobytes()
        data += b"\2" + np.array([0.5, 0.25], f"{order}f4").tobytes()
    return data
