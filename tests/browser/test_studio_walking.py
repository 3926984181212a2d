import json
from urllib.parse import urlsplit

import numpy as np
import pytest

from browser.studio_page import SIZE, SOFTWARE_WEBGL, Opened
from kinetarium.legs import WalkPlan, load_machine, plan_walk
from kinetarium.legs.mechanism.machine import LINK_NAMES
from kinetarium.legs.quadruped import quadruped_mjcf
from kinetarium.storage.serialization import from_builtins, to_builtins
from unit.studio_server import running_studio

pytestmark = pytest.mark.browser

FLAGS = SOFTWARE_WEBGL

UNIT = 0.01


class Workshop(Opened):
    """The page in its walking mode."""

    def __init__(self, context, address):
        super().__init__(context, address)
        self.page.click("[data-mode=walking]")
        self.page.wait_for_selector(".gait")
        self.settled()

    def settled(self, plans=0):
        """Wait until all that was asked for is on the stage."""
        return self.until(lambda s: s.get("plans", 0) > plans and not s["busy"])

    def after(self, act):
        """Do something that is to be planned anew, and give the state then."""
        plans = self.state()["plans"]
        act()
        return self.settled(plans)

    def menu(self, name):
        self.page.click(f"[data-menu={name}]")

    def load(self, text, name="walk.json"):
        file = {"name": name, "mimeType": "text/plain", "buffer": text.encode()}
        self.page.set_input_files("[data-load=walk]", files=[file])

    def reset(self, **plan):
        """Begin with a plan, one robot, and the view of it."""
        self.page.keyboard.press("Escape")
        self.menu("Robot")
        if len(self.state()["kinds"]) > 1:
            self.after(lambda: self.page.click("[data-kind=ttt2]"))
        plan = to_builtins(WalkPlan(**plan))
        return self.after(lambda: self.load(json.dumps({"plan": plan})))

    def planned(self, index=0):
        """Plan the page's walk in Python."""
        state = self.state()
        plan = dict(state["plan"])
        plan["machine"] = {**plan["machine"], "kind": state["kinds"][index]}
        return plan_walk(from_builtins(WalkPlan, plan, where="the page"))

    def saved(self, name, path):
        with self.page.expect_download() as download:
            self.page.locator(f"[data-save='{name}']").dispatch_event("click")
        download.value.save_as(path / name)
        return path / name

    def choose(self, label, value):
        """Write a number into a field of the menu, or choose there, and give the plan then."""
        field = self.page.locator(f".menu [aria-label='{label}']:visible").last
        if field.evaluate("field => field.tagName") == "SELECT":
            return self.after(lambda: field.select_option(value))["plan"]
        field.fill(value)
        return self.after(lambda: field.press("Enter"))["plan"]

    def on_page(self, x, y):
        """Return where a point of the ground [m] is on the page [px]."""
        u, v, _, w = self.eye() @ [x, y, 0.0, 1.0]
        left, top, width, height = self._stage()
        return left + (u / w + 1) / 2 * width, top + (1 - v / w) / 2 * height

    def on_ground(self, px, py):
        """Return the point of the ground under a point of the page: its ray meets z = 0."""
        left, top, width, height = self._stage()
        u, v = 2 * (px - left) / width - 1, 1 - 2 * (py - top) / height
        ends = np.linalg.solve(self.eye(), np.array([[u, v, -1, 1], [u, v, 1, 1]]).T).T
        near, far = (ends[:, :3] / ends[:, 3:]).tolist()
        part = near[2] / (near[2] - far[2])
        return [a + part * (b - a) for a, b in zip(near[:2], far[:2], strict=True)]

    def _stage(self):
        box = self.page.locator(".stage canvas").bounding_box()
        return box["x"], box["y"], box["width"], box["height"]


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    """One page for all tests: what it complains of is looked at after each of them."""
    with running_studio(tmp_path_factory.mktemp("results")) as studio:
        context = browser.new_context(viewport=SIZE, accept_downloads=True)
        try:
            yield Workshop(context, studio.address)
        finally:
            context.close()


@pytest.fixture
def workshop(opened):
    opened.reset()
    yield opened
    assert opened.complaints == []


