"""Config and case of the stability map."""

from dataclasses import dataclass
from typing import Annotated

from kinetarium.ranges import Range
from kinetarium.studies.dock.press.config import PresetName

STIFFNESS = Range(1e2, 1e9, unit="N/m")
"""The slow oscillation of softer contacts takes hours to simulate."""
DAMPING_RATIO = Range(0.0, 1.0, unit="s")
"""Above it the damper alone dominates the contact."""
DELAY = Range(0.01, 1e3, unit="ms")
"""From far below a tick of the fastest loop to far above the critical delay of any gains."""


@dataclass(frozen=True, kw_only=True)
class StabilityConfig:
    """A map of delay and stiffness.

    Attributes:
        preset: Gains.
        stiffness: Contact stiffness [N/m].
        damping_ratio: Contact damping over contact stiffness [s].
        delay_ms: Loop delays [ms].
    """

    preset: tuple[PresetName, ...] = (PresetName.PAPER,)
    stiffness: Annotated[tuple[float, ...], STIFFNESS] = (
        1e4, 1.5e4, 2.2e4, 3.2e4, 4.6e4, 6.8e4, 1e5, 1.5e5, 2.2e5, 3.2e5, 4.6e5, 6.8e5, 1e6,
    )  # fmt: skip
    damping_ratio: Annotated[tuple[float, ...], DAMPING_RATIO] = (0.0, 0.02)
    delay_ms: Annotated[tuple[float, ...], DELAY] = (
        0.2, 0.3, 0.45, 0.7, 1.0, 1.5, 2.2, 3.2, 4.6, 6.0, 8.0, 10.0, 12.0, 14.0,
        16.0, 18.0, 20.0, 23.0, 26.0, 30.0, 35.0, 40.0, 46.0, 55.0, 66.0, 80.0,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class StabilityCase:
    """All delays at one stiffness; its values are those of the config."""

    preset: PresetName
    stiffness: Annotated[float, STIFFNESS]
    damping_ratio: Annotated[float, DAMPING_RATIO]
    delay_ms: Annotated[tuple[float, ...], DELAY]
