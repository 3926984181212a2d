"""A crawl gait, swing by swing, as Numba kernels: footholds, body poses, static stability."""

from math import atan2, cos, hypot, inf, pi, sin, sqrt

import numpy as np
from numpy.typing import NDArray

from kinetarium.legs.mechanism.pantograph import UNDER_AXIS
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled


@compiled
def hull_margin(points: Array, x: float, y: float) -> float:
    """Return the distance of a point from the border of a convex hull, negative outside.

    The hull of four feet is often a triangle, and their polygon may intersect itself; so a
    pair of points is an edge if all points are on one side of it, whatever their order.

    Args:
        points: Two or more points, shape (n, 2).
    """
    n = len(points)
    inside, nearest = inf, inf
    for i in range(n):
        for j in range(n):
            dx, dy = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1]
            length = hypot(dx, dy)
            if i == j:
                continue
            px, py = x - points[i, 0], y - points[i, 1]
            if length == 0.0:
                nearest = min(nearest, hypot(px, py))
                continue
            dx, dy = dx / length, dy / length
            along = min(max(px * dx + py * dy, 0.0), length)
            nearest = min(nearest, hypot(px - along * dx, py - along * dy))
            is_edge = True
            for k in range(n):
                if k == i or k == j:
                    continue
                # All other points to the left of i -> j: an edge, counter-clockwise.
                across = dx * (points[k, 1] - points[i, 1]) - dy * (points[k, 0] - points[i, 0])
                is_edge = is_edge and across >= 0.0
            if is_edge:
                inside = min(inside, dx * py - dy * px)
    return inside if 0.0 <= inside < inf else 0.0 - nearest


@compiled
def support_margins(feet: Array, support: NDArray[np.bool_], com: Array) -> Array:
    """Return the static margin of every frame [unit], shape (n,).

    Args:
        feet: The feet in the world [unit], shape (n, 4, 3).
        support: Which of them are on the ground, shape (n, 4).
        com: The centre of mass [unit], shape (n, 3).
    """
    margins = np.empty(len(feet))
    points = np.empty((4, 2))
    for i in range(len(feet)):
        count = 0
        for leg in range(4):
            if support[i, leg]:
                points[count] = feet[i, leg, :2]
                count += 1
        margins[i] = hull_margin(points[:count], com[i, 0], com[i, 1])
    return margins


@compiled
def into_triangle(corners: Array, x: float, y: float, inset: float) -> tuple[float, float]:
    """Return the point of a triangle, shrunk by an inset, that is nearest to a point.

    If the shrunken triangle is empty, the result is the centre of the inscribed circle.

    Args:
        corners: Its corners, shape (3, 2).
        inset: Distance from every edge.
    """
    if hull_margin(corners, x, y) >= inset:
        return x, y
    sides = np.empty(3)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        sides[i] = hypot(corners[j, 0] - corners[k, 0], corners[j, 1] - corners[k, 1])
    around = sides.sum()
    if around == 0.0:
        return corners[0, 0], corners[0, 1]
    # Centre of the inscribed circle: the corners weighted by their opposite sides.
    cx = (sides * corners[:, 0]).sum() / around
    cy = (sides * corners[:, 1]).sum() / around
    radius = hull_margin(corners, cx, cy)
    if radius <= inset:
        return cx, cy
    # An inset scales the triangle about the centre of its inscribed circle.
    shrink = 1.0 - inset / radius
    best, bx, by = inf, cx, cy
    for i in range(3):
        j = (i + 1) % 3
        px, py = cx + shrink * (corners[i, 0] - cx), cy + shrink * (corners[i, 1] - cy)
        dx, dy = shrink * (corners[j, 0] - corners[i, 0]), shrink * (corners[j, 1] - corners[i, 1])
        square = dx * dx + dy * dy
        t = ((x - px) * dx + (y - py) * dy) / square if square > 0.0 else 0.0
        t = min(max(t, 0.0), 1.0)
        qx, qy = px + t * dx, py + t * dy
        distance = hypot(x - qx, y - qy)
        if distance < best:
            best, bx, by = distance, qx, qy
    return bx, by


Indices = NDArray[np.int64]


