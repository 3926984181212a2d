"""`kinetarium reach place`: find the base for a set of poses."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from kinetarium.cli.core.invocation import Invocation
from kinetarium.cli.reach.flags import FilePath, SiteFlags
from kinetarium.reach.placement.plane import Effort, Objective


@dataclass(frozen=True, kw_only=True)
class Config(SiteFlags):
    """What to place a base for.

    Attributes:
        poses: JSON file of the tool's poses in the world: a list of 4x4 matrices by
            rows, or of {"position", "quaternion_wxyz"}.
        objective: count: as many poses as can be, then the greatest sum of
            manipulabilities. manipulability: that sum alone, as published.
        effort: How long to search: fast, standard or thorough.
        out: Folder for the placement and a page with pictures.
    """

    poses: FilePath
    objective: Objective = Objective.COUNT
    effort: Effort = Effort.STANDARD
    out: Annotated[str, tyro.conf.arg(metavar="DIR", help_behavior_hint="")] = ""


def run(config: Config, invocation: Invocation) -> None:
    """Find the base, and print what is reached from it."""
    from kinetarium.cli.core.invocation import provenance
    from kinetarium.reach.placement.files import read_poses
    from kinetarium.reach.placement.query import write_placement
    from kinetarium.report.html.files import write_page
    from kinetarium.studies.reach.placement_figures import (
        placement_page,
        placement_table,
        pose_table,
    )

    reach_map = config.open_map()
    poses = read_poses(config.poses)
    placer = config.placer(reach_map)
    placement = placer.place(poses, objective=config.objective, effort=config.effort)
    console = invocation.console
    report = ""
    if config.out:
        write_placement(placement, config.out)
        words = provenance(invocation.command_line)
        page = placement_page(placement, poses, placer=placer, provenance=words)
        report = str(write_page(Path(config.out), page, force=invocation.force))
    console.table(placement_table(placement))
    console.line()
    console.table(pose_table(placement, placer.arm.chain))
    if report:
        console.line()
        console.line(f"report: {report}")
    console.result(placement.as_json())
