"""Random dockings, and the controller behind a robot's interface: `python -m benchmarks.docking`.

`python -m benchmarks.docking dockings 200 0 mujoco dart` draws 200 dockings with seed 0 and counts
how many settle within 1.5 times the closed form, how many are refused beforehand and why, and how
many of the verdicts agree; one that was stopped continues where it was.
`python -m benchmarks.docking serve 10` lets a partner on loopback lose 1 % and delay 5 % of its
telegrams of 4 ms for ten minutes, and shows the times of the answers; it belongs on an idle
machine. Before that it does the same with a plain echo, for a tenth of the time: what holds up both
is the machine, not the controller. Both sides wait without sleeping.
"""

import socket
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from multiprocessing import Event, Process, Queue
from multiprocessing.synchronize import Event as EventType
from pathlib import Path
from time import monotonic, process_time

import numpy as np

from benchmarks.kept import KeptRows, Row
from kinetarium.cli.commands.dock_serve import (
    LOOPBACK,
    MOST_BYTES,
    Config,
    RsiNode,
    play_robot,
    serve,
)
from kinetarium.errors import KinetariumError
from kinetarium.model.assets import installed_packages
from kinetarium.studies.dock.press.arms import docking_of
from kinetarium.studies.dock.press.cases import cases, random_docking
from kinetarium.studies.dock.press.config import DockCase, DockConfig, PresetName
from kinetarium.studies.dock.press.run import WINDOW, deviations, run, score
from kinetarium.studies.dock.press.settling import band

PACKAGES = installed_packages()
ARMS = {
    "kr250": 0.0,
    str(PACKAGES["example-robot-data"] / "robots/ur_description/urdf/ur10_robot.urdf"): 1.0,
    str(PACKAGES["pybullet_data"] / "kuka_iiwa/model.urdf"): 1.0,
}
"""Payloads by arm [kg]; 0 for the preset's 100 kg."""

CYCLE = 4e-3
STOP_AFTER = 250
"""A second: a busy machine may hold up either side for longer than the default of ten cycles."""


def dockings(count: int, seed: int, *, engines: tuple[str, ...]) -> None:
    """Print how random dockings end."""
    kept, rng = KeptRows(f"dockings-{seed}"), np.random.default_rng(seed)
    ends: dict[str, list[Row]] = {engine: [] for engine in engines}
    for number in range(count):
        arm = str(rng.choice(list(ARMS)))
        drawn = random_docking(
            rng,
            config=DockConfig(
                chaser=arm,
                payload_kg=ARMS[arm],
                preset=(PresetName.RECOMMENDED,),
                seed=number,
            ),
        )
        made = cache(partial(_cases, replace(drawn, engine=engines)))
        for engine in engines:
            ends[engine].append(kept.row(f"{number} {engine}", partial(_docking, made, engine)))
    for engine, rows in ends.items():
        run = [row for row in rows if "refused" not in row]
        settled = sum(row["settled"] for row in run)
        print(
            f"{engine}: {settled} settle, {len(run) - settled} do not, {len(rows) - len(run)} are"
            " refused beforehand"
        )
        if run:
            ratio = max((row["settle_s"] or np.inf) / row["formula_s"] for row in run)
            off = np.array([row["most_off_at_rest"] for row in run])
            force, moment = (off / [row["bands"] for row in run]).max(axis=0)
            print(
                f"  the slowest takes {ratio:.2f} times the closed form; at rest force and moment"
                f" are off by at most {force:.2f} and {moment:.2f} of their bands"
            )
    first, *others = ends.values()
    for reason, times in Counter(
        _reason(row["refused"]) for row in first if "refused" in row
    ).items():
        print(f"  {times} refused: {reason}")
    for engine, other in zip(engines[1:], others, strict=True):
        same = sum(a.get("settled") == b.get("settled") for a, b in zip(first, other, strict=True))
        print(f"{engines[0]} and {engine} agree on {100 * same / count:.1f} % of {count}")


