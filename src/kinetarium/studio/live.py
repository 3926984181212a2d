"""Broadcast: the newest message to every page, none of which can hold up the others.

A page that does not read fills its socket, and whoever waits for that socket waits for ever;
so each page has a task of its own and one slot, in which a newer message takes the place of
the last, and a page that has taken nothing for some seconds is dropped.
"""

import asyncio
from collections.abc import Awaitable, Callable

Send = Callable[[str], Awaitable[None]]

_STALL = 5.0
"""How long a message may take to be taken [s]."""


class _Client:
    def __init__(self) -> None:
        self.message: str | None = None
        self.waiting = asyncio.Event()


class Broadcast:
    """Sends messages to all pages that listen; used in one event loop."""

    def __init__(self) -> None:
        """Start without listeners."""
        self._clients: set[_Client] = set()

    def __len__(self) -> int:
        """How many pages listen."""
        return len(self._clients)

    def publish(self, message: str) -> None:
        """Send a message to every page; one it has not taken yet is forgotten."""
        for client in self._clients:
            client.message = message
            client.waiting.set()

    async def serve(self, send: Send) -> None:
        """Send messages to one page until it goes, or stalls.

        Raises:
            TimeoutError: If it takes nothing.
        """
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
