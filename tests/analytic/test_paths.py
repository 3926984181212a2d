"""Paths against closed forms, high-precision quadrature and finite differences."""

import pickle
from itertools import pairwise
from math import asinh, atan2, comb, pi, sqrt

import mpmath as mp
import numpy as np
import pytest

from kinetarium.spatial import (
    Bezier,
    BezierSpline,
    Circle,
    Eight,
    PlacedPath,
    Polyline,
    Square,
    pose,
)

GENERATOR = np.random.default_rng(7)
CUBIC = [[0.0, 0.0], [1.0, 2.0], [3.0, -1.0], [2.5, 1.0]]
WAYPOINTS = [[0.0, 0.0], [1.0, 0.2], [1.4, 1.1], [0.7, 1.9], [-1.5, 1.0], [-1.2, 0.4]]
CIRCUIT = [[2.0, 0.0], [0.5, 1.0], [-1.0, 0.3], [0.0, -1.5], [2.0, 0.0]]
LOOP = [[0.0, 0.0], [4.0, 3.0], [-3.0, 3.0], [1.0, 0.0]]
INTO_YZ = pose([0.4, 0.1, 0.6], [[0, 0, 1], [1, 0, 0], [0, 1, 0]])

SMOOTH = {
    "circle": Circle(0.7),
    "eight": Eight(3.0, 1.5),
    "narrow eight": Eight(0.5, 2.0),
    "Gerono": Eight.gerono(0.1),
    "line": Bezier([[1.0, 2.0], [3.0, 1.0]]),
    "cubic": Bezier(CUBIC),
    "loop": Bezier(LOOP),
    "degree 8": Bezier(GENERATOR.normal(size=(9, 2))),
    "cubic in space": Bezier(GENERATOR.normal(size=(4, 3))),
    "two points": BezierSpline(WAYPOINTS[:2]),
    "waypoints": BezierSpline(WAYPOINTS),
    "circuit": BezierSpline(CIRCUIT),
    "waypoints in space": BezierSpline(GENERATOR.normal(size=(6, 3))),
    "placed eight": PlacedPath(Eight.gerono(0.1), INTO_YZ),
    "placed in space": PlacedPath(Bezier(GENERATOR.normal(size=(4, 3))), INTO_YZ),
}
CORNERED = {
    "square": Square(0.2),
    "polyline": Polyline(WAYPOINTS),
    "polyline in space": Polyline(GENERATOR.normal(size=(6, 3))),
    "polygon": Polyline(CIRCUIT),
}
ALL = SMOOTH | CORNERED
PLANAR = {name: path for name, path in SMOOTH.items() if path.dimension == 2}


def parametrized(paths):
    return pytest.mark.parametrize("path", paths.values(), ids=paths)


def exact_length(x_speed, y_speed, stops):
    with mp.workdps(30):
        return float(mp.quad(lambda u: mp.hypot(x_speed(u), y_speed(u)), stops))


@parametrized(ALL)
def test_shapes_of_answers(path):
    for s in (0.3 * path.length, np.linspace(0, path.length, 6).reshape(2, 3), []):
        shape = np.shape(s)
        assert path.position(s).shape == path.tangent(s).shape == (*shape, path.dimension)
        assert np.shape(path.curvature(s)) == shape
        if path.dimension == 2:
            assert np.shape(path.heading(s)) == shape


@parametrized(ALL)
def test_tangents_are_unit_and_the_same_one_by_one(path):
    s = np.linspace(-0.5, 1.5, 41) * path.length
    np.testing.assert_allclose(np.linalg.norm(path.tangent(s), axis=-1), 1, atol=1e-15)
    for asked in (path.position, path.tangent, path.curvature):
        np.testing.assert_allclose(asked(s), [asked(one) for one in s], rtol=1e-12, atol=1e-13)


@parametrized(ALL)
def test_closed_paths_go_round_and_open_ones_stay(path):
    s = np.linspace(0.03, 0.97, 17) * path.length
    there, back = path.position(path.length + s), path.position(s - path.length)
    if path.closed:
        np.testing.assert_allclose(path.position(path.length), path.position(0), atol=1e-14)
        np.testing.assert_allclose(there, path.position(s), atol=1e-13 * path.length)
        np.testing.assert_allclose(back, path.position(s), atol=1e-13 * path.length)
    else:
        assert (there == path.position(path.length)).all()
        assert (back == path.position(0)).all()


