"""The <compiler> section: settings for the interpretation of an MJCF file."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import pi, radians
from pathlib import PurePosixPath

import numpy as np

from kinetarium.model.diagnostics import Allowance, Code
from kinetarium.model.markup import Element
from kinetarium.model.reading import Reading
from kinetarium.model.robot import IDENTITY
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import pose, rotation_about, rotation_from_quaternion

ORIENTATIONS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")
LEAST_LENGTH = 1e-7
"""Vectors up to this length count as zero in MuJoCo."""


class InertiaSource(StrEnum):
    """Whether masses come from the geoms."""

    NEVER = "false"
    ALWAYS = "true"
    WHERE_MISSING = "auto"


@dataclass(frozen=True, slots=True)
class Compiler:
    """The settings that affect the robot.

    Attributes:
        degrees: Whether angles are in degrees rather than radians.
        euler_sequence: Axes of Euler angles; lower case for body-fixed axes.
        limits_from_range: Whether a range alone implies a limit.
        inertia_source: Whether masses come from the geoms.
        inertia_groups: First and last geom group that count for masses.
        mesh_folder: Folder of mesh files, relative to the main file.
        texture_folder: Folder of texture and height field files, likewise.
        strip_path: Whether only the file name of an address counts.
        balance_inertia: Whether invalid moments are replaced by their mean.
        least_mass: Least mass of a body [kg].
        least_moment: Least principal moment of a body [kg m^2].
        total_mass: Mass to which the robot is scaled [kg]; not scaled if not positive.
        align_free: Whether the frame of a free body is moved to its principal axes.
        discard_visual: Whether geoms that are only visual are discarded.
        fuse_static: Whether bodies without joints are fused with their parents.
        global_coordinates: Whether poses, points and axes are written in the world frame.
    """

    degrees: bool = True
    euler_sequence: str = "xyz"
    limits_from_range: bool = True
    inertia_source: InertiaSource = InertiaSource.WHERE_MISSING
    inertia_groups: tuple[float, float] = (0.0, 5.0)
    mesh_folder: str = ""
    texture_folder: str = ""
    strip_path: bool = False
    balance_inertia: bool = False
    least_mass: float = 0.0
    least_moment: float = 0.0
    total_mass: float = -1.0
    align_free: bool = False
    discard_visual: bool = False
    fuse_static: bool = False
    global_coordinates: bool = False

    def radians(self, angle: float) -> float:
        """Return an angle of the file in radians."""
        return radians(angle) if self.degrees else angle

    def address(self, written: str, *, folder: str) -> str:
        """Return the address of a file, relative to one of the folders."""
        if self.strip_path:
            written = PurePosixPath(written.replace("\\", "/")).name
        if folder and not written.startswith("/"):
            return f"{folder.rstrip('/')}/{written}"
        return written

    def pose(self, element: Element, reading: Reading) -> Array:
        """Return the pose, shape (4, 4), of an element."""
        if not any(name in element.attributes for name in ("pos", *ORIENTATIONS)):
            return IDENTITY
        position = reading.attributes.vector(element, "pos", 3, default=(0.0, 0.0, 0.0))
        return pose(position, self._rotation(element, reading))

    def _rotation(self, element: Element, reading: Reading) -> Array:
        present = [name for name in ORIENTATIONS if name in element.attributes]
        match present:
            case ["quat"]:
                return read_quaternion(element, "quat", reading=reading)
            case ["euler"]:
                return self.euler_rotation(reading.attributes.vector(element, "euler", 3))
            case ["axisangle"]:
                values = reading.attributes.vector(element, "axisangle", 4)
                axis = _direction(values[:3], element, "axisangle", reading)
                return rotation_about(axis, self.radians(float(values[3])))
            case ["xyaxes"]:
                values = reading.attributes.vector(element, "xyaxes", 6)
                x = _direction(values[:3], element, "xyaxes", reading)
                y = _direction(values[3:] - x * (x @ values[3:]), element, "xyaxes", reading)
                return np.column_stack([x, y, np.cross(x, y)])
            case ["zaxis"]:
                values = reading.attributes.vector(element, "zaxis", 3)
                return shortest_turn(_direction(values, element, "zaxis", reading))
        return np.eye(3)

    def euler_rotation(self, angles: Array) -> Array:
        """Compute the rotation matrix, shape (3, 3), of Euler angles in the unit of the file."""
        R = np.eye(3)
        for letter, angle in zip(self.euler_sequence, angles, strict=True):
            axis = np.eye(3)["xyz".index(letter.lower())]
            turn = rotation_about(axis, self.radians(float(angle)))
            R = R @ turn if letter.islower() else turn @ R
        return R


def read_compiler(sections: Sequence[Element], *, reading: Reading) -> Compiler:
    """Read all <compiler> sections; a later one overrides an earlier one."""
    if not sections:
        return Compiler()
    attributes = {key: text for section in sections for key, text in section.attributes.items()}
    merged = Element("compiler", attributes, sections[-1].line)
    read, diagnostics = reading.attributes, reading.diagnostics
    in_world = attributes.get("coordinate") == "global"
    if in_world and Allowance.GLOBAL_COORDINATES not in diagnostics.allow:
        raise diagnostics.refusal(
            Code.UNSUPPORTED,
            "global coordinates are not supported by MuJoCo since 2.3.4",
            remedy=f"pass --lenient {Allowance.GLOBAL_COORDINATES} to read them as earlier "
            "versions do, or load and save the file with MuJoCo 2.3.3, which makes them local",
            line=merged.line,
        )
    if in_world:
        diagnostics.repair(
            Code.UNSUPPORTED, "compiler",
            "global coordinates made local, as by MuJoCo 2.3.3", line=merged.line,
        )  # fmt: skip
    sequence = attributes.get("eulerseq", "xyz")
    if len(sequence) != 3 or set(sequence.lower()) - set("xyz"):
        raise diagnostics.refusal(
            Code.BAD_VALUE, f"{merged}: eulerseq is {sequence!r}",
            remedy="three of the letters x, y, z, X, Y, Z", line=merged.line,
        )  # fmt: skip
    first, last = read.vector(merged, "inertiagrouprange", 2, default=(0.0, 5.0))
    return Compiler(
        degrees=attributes.get("angle", "degree") == "degree",
        euler_sequence=sequence,
        limits_from_range=read.flag(merged, "autolimits", default=True),
        inertia_source=read.choice(
            merged, "inertiafromgeom", InertiaSource, default=InertiaSource.WHERE_MISSING
        ),
        inertia_groups=(float(first), float(last)),
        mesh_folder=_folder(sections, "meshdir"),
        texture_folder=_folder(sections, "texturedir"),
        strip_path=read.flag(merged, "strippath", default=False),
        balance_inertia=read.flag(merged, "balanceinertia", default=False),
        least_mass=read.not_negative(merged, "boundmass"),
        least_moment=read.not_negative(merged, "boundinertia"),
        total_mass=read.number(merged, "settotalmass", default=-1.0),
        align_free=read.flag(merged, "alignfree", default=False),
        discard_visual=read.flag(merged, "discardvisual", default=False),
        fuse_static=read.flag(merged, "fusestatic", default=False),
        global_coordinates=in_world,
    )


def _folder(sections: Sequence[Element], name: str) -> str:
    """Return a folder of assets: the last one written, a specific one before a common one."""
    folder = ""
    for section in sections:
        folder = section.attributes.get("assetdir", folder)
        folder = section.attributes.get(name, folder)
    return folder


def read_quaternion(element: Element, name: str, *, reading: Reading) -> Array:
    """Return the rotation matrix, shape (3, 3), of a quaternion wxyz in an attribute."""
    quaternion = reading.attributes.vector(element, name, 4, default=(1.0, 0.0, 0.0, 0.0))
    return rotation_from_quaternion(_direction(quaternion, element, name, reading))


def shortest_turn(direction: Array) -> Array:
    """Return the rotation matrix, shape (3, 3), of the shortest rotation of z onto a unit vector.

    For -z, where it is not unique, MuJoCo takes half a turn about x.
    """
    axis = np.cross([0.0, 0.0, 1.0], direction)
    sine = float(np.linalg.norm(axis))
    if sine <= LEAST_LENGTH:
        return np.eye(3) if direction[2] > 0 else rotation_about([1.0, 0.0, 0.0], pi)
    return rotation_about(axis / sine, float(np.arctan2(sine, direction[2])))


def _direction(vector: Array, element: Element, name: str, reading: Reading) -> Array:
    length = float(np.linalg.norm(vector))
    if length <= LEAST_LENGTH:
        raise reading.diagnostics.refusal(
            Code.BAD_VALUE,
            f"{element}: {name} has no direction",
            remedy="its vectors must not be zero, nor its axes parallel",
            line=element.line,
        )
    return np.asarray(vector / length)