def test_links_are_where_python_puts_them(workshop):
    workshop.reset(waypoints=((0, 0), (60, 10), (90, 60)), sway=2.0)
    workshop.after(lambda: workshop.page.click("[data-kind=all]"))
    assert workshop.state()["kinds"] == ["ttt1", "ttt2", "ttr"]
    walks = {kind: workshop.planned(i) for i, kind in enumerate(("TTT1", "TTT2", "TTR"))}
    for frame in (0, 17, 100):
        shown = workshop.poses(float(walks["TTR"].time[frame]))
        assert workshop.state()["frame"] == frame
        for kind, walk in walks.items():
            poses = shown[kind]
            wanted = {"body": walk.body[frame]} | {
                f"leg{leg + 1}/{name}": walk.links[frame, leg, link]
                for leg in range(4)
                for link, name in enumerate(LINK_NAMES)
            }
            rows = np.array([poses[name] for name in wanted])
            links = np.array(list(wanted.values()))
            assert np.abs(rows[:, :3] - links[:, :3] * UNIT).max() < 1e-6
            signs = np.sign(np.vecdot(rows[:, 3:], links[:, 3:]))
            assert np.abs(rows[:, 3:] * signs[:, None] - links[:, 3:]).max() < 1e-6


@pytest.mark.parametrize("plan_view", [False, True])
def test_clicks_become_way_points(workshop, plan_view):
    page = workshop.page
    workshop.menu("Path")
    if plan_view:
        page.keyboard.press("v")
    page.get_by_text("new path").click()
    clicks = [(460, 520), (640, 440), (760, 500)]
    wanted = [workshop.on_ground(*click) for click in clicks]
    for click in clicks:
        page.mouse.click(*click)
    state = workshop.until(lambda s: len(s["waypoints"]) == 3 and not s["busy"])
    assert np.abs(np.array(state["waypoints"]) - wanted).max() < 1e-6
    assert np.allclose(np.array(state["plan"]["waypoints"]) * UNIT, state["waypoints"])
    walk = workshop.planned()
    np.testing.assert_allclose(walk.body[0, :2] * UNIT, wanted[0], atol=0.05)
    # Between the first two, with Shift.
    middle = tuple(np.mean([workshop.on_page(*point) for point in wanted[:2]], axis=0))
    page.keyboard.down("Shift")
    page.mouse.click(*middle)
    page.keyboard.up("Shift")
    state = workshop.until(lambda s: len(s["waypoints"]) == 4 and not s["busy"])
    assert np.abs(np.array(state["waypoints"][1]) - workshop.on_ground(*middle)).max() < 1e-6
    # A drag of the camera is no click.
    page.mouse.move(500, 650)
    page.mouse.down()
    page.mouse.move(560, 640, steps=3)
    page.mouse.up()
    assert len(workshop.state()["waypoints"]) == 4
    if plan_view:
        page.keyboard.press("v")


def test_way_points_are_dragged_and_deleted(workshop):
    page = workshop.page
    workshop.reset(waypoints=((0, 0), (60, 20), (120, 0)))
    workshop.page.keyboard.press("a")
    before = workshop.state()["waypoints"]
    start = workshop.on_page(*before[1])
    end = (start[0] + 40, start[1] + 30)
    wanted = workshop.on_ground(*end)
    eye = workshop.state()["eye"]
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=4)
    page.mouse.up()
    state = workshop.until(lambda s: s["waypoints"][1] != before[1] and not s["busy"])
    assert np.abs(np.array(state["waypoints"][1]) - wanted).max() < 1e-6
    assert [state["waypoints"][0], state["waypoints"][2]] == [before[0], before[2]]
    assert state["eye"] == eye  # the camera stayed
    page.mouse.click(*end, button="right")
    state = workshop.until(lambda s: len(s["waypoints"]) == 2 and not s["busy"])
    assert state["waypoints"] == [before[0], before[2]]
    page.keyboard.press("Backspace")
    workshop.until(lambda s: len(s["waypoints"]) == 1)
    state = workshop.after(
        lambda: page.evaluate("window.kinetarium.addWaypoint(0.5, -0.25)")
    )  # fmt: skip
    assert state["waypoints"][1] == pytest.approx([0.5, -0.25])


