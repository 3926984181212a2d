"""The picture: contours, shadows, axes, scales, a grid of views, words where nothing is seen."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.ndimage import binary_dilation, binary_erosion, binary_opening

from browser.studio_page import SIZE, SOFTWARE_WEBGL, Opened, grasp_run, write_runs
from kinetarium.batch.study import open_study
from kinetarium.recording.recording import Channel, Run, RunStatus
from kinetarium.storage.serialization import to_builtins
from unit.studio_server import running_studio
from unit.test_studio_server import drop_run

pytestmark = pytest.mark.browser

FLAGS = SOFTWARE_WEBGL


def still_arm(key, force, **options):
    """A Panda at rest that feels a force at one pad."""
    run = grasp_run(key, duration=0.5, **options)
    channels = dict(run.recording.channels)
    pose = [0.0, -0.6, 0.0, -2.0, 0.0, 1.5, 0.8, 0.03, 0.03]
    q = np.tile(pose, (len(channels["q"].values), 1))
    wrench = np.tile([0.0, 0.0, force, 0.0, 0.0, 0.0], (len(q), 1))
    channels["q"] = Channel(q, channels["q"].unit, channels["q"].columns)
    channels |= {
        name: Channel(wrench, "N, N m", tuple("abcdef")) for name in channels if "wrench" in name
    }
    return replace(run, recording=replace(run.recording, channels=channels))


def lost_cube(key, depth):
    """A Panda at rest, and a cube that falls from its hand to some depth [m]."""
    run = still_arm(key, 6.0, engine="ode")
    channels = dict(run.recording.channels)
    cube = channels["poses"]
    poses = np.array(cube.values)
    poses[:, 0, 2] -= np.linspace(0.0, depth, len(poses))
    channels["poses"] = Channel(poses, cube.unit, cube.columns)
    return replace(run, recording=replace(run.recording, channels=channels))


def numbers_run():
    """A run of a study that moves nothing."""
    study = open_study("dynamics")
    case = study.cases(study.config(engine=(), states=2))[0]
    recording = study.run(case)
    return Run("n", "dynamics", to_builtins(case), RunStatus.COMPLETED, "", (), recording)


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    write_runs(root / "drop", [drop_run(key, engine=key) for key in ("one", "two", "six", "ten")])
    arms = [still_arm("a", 6.0), still_arm("b", 30.0, engine="bullet")]
    write_runs(root / "grasp", arms)
    write_runs(root / "numbers", [numbers_run()])
    write_runs(root / "lost", [lost_cube("l", 400.0)])
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


def inside(view):
    """Return the picture without what is written over it."""
    view.page.evaluate("document.querySelector('.gauges').hidden = true")
    return view.pixels()


def test_hidden_lines_have_contours_all_around_the_arm(view):
    view.watch("grasp", "mujoco")
    view.page.keyboard.press("t")  # a light arm on dark ground is told from it everywhere
    view.page.keyboard.press("a")
    view.page.keyboard.press("c")
    assert view.changes("h") > 50  # shadows
    shaded = inside(view)
    view.page.keyboard.press("s")
    lines = inside(view)
    view.page.locator(".run[data-open] .add").click()
    view.until(lambda s: s["replays"] == [])
    empty = inside(view)
    arm = binary_opening(np.abs(shaded - empty).max(axis=2) > 25, iterations=2)
    border = arm & ~binary_erosion(arm)
    inked = binary_dilation(lines.min(axis=2) > 140, iterations=3)
    assert border.sum() > 300
    assert inked[border].mean() > 0.93
    # What is within the contours is empty but for few lines.
    within = binary_erosion(arm, iterations=3)
    assert (lines.min(axis=2) > 140)[within].mean() < 0.25


ONE_SIDED = """
const disable = WebGL2RenderingContext.prototype.disable;
WebGL2RenderingContext.prototype.disable = function (what) {
  if (what !== this.CULL_FACE || !window.oneSided) disable.call(this, what);
};
"""
"""Lets a test draw the front of triangles alone, through which a hole shows what is behind."""


def test_display_meshes_have_no_holes(browser, studio):
    context = browser.new_context(viewport=SIZE)
    context.add_init_script(ONE_SIDED)
    try:
        view = Opened(context, studio.address)
        view.watch("grasp", "mujoco")
        view.page.keyboard.press("c")
        view.page.keyboard.press("h")  # without the shadow
        for direction in ("1", "2", "4"):
            view.page.keyboard.press(direction)
            pictures = []
            for one_sided in (False, True):
                view.page.evaluate("on => { window.oneSided = on; }", one_sided)
                view.page.evaluate("window.kinetarium.setTime(0.1)")
                view.page.evaluate("window.kinetarium.setTime(0)")
                pictures.append(inside(view))
            both, front = pictures
            ground = np.median(both.reshape(-1, 3), axis=0)
            robot = (np.abs(both - ground).max(axis=2) > 25).sum()
            assert robot > 5_000
            # A contour may be a pixel narrower; what shows the inside is a hole. The links 0 and 3
            # of the source are open where the next link covers them, but for a slit.
            holes = binary_opening(np.abs(both - front).max(axis=2) > 25)
            assert holes.sum() < 0.01 * robot, direction
        assert view.complaints == []
    finally:
        context.close()


def test_axes_and_scale_are_those_of_the_picture(view):
    view.watch("drop", "one")
    view.page.keyboard.press("o")
    view.until(lambda s: s["projection"] == "orthographic")
    view.page.evaluate("window.kinetarium.setTime(0)")
    box = view.page.locator(".stage canvas").bounding_box()
    line = view.page.locator(".gauge[data-gauge=length]")

    def pixels():
        """Return how many a metre along each axis is in the picture's x and y."""
        return view.eye()[:2, :3] * np.array([[box["width"] / 2], [box["height"] / 2]])

    def is_to_scale(_):
        width = line.locator("i").bounding_box()["width"]
        text, unit = line.locator("span").inner_text().split()
        metres = float(text) * {"m": 1.0, "cm": 0.01, "mm": 1e-3}[unit]
        return width == pytest.approx(metres * np.linalg.norm(pixels()[0]), abs=1.0)

    view.until(is_to_scale)  # it follows the picture with the next frame
    seen = pixels()
    per_metre = np.linalg.norm(seen, axis=1)
    assert per_metre[0] == pytest.approx(per_metre[1], rel=1e-3)
    ends = "l => ['x2', 'y2'].map(n => Number(l.getAttribute(n)))"
    for axis, name in enumerate("xyz"):
        x, y = view.page.locator(f".triad line.{name}").evaluate(ends)
        np.testing.assert_allclose([x, -y], 24 * seen[:, axis] / per_metre[0], atol=0.3)


