"""Expressions such as 2*(radius + 0.1): parsed by Python, interpreted by a whitelist of nodes."""

import ast
import math
import operator
import warnings
from collections.abc import Callable, Mapping
from typing import NoReturn

from kinetarium.model.diagnostics import Code
from kinetarium.model.xacro.values import (
    MOST_BITS,
    Budget,
    ExpressionError,
    Namespace,
    Value,
    bounded,
    did_you_mean,
    finite,
    shown,
    weight,
)

_MOST_DIGITS = 300


def _times(left: Value, right: Value) -> Value:
    for sequence, count in ((left, right), (right, left)):
        if isinstance(sequence, (str, list, tuple)) and isinstance(count, int):
            bounded(weight(sequence) * max(count, 1))
    return left * right


def _remainder(left: Value, right: Value) -> Value:
    if isinstance(left, str):
        raise ExpressionError(
            "texts cannot be formatted with %", remedy="join texts with + and str()"
        )
    return left % right


def _power(base: Value, exponent: Value) -> Value:
    if isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1:
        if exponent * (base.bit_length() - 1) > MOST_BITS:
            raise OverflowError
    result = base**exponent
    if isinstance(result, complex):
        raise ExpressionError(
            "a fractional power of a negative number", remedy="check the sign of the base"
        )
    return result


def _round(number: Value, digits: Value = None) -> Value:
    if isinstance(digits, int) and abs(digits) > _MOST_DIGITS:
        raise OverflowError
    return round(number, digits)


def _range(*limits: Value) -> Value:
    numbers = range(*limits)
    bounded(len(numbers))
    return list(numbers)


def _sum(numbers: Value) -> Value:
    if any(isinstance(number, (list, tuple)) for number in numbers):
        raise ExpressionError("sum() adds numbers only", remedy="join lists with +")
    return sum(numbers)


