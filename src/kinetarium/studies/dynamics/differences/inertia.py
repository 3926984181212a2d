"""Differences of joint properties, gravity and mass properties, and their causes."""

from collections.abc import Iterator, Mapping
from itertools import combinations, permutations, product
from math import degrees

import numpy as np

from kinetarium.dynamics.inertial_parameters import steiner
from kinetarium.engines.protocol import LoadedJoint
from kinetarium.model.robot import Inertia, Joint, JointType, Mimic
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dynamics.finding import Cause, Difference

_LEAST_ANGLE = 1e-9
"""Largest tilt of an axis due to rounding [rad]."""
_LEAST_TURN = 1e-7
"""Largest rotation of a frame due to rounding [rad]."""


def axis_difference(
    joint: str, given: Array, found: Array, *, tolerance: float = 0.0
) -> Iterator[Difference]:
    """Compare two unit axes in the same frame; the tolerance is an angle [rad]."""
    angle = float(np.arctan2(np.linalg.norm(np.cross(given, found)), given @ found))
    if angle <= max(_LEAST_ANGLE, tolerance):
        return
    how = "is flipped" if angle > np.pi - 1e-6 else f"is tilted by {degrees(angle):.4g} degrees"
    text = f"axis of joint {joint} {how}: {vector_text(found)} instead of {vector_text(given)}"
    yield Difference(Cause.JOINT_AXIS, joint, angle, text)


def frame_differences(
    joint: str, given: Array, found: Array, *, tolerance: float
) -> Iterator[Difference]:
    """Compare two poses of a joint in the same frame, shape (4, 4) each.

    Args:
        joint: Its name.
        given: The given pose.
        found: The pose as found.
        tolerance: Largest difference due to rounding [m, rad].
    """
    shift = found[:3, 3] - given[:3, 3]
    distance = float(np.linalg.norm(shift))
    if distance > tolerance:
        text = f"origin of joint {joint} is displaced by {vector_text(1e3 * shift)} mm"
        yield Difference(Cause.JOINT_ORIGIN, joint, distance, text)
    turn = so3.log(given[:3, :3].T @ found[:3, :3])
    angle = float(np.linalg.norm(turn))
    if angle > max(_LEAST_TURN, tolerance):
        text = (
            f"frame of joint {joint} is turned by {degrees(angle):.4g} degrees"
            f" about {vector_text(turn / angle)}"
        )
        yield Difference(Cause.JOINT_ORIGIN, joint, angle, text)


def placement_differences(
    poses: Mapping[str, tuple[Array, Array]], *, tolerance: float
) -> Iterator[Difference]:
    """Compare the poses of several joints, and name two that have each other's.

    Args:
        poses: The given and the found pose by joint, shape (4, 4) each.
        tolerance: Largest difference due to rounding [m, rad].
    """

    def apart(given: Array, found: Array) -> bool:
        return any(frame_differences("", given, found, tolerance=tolerance))

    moved = [name for name, (given, found) in poses.items() if apart(given, found)]
    exchanged = set[str]()
    for a, b in combinations(moved, 2):
        (given_a, found_a), (given_b, found_b) = poses[a], poses[b]
        if {a, b} & exchanged or apart(given_a, found_b) or apart(given_b, found_a):
            continue
        exchanged |= {a, b}
        size = float(np.linalg.norm(given_a[:3, 3] - given_b[:3, 3]))
        text = f"origins of joints {a} and {b} are exchanged"
        yield Difference(Cause.JOINT_ORIGIN, f"{a}, {b}", size, text)
    for name in moved:
        if name not in exchanged:
            yield from frame_differences(name, *poses[name], tolerance=tolerance)


