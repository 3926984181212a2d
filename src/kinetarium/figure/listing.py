"""Listing: short texts, one below the other."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of texts.

    Attributes:
        title: What they are.
        items: The texts.
    """

    title: str
    items: tuple[str, ...]
