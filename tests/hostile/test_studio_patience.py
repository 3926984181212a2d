"""Half-sent requests, idle connections and peers that do not read end; slow pages do not."""

import asyncio
import json
import socket
import time
from contextlib import contextmanager
from http.client import HTTPException

import pytest
from websockets.exceptions import InvalidStatus

from hostile.test_studio_security import deaf_socket, socket_to
from kinetarium.studio import _application
from kinetarium.studio._connections import HttpLimits
from unit.studio_server import running_studio

SHORT = HttpLimits(head=0.6, body=0.6, rate=1e9, idle=0.6, stall=1.0)
LONG = 30.0
"""Far beyond every limit [s]: who waits so long has found that a connection does not end."""


@contextmanager
def connected(studio, *, buffer=None):
    with socket.socket() as raw:
        raw.settimeout(LONG)
        if buffer:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        raw.connect(("127.0.0.1", studio.port))
        yield raw


def head(studio, line, *more, cookie=True):
    lines = [line, f"Host: {studio.host}", f"Origin: http://{studio.host}", *more]
    return "\r\n".join([*lines, *([f"Cookie: {studio.cookie}"] if cookie else []), "", ""]).encode()


def rest(raw):
    """Read until the server hangs up."""
    parts = []
    try:
        while part := raw.recv(65_536):
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


def trickle(raw, data, *, pause=0.1):
    """Send byte by byte until the server hangs up; fail if it takes everything."""
    raw.setblocking(False)
    for byte in data:
        try:
            raw.send(bytes([byte]))
            if raw.recv(1, socket.MSG_PEEK) == b"":
                break
            if b"HTTP/1.1 4" in raw.recv(65_536, socket.MSG_PEEK):
                break
        except BlockingIOError:
            pass
        except ConnectionError:
            break
        time.sleep(pause)
    else:
        pytest.fail("everything was waited for")
    raw.settimeout(LONG)


def open_connections(studio):
    return len(studio.server._server.server_state.connections)


def wait_until(condition):
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    with running_studio(tmp_path_factory.mktemp("results"), SHORT) as studio:
        yield studio


def test_a_connection_that_says_nothing_ends(studio):
    with connected(studio) as raw:
        assert rest(raw) == b""


@pytest.mark.parametrize("size", [1, 20, -1])
def test_half_a_head_ends(studio, size):
    with connected(studio) as raw:
        raw.sendall(head(studio, "GET /api/runs HTTP/1.1")[:size])
        assert rest(raw).startswith(b"HTTP/1.1 408 ")


def test_a_head_that_trickles_ends(studio):
    with connected(studio) as raw:
        trickle(raw, b"GET /api/runs HTTP/1.1\r\n" + b"X: y\r\n" * 200)


def test_half_a_handshake_ends(studio):
    with connected(studio) as raw:
        upgrade = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13")
        raw.sendall(head(studio, "GET /live HTTP/1.1", *upgrade)[:-2])
        assert rest(raw).startswith(b"HTTP/1.1 408 ")
    assert len(studio.server.broadcast) == 0


@pytest.mark.parametrize("kind", ["Content-Length: 1000", "Transfer-Encoding: chunked"])
def test_half_a_body_ends(studio, kind):
    with connected(studio) as raw:
        raw.sendall(head(studio, "POST /api/walking/plan HTTP/1.1", kind) + b"3\r\nabc")
        assert rest(raw).startswith(b"HTTP/1.1 408 ")


def test_a_body_that_trickles_ends(studio):
    with connected(studio) as raw:
        raw.sendall(head(studio, "POST /api/walking/plan HTTP/1.1", "Content-Length: 1000"))
        trickle(raw, b"x" * 1000)


def test_a_body_that_nobody_wants_ends(studio):
    line = "POST /api/walking/plan HTTP/1.1"
    with connected(studio) as raw:
        raw.sendall(head(studio, line, "Content-Length: 999999999", cookie=False))
        assert raw.recv(12) == b"HTTP/1.1 403"
        with pytest.raises(ConnectionError):
            while True:  # as fast as it goes
                raw.sendall(b"x" * 65_536)


def test_idle_connections_end(studio):
    with connected(studio) as raw:
        raw.sendall(head(studio, "GET /api/runs HTTP/1.1"))
        assert rest(raw).startswith(b"HTTP/1.1 200 ")


def test_half_a_second_request_ends(studio):
    with connected(studio) as raw:
        request = head(studio, "GET /api/runs HTTP/1.1")
        raw.sendall(request)
        assert raw.recv(12) == b"HTTP/1.1 200"
        trickle(raw, b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200)


def test_half_a_request_behind_a_whole_one_ends(studio):
    with connected(studio) as raw:
        request = head(studio, "GET /api/runs HTTP/1.1")
        raw.sendall(request + request[:-1])
        assert rest(raw).startswith(b"HTTP/1.1 200 ")


