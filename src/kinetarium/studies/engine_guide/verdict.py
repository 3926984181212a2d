"""Verdicts on engines under a rule: intervals, failed runs, ties, and what limits decide."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf, isfinite
from typing import Any

import numpy as np

from kinetarium.metrics import UNKNOWN, Interval, bootstrap, bootstrap_interval, failure_share
from kinetarium.recording.recording import Row
from kinetarium.spatial.arrays import Array, frozen


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """The values of one engine under a rule; smaller is better.

    Attributes:
        values: For each setting (row) and start (column), infinite where the run failed,
            shape (settings, starts).
        runs: The number of runs behind them.
        failed: The number of runs that failed.
        draws: The bootstrap of `worst_median`, shape (repeats,).
    """

    values: Array
    runs: int
    failed: int
    draws: Array

    @property
    def value(self) -> float:
        """The worst of all settings, of each the median over its starts."""
        return float(worst_median(self.values[:, np.newaxis])[0])

    @property
    def starts(self) -> int:
        """The number of paired starts."""
        return int(self.values.shape[1])

    @property
    def interval(self) -> Interval:
        """The confidence interval of the value; unknown with one start."""
        return bootstrap_interval(self.draws, self.starts)


def worst_median(values: Array) -> Array:
    """Return the greatest median over the starts of all settings, shape (repeats,).

    Args:
        values: Shape (settings, repeats, starts).
    """
    worst: Array = np.median(values, axis=2).max(axis=0)
    return worst


def has_failed(row: Row) -> bool:
    """Return whether the run of a row did not complete, or the robot fell over."""
    return row.get("status") not in (None, "completed") or bool(row.get("toppled"))


def sample_of(
    rows: Iterable[Row], measure: Callable[[Row], float | None], *, setting: Sequence[str] = ()
) -> Sample | None:
    """Return the sample of the rows of one engine; None without rows.

    A run that failed, or has no value, counts as failed. Of several rows of one
    setting and start the worst counts. The first start is not displaced, and thus the same with
    every seed.

    Args:
        rows: The rows, failed runs included.
        measure: Returns the value of a row that completed; None or infinite if it failed.
        setting: Names of the values that define a setting.
    """
    found: dict[tuple[Any, ...], dict[tuple[int, int], float]] = {}
    for row in rows:
        value = None if has_failed(row) else measure(row)
        own = found.setdefault(tuple(str(row.get(name)) for name in setting), {})
        start = int(row.get("start") or 0)
        key = (int(row.get("seed") or 0) if start else 0, start)
        own[key] = max(own.get(key, -inf), inf if value is None or value != value else value)
    if not found:
        return None
    starts = sorted({key for own in found.values() for key in own})
    shared = [key for key in starts if all(key in own for own in found.values())] or starts[:1]
    # A start that some settings lack cannot be paired; its failures count nevertheless.
    values = np.array([[own.get(key, inf) for key in shared] for own in found.values()])
    everything = [value for own in found.values() for value in own.values()]
    failed = sum(not isfinite(value) for value in everything)
    return Sample(frozen(values), len(everything), failed, frozen(bootstrap(values, worst_median)))


def single(value: float, *, runs: int, failed: int) -> Sample:
    """Return the sample of a single number without a variation, such as the least cost."""
    values = np.array([[value]])
    return Sample(frozen(values), runs, failed, frozen(bootstrap(values, worst_median, repeats=1)))


@dataclass(frozen=True, slots=True)
class Condition:
    """The quality that is required before another quantity is compared.

    Attributes:
        words: What must be within the limit.
        limit: The limit.
        unit: Its unit.
    """

    words: str
    limit: float
    unit: str


Measure = Callable[[Mapping[str, Sequence[Row]], str, float], Sample | None]
"""From the rows of all parts, an engine and the limit of the condition to the sample."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What an engine must do for a purpose. All quantities are errors or costs: least is best.

    Attributes:
        name: The purpose.
        quantity: What is measured.
        limit: The largest acceptable value.
        unit: Unit of quantity and limit.
        reason: Why this limit, in one sentence.
        measure: Returns an engine's sample; None without runs.
        part: The part of the comparison that has its runs.
        runs: The values that they have there, by name.
        resolution: Difference below which values are not distinguished.
        relative: The same, relative to the value [-].
        condition: The quality that is required first, or None.
        all_runs: Whether one failed run is a failure of the engine; otherwise failed settings
            are only not eligible.
    """

    name: str
    quantity: str
    limit: float
    unit: str
    reason: str
    measure: Measure
    part: str
    runs: Mapping[str, str] = field(default_factory=dict)
    resolution: float = 0.0
    relative: float = 0.0
    condition: Condition | None = None
    all_runs: bool = True

    def margin(self, value: float) -> float:
        """Return the difference from a value below which another one is equal."""
        return max(self.resolution, self.relative * abs(value))


class Mark(StrEnum):
    """How an engine does under a rule."""

    MEETS = "meets"
    UNDECIDED = "undecided"
    """The limit lies within the interval."""
    FAILS = "fails"
    NO_RUNS = "no runs"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict of a rule.

    Attributes:
        rule: The rule.
        samples: The sample of each engine that has one.
        marks: How each engine does.
        first: The engines that share the first place; empty if none meets the rule.
        sensitivity: Which limit would change the first place.
    """

    rule: Rule
    samples: Mapping[str, Sample]
    marks: Mapping[str, Mark]
    first: tuple[str, ...]
    sensitivity: str = ""

    @property
    def choice(self) -> str:
        """The first place, in words."""
        if not self.first:
            return "none"
        tie = " (tie)" if len(self.first) > 1 else ""
        decided = any(self.marks[engine] is Mark.MEETS for engine in self.first)
        return " = ".join(self.first) + tie + ("" if decided else " (undecided)")

    def of(self, mark: Mark) -> list[str]:
        """Return the engines with a mark, the best first."""
        found = [engine for engine, own in self.marks.items() if own is mark]
        values = {engine: sample.value for engine, sample in self.samples.items()}
        return sorted(found, key=lambda engine: values.get(engine, inf))

    def cell(self, engine: str) -> str:
        """Return the value, its interval and the mark of an engine, in words."""
        sample, mark = self.samples.get(engine), self.marks[engine]
        if sample is None:
            return str(Mark.NO_RUNS)
        words = []
        low, high = sample.interval
        known = (low, high) != UNKNOWN and low != high
        if max(sample.value, high if known else 0.0) < self.rule.resolution:
            words.append(f"< {self.rule.resolution:g} {self.rule.unit}")
        elif isfinite(sample.value):
            words.append(f"{sample.value:.3g} {self.rule.unit}")
            if known:
                words.append(f"[{low:.3g}, {high:.3g}]")
        if sample.failed:
            share = failure_share(sample.failed, sample.runs)
            words.append(
                f"{sample.failed} of {sample.runs} failed"
                f" ({100 * share.low:.0f} to {100 * share.high:.0f} %)"
            )
        if mark is not Mark.MEETS:
            words.append(f"({'no' if mark is Mark.FAILS else mark})")
        return " ".join(words)


