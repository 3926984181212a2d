"""One run: what a robot file says, or a case of another study with the robot; and its verdict."""

from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np

from kinetarium.batch.study import Study, open_study
from kinetarium.model.diagnostics import Code, Repair
from kinetarium.model.plausibility import find_implausibilities
from kinetarium.recording.recording import Channel, Recording, Row
from kinetarium.storage.serialization import to_builtins
from kinetarium.studies.try_robot.config import Case, Part, can_fall

SETTINGS: dict[Part, dict[str, Any]] = {
    Part.HOLD: {"duration": 3.0},
    Part.DROP: {"height": 0.1, "duration": 1.5},
    Part.DYNAMICS: {"states": 20},
}
"""Values of the studies that differ from their defaults, to be done in a minute."""


def run(case: Case) -> Recording:
    """Read the robot, or run the case of a study.

    The facts of the recording are those of the study's own, its "case" and its "rows".
    """
    if case.part is Part.ROBOT:
        return _reading(case)
    study = open_study(case.part)
    own = _study_case(study, case)
    recording = study.run(own)
    rows = [dict(row) for row in study.score(own, recording)]
    facts = {**recording.facts, "case": to_builtins(own), "rows": rows}
    return replace(recording, facts=facts)


def _study_case(study: Study[Any, Any], case: Case) -> Any:
    """Return the case of a study for the robot and the engine."""
    values = {
        **asdict(case.reading),
        "robot": case.robot,
        "engine": (case.engine,),
        "seed": case.seed,
        **SETTINGS[case.part],
    }
    if case.part is Part.DROP:
        values["base"] = None  # what falls is free
    known = {field.name for field in fields(study.config)}
    config = study.config(**{name: value for name, value in values.items() if name in known})
    # The dynamics study has cases for its references too.
    return next(
        each
        for each in study.cases(config)
        if case.engine in (getattr(each, "engine", ""), getattr(each, "backend", ""))
    )


def _reading(case: Case) -> Recording:
    """Return what the robot's file says, as facts."""
    robot = case.reading.open(case.robot, sha256=case.sha256)
    model = robot.model
    facts = {
        "name": model.name,
        "links": len(model.links),
        "joints": len(model.joints),
        "moving_joints": len(model.moving_joints),
        "loops": len(model.loops),
        "mass_kg": model.mass,
        "base": str(robot.roles.base.kind),
        "shapes": sum(len(link.collisions) for link in model.links),
        "falls": can_fall(model),
        "repairs": [to_builtins(repair) for repair in model.repairs if _is_a_fault(repair)],
        "warnings": to_builtins(find_implausibilities(model)),
        "unarmed": [
            joint.name
            for joint in model.moving_joints
            if joint.mimic is None and joint.limits.effort == 0
        ],
    }
    return Recording({"time": Channel(np.zeros(1), "s")}, "running", facts)


def _is_a_fault(repair: Repair) -> bool:
    """Return whether a repair corrects the file; what belongs to scenes and views is no fault.

    Neither are the links between several joints of a body of MJCF, which have no mass.
    """
    between = repair.code is Code.MASSLESS and "/" in repair.where
    return repair.code not in (Code.UNKNOWN_ELEMENT, Code.UNSUPPORTED) and not between


MEASURES = (
    "dynamics_error", "fall_error_m", "energy_gain", "position_error", "force_error",
)  # fmt: skip


def score(case: Case, recording: Recording) -> Row:
    """Return the verdict of a part and its cause.

    Returns:
        verdict, cause: Those of the study; "same" or "differs" of dynamics; "accepted",
            "repaired" or "doubtful" of the robot's file.
        dynamics_error: Largest error of M, g, c or tau over its tolerance [-].
        Others: as in the rows of drop and hold; None in other parts.
    """
    measures: dict[str, Any] = dict.fromkeys(MEASURES)
    if case.part is Part.ROBOT:
        verdict, cause = _file(recording)
    elif case.part is Part.DYNAMICS:
        verdict, cause, measures["dynamics_error"] = _dynamics(recording)
    else:
        [row] = recording.facts["rows"]
        verdict, cause = row["verdict"], row["cause"]
        measures |= {name: row[name] for name in MEASURES if name in row}
    return {"verdict": verdict, "cause": cause, **measures}


def _file(recording: Recording) -> tuple[str, str]:
    facts = recording.facts
    if facts["warnings"]:
        first = facts["warnings"][0]
        return "doubtful", f"{first['where']}: {first['message']}"
    if facts["repairs"]:
        first = facts["repairs"][0]
        return "repaired", f"{first['where']}: {first['message']}"
    return "accepted", ""


_ROUNDING = 1e-6
"""Relative error below which an engine has merely lost digits, as for links of milligrams in a
robot of kilograms or centres of mass nanometres off an axis; what a robot is made of is known far
worse [-]."""
_NAMELESS = {"inconsistent", "unexplained", "inertia"}
"""Causes that lost digits may have; others name a fault."""


def _dynamics(recording: Recording) -> tuple[str, str, float]:
    rows = recording.facts["rows"]
    worst = max(
        (row["max_rel"] / row["tolerance"] for row in rows if row["tolerance"]), default=0.0
    )
    faults = [each for each in recording.facts["findings"] if each["severity"] == "fault"]
    failed = [row for row in rows if not row["passed"]]
    lost = _lost(rows)
    if failed and lost < _ROUNDING and all(each["cause"] in _NAMELESS for each in faults):
        names = ", ".join(row["quantity"] for row in failed)
        return "same", f"rounding: {names} off by {lost:.0e}", worst
    for fault in faults[:1]:
        # As of an engine that takes the robot in no other part.
        refused = fault["cause"] == "refused"
        return "refused" if refused else "differs", str(fault["message"]), worst
    if failed:
        return "differs", f"{', '.join(row['quantity'] for row in failed)} out of tolerance", worst
    return "same", "", worst


def _lost(rows: Sequence[Row]) -> float:
    """Return the relative error of what is out of tolerance; of free motions, that at their start.

    Errors grow in them, and so does their tolerance.
    """
    rounding = min((row["tolerance"] for row in rows if row["tolerance"]), default=0.0)
    return max(
        (
            row["max_rel"] / row["tolerance"] * rounding
            if row["quantity"] == "free_motion"
            else row["max_rel"]
            for row in rows
            if not row["passed"]
        ),
        default=0.0,
    )
