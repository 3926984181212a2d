"""What kernels compute, by the plain definitions in NumPy: the tests compare the two."""

from math import cos, sin

import numpy as np

from kinetarium.dynamics.chain import ChainArrays, link_frames
from kinetarium.legs.mechanism.pantograph import LegKind, PantographLeg
from kinetarium.reach.maps.grid import VoxelGrid
from kinetarium.reach.placement.plane import BasePlane
from kinetarium.spatial.arrays import Array


def jacobian(chain: ChainArrays, q: Array) -> Array:
    """Return the tool's twist [v; w] per joint rate in base axes, shape (6, joints)."""
    _, *joints, tool = link_frames(chain, q)
    columns = []
    for X, slides in zip(joints, chain.prismatic, strict=True):
        axis = X[:3, 2]
        if slides:
            columns.append([*axis, 0, 0, 0])
        else:
            columns.append([*np.cross(axis, tool[:3, 3] - X[:3, 3]), *axis])
    return np.array(columns).T


def manipulability(chain: ChainArrays, q: Array) -> float:
    """Return sqrt(det(J J')) [m^3] (Yoshikawa, "Manipulability of robotic mechanisms", 1985)."""
    J = jacobian(chain, q)
    return float(np.sqrt(max(np.linalg.det(J @ J.T), 0.0)))


def slice_reference(
    values: np.ndarray, X_WT: Array, *, plane: BasePlane, grid: VoxelGrid, x: Array, y: Array
) -> np.ndarray:
    """Cut a 3-D map by a plane, point by point.

    Args:
        values: The map, one value per voxel, shape (count, count, count).
        X_WT: Pose of the tool that the map hangs on, shape (4, 4).
        plane: The plane of bases.
        grid: The map's grid in the tool's frame.
        x: World coordinates x of the points [m], shape (n,).
        y: World coordinates y of the points [m], shape (m,).

    Returns:
        The value of the voxel that holds each point of the plane, 0 outside, shape (n, m).
    """
    R, p = X_WT[:3, :3], X_WT[:3, 3]
    slope_x, slope_y = plane.slopes
    below = (plane.height_at(p[0], p[1]) - p[2]) * R[2]
    u, v = (x - p[0])[:, None, None], (y - p[1])[None, :, None]
    p_T = (below + (R[0] + slope_x * R[2]) * u) + (R[1] + slope_y * R[2]) * v
    voxels = grid.indices(p_T)
    i, j, k = np.moveaxis(voxels, -1, 0)
    inside = (voxels.min(axis=-1) >= 0) & (voxels.max(axis=-1) < grid.count)
    i, j, k = np.where(inside, (i, j, k), 0)
    return np.where(inside, values[i, j, k], np.float32(0))


def link_transforms(leg: PantographLeg, q: Array) -> Array:
    """Return the poses of links 1 to 9 in the leg frame, shape (9, 4, 4).

    Products of matrices as the paper's Tables 4 and 5 list them, one pose at a time.

    Args:
        q: One set of joint values, shape (3,).
    """
    x, c, v = (float(value) for value in q)
    alpha1, alpha2, alpha3 = (float(angle) for angle in leg.passive_angles(q))
    side = c if leg.kind is LegKind.TTT2 else 0.0
    frame = np.eye(4)
    if leg.kind is LegKind.TTT1:
        frame = _translation(0.0, c, 0.0)
    elif leg.kind is LegKind.TTR:
        frame = _turn_z(c)
    a = _translation(0.0, 0.0, v)
    b = _translation(x, side, leg.rail_height)
    foot = _translation(
        leg.gain * x, leg.gain * side, (1 - leg.gain) * v + leg.gain * leg.rail_height
    )
    thigh = _turn_x(alpha3) @ _turn_y(alpha1)
    shank = _turn_x(alpha3) @ _turn_y(alpha2)
    own = [np.eye(4), a, b, a @ thigh, b @ thigh, b @ shank, foot @ shank, foot]
    return np.array([np.eye(4), *(frame @ X for X in own)])


def _translation(x: float, y: float, z: float) -> Array:
    X = np.eye(4)
    X[:3, 3] = x, y, z
    return X


def _turn_x(angle: float) -> Array:
    c, s = cos(angle), sin(angle)
    return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])


def _turn_y(angle: float) -> Array:
    c, s = cos(angle), sin(angle)
    return np.array([[c, 0, s, 0], [0, 1, 0, 0], [-s, 0, c, 0], [0, 0, 0, 1.0]])


def _turn_z(angle: float) -> Array:
    c, s = cos(angle), sin(angle)
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
