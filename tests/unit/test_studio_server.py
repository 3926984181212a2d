import json
import re
import stat
from dataclasses import replace

import numpy as np
import pytest

from kinetarium.errors import KinetariumError
from kinetarium.recording.recording import Channel, Recording, Run, RunStatus
from kinetarium.recording.result_folder import ResultFolder
from kinetarium.storage.atomic import STUDIO_SESSION
from kinetarium.studio._routes import run_replay
from kinetarium.studio.exported_page import PagePart, _inert, exported_page
from kinetarium.studio.http import Request, ranged
from kinetarium.studio.results import ResultTree
from kinetarium.studio.serve import StudioServer
from unit.replay_reader import ReplayReader
from unit.studio_server import running_studio

CASE = {
    "engine": "mujoco", "height": 0.5, "size": 0.1, "mass": 1.0,
    "timestep": 1e-3, "duration": 2.0, "seed": 0,
}  # fmt: skip


NO_TIMES = Channel(np.zeros(0), "s")


def drop_run(key, **case):
    """A fall as the study drop would have recorded it."""
    time = np.linspace(0.0, 0.3, 31)
    poses = np.zeros((31, 1, 7))
    poses[:, 0, 2] = 0.55 - 9.81 * time**2 / 2
    poses[:, 0, 3] = 1.0
    channels = {
        "time": Channel(time, "s"),
        "poses": Channel(poses, "m, wxyz", ("box",)),
        "height": Channel(poses[:, 0, 2], "m"),
    }
    recording = Recording(channels, "running", {})
    row = {"fall_error_m": 1e-3}
    return Run(key, "drop", {**CASE, **case}, RunStatus.COMPLETED, "", (row,), recording)


def drop_folder(path, runs):
    environment = {"versions": {}, "command": "", "seed": 0, "platform": "", "git_hash": ""}
    config = {"study": "drop", "config": {}}
    with ResultFolder.create(path, config=config, environment=environment) as folder:
        for position, run in enumerate(runs):
            folder.add(run, position)
    return path


@pytest.fixture
def results(tmp_path):
    broken = replace(drop_run("c"), status=RunStatus.CRASHED, message="gone", recording=None)
    engines = [drop_run("a"), drop_run("b", engine="bullet"), replace(broken, rows=())]
    drop_folder(tmp_path / "deep" / "drop", engines)
    return tmp_path


def test_results_are_listed_with_what_tells_them_apart(results):
    listing = ResultTree(results).listing()
    (folder,) = listing["folders"]
    assert folder["name"] == "deep/drop" and folder["study"] == "drop" and not folder["finished"]
    assert [run["label"] for run in folder["runs"]] == ["mujoco", "bullet", "mujoco"]
    assert [run["status"] for run in folder["runs"]] == ["completed", "completed", "crashed"]
    assert folder["runs"][0]["rows"] == [{"fall_error_m": 1e-3}]
    assert listing["maps"] == []


def test_what_is_new_changes_the_fingerprint(results):
    served = ResultTree(results)
    before = served.fingerprint()
    assert served.fingerprint() == before
    drop_folder(results / "more", [drop_run("x")])
    assert served.fingerprint() != before


def test_a_broken_folder_says_so_and_hides_no_other(results):
    broken = drop_folder(results / "broken", [drop_run("x")])
    (broken / "config.toml").write_text("no toml at all [")
    folders = ResultTree(results).listing()["folders"]
    assert {folder["name"]: "error" in folder for folder in folders} == {
        "broken": True,
        "deep/drop": False,
    }


def test_links_are_not_followed(results, tmp_path_factory):
    outside = drop_folder(tmp_path_factory.mktemp("outside") / "drop", [drop_run("x")])
    (results / "link").symlink_to(outside)
    assert [folder["name"] for folder in ResultTree(results).listing()["folders"]] == ["deep/drop"]


def test_a_folder_that_is_not_there_has_no_runs(tmp_path):
    assert ResultTree(tmp_path / "out").listing()["folders"] == []


def test_the_table_of_a_folder(results):
    tree = ResultTree(results)
    (place,) = tree.run_folders()
    table = tree.table(place.id)  # no sweep: what differs stands for what was varied
    assert list(table["axes"]) == ["engine"] and list(table["results"]) == ["fall_error_m"]
    assert table["columns"]["engine"] == ["mujoco", "bullet", "mujoco"]
    assert table["columns"]["fall_error_m"] == [1e-3, 1e-3, None]
    assert table["columns"]["key"] == ["a", "b", "c"]


