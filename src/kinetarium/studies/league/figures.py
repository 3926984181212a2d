"""The report of the league: who is best at what, what changed between versions, curves, checks."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from kinetarium.batch.outcomes import completion
from kinetarium.batch.study import Findings, Outcome
from kinetarium.figure.charts import Axis, Lines, Mark, Series, Style
from kinetarium.figure.page import Section
from kinetarium.figure.text import Cell, Column, Listing, Prose, Table, cell_text
from kinetarium.studies.league._standings import (
    LEAST_ROUNDS,
    Change,
    Cost,
    Side,
    Standings,
    chance,
    label,
)
from kinetarium.studies.league.config import Case
from kinetarium.studies.league.problems import PROBLEMS, Problem

_FLOOR = 1e-10
"""Errors below it are drawn there: a logarithmic axis has no zero."""
_MOST_NAMED = 8
"""Names in a sentence; more are counted."""


def report(outcomes: Sequence[Outcome[Case]]) -> Findings:
    """Summarise the league; CPU times are in the report and the command's JSON only."""
    standings = Standings(outcomes)
    changes = tuple(standings.changes())
    sentences = list(_lead(standings, changes))
    best = tuple(_best(standings, problem) for problem in PROBLEMS)
    sections = (
        Section("Fastest at equal error", (Listing("", best), Prose(_noise(standings)))),
        *(Section(_heading(c), (Listing("", tuple(_changes(c))),)) for c in changes),
        *(_curves(standings, problem) for problem in PROBLEMS),
        Section("Checks of the conformance kit", (_check_table(standings),)),
        Section("All runs of the curves", (_run_table(standings),)),
        Section("Runs and checks without a figure", (_failure_table(standings),)),
    )
    return Findings(
        headline=_headline(standings),
        sections=sections,
        summary={"sides": [_summary(standings, side) for side in standings.sides]},
        extra={"changes": [_change_data(change) for change in changes]},
        lead=" ".join(sentences),
        conclusion=_conclusion(standings, outcomes),
        answer={"costs": list(_cost_rows(standings)), "equal_error": list(_places(standings))},
    )


def _conclusion(standings: Standings, outcomes: Sequence[Outcome[Case]]) -> str:
    """Return which sides pass all checks and which are the fastest at equal error."""
    present = [side for side in standings.sides if not standings.refusal(side)]
    checked = [side for side in present if standings.checks[side]]
    good = [s for s in checked if all(row["passed"] for row in standings.checks[s].values())]
    failing = [label(side) for side in checked if side not in good]
    fail = f"; {_named(failing)} {'fails' if len(failing) == 1 else 'fail'} some" if failing else ""
    words = [f"{len(good)} of {len(standings.sides)} sides pass every check that applies{fail}."]
    winners = [f"{p.name}: {_winners(standings, p)}" for p in PROBLEMS if standings.ranking(p)]
    if winners:
        words.append(f"Fastest at equal error: {'; '.join(winners)}.")
    return " ".join((*words, completion(outcomes)))


def _lead(standings: Standings, changes: Iterable[Change]) -> Iterator[str]:
    """Yield the sentences at the top of the report."""
    absent = [side for side in standings.sides if standings.refusal(side)]
    present = [side for side in standings.sides if side not in absent]
    yield from _verdicts(standings, present)
    winners = [f"{p.name}: {_winners(standings, p)}" for p in PROBLEMS if standings.ranking(p)]
    if winners:
        yield f"Fastest at equal error, over {standings.rounds} rounds: {'; '.join(winners)}."
    for change in changes:
        yield f"From {label(change.old)} to {change.new[1]}: {_in_short(change)}."
    for side in absent:
        yield f"{label(side)} could not be compared: {standings.refusal(side)}."
    lost = sum(len(standings.failures(side)) for side in present)
    if lost:
        have = "run or check has" if lost == 1 else "runs or checks have"
        yield f"{lost} {have} no figure; the reasons are at the end."


