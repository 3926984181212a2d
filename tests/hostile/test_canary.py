"""A received folder cannot harm anything outside it, whatever command reads or writes it.

Folders are planted with journals of SQLite, symbolic links and paths in every field that is a
path. A canary folder lies beside them, named by all of these; no command may touch it.
"""

import json
import os
import shutil
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from kinetarium.cli import main
from kinetarium.storage.serialization import read_toml, sealed_json, to_toml
from unit.studio_server import running_studio

DROP = ("--engine", "mujoco", "--duration", "0.02", "--height", "0.0001", "--workers", "0")
MAP = (
    "--robot", "panda", "--kind", "irm3", "--voxel", "0.4", "--poses", "2", "--workers", "1",
)  # fmt: skip
PAGE = 4096


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    assert call("drop", *DROP, "--out", folder / "drop") == 0
    assert call("walk", "--type", "ttt2", "--workers", "0", "--out", folder / "walk") == 0
    assert call("reach", "build", *MAP, "--out", folder / "arm.rmap") == 0
    pose = {"position": [0.5, 0.0, 0.3], "quaternion_wxyz": [0, 1, 0, 0]}
    (folder / "pose.json").write_text(json.dumps(pose))
    return folder


@pytest.fixture
def field(made: Path, tmp_path: Path) -> Iterator[Path]:
    """Results to be tampered with, beside a canary that must be as it was afterwards."""
    shutil.copytree(made, tmp_path / "received")
    canary = tmp_path / "canary"
    (canary / "deep").mkdir(parents=True)
    for name in ("thesis.tex", "report.html", "robot.xml", "deep/photo.jpg"):
        (canary / name).write_text(f"mine: {name}")
    before = state(canary)
    yield tmp_path
    assert state(canary) == before


def state(folder: Path) -> dict[str, tuple[Any, ...]]:
    found = {}
    for path in sorted([folder, *folder.rglob("*")]):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (status.st_ino, status.st_mode, status.st_mtime_ns, content)
    return found


def call(*words: object) -> int:
    return main([str(word) for word in words])


def commands(results: Path, outside: Path) -> dict[str, tuple[str, Callable[[], object]]]:
    """Every command that takes a folder, and which of those received it uses.

    What it answers is open; only what it does to the canary is looked at.
    """
    drop, walk, rmap = results / "drop", results / "walk", results / "arm.rmap"
    new, pose = outside / "new", results / "pose.json"
    serial = ("--workers", "0")
    return {
        "runs": ("drop", lambda: call("runs", drop)),
        "runs of all": ("drop walk", lambda: call("runs", results)),
        "verify": ("drop", lambda: call("runs", drop, "--verify")),
        "report": ("drop", lambda: call("report", drop)),
        "compare": ("drop", lambda: call("compare", drop, drop)),
        "resume": ("drop", lambda: call("resume", drop, *serial)),
        "resume isolated": ("drop", lambda: call("resume", drop, "--workers", "1")),
        "resume walk": ("walk", lambda: call("resume", walk, *serial)),
        "report walk": ("walk", lambda: call("report", walk)),
        "out": ("drop", lambda: call("drop", *DROP, "--out", drop)),
        "config": (
            "drop",
            lambda: call("drop", "--config", drop, *serial, "--out", new / "drop"),
        ),
        "batch": ("drop", lambda: call("batch", drop / "config.toml", *serial, "--out", drop)),
        "compare-engines": (
            "page",
            lambda: call(
                *("compare-engines", "--quick", "--starts", "1", "--engine", "mujoco"),
                *("--out", results, *serial),
            ),
        ),
        "robots": ("page", lambda: call("robots", "--out", results)),
        "reach info": (
            "map page",
            lambda: call("reach", "info", "--map", rmap, "--report", results),
        ),
        "reach verify": ("map", lambda: call("reach", "verify", "--map", rmap)),
        "reach slice": (
            "map page",
            lambda: call(
                "reach", "slice", "--map", rmap, "--pose", pose, "--out", results / "slice"
            ),
        ),
        "reach build": ("map", lambda: call("reach", "build", *MAP, "--out", rmap)),
        "studio": ("drop walk map", lambda: watch(results)),
    }


