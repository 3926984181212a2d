"""What the drop study is asked, and one case of it."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Config:
    """A box that falls.

    Attributes:
        engine: The engines; all that are available by default.
        height: Height of the fall [m].
        size: Edge of the box [m].
        mass: Mass of the box [kg].
        timestep: Physics step [s].
        duration: How long the box is watched [s].
        seed: Seed of everything random in an engine.
    """

    engine: tuple[str, ...] = ()
    height: float = 0.5
    size: float = 0.1
    mass: float = 1.0
    timestep: float = 1e-3
    duration: float = 2.0
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Case:
    """One fall in one engine.

    Attributes:
        engine: The engine.
        height: Height of the fall [m].
        size: Edge of the box [m].
        mass: Mass of the box [kg].
        timestep: Physics step [s].
        duration: How long the box is watched [s].
        seed: Seed of everything random in the engine.
    """

    engine: str
    height: float
    size: float
    mass: float
    timestep: float
    duration: float
    seed: int
