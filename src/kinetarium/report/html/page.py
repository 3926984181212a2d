"""A Page as one self-contained HTML file: no network requests, all text escaped."""

from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import count
from typing import Any

from kinetarium.figure.charts import Bars, Heatmap, Lines, Parallel
from kinetarium.figure.page import DARK, LIGHT, Chart, Diagram, DiagramBlock, Page, Signal, tones
from kinetarium.figure.scene3d import Scene3D
from kinetarium.figure.text import Cell, Facts, Listing, Prose, Table, cell_text
from kinetarium.recording.recording import RunStatus
from kinetarium.report.drawing import aspect, readable
from kinetarium.report.matplotlib.still import Still, Stills, scene_png
from kinetarium.report.plotly.charts import (
    ASPECT,
    plotly_bars,
    plotly_heatmap,
    plotly_lines,
    plotly_parallel,
    plotly_scene,
)
from kinetarium.storage.strict_json import strict_json

_LONGEST_WORD = 24
"""Maximum characters of a word that is not broken."""

_SHORT_TEXT = 40
"""Maximum characters of a text that is kept on one line in a scrolling table."""

_STATUS = "status"


def column_classes(table: Table) -> list[str]:
    """Return the classes of each column: numbers, short texts, texts, long words, or a status.

    The column of the verdict is marked besides; it stays in sight.
    """
    return [
        ("number" if table.is_numeric(column) else _text_class(table, column))
        + (" verdict" if column == table.verdict else "")
        for column in range(len(table.columns))
    ]


def cell_class(value: Cell, column: str) -> str:
    """Return the class of a cell: that of its column, and whether a run's status is good."""
    if not column.startswith(_STATUS):
        return column
    return f"{column} {'good' if value == RunStatus.COMPLETED else 'bad'}"


def _text_class(table: Table, column: int) -> str:
    texts = [cell_text(row[column]) for row in table.rows]
    if texts and set(texts) <= set(RunStatus):
        return _STATUS
    if any(len(word) > _LONGEST_WORD for text in texts for word in text.split()):
        return "breakable"
    return "short" if all(len(text) <= _SHORT_TEXT for text in texts) else "text"


_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def embedded_json(value: Any) -> str:
    """Return a value as JSON that is safe inside HTML and JavaScript.

    Nothing in it can end or open an element; everything beyond ASCII (such as
    U+2028) is escaped already.
    """
    return strict_json(value, indent=None).translate(_ESCAPES)


