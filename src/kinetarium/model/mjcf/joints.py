"""Joints: hinges, slides and the free joint, as MJCF writes them on a body."""

from dataclasses import dataclass
from enum import StrEnum
from math import inf

import numpy as np

from kinetarium.model.findings import Code
from kinetarium.model.markup import Element
from kinetarium.model.mjcf.compiler import LEAST_LENGTH
from kinetarium.model.mjcf.scope import Part, Scope
from kinetarium.model.robot import JointType, Limits
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_about

UNLIMITED = 1e10
"""Positions beyond this [rad or m] are MuJoCo's way to write no limit."""


class MotionType(StrEnum):
    """The joint types of MJCF."""

    FREE = "free"
    BALL = "ball"
    SLIDE = "slide"
    HINGE = "hinge"


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """One joint of a body, in the body's frame.

    Attributes:
        name: Its name, empty if it has none.
        type: What it is in a robot model; None for a free joint.
        anchor: A point on its axis [m], shape (3,).
        axis: Its unit axis, shape (3,).
        reference: Its position where the body is as written [rad or m].
        limits: Limits of position and effort.
        damping: Viscous damping [N m s/rad or N s/m].
        friction: Coulomb friction [N m or N].
        armature: Inertia of the drive seen at the joint [kg m^2 or kg].
        line: Its line.
        aligned: Whether MuJoCo moves the frame of the body, a free one, to its principal axes.
    """

    name: str
    type: JointType | None
    anchor: Array
    axis: Array
    reference: float
    limits: Limits
    damping: float
    friction: float
    armature: float
    line: int
    aligned: bool = False

    def reference_pose(self) -> Array:
        """Return the pose, shape (4, 4), by which position zero differs from the one written."""
        if self.type is JointType.PRISMATIC:
            return pose(-self.reference * self.axis)
        return pose(rotation=rotation_about(self.axis, -self.reference))


