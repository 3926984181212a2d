"""The summary of a sweep: main effects with their intervals, Pareto front, heatmaps."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isnan, nan, sqrt
from typing import Any

import numpy as np

from kinetarium.batch.axes import PlanError, table
from kinetarium.batch.study import Findings
from kinetarium.batch.sweep_table import SweepTable
from kinetarium.errors import UnknownNameError
from kinetarium.figure.charts import (
    Axis,
    Bars,
    BarSeries,
    Heatmap,
    Lines,
    Parallel,
    Scale,
    Series,
    Style,
)
from kinetarium.figure.page import Figure, Section
from kinetarium.figure.text import Prose, Table, cell_text, header
from kinetarium.metrics import pareto_front
from kinetarium.recording.recording import RunStatus
from kinetarium.spatial.arrays import Array

_SHOWN = ("results", "pareto", "heat", "maximise")
_MOST_LEVELS = 8
"""An axis with more numbers is divided into quarters of its cases."""
_CONFIDENCE = 0.95
_MOST_RESULTS = 4
"""Results whose effects are shown if the file names none."""


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """An axis as levels.

    Attributes:
        name: The axis.
        levels: Name of each level, in rising order where they are numbers.
        level: Level of each row, shape (n,); -1 for none.
    """

    name: str
    levels: tuple[str, ...]
    level: Array


@dataclass(frozen=True, slots=True)
class MainEffect:
    """The effect of an axis on a result: the difference between its extreme levels.

    Attributes:
        axis: The axis.
        result: The result.
        low: The level with the lowest mean.
        high: The level with the highest mean.
        means: Mean at those two levels.
        interval: 95 % interval of the difference; NaN with one case at a level.
        share: Share of the variance of all completed cases that lies between the levels [-].
    """

    axis: str
    result: str
    low: str
    high: str
    means: tuple[float, float]
    interval: tuple[float, float]
    share: float

    @property
    def difference(self) -> float:
        """The difference of the two means."""
        return self.means[1] - self.means[0]

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes zero."""
        return self.interval[0] > 0


def check_shown(content: Mapping[str, Any], axes: Sequence[str]) -> None:
    """Check the table [sweep] of a plan before anything is run.

    Args:
        content: The plan as JSON data.
        axes: Names of its axes.

    Raises:
        KinetariumError: If an entry is unknown or invalid.
    """
    shown = table(content, "sweep")
    for entry, names in shown.items():
        if entry not in _SHOWN:
            raise UnknownNameError("entry of 'sweep'", entry, known=_SHOWN)
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise PlanError(f"'sweep.{entry}' must be a list of names")
        if entry in ("pareto", "heat") and len(names) != 2:
            raise PlanError(f"'sweep.{entry}' needs two names, not {len(names)}")
    for name in shown.get("heat", ()):
        if name not in axes:
            raise UnknownNameError("axis of 'sweep.heat'", name, known=axes)


def sweep_findings(rows: SweepTable, content: Mapping[str, Any]) -> Findings:
    """Summarise a sweep.

    Args:
        content: Its plan as JSON data; the table "sweep" says what is shown.

    Raises:
        PlanError: If it names a result that no case has.
    """
    shown = table(content, "sweep")
    numeric = _numeric_results(rows)
    for name in (*shown.get("results", ()), *shown.get("pareto", ()), *shown.get("maximise", ())):
        if numeric and name not in numeric:
            raise PlanError(
                f"{UnknownNameError('result', name, known=numeric)}; the runs are kept: correct"
                " [sweep] in the file and give the same command with the same --out"
            )
    results = list(shown.get("results", ())) or _varying(rows, numeric)[:_MOST_RESULTS]
    factors = [factor for name in _factor_names(rows) if (factor := _factor(rows, name))]
    effects = {
        result: [e for factor in factors if (e := _effect(rows, factor, result))]
        for result in results
    }
    main = effects[results[0]] if results else []
    summary = {
        "cases": dict(sorted(Counter(rows.statuses().values()).items())),
        "effects": {result: [_summary(e) for e in found] for result, found in effects.items()},
    }
    sections = [Section("Main effects", tuple(_effect_figures(rows, factors, results)))]
    if len(factors) + len(results) > 1:
        sections.append(Section("All cases", (_parallel(rows, factors, results),)))
    pareto = shown.get("pareto") or (results[:2] if len(results) > 1 else ())
    if pareto:
        sections.append(Section("Pareto front", (_pareto(rows, pareto, shown),)))
    if heat := _heat_axes(factors, shown):
        maps = tuple(_heatmap(rows, heat, result) for result in results)
        sections.append(Section("Two axes at a time", maps))
    together = _together(factors)
    lead = (
        f"A sweep of {len(rows.statuses())} cases over {_listed(rows.axes)}. The effect of an axis"
        " is the difference between the means at its two extreme levels; the spread within a"
        " level, and so the interval, includes what the other axes do. Axes of many numbers are"
        " divided into quarters of their cases. Failed cases are left out of all means."
    ) + "".join(
        f" The levels of {' and '.join(names)} vary together: these effects cannot be separated."
        for names in together
    )
    return Findings(
        headline=_effect_table(effects),
        sections=sections,
        summary=summary,
        lead=lead,
        conclusion=f"{_largest(main, together)} {_failures(rows)}",
    )