def test_warnings_are_words_that_lead_to_their_frame(workshop):
    page = workshop.page
    workshop.menu("Gait")
    workshop.after(lambda: page.select_option("[aria-label='leg order']", "5"))
    walk = workshop.planned()
    assert walk.order == (2, 1, 4, 3)
    shown = page.locator(".warnings .warning")
    assert shown.all_text_contents() == [warning.text for warning in walk.warnings]
    workshop.unfold_warnings()
    shown.nth(2).click()
    assert walk.warnings[2].frame > 0
    # What is drawn on the ground is what was warned of.
    state = workshop.until(lambda s: s["frame"] == walk.warnings[2].frame and s["margin"] < 0)
    assert state["margin"] == pytest.approx(walk.margin[state["frame"]], abs=1e-4)


def test_the_margin_and_the_joints_shown_are_those_planned(workshop):
    workshop.reset(waypoints=((0, 0), (50, 10), (80, 50)), timing="two-phase", sway=1.0)
    walk = workshop.planned()
    for frame in (3, 40, 90):
        workshop.poses(float(walk.time[frame]))
        assert workshop.state()["margin"] == pytest.approx(walk.margin[frame], abs=1e-4)
        rows = workshop.page.locator(".joints tr").all()[1:]
        for leg, row in enumerate(rows):
            *values, stands = row.locator("td").all_text_contents()
            np.testing.assert_allclose(
                [float(v) for v in values[:3]], walk.joints[frame, leg], atol=5.1e-3
            )
            assert stands == ("stands" if walk.support[frame, leg] else "swings")
    bars = workshop.page.locator(".gait rect.swing")
    assert bars.count() == len(walk.steps)


@pytest.mark.console_errors("400")
def test_a_bad_plan_is_told_and_taken_back(workshop):
    page = workshop.page
    workshop.menu("Gait")
    page.fill("[aria-label=stride]", "-3")
    page.keyboard.press("Enter")
    page.wait_for_selector(".notice[data-kind=error]")
    assert "stride is -3" in page.locator(".notice").last.text_content()
    state = workshop.until(lambda s: not s["busy"])
    assert state["plan"]["stride"] == 16.0
    assert page.input_value("[aria-label=stride]") == "16"
    workshop.load("{not JSON")
    page.get_by_text("this file is not JSON").wait_for()
    # A browser reports every refused request by itself.
    assert all("400" in text for text in workshop.complaints)
    workshop.complaints.clear()


def test_what_is_saved_can_be_loaded(workshop, tmp_path):
    page = workshop.page
    page.fill("[aria-label=K]", "5")
    workshop.after(lambda: page.keyboard.press("Enter"))
    page.click(".links summary")
    page.select_option("[aria-label=Link]", "4")
    page.fill("[aria-label=section]", "-1 -1, 2 0, -1 1")
    workshop.after(lambda: page.locator("[aria-label=section]").blur())
    page.click(".links summary")
    workshop.menu("Path")
    workshop.after(lambda: page.click("[data-preset=side]"))
    before = workshop.state()["plan"]
    assert before["machine"]["gain"] == 5.0
    (thigh,) = before["machine"]["shapes"]
    assert (thigh["name"], thigh["section"]) == ("thigh", [[-1, -1], [2, 0], [-1, 1]])
    assert before["heading"] == "crab"
    walk_file = workshop.saved("walk.json", tmp_path)
    machine_file = workshop.saved("machine.json", tmp_path)
    joints = workshop.saved("joints.csv", tmp_path).read_text().splitlines()
    mjcf = workshop.saved("walker.xml", tmp_path).read_text()
    picture = workshop.saved("walk.png", tmp_path).read_bytes()
    plan = from_builtins(WalkPlan, before, where="the page")
    assert load_machine(machine_file) == plan.machine
    assert mjcf == quadruped_mjcf(plan.machine)
    assert len(joints) == 1 + len(plan_walk(plan).time)
    assert picture.startswith(b"\x89PNG") and len(picture) > 5000
    workshop.reset()
    assert workshop.state()["plan"] != before
    state = workshop.after(lambda: workshop.load(walk_file.read_text()))
    assert state["plan"] == before
    workshop.reset()
    state = workshop.after(lambda: workshop.load(machine_file.read_text()))
    assert state["plan"] == {**to_builtins(WalkPlan()), "machine": before["machine"]}


