"""The live room in a browser: pulling, joints, two engines, inspecting, dropping a robot file."""

import os
import re
import signal

import numpy as np
import pytest

from browser.studio_page import SIZE, SOFTWARE_WEBGL, Opened
from kinetarium.model.load import load_robot
from unit.studio_server import running_studio

pytestmark = pytest.mark.browser

FLAGS = SOFTWARE_WEBGL
GOOD = """<robot name="pendulum">
<link name="base"/>
<link name="arm">
  <inertial><mass value="1"/><origin xyz="0 0 -0.25"/>
  <inertia ixx="0.02" iyy="0.02" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin xyz="0 0 -0.25"/><geometry><box size="0.05 0.05 0.5"/></geometry></collision>
</link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/>
  <origin xyz="0 0 1"/><axis xyz="0 1 0"/>
  <limit lower="-3" upper="3" effort="10" velocity="5"/></joint>
</robot>
"""
BAD = GOOD.replace('<child link="arm"/>', '<child link="leg"/>')


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    with running_studio(tmp_path_factory.mktemp("results")) as studio:
        yield studio


@pytest.fixture(scope="module")
def page(browser, studio):
    context = browser.new_context(viewport=SIZE)
    yield LiveRoom(context, studio.address)
    context.close()


@pytest.fixture
def room(page):
    """A page in the live room, with a Panda in MuJoCo."""
    page.enter()
    yield page
    assert page.complaints == []


class LiveRoom(Opened):
    def enter(self):
        """Enter the room as on the first day."""
        self.page.evaluate("localStorage.clear()")
        self.page.click("[data-mode=runs]")
        self.page.click("[data-mode=live]")
        self.wait(lambda room: room["engines"] == ["mujoco"] and room["time"] > 0)

    def wait(self, condition):
        """Wait for the room to be in some state, and return it."""
        return self.until(lambda state: "room" in state and condition(state["room"]))["room"]

    @property
    def room(self):
        return self.state()["room"]

    def press(self, text):
        self.page.locator(".live-bar button", has_text=text).click()

    def pause(self):
        self.press("Pause")
        self.wait(lambda room: not room["playing"])
        self.page.wait_for_timeout(300)

    def place(self, point, column=0, columns=1):
        """Return where a point of the world is on the page."""
        return tuple(self.places([point], column, columns)[0])

    def places(self, points, column=0, columns=1):
        """Return where points of the world are on the page, shape (n, 2)."""
        x, y, _, w = self.eye() @ np.column_stack([points, np.ones(len(points))]).T
        box = self.page.locator(".stage canvas").bounding_box()
        width = box["width"] / columns
        across = box["x"] + width * (column + (x / w + 1) / 2)
        return np.column_stack([across, box["y"] + box["height"] * (1 - y / w) / 2])

    def hand(self, room=None):
        """Return a point in the middle of the hand."""
        row = np.array((room or self.room)["poses"]["robot/panda_hand"])
        w, v = row[3], row[4:]
        down = np.array([0, 0, 0.04])
        return row[:3] + down + 2 * np.cross(v, np.cross(v, down) + w * down)


def test_a_body_follows_the_mouse_and_frames_come_in_their_order(room):
    start = room.hand()
    x, y = room.place(start)
    room.page.mouse.move(x, y)
    room.page.mouse.down()
    for i in range(12):
        room.page.mouse.move(x + 8 * i, y - 4 * i)
        room.page.wait_for_timeout(60)
    found = room.wait(lambda r: r["waits"] and np.isfinite(r["pull"]).all())
    force, moved = np.array(found["pull"][:3]), room.hand(found) - start
    assert np.linalg.norm(force) > 20 and force @ moved > 0
    assert room.page.locator(".force:visible").count() >= 1  # its number stands beside it
    eye = room.state()["eye"]
    room.page.mouse.up()
    room.wait(lambda r: not np.isfinite(r["pull"]).any())
    assert room.state()["eye"] == eye  # the view has not turned
    counts = room.room["counts"]
    assert counts["frames"] > 20 and counts["lost"] == counts["disordered"] == 0
    room.wait(lambda r: np.linalg.norm(room.hand(r) - start) < 0.01)  # servos bring it back


@pytest.mark.parametrize("engine", ["bullet", "drake"])
def test_other_engines_answer_the_mouse(room, engine):
    room.page.get_by_label("Engine", exact=True).select_option(engine)
    room.wait(lambda r: r["engines"] == [engine] and not r["busy"] and r["time"] > 0.1)
    start = room.hand()
    x, y = room.place(start)
    room.page.mouse.move(x, y)
    room.page.mouse.down()
    room.page.mouse.move(x + 60, y - 30, steps=6)
    found = room.wait(
        lambda r: (
            r["waits"]
            and np.isfinite(r["pull"]).all()
            and np.linalg.norm(room.hand(r) - start) > 0.02
        )
    )
    assert np.array(found["pull"][:3]) @ (room.hand(found) - start) > 0
    room.page.mouse.up()
    counts = room.room["counts"]
    assert counts["lost"] == counts["disordered"] == 0


