"""The stability map: every delay and stiffness followed in time, beside the closed form."""

from itertools import product
from math import pi

import numpy as np

from kinetarium.batch.study import ConfigError
from kinetarium.control.admittance.critical_delay import critical_delay, critical_frequency
from kinetarium.ranges import check_ranges
from kinetarium.recording.recording import Channel, Recording, Row
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dock.press.presets import PRESETS, WRENCH_GAIN
from kinetarium.studies.dock.stability.config import StabilityCase, StabilityConfig

MARGIN_MS = 0.5
"""How near to the closed form a verdict may differ [ms]."""
_PERIODS, _STEPS = 80, 600
"""How many periods of the critical oscillation are followed, and steps in each [-]."""
_MOST_STEPS = 10_000_000
"""Steps within a delay, all of which are kept [-]: some 160 MB."""
_SETTLED = 0.4
"""Share of a run after which only the slowest root is left [-]."""


def stability_cases(config: StabilityConfig) -> tuple[StabilityCase, ...]:
    """Return a case for each preset, damping and stiffness.

    Raises:
        ConfigError: If a list is empty or a value makes no sense.
    """
    check_ranges(config)
    for name in ("preset", "stiffness", "damping_ratio", "delay_ms"):
        if not getattr(config, name):
            raise ConfigError(f"--{name.replace('_', '-')} needs at least one value")
    chosen = tuple(
        StabilityCase(
            preset=preset,
            stiffness=stiffness,
            damping_ratio=ratio,
            delay_ms=tuple(sorted(set(config.delay_ms))),
        )
        for preset, ratio, stiffness in product(
            dict.fromkeys(config.preset),
            sorted(set(config.damping_ratio)),
            sorted(set(config.stiffness)),
        )
    )
    for case in chosen:
        _refuse_long(case)
    return chosen


def _refuse_long(case: StabilityCase) -> None:
    """Refuse a delay that spans too many steps of a contact's fast oscillation."""
    delay, step = case.delay_ms[-1], 1e3 * _period(case) / _STEPS
    if delay / step > _MOST_STEPS:
        raise ConfigError(
            f"--delay-ms {delay:g} is more than {_MOST_STEPS} steps of {step:.3g} ms, which a"
            f" --stiffness of {case.stiffness:g} with a --damping-ratio of {case.damping_ratio:g}"
            " needs"
        )


def _period(case: StabilityCase) -> float:
    """Return the period of the critical oscillation [s]."""
    preset = PRESETS[case.preset]
    k, c = case.stiffness, case.damping_ratio * case.stiffness
    return 2 * pi / critical_frequency(preset.D, preset.K, s=WRENCH_GAIN, stiffness=k, damping=c)


def follow(case: StabilityCase) -> Recording:
    """Kick the contact at every delay, and record how its deflection grows or fades."""
    from kinetarium.studies.dock.stability._delayed_contact import envelope

    preset = PRESETS[case.preset]
    k, c = case.stiffness, case.damping_ratio * case.stiffness
    period = _period(case)
    columns = [
        envelope(
            preset.D,
            preset.K,
            WRENCH_GAIN * k,
            WRENCH_GAIN * c,
            delay * 1e-3,
            period,
            _PERIODS,
            period / _STEPS,
        )
        for delay in case.delay_ms
    ]
    time = np.linspace(0.5, _PERIODS - 0.5, _PERIODS) * period
    names = tuple(f"{delay:g} ms" for delay in case.delay_ms)
    channels = {
        "time": Channel(time, "s"),
        "envelope": Channel(np.array(columns).T, "1", names),
    }
    return Recording(channels, "running", {"engine": "none"})


def judge(case: StabilityCase, recording: Recording) -> list[Row]:
    """Compare what was seen at each delay with the closed form.

    Returns:
        For each delay: at_delay_ms, critical_ms, growth_per_s (of the deflection), stable (as
        seen), stable_closed_form, and agrees; None where it is too near to the critical one.
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
    """Return the rate at which a deflection grows [1/s], negative where it fades."""
    from kinetarium.studies.dock.stability._delayed_contact import RUNAWAY

    wild = np.flatnonzero(deflection >= RUNAWAY)
    if wild.size:
        return float(np.log(RUNAWAY) / time[wild[0]])
    late = time > _SETTLED * time[-1]
    logs = np.log(np.maximum(deflection[late], 1e-300))
    return float(np.polyfit(time[late], logs, 1)[0])
