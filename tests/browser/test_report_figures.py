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
from kinetarium.figure.page import DARK, LIGHT, Page, Section
from kinetarium.figure.scene3d import Mesh3D, Scene3D
from kinetarium.figure.text import Column, Facts, Listing, Prose, Table
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import Box
from kinetarium.report.html.page import page_html
from kinetarium.spatial.arrays import frozen

pytestmark = pytest.mark.browser

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture
def opened(browser, tmp_path):
    """Opens HTML from a file; gives the page and what it asked for and complained of."""
    contexts = []

    def opened(html, **options):
        file = tmp_path / "report.html"
        file.write_text(html, "utf-8")
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        troubles = []
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda m: troubles.append(m.text) if m.type == "error" else None)
        page.on("request", lambda r: None if at_home(r.url) else troubles.append(r.url))
        page.goto(file.as_uri())
        return page, troubles

    yield opened
    for context in contexts:
        context.close()


def at_home(url):
    return url.startswith(("file:", "data:", "blob:"))


def all_drawn(page, charts):
    """Bring every chart into view and wait until it is drawn."""
    for number in range(charts):
        chart = page.locator("figure.chart").nth(number)
        chart.scroll_into_view_if_needed()
        for _ in range(300):
            if chart.get_attribute("data-state") == "drawn":
                break
            page.wait_for_timeout(50)
        else:
            raise AssertionError(f"chart {number} is not drawn")


T = np.linspace(0, 10, 5000)
LINES = Lines(
    "Tracking",
    Axis("time", "s"),
    Axis("error", "mm"),
    (
        Series("mujoco", T, np.sin(T), low=np.sin(T) - 0.2, high=np.sin(T) + 0.2),
        Series("bullet", T, np.where((T > 4) & (T < 5), np.nan, np.cos(T)), Style.DASHED),
    ),
    caption="One of them has a gap.",
    marks=(Mark(0.5, "limit"), Mark(6.0, "event", Side.X)),
)
HEATMAP = Heatmap("Agreement", Axis("engine"), Axis("engine"), ("mujoco", "bullet"),
                  ("mujoco", "bullet"), np.array([[1.0, 20.0], [np.nan, 300.0]]),
                  Axis("difference", "mm", log=True), annotate=True,
                  marks=(Spot(0, 0, "best"),))  # fmt: skip
BARS = Bars("Cost", ("panda", "a robot with a long name"),
            (BarSeries("bullet", np.array([1.0, 20.0]), np.array([0.5, 10.0]), np.array([2, 30])),
             BarSeries("mujoco", np.array([3.0, 4.0]))), Axis("time", "s", log=True))  # fmt: skip
TABLE = Table("Runs", (Column("engine"), Column("status"), Column("error", "mm"), Column("why")),
              tuple(("mujoco", "diverged" if n == 2 else "completed", 0.1 * n, "w" * 70)
                    for n in range(60)))  # fmt: skip


@pytest.fixture(scope="module")
def report():
    box = Mesh3D("box", triangulate(Box((1, 2, 0.5))), (0.8, 0.3, 0.2, 1.0), frozen(np.eye(4)))
    return page_html(
        Page("A study", "What it asks.", (
            Section("Runs", (Facts((("runs", 60, ""),)), TABLE)),
            Section("Charts", (Prose("Words."), LINES, HEATMAP, BARS)),
            Section("Scene", (Scene3D("box", (box,)), Listing("Sources", ("one",)))),
        ), (("command", "kinetarium drop"),))
    )  # fmt: skip


def colors_of_lines(page):
    """Return the colours of the drawn lines by name of their series, as #rrggbb."""
    return page.evaluate(
        """Object.fromEntries(document.querySelector('figure.chart .view')._fullData
           .filter(trace => trace.showlegend).map(trace => [trace.name, trace.line.color]))"""
    )


