"""Clearance of spheres by its plain definition, in NumPy."""

import numpy as np

from kinetarium.dynamics.sphere_arrays import ObstacleArrays, SphereArrays
from kinetarium.spatial.arrays import Array


def clearance(poses: Array, spheres: SphereArrays, obstacles: ObstacleArrays) -> float:
    """Give the smallest gap between spheres, and between them and what stands around.

    Args:
        poses: Poses X_WL of the links, shape (links, 4, 4).
        spheres: The robot's spheres and the pairs of links to be checked.
        obstacles: What stands around.

    Returns:
        The gap [m], negative where spheres overlap; infinite if nothing is checked.
    """
    counts = np.diff(spheres.cluster_starts[spheres.link_starts])
    link = np.repeat(np.arange(len(poses)), counts)
    X_WL = poses[link]
    centers = np.einsum("nij,nj->ni", X_WL[:, :3, :3], spheres.centers) + X_WL[:, :3, 3]
    radii = spheres.radii

    gaps = [np.array([np.inf])]
    for a, b in spheres.pairs:
        first, second = link == a, link == b
        between = np.linalg.norm(centers[first][:, None] - centers[second], axis=2)
        gaps.append(between - radii[first][:, None] - radii[second])
    exposed = ~spheres.grounded[link]
    gaps.append(centers[exposed, 2] - radii[exposed] - obstacles.ground)
    between = np.linalg.norm(centers[:, None] - obstacles.centers, axis=2)
    gaps.append(between - radii[:, None] - obstacles.radii)
    for X_WO, half in zip(obstacles.boxes, obstacles.halves, strict=True):
        beyond = np.abs((centers - X_WO[:3, 3]) @ X_WO[:3, :3]) - half
        outside = np.linalg.norm(np.maximum(beyond, 0), axis=1)
        gaps.append(outside + np.minimum(beyond.max(axis=1), 0) - radii)
    return float(min(gap.min(initial=np.inf) for gap in gaps))
