"""Figures of a placement: the map of all poses, the base, and the arm at every pose."""

from math import cos, degrees, sin
from typing import TYPE_CHECKING

import numpy as np

from kinetarium.figure.axis import Axis
from kinetarium.figure.heatmap import Heatmap, Spot
from kinetarium.figure.page import Figure, Page, Section
from kinetarium.figure.scene3d import Scene3D
from kinetarium.figure.table import Column, Table
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose
from kinetarium.studies.reach.arm_scene import arm_scene
from kinetarium.studies.reach.markers import frame_marker, plane_tiles

if TYPE_CHECKING:
    from kinetarium.reach.placement import Placement, Placer

_LEAD = (
    "The base from which the arm reaches the poses: the map says of a raster of places how"
    " many poses each is good for, exact inverse kinematics judges the best of them. What is"
    " shown as reached was solved for at this very base."
)
_FRONT = 0.15
"""How far ahead of the base its front is marked [m]."""
TOP = 0.7
"""The part of the highest score from which a place is one of the best (Fig. 8)."""


def placement_page(
    placement: "Placement",
    poses: Array,
    *,
    placer: "Placer",
    provenance: tuple[tuple[str, str], ...],
) -> Page:
    """Give the page of a placement.

    Args:
        placement: The placement.
        poses: Poses X_WT of the tool, shape (n, 4, 4).
        placer: What was asked.
        provenance: How to make it again.
    """
    joints = placer.arm.chain.joints
    sections = (
        Section("The base", (placement_table(placement),)),
        Section("Where a base may stand", union_figures(placement, poses, placer=placer)),
        Section("The arm at every pose", (placed_arm(placement, poses, placer=placer),)),
        Section("The poses", (pose_table(placement, joints),)),
    )
    return Page("Where the base stands best", _LEAD, sections, provenance)


def placement_table(placement: "Placement") -> Table:
    """Say where the base stands and what it reaches."""
    columns = (
        Column("x", "m"), Column("y", "m"), Column("z", "m"), Column("yaw", "deg"),
        Column("reached"), Column("of"), Column("manipulability", "m^3"), Column("query", "ms"),
    )  # fmt: skip
    data = placement.as_json()
    x, y, z = placement.X_WB[:3, 3].tolist()
    row = (
        x, y, z, degrees(placement.yaw), int(placement.reached.sum()), len(placement.reached),
        float(placement.manipulability[placement.reached].mean()), float(f"{data['elapsed_ms']}"),
    )  # fmt: skip
    return Table("", columns, (row,))


def pose_table(placement: "Placement", joints: tuple[str, ...]) -> Table:
    """Say of every pose how it is reached (Table 1)."""
    columns = (Column("pose"), Column("reached"), Column("manipulability", "m^3"))
    rows = tuple(
        (
            number,
            "yes" if reached else "no",
            float(w) if reached else None,
            *((float(value) if reached else None) for value in q),
        )
        for number, (q, w, reached) in enumerate(
            zip(placement.joints, placement.manipulability, placement.reached, strict=True)
        )
    )
    return Table("", (*columns, *(Column(name, "rad or m") for name in joints)), rows)


def union_figures(
    placement: "Placement", poses: Array, *, placer: "Placer", prefix: str = ""
) -> tuple[Figure, ...]:
    """Draw the map of all poses, and the best of its places in the world.

    Args:
        placement: The placement.
        poses: Poses X_WT of the tool, shape (n, 4, 4).
        placer: What was asked.
        prefix: What stands before each title.
    """
    X_PW = inverse_pose(placer.plane.frame)
    X_PT = X_PW @ poses
    x, y, scores = placer.scores(X_PT)
    px, py = (X_PW @ placement.X_WB)[:2, 3].tolist()
    ahead = (px + _FRONT * cos(placement.yaw), py + _FRONT * sin(placement.yaw))
    marks = (
        *(Spot(float(p[0]), float(p[1])) for p in X_PT[:, :2, 3]),
        Spot(px, py, f"base, yaw {degrees(placement.yaw):.0f} deg"),
        Spot(*ahead, "front"),
    )
    best = np.where(scores >= TOP * scores.max(), scores, np.nan)
    maps = tuple(
        Heatmap(
            f"{prefix}{title}",
            Axis("x", "m"),
            Axis("y", "m"),
            tuple(x.tolist()),
            tuple(y.tolist()),
            values.T,
            Axis("sum over the poses"),
            marks=marks,
            equal=True,
            caption="Points are the poses; the base is marked with its front.",
        )
        for title, values in (
            ("what the map says of all poses", np.where(scores > 0, scores, np.nan)),
            ("the top 30 %", best),
        )
    )
    tiles = plane_tiles(x, y, values=np.nan_to_num(best), X_WP=placer.plane.frame)
    frames = [
        part
        for number, X_WT in enumerate(poses)
        for part in frame_marker(f"pose {number}", X_WT, length=0.08)
    ]
    base = frame_marker("the base", placement.X_WB, length=0.25)
    return (*maps, Scene3D(f"{prefix}the top 30 % in the world", (*tiles, *frames, *base)))


def placed_arm(
    placement: "Placement", poses: Array, *, placer: "Placer", prefix: str = ""
) -> Scene3D:
    """Draw the arm at every pose that is reached.

    Args:
        placement: The placement.
        poses: Poses X_WT of the tool, shape (n, 4, 4).
        placer: What was asked.
        prefix: What stands before the title.
    """
    joints = placement.joints[placement.reached]
    bases = np.tile(placement.X_WB, (len(joints), 1, 1))
    title = f"{prefix}the arm at every pose it reaches"
    return arm_scene(title, placer.arm.chain, bases=bases, joints=joints, poses=poses)
