"""Plotly axes, layouts and arrays common to all charts.

Colours are variables of the page's style sheet, such as `var(--ink)`; the
page's script looks them up, so that a chart follows the light and dark theme.
"""

from base64 import b64encode
from html import escape
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.figure.charts import Axis
from kinetarium.figure.page import LIGHT, tone_round
from kinetarium.report.drawing import drawable, label
from kinetarium.spatial.arrays import Array

_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "x", "cross")

CLEAR = "rgba(0,0,0,0)"
MODEBAR = {"bgcolor": CLEAR, "color": "var(--soft)", "activecolor": "var(--accent)"}
"""Colours of the buttons of a chart or a scene."""
_DASHES = ("solid", "6px,2px", "2px,2px", "8px,3px,2px,3px")
_PATTERNS = ("", "/", "x", ".")


def tone_color(tone: int) -> str:
    """Return the colour of a series by the number of its name."""
    return f"var(--series-{tone % len(LIGHT)})"


def tone_symbol(tone: int) -> str:
    """Return the marker of a series by the number of its name."""
    return _SYMBOLS[tone % len(_SYMBOLS)]


def tone_dash(tone: int) -> str:
    """Return the dash of a series by the number of its name; none while colours last."""
    return _DASHES[tone_round(tone) % len(_DASHES)]


def tone_pattern(tone: int) -> str:
    """Return the pattern of a bar by the number of its name; none while colours last."""
    return _PATTERNS[tone_round(tone) % len(_PATTERNS)]


def plotly_text(text: str, *, most: int = 40) -> str:
    """Return a label without any of the tags that Plotly interprets."""
    return escape(label(text, most=most), quote=False)


def plotly_axis(axis: Axis, values: Array) -> dict[str, Any]:
    """Return an axis with its heading.

    Args:
        values: What is drawn along it, shape (n,).
    """
    form: dict[str, Any] = {
        "title": {
            "text": plotly_text(axis.heading, most=60),
            "standoff": 8,
            "font": {"size": 13},
        },
        "type": "log" if axis.log else "linear",
        "automargin": True,
        "gridcolor": "var(--line)",
        "linecolor": "var(--soft)",
        "zeroline": False,
        "exponentformat": "power",
        "hoverformat": ".4~g",
        "tickfont": {"size": 12},
    }
    if axis.log:
        powers = np.log10(drawable(values, axis))
        powers = powers[np.isfinite(powers)]
        decades = float(np.ptp(powers)) if powers.size else 0.0
        # By default Plotly writes digits between powers of ten until they overlap.
        if decades >= 2:
            form["dtick"] = ceil(decades / 7)
        elif decades >= 0.7:
            form |= {"dtick": "D2", "tickformat": "~g"}  # 1, 2 and 5, written out
    return form


def named_ticks(names: tuple[str, ...]) -> dict[str, Any]:
    """Write names at 0, 1, 2 ... of an axis."""
    return {
        "tickmode": "array",
        "tickvals": list(range(len(names))),
        "ticktext": [plotly_text(name, most=24) for name in names],
        "range": [-0.5, len(names) - 0.5],
        "autotickangles": [0, -35, -90],
        "showgrid": False,
    }


def plotly_layout(x: dict[str, Any], y: dict[str, Any], *, legend: bool) -> dict[str, Any]:
    """Return the layout of a chart.

    Args:
        legend: Whether series are named above the chart.
    """
    return {
        "xaxis": x,
        "yaxis": y,
        "margin": {"l": 8, "r": 12, "t": 12, "b": 8},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "font": {"family": "system-ui, sans-serif", "size": 13, "color": "var(--ink)"},
        "hoverlabel": {
            "bgcolor": "var(--card)",
            "bordercolor": "var(--line)",
            "font": {"color": "var(--ink)"},
            "namelength": 40,
        },
        "modebar": MODEBAR,
        "showlegend": legend,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "bgcolor": CLEAR},
    }


def typed_array(values: NDArray[Any]) -> dict[str, str]:
    """Encode an array of one or two dimensions as a Plotly typed array."""
    little_endian = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    form = {
        "dtype": f"{values.dtype.kind}{values.dtype.itemsize}",
        "bdata": b64encode(little_endian.tobytes()).decode(),
    }
    if values.ndim == 2:
        form["shape"] = f"{values.shape[0]}, {values.shape[1]}"
    return form


def typed_values(values: Array) -> dict[str, str]:
    """Encode measured values, in single precision if the difference is invisible.

    Single precision keeps 7 digits, which is enough unless all values are
    nearly equal, when a narrow axis would show the rounding.
    """
    finite = values[np.isfinite(values)]
    span = np.ptp(finite) if finite.size else 0.0
    fits = finite.size == 0 or 1e-30 < np.abs(finite).max() < min(1e3 * span, 1e30)
    return typed_array(values.astype(np.float32) if fits else values)
