"""Causes in which the terms are linear: mass properties, drives, resistance, gravity.

tau = Y(q, v, a) pi (`RobotDynamics.regressor`), so that a change of one body's
ten parameters, of an armature, a damping, a friction or of gravity is fitted
to a difference by linear algebra alone.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from kinetarium.dynamics import RobotDynamics
from kinetarium.dynamics.inertial_parameters import inertia_of, inertial_parameters, moved
from kinetarium.model.robot import Inertia, Joint
from kinetarium.scene.rigid_tree import RigidBody, rigid_tree
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.studies.dynamics.diagnosis.inertia_changes import inertia_changes
from kinetarium.studies.dynamics.diagnosis.suspect import Assumed, Suspect
from kinetarium.studies.dynamics.differences.inertia import inertia_differences
from kinetarium.studies.dynamics.differences.joint import (
    gravity_difference,
    resistance_differences,
)
from kinetarium.studies.dynamics.finding import Cause
from kinetarium.studies.dynamics.states import States

_RANK = 1e-9
"""Singular values below this share of the greatest are zero [-]."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearCause:
    """Something whose change shows linearly.

    Attributes:
        columns: What a unit of each of its parameters adds to M a, g and c,
            shape (n, 3, joints, parameters).
        suspects: Names it from columns, shape (m, parameters), and a difference, shape (m,).

    A cause of one parameter is the resistance of a joint.
    """

    columns: Array
    suspects: Callable[[Array, Array], Iterator[Suspect]]


def linear_causes(assumed: Assumed, states: States) -> list[LinearCause]:
    """Give all linear causes of a robot."""
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
    """Give Y of M a, g and c, shape (n, 3, joints, 10 * bodies)."""
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
    """Give the least-squares solution and the share of the difference that it leaves."""
    x = np.asarray(np.linalg.lstsq(columns, difference, rcond=_RANK)[0], dtype=np.float64)
    size = np.linalg.norm(difference) or 1.0
    return x, float(np.linalg.norm(columns @ x - difference) / size)


def _gravity(assumed: Assumed, states: States, shape: tuple[int, ...]) -> LinearCause:
    columns = np.zeros((*shape, 3))
    for k, direction in enumerate(np.eye(3)):
        along = RobotDynamics(assumed.model, free_base=False, gravity=direction)
        columns[:, 1, :, k] = [along.gravity_forces(q) for q in states.q]

    def suspects(columns: Array, difference: Array) -> Iterator[Suspect]:
        by, left = solved(columns, difference)
        found = frozen(assumed.gravity + by)
        for each in gravity_difference(assumed.gravity, found, tolerance=1e-9):
            change = partial(replace, gravity=found)
            yield Suspect(each.cause, each.where, 3, left, each.size, each.text, change)

    return LinearCause(columns, suspects)


def _resistance(
    assumed: Assumed, joint: Joint, kind: Cause, columns: Array, difference: Array
) -> Iterator[Suspect]:
    (by,), left = solved(columns, difference)
    value, name = float(by), joint.name
    given = replace(joint, damping=0.0, friction=0.0)
    values = {"armature": joint.armature, "damping": 0.0, "friction": 0.0}
    values[str(kind)] += value
    for each in resistance_differences(given, **values, tolerance=1e-12):
        text = each.text if kind is Cause.ARMATURE else f"{each.text}; its tau counts it"
        change = partial(Assumed.with_resistance, kind=kind, joint=name, value=values[str(kind)])
        yield Suspect(kind, name, 1, left, value, text, change)


def _body(
    assumed: Assumed, body: RigidBody, columns: Array, difference: Array
) -> Iterator[Suspect]:
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
            left = float(np.linalg.norm(left_by(found)) / (np.linalg.norm(difference) or 1.0))
            for each in inertia_differences(given, found, tolerance=1e-9)[:1]:
                change = partial(Assumed.with_inertias, inertias={link: found})
                text = f"link {link}: {each.text}"
                yield Suspect(each.cause, link, parameters, left, each.size, text, change)
    yield from _whole_body(assumed, body, columns, difference)


def _compressed(columns: Array, difference: Array) -> tuple[Array, Array]:
    """Give a system of eleven rows that any ten parameters leave as much of."""
    Q, R = np.linalg.qr(columns)
    inside = difference @ Q
    outside = np.linalg.norm(difference - Q @ inside)
    return np.vstack([R, np.zeros(R.shape[1])]), np.append(inside, outside)


def _whole_body(
    assumed: Assumed, body: RigidBody, columns: Array, difference: Array
) -> Iterator[Suspect]:
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
    yield Suspect(Cause.INERTIA, ", ".join(names), 10, left, size, text, change)