@parametrized(SMOOTH)
def test_tangent_and_curvature_are_derivatives(path):
    # Off the joints of splines, where the curvature jumps.
    s = (np.arange(200) + 0.391) / 200 * path.length
    h = 1e-4 * path.length
    steps = (-2, -1, 1, 2)
    weights = np.array([1, -8, 8, -1]) / (12 * h)
    slope = np.tensordot(weights, [path.position(s + k * h) for k in steps], axes=1)
    bend = np.tensordot(weights, [path.tangent(s + k * h) for k in steps], axes=1)
    scale = 1 + np.abs(path.curvature(s)).max() * path.length
    tangent = path.tangent(s)
    error = np.abs(slope - tangent).max(axis=-1)
    assert np.quantile(error, 0.9) < 1e-9 * scale
    if path.dimension == 2:
        curvature = tangent[:, 0] * bend[:, 1] - tangent[:, 1] * bend[:, 0]
    else:
        curvature = np.linalg.norm(bend, axis=-1)
    error = np.abs(curvature - path.curvature(s)) * path.length
    assert np.quantile(error, 0.9) < 1e-6 * scale


@parametrized(SMOOTH)
def test_arc_length_is_even(path):
    """Chords of equal arcs differ from them only by the curvature: s - s^3 k^2/24."""
    s = np.linspace(0, path.length, 5_001)
    chords = np.linalg.norm(np.diff(path.position(s), axis=0), axis=-1)
    assert chords.max() <= s[1] * (1 + 1e-9)
    middle = path.curvature((s[1:] + s[:-1]) / 2)
    lack = s[1] * (s[1] * middle) ** 2 / 24
    assert np.median(np.abs(s[1] - chords - lack)) < 1e-12 * path.length


@parametrized(PLANAR)
def test_heading_is_the_unwrapped_direction(path):
    s = np.linspace(0, 2.2 * path.length, 8_001)
    heading, tangent = path.heading(s), path.tangent(s)
    directions = np.stack([np.cos(heading), np.sin(heading)], axis=-1)
    np.testing.assert_allclose(directions, tangent, atol=1e-13)
    assert np.abs(np.diff(heading)).max() < 0.5


@parametrized(ALL)
def test_paths_survive_pickling(path):
    s = np.linspace(0, path.length, 7)
    copy = pickle.loads(pickle.dumps(path))
    np.testing.assert_array_equal(copy.position(s), path.position(s))


def test_circle():
    circle = Circle(2.0)
    assert circle.closed
    assert circle.length == 4 * pi
    np.testing.assert_array_equal(circle.position(0), [2, 0])
    np.testing.assert_array_equal(circle.tangent(0), [0, 1])
    np.testing.assert_allclose(circle.position(pi), [0, 2], atol=1e-15)
    np.testing.assert_allclose(circle.tangent(pi), [-1, 0], atol=1e-15)
    assert (circle.curvature([0, 1, 20]) == 0.5).all()
    np.testing.assert_allclose(circle.heading([0, pi, 8 * pi]), [pi / 2, pi, 4.5 * pi])


def test_square_has_corners():
    square = Square(4.0)
    assert square.length == 16.0
    corners = [[-2, -2], [2, -2], [2, 2], [-2, 2], [-2, -2]]
    np.testing.assert_array_equal(square.position([0, 4, 8, 12, 16]), corners)
    np.testing.assert_array_equal(square.position([1, 7, 9.5]), [[-1, -2], [2, 1], [0.5, 2]])
    before, after = 4 - 1e-12, 4 + 1e-12
    np.testing.assert_array_equal(square.tangent([before, 4, after]), [[1, 0], [0, 1], [0, 1]])
    np.testing.assert_array_equal(
        square.heading([0, before, 4, 17, -1]), [0, 0, pi / 2, 2 * pi, -pi / 2]
    )
    assert (square.curvature([0, 1, 4, 5]) == 0).all()


def test_polyline():
    polyline = Polyline([[0, 0], [3, 4], [3, 10]])
    assert polyline.length == 11.0
    assert not polyline.closed
    np.testing.assert_allclose(
        polyline.position([0, 2.5, 5, 8, 11]), [[0, 0], [1.5, 2], [3, 4], [3, 7], [3, 10]]
    )
    np.testing.assert_allclose(polyline.tangent([1, 5, 11]), [[0.6, 0.8], [0, 1], [0, 1]])
    np.testing.assert_allclose(polyline.heading([1, 6]), [atan2(4, 3), pi / 2])
    with pytest.raises(ValueError, match="read-only"):
        polyline.points[0] = 1


