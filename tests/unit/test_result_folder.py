import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinetarium.errors import OutputError
from kinetarium.recording.recording import Channel, Recording, Run, RunStatus
from kinetarium.recording.result_folder import ResultFolder, ResultFolderError
from kinetarium.recording.run_folder import RunFileError, read_run, write_run
from kinetarium.storage.serialization import SerializationError

CONFIG = {"study": "drop", "config": {"height": 0.5, "engine": ["mujoco", "ode"], "tool": None}}
ENVIRONMENT = {"command": "kinetarium drop", "seed": 0, "versions": {"mujoco": "3.18.0"}}


def create(
    path: Path, config: dict[str, Any] = CONFIG, environment: dict[str, Any] = ENVIRONMENT
) -> ResultFolder:
    return ResultFolder.create(path, config=config, environment=environment)


def run(number: int) -> Run:
    channels = {"time": Channel(np.arange(3.0) + number, "s")}
    recording = Recording(channels, "running", {"seed": number})
    rows = ({"value": number / 3},)
    return Run(f"key-{number}", "drop", {"n": number}, RunStatus.COMPLETED, "", rows, recording)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "timing.json"
    }


def test_a_whole_life(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    with create(out) as folder:
        assert folder.committed() == set()
        for number in (1, 2, 0):
            folder.add(run(number), number, timing={"wall_s": float(number)})
        assert not folder.is_finished
        folder.write_metrics({"study": "drop", "rows": [{"value": float("nan")}]})
        folder.write_timing({"total_s": 3.0})
        folder.write_report("<p>\udc80Ω</p>")
        folder.write_figures({"a.svg": b"<svg/>"})
        folder.finish()
    assert set(os.listdir(out)) == {
        "checksums.json",
        "config.toml",
        "environment.json",
        "figures",
        "index.sqlite",
        "metrics.json",
        "report.html",
        "runs",
        "timing.json",
    }
    for name in ("environment.json", "metrics.json", "timing.json", "runs/key-1/manifest.json"):
        assert json.loads((out / name).read_text())["schema_version"] == 2
    found = ResultFolder.open(out)
    assert found.path == out and found.is_finished
    assert found.config == {
        "study": "drop",
        "config": {"height": 0.5, "engine": ["mujoco", "ode"]},
    }
    assert found.environment == ENVIRONMENT
    assert found.metrics == {"study": "drop", "rows": [{"value": None}]}
    assert found.committed() == {"key-0", "key-1", "key-2"}
    runs = list(found.runs())
    assert [run.key for run in runs] == ["key-0", "key-1", "key-2"]
    assert [float(run.recording["time"][0]) for run in runs if run.recording] == [0.0, 1.0, 2.0]
    assert list(found.timings().items()) == [(f"key-{i}", {"wall_s": float(i)}) for i in range(3)]
    assert (out / "report.html").read_text("utf-8") == "<p>&#56448;Ω</p>"


def test_going_on_gives_the_same_bytes(tmp_path: Path) -> None:
    with create(tmp_path / "once") as folder:
        for number in range(6):
            folder.add(run(number), number)
        folder.finish()
    for numbers in ([5, 0], [1], [4, 3, 2]):
        with create(tmp_path / "often") as folder:
            for number in numbers:
                folder.add(run(number), number)
            if numbers == [1]:
                folder.finish()
    (tmp_path / "often" / ".kinetarium-0").write_bytes(b"left over")
    (tmp_path / "often" / "runs" / ".kinetarium-1").mkdir()
    with create(tmp_path / "often") as folder:
        folder.finish()
    assert contents(tmp_path / "once") == contents(tmp_path / "often")
    assert os.listdir(tmp_path / "often" / "runs").sort() == os.listdir(tmp_path / "once").sort()
    assert not list((tmp_path / "often").rglob(".kinetarium-*"))


def test_looking_changes_nothing(tmp_path: Path) -> None:
    with create(tmp_path / "out") as folder:
        folder.add(run(0), 0)
        folder.finish()
    before = contents(tmp_path / "out")
    with create(tmp_path / "out") as folder:
        assert folder.committed(["key-0"]) == {"key-0"}
    folder = ResultFolder.open(tmp_path / "out")
    assert len(list(folder.runs())) == 1
    assert contents(tmp_path / "out") == before


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({**CONFIG, "config": {"height": 1.0}}, "height 0.5 instead of 1.0"),
        ({**CONFIG, "config": {"height": 1.0}}, "ode.* instead of none"),
        ({"study": "roll"}, "study drop instead of roll; choose"),
        ({**CONFIG, "config": {"path": "a/" * 99 + "b.urdf"}}, r"instead of \.\.\.[a/]+b\.urdf"),
        ({**CONFIG, "grid": {"a": [1]}}, r"a none instead of \[1\]"),
        ({**CONFIG, "grid": {str(i): [i] for i in range(9)}}, "6 more; choose"),
    ],
)
def test_another_run(config: dict[str, Any], message: str, tmp_path: Path) -> None:
    create(tmp_path / "out").close()
    before = contents(tmp_path / "out")
    with pytest.raises(ResultFolderError, match=message) as refusal:
        create(tmp_path / "out", config)
    assert "out' contains another run: " in str(refusal.value)
    assert str(refusal.value).endswith("; choose another --out or remove it")
    assert contents(tmp_path / "out") == before
    create(tmp_path / "out").close()


