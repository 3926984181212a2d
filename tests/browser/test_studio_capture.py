"""Pictures and videos of a chosen size."""

import struct
from base64 import b64encode
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from browser.studio_page import SOFTWARE_WEBGL, contexts, grasp_run, write_runs
from unit.studio_server import running_studio

pytestmark = pytest.mark.browser

FLAGS = SOFTWARE_WEBGL


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    write_runs(root / "grasp", [grasp_run("a", duration=10.0, rate=20.0)])
    with running_studio(root) as studio:
        yield studio


@pytest.fixture
def view(browser, studio):
    with contexts(browser) as opened:
        view = opened(studio.address)
        yield view
        assert view.complaints == []


def saved(view, name, path):
    """Press a button of the dialog, and return the file."""
    with view.page.expect_download(timeout=300_000) as download:
        view.page.get_by_role("button", name=name).click()
    download.value.save_as(path)
    return path.read_bytes()


def test_pictures_of_a_chosen_size(view, tmp_path):
    view.poses(3.0)
    before = view.eye()
    view.page.keyboard.press("e")
    view.page.get_by_label("Size", exact=True).select_option("1080 1080")
    assert view.page.get_by_label("Width", exact=True).input_value() == "1080"
    view.page.get_by_label("Width", exact=True).fill("500")
    view.page.get_by_label("Height", exact=True).fill("400")
    picture = Image.open(BytesIO(saved(view, "Save PNG", tmp_path / "a.png")))
    assert picture.size == (500, 400)
    assert len(np.unique(np.asarray(picture.convert("RGB")).reshape(-1, 3), axis=0)) > 50
    # A size that no graphics card draws is refused, and the page is as before.
    view.page.get_by_label("Width", exact=True).fill("100000")
    view.page.get_by_role("button", name="Save PNG").click()
    view.page.get_by_text("choose a size").wait_for()
    view.page.keyboard.press("Escape")
    np.testing.assert_allclose(view.eye(), before, atol=1e-9)
    canvas = view.page.locator(".stage canvas")
    assert canvas.bounding_box()["width"] == canvas.evaluate("canvas => canvas.width")


def elements(data, ids):
    """Return the contents of Matroska elements by their identifiers, nested or not."""
    found = {}
    for id in ids:
        at = data.find(id)
        size = struct.unpack(">Q", data[at + len(id) : at + len(id) + 8])[0] & ((1 << 56) - 1)
        found[id] = data[at + len(id) + 8 : at + len(id) + 8 + size]
    return found


def test_a_video_of_ten_seconds_plays(view, tmp_path, browser):
    view.poses(1.0)
    view.page.keyboard.press("e")
    for name, value in (("Width", "160"), ("Height", "120")):
        view.page.get_by_label(name, exact=True).fill(value)
    assert view.page.get_by_label("To", exact=True).input_value() == "10"
    view.page.get_by_label("Pictures per second", exact=True).select_option("10")
    view.page.get_by_text("100 pictures, 10.0 s of video").wait_for()
    data = saved(view, "Save WebM", tmp_path / "a.webm")
    assert data[:4] == b"\x1a\x45\xdf\xa3" and b"webm" in data[:100]
    (duration,) = elements(data, [b"\x44\x89"]).values()
    assert struct.unpack(">d", duration) == (10_000.0,)
    assert view.state()["time"] == 1.0  # as before
    # A browser plays it: to its end, with pictures that differ, and from the middle.
    address = f"data:video/webm;base64,{b64encode(data).decode()}"
    context = browser.new_context()
    try:
        page = context.new_page()
        page.set_content(f'<video src="{address}" muted></video>')
        facts = page.evaluate(
            """async () => {
                const video = document.querySelector("video");
                const at = (time) => new Promise((done, failed) => {
                    video.onseeked = done; video.onerror = () => failed(video.error.message);
                    video.currentTime = time;
                });
                const sum = () => {
                    const canvas = document.createElement("canvas");
                    [canvas.width, canvas.height] = [160, 120];
                    const context = canvas.getContext("2d");
                    context.drawImage(video, 0, 0);
                    const { data } = context.getImageData(0, 0, 160, 120);
                    return data.reduce((a, b) => (a * 31 + b) % 1e9, 7);
                };
                await at(0.5); const first = sum();
                await at(5.0); const middle = sum();
                await at(9.0);
                video.playbackRate = 4;
                await new Promise((done, failed) => {
                    video.onended = done; video.onerror = () => failed(video.error.message);
                    video.play().catch(failed);
                });
                return { duration: video.duration, width: video.videoWidth,
                         height: video.videoHeight,
                         first, middle, end: video.currentTime };
            }"""
        )
    finally:
        context.close()
    assert facts["duration"] == pytest.approx(10.0, abs=0.05)
    assert (facts["width"], facts["height"]) == (160, 120)
    assert facts["first"] != facts["middle"]
    assert facts["end"] == pytest.approx(10.0, abs=0.1)


def test_a_video_is_cancelled_by_closing_the_dialog(view):
    view.page.keyboard.press("e")
    view.page.get_by_role("button", name="Save WebM").click()
    view.page.get_by_label("Progress", exact=True).wait_for()
    view.page.keyboard.press("Escape")
    view.page.locator("dialog").wait_for(state="detached")  # which tells the film to end
    frames = view.state()["frames"]
    view.page.keyboard.press("Space")
    view.until(lambda s: s["playing"] and s["frames"] > frames + 1)
