"""One run: a row of the stability map, every delay simulated from an initial impulse.

The trapezoidal rule on D v' = -K v - s (c v + k x)(t - tau), with a step that divides the delay,
as a Numba kernel. The error of the growth rate is far below the effect of 0.5 ms of delay.
The rows compare the growth rates with the closed form.
"""

from math import ceil

import numpy as np

from kinetarium.control.admittance.law import critical_delay
from kinetarium.recording.recording import Channel, Recording, Row
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled
from kinetarium.studies.dock.press.presets import PRESETS, WRENCH_GAIN
from kinetarium.studies.dock.stability.config import STEPS, StabilityCase, period

_PERIODS = 80
"""Number of simulated periods of the critical oscillation [-]."""
RUNAWAY = 1e6
"""Amplitude, relative to the initial one, above which a loop has diverged [-]."""


def run(case: StabilityCase) -> Recording:
    """Simulate the contact at every delay, and record the amplitude of its deflection."""
    preset = PRESETS[case.preset]
    k, c = case.stiffness, case.damping_ratio * case.stiffness
    length = period(case)
    columns = [
        envelope(
            preset.D,
            preset.K,
            WRENCH_GAIN * k,
            WRENCH_GAIN * c,
            delay * 1e-3,
            length,
            _PERIODS,
            length / STEPS,
        )
        for delay in case.delay_ms
    ]
    time = np.linspace(0.5, _PERIODS - 0.5, _PERIODS) * length
    names = tuple(f"{delay:g} ms" for delay in case.delay_ms)
    channels = {
        "time": Channel(time, "s"),
        "envelope": Channel(np.array(columns).T, "1", names),
    }
    return Recording(channels, "running", {"engine": "none"})


@compiled
def envelope(
    D: float,
    K: float,
    stiffness: float,
    damping: float,
    delay: float,
    window: float,
    windows: int,
    step: float,
) -> Array:
    """Return the maximum deflection in each time window, after an initial impulse.

    Args:
        D: Virtual mass times s [kg].
        K: Virtual damper times s [N s/m].
        stiffness: k of the contact times s [N/m].
        damping: c of the contact times s [N s/m].
        delay: Delay tau [s], positive.
        window: Length of a window [s].
        windows: Number of windows.
        step: Maximum step [s].

    Returns:
        Deflections over the initial one [-], shape (windows,); RUNAWAY after divergence.
    """
    late = max(1, ceil(delay / step))
    h = delay / late
    xs, vs = np.zeros(late + 1), np.zeros(late + 1)
    result = np.zeros(windows)
    x, v = 1.0, 0.0
    xs[0], vs[0] = x, v
    a0 = 0.0
    half = K * h / (2 * D)
    per_window = max(1, round(window / h))
    n = 0
    for i in range(windows):
        greatest = 0.0
        for _ in range(per_window):
            n += 1
            past = (n + 1) % (late + 1)
            # Before the start there is no contact force.
            a1 = (damping * vs[past] + stiffness * xs[past]) / D if n >= late else 0.0
            v1 = (v * (1 - half) - h * (a0 + a1) / 2) / (1 + half)
            x += h * (v + v1) / 2
            v, a0 = v1, a1
            xs[n % (late + 1)], vs[n % (late + 1)] = x, v
            greatest = max(greatest, abs(x))
        result[i] = greatest
        if greatest > RUNAWAY:
            result[i:] = RUNAWAY
            break
    return result


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
