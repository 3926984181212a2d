"""Live rooms and robot files are for the studio's own page, and bounded."""

import json
import os
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from hostile.injections import INJECTIONS
from hostile.test_studio_security import socket_to
from kinetarium.studio.live.rooms import MOST_ROOMS
from mesh_files import tetrahedron
from unit.studio_server import running_studio

URDF = b'<robot name="a">\n<link name="b"/>\n</robot>\n'


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    with running_studio(tmp_path_factory.mktemp("results")) as studio:
        yield studio


def room(studio, **options):
    return socket_to(studio, path="/room", max_size=None, **options)


def news(live, kind, timeout=60):
    """Return the next message of a kind."""
    for _ in range(1000):
        message = live.recv(timeout=timeout)
        if isinstance(message, str) and json.loads(message)["type"] == kind:
            return json.loads(message)
    raise AssertionError(kind)


def packed(files, main="a.urdf"):
    head = json.dumps({"file": main, "files": [[n, len(c)] for n, c in files.items()]}).encode()
    return len(head).to_bytes(4, "little") + head + b"".join(files.values())


def drop(studio, body, **headers):
    origin = {"Origin": f"http://{studio.host}", **headers}
    status, _, answer = studio.request("/api/live/robots", method="POST", headers=origin, body=body)
    return status, json.loads(answer)


def test_rooms_need_cookie_and_origin(studio):
    for options in ({"cookie": "x=y"}, {"origin": "http://example.com"}, {"origin": ""},
                    {"origin": "null"}):  # fmt: skip
        with pytest.raises(InvalidStatus) as refused:
            room(studio, **options)
        assert refused.value.response.status_code == 403, options
    assert not studio.server.rooms.open
    assert studio.request("/api/live", cookie=False)[0] == 403


def test_a_room_that_fails_tells_its_page_and_closes_the_connection(studio):
    with room(studio) as live:
        live.send("{}")
        news(live, "error")
        (own,) = studio.server.rooms.open
        own._play = lambda command: 1 / 0
        live.send('{"type": "run", "on": true}')
        assert news(live, "ended")["message"].startswith("the room has ended")
        with pytest.raises(ConnectionClosed):
            live.recv(timeout=30)
    for _ in range(100):
        if not studio.server.rooms.open:
            return
        time.sleep(0.1)
    raise AssertionError("the room stays open")


def test_messages_that_are_no_commands_are_answered_and_change_nothing(studio):
    with room(studio) as live:
        for text in (
            "", "[]", "null", "{}", '{"type": "eval"}', '{"type": ["open"]}', "[" * 9000, "\\u0000",
            "[" * 600 + "]" * 600,
            '{"type": "open"}', '{"type": "open", "sides": []}', '{"type": "run", "speed": 1e9}',
            '{"type": "open", "sides": [{"robot": "/etc/passwd"}]}',
            '{"type": "open", "sides": [{"robot": "../../secret.urdf"}]}',
            '{"type": "open", "sides": [{"robot": "file-0000000000000000"}]}',
            '{"type": "open", "sides": [{"mesh_root": "/"}]}',
            '{"type": "open", "sides": [{}, {}, {}]}', '{"type": "step", "steps": 100000}',
            '{"type": "inputs", "targets": {"a": NaN}}', '{"type": "inputs", "number": -1}',
            '{"type": "inputs", "pull": {"solid": "a", "point": [0, 0], "target": [0, 0, 0]}}',
            '{"type": "inputs", "pull": {"solid": "a", "point": [0,0,0], "target": [0,0,1e99]}}',
            *(json.dumps({"type": text}) for text in INJECTIONS),
        ):  # fmt: skip
            live.send(text)
            message = news(live, "error")
            assert message["message"] and "\n" not in message["message"], text
        live.send(b"\x00\x01")
        assert news(live, "error")
        (opened,) = studio.server.rooms.open
        assert not opened.processes  # nothing was started


def test_a_long_message_ends_the_connection_and_its_room(studio):
    with room(studio) as live, pytest.raises(ConnectionClosed):
        live.send("x" * 200_000)
        live.recv(timeout=10)
    for _ in range(100):
        if not studio.server.rooms.open:
            break
        time.sleep(0.1)
    assert not studio.server.rooms.open


