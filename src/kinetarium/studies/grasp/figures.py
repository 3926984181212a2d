"""Report of the grasp study: forces, slip and penetration beside a rigid grasp and the paper."""

from collections.abc import Sequence

import numpy as np

from kinetarium.batch.study import Findings, Outcome
from kinetarium.figure.charts import Axis, Bars, BarSeries, Lines, Series, Style
from kinetarium.figure.page import Figure, Section
from kinetarium.figure.replay import Replay
from kinetarium.figure.scene_replay import scene_replay
from kinetarium.figure.sweep import setting_cells, setting_columns, varied_fields
from kinetarium.figure.text import Cell, Column, Prose, Table, header
from kinetarium.metrics import moving_mean, moving_variance
from kinetarium.recording.recording import Recording
from kinetarium.spatial.arrays import Array
from kinetarium.studies.grasp._sweeps import (
    RIGID,
    Group,
    cost_section,
    grouped,
    paths_of,
    summary,
    sweep_sections,
)
from kinetarium.studies.grasp.config import Case, Profile, ToolPath
from kinetarium.studies.grasp.score import WINDOW, carried_part
from kinetarium.studies.grasp.task import task

_PATHS = (ToolPath.CIRCLE, ToolPath.SQUARE, ToolPath.EIGHT)
VARIANCE: dict[str, tuple[float, float, float]] = {
    "mujoco": (7.19e-5, 1.67e-3, 1.96e-3),
    "bullet": (0.189, 0.174, 0.186),
    "ode": (2.31, 2.23, 2.33),
}
"""Average moving variance on circle, square and eight [N^2] (Table 2)."""


def table_1() -> Table:
    """Return the simulators and engines of the paper, and the libraries used here."""
    return Table(
        "Simulators and engines of the paper (its Table 1) and here",
        header("engine | the paper's simulator | here"),
        (
            ("MuJoCo", "MuJoCo", "its own library"),
            ("Bullet", "CoppeliaSim", "pybullet"),
            ("ODE", "CoppeliaSim", "its C interface"),
            (
                "Newton Dynamics",
                "CoppeliaSim",
                "not in package registries, as CoppeliaSim and Isaac Sim;"
                " NVIDIA's Newton is another engine",
            ),
            ("PhysX", "IsaacSim", "SAPIEN, on the CPU"),
        ),
    )


def table_2(groups: Sequence[Group]) -> Table:
    """Return the paper's average moving variances beside ours.

    Args:
        groups: The results; the median of the starts is shown.
    """
    rows: list[tuple[Cell, ...]] = []
    measured = {(g.case.engine, g.case.profile, g.case.path): g for g in groups}
    for engine, values in VARIANCE.items():
        rows.append((engine, "paper", *values))
        rows += _ours(engine, measured)
    rows.append(("newton dynamics", "paper: force saturated", None, None, None))
    rows.append(("physx", "paper: sensor failed", None, None, None))
    for engine in dict.fromkeys(engine for engine, *_ in measured if engine not in VARIANCE):
        rows += _ours(engine, measured)
    least = [_least(groups, path) for path in _PATHS]
    rows.append(("rigid grasp", "matched law", *least))
    return Table(
        "Average moving variance of the contact force (the paper's Table 2)",
        (Column("engine"), Column("source"), *(Column(str(path), "N²") for path in _PATHS)),
        tuple(rows),
    )


def _ours(engine: str, measured: dict[tuple[str, Profile, str], Group]) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for profile in dict.fromkeys(key[1] for key in measured if key[0] == engine):
        found = [measured.get((engine, profile, path)) for path in _PATHS]
        values = [group.median("moving_variance_n2") if group else None for group in found]
        rows.append((engine, str(profile), *values))
    return rows


def _least(groups: Sequence[Group], path: str) -> float | None:
    values = [
        group.median("ideal_variance_n2")
        for group in groups
        if group.case.path == path and group.case.profile is Profile.MATCHED
    ]
    return next((value for value in values if value is not None), None)


def _lead(case: Case) -> str:
    """Return what was done, from any case."""
    start = "smoothly" if case.ramp else "at full speed"
    return (
        f"{case.robot} grips {case.object} of {case.mass:g} kg with {case.force:g} N and carries it"
        f" along a path, setting off {start}. A rigid grasp under the same control has a force"
        " that varies by half of the object's mass times its acceleration across the fingers;"
        " only the difference from it (force error, root mean square from 0.5 s on) is due to the"
        " engine. The paper's measure is the variance of the force within half a second. Medians"
        " of the starts; a group of starts of which one failed has no force error."
    )


