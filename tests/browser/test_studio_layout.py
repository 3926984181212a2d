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
