"""Obstacles around a base, from a JSON file.

    {"ground": true,
     "spheres": [{"center": [x, y, z], "radius": r}],
     "boxes": [{"position": [...], "quaternion_wxyz": [...], "size": [x, y, z]}],
     "meshes": [{"file": "shelf.stl", "position": [...], "quaternion_wxyz": [...]}]}

Everything is in metres in the world frame; every key is optional. Mesh files are in the folder
of the JSON file or below it, not behind symbolic links that leave it. A mesh counts as
the convex hulls of its connected parts: model a shelf by its boards.
"""

from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

import numpy as np

from kinetarium.errors import KinetariumError
from kinetarium.model.robot import Box, Geometry, MeshFile, Sphere
from kinetarium.reach.collision.arm_in_scene import Obstacles
from kinetarium.reach.placement.files import GREATEST, PoseFileError, read_json
from kinetarium.reach.placement.plane import BasePlane
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_from_quaternion
from kinetarium.storage.serialization import from_builtins

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

UPRIGHT = (1.0, 0.0, 0.0, 0.0)

MOST_SHAPES = 10_000
MOST_MESHES = 1_000
"""Greatest number of meshes; each is divided into convex pieces."""
_LONGEST_NAME = 1_000
_LEAST_QUATERNION = 1e-6
"""Length below which a quaternion counts as zero."""


@dataclass(frozen=True, slots=True)
class _Sphere:
    center: Vector
    radius: float


@dataclass(frozen=True, slots=True)
class _Box:
    position: Vector
    size: Vector
    quaternion_wxyz: Quaternion = UPRIGHT


@dataclass(frozen=True, slots=True)
class _Mesh:
    file: str
    position: Vector = (0.0, 0.0, 0.0)
    quaternion_wxyz: Quaternion = UPRIGHT


@dataclass(frozen=True, slots=True)
class _ObstacleFile:
    ground: bool = False
    spheres: tuple[_Sphere, ...] = ()
    boxes: tuple[_Box, ...] = ()
    meshes: tuple[_Mesh, ...] = ()


def read_obstacles(path: str | PathLike[str], *, plane: BasePlane) -> Obstacles:
    """Read obstacles from a JSON file.

    Returns:
        The shapes, in the plane's frame.

    Raises:
        KinetariumError: If the file cannot be read, or an obstacle is invalid.
    """
    where = repr(fspath(path))
    scene = from_builtins(_ObstacleFile, read_json(path), where=where)
    count = len(scene.spheres) + len(scene.boxes) + len(scene.meshes)
    _check(count <= MOST_SHAPES, where, f"it has more than {MOST_SHAPES} shapes")
    _check(len(scene.meshes) <= MOST_MESHES, where, f"it has more than {MOST_MESHES} meshes")
    X_PW = inverse_pose(plane.frame)
    shapes = []
    for sphere in scene.spheres:
        _check(0 < sphere.radius <= GREATEST, where, "a sphere has an invalid radius")
        shapes.append(
            Geometry(Sphere(sphere.radius), X_PW @ _placed(sphere.center, UPRIGHT, where))
        )
    for box in scene.boxes:
        _check(all(0 < edge <= GREATEST for edge in box.size), where, "a box has an invalid size")
        X_WO = _placed(box.position, box.quaternion_wxyz, where)
        shapes.append(Geometry(Box(box.size), X_PW @ X_WO))
    folder = Path(fspath(path)).resolve().parent
    for mesh in scene.meshes:
        X_WO = _placed(mesh.position, mesh.quaternion_wxyz, where)
        shapes.append(Geometry(_mesh_file(mesh.file, folder, where), X_PW @ X_WO))
    return Obstacles(tuple(shapes), scene.ground)


def _mesh_file(name: str, folder: Path, where: str) -> MeshFile:
    _check(len(name) <= _LONGEST_NAME, where, "a mesh's name is too long")
    try:
        file = (folder / name).resolve()
        there = file.is_file()
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError for a cycle of links
        raise PoseFileError(f"{where}: {name!r} is not a valid path") from error
    _check(file.is_relative_to(folder), where, f"mesh {name!r} is outside the file's folder")
    _check(there, where, f"there is no mesh {name!r}")
    return MeshFile(name, file)


def _placed(position: Vector, quaternion: Quaternion, where: str) -> Array:
    near = max(map(abs, (*position, *quaternion))) <= GREATEST
    _check(near and np.linalg.norm(quaternion) >= _LEAST_QUATERNION, where, "a pose is invalid")
    return pose(position, rotation_from_quaternion(quaternion))


def _check(sound: object, where: str, fault: str) -> None:
    if not sound:
        raise KinetariumError(f"{where}: {fault}")
