"""Charts of one robot in all its back-ends: errors, mass matrices and free motions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetarium.batch.study import Outcome
from kinetarium.figure.axis import Axis
from kinetarium.figure.heatmap import Heatmap
from kinetarium.figure.line import Lines, Series
from kinetarium.recording.recording import Recording
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dynamics.config import Case
from kinetarium.studies.dynamics.terms import Quantity

Named = Sequence[tuple[str, Recording]]
"""Recordings by the name of their back-end."""

_LEAST = 1e-18
"""Errors are drawn no smaller than this; a logarithmic axis has no zero."""
_MOST_SAMPLES = 400
_MOST_NUMBERS = 9
"""Joints of the largest matrix whose entries are written out."""


def error_overview(outcomes: Sequence[Outcome[Case]]) -> Heatmap:
    """Show every error as a share of its tolerance."""
    judged = [outcome for outcome in outcomes if outcome.rows]
    quantities = tuple(map(str, Quantity))
    values = np.full((len(judged), len(quantities)), np.nan)
    for i, outcome in enumerate(judged):
        for row in outcome.rows:
            tolerance = row["tolerance"] or 1.0
            share = row["max_rel"] / tolerance
            values[i, quantities.index(row["quantity"])] = max(share, 1e-8)
    return Heatmap(
        "Errors as a share of their tolerance",
        Axis("quantity"),
        Axis("back-end"),
        columns=quantities,
        rows=tuple(outcome.case.backend for outcome in judged),
        values=np.where(np.isfinite(values), values, np.nan),
        value=Axis("error / tolerance", log=True),
        diverging=True,
        caption="Above 1 an error is too large. Where the reference is compared with itself, or"
        " an error is not finite, the cell is empty.",
    )


def errors_over_states(recordings: Named) -> tuple[Lines, ...]:
    """Show the errors of tau in order of size."""
    if not recordings:
        return ()
    series = []
    for name, recording in recordings:
        error = np.maximum(recording["error_tau"] / recording.facts["scales"]["tau"], _LEAST)
        share = np.linspace(0.0, 100.0, len(error))
        pick = _thinned(len(error))
        series.append(Series(name, share[pick], np.sort(error)[pick]))
    return (
        Lines(
            "Errors in order of size",
            Axis("states with a smaller error", "%"),
            Axis("difference of tau, relative", log=True),
            tuple(series),
            caption="Rounding gives a flat line; a fault stands far above it.",
        ),
    )


def mass_matrices(recordings: Named) -> tuple[Heatmap, ...]:
    """Show M of the reference at the first state, and what back-ends differ by.

    A back-end out of tolerance has a figure of its own; of the others the
    largest difference is shown, which is rounding.
    """
    first = recordings[0][1]
    figures = [_matrix("M of the reference at the first state", first, first["M_reference"])]
    sound = []
    for name, recording in recordings:
        if "error_M" not in recording.channels:
            continue
        difference = recording["M"] - recording["M_reference"]
        scales, tolerances = recording.facts["scales"], recording.facts["tolerances"]
        if recording["error_M"].max() > tolerances["M"] * scales["M"]:
            figures.append(_matrix(f"{name}: difference of M", recording, difference))
        else:
            sound.append((name, recording, difference))
    if sound:
        names = ", ".join(name for name, _, _ in sound)
        largest = np.max([np.abs(difference) for *_, difference in sound], axis=0)
        title = f"Largest difference of M: {names}"
        figures.append(_matrix(title, sound[0][1], largest, signed=False))
    return tuple(figures)


def _matrix(title: str, recording: Recording, values: Array, *, signed: bool = True) -> Heatmap:
    joints = tuple(recording.facts["joints"])
    return Heatmap(
        title,
        Axis("joint"),
        Axis("joint"),
        columns=joints,
        rows=joints,
        values=_finite(values),
        value=Axis("entry of M", "kg m², kg m, kg"),
        annotate=signed and len(joints) <= _MOST_NUMBERS,
        diverging=signed,
    )


def free_motions(recordings: Named) -> tuple[Lines, ...]:
    """Show how the robot falls, how far back-ends come apart, and what energy does."""
    seconds = Axis("time", "s")
    first = recordings[0][1]
    time, pick = first["time"], _thinned(len(first["time"]))
    fall = tuple(
        Series(joint, time[pick], first["q_reference"][pick, i])
        for i, joint in enumerate(first.facts["falling_joints"])
    )
    apart, energy = [], []
    for name, recording in recordings:
        own = _thinned(len(recording["time"]))
        if "error_free_motion" in recording.channels:
            error = recording["error_free_motion"]
            some = _thinned(len(error))
            apart.append(Series(name, recording["time"][some], np.maximum(error[some], _LEAST)))
        change = recording["energy"] - recording["energy"][0]
        energy.append(Series(name, recording["time"][own], _finite(change[own])))
    apart_axis = Axis("largest difference", "rad, m", log=True)
    caption = f"Compared over {first.facts['horizon_s']:.3g} s."
    return (
        Lines("The reference falls", seconds, Axis("position", "rad, m"), fall),
        Lines("Distance from the reference", seconds, apart_axis,
              tuple(apart), caption=caption),
        Lines("Change of energy", seconds, Axis("energy", "J"), tuple(energy),
              caption="Semi-implicit Euler gains and loses a little; the reference's own line is"
              " by Runge-Kutta, which keeps it."),
    )  # fmt: skip


def _thinned(count: int) -> Any:
    """Give the indices of at most so many samples, the first and last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, _MOST_SAMPLES)).astype(int))


def _finite(values: Array) -> Array:
    return np.where(np.isfinite(values), values, np.nan)
