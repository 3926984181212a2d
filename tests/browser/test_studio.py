from dataclasses import replace
from urllib.parse import urlsplit

import numpy as np
import pytest

from browser.studio_page import (
    CONCLUSION,
    SIZE,
    SOFTWARE_WEBGL,
    Opened,
    ball_map,
    grasp_run,
    walk_run,
    write_runs,
)
from hostile.injections import INJECTIONS
from kinetarium.recording.recording import RunStatus
from kinetarium.studio.results import ResultTree, case_of
from unit.studio_server import running_studio
from unit.test_studio_server import drop_run

pytestmark = pytest.mark.browser

FLAGS = SOFTWARE_WEBGL


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    write_runs(root / "grasp", [grasp_run("a"), grasp_run("b", engine="bullet", shift=0.2)])
    write_runs(root / "walk", [walk_run("w")])
    write_runs(root / "zdrop", [drop_run("d")])
    ball_map(root / "ball.rmap")
    return root


@pytest.fixture(scope="module")
def studio(results):
    with running_studio(results) as studio:
        yield studio


@pytest.fixture
def opened(browser):
    contexts = []

    def opened(address, *, wait=True, **options):
        context = browser.new_context(**{"viewport": SIZE, "accept_downloads": True, **options})
        contexts.append(context)
        return Opened(context, address, wait=wait)

    yield opened
    for context in contexts:
        context.close()


def true_poses(results, folder, key, sample):
    """Return what Python says of a sample of a run: poses by name, and its time."""
    served = ResultTree(results)
    place = next(place for place in served.run_folders() if place.name == folder)
    run, label = served.run(place.id, key)
    study, case = case_of(run)
    replay = study.replay(case, run.recording)
    poses = {s.name: s.poses[sample if len(s.poses) > 1 else 0] for s in replay.solids}
    return poses, float(replay.time[sample]), f"{run.study} {label}"


def same_poses(found, expected, *, off):
    assert set(found) == set(expected)
    for name, row in expected.items():
        np.testing.assert_allclose(found[name][:3], row[:3], atol=off, err_msg=name)
        turn = abs(np.dot(found[name][3:], row[3:]))  # a quaternion and its opposite are one turn
        assert turn > 1 - off, name


def test_the_page_loads_from_its_server_alone_and_links_are_where_python_puts_them(
    opened, studio, results
):
    view = opened(studio.address)
    assert urlsplit(view.page.url).query == ""  # the token has left the address
    state = view.state()
    assert state["mode"] == "runs" and state["runs"] == 4 and state["duration"] == 4.0
    for sample in (0, 137, 400):
        expected, time, title = true_poses(results, "grasp", "a", sample)
        same_poses(view.poses(time)[title], expected, off=1e-6)
    view.watch("walk", "curve")
    for sample in (0, 50):
        expected, time, _ = true_poses(results, "walk", "w", sample)
        same_poses(view.poses(time)["walk curve"], expected, off=1e-6)
    host = f"http://{studio.host}/"
    assert [url for url in view.requests if not url.startswith((host, "data:", "blob:"))] == []
    assert view.complaints == []


@pytest.fixture
def swept(tmp_path):
    """A folder of falls over height and engine, one of which crashed, and a batch of others."""
    falls = [
        replace(fall, rows=({"rest_depth_m": height * 1e-3, "falls": True},))
        for number, height in enumerate((0.25, 0.5, 1.0, 2.0))
        for engine in ("mujoco", "ode")
        for fall in [drop_run(f"f{number}{engine}", height=height, engine=engine)]
    ]
    lost = replace(falls[7], status=RunStatus.CRASHED, message="SIGSEGV", rows=(), recording=None)
    varied = {f.key: {"height": f.case["height"], "engine": f.case["engine"]} for f in falls}
    write_runs(tmp_path / "aaa", [drop_run("p"), drop_run("q", mass=2.0)])
    write_runs(tmp_path / "falls", [*falls[:7], lost], varied=varied)
    return tmp_path


