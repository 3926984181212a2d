"""What the measurements of a back-end mean, in order: audit, terms, contradictions."""

from collections.abc import Iterator

import numpy as np

from kinetarium.model.robot import RobotModel
from kinetarium.studies.dynamics.backends.registry import AGAINST, REFERENCE
from kinetarium.studies.dynamics.diagnosis.contradictions import (
    motion_contradictions,
    term_contradictions,
)
from kinetarium.studies.dynamics.diagnosis.diagnose import diagnose
from kinetarium.studies.dynamics.diagnosis.identifiability import inseparable
from kinetarium.studies.dynamics.diagnosis.suspect import Assumed
from kinetarium.studies.dynamics.finding import Cause, Difference, Finding, Severity
from kinetarium.studies.dynamics.matched import Matched
from kinetarium.studies.dynamics.measurement import Measurement
from kinetarium.studies.dynamics.override import GRAVITY
from kinetarium.studies.dynamics.states import States
from kinetarium.studies.dynamics.terms import Quantity

_RESISTANCE = (Cause.DAMPING, Cause.FRICTION)
_MASSES = (
    Cause.MASS, Cause.CENTER_OF_MASS, Cause.INERTIA_SCALE, Cause.INERTIA_AXES,
    Cause.INERTIA_FRAME, Cause.INERTIA, Cause.REPLACED_INERTIAL,
)  # fmt: skip


def explain(
    matched: Matched, states: States, measured: Measurement, *, whole: RobotModel
) -> tuple[Finding, ...]:
    """Give the findings of a back-end.

    Args:
        matched: The back-end beside the reference.
        states: Where they were compared.
        measured: What was measured.
        whole: The robot under study, with all its joints.
    """
    name = matched.backend.name
    differences = [*matched.audited.differences]
    if name == REFERENCE:
        differences += _notes(matched, states, whole)
    if name != AGAINST:
        differences = [*_with_unseen(differences, matched, states, measured)]
    faulty = any(each.severity is Severity.FAULT for each in differences)
    failed = [str(quantity) for quantity in Quantity if not measured.passes(quantity)]
    if failed and not faulty:
        text = f"{', '.join(failed)} out of tolerance, though no difference is seen"
        differences.append(Difference(Cause.UNEXPLAINED, "", None, text))
    return tuple(each.found_in(name) for each in differences)


def _with_unseen(
    seen: list[Difference], matched: Matched, states: States, measured: Measurement
) -> Iterator[Difference]:
    """Add what the audit does not show to what it does."""
    backend, audited, terms = matched.backend, matched.audited, measured.terms
    if not all(np.isfinite(values).all() for values in (terms.M, terms.g, terms.c, terms.tau)):
        yield from seen
        yield Difference(Cause.UNEXPLAINED, "", None, "terms are not finite")
        return
    assumed = Assumed(audited.model, audited.gravity)
    unseen = diagnose(assumed, states, terms, tolerance=backend.tolerance)
    masses = [each for each in seen if each.cause in _MASSES and each.severity is Severity.FAULT]
    if unseen and masses:
        # One moved frame may show as another mass to the audit and as more to the terms.
        inertias = {link.name: link.inertia for link in matched.model.links}
        alone = diagnose(
            assumed.with_inertias(inertias), states, terms, tolerance=backend.tolerance, most=1
        )
        if not alone:
            text = "its terms are those of the given masses, not of the masses its audit shows"
            unseen = (Difference(Cause.INCONSISTENT, "", None, text),)
        elif alone[0].cause is not Cause.UNEXPLAINED:
            seen, unseen = [each for each in seen if each not in masses], alone
    yield from seen
    yield from unseen
    yield from _contradictions(matched, states, measured)


def _contradictions(
    matched: Matched, states: States, measured: Measurement
) -> Iterator[Difference]:
    joints = matched.backend.joints
    force = measured.scales[Quantity.ROUNDTRIP]
    yield from term_contradictions(
        joints, states, measured.terms, tolerance=10 * matched.backend.tolerance * force
    )
    yield from motion_contradictions(
        joints,
        states.first(len(measured.missing)),
        measured.missing,
        known={each.where for each in matched.audited.differences if each.cause in _RESISTANCE},
        tolerance=measured.tolerances[Quantity.ROUNDTRIP] * force,
    )


def _notes(matched: Matched, states: States, whole: RobotModel) -> Iterator[Difference]:
    """Say what a reader should know of the robot itself."""
    for repair in whole.repairs:
        text = f"the file was repaired: {repair.where}: {repair.message}"
        yield Difference(Cause.REPAIR, repair.where, None, text, Severity.NOTE)
    resisting = [joint for joint in whole.moving_joints if joint.damping or joint.friction]
    if resisting:
        values = ", ".join(f"{j.name} {j.damping:.4g} and {j.friction:.4g}" for j in resisting)
        text = (
            "joints have damping and friction, which the terms compared are without, but which a"
            f" library's own inverse dynamics may count (mj_inverse does): {values}"
        )
        where = ", ".join(joint.name for joint in resisting)
        yield Difference(Cause.DAMPING, where, None, text, Severity.NOTE)
    yield inseparable(matched.model, states, gravity=GRAVITY)
