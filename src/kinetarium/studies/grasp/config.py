"""What the grasp study is asked, and one case of it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from kinetarium.ranges import Friction, Iterations, Range, Seed

MOST_STARTS = 1000
"""Of each case; each is a run of its own."""
STEP = Range(5e-5, 0.01, unit="s")
"""Of physics: the longest is the period of the samples; with the shortest a path takes minutes."""
Duration = Annotated[float, Range(0.5, 1e3, unit="s")]
"""The least is a window of the moving variance."""


class ToolPath(StrEnum):
    """What the hand does with the cube."""

    CIRCLE = "circle"
    SQUARE = "square"
    EIGHT = "eight"
    STILL = "still"
    """Nothing: what the force does then is the engine's own."""
    RELEASE = "release"
    """Lets go: the grip is lowered until the cube slides."""


class Profile(StrEnum):
    """What is in force in an engine."""

    DEFAULTS = "defaults"
    """Each engine as it comes, with its own servos."""
    MATCHED = "matched"
    """One law, one friction, one time step: only the engine differs."""
    TUNED = "tuned"
    """The best settings known for each engine, with its own servos."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """A cube that an arm carries along a path.

    Attributes:
        engine: The engines; all that are available by default.
        path: The paths of the hand.
        profile: What is in force in the engines.
        starts: How many places of the cube between the pads are tried [-].
        release: Also lower the grip until the cube slides.
        duration: How much of a path is run [s]; once round takes 8.
        timestep: Physics steps to use instead of the profile's own [s].
        iterations: Iterations of the solver to use instead of the profile's own [-]; 0 for those.
        friction: Friction between pads and cube to use instead of the profile's own [-].
        seed: Seed of the cube's places and of everything random in an engine.
    """

    engine: tuple[str, ...] = ()
    path: tuple[ToolPath, ...] = (ToolPath.CIRCLE, ToolPath.SQUARE, ToolPath.EIGHT)
    profile: tuple[Profile, ...] = (Profile.DEFAULTS, Profile.MATCHED)
    starts: Annotated[int, Range(1, MOST_STARTS, unit="-")] = 5
    release: bool = False
    duration: Duration = 8.0
    timestep: Annotated[tuple[float, ...], STEP] = ()
    iterations: tuple[Iterations, ...] = ()
    friction: tuple[Friction, ...] = ()
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class Case:
    """One cube in one engine.

    Attributes:
        engine: The engine.
        path: What the hand does.
        profile: What is in force in the engine.
        start: Number of the cube's place; 0 is the middle of the pads.
        duration: How much of the path is run [s].
        timestep: Physics step [s].
        iterations: Iterations of the solver [-]; 0 for the profile's own.
        friction: Between pads and cube [-].
        seed: Seed of the cube's place and of everything random in the engine.
    """

    engine: str
    path: ToolPath
    profile: Profile
    start: Annotated[int, Range(0, MOST_STARTS - 1, unit="-")]
    duration: Duration
    timestep: Annotated[float, STEP]
    iterations: Iterations
    friction: Friction
    seed: Seed
