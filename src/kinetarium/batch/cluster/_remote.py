"""What the workers of a Dask cluster run: checks of their versions, parcels of cases, shards.

Each thread of a worker has a child process of its own in which the engines run, as on a single
machine, so that a crash there affects one case only and never the worker.
"""

import atexit
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from threading import get_ident
from time import monotonic, perf_counter
from typing import Any

from kinetarium.batch.plan import run_versions, versions
from kinetarium.batch.worker import Finished, Task, study_of_class
from kinetarium.batch.worker_pool import IsolatedExecutor, WorkerPool
from kinetarium.batch.worker_process import WorkerStart
from kinetarium.errors import KinetariumError, OutputError
from kinetarium.import_closure import module_closure

PROBE = "probe"
"""File in the coordinator's folder by which a worker finds out whether it shares it."""
_COMMON = ("kinetarium", "distributed", "dask", "python", "machine")
"""Versions that must be equal whatever is run: the two sides exchange objects."""
_RUNNING = ("executing", "long-running")
_CHECK_EVERY = 0.2
"""Interval at which a worker checks that its result is still wanted [s]."""


class LeaseLostError(KinetariumError):
    """The coordinator or the scheduler has gone, or does not want the result any more."""


@dataclass(frozen=True, slots=True)
class Requirements:
    """What a worker must have in common with the coordinator.

    Attributes:
        modules: Modules whose source, with everything they import, must be equal.
        cases: Class of the study and a case, for each kind of run.
        engines: Engines that the child processes load beforehand.
    """

    modules: tuple[str, ...] = ()
    cases: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    engines: tuple[str, ...] = ()


def fingerprint(required: Requirements) -> dict[str, str]:
    """Return the versions of everything that the runs depend on, by name, on this machine."""
    installed = {**versions(), "distributed": _version("distributed"), "dask": _version("dask")}
    found = {name: installed.get(name, "") for name in _COMMON}
    if required.modules:
        found["source"] = module_closure(required.modules).digest[:16]
    for kind, case in required.cases:
        found |= run_versions(study_of_class(kind), case)
    return found


def introduce(required: Requirements) -> dict[str, str]:
    """Return the fingerprint of a worker, and let it load the engines meanwhile."""
    if required.engines:
        WorkerStart(required.engines).begin()
    return fingerprint(required)


@dataclass(frozen=True, slots=True)
class Parcel:
    """Cases for one worker, to run one after another.

    Attributes:
        token: Identifies this attempt; a file name.
        tasks: The cases.
        timeout: Time limit for one case [s].
        memory: Memory limit of the child process [bytes].
        staging: Folder of the coordinator for finished runs.
        probe: Content of the probe in it.
    """

    token: str
    tasks: tuple[Task, ...]
    timeout: float
    memory: float
    staging: str
    probe: bytes


@dataclass(frozen=True, slots=True)
class Delivered:
    """A finished case.

    Attributes:
        finished: How it ended.
        files: The files of its run by name; None if they are in the coordinator's folder.
        sha256: Digest of the files.
    """

    finished: Finished
    files: Mapping[str, bytes] | None
    sha256: str


@dataclass(frozen=True, slots=True)
class Delivery:
    """The result of a parcel.

    Attributes:
        token: The parcel's.
        runs: Its cases.
        seconds: Wall time on the worker [s].
    """

    token: str
    runs: tuple[Delivered, ...]
    seconds: float


def run_parcel(parcel: Parcel) -> Delivery:
    """Run the cases of a parcel in this thread's child process.

    Raises:
        LeaseLostError: If the result is not wanted any more; its child process is stopped.
        KinetariumError: If runs cannot be written, or no child process can be started.
    """
    began = perf_counter()
    staging = Path(parcel.staging)
    shared = _shares(staging, parcel.probe)
    folder = staging / parcel.token if shared else Path(mkdtemp(prefix="kinetarium-parcel-"))
    try:
        folder.mkdir(exist_ok=True)
        done = _run(parcel, folder)
        packed = tuple(_packed(finished, folder, shared=shared) for finished in done)
    except OSError as error:
        raise OutputError(f"cannot write '{folder}': {error}") from None
    finally:
        if not shared:
            rmtree(folder, ignore_errors=True)
    return Delivery(parcel.token, packed, perf_counter() - began)


def compute_shards(maker: Any, numbers: list[int]) -> tuple[list[bytes], float]:
    """Return the values of shards of a reachability map, and the time they took [s].

    They need no engine, and so no child process.

    Args:
        maker: A `reach.maps.build.MapMaker`.
    """
    check, began = _lease_check(), perf_counter()
    found = []
    for number in numbers:
        check()
        found.append(maker.shard(number).tobytes())
    return found, perf_counter() - began


def files_digest(files: Mapping[str, bytes]) -> str:
    """Return the digest of files with their names."""
    digest = sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{len(files[name])}\0".encode() + files[name])
    return digest.hexdigest()


_POOLS: dict[int, WorkerPool] = {}
"""The child process of each thread."""


def _run(parcel: Parcel, folder: Path) -> list[Finished]:
    thread = get_ident()
    pool = _POOLS.pop(thread, None)
    if pool is None:
        outputs = Path(mkdtemp(prefix="kinetarium-worker-"))
        pool = WorkerPool(WorkerStart(()), size=1, memory=parcel.memory, outputs=outputs)
        atexit.register(rmtree, outputs, ignore_errors=True)
    executor = IsolatedExecutor(
        1, timeout=parcel.timeout, memory=parcel.memory, check=_lease_check()
    )
    try:
        with closing(executor.run_in(pool, parcel.tasks, runs=folder)) as finished:
            done = list(finished)
    except BaseException:
        pool.stop()
        raise
    _POOLS[thread] = pool
    return done


def _lease_check() -> Callable[[], None]:
    """Return a function that raises when this task is not wanted any more.

    A worker that lost its scheduler closes, and a coordinator that died has its tasks cancelled;
    neither stops a running function. Without the check a restarted coordinator would run the
    same case a second time beside the first.
    """
    from distributed import get_worker
    from distributed.core import Status

    try:
        worker = get_worker()
        key = worker.get_current_task()
    except (ValueError, KeyError):  # called without Dask
        return lambda: None
    due = monotonic()

    def check() -> None:
        nonlocal due
        if monotonic() < due:
            return
        due = monotonic() + _CHECK_EVERY
        task = worker.state.tasks.get(key)
        wanted = task is not None and task.state in _RUNNING
        if not wanted or worker.status not in (Status.running, Status.paused):
            raise LeaseLostError("the coordinator has gone, or gave the cases to another worker")

    return check


def _packed(finished: Finished, folder: Path, *, shared: bool) -> Delivered:
    """Return a finished case with its files; only their digest if the folder is shared."""
    run = folder / finished.task.key
    files = {path.name: path.read_bytes() for path in run.iterdir()}
    return Delivered(finished, None if shared else files, files_digest(files))


def _shares(staging: Path, probe: bytes) -> bool:
    with suppress(OSError):
        return (staging / PROBE).read_bytes() == probe
    return False


def _version(package: str) -> str:
    from importlib.metadata import version

    return version(package)
