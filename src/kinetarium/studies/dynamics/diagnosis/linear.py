"""Causes in which the terms are linear: mass properties, drives, resistance, gravity.

tau = Y(q, v, a) pi (`RobotDynamics.regressor`), so that a change of one body's
ten parameters, of an armature, a damping, a friction or of gravity is fitted
to a difference by linear algebra alone.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations

import numpy as np

from kinetarium.dynamics import RobotDynamics
from kinetarium.dynamics.inertial_parameters import (
    PARAMETER_NAMES,
    inertia_of,
    inertial_parameters,
    moved,
)
from kinetarium.model.robot import Inertia, Joint, RobotModel
from kinetarium.scene.robot import RigidBody, rigid_tree
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.studies.dynamics.diagnosis.hypothesis import Assumed, Hypothesis, gauss_newton
from kinetarium.studies.dynamics.differences.inertia import (
    gravity_difference,
    inertia_differences,
    resistance_differences,
)
from kinetarium.studies.dynamics.finding import Cause, Difference, Severity
from kinetarium.studies.dynamics.states import States

_STARTS = (np.zeros(3), *(np.pi / 2 * np.eye(3)))
"""Initial rotation vectors of the search for a rotated inertia [rad]."""


def inertia_changes(
    given: Inertia, left_by: Callable[[Inertia | None], Array]
) -> Iterator[tuple[int, Inertia | None]]:
    """Yield the number of fitted parameters and the inertia for each kind of change.

    Args:
        given: The given inertia.
        left_by: Returns the residual of a difference for a changed inertia, any shape.
    """
    moment = given.moment
    diagonal = np.diag(moment)
    products = moment - np.diag(diagonal)
    yield 0, None
    yield 0, replace(given, moment=frozen(moment - 2 * products))
    for order in list(permutations(range(3)))[1:]:
        P = np.eye(3)[list(order)]
        yield 0, replace(given, moment=frozen(P @ moment @ P.T))
        yield 0, replace(given, moment=frozen(np.diag(diagonal[list(order)]) + products))
    for mass, spread in ((1.0, 0.0), (1.0, 1.0), (0.0, 1.0)):

        def grown(x: Array, mass: float = mass, spread: float = spread) -> Inertia:
            by = float(x[0])
            heavy, wide = 1 + mass * by, frozen((1 + spread * by) * moment)
            return Inertia(heavy * given.mass, given.center, wide)

        yield 1, _fitted(grown, left_by, np.zeros(1))
    yield (
        3,
        _fitted(lambda x: replace(given, center=frozen(given.center + x)), left_by, np.zeros(3)),
    )
    for start in _STARTS:
        yield 3, _fitted(lambda x: replace(given, moment=_turned(moment, x)), left_by, start)
    yield 6, _fitted(lambda x: replace(given, moment=_added(moment, x)), left_by, np.zeros(6))


def _fitted(
    changed: Callable[[Array], Inertia], left_by: Callable[[Inertia | None], Array], start: Array
) -> Inertia:
    x, _ = gauss_newton(lambda x: left_by(changed(x)), start, step=1e-6)
    return changed(x)


def _turned(moment: Array, turn: Array) -> Array:
    R = so3.exp(turn)
    return frozen(R @ moment @ R.T)


def _added(moment: Array, x: Array) -> Array:
    upper = np.zeros((3, 3))
    upper[np.triu_indices(3)] = np.abs(moment).max() * x
    return frozen(moment + upper + np.triu(upper, 1).T)


_RANK = 1e-9
"""Singular values below this share of the greatest are zero [-]."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearCause:
    """A cause whose effect is linear in its parameters.

    Attributes:
        columns: Derivatives of M a, g and c by its parameters,
            shape (n, 3, joints, parameters).
        hypotheses: Fits it, from columns, shape (m, parameters), and a difference, shape (m,).

    A cause of one parameter is the resistance of a joint.
    """

    columns: Array
    hypotheses: Callable[[Array, Array], Iterator[Hypothesis]]


