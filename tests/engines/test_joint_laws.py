"""Laws of single joints that engines with implicit joints keep alike, in closed form."""

import numpy as np
import pytest

from engines.staging import ENGINES, WEIGHTLESS, H, driven, joint_state, rounding, with_joint
from kinetarium.engines.conformance.models import rotor
from kinetarium.model.robot import JointLimits

pytestmark = [
    pytest.mark.engine,
    pytest.mark.parametrize("start", ENGINES, indirect=True),
]


def test_damping_decays_as_backward_euler(start) -> None:
    model = with_joint(rotor(), damping=0.05)
    simulation = start(driven(model), gravity=WEIGHTLESS)
    simulation.reset(joint_state([0.0], [3.0]))
    simulation.step(np.zeros(1), 200)
    inertia = model.link("bar").inertia.moment[2, 2]
    expected = 3.0 / (1 + H * 0.05 / inertia) ** 200
    assert simulation.state().v[0] == pytest.approx(expected, rel=rounding(start, 1e-9))


def test_coulomb_friction_holds_and_then_gives(start) -> None:
    model = with_joint(rotor(), friction=0.1)
    inertia = model.link("bar").inertia.moment[2, 2]
    simulation = start(driven(model), gravity=WEIGHTLESS)
    simulation.step(np.array([0.09]), 1000)
    assert abs(simulation.state().q[0]) < 1e-5
    simulation.step(np.array([0.15]), 1000)
    assert simulation.state().v[0] == pytest.approx(0.05 / inertia, rel=1e-3)


def test_a_limit_does_not_throw_back(start) -> None:
    model = with_joint(rotor(), limits=JointLimits(-1.0, 0.5))
    simulation = start(driven(model), gravity=WEIGHTLESS)
    simulation.reset(joint_state([0.49], [5.0]))
    simulation.step(np.zeros(1), 10)
    assert simulation.state().q[0] == pytest.approx(0.5, abs=6e-3)
    assert abs(simulation.state().v[0]) < 0.02 * 5.0
