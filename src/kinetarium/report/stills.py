"""Stills: all charts of a page as still pictures, drawn side by side where that is faster."""

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from multiprocessing import current_process
from multiprocessing.connection import Connection, wait

from kinetarium.batch.worker_start import StartedProcess, WorkerStart
from kinetarium.figure.page import Chart, Page
from kinetarium.figure.palette import tones
from kinetarium.report.still import Still, draw_still

_FEW = 3
"""So many charts take no longer than another process takes to load Matplotlib."""


class Stills:
    """The charts of a page as stills."""

    def __init__(self, page: Page) -> None:
        """Draw all charts of a page."""
        figures = (figure for section in page.sections for figure in section.figures)
        charts = list(dict.fromkeys(figure for figure in figures if isinstance(figure, Chart)))
        self._stills = _drawn(charts, tones(page))

    def __getitem__(self, chart: Chart) -> Still:
        """Give the still of a chart."""
        return self._stills[chart]


def _drawn(charts: Sequence[Chart], tones: Mapping[str, int]) -> dict[Chart, Still]:
    """Draw charts, a share of them in each process; this one draws, too."""
    parts = max(1, min(os.cpu_count() or 1, len(charts) // _FEW))
    if current_process().daemon:  # which may have no children
        parts = 1
    *others, own = (charts[part::parts] for part in range(parts))
    elsewhere = [_Elsewhere(share, tones) for share in others]
    stills = {chart: draw_still(chart, tones) for chart in own}
    for share, process in zip(others, elsewhere, strict=True):
        drawn = process.result() or [draw_still(chart, tones) for chart in share]
        stills.update(zip(share, drawn, strict=True))
    return stills


class _Elsewhere:
    """Charts that another process draws."""

    def __init__(self, charts: Sequence[Chart], tones: Mapping[str, int]) -> None:
        """Start it, if it can be started."""
        self._started: tuple[StartedProcess, Connection] | None = None
        with suppress(OSError):
            self._started = WorkerStart(()).start(_draw_and_send, charts, tones)

    def result(self) -> list[Still] | None:
        """Wait for the stills; give None if none will come."""
        if self._started is None:
            return None
        process, connection = self._started
        drawn: list[Still] | None = None
        with connection, suppress(EOFError, OSError):  # it died
            while process.is_alive() and not connection.poll():
                wait([connection, process.sentinel])
            if connection.poll():
                drawn = connection.recv()
        process.kill()
        process.join()
        process.close()
        return drawn


def _draw_and_send(
    connection: Connection, charts: Sequence[Chart], tones: Mapping[str, int]
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is the one who waits that is interrupted
    with suppress(Exception):  # who gets nothing draws the chart again, and meets the same error
        connection.send([draw_still(chart, tones) for chart in charts])
