"""Studies started from the page, and the walk of the workshop in physics."""

import json
import tomllib
from dataclasses import fields

import pytest

from browser.studio_page import SIZE, SOFTWARE_WEBGL, Opened
from kinetarium.batch.study import open_study
from unit.studio_server import running_studio

pytestmark = pytest.mark.browser

FLAGS = SOFTWARE_WEBGL


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def studio(root):
    with running_studio(root) as studio:
        yield studio


@pytest.fixture
def view(browser, studio):
    context = browser.new_context(viewport=SIZE)
    view = Opened(context, studio.address)
    yield view
    complaints = list(view.complaints)
    context.close()
    assert complaints == []


def write(view, field, text):
    view.page.locator(f"[data-field={field}] input").first.fill(text)


def newest(view, state):
    """Wait until the study that was started last is in some state."""
    for _ in range(8):  # on a busy machine a report takes a minute
        try:
            return view.until(lambda s: s["jobs"] and s["jobs"][0]["state"] == state)["jobs"][0]
        except AssertionError:
            continue
    raise AssertionError(view.state()["jobs"])


def test_a_study_is_started_from_its_form_and_its_runs_appear(view, root):
    view.page.click("[data-mode=studies]")
    state = view.until(lambda s: s.get("studies"))
    assert {"drop", "grasp", "walk", "dock"} <= set(state["studies"])
    view.page.click("[data-study=drop]")
    height = view.page.locator("[data-field=height]")
    assert "m" in height.locator("i").inner_text() and "Range" in height.inner_text()
    # All fields of the config are there, with their defaults.
    config = open_study("drop").config()
    names = [field.name for field in fields(config)]
    rows = view.page.locator("[data-field]")
    assert {row.get_attribute("data-field") for row in rows.all()} >= set(names)
    for name in ("height", "duration", "mass", "timestep"):
        given = view.page.locator(f"[data-field={name}] input").first.input_value()
        assert float(given) == getattr(config, name), name
    write(view, "engine", "mujoco")
    write(view, "height", "-3")
    view.page.click("[data-start=drop]")
    assert "height: -3 is outside" in view.page.locator("[role=alert]:visible").inner_text()
    assert not (root / "drop").exists()
    write(view, "height", "0.05")
    write(view, "duration", "0.25")
    view.page.click("[data-start=drop]")
    done = newest(view, "done")
    assert done["folder"] == "drop" and "rests" in done["message"]
    assert json.loads((root / "drop" / "metrics.json").read_bytes())["rows"][0]["height"] == 0.05
    view.page.click("text=Show runs")
    view.until(lambda s: s["mode"] == "runs" and s["runs"] == 1)


def test_a_study_shows_its_progress_and_is_cancelled(view):
    view.page.click("[data-mode=studies]")
    view.until(lambda s: s.get("study"))
    view.page.click("[data-study=drop]")
    write(view, "engine", "mujoco bullet")
    write(view, "duration", "900")
    view.page.click("[data-start=drop]")
    view.until(lambda s: s["jobs"][0]["state"] == "running" and s["jobs"][0]["total"] == 2)
    job = view.page.locator(".job").first
    assert job.locator("progress").is_visible()
    job.locator("button", has_text="Cancel").click()
    newest(view, "cancelled")


def test_the_walk_of_the_workshop_is_started_in_physics(view, studio, root):
    view.page.click("[data-mode=walking]")
    view.until(lambda s: s.get("plan") and not s["busy"])
    stride = view.state()["plan"]["stride"]
    view.page.click("[data-start=walk]")
    for _ in range(200):
        if jobs := [job for job in studio.server.studies.jobs() if job["study"] == "walk"]:
            break
        view.page.wait_for_timeout(100)
    view.page.locator(".job", has_text="walk").first.wait_for()
    for _ in range(1200):
        if (root / "walk" / "config.toml").is_file():
            break
        view.page.wait_for_timeout(100)
        jobs = [job for job in studio.server.studies.jobs() if job["study"] == "walk"]
        assert jobs[0]["state"] in ("running", "done"), jobs
    config = tomllib.loads((root / "walk" / "config.toml").read_text())["config"]
    assert config["engine"] == ["mujoco"] and config["stride"] == [stride]
    # The path and the robot of the workshop.
    assert json.loads((root / config["path"][0]).read_text()) == view.state()["plan"]["waypoints"]
    assert (root / config["machine"]).is_file()
    if jobs[0]["state"] == "running":
        view.page.locator(".job", has_text="walk").locator("button", has_text="Cancel").click()
