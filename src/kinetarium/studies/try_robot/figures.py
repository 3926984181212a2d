"""Report of the try study: a verdict per engine and part, and what to fix in the file."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any, NamedTuple

from kinetarium.batch.outcomes import Outcomes, and_list, robot_name, verdict_of
from kinetarium.batch.study import Findings, Outcome, open_study
from kinetarium.errors import KinetariumError
from kinetarium.figure.page import Figure, Section
from kinetarium.figure.replay import Replay
from kinetarium.figure.robot_page import roles_scene, roles_table
from kinetarium.figure.text import Cell, Facts, Listing, Prose, Table, header
from kinetarium.recording.recording import Recording
from kinetarium.storage.serialization import from_builtins
from kinetarium.studies.try_robot.config import NO_ENGINE, Case, Part

_LEAD = (
    "The robot's file is checked and its roles are found; then the robot is held at its home pose"
    " for 3 s, dropped from 0.1 m, and its dynamics are compared with Pinocchio's at 20 random"
    " states, in every engine. A crash, a hang or a refusal of an engine is a row with its cause."
)

_STUDIES = (Part.DYNAMICS, Part.DROP, Part.HOLD)

_ALIKE = {"rests": "lands", "moves": "lands"}
"""Verdicts in which engines may differ: how a robot tumbles is chaotic."""

_REPAIRED = "repaired here; kinetarium convert writes a file with the repaired value"
_MOST_FIXES = 2
"""Faults that the conclusion names; the report lists all, with their remedies."""


class _Fix(NamedTuple):
    """What is wrong with a robot's file or its roles, and what to do about it."""

    fault: str
    remedy: str = ""

    def __str__(self) -> str:
        return "; ".join(filter(None, self))


def report(outcomes: Sequence[Outcome[Case]]) -> Findings:
    """Gather the verdicts of all parts in all engines, of one robot or of many."""
    robots = {name: found for (name,), found in Outcomes(outcomes).by("robot").items()}
    fixes = {name: _fixes(found) for name, found in robots.items()}
    if len(robots) == 1:
        [(name, found)] = robots.items()
        table, conclusion = _table(found), _conclusion(found, fixes[name])
        sections = _sections(found, fixes[name])
    else:
        table, conclusion, sections = _robots_table(robots), _robots_conclusion(robots), ()
    summary = {
        name: {
            engine: {str(part): _verdict(found, part, engine)[0] for part in _STUDIES}
            for engine in _engines(found)
        }
        for name, found in robots.items()
    }
    return Findings(
        table,
        sections,
        summary,
        extra={"fixes": {name: list(map(str, found)) for name, found in fixes.items()}},
        lead=_LEAD,
        conclusion=conclusion,
    )


def _engines(found: Outcomes[Case]) -> list[str]:
    return [name for name in found.distinct("engine") if name != NO_ENGINE]


def _sections(found: Outcomes[Case], fixes: Sequence[_Fix]) -> tuple[Section, ...]:
    sections: list[Section] = []
    if fixes:
        sections.append(Section("To fix in the file", (Listing("", tuple(map(str, fixes))),)))
    sections += _robot_section(found)
    for part in _STUDIES:
        sections += _part_sections(found.of(part=part), part)
    return tuple(sections)


def _robots_table(robots: Mapping[str, Outcomes[Case]]) -> Table:
    """Return a row for each robot: the verdicts of drop and hold in each engine."""
    engines = list(dict.fromkeys(engine for found in robots.values() for engine in _engines(found)))
    rows: list[tuple[Cell, ...]] = []
    for name, found in robots.items():
        cells = [
            "; ".join(dict.fromkeys(_verdict(found, part, engine)[0] for part in _STUDIES[1:]))
            for engine in engines
        ]
        rows.append((_short(name), *cells))
    return Table("", header(" | ".join(["robot", *engines])), tuple(rows))


def _robots_conclusion(robots: Mapping[str, Outcomes[Case]]) -> str:
    cases = [outcome for found in robots.values() for outcome in found]
    counts = Counter(verdict_of(outcome)[0] for outcome in cases if outcome.case.part != Part.ROBOT)
    words = and_list(f"{count} {verdict}" for verdict, count in counts.most_common())
    return f"{len(robots)} robots, {sum(counts.values())} cases: {words}."


