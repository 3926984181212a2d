"""What the inspector of the live room draws: marks at the links, contacts, a measured distance."""

from itertools import product

import numpy as np
import pytest

from browser.studio_page import SIZE, SOFTWARE_WEBGL
from browser.test_studio_live import LiveRoom
from kinetarium.model.load import load_robot
from kinetarium.model.mesh.solids import triangulate
from kinetarium.spatial.rotation import rotation_from_quaternion
from unit.studio_server import running_studio

pytestmark = pytest.mark.browser

FLAGS = SOFTWARE_WEBGL


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    with running_studio(tmp_path_factory.mktemp("results")) as studio:
        context = browser.new_context(viewport=SIZE)
        yield LiveRoom(context, studio.address)
        context.close()


@pytest.fixture
def room(page):
    """A page in the live room, with a Panda in MuJoCo."""
    page.enter()
    yield page
    assert page.complaints == []


def uncover(room):
    """Take away what is written over the picture."""
    for selector in (".live-top", ".gauges"):
        room.page.locator(selector).evaluate("e => (e.style.visibility = 'hidden')")


def press(room, mark):
    """Press a mark, and wait for a picture with it."""
    before = room.state()["frames"]
    room.page.click(f"[data-mark={mark}]")
    room.until(lambda s: s["frames"] > before)
    room.page.wait_for_timeout(200)


def drawn(room, mark):
    """Return the pixels that a mark changes; pressed again it takes them back."""
    button = room.page.locator(f"[data-mark={mark}]")
    was = button.get_attribute("aria-pressed")
    before = room.pixels()
    press(room, mark)
    assert button.get_attribute("aria-pressed") != was
    with_mark = room.pixels()
    press(room, mark)
    changed = np.abs(with_mark - before).max(axis=2) > 20
    # Numbers may be written some pixels beside where they were.
    assert (np.abs(room.pixels() - before).max(axis=2) > 20).sum() <= 0.15 * changed.sum(), mark
    return changed


def in_picture(room, link, points):
    """Return where points of a link [m] are in the picture [px], shape (n, 2)."""
    row = np.array(room.room["poses"][f"robot/{link}"])
    world = np.atleast_2d(points) @ rotation_from_quaternion(row[3:]).T + row[:3]
    box = room.page.locator(".stage canvas").bounding_box()
    return room.places(world) - (box["x"], box["y"])


def box_of(pixels):
    """Return the least and greatest column and row of some pixels."""
    rows, columns = np.nonzero(pixels)
    return [columns.min(), rows.min(), columns.max(), rows.max()]


def corners(geometry):
    """Return the vertices of a shape in the frame of its link [m]."""
    points = triangulate(geometry.shape).vertices
    return points @ geometry.X_LG[:3, :3].T + geometry.X_LG[:3, 3]


def inertia_corners(inertia):
    """Return the corners of the solid box of the same mass and moments [m]."""
    moments, axes = np.linalg.eigh(inertia.moment)
    squares = 6 / inertia.mass * (moments.sum() - 2 * moments)
    half = np.sqrt(np.maximum(squares, 0.0)) / 2
    return inertia.center + np.array(list(product(*zip(-half, half, strict=True)))) @ axes.T


