"""Poses and trajectories of the tool in JSON files."""

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from math import pi
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetarium.errors import KinetariumError, OutputError
from kinetarium.reach.ik.solve import checked_poses
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose, rotation_about, rotation_from_quaternion
from kinetarium.storage.atomic import check_folder, make_folder, write_folder_atomic
from kinetarium.storage.serialization import SerializationError, read_strict_json, versioned_json

if TYPE_CHECKING:
    from kinetarium.reach.placement.search import Goals

MOST_BYTES = 64_000_000
MOST_POSES = 100_000
MOST_VALUES = 4_000_000
"""Greatest number of JSON values of a file, more than those of all poses."""
GREATEST = 1e9
"""Greatest valid length or time [m, s]."""
POSE = {"position": 3, "quaternion_wxyz": 4}
"""The keys of a pose as a dictionary, with their count of numbers."""
TOLERANCES = {"position_tolerance": 1.0, "angle_tolerance": 3.14}
"""Further keys of a pose that may be missed by a little, and their greatest values [m, rad]."""
FREE = "free"


ROLLS = 16
"""Rotations about a free axis that are tried; in between they follow from tracking."""
_ROLL_ORDER = (0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15)
"""Halves first, so that the first few are spread."""
_INSIDE = 1e-6
"""How far inside its tolerance a pose is solved for [m, rad]."""


class FreeAxis(StrEnum):
    """An axis about which the tool may be rotated: its own z axis, as for a welding torch."""

    TOOL_Z = "tool-z"


@dataclass(frozen=True, slots=True, eq=False)
class TaskPoses:
    """Poses of the tool, each with what may differ from it.

    Attributes:
        X_WT: The poses in the world, shape (n, 4, 4).
        free: Whether the tool may be rotated about its z axis, shape (n,).
        position_tolerance: How far the tool may be off along each of its axes [m], shape (n,).
        angle_tolerance: How far it may be rotated about one of its axes [rad], shape (n,).
    """

    X_WT: Array
    free: NDArray[np.bool_] | None = None
    position_tolerance: Array | None = None
    angle_tolerance: Array | None = None

    def checked(self) -> "TaskPoses":
        """Return the poses with exact rotations.

        Raises:
            KinetariumError: If a pose is invalid, or there is not one tolerance for each.
        """
        X_WT = checked_poses(self.X_WT)
        for values in (self.free, self.position_tolerance, self.angle_tolerance):
            if values is not None and not (
                np.shape(values) == (len(X_WT),)
                and (0 <= values).all()
                and np.isfinite(values).all()
            ):
                raise KinetariumError("poses need one tolerance each, zero or more")
        return replace(self, X_WT=X_WT)

    def goals(self, X_PW: Array) -> "tuple[Goals, NDArray[np.int64]]":
        """Return the variants of all poses.

        Args:
            X_PW: Pose of the world in the frame of the variants, shape (4, 4).

        Returns:
            The variants, rotations about a free axis first, and the number of these for each
            pose, shape (n,).
        """
        # Imported here, since Numba takes a second to load.
        from kinetarium.reach.placement.search import Goals, exact_goals

        count = len(self.X_WT)
        X_PT = X_PW @ self.X_WT
        if self.free is None and self.position_tolerance is None and self.angle_tolerance is None:
            return exact_goals(X_PT), np.ones(count, dtype=np.int64)
        variants, starts, rolls = [], [0], []
        for n in range(count):
            free = self.free is not None and bool(self.free[n])
            turns = [rotation_about((0, 0, 1), 2 * pi * k / ROLLS) for k in _ROLL_ORDER]
            rolled = [pose(rotation=R) for R in (turns if free else turns[:1])]
            moved = [pose(), *self._offsets(n)]
            variants += [X_PT[n] @ X @ R for X in moved for R in rolled]
            starts.append(len(variants))
            rolls.append(len(rolled))
        return Goals(np.array(variants), np.array(starts)), np.array(rolls)

    def _offsets(self, n: int) -> list[Array]:
        """Return poses at the ends of a pose's tolerances, in the tool's frame."""
        found = []
        for values in (self.position_tolerance, self.angle_tolerance):
            size = 0.0 if values is None else max(float(values[n]) - _INSIDE, 0.0)
            if size:
                for axis in np.vstack([np.eye(3), -np.eye(3)]):
                    turned = values is self.angle_tolerance
                    R = rotation_about(axis, size) if turned else np.eye(3)
                    found.append(pose(np.zeros(3) if turned else size * axis, R))
        return found


def checked_task(poses: ArrayLike | TaskPoses) -> TaskPoses:
    """Return poses X_WT, shape (n, 4, 4), or poses with tolerances, with exact rotations.

    Raises:
        KinetariumError: If a pose is invalid, there is none, or not one tolerance for each.
    """
    task = poses.checked() if isinstance(poses, TaskPoses) else TaskPoses(checked_poses(poses))
    if not len(task.X_WT):
        raise KinetariumError("base placement needs at least one pose")
    return task


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


def read_task(path: str | PathLike[str], *, free: FreeAxis | None = None) -> TaskPoses:
    """Read poses as `read_poses` does, with what may differ from each of them.

    A pose {"position", "quaternion_wxyz"} may also have "free": "tool-z", "position_tolerance" [m]
    and "angle_tolerance" [rad].

    Args:
        free: An axis that is free for all poses.

    Raises:
        PoseFileError: If it cannot be read, or is invalid.
    """
    where, data = repr(fspath(path)), read_json(path)
    if not isinstance(data, list):
        poses_of(data, where=where)
    extra = [_extra(item, where=f"{where}: pose {n}") for n, item in enumerate(data)]
    plain = [
        {key: item[key] for key in item if key in POSE} if isinstance(item, dict) else item
        for item in data
    ]
    poses = poses_of(plain, where=where)
    if free is None and not any(extra):
        return TaskPoses(poses)
    is_free = np.array([free is not None or FREE in item for item in extra])
    offsets = [np.array([item.get(key, 0.0) for item in extra]) for key in TOLERANCES]
    return TaskPoses(poses, is_free, *offsets)


def _extra(item: Any, *, where: str) -> dict[str, Any]:
    """Return what a pose has besides position and rotation, checked."""
    if not isinstance(item, dict):
        return {}
    extra = {key: value for key, value in item.items() if key not in POSE}
    for key, value in extra.items():
        if key not in (FREE, *TOLERANCES):
            known = ", ".join((*POSE, FREE, *TOLERANCES))
            raise PoseFileError(f"{where}: unknown key {key!r}; choose from {known}")
        if key == FREE and value not in tuple(FreeAxis):
            axes = " or ".join(f'"{axis}"' for axis in FreeAxis)
            raise PoseFileError(f"{where}: free must be {axes}")
        if key in TOLERANCES and not (_are_numbers(value, ()) and 0 <= value <= TOLERANCES[key]):
            unit = "m" if key == "position_tolerance" else "rad"
            raise PoseFileError(
                f"{where}: {key} must be a number from 0 to {TOLERANCES[key]:g} {unit}"
            )
    return extra


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
