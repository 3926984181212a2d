"""Report of the pick study: success and its causes, ways, forces, and the mission as a replay."""

from collections import Counter
from collections.abc import Sequence
from math import cos, sin
from typing import Any

import numpy as np

from kinetarium.batch.outcomes import Outcomes, and_list, case_labels, completion, robot_name
from kinetarium.batch.study import Findings, Outcome
from kinetarium.engines.protocol import FrictionRule
from kinetarium.figure.charts import (
    Axis,
    Bars,
    BarSeries,
    Heatmap,
    Lines,
    Mark,
    Series,
    Side,
    Spot,
    Style,
)
from kinetarium.figure.page import Section
from kinetarium.figure.replay import Guide, Replay
from kinetarium.figure.scene_replay import scene_replay
from kinetarium.figure.text import Cell, Column, Prose, Table
from kinetarium.metrics import wilson_interval
from kinetarium.recording.recording import Recording
from kinetarium.studies.pick.config import Case
from kinetarium.studies.pick.contacts import SIDES
from kinetarium.studies.pick.robot import open_picker

_LEAD = (
    "A mobile manipulator drives to a table, grasps an object from above, lifts it by 0.15 m and"
    " holds it for 2 s. Its base is chosen by a reachability map such that the grasp is kept"
    " although the base stops elsewhere (robust), by the map alone, at a fixed distance or at"
    " random. What it knows of its pose is off by a constant error; planned again, the arm's motion"
    " starts from where the base has stopped, otherwise from where it should be, and what is out of"
    " reach from a base of the map gets a second stop. Success is judged on the recording: lifted"
    " over 0.9 of 0.15 m, held with less than 10 mm of slip."
)
_MEASURES = (
    ("base_error_mm", "base error", "mm"),
    ("base_error_deg", "heading error", "deg"),
    ("stop_error_mm", "first stop, as known", "mm"),
    ("stop_error_deg", "first stop, as known", "deg"),
    ("tries", "tries", "-"),
    ("corrections", "corrections", "-"),
    ("drive_s", "drive", "s"),
    ("way_m", "way", "m"),
    ("tool_error_mm", "tool error", "mm"),
    ("grip_n", "grip", "N"),
    ("slip_mm", "slip", "mm"),
    ("creep_mm_s", "creep", "mm/s"),
    ("touches", "touches", "-"),
    ("limit_margin_rad", "limit margin", "rad"),
)
_MOST_VIEWS = 4
"""Missions that are drawn from above, and whose forces are drawn; those that failed first."""

Named = Sequence[tuple[str, Outcome[Case]]]
_Group = tuple[str, str, bool]


def report(outcomes: Sequence[Outcome[Case]]) -> Findings:
    """Compare engines, placements, and missions with and without planning again."""
    groups = _groups(outcomes)
    summary = {
        _group_name(key): {**_counts(group), **Outcomes(group).spreads([m[0] for m in _MEASURES])}
        for key, group in groups.items()
    }
    labels = case_labels([outcome.case for outcome in outcomes])
    named = list(zip(labels, outcomes, strict=True))
    return Findings(
        _headline(groups),
        _sections(groups, named),
        summary,
        lead=_LEAD,
        conclusion=_conclusion(groups, outcomes),
    )


def replay(case: Case, recording: Recording) -> Replay:
    """Return the mission as a replay, with the planned way of the root."""
    ways = [np.array(stop["way"]).reshape(-1, 3) for stop in recording.facts["stops"]]
    guides = [
        Guide(f"planned way {i}", np.column_stack([way[:, :2], np.full(len(way), 0.01)]))
        for i, way in enumerate(ways, 1)
        if len(way) > 1
    ]
    picker = open_picker(case.robot, case.reading, case.sha256)
    # Friction is not seen, and a received run is shown without its engine.
    scene = picker.scene(
        case.layout, friction=1.0, tyres=1.0, rule=FrictionRule.MAXIMUM, force=case.force
    )
    return scene_replay(scene, recording, guides=guides)


