"""`kinetarium reach build`: build a map of what a robot reaches."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import tyro

from kinetarium.cli.arguments import UsageError
from kinetarium.cli.provenance import Invocation
from kinetarium.cli.reach_flags import THREADS, Threads
from kinetarium.cli.reach_progress import shown_progress
from kinetarium.cli.robot_flags import RobotFlags
from kinetarium.interruption import is_stop
from kinetarium.ranges import Range, Seed
from kinetarium.reach.recipe import MapKind, MapWishes

VOXEL = Range(1e-4, 100.0, unit="m", also=(0.0,))
RADIUS = Range(1e-3, 100.0, unit="m", also=(0.0,))
"""From the smallest hand to the largest crane; how many voxels that makes is the map's to check."""
POSES = Range(0, 10_000, unit="-")


@dataclass(frozen=True, kw_only=True)
class Config(RobotFlags):
    """What to build.

    Attributes:
        robot: A robot of the catalogue, or a URDF, xacro or MJCF file.
        out: The map's folder, such as panda.rmap; a build that was stopped goes on there.
        kind: capability: what the tool can do around the base. irm3: how well a base
            stands around the tool. irm4: the same by height, tilt and place; best for placing.
        voxel: Edge length of a voxel [m]; 0.03 of the radius if not given, 0.05 for irm4.
        poses: Poses per voxel; 50 if not given, 8 for irm4.
        radius: How far the map reaches [m]; as far as the tool gets if not given.
        tool: The link to be placed; the catalogue's flange, or the only last link, if not given.
        base_link: The link that stands; the robot's root if not given.
        self_collision: Count configurations in collision as out of reach.
        seed: Seed of the poses.
        workers: Threads that build side by side; none of them changes the map.
        part: Make the K-th of N parts only, beside processes that make the others in the same
            folder; once all have ended, the same command without it joins them.
    """

    robot: Annotated[str, tyro.conf.arg(metavar="FILE|NAME")]
    out: Annotated[str, tyro.conf.arg(metavar="MAP")]
    kind: MapKind = MapKind.IRM4
    voxel: Annotated[float, VOXEL, tyro.conf.arg(metavar="M", help_behavior_hint="")] = 0.0
    poses: Annotated[int, POSES, tyro.conf.arg(metavar="N", help_behavior_hint="")] = 0
    radius: Annotated[float, RADIUS, tyro.conf.arg(metavar="M", help_behavior_hint="")] = 0.0
    tool: Annotated[str, tyro.conf.arg(metavar="LINK", help_behavior_hint="")] = ""
    base_link: Annotated[str, tyro.conf.arg(metavar="LINK", help_behavior_hint="")] = ""
    self_collision: Annotated[bool, tyro.conf.arg(help_behavior_hint="")] = False
    seed: Annotated[Seed, tyro.conf.arg(metavar="N")] = 0
    workers: Threads = THREADS
    part: Annotated[str, tyro.conf.arg(metavar="K/N", help_behavior_hint="")] = ""

    def wishes(self) -> MapWishes:
        """Give what the map is asked for."""
        return {
            "kind": self.kind,
            "voxel": self.voxel,
            "poses": self.poses,
            "radius": self.radius,
            "tool": self.tool,
            "base_link": self.base_link,
            "self_collision": self.self_collision,
            "seed": self.seed,
        }


def run(config: Config, invocation: Invocation) -> None:
    """Build the map and say what it is, or one part of it and say how far the map is."""
    from kinetarium.cli.reach_info import show
    from kinetarium.reach.build import ShardCount, build_map, build_part
    from kinetarium.reach.map_files import ReachMap

    console = invocation.console
    build: Callable[..., ReachMap | ShardCount] = build_map
    if config.part:
        build = partial(build_part, part=_part(config.part))
    robot = config.load()
    with shown_progress(console) as watch:
        try:
            built = build(
                robot,
                config.out,
                workers=config.workers,
                progress=partial(watch, config.out),
                **config.wishes(),
            )
        except (KeyboardInterrupt, Exception) as error:
            if is_stop(error):
                console.error(f"kinetarium: go on with: {invocation.command_line}")
            raise
    if isinstance(built, ReachMap):
        show(built, console)
        return
    whole = built.there == built.total
    console.line(
        f"part {config.part}: {built.there} of {built.total} shards are there"
        + ("; the same command without --part joins them" if whole else "")
    )
    console.result({"ok": True, "part": config.part, "shards": built._asdict()})


def _part(text: str) -> tuple[int, int]:
    """Read "K/N"; whether there is such a part is for the build to say."""
    numbers = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
    if not numbers:
        raise UsageError(f"--part wants K/N, such as 2/8, not {text!r}")
    return int(numbers[1]), int(numbers[2])
