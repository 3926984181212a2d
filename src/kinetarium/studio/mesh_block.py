"""Triangle meshes as bytes: 16-bit corners between the bounds of each mesh."""

from typing import Any

import numpy as np

from kinetarium.model.shapes import TriangleMesh
from kinetarium.studio.streams import packed

_STEPS = 65535


class MeshBlock:
    """Meshes in one block, equal ones once."""

    def __init__(self) -> None:
        """Start empty."""
        self.entries: list[dict[str, Any]] = []
        self._data: list[bytes] = []
        self._known: dict[bytes, int] = {}

    def add(self, mesh: TriangleMesh) -> int:
        """Add a mesh, and give its number."""
        key = mesh.vertices.tobytes() + mesh.faces.tobytes()
        if key not in self._known:
            self._known[key] = len(self.entries)
            self._append(mesh)
        return self._known[key]

    def packed(self) -> bytes:
        """Give the block: for each mesh its corners, then its triangles."""
        return packed(b"".join(self._data))

    def _append(self, mesh: TriangleMesh) -> None:
        low = mesh.vertices.min(axis=0, initial=np.inf)
        size = mesh.vertices.max(axis=0, initial=-np.inf) - low
        if not len(mesh.vertices):
            low = size = np.zeros(3)
        steps = (mesh.vertices - low) / np.where(size > 0, size, 1.0) * _STEPS
        corners = np.rint(steps).astype("<u2").tobytes()
        faces = mesh.faces.astype("<u2" if len(mesh.vertices) <= _STEPS + 1 else "<u4").tobytes()
        # Four-byte numbers are read in place, so everything starts at a multiple of four.
        self._data += [corners, bytes(-len(corners) % 4), faces, bytes(-len(faces) % 4)]
        self.entries.append(
            {
                "vertices": len(mesh.vertices),
                "faces": len(mesh.faces),
                "low": low.tolist(),
                "size": size.tolist(),
            }
        )
