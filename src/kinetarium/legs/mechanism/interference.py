"""Interference of a machine: links of its legs that penetrate its body or another leg.

The links of one leg are drawn in one plane, where its pivots are, and overlap by construction;
they are not checked against each other. A section counts as its convex hull.
"""

from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from kinetarium.legs.mechanism.machine import LINK_NAMES, LinkShape, Machine
from kinetarium.legs.mechanism.pantograph import LegKind
from kinetarium.spatial.arrays import Array

LINKS = len(LINK_NAMES)
BODY = 4 * LINKS
"""Number of the body as a part; the links of legs 1 to 4 come before it."""
PARTS = (*(f"leg{leg}/{name}" for leg in (1, 2, 3, 4) for name in LINK_NAMES), "body")
"""Names of all parts."""

TOLERANCE = 1e-6
"""Parts that are less deep in each other touch [unit]."""
_BRACKET, _GUIDE = 0, 1
_PARALLEL = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Interference:
    """Overlaps of the parts of a machine in n frames.

    Attributes:
        depth: How deep a part of each leg is in the body or in a leg of higher number [unit],
            0 where none is, shape (n, 4).
        worst: The row of `pairs` that is as deep, -1 where none is, shape (n, 4).
        hits: Whether each of `PARTS` overlaps another, shape (n, 37).
        pairs: The two parts of each checked pair, and the leg it counts for, 0 to 3,
            shape (p, 3).
    """

    depth: Array
    worst: NDArray[np.int64]
    hits: NDArray[np.bool_]
    pairs: NDArray[np.int64]

    def words(self, frame: int, leg: int) -> str:
        """Return what a leg, 0 to 3, does in a frame in which one of its parts overlaps."""
        first, second, _ = self.pairs[self.worst[frame, leg]].tolist()
        deep = f"is {self.depth[frame, leg]:.2f} deep in"
        name = LINK_NAMES[first % LINKS]
        if second == BODY:
            return f"{deep} the body with its {name}"
        return f"{deep} leg {second // LINKS + 1}: its {name}, the {LINK_NAMES[second % LINKS]}"

    def spans(self) -> list[tuple[str, int, int]]:
        """Return the name of each overlapping part, with the first and last frame of each time."""
        rows = np.zeros((len(self.hits) + 2, len(PARTS)), dtype=np.int8)
        rows[1:-1] = self.hits
        changes = np.diff(rows, axis=0)
        return [
            (PARTS[part], int(start), int(end) - 1)
            for part in np.flatnonzero(self.hits.any(axis=0))
            for start, end in zip(
                np.flatnonzero(changes[:, part] > 0),
                np.flatnonzero(changes[:, part] < 0),
                strict=True,
            )
        ]


def find_interference(machine: Machine, body: Array, links: Array) -> Interference:
    """Find the overlaps of all parts that are not mounted on each other.

    Args:
        machine: The robot.
        body: Poses of the body [unit, wxyz], shape (n, 7).
        links: Poses of the links of the legs [unit, wxyz], shape (n, 4, 9, 7).
    """
    from kinetarium.legs.mechanism._overlap_kernel import find_overlaps

    count = len(body)
    poses = np.concatenate([links.reshape(count, BODY, 7), body[:, np.newaxis]], axis=1)
    shapes = [shape for of in machine.link_shapes for shape in of]
    hulls = [_hull(shape) for shape in shapes]
    pairs = checked_pairs(machine.kind)
    found = Interference(
        np.empty((count, 4)),
        np.empty((count, 4), dtype=np.int64),
        np.empty((count, len(PARTS)), dtype=np.bool_),
        pairs,
    )
    find_overlaps(
        np.concatenate([corners for corners, _, _ in hulls]),
        np.cumsum([0, *(len(corners) for corners, _, _ in hulls)]),
        np.concatenate([axis for _, *axes in hulls for axis in axes]),
        np.cumsum([0, *(len(normals) + len(edges) for _, normals, edges in hulls)]),
        np.array([len(normals) for _, normals, _ in hulls]),
        poses,
        pairs,
        TOLERANCE,
        found.depth,
        found.worst,
        found.hits,
    )
    return found


def checked_pairs(kind: LegKind) -> NDArray[np.int64]:
    """Return the pairs of parts that may overlap, and the leg each counts for, shape (p, 3).

    Brackets are mounted on the body; so are the vertical guides of all but TTT1 legs, which
    slide with their leg.
    """
    mounted = {_BRACKET} if kind is LegKind.TTT1 else {_BRACKET, _GUIDE}
    rows = [
        (LINKS * leg + link, BODY, leg)
        for leg in range(4)
        for link in range(LINKS)
        if link not in mounted
    ]
    rows += [
        (LINKS * one + a, LINKS * other + b, one)
        for one, other in combinations(range(4), 2)
        for a, b in product(range(LINKS), repeat=2)
    ]
    return np.array(rows, dtype=np.int64)


def _hull(shape: LinkShape) -> tuple[Array, Array, Array]:
    """Return corners, face normals and edge directions of a prism; of parallel ones one each."""
    section = np.array(_convex(shape.section))
    ends = [
        np.column_stack([section, np.full(len(section), end)]) for end in (shape.bottom, shape.top)
    ]
    edges = np.roll(section, -1, axis=0) - section
    edges /= np.hypot(*edges.T)[:, np.newaxis]
    kept: list[Array] = []
    for edge in edges:
        if all(abs(edge[0] * other[1] - edge[1] * other[0]) > _PARALLEL for other in kept):
            kept.append(edge)
    x, y = np.array(kept).T
    along = np.array([[0.0, 0.0, 1.0]])
    normals = np.column_stack([y, -x, np.zeros(len(x))])
    directions = np.column_stack([x, y, np.zeros(len(x))])
    return np.concatenate(ends), np.vstack([normals, along]), np.vstack([directions, along])


def _convex(section: tuple[tuple[float, float], ...]) -> list[tuple[float, float]]:
    """Return the convex hull of a section (A. M. Andrew, 1979); a flat one is given some width."""

    def chain(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
        hull: list[tuple[float, float]] = []
        for point in points:
            while len(hull) > 1 and _turn(hull[-2], hull[-1], point) <= 0:
                hull.pop()
            hull.append(point)
        return hull[:-1]

    points = sorted(set(section))
    hull = [*chain(points), *chain(points[::-1])]
    if len(hull) > 2:
        return hull
    (x0, y0), (x1, y1) = points[0], points[-1]
    thin = TOLERANCE
    return [(x0 - thin, y0 - thin), (x1 + thin, y1 - thin), (x1 + thin, y1 + thin)]


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