def _cases(config: DockConfig) -> dict[str, DockCase] | str:
    """Return the case of each engine, or why a docking is refused."""
    try:
        return {case.engine: case for case in cases(config)}
    except KinetariumError as error:
        return str(error)


def _docking(made: Callable[[], dict[str, DockCase] | str], engine: str) -> Row:
    """Return how a docking ends in an engine, or why it is refused."""
    start, found = process_time(), made()
    if isinstance(found, str):
        return {"refused": found}
    case = found[engine]
    recording = run(case)
    row = score(case, recording)
    off, time = deviations(case, recording), recording["time"]
    return {
        "arm": Path(case.chaser).stem,
        "contact": str(case.contact),
        "settled": bool(row["settled"]),
        "settle_s": row["settle_wrench_s"],
        "formula_s": row["settle_formula_s"],
        "bands": list(band(case, docking_of(case))),
        "most_off_at_rest": off[:, time > time[-1] - WINDOW].max(axis=1).tolist(),
        "flags": row["flags"],
        "cpu_s": process_time() - start,
    }


def _reason(message: str) -> str:
    """Return a message without its numbers."""
    return " ".join(word for word in message.split() if not any(map(str.isdigit, word)))[:90]


def _serve(port: "Queue[int]", done: EventType) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.bind((LOOPBACK, 0))
        node = RsiNode(Config(stop_after=STOP_AFTER))
        port.put(link.getsockname()[1])
        while not done.is_set():  # a partner on a busy machine takes longer
            serve(node, link, until=monotonic() + 1.0, spin=True)
        print(f"the node: {dict(node.counts)}, stopped: {node.is_stopped}")


def _echo(port: "Queue[int]", done: EventType) -> None:
    """Answer every telegram with its counter, unread, and no correction."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.bind((LOOPBACK, 0))
        link.setblocking(False)
        port.put(link.getsockname()[1])
        while not done.is_set():
            with suppress(BlockingIOError, ConnectionError):
                data, sender = link.recvfrom(MOST_BYTES)
                link.sendto(b'<Sen X="0">' + data[data.index(b"<IPOC>") :], sender)


def _partner(server: Callable[["Queue[int]", EventType], None], name: str, cycles: int) -> None:
    """Print the times of a server's answers."""
    ports: Queue[int] = Queue()
    done = Event()
    process = Process(target=server, args=(ports, done))
    process.start()
    seen = play_robot(
        (LOOPBACK, ports.get()), cycles=cycles, cycle=CYCLE, lose=0.01, delay=0.05, spin=True
    )
    done.set()
    process.join()
    # An answer that was missed is later than any that came.
    trips = np.concatenate([seen.round_trips, np.full(seen.missed, np.inf)])
    half, most, last = np.percentile(trips, (50, 99, 99.9), method="higher") * 1e3
    print(
        f"{name}: {seen.sent} telegrams, {seen.lost} lost, {seen.delayed} delayed, {seen.overslept}"
        f" sent over half a cycle late by the machine: answers after {half:.3g} ms (median),"
        f" {most:.3g} ms (99 %), {last:.3g} ms (99.9 %); {seen.missed} not within a cycle"
        f" ({100 * seen.missed / seen.sent:.2g} %)"
    )


def served(minutes: float) -> None:
    """Print how the controller and a plain echo answer partners that lose and delay telegrams."""
    cycles = round(60 * minutes / CYCLE)
    _partner(_echo, "a plain echo", cycles // 10)
    _partner(_serve, "the controller", cycles)


def main(words: list[str]) -> None:
    match words:
        case ["dockings", count, seed, *engines] if engines:
            dockings(int(count), int(seed), engines=tuple(engines))
        case ["serve", minutes]:
            served(float(minutes))
        case _:
            print(__doc__)
            sys.exit(2)


if __name__ == "__main__":
    main(sys.argv[1:])
