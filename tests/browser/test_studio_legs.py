"""Walks in numbers: link angles, eye point, legs picked in the view, orders, segments, replays."""

from math import radians, tan

import numpy as np
import pytest

from browser.studio_page import SIZE, SOFTWARE_WEBGL, Opened, walk_run, write_runs
from browser.test_studio_walking import UNIT, Workshop
from kinetarium.legs import TABLE_1
from unit.studio_server import running_studio

pytestmark = pytest.mark.browser

FLAGS = SOFTWARE_WEBGL
S = ((0, 0), (120, 60), (240, -60), (360, 0))


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    write_runs(root / "walk", [walk_run("w")])
    with running_studio(root) as studio:
        context = browser.new_context(viewport=SIZE, accept_downloads=True)
        try:
            opened = Workshop(context, studio.address)
            opened.address = studio.address
            yield opened
        finally:
            context.close()


@pytest.fixture
def workshop(opened):
    opened.reset()
    yield opened
    assert opened.complaints == []


def test_warnings_are_grouped_and_their_cure_is_named(workshop):
    page = workshop.page
    workshop.reset(waypoints=S)
    walk = workshop.planned()
    unstable = [warning for warning in walk.warnings if warning.kind == "stability"]
    assert len(unstable) > 20
    group = page.locator("[data-group=stability]")
    assert group.locator("summary").inner_text().startswith(f"stability {len(unstable)} ")
    assert not group.locator(".warning").first.is_visible()
    assert "Cure: sway 1 leaves none of them" in page.locator(".warnings").inner_text()
    group.locator("summary b").click()  # beside its button
    assert group.locator(".warning").first.is_visible()
    worst = max(unstable, key=lambda warning: warning.amount)
    group.locator("button.tool").click()
    workshop.until(lambda s: s["frame"] == worst.frame)
    state = workshop.after(lambda: page.click("[data-cure=stability]"))
    assert state["plan"]["sway"] == 1
    assert page.locator("[data-group=stability]").count() == 0


def test_angles_of_links_are_numbers_over_time(workshop, tmp_path):
    page = workshop.page
    workshop.reset(waypoints=((0, 0), (60, 20)), sway=1.0)
    walk = workshop.planned()
    angles = np.degrees(walk.plan.machine.leg.passive_angles(walk.joints.reshape(-1, 3)))
    angles = angles.reshape(-1, 4, 3)
    for frame in (0, 40):
        workshop.poses(float(walk.time[frame]))
        for leg in range(4):
            cells = page.locator(f".joints tr[data-leg='{leg + 1}'] td").all_inner_texts()
            shown = [float(text) for text in cells[3:6]]
            np.testing.assert_allclose(shown, angles[frame, leg], atol=0.051)
    page.locator(".choice .chip", has_text="shank").click()
    chart = page.locator(".plot", has_text="angle of the crank and shank")
    chart.wait_for()
    workshop.poses(float(walk.time[40]))
    legend = [float(text) for text in chart.locator(".entry output").all_text_contents()]
    np.testing.assert_allclose(legend, angles[40, :, 1], rtol=1e-3)
    head, *rows = workshop.saved("joints.csv", tmp_path).read_text().splitlines()
    column = head.split(",").index("leg2_thigh_deg")
    saved = [float(row.split(",")[column]) for row in rows]
    np.testing.assert_allclose(saved, angles[:, 1, 0], atol=1e-9)


def test_the_eye_point_and_the_scale_are_written_as_numbers(workshop):
    page = workshop.page
    page.locator("summary", has_text="Eye point").click()

    def write(name, value):
        field = page.locator(f"[aria-label='{name}']")
        field.fill(str(value))
        field.press("Enter")
        page.locator("summary", has_text="Eye point").focus()

    for name, value in (("eye to x", 50), ("eye to y", 0), ("eye to z", 20)):
        write(name, value)
    for name, value in (("eye x", 50), ("eye y", -300), ("eye z", 20)):
        write(name, value)
    eye = workshop.eye()
    # What it looks at is in the middle, and the eye is where the picture has no width.
    seen = eye @ [50 * UNIT, 0, 20 * UNIT, 1]
    np.testing.assert_allclose(seen[:2] / seen[3], 0, atol=1e-6)
    np.testing.assert_allclose((eye @ [0.5, -3.0, 0.2, 1])[[0, 1, 3]], 0, atol=1e-6)
    write("scale", 2.5)
    eye = workshop.eye()
    height = page.locator(".stage canvas").bounding_box()["height"]
    tops = [eye @ [0.5, 0, z * UNIT, 1] for z in (19.5, 20.5)]
    unit = np.diff([top[1] / top[3] for top in tops])[0] * height / 2
    assert unit == pytest.approx(2.5, rel=1e-3)
    page.keyboard.press("a")
    page.locator("summary", has_text="Eye point").click()


