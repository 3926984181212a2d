"""Physically consistent inertias: which are kept, repaired or refused.

A moment of inertia is that of a real body if its second moments of mass
s_i = (I_j + I_k - I_i)/2 about the principal axes are not negative, which includes
positive definiteness and the triangle inequality (Wensing, Kim, Slotine, "Linear
matrix inequalities for physically consistent inertial parameter identification",
2018). A repair raises negative s_i to zero: the nearest body of the same mass.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import pi

import numpy as np
from numpy.typing import ArrayLike

from kinetarium.model.diagnostics import Allowance, Code, Diagnostics
from kinetarium.model.robot import Inertia
from kinetarium.spatial.arrays import Array, frozen

NEGLIGIBLE_MASS = 1e-12
NEGLIGIBLE_MOMENT = 1e-12
ROUNDING = 1e-9
"""Least second moment as a fraction of the largest moment; files have few digits."""
LEAST_EIGENVALUE_RATIO = -0.5
MOST_TRIANGLE_RATIO = 10.0
WATER_DENSITY = 1000.0


def checked_inertia(
    mass: float,
    center: ArrayLike,
    moment: ArrayLike,
    *,
    where: str,
    line: int | None,
    diagnostics: Diagnostics,
) -> Inertia | None:
    """Check mass properties from a file.

    Args:
        mass: Mass [kg].
        center: Centre of mass in the link frame [m], shape (3,).
        moment: Moment of inertia about it, in link axes [kg m^2], shape (3, 3).
        where: The link, for messages, such as "link hand".

    Returns:
        The inertia, repaired if needed; None for a massless link.
    """
    moment = np.asarray(moment, dtype=np.float64)
    if mass < 0:
        raise diagnostics.refusal(
            Code.MASS, f"{where} has the negative mass {mass:g} kg", remedy="give its mass in kg",
            line=line,
        )  # fmt: skip
    if mass < NEGLIGIBLE_MASS:
        if mass > 0 or moment.any():
            diagnostics.repair(
                Code.MASS, where, "massless: its moment of inertia is omitted", line=line
            )
        return None
    if _is_surely_valid(moment):
        return Inertia(mass, frozen(center), frozen(moment))
    if not moment.any():
        diagnostics.repair(
            Code.INERTIA, where, "zero moment of inertia: replaced by a water ball's", line=line
        )
        return Inertia(mass, frozen(center), _water_ball(mass))
    values, axes = np.linalg.eigh(moment)
    second = np.asarray(values.sum() / 2 - values)
    fault = _fault(values, second)
    if fault and np.abs(values).max() < NEGLIGIBLE_MOMENT:
        diagnostics.repair(
            Code.INERTIA, where, f"{fault} and negligible: replaced by a water ball's", line=line
        )
        return Inertia(mass, frozen(center), _water_ball(mass))
    if fault and _beyond_repair(values):
        return _replaced(
            mass, center, where=f"{where}: {fault}", line=line, diagnostics=diagnostics
        )
    repaired = _repaired(values, second)
    if fault:
        changed = ", ".join(
            f"{old:.3g} -> {new:.3g}" for old, new in zip(values, repaired, strict=True)
        )
        diagnostics.repair(
            Code.INERTIA, where, f"{fault}: principal moments {changed} kg m^2", line=line
        )
    elif repaired is values:
        return Inertia(mass, frozen(center), frozen(moment))
    return Inertia(mass, frozen(center), frozen(axes @ np.diag(repaired) @ axes.T))


def water_ball(mass: float, center: ArrayLike = (0.0, 0.0, 0.0)) -> Inertia:
    """Return the inertia of a ball of water of a mass [kg] at a centre [m], shape (3,)."""
    return Inertia(mass, frozen(center), _water_ball(mass))


def moved_inertia(inertia: Inertia, X: Array) -> Inertia:
    """Return an inertia in the frame in which its own frame has the pose X, shape (4, 4)."""
    R, p = X[:3, :3], X[:3, 3]
    return Inertia(inertia.mass, frozen(R @ inertia.center + p), frozen(R @ inertia.moment @ R.T))


def scaled_inertia(inertia: Inertia, factor: float) -> Inertia:
    """Return the inertia of the same body, denser by a factor."""
    return replace(inertia, mass=inertia.mass * factor, moment=frozen(inertia.moment * factor))


def combined_inertia(parts: Sequence[Inertia]) -> Inertia:
    """Return the sum of inertias in one frame (parallel axis theorem)."""
    mass = sum(part.mass for part in parts)
    if mass <= 0:
        return Inertia(0.0, frozen(np.zeros(3)), frozen(np.zeros((3, 3))))
    center = sum(part.mass * part.center for part in parts) / mass
    moment = np.zeros((3, 3))
    for part in parts:
        arm = part.center - center
        moment += part.moment + part.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return Inertia(mass, frozen(center), frozen(moment))


def _water_ball(mass: float) -> Array:
    radius = (3 * mass / (4 * pi * WATER_DENSITY)) ** (1 / 3)
    return frozen(0.4 * mass * radius**2 * np.eye(3))


def _is_surely_valid(moment: Array) -> bool:
    """Return whether every second moment exceeds the rounding, so that nothing is repaired.

    The matrix of second moments minus a little on its diagonal then has a Cholesky
    decomposition. In plain numbers that takes a tenth of the time of principal axes, which
    take as long as all else that is checked of a link.
    """
    (xx, _, _), (xy, yy, _), (xz, yz, zz) = moment.tolist()
    trace = xx + yy + zz
    most = trace / 2 - 2 * ROUNDING * trace
    first = most - xx
    if first <= 0:
        return False
    second = most - yy - xy * xy / first
    if second <= 0:
        return False
    mixed = yz + xy * xz / first
    return bool(most - zz - xz * xz / first - mixed * mixed / second > 0)


def _fault(values: Array, second: Array) -> str:
    """Return what is wrong with principal moments in ascending order; empty if they are valid."""
    if values[0] <= 0:
        return "moment of inertia not positive definite"
    if second.min() < -ROUNDING * values[2]:
        return "moment of inertia violates the triangle inequality"
    return ""


def _beyond_repair(values: Array) -> bool:
    if values[0] <= 0:
        return bool(values[2] <= 0 or values[0] < LEAST_EIGENVALUE_RATIO * values[2])
    return bool(values[2] > MOST_TRIANGLE_RATIO * (values[0] + values[1]))


def _repaired(values: Array, second: Array) -> Array:
    least = ROUNDING * values[2]
    if second.min() >= least:
        return values
    second = np.maximum(second, least)
    return np.asarray(second.sum() - second)


def _replaced(
    mass: float, center: ArrayLike, *, where: str, line: int | None, diagnostics: Diagnostics
) -> Inertia:
    if Allowance.BAD_INERTIA not in diagnostics.allow:
        raise diagnostics.refusal(
            Code.INERTIA,
            f"{where}, too far to repair",
            remedy="correct it, or pass --allow-bad-inertia to use that of a water ball",
            line=line,
        )
    diagnostics.repair(Code.INERTIA, where, "replaced by a water ball's", line=line)
    return water_ball(mass, center)
