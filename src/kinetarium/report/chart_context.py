"""What the page's template needs of a chart."""

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from kinetarium.figure.bars import Bars
from kinetarium.figure.heatmap import Heatmap
from kinetarium.figure.line import Lines
from kinetarium.figure.page import Chart
from kinetarium.report.aspect import aspect
from kinetarium.report.embedded_json import embedded_json
from kinetarium.report.plotly_bars import plotly_bars
from kinetarium.report.plotly_heatmap import plotly_heatmap
from kinetarium.report.plotly_lines import plotly_lines
from kinetarium.report.still import Still


def chart_context(
    chart: Chart, tones: Mapping[str, int], *, still: Still, number: int
) -> dict[str, Any]:
    """Draw a chart for the page.

    Args:
        chart: The chart.
        tones: Numbers of all names of series on the page.
        still: The chart as a still.
        number: A number that no other figure of the page has.
    """
    from markupsafe import Markup

    return {
        "id": f"chart-{number}",
        "height": _height(chart),
        "shape": "square" if not isinstance(chart, Bars) and chart.equal else "wide",
        "still": f"data:image/png;base64,{b64encode(still.untitled_png).decode()}",
        "words": _words(chart),
        "json": Markup(embedded_json(_plotly(chart, tones))),
    }


def _plotly(chart: Chart, tones: Mapping[str, int]) -> dict[str, Any]:
    match chart:
        case Lines():
            return plotly_lines(chart, tones)
        case Bars():
            return plotly_bars(chart, tones)
        case Heatmap():
            return plotly_heatmap(chart)


def _height(chart: Chart) -> str:
    """Give the height of a chart on a screen, as a length of the style sheet.

    One with equal axes is as high as its width asks for.
    """
    match chart:
        case Lines(equal=True) | Heatmap(equal=True):
            return f"calc((100cqw - 4.5rem) / {aspect(chart):.3f} + 7.5rem)"
        case Heatmap():
            return f"{min(max(10.0 + 1.6 * len(chart.rows), 20.0), 44.0):.1f}rem"
        case Lines() | Bars():
            return f"{23.0 + 0.4 * max(0, len(chart.series) - 8):.1f}rem"


def _words(chart: Chart) -> str:
    """Say what a chart shows to those who cannot see it."""
    match chart:
        case Bars():
            return f"{chart.title}: {chart.value.heading}"
        case Heatmap():
            axes = f"{chart.x.heading} and {chart.y.heading}"
            return f"{chart.title}: {chart.value.heading} over {axes}"
        case Lines():
            return f"{chart.title}: {chart.y.heading} over {chart.x.heading}"
