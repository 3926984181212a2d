"""Studies that the page starts: a study by name with checked fields, never a command line."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from itertools import count
from pathlib import Path
from threading import Lock, Thread
from typing import IO, Any

from kinetarium.batch.study import GROUP, open_study
from kinetarium.errors import OutputError
from kinetarium.plugins import discover
from kinetarium.storage.atomic import make_folder, write_atomic
from kinetarium.storage.serialization import to_builtins
from kinetarium.studio.http import HttpError, HttpRoute, Request, Response, json_response, route
from kinetarium.studio.live._study_form import checked_config, study_forms
from kinetarium.studio.live._study_process import StudyJob

MOST_STUDIES = 2
"""Maximum number of studies that run at once; each has a worker for every core."""
MOST_LISTED = 50
"""Maximum number of listed studies; older ones that have ended are forgotten."""
_MOST_FILES = 4
_MOST_FILE = 1_000_000
"""Maximum number and size of the files that come with a study [bytes]."""
_FILE = re.compile(r"[a-z][a-z0-9_-]{0,40}\.(json|csv|toml)")
_GIVEN = "given"
"""Folder of the files that came with studies, named by their digests."""
_PATIENCE = 10.0
"""Time between the request to stop a study and its end by force [s]."""
_MAIN = (
    "import sys; sys.path[:] = {path!a};"
    " from kinetarium.studio.live._study_process import main; main()"
)


@dataclass
class Job:
    """A study that was started.

    Attributes:
        id: Its identifier.
        study: The study.
        folder: Name of its folder of results.
        state: running, done, refused, failed or cancelled.
        total: Number of cases; 0 until it is known.
        done: Number of those that have ended.
        failed: Number of those that did not complete.
        message: What went wrong, or what came out.
    """

    id: str
    study: str
    folder: str
    state: str = "running"
    total: int = 0
    done: int = 0
    failed: int = 0
    message: str = ""


@dataclass
class _Started:
    """A job and its process."""

    job: Job
    process: "subprocess.Popen[str]"
    asked: list[bool] = field(default_factory=list)


Launch = Callable[[StudyJob, Path], "subprocess.Popen[str]"]


def launch(job: StudyJob, root: Path) -> "subprocess.Popen[str]":
    """Start the process of a study in the folder of results.

    Raises:
        OSError: If no process can be started.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", _MAIN.format(path=sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=root,
        start_new_session=True,  # Ctrl-C at the server's terminal is the server's to handle
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(asdict(job)) + "\n")
    process.stdin.flush()
    return process


