"""Config and cases of the stability map: one row of the map each."""

from dataclasses import dataclass, replace
from itertools import product
from math import pi
from typing import Annotated

from kinetarium.batch.study import ConfigError, refuse_empty
from kinetarium.ranges import Range, check_ranges
from kinetarium.studies.dock.press.config import PresetName

STIFFNESS = Range(1e2, 1e9, unit="N/m")
"""The slow oscillation of softer contacts takes hours to simulate."""
DAMPING_RATIO = Range(0.0, 1.0, unit="s")
"""Above it the damper alone dominates the contact."""
DELAY = Range(0.01, 1e3, unit="ms")
"""From far below a tick of the fastest loop to far above the critical delay of any gains."""
Measured = Annotated[float, replace(DELAY, also=(0.0,))]


@dataclass(frozen=True, kw_only=True)
class StabilityConfig:
    """A map of delay and stiffness.

    Attributes:
        preset: Gains.
        stiffness: Contact stiffness [N/m].
        damping_ratio: Contact damping over contact stiffness [s].
        delay_ms: Loop delays [ms].
        measured_ms: Delay of a real loop, such as dock-serve reports it, to mark on the map [ms]; 0
            for none.
        measured_stiffness: Stiffness of its contact [N/m].
    """

    preset: tuple[PresetName, ...] = (PresetName.PAPER,)
    stiffness: Annotated[tuple[float, ...], STIFFNESS] = (
        1e4, 1.5e4, 2.2e4, 3.2e4, 4.6e4, 6.8e4, 1e5, 1.5e5, 2.2e5, 3.2e5, 4.6e5, 6.8e5, 1e6,
    )  # fmt: skip
    damping_ratio: Annotated[tuple[float, ...], DAMPING_RATIO] = (0.0, 0.02)
    delay_ms: Annotated[tuple[float, ...], DELAY] = (
        0.2, 0.3, 0.45, 0.7, 1.0, 1.5, 2.2, 3.2, 4.6, 6.0, 8.0, 10.0, 12.0, 14.0,
        16.0, 18.0, 20.0, 23.0, 26.0, 30.0, 35.0, 40.0, 46.0, 55.0, 66.0, 80.0,
    )  # fmt: skip
    measured_ms: Measured = 0.0
    measured_stiffness: Annotated[float, STIFFNESS] = 1e5


@dataclass(frozen=True, kw_only=True)
class StabilityCase:
    """All delays at one stiffness; its values are those of the config."""

    preset: PresetName
    stiffness: Annotated[float, STIFFNESS]
    damping_ratio: Annotated[float, DAMPING_RATIO]
    delay_ms: Annotated[tuple[float, ...], DELAY]
    # Runs of earlier releases do not have these fields.
    measured_ms: Measured = 0.0
    measured_stiffness: Annotated[float, STIFFNESS] = 1e5


STEPS = 600
"""Steps in a period of the critical oscillation [-]."""
_MOST_STEPS = 10_000_000
"""Maximum number of stored steps within a delay [-]: about 160 MB."""


def cases(config: StabilityConfig) -> tuple[StabilityCase, ...]:
    """Return a case for each preset, damping and stiffness.

    Raises:
        ConfigError: If a list is empty, or a delay spans too many steps.
    """
    check_ranges(config)
    refuse_empty(config, "preset", "stiffness", "damping_ratio", "delay_ms")
    chosen = tuple(
        StabilityCase(
            preset=preset,
            stiffness=stiffness,
            damping_ratio=ratio,
            delay_ms=tuple(sorted(set(config.delay_ms))),
            measured_ms=config.measured_ms,
            measured_stiffness=config.measured_stiffness,
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
    """Refuse a delay that spans too many steps of a fast oscillation."""
    delay, step = case.delay_ms[-1], 1e3 * period(case) / STEPS
    if delay / step > _MOST_STEPS:
        raise ConfigError(
            f"--delay-ms {delay:g} is more than {_MOST_STEPS} steps of {step:.3g} ms, which a"
            f" --stiffness of {case.stiffness:g} with a --damping-ratio of {case.damping_ratio:g}"
            " needs"
        )


def period(case: StabilityCase) -> float:
    """Return the period of the critical oscillation [s]."""
    from kinetarium.control.admittance.law import critical_frequency
    from kinetarium.studies.dock.press.presets import PRESETS, WRENCH_GAIN

    preset = PRESETS[case.preset]
    k, c = case.stiffness, case.damping_ratio * case.stiffness
    return 2 * pi / critical_frequency(preset.D, preset.K, s=WRENCH_GAIN, stiffness=k, damping=c)
