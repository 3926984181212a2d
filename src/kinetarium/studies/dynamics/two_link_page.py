"""The two-link arm as a classroom derives it: formulas beside numbers, and the numbers printed.

The source is a report of 2022, "Verification of inverse dynamics by a PyBullet
simulation", that checks the arm's closed form against PyBullet at q = (0, 0.0665).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinetarium.dynamics import TwoLink
from kinetarium.figure.page import Section
from kinetarium.figure.prose import Prose
from kinetarium.figure.table import Column, Table

POSITIONS = (0.0, 0.0665)
"""Joint angles of the printed numbers [rad]."""
VELOCITIES = (1.0, 2.0)
"""Joint rates at which the Coriolis forces are shown here [rad/s]; the report has none."""

_FORMULAS = (
    ("M₁₁", "m₁ lc₁² + m₂ (l₁² + lc₂² + 2 l₁ lc₂ cos q₂) + I₁ + I₂", "kg m²", "1.970"),
    ("M₁₂ = M₂₁", "m₂ (lc₂² + l₁ lc₂ cos q₂) + I₂", "kg m²", "0.433"),
    ("M₂₂", "m₂ lc₂² + I₂", "kg m²", "0.192"),
    ("g₁", "-g [(m₁ lc₁ + m₂ l₁) cos q₁ + m₂ lc₂ cos(q₁ + q₂)]", "N m", "-38.106"),
    ("g₂", "-g m₂ lc₂ cos(q₁ + q₂)", "N m", "-5.567"),
    ("c₁", "h q̇₂ q̇₁ + h (q̇₁ + q̇₂) q̇₂,  h = -m₂ l₁ lc₂ sin q₂", "N m", "0 at q̇ = 0"),
    ("c₂", "-h q̇₁²", "N m", "0 at q̇ = 0"),
)
_DERIVATION = (
    "Jvc₁ = [-lc₁ sin q₁, 0; lc₁ cos q₁, 0; 0, 0] and"
    " Jvc₂ = [-l₁ sin q₁ - lc₂ sin(q₁ + q₂), -lc₂ sin(q₁ + q₂);"
    " l₁ cos q₁ + lc₂ cos(q₁ + q₂), lc₂ cos(q₁ + q₂); 0, 0]"
    " take joint rates to the velocities of the centres of mass. The kinetic energy gives"
    " M(q) = m₁ Jvc₁ᵀ Jvc₁ + m₂ Jvc₂ᵀ Jvc₂ + [I₁ + I₂, I₂; I₂, I₂], the Christoffel symbols of M"
    " give C(q, q̇) = [h q̇₂, h (q̇₁ + q̇₂); -h q̇₁, 0], and the potential energy gives g(q);"
    " together τ = M(q) q̈ + C(q, q̇) q̇ + g(q)."
)
_COMPARISON = (
    "The check of the Coriolis forces in that report is vacuous: it was made at q̇ = 0, where"
    " C q̇ vanishes whatever C is. Here q̇ = (1, 2) rad/s in the table, and every random state"
    " has a velocity. The wrist of the UR5 is left out on purpose: the arm is a robot of its own"
    " in the catalogue, not a UR5 whose masses were set to zero."
)


def two_link_section(terms: Mapping[str, Mapping[str, Any]]) -> Section:
    """Show the derivation at the printed state.

    Args:
        terms: M, g and c of each back-end there, at the velocities shown.
    """
    names = list(terms)
    values = {name: _entries(each) for name, each in terms.items()}
    table = Table(
        "q = (0, 0.0665) rad, q̇ = (1, 2) rad/s",
        (Column("entry"), Column("formula"), Column("unit"), Column("printed in 2022"),
         *(Column(name) for name in names)),
        tuple(
            (entry, formula, unit, printed, *(values[name][i] for name in names))
            for i, (entry, formula, unit, printed) in enumerate(_FORMULAS)
        ),
    )  # fmt: skip
    return Section(
        "The two-link arm, derived", (Prose(_DERIVATION), table, Prose(_slip()), Prose(_COMPARISON))
    )


def _entries(terms: Mapping[str, Any]) -> tuple[str, ...]:
    M, g, c = (np.asarray(terms[name], dtype=np.float64) for name in ("M", "g", "c"))
    return tuple(f"{value:.3f}" for value in (M[0, 0], M[0, 1], M[1, 1], *g, *c))


def _slip() -> str:
    """Say what the typeset formula of the report would give."""
    arm = TwoLink()
    right = float(arm.mass_matrix(POSITIONS)[0, 0])
    wrong = float(sum(arm.masses) * arm.centers[0] ** 2 + sum(arm.moments))
    return (
        "The report's typeset formula repeats Jvc₁ in the second term of M;"
        f" that would make M₁₁ = {wrong:.3f} kg m² instead of {right:.3f} kg m². Its program, and"
        " so its numbers, have Jvc₂."
    )
