"""`kinetarium reach ACTION`: reachability maps and base placement."""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, make_dataclass, replace
from functools import partial, reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import tyro

from kinetarium.cli.core.arguments import UsageError, parse_arguments
from kinetarium.cli.core.execution import (
    ExecutorKind,
    cluster_settings,
    study_command,
    sweep_progress,
)
from kinetarium.cli.core.invocation import Invocation, Run, provenance
from kinetarium.cli.core.robot_flags import RobotFlags
from kinetarium.errors import UnknownNameError
from kinetarium.interruption import is_stop_request
from kinetarium.ranges import Range, Seed
from kinetarium.reach.maps.recipe import MapKind, MapOptions
from kinetarium.studies.reach.placement.config import PlaneConfig

if TYPE_CHECKING:
    from kinetarium.figure.page import Page
    from kinetarium.model.robot import RobotModel
    from kinetarium.reach.maps.build import ShardMaker
    from kinetarium.reach.maps.files import ReachMap
    from kinetarium.roles.roles import Arm

ACTIONS = {
    "build": "build a reachability map of a robot",
    "info": "show how a map was built and what it contains",
    "verify": "verify the checksums of a map",
    "slice": "find the base positions that reach one pose",
    "place": "find the best base pose for a set of tool poses",
    "follow": "plan the motion of a mobile base along a tool trajectory",
    "compare": "compare base placement methods with published results",
}
"""The first four are about map files; the others are studies, reach-place and so on."""
_MOST_THREADS = 256
"""Maximum number of threads of a build."""
Link = Annotated[str | None, tyro.conf.arg(metavar="LINK")]
MapPath = Annotated[str | None, tyro.conf.arg(metavar="MAP")]


def load(words: Sequence[str]) -> tuple[type, Run]:
    """Return the flags and the function of an action.

    Args:
        words: The words after the command, the first of which names the action.

    Raises:
        UnknownNameError: If there is no such action.
        SystemExit: After the help of an action was printed.
    """
    action, *rest = words or [""]
    bare = tyro.conf.arg(name="")
    if action in ACTIONS:
        config, run = _action(action, rest)
        if {"-h", "--help"} & set(rest):
            name, help = f"reach {action}", ACTIONS[action]
            parse_arguments(["--help"], command=name, config=config, help=help)
        chosen = [("action", tyro.conf.Positional[str]), ("chosen", Annotated[config, bare])]
        arguments = make_dataclass("Arguments", chosen, frozen=True)
        return arguments, lambda flags, invocation: run(flags.chosen, invocation)
    if action and not action.startswith("-"):
        raise UnknownNameError("action", action, known=ACTIONS)
    # For the help, for shells to complete, and for flags of all commands before the action.
    runs = dict(_action(each, rest) for each in ACTIONS)
    choices: Any = reduce(
        or_,
        (
            Annotated[config, tyro.conf.subcommand(each, description=help, prefix_name=False)]
            for config, (each, help) in zip(runs, ACTIONS.items(), strict=True)
        ),
    )
    overview = make_dataclass("Overview", [("chosen", Annotated[choices, bare])], frozen=True)
    return overview, lambda flags, invocation: runs[type(flags.chosen)](flags.chosen, invocation)


def _action(action: str, words: Sequence[str]) -> tuple[type, Run]:
    """Return the flags and the function of one action."""
    if action in OPERATIONS:
        return OPERATIONS[action]
    return study_command(f"reach-{action}", words)


