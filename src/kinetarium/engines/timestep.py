"""The time step, checked once for every engine."""

from math import isfinite

from kinetarium.scene import SceneError


def checked_timestep(timestep: float) -> float:
    """Give the time step back if it is one.

    Args:
        timestep: Time step [s].

    Raises:
        SceneError: If it is not positive and finite.
    """
    if not (isfinite(timestep) and timestep > 0):
        raise SceneError(f"a time step of {timestep:g} s means nothing; it must be positive")
    return timestep
