"""The values of expressions: bounded, finite if computed; and the budget of one expansion."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from itertools import islice
from math import isfinite
from typing import Any, TypeAlias

from kinetarium.model.attributes import nearest_name
from kinetarium.model.diagnostics import Code, Diagnostics, RobotFileError
from kinetarium.model.markup import MOST_ELEMENTS, Element

Value: TypeAlias = Any
"""None, a truth value, an int, float or str, a list, tuple or dict of these, or a Namespace."""

MOST_BITS = 1024
"""Greatest size of an integer, also before conversion to a float."""

MOST_WEIGHT = 10_000
"""Greatest size of a text (in units of 16 characters) or of a nested list (in items)."""

MOST_NESTING = 20
"""Greatest depth of nested lists."""

_MOST_LITERAL_CHARACTERS = 400
_MOST_HINT_CHARACTERS = 64
_MOST_HINTS = 1000

_CHECK_NUMBERS = "check the input numbers"


class ExpressionError(Exception):
    """A fault of an expression; becomes a refusal where the location is known."""

    def __init__(self, message: str, *, remedy: str, code: Code = Code.EXPRESSION) -> None:
        """Keep the message and the remedy."""
        super().__init__(message)
        self.message, self.remedy, self.code = message, remedy, code


class Namespace(ABC):
    """A mapping from names to values."""

    @abstractmethod
    def lookup(self, name: str) -> Value:
        """Return the value of a name."""


def weight(value: Value, *, nesting: int = 0) -> int:
    """Return the size of a value, about the time it takes to compare or print it."""
    if value is None or isinstance(value, float):
        return 1
    if isinstance(value, int):
        if value.bit_length() > MOST_BITS:
            raise ExpressionError("the result is too large a number", remedy=_CHECK_NUMBERS)
        return 1 + value.bit_length() // 64
    if isinstance(value, str):
        return bounded(1 + len(value) // 16)
    if not isinstance(value, (list, tuple, dict)):
        kind = "a namespace" if isinstance(value, Namespace) else f"of type {type(value).__name__}"
        raise ExpressionError(
            f"the result is {kind}", remedy="an expression must be a number, a text or a list"
        )
    if nesting >= MOST_NESTING:
        raise ExpressionError(
            f"lists are nested more than {MOST_NESTING} deep", remedy="use flatter lists"
        )
    total = 1
    for item in value:
        total = bounded(total + weight(item, nesting=nesting + 1))
    if isinstance(value, dict):
        for item in value.values():
            total = bounded(total + weight(item, nesting=nesting + 1))
    return total


def finite(value: Value) -> Value:
    """Check that the result of a computation is finite, and return it."""
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, float) and not isfinite(part):
            raise ExpressionError("the result is not a finite number", remedy=_CHECK_NUMBERS)
        if isinstance(part, dict):
            pending.extend(part.values())
        elif isinstance(part, (list, tuple)):
            pending.extend(part)
    return value


def bounded(size: int) -> int:
    """Check the size of a value, also before it is created, and return it."""
    if size > MOST_WEIGHT:
        raise ExpressionError("the result is too long a text or list", remedy="shorten it")
    return size


def literal(text: Value) -> Value:
    """Read the text of a property or parameter as xacro does: a quoted text, number or boolean.

    Numbers with underscores stay text, as do all other texts; inf and nan are numbers.
    """
    if not isinstance(text, str):
        return text
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1]
    if len(text) > _MOST_LITERAL_CHARACTERS or "_" in text:
        return text
    try:
        number = int(text)
        return number if number.bit_length() <= MOST_BITS else text
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return {"true": True, "True": True, "false": False, "False": False}.get(text, text)


def truth(value: Value) -> bool:
    """Read the value of a condition as xacro does: true, false, an integer, or any other value."""
    if not isinstance(value, str):
        return bool(value)
    known = literal(value)
    if isinstance(known, int):
        return bool(known)
    raise ExpressionError(
        f"the condition is {shown(value)}, which is neither true nor false",
        remedy="use a comparison, as in ${name == 'left'}",
    )


def argument_literal(text: str) -> Value:
    """Read the text of an argument as $(eval ...) does: a number without exponent, or a boolean.

    Its rules are not those of properties: 1e3 and quotes stay text, TRUE is true.
    """
    if len(text) > _MOST_LITERAL_CHARACTERS:
        return text
    try:
        number = float(text) if "." in text else int(text)
    except ValueError:
        return {"true": True, "false": False}.get(text.lower(), text)
    return text if isinstance(number, int) and number.bit_length() > MOST_BITS else number


def shown(text: str) -> str:
    """Quote a text for a message, shortened to a readable length."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a message that suggests the nearest known name, or an empty text."""
    if len(name) > _MOST_HINT_CHARACTERS:
        return ""
    short = (other for other in known if len(other) <= _MOST_HINT_CHARACTERS)
    nearest = nearest_name(name, islice(short, _MOST_HINTS))
    return f"; did you mean '{nearest}'?" if nearest else ""


def closing_bracket(text: str, opening: int) -> int:
    """Find the closing bracket of the one at a position, skipping quoted and nested ones."""
    left = text[opening]
    right = {"{": "}", "(": ")"}[left]
    open_pairs, quote = 0, ""
    for position in range(opening, len(text)):
        character = text[position]
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == left:
            open_pairs += 1
        elif character == right:
            open_pairs -= 1
            if not open_pairs:
                return position
    raise ExpressionError(
        f"{shown(text[opening - 1 :])} is not closed", remedy=f"close it with {right}"
    )


MOST_STEPS = 1_000_000
"""Source elements, attributes and nodes of expressions processed; a few CPU seconds."""

MOST_CHARACTERS = 64 * 2**20
"""The size of the expanded text, intermediate texts included."""


class Budget:
    """Counts the work, elements and characters of one expansion and stops it at the limits.

    So a small file cannot explode.
    """

    def __init__(self, diagnostics: Diagnostics) -> None:
        """Start with nothing used."""
        self._diagnostics = diagnostics
        self._steps = 0
        self._elements = 0
        self._characters = 0

    def spend(self, steps: int = 1) -> None:
        """Count steps of work."""
        self._steps += steps
        if self._steps > MOST_STEPS:
            raise self._exhausted(f"more than {MOST_STEPS:,} steps")

    def make_element(self, element: Element) -> None:
        """Count an element of the result, its attributes and its text."""
        self._elements += 1
        if self._elements > MOST_ELEMENTS:
            raise self._exhausted(f"more than {MOST_ELEMENTS:,} elements")
        self.make_text(len(element.tag) + len(element.text))
        self.make_text(sum(len(name) + len(text) for name, text in element.attributes.items()))

    def make_text(self, characters: int) -> None:
        """Count characters of the result."""
        self._characters += characters
        if self._characters > MOST_CHARACTERS:
            raise self._exhausted(f"more than {MOST_CHARACTERS // 2**20} Mi characters")

    def _exhausted(self, what: str) -> RobotFileError:
        return self._diagnostics.refusal(
            Code.TOO_LARGE,
            f"expanding the xacro takes {what}",
            remedy="look for macros that call each other without end",
        )
