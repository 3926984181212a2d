"""PandaArrays: the lengths and offsets of an arm that is built like the Panda.

The arm has seven revolute joints, each axis at a right angle to the next, and in
the convention of Craig ("Introduction to Robotics", 1986) the link parameters

    i          1     2     3     4     5     6     7
    alpha_i-1  0   -pi/2  pi/2  pi/2 -pi/2  pi/2  pi/2
    a_i-1      0     0     0    a3    a4     0    a6
    d_i        .     0    d3     0    d5     0     .

Axes 1, 2 and 3 meet in the shoulder S, axes 5 and 6 in the wrist W; axis 7 passes the
wrist at the distance a6, so that W moves on a circle when joint 7 turns at a fixed
tool. The first and the last d belong to the base and the tool.
"""

from math import cos, isfinite, pi, sqrt
from typing import NamedTuple

import numpy as np

from kinetarium.dynamics.chain import ChainArrays, link_frames
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose, pose

SLOPE = 1e-7
"""Tolerance of right angles [rad] and of intersections [m] between axes."""
SLACK = 1e-9
"""An angle that exceeds a limit by up to this is set to the limit [rad]."""
FINEST = 2048
"""Greatest number of positions of joint 7 that are tried."""
SIGNS = (-1.0, 1.0, 1.0, -1.0, 1.0, 1.0)
"""The signs of the angles alpha between axes 1 and 2, ... 6 and 7."""


class PandaArrays(NamedTuple):
    """An arm built like the Panda; angles theta = q + offset follow Craig's convention.

    Attributes:
        X_SB: The base link in the shoulder's frame, rows [R p], shape (3, 4).
        X_T7: The frame of joint 7, its origin nearest to the wrist, in the tool's
            frame at q7 = 0, rows [R p], shape (3, 4).
        lengths: d3, a3, a4, d5, a6 [m], shape (5,).
        reach: The least and the greatest |SW|^2 within the limits of joint 4 [m^2], shape (2,).
        limits: Cosine and sine of theta in the middle between a joint's limits, and the
            cosine of half their distance, shape (7, 3).
        sweep: Positions of joint 7 [rad], the first k of which are evenly spread for any k,
            and their cosines and sines, shape (FINEST, 3).
    """

    X_SB: Array
    X_T7: Array
    lengths: Array
    reach: Array
    limits: Array
    sweep: Array


def panda_arrays(chain: ChainArrays) -> PandaArrays | None:
    """Return the parameters of an arm built like the Panda from its chain; None for others."""
    if len(chain.prismatic) != 7 or chain.prismatic.any():
        return None
    places = link_frames(chain, np.zeros(7))
    z, p = places[1:8, :3, 2], places[1:8, :3, 3]
    if np.abs(np.vecdot(z[:-1], z[1:])).max() > SLOPE:
        return None
    x = np.array(SIGNS)[:, None] * np.cross(z[:-1], z[1:])
    between = p[1:] - p[:-1]
    a = np.vecdot(between, x)
    near = p[:-1] + np.vecdot(between, z[:-1])[:, None] * z[:-1]
    far = p[1:] - np.vecdot(between, z[1:])[:, None] * z[1:]
    d = np.vecdot(near[1:] - far[:-1], z[1:-1])
    if np.abs([a[0], a[1], a[4], d[0], d[2], d[4]]).max() > SLOPE or abs(a[5]) < SLOPE:
        return None
    d3, a3, a4, d5, a6 = d[1], a[2], a[3], d[3], a[5]
    if min(np.hypot(d3, a3), np.hypot(d5, a4)) < SLOPE:
        return None

    # theta_1 and theta_7 count from q = 0: the frames of base and tool take up the rest.
    turn = np.arctan2(np.vecdot(np.cross(x[:-1], x[1:]), z[1:-1]), np.vecdot(x[:-1], x[1:]))
    offsets = np.array([0.0, *turn, 0.0])
    X_BS = pose(near[0], np.column_stack([x[0], np.cross(z[0], x[0]), z[0]]))
    X_B7 = pose(far[5], np.column_stack([x[5], np.cross(z[6], x[5]), z[6]]))
    middle = chain.middle + offsets
    half = np.minimum((chain.upper - chain.lower) / 2, 2 * pi)
    bounds = np.where(half < pi, np.cos(np.minimum(half + SLACK, pi)), -2.0)
    return PandaArrays(
        np.ascontiguousarray(inverse_pose(X_BS)[:3]),
        np.ascontiguousarray((inverse_pose(places[8]) @ X_B7)[:3]),
        np.array([d3, a3, a4, d5, a6]),
        _reach(d3, a3, a4, d5, middle=middle[3], half=half[3]),
        np.column_stack([np.cos(middle), np.sin(middle), bounds]),
        _sweep(chain.middle[6], min(half[6], pi)),
    )


def no_panda() -> PandaArrays:
    """Return placeholder arrays for an arm of another geometry."""
    return PandaArrays(
        np.zeros((3, 4)),
        np.zeros((3, 4)),
        np.zeros(5),
        np.zeros(2),
        np.zeros((7, 3)),
        np.zeros((0, 3)),
    )


def _reach(d3: float, a3: float, a4: float, d5: float, *, middle: float, half: float) -> Array:
    """Return the range of |SW|^2 = sum of squares + 2 (A cos theta_4 + B sin theta_4)."""
    A, B = a3 * a4 + d3 * d5, d3 * a4 - a3 * d5
    peak = np.arctan2(B, A)
    inner = [peak + k * pi for k in range(-4, 5) if abs(peak + k * pi - middle) <= half]
    ends = [middle - half, middle + half]
    values = [np.hypot(A, B) * cos(angle - peak) for angle in (*inner, *ends) if isfinite(angle)]
    squares = d3 * d3 + a3 * a3 + a4 * a4 + d5 * d5
    return squares + 2 * np.array([min(values), max(values)])


def _sweep(middle: float, half: float) -> Array:
    """Return positions between limits, the first k of which are evenly spread for any k.

    Steps of the golden ratio (a Kronecker sequence) leave no large gaps.
    """
    fractions = (0.5 + np.arange(FINEST) * (sqrt(5) - 1) / 2) % 1.0
    q7 = middle + half * (2 * fractions - 1)
    return np.column_stack([q7, np.cos(q7), np.sin(q7)])