_COLUMNS = (
    ("slip", "mm", "slip_m", 1e3, True),
    ("tilt", "deg", "tilt_deg", 1.0, True),
    ("penetration", "mm", "penetration_m", 1e3, True),
    ("grip", "N", "force_mean_n", 1.0, False),
    ("grip by sensor", "N", "force_ft_mean_n", 1.0, False),
    ("no contact", "samples", "zero_contact_samples", 1.0, True),
    ("force error", "N", "force_error_n", 1.0, False),
    ("offset at rest", "N", "force_offset_n", 1.0, True),
    ("variance", "N²", "moving_variance_n2", 1.0, False),
    ("by sensor", "N²", "ft_variance_n2", 1.0, False),
    ("waiting", "N²", "waiting_variance_n2", 1.0, False),
    ("rigid grasp", "N²", "ideal_variance_n2", 1.0, False),
    ("common mode", "N²", "common_mode_variance_n2", 1.0, False),
    ("tracking", "mm", "tracking_rmse_m", 1e3, False),
    ("slides at", "N", "sliding_grip_n", 1.0, False),
    ("Coulomb", "N", "ideal_sliding_grip_n", 1.0, False),
)
"""Heading, unit, row name, factor, and whether the maximum of all starts is shown."""


def report(outcomes: Sequence[Outcome[Case]]) -> Findings:
    """Compare forces, slip and penetration with the rigid grasp and the paper.

    If a setting was varied within an engine, figures over it replace those that compare
    engines case by case.
    """
    groups = grouped(outcomes)
    varied = varied_fields(group.case for group in groups)
    sections = []
    own = groups[0].case if groups else None
    if not varied and own and _like_the_paper(own):
        sections.append(Section("Beside the paper", (table_2(groups), _verdict(groups), table_1())))
    if groups:
        sections.append(Section("The grip", (_grip(groups),)))
    for profile in dict.fromkeys(group.case.profile for group in groups):
        of_profile = [group for group in groups if group.case.profile is profile]
        sections.append(Section(f"Profile '{profile}': settings", (_settings(of_profile),)))
        if paths_of(of_profile):
            sections += sweep_sections(profile, of_profile, varied)
            sections += [] if varied else _engine_sections(profile, of_profile)
            # Friction is not a cost: accuracy at one friction is not available at another.
            if "friction" not in varied:
                sections.append(cost_section(profile, of_profile))
    return Findings(
        _headline(groups, varied),
        tuple(sections),
        summary(groups),
        lead=_lead(own) if own else "",
        conclusion=conclusion(groups),
    )


def _like_the_paper(case: Case) -> bool:
    return (case.robot, case.object, case.mass, case.force) == ("panda", "box:0.04", 1.0, 100.0)


def conclusion(groups: Sequence[Group]) -> str:
    """Return what came out, in words: who holds the object, whose grip chatters, whose force errs.

    Runs that failed or lost the object count as not held.
    """
    sentences = []
    for profile in dict.fromkeys(group.case.profile for group in groups):
        own = [g for g in groups if g.case.profile is profile and not g.case.release]
        if own:
            sentences.append(_held_words(own, profile))
    slides = [g for g in groups if g.case.release and g.median("sliding_grip_n") is not None]
    errors = {
        g.case.engine: 100 * abs(grip / least - 1)
        for g in slides
        if (grip := g.median("sliding_grip_n")) and (least := g.median("ideal_sliding_grip_n"))
    }
    if errors:
        worst = max(errors, key=lambda engine: errors[engine])
        sentences.append(
            f"The object slides within {errors[worst]:.2g} % of the grip force by Coulomb's law"
            f" ({worst} differs most)."
        )
    return " ".join(sentences)