def _verdicts(standings: Standings, sides: Sequence[Side]) -> Iterator[str]:
    """Yield which sides pass all checks, and which checks the others fail."""
    counts = {side: len(standings.checks[side]) for side in sides}
    failed = {side: [row for row in standings.checks[side].values() if not row["passed"]]
              for side in sides}  # fmt: skip
    good = [side for side in sides if counts[side] and not failed[side]]
    if good:
        numbers = sorted({counts[side] for side in good})
        many = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
        verb = "passes" if len(good) == 1 else "pass"
        yield f"{_named([label(side) for side in good])} {verb} every check that applies ({many})."
    for side in sides:
        rows = failed[side]
        wrong = [row["name"] for row in rows if not row["failure"]]
        ended = [row["name"] for row in rows if row["failure"]]
        parts = [f"by its figures ({_named(wrong)})"] if wrong else []
        parts += [f"with an error ({_named(ended)})"] if ended else []
        if parts:
            share = f"{len(rows)} of {counts[side]} checks"
            yield f"{label(side)} fails {share}: {' and '.join(parts)}."
        elif not counts[side]:
            yield f"{label(side)} was not checked."


def _winners(standings: Standings, problem: Problem) -> str:
    tied = [label(side) for side, _, ties in standings.ranking(problem) if ties]
    return tied[0] if len(tied) == 1 else f"{_named(tied)} (tie)"


def _best(standings: Standings, problem: Problem) -> str:
    """Return a problem's ranking in words."""
    error = f"{problem.name}, error {problem.target:g} {problem.unit}"
    ranking = standings.ranking(problem)
    texts = []
    if ranking:
        fastest = ranking[0][1]
        tied = [f"{label(side)} {_ms(cost)}" for side, cost, ties in ranking if ties]
        texts.append(f"{' and '.join(tied)} ms per simulated second{', a tie' * (len(tied) > 1)}")
        texts += [
            f"{label(side)} {cost.median / fastest.median:.2g} times as long {_ms(cost)}"
            for side, cost, ties in ranking
            if not ties
        ]
    reached = {side for side, _, _ in ranking}
    for side in standings.sides:
        errors = standings.errors.get((side, problem.name))
        if errors and side not in reached and min(errors.values()) > problem.target:
            texts.append(f"{label(side)} does not reach it (at best {min(errors.values()):.2g})")
        elif (cost := standings.equal_error(side, problem)) and cost.rounds < standings.rounds:
            measured = f"{cost.rounds} of {standings.rounds} rounds were measured"
            texts.append(f"{label(side)} has no place: {measured}")
    return f"{error}: {'; '.join(texts) or 'nothing was measured'}."


def _noise(standings: Standings) -> str:
    number = standings.rounds
    verdict = (
        "Two sides differ if their ranges do not overlap and their medians differ by more than"
        f" 5 %, which equal ones do in {100 * chance(number):.2g} % of cases at most; otherwise"
        " they tie."
        if number >= LEAST_ROUNDS
        else f"{number} rounds are too few to tell a difference from noise, so that all tie; use"
        f" --rounds {LEAST_ROUNDS} or more."
    )
    return (
        "CPU time of one thread, per simulated second, with the engine's default options, which"
        " are its converged ones; interpolated between the time steps around the target error."
        f" Medians of {number} rounds, each in a process of its own, with their range in brackets."
        f" {verdict} Every error is measured against a closed form; no engine is the reference of"
        " another."
    )


def _heading(change: Change) -> str:
    return f"What changed from {label(change.old)} to {change.new[1]}"


def _in_short(change: Change) -> str:
    parts = []
    if change.broken:
        parts.append(f"{_named(change.broken)} no longer pass{'es' * (len(change.broken) == 1)}")
    if change.repaired:
        parts.append(f"{_named(change.repaired)} now pass{'es' * (len(change.repaired) == 1)}")
    if change.moved:
        parts.append(f"{len(change.moved)} figures differ by more than their tolerance")
    if change.errors:
        parts.append(f"other errors at {_named([name for name, *_ in change.errors])}")
    parts += [f"{name} takes {ratio:.2f} times the CPU time" for name, ratio in change.speeds]
    return ", ".join(parts) or "the same verdicts and errors, and no speed differs beyond noise"