class JointReader:
    """Reads the joints of one file."""

    def __init__(self, *, scope: Scope) -> None:
        """Keep the file being read."""
        self._scope = scope
        self._attributes = scope.reading.attributes

    def is_free(self, part: Part) -> bool:
        """Return whether a <joint> or <freejoint> is a free joint."""
        if part.element.tag == "freejoint":
            return True
        element = self._scope.defaults.complete(part.element, part.child_class)
        return element.attributes.get("type") == MotionType.FREE

    def read(self, part: Part) -> Motion:
        """Read a <joint> or <freejoint>.

        Args:
            part: The element and where it stands in its body.

        Raises:
            RobotFileError: If it is not strictly right or not supported.
        """
        free = part.element.tag == "freejoint"
        element = part.element
        if not free:
            element = self._scope.defaults.complete(element, part.child_class)
        name = self._attributes.name(element) if "name" in element.attributes else ""
        kind = MotionType.FREE if free else self._kind(element)
        if kind is MotionType.FREE:
            self._refuse_losses(element)
            zero = frozen(np.zeros(3))
            align = element.attributes.get("align", "auto")
            aligned = align == "true" or (align == "auto" and self._scope.compiler.align_free)
            return Motion(
                name, None, zero, zero, 0.0, Limits(), 0.0, 0.0, 0.0, element.line, aligned
            )
        self._refuse_springs(element)
        position = self._attributes.vector(element, "pos", 3, default=(0.0, 0.0, 0.0))
        axis = self._attributes.vector(element, "axis", 3, default=(0.0, 0.0, 1.0))
        length = float(np.linalg.norm(axis))
        if length <= LEAST_LENGTH:
            raise self._scope.refusal(
                Code.ZERO_AXIS, f"{element} has no direction: its axis is zero", element
            )
        turns = kind is MotionType.HINGE
        R, p = part.X_BF[:3, :3], part.X_BF[:3, 3]
        reference = self._attributes.number(element, "ref", default=0.0)
        type_, limits = self._type_and_limits(element, turns)
        return Motion(
            name=name,
            type=type_,
            anchor=frozen(R @ position + p),
            axis=frozen(R @ axis / length),
            reference=self._scope.compiler.radians(reference) if turns else reference,
            limits=limits,
            damping=linear_damping(element, self._scope),
            friction=self._scope.not_negative(element, "frictionloss"),
            armature=self._scope.not_negative(element, "armature"),
            line=element.line,
        )

    def _kind(self, element: Element) -> MotionType:
        text = element.attributes.get("type", MotionType.HINGE)
        if text not in list(MotionType):
            raise self._scope.refusal(
                Code.JOINT_TYPE,
                f"{element} has the unknown type {text!r}",
                element,
                remedy=f"one of {', '.join(MotionType)}",
            )
        if text == MotionType.BALL:
            raise self._scope.refusal(
                Code.UNSUPPORTED,
                f"{element}: ball joints are not supported",
                element,
                remedy="write three hinges instead",
            )
        return MotionType(text)

    def _refuse_losses(self, element: Element) -> None:
        for name in ("stiffness", "damping", "frictionloss", "armature"):
            if name in element.attributes and any(self._attributes.numbers(element, name)):
                raise self._scope.refusal(
                    Code.UNSUPPORTED,
                    f"{element}: a free joint with {name} is not supported",
                    element,
                    remedy="write <freejoint/>, which inherits no defaults",
                )

    def _refuse_springs(self, element: Element) -> None:
        stiff = "stiffness" in element.attributes and any(
            self._attributes.numbers(element, "stiffness")
        )
        damped = self._attributes.vector(element, "springdamper", 2, default=(0.0, 0.0))
        if np.any(damped) and not np.all(damped > 0):
            raise self._scope.refusal(
                Code.BAD_VALUE, f"{element}: springdamper holds a number that is not positive",
                element,
            )  # fmt: skip
        if stiff or np.any(damped):
            raise self._scope.refusal(
                Code.UNSUPPORTED,
                f"{element}: springs are not supported",
                element,
                remedy='write stiffness="0" and put the spring into the controller',
            )

    def _type_and_limits(self, element: Element, turns: bool) -> tuple[JointType, Limits]:
        bounds = self._scope.interval(element, limited="limited", bounds="range")
        effort = self._scope.interval(
            element, limited="actuatorfrclimited", bounds="actuatorfrcrange"
        )
        strongest = largest(effort, element, scope=self._scope)
        free = JointType.CONTINUOUS if turns else JointType.PRISMATIC
        if bounds is None:
            return free, Limits(effort=strongest)
        lower, upper = (self._scope.compiler.radians(bound) if turns else bound for bound in bounds)
        return (
            JointType.REVOLUTE if turns else JointType.PRISMATIC,
            Limits(
                lower if lower > -UNLIMITED else -inf,
                upper if upper < UNLIMITED else inf,
                effort=strongest,
            ),
        )


def linear_damping(element: Element, scope: Scope) -> float:
    """Return the damping of a joint or actuator, which must be proportional to its speed.

    Raises:
        RobotFileError: If it is negative or has terms of higher order.
    """
    values = (
        scope.reading.attributes.numbers(element, "damping")
        if "damping" in element.attributes
        else (0.0,)
    )
    if not values or any(values[1:]):
        raise scope.refusal(
            Code.UNSUPPORTED,
            f"{element}: damping that is not proportional to speed is not supported",
            element,
            remedy="keep the first number",
        )
    if values[0] < 0:
        raise scope.refusal(Code.BAD_VALUE, f"{element}: damping is negative", element)
    return values[0]


def largest(bounds: tuple[float, float] | None, element: Element, *, scope: Scope) -> float:
    """Return the largest magnitude in an interval of efforts; infinite where there is no limit.

    A limit that differs between the two directions is noted, since a model has one for both.
    """
    if bounds is None:
        return inf
    lower, upper = bounds
    if abs(lower) != abs(upper):
        scope.findings.repair(
            Code.LIMITS,
            str(element),
            f"effort {lower:g} to {upper:g}: the larger taken for both directions",
            line=element.line,
        )
    return max(abs(lower), abs(upper))
