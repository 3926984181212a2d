"""Figures of the grasp study over time step, iterations and friction, and the cost."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from statistics import median
from typing import Any

from kinetarium.batch.study import Outcome
from kinetarium.figure.charts import Axis, Lines, Mark, Series, Side
from kinetarium.figure.page import Figure, Section
from kinetarium.figure.sweep import Sample, Trial, speed_accuracy, sweep_series
from kinetarium.figure.text import Column, Prose, Table
from kinetarium.metrics import cost_per_second
from kinetarium.recording.recording import Recording
from kinetarium.scene.grasped_cube import least_friction
from kinetarium.studies.grasp.config import Case, Profile, ToolPath

FIGURES = (
    "held_s",
    "slip_m",
    "penetration_m",
    "force_mean_n",
    "force_ft_mean_n",
    "zero_contact_samples",
    "moving_variance_n2",
    "moving_variance_disjoint_n2",
    "waiting_variance_n2",
    "ideal_variance_n2",
    "common_mode_variance_n2",
    "sliding_grip_n",
    "tilt_deg",
    "tracking_rmse_m",
    "ideal_rmse_m",
    "one_step_rad_s2",
)
"""The measures of the summary, in order of importance."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Values of several starts.

    Attributes:
        median: The median.
        low: The minimum.
        high: The maximum.
    """

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """All starts of one engine, path, profile and setting.

    Attributes:
        case: The first of the cases.
        outcomes: One for each start.
    """

    case: Case
    outcomes: tuple[Outcome[Case], ...]

    def spread(self, figure: str) -> Spread | None:
        """Return the median and the range of a measure; None if no start has it."""
        rows = [row for outcome in self.outcomes for row in outcome.rows]
        values = [float(row[figure]) for row in rows if row.get(figure) is not None]
        return Spread(median(values), min(values), max(values)) if values else None

    def median(self, figure: str) -> float | None:
        """Return the median of a measure; None if no start has it."""
        spread = self.spread(figure)
        return spread.median if spread else None

    def greatest(self, figure: str) -> float | None:
        """Return the maximum of a measure; None if no start has it."""
        spread = self.spread(figure)
        return spread.high if spread else None

    @property
    def held(self) -> int:
        """Number of starts whose cube was held to the end."""
        return sum(bool(row["held"]) for outcome in self.outcomes for row in outcome.rows)

    @property
    def ratio(self) -> float | None:
        """The median variance over that of the rigid grasp [-]."""
        variance, least = self.median("moving_variance_n2"), self.median("ideal_variance_n2")
        return variance / least if variance is not None and least else None

    @property
    def whole(self) -> bool:
        """Whether the cube was held to the end from every start."""
        return self.held == len(self.outcomes)

    @property
    def cost(self) -> float:
        """CPU time per simulated second [s/s], of the fastest start; NaN if unknown."""
        costs = [cost_per_second(outcome.timing, outcome.recording) for outcome in self.outcomes]
        return min((cost for cost in costs if not isnan(cost)), default=nan)

    @property
    def recording(self) -> Recording | None:
        """The recording of the first start that has one."""
        return next((o.recording for o in self.outcomes if o.recording is not None), None)


def grouped(outcomes: Sequence[Outcome[Case]]) -> tuple[Group, ...]:
    """Group the starts of the same engine, path, profile and setting."""
    found: dict[Case, list[Outcome[Case]]] = {}
    for outcome in outcomes:
        found.setdefault(replace(outcome.case, start=0), []).append(outcome)
    return tuple(Group(same[0].case, tuple(same)) for same in found.values())


def summary(groups: Sequence[Group]) -> dict[str, Any]:
    """Return the median and the range of every measure of every group."""
    entries = []
    for group in groups:
        case = group.case
        entry: dict[str, Any] = {
            "engine": case.engine,
            "path": str(case.path),
            "profile": str(case.profile),
            "timestep_s": case.timestep,
            "iterations": case.iterations,
            "friction": case.friction,
            "starts": len(group.outcomes),
            "held": group.held,
        }
        for figure in FIGURES:
            if spread := group.spread(figure):
                values = {"median": spread.median, "min": spread.low, "max": spread.high}
                entry[figure] = values
        entries.append(entry)
    return {"groups": entries}


def profiles_of(groups: Sequence[Group]) -> tuple[Profile, ...]:
    """Return the profiles of groups, in their order."""
    return tuple(dict.fromkeys(group.case.profile for group in groups))


def paths_of(groups: Sequence[Group]) -> tuple[ToolPath, ...]:
    """Return the paths of groups along which the cube is carried, in their order."""
    paths = dict.fromkeys(group.case.path for group in groups)
    return tuple(path for path in paths if path is not ToolPath.RELEASE)


RIGID = "rigid grasp"
_RATIO = Axis("variance over that of the rigid grasp", log=True)
_LOST = "Medians over the starts; settings that lost the cube are not drawn."

_Measure = Callable[[Group], float | None]


def sweep_sections(
    profile: Profile, groups: Sequence[Group], varied: Sequence[str]
) -> list[Section]:
    """Return the figures over the varied settings, path by path.

    Args:
        profile: The profile of the groups.
        varied: The varied settings: "timestep", "iterations" or "friction".
    """
    sections = []
    for path in paths_of(groups):
        on_path = [group for group in groups if group.case.path is path]
        for name, draw in _DRAWN.items():
            if name in varied and (figures := draw(on_path)):
                title = f"Profile '{profile}': over {_SPOKEN[name]}"
                sections.append(Section(title, figures, label=str(path)))
    return sections


def cost_section(profile: Profile, groups: Sequence[Group]) -> Section:
    """Return the errors of all settings over their cost, without those that lost the cube."""
    settings: dict[tuple[str, float, int], list[Group]] = {}
    for group in _carried(groups):
        case = group.case
        settings.setdefault((case.engine, case.timestep, case.iterations), []).append(group)
    held = {key: paths for key, paths in settings.items() if all(each.whole for each in paths)}
    figures: list[Figure] = []
    if held:
        figures += [
            speed_accuracy(
                "Force and cost",
                _trials(held, _force_error),
                error=Axis("error of the variance", "%", log=True),
                caption="Largest relative difference of the force variance from that of the rigid"
                " grasp over the paths; the cost includes the controller.",
            ),
            speed_accuracy(
                "Slip and cost",
                _trials(held, _slip),
                error=Axis("slip", "mm", log=True),
                caption="Largest motion of the cube in the hand over paths and starts.",
            ),
        ]
    if len(held) < len(settings):
        lost = len(settings) - len(held)
        figures.append(Prose(f"A cube was lost with {lost} of {len(settings)} settings."))
    return Section(f"Profile '{profile}': speed and accuracy", tuple(figures))


def _trials(
    settings: Mapping[tuple[str, float, int], Sequence[Group]], measure: _Measure
) -> list[Trial]:
    """Return the median cost and the largest error of each setting over its paths."""
    trials = []
    for (engine, *_), paths in settings.items():
        errors = [measure(group) for group in paths]
        known = [error for error in errors if error is not None]
        if len(known) == len(paths):
            trials.append(Trial(engine, median(group.cost for group in paths), max(known)))
    return trials


def _over_iterations(groups: Sequence[Group]) -> tuple[Figure, ...]:
    figures: list[Figure] = []
    for step in sorted({group.case.timestep for group in groups}):
        counted = [g for g in groups if g.case.timestep == step and g.case.iterations]
        figures.append(
            Lines(
                f"Variance over iterations, steps of {step * 1e3:g} ms",
                Axis("solver iterations", log=True),
                _RATIO,
                _series(counted, _ratio, over=lambda group: group.case.iterations),
                caption=f"ODE with its iterative solver. {_LOST}",
                marks=(Mark(1.0, RIGID),),
            )
        )
    return tuple(figures)


def _over_timestep(groups: Sequence[Group]) -> tuple[Figure, ...]:
    own = [group for group in groups if not group.case.iterations]
    if not own:
        return ()
    figure = Lines(
        "Variance over the time step",
        Axis("time step", "ms", log=True),
        _RATIO,
        _series(own, _ratio, over=lambda group: group.case.timestep * 1e3),
        caption=f"With the profile's iterations. {_LOST}",
        marks=(Mark(1.0, RIGID),),
    )
    return (figure,)


def _over_friction(groups: Sequence[Group]) -> tuple[Figure, ...]:
    """Return slip and variance over friction, and a table of which engines held the cube."""
    x = Axis("friction between pads and cube", log=True)
    limit = Mark(least_friction(), "Coulomb limit", Side.X)

    def over(group: Group) -> float:
        return group.case.friction

    return (
        Lines(
            "Slip over friction",
            x,
            Axis("slip", "mm", log=True),
            _series(groups, _slip, over=over),
            caption="Maximum over the starts; the cube is lost at 20 mm. Left of the line, at"
            f" m g / (2 F) = {least_friction():.3f}, Coulomb friction cannot hold the cube.",
            marks=(limit,),
        ),
        Lines(
            "Variance over friction",
            x,
            _RATIO,
            _series(groups, _ratio, over=over),
            caption=_LOST,
            marks=(Mark(1.0, RIGID), limit),
        ),
        _friction_table(groups),
    )


def _friction_table(groups: Sequence[Group]) -> Table:
    """Return how often the cube was held, by engine and friction."""
    frictions = sorted({group.case.friction for group in groups})
    rows = []
    for engine in dict.fromkeys(group.case.engine for group in groups):
        cells = []
        for friction in frictions:
            here = [g for g in groups if (g.case.engine, g.case.friction) == (engine, friction)]
            starts = sum(len(group.outcomes) for group in here)
            cells.append(f"{sum(group.held for group in here)}/{starts}")
        rows.append((engine, *cells))
    columns = (Column("held at friction"), *(Column(f"{friction:g}") for friction in frictions))
    return Table("Held", columns, tuple(rows))


_DRAWN = {
    "iterations": _over_iterations,
    "timestep": _over_timestep,
    "friction": _over_friction,
}
_SPOKEN = {"iterations": "iterations", "timestep": "the time step", "friction": "friction"}


def _carried(groups: Sequence[Group]) -> list[Group]:
    return [group for group in groups if group.case.path is not ToolPath.RELEASE]


def _series(
    groups: Sequence[Group], measure: _Measure, *, over: Callable[[Group], float]
) -> tuple[Series, ...]:
    return sweep_series([Sample(g.case.engine, over(g), measure(g)) for g in groups])


def _ratio(group: Group) -> float | None:
    """Return the variance over that of the rigid grasp [-]; None if the cube was lost."""
    return group.ratio if group.whole else None


def _force_error(group: Group) -> float | None:
    """Return the relative difference of the variance from that of the rigid grasp [%]."""
    return None if group.ratio is None else 100 * abs(group.ratio - 1)


def _slip(group: Group) -> float | None:
    """Return the greatest slip of all starts [mm]."""
    slip = group.greatest("slip_m")
    return None if slip is None else 1e3 * slip
