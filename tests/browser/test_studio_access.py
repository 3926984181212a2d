"""The page for everyone: keys alone, names and contrast, a start page, words without WebGL."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from browser.studio_page import (
    SIZE,
    SOFTWARE_WEBGL,
    Opened,
    ball_map,
    contexts,
    grasp_run,
    write_runs,
)
from kinetarium.recording.recording import Recording
from needs import leave
from unit.studio_server import running_studio
from unit.test_studio_server import NO_TIMES, drop_run

pytestmark = pytest.mark.browser

FLAGS = SOFTWARE_WEBGL

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    write_runs(root / "grasp", [grasp_run("a"), grasp_run("b", engine="bullet", shift=0.2)])
    write_runs(root / "zdrop", [drop_run("d"), drop_run("e", engine="ode")])
    ball_map(root / "ball.rmap")
    with running_studio(root) as studio:
        yield studio


@pytest.fixture
def opened(browser):
    with contexts(browser) as opened:
        yield opened


def focused(view):
    """Return the name of what has the focus."""
    return view.page.evaluate(
        "(e => e.getAttribute('aria-label') ?? e.textContent)(document.activeElement)"
    )


def tab_to(view, name, *, most=80):
    """Press Tab until something with a name has the focus."""
    for _ in range(most):
        view.page.keyboard.press("Tab")
        if focused(view) == name:
            return
    raise AssertionError(f"Tab does not lead to {name!r}")


def test_the_start_page_says_what_this_is_and_where_to_go(opened, studio):
    view = opened(studio.address + "#")
    page = view.page
    assert view.state()["mode"] == "start"
    text = page.locator(".start").inner_text()
    assert "Every run of a simulated robot" in text and "4 runs of 2 studies and 1 map" in text
    titles = page.locator(".start .cards strong").all_text_contents()
    assert titles == page.locator(".modes button").all_text_contents()
    assert all(page.locator(".start .cards span").all_text_contents())
    assert not page.locator(".timeline").is_visible()
    page.locator(".start [data-folder=zdrop]").click()
    view.until(lambda s: s["mode"] == "runs" and s["replays"] == ["drop mujoco"])
    assert page.locator(".timeline").is_visible() and page.locator(".start").count() == 0
    # The brand leads back; who has been here is not asked again.
    page.locator(".brand").click()
    view.until(lambda s: s["mode"] == "start")
    page.locator("[data-start=maps]").click()
    view.until(lambda s: s["mode"] == "maps" and s.get("map") == "reachable")
    page.goto(studio.address)
    page.evaluate("window.kinetarium.ready")
    assert view.state()["mode"] == "runs"
    assert view.complaints == []


def test_a_folder_opens_with_its_first_run_that_has_bodies(opened, tmp_path):
    table = Recording({"time": NO_TIMES}, "", {})
    runs = [replace(drop_run("t", engine="ode"), recording=table), drop_run("a"), drop_run("b")]
    write_runs(tmp_path / "mixed", runs)
    with running_studio(tmp_path) as studio:
        view = opened(studio.address + "#")
        view.page.locator("[data-folder=mixed]").click()
        view.until(lambda s: s["mode"] == "runs" and s["replays"] == ["drop mujoco"])
        assert not view.page.locator(".stagenote").is_visible()
        view.page.locator(".run .name", has_text="ode").click()
        note = view.page.locator(".stagenote")
        note.wait_for()
        assert "This run records numbers and no moving bodies." in note.inner_text()
        assert "There are bodies in" in note.inner_text()
        assert view.complaints == []


def test_an_empty_folder_says_how_to_fill_it(opened, tmp_path):
    with running_studio(tmp_path) as studio:
        view = opened(studio.address + "#")
        assert "kinetarium drop --out" in view.page.locator(".start").inner_text()
        write_runs(tmp_path / "first", [drop_run("a")])
        view.until(lambda s: s["runs"] == 1)
        view.page.locator("[data-folder=first]").wait_for()
        assert view.complaints == []


def test_help_is_a_dialog(opened, studio):
    view = opened(studio.address)
    page = view.page
    page.locator(".run .name").first.focus()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys and mouse")
    assert dialog.is_visible()
    keys, words = (dialog.locator(tag).all_inner_texts() for tag in ("dt", "dd"))
    rows = dict(zip(keys, words, strict=True))
    assert rows["Space"] == "play or pause" and rows["P"] == "save a picture"
    assert rows["B"] == "overlaid or side by side" and rows["wheel"] == "zoom to the pointer"
    # Keys are the dialog's while it is open.
    page.keyboard.press("o")
    assert view.state()["projection"] == "perspective"
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    assert focused(view) == "mujoco"
    page.get_by_role("button", name="Keys and mouse").click()
    page.get_by_role("button", name="Close").click()
    page.locator("dialog").wait_for(state="detached")
    assert view.complaints == []


def test_space_and_arrows_belong_to_what_has_the_focus(opened, studio):
    view = opened(studio.address)
    page = view.page
    projection = page.get_by_role("button", name="perspective")
    projection.focus()
    page.keyboard.press("Space")
    view.until(lambda s: s["projection"] == "orthographic")
    assert not view.state()["playing"]
    page.locator("[data-mode=maps]").click()
    view.until(lambda s: s.get("map") == "reachable")
    cut = page.get_by_label("y from", exact=True)
    cut.focus()
    page.keyboard.press("ArrowRight")
    assert float(cut.input_value()) == pytest.approx(0.505)
    page.keyboard.press("Home")
    assert cut.input_value() == "0"
    page.locator("[data-mode=runs]").click()
    view.until(lambda s: s["replays"] == ["grasp mujoco"])
    slider = page.get_by_label("Time", exact=True)
    slider.focus()
    for key, time in (("ArrowRight", 0.01), ("ArrowUp", 0.02), ("ArrowLeft", 0.01), ("End", 4.0)):
        page.keyboard.press(key)
        assert view.state()["time"] == pytest.approx(time), key
    page.locator(".stage").click(position={"x": 5, "y": 5})
    page.keyboard.press("Home")
    page.keyboard.press("Space")  # nothing has the focus now
    assert view.state()["playing"] or view.until(lambda s: s["time"] > 0)
    assert view.complaints == []


def test_the_camera_is_moved_by_keys(opened, studio):
    view = opened(studio.address)
    page = view.page

    def look():
        """Return eye, target and height of what is seen."""
        numbers = np.array(list(map(float, view.state()["camera"].split(",")[1:])))
        return numbers[:3], numbers[3:6], numbers[6]

    eye, target, height = look()
    distance = np.linalg.norm(eye - target)
    for key, direction in (("1", [1, 0, 0]), ("2", [0, -1, 0]), ("3", [0, 0, 1])):
        page.keyboard.press(key)
        seen, aim, _ = look()
        np.testing.assert_allclose(aim, target, atol=1e-6)
        np.testing.assert_allclose((seen - aim) / distance, direction, atol=2e-3)
    page.keyboard.press("4")
    seen, aim, _ = look()
    np.testing.assert_allclose((seen - aim) / distance, np.array([1, -1, 1]) / 3**0.5, atol=1e-6)
    # The buttons look from the same sides.
    iso = seen
    page.get_by_role("button", name="View from: front").click()
    np.testing.assert_allclose((look()[0] - aim) / distance, [1, 0, 0], atol=2e-3)
    page.get_by_role("button", name="View from: iso").click()
    np.testing.assert_allclose(look()[0], iso, atol=1e-5)
    view.leave_focus()
    page.keyboard.press("Shift+ArrowRight")
    turned, _, _ = look()
    angle = np.arctan2(turned[1] - aim[1], turned[0] - aim[0]) + np.pi / 4
    assert angle == pytest.approx(np.pi / 24, abs=1e-6)
    page.keyboard.press("Shift+ArrowUp")
    assert look()[0][2] > turned[2]
    page.keyboard.press("+")
    assert look()[2] == pytest.approx(height / 1.15, rel=1e-5)
    page.keyboard.press("Control+ArrowUp")
    assert look()[1][2] > aim[2]
    assert view.state()["time"] == 0  # no arrow was the clock's
    assert view.complaints == []


def test_everything_is_reached_by_keys_alone(opened, studio):
    """Choose a run, play, scrub and turn the camera without a mouse."""
    view = opened(studio.address + "#")
    page = view.page
    tab_to(view, "RunsWatch what was simulated: choose a run, play it, lay others over it, "
           "read the curves.")  # fmt: skip
    page.keyboard.press("Enter")
    view.until(lambda s: s["replays"] == ["grasp mujoco"])
    tab_to(view, "bullet")
    page.keyboard.press("Enter")
    view.until(lambda s: s["replays"] == ["grasp bullet"])
    # The list was made anew, and the focus is where it was.
    page.locator(".run[data-open]", has_text="bullet").wait_for()
    assert focused(view) == "bullet"
    page.keyboard.press("Tab")
    assert focused(view) == "Remove grasp bullet from the view"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    assert focused(view) == "Add grasp mujoco to the view"
    page.keyboard.press("Enter")
    view.until(lambda s: len(s["replays"]) == 2)
    page.get_by_role("button", name="Remove grasp mujoco from the view").wait_for()
    assert focused(view) == "Remove grasp mujoco from the view"
    tab_to(view, "Play")
    page.keyboard.press("Space")
    view.until(lambda s: s["time"] > 0.05)
    page.keyboard.press("Space")
    view.until(lambda s: not s["playing"])
    tab_to(view, "Time")
    before = view.state()["time"]
    page.keyboard.press("ArrowRight")
    assert 0 < view.state()["time"] - before <= 0.0101
    eye = view.eye()
    page.keyboard.press("4")
    assert np.abs(view.eye() - eye).max() > 0.01
    assert view.complaints == []


def test_a_study_is_started_by_keys_alone(opened, tmp_path):
    with running_studio(tmp_path) as studio:
        view = opened(studio.address + "#")
        page = view.page
        tab_to(view, "Studies")
        page.keyboard.press("Enter")
        view.until(lambda s: s.get("study"))
        tab_to(view, "dropdrop a body or a robot and compare with the closed form")
        page.keyboard.press("Enter")
        tab_to(view, "Start drop")
        for field, text in (("engine", "mujoco"), ("height", "0.05"), ("duration", "0.25")):
            box = page.locator(f"[data-field={field}] input")
            for _ in range(20):
                page.keyboard.press("Tab")
                if box.evaluate("e => e === document.activeElement"):
                    break
            page.keyboard.press("Control+a")
            page.keyboard.type(text)
        for _ in range(20):
            page.keyboard.press("Shift+Tab")
            if focused(view) == "Start drop":
                break
        page.keyboard.press("Space")
        view.until(lambda s: s["jobs"] and s["jobs"][0]["study"] == "drop")
        # Its progress is seen at once, and it is cancelled by a key, too.
        job = page.locator(".job").first
        place = job.bounding_box()
        assert job.is_visible() and place["y"] + place["height"] < SIZE["height"]
        if view.state()["jobs"][0]["state"] == "running":
            tab_to(view, "Cancel")
            page.keyboard.press("Enter")
        for _ in range(600):
            if view.state()["jobs"][0]["state"] in ("cancelled", "done"):
                break
            page.wait_for_timeout(100)
        assert view.state()["jobs"][0]["state"] in ("cancelled", "done")
        assert view.complaints == []


def test_the_focus_is_kept_when_a_run_appears(opened, tmp_path):
    write_runs(tmp_path / "first", [drop_run("a"), drop_run("b", engine="ode")])
    with running_studio(tmp_path) as studio:
        view = opened(studio.address)
        button = view.page.get_by_role("button", name="Add first ode to the view")
        button.focus()
        write_runs(tmp_path / "another", [drop_run("c", engine="bullet")])
        view.until(lambda s: s["runs"] == 3)
        assert focused(view) == "Add first ode to the view"
        # So is that of a channel, whose list is made anew when it is pressed.
        chip = view.page.locator(".chip").first
        chip.focus()
        name = focused(view)
        pressed = chip.get_attribute("aria-pressed")
        view.page.keyboard.press("Space")
        view.page.locator(f".chip:has-text('{name}'):not([aria-pressed={pressed}])").wait_for()
        assert focused(view) == name
        assert view.complaints == []


def test_without_webgl_the_page_says_so(browser, studio):
    context = browser.new_context(viewport=SIZE)
    try:
        context.add_init_script(
            "const get = HTMLCanvasElement.prototype.getContext;"
            "HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {"
            "return /webgl/.test(kind) ? null : get.call(this, kind, ...rest); }"
        )
        view = Opened(context, studio.address, wait=False)
        view.page.get_by_role("heading", name="cannot draw in 3-D").wait_for()
        text = view.page.locator("main").inner_text()
        assert "WebGL 2" in text and "report.html" in text
        assert view.complaints == []
    finally:
        context.close()


MODES = {
    "start": lambda view: view.page.locator(".start .card").first.wait_for(),
    "runs": lambda view: view.page.locator(".plot").first.wait_for(),
    "sweep": lambda view: view.until(lambda s: s.get("rows") == 2),
    "maps": lambda view: view.until(lambda s: s.get("map") == "reachable"),
    "walking": lambda view: view.until(lambda s: s.get("plans")),
    "live": lambda view: view.page.locator(".panel").nth(1).wait_for(),
    "studies": lambda view: view.page.locator(".study-field").first.wait_for(),
}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_serious_findings_of_axe(opened, studio, theme):
    """The automated check of accessibility, in every mode and over the dialogs."""
    if not AXE.is_file():
        leave("axe-core")
    view = opened(studio.address + "#", color_scheme=theme)
    page = view.page
    page.evaluate(AXE.read_text("utf-8"))
    modes = [
        "start",
        *(tab.get_attribute("data-mode") for tab in page.locator(".modes button").all()),
    ]
    found = {}
    for mode in modes:
        if mode != "start":
            page.locator(f"[data-mode={mode}]").click()
        MODES.get(mode, lambda view: view.page.wait_for_timeout(1000))(view)
        found[mode] = serious(page)
        if mode == "runs":
            view.watch("grasp", "bullet", together=True)
            page.locator(".entry").first.click()
            found["hidden line"] = serious(page)
            for key in ("?", "e"):
                page.keyboard.press(key)
                found[f"dialog {key}"] = serious(page)
                page.keyboard.press("Escape")
    assert {place: faults for place, faults in found.items() if faults} == {}
    assert view.complaints == []


def serious(page):
    """Return what axe finds serious or critical, each as a line."""
    text = page.evaluate(
        "axe.run(document, {resultTypes: ['violations']}).then(r => JSON.stringify(r.violations))"
    )
    return [
        f"{fault['id']}: {node['html'][:120]} {node['any'][0]['message'] if node['any'] else ''}"
        for fault in json.loads(text)
        if fault["impact"] in ("serious", "critical")
        for node in fault["nodes"]
    ]
