"""URDF joints: axes, limits, couplings; planar and spherical joints split into three."""

from collections.abc import Iterator
from enum import StrEnum
from math import copysign, inf, sqrt
from typing import Any

import numpy as np

from kinetarium.model.diagnostics import Allowance, Code
from kinetarium.model.markup import Element
from kinetarium.model.robot import IDENTITY, Joint, JointLimits, JointType, Link, Mimic
from kinetarium.model.urdf.origins import WITH_OPTIONAL_LIMITS, UrdfDocument
from kinetarium.model.urdf.vocabulary import ELEMENT_RULES, MOTION_LIMITS
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import rotation_onto

_FOREIGN_NUMBERS = {
    "safety_controller": ("soft_lower_limit", "soft_upper_limit", "k_position", "k_velocity"),
    "calibration": ("rising", "falling", "reference_position"),
}

UNLIMITED = 1e12
"""Numbers beyond this (1e16 is customary) mean that there is no limit."""


class UrdfJointType(StrEnum):
    """The joint types of the URDF standard, and Bullet's own."""

    FIXED = "fixed"
    REVOLUTE = "revolute"
    CONTINUOUS = "continuous"
    PRISMATIC = "prismatic"
    FLOATING = "floating"
    PLANAR = "planar"
    SPHERICAL = "spherical"


_ALONG_X = frozen([1.0, 0.0, 0.0])
_STANDARD = [kind for kind in UrdfJointType if kind is not UrdfJointType.SPHERICAL]
_SINGLE = (UrdfJointType.REVOLUTE, UrdfJointType.CONTINUOUS, UrdfJointType.PRISMATIC)


