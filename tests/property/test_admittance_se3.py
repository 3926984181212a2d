"""What holds for the admittance law at every pose, wrench and gain."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kinetarium.control import AdmittanceGains, AdmittanceSE3, AntiWindup, Form
from kinetarium.control.admittance.law import paper_law
from kinetarium.errors import KinetariumError
from kinetarium.spatial import kernels as se3_kernel
from kinetarium.spatial import se3

brisk = settings(deadline=None, max_examples=40)
six = arrays(np.float64, 6, elements=st.floats(-2.0, 2.0))
angles = st.one_of(st.floats(0.0, 3.1), st.sampled_from([1e-9, 1e-6, 1e-3, np.pi - 1e-6]))


@st.composite
def twists(draw):
    V = draw(six)
    size = np.linalg.norm(V[3:])
    axis = V[3:] / size if size > 1e-3 else np.array([0.6, 0.0, 0.8])
    return np.concatenate([V[:3], draw(angles) * axis])


def close(a, b, tolerance=1e-12):
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance)


@brisk
@given(twists(), twists())
def test_kernels_give_what_spatial_defines(V, U):
    X, Y = se3.exp(V), se3.exp(U)
    close(se3_kernel.exp(V), X)
    close(se3.exp(se3_kernel.log(X)), X)
    close(se3_kernel.adjoint(X), se3.adjoint(X))
    close(se3_kernel.between(X, Y), se3.inverse(X) @ Y)
    close(se3_kernel.moved(X, U), X @ Y)
    if np.linalg.norm(V[3:]) < 3.1:
        close(se3_kernel.log(X), se3.log(X))


@brisk
@given(twists(), six, six, six, st.floats(1.0, 1000.0), st.floats(0.0, 5000.0))
def test_both_forms_of_the_law_agree(error, V_D, F_B, F_D, D, K):
    X_WB, X_WD = se3.exp(np.array([0.3, -0.1, 0.2, 0.1, 0.4, -0.2])), np.eye(4)
    X_WD = X_WB @ se3.exp(error)
    scale = 1.0 + K / D
    twist = [
        AdmittanceSE3(AdmittanceGains(D, K), timestep=1e-3, form=form).step(
            X_WB, X_WD=X_WD, V_D=V_D, F_B=100 * F_B, F_D=100 * F_D
        )
        for form in Form
    ]
    close(twist[0] / scale, twist[1] / scale)


@brisk
@given(twists(), six, st.integers(0, 2**32 - 1))
def test_power_is_that_of_the_point_forces_in_both_frames(error, V_A, seed):
    """Forces on points of a body do work at its twist: as points, in frame A and in frame B."""
    X_AB = se3.exp(error)
    p_A, f_A = np.random.default_rng(seed).normal(size=(2, 5, 3))
    power = np.sum(f_A * (V_A[:3] + np.cross(V_A[3:], p_A)))
    F_A = np.concatenate([f_A.sum(axis=0), np.cross(p_A, f_A).sum(axis=0)])
    V_B = se3.adjoint(se3.inverse(X_AB)) @ V_A
    F_B = se3.wrench_in_child(X_AB, F_A)
    scale = 1 + np.linalg.norm(V_B) * np.linalg.norm(F_B)
    close(F_A @ V_A / scale, power / scale)
    close(F_B @ V_B / scale, power / scale)


@brisk
@given(six, six)
def test_relative_twist_is_the_derivative_of_the_error(V, V_des):
    """Equation 8: T~^-1 dT~/dt = V_des - Ad(T~^-1) V, by central differences."""
    X_WB, X_WD = se3.exp(0.3 * V_des), se3.exp(0.2 * V)
    h = 1e-5

    def error_at(t):
        return se3.inverse(X_WB @ se3.exp(t * V)) @ (X_WD @ se3.exp(t * V_des))

    seen = se3.log(se3.inverse(error_at(-h)) @ error_at(h)) / (2 * h)
    close(seen, V_des - se3.adjoint(se3.inverse(error_at(0.0))) @ V, 1e-8)
    # Equation 9: the rates of l are dexp(-l)^-1 of that, and with +l they are not.
    error = se3.log(error_at(0.0))
    rates = (se3.log(error_at(h)) - se3.log(error_at(-h))) / (2 * h)
    close(rates, se3.dexp_inv(-error) @ seen, 1e-7)


@pytest.mark.parametrize("angle", [1e-9, 1e-7, 1e-5, 1e-4, 1e-3, 0.03, 0.4, 1.0, 2.5, np.pi - 1e-6])
def test_dexp_is_exact_at_every_angle(angle):
    """Against the series of ad^k/(k + 1)! in 40 digits."""
    V = np.array([0.7, -1.1, 0.4, *(angle * np.array([2 / 7, -3 / 7, 6 / 7]))])
    with mp.workdps(40):
        A = mp.matrix(se3.ad(-V).tolist())
        term = total = mp.eye(6)
        for k in range(1, 60):
            term = term * A / (k + 1)
            total = total + term
        exact = np.array(total.tolist(), dtype=object)
        error = np.abs(np.vectorize(mp.mpf, otypes=[object])(se3.dexp(-V)) - exact).max()
        back = np.array((total**-1).tolist(), dtype=object)
        inverse = np.abs(np.vectorize(mp.mpf, otypes=[object])(se3.dexp_inv(-V)) - back).max()
    assert error < 1e-12
    assert inverse < 1e-12


def test_gains_are_a_virtual_mass_and_damper():
    """(D/s) dV/dt = F - (K/s) V: with both poses on the body, a push of 30 N on 600 kg."""
    law = AdmittanceSE3(AdmittanceGains(300.0, 0.0), timestep=1e-3)
    F = np.array([30.0, 0, 0, 0, 0, 0])
    X, zero = np.eye(4), np.zeros(6)
    for _ in range(1000):
        V = law.step(X, X_WD=X, V_D=zero, F_B=F, F_D=zero)
    close(V, [30.0 / 600.0, 0, 0, 0, 0, 0])


def test_taking_over_and_changing_gains_make_no_bump():
    law = AdmittanceSE3(AdmittanceGains(300.0, 200.0), timestep=1e-3)
    V = np.array([0.066, 0, 0, 0, 0.01, 0])
    X, zero = np.eye(4), np.zeros(6)
    law.take_over(V)
    close(law.step(X, X_WD=X, V_D=zero, F_B=zero, F_D=zero), V)
    X_WD = se3.exp([0.02, 0, 0.01, 0.1, 0, 0])
    before = law.step(X, X_WD=X_WD, V_D=zero, F_B=zero, F_D=zero)
    law.change_gains(AdmittanceGains(100.0, 4000.0))
    close(law.step(X, X_WD=X_WD, V_D=zero, F_B=zero, F_D=zero), before)


@pytest.mark.parametrize("policy", AntiWindup)
def test_anti_windup(policy):
    law = AdmittanceSE3(
        AdmittanceGains(300.0, 200.0, impulse_limit=50.0), timestep=1e-3, anti_windup=policy
    )
    X, zero, F_D = np.eye(4), np.zeros(6), np.array([-500.0, 0, 0, 0, 0, 0])
    for _ in range(1000):
        law.step(X, X_WD=X, V_D=zero, F_B=zero, F_D=F_D, contact=False)
    expected = {AntiWindup.GATED: 0.0, AntiWindup.CLAMPED: -50.0, AntiWindup.NONE: -250.0}
    assert law.impulse[0] == pytest.approx(expected[policy])
    assert law.bounded == (policy is not AntiWindup.GATED)


def test_an_angle_near_pi_is_noticed():
    law = AdmittanceSE3(AdmittanceGains(300.0, 200.0), timestep=1e-3)
    zero = np.zeros(6)
    for angle, near in ((3.0, False), (3.12, True)):
        law.step(np.eye(4), X_WD=se3.exp([0, 0, 0, angle, 0, 0]), V_D=zero, F_B=zero, F_D=zero)
        assert law.near_half_turn is near


@pytest.mark.parametrize(
    "gains", [{"D": 0.0}, {"K": -1.0}, {"wrench_gain": 0.0}, {"D": [1.0, 2.0]}]
)
def test_gains_that_make_no_sense_are_refused(gains):
    with pytest.raises(KinetariumError):
        AdmittanceGains(**{"D": 300.0, "K": 200.0, **gains})


def test_the_paper_uses_minus_lambda():
    """With dexp(+l) in place of dexp(-l) the chain would not cancel."""
    error, impulse = np.array([0.3, 0.1, -0.2, 0.5, -0.4, 0.8]), np.arange(6.0)
    D, K = np.arange(100.0, 700.0, 100.0), np.full(6, 200.0)
    X = se3.exp(error)
    right = se3.adjoint(X) @ -((impulse - K * error) / D)
    close(paper_law(X, np.zeros(6), impulse=impulse, D=D, K=K), right)
    turned = se3.dexp(error) @ (se3.dexp_inv(-error) @ ((impulse - K * error) / D))
    assert np.abs(se3.adjoint(X) @ -turned - right).max() > 0.1
