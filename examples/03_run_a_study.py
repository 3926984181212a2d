"""Run a study on every engine; look at its rows and recordings, and write its report."""

from pathlib import Path
from tempfile import TemporaryDirectory

from kinetarium import run_study

result = run_study("drop", height=0.05, duration=0.4, workers=2)
for row, recording in zip(result.rows, result.recordings, strict=True):
    samples, error = len(recording["time"]), row["fall_error_m"]
    print(f"{row['engine']:8} {row['status']}: {samples} samples, off by {error * 1e3:.3f} mm")
    assert row["status"] == "completed" and error < 1e-3

with TemporaryDirectory() as place:
    report = result.report(Path(place) / "drop.html")
    print(f"{report.name}: {len(result.figures)} figures in one file")