class JointReader:
    """Reads the joints of one URDF file."""

    def __init__(self, document: UrdfDocument) -> None:
        """Keep what the joints share."""
        self._document = document
        self._attributes = document.reading.attributes
        self._diagnostics = document.reading.diagnostics
        self._children = document.children

    def kind(self, element: Element) -> UrdfJointType:
        """Return the type of a <joint>."""
        text = self._attributes.text(element, "type")
        if text == UrdfJointType.SPHERICAL and Allowance.BALL_JOINTS in self._diagnostics.allow:
            return UrdfJointType.SPHERICAL
        if text not in _STANDARD:
            ball = text == UrdfJointType.SPHERICAL
            raise self._diagnostics.refusal(
                Code.JOINT_TYPE,
                f"{element} has the unknown type {text!r}",
                remedy=f"one of {', '.join(_STANDARD)}"
                + (f"; or pass --lenient {Allowance.BALL_JOINTS}" if ball else ""),
            )
        return UrdfJointType(text)

    def ends(self, element: Element) -> tuple[str, str]:
        """Return the names of the parent and the child link of a <joint>."""
        parent, child = (self._children.exactly_one(element, tag) for tag in ("parent", "child"))
        return self._attributes.name(parent, "link"), self._attributes.name(child, "link")

    def read(self, element: Element) -> Joint:
        """Read one <joint>; types other than revolute, continuous and prismatic become fixed.

        Child elements are checked even if the joint's type does not use them.
        """
        name = self._attributes.name(element)
        kind = self.kind(element)
        self._children.check(element)
        self._check_foreign_numbers(element)
        parent, child = self.ends(element)
        X_PJ, axis, mimic = IDENTITY, _ALONG_X, None
        type_, limits, losses = JointType.CONTINUOUS, JointLimits(), dict[str, Any]()
        moving = kind not in (UrdfJointType.FIXED, UrdfJointType.FLOATING)
        with self._diagnostics.collecting():
            X_PJ = self._document.pose(element)
        with self._diagnostics.collecting():
            axis = self._axis(element, moving=moving)
        with self._diagnostics.collecting():
            type_, limits = self._type_and_limits(element, kind)
        with self._diagnostics.collecting():
            losses = self._losses(element)
        with self._diagnostics.collecting():
            mimic = self._mimic(element)
        if mimic and mimic.joint == name and kind not in _SINGLE:
            raise self._diagnostics.refusal(Code.MIMIC, f"{element} follows itself")
        if kind not in _SINGLE:
            type_, limits, mimic, losses = JointType.FIXED, JointLimits(), None, {}
            idle = ("mimic",) if kind is UrdfJointType.FIXED else ("limit", "dynamics", "mimic")
            unused = [tag for tag in idle if element.all(tag)]
            if unused:
                self._diagnostics.repair(
                    Code.UNSUPPORTED,
                    f"joint {name}",
                    f"{kind}: omitted its <{'>, <'.join(unused)}>",
                    line=element.line,
                )
        line = self._diagnostics.line_of(element)
        return Joint(
            name, type_, parent, child, X_PJ, axis, limits, mimic=mimic, line=line, **losses
        )

    def _check_foreign_numbers(self, element: Element) -> None:
        """Check the numbers of omitted elements: NaN there indicates a broken file."""
        for tag, names in _FOREIGN_NUMBERS.items():
            for child in element.all(tag):
                for name in names:
                    self._attributes.number(child, name, default=0.0)

    def split(self, element: Element) -> Iterator[Joint | Link]:
        """Read a planar or spherical joint as three joints, with links between them.

        A planar one becomes two prismatic joints and a turn about its axis, a spherical one turns
        about x, y and z, which are singular where the second is at 90 degrees.
        """
        joint = self.read(element)
        spherical = self.kind(element) is UrdfJointType.SPHERICAL
        R = np.eye(3) if spherical else rotation_onto(joint.axis)
        between = [f"{joint.child}/x", f"{joint.child}/y"]
        ends = [joint.parent, *between, joint.child]
        slides = JointType.CONTINUOUS if spherical else JointType.PRISMATIC
        kinds = (slides, slides, JointType.CONTINUOUS)
        suffixes = ("/x", "/y", "/z" if spherical else "")
        for i, (suffix, kind) in enumerate(zip(suffixes, kinds, strict=True)):
            yield Joint(
                name=joint.name + suffix,
                type=kind,
                parent=ends[i],
                child=ends[i + 1],
                X_PJ=joint.X_PJ if i == 0 else IDENTITY,
                axis=frozen(R[:, i]),
            )
        for name in between:
            yield Link(name)
        self._diagnostics.repair(
            Code.UNSUPPORTED,
            f"joint {joint.name}",
            "spherical: read as three revolute joints, singular where the second is at 90 degrees"
            if spherical
            else "planar: read as two prismatic joints and a revolute one",
            line=element.line,
        )

    def _axis(self, element: Element, *, moving: bool) -> Array:
        child = self._children.at_most_one(element, "axis")
        if child is None:
            return _ALONG_X
        axis = self._attributes.vector(child, "xyz", 3)
        if not moving:  # whose axis is meaningless and often zero
            return _ALONG_X
        length = sqrt(axis @ axis)
        if length < 1e-9:
            raise self._diagnostics.refusal(
                Code.ZERO_AXIS, f"{element} has a zero axis", line=child.line
            )
        if abs(length - 1) > 1e-3:
            self._diagnostics.repair(
                Code.ZERO_AXIS,
                f"joint {element.attributes['name']}",
                f"axis of length {length:.6g} normalized",
                line=child.line,
            )
        return frozen(axis / length)

    def _type_and_limits(
        self, element: Element, kind: UrdfJointType
    ) -> tuple[JointType, JointLimits]:
        child = self._children.at_most_one(element, "limit")
        where = f"joint {element.attributes['name']}"
        bounded = kind in (UrdfJointType.REVOLUTE, UrdfJointType.PRISMATIC)
        unbounded = JointType.PRISMATIC if kind is UrdfJointType.PRISMATIC else JointType.CONTINUOUS
        if child is None:
            if bounded and Allowance.MISSING_LIMIT not in self._diagnostics.allow:
                raise self._diagnostics.refusal(
                    Code.LIMITS,
                    f"{element} is {kind} and has no <limit>",
                    remedy="add one, make it continuous, or pass --allow-missing-limit",
                )
            if bounded:
                self._diagnostics.repair(
                    Code.LIMITS, where, "no <limit>: read as unlimited", line=element.line
                )
            return unbounded, JointLimits()
        velocity, effort = (
            self._bound(element, child, key, required=bounded) for key in ("velocity", "effort")
        )
        lower, upper = self._range(element, child, bounded=bounded)
        self._check_unused_limits(element, child)
        if min(velocity, effort) < 0:
            raise self._diagnostics.refusal(
                Code.LIMITS, f"{element} has a negative speed or effort limit", line=child.line
            )
        if lower > upper:
            raise self._diagnostics.refusal(
                Code.LIMITS,
                f"{element} has its limits reversed: lower {lower:g} > upper {upper:g}",
                line=child.line,
            )
        has_range = "lower" in child.attributes or "upper" in child.attributes
        if not bounded or not has_range:
            if bounded:
                message = "neither lower nor upper: read as unlimited"
                self._diagnostics.repair(Code.LIMITS, where, message, line=child.line)
            elif kind is UrdfJointType.CONTINUOUS and _is_range(lower, upper):
                message = f"continuous: omitted its limits {lower:g} to {upper:g}"
                self._diagnostics.repair(Code.LIMITS, where, message, line=child.line)
            return unbounded, JointLimits(velocity=velocity, effort=effort)
        if lower >= UNLIMITED or upper <= -UNLIMITED:
            raise self._diagnostics.refusal(
                Code.LIMITS,
                f"{element} has implausible limits: lower {lower:g}, upper {upper:g}",
                line=child.line,
            )
        return JointType(kind), JointLimits(_limit(lower), _limit(upper), velocity, effort)

    def _range(self, element: Element, limit: Element, *, bounded: bool) -> tuple[float, float]:
        """Read lower and upper; the default of a missing one depends on the version."""
        defaults = (0.0, 0.0)
        if self._document.version >= WITH_OPTIONAL_LIMITS:
            defaults = (-inf, inf)
            missing = [name for name in ("lower", "upper") if name not in limit.attributes]
            if bounded and missing and Allowance.MISSING_LIMIT not in self._diagnostics.allow:
                raise self._diagnostics.refusal(
                    Code.LIMITS,
                    f"{element} has no {' and no '.join(missing)} limit, "
                    f"which URDF {self._document.version} requires",
                    remedy="add it, make the joint continuous, or pass --allow-missing-limit",
                    line=limit.line,
                )
        lower, upper = (
            self._attributes.number(limit, key, default=default, most=inf)
            for key, default in zip(("lower", "upper"), defaults, strict=True)
        )
        return lower, upper

    def _check_unused_limits(self, element: Element, limit: Element) -> None:
        """Check the limits of acceleration and jerk, and note that they are omitted."""
        for name in MOTION_LIMITS:
            if self._attributes.number(limit, name, default=0.0, most=inf) < 0:
                raise self._diagnostics.refusal(
                    Code.LIMITS, f"{element} has a negative limit of {name}", line=limit.line
                )
        self._children.leave_out_attributes(limit, *MOTION_LIMITS)

    def _bound(self, joint: Element, limit: Element, name: str, *, required: bool) -> float:
        """Read the limit of speed or effort; a missing one is none at all."""
        if (
            required
            and name not in limit.attributes
            and self._document.version < WITH_OPTIONAL_LIMITS
        ):
            if Allowance.MISSING_LIMIT not in self._diagnostics.allow:
                raise self._diagnostics.refusal(
                    Code.MISSING_ATTRIBUTE,
                    f"{joint} has no {name} limit",
                    remedy=f'write {name}="...", or pass --allow-missing-limit',
                    line=limit.line,
                )
            where = f"joint {joint.attributes['name']}"
            message = f"no {name} limit: read as unlimited"
            self._diagnostics.repair(Code.LIMITS, where, message, line=limit.line)
        return _limit(self._attributes.number(limit, name, default=UNLIMITED, most=inf))

    def _losses(self, element: Element) -> dict[str, Any]:
        """Return damping, friction and armature by name."""
        child = self._children.at_most_one(element, "dynamics")
        if child is None:
            return {}
        names = ELEMENT_RULES["dynamics"].attributes
        losses = {name: self._attributes.number(child, name, default=0.0) for name in names}
        if min(losses.values()) < 0:
            raise self._diagnostics.refusal(
                Code.BAD_VALUE, f"{element} has negative damping or friction", line=child.line
            )
        return losses

    def _mimic(self, element: Element) -> Mimic | None:
        child = self._children.at_most_one(element, "mimic")
        if child is None:
            return None
        return Mimic(
            self._attributes.name(child, "joint"),
            self._attributes.number(child, "multiplier", default=1.0),
            self._attributes.number(child, "offset", default=0.0),
        )


def _is_range(lower: float, upper: float) -> bool:
    """Return whether lower and upper are a real range: neither empty nor unlimited."""
    return lower < upper and (lower > -UNLIMITED or upper < UNLIMITED)


def _limit(value: float) -> float:
    return value if abs(value) < UNLIMITED else copysign(inf, value)
