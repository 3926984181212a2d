"""build_map and build_part: maps built in shards, for resuming and for clusters.

A shard depends on the recipe and its own number alone, so that the result is independent of
the number of threads, processes and machines, and of interruptions.
"""

import shutil
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import NamedTuple, Protocol, Unpack

import numpy as np

from kinetarium.dynamics.chain import serial_chain
from kinetarium.errors import KinetariumError, OutputError
from kinetarium.interruption import stop_if_requested
from kinetarium.model.robot import RobotModel
from kinetarium.reach.arm import Arm, prepare_arm
from kinetarium.reach.collision.kept_pieces import kept_pieces, pieces_digest
from kinetarium.reach.collision.piece_arrays import PieceArrays
from kinetarium.reach.maps.files import (
    Field,
    MapFileError,
    ReachMap,
    check_map_path,
    open_map,
    write_map,
)
from kinetarium.reach.maps.recipe import MapKind, MapOptions, MapRecipe, map_recipe
from kinetarium.storage.atomic import (
    FolderLock,
    cache_folder,
    check_folder,
    make_folder,
    remove_abandoned,
    remove_leftovers,
    write_atomic,
)
from kinetarium.storage.regular_file import read_regular, reason
from kinetarium.storage.serialization import to_builtins, versioned_json

MOST_SHARD_BYTES = 1 << 30

Progress = Callable[[int, int], None]
"""Called with the number of finished shards and their total."""


class MapMaker(Protocol):
    """Computes the values of one kind of map.

    Attributes:
        units: Units of the fields by name.
        dtype: The type of a shard's values, with one column per field.
        shape: Shape of each field; shards divide its first axis.
        shards: Number of shards.
    """

    units: dict[str, str]
    dtype: np.dtype[np.void]
    shape: tuple[int, ...]
    shards: int

    def shard(self, number: int) -> Field:
        """Compute one shard: its part of the map, flat, with one column per field."""
        ...


ShardMaker = Callable[[MapMaker, Sequence[int]], Iterable[tuple[int, bytes]]]
"""Computes shards elsewhere, such as on a cluster: yields the number and the values of each."""


class Shards:
    """The shards of one map in a folder."""

    def __init__(self, folder: Path, maker: MapMaker, *, stamp: bytes) -> None:
        """Use an existing folder.

        Args:
            stamp: Everything that their values depend on.
        """
        self._folder, self._maker, self._stamp = folder, maker, stamp

    def missing(self, numbers: Iterable[int]) -> list[int]:
        """Return the shards that are missing or damaged."""
        return [number for number in numbers if self._read(number) is None]

    def make(
        self,
        numbers: range,
        *,
        workers: int,
        progress: Progress,
        elsewhere: ShardMaker | None = None,
    ) -> None:
        """Compute the missing shards in parallel.

        Args:
            workers: Number of threads; the kernels run without the interpreter lock.
            progress: Called with the number of finished shards.
            elsewhere: Computes them instead of threads of this process.
        """
        # From the middle outwards: those layers take the longest, and what begins last should be
        # short, so that no worker waits for another at the end.
        middle = (self._maker.shards - 1) / 2
        missing = sorted(self.missing(numbers), key=lambda number: abs(number - middle))
        there = len(numbers) - len(missing)
        progress(there, len(numbers))
        if elsewhere is not None:
            for done, (number, data) in enumerate(elsewhere(self._maker, missing), start=1):
                write_atomic(self._file(number), self._digest(data) + data)
                progress(there + done, len(numbers))
            return
        with ThreadPoolExecutor(workers) as pool:
            try:
                futures = [pool.submit(self._make, number) for number in missing]
                for done, future in enumerate(as_completed(futures), start=1):
                    future.result()
                    progress(there + done, len(numbers))
                    stop_if_requested()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def join(self) -> Field:
        """Join all shards.

        Raises:
            OutputError: If one is missing.
        """
        whole = [self._read(number) for number in range(self._maker.shards)]
        there = [shard for shard in whole if shard is not None]
        if len(there) < len(whole):
            raise OutputError(f"shards are missing in '{self._folder}': another process took them")
        return np.concatenate(there)

    def _make(self, number: int) -> None:
        data = self._maker.shard(number).tobytes()
        write_atomic(self._file(number), self._digest(data) + data)

    def _read(self, number: int) -> Field | None:
        try:
            file = read_regular(self._file(number), most=MOST_SHARD_BYTES)
        except OSError:
            return None
        digest, data = file[:32], file[32:]
        return np.frombuffer(data, self._maker.dtype) if self._digest(data) == digest else None

    def _digest(self, data: bytes) -> bytes:
        return sha256(self._stamp + data).digest()

    def _file(self, number: int) -> Path:
        return self._folder / f"shard-{number:05d}"


