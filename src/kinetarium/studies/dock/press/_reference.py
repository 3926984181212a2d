"""The docking of a case on one axis, without an engine: what its gains and contact imply.

A face that follows its set points exactly meets a spring and a damper; the loop has the rate,
the filter, the delay, the gate and the ramp of the case, and no noise. An arm that is stiff
compared with the contact must come to the same peak and settle as soon; it is the reference for
any arm, in any engine.
"""

from typing import NamedTuple

import numpy as np

from kinetarium.control.admittance.sensing import RandomWalkKalman
from kinetarium.control.arm.tracking import Setpoints
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dock.press.arms import GAP, path_scale
from kinetarium.studies.dock.press.cases import Approach, cruise
from kinetarium.studies.dock.press.config import Contact, DockCase
from kinetarium.studies.dock.press.presets import (
    PRESETS,
    STEP,
    WRENCH_GAIN,
    case_contact,
    case_gains,
    wanted_wrench,
)


class Reference(NamedTuple):
    """The contact force on one axis.

    Attributes:
        time: Times [s], shape (n,).
        force: Contact force [N], shape (n,).
    """

    time: Array
    force: Array


def one_axis_docking(case: DockCase, *, duration: float) -> Reference | None:
    """Return the docking of a case on one axis.

    Args:
        duration: Simulated time [s].

    Returns:
        The contact force; None if the contact is not the prescribed one.
    """
    if case.contact not in (Contact.PRESCRIBED, Contact.FACE):
        return None
    preset, (k, c) = PRESETS[case.preset], case_contact(case)
    gains = case_gains(case)
    D, K = float(gains.diagonal_D[0]), float(gains.diagonal_K[0])
    tick = round(1 / (preset.tick_rate * STEP))
    gain = RandomWalkKalman(preset.kalman).gain if preset.kalman else 1.0
    scale = path_scale(case)
    approach, gap = Approach(np.eye(4), scale=scale, cruise=cruise(case)), GAP * scale
    setpoints = Setpoints(np.zeros(1), tick=tick * STEP, delay=case.delay_ms * 1e-3)
    wanted = float(wanted_wrench(case)[0])
    opened = 0.0 if case.gate == 0 else np.inf
    x = before = reference = impulse = V = sensed = 0.0
    frozen: float | None = None
    readings: list[float] = []
    steps = round(duration / STEP)
    force = np.zeros(steps + 1)
    for n in range(1, steps + 1):
        t = n * STEP
        before, x = x, float(setpoints.at(t)[0][0])
        depth, rate = x - gap, (x - before) / STEP
        force[n] = max(0.0, k * depth + c * rate) if depth > 0 else 0.0
        readings.append(force[n])
        if n % tick:
            continue
        sensed += gain * (sum(readings) / len(readings) - sensed)
        readings.clear()
        along = reference if preset.from_reference else x
        if t < opened and sensed > case.gate:
            opened = t
            if preset.freeze:
                frozen, impulse = along, -D * (V if preset.from_reference else rate)
        X, V_D = approach.at(t)
        x_D, v_D = (float(X[0, 3]), float(V_D[0])) if frozen is None else (frozen, 0.0)
        ramp = min((t - opened) / preset.ramp, 1.0) if preset.ramp else 1.0
        if t >= opened:
            impulse += WRENCH_GAIN * (ramp * wanted + sensed) * tick * STEP
        V = v_D - (impulse - K * (x_D - along)) / D
        reference += V * tick * STEP
        setpoints.add(t, np.array([reference]))
    return Reference(STEP * np.arange(steps + 1, dtype=np.float64), force)
