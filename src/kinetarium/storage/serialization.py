"""Serialization: dataclasses to dictionaries, lists and numbers, and back; TOML and JSON files.

JSON files carry the version of their schema, so that later releases can open them. Files that
people may edit carry the version alone. Results and maps are also sealed: their last entry is
the SHA-256 of all bytes before it, so that a single changed bit is detected.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import tomli_w
from msgspec import inspect

from kinetarium.errors import KinetariumError, UnknownNameError
from kinetarium.ranges import RangeError, check_ranges
from kinetarium.storage.regular_file import read_regular, reason
from kinetarium.storage.strict_json import MOST_VALUES, parse_json, strict_json

T = TypeVar("T")

MOST_TOML_BYTES = 1_000_000
MOST_TOML_DOTS = 256
"""Dots in one line of a TOML file: the parser's time is quadratic in the parts of a dotted key."""

_NUMBER = re.compile(rb"(?<![\w.\"'-])[+-]?\d+\.\d+(?:[eE][+-]?\d+)?(?![\w.\"'])")
"""A decimal number, to tell it from a dotted key made of digits."""


class SerializationError(KinetariumError):
    """Data, or a file, that does not match its schema."""


def to_builtins(value: Any) -> Any:
    """Return a value as dictionaries, lists, strings, numbers, booleans and None.

    Args:
        value: Dataclasses, mappings, sequences, enums (by their values), paths,
            NumPy scalars and arrays, and built-in types.
    """
    if isinstance(value, Enum):
        return to_builtins(value.value)
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Path):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_builtins(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(to_builtins(key)): to_builtins(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_builtins(item) for item in value]
    raise TypeError(f"{type(value).__name__} cannot be serialized")


def from_builtins(kind: type[T], data: Any, *, where: str) -> T:
    """Convert built-in types, such as parsed JSON, to a type.

    The conversion is strict: only an integer given for a float changes its type.
    Numbers are checked against the ranges that their fields declare.

    Args:
        kind: The type, most often a dataclass.
        data: Dictionaries, lists, strings, numbers, booleans and None.
        where: What the data is, for the message.

    Raises:
        UnknownNameError: If a field or a choice is unknown.
        SerializationError: If a value is missing, has the wrong type, or is out of range.
    """
    shape: Any = kind
    _check_names(_type_info(shape), data, "value")
    try:
        value = msgspec.convert(data, kind, dec_hook=_path)
        check_ranges(value)
    except msgspec.ValidationError as error:
        raise SerializationError(f"{where}: {_in_words(str(error))}") from None
    except RangeError as error:
        raise SerializationError(f"{where}: {error}") from None
    return value


def to_toml(data: Mapping[str, Any]) -> str:
    """Return data as TOML, in its own order; None is omitted.

    Raises:
        SerializationError: If a number is not finite or has more than 64 bits, or a text
            cannot be encoded.
    """
    _check_finite(data)
    _check_whole(data)
    text = tomli_w.dumps(_without_none(data))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start : error.end])
        raise SerializationError(f"{half} is not a character that TOML can hold") from None
    return text


