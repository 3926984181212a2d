"""Figures of reach-place: scores of base positions, and the arm at every pose."""

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from math import cos, degrees, sin
from typing import overload

import numpy as np

from kinetarium.batch.outcomes import case_labels
from kinetarium.batch.study import Findings, Outcome
from kinetarium.figure.charts import Axis, Spot
from kinetarium.figure.page import Figure, Section
from kinetarium.figure.replay import Replay
from kinetarium.figure.scene3d import Mesh3D, Scene3D
from kinetarium.figure.text import Cell, Column, Table, header
from kinetarium.reach.placement.branches import FARTHEST, Flip
from kinetarium.recording.recording import Recording
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import inverse_pose
from kinetarium.storage.serialization import from_builtins
from kinetarium.studies.reach.markers import (
    Stage,
    arm_scene,
    frame_marker,
    moving_links,
    plane_tiles,
    raster_chart,
    still_solids,
    surroundings,
)
from kinetarium.studies.reach.placement._follow_figures import FOLLOW, View, replay_following
from kinetarium.studies.reach.placement.cases import Case, stage_of
from kinetarium.studies.reach.placement.config import FollowCase
from kinetarium.studies.reach.placement.run import recorded_placement, was_reached

_LEAD = (
    "The base from which the arm reaches the poses. The map estimates for a raster of positions"
    " how many poses each one reaches; exact inverse kinematics then scores the best positions."
    " All configurations shown are solutions at the returned base."
)
_FRONT = 0.35
"""Distance of the mark of the base's front, as a fraction of the arm's reach."""
TOP = 0.7
"""Fraction of the highest score from which a position is one of the best (Fig. 8)."""
_MOST_SHOWN = 4
"""Maximum number of cases that are drawn; the table contains all."""
_SAMPLES = 25
"""Samples of a replay between two poses, which are 1 s apart."""


def report(outcomes: Sequence[Outcome[Case]]) -> Findings:
    """Show all cases in a table, and draw the first ones."""
    view = FOLLOW if isinstance(outcomes[0].case, FollowCase) else _PLACE
    labels = case_labels([outcome.case for outcome in outcomes])
    rows = tuple(
        (label, *(view.cells(o) if o.rows else (None,) * len(view.columns)))
        for label, o in zip(labels, outcomes, strict=True)
    )
    headline = Table("", (Column("case"), *view.columns), rows)
    done = [(label, o) for label, o in zip(labels, outcomes, strict=True) if o.recording]
    summary = {"cases": len(outcomes), "completed": len(done)}
    sections = _DrawnLater(partial(_sections, view, done[:_MOST_SHOWN], of=len(outcomes)))
    if len(outcomes) > 1 or not done:
        words = _conclude_all([outcome for _, outcome in done])
        return Findings(headline, sections, summary, lead=view.lead, conclusion=words)
    [(_, only)] = done
    stage = stage_of(only.case, only.recorded)
    tables = view.tables(only.recorded, stage)
    answer = {**only.rows[0], **view.times(only.timing)}
    return Findings(
        headline,
        sections,
        summary,
        lead=view.lead,
        tables=tables,
        answer=answer,
        conclusion=view.conclude(only),
    )


def _conclude_all(done: Sequence[Outcome[Case]]) -> str:
    whole = sum(o.rows[0].get("reachable", o.rows[0].get("reached")) == _total(o) for o in done)
    return f"{whole} of {len(done)} queries reach all of their poses."


def _total(outcome: Outcome[Case]) -> int:
    [row] = outcome.rows
    return int(row.get("total", row.get("poses", 0)))


