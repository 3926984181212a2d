"""Turns in place and straight legs of a base: checks, connections, shortcuts, as Numba kernels.

Poses are x, y [m] and heading [rad] of the steered frame: the base turns about its origin.
"""

from heapq import heappop, heappush
from math import atan2, ceil, cos, hypot, inf, pi, sin
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.reach.collision.check import collides, no_last_contact
from kinetarium.reach.collision.piece_arrays import PieceArrays
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled

TURN = 0.5
"""Cost of a turn, as the way that costs the same [m/rad]."""
REVERSE = 2.0
"""Cost of driving backwards over that of driving forwards."""
STOP = 0.3
"""Cost of a further leg, as the way that costs the same [m]."""
LAST_TURN = 1.0
"""Cost of ending with a turn, which moves a base sideways that slips, as way [m]."""
MOST_POINTS = 12
"""Points of a way, about, between which it is shortened."""
BEFORE = (0.3, 0.5, 0.8)
"""Distances from the goal from which it may be approached straight ahead [m]."""
END = 0.3
"""Distance from start and goal up to which the margin of the ends holds [m]."""
RESOLUTION = 0.04
"""How far any point of the robot moves between two checked poses, at most [m]. A margin of half of
it keeps the robot from touching anything in between."""
SAME = 1e-6
"""Distances and angles below this are zero [m, rad]."""
OPTIONS = 4
"""Ways to connect two poses: turn, forwards, turn; the same backwards; of a base that moves
sideways also turn and slide, slide and turn."""


class Drivable(NamedTuple):
    """A robot on its base among obstacles, for kernels.

    Attributes:
        wide: The robot, grown by the margin, and the obstacles.
        narrow: The same with the margin near start and goal.
        steered: Steered frame in the base link: x, y [m], heading [rad], shape (3,).
        ends: Positions of start and goal, shape (2, 2).
        height: Height of the base link [m].
        radius: Largest distance of any point of the robot from the steered axis [m].
        sideways: Whether the base moves in any direction.
    """

    wide: PieceArrays
    narrow: PieceArrays
    steered: Array
    ends: Array
    height: float
    radius: float
    sideways: bool


@compiled
def turned(from_heading: float, to_heading: float) -> float:
    """Return the smaller turn between two headings [rad]."""
    turn: float = (to_heading - from_heading + pi) % (2 * pi) - pi
    return turn


@compiled
def touches(
    base: Drivable, x: float, y: float, heading: float, X: Array, last_contact: NDArray[np.int64]
) -> bool:
    """Return whether the robot is closer to an obstacle than its margin.

    Args:
        x: Position of the steered frame [m].
        y: The same [m].
        heading: Its heading [rad].
        X: Scratch array, shape (2, 3, 4).
        last_contact: As in `collides`; updated.
    """
    yaw = heading - base.steered[2]
    c, s = cos(yaw), sin(yaw)
    X[0] = 0.0
    X[0, 0, 0] = X[0, 1, 1] = X[0, 2, 2] = 1.0
    X[1] = 0.0
    X[1, 0, 0], X[1, 0, 1], X[1, 0, 3] = c, -s, x - c * base.steered[0] + s * base.steered[1]
    X[1, 1, 0], X[1, 1, 1], X[1, 1, 3] = s, c, y - s * base.steered[0] - c * base.steered[1]
    X[1, 2, 2], X[1, 2, 3] = 1.0, base.height
    near = False
    for n in range(2):
        near = near or hypot(x - base.ends[n, 0], y - base.ends[n, 1]) <= END
    pieces = base.narrow if near else base.wide
    return collides(pieces, X, np.empty(0), last_contact)


@compiled
def free_motion(base: Drivable, a: Array, b: Array) -> bool:
    """Return whether a turn in place or a straight leg between two poses is free, ends included.

    Args:
        a: A pose, shape (3,).
        b: A pose that differs in its position, or in its heading alone.
    """
    X, last_contact = np.empty((2, 3, 4)), no_last_contact()
    turn = turned(a[2], b[2])
    away = hypot(b[0] - a[0], b[1] - a[1])
    count = ceil((away + abs(turn) * base.radius) / RESOLUTION)
    for k in range(count, -1, -1):
        share = k / count if count else 1.0
        x, y = a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])
        if touches(base, x, y, a[2] + share * turn, X, last_contact):
            return False
    return True


@compiled
def connection(base: Drivable, a: Array, b: Array, option: int) -> tuple[Array, float]:
    """Return the poses and the cost of one of the ways to connect two poses.

    Returns:
        Poses from a to b, shape (4, 3), each a turn or a straight leg after the one before, some
        perhaps equal; and the cost, inf if the base cannot move like this.
    """
    poses = np.empty((4, 3))
    poses[0], poses[3] = a, b
    dx, dy = b[0] - a[0], b[1] - a[1]
    away = hypot(dx, dy)
    heading = b[2] if option == 2 else a[2]
    if option < 2 and away > SAME:
        heading = atan2(dy, dx) if option == 0 else atan2(-dy, -dx)
    if (option >= 2 and not base.sideways) or (option > 0 and away <= SAME):
        return poses, inf
    poses[1, 0], poses[1, 1], poses[1, 2] = a[0], a[1], heading
    poses[2, 0], poses[2, 1], poses[2, 2] = b[0], b[1], heading
    cost = away * (REVERSE if option == 1 else 1.0) + (STOP if away > SAME else 0.0)
    for turn in (abs(turned(a[2], heading)), abs(turned(heading, b[2]))):
        cost += TURN * turn + (STOP if turn > SAME else 0.0)
    return poses, cost