def _replace(text: str, old: Value, new: Value) -> Value:
    bounded((len(text) + text.count(old) * len(new)) // 16)
    return text.replace(old, new)


def _join(separator: str, words: Value) -> Value:
    words = list(words)
    bounded(sum(1 + (len(word) + len(separator)) // 16 for word in words))
    return separator.join(words)


def _load_yaml(*_: Value) -> NoReturn:
    raise ExpressionError(
        "xacro.load_yaml is not supported: YAML files are not read",
        remedy="write the values as properties, or expand the file with ROS's xacro first "
        "and load the resulting URDF",
        code=Code.UNSUPPORTED,
    )


def _fatal(*words: Value) -> NoReturn:
    raise ExpressionError(
        f"the file stops: {' '.join(map(str, words))}", remedy="see the file's own message"
    )


def _nothing(*_: Value) -> str:
    """Return the value of a call that only prints."""
    return ""


def _tokenize(text: Value, separators: Value = ",; ", skip_empty: Value = True) -> Value:
    words = [str(text)]
    for separator in str(separators):
        words = [word for part in words for word in part.split(separator)]
    return [word for word in words if word or not skip_empty]


BINARY: dict[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: _times,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: _remainder,
    ast.Pow: _power,
}

UNARY: dict[type[ast.unaryop], Callable[[Value], Value]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
}

COMPARISONS: dict[type[ast.cmpop], Callable[[Value, Value], Value]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda item, items: item in items,
    ast.NotIn: lambda item, items: item not in items,
}

CONSTANTS: dict[str, Value] = {
    "pi": math.pi, "e": math.e, "tau": math.tau, "inf": math.inf, "nan": math.nan,
}  # fmt: skip

_MATH: dict[str, Callable[..., Value]] = {
    name: getattr(math, name)
    for name in (
        "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sqrt", "radians", "degrees",
        "floor", "ceil", "trunc", "log", "log2", "log10", "log1p", "exp", "exp2", "expm1", "pow",
        "fabs", "hypot", "cbrt", "copysign", "fmod", "remainder", "fsum", "gcd", "isclose",
        "isfinite", "isinf", "isnan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    )
}  # fmt: skip

_PYTHON: dict[str, Callable[..., Value]] = {
    "abs": abs,
    "min": min,
    "max": max,
    "round": _round,
    "int": int,
    "float": float,
    "str": str,
    "bool": bool,
    "len": len,
    "range": _range,
    "sum": _sum,
    "sorted": sorted,
    "list": list,
    "tuple": tuple,
    "dict": dict,
    "all": all,
    "any": any,
    "divmod": divmod,
    "ord": ord,
}

FUNCTIONS: dict[str, Callable[..., Value]] = {
    **_MATH,
    **{f"math.{name}": function for name, function in _MATH.items()},
    **_PYTHON,
    **{f"python.{name}": function for name, function in _PYTHON.items()},
    "load_yaml": _load_yaml,
    "xacro.load_yaml": _load_yaml,
    "xacro.fatal": _fatal,
    "xacro.tokenize": _tokenize,
    **{f"xacro.{name}": _nothing for name in ("message", "warning", "error", "print_location")},
}
"""By their names in expressions; xacro has the prefixes math, python and xacro."""

METHODS: dict[str, Callable[..., Value]] = {
    "capitalize": str.capitalize,
    "count": str.count,
    "find": str.find,
    "isdigit": str.isdigit,
    "join": _join,
    "lower": str.lower,
    "upper": str.upper,
    "replace": _replace,
    "strip": str.strip,
    "lstrip": str.lstrip,
    "rstrip": str.rstrip,
    "title": str.title,
    "split": str.split,
    "startswith": str.startswith,
    "endswith": str.endswith,
}
"""The methods of texts."""


MOST_CHARACTERS = 4096
"""The longest expression."""

MOST_DEPTH = 200
"""Greatest depth of nested expressions, those of the properties they name included."""

_MOST_KEPT = 2000
_MOST_KEPT_CHARACTERS = 200

_CHECK = "check the input values"
_MODULES = ("math", "python", "xacro")


class Interpreter:
    """Evaluates expressions without ever executing them.

    Python's own parser makes the syntax tree; only the nodes, operators, functions
    and string methods listed here are supported, and everything that could grow is
    bounded.
    """

    def __init__(
        self, budget: Budget, *, functions: Mapping[str, Callable[..., Value]] | None = None
    ) -> None:
        """Keep the budget and further functions.

        Args:
            functions: Functions besides the standard ones, by name.
        """
        self._budget = budget
        self._functions = {**FUNCTIONS, **(functions or {})}
        self._depth = 0
        self._parsed: dict[str, ast.expr] = {}
        self._rules: dict[type[ast.expr], Callable[..., Value]] = {
            ast.Constant: self._constant,
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Subscript: self._subscript,
            ast.Slice: self._slice,
            ast.UnaryOp: self._unary,
            ast.BinOp: self._binary,
            ast.BoolOp: self._boolean,
            ast.Compare: self._comparison,
            ast.IfExp: self._conditional,
            ast.Call: self._call,
            ast.List: self._list,
            ast.Tuple: self._tuple,
            ast.Dict: self._dict,
        }

    def evaluate(self, text: str, names: Namespace) -> Value:
        """Evaluate one expression.

        Args:
            text: The expression, without the ${ and } around it.

        Returns:
            A value of built-in types and bounded size, finite if it was computed.
        """
        text = text.strip()
        remedy, code = _CHECK, Code.EXPRESSION
        try:
            node = self._parse(text)
            value = self._weighed(self._value(node, names))
            # A property may be inf or nan, as in xacro; a computed number may not.
            return value if isinstance(node, (ast.Name, ast.Attribute)) else finite(value)
        except ExpressionError as error:
            reason, remedy, code = error.message, error.remedy, error.code
        except SyntaxError as error:
            reason, remedy = f"not an expression: {error.msg}", "write it as 2*(radius + 0.1)"
        except ZeroDivisionError:
            reason = "division by zero"
        except OverflowError:
            reason = "too large a number"
        except (RecursionError, MemoryError):
            reason, remedy = "too deep or too large", "split it into properties"
        except KeyError as error:
            reason = f"there is no key {shown(str(error.args[0]))}"
        except (TypeError, ValueError, IndexError) as error:
            reason = str(error)[:200]
        raise ExpressionError(f"in {shown(text)}: {reason}", remedy=remedy, code=code)

    def _parse(self, text: str) -> ast.expr:
        if len(text) > MOST_CHARACTERS:
            raise ExpressionError(
                f"an expression of more than {MOST_CHARACTERS} characters",
                remedy="split it into properties",
            )
        node = self._parsed.get(text)
        if node is None:
            self._budget.spend(10 + len(text))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about unusual but valid syntax
                node = ast.parse(text, mode="eval").body
            if len(text) <= _MOST_KEPT_CHARACTERS and len(self._parsed) < _MOST_KEPT:
                self._parsed[text] = node
        return node

    def _value(self, node: ast.expr, names: Namespace) -> Value:
        rule = self._rules.get(type(node))
        if rule is None:
            raise _unsupported(node)
        if self._depth >= MOST_DEPTH:
            raise RecursionError
        self._budget.spend()
        self._depth += 1
        try:
            return rule(node, names)
        finally:
            self._depth -= 1

    def _weighed(self, value: Value) -> Value:
        """Count the size of a value as work; refuse values of other types and too large ones."""
        self._budget.spend(weight(value))
        return value

    def _constant(self, node: ast.Constant, _: Namespace) -> Value:
        return self._weighed(node.value)

    def _name(self, node: ast.Name, names: Namespace) -> Value:
        return names.lookup(node.id)

    def _attribute(self, node: ast.Attribute, names: Namespace) -> Value:
        if isinstance(node.value, ast.Name) and node.value.id == "math":
            if node.attr in CONSTANTS:
                return CONSTANTS[node.attr]
        else:
            owner = self._value(node.value, names)
            if isinstance(owner, Namespace):
                return owner.lookup(node.attr)
        raise ExpressionError(
            f"there is no {shown(ast.unparse(node))}",
            remedy="a dot follows math, as in math.pi, or the namespace of an include",
        )

    def _subscript(self, node: ast.Subscript, names: Namespace) -> Value:
        owner = self._value(node.value, names)
        return self._weighed(owner[self._value(node.slice, names)])

    def _slice(self, node: ast.Slice, names: Namespace) -> Value:
        parts = (node.lower, node.upper, node.step)
        return slice(*(None if part is None else self._value(part, names) for part in parts))

    def _unary(self, node: ast.UnaryOp, names: Namespace) -> Value:
        operation = UNARY.get(type(node.op))
        if operation is None:
            raise _unknown_operator(node.op)
        return self._weighed(operation(self._value(node.operand, names)))

    def _binary(self, node: ast.BinOp, names: Namespace) -> Value:
        operation = BINARY.get(type(node.op))
        if operation is None:
            raise _unknown_operator(node.op)
        left, right = self._value(node.left, names), self._value(node.right, names)
        return self._weighed(operation(left, right))

    def _boolean(self, node: ast.BoolOp, names: Namespace) -> Value:
        settles = isinstance(node.op, ast.Or)
        for operand in node.values:
            value = self._value(operand, names)
            if bool(value) is settles:
                break
        return value

    def _comparison(self, node: ast.Compare, names: Namespace) -> Value:
        left = self._weighed(self._value(node.left, names))
        result: Value = True
        for kind, comparator in zip(node.ops, node.comparators, strict=True):
            operation = COMPARISONS.get(type(kind))
            if operation is None:
                raise _unknown_operator(kind)
            right = self._weighed(self._value(comparator, names))
            result = operation(left, right)
            if not result:
                break
            left = right
        return result

    def _conditional(self, node: ast.IfExp, names: Namespace) -> Value:
        chosen = node.body if self._value(node.test, names) else node.orelse
        return self._value(chosen, names)

    def _list(self, node: ast.List, names: Namespace) -> Value:
        return self._weighed([self._value(item, names) for item in node.elts])

    def _tuple(self, node: ast.Tuple, names: Namespace) -> Value:
        return self._weighed(tuple(self._value(item, names) for item in node.elts))

    def _dict(self, node: ast.Dict, names: Namespace) -> Value:
        items: dict[Value, Value] = {}
        for key, item in zip(node.keys, node.values, strict=True):
            if key is None:  # {**other}
                raise _unsupported(node)
            items[self._value(key, names)] = self._value(item, names)
        return self._weighed(items)

    def _call(self, node: ast.Call, names: Namespace) -> Value:
        function, arguments = self._function(node.func, names)
        arguments += [self._weighed(self._value(argument, names)) for argument in node.args]
        if not node.keywords:
            return self._weighed(function(*arguments))
        named = {word.arg: self._value(word.value, names) for word in node.keywords if word.arg}
        if function is not dict or len(named) < len(node.keywords):
            raise ExpressionError(
                "only dict() takes named arguments", remedy="pass the arguments by position"
            )
        return self._weighed(dict(*arguments, **named))

    def _function(
        self, node: ast.expr, names: Namespace
    ) -> tuple[Callable[..., Value], list[Value]]:
        """Find the called function, and the text if it is a string method."""
        match node:
            case ast.Name(id=name):
                pass
            case ast.Attribute(value=ast.Name(id=module), attr=attribute) if module in _MODULES:
                name = f"{module}.{attribute}"
            case ast.Attribute(value=owner, attr=name) if name in METHODS:
                text = self._weighed(self._value(owner, names))
                if not isinstance(text, str):
                    raise ExpressionError(f"only texts have {name}()", remedy=_CHECK)
                return METHODS[name], [text]
            case _:
                name = ast.unparse(node)
        if name not in self._functions:
            hint = did_you_mean(name, self._functions)
            raise ExpressionError(
                f"unknown function {shown(name)}{hint}",
                remedy="use the functions of math, or abs, min, max, round, int, float, str, len",
            )
        return self._functions[name], []


def _unsupported(node: ast.expr) -> ExpressionError:
    return ExpressionError(
        f"{type(node).__name__} is not supported in expressions",
        remedy="use numbers, texts, lists, operators and the functions of xacro",
    )


def _unknown_operator(operation: ast.AST) -> ExpressionError:
    return ExpressionError(
        f"the operator {type(operation).__name__} is not supported",
        remedy="use + - * / // % **, comparisons, and, or, not, in",
    )
