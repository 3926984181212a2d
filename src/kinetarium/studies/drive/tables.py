"""Tables of the drive study: comparison with the ideal drive, headline, summary, conclusion."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, isinf, isnan
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from kinetarium.batch.outcomes import Outcomes
from kinetarium.batch.study import Outcome
from kinetarium.figure.page import Figure, Section
from kinetarium.figure.sweep import setting_cells, setting_columns
from kinetarium.figure.text import Column, Listing, Table, header
from kinetarium.metrics import cross_track
from kinetarium.recording.recording import RunStatus
from kinetarium.storage.strict_json import strict_json
from kinetarium.studies.drive.config import DriveCase, PathControl
from kinetarium.studies.drive.coulomb import HARDWARE_MULTIPLIER, is_husky
from kinetarium.studies.drive.ideal import ideal_of, ideal_yaw_range
from kinetarium.studies.drive.run import REFERENCES
from kinetarium.studies.drive.score import path_points
from kinetarium.studies.drive.vehicle import recorded_vehicle, yaw_ratio


@dataclass(frozen=True, slots=True)
class AgainstIdeal:
    """Comparison of an open-loop case with the ideal drive: medians over its starts.

    A start that failed counts as infinitely far from it.

    Attributes:
        distance: Root mean square distance from the ideal drive at equal times [m].
        yaw_off: Yaw ratio over that of the ideal drive, less one [-].
        yaw_ratio: Yaw ratio of the ideal drive [-].
        yaw_range: The least and the greatest that it may have as well [-]; None if it is exact.
        cross_track: Root mean square distance of the ideal drive from the path [m].
    """

    distance: float
    yaw_off: float
    yaw_ratio: float
    yaw_range: tuple[float, float] | None
    cross_track: float

    @property
    def inside(self) -> bool | None:
        """Whether the robot turns as far as the ideal may; None if it is exact."""
        if self.yaw_range is None:
            return None
        low, high = self.yaw_range
        return low <= (1 + self.yaw_off) * self.yaw_ratio <= high


Compared = tuple[DriveCase, Outcomes[DriveCase], AgainstIdeal | None]
"""A case, its starts, and their comparison with the ideal drive."""


def against_ideal(case: DriveCase, results: Outcomes[DriveCase]) -> AgainstIdeal | None:
    """Compare all starts of a case; None for closed loop, or if there is nothing to compare."""
    recording = results.recording
    ideal = ideal_of(case, recording.facts) if recording else None
    turned = yaw_ratio(ideal.yaw_rate, ideal.commanded) if ideal else None
    if recording is None or ideal is None or not turned or isnan(turned):
        return None
    away = cross_track(ideal.position, path_points(REFERENCES[case.path]))
    return AgainstIdeal(
        distance=failing_median(results, "off_ideal_m"),
        yaw_off=failing_median(results, "yaw_ratio") / turned - 1,
        yaw_ratio=turned,
        yaw_range=ideal_yaw_range(case, recording.facts),
        cross_track=float(np.sqrt(np.mean(away**2))),
    )


def failing_median(results: Outcomes[Any], key: str) -> float:
    """Return the median of an error over all runs, infinite for those that failed."""
    values = [
        next((row[key] for row in outcome.rows if row.get(key) is not None), inf)
        if not failure(outcome) else inf
        for outcome in results
    ]  # fmt: skip
    return float(median(values)) if values else inf


def completed(results: Iterable[Outcome[Any]]) -> int:
    """Return how many runs completed, the robot upright."""
    return sum(not failure(outcome) for outcome in results)


def failure(outcome: Outcome[Any]) -> str:
    """Return why a run failed; empty if it did not."""
    if outcome.status is not RunStatus.COMPLETED:
        return outcome.message or str(outcome.status)
    return "the robot fell over" if any(row.get("toppled") for row in outcome.rows) else ""


def robot_label(robot: str) -> str:
    """Return a robot's name in tables: that of the catalogue, or of the file."""
    return Path(robot).stem


