"""Roles of a robot: its base, arms, grippers, wheels and legs, and where they were found."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.roles.file import roles_toml as roles_toml
    from kinetarium.roles.find import find_roles as find_roles
    from kinetarium.roles.options import RoleOptions as RoleOptions
    from kinetarium.roles.roles import Arm as Arm
    from kinetarium.roles.roles import BaseKind as BaseKind
    from kinetarium.roles.roles import BaseRole as BaseRole
    from kinetarium.roles.roles import Finger as Finger
    from kinetarium.roles.roles import Gripper as Gripper
    from kinetarium.roles.roles import Leg as Leg
    from kinetarium.roles.roles import Roles as Roles
    from kinetarium.roles.roles import RolesError as RolesError
    from kinetarium.roles.roles import RoleSource as RoleSource
    from kinetarium.roles.roles import Wheel as Wheel
    from kinetarium.roles.studied_robot import StudiedRobot as StudiedRobot
    from kinetarium.roles.studied_robot import with_base as with_base
    from kinetarium.roles.studied_robot import with_locked_joints as with_locked_joints
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
