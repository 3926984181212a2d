"""`kinetarium conformance`: test physics engines against closed forms."""

import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from math import nan
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from kinetarium.cli.core.invocation import Invocation
from kinetarium.errors import KinetariumError

if TYPE_CHECKING:
    from kinetarium.engines.conformance import Check, EngineCheck
    from kinetarium.engines.protocol import Engine

_CHUNK = 6
"""Checks that a worker takes at a time: neighbours may share a run."""
_MOST_BYTES = 16_000_000
"""Largest file of outcomes that is read."""


class Format(StrEnum):
    """How the outcome is printed."""

    TABLE = "table"
    """One row for each engine and check."""
    MARKDOWN = "markdown"
    """Tables of checks by engines, of closed forms with their sources, and of remarks."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """The engines to test.

    Attributes:
        engine: Engines to test; all available ones by default.
        failures_only: Print only failed checks, and a count for each engine.
        format: How the outcome is printed.
        merge: Outcomes of engines in other environments, files written by --json of this command,
            to be shown after those of the engines tested here.
    """

    engine: tuple[str, ...] = ()
    failures_only: bool = False
    format: Format = Format.TABLE
    merge: Annotated[tuple[str, ...], tyro.conf.arg(metavar="FILE ...")] = ()


def run(config: Config, invocation: Invocation) -> int:
    """Run every check that applies and print one row each; exit code 1 if one fails."""
    from kinetarium.engines.registry import chosen_engines, open_engine

    names = chosen_engines(config.engine)
    merged = [outcome for path in config.merge for outcome in _read(Path(path))]
    others = dict.fromkeys(outcome.engine for outcome in merged)
    if twice := [name for name in names if name in others]:
        raise KinetariumError(f"--merge has outcomes of '{twice[0]}', which is also tested here")
    outcomes = [*_outcomes([open_engine(name) for name in names], invocation), *merged]
    names = (*names, *others)
    if config.format is Format.MARKDOWN:
        from kinetarium.engines.conformance import CHECKS

        for line in markdown(CHECKS, outcomes):
            invocation.console.line(line)
    else:
        _print_table(config, outcomes, names, invocation)
    failed = sum(not o.passed for o in outcomes)
    if config.format is Format.TABLE:
        invocation.console.line(f"{len(outcomes) - failed} passed, {failed} failed")
    invocation.console.result({"rows": [_row(o) for o in outcomes]})
    return 1 if failed else 0


def markdown(checks: "Sequence[Check]", outcomes: "Sequence[EngineCheck]") -> Iterator[str]:
    """Yield the lines of three tables: values, closed forms, remarks."""
    engines = tuple(dict.fromkeys(outcome.engine for outcome in outcomes))
    passed = sum(outcome.passed for outcome in outcomes)
    yield f"{passed} of {len(outcomes)} passed."
    yield ""
    yield f"| check | expected | tolerance | unit | {' | '.join(engines)} |"
    yield "|---|--:|--:|---" + "|--:" * len(engines) + "|"
    rows = {(outcome.check, outcome.engine): outcome for outcome in outcomes}
    for check in checks:
        found = [rows.get((check.name, engine)) for engine in engines]
        judged = [outcome.measurement for outcome in found if outcome and outcome.measurement]
        if judged:
            expected = {f"{m.expected:.4g}" for m in judged}
            strictest = min(m.tolerance for m in judged)
            yield (
                f"| {check.name} | {expected.pop() if len(expected) == 1 else 'its own'} |"
                f" {strictest:.2g} | {judged[0].unit} |"
                f" {' | '.join(_figure(outcome, strictest) for outcome in found)} |"
            )
    yield ""
    yield from definitions(checks)
    yield ""
    yield from _remarks(outcomes)


def _remarks(outcomes: "Sequence[EngineCheck]") -> Iterator[str]:
    """Yield the lines of a table of remarks: engines, checks with their tolerances, why."""
    engines: dict[tuple[str, str], list[str]] = {}
    for outcome in outcomes:
        m = outcome.measurement
        if m and m.reason:
            what = f"{outcome.check} {m.tolerance:.2g}"
            engines.setdefault((m.reason, what), []).append(outcome.engine)
    checks: dict[tuple[str, str], list[str]] = {}
    for (reason, what), names in engines.items():
        checks.setdefault((", ".join(names), reason), []).append(what)
    yield "| engines | checks and their tolerance | why |"
    yield "|---|---|---|"
    for (where, reason), whats in checks.items():
        yield f"| {where} | {', '.join(whats)} | {reason} |"


def definitions(checks: "Sequence[Check]") -> Iterator[str]:
    """Yield the lines of a table of what each check shows, its closed form and its source."""
    yield "| check | what it shows | closed form or invariant | source |"
    yield "|---|---|---|---|"
    for check in checks:
        law = check.law.replace("|", "\\|")
        yield f"| {check.name} | {check.help} | {law} | {check.source} |"


def _figure(outcome: "EngineCheck | None", strictest: float) -> str:
    """Return a value in few digits: a star if its tolerance is looser, a dash if there is none."""
    if outcome is None:
        return "-"
    if outcome.measurement is None:
        return "error"
    m = outcome.measurement
    digits = f"{m.value:.4g}" if m.expected else f"{m.value:.0e}" if m.value else "0"
    star = "\\*" if m.tolerance > strictest else ""
    return f"{digits}{star}" if outcome.passed else f"**{digits}**{star}"


def _print_table(
    config: Config, outcomes: "Sequence[EngineCheck]", names: Sequence[str], invocation: Invocation
) -> None:
    from kinetarium.figure.text import Column, Table

    columns = ("engine", "check", "passed", "value", "expected", "tolerance", "unit", "remark")
    shown = [o for o in outcomes if not (config.failures_only and o.passed)]
    if shown:
        rows = tuple(tuple(_cells(o)) for o in shown)
        invocation.console.table(Table("", tuple(map(Column, columns)), rows))
    for name in names if config.failures_only else ():
        passed = [o.passed for o in outcomes if o.engine == name]
        invocation.console.line(f"{name}: {sum(passed)} of {len(passed)} checks pass")


def _outcomes(engines: "list[Engine]", invocation: Invocation) -> "Iterator[EngineCheck]":
    """Yield the outcomes in the order of engines and checks, from several processes if it helps."""
    from kinetarium.engines.conformance import CHECKS, check_engine

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if len(engines) == 1 or cores == 1:
        jobs = [(engine, check) for engine in engines for check in CHECKS]
        for engine, check in invocation.console.progress(jobs, label="checking", total=len(jobs)):
            yield from check_engine(engine, checks=[check])
        return
    names = [(engine.info.name, i) for engine in engines for i in range(len(CHECKS))]
    pool = ProcessPoolExecutor(cores, get_context("spawn"), initializer=_leave_interrupts)
    try:
        done = pool.map(_check, *zip(*names, strict=True), chunksize=_CHUNK)
        for rows in invocation.console.progress(done, label="checking", total=len(names)):
            yield from rows
    except BrokenProcessPool:
        raise KinetariumError(
            "an engine ended its process; test engines one at a time with --engine to find it"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _leave_interrupts() -> None:
    """Leave Ctrl-C to the process that waits for this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _check(name: str, index: int) -> "tuple[EngineCheck, ...]":
    from kinetarium.engines.conformance import CHECKS, check_engine

    return check_engine(_engine(name), checks=[CHECKS[index]])


