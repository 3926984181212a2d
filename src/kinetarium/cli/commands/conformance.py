"""`kinetarium conformance`: test physics engines against closed forms."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kinetarium.cli.core.invocation import Invocation

if TYPE_CHECKING:
    from kinetarium.engines.conformance import EngineCheck


@dataclass(frozen=True, kw_only=True)
class Config:
    """The engines to test.

    Attributes:
        engine: Engines to test; all available ones by default.
        failures_only: Print only failed checks, and a count for each engine.
    """

    engine: tuple[str, ...] = ()
    failures_only: bool = False


def run(config: Config, invocation: Invocation) -> int:
    """Run every check that applies and print one row each; exit code 1 if one fails."""
    from kinetarium.engines.registry import list_engines, open_engine
    from kinetarium.figure.text import Column, Table

    names = config.engine or tuple(e.name for e in list_engines() if e.available)
    outcomes = list(_outcomes([open_engine(name) for name in names], invocation))
    columns = ("engine", "check", "passed", "value", "expected", "tolerance", "unit", "remark")
    shown = [o for o in outcomes if not (config.failures_only and o.passed)]
    if shown:
        rows = tuple(tuple(_cells(o)) for o in shown)
        invocation.console.table(Table("", tuple(map(Column, columns)), rows))
    for name in names if config.failures_only else ():
        passed = [o.passed for o in outcomes if o.engine == name]
        invocation.console.line(f"{name}: {sum(passed)} of {len(passed)} checks pass")
    failed = sum(not o.passed for o in outcomes)
    invocation.console.line(f"{len(outcomes) - failed} passed, {failed} failed")
    invocation.console.result({"rows": [_row(o) for o in outcomes]})
    return 1 if failed else 0


def _outcomes(engines: "list[Any]", invocation: Invocation) -> "Iterator[EngineCheck]":
    from kinetarium.engines.conformance import CHECKS, check_engine

    jobs = [(engine, check) for engine in engines for check in CHECKS]
    for engine, check in invocation.console.progress(jobs, label="checking", total=len(jobs)):
        yield from check_engine(engine, checks=[check])


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


def _cells(outcome: "EngineCheck") -> Iterator[Any]:
    for value in _row(outcome).values():
        yield ("yes" if value else "no") if isinstance(value, bool) else value
