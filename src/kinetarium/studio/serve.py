"""Serving the studio on this machine until it is stopped."""

import asyncio
import os
import re
import secrets
import socket
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import uvicorn

from kinetarium.errors import KinetariumError
from kinetarium.storage.atomic import STUDIO_SESSION
from kinetarium.storage.strict_json import strict_json
from kinetarium.studio._application import Application, Broadcast
from kinetarium.studio._connections import HttpLimits, protocols
from kinetarium.studio._routes import ResultRoutes
from kinetarium.studio._walking import walking_routes
from kinetarium.studio.exported_page import check_page, page_routes
from kinetarium.studio.http import Guard, json_response, route
from kinetarium.studio.live.robot_files import RobotFiles
from kinetarium.studio.live.rooms import Rooms
from kinetarium.studio.live.studies import Studies
from kinetarium.studio.results import ResultTree

HOST = "127.0.0.1"

_LOOK_EVERY = 1.0
"""Interval at which the folder is scanned for new runs [s]."""
_BACKLOG = 128
"""Maximum number of connections waiting to be accepted."""
_SEND_BUFFER = 262_144
"""Send buffer of a connection in the kernel [bytes]; its contents count as received."""
_MOST_MESSAGE = 65_536
"""Maximum size of a WebSocket message from a page [bytes]."""


def serve(
    root: Path, *, port: int, started: Callable[[str], None], frames: tuple[str, ...] = ()
) -> None:
    """Serve the studio until the process is interrupted.

    Args:
        root: The folder of results; it may be created later.
        port: The port; 0 for any free one.
        started: Called with the page's address once the server listens.
        frames: The origins of notebooks that may show the page in a frame.

    Raises:
        KinetariumError: If the page was not built, the port is in use, or an origin is invalid.
    """
    server = StudioServer(root, port=port, frames=frames)
    started(server.address)
    with suppress(KeyboardInterrupt):
        asyncio.run(server.run())


class StudioServer:
    """A server that listens on the loopback interface only.

    Attributes:
        address: The page's address, with its access token.
        broadcast: Sends messages to all pages; to be used in the server's event loop.
        rooms: The live rooms of the pages.
        studies: The studies that pages have started.
    """

    def __init__(
        self,
        root: Path,
        *,
        port: int = 0,
        limits: HttpLimits | None = None,
        frames: tuple[str, ...] = (),
    ) -> None:
        """Listen; see `serve`.

        Args:
            port: The port; 0 for any free one.
            limits: Timeouts and maximum numbers of connections; the defaults if None.
            frames: The origins of notebooks that may show the page in a frame.
        """
        limits = limits or HttpLimits()
        check_page()
        session = _Session(root / STUDIO_SESSION)
        self._listening = session.listen(port)
        try:
            guard = Guard(session.token, self._listening.getsockname()[1], frames)
        except KinetariumError:
            self._listening.close()
            raise
        session.keep(guard.port)
        # A page on the same host name, whatever its port, is of the same site: cookies work.
        named = any(urlsplit(origin).hostname == "localhost" for origin in frames)
        host = "localhost" if named else HOST
        self.address = f"http://{host}:{guard.port}/?token={guard.token}"
        self.broadcast = Broadcast()
        self._results = ResultTree(root.resolve())
        self._scratch = TemporaryDirectory(prefix="kinetarium-")
        files = RobotFiles(Path(self._scratch.name))
        self.rooms = Rooms(files, outputs=Path(self._scratch.name))
        self.studies = Studies(root.resolve())
        routes = (
            *files.routes(),
            # For links to the page, which another browser can open with the token only.
            route("GET", "/api/address", lambda _: json_response({"address": self.address})),
            *self.studies.routes(),
            *ResultRoutes(self._results).routes(),
            *walking_routes(),
            *page_routes(),
        )
        http, web_socket = protocols(limits)
        config = uvicorn.Config(
            Application(
                guard,
                routes=routes,
                broadcast=self.broadcast,
                most_pages=limits.pages,
                sockets={"/room": self.rooms.serve},
            ),
            http=http,
            ws=web_socket,
            ws_per_message_deflate=False,
            ws_max_size=_MOST_MESSAGE,
            lifespan="off",
            log_config=None,
            log_level="critical",  # errors are reported to the page
            access_log=False,
            server_header=False,
            backlog=_BACKLOG,
            timeout_keep_alive=limits.idle,  # type: ignore[arg-type]  # fractions of a second work
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)

    async def run(self) -> None:
        """Serve until `stop` is called or the process is interrupted."""
        watching = asyncio.ensure_future(self._watch())
        try:
            await self._server.serve(sockets=[self._listening])
        finally:
            watching.cancel()
            self._listening.close()
            await asyncio.to_thread(self.rooms.close)
            await asyncio.to_thread(self.studies.close)
            self._scratch.cleanup()

    def stop(self) -> None:
        """Request a shutdown; may be called from any thread."""
        self._server.should_exit = True

    async def _watch(self) -> None:
        """Notify every page of new results."""
        known = await asyncio.to_thread(self._results.fingerprint)
        while True:
            await asyncio.sleep(_LOOK_EVERY)
            if len(self.broadcast):
                now = await asyncio.to_thread(self._results.fingerprint)
                if now != known:
                    known = now
                    self.broadcast.publish(strict_json({"type": "runs"}, indent=None))


class _Session:
    """The token and the port of the last time, if the folder has them; else a new token.

    Only the user may read the file. It contains its own inode: one that came with a folder of
    others, who would know the token, is not used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.token, self._port = secrets.token_urlsafe(24), 0
        with suppress(OSError, ValueError):
            self._read()

    def listen(self, port: int) -> socket.socket:
        """Listen on a port; instead of any free one on the last, if it is free."""
        if port == 0 and self._port:
            with suppress(KinetariumError):
                return _listen(self._port)
        return _listen(port)

    def keep(self, port: int) -> None:
        """Save the token and the port; without a folder that can be written nothing is kept."""
        if port == self._port:
            return
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with os.fdopen(os.open(self._path, flags, 0o600), "w") as file:
                file.write(f"{self.token} {port} {_place(os.fstat(file.fileno()))}\n")

    def _read(self) -> None:
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        with os.fdopen(os.open(self._path, flags)) as file:
            status = os.fstat(file.fileno())
            private = os.name == "nt" or (
                status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & 0o077
            )
            if not (stat.S_ISREG(status.st_mode) and private):
                return
            kept = re.fullmatch(r"([\w-]{32}) (\d{1,5}) (\S+)\n", file.read(200))
        if kept and kept[3] == _place(status):
            self.token, self._port = kept[1], int(kept[2])


def _place(status: os.stat_result) -> str:
    return f"{status.st_dev}:{status.st_ino}"


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Connections inherit it.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
    try:
        listening.bind((HOST, port))
        listening.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        listening.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise KinetariumError(f"cannot listen on port {port}: {reason}") from None
    return listening
