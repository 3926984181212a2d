"""Mesh assets: files and meshes written in the file itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np

from kinetarium.model.findings import Allowance, Code, RobotFileError
from kinetarium.model.markup import Element
from kinetarium.model.mesh import load_mesh
from kinetarium.model.mjcf.compiler import read_quaternion
from kinetarium.model.mjcf.hull import convex_hull
from kinetarium.model.mjcf.mesh_masses import MeshInertia
from kinetarium.model.mjcf.scope import Scope
from kinetarium.model.shapes import MeshData, MeshFile, TriangleMesh
from kinetarium.model.triangles import BrokenMeshError, triangle_mesh
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose, pose

_LOST = (Code.MESH_MISSING, Code.MESH_OUTSIDE, Code.MESH_REMOTE)
_COORDINATES = 3


@dataclass(frozen=True, slots=True, eq=False)
class MeshAsset:
    """A mesh that geoms refer to.

    Attributes:
        shape: The mesh, or None where it is missing and the user allows that.
        X_GM: Pose of the mesh's own frame in the frame of a geom, shape (4, 4).
        rule: How it is filled with mass.
        material: The material of geoms that name none, or empty.
    """

    shape: MeshFile | MeshData | None
    X_GM: Array
    rule: MeshInertia
    material: str


class Meshes:
    """The mesh assets of one file, each looked at when a geom first asks for it."""

    def __init__(self, sections: Sequence[Element], *, scope: Scope) -> None:
        """List the meshes of all <asset> sections."""
        self._scope = scope
        self._elements: dict[str, Element] = {}
        self._assets: dict[str, MeshAsset] = {}
        for element in (child for section in sections for child in section.all("mesh")):
            with scope.origins.at(element):
                name = self._name(element)
                if name in self._elements:
                    raise scope.refusal(
                        Code.DUPLICATE_NAME, f"two meshes are named {name!r}", element
                    )
                self._elements[name] = element

    def get(self, geom: Element) -> MeshAsset:
        """Give the mesh that a geom names.

        Raises:
            RobotFileError: If there is none of that name, or it cannot be used.
        """
        name = self._scope.reading.attributes.text(geom, "mesh")
        if name not in self._elements:
            raise self._scope.unknown(geom, "mesh", name, known=self._elements)
        if name not in self._assets:
            self._assets[name] = self._asset(name, self._elements[name])
        return self._assets[name]

    def _name(self, element: Element) -> str:
        """Give the name of a mesh: its own, or that of its file without the suffix."""
        if "name" in element.attributes:
            return self._scope.reading.attributes.name(element)
        return PurePosixPath(self._scope.reading.attributes.name(element, "file")).stem

    def _asset(self, name: str, written: Element) -> MeshAsset:
        attributes = self._scope.reading.attributes
        element = self._scope.defaults.complete(written)
        x, y, z = attributes.vector(element, "scale", 3, default=(1.0, 1.0, 1.0))
        if 0 in (x, y, z):
            raise self._scope.refusal(
                Code.SIZE, f"{element}: a scale of zero flattens the mesh", element
            )
        if "builtin" in element.attributes:
            raise self._scope.refusal(
                Code.UNSUPPORTED,
                f"{element}: built-in meshes are not supported",
                element,
                remedy="load and save the file with MuJoCo, which writes their vertices",
            )
        scale = (float(x), float(y), float(z))
        if "file" in element.attributes and "vertex" in element.attributes:
            raise self._scope.refusal(
                Code.BAD_VALUE, f"{element} has both a file and vertices", element
            )
        shape = (
            self._file(element, scale)
            if "vertex" not in element.attributes
            else MeshData(name, self._written_mesh(element, scale))
        )
        position = attributes.vector(element, "refpos", 3, default=(0.0, 0.0, 0.0))
        R = read_quaternion(element, "refquat", reading=self._scope.reading)
        return MeshAsset(
            shape=shape,
            X_GM=inverse_pose(pose(position, R)),
            rule=attributes.choice(element, "inertia", MeshInertia, default=MeshInertia.LEGACY),
            material=element.attributes.get("material", ""),
        )

    def _file(self, element: Element, scale: tuple[float, float, float]) -> MeshFile | None:
        reading, compiler = self._scope.reading, self._scope.compiler
        address = reading.attributes.name(element, "file")
        if compiler.strip_path:
            address = PurePosixPath(address.replace("\\", "/")).name
        if compiler.mesh_folder and not address.startswith("/"):
            address = f"{compiler.mesh_folder.rstrip('/')}/{address}"
        try:
            path = reading.assets.mesh(address, line=element.line)
        except RobotFileError as error:
            lost = all(refusal.code in _LOST for refusal in error.refusals)
            if not lost or Allowance.MISSING_MESH not in reading.findings.allow:
                raise
            reading.findings.repair(
                Code.MESH_MISSING, f"{element}", f"left out the mesh {address!r}",
                line=element.line,
            )  # fmt: skip
            return None
        load_mesh(path, findings=reading.findings, line=element.line)
        return MeshFile(address, path, scale)

    def _written_mesh(self, element: Element, scale: tuple[float, float, float]) -> TriangleMesh:
        try:
            vertices = self._rows(element, "vertex") * scale
            if len(vertices) < 4:
                raise BrokenMeshError("it has fewer than four vertices")
            if "face" in element.attributes:
                rows = self._rows(element, "face")
                faces = rows.astype(np.int64)
                if np.any(faces != rows):
                    raise BrokenMeshError("a face holds a number that is not whole")
                if np.prod(scale) < 0:
                    faces = faces[:, ::-1]
            else:
                faces = convex_hull(vertices)
            return triangle_mesh(vertices, faces)
        except BrokenMeshError as error:
            raise self._scope.refusal(
                Code.MESH_BROKEN, f"{element} is broken: {error}", element
            ) from None

    def _rows(self, element: Element, name: str) -> Array:
        numbers = self._scope.reading.attributes.numbers(element, name)
        if not numbers or len(numbers) % _COORDINATES:
            raise BrokenMeshError(f"{name} holds {len(numbers)} numbers, not three for each")
        return np.reshape(numbers, (-1, _COORDINATES))
