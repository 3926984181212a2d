"""JSON files that carry the version of their schema, so that later releases can open them.

Files that people may edit carry the version alone. Results and maps are sealed, too: their
last entry is the SHA-256 of all bytes before it, so that a single changed bit is noticed.
"""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from kinetarium.storage.regular_file import read_regular, reason
from kinetarium.storage.serialization import PlainDataError
from kinetarium.storage.strict_json import parse_json, strict_json

SCHEMA_VERSION = 1
SEALED_VERSION = 2
MOST_JSON_BYTES = 64_000_000

_SEAL = "sha256_of_all_above"
_END = b"\n}\n"


def versioned_json(payload: Mapping[str, Any]) -> bytes:
    """Return plain data as the content of a JSON file; numbers that are not finite become null."""
    return (strict_json({"schema_version": SCHEMA_VERSION} | dict(payload)) + "\n").encode()


def sealed_json(payload: Mapping[str, Any]) -> bytes:
    """Return plain data as the content of a JSON file that ends with its own digest."""
    text = strict_json({"schema_version": SEALED_VERSION} | dict(payload)) + "\n"
    return _sealed(text.encode().removesuffix(_END))


def read_versioned_json(path: Path, *, most: int = MOST_JSON_BYTES) -> dict[str, Any]:
    """Read a JSON file that people may edit, written by this release or an earlier one.

    Args:
        path: The file.
        most: The largest size that is read [bytes].

    Returns:
        What it holds, without the version.

    Raises:
        PlainDataError: If it cannot be read, is not strict JSON, or is of a later release.
    """
    data, _ = _read(path, most=most, latest=SCHEMA_VERSION, through_links=True)
    return data


def read_sealed_json(path: Path) -> dict[str, Any]:
    """Read a sealed JSON file, or one of release 0.1, which sealed none.

    A symbolic link is not followed: such files lie in folders received from others.

    Returns:
        What it holds, without version and seal.

    Raises:
        PlainDataError: If it cannot be read, is not strict JSON, has changed since it was
            written, or is of a later release.
    """
    data, raw = _read(path, most=MOST_JSON_BYTES, latest=SEALED_VERSION, through_links=False)
    if raw and _sealed(raw[: -len(_sealed(b""))]) != raw:
        raise PlainDataError(f"{str(path)!r} has changed since it was written")
    data.pop(_SEAL, None)
    return data


def _sealed(head: bytes) -> bytes:
    digest = sha256(head).hexdigest()
    return head + f',\n  "{_SEAL}": "{digest}"'.encode() + _END


def _read(
    path: Path, *, most: int, latest: int, through_links: bool
) -> tuple[dict[str, Any], bytes]:
    """Return what a file holds, and its bytes if it is of a version that is sealed."""
    try:
        raw = read_regular(path, most=most, through_links=through_links)
        text = raw.decode()
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
    if version > latest:
        raise PlainDataError(
            f"{str(path)!r} is of a later release: it has schema {version}, "
            f"this release reads up to {latest}"
        )
    return data, raw if version >= SEALED_VERSION else b""
