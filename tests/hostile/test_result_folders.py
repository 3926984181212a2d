"""Result folders that somebody has sent, edited or damaged: nothing else is touched."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from kinetarium.cli import main
from kinetarium.storage.serialization import sealed_json

QUICK = ("--engine", "mujoco", "--height", "0.02", "--duration", "0.3", "--workers", "0")


def call(*words: object) -> int:
    return main([str(word) for word in words])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made") / "out"
    assert call("drop", *QUICK, "--out", out) == 0
    return out


@pytest.fixture
def out(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "out"))


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    capsys.readouterr()
    assert call(*words) == 2
    lines = capsys.readouterr().err
    assert lines.count("\n") == 1, lines
    return lines


@pytest.mark.parametrize("name", ["figures", "report.html", "metrics.json", "runs", "runs/KEY"])
def test_a_link_leads_nowhere(name: str, out: Path, capsys: Any) -> None:
    victim = out.parent / "victim"
    victim.mkdir()
    (victim / "thesis.txt").write_text("years of work")
    (key,) = (out / "runs").iterdir()
    place = out / name.replace("KEY", key.name)
    target = victim / "thesis.txt" if place.is_file() else victim
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    place.symlink_to(target)
    for command in ("report", "resume"):
        assert "symbolic link" in refused(capsys, command, out) or command == "report"
    assert (victim / "thesis.txt").read_text() == "years of work"
    assert [path.name for path in victim.iterdir()] == ["thesis.txt"]


def test_pictures_of_others_stay(out: Path, capsys: Any) -> None:
    (out / "figures" / "mine.txt").write_text("mine")
    assert "mine.txt" in refused(capsys, "report", out)
    assert (out / "figures" / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("below", ["inside", "figures/mine", "runs/sub"])
def test_no_results_inside_results(below: str, out: Path, capsys: Any) -> None:
    assert "inside the result folder" in refused(capsys, "drop", *QUICK, "--out", out / below)
    assert not (out / below).exists()


def test_an_edited_config_is_noticed(out: Path, capsys: Any) -> None:
    config = out / "config.toml"
    config.write_text(config.read_text().replace("0.02", "0.03"))
    metrics = (out / "metrics.json").read_bytes()
    assert "config.toml' has changed since it was written" in refused(capsys, "resume", out)
    (out / "checksums.json").unlink()  # as after a kill
    assert "its config.toml was edited" in refused(capsys, "resume", out)
    assert (out / "metrics.json").read_bytes() == metrics


@pytest.mark.parametrize("lost", ["environment.json", "index.sqlite", "timing of a run", "runs"])
def test_what_is_missing_is_made_anew(lost: str, made: Path, out: Path) -> None:
    (run,) = (out / "runs").iterdir()
    if lost == "runs":
        shutil.rmtree(run)
    else:
        (run / "timing.json" if lost == "timing of a run" else out / lost).unlink()
    assert call("resume", out, "--workers", 0) == 0
    assert (out / "metrics.json").read_bytes() == (made / "metrics.json").read_bytes()


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("config.toml", "a = 1"),
        ("config.toml", "study = 3"),
        ("environment.json", '{"schema_version": 1}'),
        ("environment.json", '{"schema_version": 1, "versions": []}'),
    ],
)
@pytest.mark.parametrize("command", ["report", "compare"])
def test_damaged_files(file: str, content: str, command: str, out: Path, capsys: Any) -> None:
    (out / file).write_text(content)
    words = (command, out, out) if command == "compare" else (command, out)
    refused(capsys, *words)


@pytest.mark.parametrize("rows", [[{}], [{"fall_error_m": "far"}]])
def test_rows_that_mean_nothing(rows: list[Any], out: Path, capsys: Any) -> None:
    (run,) = (out / "runs").iterdir()
    manifest = json.loads((run / "manifest.json").read_text())
    for name in ("schema_version", "sha256_of_all_above"):
        manifest.pop(name)
    (run / "manifest.json").write_bytes(sealed_json({**manifest, "rows": rows}))
    assert "cannot summarise" in refused(capsys, "report", out)
    environment = json.loads((out / "environment.json").read_text())
    for name in ("schema_version", "sha256_of_all_above"):
        environment.pop(name)
    environment["versions"]["source of study drop"] = "of another release"
    (out / "environment.json").write_bytes(sealed_json(environment))
    assert "written by another one" in refused(capsys, "report", out)


@pytest.mark.parametrize("tolerance", ["nan", "-1", "inf"])
def test_a_tolerance_that_means_nothing(tolerance: str, out: Path, capsys: Any) -> None:
    refused(capsys, "compare", out, out, "--tolerance", tolerance)


def test_json_that_cannot_be_written_is_said_first(tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "out"
    refused(capsys, "drop", *QUICK, "--out", out, "--json", tmp_path / "nowhere" / "x.json")
    assert not out.exists()


def test_a_large_grid_is_refused_at_once(tmp_path: Path, capsys: Any) -> None:
    many = list(range(1, 3000))
    plan = tmp_path / "plan.toml"
    plan.write_text(f'study = "drop"\n[grid]\nheight = {many}\nmass = {many}\nsize = {many}\n')
    assert "more than 100000 configs" in refused(capsys, "batch", plan)


def test_many_decimals_are_no_names(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    heights = [round(0.01 + 0.0001 * number, 4) for number in range(300)]
    plan.write_text(f'study = "drop"\n[config]\nengine = "mujoco"\n[grid]\nheight = {heights}\n')
    from kinetarium.batch.plan import Plan

    assert len(Plan.read(plan).tasks()) == 300
