"""Controllers and control laws."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.control.admittance.floating import FloatingBody as FloatingBody
    from kinetarium.control.admittance.floating import PassivityObserver as PassivityObserver
    from kinetarium.control.admittance.law import AdmittanceGains as AdmittanceGains
    from kinetarium.control.admittance.law import AdmittanceSE3 as AdmittanceSE3
    from kinetarium.control.admittance.law import AntiWindup as AntiWindup
    from kinetarium.control.admittance.law import Form as Form
    from kinetarium.control.admittance.law import critical_delay as critical_delay
    from kinetarium.control.admittance.law import (
        critical_frequency as critical_frequency,
    )
    from kinetarium.control.admittance.sensing import ContactGate as ContactGate
    from kinetarium.control.admittance.sensing import PayloadWrench as PayloadWrench
    from kinetarium.control.admittance.sensing import RandomWalkKalman as RandomWalkKalman
    from kinetarium.control.admittance.sensing import TickAverage as TickAverage
    from kinetarium.control.admittance.tank import EnergyTank as EnergyTank
    from kinetarium.control.admittance.tank import VariableImpedance as VariableImpedance
    from kinetarium.control.arm.clik import Clik as Clik
    from kinetarium.control.arm.clik import ClikWarnings as ClikWarnings
    from kinetarium.control.arm.computed_torque import ComputedTorque as ComputedTorque
    from kinetarium.control.arm.computed_torque import GraspComputedTorque as GraspComputedTorque
    from kinetarium.control.arm.computed_torque import GraspReference as GraspReference
    from kinetarium.control.arm.computed_torque import StablePD as StablePD
    from kinetarium.control.arm.tracking import JacobianTracker as JacobianTracker
    from kinetarium.control.arm.tracking import Setpoints as Setpoints
    from kinetarium.control.interface import CommandSequence as CommandSequence
    from kinetarium.control.interface import ConstantCommand as ConstantCommand
    from kinetarium.control.interface import Controller as Controller
    from kinetarium.control.interface import ExternalWrench as ExternalWrench
    from kinetarium.control.interface import Interaction as Interaction
    from kinetarium.control.interface import Measurement as Measurement
    from kinetarium.control.vehicle.laws import DrivingLaw as DrivingLaw
    from kinetarium.control.vehicle.laws import FeedForward as FeedForward
    from kinetarium.control.vehicle.laws import Kanayama as Kanayama
    from kinetarium.control.vehicle.reference import CircleReference as CircleReference
    from kinetarium.control.vehicle.reference import DrivingReference as DrivingReference
    from kinetarium.control.vehicle.reference import EightReference as EightReference
    from kinetarium.control.vehicle.reference import SquareReference as SquareReference
    from kinetarium.control.vehicle.reference import SteadyReference as SteadyReference
    from kinetarium.control.vehicle.wheel_driver import WheelDriver as WheelDriver
    from kinetarium.control.vehicle.wheeled_base import Chassis as Chassis
    from kinetarium.control.vehicle.wheeled_base import DifferentialDrive as DifferentialDrive
    from kinetarium.control.vehicle.wheeled_base import DriveType as DriveType
    from kinetarium.control.vehicle.wheeled_base import GroundWheel as GroundWheel
    from kinetarium.control.vehicle.wheeled_base import SpeedRamp as SpeedRamp
    from kinetarium.control.vehicle.wheeled_base import Steering as Steering
    from kinetarium.control.vehicle.wheeled_base import WheeledBase as WheeledBase
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)
