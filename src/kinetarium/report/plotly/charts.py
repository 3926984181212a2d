"""Lines, bars, heatmaps, parallel axes and 3-D scenes as Plotly traces and layouts."""

from collections.abc import Iterator, Mapping
from html import escape
from math import log10
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.figure.charts import (
    Axis,
    Bars,
    BarSeries,
    Heatmap,
    Lines,
    Mark,
    Parallel,
    Series,
    Side,
    Spot,
    Steps,
    Style,
    are_names,
    cell_edges,
)
from kinetarium.figure.scene3d import Color, GroundGrid, Mesh3D, Scene3D
from kinetarium.figure.text import cell_text
from kinetarium.report.drawing import (
    ColorScale,
    Samples,
    bar_span,
    color_scale,
    drawable,
    drawn_samples,
    label,
)
from kinetarium.report.plotly._layout import (
    CLEAR,
    MODEBAR,
    named_ticks,
    plotly_axis,
    plotly_layout,
    plotly_text,
    tone_color,
    tone_dash,
    tone_pattern,
    tone_symbol,
    typed_array,
    typed_values,
)
from kinetarium.spatial.arrays import Array

_MODES = {Style.MARKERS: "markers", Style.BOTH: "lines+markers"}
_DASHES = {Style.DASHED: "dash", Style.DOTTED: "dot"}

_MOST_AT_ONCE = 8
"""Maximum number of series in one tooltip."""


def plotly_lines(lines: Lines, tones: Mapping[str, int]) -> dict[str, Any]:
    """Return the traces and the layout that draw lines.

    Args:
        tones: Numbers of all names of series on the page.
    """
    x = plotly_axis(lines.x, np.concatenate([[], *(series.x for series in lines.series)]))
    y = plotly_axis(lines.y, np.concatenate([[], *(series.y for series in lines.series)]))
    if lines.equal:
        y |= {"scaleanchor": "x", "scaleratio": 1}
    layout = plotly_layout(x, y, legend=any(series.name for series in lines.series))
    together = len(lines.series) <= _MOST_AT_ONCE and not lines.equal
    layout["hovermode"] = "x unified" if together else "closest"
    layout["shapes"] = [
        _shape(mark) for mark in lines.marks if np.isfinite(_place(lines, mark)).all()
    ]
    return {"data": list(_traces(lines, tones)), "layout": layout}


