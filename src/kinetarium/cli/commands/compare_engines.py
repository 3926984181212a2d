"""`kinetarium compare-engines`: grasping and driving on all engines, and a rating of them."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from kinetarium.cli.core.execution import (
    ExecutionFlags,
    essential_command,
    execute,
    free_folder,
)
from kinetarium.cli.core.invocation import Invocation
from kinetarium.errors import KinetariumError
from kinetarium.ranges import Range, Seed

if TYPE_CHECKING:
    from kinetarium.batch.plan import Plan

_FAMILY = {"grasp": "grasp", "drive": "drive", "calibrate": "drive"}
"""The studies that take a robot, and whether it grasps or drives there."""
_BASE_KINDS = ("fixed", "free", "planar")

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
    "slide": {"profile": ["matched", "defaults"], "speed": [0.1, 1.0]},
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
    "grasp": {"profile": ["matched"], "path": ["circle"], "duration": 2.0},
    "slide": {"speed": [1.0], "angle": [0.0, 45.0]},
    "drive": {"profile": ["matched"], "path": ["circle"], "control": ["open"]},
}
"""The short form."""


@dataclass(frozen=True, kw_only=True)
class Config(ExecutionFlags):
    """The engines to compare.

    Attributes:
        engine: Engines to compare; all available ones by default.
        robot: A robot of yours that grasps and drives, as far as it can: a name in the catalogue
            or a URDF, xacro or MJCF file. By default the studies' own robots.
        gripper: Another robot that grasps.
        base: Another robot that drives; or fixed, free or planar: how the root of the robot moves.
        roles: File with the roles of the robot.
        srdf: SRDF file of the robot.
        tool: Link of the robot's tool.
        mesh_root: Folders in which meshes are searched.
        starts: Runs per case, from displaced initial positions [-].
        repeat: Repetitions, each with another seed [-]; the verdict is from all of them.
        quick: Short form of about a minute: one path, a part of the duration.
        seed: Seed of all random numbers.
        out: Output folder, with a subfolder for each study; a new folder in ./out by default.
            The same command resumes an interrupted comparison.
    """

    engine: tuple[str, ...] = ()
    robot: Annotated[str, tyro.conf.arg(metavar="FILE|NAME")] = ""
    gripper: Annotated[str, tyro.conf.arg(metavar="FILE|NAME")] = ""
    base: Annotated[str, tyro.conf.arg(metavar="FILE|NAME|KIND")] = ""
    roles: Annotated[str, tyro.conf.arg(metavar="FILE")] = ""
    srdf: Annotated[str, tyro.conf.arg(metavar="FILE")] = ""
    tool: Annotated[str, tyro.conf.arg(metavar="LINK")] = ""
    mesh_root: Annotated[tuple[str, ...], tyro.conf.arg(metavar="DIR")] = ()
    starts: Annotated[int, Range(1, 1000, unit="-")] = 5
    repeat: Annotated[int, Range(1, 100, unit="-")] = 1
    quick: bool = False
    seed: Seed = 0
    out: Annotated[str, tyro.conf.arg(metavar="DIR")] = ""

    @property
    def robots(self) -> dict[str, dict[str, Any]]:
        """What is passed to the studies of grasping and of driving, besides their own values."""
        kind = self.base if self.base in _BASE_KINDS else ""
        reading = {
            "roles": self.roles, "srdf": self.srdf, "tool": self.tool, "mesh_root": self.mesh_root,
            "base": kind,
        }  # fmt: skip
        given = {name: value for name, value in reading.items() if value}
        chosen = {"grasp": self.gripper or self.robot, "drive": self.robot}
        if self.base and not kind:
            chosen["drive"] = self.base
        return {name: {"robot": robot, **given} for name, robot in chosen.items() if robot}


def run(config: Config, invocation: Invocation) -> None:
    """Run every study into its folder, then rate the engines by purpose."""
    from kinetarium.report.html.files import check_page
    from kinetarium.storage.atomic import FolderLock, check_folder, remove_leftovers

    out = Path(config.out) if config.out else free_folder("compare-engines")
    plans, left_out = _plans(config)
    check_folder(out, ours="|".join([*plans, r"report\.html", "figures"]))
    check_page(out, force=invocation.force)
    lock = FolderLock(out)
    try:
        remove_leftovers(out)  # of a killed process
        _compare(plans, config, invocation=invocation, out=out, left_out=left_out)
    finally:
        lock.release()


def _compare(
    plans: "Mapping[str, tuple[str, Plan]]",
    config: Config,
    *,
    invocation: Invocation,
    out: Path,
    left_out: Mapping[str, str],
) -> None:
    from kinetarium.batch.plan import versions
    from kinetarium.recording.result_folder import ResultFolder
    from kinetarium.report.html.files import write_page
    from kinetarium.studies.engine_guide.page import (
        engine_guide,
        headline,
        judged_rows,
        judgements,
        verdict_entries,
    )

    console = invocation.console
    for part, why in left_out.items():
        console.note(f"left out: {part}: {why}")
    parts: dict[str, list[ResultFolder]] = {}
    for number, (name, (part, plan)) in enumerate(plans.items(), start=1):
        console.note(f"part {number} of {len(plans)}: {name}")
        execute(plan, invocation, out=out / name, flags=config)
        console.line()
        parts.setdefault(part, []).append(ResultFolder.open(out / name))
    command = ("command", essential_command(invocation.command_line))
    page = engine_guide(parts, provenance=(command, *versions().items()), left_out=left_out)
    report = write_page(out, page, force=invocation.force)
    verdicts = judgements({part: judged_rows(folders) for part, folders in parts.items()})
    console.table(headline(verdicts))
    console.line()
    console.paragraph(page.conclusion)
    console.line()
    console.line(f"report: {report}")
    metrics = {folder.path.name: folder.metrics for each in parts.values() for folder in each}
    console.result(
        {
            "ok": True,
            "verdicts": verdict_entries(verdicts),
            "left_out": dict(left_out),
            "conclusion": page.conclusion,
            "studies": metrics,
            "report": str(report),
        }
    )


def _plans(config: Config) -> "tuple[dict[str, tuple[str, Plan]], dict[str, str]]":
    """Return part and plan of every folder, checked before the first runs, and what is left out.

    A part that the given robot cannot do is left out with the reason.

    Raises:
        KinetariumError: If a value or the robot's file is invalid, or no part can be run.
    """
    from kinetarium.roles.studied_robot import RoleOptions

    for given in config.robots.values():
        reading = {name: value for name, value in given.items() if name not in ("robot", "base")}
        RoleOptions(**reading).open(given["robot"])
    plans: dict[str, tuple[str, Plan]] = {}
    left_out: dict[str, str] = {}
    for repetition in range(config.repeat):
        seed = config.seed + repetition
        for part in _QUICK if config.quick else _FULL:
            if part in left_out:
                continue
            try:
                plan = _plan(config, part, seed)
            except KinetariumError as error:
                if not config.robots.get(_FAMILY.get(part.partition("-")[0], "")):
                    raise
                left_out[part] = str(error)
            else:
                plans[f"{part}-seed-{seed}" if repetition else part] = (part, plan)
    if config.robots and not {_FAMILY.get(part.partition("-")[0]) for part, _ in plans.values()} & {
        *config.robots
    }:
        raise KinetariumError(next(iter(left_out.values())))
    return plans, left_out


def _plan(config: Config, part: str, seed: int) -> "Plan":
    from kinetarium.batch.plan import Plan
    from kinetarium.batch.study import open_study
    from kinetarium.storage.serialization import from_builtins

    own = (_QUICK if config.quick else _FULL)[part]
    values = {"starts": config.starts, **own, "engine": config.engine, "seed": seed}
    study = open_study(values.pop("study", part))
    known = {field.name: field for field in fields(study.config)}
    for name, value in config.robots.get(_FAMILY.get(study.name, ""), {}).items():
        if name not in known:
            raise KinetariumError(f"the study '{study.name}' has no --{name.replace('_', '-')}")
        listed = isinstance(known[name].default, tuple) and isinstance(value, str)
        values[name] = [value] if listed else value
    chosen = {each: value for each, value in values.items() if each in known}
    plan = Plan.of(study, from_builtins(study.config, chosen, where=part))
    plan.tasks()
    return plan
