"""Paths of a mobile base and its arm, optimised together over a whole trajectory of the tool.

The unknowns are, at every tick, the vehicle's position and heading and the arm's joints. The sum
of weighted squares that is minimised has the tool's error, the sideways motion of a vehicle that
has wheels, everything beyond 0.8 of a limit (joint positions, speeds and accelerations; speeds and
accelerations of the vehicle), and with small weights accelerations, speeds and the distance from
a comfortable posture. A residual concerns at most three consecutive ticks, so the normal
equations of Gauss and Newton are banded: their solution takes time in proportion to the ticks
(Betts, "Practical Methods for Optimal Control", 2010, chapter 4; with a line search).
"""

from dataclasses import dataclass
from math import cos, hypot, sin, sqrt
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, solveh_banded

from kinetarium.dynamics.chain import ChainArrays
from kinetarium.dynamics.forward import differentiate, place, volume
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled

POSE = 1e3
"""Weight of the tool's error [1/m, 1/rad]."""
SIDEWAYS = 300.0
"""Weight of sideways speed of a vehicle that cannot move so [s/m]."""
SHARE = 0.8
"""Fraction of a limit beyond which it is penalised."""
BEYOND = 150.0
"""Weight of what is beyond, in units of the limit."""
SMOOTH = 0.1
"""Weight of accelerations, in units of their limits."""
SLOW = 0.1
"""Weight of speeds, in units of their limits."""
POSTURE = 0.2
"""Weight of the distance of joints from the comfortable posture [1/rad or 1/m]."""
MARGIN = 0.15
"""Distance from joint limits within which it is penalised [rad or m]."""
KEEP_OFF = 10.0
"""Weight of coming nearer [1/rad or 1/m]."""
STEP = 1e-6
"""Step of a joint for the derivative of the manipulability [rad or m]."""
DAMPING = 1e-6
"""Added to the diagonal of the normal equations."""
PARTS = 2.0 ** -np.arange(10)
"""Parts of a step that are tried until the sum decreases."""
SINGULAR = 3.0
"""Weight of a singularity, where the manipulability is zero."""
DEXTROUS = 0.6
"""Fraction of the comfortable posture's manipulability below which it is penalised."""
SETTLED = 1e-6
"""Relative decrease of the sum at which the optimisation ends."""


@dataclass(frozen=True, slots=True)
class BaseMotionLimits:
    """What a mobile base can do.

    Attributes:
        speed: Its greatest speed [m/s].
        turning: Its greatest yaw rate [rad/s].
        acceleration: Its greatest acceleration [m/s^2]; along its path if it has wheels.
        turning_acceleration: Its greatest yaw acceleration [rad/s^2].
        sideways: Whether it can move sideways.
        mount: Where the arm's base link is in the frame in which it does not move sideways:
            x, y [m] and yaw [rad].
    """

    speed: float = 1.0
    turning: float = 2.0
    acceleration: float = 1.0
    turning_acceleration: float = 2.0
    sideways: bool = True
    mount: tuple[float, float, float] = (0.0, 0.0, 0.0)


class Course(NamedTuple):
    """What is to be followed, and within which limits.

    Attributes:
        times: Times [s], shape (n,).
        X_PT: Poses of the tool in the plane's frame, shape (n, 4, 4).
        wanted: Weight of each pose, 1 or less, shape (n,).
        posture: The comfortable posture [rad or m], shape (joints,).
        speeds: Speed limits of the joints [rad/s or m/s], shape (joints,).
        accelerations: Their acceleration limits [rad/s^2 or m/s^2], shape (joints,).
        base: Speed, yaw rate, acceleration and yaw acceleration of the base, and x, y and yaw of
            its mount, shape (7,).
        sideways: Whether the base can move sideways.
        dextrous: Manipulability below which less is penalised [m^3].
        firm: Factor on the weights of the tool's error and of sideways motion, and partly on that
            of exceeded limits: less than 1 in the first iterations, which allows longer steps.
    """

    times: Array
    X_PT: Array
    wanted: Array
    posture: Array
    speeds: Array
    accelerations: Array
    base: Array
    sideways: bool
    dextrous: float
    firm: float = 1.0