@compiled
def free_connection(base: Drivable, poses: Array) -> bool:
    """Return whether all motions of a connection are free."""
    for n in range(len(poses) - 1):
        if not free_motion(base, poses[n], poses[n + 1]):
            return False
    return True


@compiled
def direct(base: Drivable, start: Array, goal: Array) -> tuple[Array, float, float]:
    """Find a way in a few legs: straight to the goal, or to a point before it and then ahead.

    Returns:
        Poses, shape (5, 3), or none if no such way is free; its cost; and the least cost of all
        such ways, free or not.
    """
    ways = np.empty((OPTIONS * (1 + len(BEFORE)), 5, 3))
    costs = np.full(len(ways), inf)
    for n in range(len(ways)):
        way, via, option = ways[n], n // OPTIONS, n % OPTIONS
        way[4] = goal
        if via > 0:
            way[4, 0] -= BEFORE[via - 1] * cos(goal[2])
            way[4, 1] -= BEFORE[via - 1] * sin(goal[2])
        poses, cost = connection(base, start, way[4], option)
        way[:4], way[4] = poses, goal
        if cost < inf:
            costs[n] = way_cost(base, merged(way), True)
    least = costs.min()
    for _ in range(len(ways)):
        n = int(costs.argmin())
        if costs[n] == inf:
            break
        if free_connection(base, ways[n]):
            return ways[n], costs[n], least
        costs[n] = inf
    return np.empty((0, 3)), inf, least


