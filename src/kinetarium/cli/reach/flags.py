"""The flags that actions of reach share."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import tyro

from kinetarium.cli.core.arguments import UsageError
from kinetarium.cli.core.robot_flags import RobotFlags
from kinetarium.ranges import Range

if TYPE_CHECKING:
    from kinetarium.model.robot import RobotModel
    from kinetarium.reach.maps.files import ReachMap
    from kinetarium.reach.placement.plane import BasePlane
    from kinetarium.reach.placement.query import Placer

MapPath = Annotated[str, tyro.conf.arg(metavar="MAP")]
FilePath = Annotated[str, tyro.conf.arg(metavar="FILE")]
OptionalPath = Annotated[str, tyro.conf.arg(metavar="FILE", help_behavior_hint="")]
_MOST_THREADS = 256
"""As many as a build takes."""
THREADS = min(os.cpu_count() or 1, _MOST_THREADS)
"""How many threads there are if nothing else is asked for."""
Threads = Annotated[int, Range(1, _MOST_THREADS, unit="-"), tyro.conf.arg(metavar="N")]
Folder = Annotated[str, tyro.conf.arg(metavar="DIR")]


@dataclass(frozen=True, kw_only=True)
class NamedMap:
    """A map by its name alone.

    Attributes:
        folder: The map.
        map: The map, as other actions take it.
    """

    folder: Annotated[
        tyro.conf.Positional[str], tyro.conf.arg(metavar="MAP", help_behavior_hint="")
    ] = ""
    map: Annotated[str, tyro.conf.arg(metavar="MAP", help_behavior_hint="")] = ""

    @property
    def path(self) -> str:
        """The map's folder.

        Raises:
            UsageError: If none was named, or two.
        """
        if bool(self.folder) == bool(self.map):
            raise UsageError("one map is wanted: its folder, or --map MAP")
        return self.folder or self.map


@dataclass(frozen=True, kw_only=True)
class PlaneFlags:
    """The plane of bases.

    Attributes:
        plane_normal: Normal of the plane that bases stand on, pointing up.
        plane_height: Height of the plane over the world's origin [m].
    """

    plane_normal: Annotated[tuple[float, float, float], Range(-1e6, 1e6, unit="-")] = (
        0.0,
        0.0,
        1.0,
    )
    plane_height: Annotated[float, Range(-1e4, 1e4, unit="m")] = 0.0

    def plane(self) -> "BasePlane":
        """Return the plane.

        Raises:
            KinetariumError: If it is none, or too steep.
        """
        from kinetarium.reach.placement.plane import base_plane

        return base_plane(self.plane_normal, height=self.plane_height)


@dataclass(frozen=True, kw_only=True)
class SiteFlags(PlaneFlags, RobotFlags):
    """A map, its robot and what stands around.

    Attributes:
        map: The map, irm3 or irm4.
        robot: The robot's catalogue name or file; what the map names if not given.
        obstacles: JSON file of what stands around: ground, spheres, boxes, meshes.
    """

    map: MapPath
    robot: Annotated[str, tyro.conf.arg(metavar="FILE|NAME", help_behavior_hint="")] = ""
    obstacles: OptionalPath = ""

    def open_map(self) -> "ReachMap":
        """Open the map."""
        from kinetarium.reach.maps.files import open_map

        return open_map(self.map)

    def model(self, reach_map: "ReachMap") -> "RobotModel":
        """Load the robot that was named, or else the map's."""
        from kinetarium.model.load import load_robot

        return self.load() if self.robot else load_robot(reach_map.recipe.robot)

    def placer(self, reach_map: "ReachMap") -> "Placer":
        """Get ready for queries.

        Raises:
            KinetariumError: If something does not fit.
        """
        from kinetarium.reach.collision.arm_in_scene import NO_OBSTACLES
        from kinetarium.reach.collision.obstacles import read_obstacles
        from kinetarium.reach.placement.query import Placer

        plane = self.plane()
        around = read_obstacles(self.obstacles, plane=plane) if self.obstacles else NO_OBSTACLES
        robot = self.model(reach_map)
        return Placer(reach_map, robot=robot, plane=plane, obstacles=around)