def course(
    chain: ChainArrays,
    times: Array,
    *,
    X_PT: Array,
    posture: Array,
    limits: BaseMotionLimits,
    speeds: Array,
    accelerations: Array,
    wanted: Array | None = None,
) -> Course:
    """Gather what the kernels need; see `Course` and `BaseMotionLimits`."""
    X, J = np.empty((len(posture) + 2, 3, 4)), np.empty((6, len(posture)))
    place(chain, posture, X)
    differentiate(chain, X, J)
    base = (limits.speed, limits.turning, limits.acceleration, limits.turning_acceleration)
    return Course(
        np.ascontiguousarray(times),
        np.ascontiguousarray(X_PT),
        np.ones(len(times)) if wanted is None else wanted,
        np.ascontiguousarray(posture),
        speeds,
        accelerations,
        np.array([*base, *limits.mount]),
        limits.sideways,
        DEXTROUS * volume(J),
    )


def optimised(
    chain: ChainArrays, task: Course, start: Array, *, iterations: int
) -> tuple[Array, float]:
    """Minimise the sum of squares from a first guess.

    Args:
        start: x, y [m], yaw [rad] of the vehicle and the joints [rad or m] at every tick,
            shape (n, 3 + joints).
        iterations: Most iterations.

    Returns:
        The path, of the same shape, and its sum of squares per second.
    """
    z = np.array(start)
    count, width = z.size, z.shape[1]
    rows = min(3 * width, count)
    band, gradient = np.zeros((rows, count)), np.zeros(count)
    no_band = np.zeros((0, 0))
    total = sum_of_squares(chain, task, z, band, gradient)
    for _ in range(iterations):
        # Not in proportion to the diagonal, which is large where ticks are dense and would hold
        # back what moves the whole path.
        band[0] += DAMPING
        try:
            step = solveh_banded(band, -gradient, lower=True, check_finite=False).reshape(z.shape)
        except LinAlgError:
            break
        for part in PARTS:
            found = sum_of_squares(chain, task, z + part * step, no_band, gradient)
            if found < total:
                break
        else:
            break
        settled = total - found < SETTLED * total
        z = z + part * step
        band[:], gradient[:] = 0.0, 0.0
        total = sum_of_squares(chain, task, z, band, gradient)
        if settled:
            break
    return z, total / max(float(task.times[-1] - task.times[0]), 1e-9)


