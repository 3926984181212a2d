"""kinetarium sweep: tables, reports and refusals from the command line."""

import json
from pathlib import Path

import polars
import pytest

from kinetarium import sweep
from kinetarium.batch.cluster._remote import Parcel, run_parcel
from kinetarium.batch.cluster.executor import _accept
from kinetarium.batch.plan import Plan
from kinetarium.cli import main
from kinetarium.errors import OutputError
from kinetarium.recording.result_folder import ResultFolder
from kinetarium.recording.run_folder import read_run
from source_tree import ROOT

SMALL = """
study = "drop"
[config]
engine = ["mujoco"]
height = 0.01
duration = 0.1
[grid]
mass = [1.0, 2.0]
mujoco.cone = ["elliptic", "pyramidal"]
[sweep]
results = ["rest_depth_m"]
"""


def run(*words: object) -> int:
    return main([str(word) for word in words])


def test_a_sweep_leaves_a_table_and_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "small.toml", tmp_path / "out"
    file.write_text(SMALL)
    assert run("sweep", file, "--executor", "serial", "--out", out) == 0
    assert "All 4 cases completed" in " ".join(capsys.readouterr().out.split())
    table = polars.read_parquet(out / "sweep.parquet")
    assert table.select("mass", "mujoco.cone").rows() == [
        (1.0, "elliptic"), (1.0, "pyramidal"), (2.0, "elliptic"), (2.0, "pyramidal"),
    ]  # fmt: skip
    options = json.loads((out / "runs" / table["key"][1] / "manifest.json").read_text())
    assert options["recording"]["facts"]["options"]["cone"] == "pyramidal"
    assert "4 cases completed" in ResultFolder.open(out).metrics["sweep"]["conclusion"]
    before = (out / "sweep.parquet").read_bytes()
    assert run("report", out) == 0
    assert (out / "sweep.parquet").read_bytes() == before
    assert run("runs", out, "--verify") == 0
    assert run("resume", out, "--workers", "0") == 0
    result = sweep(file, workers=0)
    assert result.to_polars().equals(table)


def test_axes_are_counted_without_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("sweep", ROOT / "examples" / "08_sweep.toml", "--count") == 0
    assert "48 cases of the study 'drop'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "words", "message"),
    [
        (("mass =", "maas ="), (), "unknown field 'maas'; did you mean 'mass'?"),
        (("elliptic", "eliptic"), (), "did you mean 'elliptic'?"),
        (('"drop"', '"dorp"'), (), "did you mean 'drop'?"),
        (("", ""), ("--executor", "dusk"), "dask"),
        (("", ""), ("--address", "tls://a:1"), "require --executor dask"),
        (("", ""), ("--executor", "dask", "--address", "tcp://10.0.0.1:1"), "--allow-plain-tcp"),
        (("", ""), ("--executor", "dask", "--cluster", "none.toml"), "cannot read 'none.toml'"),
    ],
)
def test_mistakes_are_one_line_before_anything_runs(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    change: tuple[str, str],
    words: tuple[str, ...],
    message: str,
) -> None:
    file, out = tmp_path / "small.toml", tmp_path / "out"
    file.write_text(SMALL.replace(*change) if change[0] else SMALL)
    assert run("sweep", file, "--out", out, *words) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert message in line
    assert not out.exists()


def test_what_is_shown_may_change_and_what_is_run_may_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "small.toml", tmp_path / "out"
    words = ("sweep", file, "--executor", "serial", "--out", out)
    file.write_text(SMALL.replace("rest_depth_m", "rest_depht_m"))
    assert run(*words) == 2
    assert "did you mean 'rest_depth_m'?" in capsys.readouterr().err
    runs = {path: path.stat().st_mtime_ns for path in (out / "runs").rglob("*")}
    assert len(ResultFolder.open(out).rows()) == 4
    for wrong, said in (
        (SMALL.replace("2.0", "3.0"), "mass"),
        (SMALL + "[[case]]\nsize=0.2", "size"),
    ):
        file.write_text(wrong)
        assert run(*words) == 2
        [line] = capsys.readouterr().err.splitlines()
        assert "contains another run" in line and said in line
    file.write_text(SMALL)
    assert run(*words) == 0
    assert runs == {path: path.stat().st_mtime_ns for path in (out / "runs").rglob("*")}
    assert run("runs", out, "--verify") == 0
    assert ResultFolder.open(out).config["sweep"] == {"results": ["rest_depth_m"]}


def test_a_batch_is_not_put_into_the_folder_of_a_sweep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "small.toml", tmp_path / "out"
    file.write_text(SMALL.partition("[sweep]")[0])
    assert run("sweep", file, "--executor", "serial", "--out", out) == 0
    capsys.readouterr()
    assert run("batch", file, "--workers", "0", "--out", out) == 2
    assert "contains another run: sweep" in capsys.readouterr().err
    assert run("report", out) == 0


def test_without_a_shared_folder_runs_come_as_bytes_checked_by_hash(tmp_path: Path) -> None:
    file, runs = tmp_path / "small.toml", tmp_path / "runs"
    file.write_text(SMALL)
    runs.mkdir()
    [task, *_] = Plan.read(file).tasks()
    parcel = Parcel("t", (task,), 60.0, 2e9, "/nowhere/else", b"probe")
    [delivered] = run_parcel(parcel).runs
    assert delivered.files
    _accept(delivered, tmp_path / "parcel", runs)
    assert read_run(runs / task.key).key == task.key
    name = max(delivered.files)
    broken = {**delivered.files, name: delivered.files[name][:-1] + b"?"}
    object.__setattr__(delivered, "files", broken)
    with pytest.raises(OutputError, match="damaged on their way"):
        _accept(delivered, tmp_path / "parcel", runs)
