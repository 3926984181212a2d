"""Examination of one robot in one backend, as a recording."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kinetarium.model.plausibility import find_implausibilities
from kinetarium.model.robot import RobotModel
from kinetarium.recording.recording import Channel, Recording
from kinetarium.scene import SceneError
from kinetarium.spatial.gravity import GRAVITY_VECTOR
from kinetarium.studies.dynamics._measurement import Measured, measure
from kinetarium.studies.dynamics.backends.reference import ClosedFormBackend, has_closed_form
from kinetarium.studies.dynamics.backends.registry import AGAINST, REFERENCE, Matched, match
from kinetarium.studies.dynamics.diagnosis.diagnose import diagnose
from kinetarium.studies.dynamics.diagnosis.hypothesis import (
    Assumed,
    motion_contradictions,
    term_contradictions,
)
from kinetarium.studies.dynamics.diagnosis.linear import inseparable
from kinetarium.studies.dynamics.differences.model import model_differences
from kinetarium.studies.dynamics.finding import Cause, Difference, Finding, Severity
from kinetarium.studies.dynamics.override import Override
from kinetarium.studies.dynamics.states import (
    POSITIONS,
    VELOCITIES,
    Quantity,
    States,
    draw_states,
)

_RESISTANCE = (Cause.DAMPING, Cause.FRICTION)
_MASSES = (
    Cause.MASS, Cause.CENTER_OF_MASS, Cause.INERTIA_SCALE, Cause.INERTIA_AXES,
    Cause.INERTIA_FRAME, Cause.INERTIA, Cause.REPLACED_INERTIAL,
)  # fmt: skip


def explain(
    matched: Matched, states: States, measured: Measured, *, whole: RobotModel
) -> tuple[Finding, ...]:
    """Return the findings of a backend.

    Args:
        matched: The backend and the reference.
        states: The states at which they were compared.
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
    seen: list[Difference], matched: Matched, states: States, measured: Measured
) -> Iterator[Difference]:
    """Yield the differences of the audit, and those found from the terms."""
    audited, terms = matched.audited, measured.terms
    if not all(np.isfinite(values).all() for values in (terms.M, terms.g, terms.c, terms.tau)):
        yield from seen
        yield Difference(Cause.UNEXPLAINED, "", None, "terms are not finite")
        return
    assumed = Assumed(audited.model, audited.gravity)
    unseen = diagnose(assumed, states, terms, tolerance=measured.tolerance)
    masses = [each for each in seen if each.cause in _MASSES and each.severity is Severity.FAULT]
    if unseen and masses:
        # A moved frame may appear as another mass in the audit, and as more in the terms.
        inertias = {link.name: link.inertia for link in matched.model.links}
        alone = diagnose(
            assumed.with_inertias(inertias), states, terms, tolerance=measured.tolerance, most=1
        )
        if not alone:
            text = "its terms are those of the given masses, not of the masses its audit shows"
            unseen = (Difference(Cause.INCONSISTENT, "", None, text),)
        elif alone[0].cause is not Cause.UNEXPLAINED:
            seen, unseen = [each for each in seen if each not in masses], alone
    yield from seen
    yield from unseen
    yield from _contradictions(matched, states, measured)


def _contradictions(matched: Matched, states: States, measured: Measured) -> Iterator[Difference]:
    joints = matched.backend.joints
    force = measured.scales[Quantity.ROUNDTRIP]
    yield from term_contradictions(
        joints, states, measured.terms, tolerance=10 * measured.tolerance * force
    )
    yield from motion_contradictions(
        joints,
        states.first(len(measured.missing)),
        measured.missing,
        known={each.where for each in matched.audited.differences if each.cause in _RESISTANCE},
        tolerance=measured.tolerances[Quantity.ROUNDTRIP] * force,
    )


