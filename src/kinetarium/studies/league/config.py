"""Config and case of the league."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from kinetarium.ranges import Range

Rounds = Annotated[int, Range(1, 100, unit="-")]
"""More than a hundred processes per engine tell nothing new about its speed."""
Round = Annotated[int, Range(0, 99, unit="-")]


class Part(StrEnum):
    """What one process measures."""

    CHECKS = "checks"
    """The conformance kit."""
    CURVES = "curves"
    """Error and CPU time of every problem at every time step."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """The engines and versions to compare.

    Attributes:
        engine: Installed engines; all available ones if neither these nor versions are given.
        version: Versions of engines, such as mujoco==3.17.0, each installed into an environment
            of its own in the user's cache folder.
        rounds: Processes in which the speed of each is measured, in turn [-].
        quick: Short form: three time steps instead of six, and at most four rounds.
    """

    engine: tuple[str, ...] = ()
    version: tuple[str, ...] = ()
    rounds: Rounds = 5
    quick: bool = False


@dataclass(frozen=True, kw_only=True)
class Case:
    """One process of one engine; other values are those of the config.

    Attributes:
        engine: The engine.
        version: Its version: that asked for, or that of the installed library.
        package: What is installed into an environment of its own, such as "mujoco==4.0.0";
            empty for the installed engine.
        part: What is measured.
        round: The round, from 0; checks have only one [-].
    """

    engine: str
    version: str
    package: str
    part: Part
    round: Round
    quick: bool