def _groups(outcomes: Sequence[Outcome[Case]]) -> dict[_Group, list[Outcome[Case]]]:
    found: dict[_Group, list[Outcome[Case]]] = {}
    for outcome in outcomes:
        case = outcome.case
        key = (case.engine, str(case.placement), case.replan)
        found.setdefault(key, []).append(outcome)
    return found


def _group_name(key: _Group) -> str:
    engine, placement, replan = key
    return f"{engine}, {placement}, {'re-planned' if replan else 'not re-planned'}"


def _objects(group: Sequence[Outcome[Case]]) -> int:
    """Return the number of objects of a group; a run that failed counts with all of its own."""
    return sum(len(o.rows) or len(o.case.layout.objects) for o in group)


def _counts(group: Sequence[Outcome[Case]]) -> dict[str, Any]:
    total = _objects(group)
    won = [row for outcome in group for row in outcome.rows if row["success"]]
    low, high = wilson_interval(len(won), total)
    causes = Counter(
        str(row["cause"]) for outcome in group for row in outcome.rows if not row["success"]
    )
    for outcome in group:
        if not outcome.rows:
            causes[str(outcome.status)] += _objects([outcome])
    rows = [row for outcome in group for row in outcome.rows]
    held = [row for row in rows if row.get("grip_law")]
    # Objects of one stop share its drive.
    stops = [
        {row["stop"]: row for row in outcome.rows if row["touches"] is not None}
        for outcome in group
    ]
    driven = [row for rows in stops for row in rows.values()]
    return {
        "objects": total,
        "successes": len(won),
        "first_stop": sum(row.get("tries", 1) == 1 for row in won),
        "success_low": low,
        "success_high": high,
        "causes": dict(causes.most_common()),
        "gripped": sum(row.get("grip_law") is not None for row in rows),
        "grip_law": len(held),
        "most_slip_mm": max((row["slip_mm"] for row in held), default=None),
        "most_creep_mm_s": max((row["creep_mm_s"] for row in held), default=None),
        "drives": len(driven),
        "untouched": sum(row["touches"] == 0 for row in driven),
    }


def _headline(groups: dict[_Group, list[Outcome[Case]]]) -> Table:
    rows = []
    for (engine, placement, replan), group in groups.items():
        counts, spreads = _counts(group), Outcomes(group)
        cells: list[Cell] = [
            spreads.median(key) for key in ("base_error_mm", "tool_error_mm", "grip_n", "slip_mm")
        ]
        rows.append(
            (
                engine,
                placement,
                "yes" if replan else "no",
                f"{counts['successes']} of {counts['objects']}",
                f"{counts['success_low']:.0%} to {counts['success_high']:.0%}",
                counts["first_stop"],
                *cells,
                counts["most_slip_mm"],
                counts["most_creep_mm_s"],
                f"{counts['untouched']} of {counts['drives']}",
                ", ".join(f"{cause} {count}" for cause, count in counts["causes"].items()),
            )
        )
    columns = (
        Column("engine"), Column("placement"), Column("re-planned"), Column("success"),
        Column("95 % interval"), Column("from the first stop", "-"), Column("base error", "mm"),
        Column("tool error", "mm"),
        Column("grip", "N"), Column("slip", "mm"), Column("greatest slip", "mm"),
        Column("greatest creep", "mm/s"), Column("untouched drives"), Column("causes"),
    )  # fmt: skip
    return Table("", columns, tuple(rows))


def _conclusion(
    groups: dict[_Group, list[Outcome[Case]]], outcomes: Sequence[Outcome[Case]]
) -> str:
    robot = robot_name(outcomes[0].case.robot)
    [(first, names), *others] = _engines(groups).items()
    shares = [
        "{held} ({success_low:.0%} to {success_high:.0%})".format(
            held=_held(counts, engine), **counts
        )
        for engine in names
        for counts in [_counts(groups[engine, *first])]
    ]
    again = _AGAIN[first[1]].lower()
    said = [f"{robot}: placed {_HOW[first[0]]} and {again}, it lifts and holds {and_list(shares)}."]
    for replan in (True, False):
        rest = [
            f"{_HOW[placement]} {_compared(groups, names, (placement, replan))}"
            for (placement, each), names in others
            if each is replan
        ]
        said += [f"{_AGAIN[replan]}: {'; '.join(rest)}."] if rest else []
    causes: Counter[str] = Counter()
    for group in groups.values():
        causes.update(_counts(group)["causes"])
    failures = ", ".join(f"{cause} {count}" for cause, count in causes.most_common())
    why = f"Failures by cause: {failures}" if failures else "Nothing failed"
    return " ".join([*said, f"{why}{_grip(groups)}.", completion(outcomes)])


