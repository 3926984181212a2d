"""How cases are run: what was left is tried again when asked for, in any locale."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kinetarium.cli.core.execution import essential_command
from needs import needs

QUICK = ("--height", "0.02", "--duration", "0.3")
SLOW = (*QUICK, "--timestep", "2e-5")
TOO_SHORT = ("--workers", "1", "--timeout", "0.001")
"""A time in which no case comes to its end."""

ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
"""An environment in which Python reads files as ASCII."""


def statuses(folder: Path) -> list[str]:
    return [row["status"] for row in json.loads((folder / "metrics.json").read_text())["rows"]]


@pytest.fixture
def batch(tmp_path: Path) -> Path:
    path = tmp_path / "batch.toml"
    lines = [
        'study = "drop"',
        "[config]",
        'engine = "mujoco"',
        "height = 0.02",
        "duration = 0.3",
        "timestep = 2e-5",
    ]
    path.write_text("\n".join(lines))
    return path


@pytest.mark.engine
@pytest.mark.parametrize("command", ["study", "batch", "resume"])
def test_cases_that_failed_are_tried_again_when_asked_for(
    command: str, call: Any, batch: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    words = {
        "study": ("drop", "--engine", "mujoco", *SLOW, "--out", out),
        "batch": ("batch", batch, "--out", out),
        "resume": ("resume", out),
    }[command]
    first = ("batch", batch, "--out", out) if command == "resume" else words
    assert call(*first, *TOO_SHORT).code == 2
    assert statuses(out) == ["timed out"]
    made_with = (out / "environment.json").read_bytes()
    assert call(*words, "--workers", "0").code == 2
    assert statuses(out) == ["timed out"]
    assert call(*words, "--workers", "0", "--retry-failed").code == 0
    assert statuses(out) == ["completed"]
    assert (out / "environment.json").read_bytes() == made_with


def test_a_comparison_tries_again_too(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class EnoughError(Exception):
        pass

    def execute(plan: Any, invocation: Any, *, out: Path, flags: Any) -> None:
        asked.append(flags.retry_failed)
        raise EnoughError

    asked: list[bool] = []
    monkeypatch.setattr("kinetarium.cli.commands.compare_engines.execute", execute)
    words = (
        *("compare-engines", "--quick", "--starts", "1", "--engine", "mujoco"),
        *("--out", tmp_path / "out"),
    )
    call(*words)
    call(*words, "--retry-failed")
    assert asked == [False, True]


@pytest.mark.parametrize("switch", ["--retry-failed", "--retry_failed"])
def test_a_second_try_is_no_other_command(switch: str) -> None:
    words = f"kinetarium drop {switch} --mass 2 --workers 3"
    assert essential_command(words) == "kinetarium drop --mass 2"


def in_ascii(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kinetarium", *map(str, words)],
        env={**os.environ, **ASCII},
        capture_output=True,
        text=True,
    )


@pytest.mark.engine
@needs("drake")
@pytest.mark.parametrize("workers", [0, 1])
def test_drake_runs_where_files_are_read_as_ascii(workers: int, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = in_ascii("drop", "--engine", "drake", *QUICK, "--workers", workers, "--out", out)
    assert (done.returncode, statuses(out), done.stderr) == (0, ["completed"], "")


@needs("drake")
def test_drake_is_listed_where_files_are_read_as_ascii() -> None:
    listed = json.loads(in_ascii("engines", "--json", "-").stdout)["engines"]
    assert [engine["available"] for engine in listed if engine["name"] == "drake"] == [True]
