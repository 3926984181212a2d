"""Probes: what a recording keeps beside the state."""

import pytest

from kinetarium import Scene, run
from kinetarium.model.robot import Box
from kinetarium.rollout.loop import ContactProbe
from kinetarium.scene import free_body, ground

pytestmark = pytest.mark.engine


def _resting() -> Scene:
    size = (0.1, 0.1, 0.1)
    near = free_body("near", Box(size), mass=2.0, position=(0.0, 0.0, 0.05))
    far = free_body("far", Box(size), mass=5.0, position=(1.0, 0.0, 0.05))
    return Scene(bodies=(ground(), near, far))


def test_the_contacts_of_two_solids_carry_their_weight_alone() -> None:
    probes = [ContactProbe("near", "ground"), ContactProbe("ground", "far")]
    recording = run(_resting(), engine="mujoco", duration=0.5, probes=probes)
    channel = recording.channels["contact/near"]
    assert channel.columns == ("force", "depth", "number")
    assert channel.values.shape == (51, 3)
    assert channel.values[-1, 0] == pytest.approx(2.0 * 9.81, rel=1e-3)
    assert recording["contact/ground"][-1, 0] == pytest.approx(5.0 * 9.81, rel=1e-3)
    assert 0 < channel.values[-1, 1] < 2e-3
    assert channel.values[-1, 2] == 4


def test_solids_apart_have_no_contact() -> None:
    recording = run(
        _resting(), engine="mujoco", duration=0.05, probes=[ContactProbe("near", "far")]
    )
    assert not recording["contact/near"].any()
