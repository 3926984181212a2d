"""Misspelt names: silently ignored, they are wrong physics."""

from collections.abc import Iterable
from difflib import get_close_matches

_CLOSENESS = 0.75
_LONGEST = 40
"""Longer names are no misspelling of ours, and comparing them costs time."""


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Give the known name that a misspelt one stands for, or None if it resembles none."""
    if len(name) > _LONGEST:
        return None
    folded = {other.lower(): other for other in known}
    # Swapped letters weigh too much in a name as short as "xyz" for the ratio to see them.
    swapped = [other for other in folded if sorted(other) == sorted(name.lower())]
    close = swapped or get_close_matches(name.lower(), folded, n=1, cutoff=_CLOSENESS)
    return folded[close[0]] if close else None


def is_one_slip(name: str, other: str) -> bool:
    """Say whether one wrong, missing, doubled or swapped letter makes a name another.

    Names of one or two letters are too short to tell.
    """
    name, other = name.lower(), other.lower()
    if min(len(name), len(other)) < 3 or abs(len(name) - len(other)) > 1:
        return False
    if len(name) > len(other):
        name, other = other, name
    same = next((i for i, letter in enumerate(name) if letter != other[i]), len(name))
    rest, other_rest = name[same:], other[same:]
    if len(name) < len(other):
        return rest == other_rest[1:]
    swapped = rest[:2] == other_rest[1::-1] and rest[2:] == other_rest[2:]
    return rest[1:] == other_rest[1:] or swapped


def shares_a_word(name: str, other: str) -> bool:
    """Say whether one of two names is a word of the other, as lower is of lower_limit."""
    longer, shorter = sorted((name.lower(), other.lower()), key=len, reverse=True)
    return shorter != longer and shorter in longer.replace("-", "_").split("_")


def extends(name: str, other: str) -> bool:
    """Say whether one of two names is the beginning or a word of the other, as damp of damping."""
    longer, shorter = sorted((name.lower(), other.lower()), key=len, reverse=True)
    begins = len(shorter) >= 3 and longer.startswith(shorter)
    return begins or shares_a_word(longer, shorter)
