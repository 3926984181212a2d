"""Run: one case of a study and what came of it, good or bad."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kinetarium.recording.recording import Recording

Row = Mapping[str, Any]
"""One line of a study's results: names and strings, numbers, booleans, None, or lists of these."""


class RunStatus(StrEnum):
    """How a case ended; whatever it is, it is a row of the results."""

    COMPLETED = "completed"
    DIVERGED = "diverged"
    """The simulation's numbers stopped meaning anything; what came before is kept."""
    UNSUPPORTED = "unsupported"
    """The engine cannot do what the case needs."""
    FAILED = "failed"
    """An error with a message."""
    CRASHED = "crashed"
    """The process ended without a word."""
    TIMED_OUT = "timed out"
    OUT_OF_MEMORY = "out of memory"


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One case and its result.

    Attributes:
        key: Names the case and everything its result depends on; a plain file name.
        study: The study's name.
        case: The case as plain data.
        status: How it ended.
        message: Why it ended so, in words; empty if it completed.
        rows: The study's results; none if there is nothing to judge.
        recording: What was recorded, or None.
    """

    key: str
    study: str
    case: Row
    status: RunStatus
    message: str = ""
    rows: tuple[Row, ...] = ()
    recording: Recording | None = None
