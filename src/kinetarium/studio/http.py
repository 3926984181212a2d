"""HTTP requests, responses, routes and access control; the studio as an ASGI application."""

import asyncio
import hmac
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl

from kinetarium.errors import KinetariumError
from kinetarium.storage.strict_json import strict_json

JSON = "application/json"
BINARY = "application/octet-stream"


class HttpError(KinetariumError):
    """A request that cannot be served.

    Attributes:
        status: The status code.
    """

    def __init__(self, status: int, message: str) -> None:
        """Create an error with a status code and a message of one line."""
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Request:
    """A request that passed the guard.

    Attributes:
        method: Such as GET.
        path: The path, decoded.
        query: The first value of each parameter.
        headers: The headers, names in lower case.
        body: Its body.
        parts: The named parts of the route's pattern.
    """

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = b""
    parts: Mapping[str, str] = field(default_factory=dict)

    def json(self) -> Any:
        """Return the body as JSON data."""
        if self.headers.get("content-type", "").partition(";")[0] != JSON:
            raise HttpError(415, "the body must be JSON")
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            raise HttpError(400, "the body is not JSON") from None


@dataclass(frozen=True, slots=True)
class Response:
    """An answer.

    Attributes:
        body: What is sent.
        type: Its media type.
        status: The status code.
        headers: Further headers.
    """

    body: bytes
    type: str = BINARY
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


def json_response(data: Any, *, status: int = 200) -> Response:
    """Return a response with JSON data."""
    return Response(strict_json(data, indent=None).encode(errors="replace"), JSON, status)


@dataclass(frozen=True, slots=True)
class HttpRoute:
    """A handler of requests, called in a thread of its own.

    Attributes:
        method: GET or POST.
        pattern: What the whole path must match; its named groups become `Request.parts`.
        answer: Returns the response. A KinetariumError becomes a message with status 400.
    """

    method: str
    pattern: re.Pattern[str]
    answer: Callable[[Request], Response]


def route(method: str, pattern: str, answer: Callable[[Request], Response]) -> HttpRoute:
    """Return a route for a pattern such as "/api/runs/{folder}"; a part contains no slash."""
    parts = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", pattern)
    return HttpRoute(method, re.compile(parts), answer)


def ranged(request: Request, data: bytes, *, type: str = BINARY) -> Response:
    """Return data, or the requested range of bytes (RFC 9110, 14)."""
    asked = re.fullmatch(r"bytes=(\d{1,15})-(\d{0,15})", request.headers.get("range", ""))
    whole = (("accept-ranges", "bytes"),)
    if not asked:
        return Response(data, type, headers=whole)
    first = int(asked[1])
    last = min(int(asked[2]) if asked[2] else len(data) - 1, len(data) - 1)
    if first > last:
        return Response(b"", type, 416, (("content-range", f"bytes */{len(data)}"),))
    place = ("content-range", f"bytes {first}-{last}/{len(data)}")
    return Response(data[first : last + 1], type, 206, (*whole, place))


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:;"
    " connect-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content security policy: the page may load from this server only."""

HEADERS = (
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cache-control", "no-store"),
)
"""Headers of every response."""


@dataclass(frozen=True, slots=True)
class Guard:
    """Allows requests of the page only.

    Attributes:
        token: The secret in the page's address.
        port: The port that is listened on.
    """

    token: str
    port: int

    @property
    def cookie(self) -> str:
        """Name of the cookie; with the port, as browsers share cookies between ports of a host."""
        return f"kinetarium-{self.port}"

    @property
    def hosts(self) -> tuple[str, str]:
        """The host names of this server."""
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    def check(self, request: Request, *, acts: bool) -> tuple[tuple[str, str], ...]:
        """Check that a request is allowed.

        Args:
            acts: Whether it changes something, and must come from the page itself.

        Returns:
            Headers for the response.
        """
        if request.headers.get("host") not in self.hosts:
            raise HttpError(421, "wrong host name")
        origin = request.headers.get("origin")
        if origin not in {f"http://{host}" for host in self.hosts} and (acts or origin):
            raise HttpError(403, "cross-origin requests are not allowed")
        if self._equal(_cookies(request).get(self.cookie, "")):
            return ()
        if request.path == "/" and self._equal(request.query.get("token", "")):
            value = f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
            return (("set-cookie", value),)
        raise HttpError(403, "open the address that `kinetarium studio` printed")

    def _equal(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(errors="replace"), self.token.encode())


def _cookies(request: Request) -> dict[str, str]:
    try:
        return {k: m.value for k, m in SimpleCookie(request.headers.get("cookie", "")).items()}
    except CookieError:
        return {}


Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

_STALL = 5.0
"""Timeout for sending a message [s]."""
_MOST_BODY = 4_000_000
"""Maximum size of a request body [bytes]."""
_REFUSED = 1008
"""Close code of a WebSocket for a policy violation (RFC 6455, 7.4.1)."""


