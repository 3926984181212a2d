"""run_study: run a study from Python; StudyResult: its rows, recordings, figures and report."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from kinetarium.batch.plan import Plan
from kinetarium.batch.study import Findings, Study, open_study
from kinetarium.batch.sweep import sweep
from kinetarium.batch.task import Executor
from kinetarium.batch.worker import SerialExecutor
from kinetarium.batch.worker_pool import IsolatedExecutor
from kinetarium.errors import KinetariumError
from kinetarium.recording.recording import Recording
from kinetarium.recording.result_folder import ResultFolder
from kinetarium.storage.serialization import to_builtins

if TYPE_CHECKING:
    from kinetarium.figure.page import Figure


@dataclass(frozen=True, eq=False)
class StudyResult:
    """What a study has found.

    Example:
        >>> from kinetarium import run_study
        >>> result = run_study("drop", engine="mujoco", height=0.01, duration=0.1, workers=0)
        >>> result.rows[0]["status"], len(result.recordings)
        ('completed', 1)
        >>> result.report("drop.html").name
        'drop.html'

    Attributes:
        study: The study.
        folder: Its folder; a temporary one, gone with this object, unless `out` was given.
        findings: What the study makes of all its cases.
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
        """Figures over all rows."""
        return self.findings.summary

    @property
    def recordings(self) -> list[Recording | None]:
        """What each case recorded, in the order of the report; None where a case has nothing."""
        return [run.recording for run in self.folder.runs()]

    @property
    def figures(self) -> "list[Figure]":
        """The figures of the report, as data."""
        return [figure for section in self.findings.sections for figure in section.figures]

    def report(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the report as one self-contained HTML file.

        Args:
            path: The file.
            force: Whether a file that Kinetarium did not write may be replaced.

        Returns:
            The path.

        Raises:
            OutputError: If it cannot be written.
        """
        from kinetarium.report.html.page import GENERATOR
        from kinetarium.storage.atomic import check_replaceable, write_atomic

        check_replaceable(Path(path), ours=GENERATOR, force=force)
        write_atomic(Path(path), self._html().encode(errors="xmlcharrefreplace"))
        return Path(path)

    def to_pandas(self) -> Any:
        """Return the rows as a pandas.DataFrame.

        Raises:
            KinetariumError: If pandas is not installed.
        """
        return _imported("pandas").DataFrame(self.rows)

    def to_polars(self) -> Any:
        """Return the rows as a polars.DataFrame.

        Raises:
            KinetariumError: If polars is not installed.
        """
        return _imported("polars").DataFrame(self.rows, infer_schema_length=None)

    def _html(self) -> str:
        from kinetarium.report.html.files import study_page
        from kinetarium.report.html.page import page_html

        return page_html(study_page(self.folder, self.study, self.findings))

    def _repr_html_(self) -> str:
        """Show the report in a notebook, in a frame of its own."""
        style = "width:100%;height:40em;border:0"
        return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{escape(self._html())}">'


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
        name: The study's name, as `list_studies` has it.
        out: Folder of the results, as with `--out`; finished cases in it are not run again. A
            temporary one if None.
        workers: Processes that run cases side by side; one for each core if None, none if 0:
            the cases then run in this process, unprotected.
        timeout: Most time for one case [s].
        memory_limit: Most memory for one process [GB].
        retry_failed: Whether cases that failed in an earlier session are run again.
        **config: Fields of the study's config, the flags of its command.

    Raises:
        KinetariumError: If there is no such study or field, a value does not fit, or the folder
            cannot be written.
    """
    from kinetarium.report.html.files import write_study_report

    study = open_study(name)
    plan = Plan(study, {"study": name, "config": to_builtins(config)})
    plan = Plan.of(study, plan.single)
    temporary = TemporaryDirectory(prefix="kinetarium-") if out is None else None
    path = Path(temporary.name) / name if temporary else Path(os.fspath(out or ""))
    folder, findings = sweep(
        plan,
        out=path,
        executor=_executor(workers, timeout=timeout, memory=memory_limit * 1e9),
        command=f"run_study({name!r})",
        retry_failed=retry_failed,
    )
    if temporary is None:
        with folder.writing():
            write_study_report(folder, study, findings)
    return StudyResult(study, folder, findings, temporary)


def _executor(workers: int | None, *, timeout: float, memory: float) -> Executor:
    count = os.cpu_count() or 1 if workers is None else workers
    if count < 0:
        raise KinetariumError(f"workers must not be negative, not {count}")
    if count == 0:
        return SerialExecutor()
    return IsolatedExecutor(count, timeout=timeout, memory=memory)


def _imported(library: str) -> Any:
    from importlib import import_module

    try:
        return import_module(library)
    except ImportError:
        raise KinetariumError(f"this needs {library}: pip install {library}") from None