def test_charts_are_drawn_without_any_request(opened, report):
    page, troubles = opened(report, viewport={"width": 1280, "height": 900})
    all_drawn(page, 3)
    first, heat, bars = (page.locator("figure.chart").nth(number) for number in range(3))
    assert first.locator(".scatterlayer .trace").count() == 3  # a band and two lines
    assert first.locator(".legend .traces").count() == 2
    assert first.locator(".xtitle").text_content() == "time [s]"
    assert first.locator(".shapelayer path").count() == 2
    assert heat.locator(".hm image").count() == 1
    assert heat.locator(".heatmap-label text").all_text_contents()[:2] == ["1", "20"]
    assert bars.locator(".bars .point").count() == 4
    assert colors_of_lines(page) == {"mujoco": LIGHT[0], "bullet": LIGHT[1]}
    assert page.locator("figure.chart img").first.is_visible() is False
    box = first.locator(".view").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 150)
    page.mouse.move(box["x"] + 220, box["y"] + 170)
    page.wait_for_timeout(300)
    assert "mujoco" in first.locator(".hoverlayer").text_content()
    assert page.evaluate("document.documentElement.scrollWidth") == 1280
    assert troubles == []


def test_charts_follow_the_theme(opened, report):
    page, troubles = opened(report, color_scheme="dark")
    all_drawn(page, 1)
    assert colors_of_lines(page) == {"mujoco": DARK[0], "bullet": DARK[1]}
    page.emulate_media(color_scheme="light")
    page.wait_for_timeout(500)
    assert colors_of_lines(page) == {"mujoco": LIGHT[0], "bullet": LIGHT[1]}
    assert troubles == []


def test_phones_show_charts_within_their_width(opened, report):
    page, troubles = opened(
        report, viewport={"width": 375, "height": 700}, has_touch=True, is_mobile=True
    )
    all_drawn(page, 3)
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    for number in range(3):
        box = page.locator("figure.chart .view").nth(number).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 375 and box["height"] > 250
    assert page.evaluate("document.querySelector('.chart .view')._fullLayout.dragmode") is False
    assert troubles == []


def test_paper_shows_the_stills(opened, report):
    page, troubles = opened(report)
    all_drawn(page, 3)
    page.emulate_media(media="print")
    for number in range(3):
        chart = page.locator("figure.chart").nth(number)
        assert chart.locator(".view").is_visible() is False
        assert chart.locator("img").is_visible() is True
        chart.locator("img").scroll_into_view_if_needed()
        assert chart.locator("img").evaluate("image => image.naturalWidth") > 800
    assert page.pdf()[:4] == b"%PDF"
    assert troubles == []


def test_pages_without_scripts_show_the_stills(opened, report):
    page, _ = opened(report, java_script_enabled=False)
    assert page.locator("figure.chart img").first.is_visible() is True
    assert page.locator("figure.chart .view").first.is_visible() is False


def test_long_tables_scroll_in_their_box(opened, report):
    page, _ = opened(report, viewport={"width": 375, "height": 700})
    box = page.locator(".table")
    assert box.evaluate("box => box.scrollHeight > box.clientHeight")
    assert box.evaluate("box => box.clientHeight") <= 36 * 16
    good, bad = (page.locator(f"td.{kind}").first for kind in ("good", "bad"))
    ground = "cell => getComputedStyle(cell.parentElement).backgroundColor"
    assert good.evaluate(ground) != bad.evaluate(ground)


WIDE = Table(
    "Ratings",
    (Column("for"), Column("first choice"), *(Column(f"engine {n}") for n in range(20))),
    (("a grip", "ode", *["0.123 N [0.11, 0.14]"] * 20),),
    verdict=1,
)


