"""Plots, their clock, and the stage while runs are opened."""

from dataclasses import replace

import numpy as np
import pytest

from browser.studio_page import SIZE, SOFTWARE_WEBGL, Opened, write_runs
from kinetarium.recording.recording import Channel
from unit.studio_server import running_studio
from unit.test_studio_server import drop_run

pytestmark = pytest.mark.browser

FLAGS = SOFTWARE_WEBGL

WRITTEN = """
window.written = [];
const write = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
  const place = this.getTransform().transformPoint({ x, y });
  const width = this.measureText(text).width;
  const left = place.x - { right: width, end: width, center: width / 2 }[this.textAlign] || 0;
  window.written.push({ text, left, align: this.textAlign });
  return write.call(this, text, x, y, ...rest);
};
"""
"""Notes every text that is written on a canvas, with its left end [px]."""


def run_with(key, *, duration=0.3, samples=31, **channels):
    """A fall with other channels beside."""
    run = drop_run(key, engine=key)
    time = np.linspace(0.0, duration, samples)
    poses = np.tile([0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0], (samples, 1, 1))
    kept = {"time": Channel(time, "s"), "poses": Channel(poses, "m, wxyz", ("box",))}
    return replace(run, recording=replace(run.recording, channels={**kept, **channels}))


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    wave = np.sin(np.linspace(0.0, 6.0, 31))
    signals = run_with(
        "signals",
        twists=Channel(np.outer(wave, np.arange(6.0)).reshape(31, 1, 6), "m/s, rad/s", ("box",)),
        load=Channel(51.75635 + 2e-5 * wave, "N"),
        creep=Channel(6e-6 * wave, "m"),
        pressure=Channel(3.2e7 * (2.0 + wave), "Pa"),
    )
    lost = replace(drop_run("gone", engine="lost"), recording=None)
    spikes = np.zeros((9001, 2))
    spikes[4445, 0] = spikes[8999, 1] = 7.0
    thin = {"spikes": Channel(spikes, "N", ("first", "second"))}
    long = run_with("long", duration=60.0, samples=9001, **thin)
    mixed = run_with(
        "mixed",
        state=Channel(np.ones((31, 3)), "N, 1, m/s", ("force", "number", "speed")),
        touch=Channel(np.ones((31, 4)), "N, 1", ("fx", "fy", "fz", "number")),
    )
    write_runs(
        root / "drop", [signals, mixed, drop_run("a"), drop_run("b", engine="ode"), lost, long]
    )
    with running_studio(root) as studio:
        yield studio


@pytest.fixture
def view(browser, studio):
    context = browser.new_context(viewport=SIZE)
    context.add_init_script(WRITTEN)
    try:
        yield Opened(context, studio.address)
    finally:
        context.close()


PRESSED = "[...document.querySelectorAll('.choice .chip[aria-pressed=true]')].map(c => c.innerText)"


def shown(view, *channels):
    """Show some channels and nothing else."""
    chips = view.page.locator(".choice .chip")
    for name in channels:
        chips.get_by_text(name, exact=True).wait_for()
    before = view.page.evaluate(PRESSED)
    # Wanted ones first: the page shows its own choice where nothing is chosen.
    wrong = [name for name in channels if name not in before]
    for name in (*wrong, *(name for name in before if name not in channels)):
        before = view.page.evaluate(PRESSED)
        chips.get_by_text(name, exact=True).click()
        # Charts are drawn when their values have come.
        view.until(lambda s, before=before: view.page.evaluate(PRESSED) != before)
    for name in channels:
        view.page.locator(".plot", has_text=name).wait_for()
    view.until(lambda _: view.page.locator(".plot").count() == len(channels))
    view.page.wait_for_timeout(100)


def test_twists_have_the_names_of_velocities(view):
    view.watch("drop", "signals")
    shown(view, "twists")
    names = [entry.split()[:2] for entry in view.page.locator(".entry").all_inner_texts()]
    assert [name for _, name in names] == ["vx", "vy", "vz", "wx", "wy", "wz"]
    assert view.complaints == []