def test_polygon_turns_once_a_lap_either_way():
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]])
    for points, turn in ((corners, 2 * pi), (corners[::-1], -2 * pi)):
        polygon = Polyline(points)
        assert polygon.closed
        np.testing.assert_allclose(polygon.heading(4.5) - polygon.heading(0.5), turn)
        np.testing.assert_allclose(polygon.heading(-3.5) - polygon.heading(0.5), -turn)


@pytest.mark.parametrize(("a", "b"), ((3.0, 1.5), (0.1, 0.05), (1.0, 7.0), (5.0, 0.01)))
def test_length_of_eights(a, b):
    stops = [k * mp.pi / 8 for k in range(17)]
    exact = exact_length(lambda u: a * mp.cos(u), lambda u: 2 * b * mp.cos(2 * u), stops)
    assert Eight(a, b).length == pytest.approx(exact, rel=1e-12)


def test_eight():
    eight = Eight(3.0, 1.5)
    np.testing.assert_array_equal(eight.position(0), [0, 0])
    np.testing.assert_allclose(eight.tangent(0), [sqrt(0.5), sqrt(0.5)])
    np.testing.assert_allclose(eight.position(eight.length / 2), [0, 0], atol=1e-13)
    np.testing.assert_allclose(eight.position(eight.length / 4), [3, 0], atol=1e-13)
    assert eight.curvature(eight.length / 4) == pytest.approx(-1 / 3)
    np.testing.assert_allclose(eight.heading(eight.length), eight.heading(0), atol=1e-13)
    for k, heading in ((1, -pi / 2), (2, -1.25 * pi), (3, -pi / 2)):
        np.testing.assert_allclose(eight.heading(k * eight.length / 4), heading, atol=1e-12)


def test_gerono():
    a = 0.1
    eight = Eight.gerono(a)
    x, y = eight.position(np.linspace(0, eight.length, 50)).T
    np.testing.assert_allclose(x**4, a**2 * (x**2 - y**2), atol=1e-18)


def test_parabola():
    parabola = Bezier([[0, 0], [0.5, 0], [1, 1]])
    assert parabola.length == pytest.approx(sqrt(5) / 2 + asinh(2) / 4, rel=1e-14)
    x = np.linspace(0, 1, 11)
    s = x * np.sqrt(1 + 4 * x**2) / 2 + np.arcsinh(2 * x) / 4
    np.testing.assert_allclose(parabola.position(s), np.stack([x, x**2], axis=-1), atol=1e-14)
    np.testing.assert_allclose(parabola.heading(s), np.arctan(2 * x), atol=1e-14)
    np.testing.assert_allclose(parabola.curvature(s), 2 / (1 + 4 * x**2) ** 1.5, atol=1e-13)


def powers(controls):
    """Return the coefficients of 1, u, ..., u^n of each coordinate: n over j times D^j b_0."""
    degree = len(controls) - 1
    coordinates = []
    for column in np.transpose(controls):
        differences = [mp.mpf(float(x)) for x in column]
        coefficients = []
        for j in range(degree + 1):
            coefficients.append(comb(degree, j) * differences[0])
            differences = [b - a for a, b in pairwise(differences)]
        coordinates.append(coefficients)
    return coordinates


def polynomial(coefficients, u):
    return mp.fsum(c * u**j for j, c in enumerate(coefficients))


@pytest.mark.parametrize("degree", (1, 2, 3, 7))
def test_bezier_against_powers_and_quadrature(degree):
    controls = np.random.default_rng(degree).normal(size=(degree + 1, 3)).cumsum(axis=0)
    path = Bezier(controls)
    hodograph = degree * np.diff(controls, axis=0)
    with mp.workdps(30):
        curve, velocity = powers(controls), powers(hodograph)

        def speed(u):
            return mp.sqrt(mp.fsum(polynomial(axis, u) ** 2 for axis in velocity))

        stops = [mp.mpf(k) / 4 for k in range(5)]
        s = np.cumsum([0.0] + [float(mp.quad(speed, stops[k : k + 2])) for k in range(4)])
        points = np.array([[polynomial(axis, u) for axis in curve] for u in stops], dtype=float)
    assert path.length == pytest.approx(s[-1], rel=1e-12)
    np.testing.assert_allclose(path.position(s), points, atol=1e-12 * path.length)
    np.testing.assert_allclose(path.tangent(0), hodograph[0] / np.linalg.norm(hodograph[0]))
    np.testing.assert_allclose(
        path.tangent(path.length), hodograph[-1] / np.linalg.norm(hodograph[-1])
    )


