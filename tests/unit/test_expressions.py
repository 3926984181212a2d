"""Expressions give what Python gives, or say what is wrong; nothing else."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetarium.model.diagnostics import Code, Diagnostics, RobotFileError
from kinetarium.model.xacro.expressions import Interpreter
from kinetarium.model.xacro.values import (
    Budget,
    ExpressionError,
    Namespace,
    did_you_mean,
    literal,
    truth,
    weight,
)


class Names(Namespace):
    """A few properties."""

    values: dict[str, Any] = {  # noqa: RUF012 - read only
        "length": 2.0,
        "count": 3,
        "side": "left",
        "sizes": [1, 2.5, "x"],
        "table": {"a": 1, 2: "two"},
        "long": ["x"] * 4000,
        "huge": 2**1000,
    }

    def lookup(self, name: str) -> Any:
        if name == "arm":
            return self
        if name not in self.values:
            raise ExpressionError(
                f"unknown property '{name}'{did_you_mean(name, self.values)}", remedy="define it"
            )
        return self.values[name]


def evaluate(text: str) -> Any:
    return Interpreter(Budget(Diagnostics("robot.xacro", line=1))).evaluate(text, Names())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("  (1 + 2) * 3  ", 9),
        ("7 // 2", 3),
        ("-7 % 3", 2),
        ("2 ** -1", 0.5),
        ("2 ** 0.5", 2**0.5),
        ("1 ** 10**100", 1),
        ("0 ** 10**100", 0),
        ("1e3", 1000.0),
        ("not length", False),
        ("length and side", "left"),
        ("0 or None or 4", 4),
        ("1 < 2 < 3", True),
        ("1 < 2 > 3", False),
        ("1 < 0 < 1/0", False),
        ("side == 'left' and 1/2 or 1/0", 0.5),
        ("1 if side == 'left' else 1/0", 1),
        ("'x' in sizes", True),
        ("min(math.inf, 3)", 3),
        ("1 if count < math.inf else 2", 1),
        ("math.inf", math.inf),
        ("math.tau", math.tau),
        ("trunc(fmod(-7.5, 3))", -1),
        ("tanh(log2(8))", math.tanh(3)),
        ("xacro.tokenize('a, b;;c')", ["a", "b", "c"]),
        ("xacro.tokenize('a,b;', ',', False)", ["a", "b;"]),
        ("'-'.join(['a', 'b']) + xacro.warning('old', side)", "a-b"),
        ("'y' not in sizes", True),
        ("sizes[1]", 2.5),
        ("sizes[-2:]", [2.5, "x"]),
        ("sizes[::2] + [4]", [1, "x", 4]),
        ("table['a'] + table[1 + 1].__len__", ExpressionError),
        ("table[2].upper()", "TWO"),
        ("{'a': [1, (2,)]}['a'][1][0]", 2),
        ("dict(a=1, b=2)['b']", 2),
        ("side + '_arm'", "left_arm"),
        ("'ab' * 2", "abab"),
        ("3 * [0]", [0, 0, 0]),
        ("arm.length", 2.0),
        ("arm.arm.count", 3),
        ("math.pi", math.pi),
        ("max(sizes[:2]) + min(1, 2)", 3.5),
        ("round(2.5)", 2),
        ("round(1.2345, 2)", 1.23),
        ("int('12') + float('0.5')", 12.5),
        ("str(1.50)", "1.5"),
        ("bool([])", False),
        ("len('abc')", 3),
        ("list(range(1, 6, 2))", [1, 3, 5]),
        ("sum([1, 2.5])", 3.5),
        ("sorted((3, 1))", [1, 3]),
        ("tuple([1])", (1,)),
        ("'a,b'.split(',')", ["a", "b"]),
        ("' a '.strip().replace('a', 'bb')", "bb"),
        ("'left'.startswith('l') and not 'left'.endswith('l')", True),
        ("None", None),
    ],
)
def test_values(text: str, value: Any) -> None:
    if value is ExpressionError:
        with pytest.raises(ExpressionError):
            evaluate(text)
    else:
        result = evaluate(text)
        assert result == value
        assert type(result) is type(value)


@pytest.mark.parametrize(
    "name", "sin cos tan asin acos atan sqrt radians degrees floor ceil log10 exp fabs".split()
)
def test_mathematics(name: str) -> None:
    function = getattr(math, name)
    assert evaluate(f"{name}(0.25)") == function(0.25)
    assert evaluate(f"math.{name}(0.25)") == function(0.25)


def test_mathematics_of_two_numbers() -> None:
    assert evaluate("atan2(1, 2)") == math.atan2(1, 2)
    assert evaluate("hypot(3, 4)") == 5
    assert evaluate("pow(2, 0.5)") == math.pow(2, 0.5)
    assert evaluate("log(8, 2)") == math.log(8, 2)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("lenght * 2", "unknown property 'lenght'; did you mean 'length'?"),
        ("squrt(2)", "unknown function 'squrt'; did you mean 'sqrt'?"),
        ("math.infinity", "there is no 'math.infinity'"),
        ("2 * math.inf", "not a finite number"),
        ("[math.nan]", "not a finite number"),
        ("{'a': (1, math.inf)}", "not a finite number"),
        ("xacro.fatal('too', 2)", "stops: too 2"),
        ("", "not an expression"),
        ("1 +", "not an expression"),
        ("1; 2", "not an expression"),
        ("x = 1", "not an expression"),
        ("import os", "not an expression"),
        ("1 / 0", "division by zero"),
        ("1 // 0.0", "division by zero"),
        ("0 ** -1", "division by zero"),
        ("'a' + 1", "can only concatenate"),
        ("-side", "bad operand"),
        ("sizes[9]", "out of range"),
        ("table['z']", "no key 'z'"),
        ("table[[]]", "unhashable"),
        ("count[0]", "not subscriptable"),
        ("sqrt(-1)", "in 'sqrt(-1)'"),
        ("acos(2)", "in 'acos(2)'"),
        ("(-8) ** (1/3)", "fractional power"),
        ("sin()", "argument"),
        ("sin(1, 2)", "argument"),
        ("int('abc')", "invalid literal"),
        ("float('nan')", "not a finite number"),
        ("float('inf')", "not a finite number"),
        ("1e999", "not a finite number"),
        ("1e308 * 10", "not a finite number"),
        ("exp(1000)", "too large a number"),
        ("10.0 ** 400", "too large a number"),
        ("2 ** 10 ** 10", "too large a number"),
        ("(-3) ** 10**9", "too large a number"),
        ("huge * huge", "too large a number"),
        ("round(5, -10**9)", "too large a number"),
        ("'x' * 10**9", "too long"),
        ("10**9 * [0]", "too long"),
        ("range(10**9)", "too long"),
        ("long + long + long", "too long"),
        ("[long, long, long]", "too long"),
        ("dict(a=long, b=long, c=long)", "too long"),
        ("('a' * 9999).replace('a', 'b' * 9999)", "too long"),
        ("'-'.replace('', '9' * 10000000)", "too long"),
        ("int('9' * 400)", "too large a number"),
        ("int('9' * 9999)", "digits"),
        ("[" * 30 + "]" * 30, "nested more than"),
        ("[" * 300 + "]" * 300, "too many nested parentheses"),
        ("(" * 150 + "1" + ")" * 150 + "+ 'a'", "unsupported operand"),
        ("-" * 3000 + "1", "too deep"),
        ("1" + " + 1" * 900, "too deep"),
        ("not " * 1000 + "1", "too deep"),
        ("1" * 5000, "more than 4096 characters"),
        ("'%1000000000d' % 1", "formatted with %"),
        ("'{}'.format(1)", "unknown function"),
        ("side.__class__", "there is no 'side.__class__'"),
        ("().__class__.__bases__", "there is no"),
        ("__import__('os')", "unknown function '__import__'"),
        ("open('/etc/passwd')", "unknown function 'open'"),
        ("math.__dict__", "there is no 'math.__dict__'"),
        ("arm", "a namespace"),
        ("str(arm)", "a namespace"),
        ("sin", "unknown property 'sin'"),
        ("lambda: 1", "Lambda is not supported"),
        ("(lambda: 1)()", "unknown function"),
        ("[x for x in sizes]", "ListComp is not supported"),
        ("f'{side}'", "JoinedStr is not supported"),
        ("{1, 2}", "Set is not supported"),
        ("{**table}", "Dict is not supported"),
        ("max(*sizes)", "Starred is not supported"),
        ("dict(**table)", "named arguments"),
        ("sorted(sizes, reverse=True)", "named arguments"),
        ("(y := 1)", "NamedExpr is not supported"),
        ("await x", "Await is not supported"),
        ("1 @ 2", "operator MatMult"),
        ("1 << 99999", "operator LShift"),
        ("~1", "operator Invert"),
        ("1 is 1", "operator Is"),
        ("1j", "of type complex"),
        ("b'x'", "of type bytes"),
        ("...", "of type ellipsis"),
        ("sum([[1], [2]])", "adds numbers only"),
        ("count.upper()", "only texts have upper()"),
        ("'a' < 1", "not supported between"),
        ("1 in 2", "argument of type"),
    ],
)
def test_faults(text: str, part: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        evaluate(text)
    assert part in caught.value.message
    assert caught.value.remedy
    assert caught.value.code is Code.EXPRESSION
    assert len(caught.value.message) < 400


def test_yaml_is_refused_with_a_way_out() -> None:
    with pytest.raises(ExpressionError, match="YAML") as caught:
        evaluate("xacro.load_yaml('limits.yaml')['shoulder']")
    assert caught.value.code is Code.UNSUPPORTED
    assert "properties" in caught.value.remedy


def test_the_budget_ends_the_work() -> None:
    interpreter = Interpreter(Budget(Diagnostics("robot.xacro", line=7)))
    with pytest.raises(RobotFileError, match="steps") as caught:
        for _ in range(10_000):
            interpreter.evaluate("long == long", Names())
    refusal = caught.value.refusals[0]
    assert (refusal.code, refusal.line) == (Code.TOO_LARGE, 7)


NUMBERS = st.integers(-1000, 1000) | st.floats(-1000, 1000)
OPERATIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "<": lambda a, b: a < b,
    "==": lambda a, b: a == b,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
}


@given(
    st.recursive(
        NUMBERS.map(lambda number: (repr(number), number)),
        lambda inner: st.tuples(inner, st.sampled_from(list(OPERATIONS)), inner).map(
            lambda t: (f"({t[0][0]} {t[1]} {t[2][0]})", OPERATIONS[t[1]](t[0][1], t[2][1]))
        ),
        max_leaves=12,
    )
)
def test_arithmetic_agrees_with_python(pair: tuple[str, Any]) -> None:
    text, value = pair
    assert evaluate(text) == value


SIGNS = "0123456789.+-*/%()[]{}<>=!,:'\"eE abcmathnotinifelse_^~@&|"


@given(st.text(st.sampled_from(SIGNS), max_size=40))
def test_any_text_gives_a_value_or_a_fault(text: str) -> None:
    try:
        weight(evaluate(text))
    except ExpressionError as error:
        assert error.message
        assert error.remedy


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        (" 12 ", 12),
        ("007", 7),
        ("1.50", 1.5),
        ("1e-3", 0.001),
        ("true", True),
        ("False", False),
        ("'12'", "12"),
        ("''", ""),
        ("'", "'"),
        ("", ""),
        ("1_000", "1_000"),
        ("0x10", "0x10"),
        ("inf", math.inf),
        ("-Infinity", -math.inf),
        ("1e999", math.inf),
        ("9" * 350, "9" * 350),
        ("9" * 500, "9" * 500),
        ("left", "left"),
        ([1], [1]),
    ],
)
def test_literals(text: Any, value: Any) -> None:
    assert literal(text) == value
    assert type(literal(text)) is type(value)


@pytest.mark.parametrize("value", ["true", "True", "1", "2", True, 1.0, [0]])
def test_true(value: Any) -> None:
    assert truth(value) is True


@pytest.mark.parametrize("value", ["false", "False", "0", False, 0.0, [], None])
def test_false(value: Any) -> None:
    assert truth(value) is False


@pytest.mark.parametrize("value", ["", "yes", "TRUE", "1.0", "left", "'1'"])
def test_neither_true_nor_false(value: str) -> None:
    with pytest.raises(ExpressionError, match="neither true nor false"):
        truth(value)
