"""`kinetarium export`: write recorded runs for Foxglove, ROS 2, spreadsheets and NumPy."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from kinetarium.cli.core.arguments import UsageError
from kinetarium.cli.core.invocation import Invocation

if TYPE_CHECKING:
    from kinetarium.recording.recording import Run
    from kinetarium.recording.result_folder import ResultFolder


class Format(StrEnum):
    """The formats."""

    MCAP = "mcap"
    ROSBAG2 = "rosbag2"
    CSV = "csv"
    PARQUET = "parquet"
    NPZ = "npz"


@dataclass(frozen=True, kw_only=True)
class Config:
    """What to export, and in which format.

    Attributes:
        folder: Result folder of a study or batch.
        format: Output format: mcap opens in Foxglove, rosbag2 in ROS 2.
        run: Key of one run, or its beginning; all runs with a recording by default
            (kinetarium runs DIR lists them).
        out: A file, if one run is exported, or a folder with a file named after each run; by
            default a folder beside DIR.
    """

    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="DIR")]
    format: Format
    run: Annotated[str, tyro.conf.arg(metavar="KEY")] = ""
    out: Annotated[str, tyro.conf.arg(metavar="FILE|DIR")] = ""


def run(config: Config, invocation: Invocation) -> None:
    """Export every run that was asked for; those without a recording are listed."""
    from kinetarium.export.runs import ExportFormat, export_run
    from kinetarium.recording.result_folder import ResultFolder
    from kinetarium.storage.atomic import make_folder

    folder = ResultFolder.open(config.folder)
    format = ExportFormat(config.format)
    runs = [each for each in _chosen(folder, config.run)]
    recorded = [each for each in runs if each.recording and len(each.recording["time"])]
    if not recorded:
        raise UsageError(f"nothing was recorded in '{config.folder}' that could be exported")
    single = len(recorded) == 1 and _is_file(config.out, format)
    name = config.folder.resolve().name
    out = Path(config.out) if config.out else config.folder.resolve().parent / f"{name}-{format}"
    if not single:
        make_folder(out)
    console, rows = invocation.console, []
    for each in recorded:
        path = out if single else out / f"{each.key}{format.suffix}"
        remarks = export_run(each, path, format=format, overwrite=invocation.force)
        console.line(f"{path}")
        for remark in remarks:
            console.line(f"note: {remark}")
        rows.append({"key": each.key, "path": str(path), "remarks": list(remarks)})
    without = [each.key for each in runs if each.key not in {row["key"] for row in rows}]
    beside = f"; {len(without)} without a recording left out" if without else ""
    console.line(f"{len(rows)} of {len(runs)} runs exported as {format}{beside}")
    answer: dict[str, Any] = {"ok": True, "format": str(format), "files": rows, "without": without}
    console.result(answer)


def _chosen(folder: "ResultFolder", key: str) -> "Iterator[Run]":
    """Yield the runs whose key begins as asked.

    Raises:
        UsageError: If there are none, or several that a beginning could mean.
    """
    from kinetarium.recording.run_folder import read_run

    keys = [each.key for each in folder.rows()]
    if key:
        found = [each for each in keys if each == key] or [k for k in keys if k.startswith(key)]
        if len(found) != 1:
            which = f"{len(found)} runs" if found else "no run"
            raise UsageError(f"'{folder.path}' has {which} with a key {key!r}: kinetarium runs")
        keys = found
    for each in keys:
        yield read_run(folder.run_folder(each))


def _is_file(out: str, format: Any) -> bool:
    """Return whether --out names the exported file itself; a bag is a folder in any case."""
    return bool(out) and (not format.suffix or out.lower().endswith(format.suffix))
