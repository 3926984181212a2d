"""The delay of a whole control loop, as its parts add up."""

from kinetarium.control.wrench_filter import RandomWalkKalman
from kinetarium.studies.dock.presets import Preset

_STEP = 1e-3
"""Age of a reading of the sensor: one physics step [s]."""


def loop_delay(preset: Preset) -> float:
    """Give the delay from a force to the answer of the arm [s].

    Set points, the mean over a tick (half of it), the Kalman filter and the age of a reading.
    """
    tick = 1 / preset.tick_rate
    mean = tick / 2 if tick > _STEP else 0.0
    kalman = RandomWalkKalman(preset.kalman).lag * tick if preset.kalman else 0.0
    return preset.delay + mean + kalman + _STEP
