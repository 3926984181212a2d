"""Facts: a few headline values, each with its name."""

from dataclasses import dataclass

from kinetarium.figure.cell import Cell


@dataclass(frozen=True, slots=True)
class Facts:
    """Headline values.

    Attributes:
        items: Name, value and unit of each; the unit may be empty.
    """

    items: tuple[tuple[str, Cell, str], ...]
