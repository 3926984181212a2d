"""When a free docking is settled, and after which time: the closed forms of its loop.

On every axis the loop in contact is of second order; its roots give the settling time. Until the
faces are parallel only their rim touches, at a lever a: the force there is shared by advancing and
turning, and against a desired moment M the faces turn at s (F a - M)/(K_r + K R^2). The noise of
the sensor moves the contact within the bandwidth of the loop.
"""

from math import hypot
from typing import Any

import numpy as np

from kinetarium.control.admittance.law import contact_roots, noise_bandwidth, settling_time
from kinetarium.dynamics import RobotDynamics
from kinetarium.scene.docking import CENTER, CIRCUMRADIUS, SATELLITE_LENGTH, X_SB, DockingScene
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dock.press.config import Contact, DockCase
from kinetarium.studies.dock.press.contact import APOTHEM, turning_stiffness
from kinetarium.studies.dock.press.presets import (
    MOMENT_NOISE,
    PRESETS,
    STEP,
    WRENCH_GAIN,
    Preset,
    case_contact,
    case_delay,
    pressing_gains,
    wanted_wrench,
)

BAND = 0.05
"""Relative deviation within which a wrench is settled [-]."""
_SURE = 4.0
"""Standard deviations of noise within which a settled wrench stays [-]."""


def band(case: DockCase, docking: DockingScene) -> tuple[float, float]:
    """Return the deviations of force [N] and moment [N m] within which a wrench is settled.

    Each is 5 % of the desired one; that of the moment may be the user's. Where no moment is
    desired, it is what the noise of the sensor leaves.
    """
    wrench = wanted_wrench(case)
    force, moment = BAND * np.linalg.norm(wrench[:3]), BAND * np.linalg.norm(wrench[3:])
    within = case.moment_band or float(moment) or float(noise_bounds(case, docking)[1])
    return float(force), within


def noise_left(case: DockCase, docking: DockingScene) -> Array:
    """Return the standard deviations of contact force [N] and moment [N m] at rest, shape (2,).

    The samples of the sensor are independent, so that the density of their noise is its variance
    times a step. The law moves the body by the wrench about its centre, where the noise of a force
    has the lever of the sensor, and what friction bears the lever of the face.
    """
    preset = PRESETS[case.preset]
    noise = preset.noise or Preset().noise
    turned = noise * np.hypot(MOMENT_NOISE, np.array([0.0, X_SB[0, 3], X_SB[0, 3]]))
    density = STEP * np.square([noise] * 3 + turned.tolist())
    variance = np.zeros(2)
    for axis, loop in _loops(case, docking):
        left = density[axis] * noise_bandwidth(**loop)
        variance[axis // 3] += left
        if axis in (1, 2):
            variance[1] += left * (SATELLITE_LENGTH / 2) ** 2
    return np.sqrt(variance)


def noise_bounds(case: DockCase, docking: DockingScene) -> Array:
    """Return the bounds of force [N] and moment [N m] that noise hardly ever leaves, shape (2,)."""
    return np.asarray(_SURE * noise_left(case, docking))


def _loops(case: DockCase, docking: DockingScene) -> list[tuple[int, dict[str, Any]]]:
    """Return each axis on which the contact reacts, and its loop."""
    gains, compliance = pressing_gains(case), arm_compliance(docking)
    k, c = stiffnesses(case)
    return [
        (
            axis,
            {
                "D": float(gains.diagonal_D[axis]),
                "K": float(gains.diagonal_K[axis]),
                "s": WRENCH_GAIN,
                "stiffness": float(k[axis]),
                "damping": float(c[axis]),
                "delay": case_delay(case),
                "compliance": float(compliance[axis]),
                "from_reference": PRESETS[case.preset].from_reference,
            },
        )
        for axis in np.flatnonzero(k).tolist()
    ]


def stiffnesses(case: DockCase) -> tuple[Array, Array]:
    """Return stiffness and damping of the contact on each axis, shape (6,) each; 0 where free."""
    k, c = case_contact(case)
    elastic = case.contact is Contact.FACE
    across, along = turning_stiffness(elastic=elastic)
    if case.contact is Contact.PROBE:  # the socket guides it; it is pressed along its axis
        across = along = 0.0
    sticks = 1.0 if elastic and case.friction else 0.0
    share = np.array([1.0, sticks, sticks, along * sticks, across, across])
    return k * share, c * share


def settling_formula(case: DockCase, docking: DockingScene) -> float:
    """Return the settling time of a free docking by the closed form [s]; infinite if unstable.

    The slowest axis, after the alignment of the faces, the ramp of the wrench and the delay.
    """
    preset, gains, wrench = PRESETS[case.preset], pressing_gains(case), wanted_wrench(case)
    force, tilt = -float(wrench[0]), hypot(*case.misalign[4:]) if case.misalign else 0.0
    bands = np.repeat(band(case, docking), 3)
    slowest = 0.0
    for axis, loop in _loops(case, docking):
        roots = contact_roots(**loop)
        # The speed of the approach acts on the force; a tilted face meets with a moment F R.
        rate = loop["stiffness"] * case.speed if axis == 0 else 0.0
        start = abs(float(wrench[axis])) + (force * CIRCUMRADIUS if tilt and axis > 3 else 0.0)
        within = float(bands[axis])
        slowest = max(slowest, settling_time(roots, error=start / within, rate=rate / within))
    K, K_r = float(gains.diagonal_K[0]), float(gains.diagonal_K[4:].max())
    turned_by = force * APOTHEM - hypot(*wrench[4:])
    aligning = tilt * (K_r + K * CIRCUMRADIUS**2) / (WRENCH_GAIN * turned_by)
    return case_delay(case) + preset.ramp + aligning + slowest


def arm_compliance(docking: DockingScene) -> Array:
    """Return the compliance of both arms at the satellites [m/N, rad/(N m)], shape (6,)."""
    total = np.zeros(6)
    for arm in (docking.chaser, docking.target):
        J = RobotDynamics(arm.model).jacobian(arm.q_start, CENTER)
        total += np.diag(J / arm.stiffness @ J.T)
    return total
