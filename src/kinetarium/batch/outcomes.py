"""Outcomes of a study: grouped by their cases, summarised, and named in tables."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan, nan
from statistics import median
from typing import Any, Generic, NamedTuple

from kinetarium.batch.study import CaseT, Outcome
from kinetarium.figure.text import Cell, Column, Prose, Table
from kinetarium.metrics import cost_per_second
from kinetarium.recording.recording import Recording, Row, RunStatus
from kinetarium.storage.serialization import to_builtins


class Spread(NamedTuple):
    """The median and the range of a measure."""

    median: float
    min: float
    max: float


class Outcomes(Generic[CaseT]):
    """Outcomes in their order, selected and grouped by the fields of their cases."""

    def __init__(self, outcomes: Iterable[Outcome[CaseT]]) -> None:
        """Keep the outcomes."""
        self._outcomes = tuple(outcomes)

    def __iter__(self) -> Iterator[Outcome[CaseT]]:
        """Yield the outcomes."""
        return iter(self._outcomes)

    def __len__(self) -> int:
        """Return the number of outcomes."""
        return len(self._outcomes)

    def distinct(self, field: str) -> tuple[Any, ...]:
        """Return the distinct values of a field of the cases, in order."""
        return tuple(dict.fromkeys(getattr(outcome.case, field) for outcome in self))

    def of(self, **fields: Any) -> "Outcomes[CaseT]":
        """Return the outcomes whose cases have these values."""
        return Outcomes(
            outcome
            for outcome in self
            if all(getattr(outcome.case, name) == value for name, value in fields.items())
        )

    def by(self, *fields: str) -> "dict[tuple[Any, ...], Outcomes[CaseT]]":
        """Return the outcomes by the values of some fields of their cases."""
        found: dict[tuple[Any, ...], list[Outcome[CaseT]]] = {}
        for outcome in self:
            key = tuple(getattr(outcome.case, field) for field in fields)
            found.setdefault(key, []).append(outcome)
        return {key: Outcomes(same) for key, same in found.items()}

    def by_case(self) -> "dict[CaseT, Outcomes[CaseT]]":
        """Return the outcomes of all starts of a case, by the case with start 0."""
        found: dict[CaseT, list[Outcome[CaseT]]] = {}
        for outcome in self:
            found.setdefault(replace(outcome.case, start=0), []).append(outcome)  # type: ignore[type-var]
        return {case: Outcomes(same) for case, same in found.items()}

    @property
    def rows(self) -> list[Row]:
        """The rows of all outcomes."""
        return [row for outcome in self for row in outcome.rows]

    @property
    def recording(self) -> Recording | None:
        """The recording of the first outcome that has one."""
        return next((o.recording for o in self if o.recording is not None), None)

    @property
    def cost(self) -> float:
        """CPU time per simulated second [s/s], of the fastest outcome; NaN if unknown."""
        costs = [cost_per_second(outcome.timing, outcome.recording) for outcome in self]
        return min((cost for cost in costs if not isnan(cost)), default=nan)

    def values(self, key: str) -> list[Any]:
        """Return a measure of all rows that have it."""
        return [row[key] for row in self.rows if row.get(key) is not None]

    def spread(self, key: str) -> Spread | None:
        """Return the median and the range of a measure; None if no row has it."""
        values = self.values(key)
        return Spread(median(values), min(values), max(values)) if values else None

    def median(self, key: str) -> float | None:
        """Return the median of a measure; None if no row has it."""
        spread = self.spread(key)
        return spread.median if spread else None

    def spreads(self, keys: Iterable[str]) -> dict[str, dict[str, float]]:
        """Return the median and the range of measures that rows have, as JSON-like data."""
        found = {key: self.spread(key) for key in keys}
        return {key: spread._asdict() for key, spread in found.items() if spread}


def completion(outcomes: Iterable[Outcome[CaseT]]) -> str:
    """Return how many runs completed, in a sentence for a conclusion; failed ones by status."""
    statuses = Counter(str(outcome.status) for outcome in outcomes)
    done, count_of_all = statuses[RunStatus.COMPLETED], statuses.total()
    del statuses[RunStatus.COMPLETED]
    if not statuses:
        return "The only run completed." if done == 1 else f"All {done} runs completed."
    failed = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
    return f"{count_of_all - done} of {count_of_all} runs did not complete ({failed})."


Named = Sequence[tuple[str, Outcome[CaseT]]]
"""Outcomes, each with the name of its case."""


def case_table(
    named: Named[CaseT], columns: Iterable[tuple[str, str, str, float]], *, first: str = "case"
) -> Table:
    """Return a table of cases that have one row each.

    Args:
        columns: Name in the row, heading, unit, and factor to that unit.
        first: Heading of the cases' names.
    """
    shown = tuple(columns)
    rows = []
    for name, outcome in named:
        # A row that was judged has every measure; one that lacks some is from a damaged file.
        row = outcome.rows[0] if outcome.rows else dict.fromkeys(key for key, *_ in shown)
        cells = (_cell(row[key], factor) for key, _, _, factor in shown)
        rows.append((name, str(outcome.status), *cells))
    headings = (Column(heading, unit) for _, heading, unit, _ in shown)
    return Table("", (Column(first), Column("status"), *headings), tuple(rows))


def _cell(value: Any, factor: float) -> Cell:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return None if value is None else value * factor


def flag_table(named: Named[CaseT], *, first: str = "case") -> Table | Prose:
    """Return the flags in the rows of cases, and the messages of those that failed."""
    rows = [(name, flag) for name, o in named for row in o.rows for flag in row["flags"]]
    rows += [(name, outcome.message) for name, outcome in named if outcome.message]
    if not rows:
        return Prose("No flags.")
    return Table("", (Column(first), Column("flag")), tuple(rows))


def verdict_of(outcome: Outcome[Any]) -> tuple[str, str]:
    """Return the verdict on a case and its cause, from its row, or why it has none.

    A case that an engine refused is "refused", others that did not complete have their status.
    """
    for row in outcome.rows[:1]:
        return str(row["verdict"]), str(row["cause"])
    refused = outcome.status is RunStatus.UNSUPPORTED or outcome.message.startswith(_REFUSALS)
    kind, _, reason = outcome.message.partition(": ")
    cause = reason if refused and kind.endswith("Error") else outcome.message
    return "refused" if refused else str(outcome.status), cause


_REFUSALS = ("SceneError: ", "CapabilityError: ", "EngineUnavailableError: ")
"""The beginnings of messages of engines that cannot have a scene."""


_ANY_ROBOT = {"robot", "model", "main", "scene"}
_FOLDERS = {"urdf", "xacro", "mjcf", "xml", "robots", "models"}
"""Names of files and folders that do not tell robots apart."""


def robot_name(robot: str, *, model: str = "") -> str:
    """Return what a robot is called in words: its name in the catalogue, or its file.

    A file of which the name could be that of any robot comes with the model's name, or else with
    the folder it is in.

    Args:
        robot: Name in the catalogue, or path.
        model: Name of the model in the file, if it is known.
    """
    *folders, file = robot.split("/")
    if file.partition(".")[0].lower() not in _ANY_ROBOT:
        return file
    if model and model.lower() not in _ANY_ROBOT:
        return f"{model} ({file})"
    telling = [folder for folder in folders if folder.lower() not in {*_FOLDERS, "", ".", ".."}]
    return f"{telling[-1]}/{file}" if telling else file


def and_list(words: Iterable[str]) -> str:
    """Return words as in a sentence: "a, b and c"."""
    *some, last = words
    return f"{', '.join(some)} and {last}" if some else last


Field = tuple[str, ...]
"""The path to a value: a field of the case, a field of that, and so on."""

_ENGINE: Field = ("engine",)
_PLAIN: tuple[Field, ...] = (_ENGINE, ("robot",), ("path",))
"""Fields whose values need no name."""
_NO_ENGINE = "none"
_MOST_ITEMS = 3
"""Maximum length of a list that is written out; longer ones are numbered."""


def case_labels(cases: Sequence[Any]) -> list[str]:
    """Label cases by as few of the fields in which they differ as possible.

    Nested fields, such as the dimensions of a machine, come last, and are named only if labels
    would be equal without them.

    Args:
        cases: The cases of one study.

    Returns:
        A label for each, such as "mujoco" or "mujoco, timestep 0.002, machine gain 5".
    """
    flat = [dict(_parts((), to_builtins(case))) for case in cases]
    fields = dict.fromkeys(field for entry in flat for field in entry)
    columns = {field: [entry.get(field) for entry in flat] for field in fields}
    differing = [f for f, values in columns.items() if any(v != values[0] for v in values)]
    inner = {f for f in differing if len(f) > 1 or any(isinstance(v, list) for v in columns[f])}
    plain = [f for f in _PLAIN if f in columns and columns[f][0] != _NO_ENGINE]
    named = [f for f in plain if f == _ENGINE]
    labels = _labels(named, columns) or [""] * len(flat)
    for field in sorted(differing, key=inner.__contains__):
        finer = _labels([*named, field], columns)
        if len(set(finer)) > len(set(labels)):
            named, labels = [*named, field], finer
    return labels if named else _labels(plain, columns) or labels


def _parts(field: Field, value: Any) -> Iterator[tuple[Field, Any]]:
    """Yield the innermost fields of a value; a list is a single field."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _parts((*field, name), part)
    else:
        yield field, value


