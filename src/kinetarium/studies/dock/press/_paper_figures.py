"""The paper's Figs. 2 to 7, drawn from recordings."""

from collections.abc import Sequence
from itertools import cycle

import numpy as np

from kinetarium.batch.study import Outcome
from kinetarium.control.admittance.law import gain_terms
from kinetarium.figure.charts import Axis, Lines, Mark, Series, Side, Style
from kinetarium.figure.page import Diagram, DiagramBlock, Figure, Section, Signal
from kinetarium.figure.text import Prose
from kinetarium.recording.recording import Recording
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dock.press.config import DockCase, ForceCase
from kinetarium.studies.dock.press.presets import (
    case_gains,
    desired_wrench,
    wanted_wrench,
)


def loop_diagram() -> Diagram:
    """Return the block diagram of the controller."""
    return Diagram(
        "The control loop",
        (
            DiagramBlock("path", "0.20 m in 4.0 s, quintic", 0, 0),
            DiagramBlock("pose error", "T~ = T_wb^-1 T_des\nl = log T~", 1, 0),
            DiagramBlock("law", "V_ref = Ad(T~)\n(V_des - D^-1 (I - K l))", 2, 0),
            DiagramBlock("inverse kinematics", "J^-1 (V_ref\n+ K_c log(T_wb^-1 T_ref))", 3, 0),
            DiagramBlock("set points", "interpolated,\ndelayed", 4, 0),
            DiagramBlock("desired wrench", "F_des, after the gate", 0, 1),
            DiagramBlock("wrench error", "F~ = s (F_des\n- Ad(T~)^T F_b)", 1, 1),
            DiagramBlock("impulse", "I = integral of F~,\ngated and bounded", 2, 1),
            DiagramBlock("forward kinematics", "T_wb of the satellite", 3, 1),
            DiagramBlock("arm", "servos; feed-forward of\nweight and rate", 4, 1),
            DiagramBlock("gate", "opens once above\nits threshold", 0, 2),
            DiagramBlock("weight", "F_b = Ad(T_sb)^T F_s\n- [R_wb^T m g; 0]", 1, 2),
            DiagramBlock("filter", "mean over the tick,\nKalman", 2, 2),
            DiagramBlock("sensor", "at the flange,\nwith noise", 3, 2),
            DiagramBlock("contact", "of the docking faces", 4, 2),
        ),
        (
            Signal("path", "pose error", "T_des, V_des"),
            Signal("pose error", "law", "l, T~"),
            Signal("law", "inverse kinematics", "V_ref"),
            Signal("inverse kinematics", "set points", "q"),
            Signal("set points", "arm", "q, qdot"),
            Signal("arm", "forward kinematics", "q"),
            Signal("forward kinematics", "inverse kinematics", "T_wb"),
            Signal("arm", "contact", "pose"),
            Signal("contact", "sensor", "wrench"),
            Signal("sensor", "filter", "F_s"),
            Signal("filter", "weight", "F_s"),
            Signal("weight", "gate", "|f_b|"),
            Signal("weight", "wrench error", "F_b"),
            Signal("gate", "desired wrench", "open"),
            Signal("desired wrench", "wrench error", "F_des"),
            Signal("wrench error", "impulse", "F~"),
            Signal("impulse", "law", "I"),
        ),
        caption="T_wb is also used for the pose error; some presets use the reference T_ref"
        " instead, and end the path at contact. {w} is the world, {b} the satellite, {s} the"
        " sensor, {d} the desired pose; F_des, F~, I, D and K are in {d}, V_ref in {b}.",
    )


Named = Sequence[tuple[str, Outcome[DockCase]]]

_SECONDS = Axis("time", "s")
_AXES = ("x", "y", "z")
_MAGNIFIED = 0.6
"""Time after contact that is drawn [s]."""
_MOST_RUNS = 12
"""Maximum number of runs in one figure; the table above lists them all."""


def paper_figures(runs: Named) -> list[Section]:
    """Return a section for each figure; Figs. 3 to 5 show the first run of case A, if any."""
    first = next(((label, o) for label, o in runs if o.case.case is ForceCase.A), runs[0])
    label, outcome = first
    case, recording = outcome.case, outcome.recorded
    chosen = _one_of_each(runs)
    return [
        Section("The loop (Fig. 2)", (loop_diagram(),)),
        Section("Exponential coordinates (Fig. 3)", _coordinates(label, recording)),
        Section("Desired and measured wrench (Fig. 4)", _wrenches(label, recording)),
        Section("The two gain terms (Fig. 5)", _gain_terms(label, case, recording)),
        Section("The desired forces (Fig. 6)", _forces(chosen)),
        Section("The transient after contact (Fig. 7)", _transients(chosen)),
    ]


def _one_of_each(runs: Named) -> Named:
    """Keep the first seed of each preset, case and engine."""
    seen: dict[tuple[str, str, str], tuple[str, Outcome[DockCase]]] = {}
    for label, outcome in runs:
        case = outcome.case
        seen.setdefault((case.preset, case.case, case.engine), (label, outcome))
    return list(seen.values())


