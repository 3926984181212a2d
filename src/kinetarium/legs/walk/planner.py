"""plan_walk: from a plan to every frame of the walk, and warnings: which leg, which step."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import degrees

import numpy as np

from kinetarium.legs.mechanism.interference import Interference, find_interference
from kinetarium.legs.mechanism.machine import Machine, missed_pivots
from kinetarium.legs.mechanism.pantograph import LegKind
from kinetarium.legs.walk.plan import ALL_ORDERS, TABLE_1, Order, WalkPlan, table1_row
from kinetarium.legs.walk.route import Frames, WalkRoute, lay_route, region_rows
from kinetarium.legs.walk.walk import LEG_NAMES, PlannedWalk, WalkWarning, WarningKind, foot_gaps
from kinetarium.spatial.arrays import Array

_DIGITS = 6
"""Digits to which scores are compared, so that rounding does not decide."""


@dataclass(frozen=True, slots=True)
class OrderScore:
    """The score of a leg order on a walk.

    Attributes:
        order: The order.
        violation: The greatest violation of a leg's limit [unit or rad].
        margin: The least static margin of all swings [unit].
        inward: The farthest that a foot comes inward of its neutral place [unit].
    """

    order: Order
    violation: float
    margin: float
    inward: float


def judge_all_orders(plan: WalkPlan, route: WalkRoute) -> tuple[OrderScore, ...]:
    """Score all 24 orders on a walk."""
    from kinetarium.legs.walk.crawl import judge_orders

    machine = plan.machine
    verdicts = judge_orders(
        np.array(ALL_ORDERS, dtype=np.int64) - 1,
        route.holds,
        route.poses,
        route.two_phase,
        route.cycles,
        np.array(machine.com),
        plan.sway,
        plan.tilt,
        machine.kind.code,
        machine.leg.dimensions,
        machine.hips,
        machine.neutral_feet,
        machine.limits,
    )
    rounded = (np.round(verdicts, _DIGITS) + 0.0).tolist()  # no negative zeros
    return tuple(OrderScore(order, *row) for order, row in zip(ALL_ORDERS, rounded, strict=True))


def best_order(plan: WalkPlan, route: WalkRoute) -> Order:
    """Return the order that violates no limit, has the best margin and keeps its feet outward.

    Ties go to the first row of Table 1.
    """

    def merit(verdict: OrderScore) -> tuple[bool, float, float, int]:
        row = table1_row(verdict.order) or len(ALL_ORDERS)
        return verdict.violation == 0, verdict.margin, -verdict.inward, -row

    return max(judge_all_orders(plan, route), key=merit).order


def plan_walk(plan: WalkPlan) -> PlannedWalk:
    """Plan a walk.

    Targets out of reach or a loss of balance are warnings, never errors, and no number is
    ever NaN.

    Raises:
        LegsError: If a value is invalid, or the walk would take too many frames.
        PathError: If the waypoints are not a valid path.
    """
    # Imported here, since Numba takes a second to load.
    from kinetarium.legs.mechanism.link_kernel import place_links
    from kinetarium.legs.walk.crawl import support_margins
    from kinetarium.legs.walk.route import crawl_frames, gait_frames

    machine = plan.machine
    route = lay_route(plan)
    rows: tuple[int, ...] = ()
    if plan.gait is not None:
        order: Order = plan.gait.order
        frames = gait_frames(plan, route, plan.gait)
    else:
        if plan.by_region:
            rows = region_rows(plan, route)
            order = TABLE_1[rows[0]]
        else:
            order = tuple(plan.order) or best_order(plan, route)  # type: ignore[assignment]
        legs = tuple(leg for row in rows for leg in TABLE_1[row]) or order
        frames = crawl_frames(plan, route, order=legs)
    count = len(frames.body)
    axes = _axes(frames.body)
    hips = _hips(frames.body, axes, machine.hips)
    local = (frames.feet - hips[:, :, :3]) @ axes  # into body axes
    joints = np.stack(
        [
            machine.leg.follow(local[:, leg], azimuth=azimuth)
            for leg, azimuth in enumerate(machine.azimuths)
        ],
        axis=1,
    )
    links = np.empty((count, 4, 9, 7))
    place_links(
        machine.kind.code,
        machine.leg.dimensions,
        joints.reshape(-1, 3),
        hips.reshape(-1, 7),
        links.reshape(-1, 9, 7),
    )
    com = frames.body[:, :3] + axes[:, :, :2] @ machine.com
    margin = support_margins(frames.feet, frames.support, com)
    body = np.column_stack([frames.body[:, :3], hips[:, 0, 3:]])
    interference = find_interference(machine, body, links)
    warnings = (
        *find_warnings(plan, frames, joints=joints, local=local, margin=margin),
        *_of_interference(frames, interference),
        *_of_shapes(machine),
    )
    return PlannedWalk(
        plan=plan,
        time=np.arange(count, dtype=np.float64) * (plan.step_time / plan.frames_per_step),
        body=body,
        joints=joints,
        links=links,
        feet=frames.feet,
        support=frames.support,
        margin=margin,
        com=com,
        order=order,
        table1_row=table1_row(order),
        steps=frames.steps,
        warnings=tuple(sorted(warnings, key=lambda warning: (warning.frame, warning.leg))),
        interference=interference,
        stride=route.stride,
        path=route.path.outline(),
        rows=rows,
    )


def _axes(body: Array) -> Array:
    """Return the body's axes in the world, shape (n, 3, 3): its heading, then its tilt."""
    c, s = np.cos(body[:, 3]), np.sin(body[:, 3])
    nx, ny, nz = _normals(body)
    k = 1 / (1 + nz)
    turn = np.zeros((len(body), 3, 3))
    turn[:, 0, 0], turn[:, 0, 1] = c, -s
    turn[:, 1, 0], turn[:, 1, 1] = s, c
    turn[:, 2, 2] = 1.0
    tilt = np.stack(
        [1 - nx * nx * k, -nx * ny * k, nx, -nx * ny * k, 1 - ny * ny * k, ny, -nx, -ny, nz], axis=1
    )
    return np.asarray(tilt.reshape(-1, 3, 3) @ turn)


