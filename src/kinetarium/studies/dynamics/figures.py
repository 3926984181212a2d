"""Report of the dynamics study: findings first, then errors, matrices and motions."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinetarium.batch.outcomes import and_list
from kinetarium.batch.study import Findings, Outcome
from kinetarium.dynamics import TwoLink
from kinetarium.figure.charts import Axis, Heatmap, Lines, Series
from kinetarium.figure.page import Section
from kinetarium.figure.text import Cell, Column, Prose, Table, header
from kinetarium.recording.recording import Recording
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dynamics.backends.registry import AGAINST, REFERENCE
from kinetarium.studies.dynamics.config import Case
from kinetarium.studies.dynamics.states import POSITIONS, TERMS, Quantity

Named = Sequence[tuple[str, Recording]]
"""Recordings by backend name."""

_LEAST = 1e-18
"""Smallest drawn error; a logarithmic axis has no zero."""
_MOST_SAMPLES = 400
_MOST_NUMBERS = 9
"""Maximum number of joints of a matrix with annotated entries."""


def error_overview(outcomes: Sequence[Outcome[Case]]) -> Heatmap:
    """Return every error relative to its tolerance."""
    scored = [outcome for outcome in outcomes if outcome.rows]
    quantities = tuple(map(str, Quantity))
    values = np.full((len(scored), len(quantities)), np.nan)
    for i, outcome in enumerate(scored):
        for row in outcome.rows:
            tolerance = row["tolerance"] or 1.0
            share = row["max_rel"] / tolerance
            values[i, quantities.index(row["quantity"])] = max(share, 1e-8)
    return Heatmap(
        "Errors relative to their tolerance",
        Axis("quantity"),
        Axis("backend"),
        columns=quantities,
        rows=tuple(outcome.case.backend for outcome in scored),
        values=np.where(np.isfinite(values), values, np.nan),
        value=Axis("error / tolerance", log=True),
        diverging=True,
        caption="Above 1 an error is too large. Cells are empty where the reference is compared"
        " with itself, or an error is not finite.",
    )


def errors_over_states(recordings: Named) -> tuple[Lines, ...]:
    """Return the errors of tau, sorted."""
    if not recordings:
        return ()
    series = []
    for name, recording in recordings:
        error = np.maximum(recording["error_tau"] / recording.facts["scales"]["tau"], _LEAST)
        share = np.linspace(0.0, 100.0, len(error))
        pick = _thinned(len(error))
        series.append(Series(name, share[pick], np.sort(error)[pick]))
    return (
        Lines(
            "Sorted errors",
            Axis("states with a smaller error", "%"),
            Axis("relative difference of tau", log=True),
            tuple(series),
            caption="Rounding is a flat line; a fault is far above it.",
        ),
    )


def mass_matrices(recordings: Named) -> tuple[Heatmap, ...]:
    """Return M of the reference at the first state, and the differences of the backends.

    A backend out of tolerance has a figure of its own; for the others the largest
    difference is shown, which is rounding.
    """
    first = recordings[0][1]
    figures = [_matrix("M of the reference at the first state", first, first["M_reference"])]
    sound = []
    for name, recording in recordings:
        if "error_M" not in recording.channels:
            continue
        difference = recording["M"] - recording["M_reference"]
        scales, tolerances = recording.facts["scales"], recording.facts["tolerances"]
        if recording["error_M"].max() > tolerances["M"] * scales["M"]:
            figures.append(_matrix(f"{name}: difference of M", recording, difference))
        else:
            sound.append((name, recording, difference))
    if sound:
        names = ", ".join(name for name, _, _ in sound)
        largest = np.max([np.abs(difference) for *_, difference in sound], axis=0)
        title = f"Largest difference of M: {names}"
        figures.append(_matrix(title, sound[0][1], largest, signed=False))
    return tuple(figures)


def _matrix(title: str, recording: Recording, values: Array, *, signed: bool = True) -> Heatmap:
    joints = tuple(recording.facts["joints"])
    return Heatmap(
        title,
        Axis("joint"),
        Axis("joint"),
        columns=joints,
        rows=joints,
        values=_finite(values),
        value=Axis("entry of M", "kg m², kg m, kg"),
        annotate=signed and len(joints) <= _MOST_NUMBERS,
        diverging=signed,
    )


def free_motions(recordings: Named) -> tuple[Lines, ...]:
    """Return the free motion, its differences between backends, and its energy."""
    seconds = Axis("time", "s")
    first = recordings[0][1]
    time, pick = first["time"], _thinned(len(first["time"]))
    fall = tuple(
        Series(joint, time[pick], first["q_reference"][pick, i])
        for i, joint in enumerate(first.facts["falling_joints"])
    )
    apart, energy = [], []
    for name, recording in recordings:
        own = _thinned(len(recording["time"]))
        if "error_free_motion" in recording.channels:
            error = recording["error_free_motion"]
            some = _thinned(len(error))
            apart.append(Series(name, recording["time"][some], np.maximum(error[some], _LEAST)))
        change = recording["energy"] - recording["energy"][0]
        energy.append(Series(name, recording["time"][own], _finite(change[own])))
    apart_axis = Axis("largest difference", "rad, m", log=True)
    caption = f"Compared over {first.facts['horizon_s']:.3g} s."
    return (
        Lines("Free motion of the reference", seconds, Axis("position", "rad, m"), fall),
        Lines("Difference from the reference", seconds, apart_axis,
              tuple(apart), caption=caption),
        Lines("Change of energy", seconds, Axis("energy", "J"), tuple(energy),
              caption="Semi-implicit Euler conserves energy only roughly; the reference's line is"
              " by Runge-Kutta, which does."),
    )  # fmt: skip


def _thinned(count: int) -> Any:
    """Return the indices of a limited number of samples, including the first and last."""
    return np.unique(np.linspace(0, count - 1, min(count, _MOST_SAMPLES)).astype(int))


def _finite(values: Array) -> Array:
    return np.where(np.isfinite(values), values, np.nan)


_FORMULAS = (
    ("M₁₁", "m₁ lc₁² + m₂ (l₁² + lc₂² + 2 l₁ lc₂ cos q₂) + I₁ + I₂", "kg m²", "1.970"),
    ("M₁₂ = M₂₁", "m₂ (lc₂² + l₁ lc₂ cos q₂) + I₂", "kg m²", "0.433"),
    ("M₂₂", "m₂ lc₂² + I₂", "kg m²", "0.192"),
    ("g₁", "-g [(m₁ lc₁ + m₂ l₁) cos q₁ + m₂ lc₂ cos(q₁ + q₂)]", "N m", "-38.106"),
    ("g₂", "-g m₂ lc₂ cos(q₁ + q₂)", "N m", "-5.567"),
    ("c₁", "h q̇₂ q̇₁ + h (q̇₁ + q̇₂) q̇₂,  h = -m₂ l₁ lc₂ sin q₂", "N m", "0 at q̇ = 0"),
    ("c₂", "-h q̇₁²", "N m", "0 at q̇ = 0"),
)
_DERIVATION = (
    "Jvc₁ = [-lc₁ sin q₁, 0; lc₁ cos q₁, 0; 0, 0] and"
    " Jvc₂ = [-l₁ sin q₁ - lc₂ sin(q₁ + q₂), -lc₂ sin(q₁ + q₂);"
    " l₁ cos q₁ + lc₂ cos(q₁ + q₂), lc₂ cos(q₁ + q₂); 0, 0]"
    " map joint velocities to the velocities of the centres of mass. From the kinetic energy"
    " M(q) = m₁ Jvc₁ᵀ Jvc₁ + m₂ Jvc₂ᵀ Jvc₂ + [I₁ + I₂, I₂; I₂, I₂], from the Christoffel symbols of"
    " M C(q, q̇) = [h q̇₂, h (q̇₁ + q̇₂); -h q̇₁, 0], and from the potential energy g(q);"
    " together τ = M(q) q̈ + C(q, q̇) q̇ + g(q)."
)
_COMPARISON = (
    "The check of the Coriolis forces in that report is vacuous: it was made at q̇ = 0, where"
    " C q̇ is zero for any C. Here q̇ = (1, 2) rad/s in the table, and every random state has a"
    " velocity. The wrist of the UR5 is left out deliberately: the arm is a separate robot in the"
    " catalogue, not a UR5 with zero masses."
)


def two_link_section(terms: Mapping[str, Mapping[str, Any]]) -> Section:
    """Return the derivation at the printed state.

    Args:
        terms: M, g and c of each backend at that state.
    """
    names = list(terms)
    values = {name: _entries(each) for name, each in terms.items()}
    table = Table(
        "q = (0, 0.0665) rad, q̇ = (1, 2) rad/s",
        (*header("entry | formula | unit | printed in 2022"), *(Column(name) for name in names)),
        tuple(
            (entry, formula, unit, printed, *(values[name][i] for name in names))
            for i, (entry, formula, unit, printed) in enumerate(_FORMULAS)
        ),
    )  # fmt: skip
    return Section(
        "The two-link arm, derived", (Prose(_DERIVATION), table, Prose(_typo()), Prose(_COMPARISON))
    )


def _entries(terms: Mapping[str, Any]) -> tuple[str, ...]:
    M, g, c = (np.asarray(terms[name], dtype=np.float64) for name in ("M", "g", "c"))
    return tuple(f"{value:.3f}" for value in (M[0, 0], M[0, 1], M[1, 1], *g, *c))


def _typo() -> str:
    """Return the value of the report's typeset formula, which has a typo."""
    arm = TwoLink()
    right = float(arm.mass_matrix(POSITIONS)[0, 0])
    wrong = float(sum(arm.masses) * arm.centers[0] ** 2 + sum(arm.moments))
    return (
        "The report's typeset formula repeats Jvc₁ in the second term of M;"
        f" that would be M₁₁ = {wrong:.3f} kg m² instead of {right:.3f} kg m². Its program, and"
        " therefore its numbers, use Jvc₂."
    )


