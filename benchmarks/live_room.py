"""How soon a live room answers the mouse: `python -m benchmarks.live_room [ENGINE ...]`.

The hand of a Panda is pulled in a circle by the mouse, in each engine in turn, in Chromium without
a graphics card: how long until the picture has what the mouse did, updates a second, frames that
were lost or came out of order, simulated over real time, and by how much the engine's process and
the page have grown since the first third. Needs an otherwise idle machine; `--seconds 600` shows
that nothing grows in ten minutes.
"""

import argparse
import asyncio
import shutil
import sys
import threading
from math import cos, sin
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from playwright.sync_api import CDPSession, Page, sync_playwright
from rich.console import Console
from rich.table import Table

from benchmarks.studio_page import BROWSERS, FLAGS
from kinetarium.batch.worker_main import process_usage
from kinetarium.studio.serve import StudioServer

ENGINES = ("mujoco", "bullet", "drake")
HAND = "robot/panda_hand"
EVERY = 0.04
"""Time between two moves of the mouse [s]."""
RADIUS = 60
"""Of the circle that the mouse draws [px]."""
PATIENCE = 120.0
"""How long a room may take to open [s]."""


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engines", nargs="*", default=ENGINES, metavar="ENGINE")
    parser.add_argument("--seconds", type=float, default=20.0, help="pulled in each engine [s]")
    asked = parser.parse_args(words)
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        sys.exit(f"needs a browser on the path: {' or '.join(BROWSERS)}")
    table = Table(
        "engine", "median ms", "95 % ms", "updates/s", "lost", "disordered", "x real time",
        "engine grows MB", "page grows MB", title=f"{asked.seconds:.0f} s each, 1280 x 800",
    )  # fmt: skip
    with TemporaryDirectory() as folder, sync_playwright() as driver:
        server = StudioServer(Path(folder))
        threading.Thread(target=lambda: asyncio.run(server.run()), daemon=True).start()
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        for engine in asked.engines:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            errors: list[str] = []
            page.on("pageerror", lambda error, errors=errors: errors.append(str(error)))
            page.goto(f"{server.address}#mode=live")
            page.evaluate("window.kinetarium.ready")
            opened(page, "mujoco")
            if engine != "mujoco":
                page.get_by_label("Engine", exact=True).select_option(engine)
                opened(page, engine)
            table.add_row(engine, *pulled(page, server, asked.seconds))
            page.close()
            if errors:
                sys.exit(f"{engine}: {errors[0]}")
        browser.close()
        server.stop()
    Console(width=120).print(table)


def room(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate("window.kinetarium.state().room ?? {}")
    return found


def opened(page: Page, engine: str) -> None:
    """Wait until a room with a Panda is open in an engine, and moves."""
    end = monotonic() + PATIENCE
    while monotonic() < end:
        now = room(page)
        if now.get("engines") == [engine] and not now["busy"] and now["time"] > 0.2:
            return
        if now.get("trouble"):
            sys.exit(f"{engine}: {now['trouble']}")
        page.wait_for_timeout(100)
    sys.exit(f"{engine} did not open a room in {PATIENCE:.0f} s")


def pulled(page: Page, server: StudioServer, seconds: float) -> tuple[str, ...]:
    """Pull the hand in a circle, and return what a row of the table says."""
    x, y = place(page)
    session = page.context.new_cdp_session(page)
    page.mouse.move(x, y)
    page.mouse.down()
    begin, factors, memory = monotonic(), [], []
    before = room(page)["counts"]
    told = begin
    while (passed := monotonic() - begin) < seconds:
        angle = 2.0 * passed
        page.mouse.move(x + RADIUS * sin(angle), y - RADIUS * (1 - cos(angle)))
        page.wait_for_timeout(1e3 * EVERY)
        if monotonic() < told + 2.0:
            continue
        told = monotonic()
        factors.append(room(page)["pace"]["factor"])
        if not memory and passed > seconds / 3:
            memory.append(used(session, server))
    memory.append(used(session, server))
    now = room(page)
    page.mouse.up()
    waits, counts = now["waits"], now["counts"]  # the last 200 pulls
    growth = [(last - first) / 1e6 for first, last in zip(memory[0], memory[-1], strict=True)]
    return (
        f"{median(waits):.0f}",
        f"{quantiles(waits, n=20)[-1]:.0f}",
        f"{(counts['frames'] - before['frames']) / seconds:.1f}",
        str(counts["lost"]),
        str(counts["disordered"]),
        f"{median(factors):.2f}",
        *(f"{each:+.1f}" for each in growth),
    )


def place(page: Page) -> tuple[float, float]:
    """Return where the middle of the hand is on the page [px]."""
    state = page.evaluate("window.kinetarium.state()")
    box = page.locator(".stage canvas").bounding_box()
    assert box
    x, y, z = state["room"]["poses"][HAND][:3]
    # The hand hangs down from its frame; the matrix is written column by column.
    u, v, w = (
        sum(state["eye"][row::4][i] * c for i, c in enumerate((x, y, z - 0.04, 1)))
        for row in (0, 1, 3)
    )
    return box["x"] + (u / w + 1) / 2 * box["width"], box["y"] + (1 - v / w) / 2 * box["height"]


def used(session: CDPSession, server: StudioServer) -> tuple[int, int]:
    """Return the memory of the engine's process, and of the page without its garbage [bytes]."""
    session.send("HeapProfiler.collectGarbage")
    session.send("Performance.enable")
    metrics = session.send("Performance.getMetrics")["metrics"]
    heap = next(each["value"] for each in metrics if each["name"] == "JSHeapUsedSize")
    (live,) = server.rooms.open
    return sum(process_usage(each).resident for each in live.processes), int(heap)


if __name__ == "__main__":
    main(sys.argv[1:])