def test_the_table_of_a_sweep_begins_with_what_its_file_asks_for(tmp_path):
    environment = {"versions": {}, "command": "", "seed": 0, "platform": "", "git_hash": ""}
    rows = ({"fall_error_m": 1e-3, "bounce_m": 0.0, "settle_s": 0.1},)
    config = {"study": "drop", "config": {}, "sweep": {"results": ["settle_s", 3, "nothing"]}}
    with ResultFolder.create(tmp_path / "x", config=config, environment=environment) as folder:
        folder.add(replace(drop_run("a"), rows=rows), 0)
        folder.write_metrics({"sweep": {"varied": {}, "conclusion": "It <b>fell</b>."}})
    tree = ResultTree(tmp_path)
    table = tree.table(tree.run_folders()[0].id)
    assert table["results"] == ["settle_s", "fall_error_m", "bounce_m"]
    assert table["conclusion"] == "It <b>fell</b>."


@pytest.mark.parametrize("sweep", [None, 3, {"varied": [1]}, {"varied": {"a": 2}}])
def test_a_sweep_that_says_nonsense_of_its_axes_is_refused(tmp_path, sweep):
    environment = {"versions": {}, "command": "", "seed": 0, "platform": "", "git_hash": ""}
    config = {"study": "drop", "config": {}, "sweep": {}}
    with ResultFolder.create(tmp_path / "x", config=config, environment=environment) as folder:
        folder.add(drop_run("a"), 0)
        folder.write_metrics({"sweep": sweep})
    tree = ResultTree(tmp_path)
    with pytest.raises(KinetariumError, match=r"metrics\.json"):
        tree.table(tree.run_folders()[0].id)


def test_a_run_becomes_a_replay(results):
    run, label = ResultTree(results).run(ResultTree(results).run_folders()[0].id, "a")
    read = ReplayReader(run_replay(run, label))
    assert read.head["title"] == "drop mujoco"
    np.testing.assert_allclose(read.poses("box"), run.recording["poses"][:, 0], atol=1e-7)
    assert [entry["name"] for entry in read.head["channels"]] == ["poses", "height"]


def test_a_run_without_bodies_names_one_that_has_some(tmp_path):
    table = replace(drop_run("t", height=3.0), recording=Recording({"time": NO_TIMES}, "", {}))
    drop_folder(tmp_path / "x", [table, drop_run("a", height=0.1), drop_run("b", height=0.2)])
    tree = ResultTree(tmp_path)
    folder = tree.run_folders()[0].id
    run, label = tree.run(folder, "t")
    others = tree.other_runs(folder, "t")
    head = ReplayReader(run_replay(run, label, others=others)).head
    assert head["instead"] == "a" and "bodies in “mujoco, height 0.1”" in head["note"]
    assert "plotted" not in head["note"]
    head = ReplayReader(run_replay(run, label)).head
    assert head["instead"] == "" and head["note"].endswith("in the report.")


def test_the_server_gives_runs_parts_and_pages(results):
    with running_studio(results) as studio:
        status, _, body = studio.request("/api/runs")
        folder = json.loads(body)["folders"][0]
        assert status == 200 and len(folder["runs"]) == 3
        address = f"/api/replay/{folder['id']}/a"
        status, headers, whole = studio.request(address)
        assert status == 200 and headers["accept-ranges"] == "bytes"
        status, headers, part = studio.request(address, headers={"Range": "bytes=8-11"})
        assert (status, part) == (206, whole[8:12])
        assert headers["content-range"] == f"bytes 8-11/{len(whole)}"
        status, headers, page = studio.request(f"/api/export?runs={folder['id']}/a")
        assert status == 200 and headers["content-type"].startswith("text/html")
        assert page.startswith(b"<!doctype html>") and len(page) < 1_500_000

        for wrong, code in [
            (f"/api/replay/{folder['id']}/c", 404),  # crashed: nothing was recorded
            (f"/api/replay/{folder['id']}/zz", 400),
            ("/api/replay/0000/a", 404),
            ("/api/sweeps/0000", 404),
            ("/api/export?runs=", 400),
            ("/api/export?runs=0000/a", 404),
            ("/api/export?map=0000&field=reachable", 404),
            ("/api/nothing", 404),
            ("/api/maps/0000", 404),
        ]:
            status, _, body = studio.request(wrong)
            assert status == code and json.loads(body)["error"], wrong
        assert studio.request("/api/runs", method="HEAD")[2] == b""
        origin = {"Origin": f"http://{studio.host}"}
        assert studio.request("/api/runs", method="POST", headers=origin)[0] == 405


