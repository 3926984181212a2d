"""Exponentials, logarithms and their derivatives against power series in 50 digits."""

import mpmath as mp
import numpy as np
import pytest

from kinetarium.spatial import coefficients, inverse_pose, se3, so3

ACCURACY = 1e-12
ANGLES = (
    0.0, 1e-12, 1e-6, 1e-3, 0.1, 0.5, np.pi / 4, 0.999999, 1.0, 1.000001, np.pi / 2, 1.999999, 2.0,
    3 * np.pi / 4, 3.0, np.pi - 1e-6,
)  # fmt: skip
AXES = ((1.0, 0.0, 0.0), (0.0, -0.6, 0.8), (2 / 7, -3 / 7, 6 / 7))
TRANSLATIONS = ((0.7, -1.1, 0.4), (-0.2, 0.9, 1.3), (1.0, 1.0, -1.0))


@pytest.fixture(autouse=True)
def fifty_digits():
    with mp.workdps(50):
        yield


CASES = [
    pytest.param(np.multiply(angle, axis), np.array(translation), id=f"{angle}-{index}")
    for angle in ANGLES
    for index, (axis, translation) in enumerate(zip(AXES, TRANSLATIONS, strict=True))
]

exactly = np.vectorize(mp.mpf, otypes=[object])
"""Turn floats into numbers of as many digits as are at work."""


def skew(w):
    x, y, z = exactly(w)
    o = mp.mpf(0)
    return np.array([[o, -z, y], [z, o, -x], [-y, x, o]])


def small_adjoint(v, w):
    return np.block([[skew(w), skew(v)], [exactly(np.zeros((3, 3))), skew(w)]])


def twist_matrix(v, w):
    return np.block([[skew(w), exactly(v)[:, np.newaxis]], [exactly(np.zeros((1, 4)))]])


def series(A, *, first):
    """Sum A^k/(k + first)! until nothing is left to add."""
    term = exactly(np.eye(len(A))) / mp.factorial(first)
    total, k = term, 1
    while np.abs(term).max() > mp.mpf(10) ** -48:
        term = term @ A / (k + first)
        total, k = total + term, k + 1
    return total


def inverse(A):
    return np.array((mp.matrix(A.tolist()) ** -1).tolist())


def batched(function, element):
    """Compute a function of a batch so large that a kernel does it, and return the last result."""
    return function(np.broadcast_to(element, (so3.MANY, *np.shape(element))))[-1]


def worst(computed, exact):
    return np.abs(exactly(computed) - exact).max()


@pytest.mark.parametrize(("w", "v"), CASES)
def test_so3(w, v):
    W = skew(w)
    R, J = series(W, first=0), series(W, first=1)
    assert worst(so3.exp(w), R) < ACCURACY
    assert worst(batched(so3.exp, w), R) < ACCURACY
    assert worst(so3.dexp(w), J) < ACCURACY
    assert worst(so3.dexp_inv(w), inverse(J)) < ACCURACY
    assert np.abs(so3.log(R.astype(float)) - w).max() < ACCURACY
    assert np.abs(batched(so3.log, R.astype(float)) - w).max() < ACCURACY


@pytest.mark.parametrize(("w", "v"), CASES)
def test_se3(w, v):
    X = series(twist_matrix(v, w), first=0)
    J = series(small_adjoint(v, w), first=1)
    V = np.concatenate([v, w])
    assert worst(se3.exp(V), X) < ACCURACY
    assert worst(batched(se3.exp, V), X) < ACCURACY
    assert worst(se3.dexp(V), J) < ACCURACY
    assert worst(se3.dexp_inv(V), inverse(J)) < ACCURACY
    assert np.abs(se3.log(X.astype(float)) - V).max() < ACCURACY
    assert np.abs(batched(se3.log, X.astype(float)) - V).max() < ACCURACY


@pytest.mark.parametrize("axis", AXES)
def test_log_of_half_turns(axis):
    n = exactly(axis)
    half_turn = (2 * np.outer(n, n) / (n @ n) - exactly(np.eye(3))).astype(float)
    w = so3.log(half_turn)
    np.testing.assert_allclose(np.abs(batched(so3.log, half_turn)), np.abs(w), atol=ACCURACY)
    assert min(np.abs(w - sign * np.pi * np.array(axis)).max() for sign in (1, -1)) < ACCURACY
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = half_turn, TRANSLATIONS[0]
    V = se3.log(X)
    np.testing.assert_array_equal(V[3:], w)
    assert np.abs(se3.exp(V) - X).max() < ACCURACY


