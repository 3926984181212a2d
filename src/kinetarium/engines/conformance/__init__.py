"""The conformance kit: physics in closed form that every engine must agree with."""

from kinetarium.engines.conformance.check import Check, CheckResult, EngineCheck
from kinetarium.engines.conformance.kit import CHECKS, check_engine

__all__ = ["CHECKS", "Check", "CheckResult", "EngineCheck", "check_engine"]
