"""Paths through points that repeat and turn back have finite answers everywhere, or are refused."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kinetarium.spatial import Bezier, BezierSpline, PathError, Polyline

pytestmark = pytest.mark.filterwarnings("error")

COORDINATES = st.integers(0, 3)
POINTS = st.integers(2, 3).flatmap(
    lambda dimension: st.lists(st.tuples(*[COORDINATES] * dimension), min_size=2, max_size=8)
)
PLACES = st.lists(COORDINATES, min_size=2, max_size=8)
brisk = settings(deadline=None, max_examples=100)


def drawn(kind, points):
    """Return the path, or None and the refusal."""
    try:
        return kind(points), None
    except PathError as refusal:
        return None, str(refusal)


def repeated(points):
    return (np.diff(points, axis=0) == 0).all(axis=1).any()


def velocity(controls, u):
    """Return the derivative of a Bezier curve over its degree, by De Casteljau's algorithm."""
    rest = list(np.diff(np.asarray(controls, dtype=float), axis=0))
    while len(rest) > 1:
        rest = [(1 - u) * a + u * b for a, b in pairwise(rest)]
    return rest[0]


def assert_answers_everywhere(path):
    """At even lengths, and at dyadic parts of it, where pauses and joints of tidy points lie."""
    s = np.concatenate([np.linspace(-0.1, 1.1, 241), np.arange(65) / 64]) * path.length
    positions, tangents = path.position(s), path.tangent(s)
    assert path.length > 0
    assert np.isfinite(positions).all() and np.isfinite(path.curvature(s)).all()
    np.testing.assert_allclose(np.linalg.norm(tangents, axis=-1), 1, atol=1e-14)
    # The way between answers is no longer than the arc between them.
    there = np.linspace(0, path.length, 241)
    steps = np.linalg.norm(np.diff(path.position(there), axis=0), axis=-1)
    assert steps.max() <= there[1] * (1 + 1e-9)
    if path.dimension == 2:
        heading = path.heading(s)
        directions = np.stack([np.cos(heading), np.sin(heading)], axis=-1)
        np.testing.assert_allclose(directions, tangents, atol=1e-12)


@brisk
@given(POINTS)
def test_polylines_refuse_repetitions_alone(points):
    path, refusal = drawn(Polyline, points)
    assert (path is None) == repeated(points)
    if path:
        assert_answers_everywhere(path)
    else:
        assert "are the same" in refusal


@brisk
@given(POINTS)
def test_splines_refuse_repetitions_and_turning_back_alone(points):
    path, refusal = drawn(BezierSpline, points)
    if path:
        assert_answers_everywhere(path)
    if repeated(points):
        assert "are the same" in refusal
        return
    chords = np.diff(points, axis=0)
    before, after = chords[:-1], chords[1:]
    if points[0] == points[-1]:
        before, after = np.roll(chords, 1, axis=0), chords
    inner = np.vecdot(before, after)
    turning_back = (inner < 0) & (inner**2 == np.vecdot(before, before) * np.vecdot(after, after))
    assert (path is None) == turning_back.any()
    if not path:
        assert "no direction" in refusal


@brisk
@given(POINTS)
def test_bezier_curves_refuse_repetitions_and_stops_alone(points):
    path, refusal = drawn(Bezier, points)
    if path:
        assert_answers_everywhere(path)
    elif repeated(points):
        assert "are the same" in refusal
    else:
        (parameter,) = re.findall(r"at parameter (\S+), where it has no direction", refusal)
        assert np.linalg.norm(velocity(points, float(parameter))) < 1e-4


@brisk
@given(PLACES, st.tuples(*[st.floats(-9, 9)] * 3), st.tuples(*[st.floats(0.1, 9)] * 3))
def test_bezier_curves_along_a_line_are_that_line_or_turn_back(places, start, direction):
    assume(np.diff(places).all())
    path, refusal = drawn(Bezier, np.add(start, np.outer(places, direction)))
    speeds = velocity(places, np.linspace(0, 1, 401)) * np.sign(places[-1] - places[0])
    if path:
        assert speeds.min() > -1e-6
        assert_answers_everywhere(path)
        assert (path.curvature(np.linspace(0, path.length, 9)) == 0).all()
        chord = abs(places[-1] - places[0]) * np.linalg.norm(direction)
        assert path.length == pytest.approx(chord, rel=1e-13)
    else:
        assert "no direction" in refusal
        assert speeds.min() < 1e-2


@pytest.mark.parametrize(
    ("places", "pause"), (((0, 1, 0, 1), 1 / 2), ((0, 4, 2, 3), 2 / 3), ((0, 1, -1, 3), 1 / 3))
)
def test_a_straight_bezier_curve_that_pauses_goes_on(places, pause):
    """By arc length nothing is seen of the pause, wherever the line lies."""
    assert velocity(places, pause) == pytest.approx(0, abs=1e-12)
    for direction in ((1, 0), (0.3, -0.7), (0.1, 0.2, 0.3)):
        path = Bezier(np.outer(places, direction))
        assert_answers_everywhere(path)
        middle = np.multiply(places[-1] / 2, direction)
        np.testing.assert_allclose(path.position(path.length / 2), middle, atol=1e-15)
        np.testing.assert_allclose(
            path.tangent([0, path.length / 2]) * path.length,
            [np.multiply(places[-1], direction)] * 2,
            atol=1e-14,
        )
        assert (path.curvature([0, path.length / 2]) == 0).all()


def test_a_curve_that_bends_where_it_pauses_is_refused():
    """Its velocity, 12 (2 u - 1)^2 (1, u), keeps its direction at 1/2 but not its curvature."""
    controls = [[0, 0], [3, 0], [2, 1], [1, -1], [4, 2]]
    np.testing.assert_array_equal(4 * velocity(controls, 0.25), [3, 0.75])
    assert "parameter 0.5, where it has no direction" in drawn(Bezier, controls)[1]


def test_an_end_too_short_to_count_has_a_direction():
    """Its length is lost beside that of the rest: 1e8 + 2e-9 is 1e8 in double precision."""
    path = BezierSpline([[0, 0], [1e8, 0], [1e8, 2e-9]])
    assert_answers_everywhere(path)