SUFFIX = ".building"
CLAIM = "parts.json"
"""Marks a folder that is filled by parts, with their stamp; nothing is deleted there."""
WHOLE, ASIDE = "whole", "aside"
MOST_WORKERS = 256
MOST_PARTS = 100_000


class ShardCount(NamedTuple):
    """The progress of a map.

    Attributes:
        there: Number of shards that are complete on disk.
        total: Number of shards of the map.
    """

    there: int
    total: int


def build_map(
    robot: RobotModel,
    out: str | PathLike[str],
    *,
    workers: int = 1,
    progress: Progress = lambda done, total: None,
    elsewhere: ShardMaker | None = None,
    **options: Unpack[MapOptions],
) -> ReachMap:
    """Build a map and write it to a folder; an interrupted build is resumed.

    Args:
        out: The map's folder, such as "panda.rmap".
        workers: Number of shards that are computed in parallel.
        progress: Called with the number of finished shards and their total.
        elsewhere: Computes the shards instead of threads of this process; the map is the same.
        **options: kind, voxel, poses, radius, tool, base_link, self_collision, seed and effort;
            see `MapOptions`.

    Returns:
        The map, opened.

    Raises:
        UnknownNameError: If there is no such kind or link.
        KinetariumError: If there is no chain to the tool, or a number is invalid.
        OutputError: If the map cannot be written.
    """
    job = _build_job(robot, out, workers=workers, **options)
    path, folder, maker = job.path, job.folder, job.maker
    lock = FolderLock(folder)
    try:
        _begin(job)
        shards = job.shards
        numbers = range(maker.shards)
        shards.make(numbers, workers=workers, progress=progress, elsewhere=elsewhere)
        # Written in the folder of the shards, so that a kill leaves nothing outside it.
        fields = _fields(maker, shards.join())
        kept = job.digest, job.pieces
        write_map(folder / WHOLE, job.recipe, fields=fields, units=maker.units, pieces=kept)
        _put(folder, path)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        lock.release()
    return open_map(path)


def compute_map(robot: RobotModel, **options: Unpack[MapOptions]) -> ReachMap:
    """Compute a map in memory, with the values that `build_map` writes.

    Args:
        **options: As `build_map` takes them.

    Raises:
        UnknownNameError: If there is no such kind or link.
        KinetariumError: If there is no chain to the tool, or a number is invalid.
    """
    recipe, maker = _recipe_and_maker(robot, options)
    values = np.concatenate([maker.shard(number) for number in range(maker.shards)])
    return ReachMap(None, recipe, _fields(maker, values), maker.units, {})


def kept_map(
    robot: RobotModel, *, tool: str | None = None, base_link: str | None = None, workers: int = 1
) -> ReachMap:
    """Return a map for base placement from the user's cache, or build and keep it.

    Args:
        robot: The robot.
        tool: The tool link; see `serial_chain`.
        base_link: The base link; by default the one that carries the first joint of the arm, so
            that the heading of a vehicle does not matter to the map.
        workers: Number of threads that build it.

    Raises:
        UnknownNameError: If there is no such link.
        KinetariumError: If there is no chain to the tool.
    """
    chain = serial_chain(robot, base_link=base_link, tool=tool)
    base_link = base_link or robot.joint(chain.joints[0]).parent
    chain = serial_chain(robot, base_link=base_link, tool=chain.tool)
    options: MapOptions = {"base_link": base_link, "tool": chain.tool}
    parts = (version("kinetarium"), robot.source.sha256, base_link, chain.tool)
    digest = sha256(repr((*parts, pieces_digest(chain))).encode()).hexdigest()
    try:
        path = cache_folder() / "maps" / f"{digest[:32]}.rmap"
        if path.exists():
            with suppress(MapFileError):
                return open_map(path)
            shutil.rmtree(path, ignore_errors=True)
        make_folder(path.parent)
        # Not under another name, so that a build that was killed is resumed.
        return build_map(robot, path, workers=workers, **options)
    except OutputError:  # there is no place to keep it, or another process is building it
        return compute_map(robot, **options)


def _fields(maker: MapMaker, values: Field) -> dict[str, Field]:
    # Kernels take no columns of a structured array.
    columns = {name: np.ascontiguousarray(values[name]) for name in maker.units}
    return {name: column.reshape(maker.shape) for name, column in columns.items()}


