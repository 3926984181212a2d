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
DAMPING = 2000.0
"""Of each contact [N s/m], more than the critical one of the 1 kg that the law emulates: the
formula is quasi-static, and a release that rings frees a probe at up to 5 % more friction."""
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
    contact = ProbeContact(shape, stiffness=STIFFNESS, damping=DAMPING, friction=friction)
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

    low, high = 0.8 * expected, 1.25 * expected
    assert enters(low) and not enters(high)
    while high / low > 1.03:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if enters(middle) else (low, middle)
    assert 0.9 * expected < low and high < 1.1 * expected


def is_wedged_in_mujoco(friction: float, *, tilt: float, clearance: float) -> bool:
    """Push a flat probe between two walls, and return whether it stays where it was pressed in.

    The contacts are MuJoCo's own: the corner of the tip on one wall, the corner of the mouth on the
    side of the probe, both rounded by 0.2 mm and pressed together by 20 um at the start.
    """
    import mujoco

    d, r, pressed = 2 * SHAPE.radius, 2e-4, 2e-5
    D = d * (1 + clearance)
    deep = (D - d / np.cos(tilt)) / np.tan(tilt)
    pair = f'condim="3" friction="{friction} {friction}" solref="-1e7 -3e3" solimp=".95 .95 .001"'
    model = mujoco.MjModel.from_xml_string(f"""
    <mujoco>
      <option timestep="1e-4" gravity="0 0 0" cone="elliptic" impratio="100" tolerance="1e-12"
              noslip_iterations="50" iterations="200"/>
      <default><geom contype="0" conaffinity="0"/></default>
      <worldbody>
        <geom name="wall" type="box" pos="{D / 2 + 0.1} 0 -0.2" size="0.1 0.05 0.2"/>
        <geom name="mouth" type="sphere" pos="{-D / 2 - r} 0 {-r}" size="{r}"/>
        <body name="probe">
          <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
          <joint type="hinge" axis="0 -1 0"/>
          <geom name="side" type="box" pos="0 0 0.1" size="{d / 2} 0.02 0.1" mass="1"/>
          <geom name="tip" type="sphere" pos="{d / 2 - r} 0 {r}" size="{r}" mass="1e-6"/>
        </body>
      </worldbody>
      <contact>
        <pair geom1="tip" geom2="wall" {pair}/>
        <pair geom1="mouth" geom2="side" {pair}/>
      </contact>
    </mujoco>""")
    data = mujoco.MjData(model)

    def place(angle: float) -> float:
        """Place the tip's corner at its depth in the wall; return how deep the mouth is."""
        corner = d / 2 * np.array([np.cos(angle), np.sin(angle)])
        data.qpos[:] = [D / 2 + pressed - corner[0], -deep - corner[1], angle]
        mujoco.mj_forward(model, data)
        found = [c.dist for c in data.contact if {*c.geom} == mouth]
        return -found[0] if found else 0.0

    mouth = {model.geom("mouth").id, model.geom("side").id}
    low, high = tilt - 0.01, tilt + 0.01
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if place(middle) < pressed else (low, middle)
    place(high)
    start = float(data.qpos[1])
    data.qfrc_applied[1] = -0.5 * PUSH
    for _ in range(5000):
        mujoco.mj_step(model, data)
        if abs(data.qpos[1] - start) > 0.05 * deep:
            return False
    return True


def wedging_friction(tilt: float, clearance: float) -> float:
    """Return the friction from which a flat probe wedges, at any tilt.

    The mouth presses along the normal of the probe's side, which the tilt turns towards the
    opening: the line between both contacts, tan(phi) = l/D, must be within mu of both normals.
    """
    line = (1 + clearance - 1 / np.cos(tilt)) / np.tan(tilt) / (1 + clearance)
    return float(np.tan(np.arctan(line) + tilt))


@pytest.mark.engine
@pytest.mark.parametrize(("tilt_deg", "clearance"), [(1.0, 0.006), (3.0, 0.02), (3.0, 0.03)])
def test_it_wedges_in_the_contacts_of_mujoco_too(tilt_deg: float, clearance: float) -> None:
    """Within 3 % of the exact friction, and so within 10 % of the two-point formula."""
    tilt = np.radians(tilt_deg)
    exact = wedging_friction(tilt, clearance)
    assert exact == pytest.approx(clearance / tilt, rel=0.1)
    for factor in (0.97, 1.03):
        wedged = is_wedged_in_mujoco(factor * exact, tilt=tilt, clearance=clearance)
        assert wedged == (factor > 1), factor