def test_paths_come_from_files(workshop):
    state = workshop.after(lambda: workshop.load("x,y\n0,0\n50,5.5\n90,-10\n", "path.csv"))
    assert state["plan"]["waypoints"] == [[0, 0], [50, 5.5], [90, -10]]
    workshop.menu("Path")
    state = workshop.after(lambda: workshop.page.select_option("[aria-label=curve]", "bezier"))
    assert state["plan"]["curve"] == "bezier"
    state = workshop.after(lambda: workshop.load("[[0, 0], [40, 0]]"))
    assert state["plan"]["waypoints"] == [[0, 0], [40, 0]]
    state = workshop.after(lambda: workshop.page.click("[data-preset=spin]"))
    assert state["plan"]["heading"] == "spin"
    assert len(state["facts"][0]["steps"]) > 0


def test_a_walk_plays_in_every_style(workshop):
    page = workshop.page
    styles = []
    for style in ("hidden-line", "wireframe", "shaded"):
        page.keyboard.press("s")
        page.get_by_role("button", name=style, exact=True).wait_for()
        workshop.poses(1.0)
        styles.append(workshop.pixels())
    assert (styles[0] != styles[2]).any(axis=2).sum() > 500
    assert (styles[1] != styles[0]).any(axis=2).sum() > 500
    page.keyboard.press("Home")
    page.keyboard.press("f")
    eye = workshop.state()["eye"]
    before = workshop.state()["frames"]
    workshop.leave_focus()
    page.keyboard.press(" ")
    page.wait_for_timeout(1500)
    page.keyboard.press(" ")
    state = workshop.state()
    drawn = state["frames"] - before
    print(f"{drawn / 1.5:.1f} frames/s while a walk plays")
    assert drawn >= 3
    assert state["time"] > 0.2
    assert state["eye"] != eye  # the camera follows
    page.keyboard.press("f")


def orange(picture):
    """Count the pixels of the hue of #f0922b, in light or in shadow."""
    red, green, blue = np.moveaxis(picture, 2, 0)
    return int(((red - blue > 60) & (green > 0.5 * red) & (green < 0.72 * red)).sum())


def test_an_exported_walk_plays_alone_with_all_that_is_known_of_it(browser, workshop, tmp_path):
    workshop.reset(waypoints=((0, 0), (60, 10), (90, 60)), order=(2, 1, 4, 3))
    workshop.after(lambda: workshop.page.click("[data-kind=all]"))
    walks = [workshop.planned(i) for i in range(3)]
    walk = walks[1]
    page = workshop.saved("walk.html", tmp_path)
    assert page.stat().st_size <= 2_000_000
    context = browser.new_context(viewport=SIZE, offline=True)
    try:
        alone = Opened(context, page.as_uri())
        assert alone.state()["replays"] == ["TTT1", "TTT2", "TTR"]
        # In the dark too, legs are coloured as in the gait and the table: the second is orange.
        light = orange(alone.pixels())
        alone.page.keyboard.press("t")
        alone.page.wait_for_timeout(300)
        swatch = "i => getComputedStyle(i).backgroundColor"
        assert alone.page.locator("i.leg2").first.evaluate(swatch) == "rgb(240, 146, 43)"
        assert orange(alone.pixels()) > light + 200
        alone.page.locator(".choice .chip", has_text="TTT2").click()
        frame = walk.warnings[0].frame
        poses = alone.poses(float(walk.time[frame]))["TTT2"]
        foot = walk.links[frame, 3, 8, :3] * UNIT
        assert np.abs(np.array(poses["leg4/foot"][:3]) - foot).max() < 2e-4
        # Support and margin, joints, gait, warnings, plots.
        assert alone.state()["margin"] == pytest.approx(walk.margin[frame], abs=2e-2)
        assert alone.state()["margin"] < 0
        for leg, row in enumerate(alone.page.locator(".joints tr").all()[1:]):
            *values, stands = row.locator("td").all_text_contents()
            np.testing.assert_allclose(
                [float(v) for v in values[:3]], walk.joints[frame, leg], atol=6e-3
            )
            assert stands == ("stands" if walk.support[frame, leg] else "swings")
        assert alone.page.locator(".gait rect.swing").count() == len(walk.steps)
        warnings = alone.page.locator(".warnings .warning")
        assert warnings.all_text_contents() == [warning.text for warning in walk.warnings]
        alone.unfold_warnings()
        warnings.nth(1).click()
        alone.until(lambda s: s["frame"] == walk.warnings[1].frame)
        alone.page.locator(".plot", has_text="stability margin").wait_for()
        assert alone.changes("g") > 200
        before = alone.state()
        alone.leave_focus()
        alone.page.keyboard.press(" ")
        alone.until(lambda s: s["frames"] > before["frames"] + 2 and s["time"] > before["time"])
        assert {urlsplit(url).scheme for url in alone.requests} <= {"file", "data", "blob"}
        assert alone.complaints == []
    finally:
        context.close()


