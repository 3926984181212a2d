"""The operators and functions that expressions may use, each safe against growth."""

import ast
import math
import operator
from collections.abc import Callable
from typing import NoReturn

from kinetarium.model.findings import Code
from kinetarium.model.xacro.values import (
    MOST_BITS,
    ExpressionError,
    Value,
    bounded,
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
        "and load the URDF it gives",
        code=Code.UNSUPPORTED,
    )


def _fatal(*words: Value) -> NoReturn:
    raise ExpressionError(
        f"the file gives up: {' '.join(map(str, words))}", remedy="see what the file asks for"
    )


def _nothing(*_: Value) -> str:
    """Return what a call that only prints stands for."""
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
"""By the names that expressions call them by; xacro knows the prefixes math, python and xacro."""

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
