"""The commands and the code of README and docs run as they are printed, in short forms.

A page runs from top to bottom in a folder of its own, with the files that it speaks of. The short
form of a study is the first of its cases; folders and reports are those of the page.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from docs.test_text import FENCE, INDENTED, INLINE, PAGES, ROOT, command_lines, complaint, words_of
from kinetarium.batch.plan import Plan
from kinetarium.cli import main
from kinetarium.cli.core.registry import studies
from kinetarium.model.assets import installed_packages

pytestmark = pytest.mark.engine
ELSEWHERE = {
    "studio": "tests/cli/test_studio.py",  # serves until it is stopped
    "dock-serve": "tests/unit/test_dock_serve.py",
    "league": "tests/cli/test_league.py",  # installs packages
    "conformance": "tests/conformance/test_kit.py",
    "swing": "tests/unit/test_check_study.py",
    "completion": "tests/cli/test_completion.py",
    "compare-engines": "tests/cli/test_compare_engines.py",
}
"""Commands that other tests run."""
BLOCKS_ELSEWHERE = {
    "docs/cluster.md": "tests/hostile/test_cluster.py",
    "docs/add-a-study.md": "tests/unit/test_check_study.py",
    "docs/add-an-engine.md": "tests/unit/test_own_engine.py",
    "docs/conformance.md": "tests/engines/test_newton.py",
    "docs/league.md": "tests/cli/test_league.py",
    "docs/studio.md": "tests/browser/test_notebook.py",
}
"""Pages whose code, or whose commands for clusters, other tests run."""
LONG = {
    "docs/commands.md", "docs/docking.md", "docs/follow.md", "docs/papers.md", "docs/pick.md",
    "docs/walking.md", "dock/README.md", "grasp/README.md", "walk/README.md",
}  # fmt: skip
"""Pages that take minutes: docking, picking, following and walking in physics."""
ROBOTS = {
    "panda.urdf": (
        "my_robot.urdf",
        "my_arm.urdf",
        "my.urdf",
        "my_other.urdf",
        "robot.urdf",
        "robots/my_robot.urdf",
    ),
    "husky4.urdf": ("my_base.urdf",),
}
"""Robots of the catalogue, and the files of the user whose place they take."""
PLACEHOLDERS = {"ROBOT": "my_robot.urdf", "FILE": "my_robot.urdf"}
PLACEHOLDER = re.compile(r"(?<![\w$-])(?!(?<=--out )DIR\b)[A-Z]{1,8}\b|\.\.\.")
SHORT = {
    "reach build": ("--voxel", "0.2", "--poses", "2"),
    "reach compare": ("--sets", "1"),
    "dock-mission": ("--distance", "15"),
}
"""Flags of short forms, by command."""
CODES = {"compare": {0, 1}, "inspect arm.urdf": {2}, "inspect": {0, 1}}
"""Exit codes that are answers: folders that differ, a file with faults, repairs under --strict."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that pages speak of, and studies of one case."""
    whole = Plan.varied_tasks
    monkeypatch.setattr(Plan, "varied_tasks", lambda plan: whole(plan)[:1])
    monkeypatch.chdir(tmp_path)
    packages = installed_packages()
    monkeypatch.setenv("D", str(packages["pybullet_data"]))
    monkeypatch.setenv("E", str(packages["example-robot-data"] / "robots"))
    for robot, names in ROBOTS.items():
        for name in names:
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_bytes((files("kinetarium") / "robots" / robot).read_bytes())
    Path("meshes").mkdir()
    shutil.copytree(ROOT / "examples", "examples", ignore=shutil.ignore_patterns("*.ipynb"))
    poses = json.loads(Path("examples/04_poses.json").read_text(encoding="utf-8"))
    Path("pose.json").write_text(json.dumps(poses[0]), encoding="utf-8")
    line = [{"position": [0.55, 0.1 * i, 0.4], "quaternion_wxyz": [0, 1, 0, 0]} for i in range(8)]
    path = {"times": [0.5 * i for i in range(8)], "poses": line}
    Path("path.json").write_text(json.dumps(path), encoding="utf-8")
    for name in ("plan.toml", "sweep.toml"):
        Path(name).write_text('study = "drop"\n[grid]\nmass = [1.0, 2.0]\n', encoding="utf-8")
    Path("poses.json").write_text(json.dumps(poses), encoding="utf-8")
    faulty = re.search(
        r'URDF = """(.*?)"""', Path("examples/12_faults_of_a_file.py").read_text("utf-8"), re.DOTALL
    )
    assert faulty
    Path("arm.urdf").write_text(faulty[1], encoding="utf-8")
    for name, end in {"way": 1000, "metre": 100, "short": 32}.items():
        Path(f"{name}.csv").write_text(f"0,0\n{end},0\n", encoding="utf-8")
    Path("points.csv").write_text("0,0\n0.1,0\n0.1,0.1\n", encoding="utf-8")
    heights = np.random.default_rng(0).integers(0, 255, (40, 40)).astype(np.uint8)
    Image.fromarray(heights).save("heights.png")
    return tmp_path