def linear_causes(assumed: Assumed, states: States) -> list[LinearCause]:
    """Return all linear causes of a robot."""
    shape = (len(states), 3, len(assumed.model.moving_joints))
    causes = [_gravity(assumed, states, shape)]
    for i, joint in enumerate(assumed.model.moving_joints):
        for kind, sector, motion in (
            (Cause.ARMATURE, 0, states.a),
            (Cause.DAMPING, 2, states.v),
            (Cause.FRICTION, 2, np.sign(states.v)),
        ):
            columns = np.zeros((*shape, 1))
            columns[:, sector, i, 0] = motion[:, i]
            causes.append(LinearCause(columns, partial(_resistance, assumed, joint, kind)))
    Y = regressors(assumed, states)
    bodies = [body for body in rigid_tree(assumed.model) if body.joint]
    for i, body in enumerate(bodies):
        columns = Y[..., 10 * i : 10 * i + 10]
        causes.append(LinearCause(columns, partial(_body, assumed, body)))
    return causes


def regressors(assumed: Assumed, states: States) -> Array:
    """Return Y of M a, g and c, shape (n, 3, joints, 10 * bodies)."""
    heavy = RobotDynamics(assumed.model, free_base=False, gravity=assumed.gravity)
    light = RobotDynamics(assumed.model, free_base=False, gravity=np.zeros(3))
    still = np.zeros(heavy.nv)
    return np.array(
        [
            [
                light.regressor(q, still, a),
                heavy.regressor(q, still, still),
                light.regressor(q, v, still),
            ]
            for q, v, a in zip(states.q, states.v, states.a, strict=True)
        ]
    )


def solved(columns: Array, difference: Array) -> tuple[Array, float]:
    """Return the least-squares solution and its residual share of the difference."""
    x = np.asarray(np.linalg.lstsq(columns, difference, rcond=_RANK)[0], dtype=np.float64)
    size = np.linalg.norm(difference) or 1.0
    return x, float(np.linalg.norm(columns @ x - difference) / size)


def _gravity(assumed: Assumed, states: States, shape: tuple[int, ...]) -> LinearCause:
    columns = np.zeros((*shape, 3))
    for k, direction in enumerate(np.eye(3)):
        along = RobotDynamics(assumed.model, free_base=False, gravity=direction)
        columns[:, 1, :, k] = [along.gravity_forces(q) for q in states.q]

    def hypotheses(columns: Array, difference: Array) -> Iterator[Hypothesis]:
        by, left = solved(columns, difference)
        found = frozen(assumed.gravity + by)
        for each in gravity_difference(assumed.gravity, found, tolerance=1e-9):
            change = partial(replace, gravity=found)
            yield Hypothesis(each.cause, each.where, 3, left, each.size, each.text, change)

    return LinearCause(columns, hypotheses)


def _resistance(
    assumed: Assumed, joint: Joint, kind: Cause, columns: Array, difference: Array
) -> Iterator[Hypothesis]:
    (by,), left = solved(columns, difference)
    value, name = float(by), joint.name
    given = replace(joint, damping=0.0, friction=0.0)
    whole = getattr(given, str(kind)) + value
    if abs(whole) <= _RANK * abs(value):
        whole = 0.0
    if whole < 0:
        return  # no drive has it
    found = replace(given, **{str(kind): whole})
    for each in resistance_differences(given, found, tolerance=1e-12):
        text = each.text if kind is Cause.ARMATURE else f"{each.text}; its tau counts it"
        change = partial(Assumed.with_resistance, kind=kind, joint=name, value=whole)
        yield Hypothesis(kind, name, 1, left, value, text, change)


