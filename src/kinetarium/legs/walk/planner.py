"""plan_walk: from a plan to every frame of the walk."""

from dataclasses import dataclass

import numpy as np

from kinetarium.legs.walk.plan import ALL_ORDERS, Order, WalkPlan, table1_row
from kinetarium.legs.walk.route import WalkRoute, lay_route
from kinetarium.legs.walk.walk import PlannedWalk
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
    from kinetarium.legs.gait.crawl import judge_orders

    machine = plan.machine
    verdicts = judge_orders(
        np.array(ALL_ORDERS, dtype=np.int64) - 1,
        route.holds,
        route.poses,
        route.two_phase,
        route.cycles,
        np.array(machine.com),
        plan.sway,
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
    from kinetarium.legs.gait.stability import support_margins
    from kinetarium.legs.mechanism.link_kernel import place_links
    from kinetarium.legs.walk._warnings import find_warnings
    from kinetarium.legs.walk.frames import crawl_frames

    machine = plan.machine
    route = lay_route(plan)
    order: Order = tuple(plan.order) or best_order(plan, route)  # type: ignore[assignment]
    frames = crawl_frames(plan, route, order=order)
    count = len(frames.body)
    hips = _hips(frames.body, machine.hips)
    local = _into_body(frames.feet - hips[:, :, :3], frames.body[:, 3])
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
    com = _center_of_mass(frames.body, machine.com)
    margin = support_margins(frames.feet, frames.support, com)
    body = np.column_stack([frames.body[:, :3], hips[:, 0, 3:]])
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
        warnings=find_warnings(plan, frames, joints=joints, local=local, margin=margin),
        stride=route.stride,
        path=route.path.outline(),
    )


def _hips(body: Array, hips: Array) -> Array:
    """Return the leg frames in the world, position and quaternion wxyz, shape (n, 4, 7)."""
    c, s = np.cos(body[:, 3:]), np.sin(body[:, 3:])
    poses = np.zeros((len(body), 4, 7))
    poses[:, :, 0] = body[:, :1] + c * hips[:, 0] - s * hips[:, 1]
    poses[:, :, 1] = body[:, 1:2] + s * hips[:, 0] + c * hips[:, 1]
    poses[:, :, 2] = body[:, 2:3] + hips[:, 2]
    poses[:, :, 3] = np.cos(body[:, 3:] / 2)
    poses[:, :, 6] = np.sin(body[:, 3:] / 2)
    return poses


def _into_body(vectors: Array, heading: Array) -> Array:
    """Turn vectors of the world, shape (n, 4, 3), into body axes."""
    c, s = np.cos(heading)[:, np.newaxis], np.sin(heading)[:, np.newaxis]
    x, y, z = np.moveaxis(vectors, -1, 0)
    return np.stack([c * x + s * y, c * y - s * x, z], axis=-1)


def _center_of_mass(body: Array, com: tuple[float, float]) -> Array:
    c, s = np.cos(body[:, 3]), np.sin(body[:, 3])
    x, y = com
    return np.column_stack([body[:, 0] + c * x - s * y, body[:, 1] + s * x + c * y, body[:, 2]])
