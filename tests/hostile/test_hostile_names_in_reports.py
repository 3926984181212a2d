import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

from hostile.injections import INJECTIONS
from kinetarium.figure.charts import (
    Axis,
    Bars,
    BarSeries,
    Heatmap,
    Lines,
    Mark,
    Series,
    Side,
    Spot,
    Style,
)
from kinetarium.figure.page import Page, Section
from kinetarium.figure.scene3d import Mesh3D, Scene3D
from kinetarium.figure.text import Column, Facts, Listing, Prose, Table
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import Box
from kinetarium.report.html.files import figure_files
from kinetarium.report.html.page import notebook_html, page_html
from kinetarium.report.matplotlib.still import Still, draw_still
from kinetarium.spatial.arrays import frozen

UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def charts(text):
    """One chart of each kind that holds a text wherever it can hold any."""
    axis = Axis(text, text)
    curve = Series(text, np.arange(3.0), np.arange(3.0), Style.BOTH, np.zeros(3), np.full(3, 4.0))
    marks = (Mark(1.0, text), Mark(2.0, text, Side.X))
    cells = np.arange(4.0).reshape(2, 2)
    return (
        Lines(text, axis, axis, (curve,), caption=text, marks=marks),
        Heatmap(text, axis, axis, (text, text), (text, text), cells, axis, annotate=True,
                marks=(Spot(0, 1, text),), caption=text),
        Bars(text, (text, text), (BarSeries(text, np.ones(2), np.zeros(2), np.full(2, 2.0)),),
             axis, caption=text),
    )  # fmt: skip


def section(text):
    words = (
        Prose(text),
        Facts(((text, text, text),)),
        Table(text, (Column(text, text), Column("n")), ((text, 1), (text, 2.5))),
        Listing(text, (text, text)),
    )
    return Section(text, (*words, *charts(text)), label=text)


def page_of(texts):
    box = triangulate(Box((1, 2, 0.5)))
    bodies = tuple(Mesh3D(text, box, (0.8, 0.3, 0.2, 1.0), frozen(np.eye(4))) for text in texts)
    longest = " ".join(texts)
    scene = Section(longest, (Scene3D(longest, bodies),))
    return Page(longest, longest, (scene, *map(section, texts)), ((longest, longest),))


class Markup(HTMLParser):
    """Lists the elements of a page with the names of their attributes, and its texts."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.others, self.texts = [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, tuple(name for name, _ in attributes)))

    def handle_endtag(self, tag):
        self.elements.append((f"/{tag}", ()))

    def handle_data(self, data):
        self.texts.append(data)

    def handle_comment(self, data):
        self.others.append(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


def test_there_are_enough_of_them():
    assert len(set(INJECTIONS)) == len(INJECTIONS) >= 25


def undrawn(monkeypatch):
    """Spare the time that drawing takes."""
    blank = Still(b"", b"", b"")
    monkeypatch.setattr(
        "kinetarium.report.matplotlib.still._draw_all",
        lambda charts, tones: dict.fromkeys(charts, blank),
    )


@pytest.mark.parametrize(
    ("rendered", "others"), [(page_html, ["DOCTYPE html"]), (notebook_html, [])]
)
def test_pages_have_the_elements_of_a_harmless_one(monkeypatch, rendered, others):
    undrawn(monkeypatch)  # a picture has no markup
    html = rendered(page_of(INJECTIONS))
    hostile = Markup(html)
    names = [f"name {n}" if text else "" for n, text in enumerate(INJECTIONS)]
    harmless = Markup(rendered(page_of(names)))
    assert hostile.elements == harmless.elements
    assert hostile.others == harmless.others == others
    body = html.partition("</footer>")[0]  # Plotly's own code holds a control character
    assert not UNFIT.search(body)
    shown = "".join(hostile.texts)
    for text in INJECTIONS:
        if text.isprintable():
            assert text in shown  # escaped, not removed


def crowded(texts):
    """A heatmap and bars with all texts side by side as names."""
    count = len(texts)
    values = np.arange(1.0, count + 1)
    spots = tuple(Spot(n, n, text) for n, text in enumerate(texts))
    return (
        Heatmap("all", Axis("x"), Axis("y"), texts, texts, np.diag(values), Axis("z"), marks=spots),
        Bars("all", texts, (BarSeries(texts[0], values),), Axis("z")),
        Bars("all", ("one",), tuple(BarSeries(text, np.ones(1)) for text in texts), Axis("z")),
    )


def svg_markup(chart, names):
    """Return the root of the picture of a chart, and all its elements and attributes."""
    root = ElementTree.fromstring(draw_still(chart, {name: n for n, name in enumerate(names)}).svg)
    return root, {(part.tag, name) for part in root.iter() for name in (*part.attrib, "")}


def check_values(root):
    for part in root.iter():
        for name, value in part.attrib.items():
            assert not name.endswith("href") or value.startswith(("#", "data:image/png;base64,"))
            assert "example.com" not in value and "hacked" not in value


@pytest.fixture(scope="module")
def harmless():
    # As many, for bars beyond the colours have patterns.
    names = tuple(f"name{n}" for n in range(len(INJECTIONS)))
    return set().union(
        *(svg_markup(chart, ["name"])[1] for chart in charts("name")),
        *(svg_markup(chart, names)[1] for chart in crowded(names)),
    )


@pytest.mark.parametrize("number", range(len(INJECTIONS)))
def test_pictures_have_the_elements_of_harmless_ones(number, harmless):
    text = INJECTIONS[number]
    root, markup = svg_markup(charts(text)[0], [text])
    assert markup <= harmless
    check_values(root)
    start = " ".join(text.split())[:12]
    if start.isprintable():
        assert "".join(root.itertext()).count(start) >= 4  # as it is, and no formula


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_pictures_of_many_names_too(kind, harmless):
    root, markup = svg_markup(crowded(INJECTIONS)[kind], INJECTIONS)
    assert markup <= harmless
    check_values(root)


def test_no_name_becomes_a_file_name(monkeypatch):
    flat = Heatmap("", Axis("x"), Axis("y"), (0.0,), (0.0,), np.ones((1, 1)), Axis("z"))
    figures = tuple(replace(flat, title=text) for text in INJECTIONS)
    undrawn(monkeypatch)  # its title is all that counts
    files = figure_files(Page("page", "", (Section("all", figures),), ()))
    assert len(files) == 2 * len(INJECTIONS)
    for name in files:
        assert re.fullmatch(r"\d\d-[a-z0-9]+(-[a-z0-9]+)*\.(svg|png)", name) and len(name) < 64