def _compared(
    groups: dict[_Group, list[Outcome[Case]]], engines: Sequence[str], kind: tuple[str, bool]
) -> str:
    """Return the successes of a placement by engine, in words; the table has the intervals."""
    return and_list(_held(_counts(groups[engine, *kind]), engine) for engine in engines)


def _held(counts: dict[str, Any], engine: str) -> str:
    """Return in words how many objects were held, and how many of them from the first stop."""
    first = counts["first_stop"]
    again = f", {first} from the first stop," if first < counts["successes"] else ""
    return f"{counts['successes']} of {counts['objects']}{again} in {engine}"


def _grip(groups: dict[_Group, list[Outcome[Case]]]) -> str:
    """Return in words whether objects stay in the grip, by engine."""
    words = []
    for engine in dict.fromkeys(engine for engine, *_ in groups):
        counts = _counts([each for key, group in groups.items() if key[0] == engine
                          for each in group])  # fmt: skip
        if counts["grip_law"]:
            words.append(
                f"in {engine} {counts['grip_law']} of {counts['gripped']} times (slip up to"
                f" {counts['most_slip_mm']:.2g} mm, creep {counts['most_creep_mm_s']:.2g} mm/s)"
            )
    return f"; the grip law holds {and_list(words)}" if words else ""


_HOW = {
    "robust": "robustly", "map": "by the map alone", "fixed": "at a fixed distance",
    "random": "at random",
}  # fmt: skip
_AGAIN = {True: "Planned again at the stop", False: "Not planned again"}


def _engines(groups: dict[_Group, list[Outcome[Case]]]) -> dict[tuple[str, bool], list[str]]:
    found: dict[tuple[str, bool], list[str]] = {}
    for engine, placement, replan in groups:
        found.setdefault((placement, replan), []).append(engine)
    return found


def _sections(groups: dict[_Group, list[Outcome[Case]]], named: Named) -> tuple[Section, ...]:
    run = [(label, each) for label, each in named if each.recording and each.rows]
    run.sort(key=lambda each: all(row["success"] for row in each[1].rows))  # failures first
    sections = [Section("Success", (_success(groups), *_failures(groups)))]
    views = run[:_MOST_VIEWS]
    if views:
        sections.append(Section("From above", tuple(_from_above(*each) for each in views)))
        sections.append(Section("Map on the floor", tuple(_map(*each) for each in views)))
        beyond = _beyond(views[0][1])
        sections.append(Section("Grip forces", (*beyond, *(_forces(*each) for each in views))))
    sections.append(Section("Missions", (_missions(named),)))
    return tuple(sections)


def _success(groups: dict[_Group, list[Outcome[Case]]]) -> Bars:
    """Return the share of objects held from the first stop by placement, for each engine."""
    kinds = list(_engines(groups))
    engines = list(dict.fromkeys(engine for engine, *_ in groups))
    series = []
    for engine in engines:
        shares = np.full((3, len(kinds)), np.nan)
        for i, kind in enumerate(kinds):
            if (engine, *kind) in groups:
                found = _counts(groups[engine, *kind])
                won, total = found["first_stop"], found["objects"]
                shares[:, i] = 100 * np.array([won / max(total, 1), *wilson_interval(won, total)])
        share, low, high = shares
        series.append(BarSeries(engine, share, low, high))
    names = tuple(f"{p}, {'re-planned' if r else 'not re-planned'}" for p, r in kinds)
    return Bars(
        "Held from the first stop", names, tuple(series), Axis("objects", "%"),
        caption="With Wilson's 95 % intervals; only bases of the map have a second stop.",
    )  # fmt: skip


