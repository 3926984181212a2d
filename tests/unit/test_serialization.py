import math
from dataclasses import dataclass
from enum import Enum, StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest
import tyro

from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.storage.serialization import (
    SerializationError,
    from_builtins,
    read_toml,
    to_builtins,
    to_toml,
)


class Cone(StrEnum):
    PYRAMID = "pyramid"
    ELLIPSE = "ellipse"


class Order(Enum):
    FIRST = 1
    SECOND = 2


@dataclass(frozen=True, slots=True)
class Solver:
    iterations: int = 10
    cone: Cone = Cone.PYRAMID


@dataclass(frozen=True, slots=True)
class Config:
    height: Annotated[float, tyro.conf.arg(metavar="M")] = 1.0
    engines: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    pair: tuple[int, float] = (1, 2.0)
    solver: Solver = Solver()
    more: tuple[Solver, ...] = ()
    order: Order = Order.FIRST
    mode: Literal["fast", "exact"] = "fast"
    file: Path | None = None
    friction: Cone | None = None
    named: dict[str, float] | None = None
    quiet: bool = False


FULL = Config(
    height=0.1,
    engines=("mujoco", "ode"),
    pair=(3, 0.25),
    solver=Solver(7, Cone.ELLIPSE),
    more=(Solver(), Solver(2)),
    order=Order.SECOND,
    mode="exact",
    file=Path("a/b"),
    friction=Cone.ELLIPSE,
    named={"x y": 1e-300},
    quiet=True,
)


@pytest.mark.parametrize("config", [Config(), FULL])
def test_there_and_back(config: Config, tmp_path: Path) -> None:
    plain = to_builtins(config)
    assert from_builtins(Config, plain, where="config") == config
    file = tmp_path / "config.toml"
    file.write_text(to_toml(plain), "utf-8")
    assert from_builtins(Config, read_toml(file), where="config") == config


def test_plain_is_plain() -> None:
    values = {
        Cone.ELLIPSE: (np.float64(0.1), np.int32(3), np.bool_(True), np.array([[1, 2]])),
        "rest": [Order.SECOND, Path("x/y"), None, "z", True],
    }
    plain = to_builtins(values)
    assert plain == {"ellipse": [0.1, 3, True, [[1, 2]]], "rest": [2, "x/y", None, "z", True]}
    kinds = [type(item) for item in plain["ellipse"]]
    assert kinds == [float, int, bool, list]
    with pytest.raises(TypeError, match="set cannot be serialized"):
        to_builtins({"a": {1}})


def test_whole_numbers_are_floats_too() -> None:
    config = from_builtins(Config, {"height": 2, "pair": [1, 3]}, where="x")
    assert config.height == 2.0 and type(config.height) is float
    assert type(config.pair[1]) is float


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"height": "1"}, "here: height: expected float, got str"),
        ({"height": True}, "here: height: expected float, got bool"),
        ({"height": 10**400}, "here: height: number out of range"),
        ({"solver": {"iterations": 1.0}}, "here: solver.iterations: expected int, got float"),
        ({"pair": [1]}, "here: pair: expected array of length 2, got 1"),
        ({"pair": [1, "x"]}, r"here: pair\[1\]: expected float, got str"),
        ({"engines": "mujoco"}, "here: engines: expected array, got str"),
        ({"file": 3}, "here: file: expected Path, got int"),
        ({"quiet": 1}, "here: quiet: expected bool, got int"),
        ({"order": "second"}, "unknown order 'second'.*known: 1, 2"),
        ([], "here: expected object, got array"),
        (None, "here: expected object, got null"),
    ],
)
def test_wrong_types(data: Any, message: str) -> None:
    with pytest.raises(KinetariumError, match=message) as refusal:
        from_builtins(Config, data, where="here")
    assert "\n" not in str(refusal.value)


def test_missing_fields() -> None:
    @dataclass(frozen=True)
    class Case:
        mass: float

    with pytest.raises(SerializationError, match=r"here: .*missing required field mass"):
        from_builtins(Case, {}, where="here")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"heigth": 1.0}, "unknown field 'heigth'; did you mean 'height'"),
        ({"solver": {"iteration": 1}}, "unknown field 'iteration'; did you mean 'iterations'"),
        ({"more": [{}, {"x": 1}]}, "unknown field 'x'.*known: cone, iterations"),
        ({"solver": {"cone": "elipse"}}, "unknown cone 'elipse'; did you mean 'ellipse'"),
        ({"friction": "round"}, "unknown friction 'round'.*known: ellipse, pyramid"),
        ({"mode": "slow"}, "unknown mode 'slow'.*known: exact, fast"),
        ({1: 2}, "unknown field '1'"),
    ],
)
def test_unknown_names(data: Any, message: str) -> None:
    with pytest.raises(UnknownNameError, match=message):
        from_builtins(Config, data, where="here")


def test_toml_is_the_same_every_time_and_leaves_out_none() -> None:
    data = {"b": None, "a": {"y": 1, "x": None}, "c": [{"z": None, "w": 2.5}]}
    assert to_toml(data) == to_toml(dict(data))
    assert "b" not in to_toml(data) and "x" not in to_toml(data) and "z" not in to_toml(data)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_toml_takes_no_numbers_that_are_none(value: float) -> None:
    with pytest.raises(SerializationError, match=r"a\.b: .* is not a finite number"):
        to_toml({"a": {"b": [1.0, value]}})


def test_toml_takes_no_half_characters() -> None:
    with pytest.raises(SerializationError, match="not a character that TOML can hold"):
        to_toml({"file": "\udc80"})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a = ", "Invalid value"),
        (b"a = 1\na = 2", "Cannot overwrite a value"),
        (b"a = '\xff'", "is not UTF-8 text"),
        (b"\0", "Invalid statement"),
        (b"a = nan", "a: nan is not a finite number"),
        (b"[b]\na = [1, -inf]", "b.a: -inf is not a finite number"),
        (b"a = 1e999", "a: inf is not a finite number"),
        (b"a = " + b"9" * 5000, "4300 digits"),
        (b"a = " + b"[" * 100_000, "nested too deeply"),
        (b"a." * 250_000 + b"a = 1", "line 1 has more than 256 dots"),
        (b"[" + b"a." * 250 + b"a]\n" + b"b." * 250 + b"b = 1.0", None),
        (b"#" * 1_000_001, "larger than 1 MB"),
    ],
)
def test_bad_toml(content: bytes, message: str | None, tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_bytes(content)
    if message is None:
        assert read_toml(file)
        return
    with pytest.raises(SerializationError, match=message) as refusal:
        read_toml(file)
    assert str(file) in str(refusal.value) and "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing", "no such file"),
        (".", "not a regular file|is a directory"),
        ("nul\0", "not a valid path"),
    ],
)
def test_no_file(name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(SerializationError, match=message):
        read_toml(tmp_path / name)
