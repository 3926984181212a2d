"""`kinetarium export`: files for every run, one file for one run, refusals in one line."""

import json
from pathlib import Path

import numpy as np
import pytest

from kinetarium.cli import main
from kinetarium.export import read_channels
from kinetarium.recording.result_folder import ResultFolder

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("results") / "drop"
    words = "drop --engine mujoco ode --height 0.01 --duration 0.1 --workers 0 --quiet --out"
    assert main([*words.split(), str(out)]) == 0
    return out


@pytest.mark.parametrize("format", ["mcap", "csv", "parquet", "npz", "rosbag2"])
def test_every_run_has_a_file(folder: Path, tmp_path, capsys, format) -> None:
    out = tmp_path / "exported"
    words = ["export", str(folder), "--format", format, "--out", str(out), "--json", "-"]
    assert main(words) == 0
    answer = json.loads(capsys.readouterr().out)
    runs = list(ResultFolder.open(folder).runs())
    assert [each["key"] for each in answer["files"]] == [run.key for run in runs]
    for run, each in zip(runs, answer["files"], strict=True):
        assert each["remarks"] == []
        path = Path(each["path"])
        assert path.exists() and path.parent == out
        if format in ("csv", "parquet", "npz"):
            assert run.recording is not None
            times = read_channels(path)["time"].values
            assert np.array_equal(times, run.recording["time"])
    assert main(words[:-2]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert main([*words[:-2], "--overwrite"]) == 0


def test_one_run_is_one_file(folder: Path, tmp_path, capsys) -> None:
    key = ResultFolder.open(folder).rows()[1].key
    words = ["export", str(folder), "--format", "csv", "--run", key[:12]]
    assert main([*words, "--out", str(tmp_path / "one.csv")]) == 0
    assert [each.name for each in tmp_path.iterdir()] == ["one.csv"]
    assert main(["export", str(folder), "--format", "csv", "--run", key]) == 0
    assert [each.name for each in (folder.parent / "drop-csv").iterdir()] == [f"{key}.csv"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--run", "../.."], "no run"),
        (["--run", ""], "inside the result folder"),
    ],
)
def test_refusals(folder: Path, capsys, words, message) -> None:
    inside = ["--out", str(folder / "runs")] if "inside" in message else []
    assert main(["export", str(folder), "--format", "csv", *words, *inside]) == 2
    assert message in capsys.readouterr().err


def test_a_missing_robot_leaves_the_numbers(tmp_path, capsys) -> None:
    robot = tmp_path / "ball.urdf"
    robot.write_text(
        '<robot name="ball"><link name="ball"><inertial><mass value="1"/><inertia ixx="0.004" '
        'iyy="0.004" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry>'
        '<sphere radius="0.1"/></geometry></collision></link></robot>'
    )
    out = tmp_path / "hold"
    words = ["hold", "--robot", str(robot), "--engine", "mujoco", "--duration", "0.1"]
    assert main([*words, "--workers", "0", "--out", str(out), "--quiet"]) == 0
    robot.unlink()
    assert main(["export", str(out), "--format", "mcap", "--out", str(tmp_path / "a.mcap")]) == 0
    assert "note: exported without its robot" in capsys.readouterr().out
