"""A Page as one self-contained HTML file: no request to anywhere, everything from files escaped."""

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import count
from typing import Any

from kinetarium.figure.cell import cell_text
from kinetarium.figure.facts import Facts
from kinetarium.figure.listing import Listing
from kinetarium.figure.page import Page
from kinetarium.figure.prose import Prose
from kinetarium.figure.scene3d import Scene3D
from kinetarium.figure.table import Table
from kinetarium.report.embedded_json import embedded_json
from kinetarium.report.picture import scene_png
from kinetarium.report.plotly_scene import ASPECT, plotly_scene

_POSTER_WIDTH = 800
"""Width of the still picture of a scene [pixels], sharp on paper and on dense screens."""

_LONGEST_WORD = 24
"""Characters of a word in a table that is kept in one piece."""

_SHORT_TEXT = 40
"""Characters of a text in a table that is kept on one line where the table is scrolled."""


def page_html(page: Page) -> str:
    """Render a page.

    Scenes are stills until they come into view; there Plotly draws them, and
    lets go of them again when they leave, as a browser has few such canvases.
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["cell"] = cell_text
    environment.filters["cell_classes"] = _cell_classes
    for kind in (Prose, Facts, Listing, Table, Scene3D):
        environment.tests[kind.__name__] = lambda figure, kind=kind: isinstance(figure, kind)
    numbers = count()
    environment.filters["scene"] = lambda scene: _scene_context(scene, next(numbers))
    has_scenes = any(
        isinstance(figure, Scene3D) for section in page.sections for figure in section.figures
    )
    scripts = [_plotly_js(), _own("page.js")] if has_scenes else []
    return environment.from_string(_own("page.html.jinja")).render(
        page=page,
        style=Markup(_own("page.css")),
        scripts=[Markup(script) for script in scripts],
        policy=_policy(scripts),
    )


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


def _cell_classes(table: Table) -> list[str]:
    """Say how the cells of each column are set: numbers, short texts, texts, or long words."""
    return [
        "number" if table.is_numeric(column) else _text_class(table, column)
        for column in range(len(table.columns))
    ]


def _text_class(table: Table, column: int) -> str:
    texts = [cell_text(row[column]) for row in table.rows]
    if any(len(word) > _LONGEST_WORD for text in texts for word in text.split()):
        return "breakable"
    return "short" if all(len(text) <= _SHORT_TEXT for text in texts) else "text"


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
