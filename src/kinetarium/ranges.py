"""Range: the valid values of a number in a config, with their unit; checked in one place.

A range is part of the type of a dataclass's field, `mass: Annotated[float, Range(1e-6, 1e5,
unit="kg")]`, and applies to every number in it, those of a tuple included. It is checked where
files (`storage.serialization`) and flags (`cli.core.arguments`) are read; --help shows it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from itertools import repeat
from math import pi
from numbers import Integral, Real
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from kinetarium.errors import KinetariumError

_LONGEST = 40
"""Characters of a number in a message; an integer may have thousands of digits."""


class RangeError(KinetariumError):
    """A number outside its range."""


@dataclass(frozen=True, slots=True)
class Range:
    """The valid values of a number, both ends included.

    Attributes:
        least: The least value.
        most: The greatest value.
        unit: Their unit; "-" for a number without one.
        also: Special values outside the interval.
    """

    least: float
    most: float
    unit: str = field(kw_only=True)
    also: tuple[float, ...] = field(default=(), kw_only=True)

    def __contains__(self, value: object) -> bool:
        """Return whether a value is a number in the range; NaN and booleans are not."""
        number: Any = value
        if not isinstance(number, Real) or isinstance(number, bool):
            return False
        return bool(self.least <= number <= self.most or number in self.also)  # type: ignore[operator]

    def __str__(self) -> str:
        """Return the range as text: "1e-6 .. 100000 kg", "0 .. 100 ms, or -1"."""
        unit = "" if self.unit == "-" else f" {self.unit}"
        others = "".join(f", or {_bound(value)}" for value in self.also)
        return f"{_bound(self.least)} .. {_bound(self.most)}{unit}{others}"


Seed = Annotated[int, Range(0, 2**32 - 1, unit="-")]
"""Seed of random numbers: 32 bits, as ODE and Numba take it."""
Friction = Annotated[float, Range(0.0, 10.0, unit="-")]
"""Coulomb friction coefficient; no engine was tested beyond this range."""
Iterations = Annotated[int, Range(0, 10_000, unit="-")]
"""Solver iterations per step; 0 for the engine's default."""


def check_ranges(config: Any, *, flags: bool = False) -> None:
    """Check every number of a dataclass, nested ones included, against its range.

    Args:
        config: The dataclass, or a list, tuple or mapping of some.
        flags: Whether its fields are named as flags in the message.

    Raises:
        RangeError: If a number is outside; the message names it and its range.
    """
    for name, limits, value in _ranged(type(config), config, ""):
        if value not in limits:
            shown = f"--{name.replace('_', '-')}" if flags else name
            raise RangeError(f"{shown}: {_text(value)} is outside {limits}")


_UNITS = {
    "": 1.0, "m": 1.0, "mm": 1e-3, "cm": 1e-2, "km": 1e3, "rad": 1.0, "mrad": 1e-3,
    "deg": pi / 180, "s": 1.0, "ms": 1e-3, "min": 60.0, "deg/s": pi / 180, "rad/s": 1.0,
}  # fmt: skip
_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([a-z/]*)")


def quantity(text: str, *, units: tuple[str, ...], limits: Range, name: str) -> float:
    """Return a number with a unit, such as 5mm, 2deg or 4ms, in SI units.

    Args:
        units: The units it may have; without one it is in SI units.
        limits: The valid values, in SI units.
        name: What it is, for messages.

    Raises:
        RangeError: If it is not such a number, or outside its range.
    """
    found = _QUANTITY.fullmatch(text.strip()[:_LONGEST])
    if found is None or found[2] not in ("", *units):
        known = ", ".join(units)
        raise RangeError(f"{name}: {_text(text)} is not a number, or one with a unit of {known}")
    value = float(found[1]) * _UNITS[found[2]]
    if value not in limits:
        raise RangeError(f"{name}: {text} is outside {limits}")
    return value


def declared_range(hint: Any) -> Range | None:
    """Return the range that a field's type declares, for itself or for its items, or None."""
    if isinstance(hint, Range):
        return hint
    return next((found for part in get_args(hint) if (found := declared_range(part))), None)


def _ranged(hint: Any, value: Any, name: str) -> Iterator[tuple[str, Range, Any]]:
    """Yield the field, the range and the value of every number that has a range."""
    kinds = get_args(hint)
    if get_origin(hint) is Annotated:
        for limits in kinds[1:]:
            if isinstance(limits, Range):
                yield from ((name, limits, number) for number in _leaves(value))
        yield from _ranged(kinds[0], value, name)
    elif get_origin(hint) in (Union, UnionType):
        for kind in kinds:
            yield from _ranged(kind, value, name)
    elif is_dataclass(value) and not isinstance(value, type):
        for field_name, kind in _ranged_fields(type(value)).items():
            yield from _ranged(kind, getattr(value, field_name), field_name)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _ranged(kinds[-1] if kinds else None, item, name)
    elif isinstance(value, list | tuple):
        alike = not kinds or len(kinds) != len(value) or kinds[-1] is ...
        each = repeat(kinds[0] if kinds else None) if alike else kinds
        for kind, item in zip(each, value, strict=False):
            yield from _ranged(kind, item, name)


@cache
def _ranged_fields(kind: type) -> dict[str, Any]:
    """Return the types of the fields of a dataclass that contain ranges or dataclasses."""
    hints = get_type_hints(kind, include_extras=True)
    return {part.name: hints[part.name] for part in fields(kind) if _may_hold(hints[part.name])}


def _may_hold(hint: Any) -> bool:
    return isinstance(hint, Range) or is_dataclass(hint) or any(map(_may_hold, get_args(hint)))


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the single values of a field, without None."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    elif value is not None:
        yield value


def _bound(value: float) -> str:
    """Return a bound in its shortest form: 1e-6, 0.5, 100000, 4294967295."""
    if isinstance(value, int):
        return str(value)
    short = f"{value:g}"
    mantissa, exponent, power = (short if float(short) == value else repr(value)).partition("e")
    return f"{mantissa}e{int(power)}" if exponent else mantissa


def _text(value: object) -> str:
    """Return a value as text for a message, NumPy numbers as Python's."""
    if isinstance(value, bool) or not isinstance(value, Real):
        text = repr(value)
    elif isinstance(value, Integral):
        text = str(int(value)) if abs(value) < 10**_LONGEST else "a number with too many digits"
    else:
        text = repr(float(value)).removesuffix(".0")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
