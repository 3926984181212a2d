"""Console: the only place that prints; rich on a terminal, plain lines everywhere else."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill
from typing import Any, TypeVar

from kinetarium.errors import KinetariumError, MissingPackageError, OutputError, UnknownNameError
from kinetarium.figure.text import Table, cell_text
from kinetarium.model.diagnostics import RobotFileError
from kinetarium.storage.atomic import check_replaceable, check_writable, write_atomic
from kinetarium.storage.regular_file import reason
from kinetarium.storage.strict_json import strict_json

Item = TypeVar("Item")

_WRAPPED = 30
"""Width to which a column of long texts may be wrapped on a terminal [characters]."""

_PRODUCER = "kinetarium_version"
"""The first key of a JSON file, which identifies it as written by Kinetarium."""

_DEEPEST = 40
"""Depth beyond which a tree is not indented any further."""


class Console:
    """Prints results as text, as JSON, or both to different places.

    Attributes:
        speaks: Whether text other than errors is printed.
    """

    def __init__(self, *, json: str = "", quiet: bool = False, force: bool = False) -> None:
        """Decide what goes where.

        Args:
            json: The file for the result as JSON, "-" for standard output, or empty.
            quiet: Whether to print errors only.
            force: Whether a JSON file that Kinetarium did not write may be overwritten.
        """
        self._json, self._force = json, force
        # Standard output that carries JSON carries nothing else.
        self.speaks = not quiet and json != "-"
        _make_streams_safe()

    def line(self, text: str = "") -> None:
        """Print a line."""
        if self.speaks:
            _write(_printable(text) + "\n")

    def paragraph(self, text: str) -> None:
        """Print a text, wrapped at the width of the terminal."""
        if self.speaks:
            _write(fill(_printable(text), _paragraph_width(), break_on_hyphens=False) + "\n")

    def text(self, text: str) -> None:
        """Print text without escaping."""
        if self.speaks:
            _write(text)

    def table(self, table: Table, *, essential: int = 0) -> None:
        """Print a table; on a terminal, or at the width of COLUMNS, so that it fits.

        Columns that are the same in all rows are left out first and named below. What is still
        too wide continues below, with the first columns repeated.

        Args:
            table: The table; without rows only its title is printed.
            essential: Number of columns that are always shown, if those after them may be left
                out; 0 for all.
        """
        if not self.speaks:
            return
        if not table.rows:
            _write(f"{table.title}: none\n" if table.title else "")
            return
        terminal = sys.stdout.isatty()
        whole = _Columns.of(table)
        if not terminal and not os.environ.get("COLUMNS", "").isdigit():
            _write(f"{table.title}\n" * bool(table.title) + whole.plain())
            return
        limit = get_terminal_size((_WIDEST, 24)).columns
        kept, notes = whole.narrowed(limit, essential=essential, verdict=table.verdict)
        for number, part in enumerate(kept.blocks(limit)):
            _write_rich_table(table.title if number == 0 else "", part, width=limit)
        for note in notes:
            self.paragraph(note)

    def tree(self, nodes: Sequence[tuple[int, str]]) -> None:
        """Print a tree.

        Args:
            nodes: Depth and text of each node, a parent before its children.
        """
        if not self.speaks:
            return
        guides = _guides([min(depth, _DEEPEST) for depth, _ in nodes])
        lines = zip(guides, nodes, strict=True)
        _write("".join(f"{guide}{_printable(text)}\n" for guide, (_, text) in lines))

    def progress(self, items: Iterable[Item], *, label: str, total: int) -> Iterator[Item]:
        """Iterate over items, with a progress bar if standard error is a terminal.

        Args:
            label: Text beside the bar.
            total: How many there are.
        """
        if not self.speaks or not sys.stderr.isatty():
            yield from items
            return
        from rich.console import Console as RichConsole
        from rich.progress import track

        console = RichConsole(stderr=True)
        yield from track(items, description=label, total=total, console=console, transient=True)

    def check_result(self) -> None:
        """Check early, before any work, that the JSON file can be written.

        Raises:
            OutputError: If it cannot be written.
        """
        if self._json not in ("", "-"):
            from kinetarium.recording.result_folder import result_folder_above

            if above := result_folder_above(Path(self._json)):
                raise OutputError(
                    f"{self._json!r} is inside the result folder {str(above)!r}; choose another"
                    " --json"
                )
            check_writable(Path(self._json), through_links=True)
            check_replaceable(Path(self._json), ours=_PRODUCER.encode(), force=self._force)

    def result(self, payload: dict[str, Any]) -> None:
        """Write the result as JSON, if requested.

        Raises:
            OutputError: If it cannot be written.
        """
        if self._json == "-":
            _write(strict_json(payload) + "\n")
        elif self._json:
            text = strict_json({_PRODUCER: _version(), **payload}) + "\n"
            self.check_result()
            write_atomic(Path(self._json), text.encode(), through_links=True)

    def note(self, text: str) -> None:
        """Print a note on standard error."""
        if self.speaks:
            self.error(text)

    def error(self, text: str) -> None:
        """Print a line on standard error."""
        with suppress(OSError):  # standard error is closed
            print(_printable(text), file=sys.stderr, flush=True)

    def traceback(self, error: BaseException) -> None:
        """Print a traceback on standard error."""
        from traceback import format_exception

        for line in "".join(format_exception(error)).splitlines():
            self.error(line)

    def flush(self) -> None:
        """Flush what other code has printed, such as the help."""
        _write("")


_WIDEST = 100
"""Width of paragraphs where the terminal is wider, or there is none [characters]."""


def _paragraph_width() -> int:
    """Return the width of paragraphs [characters]: that of the terminal, or of COLUMNS."""
    return max(20, min(_WIDEST, get_terminal_size((_WIDEST, 24)).columns))


def _version() -> str:
    from importlib.metadata import version

    return version("kinetarium")


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns of a table as text.

    Attributes:
        headings: Of each column.
        rows: The cells of every row.
        numeric: Whether each column is right-aligned.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]

    @classmethod
    def of(cls, table: Table) -> "_Columns":
        """Return the columns of a table."""
        headings = tuple(column.heading for column in table.columns)
        rows = tuple(tuple(_printable(cell_text(cell)) for cell in row) for row in table.rows)
        return cls(headings, rows, tuple(map(table.is_numeric, range(len(headings)))))

    def of_these(self, indices: Sequence[int]) -> "_Columns":
        """Return some of the columns."""
        return _Columns(
            tuple(self.headings[i] for i in indices),
            tuple(tuple(row[i] for i in indices) for row in self.rows),
            tuple(self.numeric[i] for i in indices),
        )

    def cells(self, index: int) -> tuple[str, ...]:
        """Return the cells of a column."""
        return tuple(row[index] for row in self.rows)

    def width(self, index: int) -> int:
        """Return the width of a column; long texts are wrapped."""
        widest = max(map(len, (self.headings[index], *self.cells(index))))
        return widest if self.numeric[index] else min(widest, _WRAPPED)

    def fits(self, indices: Sequence[int], limit: int) -> bool:
        """Return whether some columns fit beside each other."""
        return sum(map(self.width, indices)) + 2 * (len(indices) - 1) <= limit

    def plain(self) -> str:
        """Return aligned lines."""
        widths = [
            max(map(len, (heading, *self.cells(i)))) for i, heading in enumerate(self.headings)
        ]
        lines = [
            "  ".join(
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(row, widths, self.numeric, strict=True)
            ).rstrip()
            for row in [self.headings, *self.rows]
        ]
        return "".join(f"{line}\n" for line in lines)

    def narrowed(
        self, limit: int, *, essential: int, verdict: int | None
    ) -> tuple["_Columns", list[str]]:
        """Leave out columns until the rest fits, and return notes on what was left out."""
        kept, same, hidden = list(range(len(self.headings))), list[int](), list[int]()
        spared = {verdict} | set(range(essential))
        for index in kept[:]:  # from the left, where settings are; results come last
            constant = len(self.rows) > 1 and len(set(self.cells(index))) == 1
            if constant and index not in spared and kept[1:] and not self.fits(kept, limit):
                kept.remove(index)
                same.append(index)
        while essential and len(kept) > essential and not self.fits(kept, limit):
            hidden.insert(0, kept.pop())
        notes = []
        told = [f"{self.headings[i]} = {cell}" for i in same if (cell := self.cells(i)[0])]
        if told:
            notes.append(f"the same in all rows: {', '.join(told)}")
        if hidden:
            notes.append(f"columns not shown: {', '.join(self.headings[i] for i in hidden)}")
        return self.of_these(kept), notes

    def blocks(self, limit: int) -> "list[_Columns]":
        """Return groups of columns that fit, each with those that identify the rows."""
        every = range(len(self.headings))
        if self.fits(every, limit):
            return [self]
        if len(self.rows) == 1:
            pairs = zip(self.headings, self.rows[0], strict=True)
            return [_Columns(("quantity", "value"), tuple(pairs), (False, False))]
        count = self._identifying(limit)
        names, blocks = list(range(count)), list[list[int]]()
        for index in every[count:]:
            if not blocks or not self.fits([*blocks[-1], index], limit):
                blocks.append(names[:])
            blocks[-1].append(index)
        return [self.of_these(block) for block in blocks]

    def _identifying(self, limit: int) -> int:
        """Return how many of the first columns distinguish all rows, on half of the width."""
        for count in range(1, len(self.headings)):
            if not self.fits(range(count), limit // 2):
                return max(1, count - 1)
            if len({row[:count] for row in self.rows}) == len(self.rows):
                return count
        return 1


def _write_rich_table(title: str, columns: _Columns, *, width: int) -> None:
    from rich import box
    from rich.console import Console as RichConsole
    from rich.table import Table as RichTable
    from rich.text import Text

    # Without a terminal no escape codes, whatever the environment asks for.
    terminal = None if sys.stdout.isatty() else False
    console = RichConsole(file=sys.stdout, width=width, force_terminal=terminal)
    table = RichTable(
        title=Text(title) if title else None,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    for index, heading in enumerate(columns.headings):
        table.add_column(
            Text(heading),
            justify="right" if columns.numeric[index] else "left",
            min_width=min(columns.width(index), width),
            overflow="fold",
        )
    for row in columns.rows:
        table.add_row(*map(Text, row))
    # Rendered first: rich ends the program where a reader has left.
    with console.capture() as rendered:
        console.print(table)
    _write(rendered.get())


def _make_streams_safe() -> None:
    """Redirect closed streams to the null device, and escape characters that the locale lacks."""
    sys.stdout = sys.stdout or open(os.devnull, "w")
    sys.stderr = sys.stderr or open(os.devnull, "w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _printable(text: str) -> str:
    """Escape control characters, which could rewrite the screen or break a line."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def _guides(depths: Sequence[int]) -> list[str]:
    """Return the guide lines of each node of a tree, built from the last node to the first."""
    guides: list[str] = []
    later: set[int] = set()  # depths at which a sibling of the current branch follows
    for depth in reversed(depths):
        stems = ("│  " if level in later else "   " for level in range(1, depth))
        knee = ("├─ " if depth in later else "└─ ") if depth else ""
        guides.append("".join(stems) + knee)
        later = {level for level in later if level < depth} | {depth}
    return guides[::-1]