def test_a_leg_is_picked_in_the_view(workshop):
    page = workshop.page
    page.keyboard.press("a")
    poses = workshop.poses(0.0)["TTT2"]
    eye = workshop.eye()
    left, top, width, height = workshop._stage()
    for leg in (1, 2):  # those on the near side
        x, y, z, *_ = poses[f"leg{leg}/foot"]
        u, v, _, w = eye @ [x, y, z, 1]
        page.mouse.click(left + (u / w + 1) / 2 * width, top + (1 - v / w) / 2 * height)
        workshop.until(lambda s, leg=leg: s["leg"] == leg)
        assert (
            page.locator(f".joints tr[data-leg='{leg}']").get_attribute("aria-selected") == "true"
        )
        assert page.locator("[aria-label=Link]").input_value() == "8"
    page.mouse.click(left + 10, top + 10)
    workshop.until(lambda s: s["leg"] == 0)
    assert page.locator(".joints tr[aria-selected=true]").count() == 0


def test_a_path_has_segments_of_different_kinds_and_orders_by_direction(workshop):
    page = workshop.page
    workshop.menu("Path")
    state = workshop.after(lambda: page.click("[data-segment=crab]"))
    assert state["plan"]["segments"][0]["waypoints"] == [[128, 48]]
    workshop.after(lambda: page.click("[data-segment=spin]"))
    state = workshop.after(lambda: page.click("[data-segment=turn]"))
    kinds = [segment["heading"] for segment in state["plan"]["segments"]]
    assert kinds == ["crab", "spin", "turn"]
    walk = workshop.planned()
    # Ahead, to the left, a quarter turn, and ahead again.
    np.testing.assert_allclose(walk.body[-1, :2], [128, 96], atol=1e-6)
    assert len(state["facts"][0]["markers"]) > 4
    workshop.menu("Gait")
    state = workshop.after(lambda: page.select_option("[aria-label='leg order']", "regions"))
    walk = workshop.planned()
    assert state["plan"]["by_region"] and state["facts"][0]["rows"] == list(walk.rows)
    assert {1, 2, 3} <= set(walk.rows)
    swings = page.locator(".gait rect.swing").evaluate_all(
        "all => all.map(r => Number(r.getAttribute('class').match(/leg(\\d)/)[1]))"
    )
    assert tuple(swings[:4]) == TABLE_1[walk.rows[0]]
    assert "rows 1 → " in page.locator(".figures").inner_text()
    workshop.menu("Path")
    page.locator("[aria-label='angle of segment 2']").fill("-90")
    state = workshop.after(lambda: page.locator("[aria-label='angle of segment 2']").press("Enter"))
    assert state["plan"]["segments"][1]["spin_deg"] == -90
    state = workshop.after(lambda: page.click("[aria-label='Delete segment 3']"))
    assert len(state["plan"]["segments"]) == 2


def test_downhill(workshop):
    page = workshop.page
    workshop.menu("Ground")
    state = workshop.after(lambda: page.click("[data-ground=downhill]"))
    slope = state["plan"]["terrain"]
    assert slope["slope_deg"] < 0
    walk = workshop.planned()
    drop = (slope["slope_from"] - 0) * tan(radians(-slope["slope_deg"]))
    assert walk.body[0, 2] - walk.body[-1, 2] == pytest.approx(drop, rel=0.15)
    workshop.poses(0.0)
    heights = [corner[2] / UNIT for corner in workshop.state()["support"]]
    assert min(heights) > 0 and len({round(height, 3) for height in heights}) > 1


def test_replayed_walks_show_support_margin_and_gait(browser, opened):
    context = browser.new_context(viewport=SIZE)
    try:
        view = Opened(context, opened.address)
        view.page.locator(".gait rect.swing").first.wait_for(state="attached")
        run = walk_run("w")
        recording = run.recording
        time, support = recording["time"], recording["support"] > 0.5
        swings = int((np.diff(support.astype(int), axis=0) == -1).sum())
        assert view.page.locator(".gait rect.swing").count() == swings
        for sample in (0, 55, 140):
            view.poses(float(time[sample]))
            state = view.state()
            assert state["margin"] == pytest.approx(recording["margin"][sample], abs=1e-5)
            feet = recording["feet"][sample][support[sample]]
            np.testing.assert_allclose(
                sorted(map(tuple, state["support"])), sorted(map(tuple, feet)), atol=1e-5
            )
        assert view.page.locator("output.margin").inner_text().startswith("margin ")
        assert view.changes("g") > 100
        box = view.page.locator(".gait .drawing").bounding_box()
        view.page.mouse.click(box["x"] + box["width"] - 2, box["y"] + 20)
        assert view.state()["time"] > 0
        assert view.complaints == []
    finally:
        context.close()
