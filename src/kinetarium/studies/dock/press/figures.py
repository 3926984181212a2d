"""Report of the docking study: the paper's figures for these runs, limits, recommendations."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np

from kinetarium.batch.outcomes import Named, Outcomes, case_table, completion, flag_table
from kinetarium.batch.study import Findings, Outcome
from kinetarium.control.admittance.law import critical_delay
from kinetarium.figure.charts import Axis, Bars, BarSeries, Heatmap, Lines, Series, Spot
from kinetarium.figure.page import Figure, Section
from kinetarium.figure.replay import Arrow, Replay
from kinetarium.figure.scene_replay import scene_replay
from kinetarium.figure.text import Cell, Column, Prose, Table, header
from kinetarium.recording.recording import Recording, Row
from kinetarium.studies.dock.press._paper_figures import paper_figures
from kinetarium.studies.dock.press.advice import advice
from kinetarium.studies.dock.press.arms import CONTACT_SPEED, docking_of
from kinetarium.studies.dock.press.config import KR250, Contact, DockCase, ForceCase, PresetName
from kinetarium.studies.dock.press.presets import (
    PRESETS,
    WRENCH_GAIN,
    case_contact,
    case_delay,
    case_gains,
)
from kinetarium.studies.dock.press.run import ALLOWED
from kinetarium.studies.dock.stability.config import StabilityConfig

CONTACT_TIME = (2.79, 2.81)
"""Expected time of contact [s]."""

_EITHER = {
    PresetName.PAPER: {"steady_error_n": 2.0, "ripple_n": 8.0},
    PresetName.RSI: {"steady_error_n": 3.0, "ripple_n": 14.0},
    PresetName.GENTLE: {"steady_error_n": 1.0, "ripple_n": 4.0},
    PresetName.RECOMMENDED: {"steady_error_n": 0.5, "ripple_n": 4.0},
}
_OF_CASE: Mapping[tuple[PresetName, ForceCase], Mapping[str, float]] = {
    (PresetName.PAPER, ForceCase.A): {"settle_s": 2.0, "rebounds": 0, "peak_n": 1050.0},
    (PresetName.PAPER, ForceCase.C): {"settle_s": 2.5, "rebounds": 1, "peak_n": 650.0},
    (PresetName.RSI, ForceCase.A): {"settle_s": 2.2, "rebounds": 0, "peak_n": 1050.0},
    (PresetName.RSI, ForceCase.C): {"rebounds": 1, "peak_n": 660.0},
    (PresetName.GENTLE, ForceCase.A): {"settle_s": 1.2, "rebounds": 0, "peak_n": 620.0},
    (PresetName.GENTLE, ForceCase.C): {"settle_s": 1.3, "rebounds": 2, "peak_n": 440.0},
    (PresetName.RECOMMENDED, ForceCase.A): {"settle_s": 0.5, "rebounds": 0, "peak_n": 540.0},
    (PresetName.RECOMMENDED, ForceCase.C): {"settle_s": 0.5, "rebounds": 0, "peak_n": 240.0},
}


def limits(case: DockCase) -> Mapping[str, float]:
    """Return the limits of a case by row name; empty if it has none."""
    own = _OF_CASE.get((case.preset, case.case))
    if {case.chaser, case.target} != {KR250}:
        return {}
    changed = case.stiffness or case.damping >= 0 or case.friction or case.is_free
    if own is None or case.contact is not Contact.PRESCRIBED or changed:
        return {}
    return {**_EITHER[case.preset], **own}


def beyond(case: DockCase, row: Row) -> list[str]:
    """Return the rows of a run that exceed their limits."""
    missed = [
        name for name, limit in limits(case).items() if row[name] is None or row[name] > limit
    ]
    time = row["contact_time_s"]
    if limits(case) and (time is None or not CONTACT_TIME[0] <= time <= CONTACT_TIME[1]):
        missed.append("contact_time_s")
    return missed


_LEAD = (
    "Two heavy arms hold satellites face to face. One approaches; at contact an admittance"
    " controller in exponential coordinates of SE(3) converts the wrench error to a motion, so that"
    " the satellites are pressed together with the desired wrench. Error and ripple are those of"
    " the sensed force over the last half second; settling, rebounds and peak are those of the"
    " true contact force."
)
_COLUMNS = (
    ("steady_error_n", "steady error", "N", 1.0),
    ("ripple_n", "ripple", "N", 1.0),
    ("settle_s", "settling time", "s", 1.0),
    ("reference_settle_s", "on one axis", "s", 1.0),
    ("rebounds", "rebounds", "", 1),
    ("peak_n", "peak", "N", 1.0),
    ("reference_peak_n", "on one axis", "N", 1.0),
    ("contact_time_s", "contact at", "s", 1.0),
    ("contact_point_error_m", "contact point error", "mm", 1e3),
)
_SIX = (
    ("settle_wrench_s", "settling time", "s", 1.0),
    ("settle_formula_s", "closed form", "s", 1.0),
    ("settled", "settled", "", 1),
    ("force_error_n", "force error", "N", 1.0),
    ("moment_error_nm", "moment error", "N m", 1.0),
)
_FREE = (
    "Settled is a true contact wrench within 5 % of the desired force and moment (or the moment"
    " within --moment-band), in at most 1.5 times the time of the closed form: the slowest of the"
    " six axes, after the alignment of the faces, the ramp and the delay. K of the moments is"
    " raised until the noise of the sensor leaves no more than that."
)
_MOST_DRAWN = 6
"""Maximum number of runs whose energies are drawn."""
_BOUNDS = (
    "These are regression bounds from our own runs; what is required follows from the closed form"
    " and the same loop on one axis, beside each run."
)
_GROUP = ("preset", "case", "engine")
_LIMITED = ("steady_error_n", "ripple_n", "settle_s", "rebounds", "peak_n")
_ENGINE_CONTACT = (
    "These runs use the engines' own contact, whose stiffness is not specified in N/m: it follows"
    " from time constants and solver settings, and is far above 1e5 N/m. The first impact is"
    " therefore harder, and differs between engines with the time step that it lasts. The critical"
    " delay decreases with stiffness: gains with a large virtual mass ('paper') settle, and"
    " sooner than on a soft contact; light and stiff ones ('recommended') keep rebounding. The"
    " steady-state error does not depend on stiffness: the impulse has one equilibrium."
)


def report(outcomes: Sequence[Outcome[DockCase]]) -> Findings:
    """Return the paper's figures for these runs."""
    several = len({outcome.case.seed for outcome in outcomes}) > 1
    named = [(_label(outcome.case, several=several), outcome) for outcome in outcomes]
    recorded = [(label, outcome) for label, outcome in named if outcome.recording]
    sections: list[Section] = []
    if recorded:
        sections += paper_figures(recorded)
        sections += [_comparison(Outcomes(outcomes))]
    sections += [*_six_axes(named), _overrides([outcome.case for outcome in outcomes])]
    maps = delay_maps([outcome.case for outcome in outcomes])
    sections += [maps, _limits_section(Outcomes(outcomes)), _flags_section(named), advice()]
    return Findings(
        _headline(named),
        tuple(sections),
        _summary(Outcomes(outcomes)),
        lead=_LEAD,
        conclusion=_conclusion(named),
    )


