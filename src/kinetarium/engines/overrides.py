"""What a study may change in every engine from case to case: time step, iterations, friction."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from kinetarium.engines.initial_state import checked_timestep
from kinetarium.engines.ode.options import OdeOptions, OdeSolver
from kinetarium.errors import KinetariumError

_COUNTERS = ("iterations", "position_iterations")
"""Options that count the iterations of an engine's solver."""
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


def distinct_iterations(kind: type[Any], asked: Sequence[int]) -> tuple[int, ...]:
    """Return the iterations that make a difference, each once; those of its own if none are asked.

    Args:
        kind: The engine's class of options.
        asked: Iterations [-]; 0 for as many as the engine has otherwise.
    """
    return tuple(dict.fromkeys(asked)) or (0,) if _counter(kind) else (0,)


def with_iterations(options: Any, iterations: int) -> Any:
    """Return options with other iterations of the solver; of an engine that counts none, the same.

    ODE's direct solver does not iterate: there the iterative one is meant.

    Args:
        options: The engine's own options.
        iterations: Iterations [-]; 0 leaves the options as they are.
    """
    name = _counter(type(options))
    if not iterations or not name:
        return options
    if isinstance(options, OdeOptions):
        return replace(options, solver=OdeSolver.QUICK, iterations=iterations)
    return replace(options, **{name: iterations})


def _counter(kind: type[Any]) -> str:
    names = {field.name for field in fields(kind)}
    return next((name for name in _COUNTERS if name in names), "")
