"""How fast the studio draws without a graphics card: `python -m benchmarks.studio_page DIR`.

For the first run of each folder below DIR, for two of them together and for all that with a
map around it, and for a walk in the workshop: frames drawn per second of playing, and CPU time
of all of the browser's processes per frame, which other work on the machine disturbs less. And
how long the workshop takes from the move of a way-point to the new walk on the stage.
"""

import asyncio
import os
import shutil
import sys
import threading
from pathlib import Path
from statistics import median
from time import monotonic

from playwright.sync_api import Page, sync_playwright
from rich.console import Console
from rich.table import Table

from kinetarium.studio.serve import StudioServer

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
PLAYED = 5.0
"""How long each scene is played [s]."""
MOVES = 20
"""Moves of a way-point that are timed."""


def main(folder: Path) -> None:
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        sys.exit(f"needs a browser on the path: {' or '.join(BROWSERS)}")
    server = StudioServer(folder)
    threading.Thread(target=lambda: asyncio.run(server.run()), daemon=True).start()
    table = Table("scene", "frames/s", "CPU ms a frame", title="1280 x 800, software WebGL")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        begin = monotonic()
        page.goto(server.address)
        page.evaluate("window.kinetarium.ready")
        table.caption = f"ready after {monotonic() - begin:.1f} s"
        for rows in page.locator(".folder").all():
            first = rows.locator(".run[data-status=completed]").first
            if first.count():
                first.locator(".name").click()
                table.add_row(*played(page, 1))
                others = rows.locator(".run[data-status=completed]:not([data-open])")
                if others.count():
                    others.first.locator(".add").click()
                    table.add_row(*played(page, 2))
        if page.get_by_label("Map").count():
            page.get_by_label("Map").select_option(index=1)
            page.wait_for_timeout(2000)
            name, *figures = played(page, 1)
            table.add_row(f"{name}, and a map", *figures)
        page.click("[data-mode=walking]")
        page.wait_for_selector(".gait")
        name, *figures = played(page, 1)
        table.add_row(f"workshop, {name}", *figures)
        latencies = moved(page)
        browser.close()
    server.stop()
    Console(width=120).print(table)
    print(
        f"A way-point moves, and the new walk is drawn after {median(latencies):.0f} ms"
        f" (median of {len(latencies)}, at most {max(latencies):.0f} ms)."
    )


def moved(page: Page) -> list[float]:
    """Drag the last way-point about, and give how long each move takes to be drawn [ms]."""
    state = page.evaluate("window.kinetarium.state()")
    stage = page.locator(".stage canvas").bounding_box()
    assert stage
    # The picture of the way-point; the matrix is written column by column.
    x, y = state["waypoints"][-1]
    u, v, w = (
        sum(state["eye"][row::4][i] * c for i, c in enumerate((x, y, 0, 1))) for row in (0, 1, 3)
    )
    start = (
        stage["x"] + (u / w + 1) / 2 * stage["width"],
        stage["y"] + (1 - v / w) / 2 * stage["height"],
    )
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + 8, start[1])
    page.wait_for_timeout(1000)
    latencies = []
    for move in range(MOVES):
        before = page.evaluate("window.kinetarium.state().plans")
        begin = monotonic()
        page.mouse.move(start[0] + 10 + 2 * move, start[1] - move)
        page.evaluate(DRAWN, before)
        latencies.append((monotonic() - begin) * 1e3)
    page.mouse.up()
    return latencies


DRAWN = """async (before) => {
  const { kinetarium } = window;
  const frame = () => new Promise(requestAnimationFrame);
  while (kinetarium.state().plans <= before || kinetarium.state().busy) await frame();
  await kinetarium.setTime(kinetarium.state().time);
}"""
"""Done when another plan than before is on the stage, and drawn."""


def played(page: Page, replays: int) -> tuple[str, str, str]:
    """Play what is on the stage, once that many replays are there."""
    while len(page.evaluate("window.kinetarium.state().replays")) < replays:
        page.wait_for_timeout(100)
    page.wait_for_timeout(1000)
    state, cpu, begin = page.evaluate("window.kinetarium.state()"), cpu_time(), monotonic()
    page.keyboard.press("Space")
    page.wait_for_timeout(PLAYED * 1000)
    frames = page.evaluate("window.kinetarium.state().frames") - state["frames"]
    passed, used = monotonic() - begin, cpu_time() - cpu
    page.keyboard.press("Space")
    return (
        ", ".join(state["replays"]),
        f"{frames / passed:.1f}",
        f"{used / max(frames, 1) * 1e3:.0f}",
    )


def cpu_time() -> float:
    """Return the CPU time of all browser processes below this one [s] (proc(5), stat)."""
    ticks = 0
    below = {os.getpid()}
    stats = [path.read_text() for path in Path("/proc").glob("[0-9]*/stat")]
    for text in sorted(stats, key=lambda text: int(text.split(" ", 1)[0])):
        process, _, rest = text.partition(" (")
        name, _, fields = rest.rpartition(") ")
        parent = int(fields.split()[1])
        if parent in below:
            below.add(int(process))
            if "chrom" in name:
                ticks += sum(map(int, fields.split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
