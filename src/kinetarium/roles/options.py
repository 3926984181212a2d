"""RoleOptions: the flags of every study that takes a robot."""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from kinetarium.model.diagnostics import RobotOptions
from kinetarium.roles.roles import BaseKind

if TYPE_CHECKING:
    from kinetarium.roles.studied_robot import StudiedRobot


@dataclass(frozen=True, kw_only=True)
class RoleOptions(RobotOptions):
    """How a robot is read and its roles are found: fields of configs and cases.

    A config inherits them, so that every study has the same flags; a case has them as the
    field `reading`, beside the robot's name and the hash of all that was read.

    Attributes:
        roles: Roles file; by default NAME.roles.toml beside the robot file.
        srdf: SRDF file; by default NAME.srdf beside the robot file or in ../srdf.
        tool: Link of the tool.
        base: How the root moves, instead of what is found.
    """

    roles: str = ""
    srdf: str = ""
    tool: str = ""
    base: BaseKind | None = None

    @property
    def reading(self) -> "RoleOptions":
        """These options alone, without the other fields of a config."""
        return RoleOptions(**{each.name: getattr(self, each.name) for each in fields(RoleOptions)})

    def open(self, robot: str, *, sha256: str = "") -> "StudiedRobot":
        """Load a robot and find its roles.

        Args:
            robot: Name of a robot in the catalogue, or a URDF, xacro or MJCF file.
            sha256: Hash of what was read when the case was created.

        Raises:
            KinetariumError: If a file is refused, or differs from what was read before.
        """
        # Imported here, since flags of every study are made from this class.
        from kinetarium.roles.studied_robot import open_robot

        return open_robot(
            robot,
            options=self,
            roles=self.roles,
            srdf=self.srdf,
            tool=self.tool,
            base=self.base,
            sha256=sha256,
        )
