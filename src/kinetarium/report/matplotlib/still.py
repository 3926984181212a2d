"""Charts and scenes as still pictures, drawn by Matplotlib: for print, and as files."""

import os
import signal
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from math import tan
from multiprocessing import current_process
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.batch.worker_process import StartedProcess, WorkerStart
from kinetarium.figure.charts import Bars, Heatmap, Lines, Parallel
from kinetarium.figure.page import Chart, Page, tones
from kinetarium.figure.scene3d import Camera, Scene3D
from kinetarium.report.drawing import aspect, label
from kinetarium.report.matplotlib._charts import (
    draw_bars,
    draw_heatmap,
    draw_lines,
    draw_parallel,
    legend_rows,
)
from kinetarium.spatial.arrays import Array

_WIDTH = 7.0
"""Width of a picture [inch]: a page of A4 between its margins."""

_STYLE = {
    # Names from files are not formulas, and one that looks like a broken formula is not an error.
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


@dataclass(frozen=True, slots=True)
class Still:
    """A chart as still pictures.

    Attributes:
        svg: As SVG, texts as texts.
        png: As PNG.
        untitled_png: As PNG, without the title above it.
    """

    svg: bytes
    png: bytes
    untitled_png: bytes


def draw_still(chart: Chart, tones: Mapping[str, int], *, dots_per_inch: int = 150) -> Still:
    """Draw a chart; layout and rendering, which take the time, are done once for all formats.

    Args:
        tones: Numbers of all names of series on the page.
        dots_per_inch: Resolution of the PNG.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    svg = BytesIO()
    with _house_style():
        figure, title = _drawn(chart, tones)
        figure.set_dpi(dots_per_inch)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        pixels = np.array(canvas.buffer_rgba())
        below_title = len(pixels) - int(title.get_window_extent().y0)
        figure.set_layout_engine("none")
        unsaid = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        FigureCanvasSVG(figure).print_svg(svg, metadata=unsaid)
    return Still(
        svg.getvalue(),
        _png(pixels, dots_per_inch=dots_per_inch),
        _png(pixels[below_title:], dots_per_inch=dots_per_inch),
    )


def _png(pixels: NDArray[np.uint8], *, dots_per_inch: int) -> bytes:
    from PIL import Image

    png = BytesIO()
    Image.fromarray(pixels).save(png, "png", dpi=(dots_per_inch, dots_per_inch))
    return png.getvalue()


@contextmanager
def _house_style() -> Iterator[None]:
    """Draw identically on every machine, whatever the user's Matplotlib settings."""
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        # A name in a script that the font does not know is drawn as boxes.
        warnings.filterwarnings("ignore", message="Glyph")
        yield


def _drawn(chart: Chart, tones: Mapping[str, int]) -> tuple[Any, Any]:
    """Return a chart as a figure, and its title."""
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
        case Parallel():
            draw_parallel(axes, chart, tones)
    words = label(chart.title, most=90)
    return figure, figure.suptitle(words, x=0.01, ha="left", weight="bold", size=10)


def _height(chart: Chart) -> float:
    """Return the height of a picture [inch]."""
    legend = 0.0
    if not isinstance(chart, Heatmap):
        legend = 0.17 * legend_rows([series.name for series in chart.series])
    match chart:
        case Lines(equal=True) | Heatmap(equal=True):
            return 5.8 / aspect(chart) + 0.9 + legend
        case Heatmap():
            return min(max(1.6 + 0.28 * len(chart.rows), 3.2), 8.0)
        case Lines() | Bars() | Parallel():
            return 3.6 + legend


_FEW = 3
"""Number of charts that take no longer than starting another process with Matplotlib."""


class Stills:
    """The charts of a page as stills."""

    def __init__(self, page: Page) -> None:
        """Draw all charts of a page."""
        figures = (figure for section in page.sections for figure in section.figures)
        charts = list(dict.fromkeys(figure for figure in figures if isinstance(figure, Chart)))
        self._stills = _draw_all(charts, tones(page))

    def __getitem__(self, chart: Chart) -> Still:
        """Return the still of a chart."""
        return self._stills[chart]


def _draw_all(charts: Sequence[Chart], tones: Mapping[str, int]) -> dict[Chart, Still]:
    """Draw charts in parallel processes, including this one."""
    parts = max(1, min(os.cpu_count() or 1, len(charts) // _FEW))
    if current_process().daemon:  # a daemon cannot have child processes
        parts = 1
    *others, own = (charts[part::parts] for part in range(parts))
    elsewhere = [_Elsewhere(share, tones) for share in others]
    stills = {chart: draw_still(chart, tones) for chart in own}
    for share, process in zip(others, elsewhere, strict=True):
        drawn = process.result() or [draw_still(chart, tones) for chart in share]
        stills.update(zip(share, drawn, strict=True))
    return stills


class _Elsewhere:
    """Charts drawn by another process."""

    def __init__(self, charts: Sequence[Chart], tones: Mapping[str, int]) -> None:
        """Start it, if it can be started."""
        self._started: tuple[StartedProcess, Connection] | None = None
        with suppress(OSError):
            self._started = WorkerStart(()).start(_draw_and_send, charts, tones)

    def result(self) -> list[Still] | None:
        """Wait for the stills; return None if the process failed."""
        if self._started is None:
            return None
        process, connection = self._started
        drawn: list[Still] | None = None
        with connection, suppress(EOFError, OSError):  # it died
            while process.is_alive() and not connection.poll():
                wait([connection, process.sentinel])
            if connection.poll():
                drawn = connection.recv()
        process.kill()
        process.join()
        process.close()
        return drawn


def _draw_and_send(
    connection: Connection, charts: Sequence[Chart], tones: Mapping[str, int]
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles the interrupt
    with suppress(Exception):  # the parent then draws the chart itself, and sees the same error
        connection.send([draw_still(chart, tones) for chart in charts])


_LIGHT = np.array([-0.30, 0.80, 0.52])
"""Direction towards the light in the axes of the picture: right, up, towards the eye."""

_DOTS_PER_INCH = 100


def scene_png(scene: Scene3D, *, width: int, height: int) -> bytes:
    """Draw a scene on a transparent background.

    Triangles are painted from the farthest to the nearest, each in one shade
    by Lambert's law, the same on both sides.

    Args:
        width: Width [pixels].
        height: Height [pixels].

    Returns:
        The picture as PNG.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.figure import Figure

    camera = scene.camera(aspect=width / height)
    corners = np.concatenate([body.world_points[body.mesh.faces] for body in scene.bodies])
    colors = np.repeat(
        [body.color for body in scene.bodies],
        [len(body.mesh.faces) for body in scene.bodies],
        axis=0,
    )
    seen = (corners - camera.eye) @ camera.rotation  # shape (triangles, 3 corners, 3), z < 0 ahead
    colors[:, :3] *= _shade(seen)[:, None]
    order = np.argsort(seen[:, :, 2].mean(axis=1))
    ground = (scene.ground.lines - camera.eye) @ camera.rotation
    ground = ground[(ground[:, :, 2] < 0).all(axis=1)]

    figure = Figure(figsize=(width / _DOTS_PER_INCH, height / _DOTS_PER_INCH), dpi=_DOTS_PER_INCH)
    figure.patch.set_alpha(0.0)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set(xlim=(-width / height, width / height), ylim=(-1, 1))
    axes.add_collection(
        LineCollection(list(_projected(ground, camera)), colors="#a4acb6", linewidths=0.6, zorder=1)
    )
    # Edges in the colour of their triangle close the hairline gaps between neighbours.
    paint = colors[order]
    axes.add_collection(
        PolyCollection(
            list(_projected(seen[order], camera)),
            facecolors=paint,
            edgecolors=paint,
            linewidths=0.3,
            zorder=2,
        )
    )
    png = BytesIO()
    FigureCanvasAgg(figure).print_png(png, metadata={"Software": None})
    return png.getvalue()


def _shade(triangles: Array) -> Array:
    """Return the brightness of each triangle, 0..1, shape (n,)."""
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    facing = np.abs(normals @ _LIGHT) / np.where(lengths > 0, lengths, 1.0)
    shade: Array = 0.5 + 0.5 * facing / np.linalg.norm(_LIGHT)
    return shade


def _projected(points: Array, camera: Camera) -> Array:
    """Project points in the axes of the camera; the picture's upper edge is at 1."""
    plane: Array = points[..., :2] / (-points[..., 2:] * tan(camera.view_angle / 2))
    return plane
