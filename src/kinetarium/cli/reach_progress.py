"""How a long computation is followed on the screen: a bar with the time left, or lines."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from kinetarium.cli.console import Console

_QUIET_TIME = 10.0
"""Least time between two lines in a log [s]."""

Watch = Callable[[str, int, int], None]
"""Told what is being done, and how many parts of how many are done."""


@contextmanager
def shown_progress(console: Console) -> Iterator[Watch]:
    """Give what a computation tells of its progress.

    Args:
        console: Where it is shown.
    """
    if not console.speaks:
        yield lambda label, done, total: None
    elif sys.stderr.isatty():
        with _bar() as watch:
            yield watch
    else:
        yield _lines(console)


@contextmanager
def _bar() -> Iterator[Watch]:
    from rich.console import Console as RichConsole
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=RichConsole(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def watch(label: str, done: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = bar.add_task(label)
            bar.update(tasks[label], total=total, completed=done)

        yield watch


def _lines(console: Console) -> Watch:
    begun, start, last, before = "", 0.0, 0.0, 0

    def watch(label: str, done: int, total: int) -> None:
        nonlocal begun, start, last, before
        now = monotonic()
        if label != begun:
            begun, start, last, before = label, now, now, done
            if done:
                console.note(f"{label}: {done} of {total} are there already")
        elif now - last > _QUIET_TIME and done < total:
            last = now
            rest = (now - start) / (done - before) * (total - done)
            console.note(f"{label}: {done} of {total}, about {rest:.0f} s left")

    return watch
