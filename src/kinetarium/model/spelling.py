"""Misspelt elements and attributes: silently ignored, they are wrong physics."""

from collections.abc import Iterable
from difflib import get_close_matches

from kinetarium.model.findings import Code, Findings
from kinetarium.model.markup import Element

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


def refuse_misspelt_attributes(
    element: Element, known: Iterable[str], *, findings: Findings
) -> None:
    """Refuse an attribute that resembles a known one which is not there itself.

    Other unknown attributes are extensions of other programs and left alone.

    Raises:
        RobotFileError: If an attribute looks misspelt.
    """
    absent = [name for name in known if name not in element.attributes]
    for name in element.attributes:
        meant = None if name in known or ":" in name else nearest_name(name, absent)
        if meant:
            raise findings.refusal(
                Code.UNKNOWN_ELEMENT,
                f"{element} has the unknown attribute {name!r}",
                remedy=f"did you mean {meant!r}?",
                line=element.line,
            )


def refuse_misspelt_element(element: Element, known: Iterable[str], *, findings: Findings) -> None:
    """Refuse an unknown element that resembles a known one.

    Raises:
        RobotFileError: If the element looks misspelt.
    """
    meant = nearest_name(element.tag, known)
    if meant:
        raise findings.refusal(
            Code.UNKNOWN_ELEMENT,
            f"unknown element <{element.tag}>",
            remedy=f"did you mean <{meant}>?",
            line=element.line,
        )
