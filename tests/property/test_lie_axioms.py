"""What holds for every rotation, pose, twist and wrench."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kinetarium.spatial import se3, so3

numbers = st.floats(-2.0, 2.0)
vectors = arrays(np.float64, 3, elements=numbers)
angles = st.one_of(st.floats(0.0, 3.14), st.sampled_from([1e-300, 1e-12, 1e-6, 1e-3, np.pi - 1e-6]))
wrenches = arrays(np.float64, 6, elements=st.floats(-100.0, 100.0))


@st.composite
def rotation_vectors(draw):
    axis = draw(vectors)
    size = np.linalg.norm(axis)
    return draw(angles) * (axis / size if size > 1e-3 else np.array([0.0, 0.0, 1.0]))


@st.composite
def twists(draw):
    return np.concatenate([draw(vectors), draw(rotation_vectors())])


poses = twists().map(se3.exp)
brisk = settings(deadline=None, max_examples=40)


def close(a, b, tolerance=1e-13):
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance)


@brisk
@given(rotation_vectors())
def test_so3_exp_and_log_are_inverse(w):
    R = so3.exp(w)
    close(R @ R.T, np.eye(3))
    close(np.linalg.det(R), 1)
    close(so3.log(R), w)
    close(so3.exp(so3.log(R)), R)
    close(so3.exp(-w), R.T)


@brisk
@given(vectors, vectors)
def test_hat_is_the_cross_product_and_vee_undoes_it(w, u):
    close(so3.hat(w) @ u, np.cross(w, u))
    np.testing.assert_array_equal(so3.vee(so3.hat(w)), w)


@brisk
@given(rotation_vectors())
def test_so3_dexp_and_its_inverse(w):
    close(so3.dexp(w) @ so3.dexp_inv(w), np.eye(3))
    close(so3.exp(w), np.eye(3) + so3.hat(w) @ so3.dexp(w))
    close(so3.dexp(w), so3.exp(w) @ so3.dexp(-w))


@brisk
@given(twists())
def test_se3_exp_and_log_are_inverse(V):
    X = se3.exp(V)
    close(se3.log(X), V, 1e-12)
    close(se3.exp(se3.log(X)), X)
    close(se3.exp(-V), se3.inverse(X))
    close(X @ se3.inverse(X), np.eye(4))


@brisk
@given(twists())
def test_se3_dexp_and_its_inverse(V):
    close(se3.dexp(V) @ se3.dexp_inv(V), np.eye(6), 1e-12)
    close(se3.adjoint(se3.exp(V)), np.eye(6) + se3.ad(V) @ se3.dexp(V), 1e-12)
    close(se3.dexp(V), se3.adjoint(se3.exp(V)) @ se3.dexp(-V), 1e-12)
    close(se3.dexp(V) @ V, V)


@brisk
@given(poses, poses)
def test_adjoint_is_a_homomorphism(X_AB, X_BC):
    close(se3.adjoint(X_AB @ X_BC), se3.adjoint(X_AB) @ se3.adjoint(X_BC), 1e-12)
    close(se3.adjoint(se3.inverse(X_AB)), np.linalg.inv(se3.adjoint(X_AB)), 1e-12)


@brisk
@given(poses, twists())
def test_adjoint_carries_motions_between_frames(X_AB, V_B):
    V_A = se3.adjoint(X_AB) @ V_B
    close(se3.exp(V_A), X_AB @ se3.exp(V_B) @ se3.inverse(X_AB), 1e-12)
    A = se3.adjoint(X_AB)
    close(se3.ad(V_A), A @ se3.ad(V_B) @ se3.adjoint(se3.inverse(X_AB)), 1e-12)


@brisk
@given(twists(), twists(), twists())
def test_ad_is_a_lie_bracket(a, b, c):
    close(se3.ad(a) @ b, -se3.ad(b) @ a)
    close(se3.ad(se3.ad(a) @ b), se3.ad(a) @ se3.ad(b) - se3.ad(b) @ se3.ad(a), 1e-12)


@brisk
@given(poses, twists(), wrenches)
def test_wrenches_keep_power_and_come_back(X_AB, V_B, F_A):
    F_B = se3.wrench_in_child(X_AB, F_A)
    close(F_B @ V_B, F_A @ (se3.adjoint(X_AB) @ V_B), 1e-10)
    close(se3.wrench_in_parent(X_AB, F_B), F_A, 1e-11)


@brisk
@given(poses, poses, st.floats(0.0, 0.9))
def test_interpolation_meets_both_ends_and_goes_evenly(X_WA, X_WB, fraction):
    close(se3.interpolate(X_WA, X_WB, fraction=0.0), X_WA)
    close(se3.interpolate(X_WA, X_WB, fraction=1.0), X_WB, 1e-11)
    between = se3.interpolate(X_WA, X_WB, fraction=[fraction, 0.5 * fraction])
    assert between.shape == (2, 4, 4)
    step = se3.inverse(between[1]) @ between[0]
    close(between[1] @ step, between[0], 1e-11)
    close(between[1], se3.interpolate(X_WA, between[0], fraction=0.5), 1e-11)