_COLUMNS = (
    ("cross_track_rmse_m", "cross-track RMSE", "m"),
    ("cross_track_max_m", "cross-track max", "m"),
    ("final_error_m", "final error", "m"),
    ("yaw_ratio", "yaw ratio", ""),
    ("curvature_tv", "curvature variation", "1/m"),
    ("recovery_s", "recovery", "s"),
    ("wheel_speed_error", "wheel speed error", ""),
)


def headline(cells: Sequence[Compared], varied: Sequence[str]) -> Table:
    """Return the headline table."""
    columns = (
        *header("profile | robot | control | path | engine"),
        *setting_columns(varied),
        Column("runs"),
        *(Column(name, unit) for _, name, unit in _COLUMNS),
        *header(
            "least RMSE [m] | greatest RMSE [m] | off the ideal [m] | turn, off the ideal [%]"
            " | ideal turn | corners [deg]"
        ),
    )
    rows = []
    for case, part, ideal in cells:
        done = completed(part)
        errors = part.values("cross_track_rmse_m")
        rows.append(
            (
                case.profile.value,
                robot_label(case.robot),
                case.control.value,
                case.path.value,
                case.engine,
                *setting_cells(case, varied),
                f"{done}/{len(part)}",
                *(part.median(key) for key, _, _ in _COLUMNS),
                min(errors, default=None),
                max(errors, default=None) if done == len(part) else None,
                _finite(ideal.distance) if ideal else None,
                _finite(100 * ideal.yaw_off) if ideal else None,
                _turn_text(ideal) if ideal else None,
                _corner_text(part),
            )
        )
    return Table("Medians over the starts", columns, tuple(rows))


def _finite(value: float) -> float | None:
    """Return a value; None if most runs failed."""
    return None if isinf(value) else value


def _turn_text(ideal: AgainstIdeal) -> str:
    """Return the yaw ratio of the ideal drive and its uncertainty."""
    if ideal.yaw_range is None:
        return f"{ideal.yaw_ratio:.3f}"
    low, high = ideal.yaw_range
    return f"{ideal.yaw_ratio:.3f} ({low:.2f} to {high:.2f})"


def _corner_text(part: Outcomes[DriveCase]) -> str | None:
    corners = [angles for angles in part.values("corners_deg") if None not in angles]
    if not corners:
        return None
    return ", ".join(f"{angle:.0f}" for angle in np.median(np.array(corners), axis=0))


def summary(cells: Sequence[Compared]) -> dict[str, Any]:
    """Return medians and ranges of every case."""
    keys = [key for key, *_ in _COLUMNS]
    groups = [
        {**_named(case), "runs": len(part), "failed": len(part) - completed(part),
         **part.spreads(keys)}
        for case, part, _ in cells
    ]  # fmt: skip
    return {"groups": groups}


def against_entries(cells: Sequence[Compared]) -> list[dict[str, Any]]:
    """Return the comparison of open loop with the ideal drive, for metrics.json."""
    return [
        {
            **_named(case),
            "runs": len(part),
            "failed": len(part) - completed(part),
            "distance_m": _finite(ideal.distance),
            "yaw_off": _finite(ideal.yaw_off),
            "inside_uncertainty": ideal.inside,
            "ideal_yaw_ratio": ideal.yaw_ratio,
            "ideal_yaw_range": ideal.yaw_range,
            "ideal_cross_track_rmse_m": ideal.cross_track,
        }
        for case, part, ideal in cells
        if ideal
    ]


def _named(case: DriveCase) -> dict[str, Any]:
    names = ("engine", "robot", "control", "path", "profile", "timestep", "iterations", "friction")
    return {name: getattr(case, name) for name in names}


def conclusion(cells: Sequence[Compared], outcomes: Sequence[Outcome[Any]]) -> str:
    """Return what came out, in one to three sentences."""
    told = [*_open_words(cells), *(_closed_words(cells) or _other_words(cells))]
    return " ".join([*told[:2], failure_words(outcomes)])