def _normals(body: Array) -> tuple[Array, Array, Array]:
    """Return the normal of the body's plane, shape (n,) each."""
    gx, gy = body[:, 4], body[:, 5]
    nz = 1 / np.sqrt(1 + gx * gx + gy * gy)
    return 0.0 - gx * nz, 0.0 - gy * nz, nz  # no negative zeros


def _hips(body: Array, axes: Array, hips: Array) -> Array:
    """Return the leg frames in the world, position and quaternion wxyz, shape (n, 4, 7)."""
    c, s = np.cos(body[:, 3] / 2), np.sin(body[:, 3] / 2)
    nx, ny, nz = _normals(body)
    w = np.sqrt((1 + nz) / 2)
    x, y = -ny / (2 * w), nx / (2 * w)
    poses = np.empty((len(body), 4, 7))
    poses[:, :, :3] = body[:, np.newaxis, :3] + hips @ axes.mT
    poses[:, :, 3:] = np.stack([w * c, x * c + y * s, y * c - x * s, w * s], axis=1)[:, np.newaxis]
    return poses


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
        *(_of_stability(plan, frames, margin) if plan.gait is None else ()),
        *_of_foot_gaps(frames),
        *_of_terrain(plan, frames),
    ]
    return tuple(sorted(found, key=lambda warning: (warning.frame, warning.leg)))


def _of_interference(frames: Frames, interference: Interference) -> Iterator[WalkWarning]:
    def text(at: int, of: int, amount: float) -> str:
        return interference.words(at, of)

    yield from _by_leg(WarningKind.INTERFERENCE, frames, interference.depth, text)


def _of_shapes(machine: Machine) -> Iterator[WalkWarning]:
    for name, amount in missed_pivots(machine).items():
        text = f"the shape of the {name} misses a pivot by {amount:.2f}"
        yield WalkWarning(WarningKind.SHAPE, 0, 0, 0, amount, text)


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
