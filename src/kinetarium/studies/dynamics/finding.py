"""Finding: one difference, its cause and its location."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """Whether a finding changes the robot."""

    FAULT = "fault"
    NOTE = "note"


class Cause(StrEnum):
    """The cause of a difference between two descriptions of a robot."""

    STRUCTURE = "structure"
    """A link or joint is missing, added, elsewhere in the tree or of another kind."""
    BASE = "base"
    """A root that floats instead of being fixed, or conversely."""
    NAMES = "names"
    """The same part under another name."""
    JOINT_ORDER = "joint-order"
    """The same joints in another order of coordinates."""
    JOINT_AXIS = "joint-axis"
    """A joint axis that is flipped or tilted."""
    JOINT_ORIGIN = "joint-origin"
    """A joint frame that is displaced or turned in its parent link."""
    LIMITS = "limits"
    COUPLING = "coupling"
    """A mimic joint or loop that differs."""
    MASS = "mass"
    CENTER_OF_MASS = "center-of-mass"
    INERTIA_SCALE = "inertia-scale"
    """A moment of inertia multiplied by a factor."""
    INERTIA_AXES = "inertia-axes"
    """A moment of inertia whose axes are exchanged."""
    INERTIA_FRAME = "inertia-frame"
    """A moment of inertia in turned axes, or about another point."""
    INERTIA = "inertia"
    """A moment of inertia that differs in any other way."""
    LOST_LINK = "lost-link"
    """A fixed link that lost its mass."""
    DROPPED_INERTIAL = "dropped-inertial"
    """A moving link that lost its mass."""
    REPLACED_INERTIAL = "replaced-inertial"
    """Mass properties that have nothing in common, such as a default's."""
    INVENTED_MASS = "invented-mass"
    """Mass of a link that has none in the file."""
    MERGED_LINKS = "merged-links"
    """Fixed links lumped into one; the dynamics are the same."""
    ARMATURE = "armature"
    DAMPING = "damping"
    FRICTION = "friction"
    GRAVITY = "gravity"
    REFUSED = "refused"
    """A robot that a backend refuses."""
    INCONSISTENT = "inconsistent"
    """Terms that contradict each other inside one backend."""
    UNEXPLAINED = "unexplained"
    """A difference that no single cause and no short list of causes explains."""
    INSEPARABLE = "inseparable"
    """Causes that no measurement can separate."""
    ROUNDING = "rounding"
    """A difference within what the backend's arithmetic explains."""
    IMPLAUSIBLE = "implausible"
    """A property of the robot file that is possible, but hardly meant."""
    REPAIR = "repair"
    """A repair of the robot file."""
    REMARK = "remark"
    """A difference that the backend declares itself."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference, without the backend in which it was found.

    Attributes:
        cause: Its cause.
        where: Name of the link or joint at fault, several joined by ", "; empty for all.
        size: Its size in the unit that the text names, or None.
        text: The found and the expected value, in words.
        severity: Whether it is a fault.
    """

    cause: Cause
    where: str
    size: float | None
    text: str
    severity: Severity = Severity.FAULT

    def found_in(self, backend: str) -> "Finding":
        """Return the finding of this difference in a backend."""
        message = f"{backend}: {self.text}"
        return Finding(backend, self.severity, self.cause, self.where, self.size, message)


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference between a backend and the reference.

    Attributes:
        backend: The backend that differs.
        severity: Whether it is a fault.
        cause: Its cause.
        where: Name of the link or joint at fault, several joined by ", "; empty for all.
        size: Its size in the unit that the message names, or None.
        message: The finding in words.
    """

    backend: str
    severity: Severity
    cause: Cause
    where: str
    size: float | None
    message: str

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> "Finding":
        """Return a finding from JSON data."""
        kinds = {"severity": Severity(data["severity"]), "cause": Cause(data["cause"])}
        return cls(**{**data, **kinds})

    def as_data(self) -> dict[str, Any]:
        """Return the finding as JSON data."""
        return {name: _plain(value) for name, value in asdict(self).items()}


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, StrEnum) else value
