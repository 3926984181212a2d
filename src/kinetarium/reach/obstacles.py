"""Obstacles around a base, from a JSON file.

    {"ground": true,
     "spheres": [{"center": [x, y, z], "radius": r}],
     "boxes": [{"position": [...], "quaternion_wxyz": [...], "size": [x, y, z]}],
     "meshes": [{"file": "shelf.stl", "position": [...], "quaternion_wxyz": [...]}]}

Everything is in metres in the world; every part may be left out. Mesh files stand in the
folder of the JSON file or below it.
"""

from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

import numpy as np

from kinetarium.errors import KinetariumError
from kinetarium.model.robot import Geometry
from kinetarium.model.shapes import Box, MeshFile, Sphere
from kinetarium.reach.plane import Plane
from kinetarium.reach.pose_file import PoseFileError, read_json
from kinetarium.reach.site import Surroundings
from kinetarium.recording.plain import from_plain
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_from_quaternion

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

UPRIGHT = (1.0, 0.0, 0.0, 0.0)


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
class _Scene:
    ground: bool = False
    spheres: tuple[_Sphere, ...] = ()
    boxes: tuple[_Box, ...] = ()
    meshes: tuple[_Mesh, ...] = ()


def read_obstacles(path: str | PathLike[str], *, plane: Plane) -> Surroundings:
    """Read what stands around.

    Args:
        path: The JSON file.
        plane: The plane of bases.

    Returns:
        The shapes, in the plane's frame.

    Raises:
        KinetariumError: If the file cannot be read, or does not say obstacles.
    """
    where = repr(fspath(path))
    scene = from_plain(_Scene, read_json(path), where=where)
    X_PW = inverse_pose(plane.frame)
    shapes = []
    for sphere in scene.spheres:
        _check(sphere.radius > 0, where, "a sphere needs a radius")
        shapes.append(
            Geometry(Sphere(sphere.radius), X_PW @ _placed(sphere.center, UPRIGHT, where))
        )
    for box in scene.boxes:
        _check(min(box.size) > 0, where, "a box needs a size")
        X_WO = _placed(box.position, box.quaternion_wxyz, where)
        shapes.append(Geometry(Box(box.size), X_PW @ X_WO))
    folder = Path(fspath(path)).resolve().parent
    for mesh in scene.meshes:
        X_WO = _placed(mesh.position, mesh.quaternion_wxyz, where)
        shapes.append(Geometry(_mesh_file(mesh.file, folder, where), X_PW @ X_WO))
    return Surroundings(tuple(shapes), scene.ground)


def _mesh_file(name: str, folder: Path, where: str) -> MeshFile:
    try:
        file = (folder / name).resolve()
    except (OSError, ValueError) as error:
        raise PoseFileError(f"{where}: {name!r} is not a valid path") from error
    _check(file.is_relative_to(folder), where, f"mesh {name!r} is outside the file's folder")
    _check(file.is_file(), where, f"there is no mesh {name!r}")
    return MeshFile(name, file)


def _placed(position: Vector, quaternion: Quaternion, where: str) -> Array:
    numbers = np.array([*position, *quaternion])
    _check(bool(np.isfinite(numbers).all() and any(quaternion)), where, "a pose is not one")
    return pose(position, rotation_from_quaternion(quaternion))


def _check(sound: bool, where: str, fault: str) -> None:
    if not sound:
        raise KinetariumError(f"{where}: {fault}")
