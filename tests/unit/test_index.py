import math
import os
import random
import sqlite3
from pathlib import Path

import pytest

from kinetarium.errors import OutputError
from kinetarium.recording.index import Index, IndexFileError
from kinetarium.recording.run import Run, RunStatus


def run(number: int) -> Run:
    return Run(
        key=f"key-{number}",
        study="drop",
        case={"number": number, "name": "Ω\udc80"},
        status=RunStatus.TIMED_OUT if number % 3 else RunStatus.COMPLETED,
        message="x" * 200,
        rows=({"value": number / 7, "gone": math.nan},) * (number % 3),
    )


def test_there_and_back(tmp_path: Path) -> None:
    with Index(tmp_path / "index.sqlite") as index:
        for number in (2, 0, 1):
            index.add(run(number), position=number)
    with Index(tmp_path / "index.sqlite", writing=False) as index:
        assert index.keys() == ("key-0", "key-1", "key-2")
        for number, found in enumerate(index.rows()):
            expected = run(number)
            assert found.case == expected.case and found.status is expected.status
            assert (found.key, found.study) == (expected.key, expected.study)
            assert found.message == expected.message and found.recording is None
            assert len(found.rows) == len(expected.rows)
            assert all(row == {"value": number / 7, "gone": None} for row in found.rows)


def test_replacing_and_removing(tmp_path: Path) -> None:
    with Index(tmp_path / "index.sqlite") as index:
        index.add(run(1), position=0)
        index.add(run(2), position=1)
        index.add(run(1), position=2)
        assert index.keys() == ("key-2", "key-1")
        index.remove("key-2")
        index.remove("key-7")
        assert index.keys() == ("key-1",)


def test_half_characters_in_a_message(tmp_path: Path) -> None:
    with Index(tmp_path / "index.sqlite") as index:
        index.add(Run("k", "s", {}, RunStatus.FAILED, "no file '\udc80'"), position=0)
        assert index.rows()[0].message == "no file '\\udc80'"


def test_compact_files_depend_on_the_rows_alone(tmp_path: Path) -> None:
    numbers = list(range(60))
    contents = set()
    for attempt, sessions in enumerate((1, 2, 7)):
        random.Random(attempt).shuffle(numbers)
        folder = tmp_path / str(attempt)
        folder.mkdir()
        for session in range(sessions):
            index = Index(folder / "index.sqlite")
            index.add(run(1000), position=0)
            for number in numbers[session::sessions]:
                index.add(run(number), position=number)
                index.add(run(number), position=number)
            index.remove("key-1000")
            if session % 2 or session == sessions - 1:
                index.compact()
            else:
                index.close()
        assert os.listdir(folder) == ["index.sqlite"]
        contents.add((folder / "index.sqlite").read_bytes())
        with Index(folder / "index.sqlite", writing=False) as again:
            assert again.keys() == tuple(f"key-{number}" for number in range(60))
        assert os.listdir(folder) == ["index.sqlite"]
    assert len(contents) == 1


def test_readers_see_what_is_added_while_they_look(tmp_path: Path) -> None:
    with Index(tmp_path / "index.sqlite") as index:
        with Index(tmp_path / "index.sqlite", writing=False) as reader:
            index.add(run(0), position=0)
            assert reader.keys() == ("key-0",)


def test_missing(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="unable to open"):
        Index(tmp_path / "index.sqlite", writing=False)
    with pytest.raises(OutputError, match="is not a folder"):
        Index(tmp_path / "missing" / "index.sqlite")
    with pytest.raises(OutputError, match="unable to open"):
        Index(tmp_path)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("writing", [True, False])
@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("PRAGMA user_version = 2", "of a later release: it has schema 2"),
        ("CREATE TABLE other (key TEXT)", "is not an index of runs"),
        (
            "CREATE VIEW runs AS WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i FROM x) "
            "SELECT i FROM x; PRAGMA user_version = 1",
            "is not an index of runs",
        ),
    ],
)
def test_other_databases(writing: bool, script: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    if script.startswith("PRAGMA"):
        Index(path).compact()
    with sqlite3.connect(path) as database:
        database.executescript(script)
    database.close()
    with pytest.raises(IndexFileError, match=message):
        Index(path, writing=writing)


@pytest.mark.parametrize("writing", [True, False])
def test_no_database(writing: bool, tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    path.write_bytes(b"something else entirely" * 100)
    with pytest.raises(IndexFileError, match="is not an index: file is not a database"):
        Index(path, writing=writing)
    assert path.read_bytes() == b"something else entirely" * 100


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("key", b"blob"),
        ("study", None),
        ('"case"', "["),
        ('"case"', "[]"),
        ('"case"', None),
        ("status", "good"),
        ("rows", "{}"),
        ("rows", "[1]"),
        ("rows", "[" * 100_000),
    ],
)
def test_broken_rows(column: str, value: object, tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    index = Index(path)
    index.add(run(0), position=0)
    index.compact()
    with sqlite3.connect(path) as database:
        database.execute(f"UPDATE runs SET {column} = ?", (value,))
    database.close()
    with Index(path, writing=False) as index, pytest.raises(IndexFileError, match="broken row"):
        index.rows()


def test_broken_pages(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    index = Index(path)
    for number in range(60):
        index.add(run(number), position=number)
    index.compact()
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    with Index(path, writing=False) as index, pytest.raises(IndexFileError, match="malformed"):
        index.rows()


def test_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinetarium.recording.index._WAIT_SECONDS", 0.01)
    path = tmp_path / "index.sqlite"
    with Index(path) as index:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OutputError, match="database is locked"):
            index.add(run(0), position=0)
        other.close()
        index.add(run(0), position=0)


def test_whoever_merely_has_it_open_keeps_nobody_from_finishing(tmp_path: Path) -> None:
    path = tmp_path / "index.sqlite"
    with Index(path) as index, Index(path, writing=False) as idle:
        index.add(run(0), position=0)
        assert len(idle.rows()) == 1
        index.add(run(1), position=1)
        index.compact()
        assert [name.name for name in tmp_path.iterdir()] == ["index.sqlite"]
    with Index(path, writing=False) as whole:
        assert len(whole.rows()) == 2
