"""The report of a study's folder: its headline, its figures and how it was made."""

from typing import Any

from kinetarium.batch.labels import case_labels
from kinetarium.batch.study import Findings, Study
from kinetarium.figure.page import Page, Section
from kinetarium.figure.table import Column, Table
from kinetarium.recording.result_folder import ResultFolder
from kinetarium.recording.run import RunStatus
from kinetarium.recording.strict_json import strict_json
from kinetarium.report.html import page_html
from kinetarium.report.picture_files import figure_files
from kinetarium.report.stills import Stills


def write_study_report(folder: ResultFolder, study: Study[Any, Any], findings: Findings) -> None:
    """Write report.html, and every figure as SVG and PNG beside it.

    Args:
        folder: The folder, open for writing.
        study: The study that made it.
        findings: What the study makes of it.

    Raises:
        OutputError: If a file cannot be written.
    """
    page = study_page(folder, study, findings)
    stills = Stills(page)
    folder.write_figures(figure_files(page, stills))
    folder.write_report(page_html(page, stills))


def study_page(folder: ResultFolder, study: Study[Any, Any], findings: Findings) -> Page:
    """Give the whole page of a folder."""
    failures = failure_table(folder)
    headline = Section("Results", (findings.headline, *([failures] if failures.rows else [])))
    environment = folder.environment
    provenance = (
        ("command", environment["command"]),
        ("seed", str(environment["seed"])),
        *_settings(folder.config),
        *((name, text) for name, text in environment["versions"].items()),
        ("platform", environment["platform"]),
        ("git", environment["git_hash"] or "not a checkout"),
    )
    return Page(study.title, findings.lead, (headline, *findings.sections), provenance)


def failure_table(folder: ResultFolder) -> Table:
    """List the cases that did not complete, and why."""
    runs = list(folder.rows())
    labels = case_labels([run.case for run in runs])
    return Table(
        "Cases that did not complete",
        (Column("case"), Column("status"), Column("why")),
        tuple(
            (label or "the only one", str(run.status), run.message)
            for label, run in zip(labels, runs, strict=True)
            if run.status is not RunStatus.COMPLETED
        ),
    )


def _settings(config: Any) -> list[tuple[str, str]]:
    entries = [(entry, config[entry]) for entry in ("config", "grid", "case") if entry in config]
    return [(entry, strict_json(values, indent=None)) for entry, values in entries if values]
