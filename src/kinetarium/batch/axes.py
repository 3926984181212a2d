"""Axes of a sweep: values that are combined, paired or sampled, over any field of a config.

An axis is a field of the study's config, "height", a field within one, "machine.gain", or an
option of an engine, "mujoco.iterations", which is added to that engine's name in the config:
"mujoco:iterations=20" (`engines.registry.engine_variant`).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import product
from math import log, prod
from typing import Any, NoReturn, get_args, get_type_hints

import numpy as np

from kinetarium.engines.registry import chosen_engines, engine_names, engine_variant, open_engine
from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.ranges import Seed, declared_range
from kinetarium.spatial.arrays import Array
from kinetarium.storage.serialization import to_builtins

BLOCKS = ("grid", "zip", "random", "latin")
"""The tables of a sweep file that hold axes."""
MOST_POINTS = 100_000
"""More is a typo; file systems handle up to about a hundred thousand run folders well."""
_SAMPLED = ("samples", "seed", "axes")
_DISTRIBUTIONS = ("uniform", "log", "normal", "choice")
_DIGITS = 6
"""Significant digits of a sample: more are no better, and the last ones vary between libraries."""

_LARGEST = 1e150
"""Limits of a distribution are smaller than this, so that their difference and ratio are finite."""

Point = Mapping[str, Any]
"""The value of each axis by its name."""


class PlanError(KinetariumError):
    """An invalid plan."""


def points(content: Mapping[str, Any], kind: type) -> list[Point]:
    """Return the points of a plan: every combination of the points of its blocks.

    Args:
        content: The plan as JSON data; see `Plan`.
        kind: The class of the study's config.

    Raises:
        PlanError: If an axis is not a list or not a known distribution, if axes that are paired
            differ in length, if an axis is in two blocks, or if there are too many points.
    """
    blocks = [_grid(content), *_zips(content), _random(content, kind), _latin(content, kind)]
    names = [name for block in blocks for name in block.names]
    for name in names:
        if names.count(name) > 1:
            raise PlanError(f"'{name}' is varied twice")
    if prod(block.size for block in blocks) > MOST_POINTS:
        raise PlanError(f"more than {MOST_POINTS} configs")
    values = product(*(block.rows() for block in blocks))
    return [dict(zip(names, [v for row in rows for v in row], strict=True)) for rows in values]


def with_point(kind: type, values: Mapping[str, Any], point: Point) -> dict[str, Any]:
    """Return the values of a config with those of a point.

    Args:
        kind: The class of the study's config.
        values: The values that are given, as JSON data; others have their defaults.

    Raises:
        KinetariumError: If an axis is neither a field nor an option of an engine, or an option
            has an invalid value.
    """
    known = {field.name for field in fields(kind)}
    found = dict(values)
    options: dict[str, dict[str, Any]] = {}
    for name, value in point.items():
        first, *inner = name.split(".")
        if not inner and (first in known or first not in engine_names()):
            found[name] = value  # the config refuses names that it does not know
        elif first in known:
            found[first] = _changed(found.get(first, _default(kind, first)), inner, value)
        elif first in engine_names() and len(inner) == 1 and "engine" in known:
            options.setdefault(first, {})[inner[0]] = value
        else:
            _refuse_axis(name, known)
    if options:
        found["engine"] = _with_options(found.get("engine", _default(kind, "engine")), options)
    return found


def _refuse_axis(name: str, known: Collection[str]) -> NoReturn:
    engines = engine_names() if "engine" in known else ()
    first = name.partition(".")[0]
    if first in engines:
        raise PlanError(f"'{name}' is no option of an engine: those are named '{first}.OPTION'")
    raise UnknownNameError("field", first, known={*known, *engines})


def table(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a table of a plan; empty if it is missing.

    Raises:
        PlanError: If it is not a table.
    """
    found = content.get(name, {})
    if not isinstance(found, Mapping):
        raise PlanError(f"'{name}' must be a table: [{name}]")
    return found