def _changes(change: Change) -> Iterator[str]:
    """Yield what changed between two versions, one text each."""
    old, new = change.old[1], change.new[1]
    if not (change.broken or change.repaired):
        yield "Every check has the same verdict in both."
    yield from (f"{name} passes in {old} and fails in {new}." for name in change.broken)
    yield from (f"{name} fails in {old} and passes in {new}." for name in change.repaired)
    for name, a, b in change.moved:
        yield f"{name}: {cell_text(a)} became {cell_text(b)}, more than its tolerance."
    yield (
        f"{change.same} of {change.compared} figures are equal in all digits,"
        f" {change.compared - change.same - len(change.moved)} differ within their tolerance."
    )
    for name, step, a, b in change.errors:
        yield f"{name}: its error at {1e3 * step:g} ms was {a:.3g}, and is {b:.3g}."
    for name, ratio in change.speeds:
        words = "slower" if ratio > 1 else "faster"
        yield f"{name} at 1 ms is {words}: {ratio:.2f} times the CPU time."
    if change.alike:
        yield f"No difference in speed beyond noise at 1 ms: {', '.join(change.alike)}."


def _curves(standings: Standings, problem: Problem) -> Section:
    series = []
    for side in standings.sides:
        errors = standings.errors.get((side, problem.name), {})
        spreads = {h: standings.cost_at(side, problem, timestep=h) for h in errors}
        drawn = [(errors[h], spread.median) for h, spread in spreads.items() if spread]
        if drawn:
            error, cost = np.array(drawn).T
            error = np.maximum(error, _FLOOR)
            series.append(Series(label(side), cost / 1e3, error, Style.BOTH))
    figure = Lines(
        f"Error over cost: {problem.name}",
        Axis("CPU time per simulated second", "ms", log=True),
        Axis("error", problem.unit, log=True),
        tuple(series),
        caption=f"{problem.answer} Each marker is a time step, the coarsest on the left; lower"
        " and further left is better.",
        marks=(Mark(problem.target, "equal error"),),
    )
    return Section(f"Problem: {problem.name}", (figure,) if series else (Prose("No runs."),))


