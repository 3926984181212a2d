"""Which engine for what: a page derived from the results of several studies."""

from collections.abc import Callable, Mapping, Sequence
from math import inf, isfinite, isnan, nan
from statistics import median
from typing import Any

import numpy as np

from kinetarium.batch.outcomes import and_list
from kinetarium.figure.charts import Axis, Bars, BarSeries
from kinetarium.figure.page import Figure, Page, Section
from kinetarium.figure.text import Cell, Column, Listing, Prose, Table, header
from kinetarium.metrics import cost_per_second
from kinetarium.recording.recording import Row
from kinetarium.recording.result_folder import ResultFolder
from kinetarium.studies.engine_guide._rules import (
    COST,
    COULOMB,
    IDEAL_YAW,
    OFF_IDEAL,
    RULES,
    Rows,
    contact_lost,
    force_error,
    good_grips,
    good_skids,
    select,
)
from kinetarium.studies.engine_guide.verdict import Judgement, Mark, has_failed, judge

_LEAD = (
    "Which engine is suited to which purpose, from the runs in this folder alone. Every rule has a"
    " quantity, of which the least is best, and a limit. Values are medians over displaced starts,"
    " the worst of all settings; in brackets their 95 % interval from a bootstrap in which all"
    " engines share the starts that are drawn. Failed runs count as failures. An engine whose"
    " interval contains the limit is undecided, and engines that do not differ significantly"
    " share the first place. The reports of the studies have the numbers behind every cell."
)


def judgements(rows: Rows) -> list[Judgement]:
    """Judge all engines by every rule that something was run for.

    Args:
        rows: The rows of each part.
    """
    engines = sorted({row["engine"] for part in rows.values() for row in part})
    found = (judge(rule, rows, engines) for rule in RULES)
    return [judgement for judgement in found if judgement]


def engine_guide(
    parts: Mapping[str, Sequence[ResultFolder]],
    *,
    provenance: tuple[tuple[str, str], ...],
    left_out: Mapping[str, str] | None = None,
    robots: Sequence[str] = (),
) -> Page:
    """Return the page.

    Args:
        parts: Finished folders by their part, one for each seed: "grasp", "drive", "calibrate",
            "slide", and "grasp-release", "grasp-effort", "grasp-friction", "drive-two",
            "drive-profiles", "drive-effort", "drive-friction".
        provenance: How to reproduce it.
        left_out: Parts that were not run, and why.
        robots: The robots that took the place of the studies' own.
    """
    rows = {name: judged_rows(folders) for name, folders in parts.items()}
    verdicts = judgements(rows)
    engines = sorted({row["engine"] for part in rows.values() for row in part})
    names = [folder.path.name for folders in parts.values() for folder in folders]
    figures: list[Figure] = [purpose_table(verdicts), _cautions(rows, engines)]
    if left_out:
        listed = tuple(f"{part}: {why}" for part, why in left_out.items())
        figures.append(Listing("Left out", listed))
    sections = [
        Section("Which engine for what", tuple(figures)),
        Section("The limits and what they decide", (limit_table(verdicts),)),
    ]
    by_seed = seed_table(rows)
    if by_seed.rows:
        sections.append(Section("Repetitions with other seeds", (by_seed,)))
    by_start = start_table(rows)
    if by_start.rows:
        sections.append(Section("Without one of the starts", (by_start,)))
    driven = [folder for part in ("drive", "drive-two") for folder in parts.get(part, ())[:1]]
    turns = untuned_turns(rows)
    if turns.rows:
        sections.append(Section("Driving without tuning", (turns,)))
    statements = statement_table(rows, [folder.metrics for folder in driven])
    if statements.rows:
        sections.append(Section("Statements of the paper", (statements,)))
    cheapest = _cheapest_settings(rows, engines)
    costs: tuple[Figure, ...] = (_cost_bars(rows, engines),)
    sections += [
        Section("Cost", (*costs, cheapest) if cheapest.rows else costs),
        Section(
            "The studies",
            (Listing("Their own reports", tuple(f"{name}/report.html" for name in names)),),
        ),
    ]
    words = conclusion(verdicts, rows)
    if robots:
        words = f"For {', '.join(robots)}: {words[0].lower()}{words[1:]}"
    if left_out:
        words += f" Left out: {', '.join(left_out)}."
    return Page("Which engine for what", _LEAD, tuple(sections), provenance, words)


