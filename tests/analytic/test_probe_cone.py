"""Probe and cone without an engine: capture, latch, and wedging where Whitney's formula says so."""

from dataclasses import replace

import numpy as np
import pytest

from kinetarium.control.admittance.law import AdmittanceGains, AdmittanceSE3
from kinetarium.scene.docking import SATELLITE_LENGTH
from kinetarium.spatial import se3
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_about
from kinetarium.studies.dock.press.probe import SHAPE, ProbeContact, ProbeShape

DT = 1e-4
STIFFNESS = 1e6
"""Of each contact [N/m]."""
PUSH = 1.0
"""Small against the stiffness, so that wedged contacts do not yield [N]."""


def insert(
    *,
    friction: float,
    tilt: float,
    offset: float,
    shape: ProbeShape = SHAPE,
    between: tuple[float, float] = (1e-4, np.inf),
) -> ProbeContact:
    """Push a probe that follows the admittance law, and return its contact at the end.

    Args:
        between: Depths of its start and of its end, unless it latches before [m].
    """
    contact = ProbeContact(shape, stiffness=STIFFNESS, damping=300.0, friction=friction)
    target = pose((SATELLITE_LENGTH, 0.0, 0.0), rotation_about((0.0, 0.0, 1.0), np.pi))
    tip = pose((-SATELLITE_LENGTH / 2 - shape.length, 0.0, 0.0))
    start = SATELLITE_LENGTH / 2 + between[0]
    X = pose((start, offset, 0.0), rotation_about((0.0, 0.0, 1.0), tilt)) @ tip
    D, K = [0.5] * 3 + [0.02] * 3, [10.0] * 3 + [0.4] * 3
    law = AdmittanceSE3(AdmittanceGains(D, K), timestep=DT)
    wanted, V_C, rest = np.array([-PUSH, 0, 0, 0, 0, 0]), np.zeros(6), np.zeros(6)
    X_D, best, since = X.copy(), -1.0, 0
    for step in range(round(3.0 / DT)):
        contact.forces(X, target, V_C=V_C, V_T=rest, dt=DT)
        if contact.is_latched or contact.depth > between[1]:
            break
        if contact.depth > best + 1e-5:
            best, since = contact.depth, step
        elif (step - since) * DT > 0.15:
            break  # it is stuck
        F_D = se3.adjoint(inverse_pose(X) @ X_D).T @ wanted
        V = law.step(X, X_WD=X_D, V_D=rest, F_B=contact.F_B, F_D=F_D)
        V_C = np.concatenate([X[:3, :3] @ V[:3], X[:3, :3] @ V[3:]])
        X = X @ se3.exp(V * DT)
    return contact


def test_the_cone_centres_a_probe_10_mm_beside_it_and_latches() -> None:
    contact = insert(friction=0.2, tilt=0.0, offset=0.010)
    assert contact.is_latched
    assert contact.depth >= SHAPE.mouth + SHAPE.latch


def test_a_latch_pulls_back_and_a_bottom_pushes() -> None:
    contact = ProbeContact(SHAPE, stiffness=1e5, damping=0.0, friction=0.0)
    target = pose((1.0, 0.0, 0.0), rotation_about((0.0, 0.0, 1.0), np.pi))
    face = 1.0 - SATELLITE_LENGTH / 2

    def at(depth: float) -> float:
        X = pose((face + depth - SHAPE.length - SATELLITE_LENGTH / 2, 0.0, 0.0))
        return float(contact.forces(X, target, V_C=np.zeros(6), V_T=np.zeros(6), dt=DT)[0][0])

    catch, bottom = SHAPE.mouth + SHAPE.latch, SHAPE.mouth + SHAPE.socket
    assert at(catch - 1e-3) == 0.0 and not contact.is_latched
    assert at(bottom + 1e-3) == pytest.approx(-100.0) and contact.is_latched
    assert at(catch - 1e-3) == pytest.approx(100.0)


@pytest.mark.parametrize("clearance", [0.02, pytest.param(0.03, marks=pytest.mark.slow)])
def test_a_tilted_probe_wedges_above_the_friction_of_the_two_point_formula(
    clearance: float,
) -> None:
    """At a tilt of (D - d)/(mu d) both contacts come into each other's friction cones."""
    shape, tilt = replace(SHAPE, clearance=clearance), np.radians(3.0)
    expected, both = clearance / tilt, clearance * 2 * shape.radius / tilt
    assert shape.wedging_tilt(expected) == pytest.approx(tilt)

    # Pressed in by 50 N on either side, as by an arm that does not yield; then free to turn.
    squeezed = 50.0 / STIFFNESS
    tilted = tilt + 2 * squeezed / both

    def enters(friction: float) -> bool:
        between = (shape.mouth + both, shape.mouth + 1.1 * both)
        probe = insert(
            friction=friction, tilt=tilted, offset=0.5 * both * tilted, shape=shape, between=between
        )
        return probe.depth > between[1]

    low, high = 0.7 * expected, 1.4 * expected
    assert enters(low) and not enters(high)
    while high / low > 1.1:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if enters(middle) else (low, middle)
    assert (low * high) ** 0.5 == pytest.approx(expected, rel=0.1)
