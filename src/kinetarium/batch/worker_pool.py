"""IsolatedExecutor: runs cases in worker processes, where a crash affects one row only."""

import os
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from itertools import count
from multiprocessing.connection import wait
from pathlib import Path
from time import monotonic

from kinetarium.batch.worker import Executor, Finished, SerialExecutor, Task
from kinetarium.batch.worker_main import ExitStatus, Job
from kinetarium.batch.worker_process import WorkerProcess, WorkerStart
from kinetarium.errors import KinetariumError
from kinetarium.interruption import stop_if_requested
from kinetarium.recording.recording import Run, RunStatus
from kinetarium.recording.run_folder import write_run
from kinetarium.storage.atomic import make_folder, remove_leftovers

_MOST_FAILED_STARTS = 10
"""Number of consecutive failed starts after which no more workers are started."""

_PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0, 2.0, 2.0)
"""Pauses before more workers are started, after some vanished before they were ready [s]."""


class WorkerError(KinetariumError):
    """Workers cannot be started, or not for this study."""


class WorkerPool:
    """The workers of one batch."""

    def __init__(self, start: WorkerStart, *, size: int, memory: float, outputs: Path) -> None:
        """Create an empty pool.

        Args:
            start: Starts the workers.
            size: Maximum number of workers.
            memory: Memory limit of each [bytes].
            outputs: The folder for their output files.
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
        """All workers, including those that are starting."""
        return tuple(self._members)

    @property
    def busy(self) -> int:
        """Number of workers with a job."""
        return sum(worker.job is not None for worker in self._members)

    def assign_jobs(self, waiting: deque[Job]) -> None:
        """Assign jobs to free workers, and start more workers for the rest.

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
        """Stop and remove a worker."""
        self._members.remove(worker)
        worker.stop()

    def note_start(self, exit_status: ExitStatus | None) -> None:
        """Count workers that exited before they were ready.

        Args:
            exit_status: Its exit status; None for a worker that is ready.

        Raises:
            WorkerError: If there were too many.
        """
        if exit_status is None:
            self._failed_starts = self._pauses = 0
        elif exit_status.is_verdict:
            self._failed_starts += 1
        elif monotonic() >= self._not_before:  # count all workers of one server once
            if self._pauses == len(_PAUSES):
                raise WorkerError(f"worker processes do not start: {exit_status.message}")
            self._not_before = monotonic() + _PAUSES[self._pauses]
            self._pauses += 1
        if exit_status is not None and self._failed_starts == _MOST_FAILED_STARTS:
            raise WorkerError(f"worker processes do not start: {exit_status.message}")

    def stop(self) -> None:
        """Stop all workers."""
        while self._members:
            self.dismiss(self._members[0])


_INTERVAL = 0.05
"""Polling interval of the workers' limits [s]."""

_OUTPUTS = ".kinetarium-outputs"
"""Folder of the workers' output; `remove_leftovers` recognises the name."""

_HEALTHY = frozenset({RunStatus.COMPLETED, RunStatus.DIVERGED, RunStatus.UNSUPPORTED})
"""Statuses after which a worker can be reused."""

_MOST_VANISHED = 10
"""Maximum number of vanished workers per case."""


