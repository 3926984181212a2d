import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kinetarium.errors import OutputError
from kinetarium.storage import atomic
from kinetarium.storage.atomic import (
    check_folder,
    check_replaceable,
    check_writable,
    make_folder,
    write_atomic,
    write_folder_atomic,
)
from kinetarium.storage.strict_json import strict_json
from needs import needs


def test_files_are_written_whole(tmp_path):
    path = tmp_path / "result"
    write_atomic(path, b"one")
    write_atomic(path, b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["result"]
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask


def test_links_stay_links(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    link.symlink_to(real)
    for write in (check_writable, lambda path: write_atomic(path, b"new")):
        with pytest.raises(OutputError, match="it is a symbolic link"):
            write(link)
    assert link.is_symlink() and real.read_bytes() == b"old"
    write_atomic(link, b"new", through_links=True)
    assert link.is_symlink() and real.read_bytes() == b"new"


def test_folders_are_not_replaced_through_links(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis").write_text("mine")
    (tmp_path / "figures").symlink_to(tmp_path / "mine")
    with pytest.raises(OutputError, match="it is a symbolic link"):
        write_folder_atomic(tmp_path / "figures", {"a": b""})
    assert (tmp_path / "mine" / "thesis").read_text() == "mine"


@pytest.mark.parametrize("content", [b"", b"# made by us"])
def test_our_own_files_are_replaced(tmp_path, content):
    path = tmp_path / "file"
    check_replaceable(path, ours=b"made by us")
    path.write_bytes(content)
    check_replaceable(path, ours=b"made by us")


def test_files_of_others_are_not_replaced(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"x" * 5000 + b"made by us")
    with pytest.raises(OutputError, match="not written by Kinetarium; --overwrite replaces it"):
        check_replaceable(path, ours=b"made by us")
    check_replaceable(path, ours=b"made by us", force=True)


def test_folders_that_hold_something_else(tmp_path):
    check_folder(tmp_path / "missing", ours="a")
    (tmp_path / "a1").write_text("")
    (tmp_path / ".kinetarium-0").write_text("")
    check_folder(tmp_path, ours=r"a\d")
    (tmp_path / "a12").write_text("")
    with pytest.raises(OutputError, match="it contains 'a12', not written by Kinetarium"):
        check_folder(tmp_path, ours=r"a\d")
    (tmp_path / "a12").unlink()
    (tmp_path / "a2").symlink_to("/")
    with pytest.raises(OutputError, match="it contains the symbolic link 'a2'"):
        check_folder(tmp_path, ours=r"a\d")


def test_names_as_long_as_the_system_allows(tmp_path):
    path = tmp_path / ("x" * 255)
    write_atomic(path, b"data")
    assert path.read_bytes() == b"data"


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch, step):
    path = tmp_path / "result"
    write_atomic(path, b"old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, step, fail)
    with pytest.raises(OutputError, match="no space left on device"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["result"]


def test_folders_are_replaced_whole(tmp_path):
    folder = tmp_path / "meshes"
    write_folder_atomic(folder, {"a": b"1", "b": b"2"})
    write_folder_atomic(folder, {"c": b"3"})
    assert [path.name for path in folder.iterdir()] == ["c"]
    assert os.listdir(tmp_path) == ["meshes"]


@pytest.mark.parametrize("failing_rename", [1, 2])
def test_a_failure_leaves_the_old_folder(tmp_path, monkeypatch, failing_rename):
    folder = tmp_path / "meshes"
    write_folder_atomic(folder, {"a": b"1"})
    rename, calls = Path.rename, []

    def fail_once(self, target):
        calls.append(target)
        if len(calls) == failing_rename:
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_once)
    with pytest.raises(OutputError, match="input/output error"):
        write_folder_atomic(folder, {"b": b"2"})
    assert [path.name for path in folder.iterdir()] == ["a"]
    assert os.listdir(tmp_path) == ["meshes"]


@pytest.mark.parametrize("name", ["missing/file", "file/below", "nul\0byte", ""])
def test_bad_places(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    for write in (check_writable, lambda path: write_atomic(path, b"")):
        with pytest.raises(OutputError, match="cannot write"):
            write(Path(name))
    assert os.listdir(tmp_path) == ["file"]


def test_making_folders(tmp_path):
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        make_folder(tmp_path / "file")


def test_json_is_strict():
    text = strict_json({"a": [math.inf, -math.inf, math.nan, 1.5], "b": ("Ω\udc80\u2028", None)})
    assert text.isascii()
    assert json.loads(text) == {"a": [None, None, None, 1.5], "b": ["Ω\udc80\u2028", None]}


@needs("linux")  # reads /proc
def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path):
    script = (
        "import os, sys, signal\n"
        "from pathlib import Path\n"
        "from kinetarium.storage import atomic\n"
        "atomic.os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "atomic.write_atomic(Path(sys.argv[1]), b'x', through_links=True)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "a.json")])
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".kinetarium-")
    living = atomic._sibling(tmp_path / "b.json")  # another thread of ours is writing
    living.write_text("half")
    elsewhere = tmp_path / ".kinetarium-00000000-1-1-0123456789abcdef"
    elsewhere.write_text("another machine's")
    mine = tmp_path / ".kinetarium-notes"
    mine.write_text("mine")
    write_atomic(tmp_path / "a.json", b"y", through_links=True)
    expected = {"a.json", living.name, elsewhere.name, mine.name}
    assert {path.name for path in tmp_path.iterdir()} == expected
