"""The two-link arm: closed form against Pinocchio and the published numbers."""

import numpy as np
import pytest

from kinetarium.dynamics import RobotDynamics, TwoLink
from kinetarium.model.robot import Inertia, Joint, JointType, Link, RobotModel, Source
from kinetarium.spatial.arrays import frozen
from kinetarium.spatial.rotation import pose


def two_link_model() -> RobotModel:
    arm = TwoLink()

    def link(name: str, number: int) -> Link:
        moment = np.diag([0.0151074, arm.moments[number], arm.moments[number]])
        center = frozen([arm.centers[number], 0, 0])
        return Link(name, Inertia(arm.masses[number], center, frozen(moment)))

    def joint(name: str, parent: str, child: str, x: float) -> Joint:
        axis = frozen([0, 1, 0])
        return Joint(name, JointType.REVOLUTE, parent, child, pose([x, 0, 0]), axis)

    return RobotModel(
        "two-link",
        links=(Link("base"), link("upper_arm", 0), link("forearm", 1)),
        joints=(
            joint("shoulder", "base", "upper_arm", 0.0),
            joint("elbow", "upper_arm", "forearm", arm.length),
        ),
        source=Source("two-link", "urdf", ""),
    )


@pytest.mark.parametrize("arm", [TwoLink(), RobotDynamics(two_link_model())])
def test_published_numbers(arm: TwoLink | RobotDynamics) -> None:
    q = np.array([0.0, 0.0665])
    np.testing.assert_allclose(arm.mass_matrix(q), [[1.970, 0.433], [0.433, 0.192]], atol=5e-4)
    np.testing.assert_allclose(arm.gravity_forces(q), [-38.106, -5.567], atol=5e-4)


def test_closed_form_is_pinocchio_at_random_states() -> None:
    arm, dynamics = TwoLink(), RobotDynamics(two_link_model())
    rng = np.random.default_rng(1)
    worst = 0.0
    for _ in range(1000):
        q, v, a = rng.uniform(-np.pi, np.pi, 2), rng.uniform(-4, 4, 2), rng.uniform(-9, 9, 2)
        M, g = arm.mass_matrix(q), arm.gravity_forces(q)
        Cv, tau = arm.coriolis_matrix(q, v) @ v, arm.inverse_dynamics(q, v, a)
        scale = 1 + np.abs(tau).max()
        for mine, theirs in [
            (M, dynamics.mass_matrix(q)),
            (g, dynamics.gravity_forces(q)),
            (Cv, dynamics.coriolis_matrix(q, v) @ v),
            (Cv, dynamics.bias(q, v) - dynamics.gravity_forces(q)),
            (tau, dynamics.inverse_dynamics(q, v, a)),
        ]:
            worst = max(worst, np.abs(mine - theirs).max() / scale)
    assert worst <= 1e-12


def test_mass_matrix_changes_as_its_coriolis_matrix_says() -> None:
    arm = TwoLink()
    rng = np.random.default_rng(2)
    q, v, h = rng.uniform(-np.pi, np.pi, 2), rng.uniform(-4, 4, 2), 1e-6
    M_dot = (arm.mass_matrix(q + h * v) - arm.mass_matrix(q - h * v)) / (2 * h)
    C = arm.coriolis_matrix(q, v)
    np.testing.assert_allclose(M_dot, C + C.T, atol=1e-8)
