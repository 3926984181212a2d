"""Crawl gaits: the leg orders of the paper's Table 1 and the timing of the body's moves."""

from enum import StrEnum
from itertools import permutations

Order = tuple[int, int, int, int]
"""Legs in the order in which they swing."""

TABLE_1: dict[int, Order] = {
    1: (1, 2, 3, 4),
    2: (3, 4, 1, 2),
    3: (1, 4, 3, 2),
    4: (3, 2, 1, 4),
    5: (2, 1, 4, 3),
    6: (4, 3, 2, 1),
    7: (4, 1, 2, 3),
    8: (2, 3, 4, 1),
}
"""Leg orders of the paper by row; the body may move before the first and the third leg."""

ALL_ORDERS: tuple[Order, ...] = tuple((a, b, c, d) for a, b, c, d in permutations((1, 2, 3, 4)))
"""All 24 orders."""


class Timing(StrEnum):
    """When the body moves within a cycle of four legs."""

    PAPER = "paper"
    """Once, by the whole stride, between the second and the third leg; feet start at rest."""
    TWO_PHASE = "two-phase"
    """By half a stride before the first and the third leg; each leg's stance is centred."""


def table1_row(order: Order) -> int:
    """Give the row of Table 1 that an order equals, 0 for none."""
    return next((row for row, legs in TABLE_1.items() if legs == order), 0)
