"""Macros and the parameters they declare."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kinetarium.model.markup import Element
from kinetarium.model.xacro.values import ExpressionError, closing_bracket, shown


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a macro.

    Attributes:
        name: Its name, without stars.
        stars: 0 for a value, 1 for an element, 2 for the children of an element.
        forwarded: Whether a missing value is taken from the caller's property of that name.
        default: The default value, or None.
    """

    name: str
    stars: int = 0
    forwarded: bool = False
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro.

    Attributes:
        name: Its name.
        parameters: Its parameters, in the order in which blocks are passed.
        body: The <xacro:macro> element.
        file: The file it is in.
    """

    name: str
    parameters: tuple[Parameter, ...]
    body: Element
    file: str


_NAME = re.compile(r"\s*(\*{0,2})([^\s:=*]+)\s*")
_DEFAULT = re.compile(r":?=\s*(\^\|?)?")
_OPENING = re.compile(r"\$+[{(]")


def parse_parameters(text: str) -> tuple[Parameter, ...]:
    """Read a macro's params, such as "name size:=0.1 parent:=^|base *origin"."""
    parameters: dict[str, Parameter] = {}
    for parameter in _parameters(text.strip()):
        if parameter.name in parameters:
            raise ExpressionError(
                f"duplicate parameter {shown(parameter.name)}",
                remedy="remove one of them",
            )
        parameters[parameter.name] = parameter
    return tuple(parameters.values())


def _parameters(text: str) -> Iterator[Parameter]:
    position = 0
    while position < len(text):
        name = _NAME.match(text, position)
        if name is None:
            raise ExpressionError(
                f"the parameters are not well formed at {shown(text[position:])}",
                remedy='write them as params="name other:=default *block"',
            )
        stars, position = len(name[1]), name.end()
        mark = _DEFAULT.match(text, position)
        if mark is None:
            yield Parameter(name[2], stars)
            continue
        end = _end_of_default(text, mark.end())
        yield Parameter(name[2], stars, bool(mark[1]), text[mark.end() : end] or None)
        position = end


def _end_of_default(text: str, position: int) -> int:
    """Find the white space that ends a default; quotes, ${...} and $(...) may contain some."""
    while position < len(text) and not text[position].isspace():
        if text[position] in "'\"":
            end = text.find(text[position], position + 1)
            if end < 0:
                raise ExpressionError("a quote is not closed", remedy="close the quote")
            position = end + 1
        elif opening := _OPENING.match(text, position):
            escaped = len(opening[0]) > 2  # $${ stands for ${ and opens nothing
            position = opening.end() if escaped else closing_bracket(text, opening.end() - 1) + 1
        else:
            position += 1
    return position