@dataclass(frozen=True, kw_only=True)
class BuildConfig(RobotFlags):
    """Options of `reach build`.

    Attributes:
        robot: Name of a robot in the catalogue, or a URDF, xacro or MJCF file.
        out: Output folder, such as panda.rmap; an interrupted build is resumed.
        kind: capability: reachable tool poses around the base. irm3: base poses around the
            tool that reach it, by voxels. irm4: the same by height, tilt and position of the
            base; best for base placement.
        voxel: Edge length of a voxel [m]; 0.03 of the radius by default, 0.05 for irm4.
        poses: Poses per voxel; 50 by default, 8 for irm4.
        radius: Radius of the map [m]; the reach of the tool by default.
        tool: Tool link; by default the catalogue's flange, or that of the arm's role.
        arm: Name of the arm, if the robot has several; see kinetarium roles.
        roles: Roles file; by default NAME.roles.toml beside the robot file.
        srdf: SRDF file; by default NAME.srdf beside the robot file or in ../srdf.
        base_link: Base link; the robot's root by default.
        self_collision: Treat configurations in self-collision as unreachable.
        seed: Seed of the sampled poses.
        workers: Number of threads, or of workers of a Dask cluster on this machine; the map does
            not depend on it.
        executor: Where shards are computed: threads of this process, one after another, or the
            workers of a Dask cluster.
        address: Dask scheduler to connect to, such as tls://HOST:8786.
        cluster: Cluster file (TOML); see docs/cluster.md.
        allow_plain_tcp: Connect to another machine without encryption.
        part: Build only the K-th of N parts, while other processes build the others in the same
            folder; when all are complete, the same command without --part joins them.
    """

    robot: Annotated[str, tyro.conf.arg(metavar="FILE|NAME")]
    out: Annotated[str, tyro.conf.arg(metavar="MAP")]
    kind: MapKind = MapKind.IRM4
    voxel: Annotated[float | None, Range(1e-4, 100.0, unit="m"), tyro.conf.arg(metavar="M")] = None
    poses: Annotated[int | None, Range(1, 10_000, unit="-"), tyro.conf.arg(metavar="N")] = None
    radius: Annotated[float | None, Range(1e-3, 100.0, unit="m"), tyro.conf.arg(metavar="M")] = None
    tool: Link = None
    arm: Annotated[str | None, tyro.conf.arg(metavar="NAME")] = None
    roles: Annotated[str | None, tyro.conf.arg(metavar="FILE")] = None
    srdf: Annotated[str | None, tyro.conf.arg(metavar="FILE")] = None
    base_link: Link = None
    self_collision: bool = False
    seed: Seed = 0
    workers: Annotated[int, Range(1, _MOST_THREADS, unit="-")] = min(
        os.cpu_count() or 1, _MOST_THREADS
    )
    executor: ExecutorKind = ExecutorKind.LOCAL
    address: Annotated[str, tyro.conf.arg(metavar="URL")] = ""
    cluster: Annotated[str, tyro.conf.arg(metavar="FILE.toml")] = ""
    allow_plain_tcp: bool = False
    part: Annotated[str | None, tyro.conf.arg(metavar="K/N")] = None


def _on_cluster(config: BuildConfig, invocation: Invocation) -> "ShardMaker":
    from kinetarium.batch.cluster.executor import cluster_shards

    settings = cluster_settings(config)
    return cluster_shards(settings, workers=config.workers, note=invocation.console.note)


def build(config: BuildConfig, invocation: Invocation) -> None:
    """Build the map and show it, or build one part and show the progress of the map."""
    from kinetarium.batch.sweep import Progress
    from kinetarium.reach.maps.build import ShardCount, build_map, build_part
    from kinetarium.reach.maps.files import ReachMap

    console = invocation.console
    make: Callable[..., ReachMap | ShardCount] = build_map
    if config.executor is ExecutorKind.DASK:
        if config.part is not None:
            raise UsageError("--part and --executor dask are two ways to share one map; choose one")
        make = partial(build_map, elsewhere=_on_cluster(config, invocation))
    elif config.part is not None:
        make = partial(build_part, part=_part(config.part))
    names = [field.name for field in fields(config) if field.name in get_type_hints(MapOptions)]
    options: Any = {name: getattr(config, name) for name in names}
    robot = config.load()
    if chosen := _arm(config, robot):
        options["tool"] = chosen.tool
        console.line(
            f"arm {chosen.name} ({chosen.source}): {len(chosen.joints)} joints to the tool link "
            f"{chosen.tool}; --tool or --arm chooses another"
        )
        if any((*chosen.xyz, *chosen.rpy)):
            console.line(f"the map is for the frame of {chosen.tool} itself, not an offset from it")
    with sweep_progress(console, label=config.out) as watch:
        try:
            built = make(
                robot,
                config.out,
                workers=1 if config.executor is ExecutorKind.SERIAL else config.workers,
                progress=lambda done, total: watch(Progress(total, done, 0)),
                **options,
            )
        except (KeyboardInterrupt, Exception) as error:
            if is_stop_request(error):
                console.error(f"kinetarium: resume with: {invocation.command_line}")
            raise
    if isinstance(built, ReachMap):
        _show(built, invocation)
        return
    whole = built.there == built.total
    console.line(
        f"part {config.part}: {built.there} of {built.total} shards are complete"
        + ("; the same command without --part joins them" if whole else "")
    )
    console.result({"ok": True, "part": config.part, "shards": built._asdict()})


def _arm(config: BuildConfig, robot: "RobotModel") -> "Arm | None":
    """Return the arm by its role; None if the tool is given, in the catalogue or the only end.

    Raises:
        KinetariumError: If there is no arm, or there are several and none was chosen.
    """
    from kinetarium.dynamics.chain import moving_ends
    from kinetarium.model.load import catalogue_entry, catalogue_names
    from kinetarium.model.robot import JointType
    from kinetarium.roles.find import find_roles
    from kinetarium.roles.roles import RoleSource

    asked = config.arm or config.roles or config.srdf
    file = robot.source.file
    known = file in catalogue_names() and catalogue_entry(file).flange
    if config.tool is not None or (known and not asked):
        return None
    arm = find_roles(robot, roles=config.roles, srdf=config.srdf).arm(config.arm)
    if arm.source is RoleSource.GEOMETRY and len(moving_ends(robot)) == 1:
        return None  # the only link at the end of the chain
    above = arm.tool
    while above in robot.parent_joint and robot.parent_joint[above].type is JointType.FIXED:
        above = robot.parent_joint[above].parent
    last = robot.joint(arm.joints[-1]).child
    # A link that a finger moves is no frame to be placed: take the one that carries it.
    return arm if above == last else replace(arm, tool=last, xyz=(0, 0, 0), rpy=(0, 0, 0))


