import numpy as np
import pytest

from kinetarium.figure.page import Page, Section
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

HOSTILE = [
    "<script>window.hacked=1</script>",
    "</script><script>window.hacked=1</script>",
    "<!--<script>",
    "]]><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "<svg onload=window.hacked=1>",
    '"><svg/onload=window.hacked=1>',
    "' onmouseover='window.hacked=1",
    '" autofocus onfocus="window.hacked=1',
    "javascript:window.hacked=1",
    "<a href='javascript:window.hacked=1'>link</a>",
    "<iframe src='https://example.com'></iframe>",
    "<style>@import 'https://example.com/x.css'</style>",
    "<link rel=stylesheet href=https://example.com/x.css>",
    "<base href='https://example.com/'>",
    "<meta http-equiv=refresh content='0;url=https://example.com'>",
    "{{ 7 * 7 }}{% raw %}",
    "${window.hacked=1}",
    "&lt;script&gt;window.hacked=1&lt;/script&gt;",
    "\\u003cscript\\u003ewindow.hacked=1\\u003c/script\\u003e",
    "%{x}<extra></extra>",
    "</title><script>window.hacked=1</script>",
    "</style><script>window.hacked=1</script>",
    "</textarea><script>window.hacked=1</script>",
    "\u2028window.hacked=1\u2029",
    "'-window.hacked=1-'",
]


@pytest.fixture
def opened(browser, tmp_path):
    """Opens HTML from a file; gives the page and what it requested and complained of."""
    contexts = []

    def opened(html, **options):
        file = tmp_path / "report.html"
        file.write_text(html, "utf-8")
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        requests, complaints = [], []
        page.on("request", lambda request: requests.append(request.url))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
        page.goto(file.as_uri())
        return page, requests, complaints

    yield opened
    for context in contexts:
        context.close()


def box_scene(name="box"):
    body = Mesh3D(name, triangulate(Box((1, 2, 0.5))), (0.8, 0.3, 0.2, 1.0), frozen(np.eye(4)))
    return Scene3D(name, (body,))


def page_of(*sections, title="A report"):
    return page_html(Page(title, "What it is.", sections, (("command", "kinetarium robots"),)))


def drawn(page):
    return page.evaluate(
        "[...document.querySelectorAll('figure.scene')].map(f => f.dataset.state === 'drawn')"
    )


def until(page, condition):
    """Poll, as the page's policy forbids the evaluation inside wait_for_function."""
    for _ in range(600):
        if condition(drawn(page)):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"scenes drawn: {drawn(page)}")


def pixels_that_differ(page, selector):
    """Count the colours of an element's screenshot."""
    from io import BytesIO

    from PIL import Image

    image = Image.open(BytesIO(page.locator(selector).screenshot())).convert("RGB")
    return len(image.getcolors(maxcolors=2**24))


def test_a_scene_is_drawn_without_any_request(opened):
    page, requests, complaints = opened(page_of(Section("One", (box_scene(),))))
    until(page, all)
    assert page.locator("figure.scene canvas").count() == 1
    stage, bar = (page.locator(part).bounding_box() for part in (".stage", ".modebar-group"))
    assert bar["y"] >= stage["y"] and bar["x"] + bar["width"] <= stage["x"] + stage["width"]
    button = page.locator(".modebar-btn").first.bounding_box()
    assert button["y"] >= stage["y"]
    assert page.evaluate("getComputedStyle(document.querySelector('.stage img')).visibility") == (
        "hidden"
    )
    assert pixels_that_differ(page, ".view") > 20
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
    assert complaints == []

    # Paper shows the still.
    page.emulate_media(media="print")
    assert page.locator(".view").is_visible() is False
    assert page.locator(".stage img").is_visible() is True
    assert page.pdf()[:4] == b"%PDF"


def test_scenes_far_away_are_let_go(opened):
    sections = [Section(f"Number {n}", (box_scene(f"box {n}"),)) for n in range(9)]
    page, _, complaints = opened(page_of(*sections), viewport={"width": 1000, "height": 600})
    until(page, lambda states: states[0])
    assert sum(drawn(page)) < 5
    page.evaluate("document.querySelector('#section-9').scrollIntoView({behavior: 'instant'})")
    until(page, lambda states: states[8] and not states[0])
    assert page.locator("canvas").count() < 5
    assert complaints == []


def test_phones(opened):
    wide = Table("Wide", tuple(Column(f"column {n}") for n in range(12)), (("x" * 40,) * 12,))
    page, _, complaints = opened(
        page_of(Section("One", (box_scene(), wide, Prose("y" * 300)))),
        viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True,
    )  # fmt: skip
    assert page.evaluate("document.documentElement.scrollWidth") == 360  # nothing sticks out
    assert drawn(page) == [False]  # a finger scrolls until it asks to turn
    page.get_by_role("button", name="Rotate in 3-D").tap()
    until(page, all)
    assert complaints == []


def test_hostile_names_do_nothing(opened):
    """Every hostile name stands in every place that can hold a text from a file."""
    box = triangulate(Box((1, 2, 0.5)))
    bodies = tuple(Mesh3D(name, box, (0.8, 0.3, 0.2, 1.0), frozen(np.eye(4))) for name in HOSTILE)
    joined = " ".join(HOSTILE)
    sections = [
        Section(
            name,
            (
                Prose(name),
                Facts(((name, name, name),)),
                Table(name, (Column(name, name), Column("n")), ((name, 1), (name, 2.5))),
                Listing(name, (name, name)),
            ),
            label=name,
        )
        for name in HOSTILE
    ]
    scene = Section(joined, (Scene3D(joined, bodies),))
    html = page_html(Page(joined, joined, (scene, *sections), ((joined, joined),)))
    page, requests, complaints = opened(html)
    page.locator("figure.scene").scroll_into_view_if_needed()
    until(page, any)
    page.locator(".view").hover()
    page.wait_for_timeout(100)

    assert page.evaluate("window.hacked") is None
    assert page.locator("title").text_content() == joined
    assert page.locator("script").count() == 3
    assert page.locator("section").count() == 1 + len(HOSTILE)
    assert page.locator("iframe, base, textarea, svg[onload], a[href^=javascript]").count() == 0
    assert page.locator("h1").text_content() == joined
    for kind in ("section .details > p:not(.sideways)", "dd > .unit", "caption", "h3"):
        assert page.locator(kind).all_text_contents() == HOSTILE
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
    assert complaints == []


def test_pages_without_scenes_have_no_scripts(opened):
    html = page_of(Section("One", (Prose("Only words."),)))
    page, _, complaints = opened(html)
    assert "<script" not in html and len(html) < 20_000
    assert page.locator("p").last.text_content() == "Only words."
    assert complaints == []
