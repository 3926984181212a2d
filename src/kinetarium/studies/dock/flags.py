"""What a user of the rig should know of a run, in words."""

from typing import Any

import numpy as np

from kinetarium.recording.recording import Recording
from kinetarium.recording.run import Row
from kinetarium.studies.dock.channels import WARNINGS
from kinetarium.studies.dock.config import Contact, DockCase
from kinetarium.studies.dock.loop_delay import case_critical_delay, case_delay
from kinetarium.studies.dock.presets import PRESETS, WRENCH_GAIN, desired_wrench

_AXES = ("x", "y", "z")
_REACHED = 0.5
"""Share of a wanted force that shows that something pushes back [-]."""
_HARD = 2000.0
"""Force from which a contact is a blow [N]."""
_NOTABLE_IMPULSE = 1.0
"""Impulse before contact from which it is a windup [N s]."""
_RINGING = 0.1
"""Ripple by the wanted force from which a contact has not come to rest [-]."""
_NOTABLE_LOAD = 0.3
"""Payload by virtual mass from which the loop loses damping [-]."""
_SENTENCES = {
    "bounded": "the impulse reached its bound: it wound up",
    "half_turn": "the angle between body and path came near pi, where its coordinates jump",
    "singular": "the arm was in or near a singular posture; its inverse was damped",
    "joint_limit": "a joint was held at its limit",
    "too_fast": "joint rates were scaled down to the limits",
}


def flags(case: DockCase, recording: Recording, row: Row) -> list[str]:
    """Give the sentences for a run.

    Args:
        case: The case.
        recording: What was recorded.
        row: What it was judged by.
    """
    said = [*_windup(case, recording, row), *_unreachable(case, recording, row)]
    seen = recording["warnings"].max(axis=0)
    said += [_SENTENCES[name] for name, on in zip(WARNINGS[1:], seen[1:], strict=True) if on]
    if recording.status == "diverged":
        said.append("the simulation diverged")
    if row["contact_time_s"] is None:
        said.append("the satellites did not touch")
    elif not seen[0]:
        said.append(f"no sensed force passed the gate of {case.gate:g} N: F_des never acted")
    elif row["peak_n"] > _HARD:
        said.append(f"a blow: the contact force peaked at {row['peak_n'] / 1e3:.1f} kN")
    if row["ripple_n"] > _RINGING * abs(desired_wrench(case.case)[0]):
        said.append(_ringing(case))
    elif row["contact_time_s"] is not None and seen[0] and row["settle_s"] is None:
        said.append("the contact force did not come to stay within 5 % of the wanted one")
    load = WRENCH_GAIN * case.payload_kg / PRESETS[case.preset].D
    if load > _NOTABLE_LOAD:
        said.append(
            f"the payload is {load:.2f} of the virtual mass and takes damping from the loop;"
            " above 0.6 is refused"
        )
    return said


def _windup(case: DockCase, recording: Recording, row: Row) -> list[str]:
    touched: Any = row["contact_time_s"]
    before = recording["time"] < (np.inf if touched is None else touched)
    most = float(np.abs(recording["impulse"][before, 0]).max(initial=0.0))
    if most < _NOTABLE_IMPULSE:
        return []
    if recording["desired"][before].any():
        why = "F_des acted before contact, "
        why += f"behind a gate of only {case.gate:g} N" if case.gate else "without a gate"
    else:
        why = "the integrator ran before contact"
    return [f"{why}: the impulse had wound up to {most:.0f} N s when the satellites met"]


def _ringing(case: DockCase) -> str:
    said = (
        f"the contact does not come to rest: the loop is {1e3 * case_delay(case):.1f} ms late, and"
    )
    if case.contact is Contact.PRESCRIBED:
        return f"{said} bears {1e3 * case_critical_delay(case):.1f} ms at most"
    return f"{said} this contact is too stiff, or too little damped, for that"


def _unreachable(case: DockCase, recording: Recording, row: Row) -> list[str]:
    wanted = desired_wrench(case.case)
    tail = recording["time"] > recording["time"][-1] - 0.5
    reached = recording["sensed"][tail].mean(axis=0)
    return [
        f"F_des {axis} = {wanted[i]:.0f} N is not reachable: {abs(reached[i]):.0f} N push back"
        f" along {axis}, and the satellite drifted {abs(recording['error'][-1, i]):.3f} m"
        for i, axis in enumerate(_AXES)
        if wanted[i] and row["contact_time_s"] is not None
        if reached[i] / wanted[i] < _REACHED
    ]
