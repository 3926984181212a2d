"""Run a study on every engine; look at its rows and recordings, and write its report."""

import sys
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

if len(sys.argv) > 1:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
    for row, recording in zip(result.rows, result.recordings, strict=True):
        height = 1000 * (recording["poses"][:, 0, 2] - recording["poses"][-1, 0, 2])
        axes.plot(recording["time"], height, label=row["engine"], linewidth=1)
    axes.set(xlabel="time [s]", ylabel="height over the end [mm]", xlim=(0.08, 0.2), ylim=(-2, 4))
    axes.legend(fontsize=7)
    axes.set_title("A box lands: the fall is the same, the impact is not", fontsize=10)
    figure.savefig(sys.argv[1], dpi=80)