def test_a_high_degree_keeps_its_digits():
    """Points of a circle's arc as exact controls: B(u) = sum of Bernstein terms in 60 digits."""
    degree = 120
    angles = np.linspace(0, 3, degree + 1)
    controls = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    path = Bezier(controls)
    middle = path.position(path.length / 2)
    with mp.workdps(60):
        exact = [
            float(
                mp.fsum(comb(degree, k) * mp.mpf(float(x)) for k, x in enumerate(column))
                / 2**degree
            )
            for column in controls.T
        ]
    np.testing.assert_allclose(middle, exact, atol=1e-13)


def barry_goldman(points, fraction):
    """Centripetal Catmull-Rom from the second of four points to the third, by its pyramid."""
    points = np.asarray(points)
    knots = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1) ** 0.5)])
    t = knots[1] + fraction * (knots[2] - knots[1])

    def mix(p, q, *, low, high):
        return (p * (high - t) + q * (t - low)) / (high - low)

    first = [mix(points[k], points[k + 1], low=knots[k], high=knots[k + 1]) for k in range(3)]
    second = [mix(first[k], first[k + 1], low=knots[k], high=knots[k + 2]) for k in range(2)]
    return mix(second[0], second[1], low=knots[1], high=knots[2])


@pytest.mark.parametrize("points", (WAYPOINTS, GENERATOR.normal(size=(6, 3))))
def test_spline_is_centripetal_catmull_rom(points):
    path = BezierSpline(points)
    samples = path.position(np.linspace(0, path.length, 10_001))
    inner = [
        barry_goldman(points[k : k + 4], fraction)
        for k in range(len(points) - 3)
        for fraction in (0.0, 0.2, 0.5, 0.9)
    ]
    for point in [*inner, *points]:
        nearest = np.argmin(np.linalg.norm(samples - point, axis=-1))
        neighbours = samples[max(nearest - 1, 0) : nearest + 2]
        along = neighbours[-1] - neighbours[0]
        along /= np.linalg.norm(along)
        gap = point - samples[nearest]
        assert np.linalg.norm(gap - (gap @ along) * along) < 1e-6
        assert np.linalg.norm(gap) <= path.length / 10_000


def test_closed_spline_is_smooth_at_its_seam():
    path = BezierSpline(CIRCUIT)
    assert path.closed
    np.testing.assert_allclose(path.position(0), CIRCUIT[0])
    h = 1e-9
    np.testing.assert_allclose(path.tangent(-h), path.tangent(h), atol=1e-7)
    np.testing.assert_allclose(path.heading(path.length), path.heading(0) + 2 * pi, atol=1e-12)


def test_two_points_make_a_straight_spline():
    path = BezierSpline([[1, 1, 1], [2, 3, 3]])
    assert path.length == pytest.approx(3, rel=1e-15)
    np.testing.assert_allclose(path.position([0, 1.5, 3]), [[1, 1, 1], [1.5, 2, 2], [2, 3, 3]])
    np.testing.assert_allclose(path.curvature([0, 1, 3]), 0, atol=1e-14)


def test_placing_a_circle_in_the_yz_plane():
    placed = PlacedPath(Circle(0.1), INTO_YZ)
    assert placed.closed and placed.dimension == 3
    assert placed.length == 0.2 * pi
    quarter = placed.length / 4
    np.testing.assert_allclose(
        placed.position([0, quarter]), [[0.4, 0.2, 0.6], [0.4, 0.1, 0.7]], atol=1e-15
    )
    np.testing.assert_allclose(placed.tangent([0, quarter]), [[0, 0, 1], [0, -1, 0]], atol=1e-15)
    assert (PlacedPath(Eight(1, 1), INTO_YZ).curvature([0.5, 1.0]) > 0).all()
