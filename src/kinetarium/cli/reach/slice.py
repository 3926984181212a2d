"""`kinetarium reach slice`: say where a base may stand to reach one pose."""

from dataclasses import dataclass
from pathlib import Path

from kinetarium.cli.core.invocation import Invocation
from kinetarium.cli.reach.flags import FilePath, Folder, MapPath, PlaneFlags


@dataclass(frozen=True, kw_only=True)
class Config(PlaneFlags):
    """What to cut.

    Attributes:
        map: The map, irm3 or irm4.
        pose: JSON file of the tool's pose in the world: a 4x4 matrix by rows, or
            {"position", "quaternion_wxyz"}.
        out: Folder of the slice, its pictures and its page.
    """

    map: MapPath
    pose: FilePath
    out: Folder


def run(config: Config, invocation: Invocation) -> None:
    """Cut the map by the plane of bases, and draw what is found."""
    from kinetarium.cli.core.invocation import provenance
    from kinetarium.reach.maps.files import open_map
    from kinetarium.reach.placement.files import read_pose
    from kinetarium.reach.placement.score_raster import describe_slice, slice_map, write_slice
    from kinetarium.report.html.files import write_page
    from kinetarium.studies.reach.slice_figures import slice_page, slice_table

    reach_map = open_map(config.map)
    found = slice_map(reach_map, read_pose(config.pose), plane=config.plane())
    write_slice(found, config.out)
    page = slice_page(found, reach_map, provenance=provenance(invocation.command_line))
    report = str(write_page(Path(config.out), page, force=invocation.force))
    console = invocation.console
    console.table(slice_table(found))
    console.line()
    console.line(f"report: {report}")
    console.result({"ok": True, **describe_slice(found), "out": config.out, "report": report})
