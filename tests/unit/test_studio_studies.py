"""Studies started from the page: their forms, their results, and nothing but them."""

import json
import random
import threading
import time
from dataclasses import fields
from io import StringIO

import pytest

from kinetarium.batch.study import list_studies, open_study
from kinetarium.cli import main
from kinetarium.storage.serialization import from_builtins, to_builtins
from kinetarium.studio.http import HttpError, Request
from kinetarium.studio.live._study_form import check_path, study_forms
from kinetarium.studio.live.studies import MOST_STUDIES, Studies
from unit.studio_server import running_studio

SHORT = {"engine": ["mujoco", "bullet"], "height": 0.05, "duration": 0.25}
JSON = {"content-type": "application/json"}


def post(studies, name, data):
    """Ask for a study without a server."""
    body = data if isinstance(data, bytes) else json.dumps(data).encode()
    request = Request("POST", f"/api/studies/{name}", {}, JSON, body, {"name": name})
    return json.loads(studies._start(request).body)


def ended(studies, id):
    for _ in range(6000):
        job = next(job for job in studies.jobs() if job["id"] == id)
        if job["state"] != "running":
            return job
        time.sleep(0.05)
    raise AssertionError(job)


def test_every_study_has_a_form_of_all_its_fields_with_valid_defaults():
    forms = {form["name"]: form for form in study_forms()}
    assert set(forms) == {study.name for study in list_studies()}
    for study in list_studies():
        form = forms[study.name]["fields"]
        assert [field["name"] for field in form] == [field.name for field in fields(study.config)]
        assert all(field["help"] for field in form), study.name
        assert all(field["kind"] != "data" for field in form), study.name
        data = {field["name"]: field["default"] for field in form}
        assert from_builtins(study.config, data, where="form") == study.config()


def test_a_form_has_units_ranges_and_choices():
    drop = next(form for form in study_forms() if form["name"] == "drop")
    field = {field["name"]: field for field in drop["fields"]}
    assert field["height"] | {"help": ""} == {
        "name": "height", "kind": "number", "choices": [], "list": False, "length": None,
        "empty": False, "least": 1e-4, "most": 1e3, "also": [], "default": 0.5, "unit": "m",
        "rare": False, "suggestions": [], "help": "",
    }  # fmt: skip
    assert field["height"]["help"] == "Drop height [m]."
    assert field["shape"]["choices"] == ["box", "sphere", "cylinder", "capsule"]
    assert field["engine"]["list"] and field["base"]["empty"] and field["base"]["rare"]
    assert "panda" in field["robot"]["suggestions"]


def test_a_study_from_the_page_has_the_metrics_of_its_command(tmp_path):
    studies = Studies(tmp_path / "page")
    job = ended(studies, post(studies, "drop", {"config": SHORT})["id"])
    assert (job["state"], job["done"], job["total"], job["failed"]) == ("done", 2, 2, 0)
    assert "rests" in job["message"]  # the conclusion
    out = tmp_path / "command"
    words = ["--engine", "mujoco", "bullet", "--height", "0.05", "--duration", "0.25"]
    assert main(["drop", *words, "--out", str(out), "--quiet"]) == 0
    page = tmp_path / "page" / "drop"
    for name in ("metrics.json", "config.toml"):
        assert (page / name).read_bytes() == (out / name).read_bytes()
    assert (page / "report.html").is_file()
    assert {p.name for p in (page / "runs").iterdir()} == {p.name for p in (out / "runs").iterdir()}


def test_values_that_contradict_each_other_are_refused_and_leave_no_folder(tmp_path):
    studies = Studies(tmp_path)
    job = ended(studies, post(studies, "drop", {"config": {"duration": 0.01}})["id"])
    assert job["state"] == "refused" and "leaves no time to rest" in job["message"]
    assert not list(tmp_path.iterdir())


def test_a_cancelled_study_stops_and_all_stop_with_the_server(tmp_path):
    long = {"config": {**SHORT, "duration": 900.0, "timestep": 1e-3}}
    studies = Studies(tmp_path)
    first, second = (post(studies, "drop", long)["id"] for _ in range(2))
    with pytest.raises(HttpError, match="2 studies are running"):
        post(studies, "drop", long)
    while not studies.jobs()[1]["total"]:  # its cases run
        time.sleep(0.05)
    request = Request("POST", "", {}, {}, b"", {"id": first})
    studies._cancel(request)
    assert ended(studies, first)["state"] == "cancelled"
    studies.close()
    assert ended(studies, second)["state"] == "cancelled" and studies.running == 0
    with pytest.raises(HttpError, match="no such study"):
        studies._cancel(Request("POST", "", {}, {}, b"", {"id": "99"}))


def test_files_come_with_a_study_and_are_named_in_its_fields(tmp_path):
    launched = []
    studies = Studies(tmp_path, launch=recorder(launched))
    files = {"path.json": "[[0, 0], [100, 0]]"}
    post(studies, "walk", {"config": {"path": ["@path.json"]}, "files": files})
    (job,) = launched
    (path,) = job.config["path"]
    assert (tmp_path / path).read_text() == files["path.json"] and path.startswith("given/")
    for bad in ({"config": {"path": ["@other.json"]}}, {"files": {"../x.json": ""}},
                {"files": {"x.py": ""}}, {"files": {"x.json": 3}}, {"files": []},
                {"files": {f"f{n}.json": "" for n in range(9)}}):  # fmt: skip
        with pytest.raises(HttpError):
            post(studies, "walk", bad)
    assert len(launched) == 1


