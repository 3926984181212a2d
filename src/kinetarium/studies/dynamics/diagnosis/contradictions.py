"""Back-ends that contradict themselves: M against tau, and tau against the motion."""

from collections.abc import Iterator

import numpy as np

from kinetarium.spatial.arrays import Array
from kinetarium.studies.dynamics.finding import Cause, Difference
from kinetarium.studies.dynamics.states import States
from kinetarium.studies.dynamics.terms import Terms

_FITS = 0.05
"""Share of missing forces that resistance may leave unexplained: engines integrate it [-]."""


def term_contradictions(
    joints: tuple[str, ...], states: States, terms: Terms, *, tolerance: float
) -> Iterator[Difference]:
    """See whether tau is M a + c + g of the same back-end.

    Args:
        joints: The joints.
        states: The states.
        terms: The terms at them.
        tolerance: Largest difference that is rounding [N m or N].
    """
    gap = terms.tau - terms.c - terms.g - np.einsum("nij,nj->ni", terms.M, states.a)
    for i, name in enumerate(joints):
        size = float(np.abs(gap[:, i]).max(initial=0.0))
        if not size > tolerance:
            continue
        a = states.a[:, i]
        drive = float(a @ gap[:, i] / (a @ a))
        if np.abs(gap[:, i] - drive * a).max() <= 1e-6 * size:
            where = "tau but not in M" if drive > 0 else "M but not in tau"
            text = f"joint {name}: an armature of {abs(drive):.4g} counts in {where}"
            yield Difference(Cause.ARMATURE, name, abs(drive), text)
        else:
            text = f"joint {name}: tau differs from M a + c + g by up to {size:.3g} N m or N"
            yield Difference(Cause.INCONSISTENT, name, size, text)


def motion_contradictions(
    joints: tuple[str, ...],
    states: States,
    missing: Array,
    *,
    known: set[str],
    tolerance: float,
) -> Iterator[Difference]:
    """Name resistance that acts in the motion of a back-end, but in neither tau nor audit.

    Args:
        joints: The joints.
        states: The states.
        missing: Forces that were missing in one step from each [N m or N], shape (n, joints).
        known: Joints whose resistance the audit shows.
        tolerance: Largest force that is rounding [N m or N].
    """
    for i, name in enumerate(joints):
        force, v = missing[:, i], states.v[:, i]
        size = float(np.abs(force).max(initial=0.0))
        if not size > tolerance or name in known:
            continue
        for cause, speed, unit in (
            (Cause.DAMPING, v, "N m s/rad or N s/m"),
            (Cause.FRICTION, np.sign(v), "N m or N"),
        ):
            value = -float(speed @ force / max(speed @ speed, 1e-300))
            if value > 0 and np.abs(force + value * speed).max() <= _FITS * size:
                text = (
                    f"joint {name}: {cause} of about {value:.3g} {unit} acts in its motion,"
                    " though neither its inverse dynamics nor its audit have it"
                )
                yield Difference(cause, name, value, text)
                break
        else:
            text = (
                f"joint {name}: forces of its own inverse dynamics are off by up to {size:.3g}"
                " N m or N in its own motion"
            )
            yield Difference(Cause.INCONSISTENT, name, size, text)
