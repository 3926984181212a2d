"""Commands about result folders: batch, resume, runs, report, compare."""

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from kinetarium.cli.core.execution import ExecutionFlags, execute, finish, free_folder, show
from kinetarium.cli.core.invocation import Invocation
from kinetarium.ranges import Range

if TYPE_CHECKING:
    from kinetarium.figure.text import Table
    from kinetarium.recording.result_folder import ResultFolder


@dataclass(frozen=True, kw_only=True)
class BatchConfig(ExecutionFlags):
    """The batch and how it is run.

    Attributes:
        file: Batch file (TOML): study = "NAME", values for all cases under [config],
            lists of values to combine under [grid], single cases under [[case]].
        out: Output folder; a new folder in ./out by default.
    """

    file: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="FILE.toml")]
    out: Annotated[str, tyro.conf.arg(metavar="DIR")] = ""


def run_batch(config: BatchConfig, invocation: Invocation) -> int:
    """Run every case of the file."""
    from kinetarium.batch.plan import Plan

    plan = Plan.read(config.file)
    out = Path(config.out) if config.out else free_folder(plan.study.name)
    return finish(*execute(plan, invocation, out=out, flags=config), invocation)


@dataclass(frozen=True, kw_only=True)
class ResumeConfig(ExecutionFlags):
    """The folder to resume.

    Attributes:
        folder: Result folder of a study or batch; finished cases are skipped.
    """

    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="DIR")]


def run_resume(config: ResumeConfig, invocation: Invocation) -> int:
    """Run the cases that are missing, and write the report."""
    from kinetarium.batch.plan import Plan
    from kinetarium.recording.result_folder import CONFIG, ResultFolderError

    # Anything else that is missing is created again.
    if not (config.folder / CONFIG).is_file():
        raise ResultFolderError(f"'{config.folder}' is not a result folder: no {CONFIG}")
    plan = Plan.read(config.folder)
    return finish(*execute(plan, invocation, out=config.folder, flags=config), invocation)


@dataclass(frozen=True, kw_only=True)
class RunsConfig:
    """The folder to list.

    Attributes:
        folder: Result folder of a study or batch, or a folder that contains some.
        verify: Verify the checksum of every file instead of listing the runs.
    """

    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="DIR")] = Path("out")
    verify: bool = False


def run_runs(config: RunsConfig, invocation: Invocation) -> int:
    """Print a row for every run, or for every folder of runs."""
    from kinetarium.errors import KinetariumError
    from kinetarium.figure.text import rows_table
    from kinetarium.recording.result_folder import ResultFolder, ResultFolderError

    if not config.folder.is_dir():
        raise ResultFolderError(f"'{config.folder}' is not a folder")
    if config.verify:
        return _verify(config.folder, invocation)
    if (config.folder / "config.toml").exists():
        folder = ResultFolder.open(config.folder)
        invocation.console.table(_run_table(folder), essential=_ESSENTIAL)
        invocation.console.result({"ok": True, "rows": _run_rows(folder)})
        return 0
    rows = []
    for path in sorted(config.folder.glob("*/config.toml")):
        try:
            rows.append(_folder_row(ResultFolder.open(path.parent)))
        except KinetariumError as error:
            rows.append({"folder": str(path.parent), "study": f"unreadable: {error}"})
    if not rows:
        raise ResultFolderError(f"no runs in '{config.folder}'")
    invocation.console.table(rows_table("", rows))
    invocation.console.result({"ok": True, "rows": rows})
    return 0


def _verify(folder: Path, invocation: Invocation) -> int:
    """Verify every file of a result folder, or of those in it; exit code 2 if one is damaged."""
    from kinetarium.batch.sweep import check_metrics
    from kinetarium.errors import KinetariumError
    from kinetarium.recording.result_folder import ResultFolder, ResultFolderError
    from kinetarium.recording.verification import verify_folder

    one = (folder / "config.toml").exists()
    paths = [folder] if one else sorted(path.parent for path in folder.glob("*/config.toml"))
    if not paths:
        raise ResultFolderError(f"no runs in '{folder}'")
    problems: dict[str, list[str]] = {}
    for path in paths:
        try:
            problems[str(path)] = verify_folder(path)
            if not problems[str(path)]:
                check_metrics(ResultFolder.open(path))
                invocation.console.line(f"{path}: all checksums match")
        except KinetariumError as error:
            problems[str(path)] = [str(error)]
    for found in problems.values():
        for problem in found:
            invocation.console.error(problem)
    sound = not any(problems.values())
    invocation.console.result({"ok": sound, "problems": problems})
    return 0 if sound else 2


