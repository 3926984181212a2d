"""Measures of a row of the stability map: growth rates, and the closed form."""

import numpy as np

from kinetarium.control.admittance.critical_delay import critical_delay
from kinetarium.recording.recording import Recording, Row
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dock.press.presets import PRESETS, WRENCH_GAIN
from kinetarium.studies.dock.stability.config import StabilityCase
from kinetarium.studies.dock.stability.run import RUNAWAY

MARGIN_MS = 0.5
"""Distance from the critical delay within which a verdict may differ [ms]."""
_SETTLED = 0.4
"""Share of a run after which only the slowest mode remains [-]."""


def score(case: StabilityCase, recording: Recording) -> list[Row]:
    """Compare the simulation at each delay with the closed form.

    Returns:
        For each delay: at_delay_ms, critical_ms, growth_per_s (of the deflection), stable (as
        simulated), stable_closed_form, and agrees; None if it is too near to the critical one.
    """
    preset = PRESETS[case.preset]
    damping = case.damping_ratio * case.stiffness
    critical = 1e3 * critical_delay(
        preset.D, preset.K, s=WRENCH_GAIN, stiffness=case.stiffness, damping=damping
    )
    rows: list[Row] = []
    for delay, deflection in zip(case.delay_ms, recording["envelope"].T, strict=True):
        growth = growth_rate(recording["time"], deflection)
        stable, expected = growth < 0, delay < critical
        near = abs(delay - critical) <= MARGIN_MS
        rows.append(
            {
                "at_delay_ms": delay,
                "critical_ms": critical,
                "growth_per_s": growth,
                "stable": stable,
                "stable_closed_form": expected,
                "agrees": None if near else stable == expected,
            }
        )
    return rows


def growth_rate(time: Array, deflection: Array) -> float:
    """Return the growth rate of a deflection [1/s], negative if it decays."""
    wild = np.flatnonzero(deflection >= RUNAWAY)
    if wild.size:
        return float(np.log(RUNAWAY) / time[wild[0]])
    late = time > _SETTLED * time[-1]
    logs = np.log(np.maximum(deflection[late], 1e-300))
    return float(np.polyfit(time[late], logs, 1)[0])
