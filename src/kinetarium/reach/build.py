"""build_map: maps in shards, each whole on disk before the next, so that builds resume.

Shards are computed side by side by threads, as the kernels run without Python's lock. A
shard depends on the recipe and its own number alone, so that neither the number of
threads nor a kill in between can be seen in the result.
"""

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from hashlib import sha256
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Protocol

import numpy as np

from kinetarium.errors import KinetariumError, OutputError
from kinetarium.model.robot import RobotModel
from kinetarium.reach.arm import Arm, arm_of
from kinetarium.reach.map_files import Field, ReachMap, check_map_path, open_map, write_map
from kinetarium.reach.recipe import MapKind, MapRecipe, map_recipe
from kinetarium.recording.atomic import (
    make_folder,
    remove_leftovers,
    write_atomic,
)
from kinetarium.recording.folder_lock import FolderLock
from kinetarium.recording.plain import to_plain
from kinetarium.recording.regular_file import read_regular, reason
from kinetarium.recording.versioned_json import versioned_json

SUFFIX = ".building"
RECIPE = "recipe.json"
WHOLE, ASIDE = "whole", "aside"
MOST_WORKERS = 256
MOST_SHARD_BYTES = 1 << 30

Progress = Callable[[int, int], None]


class MapMaker(Protocol):
    """Makes the values of one kind of map."""

    @property
    def units(self) -> dict[str, str]:
        """Units of the fields by name."""
        ...

    @property
    def dtype(self) -> np.dtype[np.void]:
        """The type of a shard's values, with one column per field."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of each field; shards cut its first axis."""
        ...

    @property
    def shards(self) -> int:
        """Number of shards."""
        ...

    def shard(self, number: int) -> Field:
        """Make one shard: its part of the map, flat, with one column per field."""
        ...


def build_map(
    robot: RobotModel,
    out: str | PathLike[str],
    *,
    kind: MapKind | str = MapKind.IRM4,
    voxel: float = 0.0,
    poses: int = 0,
    radius: float = 0.0,
    tool: str = "",
    base_link: str = "",
    self_collision: bool = True,
    seed: int = 0,
    effort: int = 0,
    workers: int = 1,
    progress: Progress = lambda done, total: None,
) -> ReachMap:
    """Build a map and write it to a folder; a build that was cut off goes on where it was.

    Args:
        robot: The robot.
        out: The map's folder, such as "panda.rmap".
        kind: What the map is to say.
        voxel: Edge length of a voxel [m]; 0 for the kind's usual part of the radius.
        poses: Poses per voxel; 0 for the kind's usual number.
        radius: How far the map reaches [m]; 0 for as far as the tool gets from the axis.
        tool: The link to be placed; see `serial_chain`.
        base_link: The link that stands; see `serial_chain`.
        self_collision: Whether configurations in collision count as out of reach.
        seed: Seed of the poses.
        effort: Positions of the redundant joint, or starts, per pose; 0 for the usual.
        workers: How many shards are made side by side.
        progress: Told how many shards of how many are done.

    Returns:
        The map, opened.

    Raises:
        UnknownNameError: If there is no such kind or link.
        KinetariumError: If there is no chain to the tool, or a number makes no sense.
        OutputError: If the map cannot be written.
    """
    if not 0 < workers <= MOST_WORKERS:
        raise KinetariumError(f"a build takes from 1 to {MOST_WORKERS} workers, not {workers}")
    path = check_map_path(out)
    arm = arm_of(robot, tool=tool, base_link=base_link, self_collision=self_collision)
    recipe = map_recipe(
        robot,
        kind=kind,
        voxel=voxel,
        poses=poses,
        radius=radius,
        tool=tool,
        base_link=base_link,
        self_collision=self_collision,
        seed=seed,
        effort=effort or arm.map_effort,
    )
    maker = map_maker(recipe, arm)
    parts = path.with_name(path.name + SUFFIX)
    make_folder(parts)
    lock = FolderLock(parts)
    try:
        _begin(parts, recipe)
        values = _gathered(parts, maker, workers=workers, progress=progress)
        fields = {name: values[name].reshape(maker.shape) for name in maker.units}
        # Made whole among the parts, so that a kill leaves nothing beside them.
        write_map(parts / WHOLE, recipe, fields=fields, units=maker.units)
        _put(parts, path)
        shutil.rmtree(parts, ignore_errors=True)
    finally:
        lock.release()
    return open_map(path)


def _put(parts: Path, path: Path) -> None:
    """Rename the whole map to its place; one that is there goes among the parts."""
    try:
        if path.is_dir():
            path.rename(parts / ASIDE)
        (parts / WHOLE).rename(path)
    except OSError as error:
        raise OutputError(f"cannot write {str(path)!r}: {reason(error)}") from error


def map_maker(recipe: MapRecipe, arm: Arm) -> MapMaker:
    """Give the maker of a kind of map."""
    from kinetarium.reach.graded_map import GradedMaker
    from kinetarium.reach.voxel_map import VoxelMaker

    return GradedMaker(recipe, arm) if recipe.kind is MapKind.IRM4 else VoxelMaker(recipe, arm)


def _begin(parts: Path, recipe: MapRecipe) -> None:
    """Throw away what was made for another recipe, or by another release."""
    remove_leftovers(parts)
    wanted = versioned_json({"kinetarium": version("kinetarium"), "recipe": to_plain(recipe)})
    try:
        found = read_regular(parts / RECIPE, most=len(wanted))
    except OSError:
        found = b""
    for file in list(parts.iterdir()):
        if found != wanted or file.name in (WHOLE, ASIDE):
            shutil.rmtree(file) if file.is_dir() else file.unlink()
    write_atomic(parts / RECIPE, wanted)


def _gathered(parts: Path, maker: MapMaker, *, workers: int, progress: Progress) -> Field:
    """Make the shards that are missing and join them all."""
    missing = [n for n in range(maker.shards) if _read(parts, maker, n) is None]
    progress(maker.shards - len(missing), maker.shards)
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(_make, parts, maker, number) for number in missing]
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                future.result()
                progress(maker.shards - len(missing) + done, maker.shards)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    whole = [_read(parts, maker, number) for number in range(maker.shards)]
    return np.concatenate([shard for shard in whole if shard is not None])


def _make(parts: Path, maker: MapMaker, number: int) -> None:
    values = maker.shard(number)
    data = values.tobytes()
    write_atomic(_shard_file(parts, number), sha256(data).digest() + data)


def _read(parts: Path, maker: MapMaker, number: int) -> Field | None:
    """Read a shard; None if it is not there or not as it was written."""
    try:
        file = read_regular(_shard_file(parts, number), most=MOST_SHARD_BYTES)
    except OSError:
        return None
    digest, data = file[:32], file[32:]
    return np.frombuffer(data, maker.dtype) if sha256(data).digest() == digest else None


def _shard_file(parts: Path, number: int) -> Path:
    return parts / f"shard-{number:05d}"
