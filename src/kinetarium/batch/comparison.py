"""Comparison of two result folders: matching rows and their differences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isclose
from typing import Any

from kinetarium.batch.sweep import check_metrics
from kinetarium.errors import KinetariumError
from kinetarium.recording.recording import Row
from kinetarium.recording.result_folder import ResultFolder
from kinetarium.storage.strict_json import strict_json


class ComparisonError(KinetariumError):
    """Two folders that cannot be compared."""


@dataclass(frozen=True, slots=True)
class ColumnDifference:
    """The difference between two folders in one column.

    Attributes:
        column: The column.
        rows: Number of pairs of rows with a value in it.
        differing: Number of pairs that differ.
        largest: The largest absolute difference; None if values are not numbers.
        relative: That difference over the larger of the two values; None likewise.
        where: The case of the largest difference, in words.
        values: The two values in that case.
    """

    column: str
    rows: int
    differing: int
    largest: float | None
    relative: float | None
    where: str
    values: tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of two folders.

    Attributes:
        settings: Values of the cases that differ between the folders: name, first, second.
        versions: Versions that differ: name, first, second.
        pairs: Number of matching rows.
        only_first: Number of rows that only the first has.
        only_second: Number of rows that only the second has.
        differences: One for each column of results.
    """

    settings: tuple[tuple[str, str, str], ...]
    versions: tuple[tuple[str, str, str], ...]
    pairs: int
    only_first: int
    only_second: int
    differences: tuple[ColumnDifference, ...]

    @property
    def equal(self) -> bool:
        """Whether every row of one is in the other, with the same values."""
        return not (self.only_first or self.only_second) and all(
            difference.differing == 0 for difference in self.differences
        )


def compare(first: ResultFolder, second: ResultFolder, *, tolerance: float = 0.0) -> Comparison:
    """Compare the results of two folders of one study.

    Rows match if their cases agree in every setting that the two folders have in
    common; a setting in which the folders differ as a whole (1 ms in all of one,
    2 ms in all of the other) is reported and then ignored.

    Args:
        tolerance: Relative difference up to which two numbers are considered equal [-].

    Raises:
        ComparisonError: If they are of different studies.
        KinetariumError: If a file has changed since it was written.
    """
    if not 0 <= tolerance < inf:
        raise ComparisonError(f"the tolerance must be from 0 to 2, not {tolerance:g}")
    studies = [folder.config["study"] for folder in (first, second)]
    if studies[0] != studies[1]:
        raise ComparisonError(
            f"'{first.path}' is of the study '{studies[0]}', '{second.path}' of '{studies[1]}'"
        )
    for folder in (first, second):
        check_metrics(folder)
    cases = [[run.case for run in folder.runs()] for folder in (first, second)]
    names = list(dict.fromkeys(name for group in cases for case in group for name in case))
    values = {name: tuple(_values(group, name) for group in cases) for name in names}
    settings = [
        (name, ", ".join(sorted(a)), ", ".join(sorted(b)))
        for name, (a, b) in values.items()
        if a.isdisjoint(b)
    ]
    shared = [name for name in names if name not in {setting[0] for setting in settings}]
    rows = [_identified(folder, shared, names) for folder in (first, second)]
    together = [key for key in rows[0] if key in rows[1]]
    columns = list(dict.fromkeys(name for key in together for row in rows for name in row[key]))
    return Comparison(
        settings=tuple(settings),
        versions=tuple(_differing(*(folder.environment["versions"] for folder in (first, second)))),
        pairs=len(together),
        only_first=len(rows[0]) - len(together),
        only_second=len(rows[1]) - len(together),
        differences=tuple(
            _difference(
                column,
                {key: (rows[0][key].get(column), rows[1][key].get(column)) for key in together},
                tolerance=tolerance,
            )
            for column in columns
        ),
    )


def _identified(folder: ResultFolder, shared: Sequence[str], case: Sequence[str]) -> dict[str, Row]:
    """Return the results of each row by its label: its case and its row within the case."""
    found: dict[str, Row] = {}
    for run in folder.runs():
        words = ", ".join(f"{name} {_text(run.case.get(name))}" for name in shared)
        for number, row in enumerate(run.rows or ({},)):
            kinds = [str(value) for value in row.values() if isinstance(value, str)]
            place = f"row {number + 1}" if len(run.rows) > 1 else ""
            label = ", ".join(word for word in (words, *kinds, place) if word)
            results = {name: value for name, value in row.items() if name not in case}
            found[label] = {"status": str(run.status), **results}
    return found


def _difference(
    column: str, pairs: Mapping[str, tuple[Any, Any]], *, tolerance: float
) -> ColumnDifference:
    differing = [key for key, (a, b) in pairs.items() if not _same(a, b, tolerance)]
    numeric = [key for key in differing if all(isinstance(v, int | float) for v in pairs[key])]
    worst = max(numeric, key=lambda key: abs(pairs[key][0] - pairs[key][1]), default=None)
    if worst is None:
        where = differing[0] if differing else ""
        values = pairs[where] if differing else (None, None)
        return ColumnDifference(column, len(pairs), len(differing), None, None, where, values)
    a, b = pairs[worst]
    apart = abs(a - b)
    relative = apart / max(abs(a), abs(b))
    return ColumnDifference(column, len(pairs), len(differing), apart, relative, worst, (a, b))


def _same(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(a, int | float) and isinstance(b, int | float):
        return isclose(a, b, rel_tol=tolerance, abs_tol=0.0)
    return bool(a == b)


def _values(cases: Sequence[Row], name: str) -> set[str]:
    return {_text(case.get(name)) for case in cases}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else strict_json(value, indent=None)


def _differing(first: Mapping[str, str], second: Mapping[str, str]) -> list[tuple[str, str, str]]:
    names = sorted({*first, *second})
    both = [(name, first.get(name, "none"), second.get(name, "none")) for name in names]
    return [entry for entry in both if entry[1] != entry[2]]
