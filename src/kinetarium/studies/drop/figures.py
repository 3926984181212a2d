"""Report of the drop study: every fall compared with the closed form."""

from collections.abc import Sequence

import numpy as np

from kinetarium.batch.outcomes import Outcomes, case_labels, case_table
from kinetarium.batch.study import Findings, Outcome
from kinetarium.figure.charts import Axis, Lines, Mark, Series, Side, Style
from kinetarium.figure.page import Section
from kinetarium.figure.replay import Replay
from kinetarium.figure.scene3d import Mesh3D, Scene3D
from kinetarium.figure.scene_replay import scene_replay
from kinetarium.figure.text import Prose
from kinetarium.model.mesh.solids import triangulate
from kinetarium.model.robot import Box
from kinetarium.recording.recording import Recording
from kinetarium.spatial.arrays import Array, frozen
from kinetarium.spatial.rotation import pose, rotation_from_quaternion
from kinetarium.studies.drop.cases import fall_time, fallen
from kinetarium.studies.drop.config import Case
from kinetarium.studies.drop.run import scene
from kinetarium.studies.drop.score import lower_face

_LEAD = (
    "A box is dropped onto the ground. Until impact every engine should follow"
    " z = z0 - g t²/2; then the box should come to rest upright where it landed. Errors before"
    " the impact are due to the integrator, errors after it to the contact model."
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
)

_AFTER = 0.15
"""Time after the impact that is drawn [s]."""

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
    return Findings(case_table(named, _COLUMNS), sections, summary, lead=_LEAD)


def replay(case: Case, recording: Recording) -> Replay:
    """Return the fall as a replay."""
    return scene_replay(scene(case), recording, trails=("box",))


def _sections(boxes: Sequence[tuple[str, Outcome[Case]]]) -> tuple[Section, ...]:
    first = boxes[0][1].case
    impact = fall_time(first.height)
    time = np.linspace(0.0, impact, 200)
    ideal = Series("closed form", time, first.height - fallen(time), Style.DASHED)
    seconds = Axis("time", "s")
    height = Lines(
        "Height of the lower face",
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
    return (
        Section("The fall", (height, error)),
        Section("At rest", (rest,)),
        Section(
            "The scene", (_strobe(outcome), Prose(f"The fall at equal time intervals: {label}."))
        ),
    )


def _height(label: str, outcome: Outcome[Case]) -> Series:
    time, height = _samples(outcome)
    return Series(label, time, height)


def _fall_error(label: str, outcome: Outcome[Case]) -> Series:
    time, height = _samples(outcome)
    falling = time < fall_time(outcome.case.height) - outcome.case.timestep
    error = np.abs(height - (outcome.case.height - fallen(time)))
    return Series(label, time[falling], error[falling] * 1e3)


def _rest(label: str, outcome: Outcome[Case]) -> Series:
    time, height = _samples(outcome)
    impact = fall_time(outcome.case.height)
    after = (time > impact - outcome.case.timestep) & (time < impact + _AFTER)
    return Series(label, time[after], height[after] * 1e3)


def _samples(outcome: Outcome[Case]) -> tuple[Array, Array]:
    return outcome.recorded["time"], lower_face(outcome.case, outcome.recorded)


def _strobe(outcome: Outcome[Case]) -> Scene3D:
    case, recording = outcome.case, outcome.recorded
    mesh = triangulate(Box((case.size, case.size, case.size)))
    last = int(np.searchsorted(recording["time"], fall_time(case.height) + 0.05))
    bodies = []
    for index in np.linspace(0, min(last, len(recording["time"]) - 1), _INSTANTS).astype(int):
        placed = recording["poses"][index, 0]
        X_WB = frozen(pose(placed[:3], rotation_from_quaternion(placed[3:])))
        time = float(recording["time"][index])
        bodies.append(Mesh3D(f"{time:.3f} s", mesh, (0.25, 0.45, 0.75, 1.0), X_WB))
    return Scene3D("The falling box", tuple(bodies))
