"""What is said of results: the table of all runs, events on the time line, maps in words."""

from dataclasses import replace

import numpy as np
import pytest

from browser.studio_page import SIZE, SOFTWARE_WEBGL, Opened, ball_map, grasp_run, write_runs
from kinetarium.model.load import load_robot
from kinetarium.reach.maps.files import write_map
from kinetarium.reach.maps.recipe import MapKind, MapRecipe, field_shape
from kinetarium.recording.recording import Channel, RunStatus
from unit.studio_server import running_studio
from unit.test_studio_server import drop_run

pytestmark = pytest.mark.browser

FLAGS = SOFTWARE_WEBGL
MISSING = "\N{EN DASH}"


def fall(key, **case):
    row = {"rest_depth_m": case["height"] * 1e-3, "speed": 4.0 - case["height"]}
    return replace(drop_run(key, **case), rows=(row,))


def inverse_map(path):
    """An inverse map of the Panda that is reached everywhere within it."""
    panda = load_robot("panda")
    recipe = MapRecipe(
        MapKind.IRM4, "panda", panda.source.sha256, panda.root, "panda_link8", 0.1, 1.0, 8, 0, True,
        16,
    )  # fmt: skip
    shape = field_shape(recipe)
    fields = {
        "reach": np.full(shape, 153, dtype="|u1"),
        "manipulability": np.full(shape, 0.1, dtype="<f4"),
    }
    units = {"reach": "1/255 of the poses", "manipulability": "m^3"}
    write_map(path, recipe, fields=fields, units=units)


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    heights = (0.25, 0.5, 1.0, 2.0)
    write_runs(root / "falls", [fall(f"f{i}", height=h) for i, h in enumerate(heights)])
    write_runs(root / "more", [fall("g", height=3.0, engine="ode")])
    touch = grasp_run("a", duration=0.5, rate=200.0, engine="bullet")
    time = touch.recording["time"]
    wrench = np.outer((time > 0.1975) & (time < 0.3975), [0.0, 3.0, 4.0, 0.0, 0.0, 0.0])
    channels = {**touch.recording.channels, "wrench/panda_leftpad": Channel(wrench, "N, N m")}
    channels.pop("wrench/panda_rightpad")
    events = {"events": [["slip", "cube <b>slips</b>", 0.3], ["warning", "hot", 0.35]]}
    recording = replace(touch.recording, channels=channels, facts=events, status="diverged")
    lost = replace(touch, recording=recording, status=RunStatus.DIVERGED, message="too fast")
    write_runs(root / "grasp", [lost])
    ball_map(root / "ball.rmap", voxel=0.1)
    inverse_map(root / "inverse.rmap")
    with running_studio(root) as studio:
        yield studio


@pytest.fixture
def view(browser, studio):
    context = browser.new_context(viewport=SIZE)
    try:
        view = Opened(context, studio.address)
        yield view
        assert view.complaints == []
    finally:
        context.close()


def test_all_runs_are_one_table_that_is_sorted_and_coloured(view):
    page = view.page
    page.locator("[data-mode=sweep]").click()
    view.until(lambda s: s.get("rows") == 4)
    page.locator("select[aria-label=Sweep]").select_option(label="all runs")
    view.until(lambda s: s["rows"] == 6)
    for choice, column in (("x", "height"), ("y", "speed"), ("colour", "folder")):
        page.locator(f"select[aria-label={choice}]").select_option(column)
    page.locator(".runtable button", has_text="large").click()

    def column(name):
        names = [text.strip(" ▲▼") for text in page.locator("table.sweep th").all_inner_texts()]
        cells = page.locator(f"table.sweep td:nth-child({names.index(name) + 1})")
        return cells.all_inner_texts()

    assert {"folder", "study", "engine", "status"} <= set(
        text.strip(" ▲▼") for text in page.locator("table.sweep th").all_inner_texts()
    )
    for name, reverse in (("height", False), ("height", True), ("speed", False)):
        page.locator(f"[data-sort={name}]").click()
        found = [float(text) for text in column(name) if text != MISSING]
        assert found == sorted(found, reverse=reverse) and len(found) == 5
        assert column(name)[-1] == MISSING  # without a value
    # Colours are by the folder; the row leads to the replay.
    shades = page.locator("table.sweep .swatch").evaluate_all(
        "all => all.map(s => s.style.background)"
    )
    pairs = set(zip(column("folder"), shades, strict=True))
    assert len(pairs) == len(set(shades)) == 3
    row = column("height").index("3")
    page.locator("table.sweep tr").nth(row + 1).locator("button").click()
    state = view.until(lambda s: len(s["replays"]) == 1)
    assert state["key"].endswith("/g") and state["duration"] == pytest.approx(0.3)


