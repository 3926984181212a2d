"""ResultTree: the runs and maps below a folder, found by identifiers that are not paths."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from kinetarium.batch.outcomes import case_labels
from kinetarium.batch.plan import SWEEP
from kinetarium.batch.study import open_study
from kinetarium.batch.sweep_table import SweepTable, sweep_table
from kinetarium.errors import KinetariumError
from kinetarium.recording.recording import Run, RunStatus
from kinetarium.recording.result_folder import CONFIG, INDEX, METRICS, RUNS, ResultFolder
from kinetarium.recording.run_folder import read_run
from kinetarium.storage.serialization import from_builtins
from kinetarium.studio.http import HttpError

MAP_SUFFIX = ".rmap"
ALL_RUNS = "all"
"""Stands for all folders of runs together; their own identifiers are longer."""

_DEEPEST = 4
"""Maximum depth of result folders below the folder."""
_MOST_FOLDERS = 2_000


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """A folder of results.

    Attributes:
        id: Its identifier in the page.
        name: Its path below the root folder, for display.
        path: Its path.
    """

    id: str
    name: str
    path: Path


class ResultTree:
    """The runs and maps below a folder."""

    def __init__(self, root: Path) -> None:
        """Look below a folder."""
        self.root = root

    def run_folders(self) -> list[FolderEntry]:
        """Return the folders of runs."""
        return [
            self._place(path)
            for path in _folders(self.root)
            if (path / CONFIG).is_file() and (path / INDEX).is_file()
        ]

    def maps(self) -> list[FolderEntry]:
        """Return the reachability maps."""
        return [self._place(path) for path in _folders(self.root) if path.suffix == MAP_SUFFIX]

    def fingerprint(self) -> str:
        """Return a text that changes whenever a run, a result or a map is added or removed."""
        state = []
        for place in (*self.run_folders(), *self.maps()):
            names = (RUNS, INDEX, METRICS)
            state.append((place.id, [_changed(place.path / name) for name in names]))
        return sha256(repr(state).encode()).hexdigest()

    def listing(self) -> dict[str, Any]:
        """Return everything as JSON data; for an unreadable folder the reason."""
        return {
            "root": self.root.name or str(self.root),
            "folders": [_folder(place) for place in self.run_folders()],
            "maps": [{"id": place.id, "name": place.name} for place in self.maps()],
        }

    def run(self, folder: str, key: str) -> tuple[Run, str]:
        """Return a run and its label."""
        place = self._run_folder(folder)
        labels = {run.key: label for run, label in _labelled(place)}
        run = read_run(ResultFolder(place.path).run_folder(key))
        return run, labels.get(key) or key

    def other_runs(self, folder: str, key: str) -> Iterator[tuple[Run, str]]:
        """Yield the completed runs of a folder but one, in their order, with their labels.

        Those that cannot be read are left out.
        """
        place = self._run_folder(folder)
        for run, label in _labelled(place):
            if run.key == key or run.status is not RunStatus.COMPLETED:
                continue
            try:
                whole = read_run(ResultFolder(place.path).run_folder(run.key))
            except KinetariumError:
                continue
            yield whole, label or run.key

    def table(self, folder: str) -> dict[str, Any]:
        """Return the table of a sweep as JSON data; of a batch, or an unfinished sweep, as well.

        What was varied is known when a sweep is finished; before, the fields in which cases
        differ are what was varied. All runs together are the folder "all". The results that the
        sweep file asks for come first.
        """
        if folder == ALL_RUNS:
            return _plain(sweep_table(self._all_runs(), {}))
        held = ResultFolder.open(self._run_folder(folder).path)
        varied: dict[str, dict[str, Any]] = {}
        conclusion = ""
        if SWEEP in held.config and held.is_finished:
            found = held.metrics.get(SWEEP)
            found = found if isinstance(found, dict) else {}
            given = found.get("varied")
            varied = from_builtins(dict[str, dict[str, Any]], given, where="metrics.json")
            conclusion = from_builtins(str, found.get("conclusion", ""), where="metrics.json")
        table = _plain(sweep_table(held.rows(), varied))
        shown = held.config.get(SWEEP)
        asked = shown.get("results") if isinstance(shown, dict) else None
        first = (
            [name for name in asked if name in table["results"]] if isinstance(asked, list) else []
        )
        results = list(dict.fromkeys([*first, *table["results"]]))
        return {**table, "results": results, "conclusion": conclusion}

    def _all_runs(self) -> Iterator[Run]:
        """Yield the runs of all folders that can be read; keys have the folder before them."""
        for place in self.run_folders():
            try:
                runs = ResultFolder.open(place.path).rows()
            except KinetariumError:
                continue
            for run in runs:
                case = {"folder": place.name, "study": run.study, **run.case}
                yield replace(run, key=f"{place.id}/{run.key}", case=case)

    def _run_folder(self, folder: str) -> FolderEntry:
        for place in self.run_folders():
            if place.id == folder:
                return place
        raise HttpError(404, "no such folder of runs")

    def map(self, id: str) -> Path:
        """Return the path of a map."""
        for place in self.maps():
            if place.id == id:
                return place.path
        raise HttpError(404, "no such map")

    def _place(self, path: Path) -> FolderEntry:
        name = path.relative_to(self.root).as_posix()
        shown = self.root.name if name == "." else name
        return FolderEntry(sha256(os.fsencode(name)).hexdigest()[:16], shown, path)


def _plain(table: SweepTable) -> dict[str, Any]:
    return {
        "axes": table.axes or table.others,
        "results": table.results,
        "columns": dict(table.columns),
    }


def case_of(run: Run) -> tuple[Any, Any]:
    """Return the study of a run and its case with its types."""
    study = open_study(run.study)
    return study, from_builtins(study.case, run.case, where=f"the case of {run.key}")


def _folder(place: FolderEntry) -> dict[str, Any]:
    try:
        folder = ResultFolder.open(place.path)
        return {
            "id": place.id,
            "name": place.name,
            "study": folder.config["study"],
            "title": _title(folder.config["study"]),
            "finished": folder.is_finished,
            "sweep": SWEEP in folder.config,
            "runs": [
                {
                    "key": run.key,
                    "label": label or run.key,
                    "case": dict(run.case),
                    "status": str(run.status),
                    "message": run.message,
                    "rows": [dict(row) for row in run.rows],
                }
                for run, label in _labelled(place)
            ],
        }
    except KinetariumError as error:
        return {"id": place.id, "name": place.name, "error": str(error), "runs": []}


def _labelled(place: FolderEntry) -> list[tuple[Run, str]]:
    """Return the runs of a folder with their labels, without their recordings."""
    runs = ResultFolder(place.path).rows()
    return list(zip(runs, case_labels([run.case for run in runs]), strict=True))


def _title(study: str) -> str:
    try:
        return open_study(study).title
    except KinetariumError:  # it is not installed, or broken
        return study


def _folders(root: Path, depth: int = 0) -> Iterator[Path]:
    """Yield the folders below one, without links, hidden folders and contents of results."""
    queue = [(root, depth)]
    seen = 0
    while queue and seen < _MOST_FOLDERS:
        path, depth = queue.pop(0)
        seen += 1
        yield path
        if depth == _DEEPEST or (path / CONFIG).is_file() or path.suffix == MAP_SUFFIX:
            continue
        try:
            entries = sorted(os.scandir(path), key=lambda entry: entry.name)
        except OSError:
            continue
        queue += [
            (Path(entry.path), depth + 1)
            for entry in entries
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
        ]


def _changed(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size
