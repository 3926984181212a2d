"""The limits that a docking must hold, by preset and case, for prescribed contact.

They were held by eight seeds of noise in two engines when the presets were chosen.
"""

from collections.abc import Mapping

from kinetarium.recording.run import Row
from kinetarium.studies.dock.config import Contact, DockCase, ForceCase, PresetName

CONTACT_TIME = (2.79, 2.81)
"""When the satellites meet [s]."""

_EITHER = {
    PresetName.PAPER: {"steady_error_n": 2.0, "ripple_n": 8.0},
    PresetName.RSI: {"steady_error_n": 3.0, "ripple_n": 14.0},
    PresetName.GENTLE: {"steady_error_n": 1.0, "ripple_n": 4.0},
    PresetName.RECOMMENDED: {"steady_error_n": 0.5, "ripple_n": 4.0},
}
_OF_CASE: Mapping[tuple[PresetName, ForceCase], Mapping[str, float]] = {
    (PresetName.PAPER, ForceCase.A): {"settle_s": 2.0, "rebounds": 0, "peak_n": 1050.0},
    (PresetName.PAPER, ForceCase.C): {"settle_s": 2.5, "rebounds": 1, "peak_n": 650.0},
    (PresetName.RSI, ForceCase.A): {"settle_s": 2.2, "rebounds": 0, "peak_n": 1050.0},
    (PresetName.RSI, ForceCase.C): {"rebounds": 1, "peak_n": 660.0},
    (PresetName.GENTLE, ForceCase.A): {"settle_s": 1.2, "rebounds": 0, "peak_n": 620.0},
    (PresetName.GENTLE, ForceCase.C): {"settle_s": 1.3, "rebounds": 2, "peak_n": 440.0},
    (PresetName.RECOMMENDED, ForceCase.A): {"settle_s": 0.5, "rebounds": 0, "peak_n": 540.0},
    (PresetName.RECOMMENDED, ForceCase.C): {"settle_s": 0.5, "rebounds": 0, "peak_n": 240.0},
}


def limits(case: DockCase) -> Mapping[str, float]:
    """Give the limits of a case by the name of the figure; none where it has none."""
    own = _OF_CASE.get((case.preset, case.case))
    if own is None or case.contact is not Contact.PRESCRIBED or case.friction:
        return {}
    return {**_EITHER[case.preset], **own}


def beyond(case: DockCase, row: Row) -> list[str]:
    """Name the figures of a run that are beyond their limits."""
    missed = [
        name for name, limit in limits(case).items() if row[name] is None or row[name] > limit
    ]
    time = row["contact_time_s"]
    if limits(case) and (time is None or not CONTACT_TIME[0] <= time <= CONTACT_TIME[1]):
        missed.append("contact_time_s")
    return missed