def test_every_field_of_the_gait_is_walked(workshop):
    workshop.menu("Gait")
    for label, value in {
        "stride": "12",
        "lift": "7",
        "sway": "3",
        "time": "0.5",
        "frames": "9",
    }.items():
        workshop.choose(label, value)
    plan = workshop.choose("timing", "paper")
    wanted = dict(stride=12, lift=7, sway=3, step_time=0.5, frames_per_step=9, timing="paper")
    assert {name: plan[name] for name in wanted} == wanted
    plan = workshop.choose("leg order", "4")
    assert plan["order"] == [3, 2, 1, 4]
    walk, facts = workshop.planned(), workshop.state()["facts"][0]
    assert facts["frames"] == len(walk.time) and facts["table1_row"] == 4
    assert facts["min_margin"] == pytest.approx(walk.min_margin)


def test_types_and_measures_of_the_robot(workshop):
    page = workshop.page
    for kind in ("ttt1", "ttr"):
        state = workshop.after(lambda kind=kind: page.click(f"[data-kind={kind}]"))
        assert state["kinds"] == [kind] and state["replays"] == [kind.upper()]
    head = page.locator(".joints tr").first.locator("th").all_text_contents()
    assert head[2] == "ω [°]"
    workshop.choose("width", "50")
    plan = workshop.choose("length", "44")
    assert (plan["machine"]["body_length"], plan["machine"]["body_width"]) == (44, 50)
    walk = workshop.planned()
    hips = workshop.poses(0.0)["TTR"]
    for leg in range(4):
        bracket = np.array(hips[f"leg{leg + 1}/{LINK_NAMES[0]}"][:3])
        np.testing.assert_allclose(bracket, walk.links[0, leg, 0, :3] * UNIT, atol=1e-6)
    # Three side by side, each with its name, or over each other.
    workshop.after(lambda: page.click("[data-kind=all]"))
    assert page.locator(".overlay .label").all_text_contents() == ["TTT1", "TTT2", "TTR"]
    assert workshop.changes("b") > 1000
    assert page.locator(".overlay .label").count() == 0
    page.keyboard.press("b")


def test_a_leg_is_modelled_link_by_link_and_mirrored(workshop):
    page = workshop.page
    page.click(".links summary")
    page.select_option("[aria-label=Link]", "7")
    page.fill("[aria-label=top]", "3.5")
    workshop.after(lambda: page.locator("[aria-label=top]").press("Enter"))
    page.fill("[aria-label=section]", "-1 -1, 4 0, -1 1")
    state = workshop.after(lambda: page.locator("[aria-label=section]").blur())
    (shape,) = state["plan"]["machine"]["shapes"]
    assert (shape["top"], shape["section"]) == (3.5, [[-1, -1], [4, 0], [-1, 1]])
    right, _, left, *_ = workshop.planned().plan.machine.link_shapes
    assert left[7].section == ((-1, -1), (4, 0), (-1, 1))
    assert {(x, -y) for x, y in right[7].section} == set(left[7].section)
    assert page.locator(".section polygon").get_attribute("points") == "-1,1 4,0 -1,-1"
    # One leg alone, seen from its side.
    whole = workshop.pixels()
    page.get_by_role("button", name="one leg").click()
    page.wait_for_timeout(100)
    assert (np.abs(workshop.pixels() - whole).max(axis=2) > 20).sum() > 1000
    page.get_by_role("button", name="one leg").click()
    state = workshop.after(lambda: page.get_by_role("button", name="plain bars").click())
    assert state["plan"]["machine"]["shapes"] == []
    page.click(".links summary")