@pytest.mark.parametrize(
    ("versions", "message"),
    [
        ({"mujoco": "3.17.0"}, "with other versions: mujoco 3.18.0 instead of 3.17.0; choose"),
        ({"mujoco": "3.18.0", "source of study drop": "1"}, "of an earlier release"),
        ({"mujoco": "3.18.0"}, "of other inputs: since then a file was changed"),
    ],
)
def test_runs_with_other_keys(versions: dict[str, str], message: str, tmp_path: Path) -> None:
    with create(tmp_path / "out") as folder:
        folder.add(run(0), 0)
    before = contents(tmp_path / "out")
    with create(tmp_path / "out") as folder:
        folder.refuse_other_runs(["key-0", "key-1"], versions=versions)
        with pytest.raises(ResultFolderError, match=message) as refusal:
            folder.refuse_other_runs(["key-1"], versions=versions)
    assert "\n" not in str(refusal.value)
    assert contents(tmp_path / "out") == before


def test_versions_that_no_run_depends_on_are_renewed(tmp_path: Path) -> None:
    create(tmp_path / "out").close()
    now = {"command": "again", "seed": 1, "versions": {"mujoco": "3.18.0", "plotly": "9"}}
    with create(tmp_path / "out") as folder:
        folder.renew_environment(now)
    again = ResultFolder.open(tmp_path / "out").environment
    assert again["versions"] == now["versions"]
    assert again["command"] == "kinetarium drop" and again["seed"] == 0


def test_the_same_in_other_words(tmp_path: Path) -> None:
    create(tmp_path / "out").close()
    with create(tmp_path / "out", environment={**ENVIRONMENT, "command": "again"}) as folder:
        assert folder.environment["command"] == "kinetarium drop"


