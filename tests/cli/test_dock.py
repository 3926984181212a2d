"""The docking commands: every flag of one, and what all refuse in one line."""

import json
from pathlib import Path
from typing import Any

import pytest

DOCK_ROW = {
    "case", "preset", "engine", "seed", "status", "steady_error_n", "ripple_n", "settle_s",
    "rebounds", "peak_n", "contact_time_s", "eta_end_m", "xi_end_rad", "contact_point_error_m",
    "flags",
}  # fmt: skip


@pytest.mark.engine
def test_dock_takes_every_flag_and_times_its_ticks(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kinetarium.studies.dock.run.DURATION", 0.1)
    words = (
        "dock --case C --preset rsi --engine mujoco --seeds 2 --contact hunt-crossley"
        " --friction 0.1 --payload-kg 20 --delay-ms 2 --gate 30 --anti-windup clamped --workers 0"
    )
    done = call(*words.split(), "--out", tmp_path / "dock", "--json", "-")
    assert done.code == 0
    rows = done.json["rows"]
    assert len(rows) == 2 and set(rows[0]) >= DOCK_ROW
    assert {row["status"] for row in rows} == {"completed"}
    assert "the satellites did not touch" in rows[0]["flags"] and rows[0]["settle_s"] is None
    runs = json.loads((tmp_path / "dock/timing.json").read_text())["runs"]
    assert all(0 < run["tick_p50_s"] <= run["tick_p99_s"] for run in runs)
    assert "tick_p50_s" not in (tmp_path / "dock/metrics.json").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("dock --case D", "Expected one of ('A', 'B', 'C')"),
        ("dock --preset papr", "'recommended', 'paper-rebound'"),
        ("dock --engine warp", "unknown engine 'warp'"),
        ("dock --payload-kg 400", "too heavy for the virtual mass"),
        ("dock --anti-windup off", "Expected one of ('gated', 'clamped', 'none')"),
        ("dock --start-deg 0 -90 130 0 0 0", "must look along x"),
        ("dock-stability --delay-ms 0", "--delay-ms must be from 0.01 to 1000"),
        ("dock-float --mass 100 nan", "--mass must be from 1 to 100000 kg"),
        ("dock-float --payload-kg 90", "--sensor-in-front"),
        ("dock-float --engine warp", "unknown engine 'warp'"),
    ],
)
def test_nonsense_is_one_line(words: str, said: str, call: Any, tmp_path: Path) -> None:
    done = call(*words.split(), "--out", tmp_path / "out")
    assert done.code == 2 and done.out == ""
    assert said in done.err and done.err.count("\n") == 1
    assert not (tmp_path / "out").exists()