@compiled
def sum_of_squares(chain: ChainArrays, task: Course, z: Array, band: Array, g: Array) -> float:
    """Return the sum of squares, and add the normal equations to `band` and `g`.

    Args:
        z: The path, shape (n, 3 + joints).
        band: Lower diagonals of J'J, shape (up to 3 (3 + joints), n (3 + joints)); not written if
            it is empty.
        g: J'r, shape (n (3 + joints),); not written likewise.
    """
    ticks, width = z.shape
    joints = width - 3
    X, J = np.empty((joints + 2, 3, 4)), np.empty((6, joints))
    at, slope = np.empty(3 * width, np.int64), np.empty(3 * width)
    total = 0.0
    t, push = task.times, BEYOND * (0.2 + 0.8 * task.firm)
    for k in range(ticks):
        weight = sqrt(0.5 * (t[min(k + 1, ticks - 1)] - t[max(k - 1, 0)])) if ticks > 1 else 1.0
        if k in (0, ticks - 1):
            weight *= 2.0
        total += _tool_error(chain, task, z, k, weight, X, J, at, slope, band, g)
        total += _singularity(chain, task, z, k, weight, X, J, at, slope, band, g)
        for j in range(joints):
            at[0], slope[0] = k * width + 3 + j, weight * POSTURE
            total += _add(slope[0] * (z[k, 3 + j] - task.posture[j]), 1, at, slope, band, g)
            low = chain.lower[j] + MARGIN - z[k, 3 + j]
            high = z[k, 3 + j] - (chain.upper[j] - MARGIN)
            if low > 0.0 and low >= high:
                slope[0] = -weight * KEEP_OFF
                total += _add(weight * KEEP_OFF * low, 1, at, slope, band, g)
            elif high > 0.0:
                slope[0] = weight * KEEP_OFF
                total += _add(weight * KEEP_OFF * high, 1, at, slope, band, g)
    for k in range(ticks - 1):
        h = t[k + 1] - t[k]
        weight = sqrt(h)
        total += _vehicle_motion(task, z, k, weight, at, slope, band, g)
        for j in range(2, width):
            fast, strong = task.base[1], task.base[3]
            if j > 2:
                fast, strong = task.speeds[j - 3], task.accelerations[j - 3]
            at[0], at[1] = k * width + j, (k + 1) * width + j
            slope[0], slope[1] = -1.0 / h, 1.0 / h
            rate = (z[k + 1, j] - z[k, j]) / h
            total += _limited(rate, fast, (SLOW, push), weight, 2, at, slope, band, g)
            if k > 0:
                # The rate changes from the middle of one step to that of the next.
                past = t[k] - t[k - 1]
                middle = 0.5 * (h + past)
                change = (rate - (z[k, j] - z[k - 1, j]) / past) / middle
                at[0], at[1], at[2] = (k - 1) * width + j, k * width + j, (k + 1) * width + j
                slope[0], slope[2] = 1.0 / (past * middle), 1.0 / (h * middle)
                slope[1] = -slope[0] - slope[2]
                total += _limited(change, strong, (SMOOTH, push), weight, 3, at, slope, band, g)
            elif j == 2:  # the vehicle starts from rest
                slope[0], slope[1] = -1.0 / (h * h), 1.0 / (h * h)
                total += _limited(rate / h, strong, (SMOOTH, push), weight, 2, at, slope, band, g)
    return total


@compiled
def _tool_error(
    chain: ChainArrays,
    task: Course,
    z: Array,
    k: int,
    weight: float,
    X: Array,
    J: Array,
    at: Array,
    slope: Array,
    band: Array,
    g: Array,
) -> float:
    """Add the six residuals of the tool's pose at a tick."""
    joints, width = z.shape[1] - 3, z.shape[1]
    place(chain, z[k, 3:], X)
    differentiate(chain, X, J)
    mx, my = task.base[4], task.base[5]
    yaw = z[k, 2] + task.base[6]
    c, s = cos(yaw), sin(yaw)
    # From the vehicle's frame to the arm's base link, in the plane's axes.
    bx = cos(z[k, 2]) * mx - sin(z[k, 2]) * my
    by = sin(z[k, 2]) * mx + cos(z[k, 2]) * my
    T, D = X[joints + 1], task.X_PT[k]
    rx, ry = c * T[0, 3] - s * T[1, 3] + bx, s * T[0, 3] + c * T[1, 3] + by
    ex, ey, ez = 0.0, 0.0, 0.0
    for i in range(3):  # half the sum of the cross products of wanted and actual axes
        ax, ay, az = c * T[0, i] - s * T[1, i], s * T[0, i] + c * T[1, i], T[2, i]
        ex += 0.5 * (D[1, i] * az - D[2, i] * ay)
        ey += 0.5 * (D[2, i] * ax - D[0, i] * az)
        ez += 0.5 * (D[0, i] * ay - D[1, i] * ax)
    w = weight * POSE * task.firm * task.wanted[k]
    residual = (z[k, 0] + rx - D[0, 3], z[k, 1] + ry - D[1, 3], T[2, 3] - D[2, 3], ex, ey, ez)
    for i in range(width):
        at[i] = k * width + i
    total = 0.0
    for row in range(6):
        slope[0] = w if row == 0 else 0.0
        slope[1] = w if row == 1 else 0.0
        slope[2] = -w * ry if row == 0 else w * rx if row == 1 else w if row == 5 else 0.0
        for j in range(joints):
            if row % 3 == 0:
                slope[3 + j] = w * (c * J[row, j] - s * J[row + 1, j])
            elif row % 3 == 1:
                slope[3 + j] = w * (s * J[row - 1, j] + c * J[row, j])
            else:
                slope[3 + j] = w * J[row, j]
        total += _add(w * residual[row], width, at, slope, band, g)
    return total


