"""Measures of a grasp."""

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.metrics import mean_moving_variance
from kinetarium.recording.recording import Recording, Row
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array
from kinetarium.studies.grasp.config import Case, ToolPath
from kinetarium.studies.grasp.ideal import SAMPLE_RATE, least_grip
from kinetarium.studies.grasp.run import SIDES
from kinetarium.studies.grasp.task import SETTLE

WINDOW = 50
"""Window of the moving variance [samples]: half a second."""
LOST = 0.02
"""Slip above which the object is considered lost [m]."""
_REST = 10
"""Samples before the path over which the force at rest is taken."""
SET_OFF = 0.5
"""Time after which the force is compared with the rigid grasp's [s]: that of an abrupt start."""
_CLOSED = 0.2
"""Time after which the fingers have certainly closed [s]."""
_SLANTED = 1.0
"""Angle from which on contacts' normals are not those of the closing axis [deg]."""
_SLIDING = 1e-3
"""Speed relative to the hand above which the object is considered sliding [m/s]."""


@dataclass(frozen=True, slots=True, eq=False)
class Carried:
    """The part of a recording that is scored, from the first sample of the path on.

    Attributes:
        time: Since the start of the path [s], shape (k,).
        X_TC: Pose of the object in the grip frame, shape (k, 4, 4).
        slip: Displacement of the object since the start of the path [m], shape (k,).
        force: Contact force of both sides along the closing axis [N], shape (k, 2).
        sensed: The same, measured by the force-torque sensors [N], shape (k, 2); NaN for a fixed
            jaw.
        normals: Mean normals of both sides, into the object, shape (k, 2, 3).
        slant: Angle between normals and closing axis [deg], shape (k, 2).
        depth: Deepest penetration of either side [m], shape (k,).
        kept: Samples up to the loss of the object, shape (k,).
    """

    time: Array
    X_TC: Array
    slip: Array
    force: Array
    sensed: Array
    normals: Array
    slant: Array
    depth: Array
    kept: NDArray[np.bool_]


def score(case: Case, recording: Recording) -> Row:
    """Measure how well an object was held. Means and variances are taken until its loss.

    Returns:
        held, held_s: Whether it was held to the end, and for how long along the path.
        slip_m, tilt_deg: Translation and rotation in the hand since the start of the path;
            for a lost object the slip at its loss.
        penetration_m: Deepest penetration.
        force_mean_n, force_ft_mean_n: Mean of both sides from contacts and from sensors.
        zero_contact_samples, samples: Samples of the path at which a side exerted no force, and
            all.
        force_error_n: Root mean square of the difference between the force and that of the rigid
            grasp, from half a second after the start of the path on; None for a lost object.
        force_offset_n: Largest such difference at rest before the path, where friction leaves the
            force at rest undetermined (fingers that swing); it is not part of the error. 0
            where the closing force determines the grip.
        moving_variance_n2, moving_variance_disjoint_n2: Mean of both sides; for a still hand
            over the second half of the time.
        ft_variance_n2: The same, of the force-torque sensors: the paper's measure.
        ideal_variance_n2, ideal_rmse_m: The same for a rigid grasp under the same control.
        waiting_variance_n2: As moving_variance_n2, while the hand waits before the path.
        common_mode_variance_n2: Variance of the mean of both sides; zero for a rigid grasp.
        sliding_grip_n: Grip force at which the object begins to slide finally; releases only.
        ideal_sliding_grip_n: The same by Coulomb's law, for the normals of the contacts.
        least_friction: Friction from which on a rigid grasp holds the object all along the path,
            by Coulomb's law; None for a release.
        slant_deg: Mean angle between the contacts' normals and the closing axis.
        tracking_rmse_m: Tracking error of the grip.
        one_step_rad_s2: Error of the engine's accelerations; None with servos.
    """
    carried = carried_part(recording)
    kept = carried.kept
    complete = recording.status == "running" and bool(kept.all()) and kept.size > 0
    judged = kept & (carried.time > case.duration / 2) if case.path == ToolPath.STILL else kept
    row: dict[str, Any] = {
        "held": complete and not case.release,
        "held_s": float(kept.sum()) / SAMPLE_RATE,
        "slip_m": _greatest(carried.slip[: int(kept.sum()) + 1]),
        "tilt_deg": _greatest(_tilts(carried.X_TC[kept])),
        "penetration_m": _greatest(carried.depth[kept]),
        "force_mean_n": _mean(carried.force[kept]),
        "force_ft_mean_n": _mean(carried.sensed[kept]),
        "zero_contact_samples": int((carried.force <= 0).any(axis=1).sum()),
        "samples": len(carried.time),
        "waiting_variance_n2": _waiting_variance(recording),
        "sliding_grip_n": _sliding_grip(carried) if case.release else None,
        "ideal_sliding_grip_n": _coulomb(case, carried) if case.release else None,
        "least_friction": recording.facts.get("least_friction"),
        "slant_deg": _mean(carried.slant[kept]),
        "one_step_rad_s2": recording.facts["one_step_rad_s2"],
    }
    if case.release:
        return {**row, **dict.fromkeys(_PATH_ROWS)}
    return {**row, **_on_the_way(recording, carried, judged, complete=complete)}


