"""Cross-track error, curvature and roundness of paths whose values are known."""

import numpy as np
import pytest

from kinetarium.metrics import cross_track, out_of_round, path_curvature, total_variation

CORNER = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 0.0], [4.0, 4.0]])


def test_distance_from_edges_and_corners() -> None:
    points = np.array([[1.0, 0.5], [5.0, -1.0], [-3.0, 0.0], [3.0, 2.0], [4.0, 1.0]])
    assert cross_track(points, CORNER) == pytest.approx([0.5, np.sqrt(2), 3.0, 1.0, 0.0])


def test_many_points_are_as_few() -> None:
    points = np.random.default_rng(1).uniform(-1, 5, (1000, 2))
    one_by_one = [cross_track(point[np.newaxis], CORNER)[0] for point in points]
    assert cross_track(points, CORNER) == pytest.approx(one_by_one)


def test_curvature_of_an_arc() -> None:
    t = np.arange(0, 10, 0.02)
    velocities = 0.5 * np.stack([np.cos(0.25 * t), np.sin(0.25 * t)], axis=-1)
    curvature = path_curvature(velocities, period=0.02, window=0.5, slowest=0.1)
    assert curvature == pytest.approx(0.5, rel=1e-3)
    assert total_variation(curvature) == pytest.approx(0.0, abs=1e-9)


def test_where_it_stands_there_is_no_curvature() -> None:
    velocities = np.array([[1.0, 0.0]] * 4 + [[0.0, 0.0]] * 4)
    curvature = path_curvature(velocities, period=1.0, window=1.0, slowest=0.1)
    assert np.isnan(curvature[3:]).all()
    assert not curvature[:3].any()


def test_variation_passes_over_gaps() -> None:
    assert total_variation(np.array([1.0, 3.0, 2.0, np.nan, 9.0, 9.5])) == pytest.approx(3.5)


def test_roundness() -> None:
    angle = np.linspace(0, 4, 500)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    assert out_of_round(5 + 2.7 * circle) == pytest.approx(0.0, abs=1e-12)
    angle = np.linspace(0, 2 * np.pi, 500)
    ellipse = np.stack([2.1 * np.cos(angle), 1.9 * np.sin(angle)], axis=-1)
    assert out_of_round(ellipse) == pytest.approx(0.1 / np.sqrt(2), rel=0.05)
