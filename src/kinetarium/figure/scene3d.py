"""Scene3D: coloured meshes above a ground grid, and the camera."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import cos, floor, log10, radians, sin, tan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.model.mesh.triangles import read_only_mesh
from kinetarium.model.robot import TriangleMesh
from kinetarium.spatial.arrays import Array, frozen

Color = tuple[float, float, float, float]
"""Red, green, blue and opacity in 0..1."""

_FILLED = 0.88
"""Share of the picture's width or height that the bodies fill; the rest is margin."""


@dataclass(frozen=True, eq=False)
class Mesh3D:
    """Triangles of one colour.

    Attributes:
        name: Text of its tooltip.
        mesh: The triangles in the body frame [m]; at least one.
        color: Their colour.
        X_WB: Pose of the body, shape (4, 4).
    """

    name: str
    mesh: TriangleMesh
    color: Color
    X_WB: Array

    @cached_property
    def world_points(self) -> Array:
        """The vertices in the world frame [m], shape (n, 3)."""
        return frozen(self.mesh.vertices @ self.X_WB[:3, :3].T + self.X_WB[:3, 3])


@dataclass(frozen=True, eq=False)
class Camera:
    """A perspective camera with z up.

    Attributes:
        eye: Position in the world frame [m], shape (3,).
        target: Point it looks at, in the world frame [m], shape (3,).
        view_angle: Full vertical angle of view [rad].
    """

    eye: Array
    target: Array
    view_angle: float = radians(45.0)

    @cached_property
    def rotation(self) -> Array:
        """R_WC: the axes of the picture (right, up, towards the eye) in the world, shape (3, 3)."""
        back = (self.eye - self.target) / np.linalg.norm(self.eye - self.target)
        right = np.cross([0.0, 0.0, 1.0], back)
        right /= np.linalg.norm(right)
        return frozen(np.column_stack([right, np.cross(back, right), back]))


@dataclass(frozen=True, slots=True, eq=False)
class GroundGrid:
    """A grid of lines in a horizontal plane.

    Attributes:
        spacing: Distance of the lines [m].
        lines: Both ends of every line in the world frame [m], shape (n, 2, 3).
    """

    spacing: float
    lines: Array


@dataclass(frozen=True, eq=False)
class Scene3D:
    """Bodies in the world.

    Attributes:
        title: What it shows.
        bodies: The bodies; at least one.
    """

    title: str
    bodies: tuple[Mesh3D, ...]

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """Lowest and highest corner of all bodies in the world frame [m], each of shape (3,)."""
        low = np.min([body.world_points.min(axis=0) for body in self.bodies], axis=0)
        high = np.max([body.world_points.max(axis=0) for body in self.bodies], axis=0)
        return frozen(low), frozen(high)

    @cached_property
    def ground(self) -> GroundGrid:
        """The grid under the bodies: 1, 2 or 5 times a power of ten wide, on such multiples."""
        low, high = self.bounds
        spacing = _round_length(float(np.max(high - low)) / 6)
        first = (np.floor(low[:2] / spacing) - 1) * spacing
        counts = np.ceil(high[:2] / spacing) + 1 - first / spacing
        lines = []
        for along, across in ((0, 1), (1, 0)):
            for step in range(round(counts[across]) + 1):
                ends = np.full((2, 3), low[2])
                ends[:, across] = first[across] + step * spacing
                ends[:, along] = first[along], first[along] + counts[along] * spacing
                lines.append(ends)
        return GroundGrid(spacing, frozen(lines))

    def camera(self, *, aspect: float, azimuth: float = 38.0, elevation: float = 18.0) -> Camera:
        """Return the nearest camera that sees all bodies.

        Args:
            aspect: Width over height of the picture.
            azimuth: Direction of the camera about z, from x [deg].
            elevation: Height of the camera above the horizon [deg].
        """
        a, e = radians(azimuth), radians(elevation)
        direction = np.array([cos(e) * cos(a), cos(e) * sin(a), sin(e)])
        points = np.concatenate([body.world_points for body in self.bodies])
        target = (self.bounds[0] + self.bounds[1]) / 2
        camera = Camera(target + direction, target)
        slope = _FILLED * tan(camera.view_angle / 2)
        for _ in range(4):  # the centre of the picture depends on the distance, and vice versa
            x, y, z = ((points - target) @ camera.rotation).T
            distance = float(np.max(z + np.maximum(np.abs(x) / aspect, np.abs(y)) / slope))
            seen = np.stack([x, y]) / (distance - z)
            middle = (seen.min(axis=1) + seen.max(axis=1)) / 2 * distance
            target = target + camera.rotation[:, :2] @ middle
        return Camera(frozen(target + distance * direction), frozen(target))


def _round_length(length: float) -> float:
    """Return the nearest of 1, 2 and 5 times a power of ten."""
    power = 10.0 ** floor(log10(length))
    return min((1.0, 2.0, 5.0, 10.0), key=lambda digit: abs(digit * power - length)) * power


Indices = NDArray[np.int64]

_FINEST = 1024
"""Cells along the longest side; more cannot be distinguished on a screen."""
_WELD = 1e-5
"""Vertices nearer than this are one, relative to the longest side of a mesh."""


def face_shares(faces: Sequence[int], *, total: int, least: int) -> list[int]:
    """Return how many triangles each mesh of a robot may have, so that all have few in sum.

    Each has a share in proportion to its triangles, as a body with one large mesh needs more of
    them than one of many parts; or the least, if that is more.

    Args:
        faces: The triangles of each mesh.
        total: How many they share.
        least: How many each may have in any case.
    """
    scale = min(1.0, total / max(sum(faces), 1))
    return [max(int(scale * count), least) for count in faces]