def _body(
    assumed: Assumed, body: RigidBody, columns: Array, difference: Array
) -> Iterator[Hypothesis]:
    """Fit changes of each link of a body; then any change of the body as a whole."""
    columns, difference = _compressed(columns, difference)
    for link, X_BL in body.members:
        given = assumed.model.link(link).inertia
        if given is None:
            continue

        def left_by(inertia: Inertia | None, X_BL: Array = X_BL, given: Inertia = given) -> Array:
            there = inertial_parameters(inertia and moved(inertia, X_BL))
            left: Array = columns @ (there - inertial_parameters(moved(given, X_BL))) - difference
            return left

        for parameters, found in inertia_changes(given, left_by):
            if not _is_possible(found):
                continue
            left = float(np.linalg.norm(left_by(found)) / (np.linalg.norm(difference) or 1.0))
            for each in inertia_differences(given, found, tolerance=1e-9)[:1]:
                change = partial(Assumed.with_inertias, inertias={link: found})
                text = f"link {link}: {each.text}"
                yield Hypothesis(each.cause, link, parameters, left, each.size, text, change)
    yield from _whole_body(assumed, body, columns, difference)


def _is_possible(inertia: Inertia | None) -> bool:
    """Return whether a body can have an inertia: a positive mass and moments of inertia."""
    if inertia is None:
        return True
    moments = np.linalg.eigvalsh(inertia.moment)
    return inertia.mass > 0 and bool(moments[0] >= -_RANK * abs(moments[2]))


def _compressed(columns: Array, difference: Array) -> tuple[Array, Array]:
    """Return an equivalent system of eleven rows, with the same residuals."""
    Q, R = np.linalg.qr(columns)
    inside = difference @ Q
    outside = np.linalg.norm(difference - Q @ inside)
    return np.vstack([R, np.zeros(R.shape[1])]), np.append(inside, outside)


def _whole_body(
    assumed: Assumed, body: RigidBody, columns: Array, difference: Array
) -> Iterator[Hypothesis]:
    by, left = solved(columns, difference)
    values = np.linalg.svd(columns, compute_uv=False)
    rank = int(np.count_nonzero(values > _RANK * values.max(initial=0.0)))
    found = inertia_of(inertial_parameters(body.inertia) + by)
    names = [link for link, _ in body.members if assumed.model.link(link).inertia]
    text = (
        f"link {', '.join(names)}: mass properties differ in a way that has no name; the terms"
        f" show {rank} combinations of the ten parameters"
    )
    size = float(np.linalg.norm(by))
    lumped: dict[str, Inertia | None] = {link: None for link, _ in body.members}
    change = partial(Assumed.with_inertias, inertias=lumped | {body.name: found})
    yield Hypothesis(Cause.INERTIA, ", ".join(names), 10, left, size, text, change)


_STATES = 20
_SEPARABLE = 1e-9
"""Singular values below this share of the greatest are zero [-]."""


def inseparable(model: RobotModel, states: States, *, gravity: Array) -> Difference:
    """Return the mass properties that no measurement on a fixed base separates.

    The regressor Y of tau = Y pi does not have full rank (Gautier, Khalil,
    "Direct calculation of minimum set of inertial parameters of serial robots",
    1990): some parameters have no effect, others only in sums with their neighbours'.
    """
    Y = regressors(Assumed(model, gravity), states.first(_STATES))
    Y = Y.reshape(-1, Y.shape[-1])
    norms = np.linalg.norm(Y, axis=0)
    seen = norms > _SEPARABLE * norms.max(initial=0.0)
    triangle = np.linalg.qr(Y[:, seen] / norms[seen], mode="r")
    values = np.linalg.svd(triangle, compute_uv=False)
    rank = int(np.count_nonzero(values > _SEPARABLE * values.max(initial=0.0)))
    bodies = [body.name for body in rigid_tree(model) if body.joint]
    never = []
    for i, name in enumerate(bodies):
        hidden = [
            p for p, s in zip(PARAMETER_NAMES, seen[10 * i : 10 * i + 10], strict=True) if not s
        ]
        if hidden:
            never.append(f"{name} ({', '.join(hidden)})")
    text = (
        f"joint forces show {rank} combinations of the {len(seen)} inertial parameters of"
        f" {len(bodies)} moving bodies; {len(seen) - rank} cannot be separated by any measurement"
        " on a fixed base, and differences there are told by the audit alone"
    )
    if never:
        text += f". Never seen: {'; '.join(never)}"
    return Difference(Cause.INSEPARABLE, "", float(len(seen) - rank), text, Severity.NOTE)
