"""A StudyResult in a notebook: tables and figures in its page, the runs in 3-D in a frame."""

import pytest

from browser.studio_page import SOFTWARE_WEBGL
from kinetarium import run_study
from kinetarium.figures import Lines, Scene3D

pytestmark = [pytest.mark.browser, pytest.mark.engine]
FLAGS = SOFTWARE_WEBGL


@pytest.fixture(scope="module")
def shown(browser, tmp_path_factory):
    """A page around a result, what it requested, and what it complained of."""
    engines = ["mujoco", "ode"]
    result = run_study("drop", engine=engines, height=0.05, duration=0.4, workers=0)
    file = tmp_path_factory.mktemp("notebook") / "notebook.html"
    file.write_text(f"<!doctype html><title>Notebook</title>{result._repr_html_()}", "utf-8")
    page = browser.new_page()
    requests, complaints = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.goto(file.as_uri())
    yield result, page, requests, complaints
    page.close()


def test_tables_and_figures(shown):
    result, page, _, _ = shown
    headline = page.locator("table").first
    assert headline.locator("tbody tr").count() == len(result.findings.headline.rows)
    assert headline.is_visible()
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    drawn = [figure for figure in result.figures if isinstance(figure, Lines | Scene3D)]
    images = page.locator("figure img")
    assert images.count() == len(drawn) > 3
    for image in images.all():
        image.scroll_into_view_if_needed()
        assert image.evaluate("image => image.complete && image.naturalWidth") > 300


def test_runs_are_watched_in_a_frame(shown):
    result, page, requests, complaints = shown
    frame = page.locator("iframe")
    assert frame.get_attribute("sandbox") == "allow-scripts"
    frame.scroll_into_view_if_needed()
    inside = frame.element_handle().content_frame()
    inside.wait_for_function("window.kinetarium !== undefined")
    inside.evaluate("kinetarium.ready")
    inside.evaluate("kinetarium.setTime(0.4)")
    inside.wait_for_function("kinetarium.state().time >= 0.39")
    heights = {
        name: poses["box"][2]
        for name, poses in inside.evaluate("kinetarium.frame()")["poses"].items()
    }
    assert list(heights) == ["drop mujoco", "drop ode"]
    for height, recording in zip(heights.values(), result.recordings, strict=True):
        assert height == pytest.approx(recording["poses"][-1, 0, 2], abs=1e-4)
    assert complaints == []
    assert {url.partition(":")[0] for url in requests} <= {"file", "data", "about", "blob"}
    assert len([url for url in requests if url.startswith("file:")]) == 1
