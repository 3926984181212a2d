"""The fast slice is the plain definition, bit for bit, whatever the pose and the plane."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kernel_references import slice_reference
from kinetarium.reach.maps.grid import voxel_grid
from kinetarium.reach.maps.slice import slice_values
from kinetarium.reach.placement.plane import BasePlane, base_plane
from kinetarium.reach.placement.score_raster import sum_of_slices
from kinetarium.spatial import so3
from kinetarium.spatial.rotation import pose

GRID = voxel_grid(0.1, radius=1.0)
VALUES = np.random.default_rng(0).uniform(0.1, 1, GRID.shape).astype(np.float32)

reals = st.floats(-2, 2, allow_nan=False)
poses = st.builds(
    lambda p, r: pose(p, so3.exp(np.array(r))),
    st.tuples(reals, reals, reals),
    st.tuples(*[reals] * 3),
)
planes = st.builds(
    lambda x, y, h: base_plane((x, y, 1), height=h), st.floats(-1, 1), st.floats(-1, 1), reals
)


@settings(max_examples=200, deadline=None)
@given(poses, planes)
def test_bit_identical(X_WT: np.ndarray, plane: BasePlane) -> None:
    x, y = X_WT[0, 3] + GRID.axis, X_WT[1, 3] + 0.7 * GRID.axis
    fast = slice_values(VALUES, X_WT, plane=plane, grid=GRID, x=x, y=y)
    plain = slice_reference(VALUES, X_WT, plane=plane, grid=GRID, x=x, y=y)
    assert fast.tobytes() == plain.tobytes()


@settings(max_examples=30, deadline=None)
@given(poses, planes)
def test_each_point_shows_its_voxel(X_WT: np.ndarray, plane: BasePlane) -> None:
    """Against Algorithm 1 word by word, away from the walls between voxels."""
    x, y = X_WT[0, 3] + GRID.axis[::4], X_WT[1, 3] + GRID.axis[::4]
    fast = slice_values(VALUES, X_WT, plane=plane, grid=GRID, x=x, y=y)
    for i in range(len(x)):
        for j in range(len(y)):
            p_W = np.array([x[i], y[j], plane.height_at(x[i], y[j]), 1.0])
            steps = ((np.linalg.inv(X_WT) @ p_W)[:3] - GRID.lower) / GRID.size
            if np.abs(steps - np.round(steps)).min() < 1e-6:
                continue
            voxel = np.floor(steps).astype(int)
            inside = ((voxel >= 0) & (voxel < GRID.count)).all()
            assert fast[i, j] == (VALUES[tuple(voxel)] if inside else 0)


@given(st.lists(poses, min_size=1, max_size=3))
@settings(max_examples=20, deadline=None)
def test_a_union_is_the_sum_of_its_slices(tasks: list[np.ndarray]) -> None:
    words = {"plane": BasePlane(), "grid": GRID, "x": GRID.axis, "y": GRID.axis}
    fast = sum_of_slices(VALUES, np.array(tasks), **words)
    assert (
        fast == sum(slice_reference(VALUES, X_WT, **words).astype(float) for X_WT in tasks)
    ).all()