def _label(case: DockCase, *, several: bool) -> str:
    """Return a short name of a run, without what the preset implies."""
    name = f"{case.case} {case.preset}, {case.engine}"
    return f"{name}, seed {case.seed}" if several else name


def _conclusion(named: Named[DockCase]) -> str:
    """Return how many contacts settle, the greatest force, and which limits are exceeded."""
    outcomes = Outcomes(outcome for _, outcome in named)
    rows = [(label, outcome.rows[0]) for label, outcome in named if outcome.rows]
    if not rows:
        return completion(outcomes)
    settled = outcomes.values("settle_s")
    hardest, hard = max(rows, key=lambda pair: float(pair[1]["peak_n"]))
    still = f" within {max(settled):.2g} s" if settled else ""
    words = (
        f"{len(settled)} of {len(outcomes)} contacts settle{still}; the greatest steady error is"
        f" {max(outcomes.values('steady_error_n')):.2g} N, the greatest force"
        f" {hard['peak_n']:.4g} N ({hardest})."
    )
    free = [row for _, row in rows if "settled" in row]
    if free:
        words += (
            f" {sum(row['settled'] for row in free)} of {len(free)} free dockings settle in force"
            f" and moment within {ALLOWED:g} times the closed form's time."
        )
    groups = [group for group in outcomes.by(*_GROUP).values() if limits(next(iter(group)).case)]
    missed = sum(bool(_missed(group)) for group in groups)
    verdict = f" {missed} of {len(groups)} groups exceed a limit." if missed else ""
    met = " All limits are met." if groups and not missed else ""
    return f"{words}{verdict}{met} {completion(outcomes)}"


def _headline(named: Named[DockCase]) -> Table:
    table = case_table(named, _COLUMNS, first="run")
    ends = [1e3 * o.rows[0]["eta_end_m"][0] if o.rows else None for _, o in named]
    rows = tuple((*row, end) for row, end in zip(table.rows, ends, strict=True))
    return replace(table, columns=(*table.columns, Column("final eta x", "mm")), rows=rows)


