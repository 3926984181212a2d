"""Mesh assets: mesh files, and meshes in the MJCF file itself."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.model.diagnostics import Allowance, Code, RobotFileError, read_robot_part
from kinetarium.model.markup import Element
from kinetarium.model.mesh.formats import read_obj_points
from kinetarium.model.mesh.mesh import mesh_of
from kinetarium.model.mesh.triangles import (
    MOST_COORDINATE,
    BrokenMeshError,
    convex_hull,
    read_only_mesh,
    triangle_mesh,
)
from kinetarium.model.mjcf.compiler import read_quaternion
from kinetarium.model.mjcf.document import MjcfDocument
from kinetarium.model.robot import IDENTITY, Inertia, MeshData, MeshFile, TriangleMesh
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose

_LEAST_VOLUME = 1e-15
_PIECE = 100_000
"""Triangles per block, to bound the memory."""

Simplices = Iterator[tuple[Array, Array]]
"""Masses, shape (n,), and corners, shape (n, 3 or 4, 3), of triangles or pyramids."""


class MeshInertia(StrEnum):
    """How a mesh is filled with mass."""

    CONVEX = "convex"
    """As its convex hull."""
    EXACT = "exact"
    """As the solid that its triangles enclose."""
    LEGACY = "legacy"
    """As pyramids over its triangles that all count as positive, MuJoCo's own default."""
    SHELL = "shell"
    """On its surface only."""


def mesh_inertia(mesh: TriangleMesh, rule: MeshInertia) -> Inertia:
    """Return the inertia of a mesh of density one [1/m^3, or 1/m^2 for a shell].

    Args:
        mesh: The triangles [m]; those of its hull for the rule CONVEX.
    """
    if rule is MeshInertia.EXACT and not _are_consistent(mesh.faces):
        raise BrokenMeshError("some of its triangles face inwards")
    triangles = partial(_simplices, mesh.vertices, mesh.faces, rule=rule)
    area, first = _first_moment(triangles(apex=None))
    if area <= _LEAST_VOLUME:
        raise BrokenMeshError("it has no surface")
    middle = first / area
    if rule is MeshInertia.SHELL:
        return _summed(triangles(apex=None), middle)
    volume, first = _first_moment(triangles(apex=middle))
    if volume <= _LEAST_VOLUME:
        raise BrokenMeshError("it encloses no volume, or its triangles face inwards")
    center = first / volume
    # MuJoCo computes the pyramids again about the centre of mass; it matters if they overlap.
    return _summed(triangles(apex=center), center)


