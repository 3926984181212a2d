"""Texts with ${expressions} and $(substitutions) in them."""

import re
from collections.abc import Iterator

from kinetarium.model.diagnostics import Code, Diagnostics, RobotFileError
from kinetarium.model.markup import MOST_ATTRIBUTE_CHARACTERS
from kinetarium.model.xacro.expressions import CONSTANTS, Interpreter
from kinetarium.model.xacro.scopes import Lazy, Scope
from kinetarium.model.xacro.values import (
    Budget,
    ExpressionError,
    Namespace,
    Value,
    argument_literal,
    closing_bracket,
    did_you_mean,
    literal,
    shown,
    truth,
)

MOST_CHAINED = 50
"""Longest chain of properties that are defined by one another."""

_MOST_NESTING = 4
_OPENING = re.compile(r"\$+[{(]")
_FILE_OF_PACKAGE = re.compile("file:/*package://")


class Texts(Namespace):
    """Evaluates texts; as a namespace it contains the arguments of the robot file.

    Attributes:
        arguments: The values of the file's arguments.
        used: The arguments that were used.
        diagnostics: The place of the expansion.
    """

    def __init__(
        self, arguments: dict[str, str], *, diagnostics: Diagnostics, budget: Budget
    ) -> None:
        """Start with the arguments that the user gave."""
        self.arguments = arguments
        self.used: set[str] = set()
        self.diagnostics = diagnostics
        self._budget = budget
        self._interpreter = Interpreter(
            budget, functions={"arg": self._typed_argument, "xacro.arg": self._argument}
        )
        self._chain: list[tuple[Scope, str]] = []

    def value(self, text: str, scope: Scope) -> Value:
        """Evaluate a text; one that is a single expression keeps the expression's type."""
        self._budget.spend(1 + len(text) // 1024)
        if "$" not in text:
            return text
        try:
            return self._value(text, scope, nesting=0)
        except ExpressionError as error:
            raise self._refusal(error) from None

    def text(self, text: str, scope: Scope) -> str:
        """Evaluate a text to a string, as in the expanded file."""
        return str(self.value(text, scope))

    def condition(self, text: str, scope: Scope) -> bool:
        """Evaluate a text that must be true or false."""
        value = self.value(text, scope)
        try:
            return truth(value)
        except ExpressionError as error:
            raise self._refusal(error) from None

    def resolve(self, name: str, lazy: Lazy, scope: Scope) -> Value:
        """Evaluate a property in the scope and at the location of its definition."""
        chain = " -> ".join([*(other for _, other in self._chain), name][-6:])
        with self.diagnostics.within(lazy.file, lazy.line):
            if (scope, name) in self._chain:
                raise self.diagnostics.refusal(
                    Code.EXPRESSION,
                    f"properties are defined by one another: {chain}",
                    remedy='break the cycle; lazy_eval="false" uses the value defined before',
                )
            if len(self._chain) >= MOST_CHAINED:
                raise self.diagnostics.refusal(
                    Code.EXPRESSION,
                    f"more than {MOST_CHAINED} properties are defined by one another: ...{chain}",
                    remedy='set lazy_eval="false" for some of them',
                )
            self._chain.append((scope, name))
            try:
                return literal(self.value(lazy.text, scope))
            finally:
                self._chain.pop()

    def lookup(self, name: str) -> Value:
        """Return the typed value of an argument, as $(eval ...) sees it.

        Mathematical constants take precedence there: an argument named e is not accessible.
        """
        constants = {**CONSTANTS, "true": True, "false": False}
        return constants[name] if name in constants else self._typed_argument(name)

    def _refusal(self, error: ExpressionError) -> RobotFileError:
        return self.diagnostics.refusal(error.code, error.message, remedy=error.remedy)

    def _argument(self, name: str) -> str:
        self.used.add(name)
        if name not in self.arguments:
            raise ExpressionError(
                f"unknown argument {shown(name)}{did_you_mean(name, self.arguments)}",
                remedy='declare it before, <xacro:arg name="..." default="..."/>, '
                "or pass --xacro-arg NAME:=VALUE",
            )
        return self.arguments[name]

    def _typed_argument(self, name: str) -> Value:
        return argument_literal(self._argument(name))

    def _value(self, text: str, scope: Scope, *, nesting: int) -> Value:
        if nesting > _MOST_NESTING:
            raise ExpressionError(
                "expressions are nested in expressions too often", remedy="use a property"
            )
        self._budget.spend(1 + len(text) // 16)
        pieces = list(self._pieces(text, scope, nesting + 1))
        if len(pieces) == 1:
            return pieces[0]
        texts = [str(piece) for piece in pieces]
        size = sum(map(len, texts))
        self._budget.make_text(size)
        if size > MOST_ATTRIBUTE_CHARACTERS:
            raise ExpressionError(
                f"a text of more than {MOST_ATTRIBUTE_CHARACTERS:,} characters",
                remedy="shorten it",
                code=Code.TOO_LARGE,
            )
        # $(find NAME) is an address already, so a file:// before it is removed.
        return _FILE_OF_PACKAGE.sub("package://", "".join(texts))

    def _pieces(self, text: str, scope: Scope, nesting: int) -> Iterator[Value]:
        position = 0
        while opening := _OPENING.search(text, position):
            if opening.start() > position:
                yield text[position : opening.start()]
            position = opening.end()
            if len(opening[0]) > 2:  # $${ stands for ${
                yield opening[0][1:]
                continue
            end = closing_bracket(text, position - 1)
            inside = text[position:end]
            if "$" in inside:
                inside = str(self._value(inside, scope, nesting=nesting))
            if opening[0] == "${":
                yield self._interpreter.evaluate(inside, scope)
            else:
                yield self._substitution(inside)
            position = end + 1
        if position < len(text):
            yield text[position:]

    def _substitution(self, inside: str) -> str:
        command, _, rest = inside.strip().partition(" ")
        words = rest.split()
        match command:
            case "eval":
                return str(self._interpreter.evaluate(rest, self))
            case "arg" if len(words) == 1:
                return self._argument(words[0])
            case "find" if len(words) == 1:
                return f"package://{words[0]}"
            case "optenv" if words:
                # As if the environment were empty, so that a file means the same everywhere.
                return " ".join(words[1:])
            case "env":
                raise ExpressionError(
                    f"{shown(f'$({inside})')} reads the environment, which is not allowed",
                    remedy='use <xacro:arg name="..." default="..."/> and $(arg ...) instead',
                )
        raise ExpressionError(
            f"unknown substitution {shown(f'$({inside})')}",
            remedy="use $(arg NAME), $(find PACKAGE) or $(eval EXPRESSION); "
            "files are named relative to the one that includes them",
        )
