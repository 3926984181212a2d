"""What a docking is judged by.

Error and ripple are those of the sensed force, which a user of the rig sees; settling, peak
and rebounds are those of the true contact.
"""

from math import exp

import numpy as np

from kinetarium.control.contact_point import contact_point
from kinetarium.dynamics import RobotDynamics
from kinetarium.recording.recording import Recording
from kinetarium.recording.run import Row
from kinetarium.scene.docking import CENTER, SATELLITE_LENGTH, satellite_arm
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dock.config import DockCase
from kinetarium.studies.dock.flags import flags
from kinetarium.studies.dock.presets import PRESETS, WRENCH_GAIN, damper, desired_wrench

WINDOW = 0.5
"""The last part of a run, which is judged as steady [s]."""
BAND = 0.05
"""Share of the wanted force within which a force counts as settled [-]."""
HELD = 0.05
"""How long a force must have stayed there at the end of a run [s]."""


def score(case: DockCase, recording: Recording) -> Row:
    """Judge the force, the transient and the pose.

    Returns:
        steady_error_n: Mean sensed normal force of the last half second, less the wanted one.
        ripple_n: Its standard deviation there.
        settle_s: From contact until the true force stays within 5 %; None if never.
        rebounds: How often contact was lost.
        peak_n: Greatest true force.
        contact_time_s: When the faces first touched; None if they did not.
        eta_end_m, xi_end_rad: Exponential coordinates at the end, three each.
        contact_point_error_m: Distance of the contact point that the sensed wrench tells from
            the true one, both as means over the last half second.
        drift_z_m, drift_formula_m: How far the satellite went along an axis on which nothing
            pushes back, and how far the law says; None where no force is wanted there.
        flags: What a user should know, in words.
    """
    time, force = recording["time"], recording["contact"][:, 0]
    wanted = -float(desired_wrench(case.case)[0])
    touching = np.flatnonzero(force > 0)
    first = int(touching[0]) if touching.size else None
    last = time > time[-1] - WINDOW
    sensed = recording["sensed"][last, 0]
    row = {
        "steady_error_n": abs(float(sensed.mean()) + wanted),
        "ripple_n": float(sensed.std()),
        "settle_s": None if first is None else settling(time[first:], force[first:], wanted),
        "rebounds": 0 if first is None else _rebounds(force[first:]),
        "peak_n": float(force.max()),
        "contact_time_s": None if first is None else float(time[first]),
        "eta_end_m": recording["error"][-1, :3].tolist(),
        "xi_end_rad": recording["error"][-1, 3:].tolist(),
        "contact_point_error_m": _point_error(case, recording, last),
        **_drift(case, recording),
    }
    return {**row, "flags": flags(case, recording, row)}


def settling(time: Array, force: Array, wanted: float) -> float | None:
    """Give the time until a force stays near a wanted one to the end [s]; None if never.

    Args:
        time: From the contact on [s], shape (n,).
        force: The contact force [N], shape (n,).
        wanted: What it should be [N].
    """
    outside = np.flatnonzero(np.abs(force - wanted) > BAND * wanted)
    last = time[outside[-1]] if outside.size else time[0]
    return float(last - time[0]) if time[-1] - last >= HELD else None


def _rebounds(force: Array) -> int:
    touching = force > 0
    return int((touching[:-1] & ~touching[1:]).sum())


def _point_error(case: DockCase, recording: Recording, last: Array) -> float | None:
    points = recording["contact"][last, 1:]
    touching = np.isfinite(points[:, 0])
    if not touching.any():
        return None
    dynamics = RobotDynamics(satellite_arm(case.payload_kg))
    true = []
    for q, p_WC in zip(recording["q"][last][touching], points[touching], strict=True):
        X_WB = dynamics.link_pose(q[: dynamics.nq], CENTER)
        true.append(X_WB[:3, :3].T @ (p_WC - X_WB[:3, 3]))
    F_B = recording["sensed"][last][touching].mean(axis=0)
    told = contact_point(F_B, face=SATELLITE_LENGTH / 2)
    error = float(np.linalg.norm((told - np.mean(true, axis=0))[1:]))
    return error if np.isfinite(error) else None


def _drift(case: DockCase, recording: Recording) -> dict[str, float | None]:
    """Compare the drift along z with that of an integrator that nothing stops."""
    force = float(desired_wrench(case.case)[2])
    opened = np.flatnonzero(recording["warnings"][:, 0])
    if not force or not opened.size:
        return {"drift_z_m": None, "drift_formula_m": None}
    t = float(recording["time"][-1] - recording["time"][opened[0]])
    return {
        "drift_z_m": -float(recording["error"][-1, 2]),
        "drift_formula_m": -free_drift(case, force, time=t),
    }


def free_drift(case: DockCase, force: float, *, time: float) -> float:
    """Give how far the path is left where nothing pushes back [m].

    Under a force that acts at once D l' + K l = s F t, so that with T = D/K
    l = (s F/K)(t - T (1 - exp(-t/T))). One that comes up in a time r is the mean of such
    forces over all starts from 0 to r, and so is the drift.

    Args:
        case: The case.
        force: The wanted force [N].
        time: Since it began to act [s].
    """
    preset, K = PRESETS[case.preset], damper(case.case, case.preset)
    T, r = preset.D / K, min(preset.ramp, time)

    def integral(t: float) -> float:
        return t * t / 2 - T * t - T * T * exp(-t / T)

    if r == 0:
        shape = time - T * (1 - exp(-time / T))
    else:
        shape = (integral(time) - integral(time - r)) / preset.ramp
    return WRENCH_GAIN * force / K * shape
