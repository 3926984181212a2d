"""Kinematics and dynamics of a robot model."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.dynamics.chain import SerialChain as SerialChain
    from kinetarium.dynamics.chain import serial_chain as serial_chain
    from kinetarium.dynamics.coupling import Coupling as Coupling
    from kinetarium.dynamics.coupling import LoopClosure as LoopClosure
    from kinetarium.dynamics.coupling import random_positions as random_positions
    from kinetarium.dynamics.kinematics import link_poses as link_poses
    from kinetarium.dynamics.robot_dynamics import RobotDynamics as RobotDynamics
    from kinetarium.dynamics.two_link import TwoLink as TwoLink
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