def _held_words(groups: Sequence[Group], profile: Profile) -> str:
    """Return a sentence on the engines of a profile."""
    by_engine: dict[str, list[Group]] = {}
    for group in groups:
        by_engine.setdefault(group.case.engine, []).append(group)
    lost, failed, chatters, errors = [], [], [], {}
    for engine, own in by_engine.items():
        held, starts = sum(g.held for g in own), sum(len(g) for g in own)
        scored = sum(len(g.rows) for g in own)
        if held < scored:
            lost.append(f"{engine} in {scored - held} of {starts} runs")
        if scored < starts:
            failed.append(f"{engine} in {starts - scored} of {starts}")
        bare, samples = (sum(counts) for counts in zip(*(g.chatter for g in own), strict=True))
        if bare:
            chatters.append(f"{engine}'s grip chatters: {bare} of {samples} samples no contact")
        found = [g.force_error for g in own]
        known = [error for error in found if error is not None]
        if len(known) == len(found):
            errors[engine] = max(known)
    count = len(by_engine)
    kept = sum(all(g.whole for g in own) for own in by_engine.values())
    runs = sum(len(g) for g in groups)
    name = (groups[0].recording and groups[0].case.object.partition(":")[0]) or "object"
    words = (
        f"Profile '{profile}': all {count} engines hold the {name} in {runs} runs"
        if kept == count
        else f"Profile '{profile}': {kept} of {count} engines hold the {name} in every run"
    )
    if lost:
        words += f"; it is lost by {', '.join(lost)}"
    if failed:
        words += f"; runs did not complete: {', '.join(failed)}"
    if chatters:
        words += "; " + "; ".join(chatters)
    if errors:
        ranked = sorted(errors, key=lambda engine: errors[engine])
        best, worst = ranked[0], ranked[-1]
        words += f"; the force differs from the rigid grasp's by {errors[best]:.2g} N ({best})"
        words += f" to {errors[worst]:.2g} N ({worst})" if worst != best else ""
    return words + "."


def _grip(groups: Sequence[Group]) -> Prose:
    """Return how the gripper closes, and how the path was fitted to the arm."""
    facts = next((g.recording.facts for g in groups if g.recording), None)
    if facts is None or "closing" not in facts:
        return Prose("No run has a recording.")
    texts = []
    for each in facts["closing"]:
        text = f"'{each['joint']}' closes with {each['effort']:.3g} N m or N"
        if each["limit"] and each["effort"] > each["limit"]:
            text += f", above its limit of {each['limit']:.3g}"
        texts.append(text)
    if not facts["determinate"]:
        texts.append(
            "the fingers swing or one is fixed: friction leaves the force at rest undetermined,"
            " and forces are compared from their values at rest"
        )
    if facts["moved"]:
        texts.append("from the home pose the path is out of reach: the arm starts elsewhere")
    if facts["scale"] < 1:
        texts.append(f"the path is scaled by {facts['scale']:g} into the arm's reach")
    return Prose("; ".join(texts) + ".")


def _headline(groups: Sequence[Group], varied: Sequence[str]) -> Table:
    columns = (
        *header("profile | engine | path"),
        *setting_columns(varied),
        Column("held"),
        *(Column(name, unit) for name, unit, *_ in _COLUMNS),
    )
    rows = []
    for group in groups:
        case = group.case
        release = case.release
        held = "" if release else f"{group.held}/{len(group)}"
        cells: list[float | None] = []
        for _, _, figure, factor, worst in _COLUMNS:
            spread = group.spread(figure)
            moved = release and figure in ("slip_m", "tilt_deg", "zero_contact_samples")
            value = None if spread is None or moved else spread.max if worst else spread.median
            if figure == "force_error_n" and not group.whole:
                value = None
            cells.append(None if value is None else value * factor)
        named = (str(case.profile), case.engine, str(case.path), *setting_cells(case, varied))
        rows.append((*named, held, *cells))
    return Table("", columns, tuple(rows))


def _verdict(groups: Sequence[Group]) -> Prose:
    """Return the conclusion from the matched profile, if it was run."""
    carried = [
        group
        for group in groups
        if group.case.profile is Profile.MATCHED
        and group.case.path not in (ToolPath.STILL, ToolPath.RELEASE)
    ]
    held = [group for group in carried if group.ratio is not None and group.whole]
    text = (
        "The paper specifies neither the size nor the speed of its paths, nor friction and time"
        " steps, so that its values are shown for orientation only; it runs each simulator with"
        " its own defaults, as the profile 'defaults' does."
    )
    if held:
        worst = max(abs(group.ratio - 1) for group in held if group.ratio)
        text += (
            f" With the same controller and converged solvers, the variance of {len(held)} of"
            f" {len(carried)} cases is within {100 * worst:.2g} % of the rigid grasp: the paper's"
            " ranking is due to solver settings, not to the engines."
        )
    return Prose(text)


