"""Timing two ways of doing one thing side by side, so that a noisy machine disturbs both alike."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from time import process_time_ns


@dataclass(frozen=True)
class Ratio:
    """One row: what was done, how long we and the peer took [us], and the ratio."""

    subject: str
    peer: str
    ours_us: float
    peer_us: float

    @property
    def ratio(self) -> float:
        return self.ours_us / self.peer_us


def _cost_us(work: Callable[[], object], repeats: int) -> float:
    start = process_time_ns()
    for _ in range(repeats):
        work()
    return (process_time_ns() - start) / repeats / 1000


def compare(
    subject: str,
    *,
    ours: Callable[[], object],
    peer: Callable[[], object],
    peer_name: str,
    repeats: int,
    rounds: int = 15,
    typical: Callable[[Iterable[float]], float] = median,
) -> Ratio:
    """Time both in turns, in CPU time of this thread's process, and take the medians.

    Args:
        typical: What to take instead of the median, such as `min` for the best of the rounds.
    """
    ours(), peer()
    pairs = [(_cost_us(ours, repeats), _cost_us(peer, repeats)) for _ in range(rounds)]
    return Ratio(subject, peer_name, typical(p[0] for p in pairs), typical(p[1] for p in pairs))