def _numeric_results(rows: SweepTable) -> list[str]:
    kinds = {
        name: {type(value) for value in rows.columns[name] if value is not None}
        for name in rows.results
    }
    return [name for name, kind in kinds.items() if kind and kind <= {int, float}]


def _varying(rows: SweepTable, names: Sequence[str]) -> list[str]:
    """Return the results that vary, or all if none does."""
    values = {name: _values(rows, name) for name in names}
    return [name for name, v in values.items() if np.ptp(v[np.isfinite(v)]) > 0] or list(names)


def _values(rows: SweepTable, name: str) -> Array:
    """Return a column of numbers, NaN for rows of failed cases, shape (n,)."""
    pairs = zip(rows.columns[name], rows.completed(), strict=True)
    return np.array([nan if v is None or not done else v for v, done in pairs], dtype=np.float64)


def _factor_names(rows: SweepTable) -> list[str]:
    """Return the axes, and the engine where a study chose several by itself."""
    return [*rows.axes, *(name for name in rows.others if name in ("engine", "robot"))]


def _factor(rows: SweepTable, name: str) -> Factor | None:
    """Return an axis as levels; None if it has only one."""
    column = rows.columns[name]
    distinct = list(dict.fromkeys(value for value in column if value is not None))
    if len(distinct) < 2:
        return None
    if not all(isinstance(value, int | float) for value in distinct):
        levels = tuple(str(value) for value in distinct)
        return Factor(name, levels, np.array([_index(distinct, value) for value in column]))
    numbers = np.array([nan if value is None else value for value in column], dtype=np.float64)
    if len(distinct) <= _MOST_LEVELS:
        ordered = sorted(distinct, key=float)
        level = np.array([_index(ordered, value) for value in column])
        return Factor(name, tuple(cell_text(value) for value in ordered), level)
    edges = np.nanquantile(numbers, [0.0, 0.25, 0.5, 0.75, 1.0])
    level = np.clip(np.searchsorted(edges[1:-1], numbers, side="right"), 0, 3)
    names = tuple(f"{low:.3g} to {high:.3g}" for low, high in pairwise(edges))
    return Factor(name, names, np.where(np.isnan(numbers), -1, level))


def _together(factors: Sequence[Factor]) -> list[list[str]]:
    """Return the names of axes whose levels determine each other, as those of one [zip] do.

    So do axes that are sampled together, if every sample is a level.
    """
    groups: dict[tuple[int, ...], list[str]] = {}
    for factor in factors:
        numbers: dict[int, int] = {}
        order = tuple(numbers.setdefault(level, len(numbers)) for level in factor.level.tolist())
        groups.setdefault(order, []).append(factor.name)
    return [names for names in groups.values() if len(names) > 1]


def _index(levels: Sequence[Any], value: Any) -> int:
    return -1 if value is None else levels.index(value)


def _effect(rows: SweepTable, factor: Factor, result: str) -> MainEffect | None:
    """Return the main effect of an axis on a result; None if fewer than two levels have any."""
    values = _values(rows, result)
    groups = {
        name: values[(factor.level == number) & np.isfinite(values)]
        for number, name in enumerate(factor.levels)
    }
    groups = {name: group for name, group in groups.items() if len(group)}
    if len(groups) < 2:
        return None
    ranked = sorted(groups, key=lambda name: float(groups[name].mean()))
    low, high = ranked[0], ranked[-1]
    used = np.concatenate(list(groups.values()))
    known = values[np.isfinite(values)]
    spread = float(np.sum((known - known.mean()) ** 2))
    between = float(np.sum((used - used.mean()) ** 2))
    between -= sum(float(np.sum((group - group.mean()) ** 2)) for group in groups.values())
    return MainEffect(
        factor.name,
        result,
        low,
        high,
        (float(groups[low].mean()), float(groups[high].mean())),
        _difference_interval(groups[low], groups[high], levels=len(groups)),
        between / spread if spread > 0 else 0.0,
    )