def read_toml(path: Path, *, through_links: bool = True) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        SerializationError: If it cannot be read, is too large, is not TOML, or
            contains a number that is not finite or has more than 64 bits.
    """
    try:
        data = read_regular(path, most=MOST_TOML_BYTES, through_links=through_links)
    except (OSError, ValueError) as error:
        raise SerializationError(f"cannot read {str(path)!r}: {reason(error)}") from None
    try:
        for number, line in enumerate(data.split(b"\n"), start=1):
            if _NUMBER.sub(b"", line).count(b".") > MOST_TOML_DOTS:
                raise SerializationError(
                    f"line {number} has more than {MOST_TOML_DOTS} dots in names"
                )
        table = tomllib.loads(_without_mark(data.decode()))
        _check_finite(table)
        _check_whole(table)
    except UnicodeDecodeError:
        raise SerializationError(f"{str(path)!r} is not UTF-8 text") from None
    except RecursionError:
        raise SerializationError(f"{str(path)!r} is nested too deeply") from None
    except (ValueError, SerializationError) as error:
        raise SerializationError(f"{str(path)!r}: {error}") from None
    return table


@cache
def _type_info(kind: Any) -> inspect.Type:
    return inspect.type_info(kind)


def _check_names(kind: inspect.Type, data: Any, name: str) -> None:
    """Refuse unknown fields, which msgspec ignores, and unknown choices, which it does not list.

    Values of the wrong type are left to msgspec.
    """
    match kind, data:
        case inspect.DataclassType(), Mapping():
            known = {field.name: field.type for field in kind.fields}
            for key, value in data.items():
                if key not in known:
                    raise UnknownNameError("field", str(key), known=known)
                _check_names(known[key], value, key)
        case inspect.EnumType(), str():
            choices = [member.value for member in kind.cls]
            if data not in choices:
                raise UnknownNameError(name, data, known=map(str, choices))
        case inspect.LiteralType(), str():
            if data not in kind.values:
                raise UnknownNameError(name, data, known=map(str, kind.values))
        case inspect.UnionType(), _:
            others = [one for one in kind.types if not isinstance(one, inspect.NoneType)]
            if len(others) == 1 and data is not None:
                _check_names(others[0], data, name)
        case ((inspect.VarTupleType() | inspect.ListType()), (list() | tuple())):
            for item in data:
                _check_names(kind.item_type, item, name)
        case inspect.TupleType(), (list() | tuple()):
            for one, item in zip(kind.item_types, data, strict=False):
                _check_names(one, item, name)
        case inspect.DictType(), Mapping():
            for item in data.values():
                _check_names(kind.value_type, item, name)


def _path(kind: type, value: Any) -> Any:
    if kind is Path and isinstance(value, str):
        return Path(value)
    raise ValueError(f"Expected `{kind.__name__}`, got `{type(value).__name__}`")


_MESSAGE = re.compile(r"(?P<fault>.*?)(?: - at `\$\.?(?P<field>.*)`)?", re.DOTALL)


def _in_words(message: str) -> str:
    """Turn "Expected `float`, got `str` - at `$.height`" into "height: expected float, got str"."""
    found = _MESSAGE.fullmatch(message)
    assert found
    fault = found["fault"].replace("`", "")
    fault = fault[:1].lower() + fault[1:]
    return f"{found['field']}: {fault}" if found["field"] else fault


def _without_mark(text: str) -> str:
    if text.startswith("\ufeff"):
        raise SerializationError("it begins with a byte-order mark; save it as UTF-8 without one")
    return text


def _check_finite(data: Any) -> None:
    for name, number in _numbers(data, ""):
        if isinstance(number, float) and not isfinite(number):
            raise SerializationError(f"{name}: {number} is not a finite number")


def _check_whole(data: Any) -> None:
    """Refuse integers beyond the 64 bits that every TOML parser has to support."""
    for name, number in _numbers(data, ""):
        if isinstance(number, int) and not -(2**63) <= number < 2**63:
            raise SerializationError(f"{name}: an integer may have up to 64 bits")


def _numbers(data: Any, name: str) -> Iterator[tuple[str, float]]:
    if isinstance(data, int | float):
        yield name, data
    elif isinstance(data, Mapping):
        for key, value in data.items():
            yield from _numbers(value, f"{name}.{key}" if name else key)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from _numbers(value, name)


def _without_none(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {key: _without_none(value) for key, value in data.items() if value is not None}
    if isinstance(data, list | tuple):
        return [_without_none(value) for value in data]
    return data


SCHEMA_VERSION = 1
SEALED_VERSION = 2
MOST_JSON_BYTES = 64_000_000

_SEAL = "sha256_of_all_above"
_END = b"\n}\n"


def versioned_json(payload: Mapping[str, Any]) -> bytes:
    """Return data as the content of a JSON file; numbers that are not finite become null."""
    return (strict_json({"schema_version": SCHEMA_VERSION} | dict(payload)) + "\n").encode()


def sealed_json(payload: Mapping[str, Any]) -> bytes:
    """Return data as the content of a JSON file that ends with its own digest."""
    text = strict_json({"schema_version": SEALED_VERSION} | dict(payload)) + "\n"
    return _sealed(text.encode().removesuffix(_END))


def read_versioned_json(path: Path, *, most: int = MOST_JSON_BYTES) -> dict[str, Any]:
    """Read a JSON file that people may edit, written by this release or an earlier one.

    Args:
        most: The largest size that is read [bytes].

    Returns:
        Its content, without the version.

    Raises:
        SerializationError: If it cannot be read, is not strict JSON, or is of a later release.
    """
    data, _ = _read(path, most=most, latest=SCHEMA_VERSION, through_links=True)
    return data


def read_sealed_json(path: Path) -> dict[str, Any]:
    """Read a sealed JSON file, or one of release 0.1, which had no seals.

    Symbolic links are not followed, since such files may be in folders received from others.

    Returns:
        Its content, without version and seal.

    Raises:
        SerializationError: If it cannot be read, is not strict JSON, has changed since it was
            written, or is of a later release.
    """
    data, raw = _read(path, most=MOST_JSON_BYTES, latest=SEALED_VERSION, through_links=False)
    if raw and _sealed(raw[: -len(_sealed(b""))]) != raw:
        raise SerializationError(f"{str(path)!r} has changed since it was written")
    data.pop(_SEAL, None)
    return data


def _sealed(head: bytes) -> bytes:
    digest = sha256(head).hexdigest()
    return head + f',\n  "{_SEAL}": "{digest}"'.encode() + _END


def read_strict_json(
    path: Path, *, most: int, most_values: int = MOST_VALUES, through_links: bool = True
) -> tuple[Any, bytes]:
    """Read a JSON file of any content.

    Args:
        most: The largest size that is read [bytes].
        most_values: How many values it may contain.

    Returns:
        Its content, and its bytes.

    Raises:
        SerializationError: If it cannot be read, or is not strict JSON.
    """
    try:
        raw = read_regular(path, most=most, through_links=through_links)
        text = raw.decode()
    except UnicodeDecodeError:
        raise SerializationError(f"{str(path)!r} is not UTF-8 text") from None
    except (OSError, ValueError) as error:
        raise SerializationError(f"cannot read {str(path)!r}: {reason(error)}") from None
    try:
        return parse_json(text, most_values=most_values), raw
    except RecursionError:
        raise SerializationError(f"{str(path)!r} is nested too deeply") from None
    except ValueError as error:
        raise SerializationError(f"{str(path)!r} is not JSON: {error}") from None


def _read(
    path: Path, *, most: int, latest: int, through_links: bool
) -> tuple[dict[str, Any], bytes]:
    """Return the content of a file, and its bytes if its version has a seal."""
    data, raw = read_strict_json(path, most=most, through_links=through_links)
    version = data.pop("schema_version", None) if isinstance(data, dict) else None
    if type(version) is not int or version < 1:
        raise SerializationError(f"{str(path)!r} has no schema_version")
    if version > latest:
        raise SerializationError(
            f"{str(path)!r} is of a later release: it has schema {version}, "
            f"this release reads up to {latest}"
        )
    return data, raw if version >= SEALED_VERSION else b""
