"""The flags of commands that run cases, and running cases with progress on the terminal."""

import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, make_dataclass, replace
from enum import StrEnum
from itertools import chain, count, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import tyro

from kinetarium.batch.study import open_study
from kinetarium.cli.core.arguments import UsageError, flag_value
from kinetarium.cli.core.console import Console
from kinetarium.cli.core.invocation import Invocation, Run
from kinetarium.errors import KinetariumError
from kinetarium.interruption import is_stop_request
from kinetarium.ranges import Range
from kinetarium.recording.recording import RunStatus

if TYPE_CHECKING:
    from kinetarium.batch.cluster.connection import ClusterSettings
    from kinetarium.batch.plan import Plan
    from kinetarium.batch.study import Findings, Study
    from kinetarium.batch.sweep import Progress
    from kinetarium.batch.worker import Executor
    from kinetarium.recording.result_folder import ResultFolder


CORES = os.cpu_count() or 1
WORKERS = Range(0, max(64, 4 * CORES), unit="-")
"""More than a few processes per core use more memory and save no time."""
_WITHOUT_EFFECT = (
    "--out", "--workers", "--timeout", "--memory-limit", "--json", "--executor", "--address",
    "--cluster",
)  # fmt: skip
_SWITCHES_WITHOUT_EFFECT = (
    "--quiet", "--debug", "--overwrite", "--retry-failed", "--allow-plain-tcp",
)  # fmt: skip


class ExecutorKind(StrEnum):
    """Where cases are run."""

    LOCAL = "local"
    """In worker processes on this machine."""
    SERIAL = "serial"
    """One after another in the main process, without protection against crashes."""
    DASK = "dask"
    """On the workers of a Dask cluster."""


@dataclass(frozen=True, kw_only=True)
class ExecutionFlags:
    """How cases are run; the results do not depend on it.

    Attributes:
        workers: Number of worker processes that run cases in parallel; 0 runs them in the main
            process, without protection against crashes.
        timeout: Time limit for one case [s].
        memory_limit: Memory limit for one process [GB].
        executor: Where cases are run: worker processes of this machine, the main process, or the
            workers of a Dask cluster.
        address: Dask scheduler to connect to, such as tls://HOST:8786; without it, and without
            --cluster, Dask runs on this machine.
        cluster: Cluster file (TOML): queue system, job size, TLS files; see docs/cluster.md.
        allow_plain_tcp: Connect to another machine without encryption: whoever can reach the
            scheduler can run code on the workers and on this machine.
        retry_failed: Rerun cases that crashed, failed, timed out or ran out of memory in an
            earlier session.
    """

    workers: Annotated[int, WORKERS, tyro.conf.arg(metavar="N")] = CORES
    timeout: Annotated[float, Range(1e-3, 1e6, unit="s"), tyro.conf.arg(metavar="S")] = 600.0
    memory_limit: Annotated[float, Range(0.01, 1e4, unit="GB"), tyro.conf.arg(metavar="GB")] = 4.0
    executor: ExecutorKind = ExecutorKind.LOCAL
    address: Annotated[str, tyro.conf.arg(metavar="URL")] = ""
    cluster: Annotated[str, tyro.conf.arg(metavar="FILE.toml")] = ""
    allow_plain_tcp: bool = False
    retry_failed: bool = False

    def open_executor(self, console: Console) -> "Executor":
        """Return the executor that runs the cases.

        Args:
            console: Where it says which workers it refused.

        Raises:
            KinetariumError: If a cluster is described that is not used, or cannot be used.
        """
        from kinetarium.batch.worker_pool import executor

        workers = 0 if self.executor is ExecutorKind.SERIAL else self.workers
        if self.executor is ExecutorKind.DASK:
            return self._dask(console)
        if self.address or self.cluster:
            raise UsageError("--address and --cluster require --executor dask")
        return executor(workers, timeout=self.timeout, memory=self.memory_limit * 1e9)

    def _dask(self, console: Console) -> "Executor":
        from kinetarium.batch.cluster.executor import ClusterExecutor

        return ClusterExecutor(
            cluster_settings(self),
            workers=self.workers,
            timeout=self.timeout,
            memory=self.memory_limit * 1e9,
            note=console.note,
        )


class ClusterFlags(Protocol):
    """The flags of a command that may use a cluster."""

    @property
    def address(self) -> str:
        """Address of a scheduler, or empty."""

    @property
    def cluster(self) -> str:
        """Cluster file, or empty."""

    @property
    def allow_plain_tcp(self) -> bool:
        """Whether another machine may be reached without encryption."""