def _difference_interval(low: Array, high: Array, *, levels: int) -> tuple[float, float]:
    """Return the interval of a difference of means (Welch, Biometrika 34, 1947).

    The two levels were chosen as the extremes of several, so that the confidence holds for all
    pairs together (Bonferroni).
    """
    from scipy.stats import t

    if min(len(low), len(high)) < 2:
        return nan, nan
    a, b = low.var(ddof=1) / len(low), high.var(ddof=1) / len(high)
    difference = float(high.mean() - low.mean())
    if a + b == 0:
        return difference, difference
    freedom = (a + b) ** 2 / (a**2 / (len(low) - 1) + b**2 / (len(high) - 1))
    pairs = levels * (levels - 1) / 2
    half = float(t.ppf(1 - (1 - _CONFIDENCE) / 2 / pairs, freedom)) * sqrt(a + b)
    return difference - half, difference + half


def _summary(effect: MainEffect) -> dict[str, Any]:
    return {
        "axis": effect.axis,
        "low": effect.low,
        "high": effect.high,
        "means": list(effect.means),
        "difference": effect.difference,
        "interval_95": list(effect.interval),
        "share_of_variance": effect.share,
    }


def _effect_table(effects: Mapping[str, Sequence[MainEffect]]) -> Table:
    found = [effect for each in effects.values() for effect in _sorted(each)]
    rows = tuple(
        (e.result, e.axis, e.low, e.means[0], e.high, e.means[1], e.difference, *e.interval,
         100 * e.share)
        for e in found
    )  # fmt: skip
    columns = header(
        "result | axis | lowest at | mean there | highest at | mean there | difference"
        " | 95 % from | 95 % to | variance explained [%]"
    )
    return Table("Main effects", columns, tuple(tuple(map(_known, row)) for row in rows))


def _known(cell: Any) -> Any:
    return None if isinstance(cell, float) and isnan(cell) else cell


def _sorted(effects: Sequence[MainEffect]) -> list[MainEffect]:
    return sorted(effects, key=lambda effect: -effect.share)


def _largest(effects: Sequence[MainEffect], together: Sequence[Sequence[str]]) -> str:
    """Return the largest main effect in a sentence; axes that vary together are named together."""
    if not effects:
        return "No axis has two levels with completed cases to compare."
    best = _sorted(effects)[0]
    axis = " with ".join(next((names for names in together if best.axis in names), [best.axis]))
    low, high = map(cell_text, best.means)
    change = (
        f"{best.result} {low} at {best.low} and {high} at {best.high}, a difference of"
        f" {cell_text(best.difference)}"
    )
    if isnan(best.interval[0]):
        return f"{axis} matters most: {change} (single cases, so without an interval)."
    interval = f"95 % interval {cell_text(best.interval[0])} to {cell_text(best.interval[1])}"
    if not best.is_clear:
        return f"No effect is clear; the largest is that of {axis}: {change} ({interval})."
    share = f"{100 * best.share:.0f} % of the variance"
    return f"{axis} has the largest main effect: {change} ({interval}; {share})."


def _failures(rows: SweepTable) -> str:
    statuses = Counter(rows.statuses().values())
    total, done = statuses.total(), statuses.pop(str(RunStatus.COMPLETED), 0)
    if done == total:
        return f"All {total} cases completed."
    failed = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
    return f"{total - done} of {total} cases did not complete ({failed})."


def _effect_figures(
    rows: SweepTable, factors: Sequence[Factor], results: Sequence[str]
) -> list[Figure]:
    names = [f"{factor.name} {level}" for factor in factors for level in factor.levels]
    figures: list[Figure] = []
    for result in results if names else ():
        values = _values(rows, result)
        spreads = [
            _mean_interval(values[factor.level == number])
            for factor in factors
            for number in range(len(factor.levels))
        ]
        bars = BarSeries.of_spreads(result, spreads)
        caption = "Means of the completed cases at each level, with their 95 % intervals."
        title = f"Main effects on {result}"
        figures.append(Bars(title, tuple(names), (bars,), Axis(result), caption=caption))
    return figures or [Prose("No axis has two levels, or no case has a numeric result.")]


def _mean_interval(values: Array) -> tuple[float, float, float] | None:
    from scipy.stats import t

    known = values[np.isfinite(values)]
    if not len(known):
        return None
    mean = float(known.mean())
    if len(known) < 2:
        return mean, mean, mean
    half = float(t.ppf(0.5 + _CONFIDENCE / 2, len(known) - 1) * known.std(ddof=1))
    return mean, mean - half / sqrt(len(known)), mean + half / sqrt(len(known))


