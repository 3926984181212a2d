"""Distances to triangles and winding numbers: kernels against their plain references."""

import numpy as np

from kinetarium.dynamics import _mesh_kernel as mesh_kernel
from kinetarium.dynamics.triangle_groups import TriangleGroups
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import Sphere
from unit import mesh_reference


def test_mesh_kernels_agree_with_their_references() -> None:
    rng = np.random.default_rng(1)
    mesh = triangulate(Sphere(0.2), segments=32)
    vertices = mesh.vertices * rng.uniform(0.8, 1.2, (len(mesh.vertices), 1))
    triangles = np.concatenate([vertices[mesh.faces], np.zeros((1, 3, 3))])  # one without area
    points = rng.uniform(-0.3, 0.3, (500, 3))
    groups = TriangleGroups.of(triangles)
    assert len(groups.radii) > 30
    distances = mesh_kernel.distances(points, groups)
    np.testing.assert_allclose(distances, mesh_reference.distances(points, triangles), atol=1e-14)
    around = mesh_reference.winding_numbers(points, triangles)
    np.testing.assert_allclose(around, np.round(around), atol=1e-9)
    np.testing.assert_allclose(mesh_kernel.winding_numbers(points, groups), around, atol=0.1)