def judged_rows(folders: Sequence[ResultFolder]) -> Sequence[Row]:
    """Return the rows of a part with their status, their cost and the values of the ideal."""
    rows: list[dict[str, Any]] = []
    for folder in folders:
        timings = folder.timings()
        coulomb = folder.metrics["summary"].get("coulomb", {}).get("in_place")
        ideal = {_setting(entry): entry for entry in folder.metrics.get("against_ideal", ())}
        for run in folder.runs():
            entry = ideal.get(_setting(run.case), {})
            own = {
                **run.case,
                "status": str(run.status),
                COST: cost_per_second(timings[run.key], run.recording),
            }
            # Rows of earlier releases lack the ideal, which is in the summary.
            given = {
                IDEAL_YAW: entry.get("ideal_yaw_ratio"),
                OFF_IDEAL: entry.get("distance_m"),
                COULOMB: coulomb,
            }
            rows += [{**given, **row, **own} for row in run.rows or ({},)]
    # A failed run has no values: each is None.
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in names} for row in rows]


def _setting(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    names = ("engine", "robot", "control", "path", "profile", "timestep", "iterations", "friction")
    return tuple(entry.get(name) for name in names)


def purpose_table(verdicts: Sequence[Judgement]) -> Table:
    """Return the rating of every engine for every purpose, with intervals."""
    engines = list(dict.fromkeys(engine for verdict in verdicts for engine in verdict.marks))
    body = tuple(
        (
            verdict.rule.name,
            verdict.choice,
            f"{verdict.rule.limit:g} {verdict.rule.unit}",
            *(verdict.cell(engine) for engine in engines),
        )
        for verdict in verdicts
    )
    columns = (*header("for | first choice | limit"), *map(Column, engines))
    return Table("", columns, body, verdict=1)


def headline(verdicts: Sequence[Judgement]) -> Table:
    """Return the first choices and the ranking without numbers, for the terminal."""
    body = tuple(
        (
            verdict.rule.name,
            verdict.choice,
            *(", ".join(verdict.of(mark)) for mark in (Mark.MEETS, Mark.UNDECIDED, Mark.FAILS)),
        )
        for verdict in verdicts
    )
    return Table("", header("for | first choice | meet the limit | undecided | fail"), body)


def verdict_entries(verdicts: Sequence[Judgement]) -> list[dict[str, Any]]:
    """Return the verdicts as JSON data; values and ends that are not finite are None."""

    def finite(value: float) -> float | None:
        return value if isfinite(value) else None

    return [
        {
            "for": verdict.rule.name,
            "limit": verdict.rule.limit,
            "unit": verdict.rule.unit,
            "first": list(verdict.first),
            "sensitivity": verdict.sensitivity,
            "engines": {
                engine: {
                    "mark": str(verdict.marks[engine]),
                    "value": finite(sample.value),
                    "interval": [finite(end) for end in sample.interval],
                    "runs": sample.runs,
                    "failed": sample.failed,
                }
                for engine, sample in verdict.samples.items()
            },
        }
        for verdict in verdicts
    ]


def limit_table(verdicts: Sequence[Judgement]) -> Table:
    """Return every rule with its limit, the reason, and which limit would decide otherwise."""
    body = []
    for verdict in verdicts:
        rule = verdict.rule
        limit = f"{rule.limit:g} {rule.unit}"
        if rule.condition:
            limit += f", {rule.condition.words} within {rule.condition.limit:g}"
            limit += f" {rule.condition.unit}"
        runs = sum(sample.runs for sample in verdict.samples.values())
        failed = sum(sample.failed for sample in verdict.samples.values())
        body.append(
            (rule.name, rule.quantity, limit, rule.reason, verdict.sensitivity, f"{failed}/{runs}")
        )
    columns = header(
        "for | quantity | limit | why this limit | limits that change the first choice | failed"
    )
    return Table("", columns, tuple(body))


def seed_table(rows: Rows) -> Table:
    """Return the first choice of every purpose for each seed alone; empty with one seed.

    Parts that were run with one seed only, because no start is displaced in them, are left out.
    """
    seeds = sorted({row["seed"] for part in rows.values() for row in part if "seed" in row})
    if len(seeds) < 2:
        return _choices({})
    repeated = {
        name: part for name, part in rows.items() if len({row.get("seed") for row in part}) > 1
    }
    return _choices(
        {
            f"seed {seed}": {
                name: [row for row in part if row["seed"] == seed]
                for name, part in repeated.items()
            }
            for seed in seeds
        }
    )


def start_table(rows: Rows) -> Table:
    """Return the first choice of every purpose without each of the starts; empty with one."""
    starts = sorted({row.get("start") or 0 for part in rows.values() for row in part})
    several = {
        name: [row for row in part if row.get("start") is not None]
        for name, part in rows.items()
        if len({row.get("start") for row in part}) > 2
    }
    return _choices(
        {
            f"without {start}": {
                name: [row for row in part if row["start"] != start]
                for name, part in several.items()
            }
            for start in (starts if several else ())
        }
    )


def _choices(subsets: Mapping[str, Rows]) -> Table:
    """Return the first choice of every purpose by each of some subsets of the rows."""
    found: dict[str, dict[str, Judgement]] = {}
    for words, rows in subsets.items():
        for verdict in judgements(rows):
            found.setdefault(verdict.rule.name, {})[words] = verdict
    body = tuple(
        (
            name,
            "same" if stable([each.first for each in own.values()]) else "changes",
            *(own[words].choice if words in own else "no runs" for words in subsets),
        )
        for name, own in found.items()
    )
    return Table("", (*header("for | first choice"), *map(Column, subsets)), body)


def untuned_turns(rows: Rows) -> Table:
    """Return how far engines turn with their defaults in open loop, over the command [-].

    Medians over the starts with their range, path by path; failed runs are counted. The ideal
    drive has the friction and the gains of each engine's defaults.
    """
    runs = select(rows, "drive-profiles", profile="defaults", control="open")
    paths = list(dict.fromkeys(row["path"] for row in runs))
    body: list[tuple[Cell, ...]] = []
    for engine in sorted({row["engine"] for row in runs}):
        cells = []
        for path in paths:
            own = [row for row in runs if (row["engine"], row["path"]) == (engine, path)]
            done = [row for row in own if not has_failed(row) and row["yaw_ratio"] is not None]
            words = [_spread([row["yaw_ratio"] for row in done])] if done else []
            ideal = [row[IDEAL_YAW] for row in done if row[IDEAL_YAW] is not None]
            words += [f"(ideal {_spread(ideal)})"] if ideal else []
            failed = len(own) - len(done)
            words += [f"{failed} of {len(own)} failed"] if failed else []
            cells.append(" ".join(words))
        body.append((engine, *cells))
    title = "Angle turned over the command with the engines' defaults, open loop"
    return Table(title, (Column("engine"), *map(Column, paths)), tuple(body))


def _spread(values: Sequence[float]) -> str:
    low, middle, high = (f"{each(values):.2f}" for each in (min, median, max))
    return middle if low == high else f"{middle} [{low}, {high}]"


def stable(firsts: Sequence[Sequence[str]]) -> bool:
    """Return whether some engine shares the first place in all repetitions, or none ever has it."""
    return not any(firsts) or bool(set.intersection(*map(set, firsts)))


def conclusion(verdicts: Sequence[Judgement], rows: Rows) -> str:
    """Return the result in words."""
    alone: dict[str, list[str]] = {}
    for verdict in verdicts:
        if len(verdict.first) == 1:
            alone.setdefault(verdict.choice, []).append(verdict.rule.name)
    ties = [v.rule.name for v in verdicts if len(v.first) > 1]
    open_ones = [v.rule.name for v in verdicts if not v.first]
    runs = [row for part in rows.values() for row in part]
    failed = sum(row["status"] != "completed" for row in runs)
    sentences = [f"First choice of {len(verdicts)} purposes: "]
    sentences[0] += "; ".join(f"{name} for {_quoted(of)}" for name, of in alone.items()) or "none"
    sentences[0] += "."
    if ties:
        sentences.append(f"Several engines share the first place for {_quoted(ties)}.")
    if open_ones:
        sentences.append(f"No engine meets the limit for {_quoted(open_ones)}.")
    if failed:
        missing = f"{failed} of {len(runs)} results are missing"
        sentences.append(f"{missing}, for a run did not complete.")
    return " ".join(sentences)


def _quoted(names: Sequence[str]) -> str:
    """Return names that may contain commas as a list."""
    return and_list([f'"{name}"' for name in names])


def _cautions(rows: Rows, engines: Sequence[str]) -> Prose:
    unfinished = [
        f"{engine}: {count} of the {part} runs did not complete"
        for part, of_part in rows.items()
        for engine in engines
        if (count := sum(r["engine"] == engine and r["status"] != "completed" for r in of_part))
    ]
    return Prose("; ".join(unfinished) + "." if unfinished else "Every run completed.")


def _cost_bars(rows: Rows, engines: Sequence[str]) -> Bars:
    """Compare the CPU time per simulated second with the settings of the profile 'matched'."""
    series = []
    for part in ("grasp", "drive", "calibrate"):
        costs = [
            [row[COST] for row in select(rows, part, engine=engine, profile="matched")
             if not isnan(row[COST])]
            for engine in engines
        ]  # fmt: skip
        if any(costs):
            middle = [median(each) if each else nan for each in costs]
            series.append(BarSeries(part, np.array(middle)))
    return Bars(
        "CPU time for one simulated second",
        tuple(engines),
        tuple(series),
        Axis("CPU time per simulated second", "s/s", log=True),
        caption="Medians over all cases of the profile 'matched', controllers and recording"
        " included; below 1 is faster than real time.",
    )


def _cheapest_settings(rows: Rows, engines: Sequence[str]) -> Table:
    """Return the time step and iterations with which engines are acceptable at the least cost."""
    body: list[tuple[Cell, ...]] = []
    for purpose, good in (("a grip", good_grips), ("skidding", good_skids)):
        for engine in engines:
            runs = [row for row in good(rows, engine) if not isnan(row[COST])]
            if runs:
                best = min(runs, key=lambda row: float(row[COST]))
                iterations = str(best["iterations"]) if best["iterations"] else "the profile's own"
                body.append((purpose, engine, best["timestep"] * 1e3, iterations, best[COST]))
    columns = header("for | engine | step [ms] | iterations | CPU time per simulated second [s/s]")
    return Table("The cheapest acceptable settings", columns, tuple(body))


_HOLDS, _FAILS = "holds", "does not hold here"
_UNTESTED = "not testable"
_NO_CORIOLIS = 0.96
"""Error of accelerations at the audit's states if Coriolis forces were ignored [rad/s^2]."""
_PAPER = ("mujoco", "bullet", "ode", "physx")
"""The engines of the paper that are here."""
_EVEN = 0.05
"""Difference up to which friction is the same in every direction [-], as in the rule."""

_Finding = tuple[bool, str]
"""Whether a statement holds, and the numbers it is decided by."""


def statement_table(rows: Rows, drives: Sequence[Mapping[str, Any]]) -> Table:
    """Return the verdict on every statement of the paper that something was run for.

    Statements on driving are decided by the drive study, all others here.

    Args:
        rows: The rows of each part.
        drives: The metrics of the drive study.
    """
    body: dict[str, tuple[str, str]] = {}
    for metrics in drives:
        for table in metrics.get("statements", ()):
            for row in table["rows"] if "matched" in table["title"] else ():
                claim, verdict, why = row.values()
                if verdict != _UNTESTED or "Newton" in claim:
                    body[claim] = (verdict, why)
    for claim, check in _CLAIMS.items():
        if finding := check(rows):
            body[claim] = (_HOLDS if finding[0] else _FAILS, finding[1])
    columns = header("the paper says | here | decided by")
    body_rows = tuple((claim, *verdict) for claim, verdict in body.items())
    return Table("", columns, body_rows, verdict=1)


def _by_engine(runs: Sequence[Row], measure: Callable[[Row], float | None]) -> dict[str, float]:
    """Return the median of each engine; a failed run counts as infinite."""
    found: dict[str, list[float]] = {}
    for row in runs:
        value = measure(row) if row["status"] == "completed" else None
        found.setdefault(row["engine"], []).append(inf if value is None else value)
    return {engine: median(values) for engine, values in found.items()}


def _told(what: str, values: Mapping[Any, float]) -> str:
    listed = ", ".join(f"{n} {'fails' if v == inf else f'{v:.3g}'}" for n, v in values.items())
    return f"{what}: {listed}"


def _steadiness(rows: Rows) -> _Finding | None:
    """Check the paper's main result with the engines' defaults, as in the paper."""
    runs = [r for r in select(rows, "grasp", profile="defaults") if r["path"] != "release"]
    found = _by_engine(
        runs, lambda r: r["moving_variance_n2"] if r["held"] and not contact_lost(r) else None
    )
    if not {"mujoco", "bullet", "ode"} <= found.keys():
        return None
    holds = found["mujoco"] < found["bullet"] < found["ode"]
    return holds, _told("defaults, variance of the force [N²], a lost cube fails", found)


def _deep_ode(rows: Rows) -> _Finding | None:
    """Compare the depths of the paper's engines, as long as they have contact."""
    runs = [r for r in select(rows, "grasp", profile="defaults") if r["path"] != "release"]
    found = _by_engine(runs, lambda r: r["penetration_m"])
    known = {e: v for e, v in found.items() if e in _PAPER and isfinite(v)}
    if len(known) < 2 or "ode" not in known:
        return None
    millimetres = {engine: 1e3 * value for engine, value in found.items()}
    return known["ode"] == max(known.values()), _told("defaults, depth [mm]", millimetres)


def _long_steps(rows: Rows) -> _Finding | None:
    runs = [r for r in select(rows, "grasp-effort", engine="mujoco") if not r["iterations"]]
    steps = sorted({row["timestep"] for row in runs})
    found = {
        f"{1e3 * step:g} ms": _by_engine([r for r in runs if r["timestep"] == step], force_error)
        for step in steps
    }
    errors = {step: of["mujoco"] for step, of in found.items()}
    if len(errors) < 2:
        return None
    first, *_, last = errors.values()
    return last > 2 * first, _told("error of the force with steps of [N]", errors)


def _cone(rows: Rows) -> _Finding | None:
    profiles, runs = {}, []
    for profile in ("defaults", "matched"):
        slid = select(rows, "slide", engine="mujoco", profile=profile)
        ratios = [r["deceleration_ratio"] for r in slid if not _has_no(r, "deceleration_ratio")]
        runs += slid
        if ratios:
            profiles[profile] = max(ratios, key=lambda ratio: abs(ratio - 1))
    if not profiles:
        return None
    holds = all(abs(ratio - 1) <= _EVEN for ratio in profiles.values())
    what = "sliding boxes, deceleration over friction times gravity in the worst direction"
    return holds, _told(what, profiles) + _lost(runs, "deceleration_ratio")


def _coriolis(rows: Rows) -> _Finding | None:
    runs = select(rows, "grasp", engine="physx", profile="matched")
    errors = [row["one_step_rad_s2"] for row in runs if not _has_no(row, "one_step_rad_s2")]
    if not errors:
        return None
    worst = max(errors)
    why = f"error of accelerations at moving states [rad/s²]: {worst:.2g}; without Coriolis forces"
    lost = _lost(runs, "one_step_rad_s2")
    return worst > _NO_CORIOLIS / 2, f"{why} it would be {_NO_CORIOLIS:g}{lost}"


def _has_no(row: Row, measure: str) -> bool:
    return has_failed(row) or row[measure] is None


def _lost(runs: Sequence[Row], measure: str) -> str:
    """Return how many runs have no measure, as words to be added; empty if all have."""
    lost = sum(_has_no(row, measure) for row in runs)
    return f"; {lost} of {len(runs)} runs failed" if lost else ""


_CLAIMS: dict[str, Callable[[Rows], _Finding | None]] = {
    "the grip force is steadiest in MuJoCo, then Bullet, then ODE": _steadiness,
    "ODE penetrates most": _deep_ode,
    "MuJoCo's contacts suffer from longer steps": _long_steps,
    "MuJoCo does not approximate the friction cone": _cone,
    "PhysX ignores Coriolis forces": _coriolis,
}
