"""Poses and trajectories of the tool in JSON files."""

import io
import re
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.errors import KinetariumError, OutputError
from kinetarium.reach.ik.solve import checked_poses
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose, rotation_from_quaternion
from kinetarium.storage.atomic import check_folder, make_folder, write_folder_atomic
from kinetarium.storage.serialization import SerializationError, read_strict_json, versioned_json

MOST_BYTES = 64_000_000
MOST_POSES = 100_000
MOST_VALUES = 4_000_000
"""Greatest number of JSON values of a file, more than those of all poses."""
GREATEST = 1e9
"""Greatest valid length or time [m, s]."""
POSE = {"position": 3, "quaternion_wxyz": 4}
"""The keys of a pose as a dictionary, with their count of numbers."""


class PoseFileError(KinetariumError):
    """A file without valid poses."""


def read_json(path: str | PathLike[str]) -> Any:
    """Read a JSON file of bounded size.

    Raises:
        PoseFileError: If it cannot be read or is not strict JSON.
    """
    try:
        data, _ = read_strict_json(Path(fspath(path)), most=MOST_BYTES, most_values=MOST_VALUES)
    except SerializationError as error:
        raise PoseFileError(str(error)) from None
    return data


def read_poses(path: str | PathLike[str]) -> Array:
    """Read poses: a list of 4x4 matrices by rows, or of {"position", "quaternion_wxyz"}.

    Returns:
        The poses X_WT [m], shape (n, 4, 4).

    Raises:
        PoseFileError: If it cannot be read, or is invalid.
    """
    return poses_of(read_json(path), where=repr(fspath(path)))


def read_pose(path: str | PathLike[str]) -> Array:
    """Read one pose: a 4x4 matrix by rows, {"position", "quaternion_wxyz"}, or a list of one.

    Returns:
        The pose X_WT [m], shape (4, 4).

    Raises:
        PoseFileError: If it cannot be read, or is invalid.
    """
    where = repr(fspath(path))
    data = read_json(path)
    listed = isinstance(data, list) and len(data) == 1
    poses = poses_of(data if listed else [data], where=where)
    return np.asarray(poses[0])


def read_trajectory(path: str | PathLike[str]) -> tuple[Array, Array]:
    """Read a trajectory: {"times": [...], "poses": [...]}, with increasing times [s].

    Returns:
        The times [s], shape (n,), and the poses X_WT, shape (n, 4, 4).

    Raises:
        PoseFileError: If it cannot be read, or is invalid.
    """
    where = repr(fspath(path))
    data = read_json(path)
    if not isinstance(data, dict) or data.keys() != {"times", "poses"}:
        raise PoseFileError(f'{where} must be {{"times": [...], "poses": [...]}}')
    poses = poses_of(data["poses"], where=where)
    times = _numbers(data["times"], (len(poses),), where=f"{where}: times")
    if not (np.diff(times) > 0).all():
        raise PoseFileError(f"{where}: times must increase")
    return times, poses


def poses_of(data: Any, *, where: str) -> Array:
    """Return poses, shape (n, 4, 4), from parsed JSON; see `read_poses`.

    Raises:
        PoseFileError: If they are invalid.
    """
    if not isinstance(data, list) or not 0 < len(data) <= MOST_POSES:
        raise PoseFileError(f"{where} must be a list of 1 to {MOST_POSES} poses")
    poses = [_pose(item, where=f"{where}: pose {n}") for n, item in enumerate(data)]
    try:
        return checked_poses(np.array(poses))
    except KinetariumError as error:
        raise PoseFileError(f"{where}: {error}") from None


def _pose(item: Any, *, where: str) -> Array:
    if isinstance(item, dict):
        if item.keys() != POSE.keys():
            raise PoseFileError(f"{where} must have {' and '.join(POSE)}")
        p, quaternion = (
            _numbers(item[key], (n,), where=f"{where}: {key}") for key, n in POSE.items()
        )
        if not quaternion.any():
            raise PoseFileError(f"{where}: the quaternion is zero")
        return pose(p, rotation_from_quaternion(quaternion))
    return _numbers(item, (4, 4), where=where)


def _numbers(data: Any, shape: tuple[int, ...], *, where: str) -> Array:
    if not _are_numbers(data, shape):
        size = " x ".join(map(str, shape))
        raise PoseFileError(f"{where} must be {size} finite numbers")
    return np.array(data, dtype=np.float64)


def _are_numbers(data: Any, shape: tuple[int, ...]) -> bool:
    """Return whether data are numbers in a shape; NumPy would convert other data too."""
    if not shape:
        return type(data) in (int, float) and abs(data) <= GREATEST
    if not isinstance(data, list) or len(data) != shape[0]:
        return False
    return all(_are_numbers(item, shape[1:]) for item in data)


_BESIDE = ("report.html", "figures")
"""Files that may be beside a summary and its arrays."""


def write_result(
    out: str | PathLike[str],
    summary: str,
    *,
    data: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]] | None = None,
) -> None:
    """Write a folder atomically; it replaces only an earlier one of the same kind.

    Args:
        out: The folder.
        summary: Name of the JSON file that identifies such folders.
        data: Its content.
        arrays: Arrays by name.

    Raises:
        OutputError: If the folder contains something else, or cannot be written.
    """
    folder = Path(fspath(out))
    if "\0" in fspath(out):
        raise OutputError(f"cannot write {fspath(out)!r}: not a valid path")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / summary).is_file():
        raise OutputError(f"cannot write {str(folder)!r}: the folder has other content")
    own = [summary, *(f"{name}.npy" for name in arrays or {}), *_BESIDE]
    check_folder(folder, ours="|".join(map(re.escape, own)))
    files = {f"{name}.npy": _npy(values) for name, values in (arrays or {}).items()}
    files[summary] = versioned_json(dict(data))
    make_folder(folder.parent)
    write_folder_atomic(folder, files)


def _npy(values: NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(values), allow_pickle=False)
    return buffer.getvalue()