def cluster_settings(flags: ClusterFlags) -> "ClusterSettings":
    """Return the cluster that flags describe.

    Raises:
        KinetariumError: If the cluster file is invalid.
    """
    from kinetarium.batch.cluster.connection import ClusterSettings

    settings = ClusterSettings.read(Path(flags.cluster)) if flags.cluster else ClusterSettings()
    if flags.address:
        settings = replace(settings, address=flags.address)
    return replace(settings, allow_plain_tcp=settings.allow_plain_tcp or flags.allow_plain_tcp)


def execute(
    plan: "Plan",
    invocation: Invocation,
    *,
    out: Path,
    flags: ExecutionFlags,
    report: bool = True,
) -> "tuple[ResultFolder, Findings]":
    """Run a plan, write its report, and print the headline table and the path of the report.

    Raises:
        KinetariumError: If the plan is invalid, the folder cannot be written, or the only case
            of a query fails.
        KeyboardInterrupt: If it was interrupted; finished cases are kept.
    """
    from kinetarium.batch.sweep import run_plan

    console, is_new = invocation.console, not out.exists()
    command = essential_command(invocation.command_line)
    with sweep_progress(console, label=plan.study.name) as watch:
        try:
            folder, findings = run_plan(
                plan,
                out=out,
                executor=flags.open_executor(console),
                command=command,
                retry_failed=flags.retry_failed,
                watch=watch,
            )
        except (KeyboardInterrupt, Exception) as error:
            if is_stop_request(error) and report and (out / "config.toml").is_file():
                again = shlex.join(["kinetarium", "resume", str(out)])
                console.error(f"kinetarium: resume with: {again}")
            raise
    runs = list(folder.rows())
    if plan.study.is_query and [run.status for run in runs] == [RunStatus.FAILED]:
        if is_new:
            shutil.rmtree(out)
        raise KinetariumError(runs[0].message.partition(": ")[2])
    if report:
        # Imported here: queries have no report, and are over before it is loaded.
        from kinetarium.report.html.files import write_study_report

        with folder.writing():
            write_study_report(folder, plan.study, findings)
    show(folder, findings, invocation)
    return folder, findings


def show(folder: "ResultFolder", findings: "Findings", invocation: Invocation) -> None:
    """Print a study's tables, the cases that did not complete and the report's path."""
    console = invocation.console
    for table in findings.tables:
        console.table(table)
        console.line()
    console.table(findings.headline)
    if any(run.status is not RunStatus.COMPLETED for run in folder.rows()):
        from kinetarium.report.html.files import failure_table

        console.line()
        console.table(failure_table(folder))
    if findings.conclusion:
        console.line()
        console.paragraph(findings.conclusion)
    report = folder.path / "report.html"
    if report.is_file():
        console.line()
        console.line(f"report: {report}")


def finish(folder: "ResultFolder", findings: "Findings", invocation: Invocation) -> int:
    """Write the result as JSON, and return the exit code: 2 if no case was scored."""
    from kinetarium.batch.sweep import FINAL

    runs = list(folder.rows())
    scored = any(run.status in FINAL for run in runs)
    if not scored:
        invocation.console.error(
            f"kinetarium: none of {len(runs)} cases completed; first: {runs[0].message}"
        )
    places = {"out": folder.path, "report": folder.path / "report.html"}
    kept = {name: str(path) for name, path in places.items() if places["report"].is_file()}
    invocation.console.result({"ok": scored, **folder.metrics, **findings.answer, **kept})
    return 0 if scored else 2


def free_folder(study: str) -> Path:
    """Return the path of a folder that does not exist yet, for a command without --out."""
    names = chain([study], (f"{study}-{number}" for number in count(2)))
    return next(path for name in names if not (path := Path("out", name)).exists())


def essential_command(command_line: str) -> str:
    """Strip a command of the flags that do not change its result.

    Two folders made with different numbers of workers are then identical.
    """
    words, kept = iter(pairwise([*shlex.split(command_line), ""])), list[str]()
    for word, following in words:
        name, has_value, _ = word.partition("=")
        # Without a number --force is --overwrite; with one it is a force in newtons.
        switch = word == "--force" and (following.startswith("--") or not following)
        if name.replace("_", "-") in _WITHOUT_EFFECT:
            if not has_value:
                next(words, None)
        elif name.replace("_", "-") not in _SWITCHES_WITHOUT_EFFECT and not switch:
            kept.append(word)
    return shlex.join(kept)


_QUIET_TIME = 10.0
"""Minimum time between two progress lines in a log [s]."""

Watch = Callable[["Progress"], None]


@contextmanager
def sweep_progress(console: Console, *, label: str) -> Iterator[Watch]:
    """Yield the callback that shows the progress of a sweep.

    Args:
        console: Where it is shown.
        label: What is being run.
    """
    if not console.speaks:
        yield lambda progress: None
    elif sys.stderr.isatty():
        with _bar(label) as watch:
            yield watch
    else:
        yield _lines(console, label)


