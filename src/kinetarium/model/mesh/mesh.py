"""Loading triangle meshes of unknown origin: checked completely, and cached."""

import os
import stat
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Lock

import numpy as np

from kinetarium.model.diagnostics import Code, Diagnostics, RobotFileError, read_robot_part
from kinetarium.model.mesh._collada import read_collada
from kinetarium.model.mesh.formats import read_msh, read_obj, read_stl
from kinetarium.model.mesh.triangles import BrokenMeshError, read_only_mesh
from kinetarium.model.robot import MeshData, MeshFile, TriangleMesh

MOST_BYTES = 32 * 2**20
"""The largest mesh file that is read."""

_READERS: dict[str, Callable[[bytes], TriangleMesh]] = {
    ".stl": read_stl,
    ".obj": read_obj,
    ".dae": read_collada,
    ".msh": read_msh,
}


class _Cache:
    """The most recently used meshes, up to a total size."""

    MOST_BYTES = 256 * 2**20

    def __init__(self) -> None:
        self._meshes: OrderedDict[tuple[str, int, int], TriangleMesh] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def get(self, key: tuple[str, int, int]) -> TriangleMesh | None:
        with self._lock:
            if key in self._meshes:
                self._meshes.move_to_end(key)
            return self._meshes.get(key)

    def put(self, key: tuple[str, int, int], mesh: TriangleMesh) -> None:
        with self._lock:
            if key in self._meshes:
                return
            self._meshes[key] = mesh
            self._bytes += _size(mesh)
            while self._bytes > self.MOST_BYTES:
                _, oldest = self._meshes.popitem(last=False)
                self._bytes -= _size(oldest)


def _size(mesh: TriangleMesh) -> int:
    return mesh.vertices.nbytes + mesh.faces.nbytes


_cache = _Cache()


def load_mesh(path: Path, *, diagnostics: Diagnostics, line: int | None = None) -> TriangleMesh:
    """Load an STL, OBJ, COLLADA or MSH file by its suffix, in its own units, COLLADA in metres.

    A file that has not changed is not read again while it is in the cache.

    Args:
        diagnostics: Names the robot file in the refusal.
        line: The line of the robot file that names it.

    Returns:
        The triangles; no two vertices are equal and each is used.

    Raises:
        RobotFileError: With the code UNSUPPORTED for another format,
            MESH_MISSING, MESH_BROKEN or TOO_LARGE.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise diagnostics.refusal(
            Code.UNSUPPORTED,
            f"mesh {str(path)!r} has an unsupported format",
            remedy=f"convert it to one of {', '.join(_READERS)}",
            line=line,
        )
    try:
        status = os.stat(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a valid path"
        raise diagnostics.refusal(
            Code.MESH_MISSING, f"cannot read mesh {str(path)!r}: {reason.lower()}", line=line
        ) from None
    if not stat.S_ISREG(status.st_mode):  # checked first: opening a device may have effects
        raise diagnostics.refusal(
            Code.MESH_BROKEN, f"mesh {str(path)!r} is not a regular file", line=line
        )
    if status.st_size > MOST_BYTES:
        raise diagnostics.refusal(
            Code.TOO_LARGE,
            f"mesh {str(path)!r} has {status.st_size / 2**20:.0f} MiB",
            remedy=f"the limit is {MOST_BYTES // 2**20} MiB; simplify it",
            line=line,
        )
    key = (str(path), status.st_size, status.st_mtime_ns)
    mesh = _cache.get(key)
    if mesh is None:
        try:
            mesh = reader(read_robot_part(path, diagnostics=diagnostics, code=Code.MESH_BROKEN))
        except BrokenMeshError as error:
            raise diagnostics.refusal(
                Code.MESH_BROKEN,
                f"mesh {str(path)!r} is broken: {error}",
                remedy=error.remedy,
                line=line,
            ) from None
        except RobotFileError as error:
            raise RobotFileError(replace(error.refusals[0], line=line)) from None
        _cache.put(key, mesh)
    return mesh


def mesh_of(shape: MeshFile | MeshData) -> TriangleMesh:
    """Return the triangles of a mesh shape [m], scaled; mirrored ones still face outwards."""
    if isinstance(shape, MeshData):
        return shape.mesh
    mesh = load_mesh(shape.path, diagnostics=Diagnostics(shape.uri))
    if shape.scale == (1.0, 1.0, 1.0):
        return mesh
    vertices = mesh.vertices * shape.scale
    faces = mesh.faces[:, ::-1] if np.prod(shape.scale) < 0 else mesh.faces
    return read_only_mesh(vertices, faces)
