"""Config and case of the drop study."""

from dataclasses import dataclass
from typing import Annotated

from kinetarium.ranges import Range, Seed

Height = Annotated[float, Range(1e-4, 1e3, unit="m")]
"""Below it the fall is within the penetration depth of contacts."""
Size = Annotated[float, Range(1e-3, 100.0, unit="m")]
"""The smallest is about as large as contact margins."""
Mass = Annotated[float, Range(1e-6, 1e5, unit="kg")]
"""From a millimetre cube of water; engines treat lighter bodies as massless."""
Timestep = Annotated[float, Range(1e-6, 0.1, unit="s")]
"""A fall of 1 m takes four of the longest steps."""
Duration = Annotated[float, Range(1e-3, 1e5, unit="s")]
"""A million of the longest steps."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """A box that falls.

    Attributes:
        engine: Engines to run; all available ones by default.
        height: Drop height [m].
        size: Edge length of the box [m].
        mass: Mass of the box [kg].
        timestep: Physics time step [s].
        duration: Simulated time [s].
        seed: Seed of the engine's random numbers.
    """

    engine: tuple[str, ...] = ()
    height: Height = 0.5
    size: Size = 0.1
    mass: Mass = 1.0
    timestep: Timestep = 1e-3
    duration: Duration = 2.0
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class Case:
    """One fall in one engine; its values are those of the config."""

    engine: str
    height: Height
    size: Size
    mass: Mass
    timestep: Timestep
    duration: Duration
    seed: Seed
