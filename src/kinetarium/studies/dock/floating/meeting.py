"""The course of a meeting: when the satellites start, touch and part, and how fast it all is."""

from math import pi, sqrt

from kinetarium.studies.dock.floating.config import FloatCase, LoopRate

STEP = 1e-3
"""Of the world [s]."""
RUN_UP = 0.5
"""Time in which the chaser comes up to speed [s]."""
_COAST = 0.3
"""Time from its release to the contact [s]."""
_RSI_TICK = 4e-3
"""Of an industrial interface [s]."""
_AFTER = 0.3
"""Time that is watched after the contact [s]."""


def gap(case: FloatCase) -> float:
    """Return the distance of the docking faces at the start [m]."""
    return case.speed * (RUN_UP / 2 + _COAST)


def reduced_mass(mass: tuple[float, float]) -> float:
    """Return the mass mu = m1 m2/(m1 + m2) with which two bodies meet [kg]."""
    return mass[0] * mass[1] / (mass[0] + mass[1])


def contact_frequency(mass: tuple[float, float], stiffness: float) -> float:
    """Return w = sqrt(k/mu) of a contact [rad/s] of masses [kg] by a spring [N/m]."""
    return sqrt(stiffness / reduced_mass(mass))


def duration(case: FloatCase) -> float:
    """Return how long a meeting is watched [s], in whole hundredths."""
    contact = pi / contact_frequency(case.mass, case.stiffness)
    return round(RUN_UP + _COAST + 2 * contact + 5 * case.delay_ms * 1e-3 + _AFTER, 2)


def tick_steps(case: FloatCase, step: float) -> int:
    """Return how many steps [s] of the world there are in a tick of the loop."""
    return round(_RSI_TICK / step) if case.timing is LoopRate.RSI else 1


def lead_time(case: FloatCase, tick: float, *, own_lag: float = 0.0) -> float:
    """Return by how much the commands are ahead [s].

    The mean of the force over a tick of several steps is late by half of it.

    Args:
        tick: Length of a tick [s].
        own_lag: Lag of the arms beside that of the case [s].
    """
    if not case.lead:
        return 0.0
    averaging = tick / 2 if case.timing is LoopRate.RSI else 0.0
    return (case.delay_ms + case.lead_error_ms) * 1e-3 + averaging + own_lag