def _summary(outcomes: Outcomes[DockCase]) -> dict[str, Any]:
    """Return median and worst value of every row for each preset, case and engine."""
    summary: dict[str, Any] = {}
    for key, group in outcomes.by(*_GROUP).items():
        spreads = ((name, group.spread(name)) for name, *_ in _COLUMNS)
        summary[" ".join(key)] = {
            "runs": len(group),
            "beyond_limits": sorted(_missed(group)),
            **{name: {"median": s.median, "worst": s.max} for name, s in spreads if s},
        }
    return summary


def _missed(group: Outcomes[DockCase]) -> set[str]:
    return {name for o in group for row in o.rows for name in beyond(o.case, row)}


def _limits_section(outcomes: Outcomes[DockCase]) -> Section:
    """Return the worst of all seeds beside its limit, and the CPU time of a tick."""
    names = {key: (name, unit) for key, name, unit, _ in _COLUMNS}
    rows: list[tuple[Cell, ...]] = []
    for key, group in outcomes.by(*_GROUP).items():
        bounds = limits(next(iter(group)).case)
        found = group.rows
        if bounds and found:
            missed = _missed(group)
            worst = [_worst(found, name, bounds) for name in _LIMITED]
            verdict = f"exceeded: {', '.join(sorted(missed))}" if missed else "met"
            rows.append((*key, len(found), *worst, verdict))
    columns = (
        *map(Column, ("preset", "case", "engine", "runs")),
        *(Column(*names[name]) for name in _LIMITED),
        Column("verdict"),
    )
    table = Table("Worst of all seeds / limit", columns, tuple(rows))
    figures = (Prose(_BOUNDS), table) if rows else (Prose("These runs have no limits."),)
    return Section("Limits", (*figures, _tick_table(outcomes)))


def _six_axes(named: Named[DockCase]) -> list[Section]:
    """Return the table of free dockings, if there are any."""
    free = [(label, o) for label, o in named if o.case.is_free]
    if not free:
        return []
    table = case_table(free, _SIX, first="run")
    switched = [(label, o) for label, o in free if o.case.contact_d and o.recording]
    energies = tuple(
        Lines(
            f"Energy of the switched impedance, {label}",
            Axis("time", "s"),
            Axis("energy", "J"),
            tuple(
                Series(name, o.recorded["time"], o.recorded["energies"][:, i])
                for i, name in enumerate(("virtual", "added by the change", "in the tank"))
                if np.isfinite(o.recorded["energies"][:, i]).all()
            ),
        )
        for label, o in switched[:_MOST_DRAWN]
    )
    return [Section("Force and moment on six axes", (Prose(_FREE), table, *energies))]


def _overrides(cases: Sequence[DockCase]) -> Section:
    """Return what differs from the presets, each once."""
    rows: dict[tuple[Cell, ...], None] = {}
    for case in cases:
        preset = PRESETS[case.preset]
        own: dict[str, tuple[object, object]] = {
            "payload [kg]": (case.payload_kg, preset.payload),
            "set-point delay [ms]": (case.delay_ms, 1e3 * preset.delay),
            "gate [N]": (case.gate, preset.gate),
            "stiffness, damping": (case_contact(case), (preset.stiffness, preset.damping)),
            "friction [-]": (case.friction, 0.0),
            "contact": (str(case.contact), str(Contact.PRESCRIBED)),
        }
        if case.is_free:
            usual = ("as its case", f"{preset.D:g}", f"{preset.K:g}", "none", CONTACT_SPEED)
            values = (case.wrench, case.gains_d, case.gains_k, case.misalign, case.speed)
            names = ("wrench [N, N m]", "D", "K", "misalignment [m, rad]", "speed [m/s]")
            own |= dict(zip(names, zip(values, usual, strict=True), strict=True))
            own["band of the moment [N m]"] = (case.moment_band or "5 %", "5 %")
        for name, (value, of_preset) in own.items():
            if value != of_preset:
                rows[str(case.preset), name, _short(value), _short(of_preset)] = None
    if not rows:
        return Section("Changes to the presets", (Prose("The presets are unchanged."),))
    columns = header("preset | what | in these runs | of the preset")
    return Section("Changes to the presets", (Table("Overridden", columns, tuple(rows)),))


def _short(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(_short, value)) or "none"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _worst(rows: Sequence[Row], name: str, bounds: Mapping[str, float]) -> str:
    values = [row[name] for row in rows]
    worst = "never" if None in values else f"{max(values):.4g}"
    return f"{worst} / {bounds[name]:g}" if name in bounds else worst


