"""Measures of a contact of free-floating satellites: restitution, momentum and energy."""

import numpy as np

from kinetarium.recording.recording import Recording, Row
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dock.floating.cases import RUN_UP, STEP, contact_frequency
from kinetarium.studies.dock.floating.config import FloatCase

HEAVY = 0.2
"""Payload over the lighter simulated mass above which a flag is set [-]."""
LATE = 0.6
"""Contact frequency times delay above which no compensation works [rad]."""
_PASSED = 8e-3
"""Time after the contact, in addition to the delay, until its effect has been measured [s]."""


def score(case: FloatCase, recording: Recording) -> Row:
    """Compare a contact with the ideal one.

    Returns:
        restitution: Speed after over speed before, at the contact points.
        restitution_ideal: The same without delay, payload and sampling.
        restitution_formula: e0 exp(pi w tau/2) for the uncompensated delay: 14 % too high at
            w tau = 0.57, None above 0.6.
        w_tau: Contact frequency times delay [rad].
        momentum_error: Change of the momentum over that of the chaser before.
        angular_momentum_error: Change of the angular momentum, over the chaser's momentum times
            the greater of the offset and 0.1 m.
        energy_error: Energy about the centre of mass after, minus the ideal one, over that before.
        peak_n: Maximum contact force.
        flags: Warnings, as sentences.
    """
    wait = case.delay_ms * 1e-3 + _PASSED
    seen = _before_and_after(recording["pair"], recording["force"], wait)
    ideal = _before_and_after(recording["ideal"], recording["ideal_force"], wait)
    flags = _flags(case, recording)
    if seen is None or ideal is None:
        nothing = dict.fromkeys(
            ("restitution", "restitution_ideal", "restitution_formula", "momentum_error",
             "angular_momentum_error", "energy_error")
        )  # fmt: skip
        met = (recording["force"] > 0).any()
        return {
            **nothing,
            "w_tau": _w_tau(case),
            "peak_n": float(recording["force"].max()),
            "flags": [*flags, f"the satellites did not {'part' if met else 'meet'}"],
        }
    (before, after), (_, ideal_after) = seen, ideal
    scale = case.mass[0] * case.speed
    e_ideal = -float(ideal[1][7] / ideal[0][7])
    return {
        "restitution": -float(after[7] / before[7]),
        "restitution_ideal": e_ideal,
        "restitution_formula": _formula(case, e_ideal),
        "w_tau": _w_tau(case),
        "momentum_error": float(np.linalg.norm(after[:3] - before[:3])) / scale,
        "angular_momentum_error": float(np.linalg.norm(after[3:6] - before[3:6]))
        / (scale * max(case.offset_m, 0.1)),
        "energy_error": float(after[6] - ideal_after[6]) / float(before[6]),
        "peak_n": float(recording["force"].max()),
        "flags": flags,
    }


def _before_and_after(figures: Array, force: Array, wait: float) -> tuple[Array, Array] | None:
    """Return the state at the first contact and after the measured end of the contact."""
    released = round(RUN_UP / STEP)
    touching = np.flatnonzero(force > 0)
    if not touching.size:
        return None
    end = int(touching[-1]) + round(wait / STEP)
    if touching[0] <= released or end >= len(figures):
        return None
    return figures[int(touching[0]) - 1], figures[end]


def _w_tau(case: FloatCase) -> float:
    """Return the contact frequency times the delay of the arms [rad]."""
    return contact_frequency(case.mass, case.stiffness) * case.delay_ms * 1e-3


def _formula(case: FloatCase, e_ideal: float) -> float | None:
    """Return the restitution for the delay that neither prediction nor observer compensates."""
    if _w_tau(case) > LATE:
        return None
    left = -case.lead_error_ms if case.lead else case.delay_ms
    if case.passivity:
        left = 0.0
    w = contact_frequency(case.mass, case.stiffness)
    return e_ideal * float(np.exp(np.pi / 2 * w * left * 1e-3))


def _flags(case: FloatCase, recording: Recording) -> list[str]:
    said = []
    share = case.payload_kg / min(case.mass)
    if share > HEAVY and not case.sensor_in_front:
        said.append(
            f"the payload is {share:.2f} of the lighter simulated mass: above {HEAVY:g} its"
            " inertia must be known well, above 0.5 it is refused"
        )
    touching = recording["force"] > 0
    lost = int((touching[:-1] & ~touching[1:]).sum())
    if lost > 1:
        said.append(f"the contact chatters: it was lost {lost} times")
    if _w_tau(case) > LATE:
        said.append(
            f"the contact is too fast for this lag: w tau = {_w_tau(case):.2g} rad, and above"
            f" {LATE:g} not even a lead restores it. Take less delay or a softer contact"
        )
    if recording.status == "diverged":
        said.append("the simulation diverged")
    return said
