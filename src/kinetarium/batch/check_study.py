"""check_study: a conformance kit for studies, built-in and of plug-ins."""

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from inspect import signature
from typing import Any

import numpy as np

from kinetarium.batch.study import MODULES, Outcome, Study, find_function, has_method, open_study
from kinetarium.figure.page import Section
from kinetarium.figure.text import Table
from kinetarium.recording.recording import Recording, RunStatus
from kinetarium.spatial.arrays import Array
from kinetarium.storage.serialization import from_builtins, to_builtins, to_toml
from kinetarium.storage.strict_json import strict_json

_UNIT_OFF = 1e-3
"""Tolerance of the norm of a replay's quaternions."""


@dataclass(frozen=True, slots=True)
class StudyCheck:
    """The result of one check.

    Attributes:
        check: The check.
        passed: Whether it passed.
        reason: Why it failed, or empty.
    """

    check: str
    passed: bool
    reason: str = ""


class _BrokenError(Exception):
    """A failed check, with its reason."""


def check_study(study: str | Study[Any, Any], config: Any = None) -> tuple[StudyCheck, ...]:
    """Check that a study meets what commands, batches, reports and the studio rely on.

    Two cases are run twice, so use a config with short cases.

    Example:
        >>> from kinetarium import check_study
        >>> from kinetarium.study import open_study
        >>> short = open_study("drop").config(engine=("mujoco",), height=0.01, duration=0.1)
        >>> all(check.passed for check in check_study("drop", short))
        True

    Args:
        study: The study, or its name.
        config: The config to test it with; its defaults if None.

    Returns:
        One result for each check.
    """
    chosen = open_study(study) if isinstance(study, str) else study
    subject = _Subject(chosen, chosen.config() if config is None else config)
    return tuple(_judge(name, check, subject) for name, check in _CHECKS.items())


@dataclass(slots=True)
class _Subject:
    """A study under test, and its first two cases once they have been run."""

    study: Study[Any, Any]
    config: Any
    runs: tuple[tuple[Any, Recording], ...] = ()

    def finished(self) -> tuple[tuple[Any, Recording], ...]:
        if not self.runs:
            cases = self.study.cases(self.config)[:2]
            self.runs = tuple((case, self.study.run(case)) for case in cases)
        return self.runs

    def outcomes(self) -> list[Outcome[Any]]:
        timing = {"wall_s": 1.0, "cpu_s": 1.0}
        done = [
            Outcome(case, RunStatus.COMPLETED, "", tuple(self.study.score(case, recording)),
                    recording, timing)
            for case, recording in self.finished()
        ]  # fmt: skip
        failed = Outcome(self.runs[0][0], RunStatus.CRASHED, "crashed", (), None, timing)
        return [*done, failed]


def _judge(name: str, check: Callable[[_Subject], None], subject: _Subject) -> StudyCheck:
    try:
        check(subject)
    except _BrokenError as broken:
        return StudyCheck(name, False, str(broken))
    except Exception as error:  # any exception of a plug-in is a failed check
        return StudyCheck(name, False, f"{type(error).__name__}: {error}")
    return StudyCheck(name, True)


def _check_names(subject: _Subject) -> None:
    study = subject.study
    _expect(re.fullmatch(r"[a-z][a-z0-9-]*", study.name), f"{study.name!r} is not a command name")
    _expect(study.help and "\n" not in study.help, "help must be one line")
    _expect(study.title, "title is empty")


def _check_functions(subject: _Subject) -> None:
    study = subject.study
    for name, module in MODULES.items():
        own = has_method(study, name)
        function = getattr(study, name) if own else find_function(study, name)
        if function is None:
            _expect(
                name == "replay", f"no method {name}(), and no function {name}() in {module}.py"
            )
            continue
        _, *arguments = signature(getattr(Study, name)).parameters
        try:
            signature(function).bind(*arguments)
        except TypeError:
            raise _BrokenError(f"{name}() does not take ({', '.join(arguments)})") from None


def _check_config(subject: _Subject) -> None:
    text = ""
    for kind in (subject.study.config, subject.study.case):
        frozen = is_dataclass(kind) and kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
        _expect(frozen, f"{kind.__name__} must be a frozen dataclass")
        # A case need not document again what its config does.
        text += "".join(each.__doc__ or "" for each in kind.__mro__)
        for field in fields(kind):
            _expect(f"{field.name}:" in text, f"{kind.__name__}.{field.name} is not documented")
    subject.study.config()


def _check_plain_config(subject: _Subject) -> None:
    plain = tomllib.loads(to_toml(to_builtins(subject.config)))
    again: Any = from_builtins(subject.study.config, plain, where="config")
    _expect(again == subject.config, "a config read back from TOML, which has no None, differs")


