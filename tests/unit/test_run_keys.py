"""A run's key covers what the run depends on, and nothing else."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

import kinetarium
from hostile.fake_package import install
from kinetarium import import_closure, plugins
from kinetarium.batch import plan
from kinetarium.batch.plan import case_key, run_versions, versions
from kinetarium.batch.study import open_study
from kinetarium.studies.drop import Drop

CASE = {"engine": "mujoco", "height": 0.5}

PROGRAM = """
import json, sys
from pathlib import Path
from kinetarium import import_closure
from kinetarium.batch import plan
from kinetarium.batch.study import open_study
from kinetarium.engines.mujoco import EngineMujoco
from kinetarium.engines.ode import EngineOde

EngineMujoco._version = lambda self: "3"
plan._library_version = lambda name: "1"
root = Path(sys.argv[1]) / "kinetarium"
assert Path(plan.__file__).is_relative_to(root), plan.__file__

def keys():
    for kept in (import_closure._node, import_closure._code, plan._run_versions):
        kept.cache_clear()
    pairs = [("drop", "mujoco"), ("drop", "ode"), ("grasp", "mujoco"), ("walk", "none")]
    return {f"{s} {e}": plan.case_key(open_study(s), {"engine": e}) for s, e in pairs}

before, changed = keys(), {}
for edit in json.loads(sys.stdin.read()):
    file, old, new = edit
    path = root / file
    text = path.read_text()
    assert old in text, edit
    path.write_text(text.replace(old, new, 1) if old else text + new)
    now = keys()
    changed[" ".join(edit)] = [name for name in before if now[name] != before[name]]
    path.write_text(text)
assert keys() == before
print(json.dumps(changed))
"""

DROP = ["drop mujoco", "drop ode"]
CODE = "\nchanged = 1\n"
EDITS = {
    ("legs/walk/plan.py", "", CODE): ["walk none"],
    ("engines/ode/contacts.py", "", CODE): ["drop ode"],
    ("engines/mujoco/simulation.py", "", CODE): ["drop mujoco", "grasp mujoco"],
    ("spatial/arrays.py", "", CODE): [*DROP, "grasp mujoco", "walk none"],
    ("spatial/arrays.py", "", "\n# changed\n"): [],
    ("spatial/arrays.py", '"""', '"""Changed. '): [],
    ("scene/grasped_cube.py", "", CODE): ["grasp mujoco"],
    ("studies/drop/run.py", "", CODE): DROP,
    ("studies/drop/figures.py", "", CODE): [],
    ("studies/drop/__init__.py", "help = ", "help = 'changed' + "): [],
    ("studies/grasp/figures.py", "", CODE): [],
    ("figure/charts.py", "", CODE): [],
    ("report/html/page.py", "", CODE): [],
    ("__init__.py", "", CODE): [],
    ("robots/panda.urdf", "", "<!-- changed -->"): [*DROP, "grasp mujoco"],
    ("robots/catalogue.toml", "", "# changed"): [*DROP, "grasp mujoco"],
}
"""What is edited, and whose keys that changes."""


def test_edits_change_the_keys_of_what_depends_on_them(tmp_path: Path) -> None:
    source = Path(kinetarium.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__", "page")
    shutil.copytree(source, tmp_path / "kinetarium", ignore=ignored)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        input=json.dumps([list(edit) for edit in EDITS]), capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {" ".join(edit): keys for edit, keys in EDITS.items()}


def test_a_key_depends_on_the_case_and_the_study() -> None:
    key = case_key(Drop(), CASE)
    assert key == case_key(Drop(), {"height": 0.5, "engine": "mujoco"})
    assert key != case_key(Drop(), {**CASE, "height": 0.25})
    assert key != case_key(open_study("grasp"), CASE)


@pytest.fixture
def fresh() -> Iterator[None]:
    kept = (
        plan._run_versions,
        versions,
        plugins._survey,
        import_closure._node,
        import_closure._code,
    )
    for each in kept:
        each.cache_clear()
    yield
    for each in kept:
        each.cache_clear()


def test_versions_count_where_they_are_used(monkeypatch: pytest.MonkeyPatch, fresh: None) -> None:
    before = {name: case_key(Drop(), {"engine": name}) for name in ("mujoco", "ode")}
    info = SimpleNamespace(info=SimpleNamespace(version="0"))
    monkeypatch.setattr(plan, "open_engine", lambda name: info)
    plan._run_versions.cache_clear()
    assert all(case_key(Drop(), {"engine": name}) != key for name, key in before.items())
    monkeypatch.undo()
    real = plan._version
    for package, changed in (("plotly", []), ("numpy", ["mujoco", "ode"])):
        other = {package: "0"}
        with monkeypatch.context() as patch:
            patch.setattr(plan, "_version", lambda name, other=other: other.get(name, real(name)))
            plan._run_versions.cache_clear()
            now = {name: case_key(Drop(), {"engine": name}) for name in before}
        assert [name for name in before if now[name] != before[name]] == changed, package


def test_engines_are_found_wherever_a_case_names_them() -> None:
    case = {"backend": "mujoco", "others": [{"against": "ode"}], "robot": "ur5"}
    found = run_versions(Drop(), case)
    assert "source of engine mujoco" in found and "source of engine ode" in found
    assert found["ode"].startswith("0.") and found["mujoco"]
    assert "source of engine bullet" not in found and "bullet" not in found


def test_all_that_is_installed_is_listed() -> None:
    assert {"kinetarium", "numpy", "pin", "plotly", "mujoco", "python", "machine"} <= set(
        versions()
    )
    assert "pytest" not in versions()


ENGINE = """
from dataclasses import replace
from kinetarium.engines.mujoco import EngineMujoco as Mujoco
from kinetarium.scene import Scene
from fine_part import VALUE
class Engine(Mujoco):
    @property
    def info(self):
        return replace(super().info, name="fine")
"""


def test_a_plug_in_counts_with_what_it_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: None
) -> None:
    install(tmp_path, "fine", code=ENGINE, engines="fine = fine:Engine")
    part = tmp_path / "fine_part.py"
    part.write_text("VALUE = 1")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(plan, "_library_version", lambda name: "1")

    def keys() -> list[str]:
        for kept in (
            plan._run_versions,
            import_closure._node,
            import_closure._code,
            plugins._survey,
        ):
            kept.cache_clear()
        return [case_key(Drop(), {"engine": name}) for name in ("fine", "mujoco")]

    first = keys()
    part.write_text("VALUE = 2")
    second = keys()
    assert second[0] != first[0] and second[1] == first[1]
    part.write_text("VALUE = 1  # one")
    assert keys() == first
    files = import_closure.module_closure(["fine"]).files
    assert {"fine.py", "fine_part.py", "kinetarium/scene/scene.py"} <= files
    assert "kinetarium/engines/mujoco/simulation.py" in files
    for name in ("fine", "fine_part"):
        sys.modules.pop(name, None)
