"""Frames of a crawl: the body moves with all feet on the ground, then one foot swings."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinetarium.legs.walk.crawl import body_index, crawl_bodies, crawl_feet
from kinetarium.legs.walk.plan import GaitTiming, Order, WalkPlan
from kinetarium.legs.walk.route import WalkRoute
from kinetarium.legs.walk.walk import LegStep
from kinetarium.spatial.arrays import Array

Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Frames:
    """A crawl, frame by frame.

    Attributes:
        body: x, y, z [unit] and heading [rad], shape (n, 4).
        feet: The feet in the world [unit], shape (n, 4, 3).
        support: Which of them are on the ground, shape (n, 4).
        steps: The swings.
        step: The swing that a frame belongs to or leads to, counted from 1; 0 at the start, and
            one more than the last swing after it; shape (n,).
    """

    body: Array
    feet: Array
    support: NDArray[np.bool_]
    steps: tuple[LegStep, ...]
    step: Indices


@dataclass(frozen=True, slots=True, eq=False)
class _Stops:
    """The body's pose at the start, during each swing and, after a sway, at the end."""

    index: Indices
    sway: Array
    height: Array


def crawl_frames(plan: WalkPlan, route: WalkRoute, *, order: Order) -> Frames:
    """Return the frames of a crawl."""
    legs = np.array(order, dtype=np.int64) - 1
    feet = crawl_feet(legs, route.holds, route.two_phase, route.cycles)
    stops = _stops(plan, route, legs=legs, feet=feet)
    moves, swing = _frame_counts(plan)
    step, moved, swung = _clock(moves, swing, cycles=route.cycles, returning=plan.sway > 0)

    # After the last swing only the body may move, back from its sway.
    before, after = np.minimum(step, len(feet)) - 1, np.minimum(step, len(feet) - 1)
    leg = legs[before % 4]
    rows = np.arange(1, len(step))
    places = feet[np.maximum(before, 0)]
    places[rows, leg[1:]] = _swung(
        feet[before, leg][1:], feet[after, leg][1:], swung[1:], lift=plan.lift
    )
    support = np.ones((len(step), 4), dtype=np.bool_)
    support[rows, leg[1:]] = (swung[1:] == 0) | (swung[1:] == 1)
    ends = np.cumsum(np.tile(moves + swing, route.cycles))
    return Frames(
        _body(route, stops, step=step, part=_eased(moved)),
        places,
        support,
        tuple(LegStep(order[i % 4], int(end) - swing, int(end)) for i, end in enumerate(ends)),
        step,
    )


def _stops(plan: WalkPlan, route: WalkRoute, *, legs: Indices, feet: Array) -> _Stops:
    height = plan.machine.height
    bodies = crawl_bodies(
        legs, feet, route.poses, route.two_phase, np.array(plan.machine.com), height, plan.sway
    )
    swings = [body_index(i, route.two_phase) for i in range(len(bodies))]
    rest = np.zeros((1, 2))
    return _Stops(
        np.array([0, *swings, swings[-1]], dtype=np.int64),
        np.concatenate([rest, bodies[:, 4:], rest]),
        height + np.concatenate([feet[:1], feet])[:, :, 2].mean(axis=1),
    )


def _frame_counts(plan: WalkPlan) -> tuple[Indices, int]:
    """Return the frames of the body's move before each swing of a cycle, and those of a swing."""
    part = plan.frames_per_step // 3
    if plan.sway > 0:
        shares = (1, 1, 1, 1)
    else:
        shares = (2, 0, 2, 0) if plan.timing is GaitTiming.TWO_PHASE else (0, 0, 4, 0)
    return part * np.array(shares, dtype=np.int64), plan.frames_per_step - part


def _clock(
    moves: Indices, swing: int, *, cycles: int, returning: bool
) -> tuple[Indices, Array, Array]:
    """Return each frame's step, and the fractions of its body move and of its swing, 0..1."""
    steps, moved, swung = [], [], []
    for i, move in enumerate(moves.tolist()):
        steps.append(np.full(move + swing, i + 1))
        moved.append(np.concatenate([np.arange(1, move + 1) / max(move, 1), np.ones(swing)]))
        swung.append(np.concatenate([np.zeros(move), np.arange(1, swing + 1) / swing]))
    cycle = np.concatenate(steps)
    step = (np.arange(cycles)[:, np.newaxis] * 4 + cycle).ravel()
    last = int(moves.max()) if returning else 0
    return (
        np.concatenate([[0], step, np.full(last, 4 * cycles + 1)]),
        np.concatenate(
            [[1.0], np.tile(np.concatenate(moved), cycles), np.arange(1, last + 1) / max(last, 1)]
        ),
        np.concatenate([[0.0], np.tile(np.concatenate(swung), cycles), np.zeros(last)]),
    )


def _body(route: WalkRoute, stops: _Stops, *, step: Indices, part: Array) -> Array:
    """Move the body along its path from stop to stop, shape (n, 4)."""
    source = np.maximum(step - 1, 0)
    begin, end = stops.index[source], stops.index[step]
    poses = route.poses[end]
    between = np.flatnonzero((part < 1) & (begin != end))
    start, goal = route.ways[begin[between]], route.ways[end[between]]
    poses[between] = route.path.poses(start + part[between] * (goal - start))
    rest = 1 - part
    sway = rest[:, np.newaxis] * stops.sway[source] + part[:, np.newaxis] * stops.sway[step]
    height = rest * stops.height[source] + part * stops.height[step]
    return np.column_stack([poses[:, :2] + sway, height, poses[:, 2]])


def _swung(start: Array, goal: Array, part: Array, *, lift: float) -> Array:
    """Lift feet, carry them over and set them down, shape (n, 3).

    They rise in the first third of the swing, sink in the last, and travel in the middle two
    thirds, to keep clear of edges near a foothold.
    """
    across = _eased(np.clip((part - 1 / 6) * 1.5, 0.0, 1.0))[:, np.newaxis]
    places = (1 - across) * start + across * goal
    base = np.where(part < 0.5, start[:, 2], goal[:, 2])
    raised = _eased(np.clip(3 * np.minimum(part, 1 - part), 0.0, 1.0))
    top = np.maximum(start[:, 2], goal[:, 2]) + lift
    places[:, 2] = base + raised * (top - base)
    return places


def _eased(part: Array) -> Array:
    """Return the quintic 10 t^3 - 15 t^4 + 6 t^5, which starts and ends without acceleration."""
    return part**3 * (10 - 15 * part + 6 * part * part)
