"""From finished runs to metrics.json: what a study makes of all its cases."""

from collections.abc import Sequence
from typing import Any

from kinetarium.batch.study import Findings, Outcome, Study
from kinetarium.recording.plain import from_plain
from kinetarium.recording.result_folder import ResultFolder
from kinetarium.recording.run import Row, Run


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
            "rows": _uniform([row for run in runs for row in _rows(run)]),
            "summary": findings.summary,
            **findings.extra,
        }
    )
    timings = folder.timings()
    folder.write_timing({"runs": [{"key": run.key, **timings[run.key]} for run in runs]})
    folder.finish()
    return findings


def findings_of(folder: ResultFolder, study: Study[Any, Any]) -> Findings:
    """Let a study sum up a folder, without writing anything.

    Args:
        folder: The folder.
        study: The study that made it.

    Raises:
        KinetariumError: If a run cannot be read.
    """
    timings = folder.timings()
    return study.report(
        [
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
    )


def _rows(run: Run) -> list[Row]:
    """Give the rows of a run, each with its case; one for a run that was not judged."""
    end = {"status": str(run.status), "message": run.message}
    return [{**run.case, **end, **row} for row in run.rows or ({},)]


def _uniform(rows: Sequence[Row]) -> list[Row]:
    """Give every row the same names, with None where a case has no value."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [{name: row.get(name) for name in names} for row in rows]
