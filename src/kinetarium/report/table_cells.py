"""How the cells of a table are set in a page, as classes of its style sheet."""

from kinetarium.figure.cell import Cell, cell_text
from kinetarium.figure.table import Table
from kinetarium.recording.run import RunStatus

_LONGEST_WORD = 24
"""Characters of a word that is kept in one piece."""

_SHORT_TEXT = 40
"""Characters of a text that is kept on one line where the table is scrolled."""

_STATUS = "status"


def column_classes(table: Table) -> list[str]:
    """Say of each column what it holds: numbers, short texts, texts, long words, or a status."""
    return [
        "number" if table.is_numeric(column) else _text_class(table, column)
        for column in range(len(table.columns))
    ]


def cell_class(value: Cell, column: str) -> str:
    """Give the class of a cell: that of its column, and what is wrong with a run's status.

    Args:
        value: The value.
        column: The class of its column.
    """
    if column != _STATUS:
        return column
    return f"{_STATUS} {'good' if value == RunStatus.COMPLETED else 'bad'}"


def _text_class(table: Table, column: int) -> str:
    texts = [cell_text(row[column]) for row in table.rows]
    if texts and set(texts) <= set(RunStatus):
        return _STATUS
    if any(len(word) > _LONGEST_WORD for text in texts for word in text.split()):
        return "breakable"
    return "short" if all(len(text) <= _SHORT_TEXT for text in texts) else "text"
