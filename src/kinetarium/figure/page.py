"""Page: sections of figures, as one report shows them."""

from collections import Counter
from dataclasses import dataclass
from itertools import count

from kinetarium.figure.charts import Bars, Heatmap, Lines, Parallel
from kinetarium.figure.scene3d import Scene3D
from kinetarium.figure.text import Facts, Listing, Prose, Table


@dataclass(frozen=True, slots=True)
class DiagramBlock:
    """A block of a diagram.

    Attributes:
        name: What it is; unique in the diagram.
        text: What it does, in a few words; lines are split at line breaks.
        column: Column, counted from the left.
        row: Row, counted from the top.
    """

    name: str
    text: str
    column: int
    row: int


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal from one block to another in the same row or column.

    Attributes:
        start: Name of the block it leaves.
        end: Name of the block it enters.
        label: What is transmitted; may be empty.
    """

    start: str
    end: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Diagram:
    """Blocks and the signals between them.

    Attributes:
        title: What it shows.
        blocks: The blocks.
        signals: The signals.
        caption: What the reader should notice; may be empty.
    """

    title: str
    blocks: tuple[DiagramBlock, ...]
    signals: tuple[Signal, ...]
    caption: str = ""

    def __post_init__(self) -> None:
        """Check that every signal connects two blocks.

        Raises:
            ValueError: If an end is not a block, or two ends share neither a row nor a column.
        """
        places = {block.name: (block.column, block.row) for block in self.blocks}
        for signal in self.signals:
            if signal.start not in places or signal.end not in places:
                raise ValueError(f"diagram '{self.title}': {signal} has an end that is not a block")
            (a, b), (c, d) = places[signal.start], places[signal.end]
            if (a == c) == (b == d):
                raise ValueError(f"diagram '{self.title}': {signal} is neither level nor upright")


Chart = Lines | Heatmap | Bars | Parallel
Figure = Prose | Facts | Listing | Table | Diagram | Scene3D | Chart
"""What a section can show."""


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
        provenance: How to reproduce it: names and values, such as the command and versions.
        conclusion: What came out, in one to three sentences; it is shown above the lead.
    """

    title: str
    lead: str
    sections: tuple[Section, ...]
    provenance: tuple[tuple[str, str], ...]
    conclusion: str = ""


LIGHT = (
    "#024cd8", "#c83800", "#02a48b", "#8e298d", "#152a57", "#b18e00", "#6b1a22", "#6d6f72",
)  # fmt: skip
"""Colours of series on white."""

DARK = (
    "#3a69ff", "#f0922b", "#37f5c7", "#ad5c9b", "#7aabff", "#ffdf3a", "#c94a30", "#989ea0",
)  # fmt: skip
"""The same on a dark background, in the same order."""

SEQUENTIAL = (
    "#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30",
    "#fde725",
)  # fmt: skip
"""From low to high: viridis, whose lightness rises evenly."""

DIVERGING = (
    "#2166ac", "#4393c3", "#92c5de", "#d1e5f0", "#f7f7f7", "#fddbc7", "#f4a582", "#d6604d",
    "#b2182b",
)  # fmt: skip
"""From below the middle to above it: ColorBrewer's blue to red."""


def tones(page: Page) -> dict[str, int]:
    """Number the names of all series of a page, those of most charts first.

    The number chooses colour and marker, so that an engine looks the same in every figure. Each
    name has a colour of its own while they last, and then one that no other series of its charts
    has: what one chart alone has, such as the joints of a robot, does not use up the colours of
    what is compared throughout. In a chart of still more, they repeat with other dashes.
    """
    charts = [
        list(dict.fromkeys(series.name for series in figure.series))
        for section in page.sections
        for figure in section.figures
        if isinstance(figure, Lines | Bars | Parallel)
    ]
    counts = Counter(name for names in charts for name in names)
    found: dict[str, int] = {}
    for name, _ in counts.most_common():
        beside = {found.get(other) for names in charts if name in names for other in names}
        free = next((n for n in range(len(LIGHT)) if n not in found.values()), None)
        found[name] = next(n for n in count() if n not in beside) if free is None else free
    return found


def tone_round(tone: int) -> int:
    """Return how often all colours are used before the series of a number."""
    return tone // len(LIGHT)