def _part(text: str) -> tuple[int, int]:
    """Parse "K/N"; its range is checked by the build."""
    numbers = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
    if not numbers:
        raise UsageError(f"--part must be K/N, such as 2/8, not {text!r}")
    return int(numbers[1]), int(numbers[2])


@dataclass(frozen=True, kw_only=True)
class VerifyConfig:
    """Options of `reach verify`.

    Attributes:
        folder: Folder of the map.
        map: The same as a flag, as in other actions.
    """

    folder: tyro.conf.Positional[MapPath] = None
    map: MapPath = None

    @property
    def path(self) -> str:
        """The map's folder.

        Raises:
            UsageError: If none was named, or two.
        """
        if (self.folder is None) == (self.map is None):
            raise UsageError("one map is required: its folder, or --map MAP")
        return self.folder or self.map or ""


def verify(config: VerifyConfig, invocation: Invocation) -> None:
    """Compare every field of the map with its checksum."""
    from kinetarium.reach.maps.files import open_map, verify_map

    names = list(open_map(config.path).fields)
    verify_map(config.path)
    invocation.console.line(f"{config.path} is unchanged: {', '.join(names)}")
    invocation.console.result({"ok": True, "path": config.path, "fields": names})


@dataclass(frozen=True, kw_only=True)
class InfoConfig(VerifyConfig):
    """Options of `reach info`.

    Attributes:
        report: Write DIR/report.html, a page with figures of the map.
    """

    report: Annotated[str | None, tyro.conf.arg(metavar="DIR")] = None


def info(config: InfoConfig, invocation: Invocation) -> None:
    """Show how the map was built and what it contains; write its report if asked for."""
    from kinetarium.reach.maps.files import open_map
    from kinetarium.studies.reach.map_figures import map_page

    reach_map = open_map(config.path)
    words = provenance(invocation.command_line)
    report = config.report and _write(
        map_page(reach_map, provenance=words), config.report, invocation
    )
    _show(reach_map, invocation, report=report)


def _show(reach_map: "ReachMap", invocation: Invocation, *, report: str | None = None) -> None:
    from kinetarium.reach.maps.files import describe_map
    from kinetarium.studies.reach.map_figures import field_table, recipe_table

    console = invocation.console
    for table in (recipe_table(reach_map), field_table(reach_map)):
        console.table(table)
        console.line()
    console.line(f"map: {reach_map.path}")
    if report:
        console.line(f"report: {report}")
    payload = {"ok": True, **describe_map(reach_map)}
    console.result(payload | {"report": report} if report else payload)


@dataclass(frozen=True, kw_only=True)
class SliceConfig(PlaneConfig):
    """Options of `reach slice`.

    Attributes:
        map: Inverse reachability map, irm3 or irm4.
        pose: JSON file with a tool pose in the world: a 4x4 matrix by rows, or {"position",
            "quaternion_wxyz"}.
        out: Output folder of the slice and its report.
    """

    map: Annotated[str, tyro.conf.arg(metavar="MAP")]
    pose: Annotated[str, tyro.conf.arg(metavar="FILE")]
    out: Annotated[str, tyro.conf.arg(metavar="DIR")]


def slice_action(config: SliceConfig, invocation: Invocation) -> None:
    """Slice the map by the ground plane, and write a report."""
    from kinetarium.reach.maps.files import open_map
    from kinetarium.reach.placement.files import read_pose
    from kinetarium.reach.placement.score_raster import describe_slice, slice_map, write_slice
    from kinetarium.studies.reach.map_figures import slice_page, slice_table

    reach_map = open_map(config.map)
    found = slice_map(reach_map, read_pose(config.pose), plane=config.plane)
    write_slice(found, config.out)
    words = provenance(invocation.command_line)
    report = _write(slice_page(found, reach_map, provenance=words), config.out, invocation)
    console = invocation.console
    console.table(slice_table(found))
    console.line()
    console.line(f"report: {report}")
    console.result({"ok": True, **describe_slice(found), "out": config.out, "report": report})


def _write(page: "Page", folder: str, invocation: Invocation) -> str:
    from kinetarium.report.html.files import write_page

    return str(write_page(Path(folder), page, force=invocation.force))


OPERATIONS: dict[str, tuple[type, Run]] = {
    "build": (BuildConfig, build),
    "info": (InfoConfig, info),
    "verify": (VerifyConfig, verify),
    "slice": (SliceConfig, slice_action),
}
