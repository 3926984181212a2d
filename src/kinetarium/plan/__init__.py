"""Paths for bases and arms, straight tool lines and time laws: planning without physics."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.plan.arm_path import ArmPath as ArmPath
    from kinetarium.plan.arm_path import PlacedArm as PlacedArm
    from kinetarium.plan.arm_path import PlanningRobot as PlanningRobot
    from kinetarium.plan.arm_path import place_arm as place_arm
    from kinetarium.plan.arm_path import plan_arm_path as plan_arm_path
    from kinetarium.plan.arm_path import planning_robot as planning_robot
    from kinetarium.plan.base_path import BaseKinematics as BaseKinematics
    from kinetarium.plan.base_path import BaseLeg as BaseLeg
    from kinetarium.plan.base_path import BasePath as BasePath
    from kinetarium.plan.base_path import base_pose as base_pose
    from kinetarium.plan.base_path import plan_base_path as plan_base_path
    from kinetarium.plan.base_path import steered_pose as steered_pose
    from kinetarium.plan.posture import narrow_posture as narrow_posture
    from kinetarium.plan.posture import side_reach as side_reach
    from kinetarium.plan.time_law import BaseLimits as BaseLimits
    from kinetarium.plan.time_law import BaseMotion as BaseMotion
    from kinetarium.plan.time_law import MotionLimits as MotionLimits
    from kinetarium.plan.time_law import TimedMotion as TimedMotion
    from kinetarium.plan.time_law import motion_limits as motion_limits
    from kinetarium.plan.time_law import time_base_path as time_base_path
    from kinetarium.plan.time_law import time_line as time_line
    from kinetarium.plan.time_law import time_path as time_path
    from kinetarium.plan.tool_line import ToolLine as ToolLine
    from kinetarium.plan.tool_line import plan_tool_lines as plan_tool_lines
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
