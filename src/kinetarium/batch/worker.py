"""Tasks and executors, and running one task in any process: its result is always written."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import isfinite
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Protocol

from kinetarium.batch.study import Study
from kinetarium.engines.protocol import CapabilityError, Status
from kinetarium.errors import OutputError, one_line
from kinetarium.interruption import stop_if_requested
from kinetarium.recording.recording import Recording, Run, RunStatus
from kinetarium.recording.run_folder import write_run
from kinetarium.storage.serialization import from_builtins


@dataclass(frozen=True, slots=True)
class Task:
    """One case to run, as data for any process.

    Attributes:
        key: Digest of the case and everything its result depends on; a valid file name.
        study: The study's name.
        study_class: Its class, as "module:Class".
        case: The case as JSON data.
    """

    key: str
    study: str
    study_class: str
    case: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished task, its run saved.

    Attributes:
        task: The task.
        status: How it ended.
        message: The reason, in one line; empty if it completed.
        timing: "wall_s" and "cpu_s" [s] of its last attempt, and "attempts".
    """

    task: Task
    status: RunStatus
    message: str
    timing: Mapping[str, float]


class Executor(Protocol):
    """Runs tasks."""

    def prepare(self, engines: Sequence[str]) -> None:
        """Start to load what tasks will need, while they are being created.

        Args:
            engines: Names of the engines that they may need.
        """
        ...

    def execute(self, tasks: Sequence[Task], *, runs: Path) -> Generator[Finished, None, None]:
        """Run tasks and yield each as it finishes.

        When a task is yielded, its run is saved completely. Closing the generator stops
        everything at once and leaves only complete runs.

        Args:
            runs: The existing folder of all runs; a run's own folder is named by its key.

        Raises:
            KinetariumError: If runs cannot be written, or no worker can be started.
        """
        ...


def run_case(task: Task, runs: Path, *, attempt: int = 1) -> Finished:
    """Run a case and write its run; an error of the study is a result as well.

    Args:
        runs: The folder of all runs.
        attempt: Number of attempts, including this one.

    Raises:
        OutputError: If the run cannot be written.
    """
    wall, cpu = perf_counter(), process_time()
    run = _run(task)
    timing = {
        "wall_s": perf_counter() - wall,
        "cpu_s": process_time() - cpu,
        "attempts": float(attempt),
    }
    folder = runs / task.key
    try:
        write_run(folder, run, timing={**_own_timing(run), **timing})
    except OutputError:
        raise
    except Exception as error:  # the study's result cannot be serialized
        run = _failed(task, error)
        write_run(folder, run, timing=timing)
    return Finished(task, run.status, run.message, timing)


def _run(task: Task) -> Run:
    try:
        study = study_of_class(task.study_class)
        case: Any = from_builtins(study.case, task.case, where="case")
        recording = study.run(case)
        rows = tuple(study.score(case, recording))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit and panics of Rust are not Exceptions
        stop_if_requested()
        return _failed(task, error)
    status, message = RunStatus.COMPLETED, ""
    if recording.status == Status.DIVERGED:
        status, message = RunStatus.DIVERGED, _divergence(recording)
    return Run(task.key, task.study, task.case, status, message, rows, recording)


def _own_timing(run: Run) -> dict[str, float]:
    """Return the times measured by a run itself [s].

    Raises:
        ValueError: If a time is not finite.
    """
    times = run.recording.timing if run.recording else {}
    own = {name: float(time) for name, time in times.items()}
    if not all(map(isfinite, own.values())):
        raise ValueError(f"measured times must be finite, not {own}")
    return own


def study_of_class(place: str) -> Study[Any, Any]:
    """Return the study of a class, named as "module:Class"."""
    module, _, name = place.partition(":")
    study: Study[Any, Any] = getattr(import_module(module), name)()
    return study


def _divergence(recording: Recording) -> str:
    time = recording["time"]
    return f"diverged after {time[-1]:g} s" if len(time) else "diverged at the start"


def _failed(task: Task, error: BaseException) -> Run:
    status, message = RunStatus.FAILED, f"{type(error).__name__}: {error}".removesuffix(": ")
    if isinstance(error, CapabilityError):
        status, message = RunStatus.UNSUPPORTED, str(error)
    elif _is_lack_of_memory(error):
        status, message = RunStatus.OUT_OF_MEMORY, f"out of memory: {message}"
    return Run(task.key, task.study, task.case, status, one_line(message))


def _is_lack_of_memory(error: BaseException) -> bool:
    """Check the message as well: a library that could not be loaded raises an ImportError."""
    return isinstance(error, MemoryError) or "cannot allocate memory" in str(error).lower()


class SerialExecutor:
    """Runs cases in this process, without protection against crashes and hangs."""

    def prepare(self, engines: Sequence[str]) -> None:
        """Do nothing: tasks load what they need themselves."""

    def execute(self, tasks: Sequence[Task], *, runs: Path) -> Generator[Finished, None, None]:
        """Run tasks in their order.

        Args:
            runs: The folder of all runs.

        Raises:
            OutputError: If a run cannot be written.
        """
        for task in tasks:
            stop_if_requested()
            yield run_case(task, runs)
