"""A Heatmap in the words of Plotly."""

from math import log10
from typing import Any

import numpy as np

from kinetarium.figure.axis import Axis
from kinetarium.figure.cell import cell_text
from kinetarium.figure.heatmap import Heatmap, Spot, Steps, are_names, cell_edges
from kinetarium.report.color_scale import ColorScale, color_scale
from kinetarium.report.packed import packed_values
from kinetarium.report.plotly_layout import (
    named_ticks,
    plotly_axis,
    plotly_layout,
    plotly_text,
)

_BAR_HEIGHT = 72
"""Height of the colour scale above a heatmap with its texts [pixels]."""

_BELOW_HEADING = '<br><span style="font-size:4px"> </span>'
"""A second, low line, which keeps the heading of the colour scale off the colours."""


def plotly_heatmap(heatmap: Heatmap) -> dict[str, Any]:
    """Give the traces and the layout that draw a heatmap."""
    x, y = _axis(heatmap.x, heatmap.columns), _axis(heatmap.y, heatmap.rows)
    if are_names(heatmap.rows):
        y["range"] = y["range"][::-1]
    if heatmap.equal:
        y |= {"scaleanchor": "x", "scaleratio": 1, "constrain": "domain", "constraintoward": "top"}
        x |= {"constrain": "domain"}
    layout = plotly_layout(x, y, legend=False)
    layout["plot_bgcolor"] = "var(--empty)"
    layout["margin"]["t"] = _BAR_HEIGHT
    layout["annotations"] = [_label(spot, heatmap) for spot in heatmap.shown_marks if spot.label]
    return {"data": [_cells(heatmap), _spots(heatmap.shown_marks)], "layout": layout}


def _axis(axis: Axis, steps: Steps) -> dict[str, Any]:
    form = plotly_axis(axis, cell_edges(steps, axis)) | {"showgrid": False}
    if are_names(steps):
        return form | named_ticks(tuple(str(step) for step in steps)) | {"type": "linear"}
    return form


def _cells(heatmap: Heatmap) -> dict[str, Any]:
    scale = color_scale(heatmap)
    trace = {
        "type": "heatmap",
        "x": cell_edges(heatmap.columns, heatmap.x).tolist(),
        "y": cell_edges(heatmap.rows, heatmap.y).tolist(),
        "z": packed_values(scale.levels),
        "zmin": scale.low,
        "zmax": scale.high,
        "colorscale": [
            [place, color]
            for place, color in zip(
                np.linspace(0.0, 1.0, len(scale.colors)).tolist(), scale.colors, strict=True
            )
        ],
        "colorbar": _bar(heatmap.value, scale),
        "hoverongaps": False,
    }
    if heatmap.annotate:
        trace |= {"text": _texts(heatmap), "texttemplate": "%{text}", "xgap": 1, "ygap": 1}
    if are_names(heatmap.rows) or are_names(heatmap.columns):
        return trace | {"hovertext": _hints(heatmap), "hoverinfo": "text"}
    return trace | {
        "customdata": packed_values(heatmap.values),
        "hovertemplate": "%{x}, %{y}<br>%{customdata:.4~g}<extra></extra>",
    }


def _bar(value: Axis, scale: ColorScale) -> dict[str, Any]:
    bar = {
        "orientation": "h",
        "x": 0,
        "xanchor": "left",
        "xpad": 0,
        "yref": "container",
        "y": 0.98,
        "yanchor": "top",
        "ypad": 0,
        "thickness": 10,
        "outlinewidth": 0,
        "exponentformat": "power",
        "title": {
            "text": f"{plotly_text(value.heading, most=60)}{_BELOW_HEADING}",
            "side": "top",
            "font": {"size": 13},
        },
    }
    if scale.ticks:
        levels, texts = zip(*scale.ticks, strict=True)
        bar |= {"tickmode": "array", "tickvals": levels, "ticktext": texts}
    return bar


def _texts(heatmap: Heatmap) -> list[list[str]]:
    return [
        ["" if np.isnan(value) else f"{value:.3g}" for value in row]
        for row in heatmap.values.tolist()
    ]


def _hints(heatmap: Heatmap) -> list[list[str]]:
    """Say of each cell what the pointer shows."""
    columns, rows = (
        [plotly_text(step if isinstance(step, str) else cell_text(step)) for step in steps]
        for steps in (heatmap.columns, heatmap.rows)
    )
    unit = plotly_text(heatmap.value.unit)
    return [
        [
            f"{row}, {column}<br>{cell_text(value)} {unit}"
            for column, value in zip(columns, values, strict=True)
        ]
        for row, values in zip(rows, heatmap.values.tolist(), strict=True)
    ]


def _spots(marks: tuple[Spot, ...]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [spot.x for spot in marks],
        "y": [spot.y for spot in marks],
        "marker": {
            "symbol": "star",
            "size": 13,
            "color": "#ffffff",
            "line": {"color": "#1c2127", "width": 1.5},
        },
        "hoverinfo": "skip",
    }


def _label(spot: Spot, heatmap: Heatmap) -> dict[str, Any]:
    """Write the label of a spot above it; Plotly places texts by the logarithm on such axes."""
    x_log = heatmap.x.log and not are_names(heatmap.columns)
    y_log = heatmap.y.log and not are_names(heatmap.rows)
    return {
        "x": log10(spot.x) if x_log else spot.x,
        "y": log10(spot.y) if y_log else spot.y,
        "text": plotly_text(spot.label),
        "showarrow": False,
        "yshift": 17,
        "bgcolor": "rgba(255,255,255,0.85)",
        "font": {"color": "#1c2127", "size": 12},
    }
