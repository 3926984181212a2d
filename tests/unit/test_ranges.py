"""Ranges in the types of fields, and what is checked against them."""

from dataclasses import dataclass
from math import inf, nan, nextafter
from typing import Annotated, Any

import numpy as np
import pytest

from kinetarium.ranges import Range, RangeError, Seed, check_ranges, declared_range
from kinetarium.storage.serialization import SerializationError, from_builtins

MASS = Range(1e-6, 1e5, unit="kg")
DELAY = Range(0.0, 100.0, unit="ms", also=(-1.0,))


@dataclass(frozen=True)
class Part:
    """Something in a config."""

    count: Annotated[int, Range(1, 5, unit="-")] = 1


@dataclass(frozen=True, kw_only=True)
class Config:
    """Ranges wherever a type has room for them."""

    mass: Annotated[float, MASS] = 1.0
    delay_ms: Annotated[tuple[float, ...], DELAY] = ()
    several: tuple[Annotated[float, MASS], ...] = ()
    pair: tuple[Annotated[int, Range(0, 3, unit="-")], Annotated[float, MASS]] = (1, 2.0)
    optional: Annotated[float, MASS] | None = None
    part: Part = Part()
    parts: tuple[Part, ...] = ()
    named: dict[str, Part] | None = None
    seed: Seed = 0
    free: float = 0.0
    word: str = ""


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        (MASS, "1e-6 .. 100000 kg"),
        (DELAY, "0 .. 100 ms, or -1"),
        (Range(0, 2**32 - 1, unit="-"), "0 .. 4294967295"),
        (Range(-0.1234567891, 1e300, unit="rad/s"), "-0.1234567891 .. 1e300 rad/s"),
    ],
)
def test_a_range_in_words(limits: Range, text: str) -> None:
    assert str(limits) == text


def test_both_ends_are_inside_and_the_next_number_is_not() -> None:
    assert all(value in MASS for value in (1e-6, 1e5, 1, np.float64(2), np.int64(3)))
    outside = (nextafter(1e-6, 0), nextafter(1e5, inf), nan, inf, -inf, True, "1", None, 10**400)
    assert not any(value in MASS for value in outside)
    assert -1 in DELAY and -1.5 not in DELAY


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"mass": 1e300}, "mass: 1e+300 is outside 1e-6 .. 100000 kg"),
        ({"mass": np.float64(-2)}, "mass: -2 is outside 1e-6 .. 100000 kg"),
        ({"mass": nan}, "mass: nan is outside 1e-6 .. 100000 kg"),
        ({"delay_ms": (0.0, -1.0, -2.5)}, "delay_ms: -2.5 is outside 0 .. 100 ms, or -1"),
        ({"several": (1.0, 0.0)}, "several: 0 is outside 1e-6 .. 100000 kg"),
        ({"pair": (4, 1.0)}, "pair: 4 is outside 0 .. 3"),
        ({"pair": (0, 0.0)}, "pair: 0 is outside 1e-6 .. 100000 kg"),
        ({"optional": -1.0}, "optional: -1 is outside 1e-6 .. 100000 kg"),
        ({"part": Part(0)}, "count: 0 is outside 1 .. 5"),
        ({"parts": (Part(), Part(6))}, "count: 6 is outside 1 .. 5"),
        ({"named": {"a": Part(-1)}}, "count: -1 is outside 1 .. 5"),
        ({"seed": True}, "seed: True is outside 0 .. 4294967295"),
        ({"seed": 10**30}, f"seed: {10**30} is outside 0 .. 4294967295"),
        ({"seed": 10**5000}, "seed: a number with too many digits is outside 0 .. 4294967295"),
    ],
)
def test_what_is_outside_is_named_with_its_range(values: dict[str, Any], message: str) -> None:
    with pytest.raises(RangeError) as refused:
        check_ranges(Config(**values))
    assert str(refused.value) == message


def test_what_is_inside_and_what_has_no_range_is_let_through() -> None:
    check_ranges(Config(free=1e300, word="x", optional=None, delay_ms=(-1.0,), pair=(3, 1e5)))
    check_ranges([Part(), {"a": Part()}, 1e300, "word"])
    check_ranges(())
    check_ranges({})
    with pytest.raises(RangeError, match="count"):
        check_ranges([Part(), {"a": Part(7)}])


def test_flags_are_named_as_they_are_typed() -> None:
    with pytest.raises(RangeError, match=r"^--delay-ms: 101 is outside"):
        check_ranges(Config(delay_ms=(101.0,)), flags=True)


def test_plain_data_keeps_to_the_ranges() -> None:
    with pytest.raises(
        SerializationError, match=r"^here: mass: -1 is outside 1e-6 \.\. 100000 kg$"
    ):
        from_builtins(Config, {"mass": -1}, where="here")
    with pytest.raises(SerializationError, match=r"^here: count: 9 is outside 1 \.\. 5$"):
        from_builtins(dict[str, Part], {"a": {"count": 9}}, where="here")
    assert from_builtins(Config, {"mass": 2, "delay_ms": [-1]}, where="here").mass == 2.0


def test_the_range_that_a_type_declares() -> None:
    assert declared_range(Annotated[float, "note", MASS]) == MASS
    assert declared_range(tuple[Annotated[float, MASS], ...]) == MASS
    assert declared_range(Annotated[tuple[float, ...], MASS] | None) == MASS
    assert declared_range(tuple[float, ...]) is None
