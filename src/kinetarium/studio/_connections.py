"""Timeouts of connections, and their maximum number.

uvicorn waits forever for an incomplete request, for an announced body and for a peer that
does not read its answer, and accepts every connection. Any process of this machine can
begin requests; so each wait has a timeout here. A slow page that makes progress is served.
"""

import asyncio
from dataclasses import dataclass
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

_LATE = (
    b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n"
    b"Cache-Control: no-store\r\n\r\n"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpLimits:
    """Timeouts and maximum numbers of connections.

    Attributes:
        head: For all of a request before its body, from its first byte or from the start of the
            connection [s].
        body: For the body of a request [s].
        rate: Bytes of a body that extend its timeout by a second [1/s], for slow connections.
        idle: Between two requests, and for the rest of an unwanted body [s].
        stall: For a peer to receive any byte of what it is sent [s].
        connections: Maximum number of open connections; a new one replaces the longest idle one.
        pages: Maximum number of open WebSockets.
    """

    head: float = 10.0
    body: float = 20.0
    rate: float = 10_000.0
    idle: float = 5.0
    stall: float = 60.0
    connections: int = 256
    pages: int = 128


class _Outgoing(asyncio.Protocol):
    """Drops a peer that does not receive what it is sent."""

    limits: ClassVar[HttpLimits]
    transport: asyncio.Transport
    loop: asyncio.AbstractEventLoop
    _stall: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        """Start the timeout: the peer is behind."""
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        """Stop the timeout: the peer has caught up."""
        self._forget()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop watching."""
        self._forget()
        super().connection_lost(exc)

    def _watch(self) -> None:
        self._forget()
        left = self.transport.get_write_buffer_size()
        self._stall = self.loop.call_later(self.limits.stall, self._check, left)

    def _check(self, before: int) -> None:
        self._stall = None
        if self.transport.get_write_buffer_size() >= before:
            self.transport.abort()
        else:
            self._watch()

    def _forget(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None


class HttpConnection(_Outgoing, H11Protocol):
    """An HTTP connection with a timeout for its requests."""

    _deadline: asyncio.TimerHandle | None = None
    _waits_in: object = None
    """The peer's state (h11) to which the deadline applies."""
    _since: float = 0.0
    _received: int = 0
    """Bytes received since then."""

    @property
    def idle_since(self) -> float | None:
        """Time since when it waits for a request [s], or None while one is being answered."""
        return None if self._answering else self._since

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection, closing an idle one if there are too many."""
        super().connection_made(transport)
        self._expect()
        if len(self.connections) > self.limits.connections:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        """Receive data, and update the deadline."""
        self._received += len(data)
        super().data_received(data)
        self._expect()

    def on_response_complete(self) -> None:
        """Wait for the next request, or for the unwanted rest of this one."""
        super().on_response_complete()
        self._since = self.loop.time()
        if self.conn.their_state is h11.SEND_BODY and not self.transport.is_closing():
            self._wait(self.limits.idle)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._wait(None)
        super().connection_lost(exc)

    @property
    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _make_room(self) -> None:
        idle = {
            other: other.idle_since
            for other in self.connections
            if isinstance(other, HttpConnection) and other is not self
            if other.idle_since is not None and not other.transport.is_closing()
        }
        longest = min(idle, key=lambda other: idle[other] or 0.0, default=self)
        longest.transport.abort()

    def _expect(self) -> None:
        """Set the deadline of what has to come next."""
        state = self.conn.their_state
        if state is not self._waits_in:
            self._waits_in, self._since, self._received = state, self.loop.time(), 0
            self._wait(None)
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            self._wait(None)  # the latter has become a WebSocket
        elif state is h11.IDLE:
            if self._deadline is None:
                self._wait(self.limits.head)
        elif state is h11.SEND_BODY and self._answering:
            # As Apache's mod_reqtimeout: a timeout, extended in proportion to the received bytes.
            earned = self._received / self.limits.rate
            self._wait(self._since + self.limits.body + earned - self.loop.time())

    def _wait(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        late = None if seconds is None else self.loop.call_later(max(seconds, 0.0), self._late)
        self._deadline = late

    def _late(self) -> None:
        self._deadline = None
        started = self.cycle is not None and self.cycle.response_started
        # Browsers open connections in advance: no answer to one that never sent anything.
        if self.conn.trailing_data[0] or (self._answering and not started):
            self.transport.write(_LATE)
        self.transport.close()


class PageSocket(_Outgoing, WebSocketsSansIOProtocol):
    """A WebSocket with a timeout for pages that do not receive."""


def protocols(limits: HttpLimits) -> tuple[type[HttpConnection], type[PageSocket]]:
    """Return the protocols of connections and WebSockets with some limits."""
    within = {"limits": limits}
    return (
        type("HttpConnection", (HttpConnection,), within),
        type("PageSocket", (PageSocket,), within),
    )