def test_connections_are_used_again(tmp_path):
    with running_studio(tmp_path, HttpLimits(head=2.0, body=2.0, idle=2.0)) as studio:
        with connected(studio) as raw:
            for _ in range(5):
                raw.sendall(head(studio, "GET /api/runs HTTP/1.1"))
                answer = b""
                while b"\r\n\r\n{" not in answer:
                    answer += raw.recv(65_536)
                assert answer.startswith(b"HTTP/1.1 200 ")
                time.sleep(0.5)  # 2.5 s in all: longer than any limit


def test_a_slow_body_that_moves_is_waited_for(tmp_path):
    limits = HttpLimits(body=0.5, rate=200.0, idle=0.5)
    body = json.dumps({"plan": {}, "kinds": ["none"] * 100}).encode()
    with running_studio(tmp_path, limits) as studio, connected(studio) as raw:
        kind = "Content-Type: application/json"
        length = f"Content-Length: {len(body)}"
        raw.sendall(head(studio, "POST /api/walking/plan HTTP/1.1", kind, length))
        for start in range(0, len(body), 60):  # 60 bytes in 0.1 s earn 0.3 s
            raw.sendall(body[start : start + 60])
            time.sleep(0.1)
        assert b"none" in rest(raw)


def large_requests(studio):
    """Ask for more than the buffers of a socket hold."""
    return head(studio, "GET /assets/studio.js HTTP/1.1") * 40


def test_a_peer_that_reads_nothing_is_dropped(studio):
    with connected(studio, buffer=4096) as raw:
        raw.sendall(large_requests(studio))
        wait_until(lambda: open_connections(studio) > 0)
        wait_until(lambda: open_connections(studio) == 0)


def test_a_peer_that_reads_slowly_is_served(tmp_path):
    with running_studio(tmp_path, HttpLimits(stall=1.5, idle=0.2)) as studio:
        whole = len(studio.request("/assets/studio.js")[2])
        with connected(studio, buffer=65_536) as raw:
            raw.sendall(large_requests(studio))
            got = 0
            for _ in range(150):  # twice as long as it may stall, a megabyte each second
                got += len(raw.recv(20_000))
                time.sleep(0.02)
            assert got < 20 * whole
            assert got + len(rest(raw)) > 40 * whole


def test_a_web_socket_outlives_every_limit(studio):
    with socket_to(studio) as page:
        time.sleep(2.0)
        wait_until(lambda: len(studio.server.broadcast) == 1)
        studio.loop.call_soon_threadsafe(studio.server.broadcast.publish, "still here")
        assert page.recv(timeout=LONG) == "still here"


def test_a_web_socket_that_never_reads_is_gone_for_good(tmp_path, monkeypatch):
    monkeypatch.setattr(_application, "_STALL", 0.3)
    with running_studio(tmp_path, SHORT) as studio:
        deaf = deaf_socket(studio)
        wait_until(lambda: len(studio.server.broadcast) == 1)

        async def publish():
            while len(studio.server.broadcast):
                studio.server.broadcast.publish("x" * 60_000)
                await asyncio.sleep(0)

        asyncio.run_coroutine_threadsafe(publish(), studio.loop).result(LONG)
        wait_until(lambda: open_connections(studio) == 0)
        deaf.close()


def test_there_is_room_for_a_page_whatever_others_hold_open(tmp_path):
    with running_studio(tmp_path, HttpLimits(head=LONG * 2, connections=10)) as studio:
        with socket_to(studio) as page:
            held = [socket.create_connection(("127.0.0.1", studio.port)) for _ in range(40)]
            try:
                for raw in held[::2]:
                    raw.sendall(b"GET /")
                for _ in range(20):
                    assert studio.request("/api/runs")[0] == 200
                assert open_connections(studio) <= 11  # one may be on its way out
                page.ping().wait(LONG)
            finally:
                for raw in held:
                    raw.close()


def test_those_that_are_being_answered_make_no_room(tmp_path):
    """When nothing is idle, it is the last who has to come again."""
    with running_studio(tmp_path, HttpLimits(connections=3)) as studio:
        with socket_to(studio) as one, socket_to(studio) as two, socket_to(studio) as three:
            with pytest.raises((ConnectionError, HTTPException)):
                studio.request("/api/runs")
            for page in (one, two, three):
                page.ping().wait(LONG)
        wait_until(lambda: open_connections(studio) == 0)
        assert studio.request("/api/runs")[0] == 200


def test_pages_are_counted(tmp_path):
    with running_studio(tmp_path, HttpLimits(pages=2)) as studio:
        with socket_to(studio), socket_to(studio):
            wait_until(lambda: len(studio.server.broadcast) == 2)
            with pytest.raises(InvalidStatus), socket_to(studio):
                pass
        wait_until(lambda: len(studio.server.broadcast) == 0)
        with socket_to(studio) as page:
            page.ping().wait(LONG)
