"""Inverse kinematics of arms built like the Panda, in closed form, as a Numba kernel.

Joint 7 is the free parameter. Its angle places the wrist W on a circle about axis 7; the
distance from the shoulder S to W determines joint 4 (two solutions), the angle between SW
and the forearm joint 6 (two solutions), and the direction of the upper arm joints 1 and 2
(two solutions); joints 3 and 5 follow. Sines and cosines are used instead of angles, so that
limits are checked before an angle is computed; every solution is verified by forward
kinematics.

With the angles theta in the convention of `panda_geometry`, the frames satisfy

    SW = m y4 + n x4     m = d3 c4 - a3 s4 + d5,  n = d3 s4 + a3 c4 + a4
    y4 = s6 x6 + c6 y6   (the forearm, z5)
    z3 = s4 x4 + c4 y4   (the upper arm) = (c1 s2, s1 s2, c2)
    z6 = s5 x4 + c5 z4   z4 = s3 x2 - c3 z2
"""

from math import atan2, sqrt

import numpy as np

from kinetarium.dynamics.chain import ChainArrays
from kinetarium.dynamics.forward import place, volume
from kinetarium.reach.collision.check import collides, no_last_contact
from kinetarium.reach.collision.piece_arrays import PieceArrays
from kinetarium.reach.ik.panda_geometry import PandaArrays
from kinetarium.reach.ik.start_table import EXACT, NONE
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.compiled import compiled
from kinetarium.spatial.kernels import Vector, cross, dot

BRANCHES = 8
"""Solutions for one position of joint 7, before the limits are checked."""

Frame = tuple[Vector, Vector, Vector, Vector]
"""Axes x, y, z and origin."""


@compiled
def solve_many(
    panda: PandaArrays,
    chain: ChainArrays,
    pieces: PieceArrays,
    X_BT: Array,
    effort: int,
    best: bool,
    q: Array,
    w: Array,
) -> None:
    """Find joint positions for many poses; see `ik.solve_many`."""
    end = BRANCHES * min(effort, len(panda.sweep))
    trial, X, J = np.empty(7), np.empty((9, 3, 4)), np.empty((6, 7))
    # The collision check is skipped without pieces: a call with many arguments is expensive.
    solid, last_contact = len(pieces.pairs) > 0, no_last_contact()
    for n in range(len(X_BT)):
        w[n] = NONE
        q[n] = np.nan
        frame = wrist_frame(X_BT[n], panda)
        number = end if out_of_reach(frame, panda) else 0
        while number < end:
            value, number = search(X_BT[n], frame, number, end, w[n], panda, chain, trial, X, J)
            if value > w[n] and not (solid and collides(pieces, X, trial, last_contact)):
                w[n] = value
                q[n] = trial
                if not best:
                    break


@compiled
def wrist_frame(X_BT: Array, panda: PandaArrays) -> Frame:
    """Return frame 7, at q7 = 0, in the shoulder's frame for a pose of the tool.

    Args:
        X_BT: The pose in the base link's frame, shape (3 or 4, 4).
    """
    A, B = panda.X_SB, panda.X_T7
    x = _turn(A, _turn(X_BT, (B[0, 0], B[1, 0], B[2, 0])))
    y = _turn(A, _turn(X_BT, (B[0, 1], B[1, 1], B[2, 1])))
    p = _turn(X_BT, (B[0, 3], B[1, 3], B[2, 3]))
    p = _turn(A, (p[0] + X_BT[0, 3], p[1] + X_BT[1, 3], p[2] + X_BT[2, 3]))
    return x, y, cross(x, y), (p[0] + A[0, 3], p[1] + A[1, 3], p[2] + A[2, 3])


@compiled
def out_of_reach(frame: Frame, panda: PandaArrays) -> bool:
    """Return whether the whole circle of the wrist is too far from the shoulder, or too near."""
    x, y, _, p = frame
    a6 = panda.lengths[4]
    middle = dot(p, p) + a6 * a6
    swing = 2.0 * abs(a6) * sqrt(dot(p, x) ** 2 + dot(p, y) ** 2)
    out: bool = middle - swing > panda.reach[1] or middle + swing < panda.reach[0]
    return out


