"""ClusterExecutor: runs cases on a Dask cluster; the coordinator gives each worker its parcels.

Dask would restart the work of a lost worker anywhere at once, while that worker may still be
running if only its connection broke. Parcels are therefore bound to one worker; the cases of a
lost one are given to another only after its lease, within which it has stopped by itself. What
it delivers later is ignored: of each case exactly one result counts.
"""

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from secrets import token_bytes, token_hex
from shutil import rmtree
from time import monotonic
from typing import Any, Generic, TypeVar

from kinetarium.batch.cluster._remote import (
    PROBE,
    Delivered,
    Delivery,
    Parcel,
    Requirements,
    compute_shards,
    files_digest,
    fingerprint,
    introduce,
    run_parcel,
)
from kinetarium.batch.cluster.connection import ClusterSettings, check_settings, connected
from kinetarium.batch.plan import run_versions
from kinetarium.batch.worker import Finished, Task, study_of_class
from kinetarium.batch.worker_pool import WorkerError, engines_of
from kinetarium.errors import KinetariumError, OutputError, one_line
from kinetarium.interruption import stop_if_requested
from kinetarium.storage.atomic import (
    make_folder,
    remove_leftovers,
    sync_folder,
    write_atomic,
    write_folder_atomic,
)

T = TypeVar("T")

_PARCEL = 0.75
"""Duration of a parcel [s]: a task costs Dask about 10 ms, and a lost worker a parcel."""
_TASK_COST = 0.015
"""Time of the scheduler and the coordinator for a parcel, with a margin [s]."""
_MOST_IN_PARCEL = 500
_LOOK_EVERY, _LOOK_COST = 0.5, 0.005
"""Interval at which the list of workers is read [s], and how much longer it is for each worker."""
_LOCAL_LEASE = 1.0
"""The longest lease on this machine, where only a dead process loses its connection [s]."""
_TELL_AFTER = 10.0
"""Time after which it is said that a queue has not started any worker [s]."""
_NO_WORKER = 60.0
"""Time to wait for a first worker, or for another one when all are lost [s]."""
_MOST_LOST = 10
"""Workers that may be lost with the same case before it is blamed."""
_STAGING = ".kinetarium-staging"
"""Folder of deliveries; `remove_leftovers` recognises the name."""


@dataclass(slots=True)
class _Job(Generic[T]):
    """An item of work.

    Attributes:
        item: The item.
        lost: Number of workers that were lost with it.
        not_before: When it may be given to another worker.
    """

    item: T
    lost: int = 0
    not_before: float = 0.0


@dataclass(slots=True)
class _Given(Generic[T]):
    """A parcel that a worker has."""

    jobs: list[_Job[T]]
    worker: str
    future: Any


@dataclass(slots=True)
class _Member:
    """A worker: the parcels that it runs at a time, and those that it holds."""

    threads: int
    holds: int = 0

    @property
    def slots(self) -> int:
        """One more than it runs at a time, so that it does not wait for the next."""
        return self.threads + 1


