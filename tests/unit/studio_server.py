"""A studio that runs in a thread of the test, and plain requests to it."""

import asyncio
import http.client
import threading
from contextlib import contextmanager
from urllib.parse import urlsplit

from kinetarium.studio.serve import StudioServer


class Studio:
    """A served folder.

    Attributes:
        address: The page's address, with its token.
        port, token: Its parts.
    """

    def __init__(self, server, loop):
        self.server, self.loop = server, loop
        self.address = server.address
        parts = urlsplit(self.address)
        self.port, self.token = parts.port, parts.query.removeprefix("token=")
        self.host = f"127.0.0.1:{self.port}"
        self.cookie = f"kinetarium-{self.port}={self.token}"

    def request(self, path, *, method="GET", headers=None, body=None, cookie=True):
        """Return status, headers (names in lower case) and body; the path is sent as it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        sent = {"Cookie": self.cookie} if cookie else {}
        try:
            connection.request(method, path, body=body, headers={**sent, **(headers or {})})
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, found, answer.read()
        finally:
            connection.close()


@contextmanager
def running_studio(root, limits=None, port=0, frames=()):
    """Serve a folder as `kinetarium studio` does, until the block ends."""
    server = StudioServer(root, port=port, limits=limits, frames=frames)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=lambda: loop.run_until_complete(server.run()), daemon=True)
    thread.start()
    try:
        yield Studio(server, loop)
    finally:
        server.stop()
        thread.join(10)
        assert not thread.is_alive()
        loop.close()
