"""What is known of a planned walk beside its pictures, as plain data for the page."""

from typing import Any

import numpy as np

from kinetarium.legs import Walk
from kinetarium.legs.drives import drive_work, joint_travel, walking_volume
from kinetarium.legs.walk_warnings import foot_gaps
from kinetarium.recording.plain import to_plain

MOST_WARNINGS = 200
"""Warnings that are told; the rest are counted."""


def walk_facts(walk: Walk) -> dict[str, Any]:
    """Give the figures, warnings and gait of a walk; lengths in the machine's unit."""
    machine = walk.plan.machine
    way = float(np.hypot(*np.diff(walk.path, axis=0).T).sum())
    return {
        "kind": str(machine.kind),
        "frames": len(walk.time),
        "order": list(walk.order),
        "table1_row": walk.table1_row,
        "stride": walk.stride,
        "way": way,
        "min_margin": walk.min_margin,
        "mean_margin": float(walk.margin.mean()),
        "foot_gap": float(foot_gaps(walk.feet).min()),
        "joint_travel": joint_travel(walk).tolist(),
        "drive_work": drive_work(walk),
        "walking_volume": walking_volume(machine),
        "height": machine.height,
        "reach": list(machine.leg.reach),
        "shapes": to_plain(machine.link_shapes[2]),
        "steps": [[step.leg, step.first, step.last] for step in walk.steps],
        "markers": _markers(walk),
        "warnings": to_plain(walk.warnings[:MOST_WARNINGS]),
        "warning_count": len(walk.warnings),
    }


def _markers(walk: Walk) -> list[list[float]]:
    """Give x, y and heading [rad] of the body as each cycle begins, and at the end."""
    frames = [0, *(step.last for step in walk.steps[3:-1:4]), len(walk.time) - 1]
    body = walk.body[frames]
    heading = 2 * np.arctan2(body[:, 6], body[:, 3])
    rows: list[list[float]] = np.column_stack([body[:, :2], heading]).tolist()
    return rows


def joint_table(walk: Walk) -> str:
    """Give the body, the joints and the margin of every frame as CSV."""
    drives = ("h_x", "omega_rad" if walk.plan.machine.kind == "ttr" else "h_y", "v_z")
    names = [
        "time_s", "body_x", "body_y", "body_z", "heading_rad",
        *(f"leg{leg}_{drive}" for leg in (1, 2, 3, 4) for drive in drives),
        "margin",
    ]  # fmt: skip
    heading = np.unwrap(2 * np.arctan2(walk.body[:, 6], walk.body[:, 3]))
    joints = walk.joints.reshape(len(walk.time), 12)
    rows = np.column_stack([walk.time, walk.body[:, :3], heading, joints, walk.margin])
    lines = (",".join(map(repr, row)) for row in rows.tolist())
    return "\n".join([",".join(names), *lines]) + "\n"
