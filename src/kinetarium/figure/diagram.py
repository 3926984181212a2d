"""Diagram: boxes on a grid, and arrows that say what goes from one to another."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Box:
    """A block of a diagram.

    Attributes:
        name: What it is; unique in the diagram.
        text: What it does, in a few words; lines are split at line breaks.
        column: Where it stands, counted from the left.
        row: Where it stands, counted from the top.
    """

    name: str
    text: str
    column: int
    row: int


@dataclass(frozen=True, slots=True)
class Arrow:
    """Something that goes from one box to another in the same row or column.

    Attributes:
        start: Name of the box it leaves.
        end: Name of the box it enters.
        label: What goes; may be empty.
    """

    start: str
    end: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Diagram:
    """Boxes and arrows.

    Attributes:
        title: What it shows.
        boxes: The boxes.
        arrows: The arrows.
        caption: What to see in it; may be empty.
    """

    title: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    caption: str = ""

    def __post_init__(self) -> None:
        """Refuse arrows that lead nowhere.

        Raises:
            ValueError: If an end is no box, or two ends share neither a row nor a column.
        """
        places = {box.name: (box.column, box.row) for box in self.boxes}
        for arrow in self.arrows:
            if arrow.start not in places or arrow.end not in places:
                raise ValueError(f"diagram '{self.title}': {arrow} has an end that is no box")
            (a, b), (c, d) = places[arrow.start], places[arrow.end]
            if (a == c) == (b == d):
                raise ValueError(f"diagram '{self.title}': {arrow} is neither level nor upright")
