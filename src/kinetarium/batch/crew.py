"""Crew: the workers of one batch; there are as many as there is work for."""

from collections import deque
from itertools import count
from pathlib import Path
from time import monotonic

from kinetarium.batch.ending import Ending
from kinetarium.batch.worker_main import Job
from kinetarium.batch.worker_process import WorkerProcess
from kinetarium.batch.worker_start import WorkerStart
from kinetarium.errors import KinetariumError

_MOST_FAILED_STARTS = 10
"""So many workers in a row that do not even start are no chance."""

_PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0, 2.0, 2.0)
"""Pauses before more workers are started, after some have vanished and none got ready [s]."""


class WorkerError(KinetariumError):
    """Workers cannot be used as asked, or not at all."""


class Crew:
    """The workers of one batch."""

    def __init__(self, start: WorkerStart, *, size: int, memory: float, outputs: Path) -> None:
        """Make a crew that is still empty.

        Args:
            start: Starts the workers.
            size: The most workers at a time.
            memory: The most memory for one of them [bytes].
            outputs: The folder for the files that take their output.
        """
        self._start = start
        self._size = size
        self._memory = memory
        self._outputs = (outputs / f"{number}.txt" for number in count())
        self._members: list[WorkerProcess] = []
        self._failed_starts = 0
        self._pauses = 0
        self._not_before = 0.0

    @property
    def members(self) -> tuple[WorkerProcess, ...]:
        """All workers, those that are still starting included."""
        return tuple(self._members)

    @property
    def busy(self) -> int:
        """How many are at work."""
        return sum(worker.job is not None for worker in self._members)

    def set_to_work(self, waiting: deque[Job]) -> None:
        """Give out jobs to those who are free, and start more workers for what is left.

        Raises:
            WorkerError: If no worker can be started.
        """
        for worker in self._members:
            if waiting and worker.free:
                worker.give(waiting.popleft())
        while len(self._members) < min(self._size, self.busy + len(waiting)):
            if monotonic() < self._not_before:
                return
            try:
                worker = WorkerProcess(self._start, output=next(self._outputs), memory=self._memory)
            except OSError as error:
                raise WorkerError(f"no worker process can be started: {error}") from error
            self._members.append(worker)

    def dismiss(self, worker: WorkerProcess) -> None:
        """End a worker that is not to be trusted any more."""
        self._members.remove(worker)
        worker.stop()

    def note_start(self, ending: Ending | None) -> None:
        """Keep count of workers that ended before they were ready.

        Args:
            ending: How it ended; None for one that has got ready.

        Raises:
            WorkerError: If it was one too many.
        """
        if ending is None:
            self._failed_starts = self._pauses = 0
        elif ending.is_verdict:
            self._failed_starts += 1
        elif monotonic() >= self._not_before:  # all that were waiting for one server count once
            if self._pauses == len(_PAUSES):
                raise WorkerError(f"worker processes do not start: {ending.message}")
            self._not_before = monotonic() + _PAUSES[self._pauses]
            self._pauses += 1
        if ending is not None and self._failed_starts == _MOST_FAILED_STARTS:
            raise WorkerError(f"worker processes do not start: {ending.message}")

    def stop(self) -> None:
        """End all workers at once."""
        while self._members:
            self.dismiss(self._members[0])