def test_wide_tables_say_that_they_scroll_and_keep_the_verdict_in_sight(opened):
    narrow = Table("", (Column("a"),), (("b",),))
    html = page_html(Page("t", "l", (Section("s", (WIDE, narrow)),), ()))
    page, troubles = opened(html, viewport={"width": 600, "height": 700})
    box = page.locator(".table").first
    page.wait_for_function("document.querySelector('.table').classList.contains('scrolls')")
    assert page.locator(".sideways").first.is_visible()
    assert not page.locator(".sideways").nth(1).is_visible()
    assert box.evaluate("box => box.scrollWidth > 2 * box.clientWidth")
    box.evaluate("box => { box.scrollLeft = box.scrollWidth }")
    left = box.evaluate("box => box.getBoundingClientRect().left")
    name, verdict = (box.locator("tbody td").nth(n).bounding_box() for n in (0, 1))
    assert name["x"] == pytest.approx(left, abs=1)
    assert verdict["x"] == pytest.approx(left + name["width"], abs=2)
    assert troubles == []


def names_page(names):
    """Charts with all names as series, rows, columns and categories, and each as a title."""
    ones = np.ones(len(names))
    flat = [Series(name, np.arange(3.0), np.full(3, n)) for n, name in enumerate(names)]
    spots = tuple(Spot(n, n, name) for n, name in enumerate(names))
    axis = Axis("\n".join(names[::2]), "".join(names[1::2]))
    figures = (
        Lines(names[0], axis, axis, tuple(flat[:8]), marks=tuple(
            Mark(n, name, Side.X) for n, name in enumerate(names))),
        Lines(names[1], axis, axis, tuple(flat)),
        Heatmap(names[2], axis, axis, names, names, np.diag(ones), axis, marks=spots),
        Bars(names[3], names, (BarSeries(names[4], ones),), axis, caption=names[5]),
    )  # fmt: skip
    words = tuple(Prose(name) for name in names)
    return page_html(Page(names[6], names[7], (Section(names[8], (*figures, *words)),), ()))


def structure(page):
    """List all elements outside of the charts with their attributes, and all kinds inside."""
    return page.evaluate(
        """[false, true].map(inside => [...new Set([...document.querySelectorAll('*')]
           .filter(part => Boolean(part.closest('.view')) === inside)
           .map(part => part.tagName + ' ' + part.getAttributeNames().sort().join(' '))
           .map((kind, number) => inside ? kind.split(' ')[0] : number + ' ' + kind))].sort())"""
    )


def test_hostile_names_do_nothing(opened):
    harmless, _ = opened(names_page(tuple(f"name {n}" for n in range(len(INJECTIONS)))))
    all_drawn(harmless, 4)
    page, troubles = opened(names_page(INJECTIONS))
    all_drawn(page, 4)
    for number in range(4):
        view = page.locator("figure.chart .view").nth(number)
        view.scroll_into_view_if_needed()
        view.hover()
        page.wait_for_timeout(150)
    assert page.evaluate("window.hacked") is None
    (outside, inside), (plain_outside, plain_inside) = structure(page), structure(harmless)
    assert outside == plain_outside
    assert set(inside) <= {*plain_inside, "tspan", "TSPAN"}
    assert page.locator(".view a, .view script, .view foreignObject, .view img").count() == 0
    assert page.locator(".legendtext").first.text_content() == INJECTIONS[0]
    assert troubles == []


def test_buttons_of_charts_cover_no_legend_and_stay_in_the_picture(opened):
    names = ("mujoco", "bullet", "dart", "ode", "physx", "closed form")
    lines = Lines(
        "Heights",
        Axis("time", "s"),
        Axis("height", "m"),
        tuple(Series(name, T, np.sin(T)) for name in names),
    )
    page, troubles = opened(page_html(Page("A study", "", (Section("s", (lines, BARS)),), ())))
    all_drawn(page, 1)
    chart = page.locator("figure.chart").first
    chart.locator(".view").hover()
    bar = chart.locator(".modebar-group").first
    legend = chart.locator(".legend").first.bounding_box()
    box = bar.bounding_box()
    assert box["y"] + box["height"] <= legend["y"] + 2 and box["y"] >= 0
    # After a click it goes with the mouse.
    box = chart.locator(".view").bounding_box()
    page.mouse.click(box["x"] + 100, box["y"] + 150)
    page.mouse.move(2, 2)
    page.wait_for_timeout(600)
    assert bar.evaluate("bar => getComputedStyle(bar).opacity") == "0"
    assert troubles == []
