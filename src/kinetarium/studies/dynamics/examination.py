"""One back-end of one robot examined: everything that is measured, as a recording."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetarium.model.robot import RobotModel
from kinetarium.recording.recording import Channel, Recording
from kinetarium.scene import SceneError
from kinetarium.studies.dynamics.backends.closed_form import ClosedFormBackend, has_closed_form
from kinetarium.studies.dynamics.differences.model import model_differences
from kinetarium.studies.dynamics.explanation import explain
from kinetarium.studies.dynamics.finding import Cause, Difference
from kinetarium.studies.dynamics.matched import Matched, match
from kinetarium.studies.dynamics.measurement import measure
from kinetarium.studies.dynamics.override import Override
from kinetarium.studies.dynamics.states import States, draw_states
from kinetarium.studies.dynamics.two_link_page import POSITIONS, VELOCITIES


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
    """Examine a back-end.

    Args:
        model: The robot.
        backend: Name of the back-end.
        states: How many random states to compare it at.
        seed: Seed of all that is drawn.
        at: Joint positions of one more state [rad or m]; none if empty.
        at_velocity: Joint velocities at that state [rad/s or m/s]; zero if empty.
        override: What the back-end is given instead of the robot's own; None for nothing.
        against: The second robot file, for the back-end AGAINST.

    Returns:
        The recording. "time" is that of the free motion, as are "q", "energy" and
        their references; all other channels run over states.

    Raises:
        KinetariumError: If the back-end is not available or has no joint in common.
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
    """Give the recording of a robot that a back-end does not take, and what may be why."""
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
    """Give the terms of the back-end at one state, or None if no state is asked for."""
    if not at:
        return None
    names = [joint.name for joint in model.moving_joints]
    pick = [names.index(name) for name in matched.backend.joints]
    q = np.array(at, dtype=np.float64)[pick]
    v = np.array(at_velocity or [0.0] * len(names), dtype=np.float64)[pick]
    terms = matched.backend.terms(States(q[None], v[None], np.zeros((1, len(pick)))))
    return {"M": terms.M[0].tolist(), "g": terms.g[0].tolist(), "c": terms.c[0].tolist()}
