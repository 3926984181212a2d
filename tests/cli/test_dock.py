"""The docking commands: what they refuse, in one line."""

from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("dock --case D", "Expected one of ('A', 'B', 'C', 'free')"),
        ("dock --preset papr", "'recommended', 'paper-rebound'"),
        ("dock --engine warp", "unknown engine 'warp'"),
        ("dock --payload-kg 400", "too heavy for the virtual mass"),
        ("dock --anti-windup off", "Expected one of ('gated', 'clamped', 'none')"),
        ("dock --start-deg 0 -90 130 0 0 0", "must face along x"),
        ("dock --case free", "--case free requires --wrench"),
        ("dock --wrench -500 0 0 20 10 0", "use --contact face with --friction"),
        ("dock --misalign 5mm 0 0 2deg 0", "--misalign needs six values"),
        ("dock --misalign 5mm 0 0 2kg 0 0", "a unit of deg, mrad, rad"),
        ("dock --gains-d 0", "--gains-d must be positive: 0"),
        ("dock --gains-k 5 -1", "--gains-k must not be negative: -1"),
        ("dock --tank 1", "--tank requires --contact-d or --contact-k"),
        ("dock --speed 3", "--speed: 3 is outside 0.001 .. 0.2 m/s, or 0"),
        ("dock --form dexp", "Expected one of ('reduced', 'paper')"),
        ("dock --seeds 99999999999", "--seeds: 99999999999 is outside 1 .. 10000"),
        ("dock-stability --delay-ms 0", "--delay-ms: 0 is outside 0.01 .. 1000 ms"),
        ("dock-float --mass 100 nan", "--mass: nan is outside 1 .. 100000 kg"),
        ("dock-float --payload-kg 90", "--sensor-in-front"),
        ("dock-float --lead-error-ms 3", "requires --lead"),
        ("dock-float --engine warp", "unknown engine 'warp'"),
    ],
)
def test_nonsense_is_one_line(words: str, said: str, call: Any, tmp_path: Path) -> None:
    done = call(*words.split(), "--out", tmp_path / "out")
    assert done.code == 2 and done.out == ""
    assert said in done.err and done.err.count("\n") == 1
    assert not (tmp_path / "out").exists()