@compiled
def shorten(base: Drivable, poses: Array) -> Array:
    """Find the cheapest way of straight legs between points of a free way.

    A* over legs: a leg from one point to a later one, forwards, backwards or sideways, follows a
    turn from the heading of the leg before. Legs are checked when they are about to be used.

    Args:
        poses: Poses, each a turn or a straight leg after the one before, shape (n, 3).

    Returns:
        The same of the shorter way.
    """
    points = _points(poses)
    n, start, goal = len(points), poses[0], poses[len(poses) - 1]
    count = n * n * OPTIONS
    came, done = np.full(count + 1, -1), np.zeros(count + 1, np.bool_)
    lines = np.full(count, -1)
    a, b = np.empty(3), np.empty(3)
    # Entries: estimate, cost, leg, the leg before or -1; the leg `count` is the turn at the end.
    queue = [(0.0, 0.0, 0, 0)]
    queue.pop()
    node, cost = -1, 0.0
    while True:
        # The legs after this one.
        here = node // OPTIONS // n if node >= 0 else 0
        heading = _leg_heading(node, points, start, goal)
        if here == n - 1:
            turn = abs(turned(heading, goal[2]))
            more = TURN * turn + LAST_TURN + STOP if turn > SAME else 0.0
            heappush(queue, (cost + more, cost + more, count, node))
        for j in range(here + 1, n):
            away = hypot(points[j, 0] - points[here, 0], points[j, 1] - points[here, 1])
            for option in range(OPTIONS):
                leg = (j * n + here) * OPTIONS + option
                if done[leg] or lines[leg] == 0 or (option > 1 and not base.sideways):
                    continue
                ahead = _leg_heading(leg, points, start, goal)
                turn = abs(turned(heading, ahead))
                total = cost + away * (REVERSE if option == 1 else 1.0) + STOP
                total += TURN * turn + STOP if turn > SAME else 0.0
                left = hypot(goal[0] - points[j, 0], goal[1] - points[j, 1])
                left += TURN * abs(turned(ahead, goal[2]))
                heappush(queue, (total + left, total, leg, node))
        # The next leg that is free.
        while len(queue):
            _, cost, leg, before = heappop(queue)
            if done[leg]:
                continue
            at = before // OPTIONS // n if before >= 0 else 0
            a[0], a[1] = points[at, 0], points[at, 1]
            a[2] = _leg_heading(before, points, start, goal)
            b[:] = a
            b[2] = goal[2] if leg == count else _leg_heading(leg, points, start, goal)
            if not free_motion(base, a, b):
                continue
            if leg < count:
                a[:] = b
                b[0], b[1] = points[leg // OPTIONS // n, 0], points[leg // OPTIONS // n, 1]
                if lines[leg] < 0:
                    lines[leg] = 1 if free_motion(base, a, b) else 0
                if lines[leg] == 0:
                    continue
            done[leg], came[leg], node = True, before, leg
            break
        if node == count or not len(queue):
            break
    if node != count:
        return merged(poses)
    return _legs_traced(came, points, start, goal)


@compiled
def _leg_heading(leg: int, points: Array, start: Array, goal: Array) -> float:
    """Return the heading on a leg: forwards, backwards, that at the start, that at the goal."""
    n = len(points)
    option = leg % OPTIONS
    if leg < 0 or option == 3:
        heading: float = start[2]
        return heading
    if option == 2:
        at_goal: float = goal[2]
        return at_goal
    i, j = leg // OPTIONS % n, leg // OPTIONS // n
    ahead = atan2(points[j, 1] - points[i, 1], points[j, 0] - points[i, 0])
    return ahead + pi * option


@compiled
def _points(poses: Array) -> Array:
    """Return corners of a way, points between them, and points straight before its end."""
    corners = merged(poses)
    points = np.empty((MOST_POINTS + len(corners) + len(BEFORE), 2))
    total = 0.0
    for n in range(len(corners) - 1):
        total += hypot(corners[n + 1, 0] - corners[n, 0], corners[n + 1, 1] - corners[n, 1])
    gap = total / MOST_POINTS
    count = 0
    for n in range(len(corners) - 1):
        dx, dy = corners[n + 1, 0] - corners[n, 0], corners[n + 1, 1] - corners[n, 1]
        parts = int(hypot(dx, dy) / gap) if gap > 0.0 else 0
        for k in range(max(parts, 1)):
            if hypot(dx, dy) > SAME:
                points[count, 0] = corners[n, 0] + dx * k / max(parts, 1)
                points[count, 1] = corners[n, 1] + dy * k / max(parts, 1)
                count += 1
    end = corners[len(corners) - 1]
    for n in range(len(BEFORE) - 1, -1, -1):
        points[count, 0] = end[0] - BEFORE[n] * cos(end[2])
        points[count, 1] = end[1] - BEFORE[n] * sin(end[2])
        count += 1
    points[count, 0], points[count, 1] = end[0], end[1]
    return points[: count + 1].copy()


@compiled
def _legs_traced(came: NDArray[np.int64], points: Array, start: Array, goal: Array) -> Array:
    """Return the poses along the legs that lead to the goal."""
    n, end = len(points), len(came) - 1
    count, leg = 2, came[end]
    while leg >= 0:
        count, leg = count + 2, came[leg]
    poses = np.empty((count, 3))
    poses[0], poses[count - 1] = start, goal
    leg = came[end]
    for k in range(count - 2, 0, -2):
        i, j = leg // OPTIONS % n, leg // OPTIONS // n
        heading = _leg_heading(leg, points, start, goal)
        poses[k, 0], poses[k, 1], poses[k, 2] = points[j, 0], points[j, 1], heading
        poses[k - 1, 0], poses[k - 1, 1], poses[k - 1, 2] = points[i, 0], points[i, 1], heading
        leg = came[leg]
    return merged(poses)


@compiled
def way_cost(base: Drivable, poses: Array, last: bool) -> float:
    """Return the cost of a way; `last` if it ends at the goal."""
    cost = 0.0
    for n in range(len(poses) - 1):
        dx, dy = poses[n + 1, 0] - poses[n, 0], poses[n + 1, 1] - poses[n, 1]
        away = hypot(dx, dy)
        if away > SAME:
            back = not base.sideways and dx * cos(poses[n, 2]) + dy * sin(poses[n, 2]) < 0.0
            cost += away * (REVERSE if back else 1.0) + STOP
        elif abs(turned(poses[n, 2], poses[n + 1, 2])) > SAME:
            cost += TURN * abs(turned(poses[n, 2], poses[n + 1, 2])) + STOP
            if last and n == len(poses) - 2:
                cost += LAST_TURN
    return cost


@compiled
def merged(poses: Array) -> Array:
    """Join turns with turns and straight legs with those in the same direction."""
    kept = np.empty_like(poses)
    kept[0] = poses[0]
    count = 1
    for n in range(1, len(poses)):
        last, new = kept[count - 1], poses[n]
        away = hypot(new[0] - last[0], new[1] - last[1])
        turn = turned(last[2], new[2])
        if away <= SAME and abs(turn) <= SAME:
            continue
        if count > 1:
            before = kept[count - 2]
            way = hypot(last[0] - before[0], last[1] - before[1])
            if away > SAME and way > SAME:
                across = (last[0] - before[0]) * (new[1] - last[1])
                across -= (last[1] - before[1]) * (new[0] - last[0])
                along = (last[0] - before[0]) * (new[0] - last[0])
                along += (last[1] - before[1]) * (new[1] - last[1])
                if along > 0.0 and abs(across) <= SAME * way * away:
                    kept[count - 1] = new
                    continue
            if away <= SAME and way <= SAME:
                first = turned(before[2], last[2])
                # Turns in one direction are one turn while it is less than half a turn.
                if first * turn > 0.0 and abs(first + turn) < pi - SAME:
                    kept[count - 1] = new
                    continue
        kept[count] = new
        count += 1
    return kept[:count].copy()