def test_forces_have_one_scale(view):
    def scale():
        """Return pixels for each newton."""
        view.page.evaluate("window.kinetarium.setTime(0)")
        width = view.page.locator(".gauge.force i").bounding_box()["width"]
        force, unit = view.page.locator(".gauge.force span").inner_text().split()
        assert unit == "N"
        return width / float(force)

    view.watch("grasp", "mujoco")
    alone = scale()
    view.watch("grasp", "bullet", together=True)
    # The greatest force of both, 30 N, is now as long as that of 6 N was.
    assert alone / scale() == pytest.approx(5.0, rel=0.02)
    view.page.keyboard.press("c")
    assert view.page.locator(".gauge.force").count() == 0


def test_side_by_side_is_a_grid_of_equal_views(view):
    view.watch("drop", "one")
    for label in ("two", "six", "ten"):
        view.watch("drop", label, together=True)
    fitted = view.eye()
    stage = view.page.locator(".stage canvas").bounding_box()
    view.page.mouse.move(stage["x"] + 200, stage["y"] + 200)
    view.page.mouse.wheel(0, -500)
    view.until(lambda s: not np.allclose(view.eye(), fitted))
    view.page.keyboard.press("b")
    labels = view.page.locator(".overlay .label")
    assert labels.all_inner_texts() == [f"drop {name}" for name in ("one", "two", "six", "ten")]
    boxes = [label.bounding_box() for label in labels.all()]
    assert len({box["x"] for box in boxes}) == 2 and len({box["y"] for box in boxes}) == 2
    # All is fitted into the panes again, which have the shape of the whole, and seen alike in each.
    np.testing.assert_allclose(view.eye(), fitted, atol=1e-6)
    poses = view.poses(0.3)
    for solids in poses.values():
        for row in solids.values():
            clip = view.eye() @ [*row[:3], 1.0]
            assert np.abs(clip[:2] / clip[3]).max() < 1
    picture = inside(view)
    rows, columns = picture.shape[0] // 2, picture.shape[1] // 2
    panes = [
        picture[y + 40 : y + rows - 40, x + 5 : x + columns - 5]
        for y in (0, rows)
        for x in (0, columns)
    ]
    for pane in panes[1:]:
        assert (np.abs(pane - panes[0]).max(axis=2) > 30).mean() < 0.01
    assert np.ptp(panes[0]) > 60
    # One camera: what is turned and zoomed in the last of them is so in all.
    x, y = stage["x"] + 0.8 * stage["width"], stage["y"] + 0.7 * stage["height"]
    view.drag((x, y), (x - 90, y - 20))
    view.page.mouse.wheel(0, -200)
    view.until(lambda s: not np.allclose(view.eye(), fitted, atol=0.05))
    view.page.wait_for_timeout(300)
    turned = inside(view)
    again = [
        turned[y + 40 : y + rows - 40, x + 5 : x + columns - 5]
        for y in (0, rows)
        for x in (0, columns)
    ]
    for pane, before in zip(again, panes, strict=True):
        assert (np.abs(pane - again[0]).max(axis=2) > 30).mean() < 0.01
        assert (np.abs(pane - before).max(axis=2) > 30).mean() > 0.02


def test_what_fell_away_is_not_fitted_into_the_view(view):
    view.watch("grasp", "mujoco")
    for key in ("a", "c"):
        view.page.keyboard.press(key)
    fitted = view.eye()
    row = view.page.locator(".folder", has_text="lost").locator(".run")
    row.locator(".name").click()
    view.until(lambda s: s["replays"] == ["grasp ode"])
    # The arm fills the view as it does without a cube that falls.
    np.testing.assert_allclose(view.eye(), fitted, rtol=0.2, atol=0.2)
    view.poses(0.5)


def test_a_run_without_bodies_says_why_the_stage_is_empty(view):
    row = view.page.locator(".folder", has_text="numbers").locator(".run")
    row.locator(".name").click()
    note = view.page.locator(".stagenote")
    note.wait_for()
    assert "This run records numbers and no moving bodies" in note.inner_text()
    assert view.state()["replays"] == [f"dynamics {row.locator('.name').inner_text()}"]
    view.watch("drop", "one")
    assert not note.is_visible()
