"""`kinetarium reach build`: build a map of what a robot reaches."""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Annotated

import tyro

from kinetarium.cli.core.arguments import UsageError
from kinetarium.cli.core.console import Console
from kinetarium.cli.core.invocation import Invocation
from kinetarium.cli.core.robot_flags import RobotFlags
from kinetarium.cli.reach.flags import THREADS, Threads
from kinetarium.interruption import is_stop_request
from kinetarium.ranges import Range, Seed
from kinetarium.reach.maps.recipe import MapKind, MapOptions

_QUIET_TIME = 10.0
"""Least time between two lines in a log [s]."""

Watch = Callable[[str, int, int], None]
"""Told what is being done, and how many parts of how many are done."""


@contextmanager
def shown_progress(console: Console) -> Iterator[Watch]:
    """Yield what a computation tells of its progress.

    Args:
        console: Where it is shown.
    """
    if not console.speaks:
        yield lambda label, done, total: None
    elif sys.stderr.isatty():
        with _bar() as watch:
            yield watch
    else:
        yield _lines(console)


@contextmanager
def _bar() -> Iterator[Watch]:
    from rich.console import Console as RichConsole
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=RichConsole(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def watch(label: str, done: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = bar.add_task(label)
            bar.update(tasks[label], total=total, completed=done)

        yield watch


def _lines(console: Console) -> Watch:
    begun, start, last, before = "", 0.0, 0.0, 0

    def watch(label: str, done: int, total: int) -> None:
        nonlocal begun, start, last, before
        now = monotonic()
        if label != begun:
            begun, start, last, before = label, now, now, done
            if done:
                console.note(f"{label}: {done} of {total} are there already")
        elif now - last > _QUIET_TIME and done < total:
            last = now
            rest = (now - start) / (done - before) * (total - done)
            console.note(f"{label}: {done} of {total}, about {rest:.0f} s left")

    return watch


VOXEL = Range(1e-4, 100.0, unit="m")
RADIUS = Range(1e-3, 100.0, unit="m")
"""From the smallest hand to the largest crane; how many voxels that makes is the map's to check."""
POSES = Range(1, 10_000, unit="-")


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
    voxel: Annotated[float | None, VOXEL, tyro.conf.arg(metavar="M", help_behavior_hint="")] = None
    poses: Annotated[int | None, POSES, tyro.conf.arg(metavar="N", help_behavior_hint="")] = None
    radius: Annotated[float | None, RADIUS, tyro.conf.arg(metavar="M", help_behavior_hint="")] = (
        None
    )
    tool: Annotated[str | None, tyro.conf.arg(metavar="LINK", help_behavior_hint="")] = None
    base_link: Annotated[str | None, tyro.conf.arg(metavar="LINK", help_behavior_hint="")] = None
    self_collision: Annotated[bool, tyro.conf.arg(help_behavior_hint="")] = False
    seed: Annotated[Seed, tyro.conf.arg(metavar="N")] = 0
    workers: Threads = THREADS
    part: Annotated[str, tyro.conf.arg(metavar="K/N", help_behavior_hint="")] = ""

    def options(self) -> MapOptions:
        """Return what the map is asked for."""
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
    from kinetarium.cli.reach.info import show
    from kinetarium.reach.maps.build import ShardCount, build_map, build_part
    from kinetarium.reach.maps.files import ReachMap

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
                **config.options(),
            )
        except (KeyboardInterrupt, Exception) as error:
            if is_stop_request(error):
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
