"""Hypothesis: one possible cause of a difference of terms, and its residual."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from kinetarium.dynamics import RobotDynamics
from kinetarium.model.robot import Inertia, Joint, RobotModel
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dynamics.finding import Cause, Difference
from kinetarium.studies.dynamics.states import States, Terms

Part = tuple[int, ...]
"""Which of M a, g and c, by number."""


@dataclass(frozen=True, slots=True, eq=False)
class Assumed:
    """A robot as assumed in a backend.

    Attributes:
        model: The robot.
        gravity: Gravity [m/s^2], shape (3,).
        damping: Damping that counts in tau by joint [N m s/rad or N s/m].
        friction: Friction that counts in tau by joint [N m or N].
        order: The joint index of each coordinate, shape (joints,).
    """

    model: RobotModel
    gravity: Array
    damping: dict[str, float] = field(default_factory=dict)
    friction: dict[str, float] = field(default_factory=dict)
    order: tuple[int, ...] = ()

    def observed(self, states: States) -> Array:
        """Return `observed` for this robot's terms."""
        dynamics = RobotDynamics(self.model, free_base=False, gravity=self.gravity)
        names = [joint.name for joint in self.model.moving_joints]
        damping = np.array([self.damping.get(name, 0.0) for name in names])
        friction = np.array([self.friction.get(name, 0.0) for name in names])
        order = np.array(self.order or range(len(names)), dtype=np.intp)
        back = np.argsort(order)
        rows = []
        for q, v, a in zip(states.q, states.v, states.a, strict=True):
            q, v, a = q[back], v[back], a[back]
            g = dynamics.gravity_forces(q)
            c = dynamics.bias(q, v) - g + damping * v + friction * np.sign(v)
            rows.append([(dynamics.mass_matrix(q) @ a)[order], g[order], c[order]])
        return np.array(rows)

    def with_joint(self, joint: Joint) -> "Assumed":
        """Return this with one joint replaced by another of its name."""
        joints = tuple(joint if each.name == joint.name else each for each in self.model.joints)
        return replace(self, model=replace(self.model, joints=joints))

    def with_resistance(self, *, kind: Cause, joint: str, value: float) -> "Assumed":
        """Return this with another armature, or damping or friction that counts in tau."""
        if kind is Cause.ARMATURE:
            return self.with_joint(replace(self.model.joint(joint), armature=value))
        if kind is Cause.DAMPING:
            return replace(self, damping={**self.damping, joint: value})
        return replace(self, friction={**self.friction, joint: value})

    def with_inertias(self, inertias: Mapping[str, Inertia | None]) -> "Assumed":
        """Return this with other mass properties of some links."""
        links = tuple(
            replace(link, inertia=inertias.get(link.name, link.inertia))
            for link in self.model.links
        )
        return replace(self, model=replace(self.model, links=links))


def observed(terms: Terms, states: States) -> Array:
    """Return M a, g and c of a backend [N m or N], shape (n, 3, joints).

    They are separate because causes are: gravity appears in g alone, resistance in c.
    """
    Ma = np.einsum("nij,nj->ni", terms.M, states.a)
    return np.stack([Ma, terms.g, terms.c], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Hypothesis:
    """A cause fitted to a difference.

    Attributes:
        cause: The cause.
        where: The link or joint.
        parameters: Number of fitted parameters.
        left: Residual share of the difference [-].
        size: Its size, in the unit that the text names.
        text: The cause in words.
        change: Returns a robot with it.
    """

    cause: Cause
    where: str
    parameters: int
    left: float
    size: float | None
    text: str
    change: Callable[[Assumed], Assumed]


def gauss_newton(
    difference: Callable[[Array], Array], start: Array, *, step: float, most: int = 12
) -> tuple[Array, float]:
    """Minimise a difference by the Gauss-Newton method.

    Args:
        difference: Computes the difference at some parameters, any shape.
        start: The initial parameters, shape (p,).
        step: Step of the forward differences, in the unit of the parameters.
        most: Maximum number of iterations.

    Returns:
        The parameters and the residual share of the difference.
    """
    x, value = start, difference(start).ravel()
    first = left = float(np.linalg.norm(value))
    if first == 0.0:
        return start, 0.0
    for iteration in range(most):
        J = np.stack(
            [(difference(x + step * e).ravel() - value) / step for e in np.eye(len(x))], axis=1
        )
        trial = x - np.linalg.lstsq(J, value, rcond=1e-10)[0]
        new = difference(trial).ravel()
        norm = float(np.linalg.norm(new))
        if not norm < left:
            break
        x, value, settled = trial, new, norm > 0.99 * left
        left = norm
        # The initial parameters are near: a good hypothesis converges at once.
        if settled or (iteration == 2 and left > 0.5 * first):
            break
    return x, left / first


_FITS = 0.05
"""Residual share of missing forces for resistance, which engines integrate implicitly [-]."""


def term_contradictions(
    joints: tuple[str, ...], states: States, terms: Terms, *, tolerance: float
) -> Iterator[Difference]:
    """Check that tau is M a + c + g of the same backend.

    Args:
        terms: The terms at them.
        tolerance: Largest difference due to rounding [N m or N].
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
    """Yield resistance that acts in the motion of a backend, but in neither tau nor audit.

    Args:
        missing: Missing forces in one step from each [N m or N], shape (n, joints).
        known: Joints whose resistance the audit shows.
        tolerance: Largest force due to rounding [N m or N].
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
