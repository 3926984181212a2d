"""SerialExecutor: cases one after the other in this process, without protection."""

from collections.abc import Generator, Sequence
from pathlib import Path

from kinetarium.batch.task import Finished, Task
from kinetarium.batch.worker import run_case
from kinetarium.interruption import stop_if_asked


class SerialExecutor:
    """Runs cases in this process; a crash of an engine ends it, and nothing ends a hang."""

    def prepare(self, engines: Sequence[str]) -> None:
        """Do nothing: tasks load what they need themselves."""

    def execute(self, tasks: Sequence[Task], *, runs: Path) -> Generator[Finished, None, None]:
        """Run tasks in their order.

        Args:
            tasks: The tasks.
            runs: The folder of all runs.

        Raises:
            OutputError: If a run cannot be written.
        """
        for task in tasks:
            stop_if_asked()
            yield run_case(task, runs)