def test_a_point_of_a_sweep_opens_its_replay(opened, swept):
    with running_studio(swept) as studio:
        view = opened(studio.address)
        view.page.locator("[data-mode=sweep]").click()
        state = view.until(lambda s: s.get("rows") == 8)  # the sweep, before the batch
        assert view.page.locator(".conclusion").text_content() == CONCLUSION
        chosen = view.page.locator("select[aria-label=x], select[aria-label=y]")
        assert [chosen.nth(i).input_value() for i in range(2)] == ["height", "rest_depth_m"]
        assert state["replays"] == [] and state["key"] is None
        # Greater heights further right, greater depths higher up; the crashed one on the axis.
        across = [point[0] for point in state["points"]]
        up = [-point[1] for point in state["points"][:7]]
        assert across[::2] == sorted(set(across)) and up[::2] == sorted(set(up))
        assert state["points"][7][1] > max(point[1] for point in state["points"][2:7])
        view.page.mouse.click(*state["points"][2])
        state = view.until(lambda s: len(s["replays"]) == 1)
        assert state["key"] == "f1mujoco" and state["duration"] == pytest.approx(0.3)
        assert "height 0.5" in view.page.locator(".details h3").text_content()
        view.page.locator("select[aria-label=colour]").select_option("rest_depth_m")
        view.page.locator("input[aria-label='logarithmic x']").check()
        spaced = [point[0] for point in view.state()["points"]][::2]
        np.testing.assert_allclose(np.diff(spaced), spaced[1] - spaced[0], atol=1e-6)
        view.page.mouse.click(*view.state()["points"][7])
        view.until(lambda s: s["key"] == "f3ode" and s["replays"] == [])
        assert "SIGSEGV" in view.page.locator(".failed").text_content()
        view.page.locator("table.sweep tr").nth(3).locator("button").click()
        view.until(lambda s: s["key"] == "f1mujoco" and len(s["replays"]) == 1)
        view.page.locator("select[aria-label=Sweep]").select_option(label="aaa")
        assert view.until(lambda s: s["rows"] == 2)["replays"] == []
        assert not view.page.locator(".conclusion").is_visible()
        assert chosen.first.input_value() == "mass"
        view.page.locator("[data-mode=runs]").click()
        view.until(lambda s: s["mode"] == "runs" and len(s["replays"]) == 1)
        assert view.complaints == []


def test_time_is_played_stepped_and_set(opened, studio):
    view = opened(studio.address)
    view.page.keyboard.press("Space")
    assert view.until(lambda s: s["time"] > 0.2)["playing"]
    view.page.keyboard.press("Space")
    assert view.until(lambda s: not s["playing"])
    view.page.evaluate("window.kinetarium.setTime(1.0)")
    view.page.keyboard.press("ArrowRight")
    assert view.state()["time"] == pytest.approx(1.01)
    view.page.keyboard.press("ArrowLeft")
    view.page.keyboard.press("ArrowLeft")
    assert view.state()["time"] == pytest.approx(0.99)
    view.page.keyboard.press("]")
    assert view.state()["speed"] == 2
    view.page.keyboard.press("End")
    assert view.state()["time"] == 4.0
    slider = view.page.locator("input.slider").bounding_box()
    view.page.mouse.click(slider["x"] + slider["width"] / 2, slider["y"] + slider["height"] / 2)
    assert view.state()["time"] == pytest.approx(2.0, abs=0.1)
    assert view.complaints == []


def test_phases_are_marked_on_the_time_line(opened, tmp_path):
    name = "lift <img src=x onerror=window.hacked=1>"
    phases = [["drive", 0.0, 1.0], ["close", 1.0, 3.0], [name, 3.0, 4.0], ["nonsense"]]
    write_runs(tmp_path / "grasp", [grasp_run("a", facts={"phases": phases}), grasp_run("b")])
    with running_studio(tmp_path) as studio:
        view = opened(studio.address)
        marks = view.page.locator(".timeline .mark")
        assert marks.count() == 3 and marks.nth(1).get_attribute("title") == "close (1.00 s)"
        shown = view.page.locator(".timeline .phase")
        for time, phase in ((0.5, "drive"), (1.0, "close"), (2.99, "close"), (3.5, name)):
            view.page.evaluate("time => window.kinetarium.setTime(time)", time)
            assert shown.text_content() == phase
        marks.nth(1).click()
        assert view.state()["time"] == 1.0
        # Each is below the knob of the slider at its time, about.
        slider = view.page.locator("input.slider").bounding_box()
        mark = marks.nth(2).bounding_box()
        middle = slider["x"] + 8 + 0.75 * (slider["width"] - 16)
        assert mark["x"] + mark["width"] / 2 == pytest.approx(middle, abs=2)
        view.page.locator(".run").nth(1).locator(".name").click()
        view.until(lambda _: marks.count() == 0)
        assert shown.text_content() == ""
        assert view.page.evaluate("window.hacked") is None
        assert view.complaints == []