def decimate(mesh: TriangleMesh, *, most_faces: int) -> TriangleMesh:
    """Simplify a mesh for display; a closed surface stays closed.

    Args:
        most_faces: Maximum number of triangles of the result.

    Returns:
        The mesh itself if it is small enough, else with its cheapest edges collapsed: of those
        that leave the surface what it is, or of all edges if these do not suffice. Where no edge
        can be collapsed any more, vertices are clustered.
    """
    if len(mesh.faces) <= most_faces:
        return mesh
    # Imported here, since Numba takes a second to load.
    from kinetarium.figure._collapse_kernel import collapse

    low = mesh.vertices.min(axis=0)
    size = float((mesh.vertices.max(axis=0) - low).max()) or 1.0
    points, faces = _welded((mesh.vertices - low) / size, mesh.faces)
    strict = not _is_tangled(faces)
    moved, left = collapse(points, faces, most_faces, strict)
    if strict and len(left) > most_faces:
        # From the start again: what is left is coarse wherever edges could be collapsed.
        strict = False
        moved, left = collapse(points, faces, most_faces, strict)
    used, corners = np.unique(left if strict else _distinct(left), return_inverse=True)
    simple = read_only_mesh(moved[used] * size + low, corners.reshape(-1, 3))
    return simple if len(simple.faces) <= most_faces else _clustered(simple, most_faces)


def _welded(points: Array, faces: NDArray[Any]) -> tuple[Array, Indices]:
    """Join vertices of one place, which files repeat along edges, and drop degenerate faces."""
    _, first, of_vertex = np.unique(
        np.round(points / _WELD).astype(np.int64), axis=0, return_index=True, return_inverse=True
    )
    joined = of_vertex.ravel()[np.asarray(faces, dtype=np.int64)]
    a, b, c = joined.T
    return points[first], _distinct(joined[(a != b) & (b != c) & (c != a)])


def _is_tangled(faces: Indices) -> bool:
    """Return whether an edge has more than two faces, so that strict collapses get stuck."""
    edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    _, counts = np.unique(edges[:, 0] * (int(faces.max()) + 1) + edges[:, 1], return_counts=True)
    return bool((counts > 2).any())


def _distinct(faces: Indices) -> Indices:
    """Return faces without those that have the corners of another."""
    _, kept = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
    return faces[np.sort(kept)]


def _clustered(mesh: TriangleMesh, most_faces: int) -> TriangleMesh:
    """Return the finest vertex clustering of a mesh that is small enough."""
    coarse, fine = 1, _FINEST
    best = _cluster(mesh, coarse)
    while fine - coarse > max(1, coarse // 16):
        middle = round((coarse * fine) ** 0.5) if coarse * 2 < fine else (coarse + fine) // 2
        clusters = _cluster(mesh, middle)
        if len(clusters.faces) <= most_faces:
            coarse, best = middle, clusters
        else:
            fine = middle
    return _rebuild(mesh, best)


class _Clusters(NamedTuple):
    """A clustering: the cluster of each vertex, and the triangles with three distinct corners."""

    of_vertex: Indices
    faces: Indices
    cell: float


def _cluster(mesh: TriangleMesh, cells: int) -> _Clusters:
    low = mesh.vertices.min(axis=0)
    cell = float((mesh.vertices.max(axis=0) - low).max()) / cells
    i, j, k = np.floor((mesh.vertices - low) / (cell or 1.0)).astype(np.int64).T
    _, of_vertex = np.unique((i * (cells + 1) + j) * (cells + 1) + k, return_inverse=True)
    faces = of_vertex[mesh.faces]
    a, b, c = faces.T
    faces = faces[(a != b) & (b != c) & (c != a)]
    _, first = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
    return _Clusters(of_vertex, faces[np.sort(first)], cell)


def _rebuild(mesh: TriangleMesh, clusters: _Clusters) -> TriangleMesh:
    points = _best_points(mesh, clusters)
    used, faces = np.unique(clusters.faces, return_inverse=True)
    return read_only_mesh(points[used], faces.reshape(-1, 3))


def _best_points(mesh: TriangleMesh, clusters: _Clusters) -> Array:
    """Return the point of each cluster nearest to its planes, within half a cell of its mean."""
    count = int(clusters.of_vertex.max()) + 1
    members = np.bincount(clusters.of_vertex, minlength=count)[:, None]
    means = np.column_stack(
        [np.bincount(clusters.of_vertex, axis, minlength=count) for axis in mesh.vertices.T]
    ) / np.maximum(members, 1)

    p, q, r = mesh.vertices[mesh.faces].transpose(1, 0, 2)
    normals = np.cross(q - p, r - p)  # weighted by twice the area
    A, b = np.zeros((count, 3, 3)), np.zeros((count, 3))
    for corner in mesh.faces.T:
        cluster = clusters.of_vertex[corner]
        heights = np.einsum("ij,ij->i", normals, p - means[cluster])
        np.add.at(A, cluster, normals[:, :, None] * normals[:, None, :])
        np.add.at(b, cluster, heights[:, None] * normals)

    # Directions that the planes hardly constrain stay at the mean.
    values, vectors = np.linalg.eigh(A)
    firm = values > 1e-3 * values[:, -1:]
    inverse = np.where(firm, 1.0 / np.where(firm, values, 1.0), 0.0)
    along = np.einsum("nji,nj->ni", vectors, b) * inverse
    steps = np.einsum("nij,nj->ni", vectors, along)
    points: Array = means + np.clip(steps, -clusters.cell / 2, clusters.cell / 2)
    return points
