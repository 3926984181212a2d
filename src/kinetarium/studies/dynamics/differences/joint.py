"""What happened to a joint, to the order of joints and to gravity."""

from collections.abc import Iterator
from math import degrees

import numpy as np

from kinetarium.model.robot import Joint, JointType
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dynamics.finding import Cause, Difference

_LEAST_ANGLE = 1e-9
"""Tilt of an axis that is rounding [rad]."""


def axis_difference(joint: str, given: Array, found: Array) -> Iterator[Difference]:
    """Compare two unit axes in the same frame."""
    angle = float(np.arctan2(np.linalg.norm(np.cross(given, found)), given @ found))
    if angle <= _LEAST_ANGLE:
        return
    how = "is flipped" if angle > np.pi - 1e-6 else f"is tilted by {degrees(angle):.4g} degrees"
    text = f"axis of joint {joint} {how}: {vector_text(found)} instead of {vector_text(given)}"
    yield Difference(Cause.JOINT_AXIS, joint, angle, text)


def resistance_differences(
    joint: Joint, *, armature: float, damping: float, friction: float, tolerance: float
) -> Iterator[Difference]:
    """Compare what a joint resists its motion with.

    Args:
        joint: The joint as it should be.
        armature: Drive inertia as it is [kg m^2 or kg].
        damping: Viscous damping as it is [N m s/rad or N s/m].
        friction: Coulomb friction as it is [N m or N].
        tolerance: Largest relative difference that is rounding [-].
    """
    slides = joint.type is JointType.PRISMATIC
    for cause, unit, given, found, effect in (
        (Cause.ARMATURE, "kg" if slides else "kg m^2", joint.armature, armature,
         "M and tau include it"),
        (Cause.DAMPING, "N s/m" if slides else "N m s/rad", joint.damping, damping,
         "its motion includes it, and so does inverse dynamics such as mj_inverse"),
        (Cause.FRICTION, "N" if slides else "N m", joint.friction, friction,
         "its motion includes it"),
    ):  # fmt: skip
        if abs(found - given) <= tolerance * max(abs(given), 1.0):
            continue
        if not given:
            what = f"{cause} of {found:.4g} {unit} left on; {effect}"
        elif not found:
            what = f"{cause} of {given:.4g} {unit} is lost"
        else:
            what = f"{cause} {found:.4g} instead of {given:.4g} {unit}"
        yield Difference(cause, joint.name, found - given, f"joint {joint.name}: {what}")


def order_difference(wanted: list[str], names: list[str]) -> Iterator[Difference]:
    """See whether the joints that both have stand in the same order."""
    ours = [name for name in wanted if name in names]
    theirs = [name for name in names if name in wanted]
    displaced = [name for name, other in zip(ours, theirs, strict=True) if name != other]
    if displaced:
        text = (
            f"coordinates are in the order {', '.join(theirs)} instead of {', '.join(ours)};"
            " they are compared by name"
        )
        yield Difference(Cause.JOINT_ORDER, ", ".join(displaced), None, text)


def gravity_difference(given: Array, found: Array, *, tolerance: float) -> Iterator[Difference]:
    """Compare two accelerations of gravity [m/s^2], shape (3,) each."""
    size = float(np.linalg.norm(found - given))
    strength, other = float(np.linalg.norm(given)), float(np.linalg.norm(found))
    if size <= tolerance * max(strength, 1.0):
        return
    cosine = float(given @ found) / (strength * other) if strength * other else 0.0
    if other <= tolerance * strength:
        how = "is off"
    elif abs(cosine + 1) < _LEAST_ANGLE:
        how = "has the wrong sign"
    elif abs(cosine - 1) < _LEAST_ANGLE:
        how = f"has the wrong size, {other / strength:.4g} times as large"
    else:
        angle = degrees(float(np.arccos(np.clip(cosine, -1.0, 1.0))))
        how = f"has the wrong direction, by {angle:.4g} degrees"
    text = f"gravity {how}: {vector_text(found)} instead of {vector_text(given)} m/s^2"
    yield Difference(Cause.GRAVITY, "world", size, text)


def vector_text(values: Array) -> str:
    """Write a vector with four digits, entries that are rounding beside the others as zero."""
    least = max(1e-12, 1e-9 * float(np.abs(values).max(initial=0.0)))
    return "(" + ", ".join(f"{v if abs(v) > least else 0.0:.4g}" for v in values) + ")"
