"""Cases of the stability map: one row of the map each."""

from itertools import product
from math import pi

from kinetarium.batch.study import ConfigError, refuse_empty
from kinetarium.control.admittance.critical_delay import critical_frequency
from kinetarium.ranges import check_ranges
from kinetarium.studies.dock.press.presets import PRESETS, WRENCH_GAIN
from kinetarium.studies.dock.stability.config import StabilityCase, StabilityConfig

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
    preset = PRESETS[case.preset]
    k, c = case.stiffness, case.damping_ratio * case.stiffness
    return 2 * pi / critical_frequency(preset.D, preset.K, s=WRENCH_GAIN, stiffness=k, damping=c)