def test_marks_are_where_the_robot_file_puts_them(room):
    room.pause()
    uncover(room)
    links = load_robot("panda").links
    massive = [link for link in links if link.inertia]

    def frame_of(points):
        """Return the box around points of links, given by the link's name."""
        places = np.concatenate([in_picture(room, *item) for item in points])
        return [*places.min(axis=0), *places.max(axis=0)]

    shapes = [(link.name, corners(shape)) for link in links for shape in link.collisions]
    np.testing.assert_allclose(box_of(drawn(room, "collisions")), frame_of(shapes), atol=4)
    boxes = [(link.name, inertia_corners(link.inertia)) for link in massive]
    np.testing.assert_allclose(box_of(drawn(room, "inertia")), frame_of(boxes), atol=4)
    centers = drawn(room, "centers")
    for link in massive:
        ((x, y),) = np.rint(in_picture(room, link.name, link.inertia.center)).astype(int)
        assert centers[y - 1 : y + 2, x - 1 : x + 2].any(), link.name
    frames, axes = drawn(room, "frames"), drawn(room, "axes")
    for link in links:
        ((x, y),) = np.rint(in_picture(room, link.name, np.zeros(3))).astype(int)
        assert frames[y - 3 : y + 4, x - 3 : x + 4].any(), link.name
    for joint in load_robot("panda").moving_joints:
        # A pin along the axis, through the joint.
        for way in (-0.03, 0.0, 0.03):
            place = in_picture(room, joint.child, way * np.asarray(joint.axis))
            ((x, y),) = np.rint(place).astype(int)
            assert axes[y - 3 : y + 4, x - 3 : x + 4].any(), joint.name
    # Without its meshes the robot is gone but for its marks.
    hand = np.rint(in_picture(room, "panda_hand", (0, 0, 0.04))).astype(int)[0]
    assert drawn(room, "meshes")[hand[1], hand[0]]
    press(room, "meshes")
    press(room, "centers")
    # What is shown stays shown.
    room.page.locator(".live-bar button", has_text="Reset").dispatch_event("click")
    room.wait(lambda r: r["time"] == 0)
    assert drawn(room, "meshes")[hand[1], hand[0]]


def test_contacts_are_hidden_and_shown(room):
    room.page.click("[data-object=box]")
    room.wait(lambda r: r["contacts"] and abs(r["poses"]["object 1"][2] - 0.05) < 2e-3)
    room.page.wait_for_timeout(800)
    room.pause()
    changed = drawn(room, "contacts")  # while time stands still
    box = room.page.locator(".stage canvas").bounding_box()
    for contact in room.room["contacts"]:
        # An arrow begins at each point.
        x, y = np.rint(np.array(room.place(contact["point"])) - (box["x"], box["y"])).astype(int)
        assert changed[y - 6 : y + 7, x - 6 : x + 7].any()
    numbers = room.page.locator(".force:visible")
    assert numbers.count() == 1
    press(room, "contacts")
    assert numbers.count() == 0
    # The table of contacts stays.
    assert room.page.locator(".panel", has_text="Contacts").locator("tbody tr").count() == 1
    # Nor do numbers come back in a room that is built anew.
    room.press("Run")
    room.page.click("[data-object=sphere]")
    room.wait(lambda r: "object 2" in r["poses"] and not r["busy"] and r["contacts"])
    assert numbers.count() == 0
    press(room, "contacts")
    room.until(lambda _: numbers.count() >= 1)


def test_a_tape_follows_the_link_that_it_is_held_to(room):
    room.pause()
    room.page.keyboard.press("m")
    tool, ground = room.hand(), np.array([0.5, 0.35, 0.0])
    room.page.mouse.click(*room.place(tool))
    room.page.mouse.click(*room.place(ground))
    first = room.wait(lambda r: r["distance"] is not None)["distance"]
    # A point on the surface of the hand, which is some centimetres thick.
    assert first == pytest.approx(np.linalg.norm(tool - ground), abs=0.08)
    room.page.click("[data-joints=kinematic]")
    room.page.locator(".joint input[aria-label=panda_joint1]").evaluate(
        "e => { e.value = '-1.2'; e.dispatchEvent(new Event('input', {bubbles: true})) }"
    )
    room.wait(lambda r: abs(r["positions"][0] + 1.2) < 1e-6)
    moved = np.linalg.norm(room.hand() - ground)
    assert abs(moved - np.linalg.norm(tool - ground)) > 0.2
    assert room.room["distance"] == pytest.approx(moved, abs=0.08)
    room.page.keyboard.press("m")
    assert room.page.locator(".tape").inner_text() == ""
