"""Finding: one difference, its cause and its place, in words a user can act on."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """Whether a finding makes it another robot."""

    FAULT = "fault"
    NOTE = "note"


class Cause(StrEnum):
    """What makes two descriptions of a robot differ."""

    STRUCTURE = "structure"
    """A link or joint is missing, added, elsewhere in the tree or of another kind."""
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
    """A moment of inertia that differs in no way there is a name for."""
    LOST_LINK = "lost-link"
    """A fixed link whose mass is gone."""
    DROPPED_INERTIAL = "dropped-inertial"
    """A moving link whose mass is gone."""
    REPLACED_INERTIAL = "replaced-inertial"
    """Mass properties that have nothing in common, such as a default's."""
    MERGED_LINKS = "merged-links"
    """Fixed links lumped into one; the dynamics are the same."""
    ARMATURE = "armature"
    DAMPING = "damping"
    FRICTION = "friction"
    GRAVITY = "gravity"
    REFUSED = "refused"
    """A robot that a back-end does not take at all."""
    INCONSISTENT = "inconsistent"
    """Terms that contradict each other inside one back-end."""
    UNEXPLAINED = "unexplained"
    """A difference that no single cause and no short list of causes explains."""
    INSEPARABLE = "inseparable"
    """What no measurement can tell apart."""
    ROUNDING = "rounding"
    """A difference within what the back-end's arithmetic explains."""
    REPAIR = "repair"
    """What the gate changed in the robot file."""
    REMARK = "remark"
    """Where a back-end says itself that it differs."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs, whoever it is found in.

    Attributes:
        cause: What it comes from.
        where: Name of the link or joint at fault, several joined by ", "; empty for all.
        size: How large it is in the unit that the text names; None where there is no number.
        text: What was found in place of what.
        severity: Whether it is a fault.
    """

    cause: Cause
    where: str
    size: float | None
    text: str
    severity: Severity = Severity.FAULT

    def found_in(self, backend: str) -> "Finding":
        """Return the finding of this difference in a back-end."""
        message = f"{backend}: {self.text}"
        return Finding(backend, self.severity, self.cause, self.where, self.size, message)


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference between a back-end and the reference.

    Attributes:
        backend: The back-end that differs.
        severity: Whether it is a fault.
        cause: What it comes from.
        where: Name of the link or joint at fault, several joined by ", "; empty for all.
        size: How large it is in the unit that the message names; None where there is no number.
        message: The whole finding in words.
    """

    backend: str
    severity: Severity
    cause: Cause
    where: str
    size: float | None
    message: str

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> "Finding":
        """Read a finding back from plain data."""
        kinds = {"severity": Severity(data["severity"]), "cause": Cause(data["cause"])}
        return cls(**{**data, **kinds})

    def as_data(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        return {name: _plain(value) for name, value in asdict(self).items()}


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, StrEnum) else value
