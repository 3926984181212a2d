"""How wide a chart with equal axes is for its height."""

import numpy as np

from kinetarium.figure.heatmap import Heatmap, cell_edges
from kinetarium.figure.line import Lines
from kinetarium.report.drawn_samples import drawable

_NARROWEST, _WIDEST = 0.6, 3.0


def aspect(chart: Lines | Heatmap) -> float:
    """Give the width over the height of what is drawn, within what a page can show."""
    if isinstance(chart, Heatmap):
        x, y = cell_edges(chart.columns, chart.x), cell_edges(chart.rows, chart.y)
    else:
        x = drawable(np.concatenate([[], *(series.x for series in chart.series)]), chart.x)
        y = drawable(np.concatenate([[], *(series.y for series in chart.series)]), chart.y)
    x, y = x[np.isfinite(x)], y[np.isfinite(y)]
    if not x.size or not y.size or not np.ptp(y):
        return _WIDEST
    return float(np.clip(np.ptp(x) / np.ptp(y), _NARROWEST, _WIDEST))
