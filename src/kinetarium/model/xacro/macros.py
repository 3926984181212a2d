"""Macros and the parameters they declare."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kinetarium.model.markup import Element
from kinetarium.model.xacro.brackets import closing_bracket
from kinetarium.model.xacro.values import ExpressionFault, shown


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a macro.

    Attributes:
        name: Its name, without stars.
        stars: 0 for a value, 1 for an element, 2 for what is inside an element.
        forwarded: Whether a missing value is taken from the caller's property of that name.
        default: What a missing value is otherwise, or None.
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
        parameters: Its parameters, in the order that blocks are given in.
        body: The <xacro:macro> element.
        file: The file it stands in.
    """

    name: str
    parameters: tuple[Parameter, ...]
    body: Element
    file: str


_NAME = re.compile(r"\s*(\*{0,2})([^\s:=*]+)\s*")
_DEFAULT = re.compile(r":?=\s*(\^\|?)?")


def parse_parameters(text: str) -> tuple[Parameter, ...]:
    """Read a macro's params, such as "name size:=0.1 parent:=^|base *origin".

    Raises:
        ExpressionFault: If they are not well formed or name one twice.
    """
    parameters = tuple(_parameters(text.strip()))
    names = [parameter.name for parameter in parameters]
    for name in names:
        if names.count(name) > 1:
            raise ExpressionFault(
                f"the parameter {shown(name)} is declared twice", remedy="remove one of them"
            )
    return parameters


def _parameters(text: str) -> Iterator[Parameter]:
    position = 0
    while position < len(text):
        name = _NAME.match(text, position)
        if name is None:
            raise ExpressionFault(
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
    """Find the white space that ends a default; quotes, ${...} and $(...) may hold some."""
    while position < len(text) and not text[position].isspace():
        if text[position] in "'\"":
            end = text.find(text[position], position + 1)
            if end < 0:
                raise ExpressionFault("a quote is not closed", remedy="close the quote")
            position = end + 1
        elif text.startswith(("${", "$("), position):
            position = closing_bracket(text, position + 1) + 1
        else:
            position += 1
    return position
