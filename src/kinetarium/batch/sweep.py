"""run_plan: run the cases of a plan into a folder; finished cases are not lost or run again."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kinetarium.batch.axes import Point
from kinetarium.batch.plan import SWEEP, Plan, environment, run_versions
from kinetarium.batch.study import Findings, Outcome, Study
from kinetarium.batch.worker import Executor, Finished
from kinetarium.engines.registry import engine_names
from kinetarium.errors import KinetariumError, one_line
from kinetarium.recording.recording import Row, Run, RunStatus
from kinetarium.recording.result_folder import METRICS, ResultFolder
from kinetarium.storage.serialization import from_builtins
from kinetarium.storage.strict_json import strict_json


class ConclusionError(KinetariumError):
    """Results that a study cannot summarise."""


def conclude(
    folder: ResultFolder, study: Study[Any, Any], varied: Mapping[str, Point] | None = None
) -> Findings:
    """Summarise a folder by its study, and write metrics.json and timing.json.

    A sweep has a summary of its own, and the table sweep.parquet.

    Args:
        folder: The folder, open for writing.
        varied: The values that a sweep varied, by the key of the run; None if it is no sweep.

    Raises:
        KinetariumError: If a run cannot be read or a file cannot be written.
    """
    runs = list(folder.runs())
    findings = (
        findings_of(folder, study) if varied is None else _sweep_findings(folder, varied, runs)
    )
    metrics = {"study": study.name, "rows": _all_rows(runs), "summary": findings.summary}
    folder.write_metrics({**metrics, **findings.extra})
    timings = folder.timings()
    folder.write_timing({"runs": [{"key": run.key, **timings[run.key]} for run in runs]})
    folder.finish()
    return findings


def check_metrics(folder: ResultFolder) -> None:
    """Check that metrics.json, if it exists, has the rows of the runs beside it.

    Raises:
        ConclusionError: If it has other rows.
        KinetariumError: If it or a run has changed since it was written.
    """
    if folder.is_finished:
        rows = json.loads(strict_json(_all_rows(list(folder.runs()))))
        if folder.metrics.get("rows") != rows:
            raise ConclusionError(f"'{folder.path / METRICS}' does not match the runs beside it")


def findings_of(folder: ResultFolder, study: Study[Any, Any]) -> Findings:
    """Summarise a folder by its study, without writing anything.

    Raises:
        KinetariumError: If a run cannot be read, or the study fails.
    """
    try:
        if SWEEP in folder.config:
            return _sweep_findings(folder, folder.metrics["sweep"]["varied"], folder.runs())
        return study.report(_outcomes(folder, study))
    except Exception as error:  # the study may be a plug-in's, the runs received from others
        if _is_of_other_code(folder, study):
            raise ConclusionError(
                f"this version of the study '{study.name}' cannot summarise '{folder.path}', which"
                " was written by another one; its report.html stays, or run the study again"
            ) from error
        if isinstance(error, KinetariumError):
            raise
        raise ConclusionError(
            f"the study '{study.name}' cannot summarise '{folder.path}':"
            f" {one_line(f'{type(error).__name__}: {error}')}"
        ) from error


def _sweep_findings(
    folder: ResultFolder, varied: Mapping[str, Point], runs: Iterable[Run]
) -> Findings:
    """Summarise a sweep, and write its table if the folder is open for writing."""
    from kinetarium.batch._sweep_report import sweep_findings
    from kinetarium.batch.sweep_table import parquet, sweep_table

    table = sweep_table(runs, varied)
    if folder.is_writing:
        folder.write_table(parquet(table))
    findings = sweep_findings(table, folder.config)
    extra = {"varied": varied, "conclusion": findings.conclusion}
    return replace(findings, extra={SWEEP: extra})


def _outcomes(folder: ResultFolder, study: Study[Any, Any]) -> list[Outcome[Any]]:
    timings = folder.timings()
    outcomes: list[Outcome[Any]] = [
        Outcome(
            case=from_builtins(study.case, run.case, where=f"run {run.key}"),
            status=run.status,
            message=run.message,
            rows=run.rows,
            recording=run.recording,
            timing=timings[run.key],
        )
        for run in folder.runs()
    ]
    if not outcomes:
        raise ConclusionError(f"'{folder.path}' has no runs")
    return outcomes


def _is_of_other_code(folder: ResultFolder, study: Study[Any, Any]) -> bool:
    """Return whether other code of the study made a folder; a folder of today names its code."""
    source = f"source of study {study.name}"
    held = folder.environment.get("versions") or {}
    return isinstance(held, dict) and held.get(source) != run_versions(study, {})[source]


def _all_rows(runs: Sequence[Run]) -> list[Row]:
    return _uniform([row for run in runs for row in _rows(run)])


def _rows(run: Run) -> list[Row]:
    """Return the rows of a run, each with its case; one row for a run that was not scored."""
    own = {**run.case, "status": str(run.status), "message": run.message}
    # Twice: the first sets the order of the keys, the last their values.
    return [{**own, **row, **own} for row in run.rows or ({},)]


def _uniform(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with the same keys, with None for missing values."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [{name: row.get(name) for name in names} for row in rows]


FINAL = frozenset({RunStatus.COMPLETED, RunStatus.DIVERGED, RunStatus.UNSUPPORTED})
"""Deterministic results; cases with other statuses may be retried."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a sweep.

    Attributes:
        total: Number of cases.
        done: Number of finished cases, including those of earlier sessions.
        failed: Number of finished cases that did not complete.
        latest: The case that has just finished, or None at the start.
    """

    total: int
    done: int
    failed: int
    latest: Finished | None = None


def run_plan(
    plan: Plan,
    *,
    out: Path,
    executor: Executor,
    command: str = "",
    retry_failed: bool = False,
    watch: Callable[[Progress], None] = lambda progress: None,
) -> tuple[ResultFolder, Findings]:
    """Run every case of a plan that is not finished yet, then summarise.

    Example:
        >>> from pathlib import Path
        >>> from kinetarium.batch import Plan, SerialExecutor, run_plan
        >>> from kinetarium.study import open_study
        >>> drop = open_study("drop")
        >>> plan = Plan.of(drop, drop.config(engine=("mujoco",), height=0.01, duration=0.1))
        >>> folder, findings = run_plan(plan, out=Path("drop"), executor=SerialExecutor())
        >>> [str(run.status) for run in folder.runs()]
        ['completed']

    Args:
        out: The folder; created if missing, resumed if it has the same plan.
        executor: How cases are run.
        command: The command line, for the provenance.
        retry_failed: Whether cases that crashed, failed, timed out or ran out of memory in an
            earlier session are run again.
        watch: Called after every finished case is saved.

    Returns:
        The folder and the study's summary of it.

    Raises:
        KinetariumError: If the plan is invalid, or the folder cannot be written.
    """
    if plan.is_sweep:
        from kinetarium.batch._sweep_report import check_shown
        from kinetarium.batch.sweep_table import check_polars

        check_polars()
        check_shown(plan.content, plan.axes)
    executor.prepare(_engines(plan))
    varied = plan.varied_tasks()
    tasks = [task for task, _ in varied]
    seed = getattr(plan.configs()[0], "seed", 0)
    keys = [task.key for task in tasks]
    needed = {k: v for task in tasks for k, v in run_versions(plan.study, task.case).items()}
    made_with = environment(command, seed=seed, needed=needed)
    with ResultFolder.create(
        out, config=plan.content, environment=made_with, shown=SWEEP
    ) as folder:
        folder.refuse_other_runs(keys, versions=needed)
        folder.renew_environment(made_with)
        kept = folder.committed(keys)
        statuses = {run.key: run.status for run in folder.rows() if run.key in kept}
        if retry_failed:
            statuses = {key: status for key, status in statuses.items() if status in FINAL}
        failed = sum(status is not RunStatus.COMPLETED for status in statuses.values())
        positions = {task.key: position for position, task in enumerate(tasks)}
        todo = [task for task in tasks if task.key not in statuses]

        def progress(latest: Finished | None = None) -> Progress:
            return Progress(len(tasks), len(statuses), failed, latest)

        watch(progress())
        with closing(executor.execute(todo, runs=folder.runs_path.absolute())) as finished_tasks:
            for finished in finished_tasks:
                key = finished.task.key
                folder.add_written(key, positions[key])
                statuses[key] = finished.status
                failed += finished.status is not RunStatus.COMPLETED
                watch(progress(finished))
        points = {task.key: point for task, point in varied} if plan.is_sweep else None
        return folder, conclude(folder, plan.study, points)


def _engines(plan: Plan) -> Sequence[str]:
    """Return the engines that a plan may need: those it names, or all by default."""
    wanted = [getattr(config, "engine", None) for config in plan.configs()]
    if () in wanted:
        return engine_names()
    lists = [(names,) if isinstance(names, str) else names or () for names in wanted]
    return sorted({name.partition(":")[0] for names in lists for name in names})
