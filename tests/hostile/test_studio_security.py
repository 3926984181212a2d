"""The studio's page is for its user alone: not for other sites, hosts, ports or files."""

import asyncio
import json
import socket
import time
from contextlib import suppress

import pytest
from websockets.asyncio.client import connect as connect_soon
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from hostile.injections import INJECTIONS
from kinetarium.errors import KinetariumError
from kinetarium.studio.serve import StudioServer
from unit.studio_server import running_studio
from unit.test_studio_server import drop_folder, drop_run


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    drop_folder(root / "drop", [drop_run("a")])
    (root / "secret.txt").write_text("secret")
    with running_studio(root) as studio:
        yield studio


def test_only_this_machine_can_connect(studio):
    with socket.socket() as probe:
        probe.settimeout(2)
        # Any other address of this machine is another door, and there is none.
        assert probe.connect_ex(("127.0.0.2", studio.port)) != 0


def test_without_the_token_nothing_is_served(studio):
    for path in (
        "/",
        "/?token=",
        "/?token=wrong",
        "/api/runs",
        "/assets/studio.js",
        "/favicon.ico",
    ):
        status, headers, body = studio.request(path, cookie=False)
        assert status == 403 and "set-cookie" not in headers, path
        assert studio.token.encode() not in body
    # The token opens the page, not the rest: it would stay in logs and histories.
    assert studio.request(f"/api/runs?token={studio.token}", cookie=False)[0] == 403
    other = {"Cookie": f"kinetarium-{studio.port}={studio.token[:-1]}x"}
    assert studio.request("/api/runs", cookie=False, headers=other)[0] == 403
    for odd in (
        "",
        "=",
        ";;;",
        "a=b; kinetarium-1=x",
        "\xff\xfe",
        f"kinetarium-{studio.port}=\xff",
    ):
        assert studio.request("/api/runs", cookie=False, headers={"Cookie": odd})[0] == 403


def test_the_token_becomes_a_cookie_that_scripts_and_sites_cannot_use(studio):
    status, headers, body = studio.request(f"/?token={studio.token}", cookie=False)
    assert status == 200 and body.startswith(b"<!doctype html>")
    cookie = headers["set-cookie"]
    assert cookie.startswith(f"kinetarium-{studio.port}=")
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/" in cookie
    assert "set-cookie" not in studio.request("/")[1]


def test_other_hosts_are_refused_even_with_the_cookie(studio):
    port = studio.port
    for host in ("example.com", f"example.com:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", "",
                 f"localhost.example.com:{port}", f"[::1]:{port}"):  # fmt: skip
        assert studio.request("/api/runs", headers={"Host": host})[0] == 421, host
    assert studio.request("/api/runs", headers={"Host": f"localhost:{port}"})[0] == 200


def test_other_origins_are_refused(studio):
    for origin in ("http://example.com", "null", f"http://127.0.0.1:{studio.port + 1}",
                   f"https://127.0.0.1:{studio.port}"):  # fmt: skip
        assert studio.request("/api/runs", headers={"Origin": origin})[0] == 403, origin
        assert studio.request("/api/runs", method="POST", headers={"Origin": origin})[0] == 403
    # What changes something must say where it comes from.
    assert studio.request("/api/runs", method="POST")[0] == 403


def test_every_answer_carries_the_policy(studio):
    for path, cookie in (("/", True), ("/", False), ("/api/runs", True), ("/nothing", True)):
        _, headers, _ = studio.request(path, cookie=cookie)
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "*" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in headers and "server" not in headers


@pytest.mark.parametrize(
    "path",
    [
        "/../serve.py", "/..%2fserve.py", "/%2e%2e/serve.py", "/assets/../../serve.py",
        "/assets/..%2f..%2fserve.py", "/assets/%2e%2e%2f%2e%2e%2fguard.py", "//etc/passwd",
        "/etc/passwd", "/assets/%00", "/assets/studio.js%00.html", "/assets/..\\..\\serve.py",
        "/api/replay/..%2f..%2f/a", "/api/replay/../../secret.txt", "/sources.sha256",
        "/api/replay/%2e%2e/%2e%2e", "/index.html/..", "/assets/", "/page_files.py",
    ],
)  # fmt: skip
def test_paths_lead_nowhere_else(studio, path):
    status, _, body = studio.request(path)
    assert status in (400, 404), body
    assert b"secret" not in body and b"import" not in body and b"root:" not in body


def test_keys_of_runs_are_no_paths(studio):
    folder = json.loads(studio.request("/api/runs")[2])["folders"][0]["id"]
    for key in ("..", "%2e%2e", "..%2f..%2fsecret.txt", "a%00", "%2fetc", ".", "a" * 5000):
        assert studio.request(f"/api/replay/{folder}/{key}")[0] in (400, 404), key


def test_too_much_is_refused(studio):
    origin = {"Origin": f"http://{studio.host}", "Content-Type": "application/json"}
    try:
        status = studio.request("/api/runs", method="POST", headers=origin, body=b"x" * 5_000_000)[
            0
        ]
    except (ConnectionError, BrokenPipeError):
        status = 413  # it hung up before everything was sent
    assert status in (405, 413)
    with suppress(ConnectionError):  # it hangs up on a line that does not end
        assert studio.request("/" + "a" * 200_000)[0] >= 400
    assert studio.request("/api/runs")[0] == 200


def socket_to(studio, *, origin=None, cookie=None, path="/live", **options):
    headers = {"Cookie": studio.cookie if cookie is None else cookie}
    return connect(
        f"ws://{studio.host}{path}", additional_headers=headers, compression=None,
        origin=f"http://{studio.host}" if origin is None else origin or None, **options,
    )  # fmt: skip