def _notes(matched: Matched, states: States, whole: RobotModel) -> Iterator[Difference]:
    """Yield notes on the robot itself."""
    for repair in whole.repairs:
        text = f"the file was repaired: {repair.where}: {repair.message}"
        yield Difference(Cause.REPAIR, repair.where, None, text, Severity.NOTE)
    for each in find_implausibilities(whole):
        text = f"the file is implausible: {each.where}: {each.message}"
        where = each.where.partition(" ")[2]
        yield Difference(Cause.IMPLAUSIBLE, where, None, text, Severity.NOTE)
    resisting = [joint for joint in whole.moving_joints if joint.damping or joint.friction]
    if resisting:
        values = ", ".join(f"{j.name} {j.damping:.4g} and {j.friction:.4g}" for j in resisting)
        text = (
            "joints have damping and friction, which the terms compared are without, but which a"
            f" library's own inverse dynamics may count (mj_inverse does): {values}"
        )
        where = ", ".join(joint.name for joint in resisting)
        yield Difference(Cause.DAMPING, where, None, text, Severity.NOTE)
    yield inseparable(matched.model, states, gravity=GRAVITY_VECTOR)


def examine(
    model: RobotModel,
    backend: str,
    *,
    states: int,
    seed: int,
    at: Sequence[float] = (),
    at_velocity: Sequence[float] = (),
    override: Override | None = None,
    against: RobotModel | None = None,
) -> Recording:
    """Examine a backend.

    Args:
        backend: Name of the backend.
        states: Number of random states at which to compare.
        seed: Seed of the random states.
        at: Joint positions of one more state [rad or m]; none if empty.
        at_velocity: Joint velocities at that state [rad/s or m/s]; zero if empty.
        override: Properties to change in the backend; None for none.
        against: The second robot file, for the backend AGAINST.

    Returns:
        The recording. "time" is that of the free motion, as are "q", "energy" and
        their references; all other channels run over states.

    Raises:
        KinetariumError: If the backend is not available or has no joint in common.
    """
    override = override or Override()
    try:
        matched = match(backend, model, override=override, against=against)
    except SceneError as refusal:
        return _refused(model, backend, override, reason=str(refusal))
    drawn = draw_states(matched.model, count=states, seed=seed)
    with np.errstate(all="ignore"):
        measured = measure(matched, drawn)
        findings = explain(matched, drawn, measured, whole=model)
        terms = _terms_at(matched, model, at, at_velocity)
        derived = None
        if has_closed_form(model) and matched.backend.joints == ClosedFormBackend.joints:
            derived = _terms_at(matched, model, POSITIONS, VELOCITIES)
    matched.backend.close()
    return Recording(
        channels=measured.channels,
        status="running",
        facts={
            "robot": model.name,
            "backend": backend,
            "joints": list(matched.reference.joints),
            "falling_joints": list(measured.falling_joints),
            "horizon_s": measured.horizon,
            "scales": measured.scales,
            "tolerances": measured.tolerances,
            "findings": [finding.as_data() for finding in findings],
            "terms": terms,
            "derived": derived,
        },
    )


def _refused(model: RobotModel, backend: str, override: Override, *, reason: str) -> Recording:
    """Return the recording of a robot that a backend refuses, with possible reasons."""
    differences = (
        *model_differences(model, override.applied(model)).differences,
        Difference(Cause.REFUSED, "", None, f"it does not take the robot: {reason}"),
    )
    facts = {
        "robot": model.name,
        "backend": backend,
        "joints": [joint.name for joint in model.moving_joints],
        "falling_joints": [],
        "horizon_s": 0.0,
        "scales": {},
        "tolerances": {},
        "findings": [each.found_in(backend).as_data() for each in differences],
        "terms": None,
        "derived": None,
    }
    return Recording({"time": Channel(np.zeros(0), "s")}, "running", facts)


def _terms_at(
    matched: Matched, model: RobotModel, at: Sequence[float], at_velocity: Sequence[float]
) -> dict[str, Any] | None:
    """Return the terms of the backend at one state, or None if no state is requested."""
    if not at:
        return None
    names = [joint.name for joint in model.moving_joints]
    pick = [names.index(name) for name in matched.backend.joints]
    q = np.array(at, dtype=np.float64)[pick]
    v = np.array(at_velocity or [0.0] * len(names), dtype=np.float64)[pick]
    terms = matched.backend.terms(States(q[None], v[None], np.zeros((1, len(pick)))))
    return {"M": terms.M[0].tolist(), "g": terms.g[0].tolist(), "c": terms.c[0].tolist()}
