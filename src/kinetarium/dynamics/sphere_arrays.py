"""The plain arrays that the sphere kernel and its reference work on."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetarium.dynamics.sphere_cover import SphereCover
from kinetarium.spatial.arrays import Array

CLUSTER = 8
"""How many spheres make a cluster at most."""


class SphereArrays(NamedTuple):
    """The spheres of a robot, in clusters of neighbours, link by link.

    Links and clusters are numbered; a sphere around all of a link or a cluster
    shows early that there is nothing to be found in it.

    Attributes:
        centers: Centres in the link frames [m], shape (n, 3).
        radii: Radii [m], shape (n,).
        cluster_starts: First sphere of each cluster, and the end, shape (clusters + 1,).
        cluster_centers: Centres of the clusters' spheres [m], shape (clusters, 3).
        cluster_radii: Their radii [m], shape (clusters,).
        link_starts: First cluster of each link, and the end, shape (links + 1,).
        link_centers: Centres of the links' spheres [m], shape (links, 3).
        link_radii: Their radii [m], shape (links,); minus infinity for a link without shape.
        grounded: Whether a link may touch the ground, shape (links,).
        pairs: Indices of the pairs of links to be checked, shape (pairs, 2).
    """

    centers: Array
    radii: Array
    cluster_starts: NDArray[np.int64]
    cluster_centers: Array
    cluster_radii: Array
    link_starts: NDArray[np.int64]
    link_centers: Array
    link_radii: Array
    grounded: NDArray[np.bool_]
    pairs: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        covers: list[SphereCover],
        *,
        grounded: NDArray[np.bool_],
        pairs: NDArray[np.int64],
    ) -> "SphereArrays":
        """Join the covers of all links, empty ones for links without shape."""
        clusters = [_clusters(cover.centers) for cover in covers]
        order = [np.concatenate([np.zeros(0, np.intp), *parts]) for parts in clusters]
        centers = np.concatenate([c.centers[o] for c, o in zip(covers, order, strict=True)])
        radii = np.concatenate([c.radii[o] for c, o in zip(covers, order, strict=True)])
        cluster_starts = _starts([len(part) for parts in clusters for part in parts])
        link_starts = _starts([len(parts) for parts in clusters])
        cluster_centers, cluster_radii = _bounds(centers, radii, cluster_starts)
        link_centers, link_radii = _bounds(centers, radii, cluster_starts[link_starts])
        return cls(
            centers,
            radii,
            cluster_starts,
            cluster_centers,
            cluster_radii,
            link_starts,
            link_centers,
            link_radii,
            grounded,
            pairs,
        )


class ObstacleArrays(NamedTuple):
    """What stands around a robot.

    Attributes:
        ground: Height of the ground [m], minus infinity for none.
        centers: Centres of spheres in the world [m], shape (n, 3).
        radii: Their radii [m], shape (n,).
        boxes: Poses X_WO of boxes, shape (m, 4, 4).
        halves: Half their edge lengths [m], shape (m, 3).
    """

    ground: float
    centers: Array
    radii: Array
    boxes: Array
    halves: Array


def _clusters(centers: Array) -> list[NDArray[np.intp]]:
    """Halve a set of points across its longest side until the parts are small."""
    todo, done = [np.arange(len(centers))], []
    while todo:
        part = todo.pop()
        if len(part) > CLUSTER:
            axis = np.ptp(centers[part], axis=0).argmax()
            part = part[centers[part, axis].argsort()]
            todo += [part[: len(part) // 2], part[len(part) // 2 :]]
        elif len(part):
            done.append(part)
    return done


def _starts(counts: list[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *counts], dtype=np.int64)


def _bounds(centers: Array, radii: Array, starts: NDArray[np.int64]) -> tuple[Array, Array]:
    """Give for each run of spheres the centre and the radius of a sphere around it."""
    middles, reaches = np.zeros((len(starts) - 1, 3)), np.full(len(starts) - 1, -np.inf)
    for number, (first, end) in enumerate(pairwise(starts)):
        if first < end:
            c, r = centers[first:end], radii[first:end]
            low, high = (c - r[:, None]).min(axis=0), (c + r[:, None]).max(axis=0)
            middles[number] = (low + high) / 2
            reaches[number] = (np.linalg.norm(c - middles[number], axis=1) + r).max()
    return middles, reaches