@pytest.mark.parametrize("name", ["thesis.tex", "runs", "environment.json", ".hidden"])
def test_what_belongs_to_others_is_left_alone(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(ResultFolderError, match=f"not empty: it has '{name}'"):
        create(tmp_path)
    assert contents(tmp_path) == {name: b"mine"}


def test_a_config_of_others(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("mine = 1")
    with pytest.raises(ResultFolderError, match="mine 1 instead of none"):
        create(tmp_path)
    assert contents(tmp_path) == {"config.toml": b"mine = 1"}


def test_a_file_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OutputError, match="cannot write"):
            create(path)
    assert contents(tmp_path) == {"file": b"mine"}


@pytest.mark.parametrize("missing", ["environment.json", "index.sqlite", "runs"])
def test_a_creation_that_was_cut_short(missing: str, tmp_path: Path) -> None:
    create(tmp_path / "out").close()
    before = contents(tmp_path / "out")
    path = tmp_path / "out" / missing
    path.rmdir() if path.is_dir() else path.unlink()
    (tmp_path / "out" / ".kinetarium-0").write_bytes(b"half")
    with create(tmp_path / "out") as folder:
        folder.finish()
    assert contents(tmp_path / "out") == before


def test_opening_what_is_not_there(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing", Path("nul\0")):
        with pytest.raises(ResultFolderError, match=r"is not a result folder: no config\.toml"):
            ResultFolder.open(path)
    (tmp_path / "config.toml").write_text("")
    with pytest.raises(ResultFolderError, match=r"is not a result folder: no environment\.json"):
        ResultFolder.open(tmp_path)


@pytest.mark.parametrize("name", ["environment.json", "metrics.json"])
def test_later_releases(name: str, tmp_path: Path) -> None:
    create(tmp_path / "out").close()
    (tmp_path / "out" / name).write_text('{"schema_version": 3}')
    with pytest.raises(SerializationError, match="of a later release"):
        assert ResultFolder.open(tmp_path / "out").metrics


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    with create(tmp_path / "out") as folder:
        with folder.writing():
            folder.add(run(0), 0)
        reader = ResultFolder.open(tmp_path / "out")
        assert [run.key for run in reader.runs()] == ["key-0"]
        for attempt in (lambda: create(tmp_path / "out"), lambda: reader.writing().__enter__()):
            with pytest.raises(OutputError, match=r"another kinetarium is writing '.*out'"):
                attempt()
        folder.add(run(1), 1)
    with reader.writing():
        reader.add(run(2), 2)
    with create(tmp_path / "out") as folder:
        assert len(folder.committed()) == 3


def test_the_lock_of_another_process_ends_with_it(tmp_path: Path) -> None:
    script = """if True:
        import sys, time
        from pathlib import Path
        from kinetarium.recording.result_folder import ResultFolder
        folder = ResultFolder.create(Path(sys.argv[1]), config={}, environment={})
        print("locked", flush=True)
        time.sleep(60)
    """
    words = [sys.executable, "-c", script, tmp_path / "out"]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert process.stdout and process.stdout.readline() == b"locked\n"
        with pytest.raises(OutputError, match="another kinetarium"):
            create(tmp_path / "out", {}, {})
        process.kill()
    create(tmp_path / "out", {}, {}).close()


def test_a_folder_left_to_itself_lets_go(tmp_path: Path) -> None:
    create(tmp_path / "out")
    create(tmp_path / "out").close()


def test_writing_without_the_lock_is_a_mistake(tmp_path: Path) -> None:
    create(tmp_path / "out").close()
    folder = ResultFolder.open(tmp_path / "out")
    for write in (
        lambda: folder.add(run(0), 0),
        lambda: folder.write_report(""),
        lambda: folder.write_figures({}),
        lambda: folder.finish(),
    ):
        with pytest.raises(RuntimeError, match="writing"):
            write()


def test_runs_that_a_worker_wrote(tmp_path: Path) -> None:
    with create(tmp_path / "out") as folder:
        write_run(folder.run_folder("key-0"), run(0), timing={"wall_s": 7.0})
        bare = Run("key-0", "drop", {"n": 0}, RunStatus.COMPLETED)
        folder.add(bare, position=0)
        assert next(folder.runs()).recording is not None
        assert folder.timings() == {"key-0": {"wall_s": 7.0}}


def test_a_run_without_a_row_is_taken_up(tmp_path: Path) -> None:
    with create(tmp_path / "out") as folder:
        folder.add(run(2), 2)
        write_run(folder.run_folder("key-1"), run(1), timing={})
        shutil.copytree(folder.run_folder("key-1"), folder.run_folder("key-0"))
        assert folder.committed() == {"key-1", "key-2"}
        order = ["key-0", "key-1", "key-2"]
        assert folder.committed(order) == {"key-1", "key-2"}
        assert [run.key for run in folder.runs()] == ["key-1", "key-2"]
    with sqlite3.connect(tmp_path / "out" / "index.sqlite") as index:
        assert index.execute("SELECT position FROM runs ORDER BY key").fetchall() == [(1,), (2,)]


def test_a_row_without_a_run_is_removed(tmp_path: Path) -> None:
    with create(tmp_path / "out") as folder:
        for number in range(3):
            folder.add(run(number), number)
    shutil.rmtree(folder.run_folder("key-0"))
    (folder.run_folder("key-1") / "00-time.npy").write_bytes(b"torn")
    reader = ResultFolder.open(tmp_path / "out")
    assert reader.committed() == {"key-2"}
    with pytest.raises(RunFileError, match="key-0"):
        list(reader.runs())
    with create(tmp_path / "out") as folder:
        assert folder.committed() == {"key-2"}
        assert [run.key for run in folder.runs()] == ["key-2"]
        folder.add(run(1), 1)
        assert folder.committed() == {"key-1", "key-2"}
        read_run(folder.run_folder("key-1"))


@pytest.mark.parametrize("key", ["", ".", "..", "../x", "a/b", "a\0", "a\n", "\n", "é", "x" * 256])
def test_keys_never_become_paths(key: str, tmp_path: Path) -> None:
    with create(tmp_path / "out") as folder:
        with pytest.raises(RunFileError, match="is not the key of a run"):
            folder.add(Run(key, "drop", {}, RunStatus.FAILED), 0)
        assert os.listdir(folder.runs_path) == []


def test_figures_never_become_paths(tmp_path: Path) -> None:
    with create(tmp_path / "out") as folder:
        folder.write_figures({"01-a.svg": b"old"})
        for name in ("../a", "/a", "", ".."):
            with pytest.raises(OutputError):
                folder.write_figures({name: b""})
        assert contents(tmp_path / "out" / "figures") == {"01-a.svg": b"old"}
        assert not list(tmp_path.rglob(".kinetarium*"))


@pytest.mark.parametrize("linked", ["runs", "runs/key-0"])
def test_links_are_not_followed_by_readers(linked: str, tmp_path: Path) -> None:
    with create(tmp_path / "out") as folder:
        folder.add(run(0), 0)
    path = tmp_path / "out" / linked
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RunFileError, match="is a symbolic link"):
        list(ResultFolder.open(tmp_path / "out").runs())


def test_a_config_that_could_not_be_read_again(tmp_path: Path) -> None:
    with pytest.raises(ResultFolderError, match="takes more than"):
        create(tmp_path / "out", {"study": "drop", "config": {"engine": ["x" * 100] * 20_000}})
    assert not (tmp_path / "out").exists()
