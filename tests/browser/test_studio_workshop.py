"""The walking workshop as a tool: ground, memory, undo, link shapes, interference."""

import numpy as np
import pytest

from browser.studio_page import SIZE, SOFTWARE_WEBGL
from browser.test_studio_walking import UNIT, Workshop
from kinetarium.legs import Step, Terrain
from kinetarium.legs.mechanism.interference import PARTS
from kinetarium.legs.mechanism.machine import LINK_NAMES
from unit.studio_server import running_studio

pytestmark = pytest.mark.browser

FLAGS = SOFTWARE_WEBGL


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    with running_studio(tmp_path_factory.mktemp("results")) as studio:
        context = browser.new_context(viewport=SIZE)
        try:
            yield Workshop(context, studio.address)
        finally:
            context.close()


@pytest.fixture
def workshop(opened):
    opened.reset()
    yield opened
    assert opened.complaints == []


def test_too_few_way_points_clear_the_walk_and_say_so(workshop):
    page = workshop.page
    workshop.menu("Path")
    assert workshop.state()["replays"] == ["TTT2"]
    page.keyboard.press("Backspace")
    state = workshop.until(lambda s: s["replays"] == [])
    assert len(state["waypoints"]) == 1 and state["facts"] == [] and state["duration"] == 0
    assert "too few waypoints" in page.locator(".warning[role=status]").text_content()
    assert page.locator(".gait rect").count() == 0 and page.locator(".joints tr").count() == 0
    page.keyboard.press("Backspace")
    assert workshop.until(lambda s: s["waypoints"] == [])["replays"] == []
    page.evaluate("window.kinetarium.addWaypoint(0, 0)")
    page.evaluate("window.kinetarium.addWaypoint(0.4, 0)")
    state = workshop.until(lambda s: s["replays"] == ["TTT2"] and not s["busy"])
    assert page.locator(".warning[role=status]").count() == 0
    assert page.locator(".gait rect.swing").count() == len(workshop.planned().steps)


def test_support_and_path_lie_on_the_ground(workshop):
    terrain = Terrain(slope_deg=6.0, slope_from=30.0, steps=(Step(-60, -10, -99, 99, 3.0),))
    workshop.reset(waypoints=((0, 0), (90, 0), (120, 40)), terrain=terrain)
    walk = workshop.planned()
    assert np.ptp(walk.feet[:, :, 2]) > 5
    for frame in (0, 61, len(walk.time) - 30):
        workshop.poses(float(walk.time[frame]))
        corners = np.array(workshop.state()["support"])
        feet = walk.feet[frame][walk.support[frame]] * UNIT
        for corner in corners:
            assert np.abs(feet - corner).max(axis=1).min() < 1e-6
        assert len(corners) >= 3
    points = np.array(workshop.state()["plan"]["waypoints"])
    places = np.array(workshop.state()["places"])
    heights = terrain.height(*points.T) * UNIT
    assert heights[-1] > 0.05
    np.testing.assert_allclose(places, np.column_stack([points * UNIT, heights]), atol=1e-9)
    # A click on the slope is a waypoint where the mouse is, not far behind it.
    workshop.menu("Path")
    eye = workshop.eye()
    u, v, _, w = eye @ [0.7, -0.2, float(terrain.height(70.0, -20.0)) * UNIT, 1.0]
    left, top, width, height = workshop._stage()
    workshop.page.keyboard.press("w")
    workshop.page.mouse.click(left + (u / w + 1) / 2 * width, top + (1 - v / w) / 2 * height)
    state = workshop.until(lambda s: len(s["waypoints"]) == 4 and not s["busy"])
    assert state["waypoints"][3] == pytest.approx([0.7, -0.2], abs=5e-3)
    workshop.page.keyboard.press("Escape")