@cache
def _engine(name: str) -> "Engine":
    """Open an engine once per process, for checks that share a run."""
    from kinetarium.engines.registry import open_engine

    return open_engine(name)


@dataclass(frozen=True, slots=True)
class _Row:
    """An outcome as `--json` writes it; without figures if the check ended in an error."""

    engine: str
    check: str
    passed: bool
    value: float | None
    expected: float | None
    tolerance: float | None
    unit: str | None
    remark: str


def _row(outcome: "EngineCheck") -> dict[str, Any]:
    m = outcome.measurement
    return {
        "engine": outcome.engine,
        "check": outcome.check,
        "passed": outcome.passed,
        "value": m.value if m else None,
        "expected": m.expected if m else None,
        "tolerance": m.tolerance if m else None,
        "unit": m.unit if m else None,
        "remark": m.reason if m else outcome.error,
    }


def _read(path: Path) -> "Iterator[EngineCheck]":
    """Yield the outcomes in a file that this command has written.

    Raises:
        KinetariumError: If it is another file, or of another kit.
    """
    from kinetarium.engines.conformance import CHECKS, EngineCheck, Measurement
    from kinetarium.storage.serialization import from_builtins, read_strict_json

    data, _ = read_strict_json(path, most=_MOST_BYTES)
    if not (isinstance(data, dict) and "rows" in data):
        raise KinetariumError(f"{str(path)!r} is no result of this command")
    known = {check.name for check in CHECKS}
    for row in from_builtins(tuple[_Row, ...], data["rows"], where=repr(str(path))):
        if row.check not in known:
            raise KinetariumError(f"{str(path)!r}: this kit has no check {row.check!r}")
        if row.expected is None or row.tolerance is None:
            yield EngineCheck(row.engine, row.check, False, None, row.remark)
            continue
        value = nan if row.value is None else row.value  # JSON has no NaN
        m = Measurement(value, row.expected, row.tolerance, row.unit or "", row.remark)
        yield EngineCheck(row.engine, row.check, m.passed, m)


def _cells(outcome: "EngineCheck") -> Iterator[Any]:
    for value in _row(outcome).values():
        yield ("yes" if value else "no") if isinstance(value, bool) else value
