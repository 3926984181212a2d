"""Free dockings: any wrench, gains, misalignment and speed; what follows, and what cannot work.

On every axis the loop in contact is of second order; its roots give the settling time. A rotation
has the stiffness of the face about its centre, k r^2, and gains that are r^2 those of the forces
settle as fast. Until the faces are parallel only their rim touches, at a lever a: the force there
is shared by advancing and turning, and against a desired moment M the faces turn at
s (F a - M)/(K_r + K R^2).
"""

from collections.abc import Sequence
from math import hypot, isfinite
from typing import Any

import numpy as np

from kinetarium.batch.study import ConfigError
from kinetarium.control.admittance.law import (
    contact_roots,
    critical_delay,
    noise_bandwidth,
    settling_time,
)
from kinetarium.control.admittance.sensing import contact_point
from kinetarium.control.arm.clik import LIMIT_MARGIN
from kinetarium.dynamics import RobotDynamics
from kinetarium.ranges import quantity
from kinetarium.scene.docking import (
    CENTER,
    CIRCUMRADIUS,
    SATELLITE_LENGTH,
    X_SB,
    DockingArm,
    DockingScene,
)
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dock.press.arms import (
    CONTACT_SPEED,
    DISTANCE,
    PLACES,
    joint_load,
    joint_path,
    path_scale,
    reaction,
)
from kinetarium.studies.dock.press.config import (
    MISALIGNMENT,
    Contact,
    DockCase,
    DockConfig,
    ForceCase,
    PresetName,
)
from kinetarium.studies.dock.press.contact import APOTHEM, turning_stiffness
from kinetarium.studies.dock.press.presets import (
    MOMENT_NOISE,
    PRESETS,
    STEP,
    WRENCH_GAIN,
    Preset,
    case_contact,
    case_delay,
    damper,
    desired_wrench,
    pressing_gains,
    wanted_wrench,
)

BAND = 0.05
"""Relative deviation within which a wrench is settled [-]."""
_SURE = 4.0
"""Standard deviations of noise within which a settled wrench stays [-]."""
SLOWEST = 8.0
"""Longest settling time that is not refused [s]."""
HEAVIEST = 0.6
"""Maximum ratio of a payload to its virtual mass [-]; from 1 on the loop diverges."""
_COULOMB = 0.8
"""Greatest share of the limit of friction that is desired [-]."""
MOST_INERTIA = 0.0375
"""Greatest moment of inertia of a satellite over its mass [m^2]."""
_AXES = ("x", "y", "z", "about x", "about y", "about z")


def is_free(config: DockConfig) -> bool:
    """Return whether a config has a wrench, gains, a misalignment or a speed of its own."""
    return bool(
        config.wrench
        or config.gains_d
        or config.gains_k
        or config.contact_d
        or config.contact_k
        or config.misalign
        or config.speed
        or config.contact is Contact.PROBE
    )


def free_values(config: DockConfig, *, case: ForceCase, preset: PresetName) -> dict[str, Any]:
    """Return what a free docking has besides its preset, as fields of its case.

    Raises:
        KinetariumError: If a list has the wrong length, or a value is outside its range.
    """
    wrench = config.wrench or tuple(desired_wrench(case).tolist())
    if len(wrench) != 6:
        raise ConfigError(f"--wrench needs six numbers FX FY FZ MX MY MZ, not {len(wrench)}")
    across, _ = turning_stiffness(elastic=config.contact is Contact.FACE)
    own = (PRESETS[preset].D, damper(case, preset))
    # A virtual inertia is never lighter, for its payload, than the virtual mass.
    inert = max(across, MOST_INERTIA)
    gains = {
        "gains_d": _gains("--gains-d", config.gains_d, own[0], inert),
        "gains_k": _gains("--gains-k", config.gains_k, own[1], across),
    }
    later: dict[str, tuple[float, ...]] = {"contact_d": (), "contact_k": ()}
    if config.contact_d or config.contact_k:
        for name, of_r in (("d", inert), ("k", across)):
            given = getattr(config, f"contact_{name}")
            kept = gains[f"gains_{name}"]
            now = _gains(f"--contact-{name}", given, kept[0], of_r) if given else kept
            later[f"contact_{name}"] = now
    return {
        **gains,
        **later,
        "wrench": wrench,
        "misalign": _misalignment(config.misalign),
        "speed": config.speed or CONTACT_SPEED,
    }


