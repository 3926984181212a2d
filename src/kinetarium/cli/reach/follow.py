"""`kinetarium reach follow`: drive a base along while its arm follows a trajectory."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from kinetarium.cli.core.invocation import Invocation
from kinetarium.cli.reach.flags import FilePath, Folder, SiteFlags
from kinetarium.ranges import Range


@dataclass(frozen=True, kw_only=True)
class Config(SiteFlags):
    """What to follow.

    Attributes:
        trajectory: JSON file of the tool's way: {"times": [s ...], "poses": [...]}.
        out: Folder of the base's way, its pictures and its page.
        speed: Greatest speed of the base [m/s].
        turning: Greatest rate of turn of the base [rad/s].
    """

    trajectory: FilePath
    out: Folder
    speed: Annotated[float, Range(0.0, 100.0, unit="m/s")] = 1.0
    turning: Annotated[float, Range(0.0, 100.0, unit="rad/s")] = 2.0


def run(config: Config, invocation: Invocation) -> None:
    """Follow the trajectory, and draw the base's way."""
    from kinetarium.cli.core.invocation import provenance
    from kinetarium.reach.placement.files import read_trajectory
    from kinetarium.reach.placement.follow import (
        base_speed_limits,
        describe_following,
        follow,
        write_following,
    )
    from kinetarium.report.html.files import write_page
    from kinetarium.studies.reach.follow_figures import follow_page, follow_table

    reach_map = config.open_map()
    times, poses = read_trajectory(config.trajectory)
    limits = base_speed_limits(config.speed, turning=config.turning)
    placer = config.placer(reach_map)
    following = follow(placer, times, poses=poses, limits=limits)
    write_following(following, config.out)
    words = provenance(invocation.command_line)
    page = follow_page(following, poses, placer=placer, provenance=words)
    report = str(write_page(Path(config.out), page, force=invocation.force))
    console = invocation.console
    console.table(follow_table(following))
    console.line()
    console.line(f"report: {report}")
    result = {"ok": True, **describe_following(following), "rate_hz": following.rate}
    console.result(result | {"out": config.out, "report": report})
