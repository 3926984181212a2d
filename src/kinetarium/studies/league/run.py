"""One run: a child interpreter with a version of an engine answers item by item.

A version has a folder of its own, first on the path of the child, that shadows a few packages of
the present environment; all others are shared. pip makes the folder on demand, in the user's cache
folder, and it is reused.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from queue import Empty, Queue
from sysconfig import get_platform
from tempfile import TemporaryFile, mkdtemp
from threading import Thread
from time import monotonic, sleep
from typing import IO, Any

import numpy as np

from kinetarium.batch.worker_main import exit_status_of
from kinetarium.batch.worker_process import ONE_THREAD
from kinetarium.engines.base.engine import ALLOW_FAULTY
from kinetarium.engines.conformance import CHECKS
from kinetarium.engines.registry import EngineUnavailableError, engine_packages
from kinetarium.errors import KinetariumError, OutputError, one_line
from kinetarium.interruption import stop_if_requested
from kinetarium.plugins import OWN_PACKAGE
from kinetarium.recording.recording import Channel, Recording, Row
from kinetarium.storage.atomic import FolderLock, cache_folder, make_folder, remove_leftovers
from kinetarium.studies.league import problems
from kinetarium.studies.league.config import Case, Part, pinned_version, plain_name

_PATIENCE = 240.0
"""Time after which an item without an answer is given up [s]."""
_POLL = 0.5
_TAIL = 4096
"""Size of the end of a child's output that may have the reason of a crash [bytes]."""

Answer = Mapping[str, Any]
"""What a child says in one line: see `problems.main`."""


def run(case: Case) -> Recording:
    """Let the engine of a case pass the checks, or solve the problems at every time step.

    An item at which the child crashes or hangs is a row with the reason; another child
    continues after it.

    Raises:
        KinetariumError: If the version cannot be installed, or the engine does not load.
    """
    site = str(version_folder(case.package)) if case.package else ""
    checks = [check.name for check in CHECKS]
    items = checks if case.part is Part.CHECKS else problems.items(quick=case.quick)
    answers: list[Answer] = []
    library = ""
    while len(answers) < len(items):
        first, *others = _ask(case.engine, items[len(answers) :], site=site)
        library = first["version"]
        answers += others
    rows = [answer["row"] for answer in answers if answer["row"] is not None]
    durations = [problems.BY_NAME[row["name"]].duration if row["timestep"] else 0.0 for row in rows]
    return Recording(
        channels={"time": Channel(np.array(durations), "s")},
        status="running",
        facts={"engine": case.engine, "library": library, "rows": rows},
        timing={each["item"]: each["cpu_s"] for each in answers if each["cpu_s"] is not None},
    )


def _ask(engine: str, items: Sequence[str], *, site: str) -> Iterator[Answer]:
    """Yield the answers of one child: its version, then items until all are done or it ends.

    Args:
        site: Folder of the engine's version; empty for the installed one.

    Raises:
        EngineUnavailableError: If the engine does not load.
    """
    with TemporaryFile() as output, _child(engine, items, site=site, output=output) as child:
        try:
            lines = _lines(child)
            for item in ("", *items):
                answer = _next(lines)
                if answer is None:  # it has ended, or hangs
                    reason = _end(child, output)
                    if not item:
                        raise EngineUnavailableError(engine, reason)
                    yield {"item": item, "row": problems.empty_row(item, reason), "cpu_s": None}
                    return
                if "refused" in answer:
                    raise EngineUnavailableError(engine, answer["refused"])
                yield answer
        finally:
            child.kill()


def _child(
    engine: str, items: Sequence[str], *, site: str, output: IO[bytes]
) -> "subprocess.Popen[str]":
    """Start a child; it ends when its input is closed, which it is when this process ends."""
    path = [site, *map(os.path.abspath, sys.path)] if site else sys.path
    environment = {
        **os.environ,
        **ONE_THREAD,
        "PYTHONPATH": os.pathsep.join(path),
        ALLOW_FAULTY: "1",  # here they are compared
    }
    return subprocess.Popen(
        [sys.executable, "-X", "utf8", "-m", problems.__name__, engine, *items],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=output, env=environment,
        text=True, encoding="utf-8",
    )  # fmt: skip


def _lines(child: "subprocess.Popen[str]") -> "Queue[str]":
    """Return the lines that a child prints as they come; the last is empty."""
    lines: Queue[str] = Queue()

    def read() -> None:
        assert child.stdout is not None
        for line in child.stdout:
            lines.put(line)
        lines.put("")

    Thread(target=read, daemon=True).start()
    return lines


def _next(lines: "Queue[str]") -> Answer | None:
    """Return the next answer; None if the child has ended or says nothing for too long."""
    start = monotonic()
    while monotonic() - start < _PATIENCE:
        stop_if_requested()
        try:
            line = lines.get(timeout=_POLL)
        except Empty:
            continue
        answer: Answer | None = json.loads(line) if line.endswith("\n") else None
        return answer
    return None


