"""Report of the emulation of free-floating satellites."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinetarium.batch.outcomes import Named, case_labels, case_table, completion, flag_table
from kinetarium.batch.study import Findings, Outcome
from kinetarium.figure.charts import Axis, Bars, BarSeries, Lines, Series, Style
from kinetarium.figure.page import Section
from kinetarium.figure.replay import Replay
from kinetarium.figure.scene_replay import scene_replay
from kinetarium.figure.text import Prose
from kinetarium.recording.recording import Recording, Row
from kinetarium.scene.docking import docking_scene
from kinetarium.spatial.arrays import Array
from kinetarium.studies.dock.floating.config import NO_ENGINE, FloatCase, gap
from kinetarium.studies.dock.floating.pair import ideal_case

_LEAD = (
    "Two free-floating satellites are simulated from measured wrenches, and two arms move payloads"
    " accordingly (hardware in the loop). Because of the delay of the arms the contact returns more"
    " energy than it absorbs. Restitution and energy show this; momentum alone does not."
)
_ADVICE = (
    "Without compensation the restitution is e0 exp(pi w tau/2), for w tau up to 0.2. Predicted"
    " commands restore it if the delay is known to about half a millisecond: an error d of the"
    " delay is a factor of exp(-pi w d/2). A passivity observer does not need the delay: it sums"
    " the energy that the satellites received beyond what the contact supplied, and dissipates it."
    " A payload behind the sensor closes a loop through its own inertia; up to 0.2 of the lighter"
    " satellite is safe, 0.5 is refused. A sensor in front of the payload has no such limit."
)
_COLUMNS = (
    ("restitution", "restitution"),
    ("restitution_ideal", "ideal"),
    ("momentum_error", "momentum error"),
    ("angular_momentum_error", "angular momentum error"),
    ("energy_error", "energy error"),
)


def report(outcomes: Sequence[Outcome[FloatCase]]) -> Findings:
    """Compare every contact with the ideal one."""
    labels = case_labels([outcome.case for outcome in outcomes])
    named = [(label or "no engine", o) for label, o in zip(labels, outcomes, strict=True)]
    met = [(label, o) for label, o in named if o.recording and o.rows]
    sections = [
        *([_meetings(met), _bars(met)] if met else []),
        Section("Flags", (flag_table(named),)),
    ]
    summary: dict[str, Any] = {
        label: {key: outcome.rows[0][key] for key, _ in _COLUMNS}
        for label, outcome in named
        if outcome.rows
    }
    columns = ((key, heading, "", 1.0) for key, heading in _COLUMNS)
    headline = case_table(named, columns, first="meeting")
    return Findings(headline, tuple(sections), summary, lead=_LEAD, conclusion=_conclusion(named))


def _conclusion(named: Named[FloatCase]) -> str:
    """Return which restitution and energy differ most from the ideal contact."""
    ended = completion(outcome for _, outcome in named)
    rows = [(label, outcome.rows[0]) for label, outcome in named if outcome.rows]
    bounced = [(label, row) for label, row in rows if row["restitution"] is not None]
    if not bounced:
        return ended
    label, worst = max(bounced, key=lambda pair: abs(_restitution_error(pair[1])))
    energies = [abs(row["energy_error"]) for _, row in rows if row["energy_error"] is not None]
    energy = f"; the energy is wrong by up to {100 * max(energies):.2g} %" if energies else ""
    return (
        f"Restitution differs from the ideal by up to {100 * _restitution_error(worst):+.2g} %"
        f" ({label}: {worst['restitution']:.3f} instead of {worst['restitution_ideal']:.3f})"
        f"{energy}. {ended}"
    )


def _restitution_error(row: Row) -> float:
    return float(row["restitution"] / row["restitution_ideal"]) - 1


def _meetings(met: Named[FloatCase]) -> Section:
    seconds = Axis("time", "s")
    forces = _beside_ideal(met, lambda r: r["force"], lambda r: r["ideal_force"])
    speeds = _beside_ideal(met, lambda r: 1e3 * r["pair"][:, 7], lambda r: 1e3 * r["ideal"][:, 7])
    energies = _beside_ideal(met, lambda r: 1e3 * r["pair"][:, 6], lambda r: 1e3 * r["ideal"][:, 6])
    return Section(
        "The contact",
        (
            Lines("Contact force", seconds, Axis("force", "N"), forces),
            Lines(
                "Closing speed of the contact points",
                seconds,
                Axis("speed", "mm/s"),
                speeds,
                caption="Negative after the contact: they separate.",
            ),
            Lines(
                "Energy about the common centre of mass",
                seconds,
                Axis("energy", "mJ"),
                energies,
            ),
        ),
    )


def _beside_ideal(
    met: Named[FloatCase],
    seen: Callable[[Recording], Array],
    ideal: Callable[[Recording], Array],
) -> tuple[Series, ...]:
    """Return a series for every case, and one for each distinct ideal."""
    series, ideals = [], {}
    for label, outcome in met:
        recording = outcome.recorded
        series.append(Series(label, recording["time"], seen(recording)))
        ideals[ideal_case(outcome.case)] = recording["time"], ideal(recording)
    for label, (time, values) in zip(case_labels(list(ideals)), ideals.values(), strict=True):
        name = f"ideal, {label}" if len(ideals) > 1 else "ideal"
        n = min(len(time), len(values))
        series.append(Series(name, time[:n], values[:n], Style.DASHED))
    return tuple(series)


def _bars(met: Named[FloatCase]) -> Section:
    values = {
        key: np.array(
            [np.nan if o.rows[0][key] is None else o.rows[0][key] for _, o in met], dtype=np.float64
        )
        for key in ("restitution", "restitution_ideal")
    }
    bars = Bars(
        "Restitution",
        tuple(label for label, _ in met),
        (
            BarSeries("measured", values["restitution"]),
            BarSeries("ideal", values["restitution_ideal"]),
        ),
        Axis("restitution"),
    )
    return Section("Fidelity", (bars, Prose(_ADVICE)))


def replay(case: FloatCase, recording: Recording) -> Replay | None:
    """Return the satellites on arms as a replay; None without an engine."""
    if case.engine == NO_ENGINE:
        return None
    docking = docking_scene(payload=case.payload_kg, gap=gap(case))
    return scene_replay(docking.scene, recording)
