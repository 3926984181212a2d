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
from kinetarium.recording.plain import read_toml, to_toml
from kinetarium.recording.versioned_json import sealed_json
from unit.studio_server import running_studio

DROP = ("--engine", "mujoco", "--duration", "0.02", "--height", "0.0001", "--workers", "0")
PAGE = 4096


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    assert call("drop", *DROP, "--out", folder / "drop") == 0
    assert call("walk", "--type", "ttt2", "--workers", "0", "--out", folder / "walk") == 0
    assert (
        call(
            "reach", "build", "--robot", "two-link", "--kind", "capability", "--voxel", "0.5",
            "--poses", "2", "--workers", "1", "--out", folder / "arm.rmap",
        ) == 0
    )  # fmt: skip
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


def commands(results: Path, outside: Path) -> dict[str, Callable[[], object]]:
    """Every command that takes a folder, on the folders received; what it answers is open."""
    drop, walk, rmap = results / "drop", results / "walk", results / "arm.rmap"
    new = outside / "new"
    return {
        "runs": lambda: call("runs", drop),
        "runs of all": lambda: call("runs", results),
        "verify": lambda: call("runs", drop, "--verify"),
        "report": lambda: call("report", drop),
        "compare": lambda: call("compare", drop, drop),
        "resume": lambda: call("resume", drop, "--workers", "0"),
        "resume isolated": lambda: call("resume", drop, "--workers", "1"),
        "resume walk": lambda: call("resume", walk, "--workers", "0"),
        "report walk": lambda: call("report", walk),
        "out": lambda: call("drop", *DROP, "--out", drop),
        "config": lambda: call("drop", "--config", drop, "--workers", "0", "--out", new / "drop"),
        "batch": lambda: call("batch", drop / "config.toml", "--workers", "0", "--out", drop),
        "compare-engines": lambda: call(
            "compare-engines", "--quick", "--engine", "mujoco", "--out", results, "--workers", "0"
        ),
        "robots": lambda: call("robots", "--out", results),
        "reach info": lambda: call("reach", "info", "--map", rmap, "--report", results),
        "reach verify": lambda: call("reach", "verify", "--map", rmap),
        "reach slice": lambda: call(
            "reach", "slice", "--map", rmap, "--height", "0.1", "--out", results / "slice"
        ),
        "reach build": lambda: call(
            "reach", "build", "--robot", "two-link", "--kind", "capability", "--voxel", "0.5",
            "--poses", "2", "--workers", "1", "--out", rmap,
        ),
        "studio": lambda: watch(results),
    }  # fmt: skip


NAMES = tuple(commands(Path(), Path()))


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
    "super-journal": plant_super_journal,
    "hot journal": plant_hot_journal,
    "write-ahead log": plant_log,
    "shared memory": plant_shared_memory,
    "journal is a folder": plant_journal_folder,
    "temporary links": plant_temporary_links,
    "linked reports": linked(
        "drop/report.html", "walk/report.html", "report.html", to="report.html"
    ),
    "linked figures": linked("drop/figures", "walk/figures", "figures", "slice", to="deep"),
    "linked parts": linked("grasp", "drive", "arm.rmap.building", to=""),
    "linked metrics": linked("drop/metrics.json", "drop/timing.json", to="thesis.tex"),
    "linked head": linked(
        "drop/checksums.json", "drop/environment.json", "drop/index.sqlite", to="thesis.tex"
    ),
    "linked config": linked("drop/config.toml", "arm.rmap/manifest.json", to="thesis.tex"),
    "linked runs": linked("drop/runs", "walk/runs", "arm.rmap", to="deep"),
    "links in a run": plant_links_in_runs,
    "linked run": plant_run_link,
    "paths in fields": plant_paths,
    "output in a field": plant_old_output_field,
    "paths as keys": plant_keys,
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_outside_is_touched(attack: str, field: Path, capsys: Any) -> None:
    """Every command on a copy of its own, so that none is spared by what another refused."""
    for number, name in enumerate(NAMES):
        results = field / f"{number}"
        shutil.copytree(field / "received", results, symlinks=True)
        ATTACKS[attack](results, field / "canary")
        before = state(field / "canary")
        with suppress(SystemExit):
            code = commands(results, field / f"new-{number}")[name]()
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