def _write(text: str) -> None:
    with _writing():
        sys.stdout.write(text)
        sys.stdout.flush()


@contextmanager
def _writing() -> Iterator[None]:
    """Ignore a closed pipe; raise if the output cannot be written."""
    try:
        yield
    except BrokenPipeError:
        _discard_output()
    except OSError as error:
        _discard_output()
        reason = (error.strerror or str(error)).lower()
        raise OutputError(f"cannot write to standard output: {reason}") from None


def _discard_output() -> None:
    """Redirect standard output to the null device, or the interpreter fails again at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


_CODES: dict[type[Exception], str] = {
    UnknownNameError: "unknown-name",
    OutputError: "output",
    MissingPackageError: "missing-package",
}


def is_defect(error: Exception) -> bool:
    """Return whether it is an internal error, which a user cannot correct."""
    return not isinstance(error, KinetariumError) and not _names_a_file(error)


def failure_lines(error: Exception) -> list[str]:
    """Return a line for each fault."""
    if isinstance(error, RobotFileError):
        return [str(refusal) for refusal in error.refusals]
    if isinstance(error, KinetariumError):
        return [f"kinetarium: {error}"]
    if not is_defect(error):
        return [f"kinetarium: {_file_fault(error)}"]
    return [
        f"kinetarium: internal error, {type(error).__name__}: {error}"
        " (a bug in Kinetarium; run again with --debug for the traceback)"
    ]


def failure_payload(error: Exception) -> dict[str, Any]:
    """Return the faults as JSON data."""
    if isinstance(error, RobotFileError):
        rows = [
            {
                "code": str(refusal.code),
                "message": refusal.message,
                "line": refusal.line,
                "remedy": refusal.remedy,
                "file": refusal.file,
            }
            for refusal in error.refusals
        ]
    else:
        code = _CODES.get(type(error), "internal" if is_defect(error) else "error")
        message = _file_fault(error) if _names_a_file(error) else str(error)
        rows = [{"code": code, "message": message, "line": None, "remedy": "", "file": None}]
    return {"ok": False, "errors": rows}


def _names_a_file(error: Exception) -> bool:
    """Return whether a file is at fault: not accessible, or with a name that is too long."""
    return isinstance(error, OSError) and isinstance(error.filename, str | bytes)


def _file_fault(error: Exception) -> str:
    assert isinstance(error, OSError)
    return f"cannot use {os.fsdecode(error.filename)!r}: {reason(error)}"
