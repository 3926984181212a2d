"""Random paths in physics: `python -m benchmarks.walking 200 mujoco`.

Plans `kinetarium walk --type ttt2 --stable --margin 2 --path random:N` for N from 0 on, walks them
in an engine, and counts how many stay upright. A walk that tips over should have been predicted by
a small dynamic margin. Rows are kept: one that was stopped continues where it was. A walk takes
about 6 s of CPU time.
"""

import sys
from collections import Counter
from functools import partial
from time import process_time

from benchmarks.kept import KeptRows, Row
from kinetarium.legs import LegKind
from kinetarium.studies.walk.config import Config, cases
from kinetarium.studies.walk.run import run
from kinetarium.studies.walk.score import score

MARGIN = 2.0
"""Dynamic margin that is asked for [unit]."""
_PREDICTED = 1.0
"""Dynamic margin below which tipping over counts as predicted [unit]."""
_KEPT = (
    "verdict", "min_dynamic_margin_units", "measured_margin_units", "tilt_max_deg", "end_error_m",
    "speed_m_per_s", "sway_units", "step_time_s",
)  # fmt: skip


def walks(count: int, engine: str) -> None:
    """Print how random walks end."""
    kept = KeptRows("walks")
    rows = [
        kept.row(f"{number} {engine}", partial(_walk, number, engine)) for number in range(count)
    ]
    verdicts = Counter(row["verdict"] for row in rows)
    print(f"{engine}, {count} paths: " + ", ".join(f"{n} {v}" for v, n in verdicts.most_common()))
    for title, name in (
        ("planned dynamic margin [unit]", "min_dynamic_margin_units"),
        ("measured dynamic margin [unit]", "measured_margin_units"),
        ("tilt [deg]", "tilt_max_deg"),
        ("end error [m]", "end_error_m"),
        ("speed [m/s]", "speed_m_per_s"),
    ):
        values = sorted(row[name] for row in rows if row[name] is not None)
        if values:
            middle = values[len(values) // 2]
            print(f"  {title}: {values[0]:.4g} to {values[-1]:.4g}, median {middle:.4g}")
    for number, row in enumerate(rows):
        if row["verdict"] != "walked":
            margin = row["min_dynamic_margin_units"]
            said = "predicted" if margin < _PREDICTED else "not predicted"
            print(f"  random:{number} {row['verdict']}: planned margin {margin:.2f} unit, {said}")
    print(f"  {sum(row['cpu_s'] for row in rows) / count:.1f} s of CPU time a walk")


def _walk(number: int, engine: str) -> Row:
    """Return how the walk along a random path ends."""
    start = process_time()
    (case,) = cases(
        Config(
            type=(LegKind.TTT2,),
            path=(f"random:{number}",),
            stable=True,
            margin=MARGIN,
            engine=(engine,),
        )
    )
    row = score(case, run(case))
    return {**{name: row[name] for name in _KEPT}, "cpu_s": process_time() - start}


def main(words: list[str]) -> None:
    match words:
        case [count, engine]:
            walks(int(count), engine)
        case _:
            print(__doc__)
            sys.exit(2)


if __name__ == "__main__":
    main(sys.argv[1:])