_LEAD = (
    "One robot in every library. Its equation of motion, M(q) a + c(q, v) + g(q) = tau, is compared"
    " term by term with Pinocchio's at random states inside the joint limits. The cause of a"
    " difference is sought in the model as loaded by each library, then in the terms themselves."
)
_READING = (
    "A fault changes the robot; a note does not. Cause and link or joint are identified from the"
    " audit (masses, axes, drives and gravity as loaded by the library) if it shows them, and"
    " otherwise from the terms: gravity appears in g alone, damping in c alone, an armature as a"
    " constant on the diagonal of M, and masses through the regressor, in which tau is linear."
    " Causes that no measurement can separate are reported as inseparable, not guessed."
)
_MOTION = (
    "The robot falls freely from rest, without limits, couplings and resistance, prismatic joints"
    " fixed. Engines integrate by semi-implicit Euler, and so does the reference beside them. Small"
    " disturbances grow over time; motions are compared only until rounding may have caused a"
    " visible deviation."
)


_LOADER_LEAD = (
    "One robot file, read by the own loaders of the engines' libraries with their defaults, each in"
    " its own process, and compared link by link and joint by joint with the robot as read here."
)
_LOADER_READING = (
    "A fault changes the mechanism: mass that is dropped or invented, moments of inertia that are"
    " computed from shapes, couplings that are ignored. A note does not, or is a default:"
    " links that are fused with those that carry them, a base that floats, limits of speed and"
    " effort that the library has no place for."
)