def _headline(standings: Standings) -> Table:
    columns = (
        Column("engine"), Column("version"), Column("checks passed"), Column("failed"),
        Column("without figure"), *(Column(problem.name, "ms/s") for problem in PROBLEMS),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for side in standings.sides:
        verdicts = [bool(row["passed"]) for row in standings.checks[side].values()]
        costs = [_cost_cell(standings, side, problem) for problem in PROBLEMS]
        counts = (sum(verdicts), len(verdicts) - sum(verdicts)) if verdicts else (None, None)
        rows.append((*side, *counts, len(standings.failures(side)), *costs))
    return Table("Checks, and CPU time at equal error", columns, tuple(rows))


def _cost_cell(standings: Standings, side: Side, problem: Problem) -> str:
    cost = standings.equal_error(side, problem)
    if cost is not None:
        return _ms(cost)
    errors = standings.errors.get((side, problem.name))
    return "not reached" if errors and min(errors.values()) > problem.target else ""


def _ms(cost: Cost) -> str:
    low, middle, high = (f"{value / 1e3:.3g}" for value in (cost.min, cost.median, cost.max))
    return f"{middle} ({low} to {high})"


def _check_table(standings: Standings) -> Table:
    """Return every check with its figure in each side; failures are marked."""
    names = dict.fromkeys(name for rows in standings.checks.values() for name in rows)
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        found = [standings.checks[side].get(name) for side in standings.sides]
        some = next((row for row in found if row and row["value"] is not None), None)
        cells = [_figure(row) for row in found]
        wanted = (some["expected"], some["tolerance"], some["unit"]) if some else (None, None, "")
        rows.append((name, *cells, *wanted))
    columns = (
        Column("check"), *(Column(label(side)) for side in standings.sides), Column("expected"),
        Column("tolerance"), Column("unit"),
    )  # fmt: skip
    return Table("", columns, tuple(rows))


def _figure(row: Any) -> Cell:
    if row is None:
        return "does not apply"
    text = row["failure"] or cell_text(row["value"])
    return text if row["passed"] else f"FAILS: {text}"


def _run_table(standings: Standings) -> Table:
    columns = (
        Column("engine"), Column("version"), Column("problem"), Column("time step", "ms"),
        Column("error"), Column("unit"), Column("CPU time", "ms/s"), Column("from"), Column("to"),
    )  # fmt: skip
    rows = tuple(
        (row["engine"], row["version"], row["problem"], 1e3 * row["timestep"], row["error"],
         row["unit"], *(row[key] and row[key] / 1e3 for key in ("cost_us", "low_us", "high_us")))
        for row in _cost_rows(standings)
    )  # fmt: skip
    return Table("", columns, rows)


def _failure_table(standings: Standings) -> Table | Prose:
    rows = [(*side, reason) for side in standings.sides for reason in standings.failures(side)]
    if not rows:
        return Prose("None: every process ended well, and every run and check has a figure.")
    return Table("", (Column("engine"), Column("version"), Column("reason")), tuple(rows))


def _cost_rows(standings: Standings) -> Iterator[dict[str, Any]]:
    """Yield error and CPU time of every side, problem and time step."""
    for side in standings.sides:
        for problem in PROBLEMS:
            for step, error in standings.errors.get((side, problem.name), {}).items():
                cost = standings.cost_at(side, problem, timestep=step)
                middle, low, high, rounds = cost or (None, None, None, 0)
                yield {
                    "engine": side[0], "version": side[1], "problem": problem.name,
                    "timestep": step, "error": error, "unit": problem.unit, "cost_us": middle,
                    "low_us": low, "high_us": high, "rounds": rounds,
                }  # fmt: skip


def _places(standings: Standings) -> Iterator[dict[str, Any]]:
    """Yield CPU time at equal error of every side and problem, and whether it ties for first."""
    for problem in PROBLEMS:
        for side, cost, ties in standings.ranking(problem):
            yield {
                "engine": side[0], "version": side[1], "problem": problem.name,
                "target": problem.target, "unit": problem.unit, "cost_us": cost.median,
                "low_us": cost.min, "high_us": cost.max, "first_or_tie": ties,
            }  # fmt: skip


def _summary(standings: Standings, side: Side) -> dict[str, Any]:
    rows = standings.checks[side]
    return {
        "engine": side[0],
        "version": side[1],
        "checks": len(rows),
        "passed": sum(bool(row["passed"]) for row in rows.values()),
        "failed": [name for name, row in rows.items() if not row["passed"]],
        "without_figure": len(standings.failures(side)),
        "refused": standings.refusal(side),
    }


def _change_data(change: Change) -> dict[str, Any]:
    return {
        "engine": change.old[0],
        "old": change.old[1],
        "new": change.new[1],
        "broken": list(change.broken),
        "repaired": list(change.repaired),
        "moved": [{"check": name, "old": a, "new": b} for name, a, b in change.moved],
        "equal_figures": change.same,
        "errors": [
            {"problem": name, "timestep": step, "old": a, "new": b}
            for name, step, a, b in change.errors
        ],
    }


def _named(names: Sequence[str]) -> str:
    shown, rest = names[:_MOST_NAMED], len(names) - _MOST_NAMED
    if rest > 0:
        return f"{', '.join(shown)} and {rest} more"
    return " and ".join([*filter(None, [", ".join(shown[:-1])]), shown[-1]])
