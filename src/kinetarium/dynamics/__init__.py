"""Kinematics and dynamics of a robot model."""

from kinetarium.dynamics.coupling import Coupling, LoopClosure, random_positions
from kinetarium.dynamics.kinematics import link_poses
from kinetarium.dynamics.robot_dynamics import RobotDynamics
from kinetarium.dynamics.sphere_cover import SphereCover, cover_by_spheres
from kinetarium.dynamics.two_link import TwoLink

__all__ = [
    "Coupling",
    "LoopClosure",
    "RobotDynamics",
    "SphereCover",
    "TwoLink",
    "cover_by_spheres",
    "link_poses",
    "random_positions",
]
