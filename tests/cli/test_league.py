"""The league of an engine from a package of others, whose versions are wheels in a folder."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from kinetarium.batch.study import ConfigError
from kinetarium.errors import OutputError
from kinetarium.storage.atomic import FolderLock, cache_folder
from kinetarium.studies.league import run as league_run
from kinetarium.studies.league.run import VersionError, version_folder
from needs import needs

PAGE = Path(__file__).parents[2] / "docs" / "add-an-engine.md"
POINTS = "[kinetarium.engines]\nflight = flight:EngineFlight\n"

# The engine of the docs, and what its versions do to it.
ENGINE = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[0]
ENGINE = ENGINE.replace("setup.scene.gravity", "flight_core.SCALE * setup.scene.gravity")
ENGINE = ENGINE.replace("import numpy as np", "import flight_core\nimport numpy as np", 1)
ENGINE = ENGINE.replace('name = "flight"', 'name = "flight"\n    package = "flight-engine"', 1)
BUILD = "        return FlightSimulation(setup)"
CRASH = f"""\
        import os
        if abs(setup.start.poses[0, 3] - 0.5**0.5) < 1e-6:  # of the check quaternion-order alone
            os.abort()
{BUILD}"""
VERSIONS = {
    "1.0": ENGINE,
    "2.0": ENGINE,  # with another core: gravity is 2 % too strong
    "3.0": ENGINE.replace(BUILD, CRASH),
    "4.0": ENGINE.replace(BUILD, "        return FlightSimulation.from_setup(setup)"),
}


def wheel(folder: Path, name: str, version: str, **files: str) -> Path:
    """Write a wheel; files by name, with "_" for the dot before an ending."""
    base = f"{name.replace('-', '_')}-{version}"
    info = f"{base}.dist-info"
    needs = files.pop("requires", "")
    content = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n",
        **{f"{info}/entry_points.txt": text for text in [files.pop("points", "")] if text},
        **{f"{module}.py": text for module, text in files.items()},
    }
    record = "".join(f"{path},,\n" for path in [*content, f"{info}/RECORD"])
    path = folder / f"{base}-py3-none-any.whl"
    with ZipFile(path, "w") as archive:
        for file, text in {**content, f"{info}/RECORD": record}.items():
            archive.writestr(file, text)
    return path


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    for version, code in VERSIONS.items():
        core = "2.0" if version == "2.0" else "1.0"
        needs = f"Requires-Dist: flight-core=={core}\nRequires-Dist: numpy<1\n"
        wheel(folder, "flight-engine", version, flight=code, points=POINTS, requires=needs)
    wheel(folder, "flight-core", "1.0", flight_core="SCALE = 1.0\n")
    wheel(folder, "flight-core", "2.0", flight_core="SCALE = 1.02\n")
    wheel(folder, "numpy", "0.9", numpy="raise ImportError('not this one')\n")
    return folder


@pytest.fixture(scope="module")
def surroundings(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment variables of a user who has version 1.0, and whose index is a folder."""
    site = tmp_path_factory.mktemp("site")
    for name in ("flight_engine-1.0", "flight_core-1.0"):
        ZipFile(wheels / f"{name}-py3-none-any.whl").extractall(site)
    paths = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        "PYTHONPATH": os.pathsep.join(paths),
        "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache")),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
    }


