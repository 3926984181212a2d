"""`kinetarium compare-engines`: grasping and driving on all engines, and a rating of them."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import tyro

from kinetarium.cli.core.execution import (
    ExecutionFlags,
    essential_command,
    execute,
    free_folder,
)
from kinetarium.cli.core.invocation import Invocation
from kinetarium.ranges import Range, Seed

_FULL: dict[str, dict[str, Any]] = {
    "grasp": {"profile": ["defaults", "matched", "tuned"], "release": True},
    "grasp-effort": {
        "study": "grasp",
        "profile": ["matched"],
        "path": ["circle"],
        "timestep": [0.0005, 0.001, 0.002],
        "iterations": [0, 5, 20, 200],
        "starts": 1,
    },
    "grasp-friction": {
        "study": "grasp",
        "profile": ["matched"],
        "path": ["circle"],
        "friction": [0.03, 0.07, 0.15, 0.3, 0.6, 1.2],
        "starts": 1,
    },
    "drive": {"robot": ["husky4", "husky2"], "profile": ["matched"]},
    "drive-profiles": {"study": "drive", "profile": ["defaults", "tuned"], "starts": 1},
    "drive-effort": {
        "study": "drive",
        "control": ["open"],
        "path": ["circle"],
        "timestep": [0.001, 0.002, 0.005, 0.01],
        "iterations": [0, 5, 20, 80],
        "starts": 1,
    },
    "drive-friction": {
        "study": "drive",
        "control": ["open"],
        "path": ["circle"],
        "friction": [0.25, 0.5, 1.0, 2.0],
        "starts": 1,
    },
    "calibrate": {},
}
"""The full comparison: studies by folder, with the values that differ from their defaults."""

_QUICK: dict[str, dict[str, Any]] = {
    "grasp": {"profile": ["matched"], "path": ["circle"], "duration": 2.0, "starts": 1},
    "drive": {"profile": ["matched"], "path": ["circle"], "control": ["open"], "starts": 1},
}
"""The short form."""


@dataclass(frozen=True, kw_only=True)
class Config(ExecutionFlags):
    """The engines to compare.

    Attributes:
        engine: Engines to compare; all available ones by default.
        starts: Runs per case, from displaced initial positions [-].
        quick: Short form of about a minute: one path, one start, a part of the duration.
        seed: Seed of all random numbers.
        out: Output folder, with a subfolder for each study; a new folder in ./out by default.
            The same command resumes an interrupted comparison.
    """

    engine: tuple[str, ...] = ()
    starts: Annotated[int, Range(1, 1000, unit="-")] = 5
    quick: bool = False
    seed: Seed = 0
    out: Annotated[str, tyro.conf.arg(metavar="DIR")] = ""


def run(config: Config, invocation: Invocation) -> None:
    """Run every study into its folder, then rate the engines by purpose."""
    from kinetarium.report.html.files import check_page
    from kinetarium.storage.atomic import FolderLock, check_folder, remove_leftovers

    out = Path(config.out) if config.out else free_folder("compare-engines")
    plans = _plans(config)
    check_folder(out, ours="|".join([*plans, r"report\.html", "figures"]))
    check_page(out, force=invocation.force)
    lock = FolderLock(out)
    try:
        remove_leftovers(out)  # of a killed process
        _compare(plans, config, invocation=invocation, out=out)
    finally:
        lock.release()


def _compare(plans: dict[str, Any], config: Config, *, invocation: Invocation, out: Path) -> None:
    from kinetarium.batch.plan import versions
    from kinetarium.recording.result_folder import ResultFolder
    from kinetarium.report.html.files import write_page
    from kinetarium.studies.engine_guide.page import engine_guide, headline

    for number, (name, plan) in enumerate(plans.items(), start=1):
        invocation.console.note(f"part {number} of {len(plans)}: {name}")
        execute(plan, invocation, out=out / name, flags=config)
        invocation.console.line()
    parts = {name: ResultFolder.open(out / name) for name in plans}
    command = ("command", essential_command(invocation.command_line))
    page = engine_guide(parts, provenance=(command, *versions().items()))
    report = write_page(out, page, force=invocation.force)
    invocation.console.table(headline(page))
    invocation.console.line()
    invocation.console.line(f"report: {report}")
    metrics = {name: folder.metrics for name, folder in parts.items()}
    invocation.console.result({"ok": True, "studies": metrics, "report": str(report)})


def _plans(config: Config) -> dict[str, Any]:
    """Return the plan of every part; all are checked before the first runs."""
    from kinetarium.batch.plan import Plan
    from kinetarium.batch.study import open_study
    from kinetarium.storage.serialization import from_builtins

    plans: dict[str, Any] = {}
    for name, part in (_QUICK if config.quick else _FULL).items():
        values = {"starts": config.starts, **part, "engine": config.engine, "seed": config.seed}
        study = open_study(values.pop("study", name))
        known = {field.name for field in fields(study.config)}
        chosen = {each: value for each, value in values.items() if each in known}
        plans[name] = Plan.of(study, from_builtins(study.config, chosen, where=name))
        plans[name].tasks()
    return plans
