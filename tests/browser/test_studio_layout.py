"""The frame of the page: panels that fold and have an edge to move, and what is remembered."""

import pytest

from browser.studio_page import SOFTWARE_WEBGL, contexts, grasp_run, write_runs
from unit.studio_server import running_studio

pytestmark = pytest.mark.browser

FLAGS = SOFTWARE_WEBGL


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    write_runs(root / "grasp", [grasp_run("a"), grasp_run("b", engine="bullet", shift=0.2)])
    with running_studio(root) as studio:
        yield studio


@pytest.fixture
def opened(browser):
    with contexts(browser) as opened:
        yield opened


def width(view, selector):
    return view.page.locator(selector).bounding_box()["width"]


def test_the_stage_gets_room_on_a_narrow_screen(opened, studio):
    view = opened(studio.address, viewport={"width": 1024, "height": 700})
    assert width(view, ".center") > 500
    for side in ("left", "right"):
        view.page.get_by_role("button", name=f"Hide the panels on the {side}").click()
    assert width(view, ".center") == 1024
    assert view.page.locator(".side:visible, .edge:visible").count() == 0
    view.page.keyboard.press("<")
    view.page.keyboard.press(">")
    assert view.page.locator(".side:visible").count() == 2
    # A fold outlives the page.
    view.page.keyboard.press(">")
    view.page.reload()
    view.page.evaluate("window.kinetarium.ready")
    assert view.page.locator(".side:visible").count() == 1
    assert view.complaints == []


def test_small_screens_have_one_row_of_buttons_and_readable_fields(opened, studio):
    view = opened(studio.address + "#", viewport={"width": 1024, "height": 700})
    page = view.page
    page.click("[data-mode=walking]")
    view.until(lambda s: s.get("plans") and not s["busy"])
    rows = {box.bounding_box()["y"] for box in page.locator(".bar button:visible").all()}
    assert max(rows) - min(rows) < 10
    cut = "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.outerHTML)"
    assert page.locator(".menu .field input:visible").count() >= 10
    assert page.locator(".menu .field input:visible").evaluate_all(cut) == []
    inside = "e => e.scrollWidth <= e.clientWidth"
    assert all(side.evaluate(inside) for side in page.locator(".side").all())
    assert view.complaints == []


def test_only_what_plays_has_a_time_line(opened, studio):
    view = opened(studio.address)
    for mode, played in (("runs", True), ("maps", False), ("live", False), ("studies", False),
                         ("walking", True)):  # fmt: skip
        view.page.click(f"[data-mode={mode}]")
        view.until(lambda s, mode=mode: s["mode"] == mode)
        assert view.page.locator(".timeline").is_visible() is played, mode
    assert view.complaints == []


def test_the_start_page_and_forms_fill_a_phone(opened, studio):
    view = opened(studio.address + "#", viewport={"width": 390, "height": 844}, has_touch=True)
    page = view.page
    box = page.locator(".start").bounding_box()
    assert box["y"] + box["height"] == pytest.approx(844, abs=2)
    page.locator(".start [data-start=studies]").click()
    view.until(lambda s: s.get("study"))
    page.locator(".study-field").last.scroll_into_view_if_needed()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.click("[data-mode=runs]")
    view.until(lambda s: s["replays"])
    buttons = page.locator(".timeline > button").all()
    assert len({button.bounding_box()["y"] for button in buttons}) == 1
    assert view.complaints == []


def test_edges_are_moved_by_mouse_and_keys(opened, studio):
    view = opened(studio.address)
    left, stage = width(view, ".side.left"), width(view, ".center")
    edge = view.page.get_by_role("separator", name="Edge of the panels on the left")
    box = edge.bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + 200
    view.drag(middle, (middle[0] + 60, middle[1]))
    assert width(view, ".side.left") == pytest.approx(left + 60, abs=5)
    assert width(view, ".center") == pytest.approx(stage - 60, abs=5)
    assert float(edge.get_attribute("aria-valuenow")) == width(view, ".side.left")
    edge.press("Home")
    assert width(view, ".side.left") == 180
    edge.press("ArrowRight")
    assert width(view, ".side.left") == 200
    assert view.state()["time"] == 0  # the arrow was the edge's
    view.page.get_by_role("separator", name="Edge of the panels on the right").press("End")
    assert width(view, ".center") == 260  # the stage stays
    view.page.reload()
    view.page.evaluate("window.kinetarium.ready")
    assert width(view, ".side.left") == 200 and width(view, ".center") == 260
    edge.dblclick()
    assert width(view, ".side.left") == left
    assert view.complaints == []


def test_panels_fold_by_their_titles(opened, studio):
    view = opened(studio.address)
    title = view.page.locator(".panel > summary", has_text="Runs")
    title.focus()
    view.page.keyboard.press("Space")
    assert view.page.locator(".run:visible").count() == 0
    assert not view.state()["playing"]  # the key was the title's
    folded = "localStorage.getItem('kinetarium-folded')"
    view.until(lambda _: view.page.evaluate(folded) == '["Runs"]')  # once the browser has told it
    view.page.reload()
    view.page.evaluate("window.kinetarium.ready")
    assert view.page.locator(".run:visible").count() == 0
    title.click()
    assert view.page.locator(".run:visible").count() == 2
    assert view.complaints == []


def test_the_theme_is_remembered(opened, studio):
    view = opened(studio.address, color_scheme="light")
    theme = "document.documentElement.dataset.theme"
    assert view.page.evaluate(theme) == "light"
    view.page.keyboard.press("t")
    assert view.page.evaluate(theme) == "dark"
    view.page.reload()
    assert view.page.evaluate(theme) == "dark"
    assert view.complaints == []


def test_the_slider_stays_as_wide_as_it_is(opened, tmp_path):
    long = "a phase with a name that is longer than there is room for"
    phases = {"phases": [["up", 1, 2], [long, 2, 3], ["down", 3, 4]]}
    write_runs(tmp_path / "grasp", [grasp_run("a", duration=12.0, facts=phases)])
    with running_studio(tmp_path) as studio:
        view = opened(studio.address)
        widths, names = set(), []
        for time in (0.0, 1.5, 2.5, 3.5, 11.0):
            view.page.evaluate("time => window.kinetarium.setTime(time)", time)
            widths.add(width(view, ".timeline .slider"))
            names.append(view.page.locator(".timeline .phase").get_attribute("title"))
        assert len(widths) == 1 and names == ["", "up", long, "down", "down"]
        assert view.complaints == []


def test_a_bar_that_scrolls_fades_on_a_phone(opened, studio):
    view = opened(studio.address, viewport={"width": 390, "height": 844}, has_touch=True)
    bar = view.page.locator(".bar")
    assert bar.evaluate("bar => bar.scrollWidth > bar.clientWidth")
    assert "gradient" in bar.evaluate("bar => getComputedStyle(bar).maskImage")
    bar.evaluate("bar => bar.scrollTo(bar.scrollWidth, 0)")
    box = bar.get_by_role("button", name="Keys and mouse").bounding_box()
    assert box["x"] + box["width"] <= 390 - 36  # the last button does not fade
    assert view.complaints == []
