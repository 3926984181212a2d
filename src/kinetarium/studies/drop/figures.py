"""Report of the drop study: every fall compared with the closed form."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kinetarium.batch.outcomes import (
    Outcomes,
    and_list,
    case_labels,
    case_table,
    robot_name,
    verdict_of,
)
from kinetarium.batch.study import Findings, Outcome
from kinetarium.figure.charts import Axis, Lines, Mark, Series, Side, Style
from kinetarium.figure.page import Section
from kinetarium.figure.replay import Replay
from kinetarium.figure.scene3d import Mesh3D, Scene3D
from kinetarium.figure.scene_replay import scene_replay
from kinetarium.figure.text import Column, Prose, Table
from kinetarium.model.mesh.solids import triangulate
from kinetarium.recording.recording import Recording
from kinetarium.scene import Plane
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.gravity import GRAVITY
from kinetarium.spatial.rotation import pose, rotation_from_quaternion
from kinetarium.studies.drop.config import Case, fall_time, fallen
from kinetarium.studies.drop.run import lower_face, normal, scene

_LEAD = (
    "A box is dropped onto the ground. Until impact every engine should follow"
    " z = z0 - g t²/2; then the box should come to rest upright where it landed. Errors before"
    " the impact are due to the integrator, errors after it to the contact model."
)
_ROBOT_LEAD = (
    "A robot, held at its home pose by servos, is dropped onto the ground. Until impact its centre"
    " of mass should follow z = z0 - g t²/2 in every engine; no impact may add energy, and at the"
    " end nothing may be below the ground."
)

_COLUMNS = (
    ("fall_error_m", "fall error", "mm", 1e3),
    ("first_order_m", "first order", "mm", 1e3),
    ("impact_speed_error", "impact speed error", "%", 1e2),
    ("bounce_m", "bounce", "mm", 1e3),
    ("settle_s", "settling time", "s", 1.0),
    ("rest_depth_m", "penetration at rest", "mm", 1e3),
    ("rest_tilt_deg", "tilt", "deg", 1.0),
    ("drift_m", "drift", "mm", 1e3),
    ("depth_m", "greatest penetration", "mm", 1e3),
    ("energy_gain", "energy gain", "%", 1e2),
)

_AFTER = 0.15
"""Time after the impact that is drawn [s]."""

Named = Sequence[tuple[str, Outcome[Case]]]

_INSTANTS = 7
"""Number of boxes in the stroboscopic picture."""


def report(outcomes: Sequence[Outcome[Case]]) -> Findings:
    """Compare all falls with the closed form."""
    labels = case_labels([outcome.case for outcome in outcomes])
    named = list(zip(labels, outcomes, strict=True))
    fallen_boxes = [(label, outcome) for label, outcome in named if outcome.recording]
    sections = _sections(fallen_boxes) if fallen_boxes else ()
    summary = {
        engine: {"cases": len(group), **group.spreads(key for key, *_ in _COLUMNS)}
        for (engine,), group in Outcomes(outcomes).by("engine").items()
    }
    return Findings(
        _with_verdicts(case_table(named, _COLUMNS), named),
        sections,
        summary,
        lead=_ROBOT_LEAD if any(outcome.case.robot for outcome in outcomes) else _LEAD,
        conclusion=_conclusion(named),
    )


def _with_verdicts(table: Table, named: Named) -> Table:
    """Put the verdicts beside the names of the cases."""
    rows = tuple(
        (name, *verdict_of(outcome), *row[2:])
        for (name, outcome), row in zip(named, table.rows, strict=True)
    )
    columns = (table.columns[0], Column("verdict"), Column("cause"), *table.columns[2:])
    return replace(table, columns=columns, rows=rows)


def _conclusion(named: Named) -> str:
    found: dict[str, list[tuple[str, str]]] = {}
    for label, outcome in named:
        verdict, cause = verdict_of(outcome)
        found.setdefault(verdict, []).append((label, cause))
    parts = []
    for verdict, cases in found.items():
        labels = [label for label, _ in cases]
        who = "in all cases" if len(found) == 1 and len(cases) > 1 else f"in {and_list(labels)}"
        cause = next((cause for _, cause in cases if cause), "")
        parts.append(f"{verdict} {who}" + (f" ({cause})" if cause else ""))
    robots = {outcome.case.robot or str(outcome.case.shape) for _, outcome in named}
    what = and_list(sorted(map(robot_name, robots)))
    rows = [outcome.rows[0] for _, outcome in named if outcome.rows]
    errors = [row["fall_error_m"] for row in rows if row["fall_error_m"] is not None]
    fall = f" Falls are within {1e3 * max(errors):.2g} mm of the closed form," if errors else ""
    gains = [row["energy_gain"] for row in rows]
    energy = f" the greatest energy gain is {max(gains):.1%}." if fall else ""
    return f"The {what} {'; '.join(parts)}.{fall}{energy}"


def replay(case: Case, recording: Recording) -> Replay:
    """Return the fall as a replay."""
    moving = scene(case)
    root = f"{moving.robots[0].name}/{moving.robots[0].model.root}" if case.robot else "box"
    return scene_replay(moving, recording, trails=(root,))


def _sections(boxes: Named) -> tuple[Section, ...]:
    first = boxes[0][1].case
    impact = fall_time(first.height)
    time = np.linspace(0.0, impact, 200)
    upright = float(normal(first)[2])
    ideal = Series("closed form", time, upright * (first.height - fallen(time)), Style.DASHED)
    seconds = Axis("time", "s")
    height = Lines(
        "Height of the centre of mass" if first.robot else "Height of the lower face",
        seconds,
        Axis("height", "m"),
        (*(_height(label, outcome) for label, outcome in boxes), ideal),
        caption=f"Closed form of a fall of {first.height:g} m, until impact.",
        marks=(Mark(0.0, "ground"),),
    )
    error = Lines(
        "Error of the height before the impact",
        seconds,
        Axis("error", "mm"),
        tuple(_fall_error(label, outcome) for label, outcome in boxes),
        caption="The error of semi-implicit Euler is g t dt / 2, a straight line.",
        marks=(Mark(impact, "impact", Side.X),),
    )
    rest = Lines(
        "Coming to rest",
        seconds,
        Axis("height", "mm"),
        tuple(_rest(label, outcome) for label, outcome in boxes),
        caption="Below zero the box penetrates the ground.",
        marks=(Mark(0.0, "ground"),),
    )
    label, outcome = boxes[0]
    shown = [
        Section("The fall", (height, error)),
        Section("At rest", (rest, _energy(boxes))),
    ]
    if not outcome.case.robot:
        words = Prose(f"The fall at equal time intervals: {label}.")
        shown.append(Section("The scene", (_strobe(outcome), words)))
    return tuple(shown)


def _energy(boxes: Named) -> Lines:
    series = []
    for label, outcome in boxes:
        energy = outcome.recorded["fall"][:, 4]
        scale = outcome.recorded.facts["mass"] * GRAVITY * outcome.case.height
        series.append(Series(label, outcome.recorded["time"], 1e2 * (energy - energy[0]) / scale))
    return Lines(
        "Energy over that at the start",
        Axis("time", "s"),
        Axis("change over m g h", "%"),
        tuple(series),
        caption="An impact may only take energy.",
        marks=(Mark(0.0, ""),),
    )


def _height(label: str, outcome: Outcome[Case]) -> Series:
    time, height = _samples(outcome)
    return Series(label, time, height)


def _fall_error(label: str, outcome: Outcome[Case]) -> Series:
    time, height = _samples(outcome)
    falling = time < fall_time(outcome.case.height) - outcome.case.timestep
    ideal = normal(outcome.case)[2] * (outcome.case.height - fallen(time))
    error = np.abs(height - ideal)
    return Series(label, time[falling], error[falling] * 1e3)


def _rest(label: str, outcome: Outcome[Case]) -> Series:
    time, height = _samples(outcome)
    impact = fall_time(outcome.case.height)
    after = (time > impact - outcome.case.timestep) & (time < impact + _AFTER)
    if outcome.case.robot:
        height = outcome.recorded["fall"][:, 3]
    return Series(label, time[after], height[after] * 1e3)


def _samples(outcome: Outcome[Case]) -> tuple[Array, Array]:
    return outcome.recorded["time"], lower_face(outcome.case, outcome.recorded)


def _strobe(outcome: Outcome[Case]) -> Scene3D:
    case, recording = outcome.case, outcome.recorded
    body = scene(case).bodies[1]
    assert not isinstance(body.shape, Plane)
    mesh = triangulate(body.shape)
    last = int(np.searchsorted(recording["time"], fall_time(case.height) + 0.05))
    bodies = []
    for index in np.linspace(0, min(last, len(recording["time"]) - 1), _INSTANTS).astype(int):
        placed = recording["poses"][index, 0]
        X_WB = frozen(pose(placed[:3], rotation_from_quaternion(placed[3:])))
        time = float(recording["time"][index])
        bodies.append(Mesh3D(f"{time:.3f} s", mesh, (0.25, 0.45, 0.75, 1.0), X_WB))
    return Scene3D("The falling box", tuple(bodies))
