"""A study that the page has started, in a process of its own: that of a command in all but name.

It reads one line of JSON, runs the plan through isolated workers, and writes its progress as lines
of JSON. SIGTERM stops it as Ctrl-C does a command; it also stops when its input ends, that is, when
the server is gone.
"""

import json
import os
import signal
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kinetarium.batch.plan import Plan
from kinetarium.batch.sweep import Progress, run_plan
from kinetarium.batch.worker_pool import executor
from kinetarium.errors import KinetariumError, one_line
from kinetarium.interruption import handling_stop_signals, is_stop_request

MEMORY = 4e9
"""Memory limit of a worker [bytes], that of a command."""


@dataclass(frozen=True)
class StudyJob:
    """What to run.

    Attributes:
        study: The study.
        config: Its config as JSON data.
        out: The folder of the results; the process runs in the folder above it.
        workers: Number of worker processes; None for one a core.
    """

    study: str
    config: dict[str, Any]
    out: str
    workers: int | None = None


def main() -> None:
    """Run the study that standard input names, and report on standard output."""
    # What libraries print must not be mixed with the report.
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(**news: Any) -> None:
        report.write(json.dumps(news) + "\n")
        report.flush()

    job = StudyJob(**json.loads(sys.stdin.readline()))
    threading.Thread(target=_stop_with_server, daemon=True).start()
    try:
        with handling_stop_signals():
            tell(type="ended", state="done", conclusion=run_study(job, tell))
    except KinetariumError as error:
        tell(type="ended", state="refused", message=one_line(str(error)))
    except BaseException as error:
        stopped = is_stop_request(error)
        message = "" if stopped else one_line(f"{type(error).__name__}: {error}")
        tell(type="ended", state="cancelled" if stopped else "failed", message=message)


def run_study(job: StudyJob, tell: Any) -> str:
    """Run a study as its command does, and write its report.

    Args:
        job: What to run.
        tell: Called with the progress.

    Returns:
        The conclusion.

    Raises:
        KinetariumError: If the config is invalid.
    """
    plan = Plan.of_content({"study": job.study, "config": job.config})

    def watch(progress: Progress) -> None:
        tell(type="progress", total=progress.total, done=progress.done, failed=progress.failed)

    folder, findings = run_plan(
        plan,
        out=Path(job.out),
        executor=executor(job.workers, timeout=plan.study.timeout, memory=MEMORY),
        command=f"kinetarium {job.study} --config config.toml",
        watch=watch,
    )
    from kinetarium.report.html.files import write_study_report

    with folder.writing():
        write_study_report(folder, plan.study, findings)
    return findings.conclusion


def _stop_with_server() -> None:
    while sys.stdin.read(1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