def _failures(groups: dict[_Group, list[Outcome[Case]]]) -> tuple[Bars | Prose, ...]:
    counts = {_group_name(key): _counts(group)["causes"] for key, group in groups.items()}
    causes = list(dict.fromkeys(cause for found in counts.values() for cause in found))
    if not causes:
        return (Prose("No object failed."),)
    series = tuple(
        BarSeries(cause, np.array([float(found.get(cause, 0)) for found in counts.values()]))
        for cause in causes
    )
    return (Bars("Failures by cause", tuple(counts), series, Axis("objects", "-")),)


def _from_above(label: str, outcome: Outcome[Case]) -> Lines:
    """Return tables, obstacles, the planned way and the root's own on the ground."""
    facts, layout = outcome.recorded.facts, outcome.case.layout
    series = [Series(name, *outline.T) for name, outline in layout.outlines()]
    for stop in facts["stops"]:
        way = np.array(stop["way"]).reshape(-1, 3)
        series.append(Series("planned way of the root", way[:, 0], way[:, 1], Style.DASHED))
        x, y, heading = stop["goal"]
        ahead = np.array([[x, y], [x + 0.3 * cos(heading), y + 0.3 * sin(heading)]])
        series.append(Series("chosen base", *ahead.T))
    path = outcome.recorded["poses"][:, 0]
    series.append(Series("way of the root", path[:, 0], path[:, 1]))
    places = np.array([layout.object_pose(i)[:2, 3] for i in range(len(layout.objects))])
    series.append(Series("objects", places[:, 0], places[:, 1], Style.MARKERS))
    return Lines(label, Axis("x", "m"), Axis("y", "m"), tuple(series), equal=True)


def _map(label: str, outcome: Outcome[Case]) -> Heatmap:
    """Return the map of bases around the first object, with the chosen ones."""
    facts, layout = outcome.recorded.facts, outcome.case.layout
    x, y = layout.object_pose(0)[:2, 3].tolist()
    spots = [Spot(x, y, "object 1")]
    spots += [
        Spot(stop["goal"][0], stop["goal"][1], f"root at stop {i}")
        for i, stop in enumerate(facts["stops"], 1)
    ]
    found = facts["map"]
    return Heatmap(
        label,
        Axis("x", "m"),
        Axis("y", "m"),
        tuple(found["x"]),
        tuple(found["y"]),
        np.array(found["scores"], dtype=np.float64).T,
        Axis("reach of the arm's base", "%"),
        marks=tuple(spots),
        caption="By the reachability map, without obstacles; the root is beside the arm's base.",
        equal=True,
    )


def _beyond(outcome: Outcome[Case]) -> tuple[Prose, ...]:
    """Return which fingers press with more than their limits in the robot file."""
    texts = [
        f"'{each['joint']}' closes with {each['effort']:.3g} N m or N, above its limit of"
        f" {each['limit']:.3g}"
        for each in outcome.recorded.facts.get("closing", ())
        if each["limit"] and each["effort"] > each["limit"]
    ]
    return (Prose("; ".join(texts) + "."),) if texts else ()


def _forces(label: str, outcome: Outcome[Case]) -> Lines:
    recording = outcome.recorded
    marks = tuple(
        Mark(begin, name, Side.X)
        for name, begin, _ in recording.facts["phases"]
        if name in ("approach", "lower", "close", "lift", "hold")
    )
    series = tuple(
        Series(f"{side} finger", recording["time"], recording["contacts"][:, i])
        for i, side in enumerate(SIDES, 2)
    )
    return Lines(label, Axis("time", "s"), Axis("normal force", "N"), series, marks=marks)


def _missions(named: Named) -> Table:
    rows = []
    for label, outcome in named:
        for row in outcome.rows or ({},):
            cells: list[Cell] = [row.get(key) for key, *_ in _MEASURES]
            result = "" if not row else "yes" if row["success"] else "no"
            cause = row["cause"] if row else str(outcome.status)
            which = row.get("object"), row.get("table")
            rows.append((label, *which, result, cause, row.get("reason"), *cells))
    measures = (Column(heading, unit) for _, heading, unit in _MEASURES)
    names = ("case", "object", "table", "success", "cause", "reason")
    return Table("", (*map(Column, names), *measures), tuple(rows))