def _conclude(outcome: Outcome[Case]) -> str:
    """Return where to put the base, what it reaches, its margins and the flips."""
    [row] = outcome.rows
    base = row["base"]
    missed = [n for n, q in enumerate(row["joints"]) if q is None]
    parts = [f"{row['reachable']} of {row['total']} poses"]
    if missed:
        parts[0] += f" (not {_listed(missed)})"
    if row.get("clearance_m") is not None:
        most = "at least " if row["clearance_m"] >= FARTHEST else ""
        parts.append(f"clearance {most}{1e3 * row['clearance_m']:.0f} mm")
    if row.get("limit_margin") is not None:
        parts.append(f"joints {degrees(row['limit_margin']):.0f} degrees from their limits")
    if row.get("flips") is not None:
        flips = [str(from_builtins(Flip, flip, where="a flip")) for flip in row["flips"]]
        parts.append(_counted(flips) if flips else "one branch without a flip")
    if row.get("kept") is not None:
        kept = "all" if row["robust"] else f"at worst {min(row['kept']):.0%}"
        parts.append(f"{kept} kept under the errors of the base")
    stops = row.get("tour") or [row]
    roots = [each.get("root_pose") or base for each in stops]
    where = ", then ".join(
        f"({root['x']:.2f}, {root['y']:.2f}), {degrees(root['yaw']):.0f} degrees" for root in roots
    )
    start = f"Stop {len(stops)} times, at" if len(stops) > 1 else "Put the base at"
    words = f"{start} {where}: " + ", ".join(parts) + "."
    if row.get("slow"):
        words += (
            f" Joints would exceed their speed limits before {_listed(row['slow'])}:"
            " the tool must be slower there."
        )
    return words


def _counted(flips: list[str]) -> str:
    if len(flips) == 1:
        return f"one {flips[0]}"
    return f"{len(flips)} flips: {'; '.join(flips)}"


