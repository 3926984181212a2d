"""What an engine can do, as flags that it declares and the conformance kit checks."""

from enum import StrEnum

from kinetarium.errors import KinetariumError


class Capability(StrEnum):
    """One thing an engine may be able to do."""

    CONTACT_FORCES = "contact-forces"
    """Contacts come with the force between the two solids."""
    JOINT_WRENCH = "joint-wrench"
    """Force-torque sensors in joints."""
    EXTERNAL_WRENCH = "external-wrench"
    """Forces and torques applied to any solid from outside."""
    MIMIC = "mimic"
    """Coupled joints."""
    CLOSED_LOOPS = "closed-loops"
    """Loop constraints of the model."""
    FREE_BASE = "free-base"
    """Robots whose root is not held."""
    SAVE_RESTORE = "save-restore"
    """A restored run goes on exactly as the saved one."""
    MASS_MATRIX = "mass-matrix"
    """The joint-space mass matrix as the engine sees it."""
    INVERSE_DYNAMICS = "inverse-dynamics"
    """The engine's own inverse dynamics."""
    DETERMINISM = "determinism"
    """The same scene and commands give the same bits, in every process."""
    RESTITUTION = "restitution"
    """Impacts that bounce by the materials' restitution."""


class FrictionRule(StrEnum):
    """How the friction of two unequal surfaces combines."""

    MAXIMUM = "maximum"
    AVERAGE = "average"
    GEOMETRIC_MEAN = "geometric-mean"
    MINIMUM = "minimum"

    def combine(self, a: float, b: float) -> float:
        """Give the friction between surfaces of friction a and b [-]."""
        match self:
            case FrictionRule.MAXIMUM:
                return max(a, b)
            case FrictionRule.AVERAGE:
                return (a + b) / 2
            case FrictionRule.GEOMETRIC_MEAN:
                return float((a * b) ** 0.5)
            case FrictionRule.MINIMUM:
                return min(a, b)


class CapabilityError(KinetariumError):
    """An engine was asked for something it cannot do."""

    def __init__(self, engine: str, capability: Capability, *, reason: str = "") -> None:
        """Name the engine, what it cannot do, and why it was needed.

        Args:
            engine: The engine's name.
            capability: What it cannot do.
            reason: What needs it.
        """
        needed = f", which {reason} needs" if reason else ""
        super().__init__(f"engine '{engine}' has no {capability}{needed}")