@pytest.mark.console_errors("400")
def test_the_workshop_is_as_it_was_left_and_after_a_reload(workshop):
    page = workshop.page
    workshop.after(lambda: page.click("[data-kind=ttr]"))
    workshop.menu("Path")
    workshop.after(lambda: page.click("[data-preset=curve]"))
    workshop.poses(3.0)
    before = workshop.state()
    assert before["kinds"] == ["ttr"] and len(before["waypoints"]) == 4

    def enter():
        page.click("[data-mode=walking]")
        page.wait_for_selector(".gait")
        return workshop.settled()

    page.click("[data-mode=runs]")
    state = enter()
    assert (state["plan"], state["kinds"]) == (before["plan"], before["kinds"])
    assert state["time"] == 3.0 and page.locator("[data-preset=curve]").is_visible()
    # What was done before can be undone still.
    state = workshop.after(lambda: page.keyboard.press("Control+z"))
    assert state["kinds"] == ["ttr"] and len(state["waypoints"]) == 2
    workshop.after(lambda: page.keyboard.press("Control+Shift+z"))
    # The address follows what is seen when that has settled.
    written = "atob(new URLSearchParams(location.hash.slice(1)).get('walk') ?? '')"
    workshop.until(lambda _: "[135,20]" in page.evaluate(written))
    page.reload()
    page.evaluate("window.kinetarium.ready")
    state = enter()
    assert (state["plan"], state["kinds"]) == (before["plan"], before["kinds"])
    # A plan that cannot be used, of another version perhaps, is not the end of the workshop.
    page.evaluate("""localStorage.setItem("kinetarium-walking",
        JSON.stringify({plan: {waypoints: [[0, 0], [9, 9]], stride: -1}, kinds: ["ttt1"]}));
        history.replaceState(null, "", location.pathname)""")
    page.reload()
    page.evaluate("window.kinetarium.ready")
    assert enter()["plan"]["stride"] == 16.0
    assert "cannot be restored" in page.locator(".notice[data-kind=error]").text_content()
    workshop.complaints[:] = [text for text in workshop.complaints if "400" not in text]


@pytest.mark.console_errors("400")
def test_changes_are_undone_and_redone(workshop):
    page = workshop.page
    start = workshop.state()["plan"]
    workshop.menu("Gait")
    workshop.choose("stride", "12")
    # While the field that was written in has the focus.
    plans = [start, workshop.choose("lift", "7")]
    workshop.menu("Path")
    page.keyboard.press("Backspace")
    workshop.until(lambda s: len(s["waypoints"]) == 1)
    page.keyboard.press("Backspace")
    workshop.until(lambda s: s["waypoints"] == [])
    page.keyboard.press("Control+z")
    assert workshop.until(lambda s: len(s["waypoints"]) == 1)["replays"] == []
    state = workshop.after(lambda: page.click("[data-undo]"))
    assert state["plan"] == plans[1] and state["replays"] == ["TTT2"]
    workshop.after(lambda: page.keyboard.press("Control+z"))
    state = workshop.after(lambda: page.keyboard.press("Control+z"))
    assert state["plan"] == start
    workshop.after(lambda: page.click("[data-redo]"))
    state = workshop.after(lambda: page.keyboard.press("Control+Shift+z"))
    assert state["plan"] == plans[1]
    # A drag is one step.
    page.keyboard.press("a")
    place = workshop.on_page(*state["waypoints"][1])
    workshop.drag(place, (place[0] - 60, place[1] + 25))
    state = workshop.until(lambda s: s["plan"]["waypoints"] != plans[1]["waypoints"])
    workshop.until(lambda s: not s["busy"])
    assert page.locator("[data-redo]").is_disabled()
    state = workshop.after(lambda: page.keyboard.press("Control+z"))
    assert state["plan"] == plans[1]
    # So is a right click, and a path that is begun anew.
    page.mouse.click(*workshop.on_page(*state["waypoints"][1]), button="right")
    workshop.until(lambda s: len(s["waypoints"]) == 1)
    state = workshop.after(lambda: page.keyboard.press("Control+z"))
    assert state["plan"] == plans[1] and state["replays"] == ["TTT2"]
    page.get_by_text("new path").click()
    workshop.until(lambda s: s["waypoints"] == [] and s["replays"] == [])
    page.keyboard.press("Escape")
    state = workshop.after(lambda: page.keyboard.press("Control+z"))
    assert state["plan"] == plans[1] and state["replays"] == ["TTT2"]
    # A change that is refused leaves no step behind.
    workshop.menu("Gait")
    page.fill("[aria-label=stride]", "-3")
    page.keyboard.press("Enter")
    page.wait_for_selector(".notice[data-kind=error]")
    workshop.until(lambda s: not s["busy"] and s["plan"] == plans[1])
    workshop.after(lambda: page.keyboard.press("Control+z"))
    assert workshop.state()["plan"]["lift"] == 5.0
    workshop.complaints[:] = [text for text in workshop.complaints if "400" not in text]


