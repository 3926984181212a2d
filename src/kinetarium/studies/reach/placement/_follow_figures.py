"""Figures of reach-follow: the paths of base and tool, and snapshots of the arm."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from kinetarium.batch.study import Outcome
from kinetarium.figure.charts import Axis, Lines, Series, Style
from kinetarium.figure.page import Figure
from kinetarium.figure.replay import Guide, Replay
from kinetarium.figure.scene3d import Scene3D
from kinetarium.figure.text import Cell, Column, Table, header
from kinetarium.reach.placement.search import base_pose
from kinetarium.recording.recording import Recording
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose
from kinetarium.studies.reach.markers import (
    Stage,
    arm_scene,
    moving_links,
    still_solids,
    surroundings,
)
from kinetarium.studies.reach.placement.run import was_reached


class View(NamedTuple):
    """How a study is reported.

    Attributes:
        lead: The report's first paragraph.
        columns: Columns of the headline table.
        cells: Returns a row of it.
        figures: Draws a case; figures by section title.
        times: Returns the computing times for the command's JSON output.
        conclude: Returns the result of a case in words.
        tables: Returns the tables that the command prints for a single case.
    """

    lead: str
    columns: tuple[Column, ...]
    cells: Callable[[Outcome[Any]], tuple[Cell, ...]]
    figures: Callable[[Recording, Stage], dict[str, tuple[Figure, ...]]]
    times: Callable[[Mapping[str, float]], dict[str, float]]
    conclude: Callable[[Outcome[Any]], str]
    tables: Callable[[Recording, Stage], tuple[Table, ...]] = lambda recording, stage: ()


_SNAPSHOTS = 7
"""Number of configurations of the arm that are drawn."""


def _cells(outcome: Outcome[Any]) -> tuple[Cell, ...]:
    # Imported here: it loads SciPy's splines, and a placement has figures too.
    from kinetarium.reach.placement.follow import USES

    [row] = outcome.rows
    names = ("poses", "reached", "duration_s", "way_m", "violations")
    uses = (row.get(f"{name.replace(' ', '_')}_use") for name in USES[:1] + USES[2:3])
    return *(row.get(name) for name in names), *uses, outcome.timing.get("plan_s")


def _conclude(outcome: Outcome[Any]) -> str:
    [row] = outcome.rows
    words = (
        f"The arm reaches {row['reached']} of {row['poses']} poses in {row['duration_s']:.3g} s"
        f" while the base drives {row['way_m']:.2f} m."
    )
    if "drivable" not in row:  # a run of an earlier release
        return words
    if row["drivable"]:
        return words + (
            f" It can be driven: joints use {100 * row['joint_speed_use']:.0f} % of their speed"
            f" and {100 * row['joint_acceleration_use']:.0f} % of their acceleration, the base"
            f" {100 * row['base_speed_use']:.0f} % and {100 * row['base_acceleration_use']:.0f} %."
        )
    first = row["faults"][0]
    where = f"at {first['begin_m']:.2f} m"
    if first["end_m"] > first["begin_m"]:
        where = f"from {first['begin_m']:.2f} to {first['end_m']:.2f} m of the tool's path"
    more = f" ({len(row['faults'])} such parts)" if len(row["faults"]) > 1 else ""
    return words + f" No motion was found that can be driven {where}: {first['reason']}{more}."


def _figures(recording: Recording, stage: Stage) -> dict[str, tuple[Figure, ...]]:
    return {
        "Path": (_from_above(recording, stage), _snapshots(recording, stage)),
        "Over time": _over_time(recording),
        **({"Limits": _limits(recording)} if "limit_use" in recording.channels else {}),
    }


FOLLOW = View(
    "A mobile base drives so that its arm follows a trajectory. Base and arm are optimised together"
    " over the whole trajectory, within the limits of joints and base; a base with wheels never"
    " moves sideways.",
    header(
        "poses | reached | duration [s] | path length [m] | ticks with violations"
        " | joint speed [of limit] | base speed [of limit] | planning [s]"
    ),
    _cells,
    _figures,
    lambda timing: {"plan_s": timing["plan_s"]} if "plan_s" in timing else {},
    _conclude,
)


def _limits(recording: Recording) -> tuple[Figure, ...]:
    # Imported here: it loads SciPy's splines, and a placement has figures too.
    from kinetarium.reach.placement.follow import USES

    time, use = recording["time"], recording["limit_use"]
    lines = Lines(
        "Use of the limits",
        Axis("time", "s"),
        Axis("use of the limit"),
        tuple(Series(name, time, use[:, i]) for i, name in enumerate(USES)),
        caption="A limit is exceeded above 1.",
    )
    faults = recording.facts["faults"]
    if not faults:
        return (lines,)
    rows = tuple((fault["begin"], fault["end"], fault["reason"]) for fault in faults)
    return lines, Table(
        "Where no motion was found that can be driven", header("from [m] | to [m] | reason"), rows
    )


def _from_above(recording: Recording, stage: Stage) -> Lines:
    X_PT = inverse_pose(stage.plane.frame) @ recording["poses"]
    bases, lost = recording["bases"], X_PT[~was_reached(recording)]
    missed = Series("not reached", lost[:, 0, 3], lost[:, 1, 3], Style.MARKERS)
    return Lines(
        "Paths of base and tool, from above",
        Axis("x", "m"),
        Axis("y", "m"),
        (
            Series("tool", X_PT[:, 0, 3], X_PT[:, 1, 3]),
            Series("base", bases[:, 0], bases[:, 1]),
            *([missed] if len(lost) else []),
        ),
        equal=True,
    )


def _over_time(recording: Recording) -> tuple[Lines, ...]:
    time, seconds = recording["time"], Axis("time", "s")
    return (
        Lines(
            "Manipulability of the arm",
            seconds,
            Axis("manipulability", "m^3"),
            (Series("manipulability", time, recording["manipulability"]),),
            caption="Gaps are poses that were not reached.",
        ),
        Lines(
            "Yaw of the base",
            seconds,
            Axis("yaw", "rad"),
            (Series("yaw", time, np.unwrap(recording["bases"][:, 2])),),
        ),
    )


def _snapshots(recording: Recording, stage: Stage) -> Scene3D:
    some = np.flatnonzero(was_reached(recording))
    some = some[np.unique(np.linspace(0, len(some) - 1, _SNAPSHOTS).astype(int))]
    return arm_scene(
        "Snapshots of the arm along the path",
        stage,
        bases=_bases(recording, stage)[some],
        joints=recording["joints"][some],
        poses=recording["poses"][some],
    )


def replay_following(recording: Recording, stage: Stage) -> Replay:
    """Return the arm on its base as a replay; it holds its configuration at unreached poses."""
    reached = was_reached(recording)
    last = np.maximum.accumulate(np.where(reached, np.arange(len(reached)), np.argmax(reached)))
    bases, joints = _bases(recording, stage), recording["joints"][last]
    links = moving_links(stage.arm, bases=bases, joints=joints)
    still = still_solids(surroundings(stage, recording["poses"][:0]))
    way = Guide("trajectory", recording["poses"][:, :3, 3])
    trails = (stage.arm.base_link, stage.arm.tool)
    return Replay(recording["time"], (*links, *still), guides=(way,), trails=trails)


def _bases(recording: Recording, stage: Stage) -> Array:
    """Return the poses X_WB of the base, shape (n, 4, 4)."""
    return np.asarray(stage.plane.frame @ np.array([base_pose(b) for b in recording["bases"]]))
