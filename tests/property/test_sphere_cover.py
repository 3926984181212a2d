"""Sphere covers hold their shapes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinetarium.dynamics._signed_distance import signed_distance
from kinetarium.dynamics.sphere_cover import SphereCover, cover_by_spheres
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import (
    Box,
    Capsule,
    Cylinder,
    Geometry,
    MeshData,
    Shape,
    Sphere,
    TriangleMesh,
)
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose

LENGTHS = st.floats(0.05, 0.4)
BOXES = st.builds(Box, st.tuples(LENGTHS, LENGTHS, LENGTHS))
CYLINDERS = st.builds(Cylinder, LENGTHS, LENGTHS)
CAPSULES = st.builds(Capsule, LENGTHS, LENGTHS)
SPHERES = st.builds(Sphere, LENGTHS)
SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def bumpy_meshes(draw: st.DrawFn) -> MeshData:
    """Closed meshes around the origin that are not convex, facing either way."""
    rng = np.random.default_rng(draw(SEEDS))
    mesh = triangulate(Sphere(0.2), segments=8)
    vertices = mesh.vertices * rng.uniform(0.5, 1.5, (len(mesh.vertices), 1))
    faces = mesh.faces[:, ::-1] if draw(st.booleans()) else mesh.faces
    return MeshData("bumpy", TriangleMesh(frozen(vertices), faces))


SHAPES = st.one_of(BOXES, CYLINDERS, CAPSULES, SPHERES, bumpy_meshes())


def random_pose(rng: np.random.Generator, spread: float = 0.3) -> Array:
    return frozen(pose(rng.uniform(-spread, spread, 3), so3.exp(rng.uniform(-3, 3, 3))))


def surface_points(shape: Shape, rng: np.random.Generator) -> Array:
    """Points where rays from the centre leave a shape."""
    if isinstance(shape, MeshData):
        weights = rng.dirichlet(np.ones(3), (20, len(shape.mesh.faces)))
        return np.vecdot(
            weights[..., None], shape.mesh.vertices[shape.mesh.faces], axis=-2
        ).reshape(-1, 3)
    directions = rng.normal(size=(4000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    distance = signed_distance(shape)
    low, high = np.zeros(len(directions)), np.full(len(directions), 1.5)
    for _ in range(60):
        middle = (low + high) / 2
        inside = distance(middle[:, None] * directions) < 0
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return low[:, None] * directions


def outside(cover: SphereCover, points: Array) -> Array:
    """How far points are outside the union of spheres [m]."""
    gaps = np.linalg.norm(points[:, None] - cover.centers, axis=2) - cover.radii
    return gaps.min(axis=1)


@settings(max_examples=12, deadline=None)
@given(SHAPES, st.floats(0.02, 0.1), SEEDS)
def test_a_cover_holds_the_surface_and_the_inside(shape: Shape, excess: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X_LG = random_pose(rng)
    cover = cover_by_spheres([Geometry(shape, X_LG)], excess=excess)
    assert cover.excess == pytest.approx(excess)

    surface = surface_points(shape, rng) @ X_LG[:3, :3].T + X_LG[:3, 3]
    assert outside(cover, surface).max() <= 1e-12

    distance = signed_distance(shape)
    points = rng.uniform(-0.5, 0.5, (4000, 3))
    deep = points[distance(points) < -excess / 2] @ X_LG[:3, :3].T + X_LG[:3, 3]
    assert outside(cover, deep).max(initial=-1) <= 1e-12

    reach = cover.radii + distance((cover.centers - X_LG[:3, 3]) @ X_LG[:3, :3])
    assert reach.max() <= excess * (1 + 1e-9)


@settings(max_examples=5, deadline=None)
@given(st.lists(st.one_of(BOXES, CYLINDERS, CAPSULES, SPHERES), min_size=2, max_size=4), SEEDS)
def test_the_cover_of_shapes_together_holds_their_common_surface(
    shapes: list[Shape], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    parts = [Geometry(shape, random_pose(rng, 0.15)) for shape in shapes]
    cover = cover_by_spheres(parts, excess=0.04)
    for part in parts:
        points = surface_points(part.shape, rng) @ part.X_LG[:3, :3].T + part.X_LG[:3, 3]
        others = [
            signed_distance(other.shape)((points - other.X_LG[:3, 3]) @ other.X_LG[:3, :3])
            for other in parts
            if other is not part
        ]
        exposed = points[np.min(others, axis=0) > 0]
        assert outside(cover, exposed).max(initial=-1) <= 1e-12


def test_shapes_that_touch_are_covered_as_one() -> None:
    """A column of slices needs about as many spheres as the column in one piece."""
    slices = [Geometry(Box((0.2, 0.2, 0.02)), frozen(pose([0, 0, 0.02 * k]))) for k in range(10)]
    sliced = cover_by_spheres(slices, excess=0.03)
    whole = cover_by_spheres([Geometry(Box((0.2, 0.2, 0.2)))], excess=0.03)
    assert len(sliced.radii) < 1.5 * len(whole.radii)


def test_an_open_sheet_is_covered() -> None:
    vertices = frozen([[0, 0, 0], [0.3, 0, 0], [0.3, 0.2, 0.1], [0, 0.2, 0.1]])
    sheet = MeshData("sheet", TriangleMesh(vertices, np.array([[0, 1, 2], [0, 2, 3]], np.int32)))
    cover = cover_by_spheres([Geometry(sheet)], excess=0.03)
    points = surface_points(sheet, np.random.default_rng(0))
    assert outside(cover, points).max() <= 1e-12
    assert cover.radii.max() <= 0.03


@pytest.mark.parametrize("excess", [0.0, -1.0, np.nan, np.inf])
def test_a_senseless_excess_is_refused(excess: float) -> None:
    from kinetarium.errors import KinetariumError

    with pytest.raises(KinetariumError, match="positive"):
        cover_by_spheres([Geometry(Sphere(0.1))], excess=excess)
