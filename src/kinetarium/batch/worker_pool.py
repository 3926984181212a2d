"""IsolatedExecutor: cases in worker processes, where a fault costs one row and nothing else."""

from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import replace
from itertools import count
from multiprocessing.connection import wait
from pathlib import Path
from time import monotonic

from kinetarium.batch.worker import Finished, Task
from kinetarium.batch.worker_main import ExitStatus, Job
from kinetarium.batch.worker_process import WorkerProcess, WorkerStart
from kinetarium.errors import KinetariumError
from kinetarium.interruption import stop_if_requested
from kinetarium.recording.recording import Run, RunStatus
from kinetarium.recording.run_folder import write_run
from kinetarium.storage.atomic import make_folder, remove_leftovers

_MOST_FAILED_STARTS = 10
"""So many workers in a row that do not even start are no chance."""

_PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0, 2.0, 2.0)
"""Pauses before more workers are started, after some have vanished and none got ready [s]."""


class WorkerError(KinetariumError):
    """Workers cannot be used as asked, or not at all."""


class WorkerPool:
    """The workers of one batch."""

    def __init__(self, start: WorkerStart, *, size: int, memory: float, outputs: Path) -> None:
        """Make a pool that is still empty.

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
    def workers(self) -> tuple[WorkerProcess, ...]:
        """All workers, those that are still starting included."""
        return tuple(self._members)

    @property
    def busy(self) -> int:
        """How many are at work."""
        return sum(worker.job is not None for worker in self._members)

    def assign_jobs(self, waiting: deque[Job]) -> None:
        """Hand out jobs to those who are free, and start more workers for what is left.

        Raises:
            WorkerError: If no worker can be started.
        """
        for worker in self._members:
            if waiting and worker.free:
                worker.assign(waiting.popleft())
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

    def note_start(self, exit_status: ExitStatus | None) -> None:
        """Keep count of workers that ended before they were ready.

        Args:
            exit_status: How it ended; None for one that has got ready.

        Raises:
            WorkerError: If it was one too many.
        """
        if exit_status is None:
            self._failed_starts = self._pauses = 0
        elif exit_status.is_verdict:
            self._failed_starts += 1
        elif monotonic() >= self._not_before:  # all that were waiting for one server count once
            if self._pauses == len(_PAUSES):
                raise WorkerError(f"worker processes do not start: {exit_status.message}")
            self._not_before = monotonic() + _PAUSES[self._pauses]
            self._pauses += 1
        if exit_status is not None and self._failed_starts == _MOST_FAILED_STARTS:
            raise WorkerError(f"worker processes do not start: {exit_status.message}")

    def stop(self) -> None:
        """End all workers at once."""
        while self._members:
            self.dismiss(self._members[0])


_INTERVAL = 0.05
"""How often workers are looked at when nothing happens [s]; no limit is passed for longer."""

_OUTPUTS = ".kinetarium-outputs"
"""Where workers print to; named so that `remove_leftovers` takes it for what it is."""

_HEALTHY = frozenset({RunStatus.COMPLETED, RunStatus.DIVERGED, RunStatus.UNSUPPORTED})
"""Ends after which a worker goes on: nothing has gone wrong in it."""

_MOST_VANISHED = 10
"""How often the worker of one case may vanish; that says nothing of the case."""


class IsolatedExecutor:
    """Runs cases in worker processes, several side by side.

    A worker that crashes, hangs or uses too much memory is ended and replaced,
    and its case becomes a row that says so. A crash may be chance, so that the
    case is run once more. A worker that vanished, so that nobody knows how it
    ended, is no verdict at all. Limits are watched while a result is waited for.
    Memory is limited on Linux only.
    """

    def __init__(self, workers: int, *, timeout: float, memory: float) -> None:
        """Choose how many workers there are and what one may use.

        Args:
            workers: How many cases run side by side.
            timeout: The most time for one case [s].
            memory: The most memory for one worker [bytes].
        """
        self._workers = workers
        self._timeout = timeout
        self._memory = memory

    def prepare(self, engines: Sequence[str]) -> None:
        """Begin to load what workers will need, in a process beside this one."""
        WorkerStart(engines).begin()

    def execute(self, tasks: Sequence[Task], *, runs: Path) -> Generator[Finished, None, None]:
        """Run tasks and give each as it ends, its run whole on disk.

        Args:
            runs: The folder of all runs, to which nobody else may write meanwhile.

        Raises:
            OutputError: If a run cannot be written.
            WorkerError: If no worker can be started, workers vanish again and again, or a study
                is where none finds it.
        """
        for task in tasks:
            if task.study_class.startswith("__main__:"):
                raise WorkerError(
                    f"the study '{task.study}' is part of a script, which workers do not run;"
                    " put it into a module of its own"
                )
        start = WorkerStart(_engines(tasks))
        outputs = runs / _OUTPUTS
        remove_leftovers(runs)  # of a coordinator that was killed
        make_folder(outputs)
        pool = WorkerPool(start, size=self._workers, memory=self._memory, outputs=outputs)
        try:
            yield from self._run(pool, deque(Job(task, runs) for task in tasks))
        finally:
            pool.stop()
            remove_leftovers(runs)

    def _run(self, pool: WorkerPool, waiting: deque[Job]) -> Generator[Finished, None, None]:
        while waiting or pool.busy:
            stop_if_requested()
            pool.assign_jobs(waiting)
            wait([event for worker in pool.workers for event in worker.events], timeout=_INTERVAL)
            over = [end for worker in pool.workers if (end := self._end(worker, pool, waiting))]
            pool.assign_jobs(waiting)  # before results are given away, which may take a while
            yield from over

    def _end(self, worker: WorkerProcess, pool: WorkerPool, waiting: deque[Job]) -> Finished | None:
        """Return the task that a worker has ended, if it has, and if there is no second attempt."""
        job, was_ready = worker.job, worker.ready
        result = worker.poll(self._timeout)
        if worker.ready and not was_ready:
            pool.note_start(None)
        if result is None:
            return None
        if result.status not in _HEALTHY:
            pool.dismiss(worker)
        if job is None:
            if isinstance(result, ExitStatus) and not worker.ready:
                pool.note_start(result)
            return None
        if isinstance(result, ExitStatus) and not result.is_verdict:
            waiting.appendleft(_retried(job, result))
            return None
        if job.attempt == 1 and _may_be_transient(result, worker):
            waiting.appendleft(replace(job, attempt=2))
            return None
        return result if isinstance(result, Finished) else _written(result, job, worker)


def _engines(tasks: Sequence[Task]) -> list[str]:
    names = {task.case.get("engine") for task in tasks}
    return sorted(name for name in names if isinstance(name, str))


def _may_be_transient(result: Finished | ExitStatus, worker: WorkerProcess) -> bool:
    """Return whether a case may end otherwise in a new worker.

    Memory may have been lost by the worker's earlier cases; a crash may be anything.
    """
    if result.status is RunStatus.OUT_OF_MEMORY:
        return worker.jobs > 1
    return result.status is RunStatus.CRASHED


def _retried(job: Job, exit_status: ExitStatus) -> Job:
    """Return the job of a worker that vanished, to be done by another one.

    Raises:
        WorkerError: If that has happened too often.
    """
    if job.vanished == _MOST_VANISHED:
        raise WorkerError(
            f"the workers of one case (study '{job.task.study}', key {job.task.key}) were lost"
            f" {_MOST_VANISHED + 1} times; the last {exit_status.message}"
        )
    return replace(job, vanished=job.vanished + 1)


def _written(exit_status: ExitStatus, job: Job, worker: WorkerProcess) -> Finished:
    """Write the run of a case whose worker cannot do it any more."""
    task = job.task
    timing = {"wall_s": worker.wall_s, "cpu_s": worker.cpu_s, "attempts": float(job.attempt)}
    run = Run(task.key, task.study, task.case, exit_status.status, exit_status.message)
    write_run(job.runs / task.key, run, timing=timing)
    return Finished(task, exit_status.status, exit_status.message, timing)
