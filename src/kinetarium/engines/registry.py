"""The engines that are known, opening one by name, and what may be varied in all of them."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, is_dataclass, replace
from functools import cache
from typing import Any

from kinetarium.engines.base.engine import checked_timestep
from kinetarium.engines.protocol import Capability, Engine, EngineInfo, Options, Simulation
from kinetarium.errors import KinetariumError, UnknownNameError, one_line
from kinetarium.plugins import Plugin, PluginError, discover, refused, running_plugin
from kinetarium.scene.scene import Scene
from kinetarium.storage.serialization import from_builtins, to_builtins

GROUP = "kinetarium.engines"


class EngineUnavailableError(KinetariumError):
    """An engine whose library is not installed, does not load, or is no engine.

    Attributes:
        reason: Why it cannot be used, in one line.
    """

    def __init__(self, engine: str, reason: str) -> None:
        """Name the engine and say why it cannot be used."""
        super().__init__(f"engine '{engine}' is not available: {reason}")
        self.reason = reason


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
    """Return the names of all known engines."""
    return tuple(sorted(discover(GROUP)))


def open_engine(name: str) -> Engine:
    """Return the engine of a name, such as "mujoco", or "mujoco:iterations=20,cone=pyramidal".

    Options after the colon replace those that a study would choose.

    Raises:
        UnknownNameError: If no engine has that name, or it has no such option.
        EngineUnavailableError: If its library is not installed or does not load, or if what
            another package names is no engine.
        KinetariumError: If the value of an option is invalid.
    """
    name, colon, options = name.partition(":")
    plugins = discover(GROUP)
    if colon:
        return EngineVariant(open_engine(name), _parsed_options(name, options))
    if name not in plugins:
        raise UnknownNameError("engine", name, known=plugins)
    try:
        with running_plugin():
            engine: Engine = plugins[name].load()()
            _check(engine, name)
    except PluginError as error:
        raise EngineUnavailableError(name, _reason(plugins[name], error)) from error
    return engine


class EngineVariant:
    """An engine with some options of the user's, in place of those that a study chooses."""

    def __init__(self, engine: Engine, changes: Mapping[str, Any]) -> None:
        """Check the options.

        Raises:
            KinetariumError: If the engine has no such option, or a value is invalid.
        """
        self._engine, self._changes = engine, changes
        self.changed(engine.options())

    def changed(self, options: Options) -> Options:
        """Return options with those of the user."""
        merged = {**to_builtins(options), **self._changes}
        kind: type[Options] = type(options)
        return from_builtins(kind, merged, where=f"options of {self._engine.info.name}")

    def compile(
        self, scene: Scene, *, timestep: float, options: Options | None = None, seed: int = 0
    ) -> Simulation:
        """Build a scene with the user's options."""
        chosen = self.changed(self._engine.options() if options is None else options)
        return self._engine.compile(scene, timestep=timestep, options=chosen, seed=seed)

    @property
    def info(self) -> EngineInfo:
        """What the engine is and can do, under its own name."""
        return self._engine.info

    @property
    def options(self) -> type[Options]:
        """The class of its options."""
        return self._engine.options

    def __getattr__(self, name: str) -> Any:
        """Return anything else that the engine offers."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._engine, name)


def engine_variant(name: str, options: Mapping[str, Any]) -> str:
    """Return the name of an engine with options, which `open_engine` understands.

    Raises:
        KinetariumError: If the engine has no such option, or a value is invalid.
    """
    if not options:
        return name
    EngineVariant(open_engine(name), options)
    words = [f"{key}={_option_text(value)}" for key, value in sorted(options.items())]
    return f"{name}:{','.join(words)}"


def _option_text(value: Any) -> str:
    plain = isinstance(value, str) and re.fullmatch(r"[A-Za-z_][\w.-]*", value, re.ASCII)
    return value if plain and value not in _JSON_WORDS else json.dumps(value)


def _parsed_options(name: str, text: str) -> dict[str, Any]:
    """Parse "iterations=20,cone=pyramidal": values are JSON, or single words."""
    found: dict[str, Any] = {}
    rest = text
    while rest:
        key, equals, rest = rest.partition("=")
        if not equals or not key.isidentifier() or key in found:
            raise EngineOptionError(f"'{name}:{text}': options are written NAME=VALUE,NAME=VALUE")
        try:
            found[key], end = _DECODER.raw_decode(rest)
        except ValueError:
            end = len(rest.partition(",")[0])
            found[key] = rest[:end]
        if rest[end : end + 1] not in ("", ","):
            raise EngineOptionError(f"'{name}:{text}': '{key}' has an invalid value")
        rest = rest[end + 1 :]
    if not found:
        raise EngineOptionError(f"'{name}:' names no option")
    return found


_DECODER = json.JSONDecoder()
_JSON_WORDS = ("true", "false", "null", "NaN", "Infinity")


class EngineOptionError(KinetariumError):
    """An option of an engine that cannot be read."""


def _check(engine: Engine, name: str) -> None:
    """Refuse what others would stumble over later.

    Raises:
        PluginError: If it is no engine.
    """
    info = engine.info  # touches the library, which adapters import lazily
    if not isinstance(info, EngineInfo):
        raise PluginError("its info is not an EngineInfo")
    if info.name != name:
        raise PluginError(f"it calls itself {one_line(repr(info.name))}")
    if not isinstance(info.version, str):
        raise PluginError("its version is not a text")
    if not (
        isinstance(info.capabilities, frozenset)
        and all(isinstance(one, Capability) for one in info.capabilities)
    ):
        raise PluginError("its capabilities are not a frozenset of Capability")
    if not (isinstance(engine.options, type) and is_dataclass(engine.options)):
        raise PluginError("its options are not a dataclass")
    for method in ("stock", "with_iterations"):
        if not callable(getattr(engine.options, method, None)):
            raise PluginError(f"its options have no method {method}")
    if not callable(engine.compile):
        raise PluginError("it has no method compile")


def _reason(plugin: Plugin, error: PluginError) -> str:
    if not plugin.own:
        return f"{error} (of the package {plugin.package})"
    if isinstance(error.cause, ImportError | OSError):
        missing = one_line(str(error.cause))
        return f"{missing}; run: pip install 'kinetarium[{plugin.name}]'"
    return str(error)


def chosen_engines(names: Sequence[str]) -> tuple[str, ...]:
    """Return the engines that were asked for, each once; all that are available if none was.

    Raises:
        KinetariumError: If one is unknown or not available, or none is.
    """
    for name in names:
        open_engine(name)
    chosen = tuple(dict.fromkeys(names)) or _available()
    if not chosen:
        raise KinetariumError(
            "no physics engine is available; run: pip install 'kinetarium[mujoco]'; others and why"
            " they are not: kinetarium engines"
        )
    return chosen


def engine_packages() -> dict[str, str]:
    """Return the distribution that brings the library of each engine which names one.

    The libraries themselves are not loaded, and need not be installed.
    """
    found = {}
    for name, plugin in discover(GROUP).items():
        with suppress(PluginError), running_plugin():
            package = getattr(plugin.load(), "package", "")
            if isinstance(package, str) and package:
                found[name] = package
    return found


@cache
def _available() -> tuple[str, ...]:
    return tuple(listing.name for listing in list_engines() if listing.available)


def list_engines() -> tuple[EngineListing, ...]:
    """List every known engine, with what it can do or why it cannot be used.

    Example:
        >>> from kinetarium import list_engines
        >>> "mujoco" in [engine.name for engine in list_engines() if engine.available]
        True
    """
    others = (EngineListing(one.name, False, reason=one.reason) for one in refused(GROUP))
    return (*(_listing(name) for name in engine_names()), *others)


def _listing(name: str) -> EngineListing:
    try:
        info = open_engine(name).info
    except EngineUnavailableError as error:
        return EngineListing(name, available=False, reason=error.reason)
    return EngineListing(name, True, info.version, info.capabilities)


@dataclass(frozen=True, slots=True)
class MatchedOptions:
    """The settings of an engine in every study that compares engines.

    Attributes:
        options: The engine's own options.
        reason: Why these.
    """

    options: Options
    reason: str


_MATCHED: dict[str, tuple[dict[str, Any], str]] = {
    "mujoco": (
        {},
        "elliptic cone, friction 100 times as stiff as the normal contact (at 10 a held cube creeps"
        " ten times faster), and contacts that are soft where they begin and hard in the depth:"
        " with hard ones a Husky hops and turns a sixth of the command, with these pads rest"
        " 0.9 mm deep in a cube that is gripped with 100 N",
    ),
    "bullet": (
        {"contact_softness": 0.01},
        "50 iterations, friction pyramid (with a cone a held cube creeps), softness of free bodies"
        " 0.01: rigid contacts distribute the load arbitrarily and let a cube rotate in the grip,"
        " with the adapter's 0.3 the contact forces do not add up to the grip force",
    ),
    "ode": (
        {},
        "the direct solver, which is exact, and a contact compliance of 1e-5 m/(N s), so that all"
        " four corners of a face carry load",
    ),
    "physx": (
        {},
        "projected Gauss-Seidel with 10 position iterations and 1 velocity iteration; the default,"
        " the temporal solver, has up to four times the variance of a grip force",
    ),
}
"""What differs from an adapter's defaults, and why the whole."""


