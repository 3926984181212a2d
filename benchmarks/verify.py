"""What checking recordings against their checksums costs, beside reading them."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.ratio import Ratio, compare
from kinetarium.recording.recording import Channel, Recording, Run, RunStatus
from kinetarium.recording.run_folder import read_run, verify_run, write_run

SAMPLES, COLUMNS = 100_000, 20


def ratios() -> Iterator[Ratio]:
    values = np.random.default_rng(0).normal(size=(SAMPLES, COLUMNS))
    channels = {"time": Channel(np.arange(SAMPLES) * 1e-3, "s"), "q": Channel(values, "rad")}
    run = Run("key", "drop", {}, RunStatus.COMPLETED, "", (), Recording(channels, "running"))
    with TemporaryDirectory() as place:
        folder = Path(place) / "run"
        write_run(folder, run, timing={})

        def opened() -> float:
            recording = read_run(folder).recording
            assert recording
            return float(recording["q"].sum())

        def loaded() -> float:
            return float(np.load(folder / "01-q.npy").sum())

        subjects = {"read and checked": opened, "verified": lambda: verify_run(folder)}
        for what, ours in subjects.items():
            yield compare(
                f"16 MB recording, {what}", ours=ours, peer=loaded, peer_name="np.load", repeats=3
            )
