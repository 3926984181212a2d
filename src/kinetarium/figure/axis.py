"""Axis: what is measured along a side of a figure, and in which unit."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Axis:
    """A side of a figure.

    Attributes:
        label: What is measured.
        unit: Its unit, or empty.
        log: Whether it is divided by powers of ten; then only positive values are drawn.
    """

    label: str
    unit: str = ""
    log: bool = False

    @property
    def heading(self) -> str:
        """The label with the unit in brackets."""
        return f"{self.label} [{self.unit}]" if self.unit else self.label