def test_ranges():
    def ask(text):
        answer = ranged(Request("GET", "/", {}, {"range": text} if text else {}), b"0123456789")
        return answer.status, answer.body

    assert ask("") == (200, b"0123456789")
    assert ask("bytes=2-4") == (206, b"234")
    assert ask("bytes=7-") == (206, b"789")
    assert ask("bytes=7-99999") == (206, b"789")
    assert ask("bytes=10-12") == (416, b"")
    assert ask("bytes=5-2") == (416, b"")
    assert ask("bytes=-3") == (200, b"0123456789")  # what is not understood is left out of account
    assert ask("lines=1-2") == (200, b"0123456789")


def test_a_port_that_is_taken_is_refused(tmp_path):
    with running_studio(tmp_path) as studio:
        with pytest.raises(KinetariumError, match=f"cannot listen on port {studio.port}"):
            StudioServer(tmp_path, port=studio.port)
    with pytest.raises(KinetariumError, match="cannot listen on port 99999"):
        StudioServer(tmp_path, port=99999)


def test_exported_pages_hold_what_is_theirs_alone():
    page = exported_page(
        [(PagePart.REPLAY, b"data")], title="</title><script>alert(1)</script>"
    ).decode()
    assert page.count("</script>") == 2 and "<title>&lt;/title&gt;" in page
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy and "unsafe" not in policy
    assert _inert('"</script>" "<!--" "</SCRIPT"') == '"\\x3C/script>" "\\x3C!--" "\\x3C/SCRIPT"'


def test_a_restarted_studio_has_its_token_and_port(tmp_path):
    with running_studio(tmp_path) as studio:
        first = studio.address
        kept = tmp_path / STUDIO_SESSION
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert studio.token in kept.read_text()
    with running_studio(tmp_path) as studio:
        assert studio.address == first
        # Another one beside it has a port of its own.
        with running_studio(tmp_path) as other:
            assert other.port != studio.port and other.token == studio.token
        assert studio.request("/api/runs")[0] == 200
    # A study may write its results there, as into an empty folder, and the token stays.
    before = kept.read_bytes()
    drop_folder(tmp_path, [drop_run("a")])
    assert kept.read_bytes() == before


def test_a_token_that_others_may_know_is_not_used(tmp_path):
    kept = tmp_path / STUDIO_SESSION
    with running_studio(tmp_path) as studio:
        token = studio.token
    text = kept.read_text()

    def next_token():
        with running_studio(tmp_path) as studio:
            assert stat.S_IMODE(kept.stat().st_mode) == 0o600 and kept.is_file()
            return studio.token

    assert next_token() == token
    kept.chmod(0o644)  # others could have read it
    second = next_token()
    assert second != token
    copy = tmp_path / "copy"
    copy.write_text(kept.read_text())
    copy.chmod(0o600)
    copy.replace(kept)  # as one that came with the folder, from elsewhere
    assert next_token() not in (token, second)
    (tmp_path / "elsewhere").write_text(text)
    (tmp_path / "elsewhere").chmod(0o600)
    kept.unlink()
    kept.symlink_to(tmp_path / "elsewhere")
    assert next_token() != token and not kept.is_symlink()
    assert (tmp_path / "elsewhere").read_text() == text
    for damaged in ("", "x" * 10_000, text.replace(" ", "\n")):
        kept.write_text(damaged)
        assert len(next_token()) == 32


def test_a_studio_of_a_folder_that_does_not_exist_keeps_nothing(tmp_path):
    with running_studio(tmp_path / "none") as studio:
        assert studio.request("/api/runs")[0] == 200
    assert not (tmp_path / "none").exists()


def test_a_browser_without_the_token_is_told_what_to_do(tmp_path):
    with running_studio(tmp_path) as studio:
        accept = {"Accept": "text/html,application/xhtml+xml"}
        status, headers, body = studio.request("/", headers=accept, cookie=False)
        assert status == 403 and headers["content-type"] == "text/html; charset=utf-8"
        assert b"<h1>" in body and b"kinetarium studio" in body
        assert studio.token.encode() not in body and "set-cookie" not in headers
        assert headers["content-security-policy"].startswith("default-src 'none'")
        status, _, body = studio.request("/<script>", headers=accept)
        assert status == 404 and b"<script>" not in body
        # Programs are told in JSON.
        status, headers, body = studio.request("/api/runs", cookie=False)
        assert (status, headers["content-type"]) == (403, "application/json")
