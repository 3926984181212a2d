"""Application: the studio as an ASGI application (asgi.readthedocs.io, version 3)."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

from kinetarium.errors import KinetariumError
from kinetarium.studio.http import (
    Guard,
    HttpError,
    HttpRoute,
    Request,
    Response,
    error_response,
    json_response,
)

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Socket = Callable[[Receive, Send], Awaitable[None]]
"""Serves one WebSocket that was accepted, until either end closes it."""

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
    """Dispatches requests to routes, and sends notifications over WebSockets."""

    def __init__(
        self,
        guard: Guard,
        *,
        routes: Sequence[HttpRoute],
        broadcast: Broadcast,
        most_pages: int,
        sockets: Mapping[str, Socket] | None = None,
    ) -> None:
        """Serve routes; the first with a matching pattern answers.

        Args:
            most_pages: Maximum number of pages that listen at once.
            sockets: WebSockets by path, besides that of the broadcast.
        """
        self._sockets = sockets or {}
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
            response = error_response(request, error, status=error.status)
        except KinetariumError as error:
            response = error_response(request, error, status=400)
        except Exception as error:  # report it to the page, and keep serving
            text = f"internal error: {type(error).__name__}: {error}"
            response = json_response({"error": text}, status=500)
        headers = [
            ("content-type", response.type),
            ("content-length", str(len(response.body))),
            *self._guard.headers,
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
            serve = self._sockets.get(scope["path"])
            if scope["path"] != "/live" and serve is None:
                raise HttpError(HTTPStatus.NOT_FOUND, "not found")
            if serve is None and len(self._broadcast) >= self._most_pages:
                raise HttpError(HTTPStatus.SERVICE_UNAVAILABLE, "too many pages are open")
        except HttpError:
            await send({"type": "websocket.close", "code": _REFUSED})
            return
        await send({"type": "websocket.accept"})
        if serve is not None:
            await serve(receive, send)
            return

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
