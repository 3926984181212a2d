"""Strict reading of attributes: finite decimal numbers, and as many as expected."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from enum import StrEnum
from math import isfinite
from typing import TypeVar

from kinetarium.model.diagnostics import Allowance, Code, Diagnostics
from kinetarium.model.markup import Element
from kinetarium.spatial.arrays import Array, frozen

_CLOSENESS = 0.75
_LONGEST = 40
"""Longer names are not compared with known ones: they are no misspellings, and it takes time."""


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name nearest to a misspelt one, or None if none is similar."""
    if len(name) > _LONGEST:
        return None
    folded = {other.lower(): other for other in known}
    # In a name as short as "xyz" swapped letters lower the similarity ratio too much.
    swapped = [other for other in folded if sorted(other) == sorted(name.lower())]
    close = swapped or get_close_matches(name.lower(), folded, n=1, cutoff=_CLOSENESS)
    return folded[close[0]] if close else None


def is_one_edit_apart(name: str, other: str) -> bool:
    """Return whether two names differ by one wrong, missing, doubled or swapped letter.

    Names of one or two letters are too short to decide.
    """
    name, other = name.lower(), other.lower()
    if min(len(name), len(other)) < 3 or abs(len(name) - len(other)) > 1:
        return False
    if len(name) > len(other):
        name, other = other, name
    same = next((i for i, letter in enumerate(name) if letter != other[i]), len(name))
    rest, other_rest = name[same:], other[same:]
    if len(name) < len(other):
        return rest == other_rest[1:]
    swapped = rest[:2] == other_rest[1::-1] and rest[2:] == other_rest[2:]
    return rest[1:] == other_rest[1:] or swapped


def shares_a_word(name: str, other: str) -> bool:
    """Return whether one of two names is a word of the other, as lower is of lower_limit."""
    longer, shorter = sorted((name.lower(), other.lower()), key=len, reverse=True)
    return shorter != longer and shorter in longer.replace("-", "_").split("_")


def extends(name: str, other: str) -> bool:
    """Return whether one of two names is a prefix or a word of the other, as damp of damping."""
    longer, shorter = sorted((name.lower(), other.lower()), key=len, reverse=True)
    begins = len(shorter) >= 3 and longer.startswith(shorter)
    return begins or shares_a_word(longer, shorter)