@compiled
def _singularity(
    chain: ChainArrays,
    task: Course,
    z: Array,
    k: int,
    weight: float,
    X: Array,
    J: Array,
    at: Array,
    slope: Array,
    band: Array,
    g: Array,
) -> float:
    """Add the residual of an arm near a singularity; J is its Jacobian."""
    here, width = volume(J), z.shape[1]
    if here >= task.dextrous:
        return 0.0
    w = weight * SINGULAR / task.dextrous
    if len(band):
        q = z[k, 3:].copy()
        for j in range(width - 3):
            q[j] += STEP
            place(chain, q, X)
            differentiate(chain, X, J)
            q[j] -= STEP
            at[j], slope[j] = k * width + 3 + j, w * (here - volume(J)) / STEP
    return _add(w * (task.dextrous - here), width - 3, at, slope, band, g)


@compiled
def _vehicle_motion(
    task: Course, z: Array, k: int, weight: float, at: Array, slope: Array, band: Array, g: Array
) -> float:
    """Add the residuals of the vehicle's translation from tick k to the next."""
    width, t, total = z.shape[1], task.times, 0.0
    h = t[k + 1] - t[k]
    dx, dy = z[k + 1, 0] - z[k, 0], z[k + 1, 1] - z[k, 1]
    fast, strong, push = task.base[0], task.base[2], BEYOND * (0.2 + 0.8 * task.firm)
    first = max(k - 1, 0)
    past = t[k] - t[first]
    middle = 0.5 * (h + past) if k > 0 else h
    count = 3 * (k + 2 - first)
    if not task.sideways:
        # On an arc the chord has the mean heading.
        c, s = cos(0.5 * (z[k, 2] + z[k + 1, 2])), sin(0.5 * (z[k, 2] + z[k + 1, 2]))
        v, u = (c * dx + s * dy) / h, (c * dy - s * dx) / h
        for i in range(2):
            for row in range(3):
                at[3 * i + row] = (k + i) * width + row
            sign = 2.0 * i - 1.0
            slope[3 * i], slope[3 * i + 1] = sign * c / h, sign * s / h
            slope[3 * i + 2] = 0.5 * u
        total += _limited(v, fast, (SLOW, push), weight, 6, at, slope, band, g)
        w = weight * SIDEWAYS * task.firm
        for i in range(2):
            sign = 2.0 * i - 1.0
            slope[3 * i], slope[3 * i + 1] = -w * sign * s / h, w * sign * c / h
            slope[3 * i + 2] = -w * 0.5 * v
        total += _add(w * u, 6, at, slope, band, g)
        change = v / middle
        for i in range(count):
            at[i], slope[i] = (first + i // 3) * width + i % 3, 0.0
        last = count - 6
        for i in range(2):
            sign = 2.0 * i - 1.0
            slope[last + 3 * i] = sign * c / (h * middle)
            slope[last + 3 * i + 1] = sign * s / (h * middle)
            slope[last + 3 * i + 2] = 0.5 * u / middle
        if k > 0:
            ex, ey = z[k, 0] - z[k - 1, 0], z[k, 1] - z[k - 1, 1]
            c, s = cos(0.5 * (z[k, 2] + z[k - 1, 2])), sin(0.5 * (z[k, 2] + z[k - 1, 2]))
            before, beside = (c * ex + s * ey) / past, (c * ey - s * ex) / past
            change -= before / middle
            for i in range(2):
                sign = 2.0 * i - 1.0
                slope[3 * i] -= sign * c / (past * middle)
                slope[3 * i + 1] -= sign * s / (past * middle)
                slope[3 * i + 2] -= 0.5 * beside / middle
        return total + _limited(change, strong, (SMOOTH, push), weight, count, at, slope, band, g)
    ax, ay = dx / (h * middle), dy / (h * middle)
    if k > 0:
        ax -= (z[k, 0] - z[k - 1, 0]) / (past * middle)
        ay -= (z[k, 1] - z[k - 1, 1]) / (past * middle)
    now, then = 1.0 / (h * middle), 1.0 / (past * middle) if k > 0 else 0.0
    bends = (then, -now - then, now) if k > 0 else (-now, now, 0.0)
    total = _limited_vector(dx / h, dy / h, fast, (SLOW, push), weight, k * width, width,
                            (-1.0 / h, 1.0 / h, 0.0), 2, at, slope, band, g)  # fmt: skip
    return total + _limited_vector(ax, ay, strong, (SMOOTH, push), weight, first * width, width,
                                   bends, k + 2 - first, at, slope, band, g)  # fmt: skip


@compiled
def _limited_vector(
    x: float,
    y: float,
    limit: float,
    weights: tuple[float, float],
    weight: float,
    first: int,
    width: int,
    slopes: tuple[float, float, float],
    ticks: int,
    at: Array,
    slope: Array,
    band: Array,
    g: Array,
) -> float:
    """Add a velocity or an acceleration in the plane, whose magnitude is limited.

    Beyond the limit's share the residual has the vector's direction; its derivative across that
    direction keeps the iteration from swinging about it.

    Args:
        first: Index of the first unknown; those of the next tick are `width` farther.
        slopes: Derivatives of both components by the positions at each tick.
        ticks: How many of them there are.
    """
    size, total = hypot(x, y), 0.0
    beyond = max(size / limit - SHARE, 0.0)
    small, push = weights
    for row in range(2):
        own = x if row == 0 else y
        for i in range(2 * ticks):
            at[i] = first + (i // 2) * width + i % 2
            same = 1.0 if i % 2 == row else 0.0
            slope[i] = weight * small / limit * same * slopes[i // 2]
        total += _add(weight * small / limit * own, 2 * ticks, at, slope, band, g)
        if beyond > 0.0:
            for i in range(2 * ticks):
                same = 1.0 if i % 2 == row else 0.0
                aligned = own * (x if i % 2 == 0 else y) / (size * size)
                change = aligned / limit + beyond / size * (same - aligned)
                slope[i] = weight * push * change * slopes[i // 2]
            total += _add(weight * push * beyond * own / size, 2 * ticks, at, slope, band, g)
    return total


@compiled
def _limited(
    value: float,
    limit: float,
    weights: tuple[float, float],
    weight: float,
    count: int,
    at: Array,
    slope: Array,
    band: Array,
    g: Array,
) -> float:
    """Add a speed or an acceleration: a small residual, and a large one near its limit.

    Args:
        weights: Weights of both.
        weight: Factor on both.
        count: How many unknowns it depends on: `at` their indices, `slope` the derivatives.
    """
    small, push = weights
    for i in range(count):
        slope[i] *= weight * small / limit
    total = _add(weight * small / limit * value, count, at, slope, band, g)
    beyond = abs(value) / limit - SHARE
    if beyond > 0.0:
        for i in range(count):
            slope[i] *= push / small if value > 0.0 else -push / small
        total += _add(weight * push * beyond, count, at, slope, band, g)
    return total


@compiled
def _add(r: float, count: int, at: Array, slope: Array, band: Array, g: Array) -> float:
    """Add one residual to the normal equations and return its square."""
    if len(band):
        for i in range(count):
            g[at[i]] += slope[i] * r
            for j in range(i + 1):
                band[at[i] - at[j], at[j]] += slope[i] * slope[j]
    return r * r
