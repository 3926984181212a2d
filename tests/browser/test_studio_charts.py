"""Charts: all lines named, columns, zoom, values under the mouse, logarithms, differences, CSV."""

import numpy as np
import pytest

from browser.studio_page import SIZE, SOFTWARE_WEBGL, Opened, write_runs
from browser.test_studio_plots import run_with, shown
from kinetarium.recording.recording import Channel
from unit.studio_server import running_studio
from unit.test_studio_server import drop_run

pytestmark = pytest.mark.browser

FLAGS = SOFTWARE_WEBGL
TIME = np.linspace(0.0, 3.0, 301)
NAMES = tuple(f"joint{i}" for i in range(7))


def recorded(key, shift):
    waves = np.sin(TIME[:, None] + np.arange(7)) + shift
    many = TIME[:, None] * np.arange(30)
    decay = np.exp(-5 * TIME) * (1 + shift)
    channels = {
        "angles": Channel(waves, "rad", NAMES),
        "many": Channel(many, "m", tuple(f"c{i}" for i in range(30))),
        "decay": Channel(decay, "N"),
    }
    return run_with(key, duration=3.0, samples=301, **channels)


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    write_runs(root / "drop", [recorded(f"run{i}", 0.1 * i) for i in range(6)])
    write_runs(root / "short", [drop_run("s")])
    with running_studio(root) as studio:
        yield studio


@pytest.fixture
def view(browser, studio):
    context = browser.new_context(viewport=SIZE, accept_downloads=True)
    try:
        view = Opened(context, studio.address)
        view.watch("drop", "run0")
        yield view
        assert view.complaints == []
    finally:
        context.close()


BOX = """lines => {
    lines.scrollIntoView({ block: "nearest" });
    const { x, y, width, height } = lines.getBoundingClientRect();
    return [x, y, width, height];
}"""


def over(view, name):
    """Return the box of a chart's lines [px], once its axes have the room they need."""
    lines = view.page.locator(".plot", has_text=name).locator(".u-over")
    box, before = lines.evaluate(BOX), None
    while box != before:
        view.page.wait_for_timeout(150)
        box, before = lines.evaluate(BOX), box
    return box


def styles(view, name):
    """Return colour and dash of each line of a chart, as its legend has them."""
    strokes = view.page.locator(".plot", has_text=name).locator(".entry line")
    return strokes.evaluate_all(
        "s => s.map(l => [l.getAttribute('stroke'), l.getAttribute('stroke-dasharray')])"
    )


def test_all_lines_are_in_the_legend_and_differ(view):
    for i in range(1, 6):
        view.watch("drop", f"run{i}", together=True)
    shown(view, "angles")
    entries = view.page.locator(".plot .entry")
    names = [f"drop run{i} joint{j}" for i in range(6) for j in range(7)]
    assert [e.get_attribute("title") for e in entries.all()] == names
    # What is written is what tells them apart, and none of it is cut off.
    texts = entries.locator("span")
    assert texts.all_inner_texts() == [f"joint{j} · run{i}" for i in range(6) for j in range(7)]
    assert not any(texts.evaluate_all("all => all.map(e => e.scrollWidth > e.clientWidth)"))
    assert len({tuple(style) for style in styles(view, "angles")}) == 42
    # It scrolls, is folded, and hides lines one by one or all at once.
    listed = view.page.locator(".plot .entries")
    high, whole = listed.evaluate("e => [e.clientHeight, e.scrollHeight]")
    assert high < 120 < whole
    entries.nth(41).click()
    assert entries.nth(41).get_attribute("aria-pressed") == "false"
    view.page.locator(".legends .legendhead button", has_text="none").click()
    assert view.page.locator(".entry[aria-pressed=true]").count() == 0
    view.page.locator(".legends .legendhead button", has_text="fold").click()
    assert not listed.is_visible()


def test_colours_do_not_repeat_after_eight(view):
    shown(view, "many")
    drawn = styles(view, "many")
    assert len(drawn) == 30 and len({tuple(style) for style in drawn}) == 30
    assert len({color for color, _ in drawn}) == 24


def test_columns_are_chosen(view):
    shown(view, "many")
    chart = view.page.locator(".plot")
    chart.locator("summary").click()
    sheet = chart.locator(".sheet")
    sheet.locator("button", has_text="none").click()
    view.until(lambda s: chart.locator(".entry").count() == 0)
    sheet.locator(".filter").fill("c2")
    sheet.locator("[data-column=c7]").wait_for(state="hidden")
    sheet.locator("[data-column=c25]").check()
    view.until(lambda s: chart.locator(".entry").count() == 1)
    assert sheet.is_visible()  # for the next one
    view.page.evaluate("window.kinetarium.setTime(2)")
    assert chart.locator(".entry").all_inner_texts() == ["c25\n50"]
    assert chart.locator("summary").inner_text() == "columns 1/30"