def _gains(flag: str, given: Sequence[float], own: float, across: float) -> tuple[float, ...]:
    inertia = flag.endswith("d")
    if len(given) < 36 and any(one < 0 or (inertia and one == 0) for one in given):
        must = "must be positive" if inertia else "must not be negative"
        raise ConfigError(f"{flag} {must}: {min(given):g}")
    if len(given) in (6, 36):
        return tuple(given)
    if len(given) > 2:
        raise ConfigError(f"{flag} needs one number, two, six or 36, not {len(given)}")
    force = given[0] if given else own
    moment = given[1] if len(given) == 2 else force * across
    return (force,) * 3 + (moment,) * 3


def _misalignment(words: Sequence[str]) -> tuple[float, ...]:
    if not words:
        return ()
    if len(words) != 6:
        raise ConfigError(f"--misalign needs six values X Y Z ROLL PITCH YAW, not {len(words)}")
    units = (("mm", "cm", "m"), ("deg", "mrad", "rad"))
    return tuple(
        quantity(word, units=units[i // 3], limits=MISALIGNMENT[i // 3], name="--misalign")
        for i, word in enumerate(words)
    )


def band(case: DockCase, docking: DockingScene) -> tuple[float, float]:
    """Return the deviations of force [N] and moment [N m] within which a wrench is settled.

    Each is 5 %, but not less than what the noise of the sensor leaves by the closed form: four
    standard deviations, as of the gate.
    """
    wrench, left = wanted_wrench(case), _SURE * noise_left(case, docking)
    force, moment = np.linalg.norm(wrench[:3]), np.linalg.norm(wrench[3:])
    return max(BAND * float(force), float(left[0])), max(BAND * float(moment), float(left[1]))


def noise_left(case: DockCase, docking: DockingScene) -> Array:
    """Return the standard deviations of contact force [N] and moment [N m] at rest, shape (2,).

    The samples of the sensor are independent, so that the density of their noise is its variance
    times a step. The law moves the body by the wrench about its centre, where the noise of a force
    has the lever of the sensor.
    """
    preset = PRESETS[case.preset]
    noise = preset.noise or Preset().noise
    turned = noise * np.hypot(MOMENT_NOISE, np.array([0.0, X_SB[0, 3], X_SB[0, 3]]))
    density = STEP * np.square([noise] * 3 + turned.tolist())
    variance = np.array([density[i] * noise_bandwidth(**loop) for i, loop in _loops(case, docking)])
    parts = np.array([i // 3 for i, _ in _loops(case, docking)])
    return np.sqrt([variance[parts == part].sum() for part in (0, 1)])


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


def refuse_unsettled(case: DockCase, docking: DockingScene) -> None:
    """Refuse a free docking that cannot settle, or that an arm cannot do.

    Raises:
        ConfigError: If it is refused; the message says why.
    """
    wrench = wanted_wrench(case)
    _refuse_wrench(case, wrench)
    _refuse_loop(case, docking)
    _refuse_path(case, docking.chaser, wrench=wrench, moves=True)
    held = reaction(wrench, misalign=case.misalign)
    _refuse_path(case, docking.target, wrench=held, moves=False)
    needed = settling_formula(case, docking)
    if not needed <= SLOWEST:
        raise ConfigError(
            f"by the closed form the contact settles after {needed:.3g} s, more than {SLOWEST:g}:"
            " a stiffer contact, a smaller K or less misalignment settles sooner"
        )


def _refuse_wrench(case: DockCase, wrench: Array) -> None:
    """Refuse a wrench that the faces cannot transmit."""
    force = -float(wrench[0])
    if force <= case.gate or force <= 0:
        raise ConfigError(
            f"--wrench: FX = {-force:g} N does not press by more than the gate of {case.gate:g} N,"
            " which would never open"
        )
    if case.contact is Contact.PROBE:
        if wrench[1:].any():
            raise ConfigError("--wrench: a probe presses along its axis alone: FX 0 0 0 0 0")
        return
    side, twist = hypot(*wrench[1:3]), abs(float(wrench[3]))
    across, _ = turning_stiffness(elastic=case.contact is Contact.FACE)
    needed = side / force + twist / (force * across**0.5)
    if needed and case.contact not in (Contact.FACE, Contact.ENGINE):
        raise ConfigError(
            "--wrench: FY, FZ and MX have no reaction at rest on this contact;"
            " use --contact face with --friction"
        )
    if needed > _COULOMB * case.friction:
        raise ConfigError(
            f"--wrench: FY, FZ and MX need a friction of {needed / _COULOMB:.2g}, not"
            f" {case.friction:g}"
        )
    point = contact_point(np.asarray(wrench), face=SATELLITE_LENGTH / 2)
    off = hypot(*point[1:])
    # A face bears all over while no part of it is lifted: within I/(A R).
    most = across / CIRCUMRADIUS
    if off > most:
        raise ConfigError(
            f"--wrench: its centre of pressure is {1e3 * off:.0f} mm from the axis; beyond"
            f" {1e3 * most:.0f} mm a part of the face lifts off"
        )
    if case.misalign and hypot(*case.misalign[1:3]) + off > CIRCUMRADIUS * 0.75:
        raise ConfigError("--misalign: the faces do not overlap at the centre of pressure")


def _refuse_loop(case: DockCase, docking: DockingScene) -> None:
    """Refuse gains that are unstable on this contact, or too light for the payload."""
    gains, delay = pressing_gains(case), case_delay(case)
    inertia = docking.chaser.model.link("satellite").inertia
    assert inertia is not None
    payload = np.array([inertia.mass] * 3 + np.diag(inertia.moment).tolist())
    share = WRENCH_GAIN * payload / gains.diagonal_D
    worst = int(np.argmax(share))
    if share[worst] > HEAVIEST:
        least = WRENCH_GAIN * payload[worst] / HEAVIEST
        raise ConfigError(
            f"--gains-d: {gains.diagonal_D[worst]:g} {_AXES[worst]} is too small for the payload,"
            f" whose inertia the sensor measures; use at least {least:.3g}"
        )
    for axis, (k, c) in enumerate(zip(*stiffnesses(case), strict=True)):
        if k == 0:
            continue
        D, K = float(gains.diagonal_D[axis]), float(gains.diagonal_K[axis])
        most = critical_delay(D, K, s=WRENCH_GAIN, stiffness=float(k), damping=float(c))
        if delay >= most:
            raise ConfigError(
                f"the loop {_AXES[axis]} is unstable: it is {1e3 * delay:.1f} ms late and bears"
                f" {1e3 * most:.1f} ms with D {D:.3g}, K {K:.3g} and a stiffness of {k:.3g}; use a"
                " greater K, a softer contact or less delay"
            )


def _refuse_path(case: DockCase, arm: DockingArm, *, wrench: Array, moves: bool) -> None:
    """Refuse a path that an arm cannot follow within its limits."""
    model, dynamics = arm.model, RobotDynamics(arm.model)
    length = DISTANCE * path_scale(case) + max([0.0, *case.misalign[:1]])
    # The greatest speed of the path, 15/8 of the mean in 4 s, in the axes of the arm's base.
    V = np.array([15 / 8 * length / 4.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    places = list(joint_path(dynamics, arm.q_start, length=length)) if moves else []
    if moves and len(places) < PLACES:
        raise ConfigError(f"{model.name} cannot reach {length:.3g} m ahead along x from its start")
    for q, J in places:
        rates = np.linalg.pinv(J) @ V
        for joint, at, rate in zip(model.moving_joints, q, rates, strict=True):
            limits = joint.limits
            if not limits.lower + LIMIT_MARGIN <= at <= limits.upper - LIMIT_MARGIN:
                raise ConfigError(f"{model.name}: {joint.name} meets its limit on the path")
            if limits.velocity and abs(rate) > limits.velocity:
                raise ConfigError(
                    f"{model.name}: {joint.name} needs {abs(rate):.2g} of"
                    f" {limits.velocity:.2g} rad/s on the path; use a lower --speed"
                )
    end = places[-1][0] if moves else arm.q_start
    for joint, effort in zip(model.moving_joints, joint_load(dynamics, end, wrench), strict=True):
        most = joint.limits.effort
        if isfinite(most) and 0 < most < abs(effort):
            when = "at the end of its path" if moves else "that it holds against as the target"
            raise ConfigError(
                f"{model.name} cannot bear the wrench {when}: {joint.name} needs"
                f" {abs(effort):.0f} of {most:g} N m"
            )