def test_a_file_that_a_study_reads_is_not_written_again(tmp_path):
    studies = Studies(tmp_path, launch=recorder([]))
    request = {"config": {"path": ["@path.json"]}, "files": {"path.json": "[[0, 0], [100, 0]]"}}
    post(studies, "walk", request)
    (path,) = tmp_path.glob("given/*/path.json")
    before = path.stat()
    post(studies, "walk", request)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert [each.name for each in path.parent.iterdir()] == ["path.json"]


def test_a_file_that_cannot_be_written_is_refused_in_a_line(tmp_path):
    (tmp_path / "given").write_text("in the way")
    launched = []
    with pytest.raises(HttpError, match="cannot write") as refused:
        post(Studies(tmp_path, launch=recorder(launched)), "walk", {"files": {"a.json": "[]"}})
    assert refused.value.status == 503 and not launched


@pytest.mark.parametrize("text", ["/etc/passwd", "../x", "a/../../x", "~/x", "..", "C:\\x", "a\\b",
                                  "x\0", "out/../../../etc"])  # fmt: skip
def test_paths_elsewhere_are_refused(tmp_path, text):
    with pytest.raises(HttpError):
        check_path(text, root=tmp_path)


def test_links_out_of_the_folder_are_refused(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "link").symlink_to(tmp_path)
    with pytest.raises(HttpError):
        check_path("link/secret.urdf", root=tmp_path / "root")
    for fine in ("panda", "mujoco:iterations=20", "robots/a.urdf", "", "a:=b", "random:3"):
        check_path(fine, root=tmp_path / "root")


class Fake:
    """A process that ends when it is told to."""

    returncode = 0

    def __init__(self, lifetime):
        self.stdin, self.stdout = StringIO(), StringIO()
        self._done, self._polls = threading.Event(), lifetime

    def poll(self):
        self._polls -= 1
        if self._polls < 0:
            self._done.set()
        return 0 if self._done.is_set() else None

    def wait(self, timeout=None):
        self._done.wait()
        return 0

    def terminate(self):
        self._done.set()


def recorder(launched, lifetime=10**9):
    def launch(job, root):
        launched.append(job)
        return Fake(lifetime)

    return launch


def mutated(rng, form):
    """Return fields of a study, some of them valid, some wrong in one way or another."""
    junk = (None, True, -1, 0, 1e308, -1e9, 10**400, "", "x", "/etc/passwd", "../a", "$(id)",
            "; id", "--help", [], [[]], {}, {"a": 1}, ["mujoco"], ["../b"], "\0", "é")  # fmt: skip
    data = {}
    for field in rng.sample(form["fields"], rng.randint(0, 4)):
        data[field["name"]] = rng.choice((field["default"], rng.choice(junk)))
    if rng.random() < 0.1:
        data[rng.choice(("argv", "--out", "out", "__class__", "command", ""))] = rng.choice(junk)
    return data


def fuzzed(tmp_path, count):
    """Ask for studies of all kinds; return how many were started, and how many refused."""
    rng, launched, refused = random.Random(21), [], 0
    studies = Studies(tmp_path, launch=recorder(launched, lifetime=6))
    forms = {form["name"]: form for form in study_forms()}
    names = (*forms, "", "inspect", "studio", "batch", "rm", "drop --out x", "../drop")
    for _ in range(count):
        name = rng.choice(names)
        fields = mutated(rng, forms[name]) if name in forms else {}
        request = {"config": fields}
        if rng.random() < 0.1:
            deep, infinite = b'{"config": ' + b"[" * 600 + b"]" * 600 + b"}", b'{"files": Infinity}'
            other = ([], None, 1, {"command": "id"}, {"config": []}, b"{", b"\xff")
            request = rng.choice((*other, deep, infinite))
        before = len(launched)
        running = studies.running
        try:
            post(studies, name, request)
        except Exception as error:
            assert isinstance(error, HttpError) or type(error).__module__.startswith("kinetarium")
            assert "\n" not in str(error) and len(launched) == before
            refused += 1
            continue
        assert running <= MOST_STUDIES and len(launched) == before + 1
        job = launched[-1]
        assert job.study == name and name in forms
        study = open_study(name)
        config = from_builtins(study.config, job.config, where="launched")  # types and ranges
        assert to_builtins(config) == job.config
        assert sum(each.process._polls >= 0 for each in studies._started.values()) <= MOST_STUDIES
    studies.close()
    return len(launched), refused


def test_nothing_but_a_valid_study_starts_and_the_limit_holds(tmp_path):
    started, refused = fuzzed(tmp_path, 500)
    assert started > 20 and refused > 100


@pytest.mark.slow
def test_nothing_but_a_valid_study_starts_in_five_thousand_requests(tmp_path):
    started, refused = fuzzed(tmp_path, 5000)
    assert started > 200 and refused > 1000


def test_routes_need_the_page(tmp_path):
    with running_studio(tmp_path) as studio:
        body = json.dumps({"config": SHORT}).encode()
        for headers in ({}, {"Origin": "http://example.com", **JSON}, {"Origin": "null"}):
            status, *_ = studio.request("/api/studies/drop", method="POST", headers=headers,
                                        body=body)  # fmt: skip
            assert status == 403
        own = {"Origin": f"http://{studio.host}"}
        assert studio.request("/api/studies/drop", method="POST", headers=own, body=body)[0] == 415
        assert studio.request("/api/jobs", cookie=False)[0] == 403
        assert studio.request("/api/studies", cookie=False)[0] == 403
        assert studio.server.studies.running == 0
