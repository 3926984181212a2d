"""What the dynamics study shows: findings first, then errors, matrices and motions."""

from collections.abc import Sequence
from typing import Any

from kinetarium.batch.study import Findings, Outcome
from kinetarium.figure.cell import Cell
from kinetarium.figure.page import Section
from kinetarium.figure.prose import Prose
from kinetarium.figure.table import Column, Table
from kinetarium.studies.dynamics.backends.registry import REFERENCE
from kinetarium.studies.dynamics.charts import (
    error_overview,
    errors_over_states,
    free_motions,
    mass_matrices,
)
from kinetarium.studies.dynamics.config import Case
from kinetarium.studies.dynamics.terms import TERMS
from kinetarium.studies.dynamics.two_link_page import two_link_section

_LEAD = (
    "One robot, given to every library. Its equation of motion, M(q) a + c(q, v) + g(q) = tau, is"
    " compared term by term with Pinocchio's at random states inside the joint limits; where it"
    " differs, the cause is looked for in what each library loaded, then in the terms themselves."
)
_READING = (
    "A fault makes it another robot; a note does not. The cause and the link or joint are named"
    " from the audit (masses, axes, drives and gravity as the library loaded them) where it shows"
    " them, and otherwise from the terms: gravity shows in g alone, damping in c alone, an armature"
    " as a constant on the diagonal of M, and masses through the regressor, in which tau is linear."
    " What no measurement can separate is said to be inseparable, not guessed."
)
_MOTION = (
    "The robot is let go from rest, without limits, couplings and resistance, its sliders held."
    " Engines step by semi-implicit Euler, and so does the reference beside them. Small"
    " disturbances grow along the way; a motion is compared for as long as rounding cannot have"
    " led it astray."
)


def report(outcomes: Sequence[Outcome[Case]]) -> Findings:
    """Show errors, motions and findings of all back-ends."""
    robots = list(dict.fromkeys(outcome.case.robot for outcome in outcomes))
    findings = [
        {"robot": outcome.case.robot, **finding}
        for outcome in outcomes
        for finding in _facts(outcome).get("findings", ())
    ]
    terms: dict[str, Any] = {}
    sections: list[Section] = [_findings_section(findings)]
    for robot in robots:
        own = [outcome for outcome in outcomes if outcome.case.robot == robot]
        sections += _robot_sections(own, robot if len(robots) > 1 else "")
        there = {o.case.backend: t for o in own if (t := _facts(o).get("terms"))}
        terms |= {robot: there} if len(robots) > 1 else there
    return Findings(
        _headline(outcomes, several=len(robots) > 1),
        tuple(sections),
        _summary(outcomes, findings),
        extra={"findings": findings, **({"terms": terms} if terms else {})},
        lead=_LEAD,
    )


def _headline(outcomes: Sequence[Outcome[Case]], *, several: bool) -> Table:
    """Give the largest relative difference of each term, and the verdict."""
    columns = (
        *((Column("robot"),) if several else ()),
        Column("back-end"),
        *(Column(f"{quantity}, relative") for quantity in TERMS),
        Column("other checks"),
        Column("faults"),
        Column("verdict"),
    )
    rows = []
    for outcome in outcomes:
        errors = {row["quantity"]: row for row in outcome.rows}
        others = [row for name, row in errors.items() if name not in TERMS]
        passed = sum(row["passed"] for row in others)
        cells: tuple[Cell, ...] = (
            *((outcome.case.robot,) if several else ()),
            outcome.case.backend,
            *(errors[name]["max_rel"] if name in errors else None for name in TERMS),
            f"{passed} of {len(others)}",
            len(_faults(outcome)),
            _verdict(outcome),
        )
        rows.append(cells)
    return Table("", columns, tuple(rows))


def _verdict(outcome: Outcome[Case]) -> str:
    if outcome.recording is None:
        return f"{outcome.status}: {outcome.message}" if outcome.message else str(outcome.status)
    faults = _faults(outcome)
    if faults:
        first = str(faults[0]["message"]).removeprefix(f"{outcome.case.backend}: ")
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        return f"another robot: {first}{more}"
    if not all(row["passed"] for row in outcome.rows):
        return "out of tolerance"
    return "the reference" if outcome.case.backend == REFERENCE else "the same robot"


def _faults(outcome: Outcome[Case]) -> list[dict[str, Any]]:
    findings = _facts(outcome).get("findings", ())
    return [finding for finding in findings if finding["severity"] == "fault"]


def _facts(outcome: Outcome[Case]) -> dict[str, Any]:
    return dict(outcome.recording.facts) if outcome.recording else {}


def _summary(
    outcomes: Sequence[Outcome[Case]], findings: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    rows = [row for outcome in outcomes for row in outcome.rows]
    faults = [finding for finding in findings if finding["severity"] == "fault"]
    return {
        "backends": len(outcomes),
        "completed": sum(outcome.recording is not None for outcome in outcomes),
        "rows": len(rows),
        "rows_passed": sum(bool(row["passed"]) for row in rows),
        "faults": len(faults),
        "notes": len(findings) - len(faults),
    }


def _findings_section(findings: Sequence[dict[str, Any]]) -> Section:
    columns = ("severity", "back-end", "cause", "where", "size", "what was found")
    names = ("severity", "backend", "cause", "where", "size", "message")
    faults_first = sorted(findings, key=lambda finding: str(finding["severity"]))
    rows = tuple(tuple(finding[name] for name in names) for finding in faults_first)
    table = Table("", tuple(map(Column, columns)), rows)
    return Section("Findings", (table, Prose(_READING)) if rows else (Prose(_READING),))


def _robot_sections(outcomes: Sequence[Outcome[Case]], robot: str) -> list[Section]:
    """Show one robot in all its back-ends."""
    shown = [(o.case.backend, o.recording, o.rows) for o in outcomes if o.recording and o.rows]
    recordings = [(name, recording) for name, recording, _ in shown]
    if not shown:
        return []
    compared = [(name, each) for name, each in recordings if "error_tau" in each.channels]
    sections = [Section("Errors", (error_overview(outcomes), *errors_over_states(compared)), robot)]
    sections.append(Section("The mass matrix", mass_matrices(recordings), robot))
    sections.append(Section("The free motion", (Prose(_MOTION), *free_motions(recordings)), robot))
    derived = {name: each.facts["derived"] for name, each in recordings if each.facts["derived"]}
    return [*sections, two_link_section(derived)] if derived else sections
