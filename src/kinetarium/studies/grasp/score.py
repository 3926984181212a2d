"""Measures of a grasp."""

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.dynamics import link_poses
from kinetarium.metrics import mean_moving_variance
from kinetarium.recording.recording import Recording, Row
from kinetarium.scene.grasped_cube import PADS, TOOL, gripper_arm
from kinetarium.spatial import so3
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_from_quaternion
from kinetarium.studies.grasp.config import Case, ToolPath
from kinetarium.studies.grasp.ideal import SAMPLE_RATE, tool_error
from kinetarium.studies.grasp.reference import SETTLE

WINDOW = 50
"""Window of the moving variance [samples]: half a second."""
LOST = 0.02
"""Slip above which the cube is considered lost [m]."""
_CLOSED = 0.2
"""Time after which the fingers have certainly closed [s]."""
_SLIDING = 1e-3
"""Speed relative to the hand above which the cube is considered sliding [m/s]."""


@dataclass(frozen=True, slots=True, eq=False)
class Carried:
    """The part of a recording that is scored, from the first sample of the path on.

    Attributes:
        time: Since the start of the path [s], shape (k,).
        X_TC: Pose of the cube in the tool's frame, shape (k, 4, 4).
        slip: Displacement of the cube since the start of the path [m], shape (k,).
        force: Contact force of the left and the right pad [N], shape (k, 2).
        sensed: The same, measured by the force-torque sensors [N], shape (k, 2).
        depth: Deepest penetration of either pad [m], shape (k,).
        kept: Samples up to the loss of the cube, shape (k,).
    """

    time: Array
    X_TC: Array
    slip: Array
    force: Array
    sensed: Array
    depth: Array
    kept: NDArray[np.bool_]


def score(case: Case, recording: Recording) -> Row:
    """Measure how well a cube was held. Means and variances are taken until its loss.

    Returns:
        held, held_s: Whether it was held to the end, and for how long along the path.
        slip_m, tilt_deg: Translation and rotation in the hand since the start of the path;
            for a lost cube the slip at its loss.
        penetration_m: Deepest penetration.
        force_mean_n, force_ft_mean_n: Mean of both pads from contacts and from sensors.
        zero_contact_samples: Samples of the path at which a pad exerted no force.
        moving_variance_n2, moving_variance_disjoint_n2: Mean of both pads; for a still hand
            over the second half of the time.
        ideal_variance_n2, ideal_rmse_m: The same for a rigid grasp under the same control.
        waiting_variance_n2: As moving_variance_n2, while the hand waits before the path.
        common_mode_variance_n2: Variance of the mean of both pads; zero for a rigid grasp.
        sliding_grip_n: Grip force at which the cube begins to slide finally; releases only.
        tracking_rmse_m: Tracking error of the tool.
        one_step_rad_s2: Error of the engine's accelerations; None with servos.
    """
    carried = carried_part(recording)
    kept = carried.kept
    complete = recording.status == "running" and bool(kept.all()) and kept.size > 0
    release = case.path is ToolPath.RELEASE
    judged = kept & (carried.time > case.duration / 2) if case.path is ToolPath.STILL else kept
    row: dict[str, Any] = {
        "held": complete and not release,
        "held_s": float(kept.sum()) / SAMPLE_RATE,
        "slip_m": _greatest(carried.slip[: int(kept.sum()) + 1]),
        "tilt_deg": _greatest(_tilts(carried.X_TC[kept])),
        "penetration_m": _greatest(carried.depth[kept]),
        "force_mean_n": _mean(carried.force[kept]),
        "force_ft_mean_n": _mean(carried.sensed[kept]),
        "zero_contact_samples": int((carried.force <= 0).any(axis=1).sum()),
        "waiting_variance_n2": _waiting_variance(recording),
        "sliding_grip_n": _sliding_grip(carried) if release else None,
        "one_step_rad_s2": recording.facts["one_step_rad_s2"],
    }
    return {**row, **(_no_path() if release else _on_the_way(case, recording, carried, judged))}


