"""JSON files that carry the version of their schema, so that later releases can open them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kinetarium.recording.plain import PlainDataError
from kinetarium.recording.regular_file import read_regular, reason
from kinetarium.recording.strict_json import parse_json, strict_json

SCHEMA_VERSION = 1
MOST_JSON_BYTES = 64_000_000


def versioned_json(payload: Mapping[str, Any]) -> bytes:
    """Give plain data as the content of a JSON file; numbers that are not finite become null."""
    return (strict_json({"schema_version": SCHEMA_VERSION} | dict(payload)) + "\n").encode()


def read_versioned_json(path: Path, *, most: int = MOST_JSON_BYTES) -> dict[str, Any]:
    """Read a JSON file written by this release or an earlier one.

    Args:
        path: The file.
        most: The largest size that is read [bytes].

    Returns:
        What it holds, without the version.

    Raises:
        PlainDataError: If it cannot be read, is not strict JSON, or is of a later release.
    """
    try:
        text = read_regular(path, most=most).decode()
    except UnicodeDecodeError:
        raise PlainDataError(f"{str(path)!r} is not UTF-8 text") from None
    except (OSError, ValueError) as error:
        raise PlainDataError(f"cannot read {str(path)!r}: {reason(error)}") from None
    try:
        data: dict[str, Any] = parse_json(text)
    except RecursionError:
        raise PlainDataError(f"{str(path)!r} is nested too deeply") from None
    except ValueError as error:
        raise PlainDataError(f"{str(path)!r} is not JSON: {error}") from None
    version = data.pop("schema_version", None) if isinstance(data, dict) else None
    if type(version) is not int or version < 1:
        raise PlainDataError(f"{str(path)!r} does not say its schema_version")
    if version > SCHEMA_VERSION:
        raise PlainDataError(
            f"{str(path)!r} is of a later release: it has schema {version}, "
            f"this release reads up to {SCHEMA_VERSION}"
        )
    return data