class Studies:
    """Starts studies and follows them."""

    def __init__(self, root: Path, *, launch: Launch = launch) -> None:
        """Start studies into new folders below one.

        Args:
            root: The folder of results; it may be created later.
            launch: Starts a process.
        """
        self._root, self._launch = root, launch
        self._started: dict[str, _Started] = {}
        self._lock = Lock()
        self._ids = count(1)

    def routes(self) -> tuple[HttpRoute, ...]:
        """Return the routes."""
        return (
            route("GET", "/api/studies", lambda request: json_response(list(study_forms()))),
            route("POST", "/api/studies/{name}", self._start),
            route("GET", "/api/jobs", lambda request: json_response(self.jobs())),
            route("POST", "/api/jobs/{id}/cancel", self._cancel),
        )

    def jobs(self) -> list[dict[str, Any]]:
        """Return all started studies as JSON data, the newest first."""
        with self._lock:
            return [asdict(each.job) for each in reversed(self._started.values())]

    @property
    def running(self) -> int:
        """Number of studies that run."""
        return sum(each.process.poll() is None for each in self._started.values())

    def close(self) -> None:
        """Stop all studies, as the server ends; what is finished is kept."""
        with self._lock:
            started = [one for one in self._started.values() if one.process.poll() is None]
        running = [one.process for one in started]
        for one in started:
            one.asked.append(True)
            one.process.terminate()
        for process in running:
            _end(process)

    def _start(self, request: Request) -> Response:
        """Start a study: {"config": {...}, "files": {name: text}}, both optional.

        A text "@name" in the config is the path of a file that comes with it.
        """
        name = request.parts["name"]
        if name not in discover(GROUP):
            raise HttpError(404, "there is no such study")
        data = request.json()
        if not isinstance(data, dict) or not data.keys() <= {"config", "files"}:
            raise HttpError(400, "a study needs its fields, and nothing else")
        files = _files(data.get("files", {}))
        fields = _with_files(data.get("config", {}), files)
        study = open_study(name)
        config = checked_config(study, fields, root=self._root)
        with self._lock:
            if self.running >= MOST_STUDIES:
                raise HttpError(
                    429, f"{MOST_STUDIES} studies are running already; wait for one, or cancel it"
                )
            self._keep(files)
            job = self._begin(name, to_builtins(config))
        return json_response(asdict(job))

    def _keep(self, files: dict[str, tuple[str, str]]) -> None:
        """Write the files that came with a study; one that exists has the same content."""
        try:
            make_folder(self._root)
            for place, text in files.values():
                path = self._root / place
                if not path.exists():
                    make_folder(path.parent)
                    write_atomic(path, text.encode())
        except OutputError as error:
            raise HttpError(503, str(error)) from None

    def _begin(self, study: str, config: dict[str, Any]) -> Job:
        taken = {each.job.folder for each in self._started.values()}
        names = (study if n == 1 else f"{study}-{n}" for n in count(1))
        folder = next(
            name for name in names if name not in taken and not (self._root / name).exists()
        )
        try:
            process = self._launch(StudyJob(study, config, folder), self._root)
        except OSError as error:
            raise HttpError(503, f"no process can be started: {error.strerror}") from None
        job = Job(str(next(self._ids)), study, folder)
        started = _Started(job, process)
        self._started[job.id] = started
        ended = [id for id, each in self._started.items() if each.job.state != "running"]
        for id in ended[: max(len(self._started) - MOST_LISTED, 0)]:
            del self._started[id]
        Thread(target=self._follow, args=(started,), daemon=True).start()
        return job

    def _follow(self, started: _Started) -> None:
        job, process = started.job, started.process
        with suppress(OSError, ValueError):
            self._read(job, process.stdout)
        process.wait()
        with self._lock:
            if job.state == "running":
                job.state = "cancelled" if started.asked else "failed"
                job.message = "" if started.asked else f"it ended with code {process.returncode}"
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def _read(self, job: Job, lines: IO[str] | None) -> None:
        for line in lines or ():
            news = json.loads(line)
            with self._lock:
                if news["type"] == "progress":
                    job.total, job.done = news["total"], news["done"]
                    job.failed = news["failed"]
                else:
                    job.state = news["state"]
                    job.message = news.get("conclusion") or news.get("message") or ""

    def _cancel(self, request: Request) -> Response:
        with self._lock:
            started = self._started.get(request.parts["id"])
            if started is None:
                raise HttpError(404, "there is no such study")
            running = started.process.poll() is None
            if running:
                started.asked.append(True)
                started.process.terminate()
        if running:
            Thread(target=_end, args=(started.process,), daemon=True).start()
        return json_response(asdict(started.job))


def _end(process: "subprocess.Popen[str]") -> None:
    """Wait until a study has stopped; by force if it does not."""
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _files(given: Any) -> dict[str, tuple[str, str]]:
    """Return path below the results and text of each file that comes with a study, by name."""
    if not isinstance(given, dict) or len(given) > _MOST_FILES:
        raise HttpError(400, f"a study may come with up to {_MOST_FILES} files")
    files = {}
    for name, text in given.items():
        if not (_FILE.fullmatch(name) and isinstance(text, str) and len(text) <= _MOST_FILE):
            raise HttpError(400, "a file of a study needs a plain name, and at most a megabyte")
        try:
            digest = sha256(text.encode()).hexdigest()[:16]
        except UnicodeEncodeError:
            raise HttpError(400, "a file of a study must be text") from None
        files[name] = f"{_GIVEN}/{digest}/{name}", text
    return files


def _with_files(value: Any, files: dict[str, tuple[str, str]]) -> Any:
    """Return JSON data in which "@name" is the path of a file that was given."""
    if isinstance(value, str) and value.startswith("@"):
        if value[1:] not in files:
            raise HttpError(400, "a field names a file that did not come with the study")
        return files[value[1:]][0]
    if isinstance(value, list):
        return [_with_files(part, files) for part in value]
    if isinstance(value, dict):
        return {name: _with_files(part, files) for name, part in value.items()}
    return value