_PATH_ROWS = (
    "force_error_n", "force_offset_n", "moving_variance_n2", "moving_variance_disjoint_n2",
    "ft_variance_n2", "ideal_variance_n2", "common_mode_variance_n2", "tracking_rmse_m",
    "ideal_rmse_m",
)  # fmt: skip


def _on_the_way(
    recording: Recording, carried: Carried, judged: NDArray[np.bool_], *, complete: bool
) -> Row:
    """Compare forces and tracking along a path with the rigid grasp."""
    ideal_force, ideal_error = (_on_path(recording, f"ideal/{name}") for name in ("force", "error"))
    force = carried.force[judged]
    common = mean_moving_variance(force.mean(axis=1), WINDOW)
    late = judged & (carried.time > SET_OFF)
    offset = _offset(recording)
    values = (
        _rms((carried.force - ideal_force)[late] - offset) if complete else None,
        float(np.abs(offset).max()),
        pads_variance(force),
        pads_variance(force, disjoint=True),
        pads_variance(carried.sensed[judged]),
        pads_variance(ideal_force),
        _finite(common),
        _rms(_on_path(recording, "error")),
        _rms(ideal_error),
    )
    return dict(zip(_PATH_ROWS, values, strict=True))


def _offset(recording: Recording) -> Array:
    """Return the difference to the rigid grasp's force at rest, shape (2,), if it is no error."""
    if recording.facts.get("determinate", True):
        return np.zeros(2)
    end = round(SETTLE * SAMPLE_RATE) + 1
    # Before the path there is no reference; its first sample is at rest, or nearly so.
    rest: Array = _forces(recording)[end - _REST : end].mean(axis=0)
    offset: Array = rest - recording["ideal/rest"][0]
    return offset


def carried_part(recording: Recording) -> Carried:
    """Return the scored part of a recording; empty if it ended before the path began."""
    X_TC = _object_in_grip(recording)[round(SETTLE * SAMPLE_RATE) :]
    slip = _slip(X_TC)[1:]
    begin = round(SETTLE * SAMPLE_RATE) + 1
    contacts = _contacts(recording)[begin:]
    return Carried(
        time=_on_path(recording, "time") - SETTLE,
        X_TC=X_TC[1:],
        slip=slip,
        force=_forces(recording)[begin:],
        sensed=_on_path(recording, "sensed"),
        normals=contacts[:, :, 6:9],
        slant=_slants(recording)[begin:],
        depth=contacts[:, :, 1].max(axis=1),
        kept=np.maximum.accumulate(slip) < LOST,
    )


def _waiting_variance(recording: Recording) -> float | None:
    """Return the variance between the closing of the fingers and the start of the path."""
    waiting = slice(round(_CLOSED * SAMPLE_RATE), round(SETTLE * SAMPLE_RATE) + 1)
    kept = np.maximum.accumulate(_slip(_object_in_grip(recording)[waiting])) < LOST
    return pads_variance(_forces(recording)[waiting][kept])