def chart_context(
    chart: Chart, tones: Mapping[str, int], *, still: Still, number: int
) -> dict[str, Any]:
    """Return the template values of a chart.

    Args:
        tones: Numbers of all names of series on the page.
        number: A number unique among the figures of the page.
    """
    from markupsafe import Markup

    return {
        "id": f"chart-{number}",
        "height": _height(chart),
        "shape": "square" if isinstance(chart, Lines | Heatmap) and chart.equal else "wide",
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
        case Parallel():
            return plotly_parallel(chart, tones)


def _height(chart: Chart) -> str:
    """Return the height of a chart on a screen, as a CSS length.

    The height of a chart with equal axes follows from its width.
    """
    match chart:
        case Lines(equal=True) | Heatmap(equal=True):
            return f"calc((100cqw - 4.5rem) / {aspect(chart):.3f} + 7.5rem)"
        case Heatmap():
            return f"{min(max(10.0 + 1.6 * len(chart.rows), 20.0), 44.0):.1f}rem"
        case Lines() | Bars() | Parallel():
            return f"{23.0 + 0.4 * max(0, len(chart.series) - 8):.1f}rem"


def _words(chart: Chart) -> str:
    """Return the alternative text of a chart."""
    match chart:
        case Bars():
            return f"{chart.title}: {chart.value.heading}"
        case Heatmap():
            axes = f"{chart.x.heading} and {chart.y.heading}"
            return f"{chart.title}: {chart.value.heading} over {axes}"
        case Parallel():
            return f"{chart.title}: {', '.join(scale.label for scale in chart.scales)}"
        case Lines():
            return f"{chart.title}: {chart.y.heading} over {chart.x.heading}"


_WIDTH, _HEIGHT = 170, 66
"""Size of a block."""
_ACROSS, _DOWN = 92, 44
"""Space between two blocks, for signals and their labels."""
_MARGIN = 8


def diagram_svg(diagram: Diagram) -> str:
    """Draw a diagram; every text is escaped."""
    blocks = {block.name: block for block in diagram.blocks}
    right = max(_left(block) for block in diagram.blocks) + _WIDTH + _MARGIN
    bottom = max(_top(block) for block in diagram.blocks) + _HEIGHT + _MARGIN
    signals = (_signal(each, blocks[each.start], blocks[each.end]) for each in diagram.signals)
    drawn = "\n".join((*signals, *map(_block, diagram.blocks)))
    return (
        f'<svg viewBox="0 0 {right} {bottom}" role="img" aria-label="{_text(diagram.title)}">\n'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7"'
        ' markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8Z"/></marker></defs>\n'
        f"{drawn}\n</svg>"
    )


def _left(block: DiagramBlock) -> int:
    return _MARGIN + block.column * (_WIDTH + _ACROSS)


def _top(block: DiagramBlock) -> int:
    return _MARGIN + block.row * (_HEIGHT + _DOWN)


def _block(block: DiagramBlock) -> str:
    x, y = _left(block), _top(block)
    middle = x + _WIDTH // 2
    lines = "".join(
        f'<text x="{middle}" y="{y + 39 + 16 * i}">{_text(line)}</text>'
        for i, line in enumerate(block.text.split("\n"))
    )
    return (
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="8"/>'
        f'<text class="name" x="{middle}" y="{y + 21}">{_text(block.name)}</text>{lines}'
    )


def _signal(signal: Signal, start: DiagramBlock, end: DiagramBlock) -> str:
    if start.row == end.row:
        forward = end.column > start.column
        y = _top(start) + _HEIGHT // 2
        x = _left(start) + (_WIDTH if forward else 0)
        to = _left(end) + (0 if forward else _WIDTH)
        path = f"M{x} {y}H{to}"
        label = f'x="{(x + to) // 2}" y="{y - 8}"'
    else:
        down = end.row > start.row
        x = _left(start) + _WIDTH // 2
        y = _top(start) + (_HEIGHT if down else 0)
        to = _top(end) + (0 if down else _HEIGHT)
        path = f"M{x} {y}V{to}"
        label = f'class="beside" x="{x + 8}" y="{(y + to) // 2 + 4}"'
    return (
        f'<path class="arrow" d="{path}" marker-end="url(#tip)"/>'
        f"<text {label}>{_text(signal.label)}</text>"
    )


def _text(text: str) -> str:
    return escape(readable(text))


GENERATOR = b'<meta name="generator" content="Kinetarium">'
"""The line near the top of every page that identifies it as written by Kinetarium."""

_POSTER_WIDTH = 800
"""Width of the still picture of a scene [px], sharp on paper and on dense screens."""


def page_html(page: Page, stills: Stills | None = None) -> str:
    """Render a page.

    Charts and scenes are stills until they scroll into view; then Plotly draws
    them. Scenes are released again when they leave the view, as a browser has
    few WebGL contexts. Print shows the stills.

    Args:
        stills: Its stills, if they are drawn already.
    """
    from markupsafe import Markup

    figures = [figure for section in page.sections for figure in section.figures]
    moving = any(isinstance(figure, Scene3D | Chart) for figure in figures)
    scripts = [_plotly_js()] if moving else []
    if moving or any(isinstance(figure, Table) and figure.rows for figure in figures):
        scripts.append(_own("page.js"))
    return _rendered(
        "page.html.jinja",
        page,
        stills=stills,
        style=Markup(_own("page.css") + _series_css()),
        scripts=[Markup(script) for script in scripts],
        policy=_policy(scripts),
    )


def notebook_html(page: Page) -> str:
    """Render a page as a part of another one, such as a notebook: stills alone, no scripts."""
    return _rendered("notebook.html.jinja", page)


def _rendered(template: str, page: Page, *, stills: Stills | None = None, **values: Any) -> str:
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
        loader=FunctionLoader(_own),
    )
    environment.filters |= {
        "cell": cell_text, "cell_class": cell_class, "column_classes": column_classes,
    }  # fmt: skip
    for kind in (Prose, Facts, Listing, Table, Diagram, Scene3D):
        environment.tests[kind.__name__] = lambda figure, kind=kind: isinstance(figure, kind)
    environment.tests["Chart"] = lambda figure: isinstance(figure, Chart)
    environment.filters["diagram"] = lambda diagram: Markup(diagram_svg(diagram))
    numbers, names, pictures = count(), tones(page), stills or Stills(page)
    environment.filters["scene"] = lambda scene: _scene_context(scene, next(numbers))
    environment.filters["chart"] = lambda chart: chart_context(
        chart, names, still=pictures[chart], number=next(numbers)
    )
    return environment.get_template(template).render(page=page, **values)


def _shown(value: Any) -> Any:
    """Replace unsafe characters in every text of the page; markup is our own already."""
    return value if hasattr(value, "__html__") or not isinstance(value, str) else readable(value)


def _series_css() -> str:
    """Return the CSS variables of the series' colours, for the light and the dark theme."""
    light, dark = (
        ":root {" + " ".join(f"--series-{n}: {c};" for n, c in enumerate(colors)) + "}"
        for colors in (LIGHT, DARK)
    )
    return f"{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}\n"


def _scene_context(scene: Scene3D, number: int) -> dict[str, Any]:
    from markupsafe import Markup

    png = scene_png(scene, width=_POSTER_WIDTH, height=round(_POSTER_WIDTH / ASPECT))
    return {
        "id": f"scene-{number}",
        "title": scene.title,
        "spacing": cell_text(scene.ground.spacing),
        "poster": f"data:image/png;base64,{b64encode(png).decode()}",
        "json": Markup(embedded_json(plotly_scene(scene))),
    }


def _policy(scripts: list[str]) -> str:
    """Return a content security policy that allows these scripts only, and no connections.

    Plotly sets styles from its script, which only 'unsafe-inline' allows.
    """
    hashes = [b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline';"
        " img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


@cache
def _own(name: str) -> str:
    return files("kinetarium.report.html").joinpath(name).read_text("utf-8")


@cache
def _plotly_js() -> str:
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())