def test_shapes_of_links_stay_at_their_pivots(workshop):
    page = workshop.page
    page.click(".links summary")
    page.select_option("[aria-label=Link]", "4")
    page.fill("[aria-label=section]", "-1 -1, 2 -1, 2 1, -1 1")
    state = workshop.after(lambda: page.locator("[aria-label=section]").blur())
    (stored,) = state["plan"]["machine"]["shapes"]
    assert (stored["name"], stored["length"]) == ("thigh", 36)
    # Longer bars: the edited thigh, too, reaches from its pivot to the knee.
    for label, value in {"L1": "7", "K": "5"}.items():
        workshop.choose(label, value)
    shapes = {shape["name"]: shape for shape in workshop.state()["facts"][0]["shapes"]}
    assert (shapes["thigh"]["top"], shapes["thigh"]["bottom"]) == (0, -35)
    assert shapes["shank"]["bottom"] == -30 and len(shapes["thigh"]["section"]) == 4
    assert page.locator(".warning[data-kind=shape]").count() == 0
    # One that is too short for its link is told of.
    page.fill("[aria-label=bottom]", "-33.5")
    workshop.after(lambda: page.locator("[aria-label=bottom]").press("Enter"))
    warning = page.locator(".warning[data-kind=shape]")
    assert warning.text_content() == "the shape of the thigh misses a pivot by 1.50"
    page.keyboard.press("Control+z")
    page.click(".links summary")


def test_links_in_the_body_are_red_and_warned_of(workshop):
    """A TTT1 robot cannot turn on the spot: it draws its legs into its body."""
    page = workshop.page
    workshop.after(lambda: page.click("[data-kind=ttt1]"))
    workshop.menu("Path")
    workshop.after(lambda: page.click("[data-preset=spin]"))
    walk = workshop.planned()
    warned = [each.text for each in walk.warnings if each.kind == "interference"]
    assert len(warned) > 10 and all("deep in" in text for text in warned)
    shown = page.locator(".warning[data-kind=interference]")
    assert shown.all_text_contents() == warned
    if not shown.first.is_visible():  # a long group is closed
        page.locator("[data-group=interference] summary").click()
    hits = walk.interference.hits
    for frame in (int(np.argmax(hits.sum(axis=1))), int(np.argmin(hits.sum(axis=1)))):
        workshop.poses(float(walk.time[frame]))
        parts = {PARTS[part] for part in np.flatnonzero(hits[frame])}
        assert set(workshop.state()["red"]) == parts
    shown.first.click()
    workshop.until(lambda s: "body" in s["red"])
    red = lambda: int((workshop.pixels() @ [1, -1, -1] > 60).sum())  # noqa: E731
    page.keyboard.press("r")  # without its trail
    assert red() > 50
    page.keyboard.press("r")
    workshop.menu("Robot")
    workshop.after(lambda: page.click("[data-kind=ttt2]"))
    assert page.locator(".warning[data-kind=interference]").count() == 0
    assert workshop.state()["red"] == []


def test_links_in_another_leg_are_red_and_warned_of(workshop):
    """Shanks as wide as the wheelbase: a front leg goes through the rear one of its side."""
    page = workshop.page
    page.click(".links summary")
    page.select_option("[aria-label=Link]", str(LINK_NAMES.index("shank")))
    page.fill("[aria-label=section]", "-22 -1, 22 -1, 22 1, -22 1")
    workshop.after(lambda: page.locator("[aria-label=section]").blur())
    page.click(".links summary")
    walk = workshop.planned()
    warned = [each.text for each in walk.warnings if each.kind == "interference"]
    assert any("deep in leg" in text for text in warned)
    assert page.locator(".warning[data-kind=interference]").all_text_contents() == warned
    hits = walk.interference.hits
    frame = int(np.argmax(hits.sum(axis=1)))
    workshop.poses(float(walk.time[frame]))
    red = {PARTS[part] for part in np.flatnonzero(hits[frame])}
    assert set(workshop.state()["red"]) == red
    assert {"leg1/shank", "leg2/shank"} <= red or {"leg3/shank", "leg4/shank"} <= red
    workshop.after(lambda: page.keyboard.press("Control+z"))
    assert page.locator(".warning[data-kind=interference]").count() == 0
    assert workshop.state()["red"] == []


