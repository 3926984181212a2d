"""The palette: colours of series and scales, told apart by the colour-blind too.

Every colour of a series stands out from the page by at least 3 to 1 (WCAG
2.2, 1.4.11), in light and in dark, and from each other one by at least 9 in
100 times OKLab distance, also as seen with protanopia, deuteranopia or
tritanopia (Machado, Oliveira, Fernandes, "A physiologically-based model for
simulation of color vision deficiency", IEEE TVCG 2009).
"""

from kinetarium.figure.bars import Bars
from kinetarium.figure.line import Lines
from kinetarium.figure.page import Page

LIGHT = (
    "#024cd8", "#c83800", "#02a48b", "#8e298d", "#152a57", "#b18e00", "#6b1a22", "#6d6f72",
)  # fmt: skip
"""Colours of series on white."""

DARK = (
    "#3a69ff", "#f0922b", "#37f5c7", "#ad5c9b", "#7aabff", "#ffdf3a", "#c94a30", "#989ea0",
)  # fmt: skip
"""The same on a dark ground, in the same order."""

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
    """Number the names of all series of a page in the order in which they appear.

    The number chooses colour and marker, so that an engine looks the same in
    every figure; beyond the palette colours repeat with other markers.
    """
    names = (
        series.name
        for section in page.sections
        for figure in section.figures
        if isinstance(figure, Lines | Bars)
        for series in figure.series
    )
    return {name: number for number, name in enumerate(dict.fromkeys(names))}