@pytest.mark.parametrize("angle", (1e-12, 1e-6, 1e-3, 1.0, np.pi - 1e-6))
def test_dexp_is_the_derivative_of_exp(angle):
    """Fourth-order central differences of exp, taken on either side of it."""
    V = np.concatenate([TRANSLATIONS[0], angle * np.array(AXES[2])])
    h = 1e-3
    for direction in np.eye(6):
        steps = [se3.exp(V + k * h * direction) for k in (-2, -1, 1, 2)]
        slope = (steps[0] - 8 * steps[1] + 8 * steps[2] - steps[3]) / (12 * h)
        back = se3.inverse(se3.exp(V))
        for matrix, sign in ((slope @ back, 1), (back @ slope, -1)):
            twist = np.concatenate([matrix[:3, 3], so3.vee(matrix[:3, :3])])
            np.testing.assert_allclose(se3.dexp(sign * V) @ direction, twist, atol=1e-11)
        rotation_slope = slope[:3, :3] @ so3.exp(V[3:]).T
        np.testing.assert_allclose(
            so3.dexp(V[3:]) @ direction[3:], so3.vee(rotation_slope), atol=1e-11
        )


def exact_coefficients(t):
    sine, versine = mp.sin(t) / t, (1 - mp.cos(t)) / t**2
    remainder, g = (t - mp.sin(t)) / t**3, t / 2 * mp.cot(t / 2)
    return {
        coefficients.sine: sine,
        coefficients.versine: versine,
        coefficients.remainder: remainder,
        coefficients.cotangent: (1 - g) / t**2,
        coefficients.versine_slope: (sine - 2 * versine) / t**2,
        coefficients.remainder_slope: (versine - 3 * remainder) / t**2,
        coefficients.cotangent_slope: (1 / (2 * versine) + g - 2) / t**4,
    }


@pytest.mark.parametrize("angle", (1e-6, 1e-3, 0.1, 0.7, 0.9999, 1.0, 1.0001, 2.0, np.pi, 5.0, 6.2))
def test_coefficients_on_both_sides_of_the_switch(angle):
    x = np.float64(angle) ** 2
    for function, exact in exact_coefficients(mp.sqrt(mp.mpf(float(x)))).items():
        error = abs(mp.mpf(float(function(x))) - exact)
        assert error < 1e-15 * (1 + 20 * abs(exact)), function.__name__


def test_mixed_batches_equal_single_elements():
    V = np.array([np.concatenate([v, w]) for w, v in (case.values for case in CASES)]).reshape(
        len(ANGLES), len(AXES), 6
    )
    for function in (se3.exp, se3.dexp, se3.dexp_inv, se3.ad):
        one_by_one = [[function(one) for one in row] for row in V]
        np.testing.assert_allclose(function(V), one_by_one, rtol=0, atol=1e-15)
    X = se3.exp(V)
    np.testing.assert_allclose(se3.log(X), [[se3.log(one) for one in row] for row in X], atol=1e-15)


def test_kernels_of_large_batches_agree_with_numpy():
    """At angles from zero to a half turn, and of matrices that are no rotations."""
    rng = np.random.default_rng(0)
    angles = np.concatenate([[0.0, 1e-200, 1e-160], np.geomspace(1e-12, np.pi, 1997)])
    axes = rng.normal(size=(2000, 3))
    w = (angles / np.linalg.norm(axes, axis=1))[:, None] * axes
    V = np.concatenate([rng.normal(size=(2000, 3)), w], axis=1).reshape(20, 100, 6)
    X = se3.exp_reference(V)
    R = X[..., :3, :3]  # not contiguous
    pairs = [
        (so3.exp(V[..., 3:]), so3.exp_reference(V[..., 3:])),
        (se3.exp(V), X),
        (se3.exp(2 * V), se3.exp_reference(2 * V)),
        (so3.log(R), so3.log_reference(R)),
        (se3.log(X), se3.log_reference(X)),
        (se3.adjoint(X), se3.adjoint_reference(X)),
        (se3.inverse(X), inverse_pose(X)),
    ]
    for kernel, reference in pairs:
        np.testing.assert_allclose(kernel, reference, rtol=1e-14, atol=2e-15)
    np.testing.assert_allclose(so3.log(so3.exp(w[:1000])), w[:1000], rtol=1e-13, atol=0)
    random = rng.normal(size=(so3.MANY, 4, 4))
    np.testing.assert_allclose(so3.log(random[:, :3, :3]), so3.log_reference(random[:, :3, :3]))
    np.testing.assert_array_equal(se3.exp(np.full((so3.MANY, 6), np.nan))[0, :3], np.nan)