def _on_the_way(
    case: Case, recording: Recording, carried: Carried, judged: NDArray[np.bool_]
) -> Row:
    """Compare forces and tracking along a path with the rigid grasp."""
    ideal_force, ideal_error = (_on_path(recording, f"ideal/{name}") for name in ("force", "error"))
    force, q = carried.force[judged], _on_path(recording, "q")
    common = mean_moving_variance(force.mean(axis=1), WINDOW)
    return {
        "moving_variance_n2": pads_variance(force),
        "moving_variance_disjoint_n2": pads_variance(force, disjoint=True),
        "ideal_variance_n2": pads_variance(ideal_force),
        "common_mode_variance_n2": _finite(common),
        "tracking_rmse_m": _rms(tool_error(q, path=case.path, time=carried.time)),
        "ideal_rmse_m": _rms(ideal_error),
    }


def _no_path() -> Row:
    names = ("moving_variance_n2", "moving_variance_disjoint_n2", "ideal_variance_n2",
             "common_mode_variance_n2", "tracking_rmse_m", "ideal_rmse_m")  # fmt: skip
    return dict.fromkeys(names)


def carried_part(recording: Recording) -> Carried:
    """Return the scored part of a recording; empty if it ended before the path began."""
    X_TC = _cube_in_tool(recording)[round(SETTLE * SAMPLE_RATE) :]
    slip = _slip(X_TC)[1:]
    contacts = _contacts(recording)[round(SETTLE * SAMPLE_RATE) + 1 :]
    # The left pad is pushed along +y of its own frame, the right one along -y.
    sensed = [_on_path(recording, f"wrench/{PADS[0]}")[:, 1]]
    sensed += [-_on_path(recording, f"wrench/{PADS[1]}")[:, 1]]
    return Carried(
        time=_on_path(recording, "time") - SETTLE,
        X_TC=X_TC[1:],
        slip=slip,
        force=contacts[:, :, 0],
        sensed=np.stack(sensed, axis=1),
        depth=contacts[:, :, 1].max(axis=1),
        kept=np.maximum.accumulate(slip) < LOST,
    )


def _waiting_variance(recording: Recording) -> float | None:
    """Return the variance between the closing of the fingers and the start of the path."""
    waiting = slice(round(_CLOSED * SAMPLE_RATE), round(SETTLE * SAMPLE_RATE) + 1)
    kept = np.maximum.accumulate(_slip(_cube_in_tool(recording)[waiting])) < LOST
    return pads_variance(_contacts(recording)[waiting][kept, :, 0])


def _cube_in_tool(recording: Recording) -> Array:
    """Return the pose of the cube in the tool's frame, shape (samples, 4, 4)."""
    model = gripper_arm(coupled=False)
    tool = [link.name for link in model.links].index(TOOL)
    X_WT = link_poses(model, recording["q"])[:, tool]
    placed = [pose(p[:3], rotation_from_quaternion(p[3:])) for p in recording["poses"][:, 0]]
    X_WC = np.array(placed).reshape(-1, 4, 4)
    return np.asarray(inverse_pose(X_WT) @ X_WC)


def _slip(X_TC: Array) -> Array:
    """Return the distances from the first position [m], shape (k,)."""
    distance: Array = np.linalg.norm(X_TC[:, :3, 3] - X_TC[:1, :3, 3], axis=1)
    return distance


def _contacts(recording: Recording) -> Array:
    """Return force, depth and number of the contacts of both pads, shape (samples, 2, 3)."""
    return np.stack([recording[f"contact/arm/{pad}"] for pad in PADS], axis=1)


def pads_variance(force: Array, *, disjoint: bool = False) -> float | None:
    """Return the mean moving variance of both pads [N^2]; None if there is no whole window.

    Args:
        force: Of both pads [N], shape (k, 2).
        disjoint: Whether windows do not overlap.
    """
    variances = [mean_moving_variance(pad, WINDOW, disjoint=disjoint) for pad in force.T]
    return _finite(float(np.mean(variances)))


def _on_path(recording: Recording, channel: str) -> Array:
    """Return the samples along the path."""
    return recording[channel][round(SETTLE * SAMPLE_RATE) + 1 :]


def _sliding_grip(carried: Carried) -> float | None:
    """Return the grip force at the last sample before the cube finally slides."""
    if carried.kept.all() or not carried.kept.any():
        return None
    speed = np.linalg.norm(np.gradient(carried.X_TC[:, :3, 3], 1 / SAMPLE_RATE, axis=0), axis=1)
    still = np.flatnonzero((speed < _SLIDING) & carried.kept)
    return float(carried.force[still[-1]].mean()) if still.size else None


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
    return float(values.mean()) if values.size else None


def _rms(values: Array) -> float | None:
    return float(np.sqrt(np.mean(values**2))) if values.size else None


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None