def judge(
    rule: Rule, rows: Mapping[str, Sequence[Row]], engines: Sequence[str]
) -> Judgement | None:
    """Judge all engines by a rule; None if nothing of it was run.

    Args:
        rows: The rows of each part.
        engines: The engines, in the order of the table.
    """
    samples = _samples(rule, rows, engines)
    if not samples:
        return None
    marks = {engine: _mark(rule, samples.get(engine), rule.limit) for engine in engines}
    first = _first(rule, samples, marks, limit=rule.limit)
    return Judgement(
        rule, samples, marks, first, _sensitivity(rule, rows, samples=samples, first=first)
    )


def _samples(
    rule: Rule,
    rows: Mapping[str, Sequence[Row]],
    engines: Sequence[str],
    condition: float | None = None,
) -> dict[str, Sample]:
    if condition is None:
        condition = rule.condition.limit if rule.condition else inf
    found = {engine: rule.measure(rows, engine, condition) for engine in engines}
    return {engine: sample for engine, sample in found.items() if sample}


def _mark(rule: Rule, sample: Sample | None, limit: float) -> Mark:
    if sample is None:
        return Mark.NO_RUNS
    if (rule.all_runs and sample.failed) or not isfinite(sample.value):
        return Mark.FAILS
    low, high = sample.interval if sample.starts > 1 else (sample.value, sample.value)
    margin = rule.margin(sample.value)
    if high + margin <= limit:
        return Mark.MEETS
    return Mark.FAILS if low - margin > limit else Mark.UNDECIDED