def _object_in_grip(recording: Recording) -> Array:
    """Return the pose of the object in the grip frame, shape (samples, 4, 4)."""
    return recording["object"].reshape(-1, 4, 4)


def _slip(X_TC: Array) -> Array:
    """Return the distances from the first position [m], shape (k,)."""
    distance: Array = np.linalg.norm(X_TC[:, :3, 3] - X_TC[:1, :3, 3], axis=1)
    return distance


def _contacts(recording: Recording) -> Array:
    """Return what was recorded of the contacts of both sides, shape (samples, 2, 9)."""
    return np.stack([recording[f"contact/{side}"] for side in SIDES], axis=1)


def _slants(recording: Recording) -> Array:
    """Return the angles between mean normals and closing axis [deg], shape (samples, 2)."""
    along = np.vecdot(_contacts(recording)[:, :, 6:9], recording["axis"][:, None, :])
    angles: Array = np.degrees(np.arccos(np.clip(along * (-1.0, 1.0), -1.0, 1.0)))
    return angles


def _forces(recording: Recording) -> Array:
    """Return the forces of both sides along the closing axis [N], shape (samples, 2).

    Where normals are along the axis, it is their sum of normal forces. Where they are not,
    friction has a part in it.
    """
    contacts = _contacts(recording)
    along = np.vecdot(contacts[:, :, 3:6], recording["axis"][:, None, :]) * (-1.0, 1.0)
    slanted = np.nan_to_num(_slants(recording)) > _SLANTED
    return np.where(slanted & (contacts[:, :, 0] > 0), along, contacts[:, :, 0])


def pads_variance(force: Array, *, disjoint: bool = False) -> float | None:
    """Return the mean moving variance of both sides [N^2]; None if there is no whole window.

    Args:
        force: Of both sides [N], shape (k, 2); NaN for a side without a sensor.
        disjoint: Whether windows do not overlap.
    """
    known = [side for side in force.T if np.isfinite(side).all()]
    if not known:
        return None
    variances = [mean_moving_variance(side, WINDOW, disjoint=disjoint) for side in known]
    return _finite(float(np.mean(variances)))


def _on_path(recording: Recording, channel: str) -> Array:
    """Return the samples along the path."""
    return recording[channel][round(SETTLE * SAMPLE_RATE) + 1 :]


def _sliding_grip(carried: Carried) -> float | None:
    """Return the grip force at the last sample before the object finally slides."""
    if carried.kept.all() or not carried.kept.any():
        return None
    speed = np.linalg.norm(np.gradient(carried.X_TC[:, :3, 3], 1 / SAMPLE_RATE, axis=0), axis=1)
    still = np.flatnonzero((speed < _SLIDING) & carried.kept)
    return float(carried.force[still[-1]].mean()) if still.size else None


def _coulomb(case: Case, carried: Carried) -> float | None:
    """Return the least grip by Coulomb's law, for the normals of the first half of the release."""
    touching = (carried.force > 0).all(axis=1) & carried.kept & (carried.time < 1.0)
    if not touching.any():
        return None
    mean = carried.normals[touching].mean(axis=0)
    normals = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    return least_grip(normals, friction=case.friction, mass=case.mass)


def _tilts(X_TC: Array) -> Array:
    """Return the angles from the first orientation [deg], shape (k,)."""
    if not len(X_TC):
        return np.empty(0)
    turns = so3.log_reference(X_TC[:1, :3, :3].mT @ X_TC[:, :3, :3])
    angles: Array = np.degrees(np.linalg.norm(turns, axis=-1))
    return angles


def _greatest(values: Array) -> float | None:
    return float(values.max()) if values.size else None


def _mean(values: Array) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else None


def _rms(values: Array) -> float | None:
    return float(np.sqrt(np.mean(values**2))) if values.size else None


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None