@compiled
def search(
    X_BT: Array,
    frame: Frame,
    number: int,
    end: int,
    above: float,
    panda: PandaArrays,
    chain: ChainArrays,
    q: Array,
    X: Array,
    J: Array,
) -> tuple[float, int]:
    """Find the next solution, in the order of the sweep of joint 7 and its eight branches.

    Args:
        X_BT: The pose of the tool in the base link's frame, shape (3 or 4, 4).
        frame: The result of `wrist_frame` for it.
        number: The first branch: eight for each position of joint 7.
        end: The number to stop before.
        above: The manipulability that a solution must exceed [m^3].
        chain: The chain, for limits and forward kinematics.
        q: Output: the solution [rad], shape (7,).
        X: Output: the frames at the solution, shape (9, 3, 4).
        J: Scratch array, shape (6, 7).

    Returns:
        The manipulability of a solution that reaches the pose within the limits, and the
        number to continue with; NONE and the end if there is no further one.
    """
    limits, sweep, lengths = panda.limits, panda.sweep, panda.lengths
    least, greatest = panda.reach[0], panda.reach[1]
    d3, a3, a4, d5, a6 = lengths[0], lengths[1], lengths[2], lengths[3], lengths[4]
    e, f = a3 * a4 + d3 * d5, d3 * a4 - a3 * d5
    size = e * e + f * f
    per_size = 1.0 / size
    own = d3 * d3 + a3 * a3 + a4 * a4 + d5 * d5
    x7, y7, z7, p = frame
    px, py, vy = dot(p, x7), dot(p, y7), -dot(p, z7)
    base = dot(p, p) + a6 * a6
    for k in range(number // BRANCHES, end // BRANCHES):
        c7, s7 = sweep[k, 1], sweep[k, 2]
        along = px * c7 - py * s7
        square = base - 2.0 * a6 * along
        if square < least or square > greatest:
            continue
        # SW in the frame of joint 6, whose y axis is -z7, has the coordinates vx, vy.
        vx = along - a6
        across = vx * vx + vy * vy
        # e c4 + f s4 = h, by the law of cosines in the triangle of shoulder, elbow and wrist.
        h = 0.5 * (square - own)
        root4 = sqrt(max(size - h * h, 0.0))
        for elbow in range(2):
            side = 1.0 - 2.0 * elbow
            c4 = (e * h - side * f * root4) * per_size
            s4 = (f * h + side * e * root4) * per_size
            if not _inside(c4, s4, limits, 3):
                continue
            # Joint 6 turns the forearm y4 so that its component along SW is m: m = s6 vx + c6 vy.
            m = d3 * c4 - a3 * s4 + d5
            n = d3 * s4 + a3 * c4 + a4
            rest = across - m * m
            if rest < 0.0 or n == 0.0 or across == 0.0:
                continue
            root6, per_across, per_n = sqrt(rest), 1.0 / across, 1.0 / n
            for wrist in range(2):
                branch = BRANCHES * k + 4 * elbow + 2 * wrist
                if branch + 1 < number:
                    continue
                side = 1.0 - 2.0 * wrist
                s6 = (m * vx - side * vy * root6) * per_across
                c6 = (m * vy + side * vx * root6) * per_across
                if not _inside(c6, s6, limits, 5):
                    continue
                # The frame of joint 4 from y4 and SW = m y4 + n x4; joint 5 from z6 in it.
                x6, z6 = _sum(c7, x7, -s7, y7), _sum(s7, x7, c7, y7)
                V = _sum(1.0, p, -a6, x6)
                y4 = _sum(s6, x6, -c6, z7)
                x4 = _sum(per_n, V, -m * per_n, y4)
                z4 = cross(x4, y4)
                s5, c5 = dot(z6, x4), dot(z6, z4)
                if not _inside(c5, s5, limits, 4):
                    continue
                z3 = _sum(s4, x4, c4, y4)
                flat = sqrt(z3[0] * z3[0] + z3[1] * z3[1])
                # With a vertical upper arm joint 1 is arbitrary.
                ux, uy = (z3[0] / flat, z3[1] / flat) if flat > 0.0 else (1.0, 0.0)
                for shoulder in range(2):
                    if branch + shoulder < number:
                        continue
                    side = 1.0 - 2.0 * shoulder
                    # z3 = (c1 s2, s1 s2, c2) for joints 1 and 2, z4 = s3 x2 - c3 z2 for joint 3.
                    s2, c2, c1, s1 = side * flat, z3[2], side * ux, side * uy
                    s3 = c2 * (c1 * z4[0] + s1 * z4[1]) - s2 * z4[2]
                    c3 = s1 * z4[0] - c1 * z4[1]
                    if not (
                        _inside(c2, s2, limits, 1)
                        and _inside(c1, s1, limits, 0)
                        and _inside(c3, s3, limits, 2)
                    ):
                        continue
                    _twists(V, (-s1, c1, 0.0), z3, x4, y4, z4, z6, z7, lengths, J)
                    w = volume(J)
                    if w <= above:
                        continue
                    q[0] = _angle(c1, s1, limits, chain, 0)
                    q[1] = _angle(c2, s2, limits, chain, 1)
                    q[2] = _angle(c3, s3, limits, chain, 2)
                    q[3] = _angle(c4, s4, limits, chain, 3)
                    q[4] = _angle(c5, s5, limits, chain, 4)
                    q[5] = _angle(c6, s6, limits, chain, 5)
                    q[6] = sweep[k, 0]
                    place(chain, q, X)
                    if agrees(X[8], X_BT):
                        return w, branch + shoulder + 1
    return NONE, end


@compiled
def _twists(
    V: Vector,
    z2: Vector,
    z3: Vector,
    x4: Vector,
    y4: Vector,
    z4: Vector,
    z6: Vector,
    z7: Vector,
    lengths: Array,
    J: Array,
) -> None:
    """Write the Jacobian at the wrist; its manipulability is the same for any tool."""
    a4, d5, a6 = lengths[2], lengths[3], lengths[4]
    _column(J, 0, (-V[1], V[0], 0.0), (0.0, 0.0, 1.0))
    _column(J, 1, cross(z2, V), z2)
    _column(J, 2, cross(z3, V), z3)
    _column(J, 3, _sum(a4, y4, -d5, x4), z4)
    _column(J, 4, (0.0, 0.0, 0.0), y4)
    _column(J, 5, (0.0, 0.0, 0.0), z6)
    _column(J, 6, (-a6 * z6[0], -a6 * z6[1], -a6 * z6[2]), z7)


@compiled
def _column(J: Array, i: int, v: Vector, w: Vector) -> None:
    J[0, i], J[1, i], J[2, i] = v
    J[3, i], J[4, i], J[5, i] = w


@compiled
def agrees(X: Array, Y: Array) -> bool:
    """Return whether two poses, rows [R p], are equal to EXACT."""
    turn, shift = 0.0, 0.0
    for row in range(3):
        for column in range(3):
            turn += (X[row, column] - Y[row, column]) ** 2
        shift += (X[row, 3] - Y[row, 3]) ** 2
    # |R - R'|^2 = 2 angle^2 for small angles.
    return shift <= EXACT * EXACT and turn <= 2.0 * EXACT * EXACT


@compiled
def _inside(c: float, s: float, limits: Array, i: int) -> bool:
    """Return whether an angle is within half the limits' distance from their middle."""
    inside: bool = c * limits[i, 0] + s * limits[i, 1] >= limits[i, 2]
    return inside


@compiled
def _angle(c: float, s: float, limits: Array, chain: ChainArrays, i: int) -> float:
    """Return the position of a joint from its angle's cosine and sine."""
    cm, sm = limits[i, 0], limits[i, 1]
    q = chain.middle[i] + atan2(s * cm - c * sm, c * cm + s * sm)
    position: float = min(max(q, chain.lower[i]), chain.upper[i])
    return position


@compiled
def _turn(X: Array, v: Vector) -> Vector:
    return (
        X[0, 0] * v[0] + X[0, 1] * v[1] + X[0, 2] * v[2],
        X[1, 0] * v[0] + X[1, 1] * v[1] + X[1, 2] * v[2],
        X[2, 0] * v[0] + X[2, 1] * v[1] + X[2, 2] * v[2],
    )


@compiled
def _sum(a: float, u: Vector, b: float, v: Vector) -> Vector:
    return a * u[0] + b * v[0], a * u[1] + b * v[1], a * u[2] + b * v[2]
