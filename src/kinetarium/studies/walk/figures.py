"""Report of the walking study: plan views, gait diagrams, joints, margins, paper's figures."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinetarium.batch.outcomes import Named, Outcomes, case_labels, completion
from kinetarium.batch.study import Findings, Outcome
from kinetarium.figure.charts import Axis, Bars, BarSeries, Lines, Mark, Series, Style
from kinetarium.figure.page import Figure, Section
from kinetarium.figure.replay import Replay
from kinetarium.figure.scene3d import Scene3D
from kinetarium.figure.scene_replay import scene_replay
from kinetarium.figure.text import Column, Prose, Table, header
from kinetarium.figure.walk_replay import machine_meshes, walk_replay
from kinetarium.legs import LegKind, Machine
from kinetarium.legs.walk.walk import walking_volume
from kinetarium.recording.recording import Recording
from kinetarium.studies.walk._linkage import linkage_scene
from kinetarium.studies.walk._paper import paper_sections
from kinetarium.studies.walk.config import CRAWL, NO_ENGINE, PANTOGRAPH, Case
from kinetarium.studies.walk.run import LEGS, drives
from kinetarium.studies.walk.score import TIPPED, tilt

_LEAD = (
    "A robot with four pantograph legs crawls, one leg at a time. Its three types differ in the"
    " lateral drive of a leg: TTT1 slides the whole leg, TTT2 is a hinged spatial pantograph, TTR"
    " turns the whole leg. The static margin is the distance of the centre of mass from the edge"
    " of the support polygon, negative where the robot tips over; the dynamic margin is that of"
    " the zero-moment point, all links included, displaced in each swing by the yielding of the"
    " legs that take over the load. Lengths are in the machine's unit unless stated otherwise."
)
_COLUMNS = (
    ("verdict", "verdict", ""),
    ("min_margin_units", "least margin", "unit"),
    ("mean_margin_units", "mean margin", "unit"),
    ("min_dynamic_margin_units", "least dynamic margin", "unit"),
    ("measured_margin_units", "measured margin", "unit"),
    ("speed_m_per_s", "speed", "m/s"),
    ("sway_units", "sway", "unit"),
    ("step_time_s", "step time", "s"),
    ("max_slip_units", "slip", "unit"),
    ("drive_work_j_per_m", "drive work", "J/m"),
    ("walking_volume_units3", "walking volume", "unit³"),
    ("order", "order", ""),
    ("table1_row", "row of Table 1", ""),
    ("limit_violations", "limit violations", ""),
    ("interference_max_units", "interference", "unit"),
    ("foot_gap_min_units", "least foot gap", "unit"),
    ("energy_j_per_m", "energy", "J/m"),
    ("cost_of_transport", "cost of transport", ""),
    ("tilt_max_deg", "tilt", "deg"),
    ("end_error_m", "end error", "m"),
    ("heading_error_deg", "heading error", "deg"),
    ("loop_gap_m", "loop gap", "m"),
)
_MOST_SHOWN = 6
"""Maximum number of cases with figures of their own; the others are in the tables."""
_INSTANTS = 3
FORESEEN = 1.0
"""Dynamic margin below which a robot that tips over was predicted to [unit]."""


def report(outcomes: Sequence[Outcome[Case]]) -> Findings:
    """Return the walks, and the figures and tables of the paper."""
    labels = case_labels([_short(outcome.case) for outcome in outcomes])
    named = list(zip(labels, outcomes, strict=True))
    walked = [(label, outcome) for label, outcome in named if outcome.recording]
    sections = (
        *(_walk_sections(walked) if walked else ()),
        *_warnings(named),
        *_pushed(named),
        _legs(walked),
        *paper_sections(outcomes[0].case.machine if outcomes else Machine()),
    )
    return Findings(
        _headline(named),
        sections,
        _summary(Outcomes(outcomes)),
        lead=_LEAD,
        conclusion=_conclusion(named),
    )


def _conclusion(named: Named[Case]) -> str:
    """Return how the walks ended, and their least margin and greatest end error."""
    results = Outcomes(outcome for _, outcome in named)
    counts = Counter(results.values("verdict"))
    if not counts:
        return completion(results)
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    margins = [
        (outcome.rows[0]["min_margin_units"], label) for label, outcome in named if outcome.rows
    ]
    least, label = min(margins)
    words = f"Of {len(results)} walks: {verdicts}. The least static margin is {least:.3g} units"
    words += f" ({label})" if label and len(named) > 1 else ""
    dynamic = results.values("min_dynamic_margin_units")
    words += f", the least dynamic one {min(dynamic):.3g}" if dynamic else ""
    tipped = [row for row in results.rows if row["verdict"] == "tipped over"]
    known = [row["min_dynamic_margin_units"] for row in tipped if "sway_units" in row]
    foreseen = sum(margin is not None and margin < FORESEEN for margin in known)
    if tipped:
        words += f"; {foreseen} of the {len(tipped)} that tipped over had one below 1 unit"
    errors = results.values("end_error_m")
    words += f"; in physics walks end up to {max(errors):.2g} m from the plan" if errors else ""
    costs = results.values("cost_of_transport")
    words += f"; the cost of transport is {min(costs):.2g} at least" if costs else ""
    pushed = [(o.case.push, o.rows[0]["verdict"]) for _, o in named if o.rows and o.case.push]
    if pushed:
        stood = sum(verdict == "walked" for _, verdict in pushed)
        words += f"; {stood} of {len(pushed)} pushes are withstood"
    violations = sum(results.values("limit_violations"))
    words += f"; {violations} leg steps exceed the joint limits" if violations else ""
    return f"{words}. {completion(results)}"


def replay(case: Case, recording: Recording) -> Replay:
    """Return a walk as a replay; a recording of release 0.1 has no path."""
    plan = recording.facts.get("plan")
    if case.linkage is not None:
        return scene_replay(linkage_scene(case), recording, trails=("robot/body",))
    return walk_replay(
        case.machine,
        case.terrain,
        time=np.asarray(recording["time"]),
        body=np.asarray(recording["body"]),
        links=np.asarray(recording["links"]).reshape(-1, 4, 9, 7),
        path=np.array(plan["path"]) if plan else None,
        unit_m=case.unit_m,
    )


def _short(case: Case) -> dict[str, Any]:
    """Return the fields that identify a case for a reader."""
    names = (
        "engine",
        "type",
        "path",
        "ground",
        "timing",
        "leg_order",
        "stride",
        "sway",
        "lift",
        "push",
    )
    gait = case.gait.name if case.gait else CRAWL
    legs = case.linkage.name if case.linkage else PANTOGRAPH
    return {
        "legs": legs,
        "gait": gait,
        **{name: getattr(case, name) for name in (*names, "machine")},
    }


def _headline(named: Named[Case]) -> Table:
    columns = (Column("case"), *(Column(name, unit) for _, name, unit in _COLUMNS))
    rows = []
    for label, outcome in named:
        row = outcome.rows[0] if outcome.rows else {"verdict": str(outcome.status)}
        shown = {**row, "order": " ".join(map(str, row.get("order") or ())) or None}
        rows.append((label, *(shown.get(key) for key, _, _ in _COLUMNS)))
    return Table("", columns, tuple(rows))


def _summary(outcomes: Outcomes[Case]) -> dict[str, Any]:
    summary: dict[str, Any] = {}
    for (kind,), group in outcomes.by("type").items():
        verdicts = group.values("verdict")
        summary[str(kind)] = {
            "cases": len(group),
            "verdicts": {name: verdicts.count(name) for name in sorted(set(verdicts))},
            **group.spreads(("min_margin_units", "drive_work", "limit_violations")),
        }
    return summary


def _walk_sections(walked: Named[Case]) -> tuple[Section, ...]:
    shown = walked[:_MOST_SHOWN]
    plans = tuple(_plan_view(label, outcome) for label, outcome in shown)
    gaits = tuple(_gait(label, outcome) for label, outcome in shown)
    panto = [pair for pair in walked if pair[1].case.linkage is None]
    types = {pair[1].case.type: pair for pair in reversed(panto)}
    joints = tuple(
        figure for label, outcome in types.values() for figure in _joints(label, outcome)
    )
    strobe = [
        Section("The walk", (_strobe(*first), Prose(f"Equal time intervals: {first[0]}.")))
        for first in panto[:1]
    ]
    physical = [pair for pair in walked if pair[1].case.engine != NO_ENGINE]
    sections = [
        *strobe,
        Section("Plan view", plans),
        Section("Stability", (_margins(walked), *gaits)),
        *([Section("Joints", joints)] if joints else []),
        *_foot_curves(walked),
    ]
    if physical:
        sections.append(Section("In physics", _physics(physical)))
    return tuple(sections)


def _foot_curves(walked: Named[Case]) -> list[Section]:
    """Return the foot curves of the linkages, with their stance and the closure of their bars."""
    linkages = {o.case.linkage.name: o.case.linkage for _, o in walked if o.case.linkage}
    figures: list[Figure] = []
    angles = np.linspace(0.0, 2 * np.pi, 361)
    for linkage in linkages.values():
        x, z = linkage.points(angles)[linkage.foot].T
        stance = linkage.stance
        figures += [
            Lines(
                f"Foot curve: {linkage.name}",
                Axis("x", "unit"),
                Axis("z", "unit"),
                (Series("foot", x, z),),
                equal=True,
            ),
            Prose(
                f"Bars: {linkage.source}; closed to {linkage.closure(angles):.1e} units. Stance:"
                f" {stance.length:.1f} units in {abs(np.degrees(stance.angle)):.0f} degrees of the"
                f" crank, level to {stance.ripple:.2f}."
            ),
        ]
    return [Section("Linkages", tuple(figures))] if figures else []


def _plan_view(label: str, outcome: Outcome[Case]) -> Lines:
    recording, case = outcome.recorded, outcome.case
    body = recording["body"] / case.unit_m
    marks = np.linspace(0, len(body) - 1, min(len(body), 17)).astype(int)
    feet = recording["feet"] / case.unit_m
    series = [
        Series("body", body[:, 0], body[:, 1]),
        Series("body position", body[marks, 0], body[marks, 1], Style.MARKERS),
    ]
    for leg, name in enumerate(LEGS):
        stands = recording["support"][:, leg] > 0
        landed = stands & ~np.concatenate([[False], stands[:-1]])
        series.append(Series(name, feet[landed, leg, 0], feet[landed, leg, 1], Style.MARKERS))
    return Lines(
        f"Plan view: {label}", Axis("x", "unit"), Axis("y", "unit"), tuple(series), equal=True
    )


def _gait(label: str, outcome: Outcome[Case]) -> Lines:
    recording = outcome.recorded
    time, support = recording["time"], recording["support"] > 0
    series = tuple(
        Series(name, time, np.where(support[:, leg], leg + 1.0, np.nan))
        for leg, name in enumerate(LEGS)
    )
    return Lines(
        f"Gait diagram: {label}",
        Axis("time", "s"),
        Axis("leg"),
        series,
        caption="A line marks the stance of a leg.",
    )


def _margins(walked: Named[Case]) -> Lines:
    series = []
    for label, outcome in walked:
        margin = outcome.recorded["margin"] / outcome.case.unit_m
        series.append(Series(label, outcome.recorded["time"], margin))
    return Lines(
        "Planned static margin",
        Axis("time", "s"),
        Axis("margin", "unit"),
        tuple(series),
        marks=(Mark(0.0, "tips over"),),
    )


def _joints(label: str, outcome: Outcome[Case]) -> tuple[Lines, ...]:
    recording, kind = outcome.recorded, outcome.case.type
    joints = recording["joints"]
    names = drives(kind)
    figures = []
    for k in range(3):
        angle = kind is LegKind.TTR and k == 1
        scale = 180 / np.pi if angle else 1 / outcome.case.unit_m
        series = tuple(
            Series(leg, recording["time"], joints[:, 3 * i + k] * scale)
            for i, leg in enumerate(LEGS)
        )
        joint = names[k].split("/")[1]
        figures.append(
            Lines(
                f"{joint}: {label}",
                Axis("time", "s"),
                Axis(joint, "deg" if angle else "unit"),
                series,
            )
        )
    return tuple(figures)


def _physics(physical: Named[Case]) -> tuple[Figure, ...]:
    leaning, off = [], []
    for label, outcome in physical:
        time = outcome.recorded["time"]
        leaning.append(Series(label, time, tilt(outcome.recorded)))
        off.append(Series(label, time, outcome.recorded["loop_gap"] * 1e6))
    said = []
    for label, outcome in physical:
        if outcome.rows:
            row = outcome.rows[0]
            said.append(
                f"{label}: {row['verdict']}; maximum tilt {row['tilt_max_deg']:.1f} deg, final"
                f" position error {row['end_error_m'] * 100:.1f} cm."
            )
    seconds = Axis("time", "s")
    return (
        Prose(" ".join(said)),
        Lines(
            "Tilt of the body from its plan",
            seconds,
            Axis("tilt", "deg"),
            tuple(leaning),
            marks=(Mark(TIPPED, "tipped over"),),
        ),
        Lines("Gap of the closed loops", seconds, Axis("gap", "µm"), tuple(off)),
        *(_balance(label, o) for label, o in physical[:_MOST_SHOWN] if o.case.rests),
    )


def _balance(label: str, outcome: Outcome[Case]) -> Lines:
    """Compare the dynamic margin as planned and as simulated, until the robot tips over."""
    recording = outcome.recorded
    standing = np.cumsum(tilt(recording) > TIPPED) == 0
    series = tuple(
        Series(name, recording["time"][standing], recording[key][standing] / outcome.case.unit_m)
        for name, key in (("planned", "dynamic_margin"), ("simulated", "measured_margin"))
        if key in recording.channels  # release 0.1 has none
    )
    return Lines(
        f"Dynamic margin: {label}",
        Axis("time", "s"),
        Axis("margin", "unit"),
        series,
        marks=(Mark(0.0, "edge of the support"),),
        caption="Simulated: the zero-moment point of the recorded links.",
    )


def _warnings(named: Named[Case]) -> tuple[Section, ...]:
    rows = [
        (label, text)
        for label, outcome in named
        for row in outcome.rows
        for text in row["warnings"]
    ]
    if not rows:
        return ()
    table = Table("", (Column("case"), Column("warning")), tuple(rows))
    return (Section("Warnings", (table,)),)


def _pushed(named: Named[Case]) -> tuple[Section, ...]:
    """Return for each engine and type the impulses that it withstands."""
    tests: dict[tuple[Any, ...], list[tuple[float, str]]] = {}
    for _, outcome in named:
        case = outcome.case
        if case.push and outcome.rows:
            gait = case.gait.name if case.gait else CRAWL
            key = (case.engine, case.type, gait, str(case.drives), case.push_deg)
            tests.setdefault(key, []).append((case.push, outcome.rows[0]["verdict"]))
    if not tests:
        return ()
    rows = []
    for key, results in tests.items():
        stood = [push for push, verdict in results if verdict == "walked"]
        fell = [push for push, verdict in results if verdict != "walked"]
        rows.append((*key, max(stood, default=None), min(fell, default=None)))
    columns = header(
        "engine | type | gait | drives | direction [deg] | greatest walked [N s] |"
        " least fallen [N s]"
    )
    table = Table("Impulses on the body", columns, tuple(rows))
    return (Section("Push tests", (table,)),)


def _legs(walked: Named[Case]) -> Section:
    """Compare the three leg types: reachable volume of a foot, travel and work of the drives."""
    kinds = tuple(LegKind)
    machine = walked[0][1].case.machine if walked else Machine()
    volumes = [walking_volume(replace(machine, kind=kind)) for kind in kinds]
    names = tuple(kind.upper() for kind in kinds)
    figures: list[Figure] = [
        Bars(
            "Walking volume",
            names,
            (BarSeries("walking volume", np.array(volumes) / 1e3),),
            Axis("volume", "1000 unit³"),
            caption="Reachable volume of a foot in its leg's frame, in closed form.",
        )
    ]
    planned = [
        (label, o)
        for label, o in walked
        if o.rows and o.case.engine == NO_ENGINE and o.case.linkage is None
    ]
    if planned:
        columns = header(
            "case | h_x [unit] | lateral [unit or rad] | v_z [unit] | work [J] | "
            "work per metre [J/m]"
        )
        rows = tuple(
            (
                label,
                *outcome.rows[0]["joint_travel"].values(),
                outcome.rows[0]["drive_work"],
                outcome.rows[0]["drive_work_j_per_m"],
            )
            for label, outcome in planned
        )
        figures.append(Table("Travel and work of the drives", columns, rows))
    return Section("The legs compared", tuple(figures))


def _strobe(label: str, outcome: Outcome[Case]) -> Scene3D:
    recording, case = outcome.recorded, outcome.case
    bodies = []
    for index in np.linspace(0, len(recording["time"]) - 1, _INSTANTS).astype(int):
        links = np.asarray(recording["links"][index]).reshape(4, 9, 7)
        time = float(recording["time"][index])
        bodies += machine_meshes(
            case.machine,
            links,
            np.asarray(recording["body"][index]),
            unit_m=case.unit_m,
            label=f"{time:.1f} s, ",
        )
    return Scene3D(f"The walk: {label}", tuple(bodies))
