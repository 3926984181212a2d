import json
from urllib.parse import urlsplit

import numpy as np
import pytest

from browser.studio_page import SIZE, SOFTWARE_WEBGL, Opened
from kinetarium.legs import WalkPlan, load_machine, plan_walk
from kinetarium.legs.link_shape import LINK_NAMES
from kinetarium.legs.quadruped_file import quadruped_mjcf
from kinetarium.recording.plain import from_plain, to_plain
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
        plan = to_plain(WalkPlan(**plan))
        return self.after(lambda: self.load(json.dumps({"plan": plan})))

    def planned(self, index=0):
        """Plan the page's walk in Python."""
        state = self.state()
        plan = dict(state["plan"])
        plan["machine"] = {**plan["machine"], "kind": state["kinds"][index]}
        return plan_walk(from_plain(WalkPlan, plan, where="the page"))

    def saved(self, name, path):
        with self.page.expect_download() as download:
            self.page.locator(f"[data-save='{name}']").dispatch_event("click")
        download.value.save_as(path / name)
        return path / name

    def on_page(self, x, y):
        """Give where a point of the ground [m] is on the page [px]."""
        u, v, _, w = self._eye() @ [x, y, 0.0, 1.0]
        left, top, width, height = self._stage()
        return left + (u / w + 1) / 2 * width, top + (1 - v / w) / 2 * height

    def on_ground(self, px, py):
        """Give the point of the ground under a point of the page: its ray meets z = 0."""
        left, top, width, height = self._stage()
        u, v = 2 * (px - left) / width - 1, 1 - 2 * (py - top) / height
        ends = np.linalg.solve(self._eye(), np.array([[u, v, -1, 1], [u, v, 1, 1]]).T).T
        near, far = (ends[:, :3] / ends[:, 3:]).tolist()
        part = near[2] / (near[2] - far[2])
        return [a + part * (b - a) for a, b in zip(near[:2], far[:2], strict=True)]

    def _eye(self):
        return np.array(self.state()["eye"]).reshape(4, 4).T

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
                [float(v) for v in values], walk.joints[frame, leg], atol=5.1e-3
            )
            assert stands == ("stands" if walk.support[frame, leg] else "swings")
    bars = workshop.page.locator(".gait rect.swing")
    assert bars.count() == len(walk.steps)


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
    assert before["machine"]["shapes"][4]["section"] == [[-1, -1], [2, 0], [-1, 1]]
    assert before["heading"] == "crab"
    walk_file = workshop.saved("walk.json", tmp_path)
    machine_file = workshop.saved("machine.json", tmp_path)
    joints = workshop.saved("joints.csv", tmp_path).read_text().splitlines()
    mjcf = workshop.saved("walker.xml", tmp_path).read_text()
    picture = workshop.saved("walk.png", tmp_path).read_bytes()
    plan = from_plain(WalkPlan, before, where="the page")
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
    assert state["plan"] == {**to_plain(WalkPlan()), "machine": before["machine"]}


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


def test_an_exported_walk_plays_alone(browser, workshop, tmp_path):
    workshop.menu("Path")
    workshop.after(lambda: workshop.page.click("[data-preset=curve]"))
    walk = workshop.planned()
    page = workshop.saved("walk.html", tmp_path)
    assert page.stat().st_size <= 2_000_000
    context = browser.new_context(viewport=SIZE, offline=True)
    try:
        alone = Opened(context, page.as_uri())
        assert alone.state()["replays"] == ["TTT2"]
        frame = len(walk.time) // 2
        poses = alone.poses(float(walk.time[frame]))["TTT2"]
        foot = walk.links[frame, 3, 8, :3] * UNIT
        assert np.abs(np.array(poses["leg4/foot"][:3]) - foot).max() < 2e-4
        before = alone.state()["frames"]
        alone.page.keyboard.press(" ")
        alone.until(lambda s: s["frames"] > before + 2 and s["time"] > walk.time[frame])
        assert {urlsplit(url).scheme for url in alone.requests} <= {"file", "data", "blob"}
        assert alone.complaints == []
    finally:
        context.close()


def test_leaving_and_coming_back_starts_afresh(workshop):
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