def resistance_differences(
    joint: Joint, other: Joint | LoadedJoint, *, tolerance: float
) -> Iterator[Difference]:
    """Compare armature, damping and friction of a joint.

    Args:
        joint: The given joint.
        other: The joint as found.
        tolerance: Largest relative difference due to rounding [-].
    """
    slides = joint.type is JointType.PRISMATIC
    for cause, unit, given, found, effect in (
        (Cause.ARMATURE, "kg" if slides else "kg m^2", joint.armature, other.armature,
         "M and tau include it"),
        (Cause.DAMPING, "N s/m" if slides else "N m s/rad", joint.damping, other.damping,
         "its motion includes it, and so does inverse dynamics such as mj_inverse"),
        (Cause.FRICTION, "N" if slides else "N m", joint.friction, other.friction,
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
    """Compare the order of the joints that both have."""
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


def leader_text(mimic: Mimic | None) -> str:
    """Format the leader of a joint."""
    if mimic is None:
        return "no joint"
    return f"{mimic.multiplier:g} * {mimic.joint} + {mimic.offset:g}"


def vector_text(values: Array) -> str:
    """Format a vector with four digits, negligible entries as zero."""
    least = max(1e-12, 1e-9 * float(np.abs(values).max(initial=0.0)))
    return "(" + ", ".join(f"{v if abs(v) > least else 0.0:.4g}" for v in values) + ")"


_AXES = "xyz"
_DEFAULT_MASS = 1.0


def inertia_differences(
    given: Inertia | None, found: Inertia | None, *, tolerance: float
) -> tuple[Difference, ...]:
    """Return the differences of two inertias; empty if they are equal.

    Both are in the same link frame, whose name the caller adds. One cause that
    explains everything is preferred to several that each explain a part.

    Args:
        given: The given inertia; None for a massless link.
        found: The found inertia.
        tolerance: Largest relative difference due to rounding [-].
    """
    if given is None or found is None:
        return _presence(given, found)
    mass = abs(found.mass - given.mass) > tolerance * given.mass
    moment = not _near(found.moment, given.moment, _scale(given, found) * tolerance)
    center = not _near(found.center, given.center, tolerance * _reach(given, found))
    if mass and moment and not center and _scaled_by(given, found, tolerance) is not None:
        factor = found.mass / given.mass
        text = f"mass and moment {factor:.4g} times as large ({_masses(given, found)})"
        return (Difference(Cause.MASS, "", found.mass - given.mass, text),)
    if center and moment and not mass:
        turned = _turned_whole(given, found, tolerance)
        if turned:
            return (turned,)
    if mass and center and moment:
        return (_replaced(given, found),)
    return tuple(_parts(given, found, mass=mass, center=center, moment=moment, tol=tolerance))


def _presence(given: Inertia | None, found: Inertia | None) -> tuple[Difference, ...]:
    if given is not None:
        text = f"its mass of {given.mass:.4g} kg and its moment of inertia are gone"
        return (Difference(Cause.DROPPED_INERTIAL, "", -given.mass, text),)
    if found is not None:
        text = f"it is massless, but has {found.mass:.4g} kg here"
        return (Difference(Cause.REPLACED_INERTIAL, "", found.mass, text),)
    return ()


def _parts(
    given: Inertia, found: Inertia, *, mass: bool, center: bool, moment: bool, tol: float
) -> Iterator[Difference]:
    if mass:
        text = f"mass {_masses(given, found)}"
        yield Difference(Cause.MASS, "", found.mass - given.mass, text)
    if center:
        shift = found.center - given.center
        there = vector_text(1e3 * found.center)
        text = f"centre of mass shifted by {vector_text(1e3 * shift)} mm, to {there} mm"
        yield Difference(Cause.CENTER_OF_MASS, "", float(np.linalg.norm(shift)), text)
    if moment:
        yield _moment(given, found, tol)


def _moment(given: Inertia, found: Inertia, tol: float) -> Difference:
    """Return the difference of the moments about the centre of mass."""
    before, after = given.moment, found.moment
    size, near = float(np.abs(after - before).max()), _scale(given, found) * max(tol, 1e-9)
    factor = float(np.trace(after) / np.trace(before))
    if _near(after, factor * before, near):
        return Difference(
            Cause.INERTIA_SCALE, "", factor, f"moment of inertia {factor:.4g} times as large"
        )
    exchange = _exchange(before, after, near)
    if exchange:
        return Difference(Cause.INERTIA_AXES, "", size, exchange)
    for about in (given.center, found.center):
        if _near(after, before + steiner(given.mass, about), near):
            text = "moment of inertia is that about the link's origin, not about the centre of mass"
            return Difference(Cause.INERTIA_FRAME, "", size, text)
        if _near(after, before - steiner(given.mass, about), near):
            text = "moment of inertia was taken to the centre of mass twice (parallel axes)"
            return Difference(Cause.INERTIA_FRAME, "", size, text)
    turns = _turns(before, after, near)
    if turns:
        text = f"moment of inertia in axes turned by {_rotation(turns[0])}"
        return Difference(Cause.INERTIA_FRAME, "", size, text)
    worst = np.unravel_index(np.abs(after - before).argmax(), (3, 3))
    i, j = sorted(int(k) for k in worst)
    entry = f"I{_AXES[i]}{_AXES[j]}"
    text = (
        f"moment of inertia differs, most in {entry}:"
        f" {after[i, j]:.4g} instead of {before[i, j]:.4g} kg m^2"
    )
    return Difference(Cause.INERTIA, "", size, text)


def _exchange(before: Array, after: Array, near: float) -> str:
    """Return which entries of a moment were exchanged, in words; empty if none."""
    off = before - np.diag(np.diag(before))
    if _near(after, np.diag(np.diag(before)) - off, near):
        return "products of inertia have the other sign"
    for order in list(permutations(range(3)))[1:]:
        P = np.eye(3)[list(order)]
        diagonal = np.diag(np.diag(before)[list(order)])
        if not (_near(after, P @ before @ P.T, near) or _near(after, diagonal + off, near)):
            continue
        moved = [k for k in range(3) if order[k] != k]
        if len(moved) == 2:
            a, b = (_AXES[k] for k in moved)
            return (
                f"moments of inertia I{a}{a} and I{b}{b} are exchanged"
                " (or the axes are turned by 90 degrees)"
            )
        there = ", ".join(f"I{_AXES[k]}{_AXES[k]}" for k in order)
        return f"moments of inertia stand in the order {there} instead of Ixx, Iyy, Izz"
    return ""


def _turns(before: Array, after: Array, near: float) -> list[Array]:
    """Return rotation vectors R with after = R before R', the smallest first; may be empty."""
    principal, A = np.linalg.eigh(before)
    others, B = np.linalg.eigh(after)
    if not _near(others, principal, near):
        return []
    gaps = np.diff(principal)
    if gaps.min() <= near < gaps.max():
        # A body of revolution: only the shortest rotation of its axis is observable.
        alone = 0 if gaps[0] > gaps[1] else 2
        return [_shortest(A[:, alone], B[:, alone])]
    proper = [B * signs @ A.T for signs in product((1.0, -1.0), repeat=3)]
    turns = [so3.log(R) for R in proper if np.linalg.det(R) > 0]
    return sorted(turns, key=lambda turn: float(np.linalg.norm(turn)))


def _shortest(a: Array, b: Array) -> Array:
    """Return the smallest rotation vector that rotates the line along a to that along b."""
    b = b if a @ b >= 0 else -b
    normal = np.cross(a, b)
    sine = float(np.linalg.norm(normal))
    turn: Array = normal / sine * np.arctan2(sine, a @ b) if sine else np.zeros(3)
    return turn


def _turned_whole(given: Inertia, found: Inertia, tol: float) -> Difference | None:
    """Return whether centre and moment were rotated or mirrored together."""
    near = _scale(given, found) * max(tol, 1e-9)
    reach = _reach(given, found) * max(tol, 1e-9)
    size = float(np.linalg.norm(found.center - given.center))
    for axis in range(3):
        S = np.eye(3)
        S[axis, axis] = -1.0
        if _near(found.center, S @ given.center, reach) and _near(
            found.moment, S @ given.moment @ S, near
        ):
            text = f"inertial is mirrored along {_AXES[axis]}"
            return Difference(Cause.INERTIA_FRAME, "", size, text)
    for turn in _turns(given.moment, found.moment, near):
        if _near(so3.exp(turn) @ given.center, found.center, 1e3 * reach):
            text = f"centre of mass and moment of inertia are turned by {_rotation(turn)}"
            return Difference(Cause.INERTIA_FRAME, "", size, text)
    return None


def _replaced(given: Inertia, found: Inertia) -> Difference:
    looks = ""
    if found.mass == _DEFAULT_MASS and np.count_nonzero(found.center) == 0:
        looks = ", which looks like a default"
    elif np.ptp(np.linalg.eigvalsh(found.moment)) <= 1e-9 * np.abs(found.moment).max():
        looks = ", the moment that of a ball"
    text = f"mass, centre and moment all differ: {_masses(given, found)}{looks}"
    return Difference(Cause.REPLACED_INERTIAL, "", found.mass - given.mass, text)


def _scaled_by(given: Inertia, found: Inertia, tol: float) -> float | None:
    factor = found.mass / given.mass
    near = _scale(given, found) * max(tol, 1e-9)
    return factor if _near(found.moment, factor * given.moment, near) else None


def _scale(given: Inertia, found: Inertia) -> float:
    return float(max(np.abs(given.moment).max(), np.abs(found.moment).max()))


def _reach(given: Inertia, found: Inertia) -> float:
    """Return the size of a body: distance and spread of its mass [m]."""
    return float(
        max(
            np.linalg.norm(given.center),
            np.linalg.norm(found.center),
            np.sqrt(np.abs(given.moment).max() / given.mass),
        )
    )


def _near(a: Array, b: Array, tolerance: float) -> bool:
    return bool(np.abs(a - b).max() <= tolerance)


def _masses(given: Inertia, found: Inertia) -> str:
    digits = 6 if f"{found.mass:.6g}" != f"{given.mass:.6g}" else 12
    return f"{found.mass:.{digits}g} instead of {given.mass:.{digits}g} kg"


def _rotation(turn: Array) -> str:
    angle = float(np.linalg.norm(turn))
    axis = turn / angle if angle else np.zeros(3)
    main = int(np.abs(axis).argmax())
    if abs(axis[main]) > 1 - 1e-6:
        sign = "-" if axis[main] < 0 else ""
        return f"{degrees(angle):.4g} degrees about {sign}{_AXES[main]}"
    return f"{degrees(angle):.4g} degrees about {vector_text(axis)}"