def _parallel(rows: SweepTable, factors: Sequence[Factor], results: Sequence[str]) -> Parallel:
    """Draw completed cases across all axes and results, coloured by their engine or first axis."""
    done = np.flatnonzero(rows.completed())
    shown = done[:: -(-len(done) // _MOST_LINES) or 1]
    scales, places = [], []
    for name in (*(factor.name for factor in factors), *results):
        scale, place = _scale(name, rows.columns[name])
        scales.append(scale)
        places.append(place[shown])
    heights = np.array(places).reshape(len(scales), len(shown))
    across = np.array([*range(len(scales)), len(scales) - 1.0])
    first = "engine" if "engine" in rows.columns else (rows.axes or ("",))[0]
    colored = next((factor for factor in factors if factor.name == first), None)
    series = []
    for number, name in enumerate(colored.levels if colored else ("cases",)):
        own = heights[:, colored.level[shown] == number] if colored else heights
        if own.size:
            gaps = np.full((1, own.shape[1]), nan)
            y = np.concatenate([own, gaps]).T.ravel()
            series.append(Series(name, np.tile(across, own.shape[1]), y))
    note = f"{len(shown)} of {len(done)} completed cases" if len(shown) < len(done) else "Each case"
    caption = f"{note} as a line across all axes and results."
    return Parallel("Parallel coordinates", tuple(scales), tuple(series), caption=caption)


_MOST_LINES = 500
"""Cases that parallel coordinates show; of more they show a part, evenly chosen."""


def _scale(name: str, column: Sequence[Any]) -> tuple[Scale, Array]:
    """Return an axis for a column, and the place of each value along it, NaN for none."""
    known = [value for value in column if value is not None]
    if all(isinstance(value, int | float) for value in known):
        values = np.array([nan if value is None else value for value in column], dtype=np.float64)
        low, high = (float(f(values)) for f in (np.nanmin, np.nanmax)) if known else (0.0, 0.0)
        span = high - low
        ticks = [(0.0, cell_text(low)), (1.0, cell_text(high))] if span else [(0.5, cell_text(low))]
        return Scale(name, tuple(ticks)), (values - low) / span if span else 0.5 + 0 * values
    levels = list(dict.fromkeys(known))
    step = 1 / max(1, len(levels) - 1)
    marks = tuple((number * step, str(level)) for number, level in enumerate(levels))
    return Scale(name, marks), np.array(
        [nan if v is None else levels.index(v) * step for v in column]
    )


def _pareto(rows: SweepTable, names: Sequence[str], shown: Mapping[str, Any]) -> Figure:
    """Draw two results against each other, with the cases that no other one beats in both."""
    x, y = (_values(rows, name) for name in names)
    signs = [-1.0 if name in shown.get("maximise", ()) else 1.0 for name in names]
    front = pareto_front(signs[0] * x, signs[1] * y)
    series = [Series("Pareto front", x[front], y[front], Style.BOTH)]
    group = rows.columns["engine"] if "engine" in rows.columns else [""] * len(rows)
    for name in dict.fromkeys(group):
        own = np.array([value == name for value in group]) & np.isfinite(x) & np.isfinite(y)
        if own.any():
            series.insert(0, Series(str(name or "cases"), x[own], y[own], Style.MARKERS))
    wanted = ["more" if sign < 0 else "less" for sign in signs]
    caption = (
        f"{wanted[0].capitalize()} {names[0]} and {wanted[1]} {names[1]} is better;"
        f" {len(front)} of {int(np.isfinite(x + y).sum())} cases are on the front."
    )
    title = f"{names[1]} over {names[0]}"
    return Lines(title, Axis(names[0]), Axis(names[1]), tuple(series), caption=caption)


def _heat_axes(factors: Sequence[Factor], shown: Mapping[str, Any]) -> tuple[Factor, Factor] | None:
    by_name = {factor.name: factor for factor in factors}
    chosen = shown.get("heat") or list(by_name)[:2]
    found = [by_name[name] for name in chosen if name in by_name]
    return (found[0], found[1]) if len(found) == 2 else None


def _heatmap(rows: SweepTable, axes: tuple[Factor, Factor], result: str) -> Heatmap:
    """Draw the mean of a result over two axes."""
    x, y = axes
    values = _values(rows, result)
    means = np.full((len(y.levels), len(x.levels)), nan)
    for column in range(len(x.levels)):
        for row in range(len(y.levels)):
            cell = values[(x.level == column) & (y.level == row) & np.isfinite(values)]
            if len(cell):
                means[row, column] = cell.mean()
    return Heatmap(
        f"{result} over {x.name} and {y.name}",
        Axis(x.name),
        Axis(y.name),
        x.levels,
        y.levels,
        means,
        Axis(result),
        annotate=means.size <= 100,
        caption="Means of the completed cases; a cell without any is empty.",
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "one point"