def _engine_sections(profile: Profile, groups: Sequence[Group]) -> list[Section]:
    """Compare engines path by path."""
    paths = paths_of(groups)
    force = Axis("average moving variance", "N²", log=True)
    variance = _bars("Average moving variance", "moving_variance_n2", groups, value=force)
    millimetres = Axis("deepest penetration", "mm", log=True)
    return [
        Section(f"Profile '{profile}': the force", (variance, *_traces(groups, paths[0]))),
        Section(
            f"Profile '{profile}': the object",
            (
                _bars("Penetration", "penetration_m", groups, value=millimetres, factor=1e3),
                _bars("Slip", "slip_m", groups, value=Axis("slip", "mm", log=True), factor=1e3),
                _bars("Tilt", "tilt_deg", groups, value=Axis("tilt", "deg", log=True)),
            ),
        ),
    ]


def _settings(groups: Sequence[Group]) -> Table:
    columns = header("engine | step [ms] | friction | control | why | engine options")
    rows = []
    for engine in dict.fromkeys(group.case.engine for group in groups):
        own = [group for group in groups if group.case.engine == engine and not group.case.release]
        facts = next((group.recording.facts for group in own if group.recording), None)
        if facts is None:
            continue
        options = ", ".join(f"{name} {value}" for name, value in facts["options"].items())
        steps = _distinct([group.case.timestep * 1e3 for group in own])
        frictions = _distinct([group.case.friction for group in own])
        rows.append((engine, steps, frictions, facts["control"], facts["reason"], options))
    return Table("Settings", columns, tuple(rows))


def _distinct(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in dict.fromkeys(values))


def _bars(
    title: str, figure: str, groups: Sequence[Group], *, value: Axis, factor: float = 1.0
) -> Bars:
    """Compare engines over the paths; variances beside those of the rigid grasp."""
    paths = paths_of(groups)
    found = {(group.case.engine, group.case.path): group for group in groups}
    series = []
    for engine in dict.fromkeys(group.case.engine for group in groups):
        on_path = [found.get((engine, path)) for path in paths]
        spreads = [group.spread(figure) if group else None for group in on_path]
        series.append(BarSeries.of_spreads(engine, spreads, factor=factor))
    if figure == "moving_variance_n2":
        least = [
            [group.spread("ideal_variance_n2") for group in groups if group.case.path == path]
            for path in paths
        ]
        spreads = [next((spread for spread in each if spread), None) for each in least]
        series.append(BarSeries.of_spreads(RIGID, spreads, factor=factor))
    lost = "An engine without a bar lost the object within the first half second of the path."
    return Bars(title, tuple(map(str, paths)), tuple(series), value, caption=lost)


def _traces(groups: Sequence[Group], path: str) -> list[Figure]:
    """Return the force of the left pad with its moving mean, and all moving variances."""
    figures: list[Figure] = []
    variances: list[Series] = []
    floor: Series | None = None
    for group in groups:
        recording = group.recording
        if group.case.path != path or recording is None:
            continue
        carried = carried_part(recording)
        force, time = carried.force[carried.kept, 0], carried.time[carried.kept]
        if len(force) < WINDOW:
            continue
        rigid = recording["ideal/force"][-len(carried.time) :, 0]
        seconds = Axis("time on the path", "s")
        figures.append(
            Lines(
                f"Force of the left pad along the {path}: {group.case.engine}",
                seconds,
                Axis("force", "N"),
                (
                    Series("left pad", time, force),
                    Series("moving mean", _ends(time), moving_mean(force, WINDOW), Style.DASHED),
                    Series(RIGID, carried.time, rigid, Style.DOTTED),
                ),
            )
        )
        variances.append(Series(group.case.engine, _ends(time), moving_variance(force, WINDOW)))
        if np.isfinite(rigid).all():
            own = moving_variance(rigid, WINDOW)
            floor = floor or Series(RIGID, _ends(carried.time), own, Style.DOTTED)
    if variances:
        together = (*variances, floor) if floor else tuple(variances)
        figures.append(
            Lines(
                f"Moving variance of the force of the left pad along the {path}",
                Axis("time on the path", "s"),
                Axis("moving variance", "N²", log=True),
                together,
                caption="Windows of half a second, each drawn at its end.",
            )
        )
    return figures


def _ends(time: Array) -> Array:
    """Return the times at which the windows end."""
    return time[WINDOW - 1 :]


def replay(case: Case, recording: Recording) -> Replay:
    """Return a grasp as a replay; everything that differs between cases was recorded."""
    holder = task(case).holder
    return scene_replay(holder.scene(), recording, trails=(holder.object,))