def matched_options(engine: Engine) -> MatchedOptions:
    """Return the one set of contact and solver settings with which an engine is compared.

    It is the same in all studies: a mobile manipulator grips and drives in one scene.
    """
    changes, reason = _MATCHED.get(engine.info.name, ({}, "the adapter's defaults"))
    return MatchedOptions(replace(engine.options(), **changes), reason)


@dataclass(frozen=True, slots=True)
class Refinement:
    """A more precise simulation by the same engine, for results that look like an error of it.

    Attributes:
        words: What is more precise.
        timestep: Physics step [s].
        options: The engine's own options.
    """

    words: str
    timestep: float
    options: Options


_MORE_ITERATIONS = 5
_SAFER: dict[str, tuple[str, dict[str, Any]]] = {
    # PhysX's persistent contacts of a hull lose points: a Panda that tips over sinks by 25 mm.
    "physx": ("contacts searched again in every step", {"persistent_contacts": False}),
}
"""Options by which an engine is slower and more reliable."""


def refinements(engine: Engine, *, timestep: float) -> tuple[Refinement, ...]:
    """Return more precise simulations than an engine's defaults: shorter steps, more iterations.

    Args:
        timestep: Physics step that was too long, perhaps [s].
    """
    options = engine.options()
    found = [Refinement("half the time step", timestep / 2, options)]
    one, two = asdict(options.with_iterations(1)), asdict(options.with_iterations(2))
    for name in (name for name in one if one[name] != two[name]):
        more = options.with_iterations(_MORE_ITERATIONS * getattr(options, name))
        # Solvers that do not iterate by default are not exchanged for those that do.
        if replace(options, **{name: getattr(more, name)}) == more:
            found.append(Refinement(f"{getattr(more, name)} solver iterations", timestep, more))
    for words, safer in (_SAFER[name] for name in _SAFER if name == engine.info.name):
        found.append(Refinement(words, timestep, replace(options, **safer)))
    return tuple(found)


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
    """Return the distinct iterations that have an effect; 0 if none have or none are requested.

    Args:
        asked: Iterations [-]; 0 for as many as the engine has otherwise.
    """
    counts = options.with_iterations(1) != options.with_iterations(2)
    return tuple(dict.fromkeys(asked)) or (0,) if counts else (0,)
