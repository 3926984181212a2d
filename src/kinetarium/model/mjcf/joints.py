"""Joints: the hinges, slides and free joints of bodies."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import inf

import numpy as np

from kinetarium.model.diagnostics import Allowance, Code
from kinetarium.model.markup import Element
from kinetarium.model.mjcf.compiler import LEAST_LENGTH
from kinetarium.model.mjcf.document import MjcfDocument, PlacedElement
from kinetarium.model.robot import Joint, JointLimits, JointType
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_about

UNLIMITED = 1e10
"""Positions beyond this mean that there is no limit, as in MuJoCo [rad or m]."""


class MjcfJointType(StrEnum):
    """The joint types of MJCF."""

    FREE = "free"
    BALL = "ball"
    SLIDE = "slide"
    HINGE = "hinge"


@dataclass(frozen=True, slots=True, eq=False)
class MjcfJoint:
    """One joint of a body, in the body's frame.

    Attributes:
        name: Its name, empty if it has none.
        line: Its line.
        joint: The joint, not yet between two links; None for a free joint.
        anchor: A point on its axis [m], shape (3,).
        reference: Its position in the file's pose [rad or m].
        aligned: Whether MuJoCo moves the frame of a free body to its principal axes.
        springdamper: Time constant [s] and damping ratio of its spring, or None.
    """

    name: str
    line: int
    joint: Joint | None = None
    anchor: Array = field(default_factory=lambda: frozen(np.zeros(3)))
    reference: float = 0.0
    aligned: bool = False
    springdamper: tuple[float, float] | None = None

    def reference_pose(self) -> Array:
        """Return the pose at position zero in the pose at the reference, shape (4, 4)."""
        assert self.joint is not None
        if self.joint.type is JointType.PRISMATIC:
            return pose(-self.reference * self.joint.axis)
        return pose(rotation=rotation_about(self.joint.axis, -self.reference))


class JointReader:
    """Reads the joints of one file."""

    def __init__(self, *, document: MjcfDocument) -> None:
        """Keep the file being read."""
        self._document = document
        self._diagnostics = document.diagnostics
        self._attributes = document.reading.attributes

    def is_free(self, placed: PlacedElement) -> bool:
        """Return whether a <joint> or <freejoint> is a free joint."""
        if placed.element.tag == "freejoint":
            return True
        element = self._document.defaults.complete(placed.element, placed.child_class)
        return element.attributes.get("type") == MjcfJointType.FREE

    def placeholder(self, placed: PlacedElement) -> MjcfJoint:
        """Return a joint in place of one that may be refused, so that the rest can be read."""
        name = placed.element.attributes.get("name", "")
        if self.is_free(placed):
            return MjcfJoint(name, placed.element.line)
        hinge = Joint(name, JointType.CONTINUOUS, parent="", child="")
        return MjcfJoint(name, placed.element.line, hinge)

    def read(self, placed: PlacedElement) -> list[MjcfJoint]:
        """Read a <joint> or <freejoint>; a ball joint that is allowed becomes three hinges."""
        free = placed.element.tag == "freejoint"
        element = placed.element
        if not free:
            element = self._document.defaults.complete(element, placed.child_class)
        name = self._attributes.name(element) if "name" in element.attributes else ""
        kind = MjcfJointType.FREE if free else self._kind(element)
        if kind is MjcfJointType.FREE:
            self._refuse_losses(element)
            align = element.attributes.get("align", "auto")
            aligned = align == "true" or (align == "auto" and self._document.compiler.align_free)
            return [MjcfJoint(name, element.line, aligned=aligned)]
        if kind is MjcfJointType.BALL:
            return self._three_hinges(name, element, placed)
        turns = kind is MjcfJointType.HINGE
        stiffness, springref = self._spring(element, turns=turns)
        position = self._attributes.vector(element, "pos", 3, default=(0.0, 0.0, 0.0))
        axis = self._attributes.vector(element, "axis", 3, default=(0.0, 0.0, 1.0))
        length = float(np.linalg.norm(axis))
        if length <= LEAST_LENGTH:
            raise self._diagnostics.refusal(Code.ZERO_AXIS, f"{element} has a zero axis")
        R, p = placed.X_BF[:3, :3], placed.X_BF[:3, 3]
        reference = self._attributes.number(element, "ref", default=0.0)
        type_, limits = self._type_and_limits(element, turns)
        joint = Joint(
            name,
            type_,
            parent="",
            child="",
            axis=frozen(R @ axis / length),
            limits=limits,
            damping=linear_damping(element, self._document),
            friction=self._attributes.not_negative(element, "frictionloss"),
            armature=self._attributes.not_negative(element, "armature"),
            stiffness=stiffness,
            springref=springref,
            line=self._diagnostics.line_of(element),
        )
        reference = self._document.compiler.radians(reference) if turns else reference
        return [
            MjcfJoint(
                name,
                element.line,
                joint,
                frozen(R @ position + p),
                reference,
                springdamper=self._springdamper(element),
            )
        ]

    def _three_hinges(self, name: str, element: Element, placed: PlacedElement) -> list[MjcfJoint]:
        """Return hinges about x, y and z in place of a ball joint, with its losses in each.

        They reach the same orientations, but are singular where the second is at 90 degrees. The
        limit of a ball joint, on the angle of its whole rotation, has no counterpart.
        """
        limited = self._document.interval(element, limited="limited", bounds="range") is not None
        self._document.let_pass(
            Allowance.BALL_JOINTS,
            element,
            "ball joints are not supported",
            remedy="write three hinges instead",
            repair="read it as three hinges, singular where the second is at 90 degrees"
            + (", without its limit" if limited else ""),
        )
        unkept = [
            what
            for what in ("stiffness", "springdamper", "frictionloss")
            if any(self._attributes.numbers(element, what, default=()))
        ]
        if unkept:
            raise self._diagnostics.refusal(
                Code.UNSUPPORTED,
                f"{element}: a ball joint with {unkept[0]} is not supported",
                remedy="write three hinges with their own",
            )
        position = self._attributes.vector(element, "pos", 3, default=(0.0, 0.0, 0.0))
        hinge = Joint(
            name,
            JointType.CONTINUOUS,
            parent="",
            child="",
            damping=linear_damping(element, self._document),
            armature=self._attributes.not_negative(element, "armature"),
            line=self._diagnostics.line_of(element),
        )
        motion = MjcfJoint(
            name,
            element.line,
            hinge,
            frozen(placed.X_BF[:3, :3] @ position + placed.X_BF[:3, 3]),
        )
        return [
            replace(
                motion,
                name=f"{name}/{letter}",
                joint=replace(hinge, axis=frozen(axis)),
            )
            for letter, axis in zip("xyz", np.eye(3), strict=True)
        ]

    def _kind(self, element: Element) -> MjcfJointType:
        text = element.attributes.get("type", MjcfJointType.HINGE)
        if text not in list(MjcfJointType):
            raise self._diagnostics.refusal(
                Code.JOINT_TYPE,
                f"{element} has the unknown type {text!r}",
                remedy=f"one of {', '.join(MjcfJointType)}",
            )
        return MjcfJointType(text)

    def _refuse_losses(self, element: Element) -> None:
        for name in ("stiffness", "damping", "frictionloss", "armature"):
            if any(self._attributes.numbers(element, name, default=())):
                raise self._diagnostics.refusal(
                    Code.UNSUPPORTED,
                    f"{element}: a free joint with {name} is not supported",
                    remedy="write <freejoint/>, which inherits no defaults",
                )

    def _spring(self, element: Element, *, turns: bool) -> tuple[float, float]:
        """Return the stiffness of a joint's spring and the position at which it is relaxed."""
        stiffness, *higher = self._attributes.numbers(element, "stiffness", default=(0.0,))
        if any(higher):
            raise self._diagnostics.refusal(
                Code.UNSUPPORTED,
                f"{element}: springs that are not linear are not supported",
                remedy="keep the first number",
            )
        if stiffness < 0:
            raise self._diagnostics.refusal(Code.BAD_VALUE, f"{element}: stiffness is negative")
        relaxed = self._attributes.number(element, "springref", default=0.0)
        if not stiffness and "springdamper" not in element.attributes:
            return 0.0, 0.0
        return stiffness, self._document.compiler.radians(relaxed) if turns else relaxed

    def _springdamper(self, element: Element) -> tuple[float, float] | None:
        time, ratio = self._attributes.values(element, "springdamper", 2, default=(0.0, 0.0))
        if not time and not ratio:
            return None
        if time <= 0 or ratio <= 0:
            raise self._diagnostics.refusal(
                Code.BAD_VALUE, f"{element}: springdamper has a number that is not positive",
            )  # fmt: skip
        return time, ratio

    def _type_and_limits(self, element: Element, turns: bool) -> tuple[JointType, JointLimits]:
        bounds = self._document.interval(element, limited="limited", bounds="range")
        effort = self._document.interval(
            element, limited="actuatorfrclimited", bounds="actuatorfrcrange"
        )
        strongest = largest(effort, element, document=self._document)
        free = JointType.CONTINUOUS if turns else JointType.PRISMATIC
        if bounds is None:
            return free, JointLimits(effort=strongest)
        lower, upper = (
            self._document.compiler.radians(bound) if turns else bound for bound in bounds
        )
        return (
            JointType.REVOLUTE if turns else JointType.PRISMATIC,
            JointLimits(
                lower if lower > -UNLIMITED else -inf,
                upper if upper < UNLIMITED else inf,
                effort=strongest,
            ),
        )


def linear_damping(element: Element, document: MjcfDocument) -> float:
    """Return the damping of a joint or actuator, which must be linear."""
    values = document.reading.attributes.numbers(element, "damping", default=(0.0,))
    if any(values[1:]):
        raise document.diagnostics.refusal(
            Code.UNSUPPORTED,
            f"{element}: damping that is not proportional to speed is not supported",
            remedy="keep the first number",
        )
    if values[0] < 0:
        raise document.diagnostics.refusal(Code.BAD_VALUE, f"{element}: damping is negative")
    return values[0]


def largest(
    bounds: tuple[float, float] | None, element: Element, *, document: MjcfDocument
) -> float:
    """Return the largest magnitude in an interval of efforts; infinite without a limit.

    Different limits in the two directions are recorded, since a model has one for both.
    """
    if bounds is None:
        return inf
    lower, upper = bounds
    if abs(lower) != abs(upper):
        document.diagnostics.repair(
            Code.LIMITS,
            str(element),
            f"effort {lower:g} to {upper:g}: the larger used for both directions",
            line=element.line,
        )
    return max(abs(lower), abs(upper))