@contextmanager
def _bar(label: str) -> Iterator[Watch]:
    from rich.console import Console as RichConsole
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]}", style="red"),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with RichProgress(*columns, console=RichConsole(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None, failed="")

        def watch(progress: "Progress") -> None:
            failed = f"{progress.failed} failed" if progress.failed else ""
            bar.update(task, total=progress.total, completed=progress.done, failed=failed)

        yield watch


def _lines(console: Console, label: str) -> Watch:
    start = last = monotonic()
    before: int | None = None

    def watch(progress: "Progress") -> None:
        nonlocal last, before
        finished, now = progress.latest, monotonic()
        if before is None:
            before = progress.done
            if before:
                console.note(f"{label}: {before} of {progress.total} already done")
            return
        # The failure of a single case is printed at the end.
        if finished and finished.status is not RunStatus.COMPLETED and progress.total > 1:
            said = finished.message.startswith(str(finished.status))
            words = finished.message if said else f"{finished.status}: {finished.message}"
            console.note(f"{label}: {words}")
        if now - last > _QUIET_TIME and progress.done < progress.total:
            last = now
            rest = (now - start) / (progress.done - before) * (progress.total - progress.done)
            failed = f", {progress.failed} failed" if progress.failed else ""
            console.note(
                f"{label}: {progress.done} of {progress.total}{failed}, about {rest:.0f} s left"
            )

    return watch


@dataclass(frozen=True, kw_only=True)
class _Files:
    """The source of the values and the destination of the results.

    Attributes:
        out: Output folder; a new folder in ./out by default. A folder of the same run is
            resumed.
        config: Read values from a config.toml or a finished folder; other flags override them.
    """

    out: Annotated[str, tyro.conf.arg(metavar="DIR")] = ""
    config: Annotated[str, tyro.conf.arg(metavar="FILE|DIR")] = ""


@dataclass(frozen=True, kw_only=True)
class _QueryFiles(_Files):
    """The same for a query.

    Attributes:
        out: Output folder; without it nothing is kept. A folder of the same run is resumed.
    """

    out: Annotated[str, tyro.conf.arg(metavar="DIR")] = ""


def study_command(name: str, words: Sequence[str]) -> tuple[type, Run]:
    """Return the config class and the function of a study's command.

    Args:
        name: The study.
        words: The words after the command; a --config among them sets the defaults.

    Raises:
        KinetariumError: If the config cannot be read.
    """
    from kinetarium.batch.plan import Plan

    study = open_study(name)
    source = flag_value("--config", words)
    default = _config_from(Path(source), study=name) if source else study.config()
    # A query is over before a worker has started.
    workers = 0 if study.is_query else CORES
    execution = ExecutionFlags(workers=workers, timeout=study.timeout)
    files = _QueryFiles() if study.is_query else _Files()
    bare = tyro.conf.arg(name="")
    arguments = make_dataclass(
        "Arguments",
        [
            *_positional(study),
            ("study", Annotated[study.config, bare], field(default=default)),
            ("files", Annotated[type(files), bare], field(default=files)),
            ("execution", Annotated[ExecutionFlags, bare], field(default=execution)),
        ],
        frozen=True,
    )

    def run(chosen: Any, invocation: Invocation) -> int:
        plan = Plan.of(study, _with_positional(study, chosen))
        out, flags = chosen.files.out, chosen.execution
        if out or not study.is_query:
            path = Path(out) if out else free_folder(name)
            return finish(*execute(plan, invocation, out=path, flags=flags), invocation)
        with TemporaryDirectory(prefix="kinetarium-") as folder:
            path = Path(folder, name)
            ended = execute(plan, invocation, out=path, flags=flags, report=False)
            return finish(*ended, invocation)

    return arguments, run


def _positional(study: "Study[Any, Any]") -> list[tuple[str, Any, Any]]:
    """Return the argument that a study takes without a flag, as the field of a dataclass."""
    if not study.positional:
        return []
    look = tyro.conf.arg(
        metavar="FILE|NAME", help=f"The same as --{study.positional}.", help_behavior_hint=""
    )
    return [("given", Annotated[tyro.conf.Positional[str], look], field(default=""))]


def _with_positional(study: "Study[Any, Any]", chosen: Any) -> Any:
    """Return the config of a study with the argument that was given without a flag."""
    given, name = getattr(chosen, "given", ""), study.positional
    if not given:
        return chosen.study
    if getattr(chosen.study, name) not in (getattr(study.config(), name), given):
        raise UsageError(f"{study.name} takes one {name}: '{given}' or --{name}, not both")
    return replace(chosen.study, **{name: given})


def _config_from(path: Path, *, study: str) -> Any:
    from kinetarium.batch.axes import PlanError
    from kinetarium.batch.plan import Plan

    plan = Plan.read(path)
    if plan.study.name != study:
        raise PlanError(f"'{path}' is of the study '{plan.study.name}', not '{study}'")
    return plan.single
