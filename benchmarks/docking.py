"""Random dockings, and the controller behind a robot's interface: `python -m benchmarks.docking`.

`python -m benchmarks.docking dockings 200 mujoco bullet` draws dockings and counts how many settle
within 1.5 times the closed form, how many are refused beforehand and why, and how many of the
verdicts agree. `python -m benchmarks.docking serve 10` lets a partner on loopback lose 1 % and
delay 5 % of its telegrams of 4 ms for ten minutes, and shows the times of the answers. Both belong
on an idle machine.
"""

import socket
import sys
from collections import Counter
from multiprocessing import Event, Process, Queue
from multiprocessing.synchronize import Event as EventType
from time import monotonic

import numpy as np

from docking_draws import drawn_dockings
from kinetarium.cli.commands.dock_serve import LOOPBACK, Config, RsiNode, play_robot, serve
from kinetarium.studies.dock.press.run import run, score

CYCLE = 4e-3
STOP_AFTER = 250
"""A second: a busy machine may hold up either side for longer than the default of ten cycles."""


def dockings(count: int, engines: tuple[str, ...]) -> None:
    """Print how random dockings end."""
    verdicts: dict[str, list[bool | None]] = {engine: [] for engine in engines}
    refused: Counter[str] = Counter()
    for drawn in zip(*(drawn_dockings(count, engine=engine) for engine in engines), strict=True):
        for engine, case in zip(engines, drawn, strict=True):
            if isinstance(case, str):
                refused[_reason(case)] += engine == engines[0]
                verdicts[engine].append(None)
            else:
                verdicts[engine].append(bool(score(case, run(case))["settled"]))
    for engine, of_engine in verdicts.items():
        print(
            f"{engine}: {of_engine.count(True)} settle, {of_engine.count(False)} do not,"
            f" {of_engine.count(None)} are refused beforehand"
        )
    for reason, times in refused.most_common():
        print(f"  {times} refused: {reason}")
    first, *others = verdicts.values()
    for engine, other in zip(engines[1:], others, strict=True):
        same = sum(a == b for a, b in zip(first, other, strict=True))
        print(f"{engines[0]} and {engine} agree on {100 * same / count:.1f} % of {count}")


def _reason(message: str) -> str:
    """Return a message without its numbers."""
    return " ".join(word for word in message.split() if not any(map(str.isdigit, word)))[:90]


def _serve(port: "Queue[int]", done: EventType) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.bind((LOOPBACK, 0))
        node = RsiNode(Config(stop_after=STOP_AFTER))
        port.put(link.getsockname()[1])
        while not done.is_set():  # a partner on a busy machine takes longer
            serve(node, link, until=monotonic() + 1.0)
        print(f"the node: {dict(node.counts)}, stopped: {node.is_stopped}")


def served(minutes: float) -> None:
    """Print the times of the answers to a partner that loses and delays telegrams."""
    ports: Queue[int] = Queue()
    done = Event()
    node = Process(target=_serve, args=(ports, done))
    node.start()
    seen = play_robot(
        (LOOPBACK, ports.get()),
        cycles=round(60 * minutes / CYCLE),
        cycle=CYCLE,
        lose=0.01,
        delay=0.05,
    )
    done.set()
    node.join()
    half, most, last = np.percentile(seen.round_trips, (50, 99, 99.9)) * 1e3
    print(
        f"{seen.sent} telegrams, {seen.lost} lost, {seen.delayed} delayed: answers after"
        f" {half:.3g} ms (median), {most:.3g} ms (99 %), {last:.3g} ms (99.9 %);"
        f" {seen.missed} not within their cycle ({100 * seen.missed / seen.sent:.2g} %)"
    )


def main(words: list[str]) -> None:
    match words:
        case ["dockings", count, *engines] if engines:
            dockings(int(count), tuple(engines))
        case ["serve", minutes]:
            served(float(minutes))
        case _:
            print(__doc__)
            sys.exit(2)


if __name__ == "__main__":
    main(sys.argv[1:])
