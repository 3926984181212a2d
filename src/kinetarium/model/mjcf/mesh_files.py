"""Meshes as files that MuJoCo accepts: numbered, of bounded size, none flat."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from kinetarium.model.mesh import mesh_of
from kinetarium.model.shapes import MeshData, MeshFile, TriangleMesh
from kinetarium.model.stl import stl_bytes
from kinetarium.model.triangles import read_only_mesh

MOST_FACES = 200_000
"""MuJoCo reads no STL file with more; larger meshes are cut into several."""
_FLATNESS = 1e-6
"""A mesh thinner than this share of its extent is flat."""
_THICKNESS = 1e-4
"""How thick a flat mesh is made, as a share of its extent."""


class MeshFiles:
    """Collects the meshes of one model, each of them once.

    Attributes:
        files: The files so far, by name.
    """

    def __init__(self) -> None:
        """Begin with no files."""
        self.files: dict[str, bytes] = {}
        self._names: dict[tuple[Path | int, tuple[float, ...]], list[str]] = {}

    def add(self, shape: MeshFile | MeshData) -> list[str]:
        """Take in a mesh.

        Returns:
            The file names of its pieces; none if it has no surface at all.
        """
        if isinstance(shape, MeshFile):
            key: tuple[Path | int, tuple[float, ...]] = (shape.path, shape.scale)
        else:
            key = (id(shape.mesh), ())
        if key not in self._names:
            mesh = _with_volume(mesh_of(shape))
            self._names[key] = [self._write(piece) for piece in _pieces(mesh)] if mesh else []
        return self._names[key]

    def _write(self, mesh: TriangleMesh) -> str:
        name = f"{len(self.files):03d}.stl"
        self.files[name] = stl_bytes(mesh)
        return name


def _with_volume(mesh: TriangleMesh) -> TriangleMesh | None:
    """Give a flat mesh a second layer, for MuJoCo makes a convex hull of what touches."""
    vertices = mesh.vertices.astype(np.float32).astype(np.float64)
    centered = vertices - vertices.mean(axis=0)
    _, axes = np.linalg.eigh(centered.T @ centered)
    thin, middle, long = np.ptp(centered @ axes, axis=0)
    if middle <= _FLATNESS * long:
        return None
    if thin > _FLATNESS * long:
        return mesh
    layer = mesh.vertices + _THICKNESS * long * axes[:, 0]
    return read_only_mesh(
        np.concatenate([mesh.vertices, layer]),
        np.concatenate([mesh.faces, mesh.faces[:, ::-1] + len(layer)]),
    )


def _pieces(mesh: TriangleMesh) -> Iterator[TriangleMesh]:
    for start in range(0, len(mesh.faces), MOST_FACES):
        yield TriangleMesh(mesh.vertices, mesh.faces[start : start + MOST_FACES])
