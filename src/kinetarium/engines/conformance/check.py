"""One check of the conformance kit: what it measures, against what, how close."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from kinetarium.engines.protocol import Capability, Engine, EngineInfo, Options, Simulation
from kinetarium.scene import Scene

T = TypeVar("T")


def once_per_engine(run: Callable[[Engine], T]) -> Callable[[Engine], T]:
    """Let several checks look at one run: repeat its outcome for the same engine object."""
    outcomes: WeakKeyDictionary[Engine, T] = WeakKeyDictionary()

    @wraps(run)
    def repeated(engine: Engine) -> T:
        if engine not in outcomes:
            outcomes[engine] = run(engine)
        return outcomes[engine]

    return repeated


@dataclass(frozen=True, eq=False)
class ConfiguredEngine:
    """An engine with other default options.

    Attributes:
        engine: The engine.
        defaults: Options of its class, where `compile` is given none.
    """

    engine: Engine
    defaults: Options

    @property
    def options(self) -> type[Options]:
        """The class of its options."""
        return self.engine.options

    @property
    def info(self) -> EngineInfo:
        """What it is and can do."""
        return self.engine.info

    def compile(
        self, scene: Scene, *, timestep: float, options: Options | None = None, seed: int = 0
    ) -> Simulation:
        """Build a scene."""
        chosen = self.defaults if options is None else options
        return self.engine.compile(scene, timestep=timestep, options=chosen, seed=seed)


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a check found.

    Attributes:
        value: The measured figure.
        expected: The right figure.
        tolerance: How far apart they may be.
        unit: Unit of all three.
        reason: Why the tolerance is looser than usual, or empty.
    """

    value: float
    expected: float
    tolerance: float
    unit: str = "-"
    reason: str = ""

    @property
    def passed(self) -> bool:
        """Whether the value is close enough; NaN never is."""
        return bool(abs(self.value - self.expected) <= self.tolerance)


@dataclass(frozen=True, slots=True)
class Check:
    """A property every engine must have that declares the capabilities it rests on.

    Attributes:
        name: Its name in the table.
        help: What it shows, in one line.
        measure: Runs it on an engine.
        needs: Capabilities without which it does not apply.
        law: The closed form or invariant that gives the right figure.
        source: Where that is from.
    """

    name: str
    help: str
    measure: Callable[[Engine], Measurement]
    needs: frozenset[Capability] = frozenset()
    law: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class EngineCheck:
    """A row of the conformance table.

    Attributes:
        engine: The engine's name.
        check: The check's name.
        passed: Whether it passed.
        measurement: The figures; None if the check ended in an error.
        error: What went wrong instead of a figure, or empty.
    """

    engine: str
    check: str
    passed: bool
    measurement: Measurement | None
    error: str = ""
