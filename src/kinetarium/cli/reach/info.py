"""`kinetarium reach info`: say what a map is."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from kinetarium.cli.core.console import Console
from kinetarium.cli.core.invocation import Invocation
from kinetarium.cli.reach.flags import NamedMap

if TYPE_CHECKING:
    from kinetarium.reach.maps.files import ReachMap


@dataclass(frozen=True, kw_only=True)
class Config(NamedMap):
    """Which map.

    Attributes:
        report: Folder for a page with pictures of the map.
    """

    report: Annotated[str, tyro.conf.arg(metavar="DIR", help_behavior_hint="")] = ""


def run(config: Config, invocation: Invocation) -> None:
    """Print how the map was made and what it holds; draw it if asked to."""
    from kinetarium.cli.core.invocation import provenance
    from kinetarium.reach.maps.files import open_map
    from kinetarium.report.html.files import write_page
    from kinetarium.studies.reach.map_figures import map_page

    reach_map = open_map(config.path)
    report = ""
    if config.report:
        page = map_page(reach_map, provenance=provenance(invocation.command_line))
        report = str(write_page(Path(config.report), page, force=invocation.force))
    show(reach_map, invocation.console, report=report)


def show(reach_map: "ReachMap", console: Console, *, report: str = "") -> None:
    """Print what a map is, and give it as data."""
    from kinetarium.reach.maps.files import describe_map
    from kinetarium.studies.reach.map_figures import field_table, recipe_table

    console.table(recipe_table(reach_map))
    console.line()
    console.table(field_table(reach_map))
    console.line()
    console.line(f"map: {reach_map.path}")
    if report:
        console.line(f"report: {report}")
    payload = {"ok": True, **describe_map(reach_map)}
    console.result(payload | {"report": report} if report else payload)
