"""The total delay of a control loop, and its critical delay."""

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
    """Return the lag of the mean over a tick and a Kalman filter [s].

    Args:
        tick: Time between two ticks [s].
        kalman: Q/R of the filter [-]; 0 for the mean alone.
    """
    mean = tick / 2 if tick > STEP else 0.0
    return mean + (RandomWalkKalman(kalman).lag * tick if kalman else 0.0)


def loop_delay(preset: Preset) -> float:
    """Return the delay from a force to the response of the arm [s].

    Set points, the mean over a tick (half of it), the Kalman filter and the age of a reading.
    """
    return preset.delay + filter_lag(1 / preset.tick_rate, preset.kalman) + STEP


def case_delay(case: DockCase) -> float:
    """Return the delay of the loop of a case [s]."""
    return loop_delay(replace(PRESETS[case.preset], delay=case.delay_ms * 1e-3))


def case_critical_delay(case: DockCase) -> float:
    """Return the delay above which the loop of a case is unstable on its prescribed contact [s]."""
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
"""Ratio of delays at the end of the colour scale [-]."""
_EXPLAINED = (
    f"Clipped at {1 / _WORST:g} and {_WORST:g}; above 1, in red, a contact is unstable. From the"
    " closed form, for one axis; the study dock-stability also simulates every cell."
)
_NO_PLACE = (
    "Only runs with a prescribed contact are on the map. The engines' own contact has no"
    " stiffness in N/m and corresponds to a point above the upper edge; that of Hunt and Crossley"
    " stiffens with depth."
)

Gains = tuple[float, float, float]
"""D [kg], K [N s/m], and damping over stiffness of the contact [s]."""


def delay_maps(cases: Sequence[DockCase]) -> Section:
    """Return a map for all gains of the cases, with each case marked."""
    groups: dict[Gains, list[DockCase]] = {}
    for case in cases:
        preset = PRESETS[case.preset]
        gains = (preset.D, damper(case.case, case.preset), preset.damping / preset.stiffness)
        groups.setdefault(gains, []).append(case)
    figures: list[Figure] = [_map(gains, group) for gains, group in groups.items()]
    if any(case.contact is not Contact.PRESCRIBED for case in cases):
        figures.append(Prose(_NO_PLACE))
    return Section("Critical delay of the loop", tuple(figures))


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
    words = " The star marks the runs." if shown else ""
    for (delay, _), name in spots.items() - shown.items():
        words += f" The loop delay of '{name}', {delay:.3g} ms, is outside the map."
    ratios = 1e-3 * np.array(_GRID.delay_ms) / np.array(critical)[:, np.newaxis]
    return Heatmap(
        f"D {D:g} kg, K {K:g} N s/m, contact with damping c = {ratio:g} s times k",
        Axis("loop delay", "ms", log=True),
        Axis("contact stiffness", "N/m", log=True),
        _GRID.delay_ms,
        _GRID.stiffness,
        np.clip(ratios, 1 / _WORST, _WORST),
        Axis("delay over critical delay", log=True),
        diverging=True,
        marks=tuple(Spot(delay, stiffness, name) for (delay, stiffness), name in shown.items()),
        caption=_EXPLAINED + words,
    )
