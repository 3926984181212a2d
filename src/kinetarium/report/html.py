"""A Page as one self-contained HTML file: no request to anywhere, everything from files escaped."""

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import count
from typing import Any

from kinetarium.figure.cell import cell_text
from kinetarium.figure.diagram import Diagram
from kinetarium.figure.facts import Facts
from kinetarium.figure.listing import Listing
from kinetarium.figure.page import Chart, Page
from kinetarium.figure.palette import DARK, LIGHT, tones
from kinetarium.figure.prose import Prose
from kinetarium.figure.scene3d import Scene3D
from kinetarium.figure.table import Table
from kinetarium.report.chart_context import chart_context
from kinetarium.report.diagram_svg import diagram_svg
from kinetarium.report.embedded_json import embedded_json
from kinetarium.report.picture import scene_png
from kinetarium.report.plain_text import readable
from kinetarium.report.plotly_scene import ASPECT, plotly_scene
from kinetarium.report.stills import Stills
from kinetarium.report.table_cells import cell_class, column_classes

GENERATOR = b'<meta name="generator" content="Kinetarium">'
"""What the beginning of every page contains."""

_POSTER_WIDTH = 800
"""Width of the still picture of a scene [pixels], sharp on paper and on dense screens."""


def page_html(page: Page, stills: Stills | None = None) -> str:
    """Render a page.

    Charts and scenes are stills until they come into view; there Plotly draws
    them, and lets go of scenes again when they leave, as a browser has few
    such canvases. Paper shows the stills.

    Args:
        page: The page.
        stills: Its stills, where they are used elsewhere too.
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
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
    figures = [figure for section in page.sections for figure in section.figures]
    moving = any(isinstance(figure, Scene3D | Chart) for figure in figures)
    scripts = [_plotly_js(), _own("page.js")] if moving else []
    return environment.from_string(_own("page.html.jinja")).render(
        page=page,
        style=Markup(_own("page.css") + _series_css()),
        scripts=[Markup(script) for script in scripts],
        policy=_policy(scripts),
    )


def _shown(value: Any) -> Any:
    """Make every text of the page readable; what is markup already is ours."""
    return value if hasattr(value, "__html__") or not isinstance(value, str) else readable(value)


def _series_css() -> str:
    """Give the colours of series to the style sheet, in light and in dark."""
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
    """Allow these scripts alone, and no connection at all.

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
    return files("kinetarium.report").joinpath(name).read_text("utf-8")


@cache
def _plotly_js() -> str:
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())