def _are_consistent(faces: NDArray[np.integer[Any]]) -> bool:
    """Return whether no edge has the same direction in two triangles, as MuJoCo requires."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]).astype(np.int64)
    numbers = np.sort(edges[:, 0] * (int(faces.max()) + 1) + edges[:, 1])
    return not np.any(numbers[1:] == numbers[:-1])


def _simplices(
    vertices: Array, faces: NDArray[np.integer[Any]], *, rule: MeshInertia, apex: Array | None
) -> Simplices:
    """Return triangles with their areas or, over an apex, pyramids with their volumes."""
    for start in range(0, len(faces), _PIECE):
        corners = vertices[faces[start : start + _PIECE]]
        if apex is None:
            normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            yield np.linalg.norm(normals, axis=1) / 2, corners
            continue
        a, b, c = (corners[:, i] - apex for i in range(3))
        volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
        if rule is MeshInertia.LEGACY:
            volumes = np.abs(volumes)
        tops = np.broadcast_to(apex, (len(corners), 1, 3))
        yield volumes, np.concatenate([corners, tops], axis=1)


def _first_moment(simplices: Simplices) -> tuple[float, Array]:
    """Return the mass of simplices of uniform density, and that times their centre of mass."""
    mass, first = 0.0, np.zeros(3)
    for masses, corners in simplices:
        mass += float(masses.sum())
        first += masses @ corners.mean(axis=1)
    return mass, first


def _summed(simplices: Simplices, center: Array) -> Inertia:
    """Add up simplices of uniform density about a centre.

    The second moment of a simplex of mass m and n corners r_i about the origin
    is m (sum r_i r_i^T + s s^T) / (n (n + 1)) with s = sum r_i.
    """
    mass, second = 0.0, np.zeros((3, 3))
    for masses, corners in simplices:
        arms = corners - center
        count = corners.shape[1]
        total = arms.sum(axis=1)
        weighted = (masses[:, None, None] * arms).reshape(-1, 3)
        squares = weighted.T @ arms.reshape(-1, 3) + (masses[:, None] * total).T @ total
        second += squares / (count * (count + 1))
        mass += float(masses.sum())
    moment = np.trace(second) * np.eye(3) - second
    return Inertia(mass, frozen(center), frozen(moment))


_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class MeshPlacement:
    """The transform of a mesh asset's vertices by refpos, refquat and scale.

    A vertex v becomes S R' (v - p): the scale is applied last, along the axes of the
    geom and not along those of the mesh.

    Attributes:
        position: The point p of the mesh that becomes the origin [m], shape (3,).
        R: The orientation in the mesh that becomes the geom's own, shape (3, 3).
        scale: The diagonal of S, shape (3,).
    """

    position: Array
    R: Array
    scale: Array

    def as_scale_and_pose(self) -> tuple[tuple[float, float, float], Array] | None:
        """Compute the equivalent scale along the axes of the mesh and the pose after it.

        S R' = R' D with D = R S R', which is a scale if it is diagonal: if all factors are
        equal or the axes stay parallel to those of the mesh.

        Returns:
            The factors and the pose X_GM, shape (4, 4); None where the mesh is sheared.
        """
        D = self.R @ np.diag(self.scale) @ self.R.T
        x, y, z = np.diag(D)
        if np.abs(D - np.diag([x, y, z])).max() > _ROUNDING * np.abs(self.scale).max():
            return None
        X_GM = pose(-self.R.T @ D @ self.position, self.R.T)
        return (float(x), float(y), float(z)), frozen(X_GM)

    def placed(self, points: Array) -> Array:
        """Return the transformed points of the mesh [m], shape (n, 3)."""
        return np.asarray((points - self.position) @ self.R * self.scale)

    def applied(self, mesh: TriangleMesh) -> TriangleMesh:
        """Return the transformed mesh; the triangles of a mirrored one are flipped."""
        faces = mesh.faces[:, ::-1] if np.prod(self.scale) < 0 else mesh.faces
        return read_only_mesh(self.placed(mesh.vertices), faces)


MOST_WEIGHED_TRIANGLES = 1_000_000
"""Limit on triangles for mass computation; robots with finer meshes state their masses."""
MOST_HULL_FACES = 20_000
"""Limit on faces of all hulls of one file."""
MOST_SHEARED_TRIANGLES = 1_000_000
"""Limit on triangles of files that are copied because their scale shears them."""
LEAST_HULL_CORNERS = 4
"""Least number of corners of a hull that encloses a volume."""
_LOST = (Code.MESH_MISSING, Code.MESH_OUTSIDE, Code.MESH_REMOTE)
_COORDINATES = 3


@dataclass(frozen=True, slots=True, eq=False)
class MeshAsset:
    """A mesh that geoms refer to.

    Attributes:
        shape: The mesh, or None if it is missing and the user allows that.
        X_GM: Pose of the mesh's own frame in the frame of a geom, shape (4, 4).
        rule: How it is filled with mass.
        material: The material of geoms without one, or empty.
        most_corners: Greatest number of corners of its hull; None for any number.
        points: The points of its hull, unused vertices included, shape (n, 3); None for the
            vertices of the triangles.
    """

    shape: MeshFile | MeshData | None
    X_GM: Array
    rule: MeshInertia
    material: str
    most_corners: int | None = None
    points: Array | None = None


class Meshes:
    """The mesh assets of one file, unused ones included."""

    def __init__(self, sections: Sequence[Element], *, document: MjcfDocument) -> None:
        """Read the meshes of all <asset> sections."""
        self._document = document
        self._diagnostics = document.diagnostics
        self._assets: dict[str, MeshAsset | None] = {}
        self._weighed: dict[tuple[MeshFile | MeshData, MeshInertia, int | None], Inertia] = {}
        self._triangles = 0
        self._hull_faces = 0
        self._sheared = 0
        for element in (child for section in sections for child in section.all("mesh")):
            with document.diagnostics.at(element):
                name = self._name(element)
                if name in self._assets:
                    raise document.diagnostics.refusal(
                        Code.DUPLICATE_NAME, f"duplicate mesh name {name!r}"
                    )
                self._assets[name] = None
                self._assets[name] = self._asset(name, element)

    def get(self, geom: Element) -> MeshAsset | None:
        """Return the mesh that a geom names; None for one that was refused."""
        name = self._document.reading.attributes.text(geom, "mesh")
        if name not in self._assets:
            raise self._document.unknown(geom, "mesh", name, known=self._assets)
        return self._assets[name]

    def unit_inertia(self, asset: MeshAsset, *, geom: Element) -> Inertia:
        """Compute the inertia of a mesh at density one, once even if several geoms use it."""
        shape, rule = asset.shape, asset.rule
        assert shape is not None
        key = (shape, rule, asset.most_corners)
        if key not in self._weighed:
            if self._triangles > MOST_WEIGHED_TRIANGLES:
                raise self._diagnostics.refusal(
                    Code.TOO_LARGE,
                    f"{geom}: masses of meshes with more than {MOST_WEIGHED_TRIANGLES:,} triangles",
                    remedy="add an <inertial> to the bodies",
                )
            mesh = mesh_of(shape)
            self._triangles += len(mesh.faces)
            if rule is MeshInertia.CONVEX:
                points = mesh.vertices if asset.points is None else asset.points
                mesh = read_only_mesh(points, self._hull(points, geom))
                self._refuse_cut_hull(mesh, asset, geom=geom)
            self._weighed[key] = mesh_inertia(mesh, rule)
        return self._weighed[key]

    def _refuse_cut_hull(self, hull: TriangleMesh, asset: MeshAsset, *, geom: Element) -> None:
        if asset.most_corners is not None and len(np.unique(hull.faces)) > asset.most_corners:
            raise self._diagnostics.refusal(
                Code.UNSUPPORTED,
                f"{geom} is needed for the mass of its body, and maxhullvert simplifies the "
                "hull of its mesh",
                remedy='remove maxhullvert, write inertia="exact", or write an <inertial>',
            )

    def _hull(self, points: Array, element: Element) -> NDArray[np.int64]:
        if self._hull_faces > MOST_HULL_FACES:
            raise self._diagnostics.refusal(
                Code.TOO_LARGE,
                f"{element}: more than {MOST_HULL_FACES:,} faces of hulls in one file",
                remedy="write the faces of the meshes, and the masses of the bodies",
            )
        faces = convex_hull(points)
        self._hull_faces += len(faces)
        return faces

    def _name(self, element: Element) -> str:
        """Return the name of a mesh: its own, or that of its file without the suffix."""
        if "name" in element.attributes:
            return self._document.reading.attributes.name(element)
        return PurePosixPath(self._document.reading.attributes.name(element, "file")).stem

    def _asset(self, name: str, written: Element) -> MeshAsset:
        attributes = self._document.reading.attributes
        element = self._document.defaults.complete(written)
        placement = self._placement(element)
        if "builtin" in element.attributes:
            raise self._diagnostics.refusal(
                Code.UNSUPPORTED,
                f"{element}: built-in meshes are not supported",
                remedy="load and save the file with MuJoCo, which writes their vertices",
            )
        if "file" in element.attributes and "vertex" in element.attributes:
            raise self._diagnostics.refusal(
                Code.BAD_VALUE, f"{element} has both a file and vertices"
            )
        rule = attributes.choice(element, "inertia", MeshInertia, default=MeshInertia.LEGACY)
        shape: MeshFile | MeshData | None
        if "vertex" in element.attributes:
            shape, X_GM = MeshData(name, self._written_mesh(element, placement)), IDENTITY
            points: Array | None = placement.placed(self._rows(element, "vertex"))
        else:
            shape, X_GM = self._file(name, element, placement)
            hull = rule is MeshInertia.CONVEX
            points = self._file_points(shape, element, placement) if hull else None
        most = int(attributes.number(element, "maxhullvert", default=-1.0))
        if most != -1 and most < LEAST_HULL_CORNERS:
            raise self._diagnostics.refusal(
                Code.BAD_VALUE,
                f"{element}: maxhullvert is {most}",
                remedy=f"at least {LEAST_HULL_CORNERS}, or -1 for any number",
            )
        return MeshAsset(
            most_corners=None if most == -1 else most,
            points=points,
            shape=shape,
            X_GM=X_GM,
            rule=rule,
            material=element.attributes.get("material", ""),
        )

    def _placement(self, element: Element) -> MeshPlacement:
        attributes = self._document.reading.attributes
        scale = attributes.vector(element, "scale", 3, default=(1.0, 1.0, 1.0))
        if 0 in scale:
            raise self._diagnostics.refusal(Code.SIZE, f"{element}: the scale is zero")
        return MeshPlacement(
            position=attributes.vector(element, "refpos", 3, default=(0.0, 0.0, 0.0)),
            R=read_quaternion(element, "refquat", reading=self._document.reading),
            scale=scale,
        )

    def _file(
        self, name: str, element: Element, placement: MeshPlacement
    ) -> tuple[MeshFile | MeshData | None, Array]:
        """Return the mesh of a file and its pose, or None if it is missing and that is allowed."""
        reading, address = self._document.reading, self._address(element)
        try:
            path = reading.assets.mesh(address, line=element.line)
        except RobotFileError as error:
            lost = all(refusal.code in _LOST for refusal in error.refusals)
            if not lost or Allowance.MISSING_MESH not in reading.diagnostics.allow:
                raise
            reading.diagnostics.repair(
                Code.MESH_MISSING, f"{element}", f"omitted the mesh {address!r}",
                line=element.line,
            )  # fmt: skip
            return None, IDENTITY
        extent = np.abs(reading.mesh_bounds(path, line=element.line)).max(axis=0)
        reach = np.linalg.norm(extent) + np.linalg.norm(placement.position)
        if reach * np.abs(placement.scale).max() > MOST_COORDINATE:
            raise self._diagnostics.refusal(
                Code.SIZE, f"{element}: the scale makes the mesh larger than 1e9 m"
            )
        rigid = placement.as_scale_and_pose()
        if rigid is not None:
            scale, X_GM = rigid
            return MeshFile(address, path, scale), X_GM
        mesh = mesh_of(MeshFile(address, path))
        self._sheared += len(mesh.faces)
        if self._sheared > MOST_SHEARED_TRIANGLES:
            raise self._diagnostics.refusal(
                Code.TOO_LARGE,
                f"{element}: more than {MOST_SHEARED_TRIANGLES:,} triangles with an uneven scale "
                "across a refquat",
                remedy="turn the meshes themselves, or scale them evenly",
            )
        return MeshData(name, placement.applied(mesh)), IDENTITY

    def _file_points(
        self, shape: MeshFile | MeshData | None, element: Element, placement: MeshPlacement
    ) -> Array | None:
        """Return all vertices of an OBJ file, since MuJoCo's hull includes unused ones."""
        reading = self._document.reading
        address = self._address(element)
        if shape is None or not address.lower().endswith(".obj"):
            return None
        path = reading.assets.mesh(address, line=element.line)
        data = read_robot_part(path, diagnostics=reading.diagnostics, code=Code.MESH_BROKEN)
        points = read_obj_points(data)
        return points * shape.scale if isinstance(shape, MeshFile) else placement.placed(points)

    def _address(self, element: Element) -> str:
        compiler = self._document.compiler
        file = self._document.reading.attributes.name(element, "file")
        return compiler.address(file, folder=compiler.mesh_folder)

    def _written_mesh(self, element: Element, placement: MeshPlacement) -> TriangleMesh:
        try:
            vertices = self._rows(element, "vertex")
            if len(vertices) < 4:
                raise BrokenMeshError("it has fewer than four vertices")
            if "face" in element.attributes:
                rows = self._rows(element, "face")
                faces = rows.astype(np.int64)
                if np.any(faces != rows):
                    raise BrokenMeshError("a face has an index that is not an integer")
            else:
                faces = self._hull(vertices, element)
            placed = placement.applied(triangle_mesh(vertices, faces))
            return triangle_mesh(placed.vertices, placed.faces)
        except BrokenMeshError as error:
            raise self._diagnostics.refusal(
                Code.MESH_BROKEN, f"{element} is broken: {error}"
            ) from None

    def _rows(self, element: Element, name: str) -> Array:
        numbers = self._document.reading.attributes.numbers(element, name)
        if not numbers or len(numbers) % _COORDINATES:
            raise BrokenMeshError(f"{name} has {len(numbers)} numbers, not a multiple of three")
        return np.reshape(numbers, (-1, _COORDINATES))
