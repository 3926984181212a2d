"""Task: one case as an executor takes it, what it gives back, and what an executor is."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from kinetarium.errors import one_line
from kinetarium.recording.recording import RunStatus


@dataclass(frozen=True, slots=True)
class Task:
    """One case to be run, as plain data that any process can take up.

    Attributes:
        key: Names the case and everything its result depends on; a plain file name.
        study: The study's name.
        study_class: Where its class is, as "module:Class".
        case: The case as plain data.
    """

    key: str
    study: str
    study_class: str
    case: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Finished:
    """A task that is over, its run safe on disk.

    Attributes:
        task: The task.
        status: How it ended.
        message: Why it ended so, in one line; empty if it completed.
        timing: What its last attempt cost, "wall_s" and "cpu_s" [s], and "attempts".
    """

    task: Task
    status: RunStatus
    message: str
    timing: Mapping[str, float]


class Executor(Protocol):
    """Runs tasks."""

    def prepare(self, engines: Sequence[str]) -> None:
        """Begin to load what tasks will need, while they are still being made.

        Args:
            engines: Names of the engines that they may need.
        """
        ...

    def execute(self, tasks: Sequence[Task], *, runs: Path) -> Generator[Finished, None, None]:
        """Run tasks and give each as it ends, in the order of their ends.

        When a task is given, its run is whole on disk. Closing the generator
        ends everything at once and leaves nothing but whole runs.

        Args:
            runs: The folder of all runs, which must exist; that of a task is named by its key.

        Raises:
            KinetariumError: If runs cannot be written or nothing can be run at all.
        """
        ...


__all__ = ["one_line"]
