"""A page as files: report.html, and its figures beside it."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kinetarium.batch.outcomes import case_labels
from kinetarium.batch.study import Findings, Study
from kinetarium.figure.page import Chart, Page, Section
from kinetarium.figure.scene3d import Scene3D
from kinetarium.figure.text import Table, header
from kinetarium.recording.recording import RunStatus
from kinetarium.recording.result_folder import ResultFolder
from kinetarium.report.html.page import GENERATOR, page_html
from kinetarium.report.matplotlib.still import Stills, scene_png
from kinetarium.report.plotly.charts import ASPECT
from kinetarium.storage.atomic import (
    check_folder,
    check_replaceable,
    check_writable,
    make_folder,
    remove_abandoned,
    write_atomic,
    write_folder_atomic,
)
from kinetarium.storage.strict_json import strict_json

_SCENE_WIDTH = 1600
"""Width of the picture of a scene [px]."""

_LONGEST_SLUG = 48
"""Maximum characters of a title in a file name."""


def write_page(folder: Path, page: Page, *, force: bool = False) -> Path:
    """Write a page and its figures into a folder, which is created if missing.

    Args:
        force: Whether a page that Kinetarium did not write may be overwritten.

    Returns:
        The path of the page.

    Raises:
        OutputError: If a file cannot be written, or exists and was not written by Kinetarium.
    """
    report, figures = folder / "report.html", folder / "figures"
    check_page(folder, force=force)
    stills = Stills(page)
    write_folder_atomic(figures, figure_files(page, stills))
    write_atomic(report, page_html(page, stills).encode(errors="xmlcharrefreplace"))
    return report


def check_page(folder: Path, *, force: bool = False) -> None:
    """Check early, before any work, that `write_page` can write to a folder.

    Args:
        force: Whether a page that Kinetarium did not write may be overwritten.

    Raises:
        OutputError: If it cannot be created, or holds a page or figures not written by Kinetarium.
    """
    make_folder(folder)
    remove_abandoned(folder)
    check_writable(folder / "report.html")
    check_replaceable(folder / "report.html", ours=GENERATOR, force=force)
    check_folder(folder / "figures", ours=r"\d+-[a-z0-9-]*\.(svg|png)")


def figure_files(page: Page, stills: Stills | None = None) -> Mapping[str, bytes]:
    """Draw the charts and scenes of a page.

    The same page yields the same bytes.

    Args:
        stills: Its stills, if they are drawn already.

    Returns:
        By name: charts as SVG and PNG, scenes as PNG. A name is the figure's
        number and the a-z and 0-9 of its title, such as "01-drift.svg".
    """
    pictures = [
        figure
        for section in page.sections
        for figure in section.figures
        if isinstance(figure, Chart | Scene3D)
    ]
    stills = stills or Stills(page)
    digits = max(2, len(str(len(pictures))))
    files: dict[str, bytes] = {}
    for number, picture in enumerate(pictures, start=1):
        stem = f"{number:0{digits}}-{_slug(picture.title)}"
        if isinstance(picture, Scene3D):
            height = round(_SCENE_WIDTH / ASPECT)
            files[f"{stem}.png"] = scene_png(picture, width=_SCENE_WIDTH, height=height)
        else:
            files[f"{stem}.svg"] = stills[picture].svg
            files[f"{stem}.png"] = stills[picture].png
    return files


def _slug(title: str) -> str:
    words = re.findall("[a-z0-9]+", title.lower())
    return "-".join(words)[:_LONGEST_SLUG].strip("-") or "figure"


def write_study_report(folder: ResultFolder, study: Study[Any, Any], findings: Findings) -> None:
    """Write report.html, and every figure as SVG and PNG beside it.

    Args:
        folder: The folder, open for writing.
    """
    page = study_page(folder, study, findings)
    stills = Stills(page)
    folder.write_figures(figure_files(page, stills))
    folder.write_report(page_html(page, stills))


def study_page(folder: ResultFolder, study: Study[Any, Any], findings: Findings) -> Page:
    """Return the whole page of a folder."""
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
    sections = (headline, *findings.sections)
    return Page(study.title, findings.lead, sections, provenance, findings.conclusion)


def failure_table(folder: ResultFolder) -> Table:
    """List the cases that did not complete, and why."""
    runs = list(folder.rows())
    labels = case_labels([run.case for run in runs])
    return Table(
        "Cases that did not complete",
        header("case | status | why"),
        tuple(
            (label or "the only one", str(run.status), run.message)
            for label, run in zip(labels, runs, strict=True)
            if run.status is not RunStatus.COMPLETED
        ),
    )


def _settings(config: Any) -> list[tuple[str, str]]:
    names = ("config", "case", "grid", "zip", "random", "latin")
    entries = [(entry, config[entry]) for entry in names if entry in config]
    return [(entry, strict_json(values, indent=None)) for entry, values in entries if values]