def _tick_table(outcomes: Outcomes[DockCase]) -> Table:
    """List the CPU time of a control tick, measured on this machine."""
    rows: list[tuple[Cell, ...]] = []
    for key, group in outcomes.by(*_GROUP).items():
        times = [
            [1e3 * outcome.timing[name] for outcome in group if name in outcome.timing]
            for name in ("tick_p50_s", "tick_p99_s")
        ]
        if all(times):
            rows.append((*key, *map(median, times)))
    columns = (
        *map(Column, ("preset", "case", "engine")),
        Column("median", "ms"),
        Column("99th percentile", "ms"),
    )
    return Table("CPU time of a control tick; targets 0.1 and 0.4 ms", columns, tuple(rows))


def _flags_section(named: Named[DockCase]) -> Section:
    figures: list[Figure] = [flag_table(named, first="run")]
    if any(outcome.case.contact is Contact.ENGINE for _, outcome in named):
        figures.append(Prose(_ENGINE_CONTACT))
    return Section("Flags", tuple(figures))


def _comparison(outcomes: Outcomes[DockCase]) -> Section:
    found = Outcomes(o for o in outcomes if o.recording and o.rows)
    places = found.by("preset", "case")
    series = []
    for (engine,), group in found.by("engine").items():
        own = [group.of(preset=preset, case=case).spread("peak_n") for preset, case in places]
        series.append(BarSeries.of_spreads(engine, own))
    names = tuple(f"{preset} {case}" for preset, case in places)
    bars = Bars("Peak of the contact force", names, tuple(series), Axis("peak", "N"))
    return Section("Engines side by side", (bars,))


_GRID = StabilityConfig()
_WORST = 10.0
"""Ratio of delays at the end of the colour scale [-]."""
_EXPLAINED = (
    f"Clipped at {1 / _WORST:g} and {_WORST:g}; above 1, in red, a contact is unstable. From the"
    " closed form, for one axis; the study dock-stability also simulates every cell."
)
_NO_PLACE = (
    "Only runs with a prescribed contact are on the map. The engines' own contact has no"
    " stiffness in N/m and corresponds to a point above the upper edge; that of Hunt and Crossley"
    " stiffens with depth."
)

Gains = tuple[float, float, float]
"""D [kg], K [N s/m], and damping over stiffness of the contact [s]."""


def delay_maps(cases: Sequence[DockCase]) -> Section:
    """Return a map for all gains of the cases, with each case marked."""
    groups: dict[Gains, list[DockCase]] = {}
    for case in cases:
        stiffness, damping = case_contact(case)
        own = case_gains(case)
        gains = (float(own.diagonal_D[0]), float(own.diagonal_K[0]), damping / stiffness)
        groups.setdefault(gains, []).append(case)
    figures: list[Figure] = [_map(gains, group) for gains, group in groups.items()]
    if any(case.contact is not Contact.PRESCRIBED for case in cases):
        figures.append(Prose(_NO_PLACE))
    return Section("Critical delay of the loop", tuple(figures))


def _map(gains: Gains, cases: Sequence[DockCase]) -> Heatmap:
    D, K, ratio = gains
    critical = [
        critical_delay(D, K, s=WRENCH_GAIN, stiffness=k, damping=ratio * k) for k in _GRID.stiffness
    ]
    spots = {
        (1e3 * case_delay(case), case_contact(case)[0]): str(case.preset)
        for case in cases
        if case.contact is Contact.PRESCRIBED
    }
    shown = {place: name for place, name in spots.items() if place[0] <= _GRID.delay_ms[-1]}
    words = " The star marks the runs." if shown else ""
    for (delay, _), name in spots.items() - shown.items():
        words += f" The loop delay of '{name}', {delay:.3g} ms, is outside the map."
    ratios = 1e-3 * np.array(_GRID.delay_ms) / np.array(critical)[:, np.newaxis]
    return Heatmap(
        f"D {D:g} kg, K {K:g} N s/m, contact with damping c = {ratio:g} s times k",
        Axis("loop delay", "ms", log=True),
        Axis("contact stiffness", "N/m", log=True),
        _GRID.delay_ms,
        _GRID.stiffness,
        np.clip(ratios, 1 / _WORST, _WORST),
        Axis("delay over critical delay", log=True),
        diverging=True,
        marks=tuple(Spot(delay, stiffness, name) for (delay, stiffness), name in shown.items()),
        caption=_EXPLAINED + words,
    )


def replay(case: DockCase, recording: Recording) -> Replay:
    """Return a docking as a replay, with the contact force on the target."""
    docking = docking_of(case)
    contact = np.asarray(recording["contact"])
    force = np.column_stack([contact[:, 0], np.zeros((len(contact), 2))])
    arrow = Arrow("contact", "N", contact[:, 1:], force)
    return scene_replay(docking.scene, recording, arrows=(arrow,))
