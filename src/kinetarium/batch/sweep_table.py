"""SweepTable: what was varied, how each case ended and its scalar results, as one table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from kinetarium.batch.axes import Point
from kinetarium.errors import MissingPackageError
from kinetarium.recording.recording import Run, RunStatus
from kinetarium.recording.result_folder import ResultFolder
from kinetarium.storage.strict_json import strict_json

STATUS, MESSAGE, KEY = "status", "message", "key"
_OWN = (STATUS, MESSAGE, KEY)

Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True, eq=False)
class SweepTable:
    """One row for each result of a sweep; a case that failed has one row without results.

    Attributes:
        columns: The values of each column by its name, in the order of the report: axes; other
            fields in which cases differ; status, message and key of the run; results.
        axes: Names of the columns that were varied.
        others: Names of the other fields of cases that differ.
        results: Names of the scalar results.
    """

    columns: Mapping[str, Sequence[Scalar]]
    axes: tuple[str, ...]
    others: tuple[str, ...]
    results: tuple[str, ...]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.columns[KEY])

    def completed(self) -> list[bool]:
        """Return whether each row is that of a completed case."""
        return [status == RunStatus.COMPLETED for status in self.columns[STATUS]]

    def statuses(self) -> dict[str, str]:
        """Return the status of each case by its key."""
        pairs = zip(self.columns[KEY], self.columns[STATUS], strict=True)
        return {str(key): str(status) for key, status in pairs}


def sweep_table(runs: Iterable[Run], varied: Mapping[str, Point]) -> SweepTable:
    """Return the table of a sweep.

    Names that would be taken twice have a prefix: "case.start" is a field of the case beside an
    axis "start", "result.height" a result beside an axis "height".

    Args:
        runs: The runs, in the order of the report.
        varied: The values that were varied, by the key of the run.
    """
    done = list(runs)
    axes = tuple(dict.fromkeys(name for run in done for name in varied.get(run.key, {})))
    fields = [dict(_scalars(run.case)) for run in done]
    rows: list[dict[str, Scalar]] = []
    results: dict[str, None] = {}
    taken = {*axes, *_OWN}
    others = _differing(fields, [varied.get(run.key, {}) for run in done])
    renamed = {name: name if name not in taken else f"case.{name}" for name in others}
    taken |= set(renamed.values())
    for run, own in zip(done, fields, strict=True):
        point = varied.get(run.key, {})
        head: dict[str, Scalar] = {name: _scalar(point.get(name)) for name in axes}
        head |= {renamed[name]: own.get(name) for name in others}
        head |= {STATUS: str(run.status), MESSAGE: run.message, KEY: run.key}
        for row in run.rows or ({},):
            found = {
                name if name not in taken else f"result.{name}": value
                for name, value in _scalars(row)
            }
            results |= dict.fromkeys(found)
            rows.append({**head, **found})
    names = (*axes, *renamed.values(), *_OWN, *results)
    columns = {name: _uniform([row.get(name) for row in rows]) for name in names}
    return SweepTable(columns, axes, tuple(renamed.values()), tuple(results))


def table_of(folder: ResultFolder) -> SweepTable:
    """Return the table of a finished sweep.

    Raises:
        KinetariumError: If a file of the folder cannot be read.
    """
    return sweep_table(folder.runs(), folder.metrics["sweep"]["varied"])


def polars_frame(table: SweepTable) -> Any:
    """Return a table as a polars.DataFrame.

    Raises:
        MissingPackageError: If polars is not installed.
    """
    polars = check_polars()
    kinds = {bool: polars.Boolean, int: polars.Int64, float: polars.Float64, str: polars.String}
    return polars.DataFrame(
        [
            polars.Series(name, values, dtype=kinds.get(_kind(values), polars.String))
            for name, values in table.columns.items()
        ]
    )


def parquet(table: SweepTable) -> bytes:
    """Return a table as a Parquet file; the same table yields the same bytes.

    Raises:
        MissingPackageError: If polars is not installed.
    """
    buffer = BytesIO()
    polars_frame(table).write_parquet(buffer)
    return buffer.getvalue()


def check_polars() -> Any:
    """Return the polars library, before a sweep whose table it writes.

    Raises:
        MissingPackageError: If it is not installed.
    """
    try:
        import polars
    except ImportError:
        raise MissingPackageError("polars", extra="tables") from None
    return polars


def _differing(fields: Sequence[Mapping[str, Scalar]], points: Sequence[Point]) -> list[str]:
    """Return the fields in which cases differ, without those that an axis sets as they are."""
    names = dict.fromkeys(name for own in fields for name in own)
    found = []
    for name in names:
        column = [own.get(name) for own in fields]
        same = [point.get(name) == value for point, value in zip(points, column, strict=True)]
        if any(value != column[0] for value in column) and not all(same):
            found.append(name)
    return found


def _scalars(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Scalar]]:
    """Yield the scalars of nested dictionaries, by their dotted names; lists are left out."""
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from _scalars(value, f"{prefix}{key}.")
        elif value is None or isinstance(value, str | int | float):
            yield f"{prefix}{key}", value


def _scalar(value: Any) -> Scalar:
    if value is None or isinstance(value, str | int | float):
        return value
    return strict_json(value, indent=None)


def _kind(values: Sequence[Scalar]) -> type:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return float
    return kinds.pop() if len(kinds) == 1 else str


def _uniform(values: Sequence[Scalar]) -> list[Scalar]:
    """Return the values of a column with one type."""
    kind = _kind(values)
    return [None if value is None else kind(value) for value in values]
