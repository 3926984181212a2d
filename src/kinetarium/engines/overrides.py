"""What a study may change in every engine from case to case: time step and iterations."""

from collections.abc import Sequence

from kinetarium.engines.base.engine import checked_timestep
from kinetarium.engines.protocol import Options
from kinetarium.errors import KinetariumError

_MOST_STEPS = 1e5
"""Steps within a period beyond which no run would end [-]."""
_CLOSE = 1e-6
"""Rounding that a time step may have [-]."""


class OverrideError(KinetariumError):
    """A value that no engine could be run with."""


def check_timesteps(timestep: Sequence[float], *, period: float) -> None:
    """Refuse physics steps that do not fit the period of control or of samples.

    Args:
        timestep: Physics steps [s].
        period: What every physics step must be a whole part of, not too small a one [s].

    Raises:
        KinetariumError: If there is one.
    """
    for step in timestep:
        whole = period / checked_timestep(step)
        if not 1 - _CLOSE < whole < _MOST_STEPS or abs(whole - round(whole)) > _CLOSE * whole:
            raise OverrideError(f"--timestep must be a whole part of {period:g} s, not {step:g}")


def distinct_iterations(options: Options, asked: Sequence[int]) -> tuple[int, ...]:
    """Return the iterations that make a difference, each once; 0 if none do or none are asked.

    Args:
        asked: Iterations [-]; 0 for as many as the engine has otherwise.
    """
    counts = options.with_iterations(1) != options.with_iterations(2)
    return tuple(dict.fromkeys(asked)) or (0,) if counts else (0,)