class _Client:
    def __init__(self) -> None:
        self.message: str | None = None
        self.waiting = asyncio.Event()


class Broadcast:
    """Sends the newest message to all pages that listen; none of them can delay the others.

    It is used in one event loop.
    """

    def __init__(self) -> None:
        """Create a broadcast without listeners."""
        self._clients: set[_Client] = set()

    def __len__(self) -> int:
        """Return the number of listening pages."""
        return len(self._clients)

    def publish(self, message: str) -> None:
        """Send a message to every page; it replaces one not yet sent."""
        for client in self._clients:
            client.message = message
            client.waiting.set()

    async def serve(self, send: Callable[[str], Awaitable[None]]) -> None:
        """Send messages to one page until it disconnects, or stalls."""
        client = _Client()
        self._clients.add(client)
        try:
            while True:
                await client.waiting.wait()
                client.waiting.clear()
                message, client.message = client.message, None
                if message is not None:
                    await asyncio.wait_for(send(message), _STALL)
        finally:
            self._clients.discard(client)


class Application:
    """Dispatches requests to routes, and sends notifications over WebSockets.

    It is an ASGI application (asgi.readthedocs.io, version 3).
    """

    def __init__(
        self, guard: Guard, *, routes: Sequence[HttpRoute], broadcast: Broadcast, most_pages: int
    ) -> None:
        """Serve routes; the first with a matching pattern answers.

        Args:
            most_pages: Maximum number of pages that listen at once.
        """
        self._guard = guard
        self._most_pages = most_pages
        self._routes = routes
        self._broadcast = broadcast

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)

    async def _http(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        request = _request(scope)
        cookies: tuple[tuple[str, str], ...] = ()
        try:
            cookies = self._guard.check(request, acts=request.method not in ("GET", "HEAD"))
            body = await _body(receive)
            response = await self._answer(request, body)
        except HttpError as error:
            response = json_response({"error": str(error)}, status=error.status)
        except KinetariumError as error:
            response = json_response({"error": str(error)}, status=400)
        except Exception as error:  # report it to the page, and keep serving
            text = f"internal error: {type(error).__name__}: {error}"
            response = json_response({"error": text}, status=500)
        headers = [
            ("content-type", response.type),
            ("content-length", str(len(response.body))),
            *HEADERS,
            *cookies,
            *response.headers,
        ]
        await send(
            {
                "type": "http.response.start",
                "status": response.status,
                "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
            }
        )
        body = b"" if request.method == "HEAD" else response.body
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, request: Request, body: bytes) -> Response:
        found = False
        for route in self._routes:
            match = route.pattern.fullmatch(request.path)
            if not match:
                continue
            found = True
            if request.method == route.method or (request.method, route.method) == ("HEAD", "GET"):
                asked = Request(
                    request.method, request.path, request.query, request.headers, body,
                    match.groupdict(),
                )  # fmt: skip
                return await asyncio.to_thread(_answered, route, asked)
        raise HttpError(405 if found else 404, "not found")

    async def _websocket(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        await receive()
        try:
            self._guard.check(_request(scope), acts=True)
            if scope["path"] != "/live":
                raise HttpError(HTTPStatus.NOT_FOUND, "not found")
            if len(self._broadcast) >= self._most_pages:
                raise HttpError(HTTPStatus.SERVICE_UNAVAILABLE, "too many pages are open")
        except HttpError:
            await send({"type": "websocket.close", "code": _REFUSED})
            return
        await send({"type": "websocket.accept"})

        async def send_text(text: str) -> None:
            await send({"type": "websocket.send", "text": text})

        serving = asyncio.ensure_future(self._broadcast.serve(send_text))
        leaving = asyncio.ensure_future(_leaves(receive))
        try:
            await asyncio.wait({serving, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (serving, leaving):
                task.cancel()
            await asyncio.gather(serving, leaving, return_exceptions=True)
        with suppress(Exception):  # the page may be closed
            await asyncio.wait_for(send({"type": "websocket.close", "code": _REFUSED}), 1.0)


def _answered(route: HttpRoute, request: Request) -> Response:
    try:
        return route.answer(request)
    except SystemExit as end:  # raised by a plug-in study; the server keeps running
        raise RuntimeError(f"SystemExit: {end.code}") from end


def _request(scope: dict[str, Any]) -> Request:
    return Request(
        scope.get("method", "GET"),
        scope["path"],
        dict(parse_qsl(scope["query_string"].decode("latin-1"))),
        {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]},
    )


async def _body(receive: Receive) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise HttpError(HTTPStatus.REQUEST_TIMEOUT, "incomplete request")
        body += message.get("body", b"")
        if len(body) > _MOST_BODY:
            raise HttpError(413, "the request body is too large")
        if not message.get("more_body"):
            return bytes(body)


async def _leaves(receive: Receive) -> None:
    """Wait until a page disconnects; its messages are ignored."""
    while (await receive())["type"] != "websocket.disconnect":
        pass