@dataclass(frozen=True, slots=True)
class Dispatcher(Generic[T]):
    """Gives items of work to the workers of a cluster.

    Attributes:
        client: The distributed.Client.
        required: What workers must have in common with this process.
        lease: Time after which a lost worker has stopped [s].
        note: Told of workers that are refused or lost.
        patience: Time to wait for a worker [s]; None to wait for ever, as for a queue.
    """

    client: Any
    required: Requirements
    lease: float
    note: Callable[[str], None] = lambda line: None
    patience: float | None = _NO_WORKER
    _members: dict[str, _Member] = field(default_factory=dict)
    _refused: dict[str, str] = field(default_factory=dict)
    _asked: dict[str, Any] = field(default_factory=dict)

    def run(
        self,
        items: Iterable[T],
        *,
        submit: Callable[[str, list[T]], tuple[Callable[..., Any], tuple[Any, ...]]],
        seconds: Callable[[Any], float],
        delay: float = 0.0,
    ) -> Generator[tuple[list[T], Any], None, None]:
        """Run all items and yield each parcel with its result.

        Args:
            submit: Given a token and items, returns the function and its arguments.
            seconds: Returns the wall time of a parcel from its result [s].
            delay: Time before the first item is given [s].

        Raises:
            WorkerError: If there is no worker that may be used, or the scheduler is lost.
            KinetariumError: Whatever the function raises.
        """
        first = monotonic() + delay
        waiting = deque(_Job(item, not_before=first) for item in items)
        given: dict[str, _Given[T]] = {}
        done: SimpleQueue[str] = SimpleQueue()
        expected = fingerprint(self.required)
        per_item, looked, seen, told = 0.0, 0.0, monotonic(), self.patience is not None
        try:
            while waiting or given:
                stop_if_requested()
                if monotonic() - looked > _LOOK_EVERY + _LOOK_COST * len(self._asked):
                    looked = monotonic()
                    self._look(expected, waiting, given)
                if self._members:
                    seen = monotonic()
                elif self.patience is not None and monotonic() - seen > self.patience:
                    raise WorkerError(self._without_workers())
                elif not told and monotonic() - seen > _TELL_AFTER:
                    told = True
                    self.note("no worker yet; waiting for the jobs in the queue")
                for address in self._free(len(waiting)):
                    size = self._size(per_item, len(waiting))
                    if jobs := _taken(waiting, size):
                        token = token_hex(16)
                        function, arguments = submit(token, [job.item for job in jobs])
                        given[token] = self._give(address, jobs, token, function, arguments)
                        given[token].future.add_done_callback(lambda _, t=token: done.put(t))
                for token in _arrived(done):
                    parcel = given.pop(token, None)
                    if parcel is None:  # of a worker that was lost meanwhile
                        continue
                    self._release(parcel.worker)
                    if parcel.future.status == "error":
                        raise _error(parcel.future.exception())
                    if parcel.future.status != "finished":
                        self._lose(parcel, waiting)
                        continue
                    result = parcel.future.result()
                    cost = seconds(result) / len(parcel.jobs)
                    per_item = cost if not per_item else 0.8 * per_item + 0.2 * cost
                    yield [job.item for job in parcel.jobs], result
        finally:
            for parcel in given.values():
                with suppress(Exception):
                    parcel.future.cancel(force=True)

    def _look(
        self, expected: dict[str, str], waiting: deque[_Job[T]], given: dict[str, _Given[T]]
    ) -> None:
        """Admit new workers, and take back the parcels of lost ones."""
        if self.client.status != "running":
            raise WorkerError("the scheduler has gone; what is finished is kept")
        try:
            known = self.client.scheduler_info(n_workers=-1)["workers"]
        except (OSError, KeyError, TimeoutError, ValueError) as error:
            raise WorkerError(f"the scheduler does not answer: {one_line(str(error))}") from None
        for address, about in known.items():
            if address not in self._asked:
                self._asked[address] = self.client.submit(
                    introduce, self.required, workers=[address], pure=False
                )
            asked = self._asked[address]
            if address in self._members or address in self._refused or not asked.done():
                continue
            if reason := _difference(asked, expected):
                self._refused[address] = reason
                name = about.get("name", address)
                self.note(f"worker {name} ({address}) is refused: {one_line(reason)}")
            else:
                self._members[address] = _Member(int(about.get("nthreads", 1)))
        for address in [address for address in self._asked if address not in known]:
            del self._asked[address]
            self._refused.pop(address, None)
            if self._members.pop(address, None):
                self.note(f"worker {address} was lost")
            for token in [t for t, parcel in given.items() if parcel.worker == address]:
                self._lose(given.pop(token), waiting)

    def _lose(self, parcel: _Given[T], waiting: deque[_Job[T]]) -> None:
        """Take back the cases of a lost worker, for after its lease."""
        with suppress(Exception):
            parcel.future.cancel(force=True)
        for job in parcel.jobs:
            job.lost += 1
            job.not_before = monotonic() + self.lease
            if job.lost > _MOST_LOST:
                raise WorkerError(f"{_MOST_LOST} workers were lost, each with the same case")
            waiting.append(job)

    def _give(
        self,
        address: str,
        jobs: list[_Job[T]],
        token: str,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
    ) -> _Given[T]:
        future = self.client.submit(
            function,
            *arguments,
            key=f"kinetarium-{token}",
            workers=[address],
            allow_other_workers=False,
            retries=0,
            pure=False,
        )
        self._members[address].holds += 1
        return _Given(jobs, address, future)

    def _free(self, left: int) -> list[str]:
        """Return the workers that can hold another parcel, those with the fewest first.

        The last items are not given in advance, since another worker could run them at once.
        """
        members = self._members
        ahead = 1 if left > sum(member.slots for member in members.values()) else 0
        free = [(m.holds, address) for address, m in members.items() if m.holds < m.threads + ahead]
        return [address for _, address in sorted(free)]

    def _release(self, address: str) -> None:
        if member := self._members.get(address):
            member.holds -= 1

    def _size(self, per_item: float, left: int) -> int:
        """Return the number of items in the next parcel.

        Parcels are longer the more workers there are, so that the one scheduler keeps up, and
        shorter towards the end, so that all workers finish together.
        """
        if not per_item:
            return 1
        workers = max(1, len(self._members))
        wanted = max(_PARCEL, _TASK_COST * workers) / per_item
        return max(1, min(int(wanted), -(-left // (2 * workers)), _MOST_IN_PARCEL))

    def _without_workers(self) -> str:
        if not self._refused and self._asked:
            one = next(iter(self._asked))
            return (
                f"no worker has answered for {self.patience:g} s, such as {one}:"
                " the scheduler must be able to connect to it"
            )
        if not self._refused:
            return f"the cluster has had no workers for {self.patience:g} s"
        address, reason = next(iter(self._refused.items()))
        return f"no worker can be used; {address} is refused: {one_line(reason)}"


def _taken(waiting: deque[_Job[T]], size: int) -> list[_Job[T]]:
    """Take jobs that may run now."""
    now = monotonic()
    ready = (job for job in waiting if job.not_before <= now)
    taken = list(islice(ready, size))
    for job in taken:
        waiting.remove(job)
    return taken


def _arrived(done: SimpleQueue[str]) -> list[str]:
    """Return the tokens of parcels that are over, after a short wait for the first."""
    found = []
    with suppress(Empty):
        found.append(done.get(timeout=0.1))
        while True:
            found.append(done.get_nowait())
    return found


def _difference(asked: Any, expected: dict[str, str]) -> str:
    """Return how the versions of a worker differ; empty if they are equal."""
    if asked.status != "finished":
        error = asked.exception() if asked.status == "error" else asked.status
        return f"it cannot run Kinetarium: {type(error).__name__}: {error}"
    found: dict[str, str] = asked.result()
    different = [
        f"{name} {found.get(name) or 'missing'} instead of {wanted or 'none'}"
        for name, wanted in expected.items()
        if found.get(name) != wanted
    ]
    return ", ".join(different)


def _error(error: BaseException) -> Exception:
    if isinstance(error, KinetariumError):
        return error
    if "deserialization" in str(error):  # the scheduler reads what it passes on
        return WorkerError(
            "the scheduler cannot read the cases: it needs the same release of Kinetarium, and the"
            " package of the study, as the workers"
        )
    return WorkerError(f"a worker failed: {one_line(f'{type(error).__name__}: {error}')}")


class ClusterExecutor:
    """Runs cases on a Dask cluster.

    Example:
        >>> from kinetarium.batch import ClusterExecutor, ClusterSettings
        >>> executor = ClusterExecutor(ClusterSettings(), workers=2, timeout=60.0, memory=4e9)

    Each worker runs its cases in a child process, as `IsolatedExecutor` does. Runs come back as
    files in the result folder where workers share it, else as bytes; both are checked by hash.
    Only this process writes the index.
    """

    def __init__(
        self,
        settings: ClusterSettings,
        *,
        workers: int,
        timeout: float,
        memory: float,
        note: Callable[[str], None] = lambda line: None,
    ) -> None:
        """Check the settings, without connecting.

        Args:
            workers: Number of workers of a cluster on this machine.
            timeout: Time limit for one case [s].
            memory: Memory limit for one child process [bytes].
            note: Told of workers that are refused or lost.

        Raises:
            KinetariumError: If the cluster may not be used as described, or Dask is missing.
        """
        check_settings(settings)
        if workers < 1 and settings.is_local:
            raise WorkerError("a cluster on this machine needs at least one worker")
        self._settings, self._workers = settings, workers
        self._timeout, self._memory, self._note = timeout, memory, note

    def prepare(self, engines: Sequence[str]) -> None:
        """Do nothing: workers load the engines when they are admitted."""

    def execute(self, tasks: Sequence[Task], *, runs: Path) -> Generator[Finished, None, None]:
        """Run tasks and yield each as it finishes, its run saved.

        Args:
            runs: The folder of all runs; only this process may write to it meanwhile, and
                workers into its own folder for deliveries.

        Raises:
            OutputError: If a run cannot be written.
            KinetariumError: If the cluster cannot be reached, or has no workers that may be used.
        """
        if not tasks:
            return
        # The folder of deliveries is the lease that outlives a coordinator: one that is left
        # says that workers may still be running cases which it had given to them.
        killed = any(path.name.startswith(_STAGING) for path in runs.iterdir())
        staging, probe = runs / f"{_STAGING}-{token_hex(8)}", token_bytes(32)
        make_folder(staging)
        remove_leftovers(runs, keep=staging)
        write_atomic(staging / PROBE, probe)

        def submit(token: str, items: list[Task]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
            limits = self._timeout, self._memory
            return run_parcel, (Parcel(token, tuple(items), *limits, str(staging), probe),)

        try:
            with connected(self._settings, workers=self._workers) as client:
                dispatcher: Dispatcher[Task] = dispatcher_of(
                    client, self._settings, _requirements(tasks), note=self._note
                )
                delay = dispatcher.lease if killed else 0.0
                if killed:
                    self._note(
                        f"an earlier coordinator was killed: its workers stop in {delay:g} s"
                    )
                for _, delivery in dispatcher.run(
                    tasks, submit=submit, seconds=_seconds, delay=delay
                ):
                    folder = staging / delivery.token
                    for delivered in delivery.runs:
                        _accept(delivered, folder, runs)
                        yield delivered.finished
                    rmtree(folder, ignore_errors=True)
        finally:
            rmtree(staging, ignore_errors=True)


def cluster_shards(
    settings: ClusterSettings, *, workers: int, note: Callable[[str], None] = lambda line: None
) -> Callable[[Any, Sequence[int]], Generator[tuple[int, bytes], None, None]]:
    """Return a function that computes the shards of a reachability map on a cluster.

    Args:
        workers: Number of workers of a cluster on this machine.
        note: Told of workers that are refused or lost.

    Raises:
        KinetariumError: If the cluster may not be used as described, or Dask is missing.
    """
    check_settings(settings)

    def compute(maker: Any, numbers: Sequence[int]) -> Generator[tuple[int, bytes], None, None]:
        if not numbers:
            return
        required = Requirements(modules=(type(maker).__module__,))

        def submit(token: str, items: list[int]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
            return compute_shards, (maker, items)

        with connected(settings, workers=workers) as client:
            dispatcher = dispatcher_of(client, settings, required, note=note)
            for items, (shards, _) in dispatcher.run(numbers, submit=submit, seconds=_second_part):
                yield from zip(items, shards, strict=True)

    return compute


def _second_part(result: tuple[Any, float]) -> float:
    return result[1]


def dispatcher_of(
    client: Any,
    settings: ClusterSettings,
    required: Requirements,
    *,
    note: Callable[[str], None] = lambda line: None,
) -> Dispatcher[Any]:
    """Return the dispatcher for a cluster: its lease, and how long it waits for workers."""
    started = bool(settings.address) or settings.is_local
    return Dispatcher(
        client,
        required,
        min(settings.lease, _LOCAL_LEASE) if settings.is_local else settings.lease,
        note,
        _NO_WORKER if started else None,
    )


def _seconds(delivery: Delivery) -> float:
    return delivery.seconds


def _requirements(tasks: Sequence[Task]) -> Requirements:
    """Return what workers need: one case for each kind of run."""
    kinds: dict[frozenset[tuple[str, str]], tuple[str, Any]] = {}
    for task in tasks:
        needed = run_versions(study_of_class(task.study_class), task.case)
        kinds.setdefault(frozenset(needed.items()), (task.study_class, task.case))
    return Requirements(cases=tuple(kinds.values()), engines=engines_of(tasks))


def _accept(delivered: Delivered, folder: Path, runs: Path) -> None:
    """Put a delivered run into its place, checked by its hash.

    Args:
        folder: The parcel's folder, if the worker shares it.
        runs: The folder of all runs.

    Raises:
        OutputError: If it was damaged on its way, or cannot be written.
    """
    key = delivered.finished.task.key
    target = runs / key
    try:
        if delivered.files is None:
            source = folder / key
            files = {path.name: path.read_bytes() for path in source.iterdir()}
            _check(files, delivered)
            rmtree(target, ignore_errors=True)  # a failed run that was retried
            os.rename(source, target)
            sync_folder(runs)
        else:
            _check(dict(delivered.files), delivered)
            write_folder_atomic(target, delivered.files)
    except (OSError, ValueError) as error:
        raise OutputError(f"cannot accept the run {key}: {one_line(str(error))}") from None


def _check(files: dict[str, bytes], delivered: Delivered) -> None:
    if files_digest(files) != delivered.sha256:
        raise ValueError("its files were damaged on their way from the worker")
