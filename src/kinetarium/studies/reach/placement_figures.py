"""Figures of a placement: the map of all poses, the base, and the arm at every pose."""

from math import cos, degrees, sin
from typing import TYPE_CHECKING

import numpy as np

from kinetarium.figure.charts import Axis, Heatmap, Spot
from kinetarium.figure.page import Figure, Page, Section
from kinetarium.figure.scene3d import Scene3D
from kinetarium.figure.text import Column, Table
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose
from kinetarium.studies.reach.markers import (
    arm_scene,
    frame_marker,
    obstacle_bodies,
    plane_tiles,
    pose_markers,
)

if TYPE_CHECKING:
    from kinetarium.dynamics.chain import SerialChain
    from kinetarium.reach.placement.query import BasePlacement, Placer

_LEAD = (
    "The base from which the arm reaches the poses: the map says of a raster of places how"
    " many poses each is good for, exact inverse kinematics judges the best of them. What is"
    " shown as reached was solved for at this very base."
)
_FRONT = 0.35
"""How far ahead of the base its front is marked, as a part of the arm's reach."""
TOP = 0.7
"""The part of the highest score from which a place is one of the best (Fig. 8)."""


def placement_page(
    placement: "BasePlacement",
    poses: Array,
    *,
    placer: "Placer",
    provenance: tuple[tuple[str, str], ...],
) -> Page:
    """Return the page of a placement.

    Args:
        poses: Poses X_WT of the tool, shape (n, 4, 4).
        placer: What was asked.
        provenance: How to make it again.
    """
    arm = placed_arm(placement, poses, placer=placer)
    sections = (
        Section("The arm at every pose", (placement_table(placement), arm)),
        Section("Where a base may stand", union_figures(placement, poses, placer=placer)),
        Section("The poses", (pose_table(placement, placer.arm.chain),)),
    )
    return Page("Where the base stands best", _LEAD, sections, provenance)


def placement_table(placement: "BasePlacement") -> Table:
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


def pose_table(placement: "BasePlacement", chain: "SerialChain") -> Table:
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
    joints = zip(chain.joints, chain.arrays.prismatic, strict=True)
    angles = (Column(name, "m" if slides else "rad") for name, slides in joints)
    return Table("", (*columns, *angles), rows)


def union_figures(
    placement: "BasePlacement", poses: Array, *, placer: "Placer", prefix: str = ""
) -> tuple[Figure, ...]:
    """Draw the map of all poses, and the best of its places in the world.

    Args:
        poses: Poses X_WT of the tool, shape (n, 4, 4).
        placer: What was asked.
        prefix: What stands before each title.
    """
    X_PW = inverse_pose(placer.plane.frame)
    X_PT = X_PW @ poses
    x, y, scores = placer.scores(X_PT)
    px, py = (X_PW @ placement.X_WB)[:2, 3].tolist()
    ahead = _FRONT * placer.radius
    marks = (
        *(
            Spot(float(p[0]), float(p[1]), "" if reached else "missed")
            for p, reached in zip(X_PT[:, :2, 3], placement.reached, strict=True)
        ),
        Spot(px, py, "base"),
        Spot(px + ahead * cos(placement.yaw), py + ahead * sin(placement.yaw), "front"),
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
            caption="Stars without a name are the poses that are reached; the base faces its"
            f" front, at a yaw of {degrees(placement.yaw):.0f} deg.",
        )
        for title, values in (
            ("what the map says of all poses", np.where(scores > 0, scores, np.nan)),
            ("the top 30 %", best),
        )
    )
    tiles = plane_tiles(x, y, values=np.nan_to_num(best), X_WP=placer.plane.frame)
    bodies = (
        *tiles,
        *pose_markers(poses, radius=placer.radius),
        *frame_marker("the base", placement.X_WB, length=0.25 * placer.radius),
        *obstacle_bodies(placer.obstacles, X_WP=placer.plane.frame),
    )
    return (*maps, Scene3D(f"{prefix}the top 30 % in the world", bodies))


def placed_arm(
    placement: "BasePlacement", poses: Array, *, placer: "Placer", prefix: str = ""
) -> Scene3D:
    """Draw the arm at every pose that is reached.

    Args:
        poses: Poses X_WT of the tool, shape (n, 4, 4).
        placer: What was asked.
        prefix: What stands before the title.
    """
    joints = placement.joints[placement.reached]
    bases = np.tile(placement.X_WB, (len(joints), 1, 1))
    title = f"{prefix}the arm at every pose it reaches"
    return arm_scene(title, placer, bases=bases, joints=joints, poses=poses)
