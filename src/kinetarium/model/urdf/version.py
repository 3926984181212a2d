"""The version of a URDF file, which decides what its elements mean."""

import re
from typing import NamedTuple

from kinetarium.model.findings import Code, Findings
from kinetarium.model.markup import Element

_NUMBER = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})")


class UrdfVersion(NamedTuple):
    """A version; a file without one has the first.

    Attributes:
        major: The number before the dot.
        minor: The number behind it.
    """

    major: int
    minor: int

    def __str__(self) -> str:
        """Return the version as files write it."""
        return f"{self.major}.{self.minor}"


FIRST = UrdfVersion(1, 0)
WITH_QUATERNIONS = UrdfVersion(1, 1)
"""Adds quat_xyzw and capsules."""
WITH_OPTIONAL_LIMITS = UrdfVersion(1, 2)
"""Lets effort and velocity limits be missing, and asks for both position limits."""
KNOWN = (FIRST, WITH_QUATERNIONS, WITH_OPTIONAL_LIMITS)


def read_version(root: Element, *, findings: Findings) -> UrdfVersion:
    """Return the version that a <robot> declares.

    Raises:
        RobotFileError: If it is none that is known.
    """
    text = root.attributes.get("version", str(FIRST))
    number = _NUMBER.fullmatch(text)
    version = UrdfVersion(int(number[1]), int(number[2])) if number else None
    if version is None or version not in KNOWN:
        raise findings.refusal(
            Code.BAD_VALUE,
            f"{root} has the version {text!r}",
            remedy=f"the versions of URDF are {', '.join(map(str, KNOWN))}",
            line=root.line,
        )
    return version