def watch(results: Path) -> None:
    """Let the studio list everything and open the first run."""
    with running_studio(results) as studio:
        listing = json.loads(studio.request("/api/runs")[2])
        for folder in listing["folders"]:
            for run in folder["runs"][:1]:
                key = quote(run["key"], safe="")
                studio.request(f"/api/replay/{folder['id']}/{key}")
                studio.request(f"/api/export?runs={folder['id']}/{key}")
        for rmap in listing["maps"]:
            studio.request(f"/api/maps/{rmap['id']}")


def journal(*, names: bytes = b"", pages: bytes = b"") -> bytes:
    """Write a rollback journal of SQLite (sqlite.org/fileformat2.html, 3).

    Args:
        names: Path of the super-journal, which SQLite deletes when it is done.
        pages: Content to be put back as page 1.
    """
    nonce, sector = 7, 512
    head = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
    head += struct.pack(">iIIII", 1 if pages else 0, nonce, 3, sector, PAGE)
    head = head.ljust(sector, b"\0")
    if pages:
        page = pages.ljust(PAGE, b"\0")
        total = (nonce + sum(page[place] for place in range(PAGE - 200, 0, -200))) & 0xFFFFFFFF
        head += struct.pack(">I", 1) + page + struct.pack(">I", total)
    if names:
        tail = struct.pack(">I", 0x40000000 // PAGE + 1) + names
        tail += struct.pack(">II", len(names), sum(names)) + head[:8]
        head += tail
    return head


def plant_super_journal(results: Path, canary: Path) -> None:
    victim = os.fsencode(canary / "thesis.tex")
    (results / "drop" / "index.sqlite-journal").write_bytes(journal(names=victim))


def plant_hot_journal(results: Path, canary: Path) -> None:
    (results / "drop" / "index.sqlite-journal").write_bytes(journal(pages=b"other"))


def plant_log(results: Path, canary: Path) -> None:
    index = results / "drop" / "index.sqlite"
    data = bytearray(index.read_bytes())
    data[18:20] = b"\2\2"  # the header says: write-ahead log
    index.write_bytes(data)
    (results / "drop" / "index.sqlite-wal").write_bytes(b"\x37\x7f\x06\x82" + bytes(2000))


def plant_shared_memory(results: Path, canary: Path) -> None:
    (results / "drop" / "index.sqlite-shm").symlink_to(canary / "thesis.tex")


def plant_journal_folder(results: Path, canary: Path) -> None:
    (results / "drop" / "index.sqlite-journal").symlink_to(canary)
    (results / "drop" / "index.sqlite-wal").mkdir()


def plant_temporary_links(results: Path, canary: Path) -> None:
    for folder in (results / "drop", results / "drop" / "runs", results):
        (folder / ".kinetarium-0").symlink_to(canary)
        (folder / ".kinetarium-outputs").symlink_to(canary)


def linked(*places: str, to: str = "") -> Callable[[Path, Path], None]:
    """Plant links in the places of files and folders that commands write or replace."""

    def plant(results: Path, canary: Path) -> None:
        for place in places:
            path = results / place
            if path.is_dir():
                shutil.rmtree(path)
            path.unlink(missing_ok=True)
            path.symlink_to(canary / to)

    return plant


def plant_links_in_runs(results: Path, canary: Path) -> None:
    (run,) = (results / "drop" / "runs").iterdir()
    for name in os.listdir(run):
        (run / name).unlink()
        (run / name).symlink_to(canary / "thesis.tex")


def plant_run_link(results: Path, canary: Path) -> None:
    (run,) = (results / "drop" / "runs").iterdir()
    shutil.rmtree(run)
    run.symlink_to(canary)


def plant_paths(results: Path, canary: Path) -> None:
    """Name the canary in every field of every config, known and unknown."""
    for name in ("drop", "walk"):
        folder = results / name
        (folder / "checksums.json").unlink()  # or it would be noticed at once
        content = read_toml(folder / "config.toml")
        texts = [key for key, value in content["config"].items() if isinstance(value, str)]
        lists = [key for key, value in content["config"].items() if isinstance(value, list)]
        target = str(canary / "robot.xml")
        strange = {"mjcf": target, "out": target, "json": target, "report": target}
        for key in ("machine", *texts):
            content["config"][key] = target
        for key in lists:
            content["config"][key] = [target]
        (folder / "config.toml").write_text(to_toml(content))
        for key, value in strange.items():
            content["config"][key] = value
        (folder / "edited.toml").write_text(to_toml(content))


def plant_old_output_field(results: Path, canary: Path) -> None:
    """Ask for a file to be written, as a config of release 0.1 could."""
    for name in ("drop", "walk"):
        folder = results / name
        (folder / "checksums.json").unlink()
        content = read_toml(folder / "config.toml")
        content["config"]["mjcf"] = str(canary / "robot.xml")
        (folder / "config.toml").write_text(to_toml(content))


def plant_keys(results: Path, canary: Path) -> None:
    """Let manifest and index speak of paths instead of keys and files."""
    (run,) = (results / "drop" / "runs").iterdir()
    (results / "drop" / "checksums.json").unlink()
    manifest = {
        "key": str(canary), "study": str(canary), "case": {"engine": str(canary)},
        "status": "completed", "message": "", "rows": [], "recording": None,
    }  # fmt: skip
    (run / "manifest.json").write_bytes(sealed_json(manifest))


ATTACKS = {
    "super-journal": ("drop", plant_super_journal),
    "hot journal": ("drop", plant_hot_journal),
    "write-ahead log": ("drop", plant_log),
    "shared memory": ("drop", plant_shared_memory),
    "journal is a folder": ("drop", plant_journal_folder),
    "temporary links": ("drop page", plant_temporary_links),
    "linked reports": (
        "drop walk page",
        linked("drop/report.html", "walk/report.html", "report.html", to="report.html"),
    ),
    "linked figures": (
        "drop walk page",
        linked("drop/figures", "walk/figures", "figures", "slice", to="deep"),
    ),
    "linked parts": ("page map", linked("grasp", "drive", "arm.rmap.building", to="")),
    "linked metrics": (
        "drop",
        linked("drop/metrics.json", "drop/timing.json", to="thesis.tex"),
    ),
    "linked head": (
        "drop",
        linked(
            "drop/checksums.json", "drop/environment.json", "drop/index.sqlite", to="thesis.tex"
        ),
    ),
    "linked config": (
        "drop map",
        linked("drop/config.toml", "arm.rmap/manifest.json", to="thesis.tex"),
    ),
    "linked runs": ("drop walk map", linked("drop/runs", "walk/runs", "arm.rmap", to="deep")),
    "links in a run": ("drop", plant_links_in_runs),
    "linked run": ("drop", plant_run_link),
    "paths in fields": ("drop walk", plant_paths),
    "output in a field": ("drop walk", plant_old_output_field),
    "paths as keys": ("drop", plant_keys),
}
"""What is planted, by name: where, and by whom."""


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_outside_is_touched(attack: str, field: Path, capsys: Any) -> None:
    check(attack, field, capsys, everywhere=False)


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_outside_is_touched_by_any_command(attack: str, field: Path, capsys: Any) -> None:
    check(attack, field, capsys, everywhere=True)


def check(attack: str, field: Path, capsys: Any, *, everywhere: bool) -> None:
    """Run commands, each on a copy of its own, so that none is spared by another's refusal."""
    planted, plant = ATTACKS[attack]
    for name, (used, _) in commands(field, field).items():
        if not everywhere and not {*planted.split()} & {*used.split()}:
            continue
        results = field / "tampered"
        shutil.copytree(field / "received", results, symlinks=True)
        plant(results, field / "canary")
        before = state(field / "canary")
        code = commands(results, field / name)[name][1]()
        assert code in (None, 0, 1, 2), f"{name}: {code}"
        assert state(field / "canary") == before, f"{name} touched the canary"
        assert "defect" not in capsys.readouterr().err, name
        shutil.rmtree(results)


def test_the_planted_journals_do_harm_where_sqlite_opens_the_index(field: Path) -> None:
    """The attacks are real: opened in place, the first deletes a file, the second changes pages."""
    import sqlite3

    for plant, harm in (
        (plant_super_journal, lambda drop, victim: not victim.exists()),
        (plant_hot_journal, lambda drop, victim: b"other" in (drop / "index.sqlite").read_bytes()),
    ):
        results = field / plant.__name__
        shutil.copytree(field / "received", results)
        bait = field / "bait"
        bait.mkdir(exist_ok=True)
        (bait / "thesis.tex").write_text("bait")
        plant(results, bait)
        with (
            suppress(sqlite3.Error),
            sqlite3.connect(results / "drop" / "index.sqlite") as database,
        ):
            database.execute("SELECT * FROM sqlite_master").fetchall()
        assert harm(results / "drop", bait / "thesis.tex"), plant.__name__
