"""`kinetarium runs`: list the runs in a folder, or the folders of runs below one."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from kinetarium.cli.core.invocation import Invocation

if TYPE_CHECKING:
    from kinetarium.figure.text import Table
    from kinetarium.recording.result_folder import ResultFolder


@dataclass(frozen=True, kw_only=True)
class Config:
    """The folder to list.

    Attributes:
        folder: Result folder of a study or batch, or a folder that contains some.
        verify: Verify the checksum of every file instead of listing the runs.
    """

    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="DIR")] = Path("out")
    verify: bool = False


def run(config: Config, invocation: Invocation) -> int:
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
        invocation.console.result({"ok": True, "rows": _runs(folder)})
        return 0
    rows = []
    for path in sorted(config.folder.glob("*/config.toml")):
        try:
            rows.append(_folder(ResultFolder.open(path.parent)))
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


def _folder(folder: "ResultFolder") -> dict[str, Any]:
    statuses = Counter(str(run.status) for run in folder.rows())
    return {
        "folder": str(folder.path),
        "study": folder.config["study"],
        "runs": sum(statuses.values()),
        "statuses": ", ".join(f"{count} {status}" for status, count in sorted(statuses.items())),
        "finished": "yes" if folder.is_finished else "no",
    }


def _runs(folder: "ResultFolder") -> list[dict[str, Any]]:
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