def items(text: str) -> Iterator[tuple[str, str]]:
    """Yield what a page prints to be run, in its order: kind and text."""
    at = 0
    for fence in FENCE.finditer(text):
        yield from (("command", line) for line in _printed(text[at : fence.start()]))
        if fence[1] in ("python", "toml"):
            yield fence[1], fence[2]
        else:
            yield from (("command", line) for line, _ in command_lines(fence[0]))
        at = fence.end()
    yield from (("command", line) for line in _printed(text[at:]))


def _printed(prose: str) -> Iterator[str]:
    """Yield the commands within sentences and tables that are more than a mention."""
    yield from (block.replace("\\\n", " ").strip() for block in INDENTED.findall(prose))
    for code in INLINE.findall(prose):
        if code.startswith("kinetarium ") and not PLACEHOLDER.search(code):
            command, *rest = words_of(code)
            values = [word for word in rest if not word.startswith("-")]
            if values[command == "reach" :] and not complaint(code, True):
                yield code


def run_command(line: str) -> None:
    """Run a printed command, as a shell would."""
    words: list[str] = []
    for word in words_of(line):
        own = "out/" + "-".join(words[:2]) if word == "DIR" else word
        word = os.path.expandvars(PLACEHOLDERS.get(word, own))
        words += sorted(map(str, Path().glob(word))) if "*" in word else [word]
    if words[0] in ELSEWHERE or "--help" in words:
        return
    text = " ".join(words)
    flags = [flags for start, flags in SHORT.items() if text.startswith(start)]
    flags += [("--states", "5")] if "--states" in words else []
    flags += [("--workers", "0")] if words[0] in studies() else []
    for each in flags:
        words = _with_flags(words, each)
    codes = next((codes for start, codes in CODES.items() if text.startswith(start)), {0})
    assert main(words) in codes, line


def _with_flags(words: list[str], flags: Sequence[str]) -> list[str]:
    """Return a command with other values of some flags."""
    for flag in (flag for flag in flags if flag.startswith("--") and flag in words):
        at = words.index(flag)
        taken = next((n for n, word in enumerate(words[at + 1 :]) if word.startswith("--")), None)
        words = words[:at] + (words[at + 1 + taken :] if taken is not None else [])
    return [*words, *flags]


def marked_pages() -> Iterator[Any]:
    """Yield the pages that have something to run, long ones marked as slow."""
    for page in PAGES:
        name = str(page.relative_to(ROOT))
        if any(items(page.read_text(encoding="utf-8"))) and name != "docs/cluster.md":
            slow = name.endswith(tuple(LONG))
            yield pytest.param(page, id=name, marks=pytest.mark.slow if slow else ())


@pytest.mark.parametrize("page", list(marked_pages()))
def test_a_page_runs(page: Path, folder: Path) -> None:
    space: dict[str, object] = {"__name__": "page"}
    for kind, text in items(page.read_text(encoding="utf-8")):
        if kind == "command":
            run_command(text)
        elif kind == "toml":
            if name := re.match(r"# (\S+\.toml)\n", text):
                Path(name[1]).write_text(text, encoding="utf-8")
        elif str(page.relative_to(ROOT)) not in BLOCKS_ELSEWHERE:
            exec(compile(text, page.name, "exec"), space)


def test_what_is_run_elsewhere_is_run() -> None:
    for command, test in ELSEWHERE.items():
        name = command.replace("-", "[-_]")
        assert re.search(name, (ROOT / test).read_text(encoding="utf-8"), re.IGNORECASE)
    assert all((ROOT / test).is_file() for test in BLOCKS_ELSEWHERE.values())
