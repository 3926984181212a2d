"""Page: sections of figures, as one report shows them."""

from dataclasses import dataclass

from kinetarium.figure.bars import Bars
from kinetarium.figure.diagram import Diagram
from kinetarium.figure.facts import Facts
from kinetarium.figure.heatmap import Heatmap
from kinetarium.figure.line import Lines
from kinetarium.figure.listing import Listing
from kinetarium.figure.prose import Prose
from kinetarium.figure.scene3d import Scene3D
from kinetarium.figure.table import Table

Chart = Lines | Heatmap | Bars
Figure = Prose | Facts | Listing | Table | Diagram | Scene3D | Chart


@dataclass(frozen=True, slots=True)
class Section:
    """Figures under one heading.

    Attributes:
        title: The heading.
        label: A short name beside the heading, or empty.
        figures: The figures in reading order.
    """

    title: str
    figures: tuple[Figure, ...]
    label: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A whole report.

    Attributes:
        title: The title.
        lead: The paragraph that says what it is.
        sections: The sections in reading order.
        provenance: How to make it again: names and values, such as the command and versions.
    """

    title: str
    lead: str
    sections: tuple[Section, ...]
    provenance: tuple[tuple[str, str], ...]