def _first(
    rule: Rule, samples: Mapping[str, Sample], marks: Mapping[str, Mark], *, limit: float
) -> tuple[str, ...]:
    """Return the best engine, and those that cannot be distinguished from it.

    Beside engines that meet the limit, one that is undecided must at least have its value within.
    """
    able = [engine for engine in samples if marks[engine] is Mark.MEETS]
    perhaps = [engine for engine in samples if marks[engine] is Mark.UNDECIDED]
    if not able and not perhaps:
        return ()
    best = min(able or perhaps, key=lambda engine: samples[engine].value)
    if able:
        perhaps = [engine for engine in perhaps if samples[engine].value <= limit]
    tied = [e for e in (*able, *perhaps) if _ties(rule, samples[e], samples[best])]
    return tuple(engine for engine in samples if engine in tied)


def _ties(rule: Rule, other: Sample, best: Sample) -> bool:
    """Return whether a sample is not significantly worse than the best.

    Both are drawn with the same starts: what displaces both alike does not separate them.
    """
    margin = rule.margin(best.value)
    if other.value <= best.value + margin:
        return True
    if best.starts < 2 or other.starts < 2:
        return False
    if other.starts == best.starts:
        return bootstrap_interval(other.draws - best.draws, best.starts).low <= margin
    return other.interval.low <= best.interval.high + margin


_CHANCE = 2.0
"""Factor of the first choice's worst start beyond which no start of a rival lies [-]: another seed
would have to halve the error of the best of its starts."""


def rivals(judgement: Judgement) -> tuple[str, ...]:
    """Return the engines that might be first with another seed, the first choice included.

    Their best start is at most twice as bad as the worst one of those in the first place.
    """
    samples = judgement.samples
    best = {engine: float(own.values.max(axis=0).min()) for engine, own in samples.items()}
    worst = [float(samples[engine].values.max()) for engine in judgement.first]
    within = _CHANCE * max([judgement.rule.resolution, *worst]) if worst else inf
    return tuple(engine for engine in samples if isfinite(best[engine]) and best[engine] <= within)


_FACTORS = tuple(2 ** (step / 4) for step in range(1, 9))
"""Factors by which a limit is raised and lowered in search of another verdict, up to 4."""


def _sensitivity(
    rule: Rule,
    rows: Mapping[str, Sequence[Row]],
    *,
    samples: Mapping[str, Sample],
    first: tuple[str, ...],
) -> str:
    """Return which limit, within a factor of four, would change the first place."""
    changed = rule.condition or rule
    texts = []
    for words, factors in (("from {} on", _FACTORS), ("down from {}", [1 / f for f in _FACTORS])):
        for factor in factors:
            limit = changed.limit * factor
            if rule.condition:
                own: Mapping[str, Sample] = _samples(rule, rows, list(samples), condition=limit)
                most = rule.limit
            else:
                own, most = samples, limit
            marks = {engine: _mark(rule, sample, most) for engine, sample in own.items()}
            other = _first(rule, own, marks, limit=most)
            if set(other) != set(first):
                named = " = ".join(other) or "none"
                texts.append(f"{words.format(f'{limit:.2g} {changed.unit}')}: {named}")
                break
    return "; ".join(texts) or "none within a factor of 4"
