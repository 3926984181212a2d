"""`kinetarium compare-engines`: grasping and driving on all engines, and a rating of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

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
    from kinetarium.studies.engine_guide.verdict import Judgement

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
            the runs that a rule judges and a seed can change, in the engines that might be first.
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
    jobs, left_out = _jobs(config)
    check_folder(out, ours="|".join([*jobs, r"report\.html", "figures", r"[a-z-]+-seed-\d+"]))
    check_page(out, force=invocation.force)
    lock = FolderLock(out)
    try:
        remove_leftovers(out)  # of a killed process
        _compare(jobs, config, invocation=invocation, out=out, left_out=left_out)
    finally:
        lock.release()


class _Job(NamedTuple):
    """One folder of results.

    Attributes:
        part: The part of the comparison.
        values: The values that differ from the study's defaults.
        robot: Robot of the user's; empty for the study's own.
        plan: What is run.
    """

    part: str
    values: Mapping[str, Any]
    robot: str
    plan: "Plan"


def _compare(
    jobs: Mapping[str, _Job],
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

    def execute_all(jobs: Mapping[str, _Job], repetition: int) -> None:
        which = f"repetition {repetition} of {config.repeat}, " if config.repeat > 1 else ""
        for number, (name, job) in enumerate(jobs.items(), start=1):
            console.note(f"{which}part {number} of {len(jobs)}: {name}")
            execute(job.plan, invocation, out=out / name, flags=config)
            console.line()
            parts.setdefault(job.part, []).append(ResultFolder.open(out / name))

    execute_all(jobs, 1)
    once = judgements({part: judged_rows(folders) for part, folders in parts.items()})
    for repetition in range(1, config.repeat):
        again = _repeated_jobs(config, jobs, verdicts=once, seed=config.seed + repetition)
        execute_all(again, repetition + 1)
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


def _jobs(config: Config) -> tuple[dict[str, _Job], dict[str, str]]:
    """Return what is run at first, checked before anything runs, and what is left out.

    A part that none of the given robots can do is left out with the reason.

    Raises:
        KinetariumError: If a value or a robot's file is invalid, or no robot can do anything.
    """
    from kinetarium.roles.options import RoleOptions

    for robot in config.robot:
        RoleOptions(**config.reading).open(robot)
    jobs: dict[str, _Job] = {}
    left_out: dict[str, str] = {}
    for part, values in (_QUICK if config.quick else _FULL).items():
        if part == "drive-two" and config.robot:
            continue  # the user's robot is driven instead, in "drive"
        faults: dict[str, str] = {}
        for robot in config.robot if _takes_robots(part) and config.robot else ("",):
            own = {**values, "engine": config.engine}
            try:
                plan = _plan(config, part, own, robot=robot, seed=config.seed)
            except KinetariumError as error:
                if not robot:
                    raise
                faults[robot] = str(error)
            else:
                jobs[part] = _Job(part, values, robot, plan)
                break
        else:
            left_out[part] = "; ".join(dict.fromkeys(faults.values()))
    if config.robot and not any(_takes_robots(part) for part in jobs):
        raise KinetariumError(next(iter(left_out.values())))
    return jobs, left_out


def _repeated_jobs(
    config: Config, jobs: Mapping[str, _Job], *, verdicts: "Sequence[Judgement]", seed: int
) -> dict[str, _Job]:
    """Return what is run with another seed: what it may change, in engines that may be first.

    Args:
        config: The comparison.
        jobs: What was run first, by part.
        verdicts: The verdicts on it.
        seed: The other seed.
    """
    from kinetarium.studies.engine_guide.verdict import rivals

    wanted: dict[tuple[str, tuple[tuple[str, str], ...]], dict[str, None]] = {}
    for verdict in verdicts:
        part = verdict.rule.part
        if part in jobs and part not in _UNDISPLACED:
            engines = wanted.setdefault((part, tuple(verdict.rule.runs.items())), {})
            engines.update(dict.fromkeys(rivals(verdict)))
    found: dict[str, _Job] = {}
    for (part, runs), engines in wanted.items():
        if engines:
            first = jobs[part]
            name = "-".join((part, *(value for _, value in runs), "seed", str(seed)))
            values = {**first.values, **{key: [value] for key, value in runs}}
            own = {**values, "engine": tuple(sorted(engines))}
            plan = _plan(config, part, own, robot=first.robot, seed=seed)
            found[name] = _Job(part, values, first.robot, plan)
    return found


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

    values = {"starts": config.starts, **own, "seed": seed}
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