def test_lines_of_several_units_have_theirs_in_the_legend(view):
    view.watch("drop", "mixed")
    shown(view, "state", "touch")
    assert view.page.locator(".plothead > b").all_inner_texts() == ["state", "touch"]
    names = view.page.locator(".entry span").all_inner_texts()
    assert names == ["force [N]", "number", "speed [m/s]", "fx [N]", "fy [N]", "fz [N]", "number"]
    shown(view, "poses")
    units = [text.partition(" [")[2] for text in view.page.locator(".entry span").all_inner_texts()]
    assert units == ["m]"] * 3 + [""] * 4
    assert view.complaints == []


def test_ticks_are_written_whole(view):
    view.watch("drop", "signals")
    shown(view, "load", "creep", "pressure")
    view.page.evaluate("window.written = []")
    shown(view, "load", "creep")
    shown(view, "load", "creep", "pressure")
    ticks = [text for text in view.page.evaluate("window.written") if text["align"] == "right"]
    assert ticks and min(tick["left"] for tick in ticks) >= 0
    texts = {tick["text"] for tick in ticks}
    loads = sorted(text for text in texts if text.startswith("51.756"))
    assert len(loads) >= 2
    assert {"4e-6", "5e-6", "6e-6"} & texts and {"40e6", "50e6", "60e6"} & texts
    assert view.complaints == []


@pytest.mark.console_errors("404")
def test_a_run_that_fails_to_open_leaves_the_stage_as_it_is(view):
    view.watch("drop", "ode")
    view.watch("drop", "mujoco", together=True)
    before = view.state()
    row = view.page.locator(".run", has_text="lost")
    row.locator(".name").click()
    view.page.locator(".notice[data-kind=error]").wait_for()
    state = view.until(lambda s: view.page.locator(".status", has_text="loading").count() == 0)
    assert state["replays"] == before["replays"] == ["drop ode", "drop mujoco"]
    assert view.page.locator(".run[data-open]").count() == 2
    # One that opens takes their place, in the first colour.
    view.watch("drop", "signals")
    assert view.state()["replays"] == ["drop signals"]
    assert view.page.locator(".run[data-open]").count() == 1
    assert all("404" in text for text in view.complaints)


def test_time_keeps_its_pace_however_long_a_picture_takes(view):
    view.watch("drop", "long")
    view.page.evaluate("window.kinetarium.setTime(0)")
    view.leave_focus()
    view.page.keyboard.press("Space")
    view.until(lambda s: s["playing"] and s["time"] > 0)
    passed = view.page.evaluate(
        """async () => {
          const time = () => window.kinetarium.state().time;
          const [before, start] = [time(), performance.now()];
          while (performance.now() < start + 1500);
          // The picture that was asked for before still has its own time.
          const { frames } = window.kinetarium.state();
          const drawn = () => window.kinetarium.state().frames > frames + 2;
          while (!drawn() && performance.now() < start + 30000)
            await new Promise((done) => requestAnimationFrame(done));
          return time() - before;
        }"""
    )
    assert passed > 1.3
    assert view.complaints == []


def test_a_peak_of_one_sample_is_seen(view):
    """Among 9,001 samples, of which a chart draws 3,000."""
    view.watch("drop", "long")
    shown(view, "spikes")
    # The second line, as the marker of the time has the colour of the first.
    entry = view.page.locator(".entry").nth(1)
    color = entry.evaluate("e => e.style.getPropertyValue('--series')")
    wanted = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)])
    picture = view.pixels(".plot canvas")
    inked = np.abs(picture - wanted).max(axis=2) < 90
    rows = np.flatnonzero(inked.any(axis=1))
    assert np.ptp(rows) > 0.5 * len(picture)
    # The legend tells the sample itself, not what the chart has of it.
    view.page.evaluate("window.kinetarium.setTime(60 * 4445 / 9000)")
    legend = view.page.locator(".entry output").all_text_contents()
    assert legend == ["7", "0"]
    view.page.evaluate("window.kinetarium.setTime(60 * 4446 / 9000)")
    assert view.page.locator(".entry output").all_text_contents() == ["0", "0"]
    assert view.complaints == []
