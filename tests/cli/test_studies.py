"""A study from its command to its report, and again from its folder."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

QUICK = ("--height", "0.02", "--duration", "0.3", "--workers", "0")


def metrics(folder: Path) -> Any:
    return json.loads((folder / "metrics.json").read_text())


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "timing.json"
    }


def test_a_study_leaves_everything_in_its_folder(call: Any, tmp_path: Path) -> None:
    out = tmp_path / "drop"
    done = call("drop", "--engine", "mujoco", "bullet", *QUICK, "--out", out, "--json", "-")
    assert done.code == 0 and done.err == ""
    assert {path.name for path in out.iterdir()} == {
        "config.toml", "environment.json", "metrics.json", "timing.json", "report.html",
        "index.sqlite", "runs", "figures", "checksums.json",
    }  # fmt: skip
    content = metrics(out)
    assert content["schema_version"] == 2 and content["study"] == "drop"
    assert [row["engine"] for row in content["rows"]] == ["mujoco", "bullet"]
    assert all(row["status"] == "completed" for row in content["rows"])
    assert done.json["rows"] == content["rows"]
    environment = json.loads((out / "environment.json").read_text())
    essential = "kinetarium drop --engine mujoco bullet --height 0.02 --duration 0.3"
    assert environment["command"] == essential
    assert environment["seed"] == 0 and environment["versions"]["mujoco"]
    assert {Path(name).suffix for name in os.listdir(out / "figures")} == {".svg", ".png"}
    timing = json.loads((out / "timing.json").read_text())
    assert all(run["cpu_s"] > 0 for run in timing["runs"])


def test_a_row_is_what_the_closed_form_expects(call: Any, tmp_path: Path) -> None:
    out = tmp_path / "drop"
    call("drop", "--height", "0.5", "--workers", "0", "--out", out)
    for row in metrics(out)["rows"]:
        assert row["fall_error_m"] == pytest.approx(row["first_order_m"], rel=0.02), row["engine"]
        assert abs(row["impact_speed_error"]) < 0.005
        assert abs(row["rest_depth_m"]) < 2e-3 and row["rest_tilt_deg"] < 0.1


def test_again_from_the_folder_and_from_its_config(call: Any, tmp_path: Path) -> None:
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    call("drop", "--engine", "mujoco", *QUICK, "--out", first)
    for source, out in ((first, second), (first / "config.toml", third)):
        assert call("drop", "--config", source, "--workers", "0", "--out", out).code == 0
        assert metrics(out) == metrics(first)
    assert call("compare", first, second).code == 0


def test_flags_win_over_the_config(call: Any, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    call("drop", "--engine", "mujoco", *QUICK, "--out", first)
    call("drop", "--config", first, "--mass", "2", "--workers", "0", "--out", second)
    (row,) = metrics(second)["rows"]
    assert row["mass"] == 2 and row["height"] == 0.02
    different = call("compare", first, second, "--json", "-")
    assert different.json["settings"] == [["mass", "1.0", "2.0"]]


def test_the_same_again_does_nothing_twice(call: Any, tmp_path: Path) -> None:
    out = tmp_path / "drop"
    words = ("drop", "--engine", "mujoco", *QUICK, "--out", out)
    call(*words)
    before = files(out)
    times = {path: path.stat().st_mtime_ns for path in (out / "runs").rglob("*")}
    assert call(*words).code == 0
    assert files(out) == before
    assert {path: path.stat().st_mtime_ns for path in (out / "runs").rglob("*")} == times


def test_another_run_in_the_same_folder_is_refused(call: Any, tmp_path: Path) -> None:
    out = tmp_path / "drop"
    call("drop", "--engine", "mujoco", *QUICK, "--out", out)
    before = files(out)
    refused = call("drop", "--engine", "mujoco", *QUICK, "--mass", "3", "--out", out)
    assert refused.code == 2 and refused.err.count("\n") == 1
    assert "mass" in refused.err and files(out) == before


def test_a_folder_with_other_things_is_left_alone(call: Any, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    refused = call("drop", "--engine", "mujoco", *QUICK, "--out", tmp_path)
    assert refused.code == 2 and refused.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--height", "-1"), "--height: -1 is outside 0.0001 .. 1000 m"),
        (("--height", "100"), "leaves no time to rest"),
        (("--engine", "newtron"), "unknown engine 'newtron'"),
        (("--timestep", "0"), "--timestep: 0 is outside 1e-6 .. 0.1 s"),
        (("--duration", "0.02", "--timestep", "0.1", "--height", "1e-4"), "shorter than one step"),
        (("--duration", "100", "--timestep", "1e-6"), "more than 1000000 steps"),
        (("--hieght", "1"), "unknown flag '--hieght'; did you mean '--height'"),
        (("--workers", "-1"), "--workers: -1 is outside 0 .. "),
        (("--timeout", "0"), "--timeout: 0 is outside 0.001 .. 1e6 s"),
        (("--config", "nowhere.toml"), "nowhere.toml"),
    ],
)
def test_bad_values_get_one_line(
    call: Any, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    out = tmp_path / "out"
    refused = call("drop", "--out", out, *words)
    assert refused.code == 2
    assert refused.err.count("\n") == 1 and message in refused.err
    assert not out.exists()


def test_a_batch_gives_the_same_files_with_any_number_of_workers(call: Any, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'study = "drop"\n[config]\nduration = 0.3\nheight = 0.02\n'
        '[grid]\nengine = ["mujoco", "physx"]\nmass = [1.0, 2.0]\n'
    )
    made = []
    for workers in (0, 1, 2):
        out = tmp_path / f"out-{workers}"
        assert call("batch", plan, "--workers", workers, "--out", out).code == 0
        made.append(files(out))
    assert len(metrics(out)["rows"]) == 4
    assert made[0] == made[1] == made[2]


def test_runs_and_report_read_what_is_there(call: Any, tmp_path: Path) -> None:
    out = tmp_path / "all" / "drop"
    call("drop", "--engine", "mujoco", *QUICK, "--out", out)
    before = files(out)
    listed = call("runs", out, "--json", "-").json["rows"]
    assert [row["engine"] for row in listed] == ["mujoco"]
    (folder,) = call("runs", tmp_path / "all", "--json", "-").json["rows"]
    assert folder["study"] == "drop" and folder["statuses"] == "1 completed"
    (out / "report.html").unlink()
    assert call("report", out).code == 0
    assert files(out) == before


def test_runs_at_80_columns_show_what_was_varied_and_the_first_result(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    plan.write_text(
        'study = "drop"\n[config]\nengine = ["mujoco"]\nduration = 1.0\n'
        "[grid]\nsize = [0.05, 0.075]\nmass = [1.0, 2.0]\n"
    )
    assert call("batch", plan, "--workers", "0", "--out", out).code == 0
    rows = call("runs", out, "--json", "-").json["rows"]
    monkeypatch.setenv("COLUMNS", "80")
    lines = call("runs", out).out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split()[:2] == ["case", "status"] and "fall_error_m" in lines[0]
    for row in rows:
        (line,) = [t for t in lines if f"size {row['size']:g}, mass {row['mass']:g} " in t]
        assert f"{row['fall_error_m']:.4g}" in line


@pytest.mark.parametrize("command", ["report", "resume", "runs"])
def test_what_is_no_folder_of_runs_is_refused(call: Any, tmp_path: Path, command: str) -> None:
    for place in (tmp_path, tmp_path / "nowhere"):
        refused = call(command, place)
        assert refused.code == 2 and refused.err.count("\n") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopping_keeps_what_is_finished_and_resume_ends_it(
    program: str, tmp_path: Path, number: signal.Signals
) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    plan.write_text(
        f'study = "drop"\n[config]\nengine = "mujoco"\n[grid]\nmass = {list(range(1, 101))}\n'
    )
    process = subprocess.Popen(
        [program, "batch", plan, "--workers", "2", "--out", out],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    while len(list((out / "runs").glob("[!.]*"))) < 3:
        assert process.poll() is None
        time.sleep(0.02)
    # ctrl-C in a terminal reaches the workers, too; kill asks one process.
    stop = os.killpg if number == signal.SIGINT else os.kill
    stop(process.pid, number)
    _, error = process.communicate(timeout=30)
    assert process.returncode == 128 + number, error
    assert f"kinetarium resume {out}" in error and "Traceback" not in error
    assert not (out / "metrics.json").exists()
    done = len(list((out / "runs").glob("[!.]*")))
    assert 3 <= done < 100
    ended = subprocess.run([program, "resume", out], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0
    assert len(metrics(out)["rows"]) == 100


def test_json_is_never_written_into_results(call: Any, tmp_path: Path) -> None:
    out = tmp_path / "drop"
    assert call("drop", "--engine", "mujoco", *QUICK, "--out", out).code == 0
    before = files(out)
    for name in ("metrics.json", "other.json", "runs/x.json"):
        done = call("runs", out, "--json", out / name)
        assert done.code == 2 and "inside the result folder" in done.err
    late = tmp_path / "late"
    late.mkdir()
    done = call(
        "drop", "--engine", "mujoco", *QUICK, "--out", late, "--json", late / "metrics.json"
    )
    assert done.code == 2 and "inside the result folder" in done.err
    assert files(out) == before and files(late) == before


def test_flags_that_do_not_fit_are_json_too(call: Any) -> None:
    done = call("drop", "--mass", "heavy", "--json", "-")
    assert done.code == 2 and not done.json["ok"] and "--mass" in done.json["errors"][0]["message"]


def test_no_case_that_came_to_its_end_is_a_failure(call: Any, tmp_path: Path) -> None:
    done = call(
        "drop", "--engine", "mujoco", "--height", "0.02", "--duration", "50",
        "--timestep", "0.0001", "--timeout", "0.01", "--workers", "1",
        "--out", tmp_path / "drop", "--json", "-",
    )  # fmt: skip
    assert done.code == 2 and "none of 1 cases completed" in done.err
    assert not done.json["ok"] and done.json["rows"][0]["status"] == "timed out"
