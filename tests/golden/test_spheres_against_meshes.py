"""The sphere model of a public arm misses no collision of its meshes."""

from itertools import product
from pathlib import Path

import coal
import numpy as np
import pytest

from coal_collision import DATA, PUBLIC_PANDA, coal_shape, placed
from kinetarium import load_robot
from kinetarium.dynamics import SphereModel, link_poses, random_positions
from kinetarium.spatial.arrays import Array

Parts = list[tuple[coal.CollisionGeometry, Array]]


def touch(parts_a: Parts, X_WA: Array, parts_b: Parts, X_WB: Array) -> bool:
    """Whether any two triangles of two links meet."""
    for (mesh_a, X_AG), (mesh_b, X_BG) in product(parts_a, parts_b):
        place_a, place_b = placed(X_WA @ X_AG), placed(X_WB @ X_BG)
        request, result = coal.CollisionRequest(), coal.CollisionResult()
        if coal.collide(mesh_a, place_a, mesh_b, place_b, request, result):
            return True
    return False


@pytest.mark.skipif(DATA == Path(), reason="needs the data extra")
def test_no_collision_of_the_panda_is_missed() -> None:
    model = load_robot(PUBLIC_PANDA)
    fingers = ("panda_leftfinger", "panda_rightfinger")
    spheres = SphereModel(model, excess=0.015, ignore=[fingers])
    assert spheres.overlapping == ()
    assert len(spheres.arrays.radii) < 400
    meshes = {
        link.name: [(coal_shape(part.shape), part.X_LG) for part in link.collisions]
        for link in model.links
    }
    index = {link.name: number for number, link in enumerate(model.links)}
    rng = np.random.default_rng(0)
    poses = link_poses(model, random_positions(model, rng, count=200))
    truth = np.array(
        [
            any(touch(meshes[a], X[index[a]], meshes[b], X[index[b]]) for a, b in spheres.pairs)
            for X in poses
        ]
    )
    reported = spheres.collides_batch(poses)
    assert truth.sum() > 15
    assert not (truth & ~reported).any()
    assert (reported & ~truth).sum() < 0.3 * len(poses)