def _end(child: "subprocess.Popen[str]", output: IO[bytes]) -> str:
    """Return why a child has ended, and end it if it hangs."""
    try:
        code = child.wait(timeout=_POLL)
    except subprocess.TimeoutExpired:
        return f"no answer within {_PATIENCE:g} s"
    output.seek(0, os.SEEK_END)
    output.seek(max(output.tell() - _TAIL, 0))
    said = output.read().decode(errors="replace")
    return exit_status_of(code, output=said, oom_kill=False).message


_PIP_TIMEOUT = 900.0
"""Time limit of pip [s]; the wheel of an engine has up to some hundred megabytes."""
_SITE = "site"
_NAME = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)


class VersionError(KinetariumError):
    """A version of an engine that cannot be installed."""


def version_folder(pinned: str) -> Path:
    """Return the folder with a version of a package, made if it does not exist yet.

    Args:
        pinned: The package, such as "mujoco==4.0.0".

    Raises:
        ConfigError: If it is not one version of a package.
        VersionError: If pip cannot install it.
        OutputError: If the cache folder cannot be written.
    """
    home = cache_folder() / "engines" / _interpreter() / "-".join(pinned_version(pinned))
    site = home / _SITE
    if not site.is_dir():
        make_folder(home)
        with _locked(home):
            if not site.is_dir():
                _make(pinned, site)
    return site


def _interpreter() -> str:
    """Return what a wheel depends on: the interpreter and the platform."""
    return f"{sys.implementation.cache_tag}-{get_platform()}"


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Wait until no other process makes the same folder."""
    start = monotonic()
    while True:
        try:
            lock = FolderLock(folder)
            break
        except OutputError:
            if monotonic() - start > 2 * _PIP_TIMEOUT:
                raise
        stop_if_requested()
        sleep(_POLL)
    try:
        yield
    finally:
        lock.release()


def _make(pinned: str, site: Path) -> None:
    """Install a package, and what it needs that is not here, into a folder, all or nothing.

    What Kinetarium itself is built on stays as it is: two versions of NumPy in one process
    would end it.
    """
    remove_leftovers(site.parent)  # of a killed process
    wanted = dict([pinned_version(pinned)])
    for each in json.loads(_pip(pinned, "--dry-run", "--report", "-"))["install"]:
        wanted.setdefault(plain_name(each["metadata"]["name"]), each["metadata"]["version"])
    kept = _foundation()
    names = [f"{name}=={number}" for name, number in wanted.items() if name not in kept]
    staging = Path(mkdtemp(prefix=".kinetarium-", dir=site.parent))
    try:
        _pip(*names, "--no-deps", "--target", str(staging))
        staging.chmod(0o755)
        staging.rename(site)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise


def _foundation() -> set[str]:
    """Return the packages that Kinetarium requires, without those of engines."""
    try:
        lines = requires(OWN_PACKAGE) or []
    except PackageNotFoundError:
        lines = []
    plain = [_NAME.match(line) for line in lines if "extra ==" not in line]
    engines = {plain_name(package) for package in engine_packages().values()}
    return {plain_name(name[0]) for name in plain if name} - engines


def _pip(*words: str) -> str:
    """Run pip install and return what it prints.

    Only wheels are installed: building an engine takes long, and runs code of its sources.

    Raises:
        VersionError: If it fails, with its reason.
    """
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input",
               "--retries", "2", "install", "--quiet", "--only-binary=:all:", *words]  # fmt: skip
    pinned = words[0].replace("==", " ")
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PIP_TIMEOUT, stdin=subprocess.DEVNULL
        )
        if not done.returncode:
            return done.stdout
        reason = _reason(done.stderr.splitlines())
    except subprocess.TimeoutExpired:
        reason = f"pip took over {_PIP_TIMEOUT:g} s"
    except OSError as error:
        reason = one_line(str(error))
    raise VersionError(f"{pinned} cannot be installed: {reason}")


def _reason(lines: Sequence[str]) -> str:
    """Return why pip failed, from what it prints to standard error."""
    text = "\n".join(lines)
    if "No module named pip" in text:
        return "pip is not installed here; run: python -m ensurepip"
    if "Retrying (" in text:
        return "the package index cannot be reached"
    if missing := re.search(r"No matching distribution found for (\S+)", text):
        return f"there is no wheel of {missing[1].replace('==', ' ')} for {_interpreter()}"
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return one_line((errors or [*filter(None, lines)] or ["pip failed"])[-1])


def score(case: Case, recording: Recording) -> Sequence[Row]:
    """Return the rows, which the child process has computed.

    Returns:
        name, timestep: The check, or the problem and its time step [s].
        value, expected, tolerance, unit: The figure, the right one, and how far apart they may
            be; for a problem, the error at which speeds are compared.
        passed: Whether a check passed; None for a problem.
        error: Distance of the figure from the right one.
        failure: Why there is no figure, or empty.
    """
    rows: Sequence[Row] = recording.facts["rows"]
    return rows
