"""sweep: run a plan into a folder, where nothing that was finished is lost or done again."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from kinetarium.batch.conclusion import conclude
from kinetarium.batch.environment import environment
from kinetarium.batch.plan import Plan
from kinetarium.batch.study import Findings
from kinetarium.batch.task import Executor, Finished
from kinetarium.engines.registry import engine_names
from kinetarium.recording.result_folder import ResultFolder, ResultFolderError
from kinetarium.recording.run import RunStatus
from kinetarium.recording.run_folder import read_run

FINAL = frozenset({RunStatus.COMPLETED, RunStatus.DIVERGED, RunStatus.UNSUPPORTED})
"""Ends that would be the same again; the others may be tried once more when asked for."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a sweep is.

    Attributes:
        total: How many cases there are.
        done: How many are finished, those of earlier sessions included.
        failed: How many of them did not complete.
        latest: The case that has just finished, or None at the start.
    """

    total: int
    done: int
    failed: int
    latest: Finished | None = None


def sweep(
    plan: Plan,
    *,
    out: Path,
    executor: Executor,
    command: str = "",
    retry_failed: bool = False,
    watch: Callable[[Progress], None] = lambda progress: None,
) -> tuple[ResultFolder, Findings]:
    """Run every case of a plan that is not finished yet, then sum up.

    Args:
        plan: What to run.
        out: The folder; made if missing, gone on with if it holds the same plan.
        executor: How cases are run.
        command: The command that asked for it, for the record.
        retry_failed: Whether cases that crashed, failed or ran out of time or memory
            in an earlier session are tried again.
        watch: Told of every finished case, after it is safe on disk.

    Returns:
        The folder and what the study makes of it.

    Raises:
        KinetariumError: If the plan does not fit, or the folder cannot be written.
    """
    executor.prepare(_engines(plan))
    tasks = plan.tasks()
    seed = getattr(plan.configs()[0], "seed", 0)
    made_with = environment(command, seed=seed)
    with ResultFolder.create(out, config=plan.content, environment=made_with) as folder:
        kept = folder.committed([task.key for task in tasks])
        if kept - {task.key for task in tasks}:
            raise ResultFolderError(
                f"'{out}' holds runs that its config.toml does not ask for; it was edited. Put the"
                " old values back, or choose another --out"
            )
        statuses = {run.key: run.status for run in folder.rows() if run.key in kept}
        if retry_failed:
            statuses = {key: status for key, status in statuses.items() if status in FINAL}
        positions = {task.key: position for position, task in enumerate(tasks)}
        todo = [task for task in tasks if task.key not in statuses]

        def progress(latest: Finished | None = None) -> Progress:
            failed = sum(status is not RunStatus.COMPLETED for status in statuses.values())
            return Progress(len(tasks), len(statuses), failed, latest)

        watch(progress())
        with closing(executor.execute(todo, runs=folder.runs_path.absolute())) as finished_tasks:
            for finished in finished_tasks:
                key = finished.task.key
                folder.add(read_run(folder.run_folder(key)), position=positions[key])
                statuses[key] = finished.status
                watch(progress(finished))
        return folder, conclude(folder, plan.study)


def _engines(plan: Plan) -> Sequence[str]:
    """Give the engines that a plan may need: those it names, or all if it leaves that open."""
    wanted = [getattr(config, "engine", None) for config in plan.configs()]
    if () in wanted:
        return engine_names()
    lists = [(names,) if isinstance(names, str) else names or () for names in wanted]
    return sorted({name for names in lists for name in names})
