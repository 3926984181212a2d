"""Figures of the grasp study over time step, iterations and friction, and the cost."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kinetarium.batch.outcomes import Outcomes
from kinetarium.batch.study import Outcome
from kinetarium.figure.charts import Axis, Lines, Mark, Series, Side
from kinetarium.figure.page import Figure, Section
from kinetarium.figure.sweep import (
    Sample,
    over_iterations,
    over_timestep,
    setting_trials,
    speed_accuracy,
    sweep_series,
)
from kinetarium.figure.text import Column, Prose, Table
from kinetarium.studies.grasp.config import Case, Profile, ToolPath

FIGURES = (
    "held_s",
    "slip_m",
    "penetration_m",
    "force_mean_n",
    "force_ft_mean_n",
    "zero_contact_samples",
    "force_error_n",
    "moving_variance_n2",
    "moving_variance_disjoint_n2",
    "ft_variance_n2",
    "waiting_variance_n2",
    "ideal_variance_n2",
    "common_mode_variance_n2",
    "sliding_grip_n",
    "ideal_sliding_grip_n",
    "least_friction",
    "slant_deg",
    "tilt_deg",
    "tracking_rmse_m",
    "ideal_rmse_m",
    "one_step_rad_s2",
)
"""The measures of the summary, in order of importance."""


class Group(Outcomes[Case]):
    """All starts of one engine, path, profile and setting.

    Attributes:
        case: The case of the first start.
    """

    def __init__(self, case: Case, outcomes: Iterable[Outcome[Case]]) -> None:
        """Keep the case and its outcomes."""
        super().__init__(outcomes)
        self.case = case

    @property
    def held(self) -> int:
        """Number of starts whose object was held to the end; a run that failed is none of them."""
        return sum(self.values("held"))

    @property
    def whole(self) -> bool:
        """Whether the object was held to the end from every start."""
        return self.held == len(self)

    @property
    def force_error(self) -> float | None:
        """The median difference from the rigid grasp's force [N]; None if a start failed."""
        return self.median("force_error_n") if self.whole else None

    @property
    def chatter(self) -> tuple[int, int]:
        """Samples of runs that held at which a side had no contact, and all of them."""
        held = [row for row in self.rows if row.get("held")]
        lost = sum(row["zero_contact_samples"] for row in held)
        return lost, sum(row["samples"] for row in held)

    @property
    def ratio(self) -> float | None:
        """The median variance over that of the rigid grasp [-]."""
        variance, least = self.median("moving_variance_n2"), self.median("ideal_variance_n2")
        return variance / least if variance is not None and least else None


def grouped(outcomes: Sequence[Outcome[Case]]) -> tuple[Group, ...]:
    """Group the starts of the same engine, path, profile and setting."""
    return tuple(Group(case, same) for case, same in Outcomes(outcomes).by_case().items())


def summary(groups: Sequence[Group]) -> dict[str, Any]:
    """Return the median and the range of every measure of every group."""
    entries = []
    for group in groups:
        case = group.case
        spreads = group.spreads(FIGURES)
        entries.append(
            {
                "engine": case.engine,
                "path": str(case.path),
                "profile": str(case.profile),
                "timestep_s": case.timestep,
                "iterations": case.iterations,
                "friction": case.friction,
                "robot": case.robot,
                "object": case.object,
                "starts": len(group),
                "held": group.held,
                **{key: {n: float(v) for n, v in s.items()} for key, s in spreads.items()},
            }
        )
    return {"groups": entries}


def paths_of(groups: Sequence[Group]) -> tuple[str, ...]:
    """Return the paths of groups along which the cube is carried, in their order."""
    paths = dict.fromkeys(group.case.path for group in groups)
    return tuple(path for path in paths if path != ToolPath.RELEASE)


RIGID = "rigid grasp"
_RATIO = Axis("variance over that of the rigid grasp", log=True)
_LOST = "Medians over the starts; settings that lost the object are not drawn."


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
        on_path = [group for group in groups if group.case.path == path]
        ratios = [(group.case, _ratio(group)) for group in on_path]
        rigid = (Mark(1.0, RIGID),)
        drawn: dict[str, Sequence[Figure]] = {}
        if "iterations" in varied:
            caption = f"ODE with its iterative solver. {_LOST}"
            drawn["iterations"] = over_iterations(
                ratios, title="Variance", y=_RATIO, caption=caption, marks=rigid
            )
        if "timestep" in varied:
            caption = f"With the profile's iterations. {_LOST}"
            drawn["the time step"] = over_timestep(
                ratios, title="Variance", y=_RATIO, caption=caption, marks=rigid
            )
        if "friction" in varied:
            drawn["friction"] = _over_friction(on_path)
        for name, figures in drawn.items():
            if figures:
                title = f"Profile '{profile}': over {name}"
                sections.append(Section(title, tuple(figures), label=str(path)))
    return sections


