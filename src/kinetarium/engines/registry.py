"""The engines that are known, and opening one by name."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from kinetarium.engines.capability import Capability
from kinetarium.engines.protocol import Engine
from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.plugins import discover

GROUP = "kinetarium.engines"


class EngineUnavailableError(KinetariumError):
    """An engine whose library is not installed or does not load."""


@dataclass(frozen=True, slots=True)
class EngineListing:
    """What is known of an engine, installed or not.

    Attributes:
        name: The name it is chosen by.
        available: Whether it can be used here.
        version: Version of its library, or empty.
        capabilities: What it can do; empty if it is not available.
        reason: Why it is not available, or empty.
    """

    name: str
    available: bool
    version: str = ""
    capabilities: frozenset[Capability] = frozenset()
    reason: str = ""


def engine_names() -> tuple[str, ...]:
    """Give the names of all known engines."""
    return tuple(sorted(discover(GROUP)))


def open_engine(name: str) -> Engine:
    """Give the engine of a name.

    Raises:
        UnknownNameError: If no engine has that name.
        EngineUnavailableError: If its library is not installed or does not load.
    """
    points = discover(GROUP)
    if name not in points:
        raise UnknownNameError("engine", name, known=points)
    try:
        engine: Engine = points[name].load()()
        _ = engine.info  # touches the library, which adapters import lazily
    except (ImportError, OSError) as error:
        raise EngineUnavailableError(
            f"engine '{name}' is not available: {error}; run: pip install 'kinetarium[{name}]'"
        ) from error
    return engine


def chosen_engines(names: Sequence[str]) -> tuple[str, ...]:
    """Give the engines that were asked for, each once; all that are available if none was.

    Raises:
        KinetariumError: If one is unknown or not available, or none is.
    """
    for name in names:
        open_engine(name)
    chosen = tuple(dict.fromkeys(names)) or _available()
    if not chosen:
        raise EngineUnavailableError("no physics engine is available; see: kinetarium engines")
    return chosen


@cache
def _available() -> tuple[str, ...]:
    return tuple(listing.name for listing in list_engines() if listing.available)


def list_engines() -> tuple[EngineListing, ...]:
    """List every known engine, with what it can do or why it cannot be used."""
    return tuple(_listing(name) for name in engine_names())


def _listing(name: str) -> EngineListing:
    try:
        info = open_engine(name).info
    except EngineUnavailableError as error:
        return EngineListing(name, available=False, reason=str(error))
    return EngineListing(name, True, info.version, info.capabilities)
