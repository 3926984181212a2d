"""Shapes of links: primitives centred on their own frame, and triangle meshes."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kinetarium.spatial.arrays import Array


@dataclass(frozen=True, slots=True)
class Box:
    """A box with its edges along the axes.

    Attributes:
        size: Full edge lengths along x, y, z [m].
    """

    size: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Sphere:
    """A sphere.

    Attributes:
        radius: Radius [m].
    """

    radius: float


@dataclass(frozen=True, slots=True)
class Cylinder:
    """A cylinder along z.

    Attributes:
        radius: Radius [m].
        length: Full length along z [m].
    """

    radius: float
    length: float


@dataclass(frozen=True, slots=True)
class Capsule:
    """A cylinder along z with a half sphere at each end.

    Attributes:
        radius: Radius [m].
        length: Length of the cylindrical part along z [m].
    """

    radius: float
    length: float


@dataclass(frozen=True, slots=True, eq=False)
class TriangleMesh:
    """Triangles as plain read-only arrays.

    Attributes:
        vertices: Corner points [m], shape (n, 3).
        faces: Indices of the corners of each triangle, shape (m, 3).
    """

    vertices: Array
    faces: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class MeshFile:
    """A triangle mesh that lives in a file and is loaded when it is needed.

    Attributes:
        uri: The address as the robot file wrote it.
        path: The file, resolved and inside the allowed roots.
        scale: Factors along x, y, z; a negative one mirrors.
    """

    uri: str
    path: Path
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class MeshData:
    """A triangle mesh that was written in the robot file itself, or made from a shape.

    Attributes:
        name: What to call it.
        mesh: The triangles.
    """

    name: str
    mesh: TriangleMesh


Shape = Box | Sphere | Cylinder | Capsule | MeshFile | MeshData
