"""The delay of a whole control loop, as its parts add up, and the delay that it bears."""

from dataclasses import replace

from kinetarium.control.critical_delay import critical_delay
from kinetarium.control.wrench_filter import RandomWalkKalman
from kinetarium.studies.dock.config import DockCase
from kinetarium.studies.dock.presets import PRESETS, WRENCH_GAIN, Preset, damper

STEP = 1e-3
"""Age of a reading of the sensor: one physics step [s]."""


def filter_lag(tick: float, kalman: float) -> float:
    """Give how late the mean over a tick and a Kalman filter are [s].

    Args:
        tick: Time between two ticks [s].
        kalman: Q/R of the filter [-]; 0 for the mean alone.
    """
    mean = tick / 2 if tick > STEP else 0.0
    return mean + (RandomWalkKalman(kalman).lag * tick if kalman else 0.0)


def loop_delay(preset: Preset) -> float:
    """Give the delay from a force to the answer of the arm [s].

    Set points, the mean over a tick (half of it), the Kalman filter and the age of a reading.
    """
    return preset.delay + filter_lag(1 / preset.tick_rate, preset.kalman) + STEP


def case_delay(case: DockCase) -> float:
    """Give the delay of the loop of a case [s]."""
    return loop_delay(replace(PRESETS[case.preset], delay=case.delay_ms * 1e-3))


def case_critical_delay(case: DockCase) -> float:
    """Give the delay from which the loop of a case is unstable on its prescribed contact [s]."""
    preset = PRESETS[case.preset]
    return critical_delay(
        preset.D,
        damper(case.case, case.preset),
        s=WRENCH_GAIN,
        stiffness=preset.stiffness,
        damping=preset.damping,
    )