def _coordinates(label: str, recording: Recording) -> tuple[Figure, ...]:
    time, error = recording["time"], recording["error"]
    eta = _three("eta", time, error[:, :3] * 1e3)
    xi = _three("xi", time, error[:, 3:] * 1e3)
    return (
        Lines(f"Linear coordinates, {label}", _SECONDS, Axis("eta", "mm"), eta),
        Lines(
            f"Angular coordinates, {label}",
            _SECONDS,
            Axis("xi", "mrad"),
            xi,
            caption="They grow while the path continues into the target, then stay constant.",
        ),
    )


def _wrenches(label: str, recording: Recording) -> tuple[Figure, ...]:
    time, sensed, desired = recording["time"], recording["sensed"], recording["desired"]
    force = (
        *_three("f", time, sensed[:, :3]),
        *(
            Series(f"desired f {axis}", time, desired[:, i], Style.DASHED)
            for i, axis in enumerate(_AXES)
            if desired[:, i].any()
        ),
    )
    return (
        Lines(f"Force, {label}", _SECONDS, Axis("force", "N"), force),
        Lines(
            f"Moment, {label}", _SECONDS, Axis("moment", "N m"), _three("m", time, sensed[:, 3:])
        ),
    )


def _gain_terms(label: str, case: DockCase, recording: Recording) -> tuple[Figure, ...]:
    gains = case_gains(case)
    D, K = gains.diagonal_D, gains.diagonal_K
    pull, push = gain_terms(recording["error"], recording["impulse"], D=D, K=K)
    time = recording["time"]
    return (
        Lines(
            f"Kp l, position term, {label}",
            _SECONDS,
            Axis("rate", "mm/s"),
            _three("eta", time, pull[:, :3] * 1e3),
        ),
        Lines(
            f"Kv times the impulse, force term, {label}",
            _SECONDS,
            Axis("rate", "mm/s"),
            _three("eta", time, push[:, :3] * 1e3),
            caption="In steady state the two cancel: force and path cannot both be tracked.",
        ),
    )


def _forces(runs: Named) -> tuple[Figure, ...]:
    figures: list[Figure] = []
    for wanted, of_case in _by_case(runs).items():
        series = [
            Series(label, recording["time"], recording["sensed"][:, 0], style)
            for label, recording, style in of_case
        ]
        if wanted is ForceCase.B:
            label, recording, _ = of_case[0]
            z = recording["sensed"][:, 2]
            series.append(Series(f"{label}, along z", recording["time"], z, Style.DOTTED))
        figures.append(
            Lines(
                f"Case {wanted}: sensed force along x",
                _SECONDS,
                Axis("force", "N"),
                tuple(series),
                marks=(Mark(float(wanted_wrench(runs[0][1].case)[0]), "wanted"),)
                if wanted is ForceCase.FREE
                else (Mark(float(desired_wrench(wanted)[0]), "wanted"),),
            )
        )
    if ForceCase.B in _by_case(runs):
        figures.append(
            Prose(
                "Case B also has a desired force along z. It cannot be reached on a face without"
                " friction: there is no reaction, and the satellite drifts along z as predicted by"
                " the integrator."
            )
        )
    return tuple(figures)


def _transients(runs: Named) -> tuple[Lines, ...]:
    figures = []
    for wanted, of_case in _by_case(runs).items():
        series = []
        for label, recording, style in of_case:
            time, force = recording["time"], recording["contact"][:, 0]
            touching = np.flatnonzero(force > 0)
            if touching.size:
                start = float(time[touching[0]])
                near = (time > start - 0.05) & (time < start + _MAGNIFIED)
                series.append(Series(label, (time[near] - start) * 1e3, force[near], style))
        figures.append(
            Lines(
                f"Case {wanted}: true contact force",
                Axis("time after contact", "ms"),
                Axis("force", "N"),
                tuple(series),
                caption="Where it is zero after contact, the satellites have separated.",
                marks=(Mark(0.0, "contact", Side.X),),
            )
        )
    return tuple(figures)


def _by_case(runs: Named) -> dict[ForceCase, list[tuple[str, Recording, Style]]]:
    """Return the first runs of each case; engines have different line styles."""
    engines = list(dict.fromkeys(outcome.case.engine for _, outcome in runs))
    styles = dict(zip(engines, cycle((Style.LINE, Style.DASHED, Style.DOTTED)), strict=False))
    groups: dict[ForceCase, list[tuple[str, Recording, Style]]] = {}
    for label, outcome in runs:
        of_case = groups.setdefault(outcome.case.case, [])
        if len(of_case) < _MOST_RUNS:
            of_case.append((label, outcome.recorded, styles[outcome.case.engine]))
    return groups


def _three(name: str, time: Array, values: Array) -> tuple[Series, ...]:
    return tuple(Series(f"{name} {axis}", time, values[:, i]) for i, axis in enumerate(_AXES))