def test_versions_side_by_side(surroundings: dict[str, str], tmp_path: Path) -> None:
    versions = [f"flight-engine=={version}" for version in (*VERSIONS, "9.9")]
    done = subprocess.run(
        [sys.executable, "-m", "kinetarium", "league", "--version", *versions, "--quick",
         "--rounds", "1", "--out", str(tmp_path / "out"), "--json", str(tmp_path / "out.json")],
        env={**os.environ, **surroundings}, cwd=tmp_path, capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads((tmp_path / "out.json").read_text())
    sides = {side["version"]: side for side in result["summary"]["sides"]}
    assert sides["1.0"]["failed"] == [] and sides["1.0"]["checks"] >= 11
    assert set(sides["2.0"]["failed"]) == {"free-fall", "fall-steps", "far-away"}
    assert sides["3.0"]["failed"] == ["quaternion-order"]
    assert "adapter does not support this version (AttributeError" in sides["4.0"]["refused"]
    assert "flight-engine 9.9 cannot be installed: there is no wheel" in sides["9.9"]["refused"]

    rows = {
        (row["version"], row["name"], row["timestep"]): row
        for row in result["rows"]
        if row["part"] == "checks"
    }
    fall = rows["2.0", "free-fall", None]
    assert fall["value"] == pytest.approx(1.02 * fall["expected"]) and fall["failure"] == ""
    assert "SIGABRT" in rows["3.0", "quaternion-order", None]["failure"]
    names = {v: [name for version, name, _ in rows if version == v] for v in ("1.0", "3.0")}
    assert names["3.0"] == names["1.0"]  # another child continued after the crash

    changes = {(change["old"], change["new"]): change for change in result["changes"]}
    assert changes["1.0", "2.0"]["broken"] == ["free-fall", "fall-steps", "far-away"]
    assert [error["problem"] for error in changes["1.0", "2.0"]["errors"]] == ["free-fall"]
    assert changes["2.0", "3.0"]["repaired"] == ["free-fall", "fall-steps", "far-away"]
    costs = [row for row in result["costs"] if row["version"] == "1.0"]
    assert [row["problem"] for row in costs] == ["free-fall"] * 3  # no joints, no contact
    assert all(row["cost_us"] > 0 for row in costs)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "What changed from flight 1.0 to 2.0" in page


def test_an_environment_is_made_once_with_what_is_pinned(
    surroundings: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**surroundings, "XDG_CACHE_HOME": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    folder = version_folder("flight-engine==2.0")
    assert folder.is_relative_to(tmp_path / "kinetarium" / "engines")
    assert (folder / "flight_core.py").read_text() == "SCALE = 1.02\n"
    assert not (folder / "numpy.py").exists()  # two of them in one process would end it

    def refuse(*words: object, **named: object) -> None:
        raise AssertionError("pip was called again")

    with monkeypatch.context() as patch:
        patch.setattr(league_run.subprocess, "run", refuse)
        assert version_folder("flight-engine==2.0") == folder
    with pytest.raises(VersionError, match=r"flight-engine 9\.9 cannot be installed: there"):
        version_folder("flight-engine==9.9")
    assert [path.name for path in folder.parent.iterdir()] == ["site"]


def test_only_a_pinned_version_is_installed() -> None:
    """A case may be from a received file."""
    for text in ("--target==1", "mujoco", "../x==1"):
        with pytest.raises(ConfigError, match="package==version"):
            version_folder(text)


def test_two_processes_do_not_make_the_same_environment(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(league_run, "_PIP_TIMEOUT", 0.2)
    home = cache_folder() / "engines" / league_run._interpreter() / "mujoco-0.1"
    home.mkdir(parents=True)
    lock = FolderLock(home)
    with pytest.raises(OutputError, match="another kinetarium is writing"):
        version_folder("mujoco==0.1")
    lock.release()


@needs("linux")  # the kernel's signal on a closed pipe
def test_a_child_ends_with_the_process_that_asked(tmp_path: Path) -> None:
    with (tmp_path / "output").open("wb") as output:
        items = ["determinism"] * 50  # some minutes
        with league_run._child("mujoco", items, site="", output=output) as child:
            assert child.stdout and child.stdin
            assert "version" in json.loads(child.stdout.readline())
            child.stdin.close()
            assert child.wait(timeout=20) == -9


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("/usr/bin/python3: No module named pip", "pip is not installed here"),
        ("WARNING: Retrying (Retry(total=1)) after connection broken\nERROR: No matching"
         " distribution found for a==1", "the package index cannot be reached"),
        ("ERROR: from versions: 1, 2\nERROR: No matching distribution found for a==1",
         "there is no wheel of a 1 for "),
        ("ERROR: No space left on device", "No space left on device"),
        ("a warning\n\nits end\n", "its end"),
        ("", "pip failed"),
    ],
)  # fmt: skip
def test_what_pip_says_becomes_one_line(said: str, reason: str) -> None:
    assert league_run._reason(said.splitlines()).startswith(reason)