@dataclass(frozen=True, slots=True)
class _Block:
    names: tuple[str, ...]
    columns: tuple[Sequence[Any], ...]
    crossed: bool = False

    @property
    def size(self) -> int:
        """Number of points; `len` would not take those of a large grid."""
        if self.crossed:
            return prod(map(len, self.columns))
        return len(self.columns[0]) if self.columns else 1

    def rows(self) -> list[tuple[Any, ...]]:
        if self.crossed:
            return list(product(*self.columns))
        return list(zip(*self.columns, strict=True)) if self.columns else [()]


def _grid(content: Mapping[str, Any]) -> _Block:
    axes = dict(_lists("grid", table(content, "grid")))
    return _Block(tuple(axes), tuple(axes.values()), crossed=True)


def _zips(content: Mapping[str, Any]) -> list[_Block]:
    """Return the paired axes: one table [zip], or several [[zip]]."""
    given = content.get("zip", {})
    tables = given if isinstance(given, list) else [given]
    blocks = []
    for table in tables:
        if not isinstance(table, Mapping):
            raise PlanError("'zip' must be a table: [zip]")
        axes = dict(_lists("zip", table))
        lengths = {name: len(values) for name, values in axes.items()}
        if len(set(lengths.values())) > 1:
            said = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise PlanError(f"the lists in 'zip' must be equally long ({said})")
        blocks.append(_Block(tuple(axes), tuple(axes.values())))
    return blocks


def _random(content: Mapping[str, Any], kind: type) -> _Block:
    axes, count, seed = _sampled(content, "random")
    return _of_shares(axes, np.random.default_rng(seed).random((count, len(axes))), kind)


def _latin(content: Mapping[str, Any], kind: type) -> _Block:
    """Return a Latin hypercube: one sample in each of n equal shares of every axis."""
    axes, count, seed = _sampled(content, "latin")
    if not axes:
        return _Block((), ())
    from scipy.stats import qmc

    return _of_shares(axes, qmc.LatinHypercube(len(axes), rng=seed).random(count), kind)


def _of_shares(axes: Mapping[str, Mapping[str, Any]], shares: Array, kind: type) -> _Block:
    columns = zip(axes.items(), shares.T, strict=True)
    return _Block(tuple(axes), tuple(_draw(kind, name, u, spec) for (name, spec), u in columns))


def _draw(kind: type, name: str, share: Array, spec: Mapping[str, Any]) -> list[Any]:
    """Return the values of a sampled axis; whole numbers stay whole.

    Args:
        kind: The class of the study's config.
        share: Shares of the distribution below each sample, shape (n,) [-].
        spec: The distribution, such as {"uniform": [0.1, 0.5]}.
    """
    distribution, numbers = _distribution(name, spec)
    if distribution == "choice":
        return [numbers[int(u * len(numbers))] for u in share]
    low, high = numbers
    if distribution == "uniform":
        drawn = low + share * (high - low)
    elif distribution == "log":
        drawn = low * np.exp(share * log(high / low))
    else:
        from scipy.special import ndtri

        drawn = low + high * ndtri(np.clip(share, 1e-12, 1 - 1e-12))
    if _is_whole(kind, name):
        return [round(value) for value in drawn.tolist()]
    return [float(f"{value:.{_DIGITS}g}") for value in drawn.tolist()]


def _sampled(
    content: Mapping[str, Any], block: str
) -> tuple[dict[str, Mapping[str, Any]], int, int]:
    given = table(content, block)
    if not given:
        return {}, 1, 0
    for entry in given:
        if entry not in _SAMPLED:
            raise UnknownNameError(f"entry of '{block}'", entry, known=_SAMPLED)
    axes = given.get("axes")
    if not isinstance(axes, Mapping) or not axes:
        raise PlanError(f"'{block}' needs its axes: [{block}.axes]")
    found = dict(_specs(block, axes))
    count, seed = given.get("samples"), given.get("seed", 0)
    if type(count) is not int or not 0 < count <= MOST_POINTS:
        raise PlanError(f"'{block}.samples' must be a whole number from 1 to {MOST_POINTS}")
    limits = declared_range(Seed)
    assert limits
    if type(seed) is not int or seed not in limits:
        raise PlanError(f"'{block}.seed' must be a whole number in {limits}")
    for name, spec in found.items():
        _distribution(f"{block}.axes.{name}", spec)
    return found, count, seed


