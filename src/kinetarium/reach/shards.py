"""Shards: a map while it is built, in parts that are each whole on disk or not there.

A shard is named after its number and begins with a hash of the recipe and its values, so
that one of another recipe, or one that was damaged, counts as missing. Several processes
may fill one folder.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import numpy as np

from kinetarium.errors import OutputError
from kinetarium.interruption import stop_if_asked
from kinetarium.reach.map_files import Field
from kinetarium.recording.atomic import write_atomic
from kinetarium.recording.regular_file import read_regular

MOST_SHARD_BYTES = 1 << 30

Progress = Callable[[int, int], None]
"""Told how many shards of how many are done."""


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


class Shards:
    """The shards of one map in a folder."""

    def __init__(self, folder: Path, maker: MapMaker, *, stamp: bytes) -> None:
        """Name the folder, which must be there.

        Args:
            folder: Where the shards are.
            maker: Makes them.
            stamp: Everything that their values depend on.
        """
        self._folder, self._maker, self._stamp = folder, maker, stamp

    def missing(self, numbers: Iterable[int]) -> list[int]:
        """Give those that are not there, or not as they were written."""
        return [number for number in numbers if self._read(number) is None]

    def make(self, numbers: range, *, workers: int, progress: Progress) -> None:
        """Make those that are missing, side by side.

        Args:
            numbers: Which shards are wanted.
            workers: How many threads make them; the kernels run without Python's lock.
            progress: Told how many of those that are wanted are there.
        """
        missing = self.missing(numbers)
        there = len(numbers) - len(missing)
        progress(there, len(numbers))
        with ThreadPoolExecutor(workers) as pool:
            try:
                futures = [pool.submit(self._make, number) for number in missing]
                for done, future in enumerate(as_completed(futures), start=1):
                    future.result()
                    progress(there + done, len(numbers))
                    stop_if_asked()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def join(self) -> Field:
        """Join all shards.

        Raises:
            OutputError: If one is not there, or no more.
        """
        whole = [self._read(number) for number in range(self._maker.shards)]
        there = [shard for shard in whole if shard is not None]
        if len(there) < len(whole):
            raise OutputError(f"shards are gone from '{self._folder}': another process joined them")
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