def report(outcomes: Sequence[Outcome[Case]]) -> Findings:
    """Return errors, motions and findings of all backends, or what loaders read."""
    if any(outcome.case.loaders for outcome in outcomes):
        return _loader_report(outcomes)
    robots = list(dict.fromkeys(outcome.case.robot for outcome in outcomes))
    findings = [
        {"robot": outcome.case.robot, **finding}
        for outcome in outcomes
        for finding in _facts(outcome).get("findings", ())
    ]
    terms: dict[str, Any] = {}
    sections: list[Section] = [_findings_section(findings, _READING)]
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
        conclusion=_conclusion(outcomes, robots=len(robots)),
    )


_MOST_NAMED = 3
"""Backends that differ or failed which the conclusion names; the table lists all."""


def _conclusion(outcomes: Sequence[Outcome[Case]], *, robots: int) -> str:
    """Say in how many backends a robot is the same, how exactly, and what differs elsewhere."""
    compared = [outcome for outcome in outcomes if outcome.case.backend != REFERENCE]
    verdicts = [(outcome, _verdict(outcome)) for outcome in compared]
    same = [outcome for outcome, verdict in verdicts if verdict == _SAME]
    worst = max(
        (row["max_rel"] for each in same for row in each.rows if row["quantity"] in TERMS),
        default=0.0,
    )
    what = "The robot" if robots == 1 else f"Of {robots} robots in {len(compared)} comparisons one"
    parts = []
    if same:
        names = and_list(dict.fromkeys(outcome.case.backend for outcome in same))
        count = "" if robots == 1 else f", in {len(same)}"
        parts.append(
            f"{what} is the same as in Pinocchio in {names}{count}: M, g, c and tau differ by at"
            f" most {worst:.1e} at {same[0].case.states} random states."
        )
    others = [
        f"{_other(outcome.case)}{f' ({outcome.case.robot})' if robots > 1 else ''}: {verdict}"
        for outcome, verdict in verdicts
        if verdict != _SAME
    ]
    if others:
        more = f"; {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
        parts.append(f"What differs is {'; '.join(others[:_MOST_NAMED])}{more}.")
    return " ".join(parts) or "Nothing was compared with Pinocchio."


