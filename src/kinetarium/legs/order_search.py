"""The best order in which the legs swing, by trying all 24."""

from dataclasses import dataclass

import numpy as np

from kinetarium.legs.gait import ALL_ORDERS, Order, table1_row
from kinetarium.legs.route import Route
from kinetarium.legs.walk_plan import WalkPlan

_DIGITS = 6
"""Digits by which verdicts differ; what is the same to rounding is the same."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an order comes to on a walk.

    Attributes:
        order: The order.
        violation: The greatest violation of a leg's limit [unit or rad].
        margin: The least static margin of all swings [unit].
        inward: The farthest that a foot comes inward of its place at rest [unit].
    """

    order: Order
    violation: float
    margin: float
    inward: float


def judge_all_orders(plan: WalkPlan, route: Route) -> tuple[Verdict, ...]:
    """Judge all 24 orders on a walk."""
    from kinetarium.legs.crawl import judge_orders

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
    return tuple(Verdict(order, *row) for order, row in zip(ALL_ORDERS, rounded, strict=True))


def best_order(plan: WalkPlan, route: Route) -> Order:
    """Give the order that breaks no limit, has the best margin and keeps its feet outward.

    Among equals the first row of Table 1 is taken.
    """

    def merit(verdict: Verdict) -> tuple[bool, float, float, int]:
        row = table1_row(verdict.order) or len(ALL_ORDERS)
        return verdict.violation == 0, verdict.margin, -verdict.inward, -row

    return max(judge_all_orders(plan, route), key=merit).order