def build_part(
    robot: RobotModel,
    out: str | PathLike[str],
    *,
    part: tuple[int, int],
    workers: int = 1,
    progress: Progress = lambda done, total: None,
    **options: Unpack[MapOptions],
) -> ShardCount:
    """Compute one part of a map's shards, while other processes compute the others.

    The processes share nothing but the folder, which may be on another machine: there is no
    lock, and none of them deletes anything. `build_map` with the same options computes the
    missing shards in the end and joins all.

    Args:
        out: The map's folder; the shards are collected beside it.
        part: The number of the part, from 1, and the number of parts.
        workers: Number of shards that are computed in parallel.
        progress: Called with the number of finished shards of this part.
        **options: As `build_map` takes them.

    Returns:
        The progress of the whole map.

    Raises:
        UnknownNameError: If there is no such kind or link.
        KinetariumError: If there is no chain to the tool, or a number is invalid.
        OutputError: If a shard cannot be written, or the folder has parts of another map.
    """
    number, count = part
    if not 1 <= number <= count <= MOST_PARTS:
        raise KinetariumError(
            f"part {number}/{count} is invalid: choose from 1/1 to {MOST_PARTS}/{MOST_PARTS}, "
            "the first number not above the second"
        )
    job = _build_job(robot, out, workers=workers, **options)
    if not _claimed(job):
        write_atomic(job.folder / CLAIM, job.stamp)
    shards, total = job.shards, job.maker.shards
    # Every count-th shard, since the layers in the middle take the longest.
    shards.make(range(number - 1, total, count), workers=workers, progress=progress)
    return ShardCount(total - len(shards.missing(range(total))), total)


class _BuildJob(NamedTuple):
    """A map to be built: its paths, recipe and maker, the arm's pieces and their digest."""

    path: Path
    folder: Path
    recipe: MapRecipe
    maker: MapMaker
    pieces: PieceArrays
    digest: str

    @property
    def stamp(self) -> bytes:
        """Everything that the values depend on."""
        facts = {"kinetarium": version("kinetarium"), "recipe": to_builtins(self.recipe)}
        if self.recipe.self_collision:
            facts["pieces"] = self.digest
        return versioned_json(facts)

    @property
    def shards(self) -> Shards:
        return Shards(self.folder, self.maker, stamp=self.stamp)


def _build_job(
    robot: RobotModel, out: str | PathLike[str], *, workers: int, **options: Unpack[MapOptions]
) -> _BuildJob:
    """Check everything, and create the folder of shards."""
    if not 0 < workers <= MOST_WORKERS:
        raise KinetariumError(f"a build takes from 1 to {MOST_WORKERS} workers, not {workers}")
    path = check_map_path(out)
    chain = serial_chain(robot, base_link=options.get("base_link"), tool=options.get("tool"))
    digest = pieces_digest(chain)
    pieces = kept_pieces(chain, digest=digest)
    recipe, maker = _recipe_and_maker(robot, options, pieces=pieces)
    folder = path.with_name(path.name + SUFFIX)
    check_folder(folder, ours=rf"shard-\d+|{CLAIM}|{WHOLE}|{ASIDE}")
    make_folder(folder)
    return _BuildJob(path, folder, recipe, maker, pieces, digest)


def _recipe_and_maker(
    robot: RobotModel, options: MapOptions, *, pieces: PieceArrays | None = None
) -> tuple[MapRecipe, MapMaker]:
    arm = prepare_arm(
        robot,
        tool=options.get("tool"),
        base_link=options.get("base_link"),
        self_collision=options.get("self_collision", True),
        pieces=pieces,
    )
    recipe = map_recipe(robot, usual_effort=arm.map_effort, **options)
    return recipe, map_maker(recipe, arm)


def _put(folder: Path, path: Path) -> None:
    """Rename the finished map to its path; an existing one is moved among the shards."""
    try:
        if path.is_dir():
            path.rename(folder / ASIDE)
        (folder / WHOLE).rename(path)
    except OSError as error:
        raise OutputError(f"cannot write {str(path)!r}: {reason(error)}") from error


def map_maker(recipe: MapRecipe, arm: Arm) -> MapMaker:
    """Return the maker of a kind of map."""
    from kinetarium.reach.maps._makers import GradedMaker, VoxelMaker

    return GradedMaker(recipe, arm) if recipe.kind is MapKind.IRM4 else VoxelMaker(recipe, arm)


def _begin(job: _BuildJob) -> None:
    """Clean up after a build that was killed, unless parts may be running."""
    if _claimed(job):
        remove_abandoned(job.folder)
    else:
        remove_leftovers(job.folder)
    for name in (WHOLE, ASIDE):
        shutil.rmtree(job.folder / name, ignore_errors=True)


def _claimed(job: _BuildJob) -> bool:
    """Return whether the folder is filled by parts.

    Raises:
        OutputError: If it is filled by parts of another map.
    """
    try:
        found = read_regular(job.folder / CLAIM, most=len(job.stamp))
    except FileNotFoundError:
        return False
    except OSError:
        found = b""
    if found != job.stamp:
        raise OutputError(
            f"{str(job.folder)!r} has parts of another map or release: "
            "use the flags they were made with, or remove it"
        )
    return True
