"""Recording: the result of a run, as named arrays with units."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from kinetarium.errors import UnknownNameError
from kinetarium.spatial.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """One recorded quantity.

    Example:
        >>> import numpy as np
        >>> from kinetarium import Channel
        >>> Channel(np.zeros((3, 2)), "m", ("x", "y")).columns
        ('x', 'y')

    Attributes:
        values: The samples, time along the first axis.
        unit: Unit of the values.
        columns: Names along the second axis; empty for a scalar.
    """

    values: Array
    unit: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """A finished run.

    Example:
        >>> import numpy as np
        >>> from kinetarium import Channel, Recording
        >>> recording = Recording({"time": Channel(np.linspace(0, 1, 3), "s")}, status="running")
        >>> recording["time"]
        array([0. , 0.5, 1. ])

    Attributes:
        channels: The recorded quantities by name; "time" is always one of them.
        status: "running" for a run that reached its end, "diverged" for one that did not;
            samples at or after divergence are dropped.
        facts: Engine, version, options, time step and seed of the run.
        timing: Measured times, such as that of a control tick, by name [s]. They are stored
            in timing.json only: a recording that is read back has none, since they are all
            that varies from run to run.
    """

    channels: Mapping[str, Channel]
    status: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    timing: Mapping[str, float] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Array:
        """Return the values of a channel.

        Raises:
            UnknownNameError: If there is no such channel.
        """
        if name not in self.channels:
            raise UnknownNameError("channel", name, known=self.channels)
        return self.channels[name].values


Row = Mapping[str, Any]
"""One line of a study's results: names and strings, numbers, booleans, None, or lists of these."""


class RunStatus(StrEnum):
    """How a case ended; every case is a row of the results."""

    COMPLETED = "completed"
    DIVERGED = "diverged"
    """The simulation became unstable; the samples before are kept."""
    UNSUPPORTED = "unsupported"
    """The engine lacks a capability that the case needs."""
    FAILED = "failed"
    """An error with a message."""
    CRASHED = "crashed"
    """The process ended without a message."""
    TIMED_OUT = "timed out"
    OUT_OF_MEMORY = "out of memory"


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One case and its result.

    Attributes:
        key: Identifies the case and everything its result depends on; a file name.
        study: The study's name.
        case: The case as JSON-like data.
        status: How it ended.
        message: Why it failed; empty if it completed.
        rows: The study's results; empty if it failed.
        recording: The recording, or None.
    """

    key: str
    study: str
    case: Row
    status: RunStatus
    message: str = ""
    rows: tuple[Row, ...] = ()
    recording: Recording | None = None
