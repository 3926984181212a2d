"""Robot files that are dropped on the page: kept for its rooms, read by workers alone."""

import re
import shutil
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp
from threading import Lock
from typing import Any

from kinetarium.interactive.room import ask_worker
from kinetarium.interactive.worker import CheckRobot, ListEngines, Refused
from kinetarium.model.load import ROBOT_SUFFIXES, catalogue_names
from kinetarium.model.mesh.mesh import MESH_SUFFIXES
from kinetarium.storage.strict_json import parse_json
from kinetarium.studio.http import HttpError, HttpRoute, Request, Response, json_response, route

MOST_ROBOTS = 8
"""Maximum number of kept robots; the oldest are dropped."""
MOST_FILES = 64
"""Maximum number of files of one robot."""
_MOST_NAME = 120
_PART = re.compile(r"[A-Za-z0-9_+ ()-][A-Za-z0-9_.+ ()-]{0,79}")
_BESIDE = (*ROBOT_SUFFIXES, *MESH_SUFFIXES, ".mtl", ".srdf", ".toml")
"""Suffixes of robot files, and of what may be beside them."""


@dataclass(frozen=True)
class _Kept:
    """A robot that was dropped: its folder, its file below it, and what the page is told of it."""

    folder: Path
    file: Path
    answer: dict[str, Any]


class RobotFiles:
    """The dropped robots."""

    def __init__(self, folder: Path) -> None:
        """Keep them in a folder, which the caller removes."""
        self._folder = folder
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._lock = Lock()
        self._reading = Lock()
        self._engines: list[dict[str, Any]] | None = None

    def routes(self) -> tuple[HttpRoute, ...]:
        """Return the routes."""
        return (
            route("GET", "/api/live", self._choices),
            route("POST", "/api/live/robots", self._drop),
        )

    def place(self, robot: str) -> tuple[str, str]:
        """Return file and folder of a dropped robot; both empty for one of the catalogue.

        Raises:
            HttpError: If there is no robot of that name.
        """
        if not robot or robot in catalogue_names():
            return "", ""
        with self._lock:
            kept = self._kept.get(robot)
        if kept is None:
            raise HttpError(404, f"there is no robot '{robot[:40]}' here; drop its file again")
        return str(kept.file), str(kept.folder)

    def _choices(self, request: Request) -> Response:
        """Return the robots and engines that a room may have."""
        with self._lock:
            if self._engines is None:
                self._engines = ask_worker(ListEngines(), outputs=self._folder)
            dropped = [kept.answer for kept in self._kept.values()]
        return json_response(
            {
                "robots": list(catalogue_names()), "dropped": dropped, "engines": self._engines,
                "kinds": {"robot": ROBOT_SUFFIXES, "beside": _BESIDE},
            }
        )  # fmt: skip

    def _drop(self, request: Request) -> Response:
        """Keep a robot file and what is beside it, and return what was found in it.

        The head of the body is its length [bytes, u32] and JSON: "file", the robot file, and
        "files", names and lengths of all files, whose contents follow.
        """
        names, contents = _unpacked(request.body)
        main, files = names[0], dict(zip(names[1], contents, strict=True))
        digest = sha256(main.encode())
        for name, content in sorted(files.items()):
            digest.update(f"\0{name}\0{len(content)}\0".encode() + content)
        id = f"file-{digest.hexdigest()[:16]}"
        folder = Path(mkdtemp(prefix="robot-", dir=self._folder))
        try:
            answer = self._read(folder, main, files)
            if answer["ok"]:
                kept = _Kept(folder, folder / main, {**answer, "id": id})
                answer = self._keep(id, kept).answer
        except BaseException:
            _remove(folder)
            raise
        with self._lock:
            if all(folder != kept.folder for kept in self._kept.values()):
                _remove(folder)
        return json_response({**answer, "text": files[main].decode(errors="replace")})

    def _read(self, folder: Path, main: str, files: Mapping[str, bytes]) -> dict[str, Any]:
        """Write a robot to a folder, and return what a worker finds in it, one at a time."""
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        with self._reading:
            answer = ask_worker(CheckRobot(str(folder / main), str(folder)), outputs=self._folder)
        if isinstance(answer, Refused):
            found = [_local(one, folder) for one in answer.findings]
            message = answer.message.replace(f"{folder}/", "")
            return {"ok": False, "message": message, "findings": found, "file": main}
        found = [_local(one, folder) for one in answer["findings"]]
        return {"ok": True, "file": main, **answer, "findings": found}

    def _keep(self, id: str, robot: _Kept) -> _Kept:
        """Return the robot that is kept: this one, unless rooms may have its like already."""
        with self._lock:
            kept = self._kept.setdefault(id, robot)
            self._kept.move_to_end(id)
            while len(self._kept) > MOST_ROBOTS:
                _remove(self._kept.popitem(last=False)[1].folder)
        return kept


def _local(finding: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return a finding that names files as the page does, and no folder of this machine."""
    short = {key: finding[key].replace(f"{folder}/", "") for key in ("file", "text")}
    return {**finding, **short}


def _unpacked(body: bytes) -> tuple[tuple[str, list[str]], list[bytes]]:
    """Return the name of the robot file, the names of all files, and their contents.

    Raises:
        HttpError: If the body is incomplete, or a name is no plain path below a folder.
    """
    try:
        end = 4 + int.from_bytes(body[:4], "little")
        head = parse_json(body[4:end].decode())
        main, listed = head["file"], head["files"]
        names, lengths = [str(name) for name, _ in listed], [int(size) for _, size in listed]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise HttpError(400, "a dropped robot needs a list of its files") from None
    if not isinstance(main, str) or main not in names or len(set(names)) != len(names):
        raise HttpError(400, "a dropped robot needs a robot file")
    if len(names) > MOST_FILES:
        raise HttpError(413, f"a robot may have up to {MOST_FILES} files")
    for name in names:
        _check_name(name, kinds=ROBOT_SUFFIXES if name == main else _BESIDE)
    if any(folder.as_posix() in names for name in names for folder in PurePosixPath(name).parents):
        raise HttpError(400, "a dropped file has the name of a folder")
    if min(lengths) < 0 or end + sum(lengths) != len(body):
        raise HttpError(400, "the files of a robot are incomplete")
    contents = []
    for length in lengths:
        contents.append(body[end : end + length])
        end += length
    return (main, names), contents


def _check_name(name: str, *, kinds: tuple[str, ...]) -> None:
    parts = name.split("/")
    plain = len(name) <= _MOST_NAME and len(parts) <= 8
    if not plain or not all(_PART.fullmatch(part) and ".." not in part for part in parts):
        raise HttpError(400, "the name of a dropped file must consist of letters and digits")
    if not name.lower().endswith(kinds):
        raise HttpError(400, f"a file of a robot ends with one of {', '.join(kinds)}")


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
