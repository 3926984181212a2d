"""The balance of momentum behind force-torque sensors: rest, free fall, contacts and pushes."""

import numpy as np
import pytest

from kinetarium.engines.base.momentum_balance import Load, Momentum
from kinetarium.engines.base.simulation import AppliedWrench
from kinetarium.engines.conformance.models import four_bar, sensed_load
from kinetarium.engines.protocol import NO_CONTACTS, CapabilityError, Contacts
from kinetarium.scene import PlacedRobot, Scene, WrenchSensor, ground
from kinetarium.spatial.rotation import pose, rotation_about

H, G = 1e-3, 9.81
SCENE = Scene((PlacedRobot("robot", sensed_load()),), (ground(),))
WRIST = WrenchSensor("ft", "robot", "sensor")
MASSES = np.array([2.0])
X_WS = pose((0.3, 0.0, 1.0), rotation_about((0.0, 0.0, 1.0), np.pi / 2))
CENTER = np.array([[0.3, 0.2, 1.0]])


def moving(velocity, spin=(0.0, 0.0, 0.0)):
    """A load of 2 kg and 0.01 kg m^2 about every axis."""
    return Momentum(X_WS, CENTER, 2.0 * np.array([velocity]), 0.01 * np.array([spin]))


def read(before, after, *, contacts=NO_CONTACTS, wrenches=()):
    load = Load.of(WRIST, SCENE, timestep=H, engine="mine")
    return load.wrench(before, after, masses=MASSES, contacts=contacts, wrenches=wrenches)


def test_weight_at_rest_and_nothing_in_free_fall() -> None:
    still = moving((0.0, 0.0, 0.0))
    # 0.2 m out along world y, which is the sensor's x: the weight turns about its y.
    assert read(still, still) == pytest.approx([0, 0, -2 * G, 0, 0.2 * 2 * G, 0], abs=1e-12)
    assert read(still, moving((0.0, 0.0, -G * H))) == pytest.approx(np.zeros(6), abs=1e-9)


def test_spinning_up_is_felt_as_a_torque() -> None:
    still = moving((0.0, 0.0, 0.0))
    spun = read(still, moving((0.0, 0.0, 0.0), (0.0, 0.0, 0.5)))
    assert spun - read(still, still) == pytest.approx([0, 0, 0, 0, 0, -0.01 * 0.5 / H])


def test_contacts_and_wrenches_on_the_load_alone_count() -> None:
    still = moving((0.0, 0.0, 0.0))
    rest, up = read(still, still), np.array([[0.0, 0.0, 2 * G]])
    load, other = (SCENE.solids.index(f"robot/{link}") for link in ("load", "arm"))
    floor = SCENE.solids.index("ground")
    for pair, share in (((load, floor), 1.0), ((floor, load), -1.0), ((other, floor), 0.0)):
        touch = Contacts(np.array([pair], np.int32), CENTER, up / np.linalg.norm(up), H, up)
        assert read(still, still, contacts=touch) == pytest.approx((1 - share) * rest, abs=1e-9)
    push = np.array([0.0, 0.0, 2 * G, 0.0, 0.0, 3.0])
    felt = read(still, still, wrenches=[AppliedWrench("robot/load", push, CENTER[0])])
    assert felt == pytest.approx([0, 0, 0, 0, 0, 3.0], abs=1e-9)
    assert np.array_equal(
        read(still, still, wrenches=[AppliedWrench("robot/arm", push, CENTER[0])]), rest
    )


def test_a_loop_around_the_sensor_is_refused() -> None:
    scene = Scene((PlacedRobot("robot", four_bar()),))
    with pytest.raises(CapabilityError, match=r"'mine' .*joint 'pin' inside a closed loop"):
        Load.of(WrenchSensor("ft", "robot", "pin"), scene, timestep=H, engine="mine")