def _open_words(cells: Sequence[Compared]) -> list[str]:
    """Compare the engines with the ideal on the first open-loop path."""
    group = _first_group(cells, PathControl.OPEN)
    known = [(case, ideal) for case, _, ideal in group if ideal]
    if not known:
        return _near_words(group, "open")
    case, ideal = known[0]
    if ideal.yaw_range is None:
        far = {c.engine: one.distance for c, one in known}
        return [f"{_subject(case)} in open loop, distance from the drive without slip: {_by(far)}."]
    off = {c.engine: one.yaw_off for c, one in known}
    ordered = sorted(off.items(), key=lambda item: abs(item[1]))
    listed = ", ".join(f"{engine} {_percent(value)}" for engine, value in ordered)
    inside = [c.engine for c, one in known if one.inside]
    low, high = ideal.yaw_range
    same = len({round(one.yaw_ratio, 3) for _, one in known}) == 1
    turns = (
        f"turns {ideal.yaw_ratio:.3f} times the command by Coulomb friction ({low:.2f} to"
        f" {high:.2f} with the uncertainty of footprint and centre of mass); against it"
        if same else "turns, against Coulomb friction with each engine's own settings,"
    )  # fmt: skip
    return [
        f"{_subject(case)} in open loop {turns} {listed}; within the uncertainty:"
        f" {', '.join(inside) if inside else 'no engine'}."
    ]


def _other_words(cells: Sequence[Compared]) -> list[str]:
    """Name the engine that turns most like the ideal for each robot but the first."""
    robots = list(dict.fromkeys(case.robot for case, *_ in cells))
    told = []
    for robot in robots[1:]:
        group = _first_group([cell for cell in cells if cell[0].robot == robot], PathControl.OPEN)
        known = [(abs(i.yaw_off), c.engine, i) for c, _, i in group if i and not isinf(i.yaw_off)]
        if known:
            _, engine, ideal = min(known, key=lambda one: one[0])
            told.append(f"{robot_label(robot)} in {engine} ({_percent(ideal.yaw_off)})")
        else:
            told.append(f"{robot_label(robot)} in no engine")
    return [f"Nearest to the ideal turn: {', '.join(told)}."] if told else []


def _closed_words(cells: Sequence[Compared]) -> list[str]:
    return _near_words(_first_group(cells, PathControl.CLOSED), "closed")


def _near_words(group: Sequence[Compared], loop: str) -> list[str]:
    errors = {case.engine: failing_median(part, "cross_track_rmse_m") for case, part, _ in group}
    if not errors:
        return []
    return [f"{_subject(group[0][0])} in {loop} loop, cross-track RMSE: {_by(errors)}."]


def _by(lengths: dict[str, float]) -> str:
    return ", ".join(f"{engine} {_length(value)}" for engine, value in _ordered(lengths))


def _first_group(cells: Sequence[Compared], control: PathControl) -> list[Compared]:
    """Return the cases of all engines that are otherwise the first with a kind of control."""
    chosen = [cell for cell in cells if cell[0].control is control]
    names = ("profile", "robot", "path", "timestep", "iterations", "friction")
    first = [getattr(chosen[0][0], name) for name in names] if chosen else []
    found = [cell for cell in chosen if [getattr(cell[0], name) for name in names] == first]
    own = {cell[0].engine for cell in found}
    # Frictions of the defaults differ by engine: the rest by profile, robot and path.
    more = [cell for cell in chosen
            if [getattr(cell[0], name) for name in names[:3]] == first[:3]
            and cell[0].engine not in own]  # fmt: skip
    return [*found, *{cell[0].engine: cell for cell in reversed(more)}.values()]


def _subject(case: DriveCase) -> str:
    return f"{robot_label(case.robot)} on the {case.path.value} ({case.profile.value})"


def _ordered(values: dict[str, float]) -> list[tuple[str, float]]:
    return sorted(values.items(), key=lambda item: item[1])