def _short(robot: str) -> str:
    return robot.rpartition("/")[2]


def replay(case: Case, recording: Recording) -> Replay | None:
    """Return the run of a study as its replay."""
    if case.part is Part.ROBOT or "case" not in recording.facts:
        return None
    study = open_study(case.part)
    own: Any = from_builtins(study.case, recording.facts["case"], where="case")
    return study.replay(own, recording)


def _verdict(found: Outcomes[Case], part: Part, engine: str) -> tuple[str, str]:
    for outcome in found.of(part=part, engine=engine):
        return verdict_of(outcome)
    return "-", ""


def _table(found: Outcomes[Case]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name in _engines(found):
        verdicts = {part: _verdict(found, part, name) for part in _STUDIES}
        causes: dict[str, list[str]] = {}
        for part, (_, cause) in verdicts.items():
            if cause:
                causes.setdefault(cause, []).append(str(part))
        why = "; ".join(f"{and_list(parts)}: {cause}" for cause, parts in causes.items())
        rows.append((name, *(verdict for verdict, _ in verdicts.values()), why))
    return Table("", header("engine | dynamics | drop | hold | why"), tuple(rows))


def _conclusion(found: Outcomes[Case], fixes: Sequence[_Fix]) -> str:
    """Return which engines agree, which differ and how, and what to fix."""
    engines = _engines(found)
    common = {part: _usual(found, part, engines) for part in _STUDIES}
    different: dict[str, str] = {}
    refused: dict[str, list[str]] = {}
    for name in engines:
        for part in _STUDIES:
            verdict, cause = _verdict(found, part, name)
            alike = _ALIKE.get(verdict, verdict)
            if verdict == "refused":
                refused.setdefault(cause, [])
                refused[cause] += [name] if name not in refused[cause] else []
            elif alike not in ("-", common[part]):
                words = f"{part} {verdict}" + (f" ({cause})" if cause else "")
                different[name] = ", ".join(filter(None, [different.get(name, ""), words]))
    out = {name for names in refused.values() for name in names}
    agree = [name for name in engines if name not in different and name not in out]
    said = [_agreed(found, part, engines) for part, word in common.items() if word]
    split = [part for part in _STUDIES if not common[part] and _is_scored(found, part)]
    who = f"{len(agree)} of {len(engines)} engines agree"
    if split:
        who = f"{len(engines)} engines do not agree on {and_list(split)}"
    elif len(engines) == 1 and agree:
        who = f"in {engines[0]}"
    elif len(agree) == 1:
        who = f"in {agree[0]} alone"
    elif len(agree) == len(engines) > 1:
        who = "both engines agree" if len(engines) == 2 else f"all {len(engines)} engines agree"
    results = f" ({and_list(said)})" if said else ""
    facts = next((o.recorded.facts for o in found.of(part=Part.ROBOT) if o.recording), {})
    robot = robot_name(next(iter(found)).case.robot, model=facts.get("name", ""))
    fixed = "" if facts.get("falls", True) else "; it is not dropped, since its root has no mass"
    sentences = [f"{robot}: {who}{results}{fixed}"]
    parts = [f"{name}{'' if split else ' differs'}: {words}" for name, words in different.items()]
    parts += [f"{and_list(names)} refused: {cause}" for cause, names in refused.items()]
    sentences += ["; ".join(parts)] if parts else []
    if fixes:
        named = "; ".join(fix.fault for fix in fixes[:_MOST_FIXES])
        more = f"; {len(fixes) - _MOST_FIXES} more" if len(fixes) > _MOST_FIXES else ""
        sentences.append(f"To fix in the file: {named}{more} (the report lists remedies)")
    return " ".join(f"{sentence}." for sentence in sentences)


def _usual(found: Outcomes[Case], part: Part, engines: Sequence[str]) -> str:
    """Return the verdict of most engines that were scored; empty if no verdict has the most."""
    verdicts = [
        _ALIKE.get(str(row["verdict"]), str(row["verdict"]))
        for name in engines
        for outcome in found.of(part=part, engine=name)
        for row in outcome.rows
    ]
    counts = Counter(verdicts).most_common(2)
    is_tie = len(counts) == 2 and counts[0][1] == counts[1][1]
    return "" if is_tie or not counts else counts[0][0]


def _agreed(found: Outcomes[Case], part: Part, engines: Sequence[str]) -> str:
    """Return the verdict of most engines in words, and how many have one if not all do."""
    usual = _usual(found, part, engines)
    scored = [v for name in engines if (v := _verdict(found, part, name)[0]) != "-"]
    alike = {verdict for verdict in scored if _ALIKE.get(verdict, verdict) == usual}
    word = alike.pop() if len(alike) == 1 else usual
    return f"{part} {word}" + (f" in {len(scored)}" if len(scored) < len(engines) else "")


def _is_scored(found: Outcomes[Case], part: Part) -> bool:
    return any(outcome.rows for outcome in found.of(part=part))


def _fixes(found: Outcomes[Case]) -> list[_Fix]:
    """Return what to change in the robot's file or its roles, most important first."""
    fixes: list[_Fix] = []
    expected: dict[str, Any] = {}
    for outcome in found.of(part=Part.HOLD):
        if outcome.recording:
            expected = outcome.recording.facts["expected"]
            break
    facts = next((o.recorded.facts for o in found.of(part=Part.ROBOT) if o.recording), {})
    if facts and not facts["shapes"]:
        fixes.append(_Fix("no link has a collision shape: the robot cannot touch anything"))
    if expected.get("weak"):
        joints = expected["weak"]
        most = and_list(joints[:3]) if len(joints) <= 3 else f"{len(joints)} joints"
        fixes.append(_Fix(f"effort limits too low to hold the home pose: {most}"))
    elif facts and facts["unarmed"] and facts["moving_joints"]:
        unarmed = len(facts["unarmed"])
        fixes.append(_Fix(f"effort limit of zero in {unarmed} joints: no servo can act"))
    verdicts = {
        row["verdict"] for outcome in found.of(part=Part.HOLD) for row in outcome.rows or ()
    }
    # The support is that of the lowest points; a robot may settle onto others and stand.
    stands = verdicts == {"stands"}
    if expected.get("margin") is not None and expected["margin"] < 0 and not stands:
        outside = -1e3 * expected["margin"]
        fixes.append(
            _Fix(
                "the home pose does not stand, its centre of mass is"
                f" {outside:.0f} mm outside its support",
                "give another in NAME.roles.toml (kinetarium roles --write)",
            )
        )
    if facts:
        fixes += [_Fix(f"{w['where']}: {w['message']}", w["remedy"]) for w in facts["warnings"]]
        fixes += [_Fix(f"{r['where']}: {r['message']}", _REPAIRED) for r in facts["repairs"]]
    return fixes


def _robot_section(found: Outcomes[Case]) -> list[Section]:
    for outcome in found.of(part=Part.ROBOT):
        if outcome.recording is None:
            return [Section("The robot", (Prose(outcome.message),))]
        facts = outcome.recording.facts
        counts = Facts(
            tuple(
                (name.replace("_", " ").removesuffix(" kg"), facts[name], unit)
                for name, unit in (
                    ("links", ""), ("joints", ""), ("moving_joints", ""), ("loops", ""),
                    ("shapes", ""), ("mass_kg", "kg"), ("base", ""),
                )
            )
        )  # fmt: skip
        figures: list[Figure] = [counts]
        with suppress(KinetariumError):  # the report may be rewritten without the robot's files
            robot = outcome.case.reading.open(outcome.case.robot, sha256=outcome.case.sha256)
            figures.append(roles_table(robot.roles))
            figures += filter(None, [roles_scene(robot.model, robot.roles)])
        return [Section("The robot", tuple(figures))]
    return []


def _part_sections(found: Outcomes[Case], part: Part) -> list[Section]:
    """Return the report of the study of a part, as sections; failed cases are in the headline."""
    study = open_study(part)
    outcomes: list[Outcome[Any]] = []
    for outcome in found:
        if outcome.recording is not None:
            own: Any = from_builtins(study.case, outcome.recording.facts["case"], where="case")
            rows = tuple(outcome.recording.facts["rows"])
            values = {field.name: getattr(outcome, field.name) for field in fields(outcome)}
            outcomes.append(Outcome(**{**values, "case": own, "rows": rows}))
    if not outcomes:
        return []
    findings = study.report(outcomes)
    first = Section(f"{str(part).capitalize()}", (findings.headline,))
    return [first, *(replace(each, title=f"{part}: {each.title}") for each in findings.sections)]
