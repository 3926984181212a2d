"""Tables, facts, lists and paragraphs of a report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isnan
from typing import Any

Cell = str | int | float | None
"""The value of a table cell; None is shown as empty."""


def as_cell(value: Any) -> Cell:
    """Return a scalar unchanged, anything else as text."""
    return value if isinstance(value, str | int | float | None) else str(value)


def cell_text(value: Cell) -> str:
    """Format a value: four significant digits, no needless exponents, empty for None."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    if isnan(value):
        return "not a number"
    if not isfinite(value):
        return "∞" if value > 0 else "-∞"
    if 1e4 <= abs(value) < 1e9:
        return f"{value:.0f}"
    return f"{value:.4g}"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        name: Its heading.
        unit: Unit of all its values, or empty.
    """

    name: str
    unit: str = ""

    @property
    def heading(self) -> str:
        """The name with the unit in brackets."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name


def header(text: str) -> tuple[Column, ...]:
    """Return the columns of a table from their headings, "name | name [unit] | ..."."""
    parts = (heading.partition(" [") for heading in text.split(" | "))
    return tuple(Column(name, unit.removesuffix("]")) for name, _, unit in parts)


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        title: What it shows; may be empty.
        columns: The columns.
        rows: The values, one for each column in every row.
        verdict: Index of the column that stays in sight besides the first, or None.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    verdict: int | None = None

    def is_numeric(self, column: int) -> bool:
        """Return whether a column holds numbers only, which are right-aligned."""
        cells = [row[column] for row in self.rows if row[column] is not None]
        return bool(cells) and not any(isinstance(cell, str) for cell in cells)


def rows_table(title: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of dictionaries, with a column for every key.

    Args:
        title: What it shows; may be empty.
        rows: Values by name; values other than scalars are shown as text.
    """
    names = tuple(dict.fromkeys(name for row in rows for name in row))
    return Table(
        title,
        tuple(map(Column, names)),
        tuple(tuple(as_cell(row.get(name)) for name in names) for row in rows),
    )


@dataclass(frozen=True, slots=True)
class Facts:
    """Headline values.

    Attributes:
        items: Name, value and unit of each; the unit may be empty.
    """

    items: tuple[tuple[str, Cell, str], ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of texts.

    Attributes:
        title: What they are.
        items: The texts.
    """

    title: str
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph.

    Attributes:
        text: Plain text; markup is not interpreted.
    """

    text: str