def test_plots_stay_in_sync(opened, studio):
    view = opened(studio.address)
    view.page.locator(".plot").first.wait_for()
    marker = "new DOMMatrix(getComputedStyle(document.querySelector('.plot .marker')).transform).e"
    places = []
    for time in (1.0, 2.0, 3.0):
        view.page.evaluate("time => window.kinetarium.setTime(time)", time)
        places.append(view.page.evaluate(marker))
    assert places[1] - places[0] == pytest.approx(places[2] - places[1], abs=1) and places[0] > 10
    over = view.page.locator(".plot .u-over").first.bounding_box()
    view.page.mouse.click(over["x"] + places[1], over["y"] + 20)
    assert view.state()["time"] == pytest.approx(2.0, abs=0.03)
    chips = view.page.locator(".chip")
    assert chips.all_text_contents() == [
        "q", "poses", "wrench/panda_leftpad", "wrench/panda_rightpad",
    ]  # fmt: skip
    chips.first.click()
    view.page.locator(".plot", has_text="q [rad or m]").wait_for()
    # The legend tells the values at the marker.
    view.page.evaluate("window.kinetarium.setTime(2.0)")
    legend = view.page.locator(".plot", has_text="wrench").first.locator(".entry output")
    assert legend.nth(2).text_content() == "7"  # fz = 5 + t
    assert view.complaints == []


