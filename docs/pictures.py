"""Make the pictures of the studio: `python docs/pictures.py --draw [NAME ...]`, needs Chromium.

Each is a screenshot of the page, which a link brings into its state. What it shows is computed by
public commands into `out/pictures`, and kept there for the next time.
"""

import asyncio
import base64
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from operator import mul
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qsl, urlencode

from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from kinetarium.studio.results import ResultTree
from kinetarium.studio.serve import StudioServer

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
RESULTS = ROOT / "out" / "pictures"
COMMANDS = {
    "dock": "dock --engine mujoco --case A --preset recommended",
    "drive": "drive --engine mujoco physx --path eight --control open --starts 1",
    "grasp": "grasp --engine mujoco bullet --path circle --profile matched --starts 1",
    "panda.rmap": "reach build --robot panda --kind capability --poses 20",
    "pick": "pick --engine mujoco --scenes 1",
    "walk": "walk --type ttt2 --path curve",
}
"""What computes the results, by their folder."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
DESK: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}
MOST = 120_000
"""Largest picture [bytes]."""


@dataclass(frozen=True, slots=True)
class Shot:
    """What is on a picture.

    Attributes:
        mode: The mode of the page.
        view: What a link says of it beside its mode and runs, such as camera and time.
        runs: The runs, each its folder and its label.
        act: What a visitor does then.
        size: The size of the page [px].
        dark: Whether its theme is dark.
    """

    mode: str
    view: str = ""
    runs: tuple[str, ...] = ()
    act: Callable[[Page], None] | None = None
    size: ViewportSize = field(default_factory=lambda: DESK)
    dark: bool = False


def clicks(*selectors: str) -> Callable[[Page], None]:
    """Return what clicks one thing after the other."""

    def act(page: Page) -> None:
        for selector in selectors:
            page.locator(selector).first.click()

    return act


def walk(*waypoints: tuple[float, float], kinds: tuple[str, ...] = ("ttt2",), **plan: Any) -> str:
    """Return a plan of the workshop as links say it; its other fields are the defaults."""
    draft = {"plan": {"waypoints": waypoints, **plan}, "kinds": kinds}
    return urlencode({"walk": base64.b64encode(json.dumps(draft).encode())})


def export(page: Page) -> None:
    """Save the walk as a standalone page, and open that."""
    page.click("[data-menu=Files]")
    with TemporaryDirectory() as folder:
        with page.expect_download() as download:
            page.click("[data-save='walk.html']")
        download.value.save_as(file := Path(folder) / "walk.html")
        page.goto(file.as_uri())
        page.evaluate("window.kinetarium.ready")


def pull(page: Page) -> None:
    """Open a second engine beside the first, drop a box, and pull the hand of the robot."""
    page.select_option("[aria-label='Beside it']", "bullet")
    page.click("[data-object=box]")
    page.locator("td", has_text="object 1").wait_for()
    for _ in range(3):
        page.keyboard.press("+")
    page.wait_for_timeout(2000)  # until the box lies still
    state = page.evaluate("window.kinetarium.state()")
    stage = page.locator(".stage canvas").bounding_box()
    assert stage
    hand = (*state["room"]["poses"]["robot/panda_hand"][:3], 1)
    # The matrix is written column by column; the first engine has the left half of the stage.
    u, v, w = (sum(map(mul, state["eye"][row::4], hand)) for row in (0, 1, 3))
    x = stage["x"] + (u / w + 1) / 2 * stage["width"] / 2
    y = stage["y"] + (1 - v / w) / 2 * stage["height"]
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 50, y - 70, steps=20)
    page.wait_for_timeout(3000)  # until the arms stand still


AT_ARM = "camera=p,1.35,-1.35,1.05,0.2,0,0.45,1"
AT_WALK = "camera=p,2.35,-1.99,1.46,0.6,-0.05,0.15,1"
AHEAD = ((0, 0), (128, 0))
CURVE = ((0, 0), (135, 20), (265, 80), (360, 180))
STEPS = [
    {"x0": 35, "x1": 120, "y0": -99, "y1": 99, "height": 2},
    {"x0": 65, "x1": 95, "y0": -99, "y1": 99, "height": 4},
]
UNSTABLE = walk(*AHEAD, order=(2, 1, 4, 3))
SHOTS = {
    "studio-ghosts": Shot("runs", f"time=4&{AT_ARM}", ("grasp mujoco", "grasp bullet")),
    "studio-side-by-side": Shot(
        "runs",
        f"time=2.5&style=hidden-line&arrangement=beside&hide=trails&{AT_ARM}",
        ("grasp mujoco", "grasp bullet"),
        clicks("button.fold[data-side=right]"),
    ),
    "studio-drive": Shot(
        "runs",
        "time=12&channel=v&channel=poses&camera=p,6.3,-6.9,4.9,0.5,-0.7,0,1",
        ("drive mujoco", "drive physx"),
        dark=True,
    ),
    "studio-dock": Shot(
        "runs",
        "time=4&channel=sensed&channel=impulse&camera=p,7,-5.9,4.6,2.1,0,1.05,1",
        ("dock mujoco",),
    ),
    "studio-walk-replay": Shot(
        "runs",
        "time=40&channel=margin&channel=feet&camera=p,2.4,-2,1.4,0.8,0.05,0.25,1",
        ("walk curve",),
    ),
    "studio-pick": Shot(
        "runs",
        "time=34.9&channel=contacts&channel=poses&camera=p,-1.7,-2.2,1.9,0.15,-0.4,0.55,1",
        ("pick mujoco",),
    ),
    "studio-phone": Shot(
        "runs", "time=9&camera=p,5.2,-5.6,3.8,0.3,-0.5,0,1", ("drive mujoco",), None, PHONE, True
    ),
    "studio-map": Shot("maps", "cuts=0,1,0.56,1,0,1,0&camera=p,1.5,-2.9,1.7,0.05,0,0.3,1"),
    "studio-live": Shot("live", act=pull),
    "walking-workshop": Shot(
        "walking", f"{walk(*AHEAD)}&time=9.45&{AT_WALK}", act=clicks("[data-menu=Gait]")
    ),
    "walking-path": Shot(
        "walking", f"{walk(*CURVE)}&time=50", act=clicks("[data-menu=Path]", "text=plan view")
    ),
    "walking-warnings": Shot(
        "walking",
        f"{UNSTABLE}&time=4.75&{AT_WALK}",
        act=clicks("[data-menu=Gait]", "[data-group=stability] summary b"),
    ),
    "walking-modeller": Shot(
        "walking",
        f"{walk(*AHEAD)}&time=9.45",
        act=clicks("text=support", ".links summary", "text=one leg"),
    ),
    "walking-three": Shot(
        "walking",
        f"{walk(*AHEAD, kinds=('ttt1', 'ttt2', 'ttr'))}&time=13.5&{AT_WALK}",
        act=clicks("text=TTR ⚠"),
    ),
    "walking-ground": Shot(
        "walking",
        f"{walk(*AHEAD, terrain={'steps': STEPS})}&time=14.3&style=hidden-line"
        "&camera=p,2.56,-2.19,1.62,0.6,-0.05,0.15,1",
        act=clicks("[data-menu=Ground]"),
    ),
    "walking-exported": Shot("walking", f"{UNSTABLE}&time=4.75&{AT_WALK}", act=export, dark=True),
}
"""All pictures, by name."""


def compute() -> None:
    """Compute the results; those that this version has computed already are kept."""
    for name, words in COMMANDS.items():
        folder = RESULTS / name
        command = [sys.executable, "-m", "kinetarium", *words.split(), "--out", str(folder)]
        if subprocess.run([*command, "--quiet"]).returncode:
            shutil.rmtree(folder, ignore_errors=True)  # of another version
            subprocess.run([*command, "--quiet"], check=True)


@contextmanager
def studio() -> Iterator[str]:
    """Serve the results, and yield the address."""
    server = StudioServer(RESULTS)
    thread = threading.Thread(target=lambda: asyncio.run(server.run()))
    thread.start()
    try:
        yield server.address
    finally:
        server.stop()
        thread.join()


def link(shot: Shot) -> str:
    """Return what the address has behind # to show a shot."""
    listing = ResultTree(RESULTS).listing()
    ids = {
        f"{folder['name']} {run['label']}": f"{folder['id']}/{run['key']}"
        for folder in listing["folders"]
        for run in folder["runs"]
    }
    maps = [entry["id"] for entry in listing["maps"]] if shot.mode == "maps" else []
    named = {"mode": shot.mode, "run": [ids[name] for name in shot.runs], "map": maps}
    return f"{urlencode(named, doseq=True)}&{shot.view}"


