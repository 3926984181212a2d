"""What reach-place and reach-follow are asked, and one case of each."""

from dataclasses import dataclass
from typing import Annotated

from kinetarium.model.diagnostics import RobotOptions
from kinetarium.ranges import Range
from kinetarium.reach.placement.plane import BasePlane, Effort, Objective, base_plane


@dataclass(frozen=True, kw_only=True)
class PlaneConfig:
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

    @property
    def plane(self) -> BasePlane:
        """The plane.

        Raises:
            KinetariumError: If its normal does not point up.
        """
        return base_plane(self.plane_normal, height=self.plane_height)


@dataclass(frozen=True, kw_only=True)
class SiteConfig(PlaneConfig, RobotOptions):
    """A map, its robot and what stands around.

    Attributes:
        map: The map, irm3 or irm4.
        robot: The robot's catalogue name or file; what the map names if not given.
        obstacles: JSON file of what stands around: ground, spheres, boxes, meshes.
    """

    map: str | None = None
    robot: str | None = None
    obstacles: str | None = None


@dataclass(frozen=True, kw_only=True)
class PlaceConfig(SiteConfig):
    """What to place a base for.

    Attributes:
        poses: JSON file of the tool's poses in the world: a list of 4x4 matrices by
            rows, or of {"position", "quaternion_wxyz"}.
        objective: count: as many poses as can be, then the greatest sum of
            manipulabilities. manipulability: that sum alone, as published.
        effort: How long to search: fast, standard or thorough.
    """

    poses: str | None = None
    objective: Objective = Objective.COUNT
    effort: Effort = Effort.STANDARD


@dataclass(frozen=True, kw_only=True)
class FollowConfig(SiteConfig):
    """What to follow.

    Attributes:
        trajectory: JSON file of the tool's way: {"times": [s ...], "poses": [...]}.
        speed: Greatest speed of the base [m/s].
        turning: Greatest rate of turn of the base [rad/s].
    """

    trajectory: str | None = None
    speed: Annotated[float, Range(0.0, 100.0, unit="m/s")] = 1.0
    turning: Annotated[float, Range(0.0, 100.0, unit="rad/s")] = 2.0


@dataclass(frozen=True, kw_only=True)
class PlaceCase(PlaceConfig):
    """A config whose files are there.

    Attributes:
        sha256: Digest of each file that a field names, by the field.
    """

    map: str
    robot: str
    poses: str
    sha256: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class FollowCase(FollowConfig):
    """A config whose files are there.

    Attributes:
        sha256: Digest of each file that a field names, by the field.
    """

    map: str
    robot: str
    trajectory: str
    sha256: dict[str, str]
