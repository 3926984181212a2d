"""PhasedController: one controller for all joints of a robot, phase by phase.

A phase writes the commands of the joints that it moves and says when it is done; the others keep
their last commands. Phases come from a generator, so that a later one may depend on how an
earlier one ended: a plan that is made again where the robot has stopped.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from numpy.typing import ArrayLike

from kinetarium.control.interface import Measurement
from kinetarium.spatial.arrays import Array, frozen


class Phase(Protocol):
    """A part of a task."""

    @property
    def name(self) -> str:
        """What it does, for display."""

    def begin(self, t: float, measurement: Measurement) -> None:
        """Start at a time [s]."""

    def update(self, t: float, measurement: Measurement, command: Array) -> bool:
        """Write commands at a time [s], and return whether the phase is done.

        Args:
            command: The commands of all joints, shape (c,); changed in place.
        """


@dataclass(frozen=True, slots=True)
class PhaseTime:
    """When a phase was active.

    Attributes:
        name: The phase.
        begin: Its start [s].
        end: Its end [s].
    """

    name: str
    begin: float
    end: float


class Wait:
    """A phase that changes no command.

    Attributes:
        name: What is waited for.
    """

    def __init__(self, name: str, duration: float) -> None:
        """Keep the duration [s]."""
        self.name, self._duration, self._end = name, duration, 0.0

    def begin(self, t: float, measurement: Measurement) -> None:
        """Start at a time [s]."""
        self._end = t + self._duration

    def update(self, t: float, measurement: Measurement, command: Array) -> bool:
        """Return whether the time is over."""
        return t >= self._end - 1e-9


class PhasedController:
    """Runs phases one after the other.

    Attributes:
        measurement: The latest measurement; for the generator of phases, which runs between two.
        times: The phases that have ended, or have been active, in order.
        done: Whether there are no more phases.
    """

    measurement: Measurement

    def __init__(
        self,
        phases: Callable[["PhasedController"], Iterator[Phase]],
        *,
        start: ArrayLike,
        rate: float,
    ) -> None:
        """Keep the phases.

        Args:
            phases: Returns the phases of a run; is given this controller.
            start: The first commands, shape (c,).
            rate: Control rate [Hz].
        """
        self._phases, self._start, self._rate = phases, frozen(start), rate
        self.reset()

    @property
    def rate(self) -> float:
        """Control rate [Hz]."""
        return self._rate

    def reset(self) -> None:
        """Return to the first phase."""
        self.done = False
        self.times: list[PhaseTime] = []
        self._left: Iterator[Phase] | None = None
        self._active: Phase | None = None
        self._command = self._start.copy()

    def update(self, t: float, measurement: Measurement) -> Array:
        """Return the commands at a time [s], shape (c,)."""
        self.measurement = measurement
        if self._left is None:
            self._left = self._phases(self)
            self._next(t)
        if self._active is not None:
            over = self._active.update(t, measurement, self._command)
            last = self.times[-1]
            self.times[-1] = PhaseTime(last.name, last.begin, t)
            if over:
                self._next(t)
        return self._command

    def _next(self, t: float) -> None:
        assert self._left is not None
        self._active = next(self._left, None)
        self.done = self._active is None
        if self._active is not None:
            self.times.append(PhaseTime(self._active.name, t, t))
            self._active.begin(t, self.measurement)