def test_rooms_are_limited_and_end_with_their_pages(studio):
    with ExitStack() as pages:
        rooms = [pages.enter_context(room(studio)) for _ in range(MOST_ROOMS)]
        rooms[0].send(json.dumps({"type": "open", "sides": [{"robot": "", "objects": [{}]}]}))
        news(rooms[0], "opened")
        (process,) = [pid for each in studio.server.rooms.open for pid in each.processes]
        with room(studio) as another:
            assert "rooms are open" in news(another, "full")["message"]
            with pytest.raises(ConnectionClosed):
                another.recv(timeout=10)
    for _ in range(200):
        if not studio.server.rooms.open:
            break
        time.sleep(0.1)
    assert not studio.server.rooms.open
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_dropped_robots_pass_the_gate(studio):
    status, answer = drop(studio, packed({"a.urdf": URDF}))
    assert status == 200 and answer["ok"] and answer["links"] == 1
    assert json.loads(studio.request("/api/live")[2])["dropped"][0]["id"] == answer["id"]
    status, answer = drop(studio, packed({"a.urdf": URDF.replace(b'"b"', b'""')}))
    assert status == 200 and not answer["ok"] and answer["findings"][0]["line"] == 2
    bomb = b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>' + URDF
    status, answer = drop(studio, packed({"a.urdf": bomb}))
    assert not answer["ok"] and "root:" not in json.dumps(answer)
    mesh = b'<mesh filename="file:///etc/passwd"/>'
    inside = b'<link name="b"><visual><geometry>' + mesh + b"</geometry></visual></link>"
    status, answer = drop(studio, packed({"a.urdf": URDF.replace(b'<link name="b"/>', inside)}))
    assert not answer["ok"] and "root:" not in json.dumps(answer)
    assert "kinetarium-" not in json.dumps(answer)  # no folder of this machine


def scratch(studio):
    return Path(studio.server._scratch.name)


def test_a_robot_comes_with_roles_and_meshes_of_all_formats(studio):
    mesh = b'<mesh filename="parts/a.glb"/>'
    link = b'<link name="b"><visual><geometry>' + mesh + b"</geometry></visual></link>"
    robot = URDF.replace(b'<link name="b"/>', link)
    files = {"a.urdf": robot, "parts/a.glb": tetrahedron().glb(), "a.roles.toml": b"version = 1\n"}
    status, answer = drop(studio, packed(files))
    assert status == 200 and answer["ok"], answer
    kinds = json.loads(studio.request("/api/live")[2])["kinds"]
    assert {".glb", ".toml"} <= set(kinds["beside"]) and ".glb" not in kinds["robot"]
    folders = sorted(scratch(studio).glob("robot-*"))
    assert drop(studio, packed(files))[1]["id"] == answer["id"]
    assert sorted(scratch(studio).glob("robot-*")) == folders


@pytest.mark.parametrize(
    "name",
    ["../a.urdf", "/a.urdf", "a/../../b.urdf", "..", "a\x00.urdf", "a\\b.urdf", ".hidden.urdf", "",
     "a" * 500 + ".urdf", "a//b.urdf", "a.py", "a.urdf\n", "C:a.urdf", "a/b/c/d/e/f/g/h/i.urdf"],
)  # fmt: skip
def test_names_of_dropped_files_are_no_paths(studio, name):
    assert drop(studio, packed({name: URDF}, main=name))[0] == 400
    assert drop(studio, packed({"a.urdf": URDF, name: URDF}))[0] == 400


def test_bodies_that_are_no_robots_are_refused(studio):
    many = {f"{n}.stl": b"" for n in range(100)}
    infinite = b'{"file": "a.urdf", "files": [["a.urdf", Infinity]]}'
    deep = b"[" * 600 + b"]" * 600
    for body, status in (
        *((len(head).to_bytes(4, "little") + head + URDF, 400) for head in (infinite, deep)),
        (b"", 400), (b"\xff" * 100, 400), (packed({"a.urdf": URDF})[:-1], 400),
        (packed({"a.urdf": URDF}) + b"x", 400), (packed({"b.urdf": URDF}), 400),
        (packed({"a.urdf": URDF, **many}), 413),
        (packed({"a.urdf": URDF, "x.stl": b"", "x.stl/y.stl": b""}), 400),
    ):  # fmt: skip
        assert drop(studio, body)[0] == status
    assert (
        studio.request("/api/live/robots", method="POST", body=packed({"a.urdf": URDF}))[0] == 403
    )
    other = {"Origin": "http://example.com"}
    assert drop(studio, body, **other)[0] == 403