def cost_section(profile: Profile, groups: Sequence[Group]) -> Section:
    """Return the errors of all settings over their cost, without those that lost the object."""
    settings: dict[tuple[str, float, int], list[Group]] = {}
    for group in groups:
        case = group.case
        if case.release:
            continue
        settings.setdefault((case.engine, case.timestep, case.iterations), []).append(group)
    held = {key: paths for key, paths in settings.items() if all(each.whole for each in paths)}
    carried = [group for paths in held.values() for group in paths]
    figures: list[Figure] = []
    if held:
        figures += [
            speed_accuracy(
                "Force and cost",
                setting_trials((g.case, g.cost, _force_error(g)) for g in carried),
                error=Axis("error of the variance", "%", log=True),
                caption="Largest relative difference of the force variance from that of the rigid"
                " grasp over the paths; the cost includes the controller.",
            ),
            speed_accuracy(
                "Slip and cost",
                setting_trials((g.case, g.cost, _slip(g)) for g in carried),
                error=Axis("slip", "mm", log=True),
                caption="Largest motion of the object in the hand over paths and starts.",
            ),
        ]
    if len(held) < len(settings):
        lost = len(settings) - len(held)
        figures.append(Prose(f"An object was lost with {lost} of {len(settings)} settings."))
    return Section(f"Profile '{profile}': speed and accuracy", tuple(figures))


def _over_friction(groups: Sequence[Group]) -> tuple[Figure, ...]:
    """Return slip and variance over friction, and a table of which engines held the object."""
    x = Axis("friction between pads and cube", log=True)
    known = (group.median("least_friction") for group in groups)
    least = next((each for each in known if each is not None), None)
    limit = () if least is None else (Mark(least, "Coulomb limit", Side.X),)
    words = "" if least is None else f" Left of {least:.3f} Coulomb friction cannot hold it."

    return (
        Lines(
            "Slip over friction",
            x,
            Axis("slip", "mm", log=True),
            _over(groups, _slip),
            caption=f"Maximum over the starts; the object is lost at 20 mm.{words}",
            marks=limit,
        ),
        Lines(
            "Variance over friction",
            x,
            _RATIO,
            _over(groups, _ratio),
            caption=_LOST,
            marks=(Mark(1.0, RIGID), *limit),
        ),
        _friction_table(groups),
    )


def _friction_table(groups: Sequence[Group]) -> Table:
    """Return how often the object was held, by engine and friction."""
    frictions = sorted({group.case.friction for group in groups})
    rows = []
    for engine in dict.fromkeys(group.case.engine for group in groups):
        cells = []
        for friction in frictions:
            here = [g for g in groups if (g.case.engine, g.case.friction) == (engine, friction)]
            starts = sum(len(group) for group in here)
            cells.append(f"{sum(group.held for group in here)}/{starts}")
        rows.append((engine, *cells))
    columns = (Column("held at friction"), *(Column(f"{friction:g}") for friction in frictions))
    return Table("Held", columns, tuple(rows))


def _over(groups: Sequence[Group], measure: Callable[[Group], float | None]) -> tuple[Series, ...]:
    """Return a measure over friction."""
    return sweep_series([Sample(g.case.engine, g.case.friction, measure(g)) for g in groups])


def _ratio(group: Group) -> float | None:
    """Return the variance over that of the rigid grasp [-]; None if the object was lost."""
    return group.ratio if group.whole else None


def _force_error(group: Group) -> float | None:
    """Return the relative difference of the variance from that of the rigid grasp [%]."""
    return None if group.ratio is None else 100 * abs(group.ratio - 1)


def _slip(group: Group) -> float | None:
    """Return the greatest slip of all starts [mm]."""
    slip = group.spread("slip_m")
    return 1e3 * slip.max if slip else None