def test_a_line_of_parallel_coordinates_opens_its_replay(view):
    view.page.locator("[data-mode=sweep]").click()
    state = view.until(lambda s: s.get("rows") == 4 and len(s["lines"]) == 4)
    lines = np.array(state["lines"])
    assert lines.shape[1] >= 3 and (np.diff(lines[0, :, 0]) > 0).all()
    # Height is the first axis; greater heights are higher up, and so are depths.
    assert (np.diff(lines[:, 0, 1]) < 0).all()
    at = lines[2, :2].mean(axis=0)
    view.page.mouse.click(*at)
    state = view.until(lambda s: len(s["replays"]) == 1)
    assert state["key"] == "f2"


def test_events_are_marked_on_the_time_line(view):
    view.page.locator(".folder", has_text="grasp").locator(".run .name").click()
    view.until(lambda s: s["duration"] == 0.5)
    marks = view.page.locator(".timeline .mark")
    found = [(mark.get_attribute("data-kind"), mark.get_attribute("title")) for mark in marks.all()]
    assert found == [
        ("contact", "contact: panda_leftpad: contact (0.20 s)"),
        ("slip", "slip: cube <b>slips</b> (0.30 s)"),
        ("warning", "warning: hot (0.35 s)"),
        ("contact", "contact: panda_leftpad: contact ends (0.40 s)"),
        ("divergence", "divergence: diverged: too fast (0.50 s)"),
    ]
    shapes = {mark.evaluate("m => getComputedStyle(m).clipPath") for mark in marks.all()}
    assert len(shapes) == 4  # told apart without their colours
    marks.nth(1).click()
    assert view.state()["time"] == pytest.approx(0.3)
    for key, time in ((".", 0.35), (".", 0.4), (",", 0.35)):
        view.page.keyboard.press(key)
        assert view.state()["time"] == pytest.approx(time, abs=6e-3)


def test_maps_say_what_they_show_in_words_and_metres(view):
    view.page.locator("button[data-mode=maps]").click()
    view.until(lambda s: s.get("map") == "reachable" and s["replays"] == ["panda"])
    text = view.page.locator("aside.left").inner_text()
    assert "Share of the 50 tool poses in each voxel that the arm reaches" in text
    assert "0 %" in text and "100 %" in text and "1/255" not in text
    cuts = view.page.locator(".cut output")
    assert cuts.nth(0).inner_text() == "-1.05 m … 1.05 m"
    view.page.get_by_label("x from", exact=True).fill("0.5")
    assert cuts.nth(0).inner_text() == "0.00 m … 1.05 m"
    view.page.get_by_label("grade from").fill("0.4")
    assert cuts.nth(3).inner_text() == "from 40 %"
    view.page.get_by_label("Field").select_option("manipulability")
    view.until(lambda s: s["map"] == "manipulability")
    assert "Mean manipulability" in view.page.locator(".meaning").inner_text()
    assert "m^3" in view.page.locator(".legend").inner_text()


def test_inverse_maps_have_their_robot_and_mean_nothing_around_a_run(view):
    view.page.get_by_label("Map").select_option(label="inverse.rmap")
    refusal = view.page.locator(".refusal")
    refusal.wait_for()
    assert "rates places of the base around the tool panda_link8" in refusal.inner_text()
    assert view.page.locator(".cut").count() == 0
    # Nor does a map of another robot, here around a box.
    view.page.get_by_label("Map").select_option(label="ball.rmap")
    view.until(lambda s: "no robot on the stage" in refusal.inner_text())
    view.page.locator("button[data-mode=maps]").click()
    view.until(lambda s: s.get("map") == "reachable" and s["replays"] == ["panda"])
    view.page.get_by_label("Map").select_option(label="inverse.rmap")
    view.until(lambda s: s.get("map") == "reach" and s["replays"] == ["panda"])
    assert "its tool panda_link8 is at the origin" in view.page.locator(".robot").inner_text()
    assert "reached from a base here" in view.page.locator(".meaning").inner_text()
    poses = view.poses(0.0)["panda"]
    # The base is upright, and off the tool by what the home pose puts between them.
    np.testing.assert_allclose(np.abs(poses["panda_link0"][3]), 1.0, atol=1e-6)
    assert np.linalg.norm(poses["panda_link0"][:3]) > 0.5
    assert np.linalg.norm(poses["panda_link7"][:3]) < 0.2
