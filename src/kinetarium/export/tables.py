"""Recordings as tables and arrays: CSV, Parquet and npz, written and read back.

CSV and Parquet have a column for each number of a sample, named "channel/column/part". Columns
that are shorter than others end with empty cells. Numbers are equal to those of the recording
to the bit.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count, product
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

import numpy as np

from kinetarium.errors import KinetariumError, MissingPackageError
from kinetarium.recording.recording import Channel, Recording
from kinetarium.spatial.arrays import Array
from kinetarium.storage.regular_file import read_regular, reason
from kinetarium.storage.strict_json import strict_json

MOST_BYTES = 2**32
"""Largest file that is read back [bytes]."""

_ABOUT = "about"
"""Name of the array, or of the entry of the metadata, that describes the others as JSON."""
_PARTS = {
    "poses": ("x", "y", "z", "qw", "qx", "qy", "qz"),
    "twists": ("vx", "vy", "vz", "wx", "wy", "wz"),
}
_HEADER = re.compile(r"(?P<name>.*) \[(?P<unit>[^\[\]]*)\]", re.DOTALL)


class ExportError(KinetariumError):
    """A recording that cannot be exported, or an exported file that cannot be read."""


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One number of each sample.

    Attributes:
        name: "channel/column/part".
        unit: Its unit.
        values: The samples, shape (n,), integers or floating-point numbers.
    """

    name: str
    unit: str
    values: Array


def columns(recording: Recording) -> Iterator[Column]:
    """Yield every number of the samples of a recording as a column, "time" first."""
    seen: set[str] = set()
    for name in sorted(recording.channels, key=lambda name: name != "time"):
        channel = recording.channels[name]
        values = np.atleast_1d(np.asarray(channel.values))
        if values.dtype.kind == "c":  # no table has complex numbers
            values = np.stack([values.real, values.imag], axis=-1)
        shape = values.shape[1:]
        labels = [_labels(name, channel, axis, size) for axis, size in enumerate(shape)]
        units = _units(channel.unit, int(np.prod(shape)) if shape else 1)
        flat = values.reshape(len(values), -1)
        for i, parts in enumerate(product(*labels)):
            label = unique("/".join((name, *parts)) or "unnamed", seen)
            seen.add(label)
            yield Column(label, units[i], flat[:, i])


def _labels(name: str, channel: Channel, axis: int, size: int) -> tuple[str, ...]:
    """Return the names of the numbers along an axis of a sample."""
    if axis == 0 and len(channel.columns) == size:
        return channel.columns
    if axis and len(_PARTS.get(name, ())) == size:
        return _PARTS[name]
    return tuple(map(str, range(size)))


def _units(unit: str, count: int) -> list[str]:
    """Return the unit of each number of a channel whose unit may be a list, such as "N, N m"."""
    parts = unit.split(", ")
    if unit == "m, wxyz":
        parts = ["m"] * 3 + ["-"] * 4
    elif len(parts) == 2 and count % 6 == 0:  # twists and wrenches
        parts = [parts[0]] * 3 + [parts[1]] * 3
    return parts * (count // len(parts)) if count % len(parts) == 0 else [unit] * count


def csv_bytes(recording: Recording) -> bytes:
    """Return a recording as CSV (RFC 4180), each column headed by its name and unit in brackets."""
    table = [(_heading(column), _texts(column.values)) for column in columns(recording)]
    rows = max((len(texts) for _, texts in table), default=0)
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([heading for heading, _ in table])
    writer.writerows(
        [texts[row] if row < len(texts) else "" for _, texts in table] for row in range(rows)
    )
    return text.getvalue().encode("utf-8", "backslashreplace")


def _heading(column: Column) -> str:
    """Return name and unit; a spreadsheet must not read it as a formula."""
    name = column.name if column.name[:1] not in "=+-@\t\r" else f"'{column.name}"
    unit = re.sub(r"[\[\]]", "", column.unit)
    return f"{name} [{unit}]"


def _texts(values: Array) -> list[str]:
    """Return the shortest texts that give the same numbers when they are read."""
    if values.dtype.kind == "f" and values.dtype.itemsize < 8:
        values = values.astype(np.float64)
    return [repr(value) for value in np.asarray(values).tolist()]


def parquet_bytes(recording: Recording, about: Mapping[str, Any]) -> bytes:
    """Return a recording as Parquet, with units and other facts as JSON in its metadata.

    Args:
        about: Facts about the run, JSON values.

    Raises:
        MissingPackageError: If polars is not installed.
    """
    pl = _polars()
    table = list(columns(recording))
    rows = max((len(column.values) for column in table), default=0)
    series = []
    for column in table:
        values = pl.Series(column.name, _supported(column.values))
        missing = rows - len(column.values)
        series.append(values.extend_constant(None, missing) if missing else values)
    units = {column.name: column.unit for column in table}
    text = strict_json({**about, "units": units}, indent=None)
    buffer = io.BytesIO()
    pl.DataFrame(series).write_parquet(buffer, metadata={_ABOUT: text})
    return buffer.getvalue()


def _supported(values: Array) -> Array:
    """Return values of a type that Parquet has, exactly if there is one."""
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "f" and size not in (4, 8):
        return values.astype(np.float32 if size < 4 else np.float64)
    return np.ascontiguousarray(values.astype(values.dtype.newbyteorder("=")))


def npz_bytes(recording: Recording, about: Mapping[str, Any]) -> bytes:
    """Return a recording as npz, an array for each channel, which NumPy reads without pickle.

    Names of arrays consist of letters, digits, "_", "-" and "."; the array "about" is a text,
    JSON, with the name, unit and columns of each.

    Args:
        about: Facts about the run, JSON values.
    """
    described: dict[str, Any] = {}
    data = io.BytesIO()
    with ZipFile(data, "w") as file:
        for name, channel in recording.channels.items():
            array = unique(re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:80] or "_", {_ABOUT, *described})
            described[array] = {"name": name, "unit": channel.unit, "columns": channel.columns}
            _add_array(file, array, np.asarray(channel.values))
        text = strict_json({**about, "channels": described}, indent=None)
        _add_array(file, _ABOUT, np.array(text))
    return data.getvalue()


