"""<origin>: the pose of a part, as a position and angles or a quaternion."""

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinetarium.model.diagnostics import Code, Diagnostics
from kinetarium.model.markup import Element
from kinetarium.model.reading import Reading
from kinetarium.model.robot import IDENTITY
from kinetarium.model.urdf.vocabulary import Children
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, pose_from_rpy, rotation_from_quaternion

_NUMBER = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})")


class UrdfVersion(NamedTuple):
    """A URDF version; a file without one has the first.

    Attributes:
        major: The number before the dot.
        minor: The number after it.
    """

    major: int
    minor: int

    def __str__(self) -> str:
        """Return the version as in a file."""
        return f"{self.major}.{self.minor}"


FIRST = UrdfVersion(1, 0)
WITH_QUATERNIONS = UrdfVersion(1, 1)
"""Adds quat_xyzw and capsules."""
WITH_OPTIONAL_LIMITS = UrdfVersion(1, 2)
"""Makes effort and velocity limits optional, and both position limits required."""
KNOWN = (FIRST, WITH_QUATERNIONS, WITH_OPTIONAL_LIMITS)


def read_version(root: Element, *, diagnostics: Diagnostics) -> UrdfVersion:
    """Return the version that a <robot> declares."""
    text = root.attributes.get("version", str(FIRST))
    number = _NUMBER.fullmatch(text)
    version = UrdfVersion(int(number[1]), int(number[2])) if number else None
    if version is None or version not in KNOWN:
        raise diagnostics.refusal(
            Code.BAD_VALUE,
            f"{root} has the unknown version {text!r}",
            remedy=f"the versions of URDF are {', '.join(map(str, KNOWN))}",
            line=root.line,
        )
    return version


_LEAST_LENGTH = 1e-9
_UNIT_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True)
class UrdfDocument:
    """The state shared by the readers of one URDF file.

    Attributes:
        reading: The file being read.
        children: Hands out child elements.
        version: The version of the file.
    """

    reading: Reading
    children: Children
    version: UrdfVersion

    def pose(self, parent: Element) -> Array:
        """Return the pose, shape (4, 4), in the <origin> of an element; identity without one."""
        origin = self.children.at_most_one(parent, "origin")
        if origin is None:
            return IDENTITY
        attributes = self.reading.attributes
        xyz = attributes.values(origin, "xyz", 3, default=(0.0, 0.0, 0.0))
        if "quat_xyzw" in origin.attributes:
            return frozen(pose(xyz, self._rotation(origin, parent)))
        rpy = attributes.values(origin, "rpy", 3, default=(0.0, 0.0, 0.0))
        return frozen(pose_from_rpy(xyz, rpy))

    def _rotation(self, origin: Element, parent: Element) -> Array:
        """Return the rotation, shape (3, 3), of quat_xyzw."""
        if self.version < WITH_QUATERNIONS:
            raise self.reading.diagnostics.refusal(
                Code.BAD_VALUE,
                f"the <origin> of {parent} has quat_xyzw, which URDF {self.version} ignores",
                remedy=f'write <robot version="{WITH_QUATERNIONS}" ...>, or rpy instead',
                line=origin.line,
            )
        if "rpy" in origin.attributes:
            raise self.reading.diagnostics.refusal(
                Code.BAD_VALUE,
                f"the <origin> of {parent} has both rpy and quat_xyzw",
                remedy="keep one of them",
                line=origin.line,
            )
        x, y, z, w = self.reading.attributes.vector(origin, "quat_xyzw", 4)
        length = float(np.linalg.norm((x, y, z, w)))
        if length < _LEAST_LENGTH:
            raise self.reading.diagnostics.refusal(
                Code.BAD_VALUE,
                f"the <origin> of {parent} has a quaternion of length zero",
                remedy='no rotation is quat_xyzw="0 0 0 1"',
                line=origin.line,
            )
        if abs(length - 1) > _UNIT_TOLERANCE:
            self.reading.diagnostics.repair(
                Code.BAD_VALUE,
                str(parent),
                f"quaternion of length {length:.6g} normalized",
                line=origin.line,
            )
        return rotation_from_quaternion((w, x, y, z))
