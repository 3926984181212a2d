"""`kinetarium robots`: list the robots of the catalogue, or show them on a page."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from kinetarium.cli.core.invocation import Invocation

if TYPE_CHECKING:
    from kinetarium.model.load import CatalogueEntry
    from kinetarium.model.robot import RobotModel


@dataclass(frozen=True, kw_only=True)
class Config:
    """The output folder.

    Attributes:
        out: Write DIR/report.html, a page with all robots.
    """

    out: Annotated[str, tyro.conf.arg(metavar="DIR")] = ""


def run(config: Config, invocation: Invocation) -> None:
    """List the robots and, if requested, write their page."""
    from kinetarium.figure.robot_page import catalogue_table
    from kinetarium.model.load import list_robots, load_catalogue_robot
    from kinetarium.report.html.files import check_page

    report = Path(config.out) / "report.html"
    if config.out:
        check_page(report.parent, force=invocation.force)
    console = invocation.console
    entries = console.progress(list_robots(), label="reading robots", total=len(list_robots()))
    robots = {entry.name: (entry, load_catalogue_robot(entry.name)) for entry in entries}
    console.table(catalogue_table(robots))
    if config.out:
        _write_report(robots, report, invocation)
        console.line(f"report: {report}")
    payload = [_robot(entry, model) for entry, model in robots.values()]
    console.result({"robots": payload, **({"report": str(report)} if config.out else {})})


def _write_report(
    robots: "dict[str, tuple[CatalogueEntry, RobotModel]]", report: Path, invocation: Invocation
) -> None:
    from kinetarium.cli.core.invocation import provenance
    from kinetarium.figure.robot_page import catalogue_page
    from kinetarium.report.html.files import write_page

    page = catalogue_page(robots, provenance=provenance(invocation.command_line))
    write_page(report.parent, page, force=invocation.force)


def _robot(entry: "CatalogueEntry", model: "RobotModel") -> dict[str, Any]:
    return {
        "name": entry.name,
        "title": entry.title,
        "description": entry.description,
        "links": len(model.links),
        "joints": len(model.joints),
        "moving_joints": len(model.moving_joints),
        "mass_kg": model.mass,
        "free_base": model.free_base,
        "base": entry.base,
        "flange": entry.flange,
        "tool": entry.tool,
        "home": dict(entry.home),
        "licence": entry.licence,
        "sources": list(entry.sources),
    }
