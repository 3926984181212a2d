"""Configs and cases of reach-place and reach-follow."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from kinetarium.model.diagnostics import RobotOptions
from kinetarium.ranges import Range
from kinetarium.reach.placement.files import FreeAxis
from kinetarium.reach.placement.plane import BasePlane, Effort, Objective, base_plane
from kinetarium.roles.roles import BaseKind


class StopCount(StrEnum):
    """How many bases a query may use."""

    ONE = "one"
    AUTO = "auto"


@dataclass(frozen=True, kw_only=True)
class PlaneConfig:
    """The ground plane.

    Attributes:
        plane_normal: Normal of the plane on which the base stands, pointing up.
        plane_height: Height of this plane above the world's origin [m].
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
    """A map, its robot and the obstacles.

    Attributes:
        map: Inverse reachability map, irm3 or irm4; required.
        robot: Name of a robot in the catalogue, or a robot file; the map's robot by default.
        obstacles: JSON file of obstacles: ground, spheres, boxes, meshes.
        roles: Roles file; by default NAME.roles.toml beside the robot file.
        srdf: SRDF file; by default NAME.srdf beside the robot file or in ../srdf.
        base_kind: How the root moves, instead of what is found; one that is not fixed stands on its
            wheels.
    """

    map: str | None = None
    robot: str | None = None
    obstacles: str | None = None
    roles: str = ""
    srdf: str = ""
    base_kind: BaseKind | None = None


@dataclass(frozen=True, kw_only=True)
class PlaceConfig(SiteConfig):
    """Poses that a base has to reach.

    Attributes:
        poses: JSON file with tool poses in the world: a list of 4x4 matrices by rows, or of
            {"position", "quaternion_wxyz"}, which may have "free", "position_tolerance" and
            "angle_tolerance"; required.
        objective: count: the most reached poses, then the greatest sum of manipulabilities.
            manipulability: this sum alone, as in the paper. limits, singularity, clearance: the
            most reached poses, then the greatest margin of all of them from joint limits,
            singularities or obstacles.
        effort: Duration of the search.
        continuous: The poses are reached one after the other, with the tool moving straight:
            prefer a base where all are on one branch of the arm's configurations, and name every
            flip.
        tool_speed: Speed of the tool between them, for joint speeds.
        free: Axis about which the tool may be rotated at all poses.
        base_error: Largest errors of the robot's root along x and y and about z, such as 0.03 0.03
            3deg: find a base that reaches all poses wherever it stops within them.
        k: Number of different bases to find, the best first; more than one needs a base error.
        stops: one: one base for all poses. auto: the fewest bases that reach all of them.
    """

    poses: str | None = None
    objective: Objective = Objective.COUNT
    effort: Effort = Effort.STANDARD
    continuous: bool = False
    tool_speed: Annotated[float, Range(1e-4, 10.0, unit="m/s")] = 0.1
    free: FreeAxis | None = None
    base_error: tuple[str, str, str] | None = None
    k: Annotated[int, Range(1, 100, unit="-")] = 1
    stops: StopCount = StopCount.ONE


class BaseDrive(StrEnum):
    """How the base moves."""

    AUTO = "auto"
    """As its wheels allow, if the robot has any; otherwise in all directions."""
    WHEELS = "wheels"
    """Forwards, backwards and in turns, never sideways."""
    OMNIDIRECTIONAL = "omnidirectional"
    """In all directions."""


@dataclass(frozen=True, kw_only=True)
class FollowConfig(SiteConfig):
    """A trajectory that an arm on a mobile base has to follow.

    Attributes:
        trajectory: JSON file with the tool's trajectory: {"times": [s ...], "poses": [...]};
            required.
        drive: How the base moves: wheels never sideways, auto by the roles of the robot.
        speed: Maximum speed of the base [m/s].
        turning: Maximum yaw rate of the base [rad/s].
        acceleration: Maximum acceleration of the base, which starts from rest [m/s^2].
        turning_acceleration: Maximum yaw acceleration of the base [rad/s^2].
        joint_acceleration: Maximum acceleration of the joints, which robot files do not have
            [rad/s^2 or m/s^2].
    """

    trajectory: str | None = None
    drive: BaseDrive = BaseDrive.AUTO
    speed: Annotated[float, Range(1e-3, 100.0, unit="m/s")] = 1.0
    turning: Annotated[float, Range(1e-3, 100.0, unit="rad/s")] = 2.0
    acceleration: Annotated[float, Range(1e-3, 1000.0, unit="m/s^2")] = 1.0
    turning_acceleration: Annotated[float, Range(1e-3, 1000.0, unit="rad/s^2")] = 2.0
    joint_acceleration: Annotated[float, Range(1e-3, 1e4, unit="rad/s^2")] = 7.5


@dataclass(frozen=True, kw_only=True)
class PlaceCase(PlaceConfig):
    """A config whose files exist.

    Attributes:
        sha256: Digests of the files, by the fields that name them, and of the roles that are found
            with a robot file.
    """

    map: str
    robot: str
    poses: str
    sha256: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class FollowCase(FollowConfig):
    """A config whose files exist.

    Attributes:
        sha256: Digests of the files, by the fields that name them, and of the roles that are found
            with a robot file.
    """

    map: str
    robot: str
    trajectory: str
    sha256: dict[str, str]
