"""Strict JSON: what any parser reads, without NaN and infinities."""

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any


def strict_json(value: Any, *, indent: int | None = 2) -> str:
    r"""Give a value as JSON in ASCII, where a number that is not finite becomes null.

    ASCII (other characters as \uXXXX) is UTF-8 whatever the locale, and can
    hold even the half characters of an undecodable file name.

    Args:
        value: Dictionaries, sequences, strings, numbers, booleans and None.
        indent: Spaces of each level, or None for one line.
    """
    return json.dumps(_finite(value), indent=indent, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value