def test_run_pause_step_reset_and_the_pace(room):
    room.wait(lambda r: r["pace"]["rate"] > 0)
    assert "real time" in room.page.locator(".pace").inner_text()
    room.pause()
    before = room.room["time"]
    room.page.wait_for_timeout(300)
    assert room.room["time"] == before
    room.press("Step")
    room.wait(lambda r: r["time"] == pytest.approx(before + 0.002))
    room.page.keyboard.press("n")
    room.wait(lambda r: r["time"] == pytest.approx(before + 0.004))
    room.press("Reset")
    room.wait(lambda r: r["time"] == 0)
    room.page.keyboard.press("g")
    room.wait(lambda r: r["playing"] and r["time"] > 0)


def test_sliders_drive_joints_or_move_them_exactly(room):
    slider = room.page.locator(".joint input[aria-label=panda_joint1]")

    def slide(value):
        slider.evaluate(
            "(e, v) => { e.value = v; e.dispatchEvent(new Event('input', {bubbles: true})) }",
            str(value),
        )

    slide(0.6)
    room.wait(lambda r: abs(r["positions"][0] - 0.6) < 0.01)
    room.pause()
    room.page.click("[data-joints=kinematic]")
    slide(-0.8)
    room.wait(lambda r: abs(r["positions"][0] + 0.8) < 1e-6)  # while time stands still


def test_objects_fall_and_contacts_have_their_weight(room):
    room.page.click("[data-object=box]")
    room.wait(lambda r: "object 1" in r["poses"])
    resting = room.wait(lambda r: r["contacts"] and abs(r["poses"]["object 1"][2] - 0.05) < 2e-3)
    assert resting["robot"] == "panda"
    room.page.wait_for_timeout(800)
    force = np.sum([c["force"] for c in room.room["contacts"]], axis=0)
    assert abs(force[2]) == pytest.approx(0.5 * 9.81, rel=0.02)
    table = room.page.locator(".panel", has_text="Contacts").locator("td").last
    force = re.compile(r"4\.9\d N")
    assert force.fullmatch(table.inner_text())
    # Four points of contact have one number, beside an arrow and within the view.
    labels = room.page.locator(".force:visible")
    [text] = labels.all_inner_texts()
    assert force.fullmatch(text)  # with as many digits as in the table
    hint = room.page.locator(".live-hint")
    ground = hint.evaluate("hint => getComputedStyle(hint).backgroundColor")
    assert ground not in ("", "rgba(0, 0, 0, 0)")  # the line between two views is not seen in it
    room.page.click("text=Moon")
    room.wait(lambda r: (not r["busy"] and r["time"] < 0.5) or r["time"] > 0)
    weight = 0.5 * 1.62
    room.wait(lambda r: abs(sum(c["force"][2] for c in r["contacts"])) < 1.05 * weight)


def test_robots_of_the_catalogue_ground_and_kinds_of_objects(room):
    room.page.get_by_label("Robot", exact=True).select_option("husky4")
    model = load_robot("husky4")
    found = room.wait(lambda r: r["robot"] == "husky4" and not r["busy"] and r["time"] > 0.5)
    assert found["joints"] == [joint.name for joint in model.moving_joints]
    weight = abs(sum(c["force"][2] for c in found["contacts"]))
    assert weight == pytest.approx(9.81 * model.mass, rel=0.2)  # it stands on its wheels
    room.page.get_by_label("Robot", exact=True).select_option("")
    for shape in ("sphere", "cylinder"):
        room.page.click(f"[data-object={shape}]")
    resting = {"object 1": 0.05, "object 2": 0.08}  # their centres [m]
    room.wait(
        lambda r: (
            not r["joints"]
            and r["poses"].keys() == resting.keys()
            and all(r["poses"].values())
            and all(abs(r["poses"][name][2] - z) < 3e-3 for name, z in resting.items())
        )
    )
    room.page.get_by_label("Ground", exact=True).uncheck()
    room.wait(lambda r: all(row and row[2] < -0.5 for row in r["poses"].values()))


