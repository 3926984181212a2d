"""One run: a child interpreter with a version of an engine answers item by item."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from queue import Empty, Queue
from tempfile import TemporaryFile
from threading import Thread
from time import monotonic
from typing import IO, Any

import numpy as np

from kinetarium.batch.worker_main import exit_status_of
from kinetarium.batch.worker_process import ONE_THREAD
from kinetarium.engines.conformance import CHECKS
from kinetarium.engines.registry import EngineUnavailableError
from kinetarium.interruption import stop_if_requested
from kinetarium.recording.recording import Channel, Recording
from kinetarium.studies.league import problems
from kinetarium.studies.league._environment import version_folder
from kinetarium.studies.league.config import Case, Part

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
        # A version that is excluded for a defect is refused elsewhere, but compared here.
        "KINETARIUM_ALLOW_EXCLUDED": "1",
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
