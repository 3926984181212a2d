"""Charts as still pictures, drawn by Matplotlib: for paper, and as files."""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from typing import Any

import numpy as np

from kinetarium.figure.bars import Bars
from kinetarium.figure.heatmap import Heatmap
from kinetarium.figure.line import Lines
from kinetarium.figure.page import Chart, Page
from kinetarium.figure.palette import tones
from kinetarium.report.aspect import aspect
from kinetarium.report.plain_text import label
from kinetarium.report.still_bars import draw_bars
from kinetarium.report.still_heatmap import draw_heatmap
from kinetarium.report.still_lines import draw_lines, legend_rows

_WIDTH = 7.0
"""Width of a picture [inch]: a page of A4 between its margins."""

_STYLE = {
    # Names from files are no formulas, and one that looks like a broken formula is no error.
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#5b6570",
    "axes.labelcolor": "#1c2127",
    "axes.axisbelow": True,
    "grid.color": "#dfe3e7",
    "grid.linewidth": 0.7,
    "xtick.color": "#5b6570",
    "ytick.color": "#5b6570",
    "xtick.labelcolor": "#1c2127",
    "ytick.labelcolor": "#1c2127",
    "text.color": "#1c2127",
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "kinetarium",
}


class Still:
    """A chart that is laid out and painted once, which takes the time, for all its pictures."""

    def __init__(self, chart: Chart, tones: Mapping[str, int], *, dots_per_inch: int = 150) -> None:
        """Lay a chart out.

        Args:
            chart: The chart.
            tones: Numbers of all names of series on the page.
            dots_per_inch: Resolution of what is painted.
        """
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        self._density = dots_per_inch
        with _house_style():
            self._figure, self._title = _drawn(chart, tones)
            self._figure.set_dpi(dots_per_inch)
            canvas = FigureCanvasAgg(self._figure)
            canvas.draw()
            self._pixels = np.array(canvas.buffer_rgba())
            self._below_title = len(self._pixels) - int(self._title.get_window_extent().y0)
            self._figure.set_layout_engine("none")

    def png(self, *, titled: bool = True) -> bytes:
        """Give it as PNG.

        Args:
            titled: Whether its title stands above it.
        """
        from PIL import Image

        png = BytesIO()
        picture = Image.fromarray(self._pixels[0 if titled else self._below_title :])
        picture.save(png, "png", dpi=(self._density, self._density))
        return png.getvalue()

    def svg(self) -> bytes:
        """Print it as SVG, texts as texts."""
        from matplotlib.backends.backend_svg import FigureCanvasSVG

        svg = BytesIO()
        with _house_style():
            unsaid = dict.fromkeys(("Date", "Creator", "Format", "Type"))
            FigureCanvasSVG(self._figure).print_svg(svg, metadata=unsaid)
        return svg.getvalue()


class Stills:
    """The charts of a page as stills, each laid out when it is first asked for."""

    def __init__(self, page: Page) -> None:
        """Choose a page."""
        self._tones = tones(page)
        self._stills: dict[Chart, Still] = {}

    def __getitem__(self, chart: Chart) -> Still:
        """Give the still of a chart."""
        if chart not in self._stills:
            self._stills[chart] = Still(chart, self._tones)
        return self._stills[chart]


@contextmanager
def _house_style() -> Iterator[None]:
    """Draw alike on every machine, whatever its user's settings of Matplotlib."""
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        # A name in a script that the font does not know is drawn as boxes.
        warnings.filterwarnings("ignore", message="Glyph")
        yield


def _drawn(chart: Chart, tones: Mapping[str, int]) -> tuple[Any, Any]:
    """Give a chart as a figure, and its title."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, _height(chart)), layout="constrained")
    axes = figure.add_subplot()
    match chart:
        case Lines():
            draw_lines(axes, chart, tones)
        case Bars():
            draw_bars(axes, chart, tones)
        case Heatmap():
            draw_heatmap(axes, chart)
    words = label(chart.title, most=90)
    return figure, figure.suptitle(words, x=0.01, ha="left", weight="bold", size=10)


def _height(chart: Chart) -> float:
    """Give the height of a picture [inch]."""
    legend = 0.0
    if not isinstance(chart, Heatmap):
        legend = 0.17 * legend_rows([series.name for series in chart.series])
    match chart:
        case Lines(equal=True) | Heatmap(equal=True):
            return 5.8 / aspect(chart) + 0.9 + legend
        case Heatmap():
            return min(max(1.6 + 0.28 * len(chart.rows), 3.2), 8.0)
        case Lines() | Bars():
            return 3.6 + legend
