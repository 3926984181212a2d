"""Warnings about a walk: which leg, which step, by how much."""

from collections.abc import Callable, Iterator
from math import degrees

import numpy as np

from kinetarium.legs.mechanism.pantograph import LegKind
from kinetarium.legs.walk.frames import Frames
from kinetarium.legs.walk.plan import WalkPlan
from kinetarium.legs.walk.walk import LEG_NAMES, WalkWarning, WarningKind, foot_gaps
from kinetarium.spatial.arrays import Array

LEAST_FOOT_GAP = 5.0
"""Least distance between two feet [unit]."""
_TOLERANCE = 1e-6
"""Violations below this are rounding [unit or rad]."""


def find_warnings(
    plan: WalkPlan, frames: Frames, *, joints: Array, local: Array, margin: Array
) -> tuple[WalkWarning, ...]:
    """Find all violations, in time order.

    Args:
        joints: Joint values, shape (n, 4, 3).
        local: The feet in their legs' frames, shape (n, 4, 3).
        margin: The static margin, shape (n,).
    """
    found = [
        *_of_reach(plan, frames, joints),
        *_of_drives(plan, frames, joints),
        *_of_axes(plan, frames, local),
        *_of_stability(plan, frames, margin),
        *_of_foot_gaps(frames),
        *_of_terrain(plan, frames),
    ]
    return tuple(sorted(found, key=lambda warning: (warning.frame, warning.leg)))


def _of_reach(plan: WalkPlan, frames: Frames, joints: Array) -> Iterator[WalkWarning]:
    leg = plan.machine.leg
    low, high = leg.reach
    beyond = leg.overreach(joints)

    def text(at: int, of: int, amount: float) -> str:
        span = float(leg.span(joints[at, of]))
        word = "stretched" if span > high else "folded"
        limit = high if span > high else low
        return f"is out of reach: {word} to {span:.2f} where {limit:.2f} is the limit"

    yield from _by_leg(WarningKind.REACH, frames, beyond, text)


def _of_drives(plan: WalkPlan, frames: Frames, joints: Array) -> Iterator[WalkWarning]:
    machine = plan.machine
    if machine.kind is LegKind.TTT1:
        stroke = machine.lateral_stroke

        def slides(at: int, of: int, amount: float) -> str:
            return f"slides {amount:.2f} beyond its lateral stroke of {stroke:.2f}"

        yield from _by_leg(WarningKind.DRIVE, frames, np.abs(joints[:, :, 1]) - stroke, slides)
    elif machine.kind is LegKind.TTR:
        limit = machine.limits[3]

        def turns(at: int, of: int, amount: float) -> str:
            return f"turns {degrees(amount):.1f} deg beyond its limit of {degrees(limit):.1f} deg"

        turned = np.abs(joints[:, :, 1] - machine.azimuths) - limit
        yield from _by_leg(WarningKind.DRIVE, frames, turned, turns)


def _of_axes(plan: WalkPlan, frames: Frames, local: Array) -> Iterator[WalkWarning]:
    under = plan.machine.leg.under_axis(local)
    for leg in np.flatnonzero(under.any(axis=0)).tolist():
        at = int(np.argmax(under[:, leg]))
        count = int(under[:, leg].sum())
        step = int(frames.step[at])
        text = (
            f"{_where(step, leg + 1)} has its foot under its axis in {count} frames; its angle is"
            " undefined there and is kept"
        )
        yield WalkWarning(WarningKind.SINGULAR, at, leg + 1, step, 0.0, text)


def _of_stability(plan: WalkPlan, frames: Frames, margin: Array) -> Iterator[WalkWarning]:
    # Without sway, a margin of zero is a loss of balance as well.
    above = _TOLERANCE if plan.sway else -_TOLERANCE
    for step, at in _worst(frames, plan.sway - margin, above=above):
        least, leg = float(margin[at]), _swinging(frames, step)
        if least >= _TOLERANCE:
            kind, amount = WarningKind.SWAY, plan.sway - least
            what = f"a sway margin of {plan.sway:g} is not reached: {least:.2f} is the best"
        else:
            kind, amount = WarningKind.STABILITY, max(-least, 0.0)
            what = (
                f"the centre of mass is {amount:.2f} outside the support: the robot tips over"
                if amount > _TOLERANCE
                else "the centre of mass is on the edge of the support"
            )
        yield WalkWarning(kind, at, leg, step, amount, f"{_where(step, leg)} swings: {what}")


def _of_foot_gaps(frames: Frames) -> Iterator[WalkWarning]:
    gaps = foot_gaps(frames.feet)
    for step, at in _worst(frames, LEAST_FOOT_GAP - gaps):
        leg, gap = _swinging(frames, step), float(gaps[at])
        text = f"{_where(step, leg)} swings: two feet come as near as {gap:.2f}"
        yield WalkWarning(WarningKind.FOOT_GAP, at, leg, step, LEAST_FOOT_GAP - gap, text)


def _of_terrain(plan: WalkPlan, frames: Frames) -> Iterator[WalkWarning]:
    if plan.terrain.level:
        return
    x, y, z = np.moveaxis(frames.feet, -1, 0)

    def text(at: int, of: int, amount: float) -> str:
        return f"cuts {amount:.2f} deep into the ground"

    yield from _by_leg(WarningKind.TERRAIN, frames, plan.terrain.height(x, y) - z, text)


def _by_leg(
    kind: WarningKind, frames: Frames, beyond: Array, text: Callable[[int, int, float], str]
) -> Iterator[WalkWarning]:
    """Warn of values beyond a limit, shape (n, 4), once for each leg and step."""
    for leg in np.flatnonzero(beyond.max(axis=0) > _TOLERANCE).tolist():
        for step, at in _worst(frames, beyond[:, leg]):
            amount = float(beyond[at, leg])
            sentence = f"{_where(step, leg + 1)} {text(at, leg, amount)}"
            yield WalkWarning(kind, at, leg + 1, step, amount, sentence)


def _worst(
    frames: Frames, values: Array, *, above: float = _TOLERANCE
) -> Iterator[tuple[int, int]]:
    """Yield each step with a value above a limit, and the frame of its greatest value."""
    starts = np.flatnonzero(np.diff(frames.step, prepend=-1))
    ends = np.append(starts[1:], len(values))
    for i in np.flatnonzero(np.maximum.reduceat(values, starts) > above).tolist():
        start = int(starts[i])
        yield int(frames.step[start]), start + int(np.argmax(values[start : ends[i]]))


def _swinging(frames: Frames, step: int) -> int:
    return frames.steps[step - 1].leg if 1 <= step <= len(frames.steps) else 0


def _where(step: int, leg: int) -> str:
    who = f"leg {leg} ({LEG_NAMES[leg - 1]})" if leg else "the robot"
    return f"step {step}: {who}"
