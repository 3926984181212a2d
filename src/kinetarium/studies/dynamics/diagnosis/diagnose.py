"""The second step: causes that the audit does not show, found from the terms."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations
from math import degrees

import numpy as np

from kinetarium.model.robot import Joint
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose
from kinetarium.studies.dynamics.diagnosis.hypothesis import (
    Assumed,
    Hypothesis,
    Part,
    gauss_newton,
    observed,
)
from kinetarium.studies.dynamics.diagnosis.linear import LinearCause, linear_causes, solved
from kinetarium.studies.dynamics.differences.inertia import axis_difference, vector_text
from kinetarium.studies.dynamics.finding import Cause, Difference
from kinetarium.studies.dynamics.states import States, Terms


def exchanges_and_flips(
    assumed: Assumed, states: States, there: Array, *, part: Part
) -> Iterator[Hypothesis]:
    """Yield hypotheses of reversed axes and of exchanged pairs of joints.

    Args:
        assumed: The robot as it is assumed to be so far.
        states: A few states.
        there: The observed M a, g and c at them, shape (n, parts, joints).
        part: Which of the three.
    """
    size = np.linalg.norm(assumed.observed(states)[:, part] - there) or 1.0

    def left(changed: Assumed) -> float:
        return float(np.linalg.norm(changed.observed(states)[:, part] - there) / size)

    joints = assumed.model.moving_joints
    for joint in joints:
        change = partial(Assumed.with_joint, joint=replace(joint, axis=frozen(-joint.axis)))
        for each in axis_difference(joint.name, joint.axis, -joint.axis):
            share = left(change(assumed))
            yield Hypothesis(each.cause, joint.name, 0, share, each.size, each.text, change)
    for i, j in combinations(range(len(joints)), 2):
        order = list(assumed.order or range(len(joints)))
        order[i], order[j] = order[j], order[i]
        change = partial(replace, order=tuple(order))
        a, b = joints[i].name, joints[j].name
        text = f"joints {a} and {b} are exchanged"
        share = left(change(assumed))
        yield Hypothesis(Cause.JOINT_ORDER, f"{a}, {b}", 0, share, None, text, change)


def moved_frames(
    assumed: Assumed, states: States, there: Array, *, part: Part
) -> Iterator[Hypothesis]:
    """Fit a tilted axis, a displaced origin and a rotated frame to every joint.

    The arguments are those of `exchanges_and_flips`.
    """

    def fitted(moved: Callable[[Array], Joint], count: int) -> tuple[Array, float]:
        return gauss_newton(
            lambda x: assumed.with_joint(moved(x)).observed(states)[:, part] - there,
            np.zeros(count),
            step=1e-6,
        )

    for joint in assumed.model.moving_joints:
        tilted = partial(_tilted, joint)
        x, left = fitted(tilted, 2)
        change = partial(Assumed.with_joint, joint=tilted(x))
        for each in axis_difference(joint.name, joint.axis, tilted(x).axis):
            yield Hypothesis(each.cause, joint.name, 2, left, each.size, each.text, change)
    # A displaced fixed joint is observable too, if it carries mass.
    for joint in assumed.model.joints:
        for moved, unit, text in (
            (partial(_displaced, joint), 1e3, "origin of joint {} is displaced by {} mm"),
            (partial(_turned, joint), degrees(1.0), "frame of joint {} is turned by {} degrees"),
        ):
            x, left = fitted(moved, 3)
            said = text.format(joint.name, vector_text(unit * x))
            change = partial(Assumed.with_joint, joint=moved(x))
            size = float(np.linalg.norm(x))
            yield Hypothesis(Cause.JOINT_ORIGIN, joint.name, 3, left, size, said, change)


def _tilted(joint: Joint, x: Array) -> Joint:
    across = np.linalg.svd(joint.axis[None])[2][1:]
    return replace(joint, axis=frozen(so3.exp(x @ across) @ joint.axis))


def _displaced(joint: Joint, x: Array) -> Joint:
    return replace(joint, X_PJ=frozen(pose(x) @ joint.X_PJ))


def _turned(joint: Joint, x: Array) -> Joint:
    return replace(joint, X_PJ=frozen(joint.X_PJ @ pose((0.0, 0.0, 0.0), so3.exp(x))))


_STATES = 24
"""Number of states to which causes are fitted."""
_FEW = 6
"""Number of states for moved frames, each of which needs another robot."""
_EXPLAINED = 1e-6
"""Residual share of a difference below which a cause explains it [-]."""
_ALL, _MA, _G, _C = (0, 1, 2), (0,), (1,), (2,)
"""Parts of the observed terms."""
_NAMES = ("M a", "g", "c")


def diagnose(
    assumed: Assumed, states: States, terms: Terms, *, tolerance: float, most: int = 4
) -> tuple[Difference, ...]:
    """Find the causes of a difference between terms and the robot that an audit shows.

    The simplest cause that explains everything is chosen. If there is none, there
    must be several: M a, g and c are then explained in turn, as masses appear in
    M, gravity in g alone and resistance in c alone, each by one cause or by the
    fewest linear ones. Causes that explain equally much with equally few
    parameters cannot be separated, and are all named; if no list of causes
    explains everything, none is named.

    Args:
        assumed: The robot as audited.
        states: The states of the terms.
        terms: The terms of the backend.
        tolerance: Largest difference due to rounding, relative to the forces [-].
        most: Maximum number of causes.

    Returns:
        The causes; none if the audit explains everything.
    """
    states, terms = states.first(_STATES), terms.first(_STATES)
    there = observed(terms, states)
    least = tolerance * float(np.abs(there).max(initial=0.0))
    first, found = there - assumed.observed(states), list[Difference]()
    while np.abs(there - assumed.observed(states)).max(initial=0.0) > least:
        steps = _next(assumed, states, there, least=least, most=most)
        if not steps:
            return (_unexplained(assumed, first, least),)
        most -= 1
        for best in steps:
            found.append(_named(best))
            assumed = best[0].change(assumed)
    return tuple(found)


def _next(
    assumed: Assumed, states: States, there: Array, *, least: float, most: int
) -> list[list[Hypothesis]]:
    """Return the causes to assume next, each with all that cannot be separated from it."""
    difference = there - assumed.observed(states)
    causes = [] if assumed.order else linear_causes(assumed, states)
    differing = [part for part in (_MA, _G, _C) if np.abs(difference[:, part]).max() > least]
    enough = {
        part: max(_EXPLAINED, least / float(np.abs(difference[:, part]).max()))
        for part in (_ALL, *differing)
    }
    best = _alone(assumed, states, there, causes, part=_ALL, enough=enough[_ALL])
    if best or most < 2 or not causes:
        return [best] if best else []
    for part in differing:
        steps = _resistances(causes, difference, part=part, enough=enough[part])
        if steps:
            return steps
    for part in differing:
        best = _alone(assumed, states, there, causes, part=part, enough=enough[part])
        if best:
            return [_fitting(best, assumed, states, there)]
    for part in differing:
        best = _together(causes, difference, part=part, enough=enough[part], most=most)
        if best:
            return [best]
    return []


def _resistances(
    causes: list[LinearCause], difference: Array, *, part: Part, enough: float
) -> list[list[Hypothesis]]:
    """Explain a part of the terms by the resistance of any number of joints."""
    single = [cause for cause in causes if cause.columns.shape[-1] == 1]
    columns, wanted = [_flat(cause, part) for cause in single], difference[:, part].ravel()
    values, left = solved(np.hstack(columns), wanted)
    if left > enough:
        return []
    least = enough * float(np.abs(wanted).max())
    shares = [column[:, 0] * value for column, value in zip(columns, values, strict=True)]
    steps = [
        list(cause.hypotheses(column, share))
        for cause, column, share in zip(single, columns, shares, strict=True)
        if np.abs(share).max() > least
    ]
    return steps if all(steps) else []  # one would be impossible


def _fitting(
    hypotheses: list[Hypothesis], assumed: Assumed, states: States, there: Array
) -> list[Hypothesis]:
    """Return those that explain most of all terms, among equal ones for a part."""
    if len(hypotheses) == 1:
        return hypotheses
    left = [np.linalg.norm(there - each.change(assumed).observed(states)) for each in hypotheses]
    near = 1.001 * min(left) + 1e-9 * np.linalg.norm(there)
    return [each for each, size in zip(hypotheses, left, strict=True) if size <= near]


def _alone(
    assumed: Assumed,
    states: States,
    there: Array,
    causes: list[LinearCause],
    *,
    part: Part,
    enough: float,
) -> list[Hypothesis]:
    """Return the simplest causes that each explain a part of the terms alone."""
    difference = (there - assumed.observed(states))[:, part].ravel()
    few, seen = states.first(_FEW), there[:_FEW, part]
    hypotheses = list(exchanges_and_flips(assumed, few, seen, part=part))
    for cause in causes:
        hypotheses += cause.hypotheses(_flat(cause, part), difference)
    if not any(each.left <= enough and each.parameters < 2 for each in hypotheses):
        hypotheses += moved_frames(assumed, few, seen, part=part)
    return _simplest(hypotheses, enough=enough)


def _together(
    causes: list[LinearCause], difference: Array, *, part: Part, enough: float, most: int
) -> list[Hypothesis]:
    """Find the fewest linear causes that explain a part of the terms; return the first.

    Causes are added greedily, each time that with the smallest residual. One of them
    is then named from what the others cannot explain.
    """
    wanted = difference[:, part].ravel()
    columns = [_flat(cause, part) for cause in causes]
    chosen: list[int] = []
    left = 1.0
    while left > enough:
        if len(chosen) == most:
            return []
        base = [columns[i] for i in chosen]
        trials = {
            i: solved(np.hstack([*base, columns[i]]), wanted)[1]
            for i in range(len(causes))
            if i not in chosen
        }
        chosen.append(min(trials, key=lambda i: trials[i]))
        left = trials[chosen[-1]]
    for i in chosen:
        others = np.hstack([columns[j] for j in chosen if j != i])
        hypotheses = causes[i].hypotheses(_without(columns[i], others), _without(wanted, others))
        best = _simplest(list(hypotheses), enough=1e3 * enough)
        if best:
            return best
    return []


def _flat(cause: LinearCause, part: Part) -> Array:
    return cause.columns[:, part].reshape(-1, cause.columns.shape[-1])


def _without(values: Array, columns: Array) -> Array:
    """Return the residual of values after a projection on columns."""
    U, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    Q = U[:, sizes > 1e-9 * sizes.max(initial=0.0)]
    left: Array = values - Q @ (Q.T @ values)
    return left


def _simplest(hypotheses: list[Hypothesis], *, enough: float) -> list[Hypothesis]:
    """Return those that explain all with the fewest parameters."""
    full = [each for each in hypotheses if each.left <= enough]
    fewest = min((each.parameters for each in full), default=0)
    return [each for each in full if each.parameters == fewest]


def _named(hypotheses: list[Hypothesis]) -> Difference:
    first = hypotheses[0]
    texts = list(dict.fromkeys(each.text for each in hypotheses))
    if len(texts) == 1:
        return Difference(first.cause, first.where, first.size, first.text)
    where = ", ".join(dict.fromkeys(each.where for each in hypotheses))
    causes = {each.cause for each in hypotheses}
    cause = first.cause if len(causes) == 1 else Cause.INSEPARABLE
    text = "; or ".join(texts) + ": no measurement here tells these apart"
    return Difference(cause, where, first.size, text)


def _unexplained(assumed: Assumed, difference: Array, least: float) -> Difference:
    """Return an unexplained difference and its location."""
    names = [joint.name for joint in assumed.model.moving_joints]
    parts = np.abs(difference).max(axis=(0, 2))
    joint = names[int(np.abs(difference).max(axis=(0, 1)).argmax())]
    where = ", ".join(name for name, size in zip(_NAMES, parts, strict=True) if size > least)
    size = float(parts.max())
    text = (
        f"{where} differ by up to {size:.3g} N m or N, most at joint {joint}, and no short list"
        " of known causes explains it"
    )
    return Difference(Cause.UNEXPLAINED, joint, size, text)