def _lists(block: str, table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, values in table.items():
        name = f"{prefix}{key}"
        if isinstance(values, Mapping) and values:
            yield from _lists(block, values, f"{name}.")
        elif not isinstance(values, list) or not values:
            raise PlanError(f"'{block}.{name}' must be a list of values")
        else:
            yield name, values


def _specs(block: str, table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, spec in table.items():
        name = f"{prefix}{key}"
        if not isinstance(spec, Mapping) or not spec:
            _refuse_distribution(f"{block}.axes.{name}")
        if any(isinstance(inner, Mapping) for inner in spec.values()):
            yield from _specs(block, spec, f"{name}.")
        else:
            yield name, spec


def _distribution(name: str, spec: Mapping[str, Any]) -> tuple[str, Any]:
    if len(spec) != 1:
        _refuse_distribution(name)
    [(distribution, values)] = spec.items()
    if distribution not in _DISTRIBUTIONS:
        raise UnknownNameError(f"distribution of '{name}'", distribution, known=_DISTRIBUTIONS)
    if distribution == "choice":
        if not isinstance(values, list) or not values:
            raise PlanError(f"'{name}': choice needs a list of values")
        return distribution, values
    numbers = isinstance(values, list) and all(
        type(v) in (int, float) and abs(v) <= _LARGEST for v in values
    )
    if not numbers or len(values) != 2:
        raise PlanError(f"'{name}': {distribution} needs two numbers of up to {_LARGEST:g}")
    low, high = values
    if distribution == "normal" and high < 0:
        raise PlanError(f"'{name}': the standard deviation must not be negative, not {high:g}")
    if distribution != "normal" and not low < high:
        raise PlanError(f"'{name}': the first number must be below the second, not {low:g}")
    if distribution == "log" and low < 1 / _LARGEST:
        raise PlanError(f"'{name}': log needs positive numbers from {1 / _LARGEST:g}, not {low:g}")
    return distribution, (low, high)


def _refuse_distribution(name: str) -> NoReturn:
    raise PlanError(f"'{name}' must be a distribution, such as {{ uniform = [0.1, 0.5] }}")


def _default(kind: type, name: str) -> Any:
    return to_builtins(getattr(kind(), name))


def _changed(table: Any, path: Sequence[str], value: Any) -> dict[str, Any]:
    inner = dict(table) if isinstance(table, Mapping) else {}
    first, *rest = path
    inner[first] = _changed(inner.get(first), rest, value) if rest else value
    return inner


def _with_options(engine: Any, options: Mapping[str, Mapping[str, Any]]) -> Any:
    """Return the engines of a config, those that have options with them."""
    if isinstance(engine, str):
        return engine_variant(engine, options.get(engine, {}))
    names = engine or chosen_engines(())
    return [engine_variant(name, options.get(name, {})) for name in names]


def _is_whole(kind: type, name: str) -> bool:
    """Return whether the field of an axis takes whole numbers only."""
    first, *inner = name.split(".")
    hints = get_type_hints(kind, include_extras=False)
    if first not in hints and first in engine_names():
        if len(inner) != 1:
            _refuse_axis(name, hints)
        hints, first, inner = get_type_hints(open_engine(first).options), inner[0], []
    hint: Any = hints.get(first)
    if inner and is_dataclass(hint):
        return _is_whole(hint, ".".join(inner))  # type: ignore[arg-type]
    kinds = set(_kinds(hint))
    return int in kinds and float not in kinds


def _kinds(hint: Any) -> Iterator[Any]:
    inner = get_args(hint)
    if not inner:
        yield hint
    for part in inner:
        yield from _kinds(part)
