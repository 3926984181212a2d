"""Loading triangle meshes of unknown origin: checked completely, and cached."""

import os
import stat
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np

from kinetarium.errors import OutputError
from kinetarium.import_closure import file_closure
from kinetarium.model.diagnostics import Code, Diagnostics, RobotFileError, read_robot_part
from kinetarium.model.mesh._collada import read_collada
from kinetarium.model.mesh._gltf import read_gltf
from kinetarium.model.mesh._ply import read_ply
from kinetarium.model.mesh.formats import read_msh, read_obj, read_stl
from kinetarium.model.mesh.triangles import BrokenMeshError, read_only_mesh
from kinetarium.model.robot import MeshData, MeshFile, TriangleMesh
from kinetarium.spatial.arrays import Array
from kinetarium.storage.atomic import cache_folder, make_folder, write_atomic
from kinetarium.storage.regular_file import read_regular
from kinetarium.storage.strict_json import parse_json, strict_json

MOST_BYTES = 32 * 2**20
"""The largest mesh file that is read."""
_LEAST_KEPT = 50_000
"""Size of a file [bytes] from which reading it takes longer than looking it up."""
_MOST_EXTENT = 1_000
"""The largest file of an extent [bytes]."""

_READERS: dict[str, Callable[[bytes], TriangleMesh]] = {
    ".stl": read_stl,
    ".obj": read_obj,
    ".dae": read_collada,
    ".msh": read_msh,
    ".glb": read_gltf,
    ".gltf": read_gltf,
    ".ply": read_ply,
}
MESH_SUFFIXES = tuple(_READERS)
"""Suffixes of the mesh files that are read."""


class MeshExtent(NamedTuple):
    """What a robot file needs to know of a mesh.

    Attributes:
        bounds: The lowest and the highest coordinates, unscaled, shape (2, 3).
        triangles: Number of its triangles.
    """

    bounds: Array
    triangles: int


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
    """Load a mesh file by its suffix, in its own units, COLLADA and glTF in metres.

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
            remedy=f"convert it to one of {', '.join(MESH_SUFFIXES)}",
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


def mesh_extent(path: Path, *, diagnostics: Diagnostics, line: int | None = None) -> "MeshExtent":
    """Return the extent of a mesh file, which is valid; see `load_mesh`.

    That of a large file is kept in the user's cache by the digest of its content: checking the
    meshes of an arm takes longer than a query that needs none of their triangles.
    """
    kept = _kept_extent(path)
    with suppress(OSError, ValueError, TypeError):
        if kept is not None:
            lower, upper, triangles = parse_json(read_regular(kept, most=_MOST_EXTENT).decode())
            bounds = np.array([lower, upper], dtype=np.float64).reshape(2, 3)
            return MeshExtent(bounds, int(triangles))
    mesh = load_mesh(path, diagnostics=diagnostics, line=line)
    if kept is not None:
        data = strict_json([*mesh.bounds.tolist(), len(mesh.faces)], indent=None)
        with suppress(OSError, OutputError):
            make_folder(kept.parent)
            write_atomic(kept, data.encode())
    return MeshExtent(mesh.bounds, len(mesh.faces))


def _kept_extent(path: Path) -> Path | None:
    """Return the file in the user's cache for the extent of a mesh; None for a small mesh."""
    try:
        size = path.stat().st_size
        if not _LEAST_KEPT <= size <= MOST_BYTES or path.suffix.lower() not in _READERS:
            return None
        content = sha256(path.suffix.lower().encode() + read_regular(path, most=MOST_BYTES))
        code = file_closure(Path(__file__)).digest
        return cache_folder() / "meshes" / f"{content.hexdigest()[:32]}-{code[:16]}"
    except (OSError, ValueError, OutputError):  # reported when it is loaded
        return None


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