_BLANKS = re.compile(r"[ \t\r\n]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NUMBERS = re.compile(rf"[ \t\r\n]*(?:{_NUMBER.pattern}(?:[ \t\r\n]+|$))*")

_DECIMAL_COMMA = re.compile(r"([0-9]),([0-9])")
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+")

MOST_MAGNITUDE = 1e12
"""Lengths, masses and inertias beyond this count as typing errors; squares may overflow."""

Color = tuple[float, float, float, float]
NamedValue = TypeVar("NamedValue", bound=StrEnum)


class AttributeReader:
    """Reads the attributes of elements and refuses invalid ones."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        """Keep the diagnostics, which name the file in every refusal."""
        self.diagnostics = diagnostics

    def text(self, element: Element, name: str) -> str:
        """Return a required attribute."""
        if name not in element.attributes:
            written = next((w for w in element.attributes if nearest_name(w, [name])), None)
            raise self.diagnostics.refusal(
                Code.MISSING_ATTRIBUTE,
                f"{element} has no attribute {name!r}",
                remedy=f"write {name} instead of {written}" if written else f'write {name}="..."',
                line=element.line,
            )
        return element.attributes[name]

    def name(self, element: Element, attribute: str = "name") -> str:
        """Return a required attribute that names something: not blank, printable, not too long."""
        name = self.text(element, attribute)
        if not name.strip():
            raise self.diagnostics.refusal(
                Code.EMPTY_NAME, f"{element} has an empty {attribute}", line=element.line
            )
        if not name.isprintable() or len(name) > 1000 or name != name.strip():
            raise self.diagnostics.refusal(
                Code.BAD_VALUE,
                f"<{element.tag}> has a {attribute} with edge spaces, unprintable or too many "
                "characters",
                remedy="use a short name of printable characters",
                line=element.line,
            )
        return name

    def number(
        self,
        element: Element,
        name: str,
        *,
        default: float | None = None,
        most: float = MOST_MAGNITUDE,
    ) -> float:
        """Return one finite number; a missing one is refused unless there is a default."""
        text = element.attributes.get(name)
        if text is None and default is not None:
            return default
        if text and _NUMBER.fullmatch(text) and isfinite(value := float(text)):
            if abs(value) <= most:
                return value
        return self.values(element, name, 1, most=most)[0]

    def vector(
        self,
        element: Element,
        name: str,
        count: int,
        *,
        default: tuple[float, ...] | None = None,
        most: float = MOST_MAGNITUDE,
    ) -> Array:
        """Return a fixed number of finite numbers separated by white space, shape (count,).

        Args:
            default: The value of a missing attribute; None if it is required.
        """
        return frozen(self.values(element, name, count, default=default, most=most))

    def values(
        self,
        element: Element,
        name: str,
        count: int,
        *,
        default: tuple[float, ...] | None = None,
        most: float = MOST_MAGNITUDE,
    ) -> tuple[float, ...]:
        """Return the same as `vector` as plain numbers, which are faster to handle."""
        self._read_commas(element, name, count)
        values = self.numbers(element, name, default=default, most=most)
        if len(values) != count:
            raise self.diagnostics.refusal(
                Code.BAD_NUMBER,
                f"{element}: {name} has {len(values)} numbers instead of {count}",
                line=element.line,
            )
        return values

    def _read_commas(self, element: Element, name: str, count: int) -> None:
        """Replace commas where the user allows them, if that gives the right count of numbers.

        They are separators or decimal commas; "1,000" may also mean a thousand and stays.
        """
        text = element.attributes.get(name, "")
        if "," not in text or Allowance.COMMA not in self.diagnostics.allow:
            return
        if any(_THOUSANDS.fullmatch(word) for word in text.split()):
            return
        for read in (text.replace(",", " "), _DECIMAL_COMMA.sub(r"\1.\2", text)):
            if _NUMBERS.fullmatch(read) and len(read.split()) == count:
                element.attributes[name] = read
                message = f"{name} read as {read!r}: it has commas, {text[:60]!r}"
                self.diagnostics.repair(Code.BAD_NUMBER, str(element), message, line=element.line)
                return

    def not_negative(self, element: Element, name: str, *, code: Code = Code.BAD_VALUE) -> float:
        """Return a number that must not be negative; zero if it is missing."""
        value = self.number(element, name, default=0.0)
        if value < 0:
            raise self.diagnostics.refusal(
                code, f"{element}: {name} is negative", line=element.line
            )
        return value

    def color(self, element: Element) -> Color:
        """Return red, green, blue and opacity in the attribute rgba, limited to 0..1."""
        r, g, b, a = (min(max(0.0, value), 1.0) for value in self.values(element, "rgba", 4))
        return (r, g, b, a)

    def numbers(
        self,
        element: Element,
        name: str,
        *,
        default: tuple[float, ...] | None = None,
        most: float = MOST_MAGNITUDE,
    ) -> tuple[float, ...]:
        """Return any number of finite numbers separated by white space."""
        text = element.attributes.get(name)
        if text is None:
            if default is not None:
                return default
            text = self.text(element, name)
        if _NUMBERS.fullmatch(text):
            values = tuple(map(float, text.split()))
            largest = max(map(abs, values), default=0.0)
            if isfinite(largest) and largest <= most:
                return values
        words = (word for word in _BLANKS.split(text) if word)
        wrong = next(word for word in words if not self._usable(word, most))
        if _NUMBER.fullmatch(wrong) and isfinite(float(wrong)):
            raise self.diagnostics.refusal(
                Code.BAD_NUMBER,
                f"{element}: {name} contains {wrong[:40]!r}, which is beyond {most:g}, the"
                " largest number that is read",
                remedy="check its unit",
                line=element.line,
            )
        raise self.diagnostics.refusal(
            Code.BAD_NUMBER,
            f"{element}: {name} contains {wrong[:40]!r}, which is not a valid number",
            remedy="write a finite decimal number such as 0.5 or 1e-3"
            + (" (--lenient comma reads commas in URDF)" if "," in wrong else ""),
            line=element.line,
        )

    def choice(
        self, element: Element, name: str, kinds: type[NamedValue], *, default: NamedValue
    ) -> NamedValue:
        """Return an attribute that must be one of an enumeration's values."""
        text = element.attributes.get(name, default)
        if text not in list(kinds):
            raise self.diagnostics.refusal(
                Code.BAD_VALUE,
                f"{element}: {name} is {text!r}",
                remedy=f"one of {', '.join(kinds)}",
                line=element.line,
            )
        return kinds(text)

    def flag(self, element: Element, name: str, *, default: bool) -> bool:
        """Return an attribute that must be true or false."""
        text = element.attributes.get(name, "true" if default else "false")
        if text not in ("true", "false", "1", "0"):
            raise self.diagnostics.refusal(
                Code.BAD_VALUE, f"{element}: {name} is {text!r}", remedy="true or false",
                line=element.line,
            )  # fmt: skip
        return text in ("true", "1")

    @staticmethod
    def _usable(word: str, most: float) -> bool:
        return bool(_NUMBER.fullmatch(word)) and isfinite(float(word)) and abs(float(word)) <= most
