"""Console: the only place that prints; rich on a terminal, plain lines everywhere else."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
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
            _write(fill(_printable(text), width(), break_on_hyphens=False) + "\n")

    def text(self, text: str) -> None:
        """Print text without escaping."""
        if self.speaks:
            _write(text)

    def table(self, table: Table) -> None:
        """Print a table."""
        if not self.speaks:
            return
        headings = [column.heading for column in table.columns]
        rows = [[_printable(cell_text(cell)) for cell in row] for row in table.rows]
        numeric = [table.is_numeric(index) for index in range(len(headings))]
        if sys.stdout.isatty():
            _write_rich_table(table.title, headings=headings, rows=rows, numeric=numeric)
            return
        widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
        title = [table.title] if table.title else []
        lines = [
            "  ".join(
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(row, widths, numeric, strict=True)
            ).rstrip()
            for row in [headings, *rows]
        ]
        _write("".join(f"{line}\n" for line in [*title, *lines]))

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


def width() -> int:
    """Return the width of paragraphs [characters]: that of the terminal, or of COLUMNS."""
    return max(20, min(_WIDEST, get_terminal_size((_WIDEST, 24)).columns))


def _version() -> str:
    from importlib.metadata import version

    return version("kinetarium")


def _write_rich_table(
    title: str, *, headings: list[str], rows: list[list[str]], numeric: list[bool]
) -> None:
    """Print a table that fits the terminal: long texts wrap, the last columns may be dropped."""
    from rich import box
    from rich.console import Console as RichConsole
    from rich.table import Table as RichTable
    from rich.text import Text

    console = RichConsole(file=sys.stdout)
    widths = [min(max(map(len, column)), _WRAPPED) for column in zip(headings, *rows, strict=True)]
    shown = len(widths)
    while shown > 1 and sum(widths[:shown]) + 2 * (shown - 1) > console.width:
        shown -= 1
    hidden = ", ".join(headings[shown:])
    table = RichTable(
        title=Text(title) if title else None,
        title_justify="left",
        caption=Text(f"columns not shown: {hidden}") if hidden else None,
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    for heading, width, right in list(zip(headings, widths, numeric, strict=True))[:shown]:
        table.add_column(
            Text(heading),
            justify="right" if right else "left",
            min_width=width,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row[:shown]))
    with _writing():
        console.print(table)


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
