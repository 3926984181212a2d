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
from kinetarium.roles.roles import BaseKind

if TYPE_CHECKING:
    from kinetarium.batch.plan import Plan

_FULL: dict[str, dict[str, Any]] = {
    "grasp": {"profile": ["defaults", "matched", "tuned"]},
    "grasp-release": {"study": "grasp", "profile": ["matched"], "path": ["release"]},
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
        "most_starts": 3,
    },
    "slide": {"profile": ["matched", "defaults"], "speed": [0.1, 1.0]},
    "drive": {},
    "drive-two": {"study": "drive", "robot": ["husky2"], "control": ["open"]},
    "drive-profiles": {
        "study": "drive",
        "profile": ["defaults", "tuned"],
        "control": ["open"],
        "most_starts": 3,
    },
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
        "most_starts": 3,
    },
    "calibrate": {},
}
"""The full comparison: studies by folder, with the values that differ from their defaults."""

_UNDISPLACED = ("grasp-effort", "drive-effort", "calibrate")
"""Parts whose runs all have the same start: another seed changes nothing that a rule judges."""

_UNJUDGED = "tuned"
"""The profile that no rule judges."""

_OWN = ("slide", "drive-two")
"""Parts that are not for robots of the user."""

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
        robot: Robots of yours: names in the catalogue, or URDF, xacro or MJCF files. The first that
            can grasp and the first that can drive take the place of the studies' own.
        gripper: Name of the gripper, if the robot has several.
        base: How the root of the robot moves, instead of what is found.
        roles: File with the roles of the robot.
        srdf: SRDF file of the robot.
        tool: Link of the robot's tool.
        mesh_root: Folders in which meshes are searched.
        starts: Runs per case, from displaced initial positions [-].
        repeat: Repetitions, each with another seed [-]; the verdict is from all of them. They have
            the parts and profiles that a rule judges and a seed can change.
        quick: Short form of about a minute: one path, a part of the duration.
        seed: Seed of all random numbers.
        out: Output folder, with a subfolder for each study; a new folder in ./out by default.
            The same command resumes an interrupted comparison.
    """

    engine: tuple[str, ...] = ()
    robot: Annotated[tuple[str, ...], tyro.conf.arg(metavar="FILE|NAME")] = ()
    gripper: Annotated[str, tyro.conf.arg(metavar="NAME")] = ""
    base: BaseKind | None = None
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
    def reading(self) -> dict[str, Any]:
        """How robots are read, as far as it was asked for."""
        given = {
            "roles": self.roles, "srdf": self.srdf, "tool": self.tool, "mesh_root": self.mesh_root,
            "base": self.base,
        }  # fmt: skip
        return {name: value for name, value in given.items() if value}


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
        untuned_turns,
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
    page = engine_guide(
        parts,
        provenance=(command, *versions().items()),
        left_out=left_out,
        robots=[Path(robot).name for robot in config.robot],
    )
    report = write_page(out, page, force=invocation.force)
    rows = {part: judged_rows(folders) for part, folders in parts.items()}
    verdicts = judgements(rows)
    console.table(headline(verdicts))
    console.line()
    if (turns := untuned_turns(rows)).rows:
        console.table(turns)
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

    A part that none of the given robots can do is left out with the reason.

    Raises:
        KinetariumError: If a value or a robot's file is invalid, or no robot can do anything.
    """
    from kinetarium.roles.options import RoleOptions

    for robot in config.robot:
        RoleOptions(**config.reading).open(robot)
    plans: dict[str, tuple[str, Plan]] = {}
    left_out: dict[str, str] = {}
    for repetition in range(config.repeat):
        seed = config.seed + repetition
        for part, values in _parts(config, repetition).items():
            if part == "drive-two" and config.robot:
                continue  # the user's robot is driven instead, in "drive"
            name = f"{part}-seed-{seed}" if repetition else part
            faults: dict[str, str] = {}
            for robot in config.robot if _takes_robots(part) and config.robot else ("",):
                try:
                    plans[name] = (part, _plan(config, part, values, robot=robot, seed=seed))
                    break
                except KinetariumError as error:
                    if not robot:
                        raise
                    faults[robot] = str(error)
            else:
                left_out[part] = "; ".join(dict.fromkeys(faults.values()))
    if config.robot and not any(_takes_robots(part) for part, _ in plans.values()):
        raise KinetariumError(next(iter(left_out.values())))
    return plans, left_out


def _parts(config: Config, repetition: int) -> dict[str, dict[str, Any]]:
    """Return the parts of a repetition, with the values that differ from their defaults."""
    parts = _QUICK if config.quick else _FULL
    if not repetition:
        return parts
    return {
        part: {
            name: [each for each in value if each != _UNJUDGED] if name == "profile" else value
            for name, value in values.items()
        }
        for part, values in parts.items()
        if part not in _UNDISPLACED
    }


def _takes_robots(part: str) -> bool:
    return part not in _OWN


def _plan(config: Config, part: str, own: Mapping[str, Any], *, robot: str, seed: int) -> "Plan":
    """Return the plan of a part, with a robot of the user's or the study's own.

    Raises:
        KinetariumError: If the study cannot use the robot.
    """
    from kinetarium.batch.plan import Plan
    from kinetarium.batch.study import open_study
    from kinetarium.storage.serialization import from_builtins

    values = {"starts": config.starts, **own, "engine": config.engine, "seed": seed}
    values["starts"] = min(values["starts"], values.pop("most_starts", values["starts"]))
    study = open_study(values.pop("study", part))
    known = {field.name: field for field in fields(study.config)}
    if robot:
        if not {"robot", *config.reading} <= known.keys():
            raise KinetariumError(f"the study '{study.name}' takes its own robots only")
        several = isinstance(known["robot"].default, tuple)
        values |= {"robot": [robot] if several else robot, **config.reading}
        values |= {"gripper": config.gripper} if config.gripper else {}
    chosen = {each: value for each, value in values.items() if each in known}
    plan = Plan.of(study, from_builtins(study.config, chosen, where=part))
    plan.tasks()
    return plan