@compiled
def crawl_feet(order: Indices, holds: Array, two_phase: bool, cycles: int) -> Array:
    """Return the footholds before each swing and at the end, shape (4 cycles + 1, 4, 3).

    Args:
        order: Legs 0 to 3 in the order in which they swing in every cycle, shape (4,), or in each
            of them, shape (4 cycles,).
        holds: Neutral foothold of each leg for each pose of the body, shape (m, 4, 3).
        two_phase: Whether the body moves twice in a cycle.
    """
    feet = np.empty((4 * cycles + 1, 4, 3))
    for k in range(4):
        # Stances are centred: the pair that swings later starts half a stride ahead.
        feet[0, order[k]] = holds[1 if two_phase and k > 1 else 0, order[k]]
    for i in range(4 * cycles):
        cycle, k = i // 4, i % 4
        leg = order[i % len(order)]
        feet[i + 1] = feet[i]
        feet[i + 1, leg] = holds[2 * cycle + k // 2 + 2 if two_phase else cycle + 1, leg]
    return feet


@compiled
def crawl_bodies(
    order: Indices,
    feet: Array,
    poses: Array,
    two_phase: bool,
    com: Array,
    height: float,
    sway: float,
    tilt: float,
) -> Array:
    """Return the body during each swing, shape (n, 8).

    They are x, y, z, heading, the slopes of its plane along x and y, and its sway in x and y.

    Args:
        order: As for `crawl_feet`.
        feet: The footholds before each swing and at the end, shape (n + 1, 4, 3).
        poses: Poses of the body along the path, shape (m, 3).
        two_phase: Whether the body moves twice in a cycle.
        com: Centre of mass in the body frame, shape (2,).
        height: Height of the body over its feet [unit].
        sway: Static margin that the sway shall provide in each swing [unit]; 0 for no sway.
        tilt: Share of the slope of its feet by which it tilts [-].
    """
    n = len(feet) - 1
    bodies = np.empty((n, 8))
    corners = np.empty((3, 2))
    for i in range(n):
        # The body sways by the shortest way that moves its centre of mass into the triangle
        # of the three supporting feet, with the margin.
        pose = poses[body_index(i, two_phase)]
        gx, gy = plane_slopes(feet[i], tilt)
        dx, dy = _center_beside(com, pose[2], gx, gy)
        x, y = pose[0] + dx, pose[1] + dy
        standing_corners(feet[i], order[i % len(order)], corners)
        nx, ny = x, y
        if sway > 0.0:
            nx, ny = into_triangle(corners, x, y, sway)
        bodies[i, 0], bodies[i, 1] = pose[0] + nx - x, pose[1] + ny - y
        bodies[i, 2] = height_over(feet[i], bodies[i, 0], bodies[i, 1], gx, gy, height)
        bodies[i, 3], bodies[i, 4], bodies[i, 5] = pose[2], gx, gy
        bodies[i, 6], bodies[i, 7] = nx - x, ny - y
    return bodies


@compiled
def plane_slopes(feet: Array, tilt: float) -> tuple[float, float]:
    """Return the slopes along x and y of the plane of a body over its feet [-].

    It is the plane of the feet by least squares, less steep by the tilt.

    Args:
        feet: The four feet [unit], shape (4, 3).
        tilt: Share of the slope of its feet by which it tilts [-].
    """
    mx, my, mz = feet[:, 0].mean(), feet[:, 1].mean(), feet[:, 2].mean()
    xx, xy, yy, xz, yz = 0.0, 0.0, 0.0, 0.0, 0.0
    for leg in range(4):
        dx, dy, dz = feet[leg, 0] - mx, feet[leg, 1] - my, feet[leg, 2] - mz
        xx, xy, yy, xz, yz = xx + dx * dx, xy + dx * dy, yy + dy * dy, xz + dx * dz, yz + dy * dz
    spread = xx * yy - xy * xy
    if tilt == 0.0 or spread <= 1e-12 * (xx + yy) ** 2:  # feet in one line have no plane
        return 0.0, 0.0
    return tilt * (xz * yy - yz * xy) / spread, tilt * (yz * xx - xz * xy) / spread


@compiled
def height_over(feet: Array, x: float, y: float, gx: float, gy: float, height: float) -> float:
    """Return z of a body at x and y that keeps its height over its plane, along its normal.

    Args:
        feet: The four feet, whose centre is on the plane [unit], shape (4, 3).
        gx, gy: The slopes of the plane [-].
        height: Height of the body over its feet [unit].
    """
    mx, my, mz = feet[:, 0].mean(), feet[:, 1].mean(), feet[:, 2].mean()
    z: float = mz + gx * (x - mx) + gy * (y - my) + height * sqrt(1.0 + gx * gx + gy * gy)
    return z


@compiled
def _center_beside(com: Array, heading: float, gx: float, gy: float) -> tuple[float, float]:
    """Return by how much the centre of mass is beside a body's origin, along x and y [unit]."""
    c, s = cos(heading), sin(heading)
    # The opposite tilt turns axes of the body into those of the world.
    x, y, _ = into_tilted(c * com[0] - s * com[1], s * com[0] + c * com[1], 0.0, -gx, -gy)
    return x, y


@compiled
def into_tilted(
    dx: float, dy: float, dz: float, gx: float, gy: float
) -> tuple[float, float, float]:
    """Turn a vector of the world into the axes of a plane of slopes gx and gy.

    They are the world's axes, turned by the shortest way from the vertical to its normal.
    """
    nz = 1.0 / sqrt(1.0 + gx * gx + gy * gy)
    nx, ny = -gx * nz, -gy * nz
    # The components along (nx, ny) and nz turn; what is across them stays.
    along = (nx * dx + ny * dy) / (1.0 + nz)
    return (
        dx - nx * (along + dz),
        dy - ny * (along + dz),
        nx * dx + ny * dy + nz * dz,
    )


@compiled
def judge_orders(
    orders: Indices,
    holds: Array,
    poses: Array,
    two_phase: bool,
    cycles: int,
    com: Array,
    sway: float,
    tilt: float,
    kind: int,
    dimensions: Array,
    hips: Array,
    neutral: Array,
    limits: Array,
) -> Array:
    """Score leg orders by the swings of their crawls.

    Args:
        orders: Legs 0 to 3 in the order in which they swing, shape (o, 4).
        holds: As for `crawl_feet`.
        poses: As for `crawl_bodies`.
        two_phase: Whether the body moves twice in a cycle.
        com: Centre of mass in the body frame, shape (2,).
        sway: Static margin that the sway shall provide in each swing [unit].
        tilt: As for `crawl_bodies`.
        kind: 0 for TTT1, 1 for TTT2, 2 for TTR.
        dimensions: l1, l2, gain and rail height, shape (4,).
        hips: The hips in the body frame, shape (4, 3).
        neutral: The neutral feet in the body frame, shape (4, 3).
        limits: Least and greatest span of the pantograph, stroke of the lateral slide [unit],
            and the angle that a leg turns to either side [rad], shape (4,).

    Returns:
        For each order the greatest violation of a limit, the least margin and the farthest
        that a foot comes inward of its neutral place [unit], shape (o, 3).
    """
    verdicts = np.empty((len(orders), 3))
    corners = np.empty((3, 2))
    height = -dimensions[2] * dimensions[3]
    for o in range(len(orders)):
        order = orders[o]
        feet = crawl_feet(order, holds, two_phase, cycles)
        bodies = crawl_bodies(order, feet, poses, two_phase, com, height, sway, tilt)
        violation, margin, inward = 0.0, np.inf, 0.0
        for i in range(len(bodies)):
            body, swinging = bodies[i], order[i % 4]
            c, s = cos(body[3]), sin(body[3])
            x, y = _center_beside(com, body[3], body[4], body[5])
            standing_corners(feet[i], swinging, corners)
            margin = min(margin, hull_margin(corners, body[0] + x, body[1] + y))
            for j in range(5):  # the four feet before the swing, and the one that has swung
                leg = j if j < 4 else swinging
                foot = feet[i + j // 4, leg]
                dx, dy, dz = foot[0] - body[0], foot[1] - body[1], foot[2] - body[2]
                dx, dy, dz = into_tilted(dx, dy, dz, body[4], body[5])
                fx, fy = c * dx + s * dy - hips[leg, 0], c * dy - s * dx - hips[leg, 1]
                fz = dz - hips[leg, 2]
                rest = neutral[leg, 1] - hips[leg, 1]
                outward = -1.0 if leg < 2 else 1.0  # legs 1 and 2 are on the right
                inward = max(inward, outward * (rest - fy))
                beyond = _violation(kind, dimensions, limits, rest, fx, fy, fz)
                violation = max(violation, beyond)
        verdicts[o, 0], verdicts[o, 1], verdicts[o, 2] = violation, margin, inward
    return verdicts


@compiled
def body_index(swing: int, two_phase: bool) -> int:
    """Return the index of the body's pose during a swing."""
    half = (swing % 4) // 2
    return 2 * (swing // 4) + half + 1 if two_phase else swing // 4 + half


@compiled
def standing_corners(feet: Array, swinging: int, corners: Array) -> None:
    """Write the positions of the three supporting feet, shape (3, 2)."""
    count = 0
    for leg in range(4):
        if leg != swinging:
            corners[count] = feet[leg, :2]
            count += 1


@compiled
def _violation(
    kind: int, dimensions: Array, limits: Array, rest: float, fx: float, fy: float, fz: float
) -> float:
    """Return by how much a foot, in its leg's frame, exceeds the limits [unit or rad]."""
    gain, rail = dimensions[2], dimensions[3]
    drop = (fz - gain * rail) / (1.0 - gain) - rail
    beyond = 0.0
    if kind == 0:
        span = hypot(fx / gain, drop)
        beyond = abs(fy) - limits[2]
    elif kind == 1:
        span = hypot(hypot(fx, fy) / gain, drop)
    else:
        span = hypot(hypot(fx, fy) / gain, drop)
        if hypot(fx, fy) > UNDER_AXIS * gain * (dimensions[0] + dimensions[1]):
            turn = atan2(fy, fx) - (pi / 2 if rest != 0.0 else 0.0)
            # The leg may also point away from its foot, so the angle counts modulo half a turn.
            beyond = abs(turn - pi * np.round(turn / pi)) - limits[3]
    too_far: float = max(span - limits[1], limits[0] - span)
    return max(beyond, too_far, 0.0)
