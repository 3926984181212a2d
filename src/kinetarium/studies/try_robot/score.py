"""The verdict on each part, and its first measures."""

from typing import Any

from kinetarium.recording.recording import Recording, Row
from kinetarium.studies.try_robot.config import Case, Part

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


def _dynamics(recording: Recording) -> tuple[str, str, float]:
    rows = recording.facts["rows"]
    worst = max(
        (row["max_rel"] / row["tolerance"] for row in rows if row["tolerance"]), default=0.0
    )
    faults = [each for each in recording.facts["findings"] if each["severity"] == "fault"]
    if faults:
        return "differs", str(faults[0]["message"]), worst
    failed = [row["quantity"] for row in rows if not row["passed"]]
    if failed:
        return "differs", f"{', '.join(failed)} out of tolerance", worst
    return "same", "", worst
