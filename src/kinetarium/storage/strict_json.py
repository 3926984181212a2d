"""Strict JSON, written and parsed: no NaN, no infinities, no duplicate keys."""

import json
from collections import Counter
from collections.abc import Mapping
from math import isfinite
from typing import Any

from kinetarium.errors import one_line

MOST_VALUES = 10_000_000
"""Values of one document: an empty list takes 3 bytes of a file, and 30 times that in memory."""
MOST_DEPTH = 100
"""Levels of one document: whoever walks through it calls itself on each."""

_LONGEST_NUMBER = 400
"""Characters of a number; the time to parse one is quadratic in its digits."""


def strict_json(value: Any, *, indent: int | None = 2) -> str:
    r"""Return a value as JSON in ASCII, where a number that is not finite becomes null.

    ASCII (other characters as \uXXXX) is UTF-8 whatever the locale, and can
    represent even the lone surrogates of an undecodable file name.

    Args:
        value: Dictionaries, sequences, strings, numbers, booleans and None.
        indent: Spaces of each level, or None for one line.
    """
    return json.dumps(_finite(value), indent=indent, allow_nan=False)


def parse_json(text: str, *, most_values: int = MOST_VALUES) -> Any:
    """Parse JSON of unknown origin.

    Args:
        most_values: How many values it may contain.

    Returns:
        Dictionaries, lists, strings, finite numbers, booleans and None.

    Raises:
        ValueError: If it is not strict JSON, has a duplicate key, too many values, or a number
            that is not finite or too long.
        RecursionError: If it is nested more than `MOST_DEPTH` levels deep.
    """
    if text.startswith("\ufeff"):
        raise ValueError("it begins with a byte-order mark; save it as UTF-8 without one")
    if sum(map(text.count, ",[{")) > most_values:
        raise ValueError(f"it contains more than {most_values} values")
    value = json.loads(
        text,
        parse_float=_parse_float,
        parse_int=_parse_int,
        parse_constant=_refuse,
        object_pairs_hook=_parse_object,
    )
    _check_depth(value)
    return value


def _check_depth(value: Any) -> None:
    level: list[Any] = [[value]]
    for _ in range(MOST_DEPTH + 1):
        parts = (each.values() if isinstance(each, dict) else each for each in level)
        level = [each for part in parts for each in part if isinstance(each, dict | list)]
        if not level:
            return
    raise RecursionError


def _parse_float(text: str) -> float:
    _check_length(text)
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"{one_line(text)} is not a finite number")
    return value


def _parse_int(text: str) -> int:
    _check_length(text)
    return int(text)


def _check_length(text: str) -> None:
    if len(text) > _LONGEST_NUMBER:
        raise ValueError(f"a number has {len(text)} characters")


def _parse_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name, count in counts.items() if count > 1)
        raise ValueError(f"duplicate key {one_line(repr(twice))}")
    return names


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not valid JSON")


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value
