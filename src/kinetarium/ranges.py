"""Range: which values a number of a config may take, and in which unit; checked in one place.

A range stands in the type of a dataclass's field, `mass: Annotated[float, Range(1e-6, 1e5,
unit="kg")]`, and holds for every number in it, those of a tuple included. Whatever reads plain
data (`storage.serialization`) or flags (`cli.core.arguments`) checks it; the flags' help shows it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from itertools import repeat
from numbers import Integral, Real
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from kinetarium.errors import KinetariumError

_LONGEST = 40
"""Characters of a number in a message; a whole number may have thousands of digits."""


class RangeError(KinetariumError):
    """A number outside its range."""


@dataclass(frozen=True, slots=True)
class Range:
    """The values that a number may take, both ends included.

    Attributes:
        least: The least value.
        most: The greatest value.
        unit: Unit of all of them; "-" for a number without one.
        also: Single values outside that have a meaning of their own.
    """

    least: float
    most: float
    unit: str = field(kw_only=True)
    also: tuple[float, ...] = field(default=(), kw_only=True)

    def __contains__(self, value: object) -> bool:
        """Return whether a value is a number within; NaN and booleans are not."""
        number: Any = value
        if not isinstance(number, Real) or isinstance(number, bool):
            return False
        return bool(self.least <= number <= self.most or number in self.also)  # type: ignore[operator]

    def __str__(self) -> str:
        """Return the range in words: "1e-6 .. 100000 kg", "0 .. 100 ms, or -1"."""
        unit = "" if self.unit == "-" else f" {self.unit}"
        others = "".join(f", or {_bound(value)}" for value in self.also)
        return f"{_bound(self.least)} .. {_bound(self.most)}{unit}{others}"


Seed = Annotated[int, Range(0, 2**32 - 1, unit="-")]
"""Seed of anything random: what 32 bits hold, as ODE and Numba take it."""
Friction = Annotated[float, Range(0.0, 10.0, unit="-")]
"""Coulomb's coefficient; nothing is known of any engine beyond."""
Iterations = Annotated[int, Range(0, 10_000, unit="-")]
"""Iterations of a solver in one step; 0 for as many as it has otherwise."""


def check_ranges(config: Any, *, flags: bool = False) -> None:
    """Check every number of a dataclass, and of those in it, against its range.

    Args:
        config: The dataclass, or a list, tuple or mapping of some.
        flags: Whether its fields are named as flags in the message.

    Raises:
        RangeError: If a number is outside; one line that names it and its range.
    """
    for name, limits, value in _ranged(type(config), config, ""):
        if value not in limits:
            shown = f"--{name.replace('_', '-')}" if flags else name
            raise RangeError(f"{shown}: {_text(value)} is outside {limits}")


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
    """Return the types of those fields of a dataclass that hold a range or further dataclasses."""
    hints = get_type_hints(kind, include_extras=True)
    return {part.name: hints[part.name] for part in fields(kind) if _may_hold(hints[part.name])}


def _may_hold(hint: Any) -> bool:
    return isinstance(hint, Range) or is_dataclass(hint) or any(map(_may_hold, get_args(hint)))


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the single values of a field; None is the absence of one."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    elif value is not None:
        yield value


def _bound(value: float) -> str:
    """Return a bound as it would be written by hand: 1e-6, 0.5, 100000, 4294967295."""
    if isinstance(value, int):
        return str(value)
    short = f"{value:g}"
    mantissa, exponent, power = (short if float(short) == value else repr(value)).partition("e")
    return f"{mantissa}e{int(power)}" if exponent else mantissa


def _text(value: object) -> str:
    """Return a value for a message, NumPy's numbers as Python's."""
    if isinstance(value, bool) or not isinstance(value, Real):
        text = repr(value)
    elif isinstance(value, Integral):
        text = str(int(value)) if abs(value) < 10**_LONGEST else "a number with too many digits"
    else:
        text = repr(float(value)).removesuffix(".0")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