def _other(case: Case) -> str:
    return Path(case.against).name if case.backend == AGAINST else case.backend


def _loader_report(outcomes: Sequence[Outcome[Case]]) -> Findings:
    """Return what each loader makes of each robot."""
    several = len({outcome.case.robot for outcome in outcomes}) > 1
    findings = [
        {"robot": outcome.case.robot, **finding}
        for outcome in outcomes
        for finding in _facts(outcome).get("findings", ())
    ]
    rows = []
    for outcome in outcomes:
        row = outcome.rows[0] if outcome.rows else {}
        cells: tuple[Cell, ...] = (
            *((outcome.case.robot,) if several else ()),
            outcome.case.backend,
            *(row.get(name) for name in ("links", "moving_joints", "mass_kg", "faults", "notes")),
            row.get("result") or outcome.message or str(outcome.status),
        )
        rows.append(cells)
    words = "loader | links | moving joints | mass [kg] | faults | notes | what it does"
    columns = (*((Column("robot"),) if several else ()), *header(words))
    faults = sum(finding["severity"] == "fault" for finding in findings)
    return Findings(
        Table("", columns, tuple(rows)),
        (_findings_section(findings, _LOADER_READING),),
        {
            "loaders": len(outcomes),
            "completed": sum(outcome.recording is not None for outcome in outcomes),
            "same": sum(bool(outcome.rows and outcome.rows[0]["passed"]) for outcome in outcomes),
            "faults": faults,
            "notes": len(findings) - faults,
        },
        extra={"findings": findings},
        lead=_LOADER_LEAD,
        conclusion=_loader_conclusion(outcomes),
    )


def _loader_conclusion(outcomes: Sequence[Outcome[Case]]) -> str:
    """Return what each loader does with its robot, in one sentence."""
    parts = []
    for outcome in outcomes:
        facts = _facts(outcome)
        did = facts.get("summary") or outcome.message or outcome.status
        parts.append(f"{facts.get('title', outcome.case.backend)} {did}")
    return "; ".join(parts) + "."


def _headline(outcomes: Sequence[Outcome[Case]], *, several: bool) -> Table:
    """Return the largest relative difference of each term, and the verdict."""
    columns = (
        *((Column("robot"),) if several else ()),
        Column("backend"),
        *(Column(f"{quantity}, relative error") for quantity in TERMS),
        *header("other checks | faults | verdict"),
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


_SAME = "the same robot"


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
    return "the reference" if outcome.case.backend == REFERENCE else _SAME


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


def _findings_section(findings: Sequence[dict[str, Any]], reading: str) -> Section:
    columns = ("severity", "backend", "cause", "where", "size", "finding")
    names = ("severity", "backend", "cause", "where", "size", "message")
    faults_first = sorted(findings, key=lambda finding: str(finding["severity"]))
    rows = tuple(tuple(finding[name] for name in names) for finding in faults_first)
    table = Table("", tuple(map(Column, columns)), rows)
    return Section("Findings", (table, Prose(reading)) if rows else (Prose(reading),))


def _robot_sections(outcomes: Sequence[Outcome[Case]], robot: str) -> list[Section]:
    """Return the sections of one robot in all its backends."""
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