def _traces(lines: Lines, tones: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    for series in lines.series:
        tone = tones[series.name]
        samples = drawn_samples(series, x=lines.x, y=lines.y)
        shared = {"type": "scatter", "legendgroup": str(tone)}
        if samples.low is not None and samples.high is not None:
            yield shared | _band(samples.x, samples.low, samples.high, tone=tone)
        yield shared | _curve(samples, series.style, tone=tone) | {"name": plotly_text(series.name)}


def _curve(samples: Samples, style: Style, *, tone: int) -> dict[str, Any]:
    return {
        "mode": _MODES.get(style, "lines"),
        "x": typed_values(samples.x),
        "y": typed_values(samples.y),
        "line": {
            "color": tone_color(tone),
            "width": 2,
            "dash": _DASHES.get(style, tone_dash(tone)),
        },
        "marker": {"color": tone_color(tone), "size": 7, "symbol": tone_symbol(tone)},
    }


def _band(x: Array, low: Array, high: Array, *, tone: int) -> dict[str, Any]:
    """Draw a band as one closed outline for each interval without a gap."""
    whole = np.isfinite(x) & np.isfinite(low) & np.isfinite(high)
    outline_x, outline_y = [], []
    for stretch in np.split(np.arange(len(x)), np.flatnonzero(np.diff(whole)) + 1):
        if whole[stretch].any():
            outline_x += [x[stretch], x[stretch][::-1], [np.nan]]
            outline_y += [low[stretch], high[stretch][::-1], [np.nan]]
    return {
        "mode": "lines",
        "x": typed_values(np.concatenate([[], *outline_x])),
        "y": typed_values(np.concatenate([[], *outline_y])),
        "fill": "toself",
        "fillcolor": tone_color(tone),
        "line": {"width": 0},
        "opacity": 0.2,
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _place(lines: Lines, mark: Mark) -> Array:
    axis = lines.x if mark.side is Side.X else lines.y
    return drawable(np.array([mark.value]), axis)


def _shape(mark: Mark) -> dict[str, Any]:
    own, other = ("x", "y") if mark.side is Side.X else ("y", "x")
    return {
        "type": "line",
        f"{own}0": mark.value,
        f"{own}1": mark.value,
        f"{other}ref": "paper",
        f"{other}0": 0,
        f"{other}1": 1,
        "line": {"color": "var(--soft)", "width": 1.5, "dash": "dashdot"},
        "label": {
            "text": plotly_text(mark.label),
            "textposition": "end",
            "xanchor": "right",
            "yanchor": "top" if mark.side is Side.X else "bottom",
            "font": {"size": 12, "color": "var(--soft)"},
        },
    }


def plotly_bars(bars: Bars, tones: Mapping[str, int]) -> dict[str, Any]:
    """Return the traces and the layout that draw bars.

    Args:
        tones: Numbers of all names of series on the page.
    """
    x = plotly_axis(Axis(""), np.empty(0)) | named_ticks(bars.categories)
    span = bar_span(bars)
    y = plotly_axis(bars.value, np.array(span))
    if bars.value.log:
        y["range"] = [log10(end) for end in span]
    else:
        y |= {"zeroline": True, "zerolinecolor": "var(--soft)"}
    layout = plotly_layout(x, y, legend=any(series.name for series in bars.series))
    layout |= {"barmode": "group", "bargap": 0.25, "bargroupgap": 0.08}
    traces = [_trace(series, bars, tone=tones[series.name]) for series in bars.series]
    return {"data": traces, "layout": layout}


def _trace(series: BarSeries, bars: Bars, *, tone: int) -> dict[str, Any]:
    values = drawable(series.values, bars.value)
    trace = {
        "type": "bar",
        "name": plotly_text(series.name),
        "legendgroup": str(tone),
        "x": list(range(len(values))),
        "y": values.tolist(),
        "marker": {"color": tone_color(tone), "pattern": {"shape": tone_pattern(tone)}},
        "hovertext": _hints(series, bars),
        "hoverinfo": "text+name",
    }
    if series.low is not None and series.high is not None:
        trace["error_y"] = {
            "type": "data",
            "symmetric": False,
            "array": np.maximum(drawable(series.high, bars.value) - values, 0.0).tolist(),
            "arrayminus": np.maximum(values - drawable(series.low, bars.value), 0.0).tolist(),
            "color": "var(--ink)",
            "thickness": 1.5,
            "width": 4,
        }
    return trace


def _hints(series: BarSeries, bars: Bars) -> list[str]:
    """Return the tooltip of each bar."""
    unit = plotly_text(bars.value.unit)
    texts = [
        f"{plotly_text(category)}<br>{cell_text(value)} {unit}"
        for category, value in zip(bars.categories, series.values.tolist(), strict=True)
    ]
    if series.low is None or series.high is None:
        return texts
    ranges = zip(texts, series.low.tolist(), series.high.tolist(), strict=True)
    return [f"{text}<br>{cell_text(low)} to {cell_text(high)}" for text, low, high in ranges]


_BAR_HEIGHT = 72
"""Height of the colour scale above a heatmap with its texts [px]."""

_BELOW_HEADING = '<br><span style="font-size:4px"> </span>'
"""A second, low line, which separates the heading of the colour scale from the colours."""


def plotly_heatmap(heatmap: Heatmap) -> dict[str, Any]:
    """Return the traces and the layout that draw a heatmap."""
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
        "z": typed_values(scale.levels),
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
        return trace | {"hovertext": _cell_hints(heatmap), "hoverinfo": "text"}
    return trace | {
        "customdata": typed_values(heatmap.values),
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


def _cell_hints(heatmap: Heatmap) -> list[list[str]]:
    """Return the tooltip of each cell."""
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


def plotly_parallel(parallel: Parallel, tones: Mapping[str, int]) -> dict[str, Any]:
    """Return the traces and the layout that draw parallel coordinates.

    Args:
        tones: Numbers of all names of series on the page.
    """
    x = plotly_axis(Axis(""), np.empty(0))
    x |= named_ticks(tuple(scale.label for scale in parallel.scales))
    y = plotly_axis(Axis(""), np.empty(0)) | {"visible": False, "range": [-0.04, 1.04]}
    layout = plotly_layout(x, y, legend=any(series.name for series in parallel.series))
    layout["hovermode"] = False
    layout["shapes"] = [_shape(Mark(place, side=Side.X)) for place in range(len(parallel.scales))]
    layout["annotations"] = [
        {
            "x": place,
            "y": height,
            "text": plotly_text(text, most=16),
            "showarrow": False,
            "xanchor": "left",
            "xshift": 3,
            "bgcolor": "var(--card)",
            "font": {"size": 11, "color": "var(--ink)"},
        }
        for place, scale in enumerate(parallel.scales)
        for height, text in scale.ticks
    ]
    return {"data": [_cases(series, tones) for series in parallel.series], "layout": layout}


def _cases(series: Series, tones: Mapping[str, int]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": plotly_text(series.name),
        "x": typed_values(series.x),
        "y": typed_values(series.y),
        "line": {"color": tone_color(tones[series.name]), "width": 1},
        "opacity": 0.6,
    }


ASPECT = 4 / 3
"""Width over height of the picture of a scene."""


def plotly_scene(scene: Scene3D) -> dict[str, Any]:
    """Return the traces and the layout that draw a scene.

    The axes span a cube, so that the scale is the same in every direction; the
    camera is that of the scene.
    """
    points = np.concatenate([scene.ground.lines.reshape(-1, 3), scene.bounds])
    low, high = points.min(axis=0), points.max(axis=0)
    middle, edge = (low + high) / 2, float(np.max(high - low))
    camera = scene.camera(aspect=ASPECT)
    axes = {
        f"{axis}axis": {"visible": False, "range": [at - edge / 2, at + edge / 2]}
        for axis, at in zip("xyz", middle.tolist(), strict=True)
    }
    return {
        "data": [_ground_trace(scene.ground), *(_body_trace(body) for body in scene.bodies)],
        "layout": {
            "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
            "paper_bgcolor": CLEAR,
            "modebar": MODEBAR,
            "showlegend": False,
            "scene": {
                **axes,
                "bgcolor": CLEAR,
                "aspectmode": "cube",
                "dragmode": "turntable",
                "camera": {
                    "up": _xyz((0.0, 0.0, 1.0)),
                    "eye": _xyz((camera.eye - middle) / edge),
                    "center": _xyz((camera.target - middle) / edge),
                },
            },
        },
    }


def _body_trace(body: Mesh3D) -> dict[str, Any]:
    x, y, z = body.world_points.astype(np.float32).T
    kind = np.uint16 if len(body.world_points) < 2**16 else np.uint32
    i, j, k = body.mesh.faces.astype(kind).T
    return {
        "type": "mesh3d",
        "x": typed_array(x), "y": typed_array(y), "z": typed_array(z),
        "i": typed_array(i), "j": typed_array(j), "k": typed_array(k),
        "color": css_color(body.color),
        "opacity": body.color[3],
        "flatshading": True,
        "lighting": {
            "ambient": 0.55, "diffuse": 0.6, "specular": 0.05, "roughness": 0.9, "fresnel": 0.0,
            # By default triangles of less than a square millimetre are treated as degenerate.
            "facenormalsepsilon": 0, "vertexnormalsepsilon": 0,
        },
        "lightposition": {"x": 3e4, "y": -2e4, "z": 1e5},
        "text": escape(label(body.name)),  # Plotly interprets some tags
        "hoverinfo": "text",
    }  # fmt: skip


def _ground_trace(ground: GroundGrid) -> dict[str, Any]:
    """Draw all lines as one, with a gap after each."""
    gap = np.full((len(ground.lines), 1, 3), np.nan)
    x, y, z = np.concatenate([ground.lines, gap], axis=1).reshape(-1, 3).T
    return {
        "type": "scatter3d",
        "mode": "lines",
        "x": x.tolist(),
        "y": y.tolist(),
        "z": z.tolist(),
        "line": {"color": "#a4acb6", "width": 1},
        "hoverinfo": "skip",
    }


def css_color(color: Color) -> str:
    """Return a colour without its opacity."""
    return "#" + "".join(f"{round(255 * min(max(part, 0.0), 1.0)):02x}" for part in color[:3])


def _xyz(vector: ArrayLike) -> dict[str, float]:
    x, y, z = np.asarray(vector).tolist()
    return {"x": x, "y": y, "z": z}
