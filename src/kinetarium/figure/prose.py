"""Prose: a paragraph of plain text."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph.

    Attributes:
        text: Plain text; no markup is read from it.
    """

    text: str