STEPS = (Step(35, 120, -500, 500, 2.0), Step(65, 95, -500, 500, 4.0))


def test_the_support_is_seen_where_feet_stand_at_different_heights(workshop):
    workshop.reset(waypoints=((0, 0), (128, 0)), terrain=Terrain(steps=STEPS))
    walk = workshop.planned()
    standing = np.where(walk.support, walk.feet[:, :, 2], np.nan)
    spread = np.nanmax(standing, axis=1) - np.nanmin(standing, axis=1)
    frame = int(np.argmax(spread > 1.5))
    workshop.page.locator(".camera button", has_text="top").click()
    workshop.poses(float(walk.time[frame]))
    workshop.page.wait_for_timeout(300)
    corners = np.array(workshop.state()["support"])
    places = np.column_stack([corners, np.ones(len(corners))]) @ workshop.eye().T
    *_, width, height = workshop._stage()
    x, y = (places[:, :2] / places[:, 3:] / 2 * (width, height)).T
    area = abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2
    before = workshop.pixels()
    workshop.page.keyboard.press("g")
    workshop.page.wait_for_timeout(200)
    changed = (np.abs(workshop.pixels() - before).max(axis=2) > 8).sum()
    workshop.page.keyboard.press("g")
    assert changed > 0.9 * area > 1000


TEXT_FITS = """inputs => inputs.every(input => {
    const style = getComputedStyle(input), pen = document.createElement("canvas").getContext("2d");
    pen.font = style.font;
    const room = input.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    return pen.measureText(input.value).width + 6 <= room;
})"""
"""Whether the whole value of every field is seen."""


def test_fields_and_tables_of_the_workshop_have_room(workshop):
    page = workshop.page
    workshop.reset(waypoints=((0, 0), (128, 0)), terrain=Terrain(steps=STEPS))
    undo, row = page.locator(".undo").bounding_box(), page.locator(".menu").bounding_box()
    assert row["y"] - undo["y"] - undo["height"] >= 4
    for name in ("Robot", "Ground"):
        workshop.menu(name)
        assert page.locator(".menu input[type=number]:visible").evaluate_all(TEXT_FITS), name
    workshop.menu("Path")
    labels = page.locator(".menu .field > :is(input, select):visible").evaluate_all(
        "all => all.map(field => field.getAttribute('aria-label'))"
    )
    assert len(set(labels)) == len(labels)
    # Numbers beside each other are told apart.
    gaps = page.locator(".joints td:visible").evaluate_all(
        "all => all.map(cell => parseFloat(getComputedStyle(cell).paddingLeft))"
    )
    assert min(gaps) >= 8
    workshop.menu("Robot")
    workshop.after(lambda: page.click("[data-kind=ttr]"))
    heads = [text.split()[0] for text in page.locator(".joints th:visible").all_inner_texts()[1:4]]
    chips = page.locator(".panel .choice .chip")
    workshop.until(lambda _: chips.all_inner_texts()[:3] == heads)


def test_lines_part_all_panes_and_the_place_that_is_left(workshop):
    page = workshop.page
    workshop.after(lambda: page.click("[data-kind=all]"))
    page.wait_for_timeout(500)
    picture = workshop.pixels()
    height, width, _ = picture.shape
    for line, beside in (
        (picture[:, width // 2 - 3 : width // 2 + 3], 1),
        (picture[height // 2 - 3 : height // 2 + 3], 0),
    ):
        steps = np.abs(np.diff(line, axis=beside)).max(axis=2)
        assert (steps > 15).any(axis=beside).mean() > 0.95  # from end to end
