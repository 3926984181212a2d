"""Free dockings: any wrench, gains, misalignment and speed; what follows, and what cannot work.

A rotation has the stiffness of the face about its centre, k r^2, and gains that are r^2 those of
the forces settle as fast. A small moment needs a slower loop: the noise of the sensor would move it
out of 5 % in a fast one.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import hypot
from typing import Any

import numpy as np
from scipy.optimize import brentq

from kinetarium.batch.study import ConfigError
from kinetarium.control.admittance.law import critical_delay
from kinetarium.control.admittance.sensing import contact_point
from kinetarium.control.arm.clik import LIMIT_MARGIN
from kinetarium.dynamics import RobotDynamics
from kinetarium.ranges import quantity
from kinetarium.scene.docking import CIRCUMRADIUS, SATELLITE_LENGTH, DockingArm, DockingScene
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
from kinetarium.studies.dock.press.contact import turning_stiffness
from kinetarium.studies.dock.press.presets import (
    PRESETS,
    WRENCH_GAIN,
    case_delay,
    damper,
    desired_wrench,
    pressing_gains,
    wanted_wrench,
)
from kinetarium.studies.dock.press.settling import (
    band,
    noise_bounds,
    settling_formula,
    stiffnesses,
)

_SLOWER = 64.0
"""Greatest factor by which K of the moments is raised against noise [-]."""
_SPARE = 0.75
"""Share of the band that noise may fill where K is chosen [-]: the closed form neglects the
payload, whose inertia the sensor measures.
"""
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
        or config.moment_band
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


def quiet(case: DockCase, docking: DockingScene, *, own_gains: bool) -> DockCase:
    """Return a free docking whose K for moments lets noise leave no more than its band.

    Args:
        case: The docking.
        docking: Its arms.
        own_gains: Whether the gains of the moments are the user's, and stay.

    Raises:
        ConfigError: If noise leaves more, or with such a K the contact settles too slowly.
    """
    left, bands = noise_bounds(case, docking), band(case, docking)
    if left[0] > bands[0]:
        raise ConfigError(
            f"the noise of the sensor leaves {left[0]:.2g} N of force, more than the"
            f" {bands[0]:.2g} N within which it must settle; use a greater K (--gains-k), or"
            " desire more force"
        )
    # Where no moment is desired the band is what noise leaves, to rounding.
    if left[1] <= bands[1] * (1 + 1e-9):
        return case
    said = (
        f"the noise of the sensor leaves {left[1]:.2g} N m of moment, more than the"
        f" {bands[1]:.2g} N m within which it must settle"
    )
    remedy = f"desire more moment, or accept more by --moment-band {1.01 * left[1]:.2g}"
    if own_gains:
        raise ConfigError(f"{said}; use a greater K for moments (--gains-k), {remedy}")

    def excess(factor: float) -> float:
        raised = _slower(case, float(np.exp(factor)))
        return float(noise_bounds(raised, docking)[1]) / (_SPARE * bands[1]) - 1

    most = float(np.log(_SLOWER))
    if excess(most) > 0:
        raise ConfigError(f"{said}, whatever K; {remedy}")
    chosen = _slower(case, float(np.exp(brentq(excess, 0.0, most, xtol=1e-4))))
    needed = settling_formula(chosen, docking)
    if needed > SLOWEST:
        raise ConfigError(
            f"{said}; with a K that leaves no more the contact settles after {needed:.3g} s, more"
            f" than {SLOWEST:g}; {remedy}"
        )
    return chosen


def _slower(case: DockCase, factor: float) -> DockCase:
    """Return a docking with another K for moments, of three digits."""
    K = case.gains_k
    return replace(case, gains_k=(*K[:3], *(float(f"{factor * one:.3g}") for one in K[3:])))


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
        most = joint.limits.rated_effort
        if most < abs(effort):
            when = "at the end of its path" if moves else "that it holds against as the target"
            raise ConfigError(
                f"{model.name} cannot bear the wrench {when}: {joint.name} needs"
                f" {abs(effort):.0f} of {most:g} N m"
            )