def unique(name: str, taken: Iterable[str]) -> str:
    """Return a name, or with a number if it is taken; case does not distinguish names."""
    others = {each.lower() for each in taken}
    if name.lower() not in others:
        return name
    return next(each for i in count(2) if (each := f"{name}_{i}").lower() not in others)


def _add_array(file: ZipFile, name: str, values: Array) -> None:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, values, allow_pickle=False)
    # Without the time of writing, so that the file depends on the run alone.
    file.writestr(ZipInfo(f"{name}.npy"), buffer.getvalue())


def read_channels(path: Path | str) -> dict[str, Channel]:
    """Read an exported CSV, Parquet or npz file.

    Args:
        path: The file; its format is that of its suffix.

    Returns:
        The channels by name; from CSV and Parquet each column as a channel of its own.

    Raises:
        ExportError: If it cannot be read.
    """
    readers = {".csv": _read_csv, ".parquet": _read_parquet, ".npz": _read_npz}
    if (suffix := Path(path).suffix.lower()) not in readers:
        raise ExportError(f"{str(path)!r} is not a file of {', '.join(readers)}")
    try:
        return readers[suffix](read_regular(Path(path), most=MOST_BYTES))
    except OSError as error:
        raise ExportError(f"cannot read {str(path)!r}: {reason(error)}") from None
    except (ValueError, KeyError, TypeError, IndexError, EOFError, BadZipFile, csv.Error) as error:
        raise ExportError(f"{str(path)!r} was not exported by Kinetarium: {error}") from None


def _read_csv(data: bytes) -> dict[str, Channel]:
    head, *rows = csv.reader(io.StringIO(data.decode(), newline=""))
    channels = {}
    cells = zip(*rows, strict=True) if rows else [()] * len(head)
    for heading, texts in zip(head, cells, strict=True):
        if not (match := _HEADER.fullmatch(heading)):
            raise ValueError(f"the heading {heading!r} has no unit")
        kept = [text for text in texts if text]
        channels[match["name"].removeprefix("'")] = Channel(_numbers(kept), match["unit"])
    return channels


def _numbers(texts: list[str]) -> Array:
    if texts and all(text in ("True", "False") for text in texts):
        return np.array([text == "True" for text in texts])
    if texts and all(re.fullmatch(r"-?[0-9]+", text) for text in texts):
        return np.array([int(text) for text in texts])
    return np.array([float(text) for text in texts], dtype=np.float64)


def _read_parquet(data: bytes) -> dict[str, Channel]:
    pl = _polars()
    try:
        table = pl.read_parquet(io.BytesIO(data))
        about = json.loads(pl.read_parquet_metadata(io.BytesIO(data))[_ABOUT])
    except pl.exceptions.PolarsError as error:
        raise ValueError(str(error)) from None
    return {
        name: Channel(table[name].drop_nulls().to_numpy(), str(about["units"][name]))
        for name in table.columns
    }


def _read_npz(data: bytes) -> dict[str, Channel]:
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        about = json.loads(str(file[_ABOUT]))["channels"]
        return {
            str(entry["name"]): Channel(file[array], str(entry["unit"]), tuple(entry["columns"]))
            for array, entry in about.items()
        }


def _polars() -> Any:
    try:
        import polars
    except ImportError:
        raise MissingPackageError("polars", extra="export") from None
    return polars
