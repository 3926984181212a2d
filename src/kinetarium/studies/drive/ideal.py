"""The drive without an engine: the ramped commands of open loop on wheels that do not slip."""

import numpy as np

from kinetarium.control.differential_drive import SpeedRamp
from kinetarium.control.driving_reference import DrivingReference
from kinetarium.spatial.arrays import Array

_RATE = 100.0
"""How often speeds are commanded [Hz]."""


def no_slip_path(reference: DrivingReference) -> Array:
    """Give where wheels that do not slip would take a robot in open loop [m], shape (n, 2).

    It leaves the reference by what the ramps cost, which no engine can be blamed for.
    """
    times = np.arange(0.0, reference.duration + 1.0, 1 / _RATE)
    ramp, now = SpeedRamp(), (0.0, 0.0)
    speeds = np.empty((len(times), 2))
    for k, wanted in enumerate(reference.sample(times)[1].tolist()):
        speeds[k] = now = ramp.toward(wanted, now=now, period=1 / _RATE)
    turned = np.cumsum(speeds[:, 1]) / _RATE
    # The heading in the middle of a period, during which the speeds are held.
    heading = turned - speeds[:, 1] / _RATE / 2
    ways = np.stack([np.cos(heading), np.sin(heading)], axis=-1)
    steps = speeds[:, :1] * ways / _RATE
    return np.vstack([np.zeros(2), np.cumsum(steps, axis=0)])
