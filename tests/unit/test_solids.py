from math import pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetarium.model.mesh.solids import bounding_box, solid_properties, triangulate
from kinetarium.model.robot import (
    Box,
    Capsule,
    Cylinder,
    MeshData,
    Shape,
    Sphere,
    TriangleMesh,
)

SHAPES = [Box((1.0, 2.0, 3.0)), Sphere(0.5), Cylinder(0.3, 1.2), Capsule(0.3, 1.2), Capsule(0.2, 0)]


def as_mesh(shape: Shape, **changes: int) -> MeshData:
    return MeshData("mesh", triangulate(shape, **changes))


def moved(mesh: MeshData, offset: tuple[float, float, float]) -> MeshData:
    return MeshData("moved", TriangleMesh(mesh.mesh.vertices + offset, mesh.mesh.faces))


@pytest.mark.parametrize(
    ("shape", "volume"),
    [
        (Box((1.0, 2.0, 3.0)), 6),
        (Sphere(0.5), pi / 6),
        (Cylinder(0.3, 1.2), pi * 0.09 * 1.2),
        (Capsule(0.3, 1.2), pi * 0.09 * 1.2 + 4 / 3 * pi * 0.027),
    ],
)
def test_mass_is_density_times_volume(shape, volume):
    assert solid_properties(shape, density=7.0).mass == pytest.approx(7 * volume)


def test_closed_forms():
    box = solid_properties(Box((1.0, 2.0, 3.0)), density=2.0)
    np.testing.assert_allclose(box.moment, np.diag([13.0, 10.0, 5.0]))  # m (b^2 + c^2) / 12
    ball = solid_properties(Sphere(2.0), density=1.0)
    np.testing.assert_allclose(ball.moment, 0.4 * ball.mass * 4 * np.eye(3))  # 2/5 m r^2
    rod = solid_properties(Cylinder(1.0, 6.0), density=1.0)
    np.testing.assert_allclose(rod.moment, rod.mass * np.diag([3.25, 3.25, 0.5]))
    capsule = solid_properties(Capsule(2.0, 0.0), density=1.0)
    np.testing.assert_allclose(capsule.moment, ball.moment)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_fine_mesh_has_the_properties_of_the_shape(shape):
    exact = solid_properties(shape, density=1000.0)
    mesh = solid_properties(as_mesh(shape, segments=160), density=1000.0)
    assert mesh.mass == pytest.approx(exact.mass, rel=2e-3)
    np.testing.assert_allclose(mesh.center, 0, atol=1e-12)
    np.testing.assert_allclose(mesh.moment, exact.moment, rtol=3e-3, atol=1e-9 * exact.mass)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("segments", [4, 7, 24])
def test_surfaces_are_closed_and_face_outwards(shape, segments):
    mesh = triangulate(shape, segments=segments)
    edges = np.concatenate([mesh.faces[:, [i, (i + 1) % 3]] for i in range(3)])
    there = {tuple(edge) for edge in edges.tolist()}
    assert len(there) == len(edges)
    assert there == {(b, a) for a, b in there}
    a, b, c = mesh.vertices[mesh.faces].transpose(1, 0, 2)
    outward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a + b + c)
    assert (outward >= 0).all() and outward.sum() > 0
    assert len(np.unique(mesh.faces)) == len(mesh.vertices)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_bounding_box_is_that_of_the_surface(shape):
    vertices = triangulate(shape, segments=24).vertices
    low, high = bounding_box(shape)
    np.testing.assert_allclose(low, vertices.min(axis=0), atol=1e-12)
    np.testing.assert_allclose(high, vertices.max(axis=0), atol=1e-12)
    np.testing.assert_array_equal(bounding_box(as_mesh(shape)), [vertices.min(0), vertices.max(0)])


def test_moving_a_mesh_moves_its_centre_and_nothing_else():
    mesh = as_mesh(Box((1.0, 2.0, 3.0)))
    there = solid_properties(moved(mesh, (100.0, -50.0, 7.0)), density=2.0)
    np.testing.assert_allclose(there.center, [100, -50, 7])
    np.testing.assert_allclose(there.moment, np.diag([13.0, 10.0, 5.0]), atol=1e-9)


@given(st.lists(st.floats(-5, 5), min_size=12, max_size=12))
def test_any_tetrahedron(numbers):
    # About its centre a tetrahedron's mean product of coordinates is that of its
    # corners divided by 20 (sum over the four corners).
    corners = np.reshape(numbers, (4, 3))
    volume = abs(np.linalg.det(corners[1:] - corners[0])) / 6
    if volume < 0.01:
        return
    faces = np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]], dtype=np.int32)
    solid = solid_properties(MeshData("tetrahedron", TriangleMesh(corners, faces)), density=3.0)
    relative = corners - corners.mean(axis=0)
    squares = relative.T @ relative / 20
    assert solid.mass == pytest.approx(3 * volume)
    np.testing.assert_allclose(solid.center, corners.mean(axis=0), atol=1e-7)
    moment = solid.mass * (np.trace(squares) * np.eye(3) - squares)
    np.testing.assert_allclose(solid.moment, moment, rtol=1e-6, atol=1e-6)


def test_inside_out_is_the_same_solid():
    mesh = triangulate(Box((1.0, 2.0, 3.0)))
    turned = MeshData("turned", TriangleMesh(mesh.vertices, mesh.faces[:, ::-1]))
    assert solid_properties(turned, density=2.0).mass == pytest.approx(12)


def test_open_mesh_counts_as_its_bounding_box():
    mesh = triangulate(Box((1.0, 2.0, 3.0)))
    opened = moved(MeshData("open", TriangleMesh(mesh.vertices, mesh.faces[2:])), (5.0, 0.0, 0.0))
    solid = solid_properties(opened, density=2.0)
    assert solid.mass == pytest.approx(12)
    np.testing.assert_allclose(solid.center, [5, 0, 0])
    np.testing.assert_allclose(solid.moment, np.diag([13.0, 10.0, 5.0]))


def test_flat_mesh_has_no_mass():
    flat = TriangleMesh(np.eye(3) * [1.0, 1.0, 0.0], np.array([[0, 1, 2]], dtype=np.int32))
    solid = solid_properties(MeshData("flat", flat), density=1000.0)
    assert solid.mass == 0 and not solid.moment.any()