def _listed(numbers: Sequence[int]) -> str:
    """Return numbers as text, consecutive ones as ranges."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = [
        f"{run[0]} to {run[-1]}" if len(run) > 2 else " and ".join(map(str, run)) for run in runs
    ]
    return ", ".join(texts)


class _DrawnLater(Sequence[Section]):
    """Sections that are drawn when they are first read."""

    def __init__(self, draw: Callable[[], tuple[Section, ...]]) -> None:
        self._draw = draw

    @cached_property
    def _drawn(self) -> tuple[Section, ...]:
        return self._draw()

    @overload
    def __getitem__(self, index: int) -> Section: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Section, ...]: ...
    def __getitem__(self, index: int | slice) -> Section | tuple[Section, ...]:
        return self._drawn[index]

    def __len__(self) -> int:
        return len(self._drawn)


def _sections(
    view: View, shown: Sequence[tuple[str, Outcome[Case]]], *, of: int
) -> tuple[Section, ...]:
    sections: list[Section] = []
    for label, outcome in shown:
        stage = stage_of(outcome.case, outcome.recorded)
        end = f": {label}" if of > 1 else ""
        figures = view.figures(outcome.recorded, stage)
        sections += [Section(f"{title}{end}", drawn) for title, drawn in figures.items()]
    return tuple(sections)


def _cells(outcome: Outcome[Case]) -> tuple[Cell, ...]:
    [row] = outcome.rows
    x, y, z, yaw = (row["base"][name] for name in ("x", "y", "z", "yaw"))
    reached = (row[name] for name in ("reachable", "total", "manipulability"))
    return x, y, z, degrees(yaw), *reached, 1e3 * outcome.timing.get("query_s", np.nan)


def _figures(recording: Recording, stage: Stage) -> dict[str, tuple[Figure, ...]]:
    return {
        "The arm at every pose": (placed_arm(recording, stage),),
        "Scores of base positions": score_maps(recording, stage),
        "The poses": (_pose_table(recording, stage),),
    }


_PLACE = View(
    _LEAD,
    header("x [m] | y [m] | z [m] | yaw [deg] | reached | of | manipulability [m^3] | query [ms]"),
    _cells,
    _figures,
    lambda timing: {"elapsed_ms": 1e3 * timing["query_s"]},
    _conclude,
    lambda recording, stage: (_pose_table(recording, stage),),
)


def _pose_table(recording: Recording, stage: Stage) -> Table:
    """Return the solution of every pose (Table 1)."""
    names = ["manipulability", "limit_margin", "clearance"]
    if "clearance" not in recording.channels or np.isnan(recording["clearance"]).all():
        names = names[:2] if "limit_margin" in recording.channels else names[:1]
    solved = np.column_stack([*(recording[n] for n in names), recording["joints"]]).tolist()
    rows = tuple(
        (number, *(("yes", *values) if reached else ("no", *(None for _ in values))))
        for number, (values, reached) in enumerate(zip(solved, was_reached(recording), strict=True))
    )
    joints = zip(stage.arm.joints, stage.arm.arrays.prismatic, strict=True)
    angles = (Column(name, "m" if slides else "rad") for name, slides in joints)
    margins = header("limit margin [rad] | clearance [m]")[: len(names) - 1]
    columns = (*header("pose | reached | manipulability [m^3]"), *margins)
    return Table("", (*columns, *angles), rows)


def score_maps(recording: Recording, stage: Stage, *, prefix: str = "") -> tuple[Figure, ...]:
    """Draw the scores of base positions by the map, and the best positions in the world.

    Args:
        prefix: Prefix of each title.
    """
    placement, poses = recorded_placement(recording), recording["poses"]
    X_PW = inverse_pose(stage.plane.frame)
    px, py = (X_PW @ placement.X_WB)[:2, 3].tolist()
    ahead = _FRONT * stage.radius
    marks = (
        *(
            Spot(float(p[0]), float(p[1]), "" if reached else "not reached")
            for p, reached in zip((X_PW @ poses)[:, :2, 3], placement.reached, strict=True)
        ),
        Spot(px, py, "base"),
        Spot(px + ahead * cos(placement.yaw), py + ahead * sin(placement.yaw), "front"),
    )
    maps = tuple(
        raster_chart(
            f"{prefix}{title}",
            values.T,
            axes=(("x", recording["x"]), ("y", recording["y"])),
            value=Axis("sum over the poses"),
            marks=marks,
            caption="Stars without a label are reached poses; the yaw of the base is"
            f" {degrees(placement.yaw):.0f} deg, towards the mark 'front'.",
        )
        for title, values in (
            ("scores of base positions", recording["scores"]),
            ("the top 30 %", _best_scores(recording)),
        )
    )
    bodies = (
        *_best_positions(recording, stage),
        *surroundings(stage, poses),
        *frame_marker("the base", placement.X_WB, length=0.25 * stage.radius),
    )
    return (*maps, Scene3D(f"{prefix}the top 30 % in the world", bodies))


def placed_arm(recording: Recording, stage: Stage, *, prefix: str = "") -> Scene3D:
    """Draw the arm at every reached pose.

    Args:
        prefix: Prefix of the title.
    """
    bases, joints = _reached(recording)
    title = f"{prefix}the arm at every reached pose"
    return arm_scene(title, stage, bases=bases, joints=joints, poses=recording["poses"])


def replay(case: Case, recording: Recording) -> Replay:
    """Return the arm moving from pose to pose as a replay, with the best base positions.

    Joint positions are interpolated between the poses; this motion is not planned.
    """
    stage = stage_of(case, recording)
    if isinstance(case, FollowCase):
        return replay_following(recording, stage)
    bases, joints = _reached(recording)
    last = len(joints) - 1
    time = np.linspace(0.0, last, _SAMPLES * last + 1)
    q = np.column_stack([np.interp(time, np.arange(last + 1), each) for each in joints.T])
    X_WB = bases[time.astype(np.int64)]
    still = (*_best_positions(recording, stage), *surroundings(stage, recording["poses"]))
    solids = (*moving_links(stage.arm, bases=X_WB, joints=q), *still_solids(still))
    return Replay(time, solids, trails=(stage.arm.tool,))


def _reached(recording: Recording) -> tuple[Array, Array]:
    """Return base poses and joint positions for every reached pose."""
    placement = recorded_placement(recording)
    joints = placement.joints[placement.reached]
    if "pose_bases" in recording.channels:  # several stops
        return recording["pose_bases"][placement.reached], joints
    return np.tile(placement.X_WB, (len(joints), 1, 1)), joints


def _best_positions(recording: Recording, stage: Stage) -> tuple[Mesh3D, ...]:
    x, y, best = recording["x"], recording["y"], _best_scores(recording)
    return plane_tiles(x, y, values=best, X_WP=stage.plane.frame)


def _best_scores(recording: Recording) -> Array:
    scores = recording["scores"]
    return np.where(scores >= TOP * scores.max(), scores, 0.0)
