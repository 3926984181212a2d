"""Report of the stability map."""

from collections.abc import Mapping, Sequence

import numpy as np

from kinetarium.batch.outcomes import Outcomes, completion
from kinetarium.batch.study import Findings, Outcome
from kinetarium.control.admittance.law import critical_delay
from kinetarium.figure.charts import Axis, Heatmap, Lines, Series, Spot, Style
from kinetarium.figure.page import Section
from kinetarium.figure.text import Table, header
from kinetarium.recording.recording import Row
from kinetarium.studies.dock.press.advice import advice
from kinetarium.studies.dock.press.presets import PRESETS, WRENCH_GAIN, loop_delay
from kinetarium.studies.dock.stability.config import StabilityCase

_LEAD = (
    "An admittance loop with a delay becomes unstable against a stiff contact above a critical"
    " delay. Each cell of the map was simulated from an initial impulse until its deflection had"
    " decayed or grown; the closed form predicts the boundary. Negative growth is stable."
)
_WORST_GROWTH = 0.5
"""Growth rate at the end of the colour scale [1/s]."""

Maps = Mapping[tuple[str, float], Outcomes[StabilityCase]]


def report(outcomes: Sequence[Outcome[StabilityCase]]) -> Findings:
    """Return each map with its operating points, and the boundary beside the closed form."""
    judged_cases = Outcomes(outcome for outcome in outcomes if outcome.rows)
    maps = judged_cases.by("preset", "damping_ratio")
    sections = [
        Section(_words(preset, ratio), (_map(group), _border(group)))
        for (preset, ratio), group in maps.items()
    ]
    cells, judged = len(judged_cases.rows), judged_cases.values("agrees")
    summary = {
        "cells": cells,
        "too_near": cells - len(judged),
        "agree": sum(judged),
        "agreement": sum(judged) / len(judged) if judged else None,
    }
    words = (
        f"Simulation and closed form agree on {sum(judged)} of {len(judged)} cells of the map;"
        f" {cells - len(judged)} are too near the boundary to be judged."
        f"{_measured_words(maps)} {completion(outcomes)}"
    )
    return Findings(_headline(maps), (*sections, advice()), summary, lead=_LEAD, conclusion=words)


def _measured_words(maps: Maps) -> str:
    """Return what the measured loop bears, by the closed form."""
    said, late, k = [], 0.0, 0.0
    for (preset, ratio), group in maps.items():
        case = next(iter(group)).case
        late, k, gains = case.measured_ms, case.measured_stiffness, PRESETS[case.preset]
        most = 1e3 * critical_delay(gains.D, gains.K, s=WRENCH_GAIN, stiffness=k, damping=ratio * k)
        damped = f"with c = {ratio:g} s k" if ratio else "without damping"
        verdict = "stable" if late < most else "unstable"
        said.append(f"'{preset}' {damped} bears {most:.3g} ms, {verdict}")
    if not late:
        return ""
    return f" The measured loop is {late:.3g} ms late; at {k:.3g} N/m {'; '.join(said)}."


def _words(preset: str, ratio: float) -> str:
    return f"Gains '{preset}', contact damping {ratio:g} s times stiffness"


def _headline(maps: Maps) -> Table:
    rows = []
    for (preset, ratio), group in maps.items():
        for outcome in group:
            calm, wild = _bracket(outcome.rows)
            agree = [row["agrees"] for row in outcome.rows if row["agrees"] is not None]
            critical = outcome.rows[0]["critical_ms"]
            rows.append(
                (preset, ratio, outcome.case.stiffness, critical, calm, wild,
                 f"{sum(agree)} of {len(agree)}")
            )  # fmt: skip
    columns = header(
        "gains | damping over stiffness [s] | stiffness [N/m] | critical delay [ms] | "
        "last stable [ms] | first unstable [ms] | cells that agree"
    )
    return Table("", columns, tuple(rows))


def _bracket(rows: Sequence[Row]) -> tuple[float | None, float | None]:
    """Return the largest stable and the smallest unstable delay [ms]."""
    calm = [row["at_delay_ms"] for row in rows if row["stable"]]
    wild = [row["at_delay_ms"] for row in rows if not row["stable"]]
    return max(calm, default=None), min(wild, default=None)


def _map(group: Outcomes[StabilityCase]) -> Heatmap:
    case = next(iter(group)).case
    growth = np.array([[row["growth_per_s"] for row in outcome.rows] for outcome in group])
    preset = PRESETS[case.preset]
    points = tuple(
        Spot(1e3 * loop_delay(other), other.stiffness, str(name))
        for name, other in PRESETS.items()
        if (other.D, other.K) == (preset.D, preset.K)
    )
    if case.measured_ms:
        points += (Spot(case.measured_ms, case.measured_stiffness, "measured"),)
    return Heatmap(
        "Growth rate of the deflection",
        Axis("loop delay", "ms", log=True),
        Axis("contact stiffness", "N/m", log=True),
        tuple(case.delay_ms),
        tuple(outcome.case.stiffness for outcome in group),
        np.clip(growth, -_WORST_GROWTH, _WORST_GROWTH),
        Axis("growth", "1/s"),
        diverging=True,
        marks=points,
        caption=f"Clipped at {_WORST_GROWTH:g} 1/s; stable below zero."
        " Stars are the operating points of the presets with these gains.",
    )


def _border(group: Outcomes[StabilityCase]) -> Lines:
    stiffness = np.array([outcome.case.stiffness for outcome in group])
    critical = np.array([outcome.rows[0]["critical_ms"] for outcome in group])
    brackets = [_bracket(outcome.rows) for outcome in group]
    calm = np.array([np.nan if a is None else a for a, _ in brackets])
    wild = np.array([np.nan if b is None else b for _, b in brackets])
    late = next(iter(group)).case.measured_ms
    measured = (Series("measured loop", stiffness, np.full(len(stiffness), late)),) if late else ()
    return Lines(
        "Critical delay",
        Axis("contact stiffness", "N/m", log=True),
        Axis("delay", "ms", log=True),
        (
            Series("closed form", stiffness, critical, Style.DASHED),
            Series("last stable", stiffness, calm, Style.MARKERS),
            Series("first unstable", stiffness, wild, Style.MARKERS),
            *measured,
        ),
    )
