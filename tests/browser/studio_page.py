"""A real browser on a studio, and results to watch in it that need no engine."""

from contextlib import contextmanager

import numpy as np

from kinetarium.batch.study import open_study
from kinetarium.model.load import load_robot
from kinetarium.reach.maps.files import write_map
from kinetarium.reach.maps.recipe import MapKind, MapRecipe, field_shape
from kinetarium.recording.recording import Channel, Recording, Run, RunStatus
from kinetarium.recording.result_folder import ResultFolder
from kinetarium.scene.grasped_cube import PADS
from kinetarium.storage.serialization import to_builtins

SOFTWARE_WEBGL = [
    "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
SIZE = {"width": 1280, "height": 800}
CONCLUSION = "height <b>matters</b> most."


def write_runs(path, runs, *, varied=None):
    """Write a folder of runs; a finished sweep if it is known what was varied."""
    environment = {"versions": {}, "command": "", "seed": 0, "platform": "", "git_hash": ""}
    config = {"study": runs[0].study, "config": {}}
    if varied is not None:
        config["sweep"] = {}
    with ResultFolder.create(path, config=config, environment=environment) as folder:
        for position, run in enumerate(runs):
            folder.add(run, position)
        if varied is not None:
            folder.write_metrics({"sweep": {"varied": varied, "conclusion": CONCLUSION}})


def grasp_run(key, *, engine="mujoco", duration=4.0, rate=100.0, shift=0.0, facts=None):
    """A Panda that moves all its joints, with a cube and two forces."""
    time = np.arange(0.0, duration + 1e-9, 1 / rate)
    joints = load_robot("panda").moving_joints
    phase = np.arange(len(joints))
    q = 0.4 * np.sin(time[:, None] + phase) + np.linspace(0.0, -1.5, len(joints)) + shift
    cube = np.zeros((len(time), 1, 7))
    cube[:, 0, :4] = np.column_stack(
        [0.5 + 0.1 * np.sin(time), 0 * time, 0.3 + 0 * time, time * 0 + 1]
    )
    wrench = np.column_stack([np.cos(time), np.sin(time), 5 + time, *np.zeros((3, len(time)))])
    channels = {
        "time": Channel(time, "s"),
        "q": Channel(q, "rad or m", tuple(f"arm/{joint.name}" for joint in joints)),
        "poses": Channel(cube, "m, wxyz", ("cube",)),
        **{f"wrench/{pad}": Channel(wrench, "N, N m", tuple("abcdef")) for pad in PADS},
    }
    case = {
        "engine": engine, "path": "eight", "profile": "matched", "start": 0, "duration": duration,
        "timestep": 1e-3, "iterations": 0, "friction": 1.0, "seed": 0,
    }  # fmt: skip
    rows = ({"held_s": 4.0, "slip_m": 1e-4},)
    recording = Recording(channels, "running", facts or {})
    return Run(key, "grasp", case, RunStatus.COMPLETED, "", rows, recording)


def walk_run(key, **config):
    """A planned walk along a curve."""
    study = open_study("walk")
    (case,) = study.cases(study.config(type=("ttt2",), path=("curve",), **config))
    recording = study.run(case)
    return Run(key, "walk", to_builtins(case), RunStatus.COMPLETED, "", (), recording)


def ball_map(path, *, voxel=0.03):
    """A map of the Panda whose grades fall off from the middle of a ball."""
    panda = load_robot("panda")
    recipe = MapRecipe(
        MapKind.CAPABILITY, "panda", panda.source.sha256, panda.root, "panda_link8", voxel, 1.0, 50,
        0, True, 16,
    )  # fmt: skip
    count = field_shape(recipe)[0]
    axis = (np.arange(count) - count // 2) * voxel
    distance = np.sqrt(axis[:, None, None] ** 2 + axis[:, None] ** 2 + axis**2)
    share = np.clip(1.0 - distance / 0.85, 0.0, 1.0)
    fields = {
        "manipulability": (0.1 * share).astype("<f4"),
        "reachable": np.rint(50 * share).astype("<u2"),
    }
    write_map(path, recipe, fields=fields, units={"manipulability": "m^3", "reachable": "1"})


@contextmanager
def contexts(browser):
    """Yield what opens addresses, each as in a browser of its own, and close them all."""
    opened = []

    def open_page(address, *, wait=True, **options):
        settings = {"viewport": SIZE, "accept_downloads": True, **options}
        opened.append(browser.new_context(**settings))
        return Opened(opened[-1], address, wait=wait)

    try:
        yield open_page
    finally:
        for context in opened:
            context.close()


class Opened:
    """A page and what it asked for and complained of."""

    def __init__(self, context, address, *, wait=True):
        self.page = context.new_page()
        self.page.set_default_timeout(60_000)
        self.requests, self.complaints = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on(
            "console", lambda m: self.complaints.append(m.text) if m.type == "error" else None
        )
        # Without anything behind # there is the start page.
        plain = address.startswith("http") and "#" not in address
        self.page.goto(f"{address}#mode=runs" if plain else address)
        if wait:
            self.page.evaluate("window.kinetarium.ready")

    def state(self):
        return self.page.evaluate("window.kinetarium.state()")

    def until(self, condition):
        """Poll, as the page's policy forbids the evaluation inside wait_for_function."""
        for _ in range(600):
            state = self.state()
            if condition(state):
                return state
            self.page.wait_for_timeout(50)
        raise AssertionError(state)

    def poses(self, time):
        """Show a time and give the poses of all solids by replay."""
        self.page.evaluate("time => window.kinetarium.setTime(time)", time)
        return self.page.evaluate("window.kinetarium.frame().poses")

    def eye(self):
        """Return the matrix that takes points of the world to the picture."""
        return np.array(self.state()["eye"]).reshape(4, 4).T

    def drag(self, start, end):
        """Draw with the mouse from one point of the page to another."""
        self.page.mouse.move(*start)
        self.page.mouse.down()
        self.page.mouse.move(*end, steps=4)
        self.page.mouse.up()

    def changes(self, key):
        """Press a key, and give how many pixels of the stage are others then."""
        before = self.pixels()
        self.page.keyboard.press(key)
        self.page.wait_for_timeout(100)
        return int((np.abs(self.pixels() - before).max(axis=2) > 20).sum())

    def watch(self, folder, label, *, together=False):
        """Press a run's name, or the button that puts it beside others."""
        row = self.page.locator(".folder", has_text=folder).locator(".run", has_text=label)
        before = len(self.state()["replays"])
        row.locator(".add" if together else ".name").click()
        wanted = before + 1 if together else 1
        title = f"{folder} {label}"
        self.until(lambda s: len(s["replays"]) == wanted and title in s["replays"])

    def leave_focus(self):
        """Take the focus from a button that was pressed, so that Space plays."""
        self.page.evaluate("document.activeElement.blur()")

    def unfold_warnings(self):
        """Open the groups of warnings that are closed, being long."""
        for group in self.page.locator(".warnings details:not([open]) summary b").all():
            group.click()

    def pixels(self, selector=".stage canvas"):
        """Return a screenshot as an array of colours."""
        from io import BytesIO

        from PIL import Image

        shot = self.page.locator(selector).screenshot()
        return np.asarray(Image.open(BytesIO(shot)).convert("RGB")).astype(int)