def _folder_row(folder: "ResultFolder") -> dict[str, Any]:
    statuses = Counter(str(run.status) for run in folder.rows())
    return {
        "folder": str(folder.path),
        "study": folder.config["study"],
        "runs": sum(statuses.values()),
        "statuses": ", ".join(f"{count} {status}" for status, count in sorted(statuses.items())),
        "finished": "yes" if folder.is_finished else "no",
    }


def _run_rows(folder: "ResultFolder") -> list[dict[str, Any]]:
    """Return the case, the status and the first numbers of every run."""
    return [
        {
            "key": run.key,
            "status": str(run.status),
            **run.case,
            "message": run.message,
            **(run.rows[0] if len(run.rows) == 1 else {"rows": len(run.rows)}),
        }
        for run in folder.rows()
    ]


_ESSENTIAL = 3
"""Columns of the runs that are always shown: what was varied, the status, the first result."""


def _run_table(folder: "ResultFolder") -> "Table":
    """Return what was varied, the status and the results of every run, the first of them first."""
    from kinetarium.batch.outcomes import case_labels
    from kinetarium.figure.text import rows_table

    runs = list(folder.rows())
    firsts = [run.rows[0] if run.rows else {} for run in runs]
    names = list(dict.fromkeys(name for row in firsts for name in row))
    several = any(len(run.rows) > 1 for run in runs)
    # Of several rows the first differ in their results, not in what they are the results of.
    told = [n for n in names if not several or len({str(row.get(n)) for row in firsts}) > 1]
    results = (told or names) + [name for name in names if told and name not in told]
    labels = case_labels([run.case for run in runs])
    rows = [
        {
            "case": label or "the only one",
            "status": str(run.status),
            **({name: row.get(name) for name in results} if results else {"result": None}),
            **({"rows": len(run.rows)} if several else {}),
            **({"message": run.message} if any(run.message for run in runs) else {}),
            "key": run.key,
        }
        for label, run, row in zip(labels, runs, firsts, strict=True)
    ]
    return rows_table("", rows)


@dataclass(frozen=True, kw_only=True)
class ReportConfig:
    """The folder whose report is written.

    Attributes:
        folder: Result folder of a study or batch.
    """

    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="DIR")]


def run_report(config: ReportConfig, invocation: Invocation) -> int:
    """Summarise the folder, and write the report and its figures."""
    from kinetarium.batch.study import open_study
    from kinetarium.batch.sweep import findings_of
    from kinetarium.recording.result_folder import ResultFolder, ResultFolderError
    from kinetarium.report.html.files import write_study_report

    folder = ResultFolder.open(config.folder)
    if not folder.is_finished:
        raise ResultFolderError(
            f"'{folder.path}' is not finished; resume with: kinetarium resume {folder.path}"
        )
    study = open_study(folder.config["study"])
    findings = findings_of(folder, study)
    with folder.writing():
        write_study_report(folder, study, findings)
    show(folder, findings, invocation)
    return finish(folder, findings, invocation)


@dataclass(frozen=True, kw_only=True)
class CompareConfig:
    """The folders to compare.

    Attributes:
        first: Result folder of a study or batch.
        second: Another result folder of the same study.
        tolerance: Relative difference up to which two numbers are considered equal [-].
    """

    first: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="A")]
    second: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="B")]
    tolerance: Annotated[float, Range(0.0, 2.0, unit="-")] = 0.0


def run_compare(config: CompareConfig, invocation: Invocation) -> int:
    """Print the differences by column; exit code 1 if anything differs."""
    from kinetarium.batch.comparison import compare
    from kinetarium.figure.text import Column, Table, as_cell
    from kinetarium.recording.result_folder import ResultFolder

    first, second = (ResultFolder.open(path) for path in (config.first, config.second))
    comparison = compare(first, second, tolerance=config.tolerance)
    console = invocation.console
    for title, entries in (("settings", comparison.settings), ("versions", comparison.versions)):
        if entries:
            columns = (Column(title), Column(str(first.path)), Column(str(second.path)))
            console.table(Table("", columns, entries))
            console.line()
    headings = ("column", "rows", "differing", "largest", "relative", "A", "B", "where")
    console.table(
        Table(
            "",
            tuple(map(Column, headings)),
            tuple(
                (
                    d.column,
                    d.rows,
                    d.differing,
                    d.largest,
                    d.relative,
                    *map(as_cell, d.values),
                    d.where,
                )
                for d in comparison.differences
            ),
        )
    )
    for count, path in ((comparison.only_first, first.path), (comparison.only_second, second.path)):
        if count:
            console.line(f"{count} rows only in {path}")
    console.line("equal" if comparison.equal else "different")
    console.result({"ok": True, "equal": comparison.equal, **asdict(comparison)})
    return 0 if comparison.equal else 1
