"""The cost of a simulation: processor time per simulated second."""

from collections.abc import Mapping
from math import nan

from kinetarium.recording.recording import Recording

LOOP_TIME = "loop_cpu_s"
"""Name under which a study keeps the CPU time of the simulation loop, control included [s].

What is worked out before and after it, such as a reference, is not the engine's.
"""


def cost_per_second(timing: Mapping[str, float], recording: Recording | None) -> float:
    """Give the CPU time of the loop per simulated second [s/s]; NaN where nothing was measured.

    Args:
        timing: What a run cost by name [s].
        recording: What it recorded.
    """
    if recording is None or LOOP_TIME not in timing or len(recording["time"]) < 2:
        return nan
    return timing[LOOP_TIME] / float(recording["time"][-1] - recording["time"][0])
