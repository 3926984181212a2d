"""The conformance kit: physics in closed form that every engine must agree with."""

from kinetarium.engines.conformance.check import Check, EngineCheck, Measurement
from kinetarium.engines.conformance.kit import CHECKS, check_engine

__all__ = ["CHECKS", "Check", "EngineCheck", "Measurement", "check_engine"]
