"""How a sweep is followed on the screen: a live bar for people, a line now and then for logs."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from kinetarium.cli.console import Console
from kinetarium.recording.run import RunStatus

if TYPE_CHECKING:
    from kinetarium.batch.sweep import Progress

_QUIET_TIME = 10.0
"""Least time between two lines in a log [s]."""

Watch = Callable[["Progress"], None]


@contextmanager
def sweep_progress(console: Console, *, label: str) -> Iterator[Watch]:
    """Give what a sweep tells of its progress.

    Args:
        console: Where it is shown.
        label: What is being run.
    """
    if not console.speaks:
        yield lambda progress: None
    elif sys.stderr.isatty():
        with _bar(label) as watch:
            yield watch
    else:
        yield _lines(console, label)


@contextmanager
def _bar(label: str) -> Iterator[Watch]:
    from rich.console import Console as RichConsole
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]}", style="red"),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with RichProgress(*columns, console=RichConsole(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None, failed="")

        def watch(progress: "Progress") -> None:
            failed = f"{progress.failed} failed" if progress.failed else ""
            bar.update(task, total=progress.total, completed=progress.done, failed=failed)

        yield watch


def _lines(console: Console, label: str) -> Watch:
    start = last = monotonic()
    before = 0

    def watch(progress: "Progress") -> None:
        nonlocal last, before
        finished, now = progress.latest, monotonic()
        if finished is None:
            before = progress.done
            if before:
                console.note(f"{label}: {before} of {progress.total} are there already")
            return
        if finished.status is not RunStatus.COMPLETED:
            said = finished.message.startswith(str(finished.status))
            words = finished.message if said else f"{finished.status}: {finished.message}"
            console.note(f"{label}: {words}")
        if now - last > _QUIET_TIME and progress.done < progress.total:
            last = now
            rest = (now - start) / (progress.done - before) * (progress.total - progress.done)
            failed = f", {progress.failed} failed" if progress.failed else ""
            console.note(
                f"{label}: {progress.done} of {progress.total}{failed}, about {rest:.0f} s left"
            )

    return watch
