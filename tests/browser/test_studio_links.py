"""Links that show the same in another browser, and exported pages that show what was seen."""

import numpy as np
import pytest

from browser.studio_page import (
    SOFTWARE_WEBGL,
    ball_map,
    contexts,
    grasp_run,
    walk_run,
    write_runs,
)
from unit.studio_server import running_studio
from unit.test_studio_server import drop_run

pytestmark = pytest.mark.browser

FLAGS = SOFTWARE_WEBGL


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    write_runs(root / "grasp", [grasp_run("a"), grasp_run("b", engine="bullet", shift=0.2)])
    write_runs(root / "walk", [walk_run("w")])
    write_runs(root / "drop", [drop_run("d"), drop_run("e", engine="ode")])
    ball_map(root / "ball.rmap")
    with running_studio(root) as studio:
        yield studio


@pytest.fixture
def opened(browser):
    with contexts(browser) as opened:
        yield opened


def copied_link(view):
    """Press the button that copies a link, and return the link."""
    view.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    view.page.evaluate("navigator.clipboard.writeText('')")
    view.page.get_by_role("button", name="copy link").click()
    view.page.get_by_text("The link is copied").first.wait_for()
    for _ in range(100):
        if link := view.page.evaluate("navigator.clipboard.readText()"):
            return link
        view.page.wait_for_timeout(50)
    raise AssertionError("nothing was copied")


def seen(view):
    """What a link has to reproduce."""
    state = view.state()
    pressed = view.page.locator(".chip[aria-pressed=true]").all_text_contents()
    # Rows of the projection for the place in the picture; near and far planes may differ.
    eye = view.eye()[[0, 1, 3]] if state["projection"] == "perspective" else view.eye()[:2]
    return {name: state[name] for name in ("mode", "replays", "projection")}, pressed, eye


def same(view, other):
    for _ in range(100):  # plots are drawn when their samples have come
        (state, channels, eye), (state_2, channels_2, eye_2) = seen(view), seen(other)
        if sorted(channels) == sorted(channels_2):
            break
        view.page.wait_for_timeout(50)
    assert state == state_2 and sorted(channels) == sorted(channels_2)
    np.testing.assert_allclose(eye, eye_2, atol=1e-5)
    assert view.state()["time"] == pytest.approx(other.state()["time"], abs=1e-6)


def arrange(view):
    """Show two runs side by side, other channels, another camera, another time."""
    view.watch("grasp", "bullet")
    view.watch("drop", "ode", together=True)
    view.page.get_by_role("button", name="q", exact=True).click()
    for key in ("b", "s", "c", "4", "+", "Shift+ArrowLeft"):
        view.page.keyboard.press(key)
    view.poses(1.25)


def test_a_link_shows_the_same_in_another_browser(opened, studio):
    view = opened(studio.address)
    arrange(view)
    link = copied_link(view)
    assert link.startswith(studio.address + "#")
    other = opened(link)
    assert other.state()["replays"] == ["grasp bullet", "drop ode"]
    assert other.state()["time"] == 1.25
    same(view, other)
    assert other.page.locator(".overlay .label").count() == 2  # side by side
    for name in ("hidden-line", "side by side"):
        assert other.page.get_by_role("button", name=name).count() == 1
    forces = other.page.get_by_role("button", name="forces")
    assert forces.get_attribute("aria-pressed") == "false"
    # The token has left the address, but what is seen has not: it can be loaded again.
    assert "token" not in other.page.url
    other.page.keyboard.press("o")
    other.until(lambda s: "camera=o" in other.page.url)
    other.page.reload()
    other.page.evaluate("window.kinetarium.ready")
    assert other.state()["projection"] == "orthographic"
    assert view.complaints == [] and other.complaints == []


def test_links_lead_to_maps_sweeps_and_walks(opened, studio):
    view = opened(studio.address)
    view.page.locator("[data-mode=maps]").click()
    view.until(lambda s: s.get("map") == "reachable" and s["replays"])
    view.page.get_by_label("Field").select_option("manipulability")
    view.until(lambda s: s["map"] == "manipulability")
    view.page.get_by_label("x from", exact=True).fill("0.4")
    other = opened(copied_link(view))
    assert other.state()["map"] == "manipulability"
    assert other.page.get_by_label("x from", exact=True).input_value() == "0.4"
    view.page.locator("[data-mode=sweep]").click()
    state = view.until(lambda s: s.get("rows") == 2)
    view.page.locator("select[aria-label=Sweep]").select_option(label="drop")
    view.until(lambda s: s["sweep"] == "drop")
    view.page.locator("table.sweep button", has_text="▶").first.click()
    state = view.until(lambda s: len(s["replays"]) == 1)
    for _ in range(20):  # the address follows what is shown a little later
        other = opened(copied_link(view))
        if other.state()["replays"] == state["replays"]:
            break
        view.page.wait_for_timeout(250)
    assert other.state()["key"] == state["key"] and other.state()["replays"] == state["replays"]
    view.page.locator("[data-mode=walking]").click()
    view.until(lambda s: s.get("plans"))
    view.page.locator(".gait rect").first.wait_for()
    view.page.evaluate("window.kinetarium.addWaypoint(1.2, 0.6)")
    view.until(lambda s: len(s["waypoints"]) == 3 and not s["busy"])
    other = opened(copied_link(view))
    assert other.state()["waypoints"] == view.state()["waypoints"]
    same(view, other)
    assert view.complaints == [] and other.complaints == []


@pytest.mark.parametrize(
    "fragment",
    [
        "mode=runs&run=nothing/here&camera=p,nan&time=x",
        "mode=runs&camera=p,1,1,1,1,1,1,1&channel=%3Cimg%20src%3Dx%3E&style=none&time=1e999",
        "mode=maps&map=none&cuts=9,9",
        "mode=walking&walk=AAAA&camera=o,1e9,0,0,0,0,0,1",
        "mode=nonsense",
    ],
)
def test_damaged_links_do_no_harm(opened, studio, fragment):
    view = opened(f"{studio.address}#{fragment}")
    state = view.state()
    assert state["mode"] in ("runs", "maps", "walking", "start")
    assert np.isfinite(view.eye()).all() and np.isfinite(state["time"])
    if "run=" in fragment:
        assert "not in this folder" in view.page.locator(".notices").inner_text()
    assert state["mode"] == "start" or len(state["replays"]) == 1
    assert view.page.locator("img").count() == 0
    assert view.complaints == []


def test_exports_keep_the_view(opened, studio, tmp_path):
    view = opened(studio.address, color_scheme="light")
    arrange(view)
    view.page.keyboard.press("t")
    with view.page.expect_download() as download:
        view.page.get_by_role("button", name="Export HTML").click()
    file = tmp_path / "kinetarium.html"
    download.value.save_as(file)
    alone = opened(file.as_uri(), offline=True, color_scheme="light")
    (state, channels, eye), (state_2, channels_2, eye_2) = seen(view), seen(alone)
    assert state["replays"] == state_2["replays"] and channels == channels_2
    np.testing.assert_allclose(eye, eye_2, atol=1e-5)
    assert alone.state()["time"] == 1.25
    assert alone.page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert alone.page.locator(".overlay .label").count() == 2
    # A link to the file has a view of its own.
    alone.page.keyboard.press("1")
    again = opened(copied_link(alone), offline=True)
    np.testing.assert_allclose(seen(again)[2], seen(alone)[2], atol=1e-5)
    assert view.complaints == [] and alone.complaints == [] and again.complaints == []