def take(browser: Browser, address: str, shot: Shot) -> bytes:
    """Return a screenshot (PNG)."""
    page = browser.new_page(viewport=shot.size, color_scheme="dark" if shot.dark else "light")
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{address}#{link(shot)}")
    page.evaluate("window.kinetarium.ready")
    if shot.act:
        shot.act(page)
    page.wait_for_load_state("networkidle")
    if time := dict(parse_qsl(shot.view)).get("time"):
        page.evaluate("time => window.kinetarium.setTime(time)", float(time))
    page.wait_for_timeout(1000)  # plots are drawn a little later
    errors += page.locator("[role=alert]:visible, .notice[data-kind=error]").all_inner_texts()
    if errors:
        sys.exit(f"the page says: {'; '.join(errors)}")
    picture = page.screenshot()
    page.close()
    return picture


def draw(names: list[str]) -> None:
    """Take pictures and keep them."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        sys.exit(f"needs a browser on the path: {' or '.join(BROWSERS)}")
    if not all(SHOTS[name].mode in ("walking", "live") for name in names):
        compute()
    with studio() as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        for name in names:
            image = Image.open(BytesIO(take(browser, address, SHOTS[name])))
            file = PICTURES / f"{name}.webp"
            # Without loss, as drawings and text are smaller then.
            image.convert("RGB").save(file, lossless=True, quality=100, method=6)
            print(f"{file.relative_to(ROOT)}: {file.stat().st_size / 1000:.0f} kB")
            assert file.stat().st_size < MOST
        browser.close()


if __name__ == "__main__":
    if "--draw" in sys.argv:
        chosen = [word for word in sys.argv[1:] if not word.startswith("-")]
        if unknown := set(chosen) - SHOTS.keys():
            sys.exit(f"no picture {' '.join(unknown)}; there are {' '.join(SHOTS)}")
        draw(chosen or list(SHOTS))