def test_two_engines_side_by_side_under_the_same_input(room):
    room.page.select_option("[aria-label='Beside it']", "bullet")
    room.wait(lambda r: r["engines"] == ["mujoco", "bullet"] and not r["busy"])
    assert room.page.locator(".sides span").all_inner_texts() == ["MuJoCo", "Bullet"]
    point = room.hand()
    x, y = room.place(point, column=1, columns=2)  # drag in the second picture
    room.page.mouse.move(x, y)
    room.page.mouse.down()
    room.page.mouse.move(x + 40, y - 30, steps=4)
    room.wait(lambda r: np.isfinite(r["pull"]).all() and np.linalg.norm(r["pull"][:3]) > 10)
    stage = room.page.locator(".stage canvas").bounding_box()
    for label in room.page.locator(".force:visible").all():
        box = label.bounding_box()
        assert box["x"] + box["width"] <= stage["x"] + stage["width"]
    room.page.keyboard.press("g")
    room.wait(lambda r: not r["playing"])
    room.page.wait_for_timeout(500)
    found = room.room
    assert found["times"][0] == found["times"][1]
    one, other = (np.array(found[key]["robot/panda_hand"]) for key in ("poses", "others"))
    assert np.linalg.norm(one[:3] - point) > 0.005
    np.testing.assert_allclose(one, other, atol=2e-3)
    room.page.mouse.up()
    # Contacts of both are told beside each other.
    room.page.keyboard.press("g")
    room.page.click("[data-object=box]")
    panel = room.page.locator(".panel", has_text="Contacts")
    panel.locator("td").nth(2).wait_for()
    assert panel.locator("th").all_inner_texts() == ["between", "MuJoCo", "Bullet"]


def test_a_clicked_link_shows_its_facts_and_marks_show_its_parts(room):
    room.pause()
    model = load_robot("panda")
    room.page.mouse.click(*room.place(room.hand()))
    room.wait(lambda r: r["chosen"] == "robot/panda_hand")
    facts = room.page.locator(".facts").inner_text()
    mass = model.link("panda_hand").inertia.mass
    assert f"{mass:.4g} kg" in facts and "panda_hand_joint" in facts
    link = np.array(room.room["poses"]["robot/panda_link4"][:3])
    room.page.mouse.click(*room.place(link))
    chosen = room.wait(lambda r: r["chosen"] != "robot/panda_hand")["chosen"].partition("/")[2]
    joint = model.parent_joint[chosen]
    facts = room.page.locator(".facts").inner_text()
    assert joint.name in facts and f"{joint.limits.upper:.4g}" in facts
    for mark in ("collisions", "inertia", "centers", "frames", "axes", "meshes"):
        before = room.pixels()
        room.page.click(f"[data-mark={mark}]")
        room.page.wait_for_timeout(400)
        assert (np.abs(room.pixels() - before).max(axis=2) > 20).sum() > 50, mark


def test_a_distance_is_measured_between_two_clicked_points(room):
    room.pause()
    room.page.keyboard.press("m")
    ground = [(0.5, 0.3, 0.0), (0.5, -0.4, 0.0)]
    for point in ground:
        room.page.mouse.click(*room.place(point))
    measured = room.wait(lambda r: r["distance"] is not None)["distance"]
    assert measured == pytest.approx(0.7, abs=0.02)  # as exactly as a pixel
    assert "mm" in room.page.locator(".tape").inner_text()


def test_an_engine_that_crashes_leaves_the_page_and_the_server(room, studio):
    (live,) = studio.server.rooms.open
    os.kill(live.processes[0], signal.SIGSEGV)
    found = room.wait(lambda r: r["trouble"])
    assert "SIGSEGV" in found["trouble"]
    assert room.page.locator(".alarm").is_visible()
    assert studio.request("/api/runs")[0] == 200
    room.page.click("text=Open the room again")
    room.wait(lambda r: not r["trouble"] and r["engines"] == ["mujoco"])
    room.press("Run")
    room.wait(lambda r: r["time"] > 0 and r["playing"])


def test_a_dropped_robot_passes_the_gate_and_enters_the_room(room):
    drop = """text => {
        const data = new DataTransfer();
        data.items.add(new File([text], "pendulum.urdf"));
        for (const type of ["dragover", "drop"])
            document.body.dispatchEvent(new DragEvent(type, {dataTransfer: data, bubbles: true}));
    }"""
    room.page.evaluate(drop, BAD)
    found = room.wait(lambda r: r["dropped"] and not r["dropped"]["ok"])["dropped"]
    line = found["findings"][0]["line"]
    assert "leg" in BAD.splitlines()[line - 1]
    shown = room.page.locator(f".finding[data-line='{line}'] [data-here]")
    assert 'child link="leg"' in shown.inner_text()
    room.page.evaluate(drop, GOOD)
    room.wait(lambda r: r["robot"] == "pendulum" and r["joints"] == ["hinge"])
    assert "/" not in room.page.locator(".findings").inner_text().replace("m/s", "")
    room.wait(lambda r: r["time"] > 0.1)
