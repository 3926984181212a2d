"""Figures of a base that follows a trajectory."""

from typing import TYPE_CHECKING

import numpy as np

from kinetarium.figure.charts import Axis, Lines, Mark, Series, Style
from kinetarium.figure.page import Page, Section
from kinetarium.figure.text import Column, Table
from kinetarium.reach.placement.follow import describe_following
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose, pose, rotation_about
from kinetarium.studies.reach.markers import arm_scene

if TYPE_CHECKING:
    from kinetarium.reach.placement.follow import Following
    from kinetarium.reach.placement.query import Placer

_LEAD = (
    "A base that drives along while its arm follows a trajectory: at every tick it looks ahead,"
    " keeps a place from which all that comes is reached, and otherwise drives to another."
)
_INSTANTS = 7
"""Instants at which the arm is drawn."""


def follow_page(
    following: "Following",
    poses: Array,
    *,
    placer: "Placer",
    provenance: tuple[tuple[str, str], ...],
) -> Page:
    """Return the page of a way.

    Args:
        following: The way.
        poses: Poses X_WT of the tool, shape (n, 4, 4).
        placer: What was asked.
        provenance: How to make it again.
    """
    t, bases, reached = following.times, following.bases, following.reached
    X_PT = inverse_pose(placer.plane.frame) @ poses
    lost = X_PT[~reached]
    missed = [Series("missed", lost[:, 0, 3], lost[:, 1, 3], Style.MARKERS)] if len(lost) else []
    way = Lines(
        "The way of the base and of the tool, from above",
        Axis("x", "m"),
        Axis("y", "m"),
        (
            Series("tool", X_PT[:, 0, 3], X_PT[:, 1, 3]),
            Series("base", bases[:, 0], bases[:, 1]),
            *missed,
        ),
        equal=True,
    )
    seconds = Axis("time", "s")
    quality = Lines(
        "How freely the arm moves",
        seconds,
        Axis("manipulability", "m^3"),
        (Series("manipulability", t, following.manipulability),),
        caption="Gaps are poses that were missed.",
    )
    yaw = Lines(
        "Where the base faces",
        seconds,
        Axis("yaw", "rad"),
        (Series("yaw", t, np.unwrap(bases[:, 2])),),
    )
    cost = Lines(
        "What each tick took",
        seconds,
        Axis("time", "ms", log=True),
        (Series("planning", t, 1e3 * following.plans),),
        marks=(Mark(10.0, "100 Hz"),),
    )
    some = np.flatnonzero(reached)
    some = some[np.unique(np.linspace(0, len(some) - 1, _INSTANTS).astype(int))]
    X_WB = np.array([_base(placer, base) for base in bases[some]])
    scene = arm_scene(
        "The arm at instants of its way",
        placer,
        bases=X_WB,
        joints=following.joints[some],
        poses=poses[some],
    )
    sections = (
        Section("The way", (follow_table(following), way, scene)),
        Section("Over time", (quality, yaw, cost)),
    )
    return Page("A base that follows", _LEAD, sections, provenance)


def follow_table(following: "Following") -> Table:
    """Say what came of it."""
    data = describe_following(following)
    columns = (
        Column("poses"), Column("reached"), Column("duration", "s"), Column("way", "m"),
        Column("planning", "Hz"),
    )  # fmt: skip
    row = (data["poses"], data["reached"], data["duration_s"], data["way_m"], following.rate)
    return Table("", columns, (row,))


def _base(placer: "Placer", base: Array) -> Array:
    X_PB = pose((base[0], base[1], 0.0), rotation_about((0, 0, 1), base[2]))
    return np.asarray(placer.plane.frame @ X_PB)
