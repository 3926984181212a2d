"""Scopes: the properties, blocks and macros that are defined at one place of a file."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kinetarium.model.markup import Element
from kinetarium.model.xacro.values import (
    Budget,
    ExpressionError,
    Namespace,
    Value,
    closing_bracket,
    did_you_mean,
    shown,
)


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


@dataclass(frozen=True, slots=True)
class Lazy:
    """A property that is evaluated when it is first used.

    Attributes:
        text: Its value as written.
        file: The file it is defined in.
        line: The line it is defined on.
    """

    text: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Block:
    """Elements with a name.

    Attributes:
        element: The element.
        file: The file it is in.
        whole: Whether the element itself is meant, or its children.
    """

    element: Element
    file: str
    whole: bool


Resolve = Callable[[str, Lazy, "Scope"], Value]


class Scope(Namespace):
    """The definitions at the top of the files, in one macro call, or in a namespace.

    As in xacro, a macro sees the names of its caller.

    Attributes:
        parent: The scope around it.
        values: The properties and parameters.
        blocks: The blocks, by name and by whether a whole element is meant.
        macros: The macros, by name.
    """

    def __init__(
        self,
        *,
        budget: Budget,
        resolve: Resolve,
        parent: "Scope | None" = None,
        is_namespace: bool = False,
    ) -> None:
        """Make an empty scope.

        Args:
            resolve: Evaluates a lazy property in the scope that defines it.
        """
        self._budget, self._resolve, self._is_namespace = budget, resolve, is_namespace
        self.parent = parent
        self.values: dict[str, Value | Lazy] = {}
        self.blocks: dict[tuple[str, bool], Block] = {}
        self.macros: dict[str, Macro] = {}

    def inner(self, *, is_namespace: bool = False) -> "Scope":
        """Return an empty scope within this one."""
        return Scope(
            budget=self._budget, resolve=self._resolve, parent=self, is_namespace=is_namespace
        )

    def outward(self) -> Iterator["Scope"]:
        """Yield this scope and the enclosing ones, innermost first."""
        scope: Scope | None = self
        while scope is not None:
            self._budget.spend()
            yield scope
            scope = scope.parent

    def defines(self, name: str) -> bool:
        """Return whether a name has a value here."""
        return any(name in scope.values for scope in self.outward())

    def lookup(self, name: str) -> Value:
        """Return the value of a property, evaluating it on first use."""
        for scope in self.outward():
            if name in scope.values:
                value = scope.values[name]
                if isinstance(value, Lazy):
                    value = scope.values[name] = self._resolve(name, value, scope)
                return value
        known = (other for scope in self.outward() for other in scope.values)
        raise ExpressionError(
            f"unknown property {shown(name)}{did_you_mean(name, known)}",
            remedy='define it before it is used: <xacro:property name="..." value="..."/>',
        )

    def block(self, name: str) -> Block | None:
        """Find a block; as in xacro, one of several elements takes precedence."""
        for whole in (False, True):
            for scope in self.outward():
                if (name, whole) in scope.blocks:
                    return scope.blocks[name, whole]
        return None

    def macro(self, name: str) -> tuple[Macro, "Scope"] | None:
        """Find a macro by its name, perhaps NAMESPACE.NAME, and the scope its body sees."""
        for scope in self.outward():
            if name in scope.macros:
                return scope.macros[name], self
        *namespaces, last = name.split(".")
        home: Value = self
        for namespace in namespaces:
            owners = (scope for scope in home.outward() if namespace in scope.values)
            home = next(owners, home).values.get(namespace)
            if not isinstance(home, Scope):
                return None
        return (home.macros[last], home) if last in home.macros else None

    def caller(self) -> "Scope | None":
        """Return the scope that scope="parent" means: the macro's caller, or the including file."""
        scope = self.parent
        while not self._is_namespace and scope is not None and scope._is_namespace:
            scope = scope.parent
        return scope

    def outermost(self) -> "Scope":
        """Return the scope of the robot file itself."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def remove(self, name: str) -> None:
        """Remove a property, here and in every enclosing scope."""
        for scope in self.outward():
            scope.values.pop(name, None)