def test_a_rubber_band_follows_the_pen(workshop):
    page = workshop.page
    page.keyboard.press("v")
    page.keyboard.press("w")
    page.mouse.move(640, 560)
    page.wait_for_timeout(150)
    band = np.array([0xD9, 0x82, 0x00])
    near = lambda: np.abs(workshop.pixels() - band).max(axis=2) < 12  # noqa: E731
    left, top, *_ = workshop._stage()
    start = np.array(workshop.on_page(*workshop.state()["waypoints"][-1])) - (left, top)
    end = np.array([640 - left, 560 - top])
    seen = near()
    for part in (0.3, 0.5, 0.8):
        x, y = np.rint(start + part * (end - start)).astype(int)
        assert seen[y - 2 : y + 3, x - 2 : x + 3].any(), part
    page.keyboard.press("Escape")
    page.wait_for_timeout(150)
    x, y = np.rint(start + 0.5 * (end - start)).astype(int)
    assert not near()[y - 2 : y + 3, x - 2 : x + 3].any()
    # The plan view has the body's markers.
    assert workshop.changes("m") > 50
    page.keyboard.press("m")
    page.keyboard.press("v")


def test_headings_and_numbers_of_way_points(workshop):
    workshop.menu("Path")
    plan = workshop.choose("y of waypoint 2", "40")
    assert plan["waypoints"] == [[0, 0], [128, 40]]
    turned = workshop.planned().body[-1, 3:]
    heading = workshop.page.locator(".menu select[aria-label=heading]")
    workshop.after(lambda: heading.select_option("crab"))
    plan = workshop.choose("angle", "30")
    assert (plan["heading"], plan["heading_deg"]) == ("crab", 30)
    walk = workshop.planned()
    np.testing.assert_allclose(2 * np.arctan2(walk.body[:, 6], walk.body[:, 3]), np.pi / 6)
    assert np.abs(turned - walk.body[-1, 3:]).max() > 0.05
    state = workshop.after(
        lambda: (
            workshop.page.get_by_role("button", name="Delete waypoint 2").click()
            or workshop.page.evaluate("window.kinetarium.addWaypoint(0.6, 0.1)")
        )
    )
    assert state["waypoints"] == [[0, 0], pytest.approx([0.6, 0.1])]


def test_gait_diagram_and_plots_lead_through_time(workshop):
    page = workshop.page
    workshop.poses(0.0)
    frames = workshop.state()["facts"][0]["frames"]
    page.keyboard.press("ArrowRight")
    assert workshop.until(lambda s: s["frame"] == 1)
    box = page.locator(".gait .drawing").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 20)
    # A long walk is seen through a window: all of it is, if it has no more than 32 leg steps.
    state = workshop.until(lambda s: s["frame"] > 1)
    assert state["frame"] == pytest.approx((frames - 1) / 2, abs=2)
    page.locator(".choice .chip", has_text="v_z").click()
    plot = page.locator(".plot", has_text="v_z")
    plot.wait_for()
    plot.scroll_into_view_if_needed()
    over = plot.locator(".u-over").bounding_box()
    page.mouse.click(over["x"] + over["width"] / 4, over["y"] + 20)
    workshop.until(lambda s: s["frame"] < state["frame"])
    page.locator(".choice .chip", has_text="v_z").click()
    for key, pixels in {"g": 100, "r": 5}.items():  # a trail is a thin line
        assert workshop.changes(key) > pixels, key
        page.keyboard.press(key)
    slider = page.locator("input.slider").bounding_box()
    page.mouse.click(slider["x"] + slider["width"] * 0.75, slider["y"] + slider["height"] / 2)
    scrubbed = workshop.until(lambda s: s["frame"] > state["frame"])
    assert scrubbed["frame"] == pytest.approx(0.75 * frames, abs=5)


def test_leaving_takes_everything_away(workshop):
    page = workshop.page
    page.click("[data-mode=runs]")
    assert workshop.state()["mode"] == "runs"
    assert page.locator(".gait").count() == 0
    assert page.evaluate("window.kinetarium.addWaypoint") is None
    page.click("[data-mode=walking]")
    page.wait_for_selector(".gait")
    state = workshop.settled()
    assert state["replays"] == ["TTT2"]
    hosts = {urlsplit(url).hostname for url in workshop.requests if not url.startswith("blob:")}
    assert hosts <= {"127.0.0.1", None}
