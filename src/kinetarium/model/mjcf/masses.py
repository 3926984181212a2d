"""Adding up masses: moved to another frame, put together, bounded from below."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kinetarium.model.mjcf.compiler import Compiler
from kinetarium.model.robot import Inertia
from kinetarium.spatial.arrays import Array, frozen


def moved_inertia(inertia: Inertia, X: Array) -> Inertia:
    """Give an inertia in the frame that its own frame has the pose X in, shape (4, 4)."""
    R, p = X[:3, :3], X[:3, 3]
    return Inertia(inertia.mass, frozen(R @ inertia.center + p), frozen(R @ inertia.moment @ R.T))


def scaled_inertia(inertia: Inertia, factor: float) -> Inertia:
    """Give the inertia of the same body, denser by a factor."""
    return replace(inertia, mass=inertia.mass * factor, moment=frozen(inertia.moment * factor))


def combined_inertia(parts: Sequence[Inertia]) -> Inertia:
    """Put parts together that are given in one frame (Huygens-Steiner)."""
    mass = sum(part.mass for part in parts)
    if mass <= 0:
        return Inertia(0.0, frozen(np.zeros(3)), frozen(np.zeros((3, 3))))
    center = sum(part.mass * part.center for part in parts) / mass
    moment = np.zeros((3, 3))
    for part in parts:
        arm = part.center - center
        moment += part.moment + part.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return Inertia(mass, frozen(center), frozen(moment))


def bounded_inertia(inertia: Inertia, compiler: Compiler) -> Inertia:
    """Apply the compiler's least mass, least moment and balancing, in MuJoCo's order."""
    mass = max(inertia.mass, compiler.least_mass)
    if compiler.least_moment <= 0 and not compiler.balance_inertia:
        return replace(inertia, mass=mass)
    values, axes = np.linalg.eigh(inertia.moment)
    values = np.maximum(values, compiler.least_moment)
    if compiler.balance_inertia and values[0] + values[1] < values[2]:
        values = np.full(3, values.mean())
    return Inertia(mass, inertia.center, frozen(axes @ np.diag(values) @ axes.T))
