"""Timing two ways of doing one thing side by side, so that a noisy machine disturbs both alike."""

from collections.abc import Callable
from dataclasses import dataclass
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
) -> Ratio:
    """Time both in turns, in CPU time of this process, and take the round of the median ratio.

    The two of a round run within the same moment, so that what slows the machine down slows both;
    who comes first changes from round to round.
    """
    ours(), peer()
    pairs = []
    for i in range(rounds):
        if i % 2:
            theirs = _cost_us(peer, repeats)
            pairs.append((_cost_us(ours, repeats), theirs))
        else:
            pairs.append((_cost_us(ours, repeats), _cost_us(peer, repeats)))
    middle = sorted(pairs, key=lambda pair: pair[0] / pair[1])[rounds // 2]
    return Ratio(subject, peer_name, *middle)