def test_ghosts_and_side_by_side(opened, studio):
    view = opened(studio.address)
    view.poses(1.0)
    alone = view.pixels()
    view.watch("grasp", "bullet", together=True)
    ghosts = view.pixels()
    assert np.abs(ghosts - alone).max() > 50
    assert set(view.poses(1.0)) == {"grasp mujoco", "grasp bullet"}
    view.page.keyboard.press("b")
    assert view.page.locator(".overlay .label").all_text_contents() == [
        "grasp mujoco", "grasp bullet",
    ]  # fmt: skip
    beside = view.pixels()
    width = beside.shape[1]
    halves = [beside[:, : width // 2 - 2], beside[:, width // 2 + 2 :]]
    assert all(len(np.unique(half.reshape(-1, 3), axis=0)) > 50 for half in halves)
    for keys in (("s", "o"), ("s", "c", "r", "f", "t")):  # hidden lines, then a wire frame
        for key in keys:
            view.page.keyboard.press(key)
        view.page.wait_for_timeout(100)
        assert len(np.unique(view.pixels().reshape(-1, 3), axis=0)) > 5
    assert view.state()["projection"] == "orthographic"
    view.watch("grasp", "mujoco")
    assert view.state()["replays"] == ["grasp mujoco"]
    assert view.complaints == []


def test_runs_that_are_pressed_in_haste_are_all_heard(opened, studio):
    view = opened(studio.address)
    press = """(presses) => presses.forEach(([row, button]) =>
        document.querySelectorAll('.run')[row].querySelector(button).click())"""
    view.page.evaluate(press, [[2, ".name"], [0, ".name"], [1, ".add"]])
    view.until(lambda s: s["replays"] == ["grasp mujoco", "grasp bullet"])
    rows = view.page.locator(".run[data-open]")
    colors = [row.evaluate("row => row.style.getPropertyValue('--series')") for row in rows.all()]
    assert len(set(colors)) == 2
    # The first goes, and the colour it had is given to the next.
    view.page.evaluate(press, [[0, ".add"], [3, ".add"]])
    view.until(lambda s: s["replays"] == ["grasp bullet", "drop mujoco"])
    again = [row.evaluate("row => row.style.getPropertyValue('--series')") for row in rows.all()]
    assert again == [colors[1], colors[0]]
    assert view.page.locator(".status", has_text="loading").count() == 0
    assert view.complaints == []


def test_forces_and_trails_come_and_go_and_the_list_is_filtered(opened, studio):
    view = opened(studio.address)
    view.poses(2.0)
    assert view.changes("c") > 50
    view.page.keyboard.press("c")
    assert view.changes("r") > 5  # a thin line
    names = view.page.locator(".run:visible .name")
    assert names.all_text_contents() == ["mujoco", "bullet", "curve", "mujoco"]
    view.page.get_by_label("Filter").fill("bull")
    assert names.all_text_contents() == ["bullet"]
    # What a case is made of is told in few words.
    view.page.get_by_label("Filter").fill("walk")
    told = view.page.locator(".run:visible").get_attribute("title").splitlines()
    (machine,) = [line for line in told if line.startswith("machine ")]
    assert machine.startswith("machine kind ttt2, l1 6, l2 6, gain 6")
    assert len(machine) < 200 and "waypoints 4 items" in told


@pytest.mark.parametrize("projection", ["orthographic", "perspective"])
def test_a_window_is_drawn_to_look_closer(opened, studio, projection):
    view = opened(studio.address)
    if projection == "orthographic":
        view.page.keyboard.press("o")
        view.until(lambda s: s["projection"] == projection)
    before = view.eye()
    box = view.page.locator(".stage canvas").bounding_box()
    button = view.page.get_by_role("button", name="window")
    button.click()
    start, end = (box["x"] + 100, box["y"] + 150), (box["x"] + 250, box["y"] + 300)
    view.page.mouse.move(*start)
    view.page.mouse.down()
    view.page.mouse.move(*end, steps=3)
    frame = view.page.locator(".zoom").bounding_box()
    assert (frame["x"], frame["y"]) == pytest.approx(start, abs=1)
    assert (frame["width"], frame["height"]) == pytest.approx((150, 150), abs=2)
    view.page.mouse.up()
    assert view.page.locator(".zoom").count() == 0
    assert button.get_attribute("aria-pressed") == "false"
    after = view.eye()
    # The middle of the window is now that of the picture, and the rest as much larger as fits.
    scale = min(box["width"], box["height"]) / 150
    middle = np.array([2 * 175 / box["width"] - 1, 1 - 2 * 225 / box["height"]])
    if projection == "orthographic":
        for point in np.array([[0, 0, 0, 1], [0.5, -0.2, 0.3, 1], [-1, 1, 2, 1]]):
            np.testing.assert_allclose(
                (after @ point)[:2], scale * ((before @ point)[:2] - middle), atol=1e-6
            )
    else:
        # The depth of what keeps its place in the middle is divided by the scale.
        ends = np.linalg.solve(after, np.array([[0, 0, -1, 1], [0, 0, 1, 1]]).T).T
        near, far = ends[:, :3] / ends[:, 3:]
        part = np.linspace(0, 1, 20_001)[1:-1, None]
        points = np.column_stack([near + (far - near) * part**4, np.ones(len(part))])
        seen = points @ before.T
        off = np.hypot(*(seen[:, :2] / seen[:, 3:] - middle).T)
        kept = points[off.argmin()]
        assert off.min() < 1e-3
        assert (before @ kept)[3] / (after @ kept)[3] == pytest.approx(scale, rel=0.01)
    # The mouse turns the camera again, and a mere click is no window.
    view.drag(start, end)
    turned = view.eye()
    assert np.abs(turned - after).max() > 1e-3
    view.page.keyboard.press("z")
    view.page.mouse.click(*start)
    np.testing.assert_allclose(view.eye(), turned, atol=1e-9)
    assert view.complaints == []


def test_maps_are_cut_open(opened, studio):
    view = opened(studio.address)
    view.page.locator("button[data-mode=maps]").click()
    view.until(lambda s: s.get("map") == "reachable" and s["replays"] == ["panda"])
    view.page.wait_for_timeout(300)
    cut = view.pixels()
    view.page.get_by_label("y from", exact=True).fill("0")
    view.page.wait_for_timeout(300)
    whole = view.pixels()
    colored = lambda image: int((image.max(axis=2) - image.min(axis=2) > 60).sum())  # noqa: E731
    assert colored(cut) > 5_000 and colored(whole) > 5_000
    assert np.abs(cut - whole).max() > 50
    view.page.get_by_label("grade from").fill("1")
    view.page.wait_for_timeout(300)
    assert colored(view.pixels()) < 500
    # Another field is cut as the last one was.
    view.page.get_by_label("Field").select_option("manipulability")
    view.until(lambda s: s["map"] == "manipulability")
    assert view.page.get_by_label("grade from").input_value() == "1"
    view.page.locator("button[data-mode=runs]").click()
    view.until(lambda s: s["mode"] == "runs" and s["replays"])
    assert view.complaints == []


def exported(view, folder):
    """Export what is on the stage to a file."""
    with view.page.expect_download() as download:
        view.page.get_by_role("button", name="Export HTML").click()
    file = folder / "kinetarium.html"
    download.value.save_as(file)
    assert file.stat().st_size < 2_000_000
    return file


def test_exported_pages_play_from_a_file(opened, studio, results, tmp_path):
    view = opened(studio.address)
    file = exported(view, tmp_path)
    alone = opened(file.as_uri(), offline=True)
    expected, time, title = true_poses(results, "grasp", "a", 137)
    same_poses(alone.poses(time)[title], expected, off=2e-4)
    assert alone.page.locator(".plot").count() > 0
    alone.page.keyboard.press("Space")
    alone.until(lambda s: s["time"] > time + 0.1)
    assert [url for url in alone.requests if not url.startswith(("blob:", "data:"))] == [
        file.as_uri()
    ]
    assert alone.complaints == [] and view.complaints == []


@pytest.mark.parametrize("around", ["a run", "nothing"])
def test_maps_are_exported_as_they_are_cut(opened, studio, tmp_path, around):
    view = opened(studio.address)
    if around == "nothing":
        view.page.locator("button[data-mode=maps]").click()
        view.until(lambda s: s.get("map") == "reachable" and s["replays"])
    else:
        view.page.get_by_label("Map").select_option(label="ball.rmap")
    view.page.get_by_label("x from", exact=True).fill("0.4")
    file = exported(view, tmp_path)
    alone = opened(file.as_uri(), offline=True)
    assert alone.state()["replays"] == ["grasp mujoco" if around == "a run" else "panda"]
    cuts = alone.page.locator("input[type=range]:not(.slider)")
    assert [cut.input_value() for cut in cuts.all()] == ["0.4", "1", "0.5", "1", "0", "1", "0"]
    colored = lambda image: int((image.max(axis=2) - image.min(axis=2) > 60).sum())  # noqa: E731
    assert colored(alone.pixels()) > 1_000
    alone.page.get_by_label("grade from").fill("1")
    alone.page.wait_for_timeout(200)
    assert colored(alone.pixels()) < 500
    assert [url for url in alone.requests if not url.startswith(("blob:", "data:"))] == [
        file.as_uri()
    ]
    assert alone.complaints == [] and view.complaints == []


def test_pictures_are_saved(opened, studio):
    view = opened(studio.address)
    with view.page.expect_download() as download:
        view.page.keyboard.press("p")
    assert download.value.path().read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert download.value.path().stat().st_size > 5_000


def test_new_runs_appear_and_hostile_names_do_nothing(opened, tmp_path):
    write_runs(tmp_path / "first", [drop_run("a", engine="mujoco")])
    with running_studio(tmp_path) as studio:
        view = opened(studio.address)
        assert view.state()["runs"] == 1
        hostile = [drop_run(f"k{n}", engine=text) for n, text in enumerate(INJECTIONS)]
        write_runs(tmp_path / "second <img src=x onerror=window.hacked=1>", hostile)
        view.until(lambda s: s["runs"] == 1 + len(INJECTIONS))
        rows = view.page.locator(".run")
        rows.nth(1).locator(".name").click()
        view.until(lambda s: len(s["replays"]) == 1 and "first" not in s["replays"][0])
        rows.nth(2).locator(".add").click()
        view.until(lambda s: len(s["replays"]) == 2)
        view.page.keyboard.press("b")
        view.page.wait_for_timeout(200)
        assert view.page.evaluate("window.hacked") is None
        assert view.page.locator("script").count() == 1
        assert (
            view.page.locator("img, iframe, svg:not(.triad, .entry *), base, .run script").count()
            == 0
        )
        assert view.complaints == []


def test_phones(opened, studio):
    view = opened(
        studio.address, viewport={"width": 375, "height": 720}, has_touch=True, is_mobile=True
    )
    assert view.page.evaluate("document.documentElement.scrollWidth") == 375
    stage = view.page.locator(".stage canvas").bounding_box()
    assert stage["width"] == 375 and stage["height"] > 200
    play = view.page.get_by_role("button", name="Play")
    play.tap()
    view.until(lambda s: s["time"] > 0.1)
    assert view.complaints == []


def test_a_folder_without_runs_says_what_to_do(opened, tmp_path):
    with running_studio(tmp_path) as studio:
        view = opened(studio.address)
        assert "No runs" in view.page.inner_text(".side.left")
        assert view.complaints == []
