"""run_study, sweep: run a study from Python; StudyResult: its rows, figures, report; show_runs."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from html import escape
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from kinetarium.batch.outcomes import case_labels
from kinetarium.batch.plan import SWEEP, Plan
from kinetarium.batch.study import Findings, Study, open_study
from kinetarium.batch.sweep import run_plan
from kinetarium.batch.sweep_table import polars_frame, table_of
from kinetarium.batch.worker import Executor
from kinetarium.batch.worker_pool import executor as local_executor
from kinetarium.errors import KinetariumError
from kinetarium.recording.recording import Recording
from kinetarium.recording.result_folder import ResultFolder
from kinetarium.storage.serialization import from_builtins, to_builtins

if TYPE_CHECKING:
    from kinetarium.figure.page import Figure, Page


_MOST_REPLAYS = 4
"""Maximum number of runs that a notebook shows in 3-D."""


@dataclass(frozen=True, eq=False, repr=False)
class StudyResult:
    """The results of a study.

    Example:
        >>> from kinetarium import run_study
        >>> result = run_study("drop", engine="mujoco", height=0.01, duration=0.1, workers=0)
        >>> result.rows[0]["status"], len(result.recordings)
        ('completed', 1)
        >>> result.report("drop.html").name
        'drop.html'

    Attributes:
        study: The study.
        folder: Its folder; a temporary one, deleted with this object, unless `out` was given.
        findings: The summary of all cases.
    """

    study: Study[Any, Any]
    folder: ResultFolder
    findings: Findings
    _temporary: TemporaryDirectory[str] | None = field(default=None, repr=False)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row for each result, with its case, status and message: those of metrics.json."""
        rows: list[dict[str, Any]] = self.folder.metrics["rows"]
        return rows

    @property
    def summary(self) -> Mapping[str, Any]:
        """Statistics over all rows."""
        return self.findings.summary

    @property
    def recordings(self) -> list[Recording | None]:
        """The recording of each case, in the order of the report; None for a case without one."""
        return [run.recording for run in self.folder.runs()]

    @property
    def figures(self) -> "list[Figure]":
        """The figures of the report, as data."""
        return [figure for section in self.findings.sections for figure in section.figures]

    def report(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the report as one self-contained HTML file.

        Args:
            force: Whether a file that Kinetarium did not write may be overwritten.

        Returns:
            The path.

        Raises:
            OutputError: If it cannot be written.
        """
        from kinetarium.report.html.page import GENERATOR, page_html
        from kinetarium.storage.atomic import check_replaceable, write_atomic

        check_replaceable(Path(path), ours=GENERATOR, force=force)
        html = page_html(self._page())
        write_atomic(Path(path), html.encode(errors="xmlcharrefreplace"))
        return Path(path)

    def to_pandas(self) -> Any:
        """Return the rows as a pandas.DataFrame, those of a sweep as its table.

        Raises:
            KinetariumError: If pandas is not installed.
        """
        if SWEEP in self.folder.config:
            return _imported("pandas").DataFrame(dict(table_of(self.folder).columns))
        return _imported("pandas").DataFrame(self.rows)

    def to_polars(self) -> Any:
        """Return the rows as a polars.DataFrame, those of a sweep as its table.

        Raises:
            KinetariumError: If polars is not installed.
        """
        if SWEEP in self.folder.config:
            return polars_frame(table_of(self.folder))
        return _imported("polars").DataFrame(self.rows, infer_schema_length=None)

    def _page(self) -> "Page":
        from kinetarium.report.html.files import study_page

        return study_page(self.folder, self.study, self.findings)

    def __repr__(self) -> str:
        """Return a description of one line."""
        statuses = Counter(str(row["status"]) for row in self.rows)
        counts = ", ".join(f"{count} {status}" for status, count in statuses.items())
        return f"<StudyResult of {self.study.name}: {counts}; {self.folder.path}>"

    def _repr_html_(self) -> str:
        """Return tables, figures and the first runs in 3-D, for notebooks."""
        from kinetarium.report.html.page import notebook_html

        shown = notebook_html(self._page())
        with suppress(KinetariumError):  # the page was not built, or a mesh is missing
            if replays := list(islice(_replays(self.study, self.folder), _MOST_REPLAYS)):
                page = _run_page([file for _, file in replays], title=self.study.title)
                shown += page._repr_html_()
        return shown


@dataclass(frozen=True, repr=False)
class RunPage:
    """Runs in 3-D with their plots: the studio's page as one HTML file; notebooks display it.

    Example:
        >>> from kinetarium import run_study, show_runs
        >>> result = run_study("drop", engine="mujoco", height=0.01, duration=0.1, workers=0)
        >>> page = show_runs(result.folder.path)
        >>> page.title, page.html.count("x-kinetarium-replay")
        ('Drop test', 1)

    Attributes:
        title: Its title.
        html: The file, which loads nothing else.
    """

    title: str
    html: str

    def __repr__(self) -> str:
        """Return a description of one line."""
        return f"<RunPage {self.title!r}: {len(self.html) / 1e6:.1f} MB>"

    def _repr_html_(self) -> str:
        """Return a frame with the page: its script cannot reach the notebook around it."""
        return (
            f'<iframe title="{escape(self.title)}" sandbox="allow-scripts" loading="lazy"'
            f' style="width:100%;height:36em;border:0" srcdoc="{escape(self.html)}"></iframe>'
        )


def show_runs(folder: str | os.PathLike[str], keys: Sequence[str] | None = None) -> RunPage:
    """Return runs of a result folder in 3-D, for notebooks or as a file.

    Example:
        >>> from kinetarium import run_study, show_runs
        >>> result = run_study("drop", engine="mujoco", height=0.01, duration=0.1, workers=0)
        >>> page = show_runs(result.folder.path)
        >>> page.html.startswith("<!doctype html>"), "<iframe " in page._repr_html_()
        (True, True)

    Args:
        folder: The folder of a study, a batch or a sweep.
        keys: The runs, by the names of their folders in `runs`; the first four with a replay if
            None.

    Raises:
        KinetariumError: If a run is missing, or has no recording or replay.
    """
    held = ResultFolder.open(Path(folder))
    study = open_study(held.config["study"])
    replays = _replays(study, held)
    found = dict(islice(replays, _MOST_REPLAYS) if keys is None else replays)
    if missing := [key for key in keys or () if key not in found]:
        known = ", ".join(islice(found, 5)) or "none"
        raise KinetariumError(
            f"{os.fspath(folder)!r} has no replay of {missing[0]!r} (it has: {known})"
        )
    if not found:
        raise KinetariumError(f"{os.fspath(folder)!r} has no run that can be replayed")
    return _run_page([found[key] for key in keys or found], title=study.title)


def _replays(study: Study[Any, Any], folder: ResultFolder) -> Iterator[tuple[str, bytes]]:
    """Yield the keys and replay files of the runs that have a replay."""
    from kinetarium.studio.replay_file import Encoding, replay_file

    runs = list(folder.runs())
    for run, label in zip(runs, case_labels([run.case for run in runs]), strict=True):
        if run.recording is not None:
            case: Any = from_builtins(study.case, run.case, where=f"run {run.key}")
            if replay := study.replay(case, run.recording):
                title, channels = f"{run.study} {label}", run.recording.channels
                file = replay_file(replay, channels, title=title, encoding=Encoding.COMPACT)
                yield run.key, file


def _run_page(replays: list[bytes], *, title: str) -> RunPage:
    from kinetarium.studio.exported_page import PagePart, check_page, exported_page

    check_page()
    page = exported_page([(PagePart.REPLAY, replay) for replay in replays], title=title)
    return RunPage(title, page.decode())


def run_study(
    name: str,
    *,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    timeout: float = 600.0,
    memory_limit: float = 4.0,
    retry_failed: bool = False,
    **config: Any,
) -> StudyResult:
    """Run a study.

    Example:
        >>> from kinetarium import run_study
        >>> result = run_study("drop", engine=["mujoco"], height=0.01, duration=0.1, workers=0)
        >>> result.summary["mujoco"]["fall_error_m"]["median"] < 1e-3
        True

    Args:
        name: The study's name, as in `list_studies`.
        out: Output folder, as with `--out`; finished cases in it are not run again. A
            temporary one if None.
        workers: Number of worker processes; one for each core if None, 0 for a query. With 0 the
            cases run in this process, without protection against crashes.
        timeout: Time limit for one case [s].
        memory_limit: Memory limit for one process [GB].
        retry_failed: Whether cases that failed in an earlier session are run again.
        **config: Fields of the study's config, the flags of its command.

    Raises:
        KinetariumError: If there is no such study or field, a value is invalid, or the folder
            cannot be written.
    """
    study = open_study(name)
    if workers is None and study.is_query:
        workers = 0
    plan = Plan(study, {"study": name, "config": to_builtins(config)})
    return _result(
        Plan.of(study, plan.single),
        out=out,
        executor=local_executor(workers, timeout=timeout, memory=memory_limit * 1e9),
        command=f"run_study({name!r})",
        retry_failed=retry_failed,
    )


def sweep(
    source: str | os.PathLike[str] | Mapping[str, Any],
    *,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    timeout: float = 600.0,
    memory_limit: float = 4.0,
    retry_failed: bool = False,
) -> StudyResult:
    """Run a study over axes: lists of values that are combined or paired, or samples.

    Example:
        >>> from kinetarium import sweep
        >>> fixed = {"engine": ["mujoco"], "duration": 0.2}
        >>> axes = {"height": [0.01, 0.02], "mass": [0.5, 1.0, 2.0]}
        >>> result = sweep({"study": "drop", "config": fixed, "grid": axes}, workers=0)
        >>> result.to_polars().select("height", "mass", "status").height
        6

    Args:
        source: A sweep file (TOML), or its content; see docs/sweep.md.
        out: Output folder, as with `--out`; finished cases in it are not run again. A
            temporary one if None.
        workers: Number of worker processes; one for each core if None. With 0 the cases run in
            this process, without protection against crashes.
        executor: What runs the cases instead, such as a `ClusterExecutor`.
        timeout: Time limit for one case [s].
        memory_limit: Memory limit for one process [GB].
        retry_failed: Whether cases that failed in an earlier session are run again.

    Raises:
        KinetariumError: If an axis or a value is invalid, or the folder cannot be written.
    """
    if isinstance(source, Mapping):
        plan = Plan.of_content(to_builtins(source))
    else:
        plan = Plan.read(Path(source))
    return _result(
        plan.as_sweep(),
        out=out,
        executor=executor or local_executor(workers, timeout=timeout, memory=memory_limit * 1e9),
        command="sweep(...)" if isinstance(source, Mapping) else f"sweep({os.fspath(source)!r})",
        retry_failed=retry_failed,
    )


def _result(
    plan: Plan,
    *,
    out: str | os.PathLike[str] | None,
    executor: Executor,
    command: str,
    retry_failed: bool,
) -> StudyResult:
    from kinetarium.report.html.files import write_study_report

    study = plan.study
    temporary = TemporaryDirectory(prefix="kinetarium-") if out is None else None
    path = Path(temporary.name) / study.name if temporary else Path(os.fspath(out or ""))
    folder, findings = run_plan(
        plan, out=path, executor=executor, command=command, retry_failed=retry_failed
    )
    if temporary is None:
        with folder.writing():
            write_study_report(folder, study, findings)
    return StudyResult(study, folder, findings, temporary)


def _imported(library: str) -> Any:
    from importlib import import_module

    try:
        return import_module(library)
    except ImportError:
        raise KinetariumError(f"this needs {library}: pip install {library}") from None