def _check_cases(subject: _Subject) -> None:
    study = subject.study
    cases = study.cases(subject.config)
    _expect(len(cases) > 0, "the config has no cases")
    plain = [to_builtins(case) for case in cases]
    texts = {strict_json(entry, indent=None) for entry in plain}
    _expect(len(texts) == len(cases), "two cases are the same")
    for case, entry in zip(cases, plain, strict=True):
        _expect(from_builtins(study.case, entry, where="case") == case, f"{case} read back differs")
    _expect(study.cases(subject.config) == cases, "cases() called twice returns different cases")


def _check_recording(subject: _Subject) -> None:
    for case, recording in subject.finished():
        _expect("time" in recording.channels, f"{case}: no channel 'time'")
        for name, channel in recording.channels.items():
            numeric = channel.values.dtype.kind in "biuf"
            _expect(numeric, f"{case}: channel '{name}' is not numeric")
            _expect(channel.unit, f"{case}: channel '{name}' has no unit; use '-' for none")
        _json(recording.facts, "facts")


def _check_determinism(subject: _Subject) -> None:
    for case, recording in subject.finished():
        again = subject.study.run(case)
        _expect(again.channels.keys() == recording.channels.keys(), f"{case}: channels differ")
        for name, channel in recording.channels.items():
            same = np.array_equal(channel.values, again[name], equal_nan=True)
            _expect(same, f"{case}: run twice, channel '{name}' differs")


def _check_rows(subject: _Subject) -> None:
    study = subject.study
    names: set[tuple[str, ...]] = set()
    for case, recording in subject.finished():
        rows = study.score(case, recording)
        _expect(len(rows) > 0, f"{case}: no rows")
        for row in rows:
            _json(row, "a row")
            names.add(tuple(row))
    _expect(len(names) == 1, f"rows have different columns: {sorted(names)}")


def _check_report(subject: _Subject) -> None:
    findings = subject.study.report(subject.outcomes())
    _expect(isinstance(findings.headline, Table), "the headline is not a Table")
    _expect(findings.lead, "the report has no lead")
    _expect(all(isinstance(part, Section) for part in findings.sections), "not a Section")
    for table in _tables([Section("", (findings.headline,)), *findings.sections]):
        widths = {len(row) for row in table.rows} - {len(table.columns)}
        _expect(not widths, f"table '{table.title}': rows and columns differ in length")
    _json(findings.summary, "the summary")
    _json(findings.extra, "extra")


def _check_replay(subject: _Subject) -> None:
    for case, recording in subject.finished():
        replay = subject.study.replay(case, recording)
        if replay is None:
            continue
        count = len(replay.time)
        _expect(count > 0, f"{case}: the replay has no samples")
        _expect(
            np.all(np.diff(replay.time) > 0), f"{case}: the times of the replay do not increase"
        )
        names = [solid.name for solid in replay.solids]
        _expect(len(set(names)) == len(names), f"{case}: two solids have the same name")
        for solid in replay.solids:
            _expect_rows(solid.poses, {(count, 7), (1, 7)}, f"{case}: poses of '{solid.name}'")
            _expect(
                np.all(np.isfinite(solid.poses)), f"{case}: poses of '{solid.name}' are not finite"
            )
            off = np.abs(np.linalg.norm(solid.poses[:, 3:], axis=1) - 1.0).max()
            _expect(off < _UNIT_OFF, f"{case}: quaternions of '{solid.name}' are not unit")
        for arrow in replay.arrows:
            for rows in (arrow.points, arrow.vectors):
                _expect_rows(rows, {(count, 3)}, f"{case}: arrow '{arrow.name}'")
        unknown = set(replay.trails) - set(names)
        _expect(not unknown, f"{case}: trails of unknown solids: {sorted(unknown)}")


def _check_all_failed(subject: _Subject) -> None:
    subject.study.report([subject.outcomes()[-1]])


_CHECKS: dict[str, Callable[[_Subject], None]] = {
    "it has a name, a help line and a title": _check_names,
    "it has all functions, with the right arguments": _check_functions,
    "config and case are frozen and documented": _check_config,
    "a config survives TOML": _check_plain_config,
    "cases are distinct and serializable": _check_cases,
    "recordings are numbers with units": _check_recording,
    "a case run twice has the same result": _check_determinism,
    "rows are JSON with one set of columns": _check_rows,
    "the report is consistent": _check_report,
    "the replay, if there is one, can be shown": _check_replay,
    "a report of failed cases alone works": _check_all_failed,
}


def _expect_rows(rows: Array, shapes: set[tuple[int, int]], what: str) -> None:
    fine = np.shape(rows) in shapes
    _expect(fine, f"{what} have shape {np.shape(rows)}, not {sorted(shapes)[-1]}")


def _tables(sections: list[Section]) -> Iterator[Table]:
    for section in sections:
        yield from (figure for figure in section.figures if isinstance(figure, Table))


def _json(value: Any, what: str) -> None:
    try:
        strict_json(value)
    except (TypeError, ValueError) as error:
        raise _BrokenError(f"{what} is not JSON: {error}") from None


def _expect(holds: object, reason: str) -> None:
    if not holds:
        raise _BrokenError(reason)
