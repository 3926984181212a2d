"""Config and cases of the league: checks of each engine and version, then rounds of speed."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from random import Random
from typing import Annotated

from kinetarium.batch.study import ConfigError, case_of
from kinetarium.errors import UnknownNameError, one_line
from kinetarium.ranges import Range, check_ranges

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


_QUICK_ROUNDS = 4
Side = tuple[str, str, str]
"""Engine, version, and what has to be installed for it, if anything."""
_PINNED = re.compile(
    r"(?P<package>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)"
    r"==(?P<version>\d+(?:\.\d+)*(?:(?:a|b|rc)\d+)?(?:\.post\d+)?(?:\.dev\d+)?)",
    re.ASCII,
)
"""One version of a package (PEP 440): nothing else is ever passed to pip."""


def cases(config: Config) -> tuple[Case, ...]:
    """Return the cases; rounds are outermost, so that a busy machine slows all alike.

    Raises:
        KinetariumError: If an engine is not available, or a version is not of the form
            package==version with the package of a known engine.
    """
    check_ranges(config)
    sides = tuple(dict.fromkeys(_sides(config)))
    rounds = min(config.rounds, _QUICK_ROUNDS) if config.quick else config.rounds
    turns = [(Part.CHECKS, 0, sides)]
    turns += [(Part.CURVES, number, _shuffled(sides, number)) for number in range(rounds)]
    return tuple(
        case_of(config, Case, engine=engine, version=version, package=package, part=part,
                round=number)
        for part, number, order in turns
        for engine, version, package in order
    )  # fmt: skip


def _shuffled(sides: Sequence[Side], number: int) -> tuple[Side, ...]:
    """Return the sides in another order each round: a neighbour on the same core slows both."""
    return tuple(Random(number).sample(sides, len(sides)))


def _sides(config: Config) -> Iterator[Side]:
    """Yield the installed engines, then the versions."""
    from kinetarium.engines.registry import chosen_engines, engine_packages

    names = chosen_engines(config.engine) if config.engine or not config.version else ()
    packages = engine_packages()
    present = {name: _installed(name, packages.get(name, "")) for name in names}
    yield from ((name, version, "") for name, version in present.items())
    for text in config.version:
        package, version = pinned_version(text)
        engines = [name for name, own in packages.items() if plain_name(own) == package]
        if not engines:
            raise UnknownNameError("package of an engine", package, known=packages.values())
        for engine in engines:
            here = present.get(engine) or _usable(engine, packages[engine])
            yield engine, version, "" if version == here else f"{package}=={version}"


def pinned_version(text: str) -> tuple[str, str]:
    """Return the normalized name and the version of a text such as "mujoco==3.17.0".

    Raises:
        ConfigError: If it is anything else.
    """
    found = _PINNED.fullmatch(text)
    if not found:
        raise ConfigError(
            f"--version takes package==version, such as mujoco==3.17.0, not {one_line(repr(text))}"
        )
    return plain_name(found["package"]), found["version"]


def plain_name(package: str) -> str:
    """Return the normalized name of a distribution (PEP 503)."""
    return re.sub(r"[-_.]+", "-", package).lower()


def _usable(engine: str, package: str) -> str:
    """Return the version of an installed engine; empty if it cannot be used as installed."""
    from kinetarium.engines.registry import EngineUnavailableError

    try:
        return _installed(engine, package)
    except EngineUnavailableError:
        return ""


def _installed(engine: str, package: str) -> str:
    """Return the version of an installed engine: that of its package, or what it says itself."""
    from kinetarium.engines.registry import open_engine

    own = open_engine(engine).info.version
    try:
        return installed_version(package) if package else own
    except (PackageNotFoundError, ValueError, KeyError):
        return own
