"""The delay of a whole control loop, as its parts add up, and the delay that it bears."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kinetarium.control.admittance.critical_delay import critical_delay
from kinetarium.control.admittance.sensing import RandomWalkKalman
from kinetarium.figure.charts import Axis, Heatmap, Spot
from kinetarium.figure.page import Figure, Section
from kinetarium.figure.text import Prose
from kinetarium.studies.dock.press.config import Contact, DockCase
from kinetarium.studies.dock.press.presets import PRESETS, WRENCH_GAIN, Preset, damper
from kinetarium.studies.dock.stability.config import StabilityConfig

STEP = 1e-3
"""Age of a reading of the sensor: one physics step [s]."""


def filter_lag(tick: float, kalman: float) -> float:
    """Return how late the mean over a tick and a Kalman filter are [s].

    Args:
        tick: Time between two ticks [s].
        kalman: Q/R of the filter [-]; 0 for the mean alone.
    """
    mean = tick / 2 if tick > STEP else 0.0
    return mean + (RandomWalkKalman(kalman).lag * tick if kalman else 0.0)


def loop_delay(preset: Preset) -> float:
    """Return the delay from a force to the answer of the arm [s].

    Set points, the mean over a tick (half of it), the Kalman filter and the age of a reading.
    """
    return preset.delay + filter_lag(1 / preset.tick_rate, preset.kalman) + STEP


def case_delay(case: DockCase) -> float:
    """Return the delay of the loop of a case [s]."""
    return loop_delay(replace(PRESETS[case.preset], delay=case.delay_ms * 1e-3))


def case_critical_delay(case: DockCase) -> float:
    """Return the delay from which the loop of a case is unstable on its prescribed contact [s]."""
    preset = PRESETS[case.preset]
    return critical_delay(
        preset.D,
        damper(case.case, case.preset),
        s=WRENCH_GAIN,
        stiffness=preset.stiffness,
        damping=preset.damping,
    )


_GRID = StabilityConfig()
_WORST = 10.0
"""Ratio of delays at which colours end [-]."""
_EXPLAINED = (
    f"Cut off at {1 / _WORST:g} and {_WORST:g}; above 1, in red, a contact rings up. By the"
    " closed form, for one axis; the study dock-stability also follows every cell in time."
)
_NO_PLACE = (
    "Runs have a place on the map if their contact is prescribed. The engines' own contact has no"
    " stiffness in N/m, as if above the upper edge; that of Hunt and Crossley grows stiffer as it"
    " is pressed."
)

Gains = tuple[float, float, float]
"""D [kg], K [N s/m], and damping by stiffness of the contact [s]."""


def delay_maps(cases: Sequence[DockCase]) -> Section:
    """Return a map for all gains that the cases have, with the place of each case."""
    groups: dict[Gains, list[DockCase]] = {}
    for case in cases:
        preset = PRESETS[case.preset]
        gains = (preset.D, damper(case.case, case.preset), preset.damping / preset.stiffness)
        groups.setdefault(gains, []).append(case)
    figures: list[Figure] = [_map(gains, group) for gains, group in groups.items()]
    if any(case.contact is not Contact.PRESCRIBED for case in cases):
        figures.append(Prose(_NO_PLACE))
    return Section("How late the loop may be", tuple(figures))


def _map(gains: Gains, cases: Sequence[DockCase]) -> Heatmap:
    D, K, ratio = gains
    critical = [
        critical_delay(D, K, s=WRENCH_GAIN, stiffness=k, damping=ratio * k) for k in _GRID.stiffness
    ]
    spots = {
        (1e3 * case_delay(case), PRESETS[case.preset].stiffness): str(case.preset)
        for case in cases
        if case.contact is Contact.PRESCRIBED
    }
    shown = {place: name for place, name in spots.items() if place[0] <= _GRID.delay_ms[-1]}
    words = " The star is where runs are." if shown else ""
    for (delay, _), name in spots.items() - shown.items():
        words += f" The loop of '{name}' is {delay:.3g} ms late, beyond the map."
    ratios = 1e-3 * np.array(_GRID.delay_ms) / np.array(critical)[:, np.newaxis]
    return Heatmap(
        f"D {D:g} kg, K {K:g} N s/m, contact with damping c = {ratio:g} s times k",
        Axis("delay of the loop", "ms", log=True),
        Axis("stiffness of the contact", "N/m", log=True),
        _GRID.delay_ms,
        _GRID.stiffness,
        np.clip(ratios, 1 / _WORST, _WORST),
        Axis("delay by critical delay", log=True),
        diverging=True,
        marks=tuple(Spot(delay, stiffness, name) for (delay, stiffness), name in shown.items()),
        caption=_EXPLAINED + words,
    )
