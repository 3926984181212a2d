"""Results to write on disks that are full, closed or pulled away."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from kinetarium.recording.recording import Channel, Recording, Run, RunStatus
from kinetarium.recording.result_folder import ResultFolder


def key(number: int) -> str:
    return f"run-{number:04d}"


def run(number: int) -> Run:
    """Return a run of eight channels and about 20 kB."""
    random = np.random.default_rng(number)
    channels = {f"channel {i}": Channel(random.normal(size=(300, 1)), "m") for i in range(8)}
    recording = Recording(channels, "running", {"seed": number})
    rows = ({"number": number},)
    return Run(key(number), "drop", {"n": number}, RunStatus.COMPLETED, "", rows, recording)


def create(path: Path) -> ResultFolder:
    return ResultFolder.create(path, config={"study": "drop"}, environment={"versions": {}})


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file but the timings and SQLite's own, by its path in the folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
        and path.name != "timing.json"
        and path.suffix[-4:] not in ("-wal", "-shm")
    }


def write_runs(out: Path, *, count: int, acknowledge: Callable[[str], object]) -> None:
    """Write the runs that are missing in a folder, and say of each that it is kept."""
    with create(out) as folder:
        kept = folder.committed([key(number) for number in range(count)])
        for number in sorted(range(count), key=lambda number: number * 37 % count):
            if key(number) not in kept:
                folder.add(run(number), number, timing={"wall_s": 1.0})
                acknowledge(key(number))
        folder.write_metrics({"rows": [row for run in folder.runs() for row in run.rows]})
        folder.finish()
