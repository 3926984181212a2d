"""Broadcast: the newest message to every page, none of which can delay the others.

Sending to a page that does not read would block forever once its socket is full; so each
page has a task of its own and one slot, in which a newer message replaces the last, and a
page that has received nothing for some seconds is dropped.
"""

import asyncio
from collections.abc import Awaitable, Callable

Send = Callable[[str], Awaitable[None]]

_STALL = 5.0
"""Timeout for sending a message [s]."""


class _Client:
    def __init__(self) -> None:
        self.message: str | None = None
        self.waiting = asyncio.Event()


class Broadcast:
    """Sends messages to all pages that listen; used in one event loop."""

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

    async def serve(self, send: Send) -> None:
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