def _labels(fields: Sequence[Field], columns: Mapping[Field, Sequence[Any]]) -> list[str]:
    words = [_words(field, columns[field]) for field in fields]
    return [", ".join(filter(None, row)) for row in zip(*words, strict=True)]


def _words(field: Field, values: Sequence[Any]) -> list[str]:
    """Return the text of a field for each case; empty for a case without it."""
    numbers = {kind: i for i, kind in enumerate(dict.fromkeys(map(repr, values)), 1)}
    texts = [_text(value) for value in values]
    if len(set(texts)) < len(numbers):  # some are equal after rounding, or too long
        texts = [str(v) if isinstance(v, float) else t for v, t in zip(values, texts, strict=True)]
    texts = [t or f"no. {numbers[repr(v)]}" for v, t in zip(values, texts, strict=True)]
    if field in _PLAIN:
        return ["no engine" if text == _NO_ENGINE else text for text in texts]
    # An object with a name is labelled by it.
    name = " ".join(part for part in field if part != "name").replace("_", " ")
    pairs = zip(values, texts, strict=True)
    return ["" if value is None else f"{name} {text}" for value, text in pairs]


def _text(value: Any) -> str:
    """Format a value; empty if it is too long for a label."""
    if not isinstance(value, list):
        return f"{value:g}" if isinstance(value, float) else str(value) or "none"
    short = len(value) <= _MOST_ITEMS and not any(isinstance(v, list | Mapping) for v in value)
    return f"({', '.join(map(_text, value))})" if short else ""
