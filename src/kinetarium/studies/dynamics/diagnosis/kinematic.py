"""Causes that move the robot's frames: joint axes, joint origins and the order of joints."""

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
from kinetarium.studies.dynamics.diagnosis.suspect import Assumed, Part, Suspect, gauss_newton
from kinetarium.studies.dynamics.differences.joint import axis_difference, vector_text
from kinetarium.studies.dynamics.finding import Cause
from kinetarium.studies.dynamics.states import States


def exchanges_and_flips(
    assumed: Assumed, states: States, there: Array, *, part: Part
) -> Iterator[Suspect]:
    """Try every joint with its axis reversed, and every two joints in each other's place.

    Args:
        assumed: The robot as it is assumed to be so far.
        states: A few states.
        there: What was observed at them of M a, g and c, shape (n, parts, joints).
        part: Which of the three that is.
    """
    size = np.linalg.norm(assumed.observed(states)[:, part] - there) or 1.0

    def left(changed: Assumed) -> float:
        return float(np.linalg.norm(changed.observed(states)[:, part] - there) / size)

    joints = assumed.model.moving_joints
    for joint in joints:
        change = partial(Assumed.with_joint, joint=replace(joint, axis=frozen(-joint.axis)))
        for each in axis_difference(joint.name, joint.axis, -joint.axis):
            share = left(change(assumed))
            yield Suspect(each.cause, joint.name, 0, share, each.size, each.text, change)
    for i, j in combinations(range(len(joints)), 2):
        order = list(assumed.order or range(len(joints)))
        order[i], order[j] = order[j], order[i]
        change = partial(replace, order=tuple(order))
        a, b = joints[i].name, joints[j].name
        text = f"joints {a} and {b} are exchanged"
        share = left(change(assumed))
        yield Suspect(Cause.JOINT_ORDER, f"{a}, {b}", 0, share, None, text, change)


def moved_frames(
    assumed: Assumed, states: States, there: Array, *, part: Part
) -> Iterator[Suspect]:
    """Fit to every joint a tilted axis, a displaced origin and a turned frame.

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
            yield Suspect(each.cause, joint.name, 2, left, each.size, each.text, change)
    # A displaced fixed joint shows too, if it carries something.
    for joint in assumed.model.joints:
        for moved, unit, text in (
            (partial(_displaced, joint), 1e3, "origin of joint {} is displaced by {} mm"),
            (partial(_turned, joint), degrees(1.0), "frame of joint {} is turned by {} degrees"),
        ):
            x, left = fitted(moved, 3)
            said = text.format(joint.name, vector_text(unit * x))
            change = partial(Assumed.with_joint, joint=moved(x))
            size = float(np.linalg.norm(x))
            yield Suspect(Cause.JOINT_ORIGIN, joint.name, 3, left, size, said, change)


def _tilted(joint: Joint, x: Array) -> Joint:
    across = np.linalg.svd(joint.axis[None])[2][1:]
    return replace(joint, axis=frozen(so3.exp(x @ across) @ joint.axis))


def _displaced(joint: Joint, x: Array) -> Joint:
    return replace(joint, X_PJ=frozen(pose(x) @ joint.X_PJ))


def _turned(joint: Joint, x: Array) -> Joint:
    return replace(joint, X_PJ=frozen(joint.X_PJ @ pose((0.0, 0.0, 0.0), so3.exp(x))))