def _length(value: float) -> str:
    return "failed" if isinf(value) else f"{value:.3f} m"


def _percent(value: float) -> str:
    if isinf(value):
        return "failed"
    return f"{100 * abs(value):.1f} % {'more' if value > 0 else 'less'}"


def failure_words(outcomes: Sequence[Outcome[Any]]) -> str:
    """Return how many runs failed, and the first cause in each engine."""
    causes: dict[str, list[str]] = {}
    for outcome in outcomes:
        if cause := failure(outcome):
            causes.setdefault(outcome.case.engine, []).append(cause)
    failed = sum(map(len, causes.values()))
    if not failed:
        return f"All {len(outcomes)} runs completed." if len(outcomes) > 1 else "The run completed."
    listed = "; ".join(f"{engine} {len(each)}: {each[0]}" for engine, each in causes.items())
    return f"{failed} of {len(outcomes)} runs failed ({listed})."


def hardware_words(outcomes: Iterable[Outcome[Any]]) -> str:
    """Return what was measured on a real Husky; empty if none was driven."""
    for outcome in outcomes:
        if outcome.recording and is_husky(recorded_vehicle(outcome.recording.facts)):
            return (
                f"A user's Husky on indoor wheels turned by 179 of 180 degrees with a multiplier of"
                f" {HARDWARE_MULTIPLIER} (issue 193 of the repository husky/husky: one robot, one"
                " floor, and a wheel radius multiplier of 0.5 after a change of its encoders)."
            )
    return ""


_PAPER = Table(
    "Simulators and engines",
    header("engine | in the paper | here"),
    (
        ("MuJoCo", "MuJoCo", "mujoco"),
        ("Bullet", "CoppeliaSim", "pybullet"),
        ("ODE", "CoppeliaSim", "its C interface, double precision"),
        ("PhysX", "Isaac Sim", "SAPIEN, on the CPU; wheels are rows of spheres"),
        (
            "Newton Dynamics",
            "CoppeliaSim",
            "not in package registries, as CoppeliaSim and Isaac Sim;"
            " NVIDIA's Newton is another engine",
        ),
    ),
)


def settings_section(outcomes: Iterable[Outcome[Any]]) -> Section:
    """Return the settings of every engine in each profile, and the model as loaded."""
    facts: dict[tuple[str, str, str], Any] = {}
    tried: dict[tuple[str, str, str, str], dict[float, None]] = {}
    for outcome in outcomes:
        case, recording = outcome.case, outcome.recording
        if recording is not None:
            key = (case.profile.value, case.engine, robot_label(case.robot))
            facts.setdefault(key, recording.facts)
            for name in ("friction", "timestep_s"):
                tried.setdefault((*key, name), {})[recording.facts[name]] = None
    columns = header(
        "profile | engine | robot | friction | wheel gain [N m s/rad] | track multiplier | "
        "time step [s] | mass error | joint damping | armature | why"
    )
    rows = tuple(
        (*key, _listed(tried[*key, "friction"]), fact["wheel_damping"], fact["multiplier"],
         _listed(tried[*key, "timestep_s"]),
         fact["mass_error"], fact["joint_damping"], fact["armature"], fact["settings"])
        for key, fact in facts.items()
    )  # fmt: skip
    figures: list[Figure] = [
        Table("Settings, and the model as loaded", columns, rows),
        Listing(
            "Engine options",
            tuple(f"{key[0]}, {key[1]} {fact['engine_version']}, {key[2]}:"
                  f" {strict_json(fact['options'], indent=None)}" for key, fact in facts.items()),
        ),
    ]  # fmt: skip
    remarks = dict.fromkeys(
        f"{key[1]}: {text}" for key, fact in facts.items() for text in fact["remarks"]
    )
    if remarks:
        figures.append(Listing("Deliberate differences from the model", tuple(remarks)))
    return Section("Settings", (*figures, _PAPER))


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)