def test_web_sockets_need_cookie_origin_and_path(studio):
    for options in ({"cookie": "x=y"}, {"origin": "http://example.com"}, {"origin": ""},
                    {"path": "/other"}, {"origin": "null"}):  # fmt: skip
        with pytest.raises(InvalidStatus) as refused:
            socket_to(studio, **options)
        assert refused.value.response.status_code == 403, options
    with socket_to(studio) as live:
        live.send("nobody listens to this")
        live.ping().wait(5)


def test_web_socket_messages_are_bounded(studio):
    with socket_to(studio) as live, pytest.raises(ConnectionClosed):
        live.send("x" * 200_000)
        live.recv(timeout=10)
    assert studio.request("/api/runs")[0] == 200


def test_new_runs_are_told(tmp_path):
    with running_studio(tmp_path) as studio, socket_to(studio) as live:
        time.sleep(1.2)  # it has looked once
        drop_folder(tmp_path / "drop", [drop_run("a")])
        assert json.loads(live.recv(timeout=20)) == {"type": "runs"}


def test_fifty_pages_of_which_five_never_read(tmp_path):
    """Those that read get the newest message to the end, whatever the others do."""
    message = "x" * 60_000  # large enough to fill the sockets of those that do not read
    with running_studio(tmp_path) as studio:
        deaf = [deaf_socket(studio) for _ in range(5)]
        try:
            got = asyncio.run(listen_together(studio, message, pages=45, messages=60))
        finally:
            for each in deaf:
                each.close()
        assert len(got) == 45
        assert all(count >= 20 and last == "last" for count, last in got), got
        assert studio.request("/api/runs")[0] == 200


def deaf_socket(studio):
    """Open a WebSocket by hand, and never read from it."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.connect(("127.0.0.1", studio.port))
    raw.sendall(
        f"GET /live HTTP/1.1\r\nHost: {studio.host}\r\nOrigin: http://{studio.host}\r\n"
        f"Cookie: {studio.cookie}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
    )
    return raw


async def listen_together(studio, message, *, pages, messages):
    ready, got = [], []

    async def page():
        async with connect_soon(
            f"ws://{studio.host}/live", origin=f"http://{studio.host}", compression=None,
            additional_headers={"Cookie": studio.cookie}, open_timeout=60,
        ) as live:  # fmt: skip
            ready.append(live)
            count, text = 0, ""
            while text != "last":
                text = await asyncio.wait_for(live.recv(), 30)
                count += 1
            got.append((count, text))

    async def publish():
        while len(ready) < pages or len(studio.server.broadcast) < pages + 5:
            await asyncio.sleep(0.02)
        for _ in range(messages):
            studio.loop.call_soon_threadsafe(studio.server.broadcast.publish, message)
            await asyncio.sleep(1 / 30)
        await asyncio.sleep(0.5)
        studio.loop.call_soon_threadsafe(studio.server.broadcast.publish, "last")

    await asyncio.gather(publish(), *(page() for _ in range(pages)))
    return got


def test_hostile_names_pass_through_as_data(tmp_path):
    """The server sends names as JSON alone; what the page makes of them is tested in a browser."""
    runs = [drop_run(f"k{n}", engine=text) for n, text in enumerate(INJECTIONS)]
    drop_folder(tmp_path / "drop", runs)
    with running_studio(tmp_path) as studio:
        status, headers, body = studio.request("/api/runs")
        assert status == 200 and headers["content-type"] == "application/json"
        found = json.loads(body)["folders"][0]["runs"]
        assert [run["case"]["engine"] for run in found] == list(INJECTIONS)


def test_only_the_named_origin_may_show_the_page_in_a_frame(tmp_path):
    with running_studio(tmp_path, frames=("https://hub.example.org",)) as studio:
        path = f"/?token={studio.token}"
        _, headers, _ = studio.request(path, cookie=False)
        policy = headers["content-security-policy"]
        assert policy.endswith("frame-ancestors https://hub.example.org")
        # Opened by itself, the page has the strict cookie; in a frame one for that site alone.
        assert headers["set-cookie"].endswith("SameSite=Strict")
        framed = {"Sec-Fetch-Dest": "iframe"}
        _, headers, _ = studio.request(path, cookie=False, headers=framed)
        assert headers["set-cookie"].endswith("SameSite=None; Secure; Partitioned")
        # The notebook itself may ask nothing.
        foreign = {"Origin": "https://hub.example.org"}
        assert studio.request("/api/runs", headers=foreign)[0] == 403
        assert studio.request("/api/runs", cookie=False, headers=framed)[0] == 403
    with running_studio(tmp_path, frames=("http://localhost:8888",)) as studio:
        assert studio.address.startswith("http://localhost:")
        named = {"Host": f"localhost:{studio.port}", "Sec-Fetch-Dest": "iframe"}
        _, headers, _ = studio.request(f"/?token={studio.token}", cookie=False, headers=named)
        assert headers["set-cookie"].endswith("SameSite=Strict")  # ports are of one site


@pytest.mark.parametrize(
    "origin",
    ["*", "localhost:8888", "http://*", "http://a b", "http://a; script-src *", "http://a/", "null",
     "http://a\r\nx: y", "javascript:alert(1)", "http://a,b", "", "http://ä", "https://"],
)  # fmt: skip
def test_what_is_no_origin_is_refused(tmp_path, origin):
    with pytest.raises(KinetariumError, match="is not the origin of a notebook"):
        StudioServer(tmp_path, frames=(origin,))
