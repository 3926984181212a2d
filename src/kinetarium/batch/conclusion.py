"""From finished runs to metrics.json: what a study makes of all its cases."""

import json
from collections.abc import Sequence
from typing import Any

from kinetarium.batch.message import one_line
from kinetarium.batch.study import Findings, Outcome, Study
from kinetarium.errors import KinetariumError
from kinetarium.recording.plain import from_plain
from kinetarium.recording.result_folder import METRICS, ResultFolder
from kinetarium.recording.run import Row, Run
from kinetarium.recording.strict_json import strict_json


class ConclusionError(KinetariumError):
    """Results that a study cannot make anything of."""


def conclude(folder: ResultFolder, study: Study[Any, Any]) -> Findings:
    """Let a study sum up a folder, and write metrics.json and timing.json.

    Args:
        folder: The folder, open for writing.
        study: The study that made it.

    Raises:
        KinetariumError: If a run cannot be read or a file cannot be written.
    """
    runs = list(folder.runs())
    findings = findings_of(folder, study)
    folder.write_metrics(
        {
            "study": study.name,
            "rows": _all_rows(runs),
            "summary": findings.summary,
            **findings.extra,
        }
    )
    timings = folder.timings()
    folder.write_timing({"runs": [{"key": run.key, **timings[run.key]} for run in runs]})
    folder.finish()
    return findings


def check_metrics(folder: ResultFolder) -> None:
    """Check that metrics.json, if it is there, holds the rows of the runs beside it.

    Raises:
        ConclusionError: If it holds others.
        KinetariumError: If it or a run has changed since it was written.
    """
    if folder.is_finished:
        rows = json.loads(strict_json(_all_rows(list(folder.runs()))))
        if folder.metrics.get("rows") != rows:
            raise ConclusionError(
                f"'{folder.path / METRICS}' does not hold the rows of the runs beside it"
            )


def findings_of(folder: ResultFolder, study: Study[Any, Any]) -> Findings:
    """Let a study sum up a folder, without writing anything.

    Args:
        folder: The folder.
        study: The study that made it.

    Raises:
        KinetariumError: If a run cannot be read, or the study fails on what it holds.
    """
    timings = folder.timings()
    outcomes: list[Outcome[Any]] = [
        Outcome(
            case=from_plain(study.case, run.case, where=f"run {run.key}"),
            status=run.status,
            message=run.message,
            rows=run.rows,
            recording=run.recording,
            timing=timings[run.key],
        )
        for run in folder.runs()
    ]
    if not outcomes:
        raise ConclusionError(f"'{folder.path}' holds no runs")
    try:
        return study.report(outcomes)
    except KinetariumError:
        raise
    except Exception as error:  # the study may be another package's, the runs anybody's
        raise ConclusionError(
            f"the study '{study.name}' cannot sum up '{folder.path}':"
            f" {one_line(f'{type(error).__name__}: {error}')}"
        ) from error


def _all_rows(runs: Sequence[Run]) -> list[Row]:
    return _uniform([row for run in runs for row in _rows(run)])


def _rows(run: Run) -> list[Row]:
    """Give the rows of a run, each with its case; one for a run that was not judged."""
    own = {**run.case, "status": str(run.status), "message": run.message}
    # Named twice: the first gives the order, the last has the last word.
    return [{**own, **row, **own} for row in run.rows or ({},)]


def _uniform(rows: Sequence[Row]) -> list[Row]:
    """Give every row the same names, with None where a case has no value."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [{name: row.get(name) for name in names} for row in rows]
