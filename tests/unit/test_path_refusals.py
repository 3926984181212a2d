"""What no path can be made of is refused with one line that says why."""

from math import inf, nan

import numpy as np
import pytest

from kinetarium.errors import KinetariumError
from kinetarium.spatial import (
    Bezier,
    BezierSpline,
    Circle,
    Eight,
    PathError,
    PlacedPath,
    Polyline,
    Square,
)

SIZES = (0.0, -1.0, nan, inf, -inf, 1e-300, 1e300)
POINTS = {
    "none": [],
    "one": [[0, 0]],
    "repeated": [[0, 0], [1, 0], [1, 0]],
    "hardly apart": [[0, 0], [1e-200, 0]],
    "not a number": [[0, 0], [nan, 0]],
    "infinite": [[0, 0], [1, inf]],
    "far off": [[0, 0], [1e200, 0]],
    "huge integer": [[0, 0], [10**400, 0]],
    "ragged": [[0, 0], [1]],
    "words": "here and there",
    "nothing": None,
    "four-dimensional": np.eye(4),
    "flat": [0.0, 1.0, 2.0],
}


def refusal(make, *arguments):
    with pytest.raises(PathError) as caught:
        make(*arguments)
    assert isinstance(caught.value, KinetariumError)
    message = str(caught.value)
    assert message and "\n" not in message
    return message


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", SIZES)
def test_sizes(size):
    assert "radius of a circle" in refusal(Circle, size)
    assert "side of a square" in refusal(Square, size)
    assert "half width" in refusal(Eight, size, 1.0)
    assert "half height" in refusal(Eight, 1.0, size)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("points", POINTS.values(), ids=POINTS)
@pytest.mark.parametrize("kind", (Polyline, Bezier, BezierSpline))
def test_points(kind, points):
    assert "point" in refusal(kind, points)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "controls",
    (
        [[0, 0], [1, 0], [0, 0]],
        [[0, 0], [1, 0], [0.3, 0]],
        [[0, 0], [1, 1], [0, 1], [1, 0]],
        [[0, 0, 0], [1, 1, 1], [0.2, 0.2, 0.2]],
        [[(-1) ** k, 2e-9 * k] for k in range(200)],
    ),
    ids=("there and back", "partly back", "cusp", "back in space", "cancelling"),
)
def test_a_bezier_curve_that_stops(controls):
    assert "no direction" in refusal(Bezier, controls)


@pytest.mark.filterwarnings("error")
def test_a_spline_that_turns_back():
    assert "no direction" in refusal(BezierSpline, [[0, 0], [1, 0], [0.4, 0]])
    assert "no direction" in refusal(BezierSpline, [[0, 0], [1, 0], [0, 0]])


def test_one_bezier_curve_of_too_many_points():
    assert "BezierSpline" in refusal(Bezier, np.arange(402.0).reshape(201, 2))


@pytest.mark.parametrize(
    "X_WP", (np.eye(3), 2 * np.eye(4), np.diag([1.0, 1, -1, 1]), np.full((4, 4), nan))
)
def test_a_placement_that_is_no_pose(X_WP):
    assert "pose" in refusal(PlacedPath, Circle(1.0), X_WP)


def test_a_path_in_space_has_no_heading():
    for path in (
        Polyline(np.eye(3)),
        Bezier(np.eye(3)),
        BezierSpline(np.eye(3)),
        PlacedPath(Circle(1.0), np.eye(4)),
    ):
        assert "heading" in refusal(path.heading, 0.0)
