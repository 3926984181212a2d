"""What differs between two pieces of plain data, in words."""

from collections.abc import Mapping
from typing import Any

from kinetarium.recording.strict_json import strict_json

_MOST_CHARACTERS = 60


def differences(held: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Name every value that two dictionaries do not share; a missing one equals None.

    Args:
        held: What is there.
        asked: What should be.

    Returns:
        Such as "height 1.0 instead of 0.5".
    """
    there, wanted = _leaves(held, ()), _leaves(asked, ())
    return [
        f"{path[-1]} {_in_words(there.get(path))} instead of {_in_words(wanted.get(path))}"
        for path in there | wanted
        if there.get(path) != wanted.get(path)
    ]


def _leaves(data: Mapping[str, Any], path: tuple[str, ...]) -> dict[tuple[str, ...], Any]:
    """Give the values by the names that lead to them."""
    found: dict[tuple[str, ...], Any] = {}
    for name, value in data.items():
        if isinstance(value, Mapping):
            found |= _leaves(value, (*path, name))
        else:
            found[*path, name] = value
    return found


def _in_words(value: Any) -> str:
    if value is None:
        return "none"
    text = strict_json(value, indent=None)
    text = text[1:-1] if isinstance(value, str) else text
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."