def test_charts_zoom_together_and_back(view):
    shown(view, "angles", "decay")
    seen = "c => [...c.querySelectorAll('.marker')].map(m => m.style.display !== 'none')"
    markers = view.page.locator(".charts")
    view.page.evaluate("window.kinetarium.setTime(0.5)")
    assert markers.evaluate(seen) == [True, True]
    x, y, w, h = over(view, "angles")
    view.page.keyboard.down("Shift")
    view.drag((x + w / 3, y + h / 2), (x + 2 * w / 3, y + h / 2 + 2))
    view.page.keyboard.up("Shift")
    assert view.state()["time"] == 0.5
    assert markers.evaluate(seen) == [False, False]
    # The ends of both charts are now 1 s and 2 s.
    for name in ("angles", "decay"):
        x, y, w, h = over(view, name)
        for at, time in ((1, 1.0), (w - 1, 2.0)):
            view.page.mouse.click(x + at, y + 5)
            assert view.state()["time"] == pytest.approx(time, abs=0.03)
    view.page.keyboard.down("Control")
    view.page.mouse.wheel(0, -100)
    view.page.keyboard.up("Control")
    x, y, w, h = over(view, name)  # ticks of other lengths move it
    view.page.mouse.click(x + 1, y + 5)
    assert view.state()["time"] == pytest.approx(1.2, abs=0.05)
    view.page.mouse.dblclick(x + w / 2, y + 5)
    x, y, w, h = over(view, "decay")  # its axis may need less room now
    view.page.mouse.click(x + 1, y + 5)
    assert view.state()["time"] == pytest.approx(0.0, abs=0.03)


def test_a_zoom_stays_while_runs_are_as_long_and_ends_with_them(view):
    shown(view, "angles")
    x, y, w, h = over(view, "angles")
    view.page.keyboard.down("Shift")
    view.drag((x + w / 3, y + h / 2), (x + 2 * w / 3, y + h / 2 + h / 8))  # nearly level
    view.page.keyboard.up("Shift")
    texts = view.page.locator(".plot .tool:visible").all_inner_texts
    assert "all" in texts()
    # A nearly level rectangle is one of time: values have all of their height.
    x, y, w, h = over(view, "angles")
    view.page.mouse.move(x + w / 2, y + h / 2)
    assert view.page.locator(".told").count() == 7
    view.watch("drop", "run3")
    shown(view, "angles")
    assert "all" in texts()
    view.page.locator(".folder", has_text="short").locator(".run .name").click()
    view.until(lambda s: s["duration"] == pytest.approx(0.3) and "all" not in texts())
    x, y, w, h = over(view, "height")
    view.page.mouse.click(x + w - 1, y + 5)
    assert view.state()["time"] == pytest.approx(0.3, abs=0.01)


def test_values_are_shown_under_the_mouse(view):
    shown(view, "angles")
    x, y, w, h = over(view, "angles")
    view.page.mouse.move(x + w / 2, y + h / 2)
    tip = view.page.locator(".tip")
    assert float(tip.locator("b").inner_text().split()[0]) == pytest.approx(1.5, abs=0.02)
    rows = [row.split("\n") for row in tip.locator(".told").all_inner_texts()]
    assert sorted(name for name, _ in rows) == sorted(NAMES)
    for name, value in rows:
        assert float(value) == pytest.approx(np.sin(1.5 + int(name[-1])), abs=0.03)
    # The line nearest to the mouse comes first; the middle of the chart is about zero.
    values = [abs(float(value)) for _, value in rows]
    assert values[0] == min(values)
    view.page.mouse.move(10, 10)
    assert not tip.is_visible()


def test_a_logarithmic_axis_makes_a_decay_straight(view):
    shown(view, "decay")
    view.page.locator(".plot button", has_text="log").click()
    color = view.page.locator(".plot .entry").evaluate("e => e.style.getPropertyValue('--series')")
    wanted = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)])
    view.page.evaluate("window.kinetarium.setTime(0)")
    inked = np.abs(view.pixels(".plot canvas") - wanted).max(axis=2) < 60
    columns = np.flatnonzero(inked.any(axis=0))[5:-5]
    heights = np.array([np.flatnonzero(inked[:, column]).mean() for column in columns])
    line = np.polyval(np.polyfit(columns, heights, 1), columns)
    assert np.abs(heights - line).max() < 2.5 and np.ptp(heights) > 60


def test_runs_are_drawn_as_differences(view):
    view.watch("drop", "run2", together=True)
    shown(view, "angles")
    view.page.locator(".plot button", has_text="Δ").click()
    chart = view.page.locator(".plot", has_text="Δ angles [rad] from drop run0")
    chart.wait_for()
    for time in (0.0, 1.0, 2.5):
        view.page.evaluate("time => window.kinetarium.setTime(time)", time)
        values = [float(v) for v in chart.locator(".entry output").all_text_contents()]
        np.testing.assert_allclose(values, 0.2, atol=1e-5)
    assert len(values) == 7


def test_what_is_drawn_is_saved_as_csv(view):
    shown(view, "angles")
    view.page.locator(".plot .entry", has_text="joint3").click()
    with view.page.expect_download() as saved:
        view.page.locator(".plot button", has_text="CSV").click()
    lines = saved.value.path().read_text().splitlines()
    kept = [name for name in NAMES if name != "joint3"]
    assert saved.value.suggested_filename == "angles_rad.csv"
    assert lines[0] == ",".join(["time_s", *kept])
    table = np.array([line.split(",") for line in lines[1:]], dtype=float)
    np.testing.assert_allclose(table[:, 0], TIME, atol=1e-12)
    expected = np.sin(TIME[:, None] + np.arange(7))[:, [0, 1, 2, 4, 5, 6]]
    np.testing.assert_allclose(table[:, 1:], expected, atol=1e-6)