class IsolatedExecutor:
    """Runs cases in parallel worker processes.

    A worker that crashes, hangs or uses too much memory is killed and replaced, and its
    case becomes a row with that status. A crash may be transient, so that the case is run
    again. A worker that vanished, so that its exit code is unknown, does not count.
    Limits are checked while waiting for results. Memory is limited on Linux only.
    """

    def __init__(
        self,
        workers: int,
        *,
        timeout: float,
        memory: float,
        check: Callable[[], None] = stop_if_requested,
    ) -> None:
        """Set the number of workers and their limits.

        Args:
            workers: Number of worker processes.
            timeout: Time limit for one case [s].
            memory: Memory limit for one worker [bytes].
            check: Called repeatedly; raises to stop everything.
        """
        self._workers = workers
        self._check = check
        self._timeout = timeout
        self._memory = memory

    def prepare(self, engines: Sequence[str]) -> None:
        """Start to load what workers will need, in another process."""
        WorkerStart(engines).begin()

    def execute(self, tasks: Sequence[Task], *, runs: Path) -> Generator[Finished, None, None]:
        """Run tasks and yield each as it finishes, its run saved.

        Args:
            runs: The folder of all runs; no other process may write to it meanwhile.

        Raises:
            OutputError: If a run cannot be written.
            WorkerError: If no worker can be started, workers vanish repeatedly, or a study is
                defined in a script.
        """
        for task in tasks:
            if task.study_class.startswith("__main__:"):
                raise WorkerError(
                    f"the study '{task.study}' is defined in a script, which workers cannot import;"
                    " move it to a module"
                )
        start = WorkerStart(engines_of(tasks))
        outputs = runs / _OUTPUTS
        remove_leftovers(runs)  # of a killed coordinator
        make_folder(outputs)
        pool = WorkerPool(start, size=self._workers, memory=self._memory, outputs=outputs)
        try:
            yield from self.run_in(pool, tasks, runs=runs)
        finally:
            pool.stop()
            remove_leftovers(runs)

    def run_in(
        self, pool: WorkerPool, tasks: Sequence[Task], *, runs: Path
    ) -> Generator[Finished, None, None]:
        """Run tasks in workers that stay for later tasks, and yield each as it finishes.

        Args:
            pool: The workers; to be stopped if an error is raised.
            runs: The folder of all runs.

        Raises:
            OutputError: If a run cannot be written.
            WorkerError: If no worker can be started, or workers vanish repeatedly.
        """
        waiting = deque(Job(task, runs) for task in tasks)
        while waiting or pool.busy:
            self._check()
            pool.assign_jobs(waiting)
            wait([event for worker in pool.workers for event in worker.events], timeout=_INTERVAL)
            over = [end for worker in pool.workers if (end := self._end(worker, pool, waiting))]
            pool.assign_jobs(waiting)  # before the results are processed, which may take a while
            yield from over

    def _end(self, worker: WorkerProcess, pool: WorkerPool, waiting: deque[Job]) -> Finished | None:
        """Return the finished task of a worker, if it has one and it is not retried."""
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


def executor(workers: int | None, *, timeout: float, memory: float) -> Executor:
    """Return the executor for a number of processes.

    Args:
        workers: Number of worker processes; one for each core if None, and none at all for 0.
        timeout: Time limit for one case [s].
        memory: Memory limit for one worker [bytes].

    Raises:
        WorkerError: If the number is negative.
    """
    size = os.cpu_count() or 1 if workers is None else workers
    if size < 0:
        raise WorkerError(f"workers must not be negative, not {size}")
    return IsolatedExecutor(size, timeout=timeout, memory=memory) if size else SerialExecutor()


def engines_of(tasks: Sequence[Task]) -> tuple[str, ...]:
    """Return the engines that cases name, without their options."""
    names = {task.case.get("engine") for task in tasks}
    return tuple(sorted({name.partition(":")[0] for name in names if isinstance(name, str)}))


def _may_be_transient(result: Finished | ExitStatus, worker: WorkerProcess) -> bool:
    """Return whether a case may have another result in a new worker.

    Earlier cases of the worker may have leaked memory; a crash may have any cause.
    """
    if result.status is RunStatus.OUT_OF_MEMORY:
        return worker.jobs > 1
    return result.status is RunStatus.CRASHED


def _retried(job: Job, exit_status: ExitStatus) -> Job:
    """Return the job of a vanished worker, for another worker.

    Raises:
        WorkerError: If this has happened too often.
    """
    if job.vanished == _MOST_VANISHED:
        raise WorkerError(
            f"the workers of one case (study '{job.task.study}', key {job.task.key}) were lost"
            f" {_MOST_VANISHED + 1} times; the last {exit_status.message}"
        )
    return replace(job, vanished=job.vanished + 1)


def _written(exit_status: ExitStatus, job: Job, worker: WorkerProcess) -> Finished:
    """Write the run of a case whose worker has exited."""
    task = job.task
    timing = {"wall_s": worker.wall_s, "cpu_s": worker.cpu_s, "attempts": float(job.attempt)}
    run = Run(task.key, task.study, task.case, exit_status.status, exit_status.message)
    write_run(job.runs / task.key, run, timing=timing)
    return Finished(task, exit_status.status, exit_status.message, timing)
